//! Permutations of all bits of a word as exchanges of bits at one distance each.
//!
//! `from[j]` is the bit that becomes bit `j`; there are `2^k` bits, whose numbers have `k` digits.
//! Source: V. E. Beneš, Mathematical Theory of Connecting Networks and Telephone Traffic (1965); exchange of bits: H. S. Warren, Hacker's Delight, 7-1.

use super::step::Step;

/// A permutation that permutes the digits of bit numbers and complements some of them.
pub fn of_index_bits(from: &[usize]) -> Option<Vec<Step>> {
    let k = from.len().trailing_zeros() as usize;
    let flipped = from[0];
    // Digit `a` of the result's number is digit `digits[a]` of the input's.
    let digits: Vec<usize> = (0..k)
        .map(|a| {
            let moved = from[1 << a] ^ flipped;
            moved.is_power_of_two().then(|| moved.trailing_zeros() as usize)
        })
        .collect::<Option<_>>()?;
    let number = |j: usize| (0..k).fold(flipped, |n, a| n ^ (j >> a & 1) << digits[a]);
    if (0..from.len()).any(|j| from[j] != number(j)) {
        return None;
    }
    // Which digit of the input's number stands at each place so far, and whether it is complemented.
    let mut at: Vec<(usize, bool)> = (0..k).map(|d| (d, false)).collect();
    let mut steps = Vec::new();
    let exchange = |shift: usize, keep: &dyn Fn(usize) -> bool| Step::Swap { shift: shift as u32, low: lower(from.len(), keep) };
    for a in 0..k {
        let wanted = (digits[a], flipped >> digits[a] & 1 == 1);
        let b = at.iter().position(|(d, _)| *d == wanted.0)?;
        let complement = at[b].1 != wanted.1;
        let (low, high) = (a.min(b), a.max(b));
        let digit = |i: usize, d: usize| i >> d & 1 == 1;
        match (a == b, complement) {
            (true, false) => {}
            (true, true) => steps.push(exchange(1 << a, &|i| !digit(i, a))),
            (false, false) => steps.push(exchange((1 << high) - (1 << low), &|i| digit(i, low) && !digit(i, high))),
            // Numbers whose two digits are alike are exchanged: both digits are complemented as well.
            (false, true) => steps.push(exchange((1 << high) + (1 << low), &|i| !digit(i, low) && !digit(i, high))),
        }
        at.swap(a, b);
        at[a].1 = wanted.1;
        at[b].1 ^= complement && a != b;
    }
    Some(steps)
}

fn lower(bits: usize, keep: impl Fn(usize) -> bool) -> u128 {
    (0..bits).filter(|i| keep(*i)).fold(0, |m, i| m | 1 << i)
}

/// The shortest network found for a permutation: `2k - 1` steps at most. Distances are tried in every order.
pub fn exchanges(from: &[usize]) -> Option<Vec<Step>> {
    let k = from.len().trailing_zeros();
    let mut best: Option<Vec<Step>> = None;
    let mut order: Vec<u32> = (0..k).collect();
    orders(&mut order, 0, &mut |order| {
        for early in [true, false] {
            let steps = network(from, order, early);
            if best.as_ref().is_none_or(|b| steps.len() < b.len()) {
                best = Some(steps);
            }
        }
    });
    best
}

fn orders(order: &mut Vec<u32>, at: usize, found: &mut dyn FnMut(&[u32])) {
    if at == order.len() {
        return found(order);
    }
    for i in at..order.len() {
        order.swap(at, i);
        orders(order, at + 1, found);
        order.swap(at, i);
    }
}

/// The steps of a network whose outer exchanges are those of the first digit in `order`. `early`: prefer to exchange nothing first; else, nothing last.
fn network(from: &[usize], order: &[u32], early: bool) -> Vec<Step> {
    let (mut first, mut last) = (Vec::new(), Vec::new());
    let mut inner = from.to_vec();
    for (level, digit) in order.iter().enumerate() {
        let only = level + 1 == order.len();
        let (before, after);
        (inner, before, after) = halves(&inner, 1 << digit, early || only);
        first.extend(swap(1 << digit, before));
        last.extend(swap(1 << digit, after));
    }
    last.reverse();
    first.extend(last);
    first
}

fn swap(shift: u32, low: u128) -> Option<Step> {
    (low != 0).then_some(Step::Swap { shift, low })
}

/// Makes a permutation keep the digit `bit` of every number, by exchanges at that distance before and behind it: what is left of it, and both exchanges.
///
/// The two bits of a pair of the input go to different halves, and so do the two that become a pair of the result: around each cycle of such pairs
/// the halves alternate.
fn halves(from: &[usize], bit: usize, early: bool) -> (Vec<usize>, u128, u128) {
    let mut to = vec![0; from.len()];
    for (j, f) in from.iter().enumerate() {
        to[*f] = j;
    }
    // For each bit of the input: whether it passes through the half whose numbers have the digit.
    let mut upper: Vec<Option<bool>> = vec![None; from.len()];
    for start in 0..from.len() {
        let (mut i, mut half) = (start, if early { start & bit != 0 } else { to[start] & bit != 0 });
        while upper[i].is_none() {
            upper[i] = Some(half);
            upper[i ^ bit] = Some(!half);
            // The partner in the result of the partner in the input goes where this one went.
            i = from[to[i ^ bit] ^ bit];
            half = upper[i].unwrap_or(half);
        }
    }
    let half = |i: usize| if upper[i] == Some(true) { bit } else { 0 };
    let before = lower(from.len(), |i| i & bit == 0 && half(i) != 0);
    let after = lower(from.len(), |j| j & bit == 0 && half(from[j]) != 0);
    let mut inner = vec![0; from.len()];
    for (j, f) in from.iter().enumerate() {
        inner[j & !bit | half(*f)] = f & !bit | half(*f);
    }
    (inner, before, after)
}
