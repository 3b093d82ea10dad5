//! Wrong code by a real compiler: gcc 12.2 takes two shifts of a widened value for a rotation of the narrow one (GCC bug 106523, mended in
//! later versions). For counts above 32 that is another value.

use crate::support::{image, judged, made, object, of, version, Compiler, Made};
use santoku_certify::concrete::inputs::Input;
use santoku_certify::concrete::{Bench, End};
use santoku_certify::report::Status;
use santoku_ir::interp::Value;
use santoku_isa::Isa;

const PROGRAM: &str = "
@export(\"narrow\")
fn narrow(x: u32, y: public int in 0..63) -> u32 {
  let t = u64(x)
  u32((t << y) | (t >> (-y & 31)))
}
";

/// The same, by hand.
fn right(x: u32, y: u32) -> u32 {
    let t = u64::from(x);
    ((t << y) | (t >> (y.wrapping_neg() & 31))) as u32
}

/// What the code gives, run.
fn run(made: &Made, object: &[u8], x: u32, y: u32) -> u32 {
    let image = image(object);
    let entry = image.function("narrow").expect("it is there").address;
    let bench = Bench::new((&image, Isa::rv64imc()), &made.program, made.symbols["narrow"], entry, &[]).unwrap_or_else(|e| panic!("{e}"));
    let ran = bench.run(&Input { lens: vec![], args: vec![Value::word(x), Value::int(y)] }, 1, 1000);
    assert_eq!(ran.end, End::Returned);
    ran.results[0].iter_u32_digits().next().unwrap_or(0)
}

/// Whether runs find the code wrong, and what is said of it.
fn judge(compiler: Compiler, flags: &str) -> Option<(bool, Status)> {
    let made = made(PROGRAM);
    let object = object(compiler, "rv64imc", flags, "unit.c", &made.c)?;
    let values = [0, 1, 0x8000_0000, 0x1234_5678, u32::MAX];
    let wrong = |y: &u32| values.iter().any(|x| run(&made, &object, *x, *y) != right(*x, *y));
    let wrong: Vec<u32> = (0..64).filter(wrong).collect();
    println!("{compiler:?} {flags}: wrong for {wrong:?}");
    assert!(wrong.iter().all(|y| *y > 32), "{wrong:?}");
    Some((!wrong.is_empty(), of(&judged(&made, &object), "narrow").status.clone()))
}

#[test]
fn a_miscompilation_by_gcc_is_refuted_by_an_input() {
    let mut refuted = 0;
    for flags in ["O1", "O2", "O3", "Os", "O2 -fno-tree-forwprop"] {
        let Some((wrong, status)) = judge(Compiler::Gcc, flags) else { return };
        if !wrong {
            assert_eq!(status, Status::Equal, "{flags}");
            continue;
        }
        let Status::Refuted(d) = status else { panic!("{flags}: {status:?}") };
        let witness = d.witness.as_ref().expect("an input");
        println!("{flags}: {witness:?}");
        assert_eq!(d.what, "the result in a0");
        assert_ne!(witness.machine, witness.source);
        refuted += 1;
    }
    if version(Compiler::Gcc).is_some_and(|v| v.contains(" 12.2.")) {
        assert!(refuted >= 3, "the bug of gcc 12.2 was not met");
    }
}

/// The other way: the same program by clang.
#[test]
fn the_same_program_is_proved_where_the_compiler_is_right() {
    for level in ["O1", "O2", "Os"] {
        let Some(found) = judge(Compiler::Clang, level) else { return };
        assert_eq!(found, (false, Status::Equal), "{level}");
    }
}
