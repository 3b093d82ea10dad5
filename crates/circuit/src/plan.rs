//! Which tower is taken, and its gates.
//! Trusted: text.

use crate::builder::Builder;
use crate::field::{inverse, mul, power, Twist};
use crate::gates::{Circuit, Gate};
use crate::greedy::Wishes;
use crate::linear::{sums, Sums, Vector};
use crate::pool::{plain, Pool, Word};
use crate::random::Random;
use crate::small::Small;
use crate::tower::{Outline, Split};

/// The part that no table changes: the sums of nine products that are the four bits of `n / w`, and those bits to the nine forms of
/// `sigma w / n`.
struct Middle {
    theta: [u8; 4],
    sigma: u8,
    /// By product: which of the four bits take it.
    takes: Vec<Vector>,
    /// Those sums backwards: from four bits to nine.
    sums: Sums,
    pool: Pool,
    /// The forms, as functions of the four bits.
    forms: Vec<Word>,
}

/// Nine functions of four variables, wanted of a pool.
struct All(Vec<Word>);

impl Wishes for All {
    fn wanted(&self) -> Vec<(Word, usize)> {
        self.0.iter().map(|w| (*w, 0)).collect()
    }

    fn taken(&mut self, w: Word) {
        self.0.retain(|x| plain(*x) != plain(w));
    }
}

impl Middle {
    /// `theta`, `sigma`: exponents of the generator.
    fn new(small: &Small, theta: [u32; 4], sigma: u32, seeds: u64) -> Option<Middle> {
        let theta = theta.map(|e| power(small.generator, e));
        let sigma = power(small.generator, sigma);
        let takes: Vec<Vector> = (0..9).map(|p| (0..4).fold(0, |v, j| v | (small.expansion[theta[j] as usize] >> p & 1) << j)).collect();
        let mut random = Random::new(1);
        let programs = (0..4).filter_map(|_| sums(4, &takes, usize::MAX, &mut random));
        let sums = programs.min_by_key(|s| s.steps.len())?;
        let mut forms: Vec<Word> = vec![0; small.forms.len()];
        for t in small.elements() {
            let bits = (0..4).filter(|j| small.trace(mul(theta[*j as usize], t))).fold(0, |b, j| b | 1u32 << j);
            let z = mul(sigma, inverse(t));
            for (form, m) in forms.iter_mut().zip(&small.forms) {
                *form |= if small.trace(mul(*m, z)) { 0x1_0001 << bits } else { 0 };
            }
        }
        let pools = (0..seeds).map(|seed| {
            let mut pool = Pool::new(4, Random::new(seed));
            pool.gather(&mut All(forms.clone()));
            pool
        });
        let missing = |p: &Pool| forms.iter().filter(|f| p.made.iter().all(|m| m.value != **f)).count();
        let pool = pools.min_by_key(|p| p.made.len() + missing(p))?;
        Some(Middle { theta, sigma, takes, sums, pool, forms })
    }

    /// The forms on top of four nodes.
    fn gates(&self, b: &mut Builder, bits: &[u32]) -> Vec<u32> {
        let nodes = self.pool.gates(b, bits);
        let form = |b: &mut Builder, f: &Word| {
            let exact = self.pool.made.iter().position(|m| m.value == *f);
            exact.map(|k| nodes[k]).or_else(|| self.pool.find(*f).map(|k| b.not(nodes[k as usize]))).unwrap_or(0)
        };
        self.forms.iter().map(|f| form(b, f)).collect()
    }
}

/// What is added to the four bits of `n / w` beside products.
#[derive(Clone, Debug)]
struct Rest {
    cost: u32,
    /// First products that are ors: those add their operands.
    ors: u32,
    /// By value of the middle's sums: the form that is added there.
    at: Vec<(usize, Vector)>,
}

/// A choice with its sums.
struct Candidate {
    split: Split,
    top: Sums,
    bottom: Sums,
    results: Vec<Vector>,
    rest: Rest,
}

impl Candidate {
    fn cost(&self) -> usize {
        self.top.steps.len() + self.bottom.steps.len() + self.rest.cost as usize
    }
}

/// Restarts of the sums of a promising choice.
const RESTARTS: usize = 24;
/// Choices whose last sums are looked at, and choices whose sums are looked for again and again.
const SECOND: usize = 1500;
const THIRD: usize = 60;
/// Candidates that become gates.
const LAST: usize = 6;

/// A circuit for a twist of inversion.
pub fn plan(twist: &Twist) -> Vec<Circuit> {
    let mut random = Random::new(2);
    let outline = Outline::new(twist);
    let small = Small::new([0, 1, 2]);
    let Some(middle) = Middle::new(&small, [12, 11, 2, 1], 2, 8) else { return vec![] };
    let mut splits: Vec<(usize, Split)> = Vec::new();
    for i in 0..85 {
        for j in 0..i {
            let Some(split) = outline.split(&small, power(3, i), power(3, j)) else { continue };
            let top = sums(9, &split.forms, usize::MAX, &mut random).map_or(usize::MAX, |s| s.steps.len());
            splits.push((top, split));
        }
    }
    splits.sort_by_key(|s| s.0);
    splits.truncate(SECOND);
    for (cost, split) in &mut splits {
        let results = outline.results(&small, split, middle.sigma);
        *cost += sums(8, &results, usize::MAX, &mut random).map_or(usize::MAX / 2, |s| s.steps.len());
    }
    splits.sort_by_key(|s| s.0);
    splits.truncate(THIRD);
    let mut candidates: Vec<Candidate> = splits.into_iter().filter_map(|(_, s)| refined(&outline, &small, &middle, s, &mut random)).collect();
    candidates.sort_by_key(Candidate::cost);
    candidates.iter().take(LAST).filter_map(|c| gates(&middle, c)).collect()
}

fn refined(outline: &Outline, small: &Small, middle: &Middle, split: Split, random: &mut Random) -> Option<Candidate> {
    let results = outline.results(small, &split, middle.sigma);
    let mut best: Option<(usize, Sums, Rest)> = None;
    let mut tops: Vec<Sums> = (0..RESTARTS).filter_map(|_| sums(9, &split.forms, usize::MAX, random)).collect();
    tops.sort_by_key(|s| s.steps.len());
    let least = tops.first()?.steps.len();
    for top in tops.into_iter().filter(|t| t.steps.len() <= least + 1).take(6) {
        let rest = rest(middle, &split, &top);
        let cost = top.steps.len() + rest.cost as usize;
        if best.as_ref().is_none_or(|b| cost < b.0) {
            best = Some((cost, top, rest));
        }
    }
    let (_, top, rest) = best?;
    let bottom = (0..RESTARTS).filter_map(|_| sums(8, &results, usize::MAX, random)).min_by_key(|s| s.steps.len())?;
    Some(Candidate { split, top, bottom, results, rest })
}

/// The cheapest way to add what is no product: some products as ors, and forms where sums for several bits branch.
fn rest(middle: &Middle, split: &Split, top: &Sums) -> Rest {
    let shared: Vec<usize> = (0..middle.sums.values.len()).filter(|v| middle.sums.values[*v].count_ones() > 1).collect();
    let distance = |v: Vector| u32::from(top.distance[v as usize]);
    let mut best = Rest { cost: u32::MAX, ors: 0, at: vec![] };
    for ors in 0..512u32 {
        let mut open: [Vector; 4] = middle.theta.map(|t| split.rest[t as usize]);
        for p in (0..9).filter(|p| ors >> p & 1 == 1) {
            let both = split.forms[p] ^ split.forms[p + 9];
            (0..4).filter(|j| middle.takes[p] >> j & 1 == 1).for_each(|j| open[j] ^= both);
        }
        let plain: u32 = open.iter().map(|v| distance(*v)).sum();
        if plain >= best.cost.saturating_add(3) {
            continue;
        }
        let mut at = Vec::new();
        let mut cost = 0;
        for v in &shared {
            let takes = |j: usize| middle.sums.values[*v] >> j & 1 == 1;
            let with = |g: Vector| distance(g) + (0..4).map(|j| distance(if takes(j) { open[j] ^ g } else { open[j] })).sum::<u32>();
            let candidates = (0..4).filter(|j| takes(*j)).map(|j| open[j]).chain(top.values.iter().copied());
            let Some(g) = candidates.min_by_key(|g| with(*g)) else { continue };
            if with(g) < with(0) {
                cost += distance(g);
                (0..4).filter(|j| takes(*j)).for_each(|j| open[j] ^= g);
                at.push((*v, g));
            }
        }
        cost += open.iter().map(|v| distance(*v)).sum::<u32>();
        if cost < best.cost {
            at.extend(open.iter().copied().enumerate());
            best = Rest { cost, ors, at };
        }
    }
    best
}

fn gates(middle: &Middle, c: &Candidate) -> Option<Circuit> {
    let mut b = Builder::new(8);
    // Values of the first sums; the one that is 1 has no node.
    let mut values: Vec<Option<u32>> = (0..8).map(Some).chain([None]).collect();
    for (i, j) in &c.top.steps {
        let node = match (values[*i as usize], values[*j as usize]) {
            (Some(x), Some(y)) => b.xor(x, y),
            (Some(x), None) | (None, Some(x)) => b.not(x),
            (None, None) => return None,
        };
        values.push(Some(node));
    }
    let form = |v: Vector| c.top.place(v).and_then(|k| values[k]);
    let forms: Vec<u32> = c.split.forms.iter().map(|f| form(*f)).collect::<Option<_>>()?;
    let mut terms: Vec<Terms> = vec![Terms::default(); middle.sums.values.len()];
    for p in 0..9 {
        let (x, y) = (forms[p], forms[p + 9]);
        let product = b.node(if c.rest.ors >> p & 1 == 1 { Gate::Or(x, y) } else { Gate::And(x, y) });
        terms[middle.sums.place(middle.takes[p])?].nodes.push(product);
    }
    for (v, g) in &c.rest.at {
        for part in c.top.parts(*g) {
            match values[part] {
                Some(n) => terms[*v].nodes.push(n),
                None => terms[*v].flip ^= true,
            }
        }
    }
    let bits: Vec<u32> = spread(&mut b, &middle.sums, terms)?;
    let z = middle.gates(&mut b, &bits);
    let mut terms: Vec<Terms> = vec![Terms::default(); c.bottom.values.len()];
    for p in (0..18).filter(|p| c.results[*p] != 0) {
        let product = b.node(Gate::And(z[p % 9], forms[p]));
        terms[c.bottom.place(c.results[p])?].nodes.push(product);
    }
    if c.results[18] != 0 {
        terms[c.bottom.place(c.results[18])?].flip = true;
    }
    let outputs = spread(&mut b, &c.bottom, terms)?;
    Some(b.finish(outputs))
}

/// What comes in at one value of sums that are run backwards.
#[derive(Clone, Debug, Default)]
struct Terms {
    nodes: Vec<u32>,
    flip: bool,
}

/// Sums run backwards: what comes in at a value goes to every input that the value is a sum of.
fn spread(b: &mut Builder, sums: &Sums, mut terms: Vec<Terms>) -> Option<Vec<u32>> {
    for (k, (i, j)) in sums.steps.iter().enumerate().rev() {
        let own = std::mem::take(&mut terms[sums.dims + k]);
        for to in [*i as usize, *j as usize] {
            match collected(b, own.clone()) {
                Some(n) => terms[to].nodes.push(n),
                None => terms[to].flip ^= own.flip,
            }
        }
    }
    terms.truncate(sums.dims);
    terms.into_iter().map(|t| collected(b, t)).collect()
}

fn collected(b: &mut Builder, t: Terms) -> Option<u32> {
    let n = b.sum(t.nodes)?;
    Some(if t.flip { b.not(n) } else { n })
}
