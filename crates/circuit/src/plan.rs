//! Which tower is taken.
//!
//! Every pair of forms `a`, `b` is a tower. A quick look at all of them, then the sums of the promising ones many times over.
//! Trusted: text.

use crate::assemble::{gates, Candidate};
use crate::field::{power, Twist};
use crate::gates::Circuit;
use crate::linear::{sums, Sums};
use crate::middle::Middle;
use crate::random::Random;
use crate::rest::{rest, Rest};
use crate::small::Small;
use crate::tower::{Outline, Split};

/// Restarts of the sums of a promising choice.
const RESTARTS: usize = 24;
/// Choices whose last sums are looked at, and choices whose sums are looked for again and again.
const SECOND: usize = 1500;
const THIRD: usize = 60;
/// Candidates that become gates.
const LAST: usize = 6;

/// An element that generates the field of 256, and how many of its powers are no multiples of each other by elements of the field of 4.
const GENERATOR: u8 = 3;
const POWERS: u32 = 85;

/// Circuits for a twist of inversion, those with the fewest gates first.
pub fn plan(twist: &Twist) -> Vec<Circuit> {
    let mut random = Random::new(2);
    let outline = Outline::new(twist);
    let small = Small::new();
    let Some(middle) = Middle::new(&small) else { return vec![] };
    let splits = promising(&outline, &small, &middle, &mut random);
    let mut candidates: Vec<Candidate> = splits.into_iter().filter_map(|s| refined(&outline, &small, &middle, s, &mut random)).collect();
    candidates.sort_by_key(Candidate::cost);
    candidates.iter().take(LAST).filter_map(|c| gates(&middle, c)).collect()
}

/// The choices of forms whose sums are few at first sight.
fn promising(outline: &Outline, small: &Small, middle: &Middle, random: &mut Random) -> Vec<Split> {
    let steps = |s: Option<Sums>| s.map_or(usize::MAX / 2, |s| s.steps.len());
    let mut splits: Vec<(usize, Split)> = Vec::new();
    for i in 0..POWERS {
        for j in 0..i {
            let Some(split) = outline.split(small, power(GENERATOR, i), power(GENERATOR, j)) else { continue };
            splits.push((steps(sums(9, &split.forms, random)), split));
        }
    }
    splits.sort_by_key(|s| s.0);
    splits.truncate(SECOND);
    for (cost, split) in &mut splits {
        *cost += steps(sums(8, &outline.results(small, split, middle.sigma), random));
    }
    splits.sort_by_key(|s| s.0);
    splits.truncate(THIRD);
    splits.into_iter().map(|s| s.1).collect()
}

/// The best of many sums for one choice.
fn refined(outline: &Outline, small: &Small, middle: &Middle, split: Split, random: &mut Random) -> Option<Candidate> {
    let results = outline.results(small, &split, middle.sigma);
    let mut best: Option<(usize, Sums, Rest)> = None;
    let mut tops: Vec<Sums> = (0..RESTARTS).filter_map(|_| sums(9, &split.forms, random)).collect();
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
    let bottom = (0..RESTARTS).filter_map(|_| sums(8, &results, random)).min_by_key(|s| s.steps.len())?;
    Some(Candidate { split, top, bottom, results, rest })
}
