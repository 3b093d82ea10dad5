//! Every operation on all small intervals: what it makes of each member is in the result, which is no larger where it can be exact.

use super::{right, Tried};
use crate::num::{Bound, End, Int, Itv};
use std::fmt;

/// Ends as they are meant; `None`: open.
type Ends = (Option<i64>, Option<i64>);

/// Members that are tried of what has no end.
const WINDOW: i64 = 9;

fn members((lo, hi): Ends) -> Vec<i64> {
    (lo.unwrap_or(-WINDOW)..=hi.unwrap_or(WINDOW)).collect()
}

/// The intervals with these ends, whether something lies between or not, as one kind writes them.
type Make<E> = fn(Ends) -> Option<Itv<E>>;

fn closed((lo, hi): Ends) -> Option<Itv> {
    Some(Itv { lo: lo?.into(), hi: hi?.into() })
}

fn open((lo, hi): Ends) -> Option<Itv<Bound>> {
    Some(Itv { lo: lo.map_or(Bound::NegInf, Bound::from), hi: hi.map_or(Bound::PosInf, Bound::from) })
}

pub fn intervals() -> Tried {
    Ok(all(closed)? + all(open)? + between_kinds()?)
}

fn all<E: End + From<i64>>(make: Make<E>) -> Tried
where
    Itv<E>: fmt::Display,
{
    let ends = || (-4..=4).map(Some).chain([None]);
    let each: Vec<(Ends, Itv<E>)> = ends().flat_map(|lo| ends().map(move |hi| (lo, hi))).filter_map(|e| Some((e, make(e)?))).collect();
    let mut tried = 0;
    for (a, x) in &each {
        alone(*a, x)?;
        for (b, y) in &each {
            tried += pair((*a, x), (*b, y))?;
        }
    }
    Ok(tried)
}

/// What is asked of one interval, and what is made of one.
fn alone<E: End + From<i64>>(a: Ends, x: &Itv<E>) -> Result<(), String>
where
    Itv<E>: fmt::Display,
{
    let all = members(a);
    let is = |v: bool, what: &str| right(v, || format!("{what} of {x}"));
    is(x.is_empty() == all.is_empty() && x.clone().non_empty().is_none() == all.is_empty(), "whether it is empty")?;
    let single = match a {
        (Some(lo), Some(hi)) if lo == hi => Some(Int::from(lo)),
        _ => None,
    };
    is(x.single() == single.as_ref(), "the only member")?;
    is((-WINDOW..=WINDOW).all(|v| x.holds(v) == all.contains(&v)), "the members")?;
    if all.is_empty() {
        return Ok(());
    }
    is(Itv::<E>::bool() == Itv::new(0i64, 1i64) && Itv::<E>::word(3) == Itv::new(0i64, 7i64) && Itv::<E>::point(3i64) == Itv::new(3i64, 3i64), "known intervals")?;
    is(x.is_nonneg() == all.iter().all(|v| *v >= 0), "signs")?;
    for v in -WINDOW..=WINDOW {
        is(x.below(v) == (a.1.is_some() && all.iter().all(|m| *m < v)) && x.at_least(v) == (a.0.is_some() && all.iter().all(|m| *m >= v)), "a bound")?;
        exact(&x.scale(v), (a, a), all.iter().map(|m| m * v), || format!("{x} times {v}"))?;
    }
    exact(&x.neg(), (a, a), all.iter().map(|v| -v), || format!("- {x}"))?;
    holds(&x.square(), all.iter().map(|v| v * v), || format!("the square of {x}"))?;
    is(!x.square().lo.is_negative(), "the sign of the square")?;
    for k in 0..4u32 {
        is(x.fits(k) == (a.1.is_some() && all.iter().all(|v| (0..1 << k).contains(v))), "whether it fits a word")?;
        exact(&x.shl(k), (a, a), all.iter().map(|v| v << k), || format!("{x} << {k}"))?;
        exact(&x.shr(k), (a, a), all.iter().map(|v| v >> k), || format!("{x} >> {k}"))?;
        holds(&x.wrap(k), all.iter().map(|v| v.rem_euclid(1 << k)), || format!("{x} mod 2^{k}"))?;
        is(Itv::word(k).contains(&x.wrap(k)), "the size of what wraps")?;
        holds(&x.pow(k.into()), all.iter().map(|v| v.pow(k)), || format!("{x} to {k}"))?;
    }
    for d in -2..=6i64 {
        let (q, r) = (x.div_floor(&d.into()), x.mod_floor(&d.into()));
        is(q.is_some() == (d > 0) && r.is_some() == (d > 0), "by what it is divided")?;
        let (Some(q), Some(r)) = (q, r) else { continue };
        exact(&q, (a, a), all.iter().map(|v| v.div_euclid(d)), || format!("{x} / {d}"))?;
        holds(&r, all.iter().map(|v| v.rem_euclid(d)), || format!("{x} % {d}"))?;
        is(Itv::new(0i64, d - 1).contains(&r), "the size of a remainder")?;
    }
    Ok(())
}

fn pair<E: End + From<i64>>((a, x): (Ends, &Itv<E>), (b, y): (Ends, &Itv<E>)) -> Tried
where
    Itv<E>: fmt::Display,
{
    let (all, others) = (members(a), members(b));
    let is = |v: bool, what: &str| right(v, || format!("{what} of {x} and {y}"));
    let inside = |(al, ah): Ends, (bl, bh): Ends| al.is_none_or(|l| bl.is_some_and(|m| l <= m)) && ah.is_none_or(|h| bh.is_some_and(|m| m <= h));
    is(x.contains(y) == (others.is_empty() || inside(a, b)), "what contains what")?;
    holds(&x.join(y), all.iter().chain(&others).copied(), || format!("{x} joined with {y}"))?;
    let both: Vec<i64> = all.iter().filter(|v| others.contains(v)).copied().collect();
    holds(&x.meet(y), both.iter().copied(), || format!("{x} met by {y}"))?;
    if all.is_empty() || others.is_empty() {
        is(x.meet(y).is_empty() && x.common(y).is_none(), "what is met")?;
        is(x.join(y) == *if all.is_empty() { y } else { x }, "what is joined")?;
        return Ok(1);
    }
    exact(&x.join(y), (a, b), all.iter().chain(&others).copied(), || format!("{x} joined with {y}"))?;
    is(x.meet(y).is_empty() == both.is_empty() && x.common(y).is_none() == both.is_empty(), "what is met")?;
    is(both.is_empty() || x.contains(&x.meet(y)) && y.contains(&x.meet(y)), "the size of what is met")?;
    let pairs = || all.iter().flat_map(|v| others.iter().map(move |w| (*v, *w)));
    exact(&x.add(y), (a, b), pairs().map(|(v, w)| v + w), || format!("{x} + {y}"))?;
    exact(&x.sub(y), (a, b), pairs().map(|(v, w)| v - w), || format!("{x} - {y}"))?;
    exact(&x.mul(y), (a, b), pairs().map(|(v, w)| v * w), || format!("{x} * {y}"))?;
    let negative = a.0.is_none_or(|v| v < 0) || b.0.is_none_or(|v| v < 0);
    let (and, or, xor) = (x.and(y), x.or(y), x.xor(y));
    is([&and, &or, &xor].iter().all(|r| r.is_none() == negative), "of which there are bits")?;
    if let (Some(and), Some(or), Some(xor)) = (and, or, xor) {
        holds(&and, pairs().map(|(v, w)| v & w), || format!("{x} & {y}"))?;
        holds(&or, pairs().map(|(v, w)| v | w), || format!("{x} | {y}"))?;
        holds(&xor, pairs().map(|(v, w)| v ^ w), || format!("{x} ^ {y}"))?;
        let sum = x.add(y);
        is(and.hi <= x.hi.clone().min(y.hi.clone()) && or.lo >= x.lo.clone().max(y.lo.clone()) && or.hi <= sum.hi && xor.hi <= sum.hi, "the size of what bits make")?;
    }
    Ok(1 + (all.len() * others.len()) as u64)
}

/// That all of these are members of the result.
fn holds<E: End + From<i64>>(result: &Itv<E>, values: impl Iterator<Item = i64>, what: impl Fn() -> String) -> Result<(), String>
where
    Itv<E>: fmt::Display,
{
    for v in values {
        let v = E::from(Int::from(v));
        right(result.lo <= v && v <= result.hi, || format!("{}: not in {result}", what()))?;
    }
    Ok(())
}

/// Also that the result has no other ends than these, if the operands are closed.
fn exact<E: End + From<i64>>(result: &Itv<E>, (a, b): (Ends, Ends), values: impl Iterator<Item = i64>, what: impl Fn() -> String) -> Result<(), String>
where
    Itv<E>: fmt::Display,
{
    let values: Vec<i64> = values.collect();
    holds(result, values.iter().copied(), &what)?;
    let closed = [a.0, a.1, b.0, b.1].iter().all(Option::is_some);
    let ends = values.iter().min().zip(values.iter().max());
    right(!closed || ends.is_none_or(|(lo, hi)| *result == Itv::new(*lo, *hi)), || format!("{}: {result} is larger than it has to be", what()))
}

/// From one kind to the other, beyond the fast path too.
fn between_kinds() -> Tried {
    let far: Itv = Itv::new(Int::pow2(130).neg(), Int::pow2(200));
    let wide = Itv::<Bound>::from(&far);
    let is = |v: bool, what: &str| right(v, || what.to_string());
    is(wide.closed().as_ref() == Some(&far) && wide.single().is_none(), "an interval of big ends")?;
    is(Itv::TOP.closed().is_none() && Itv::EMPTY.closed().is_none() && Itv::<Bound>::new(Bound::NegInf, 0).closed().is_none(), "what has two ends")?;
    is(Itv::BOOL == Itv::new(0, 1) && Itv::EMPTY.is_empty() && Itv::TOP.contains(&wide), "constants")?;
    is(far.count() == Int::pow2(200).add(&Int::pow2(130)).add(&Int::ONE), "how many there are")?;
    is(Itv::<Int>::new(3, 1).count() == Int::ZERO && Itv::<Int>::new(-2, 3).count() == Int::from(6), "how many there are")?;
    is(Itv::<Int>::between(2, 1).is_none() && Itv::<Int>::between(2, 2) == Some(Itv::point(2)), "whether something is between")?;
    let words = (Itv::<Int>::new(Int::pow2(140), Int::pow2(141)), Itv::<Int>::new(0, Int::pow2(150)));
    is(words.0.or(&words.1).is_some_and(|r| r.hi == Int::pow2(141).add(&Int::pow2(150))) && words.0.and(&Itv::point(Int::mask(100))).is_some_and(|r| r == Itv::word(100)), "bits of long words")?;
    Ok(8)
}
