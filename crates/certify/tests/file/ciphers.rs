//! Ciphers: every word is mixed with others in each round, so words are followed by their names.

use crate::support::{judged, made, object, of, Compiler};
use santoku_certify::report::Status;
use santoku_skips::seeds;

fn of_library(name: &str) -> String {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../lib/cipher").join(name);
    std::fs::read_to_string(path).expect("a cipher of the library")
}

#[test]
fn chacha20_is_proved_whole_and_wrong_rotations_are_refuted() {
    let made = made(&of_library("chacha20.stk"));
    let mut count = 0;
    for (compiler, march) in seeds::some([(Compiler::Gcc, "rv32imc"), (Compiler::Clang, "rv32imc"), (Compiler::Gcc, "rv64imc"), (Compiler::Clang, "rv64imc")], 2) {
        let Some(right) = object(compiler, march, "O2", "unit.c", &made.c) else { continue };
        let report = judged(&made, &right);
        let open: Vec<_> = report.open().map(|f| (&f.symbol, f.status.reason())).collect();
        assert!(report.holds() && report.totals.equal == 2, "{compiler:?} {march}: {open:?}");
        // One of the rotations by 7, as by 9.
        let wrong = made.c.replacen("<< 7) |", "<< 9) |", 1).replacen(">> 25)", ">> 23)", 1);
        assert_ne!(wrong, made.c);
        let Some(wrong) = object(compiler, march, "O2", "unit.c", &wrong) else { continue };
        let report = judged(&made, &wrong);
        assert!(matches!(of(&report, "chacha20_rounds").status, Status::Refuted(_)), "{:?}", of(&report, "chacha20_rounds").status);
        count += 1;
    }
    santoku_skips::checked(count, "objects proved, and as many wrong ones refuted");
}

#[test]
fn rectangle_is_proved_whole_and_a_wrong_gate_or_constant_is_refuted() {
    let made = made(&of_library("rectangle.stk"));
    let wrong = [
        ("rectangle_encrypt", made.c.replacen("(s_1 ^ (uint32_t)keys[25][1])", "(s_1 | (uint32_t)keys[25][1])", 1)),
        ("rectangle80_schedule", made.c.replacen("    UINT32_C(29)\n", "    UINT32_C(28)\n", 1)),
    ];
    let mut count = 0;
    for (compiler, march) in [(Compiler::Gcc, "rv32imc"), (Compiler::Clang, "rv32imc"), (Compiler::Gcc, "rv64imc"), (Compiler::Clang, "rv64imc")] {
        for level in ["O2", "Os"] {
            let Some(right) = object(compiler, march, level, "unit.c", &made.c) else { continue };
            let report = judged(&made, &right);
            let open: Vec<_> = report.open().map(|f| (&f.symbol, f.status.reason())).collect();
            assert!(report.holds() && report.totals.equal == 2, "{compiler:?} {march} {level}: {open:?}");
        }
        for (function, c) in &wrong {
            assert_ne!(*c, made.c, "{function}");
            let Some(wrong) = object(compiler, march, "O2", "unit.c", c) else { continue };
            let report = judged(&made, &wrong);
            let status = &of(&report, function).status;
            assert!(matches!(status, Status::Refuted(_)), "{compiler:?} {march}: {status:?}");
            count += 1;
        }
    }
    santoku_skips::checked(count, "wrong objects refuted");
}
