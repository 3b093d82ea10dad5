//! An exported function around the one that computes: it overwrites what that one left.
//!
//! Needs: how deep the stack goes below, from the frames of all that is called.  Keeps: results.  Absent: whether it is deep enough, which
//! `santoku certify` says of the bytes.
//! Trusted: nothing: the certifier looks at the bytes.

use crate::mach::word_access;
use std::fmt::Write;

/// Registers that callers save and that hold no results here, but for those that the loop below uses.
const CLEARED: [&str; 12] = ["t3", "t4", "t5", "t6", "a2", "a3", "a4", "a5", "a6", "a7", "t1", "t2"];

/// The code of a function with so many words of arguments on the stack, that returns so many in registers, around `body`, which uses so many
/// bytes of stack.
pub fn clearing(body: &str, (words, results): (u64, usize), depth: u64, xlen: u32) -> String {
    let word = u64::from(xlen / 8);
    let (load, store) = word_access(xlen);
    let frame = ((words + 1) * word).next_multiple_of(16);
    let depth = depth.next_multiple_of(16).max(16);
    let mut text = String::new();
    let mut line = |s: String| {
        let _ = writeln!(text, "\t{s}");
    };
    line(format!("addi sp, sp, -{frame}"));
    line(format!("{store} ra, {}(sp)", frame - word));
    for k in 0..words {
        line(format!("{load} t0, {}(sp)", frame + k * word));
        line(format!("{store} t0, {}(sp)", k * word));
    }
    line(format!("call {body}"));
    line(format!("{load} ra, {}(sp)", frame - word));
    // What was handed on upon the stack is the callee's to change, and is overwritten with the rest.
    line(format!("addi sp, sp, {frame}"));
    line("mv t1, sp".into());
    line(format!("li t0, {}", depth + frame));
    line("sub sp, sp, t0".into());
    line("mv t0, sp".into());
    line("1:".into());
    for k in 0..16 / word {
        line(format!("{store} zero, {}(t0)", k * word));
    }
    line("addi t0, t0, 16".into());
    line("bne t0, t1, 1b".into());
    line("mv sp, t1".into());
    line("li t0, 0".into());
    for r in CLEARED.iter().copied().chain(["a0", "a1"].into_iter().skip(results)) {
        line(format!("li {r}, 0"));
    }
    line("ret".into());
    text
}
