//! What holds on one path is not known on another: code that is right for some inputs and wrong for others, told apart by a branch
//! whose condition a careless prover would take for settled.

use crate::support::{judged, made, object, of, Compiler, Made};
use santoku_certify::report::Status;

/// A loop of run-time length, so that facts of the path are used at all.
const PROGRAM: &str = "
@export(\"total\")
fn total<n: len>(m: [u32; n]) -> u32 {
  var t: u32 = 0
  for i in 0..<n { t = t + m[i] }
  t
}
";

/// `total` in assembly. Where n is 1000 at most, `work` is done with 1000 - n in t1; where n is above 1001, `beyond`.
fn code(work: &str, beyond: &str) -> String {
    format!(
        ".globl total\n.type total, @function\ntotal:\n  li t0, 1000\n  bltu t0, a0, 1f\n  sub t1, t0, a0\n{work}\n1:\n  li t0, 1001\n  bltu t0, a0, 3f\n0:\n  mv t3, a0\n  li a0, 0\n  beqz t3, 4f\n2:\n  lw t4, 0(a1)\n  add a0, a0, t4\n  addi a1, a1, 4\n  addi t3, t3, -1\n  bnez t3, 2b\n4:\n  ret\n3:\n{beyond}\n  j 0b\n.size total, .-total\n"
    )
}

/// Things to do with a word that is known on a path alone: each notes something of its result.
const WORK: [&str; 14] = [
    "  or t2, t1, x0\n  addi t2, t2, 1",
    "  or t2, x0, t1\n  addi t2, t2, 1",
    "  xor t2, t1, x0\n  addi t2, t2, 1",
    "  ori t2, t1, 0\n  addi t2, t2, 1",
    "  xori t2, t1, 0\n  addi t2, t2, 1",
    "  andi t2, t1, -1\n  addi t2, t2, 1",
    "  andi t2, t1, 2047\n  addi t2, t2, 1",
    "  li t3, 65535\n  and t2, t1, t3\n  addi t2, t2, 1",
    "  and t2, t1, t1\n  addi t2, t2, 1",
    "  slli t2, t1, 0\n  or t2, t2, x0\n  addi t2, t2, 1",
    "  addi t2, t1, 1\n  or t2, t2, x0\n  srli t2, t2, 1",
    "  xori t2, t1, -1\n  xori t2, t2, -1\n  addi t2, t2, 1",
    "  sltu t2, x0, t1\n  or t2, t2, t1\n  addi t2, t2, 1",
    "  addi sp, sp, -16\n  sw t1, 0(sp)\n  lbu t2, 1(sp)\n  lw t3, 0(sp)\n  or t2, t2, t3\n  addi sp, sp, 16",
];

/// What is wrong for every n above 1001.
const BEYOND: [(&str, &str); 4] = [
    ("a wrong value", "  li a0, 0\n  ret"),
    ("a load at a fixed address", "  lw t2, 400(x0)"),
    ("a load at a secret address", "  lw t2, 0(a1)\n  andi t2, t2, -4\n  lw t2, 0(t2)"),
    ("a register that is not handed back", "  li s0, 1"),
];

fn judge(made: &Made, march: &str, text: &str) -> Option<Status> {
    let object = object(Compiler::Gcc, march, "O1", "unit.S", text)?;
    Some(of(&judged(made, &object), "total").status.clone())
}

/// A range that holds where n is at most 1000 must not settle a branch on n above 1001.
#[test]
fn what_is_known_on_one_path_settles_no_branch_beside_it() {
    let made = made(PROGRAM);
    let (mut right, mut wrong) = (0, 0);
    for (k, work) in WORK.iter().enumerate() {
        for (n, (what, beyond)) in BEYOND.iter().enumerate() {
            // Every way of working with the wrong value, and every wrong thing with some way.
            if n > 0 && k % BEYOND.len() != n {
                continue;
            }
            let Some(found) = judge(&made, "rv32im", &code(work, beyond)) else { return };
            let refused = matches!(found, Status::Refuted(_) | Status::NotProved(_) | Status::Broken { .. } | Status::NotFollowed { .. } | Status::Leak { .. });
            assert!(refused, "{what} after\n{work}\n{found:?}");
            assert!(!found.reason().unwrap_or_default().contains("rule of the prover"), "{what} after\n{work}\n{found:?}");
            wrong += 1;
        }
        // The same without anything wrong behind the branch.
        let Some(found) = judge(&made, "rv32im", &code(work, "")) else { return };
        assert_eq!(found, Status::Equal, "{work}");
        right += 1;
    }
    println!("{right} right, {wrong} wrong");
    assert!(right == WORK.len() && wrong >= WORK.len() + 8);
}

/// A loop whose head is the first instruction of its function: the jump back is no call.
#[test]
fn a_loop_may_begin_with_its_function() {
    let source = "
@export(\"drain\")
fn drain<n: len>(m: [u32; n], s: u32) -> u32 {
  var t = s
  for i in 0..<n { t = t + m[i] }
  t
}
";
    let made = made(source);
    let text = |step: i32, back: &str| format!(".globl drain\n.type drain, @function\ndrain:\n  beqz a0, 1f\n  lw t0, 0(a1)\n  add a2, a2, t0\n  addi a1, a1, 4\n  addi a0, a0, {step}\n  {back}\n1:\n  mv a0, a2\n  ret\n.size drain, .-drain\n");
    for march in ["rv32im", "rv32imc"] {
        let status = |text: &str| Some(of(&judged(&made, &object(Compiler::Gcc, march, "O1", "unit.S", text)?), "drain").status.clone());
        let Some(right) = status(&text(-1, "j drain")) else { return };
        assert_eq!(right, Status::Equal);
        // Must fail: two steps at a time, and a call in the place of the jump.
        for wrong in [text(-2, "j drain"), text(-1, "jal drain"), text(-1, "call drain")] {
            let Some(found) = status(&wrong) else { return };
            assert!(!found.holds(), "{wrong}{found:?}");
        }
    }
}

/// Bit 1 of a square is 0: the branch mentions a secret and shows none. A leak is told only where two runs show it.
#[test]
fn a_branch_that_no_two_runs_take_differently_is_no_leak() {
    let made = made("\n@export(\"choose\")\nfn choose(x: u32, y: u32, s: bool) -> u32 { if s { x } else { y } }\n");
    let text = |test: &str| format!(".globl choose\n.type choose, @function\nchoose:\n  mul t0, a0, a0\n  {test}\n  bnez t0, 1f\n1:\n  neg a2, a2\n  xor a0, a0, a1\n  and a0, a0, a2\n  xor a0, a0, a1\n  ret\n.size choose, .-choose\n");
    let status = |text: &str| Some(of(&judged(&made, &object(Compiler::Gcc, "rv32im", "O1", "unit.S", text)?), "choose").status.clone());
    let Some(found) = status(&text("andi t0, t0, 2")) else { return };
    let reason = found.reason().unwrap_or_default();
    assert!(matches!(found, Status::NotFollowed { .. }) && reason.contains("no two inputs that show it"), "{found:?}");
    // Bit 2 is not.
    let Some(found) = status(&text("andi t0, t0, 4")) else { return };
    assert!(matches!(found, Status::Leak { .. }), "{found:?}");
}
