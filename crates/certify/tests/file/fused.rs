//! CKB-VM: what its fused groups do is what is compared.

use crate::support::{accepted_on, image, made, object, of, Compiler, Made, Memory};
use ckb_vm::decoder::build_decoder;
use ckb_vm::instructions::{execute, instruction_length};
use ckb_vm::machine::VERSION2;
use ckb_vm::{CoreMachine, DefaultCoreMachine, DefaultMachine, DefaultMachineBuilder, FlatMemory, Memory as _, SupportMachine, ISA_B, ISA_IMC, ISA_MOP};
use num_bigint::BigInt;
use santoku_certify::concrete::inputs::inputs;
use santoku_certify::concrete::{Bench, End};
use santoku_certify::report::{FileReport, Status};
use santoku_certify::{certify, Options, World};
use santoku_ir::interp::Interp;
use santoku_isa::Isa;

/// Subtraction with borrow, five instructions that the VM takes for one, whose second compares with anything: as they are written,
/// and as the VM executes them.
const PLAIN: &str = "@export(\"f\")\nfn f(x: u64, y: u64, c: u64, any: u64) -> u64 {
  let d = x - y
  let t: u64 = if x < any { 1 } else { 0 }
  let e = d - c
  let k: u64 = if d < e { 1 } else { 0 }
  k | t
}\n";
const FUSED: [&str; 2] = ["x < any", "x < d"];

/// The group; `any` is the register compared with, `more` goes before it, `between` into it.
fn group(any: &str, more: &str, between: &str) -> String {
    format!(".section .text.f\n.globl f\n.type f,@function\nf:\n{more}\nsub a1,a0,a1\nsltu t0,a0,{any}\n{between}\nsub a0,a1,a2\nsltu a2,a1,a0\nor a1,a2,t0\nmv a0,a1\nret\n.size f,.-f\n")
}

fn judge(made: &Made, bytes: &[u8], ckb_vm: bool) -> FileReport {
    let world = World { store: &Memory::default(), clock: &|| 0, tell: &|_, _, _| {} };
    certify(&image(bytes), Isa::rv64imc(), &made.program, made.symbols.clone(), &Options { ckb_vm, ..Options::default() }, &world)
}

fn asm(text: &str, march: &str) -> Option<Vec<u8>> {
    object(Compiler::Gcc, march, "O1", "unit.s", text)
}

#[test]
fn a_fused_group_is_compared_with_what_the_vm_makes_of_it() {
    let (plain, fused) = (made(PLAIN), made(&PLAIN.replace(FUSED[0], FUSED[1])));
    let mut tried = 0;
    for march in ["rv64im", "rv64imc"] {
        let Some(bytes) = asm(&group("a3", "", ""), march) else { continue };
        let holds = |made: &Made, ckb: bool| judge(made, &bytes, ckb).holds();
        assert!(holds(&plain, false) && !holds(&plain, true), "{march}: proved of what the VM does not do");
        assert!(holds(&fused, true) && !holds(&fused, false), "{march}: what the VM does is not followed");
        let refuted = |made: &Made, ckb: bool| matches!(of(&judge(made, &bytes, ckb), "f").status, Status::Refuted(_));
        assert!(refuted(&plain, true) && refuted(&fused, false));
        tried += 1;
    }
    santoku_skips::checked(tried, "objects with a group that deviates");
}

#[test]
fn what_is_no_group_or_does_not_deviate_means_the_same_to_both() {
    let cases = [
        ("something between", PLAIN.to_string(), group("a3", "", "nop")),
        ("the borrow as it should be", PLAIN.replace(FUSED[0], FUSED[1]), group("a1", "", "")),
    ];
    let mut tried = 0;
    for (what, source, text) in cases {
        let Some(bytes) = asm(&text, "rv64im") else { continue };
        for ckb in [false, true] {
            let report = judge(&made(&source), &bytes, ckb);
            assert!(report.holds(), "{what}, {ckb}: {:?}", of(&report, "f").status);
            tried += 1;
        }
    }
    santoku_skips::checked(tried, "comparisons without a deviation");
}

/// A branch that leads into the group finds its instructions alone: which of both the VM sees is not followed.
#[test]
fn a_group_that_is_entered_in_the_middle_is_not_followed() {
    let text = group("a3", "beqz a3,1f", "").replace("\nsub a0,a1,a2", "\n1: sub a0,a1,a2");
    let Some(bytes) = asm(&text, "rv64im") else { return };
    let report = judge(&made(&PLAIN.replace("any: u64", "any: public u64")), &bytes, true);
    assert!(!report.holds(), "{:?}", of(&report, "f").status);
}

/// Right one by one, and something else as one: between the instructions stands what a linker may leave out, or something that stays.
#[test]
fn a_group_that_closes_up_when_a_linker_leaves_something_out_is_not_followed() {
    let pad = "8: nop\n .reloc 8b, R_RISCV_ALIGN, 4";
    let upper = ".option relax\nlui t2,%hi(TT)";
    let near = ".option relax\nauipc t2,%pcrel_hi(TT)";
    let kept = "lui t2,7";
    let marked = ".option norelax\nlui t2,%hi(TT)\n.option relax";
    let cases: [(&str, [&str; 4], bool); 11] = [
        ("padding", [pad, "", "", ""], false),
        ("much padding", ["", "8: nop\nnop\nnop\n .reloc 8b, R_RISCV_ALIGN, 12", "", ""], false),
        ("an upper part", ["", "", upper, ""], false),
        ("an upper part relative to the code", ["", "", "", near], false),
        ("padding and an upper part", [pad, upper, "", ""], false),
        ("everything everywhere", [pad, upper, near, upper], false),
        ("an instruction that does nothing", ["", "nop", "", ""], true),
        ("an upper part that may go in another file with these bytes", [marked, "", "", ""], false),
        ("a number's upper part", [kept, "", "", ""], true),
        ("padding, and a number's upper part", [pad, kept, upper, ""], true),
        ("another instruction among those that go", [pad, upper, "mv t3,t2", pad], true),
    ];
    let plain = made(PLAIN);
    let mut tried = 0;
    for (what, gaps, right) in cases {
        let [a, b, c, d] = gaps;
        let text = format!(
            ".section .text.f\n.globl f\n.type f,@function\nf:\nsub a1,a0,a1\n{a}\nsltu t0,a0,a3\n{b}\nsub a0,a1,a2\n{c}\nsltu a2,a1,a0\n{d}\nor a1,a2,t0\nmv a0,a1\nret\n.size f,.-f\n\
             .section .rodata\nTT: .word 1\n"
        );
        let Some(bytes) = asm(&text, "rv64im") else { continue };
        assert!(judge(&plain, &bytes, false).holds(), "{what}: right on other processors");
        let report = judge(&plain, &bytes, true);
        assert_eq!(report.holds(), right, "{what}: {:?}", of(&report, "f").status);
        assert!(right || of(&report, "f").status.reason().is_some_and(|w| w.contains("SBB")), "{what}: {:?}", of(&report, "f").status);
        for ckb in [false, true] {
            let by_bytes = accepted_on(&plain, &image(&bytes), "f", ckb);
            assert_eq!(by_bytes, right || !ckb, "{what}, {ckb}: the judge of bytes");
        }
        tried += 1;
    }
    santoku_skips::checked(tried, "groups that may close up");
}

/// The code of `f` in the VM with its groups.
fn in_vm(code: &[u8], args: [u64; 4]) -> u64 {
    const AT: u64 = 0x100;
    let core = DefaultCoreMachine::<u64, FlatMemory<u64>>::new_with_memory(ISA_IMC | ISA_B | ISA_MOP, VERSION2, u64::MAX, 1 << 18);
    let mut vm: DefaultMachine<DefaultCoreMachine<u64, FlatMemory<u64>>> = DefaultMachineBuilder::new(core).build();
    let mut decoder = build_decoder::<u64>(ISA_IMC | ISA_B | ISA_MOP, VERSION2);
    vm.memory_mut().store_bytes(AT, code).expect("room");
    args.iter().enumerate().for_each(|(k, v)| vm.set_register(10 + k, *v));
    let mut pc = AT;
    // Up to `ret`.
    while pc < AT + code.len() as u64 - 4 {
        let inst = decoder.decode(vm.memory_mut(), pc).expect("decodes");
        vm.update_pc(pc);
        vm.commit_pc();
        execute(inst, &mut vm).expect("executes");
        pc += u64::from(instruction_length(inst));
    }
    vm.registers()[10]
}

/// The VM itself, the concrete machine and the program that is proved of the group: one result.
#[test]
fn the_vm_the_machine_and_the_proved_program_agree() {
    let fused = made(&PLAIN.replace(FUSED[0], FUSED[1]));
    let Some(bytes) = asm(&group("a3", "", ""), "rv64im") else { return };
    assert!(judge(&fused, &bytes, true).holds());
    let image = image(&bytes);
    let f = image.function("f").expect("f");
    let code: Vec<u8> = (0..f.size / 4).flat_map(|k| image.fetch(f.address + 4 * k).expect("code").to_le_bytes()).collect();
    let func = fused.symbols["f"];
    let mut bench = Bench::new((&image, Isa::rv64imc()), &fused.program, func, f.address, &[]).expect("a bench");
    let mut source = Interp::new(&fused.program);
    let (mut runs, mut differ) = (0, 0);
    for input in inputs(&fused.program, func, 64, 400, 7) {
        let args = [0, 1, 2, 3].map(|k| u64::try_from(&input.args[k].to_integer().expect("a word")).expect("64 bits"));
        let vm = BigInt::from(in_vm(&code, args));
        bench.ckb_vm = true;
        let ran = bench.run(&input, 1, 1000);
        assert_eq!((&ran.end, &ran.results), (&End::Returned, &vec![vm.clone()]), "{args:x?}");
        assert_eq!(bench.expected(&source.call(func, &[], input.args.clone()).expect("runs")), [vm.clone()], "{args:x?}");
        bench.ckb_vm = false;
        differ += usize::from(bench.run(&input, 1, 1000).results != [vm]);
        runs += 1;
    }
    assert!(differ > 10, "one by one it is something else");
    santoku_skips::checked(runs, "inputs in the VM");
}

/// The groups that the machine's description names are those of the rules, which say what they mean.
#[test]
fn the_described_groups_are_those_of_the_rules() {
    use std::collections::BTreeSet;
    let target = santoku_target::built_in("ckb").expect("right").expect("compiled in");
    let described: BTreeSet<String> = target.fused.expect("it fuses").groups.into_iter().collect();
    let rules = santoku_isa::ckb::RULES.iter().map(|r| r.group.iter().map(|t| t.name).collect::<Vec<_>>().join(" "));
    assert_eq!(described, rules.collect());
    assert!(described.len() > 10);
}
