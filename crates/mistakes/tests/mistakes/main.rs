//! Every mistake of the tables proves its lie, and the judge refuses it; likewise what random programs make of all mistakes.
//!
//! Nothing here believes an engine: a lie is one because the interpreter runs into it.

#![allow(warnings)]

// The copy, compiled here and nowhere else, with the tests inside the prover's files: they are not compiled with the prover itself.
include!(concat!(env!("OUT_DIR"), "/prove/lib.rs"));
pub use santoku_mistakes::mistake;

// The programs and the engines' verdicts are those of the prover's own tests, with the copy in the prover's place.
extern crate self as santoku_prove;

#[path = "../../../prove/tests/claims/ast.rs"]
#[allow(dead_code)]
mod ast;
#[path = "../../../prove/tests/claims/claim.rs"]
#[allow(dead_code)]
mod claim;
#[path = "../../../prove/tests/claims/express.rs"]
#[allow(dead_code)]
mod express;
#[path = "../../../prove/tests/claims/grow.rs"]
#[allow(dead_code)]
mod grow;
#[path = "../../../prove/tests/claims/judge.rs"]
#[allow(dead_code)]
mod judge;
#[path = "../../../prove/tests/claims/run.rs"]
#[allow(dead_code)]
mod run;
#[path = "../../../prove/tests/claims/shrink.rs"]
#[allow(dead_code)]
mod shrink;
// The tests of `num`, with its copy in its place.
mod num {
    pub use crate::numbers::*;
}
#[path = "../../../num/tests/every/mod.rs"]
mod every;
#[path = "../../table.rs"]
mod table;

mod ask;
mod false_clauses;
mod meaning;
mod random;
mod random_clauses;
mod written;
mod wrong_numbers;

use santoku_ir::gen::Rng;
use std::ops::Range;

/// Specification functions recurse.
const STACK_BYTES: usize = 64 << 20;

fn tables() -> [Vec<table::Mistake>; 2] {
    table::TABLES.map(|at| {
        let text = std::fs::read_to_string(format!("{}/{at}", env!("CARGO_MANIFEST_DIR"))).expect("a table");
        let all: table::Table = toml::from_str(&text).expect("a table");
        all.mistake
    })
}

fn table() -> Vec<table::Mistake> {
    tables().into_iter().flatten().collect()
}

/// How many mistakes are about ranges: they come first.
fn ranges() -> usize {
    tables()[0].len()
}

/// What `part` makes of the seeds, so many at a time.
fn in_parts<T: Send>(seeds: Range<u64>, step: u64, part: impl Fn(Range<u64>) -> T + Sync) -> Vec<T> {
    let parts = seeds.clone().step_by(step as usize).map(|from| from..(from + step).min(seeds.end)).collect();
    of_each(parts, part)
}

/// Claims about the random programs of these seeds, of each kind one in so many; how many programs there were.
fn claims(seeds: Range<u64>, salt: u64, (kinds, one_in): (&[&'static str], u64), mut made: impl FnMut(u64, &claim::Claim, &mut Rng)) -> usize {
    let mut programs = 0;
    for seed in seeds {
        let mut rng = Rng::new(seed.wrapping_mul(0x9e37_79b9) ^ salt);
        let Some(mut g) = grow::program(&mut rng) else { continue };
        programs += 1;
        for kind in kinds {
            if g.rng.one_in(one_in) {
                if let Some(c) = claim::make(&mut g, kind) {
                    made(seed, &c, g.rng);
                }
            }
        }
    }
    programs
}

/// `f` of each, on all cores.
fn of_each<T: Send, R: Send>(all: Vec<T>, f: impl Fn(T) -> R + Sync) -> Vec<R> {
    let cores = std::thread::available_parallelism().map_or(2, usize::from);
    let queue = std::sync::Mutex::new(all.into_iter().enumerate());
    let done = std::sync::Mutex::new(Vec::new());
    std::thread::scope(|s| {
        let work = || loop {
            let next = queue.lock().expect("the queue").next();
            let Some((nr, one)) = next else { return };
            let found = f(one);
            done.lock().expect("what is done").push((nr, found));
        };
        let threads: Vec<_> = (0..cores).map(|_| std::thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(s, work).expect("a thread")).collect();
        threads.into_iter().for_each(|t| t.join().unwrap_or_else(|e| std::panic::resume_unwind(e)));
    });
    let mut done = done.into_inner().expect("what is done");
    done.sort_by_key(|(nr, _)| *nr);
    done.into_iter().map(|(_, r)| r).collect()
}
