//! The order of a straight piece of code.
//! Trusted: nothing: the certifier looks at the bytes.

use crate::options::Latency;
use crate::pipeline::{Pipeline, Step, Unit};
use std::collections::BTreeMap;

/// Memory that is accessed.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    pub base: Root,
    pub first: i64,
    pub bytes: i64,
    pub write: bool,
}

/// From where a place is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Root {
    /// The stack pointer, what no pointer leads into.
    Hidden,
    /// The stack pointer, what pointers may lead into.
    Shown,
    /// The start of such a slot.
    Slot(u32),
    /// A register, as it is behind the step of that number.
    Register(u32, Option<usize>),
}

/// What becomes of a piece of code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placed {
    /// The step of that number.
    Step(usize),
    /// A slot in which nothing is written.
    Fill,
}

/// Instructions that can be done while a product is on its way, from which on it pays to keep a slot free for it.
const MADE_UP: usize = 2;

/// How far instructions are looked for, and which goes first of those that need not wait.
#[derive(Clone, Copy)]
pub struct Way<'n> {
    pub window: usize,
    /// What most is behind of, else what stood first.
    pub by_height: bool,
    /// By how many slots each step counts as later than it is; in no time, by how many places it goes back.
    pub later: &'n dyn Fn(usize) -> i64,
}

#[derive(Default)]
pub struct Piece {
    steps: Vec<Step>,
    places: Vec<Option<Place>>,
    /// The step that wrote each register last.
    last: BTreeMap<u32, usize>,
}

impl Piece {
    /// A register as a base, as it is now.
    pub fn register(&self, r: u32) -> Root {
        Root::Register(r, self.last.get(&r).copied())
    }

    pub fn push(&mut self, step: Step, place: Option<Place>) {
        self.last.extend(step.writes.iter().map(|r| (*r, self.steps.len())));
        self.steps.push(step);
        self.places.push(place);
    }

    /// As it stands, but for what goes to another place. In no time: for a machine on which no order is better than another.
    pub fn moved(&self, way: Way<'_>) -> Vec<Placed> {
        let before = self.dependences();
        let mut placed = vec![false; self.steps.len()];
        let mut left: Vec<usize> = (0..self.steps.len()).collect();
        let mut out = vec![];
        loop {
            let free = left.iter().take(way.window).filter(|k| before[**k].iter().all(|j| placed[*j]));
            let Some(k) = free.min_by_key(|k| (**k as i64 + (way.later)(**k), **k)).copied() else { return out };
            placed[k] = true;
            left.retain(|j| *j != k);
            out.push(Placed::Step(k));
        }
    }

    pub fn order(&self, latency: &Latency, way: Way<'_>) -> Vec<Placed> {
        let before = self.dependences();
        let heights = if way.by_height { self.heights(&before, latency) } else { vec![0; self.steps.len()] };
        let mut products = self.steps.iter().filter(|s| s.unit == Unit::Multiply).count();
        let mut placed = vec![false; self.steps.len()];
        let (mut window, mut coming): (Vec<usize>, usize) = (vec![], 0);
        let mut pipeline = Pipeline::new(latency);
        let mut out = vec![];
        loop {
            while window.len() < way.window && coming < self.steps.len() {
                window.push(coming);
                coming += 1;
            }
            if window.is_empty() {
                return out;
            }
            // What stands first is never held up by others.
            let free = window.iter().copied().filter(|k| before[*k].iter().all(|j| placed[*j]));
            let free: Vec<(usize, usize)> = free.map(|k| (k, pipeline.slot(&self.steps[k]))).collect();
            if self.wants_fill(&pipeline, &free, &window, &before, &placed) {
                pipeline.fill();
                out.push(Placed::Fill);
                continue;
            }
            let now = pipeline.next();
            let best = free.iter().min_by_key(|(k, slot)| {
                // A store is kept for the slot of a product, as long as there are products; there it goes first.
                let rank = match self.steps[*k].unit {
                    Unit::Store if pipeline.wants_slot() => 0,
                    Unit::Multiply => 1,
                    Unit::Store if products > 0 || pipeline.wants_slot_soon() => 3,
                    _ => 2,
                };
                let late = if rank == 3 { (*slot).max(now + 1) } else { *slot };
                (late as i64 + (way.later)(*k), rank, usize::MAX - heights[*k], *k)
            });
            let Some((k, _)) = best.copied() else { return out };
            pipeline.issue(&self.steps[k]);
            products -= usize::from(self.steps[k].unit == Unit::Multiply);
            placed[k] = true;
            window.retain(|w| *w != k);
            out.push(Placed::Step(k));
        }
    }

    /// Something waits for a product, and enough else could be done meanwhile to make up for the slot.
    fn wants_fill(&self, pipeline: &Pipeline<'_>, free: &[(usize, usize)], window: &[usize], before: &[Vec<usize>], placed: &[bool]) -> bool {
        if !pipeline.wants_slot() {
            return false;
        }
        let now = pipeline.next();
        let others = || free.iter().filter(|(k, _)| !pipeline.waits_for_product(&self.steps[*k]));
        // A store is such a slot, and so is waiting for a load.
        if others().any(|(k, slot)| self.steps[*k].unit == Unit::Store && *slot == now) || !others().any(|(_, slot)| *slot == now) {
            return false;
        }
        let (mut meanwhile, mut waiting): (Vec<usize>, bool) = (vec![], false);
        for k in window {
            if !before[*k].iter().all(|j| placed[*j] || meanwhile.contains(j)) {
                continue;
            }
            if pipeline.waits_for_product(&self.steps[*k]) {
                waiting = true;
            } else {
                meanwhile.push(*k);
            }
            if waiting && meanwhile.len() >= MADE_UP {
                return true;
            }
        }
        false
    }

    /// Slots from an instruction to the end of what is made of its result.
    fn heights(&self, before: &[Vec<usize>], latency: &Latency) -> Vec<usize> {
        let mut heights = vec![0; self.steps.len()];
        for k in (0..self.steps.len()).rev() {
            heights[k] += match self.steps[k].unit {
                Unit::Plain(n) | Unit::Load(n) => n,
                Unit::Multiply => latency.product.slots(),
                Unit::Store => 1,
            };
            for j in &before[k] {
                heights[*j] = heights[*j].max(heights[k]);
            }
        }
        heights
    }

    /// For each instruction those that it stays behind.
    fn dependences(&self) -> Vec<Vec<usize>> {
        let mut written: BTreeMap<u32, usize> = BTreeMap::new();
        let mut read: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        let (mut stores, mut loads): (Vec<usize>, Vec<usize>) = (vec![], vec![]);
        let mut all = vec![];
        for (k, s) in self.steps.iter().enumerate() {
            let mut before: Vec<usize> = vec![];
            for r in &s.reads {
                before.extend(written.get(r));
                read.entry(*r).or_default().push(k);
            }
            for r in &s.writes {
                before.extend(written.get(r));
                before.extend(read.remove(r).into_iter().flatten().filter(|j| *j != k));
                written.insert(*r, k);
            }
            if let Some(place) = &self.places[k] {
                let meets = |j: &&usize| self.places[**j].is_some_and(|other| may_meet(place, &other));
                before.extend(stores.iter().filter(meets));
                if place.write {
                    before.extend(loads.iter().filter(meets));
                    stores.push(k);
                } else {
                    loads.push(k);
                }
            }
            all.push(before);
        }
        all
    }
}

/// A pointer may lead into any slot; what has no address is apart from all else.
fn may_meet(a: &Place, b: &Place) -> bool {
    match (a.base, b.base) {
        (x, y) if x == y => a.first < b.first + b.bytes && b.first < a.first + a.bytes,
        (Root::Register(..), Root::Shown | Root::Slot(_) | Root::Register(..)) | (Root::Shown | Root::Slot(_), Root::Register(..)) => true,
        _ => false,
    }
}

/// Straight pieces of code put into another order, with what is fixed between them. Each comes with the number of its first instruction.
pub fn between<T>(all: Vec<T>, is_fixed: impl Fn(&T) -> bool, ordered: impl Fn(usize, Vec<T>) -> Vec<T>) -> Vec<T> {
    let mut out = Vec::with_capacity(all.len());
    let (mut first, mut run) = (0, vec![]);
    for (k, i) in all.into_iter().enumerate() {
        if is_fixed(&i) {
            out.extend(ordered(first, std::mem::take(&mut run)));
            out.push(i);
            first = k + 1;
        } else {
            run.push(i);
        }
    }
    out.extend(ordered(first, run));
    out
}

/// Bytes of an access.
pub fn width(name: &str) -> i64 {
    match name {
        "lb" | "lbu" | "sb" => 1,
        "lh" | "lhu" | "sh" => 2,
        "ld" | "sd" => 8,
        _ => 4,
    }
}

/// What a load or an operation of that name occupies.
pub fn unit(name: &str, latency: &Latency) -> Unit {
    match name {
        "lw" | "lwu" | "ld" => Unit::Load(latency.load),
        "lb" | "lbu" | "lh" | "lhu" => Unit::Load(latency.narrow_load),
        _ if name.starts_with("mul") => Unit::Multiply,
        _ => Unit::Plain(1),
    }
}

#[cfg(test)]
mod tests {
    use super::{may_meet, Piece, Place, Placed, Root, Way};
    use crate::options::{Latency, Product};
    use crate::pipeline::{Pipeline, Step, Unit};

    const E31: Latency = Latency { load: 2, narrow_load: 3, product: Product::Late { earliest: 3, after: 3 } };
    const WAY: Way<'_> = Way { window: 48, by_height: true, later: &|_| 0 };

    /// Numbers below a bound, from a linear congruential generator.
    struct Numbers(u32);

    impl Numbers {
        fn below(&mut self, n: u32) -> u32 {
            self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (self.0 >> 16) % n
        }
    }

    fn piece(seed: u32) -> Piece {
        let mut numbers = Numbers(seed);
        let mut piece = Piece::default();
        for _ in 0..60 {
            let (a, b, d) = (numbers.below(9), numbers.below(9), numbers.below(9));
            let kind = numbers.below(8);
            let base = [Root::Hidden, Root::Shown, Root::Slot(0), Root::Register(a, None)][numbers.below(4) as usize];
            let place = Place { base, first: i64::from(4 * numbers.below(3)), bytes: 4, write: kind == 0 };
            let (unit, reads, writes) = match kind {
                0 => (Unit::Store, vec![a, b], vec![]),
                1 | 2 => (Unit::Load(2), vec![a], vec![d]),
                3 | 4 => (Unit::Multiply, vec![a, b], vec![d]),
                _ => (Unit::Plain(1), vec![a, b], vec![d]),
            };
            piece.push(Step { unit, reads, writes }, (kind < 3).then_some(place));
        }
        piece
    }

    /// Two instructions that may not change places, told apart from how the schedule finds them.
    fn bound(p: &Piece, j: usize, k: usize) -> bool {
        let (a, b) = (&p.steps[j], &p.steps[k]);
        let shares = |x: &[u32], y: &[u32]| x.iter().any(|r| y.contains(r));
        let registers = shares(&a.writes, &b.reads) || shares(&a.reads, &b.writes) || shares(&a.writes, &b.writes);
        let memory = p.places[j].zip(p.places[k]).is_some_and(|(x, y)| (x.write || y.write) && may_meet(&x, &y));
        registers || memory
    }

    /// The steps of an order, each of which is there once.
    fn steps(p: &Piece, order: &[Placed]) -> Vec<usize> {
        let steps: Vec<usize> = order.iter().filter_map(|o| if let Placed::Step(k) = o { Some(*k) } else { None }).collect();
        let mut sorted = steps.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, (0..p.steps.len()).collect::<Vec<_>>());
        steps
    }

    /// Whether everything stands behind what it depends on.
    fn is_kept(p: &Piece, steps: &[usize]) -> bool {
        steps.iter().enumerate().all(|(at, k)| steps[at..].iter().all(|j| j >= k || !bound(p, *j, *k)))
    }

    fn slots(p: &Piece, order: impl Iterator<Item = Placed>) -> usize {
        let mut pipeline = Pipeline::new(&E31);
        for placed in order {
            match placed {
                Placed::Step(k) => pipeline.issue(&p.steps[k]),
                Placed::Fill => pipeline.fill(),
            }
        }
        pipeline.next()
    }

    #[test]
    fn every_order_keeps_what_depends_in_its_order() {
        let (mut changed, mut filled, mut before, mut after) = (0, 0, 0, 0);
        for seed in 0..300 {
            let p = piece(seed);
            let order = p.order(&E31, WAY);
            let steps = steps(&p, &order);
            assert!(is_kept(&p, &steps), "seed {seed}: something stands before what it depends on");
            changed += usize::from(!steps.is_sorted());
            filled += order.len() - steps.len();
            before += slots(&p, (0..p.steps.len()).map(Placed::Step));
            after += slots(&p, order.into_iter());
        }
        println!("300 pieces: {changed} in another order, {filled} slots kept; {before} slots, then {after}");
        assert!(changed > 290 && filled > 100 && after * 10 < before * 9, "{changed} {filled} {before} {after}");
    }

    /// Whatever numbers a search tries: every order keeps what depends in its order, in which it would not stay by the numbers alone.
    #[test]
    fn numbers_of_a_search_change_no_dependence() {
        let (mut others, mut broken) = (0, 0);
        for seed in 0..300 {
            let p = piece(seed);
            let mut numbers = Numbers(seed + 1000);
            let nudges: Vec<i64> = (0..p.steps.len()).map(|_| i64::from(numbers.below(65)) - 32).collect();
            let way = Way { later: &|k| nudges[k], ..WAY };
            for (order, plain) in [(p.order(&E31, way), p.order(&E31, WAY)), (p.moved(way), p.moved(WAY))] {
                let steps = steps(&p, &order);
                assert!(is_kept(&p, &steps), "seed {seed}");
                others += usize::from(order != plain);
            }
            let mut freely: Vec<usize> = (0..p.steps.len()).collect();
            freely.sort_by_key(|k| (*k as i64 + nudges[*k], *k));
            broken += usize::from(!is_kept(&p, &freely));
        }
        println!("600 orders by random numbers: {others} are others; {broken} of 300 sorted freely are wrong");
        assert!(others > 550 && broken > 290, "{others} {broken}");
    }

    /// Without numbers and without time, everything stays where it is.
    #[test]
    fn nothing_is_moved_without_numbers() {
        let p = piece(7);
        assert_eq!(p.moved(WAY), (0..p.steps.len()).map(Placed::Step).collect::<Vec<_>>());
    }

    /// Two products and four sums that need neither: with a slot kept free, eight slots.
    #[test]
    fn a_slot_is_kept_for_a_product() {
        let step = |unit, reads: &[u32], d| Step { unit, reads: reads.to_vec(), writes: vec![d] };
        let steps = vec![step(Unit::Multiply, &[1, 2], 3), step(Unit::Plain(1), &[1], 5), step(Unit::Plain(1), &[1], 6), step(Unit::Plain(1), &[1], 7), step(Unit::Plain(1), &[1], 8), step(Unit::Multiply, &[1, 2], 4)];
        let mut p = Piece::default();
        steps.into_iter().for_each(|s| p.push(s, None));
        let order = p.order(&E31, WAY);
        assert_eq!(order[3], Placed::Fill, "{order:?}");
        assert_eq!(slots(&p, order.into_iter()), 7);
        assert_eq!(slots(&p, (0..6).map(Placed::Step)), 9);
    }
}
