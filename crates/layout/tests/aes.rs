//! AES-128 whose S-box is the printed table, bit by bit: built, compiled and compared with the interpreter.

mod support;

use santoku_ir::interp::Interp;
use santoku_layout::{Isa, Layout};
use support::{compile, runs_here, try_all, Case};

const AES: &str = include_str!("support/aes.stk");

#[test]
fn the_table_of_the_standard_becomes_a_bitsliced_kernel() {
    let program = compile(AES);
    for t in &program.tests {
        Interp::new(&program).call(t.func, &[], vec![]).unwrap_or_else(|f| panic!("{}: {f:?}", t.name));
    }
    let gates: Vec<usize> = santoku_passes::circuits(&program, &mut santoku_passes::Silent).values().map(|c| c.gates.len()).collect();
    assert!(matches!(gates[..], [n] if (90..130).contains(&n)), "{gates:?} gates");
    let text = AES.replace("aes128_encrypt", "f");
    let isas = [Isa::Portable64, Isa::Avx512Vl].into_iter().filter(|isa| runs_here(*isa));
    let cases: Vec<Case> =
        isas.map(|isa| Case { name: "aes".into(), text: text.clone(), layout: Layout::Bitslice, isa, interleave: 1 }).collect();
    let count = try_all(&cases);
    assert_eq!((count.agreed, count.refused.len()), (cases.len(), 0), "{:?} {:?}", count.refused, count.left_out);
}
