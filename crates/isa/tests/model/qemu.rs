//! Against QEMU user mode: programs of instructions under test, run as Linux executables.

use crate::cases::{forms, model, scratch, Form, Tally, SETS};
use crate::program::{Planned, Program};
use crate::random::Random;
use crate::twins::wrong;
use santoku_isa::{FlatMemory, Inst, Isa, Row, Sem, Xlen};
use std::process::{Command, Stdio};

/// What QEMU made of a program.
struct Run {
    program: Program,
    results: Vec<u64>,
    scratch: Vec<u8>,
}

/// `None` with a printed reason where there is no QEMU.
fn qemu(isa: &Isa) -> Option<&'static str> {
    let names = match isa.xlen {
        Xlen::Rv32 => ["qemu-riscv32", "qemu-riscv32-static"],
        Xlen::Rv64 => ["qemu-riscv64", "qemu-riscv64-static"],
    };
    let found = names.into_iter().find(|n| Command::new(n).arg("--version").output().is_ok_and(|o| o.status.success()));
    if found.is_none() {
        santoku_skips::skip("QEMU beside the model", format!("no {} (Debian: qemu-user)", names[0]));
    }
    found
}

fn run(isa: &Isa, blocks: usize, rounds: usize, seed: u64) -> Option<Run> {
    let tool = qemu(isa)?;
    let mut r = Random::new(seed);
    let mut program = Program::new(*isa);
    for _ in 0..blocks {
        for (n, form) in forms(isa).iter().enumerate() {
            program.block(n, form, rounds, &mut r);
        }
    }
    let (elf, program) = program.link();
    let dir = tempfile::tempdir().expect("scratch folder");
    let (path, out) = (dir.path().join("cases"), dir.path().join("out"));
    std::fs::write(&path, elf).expect("write");
    // QEMU asks for the permission as Linux does.
    std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("permission");
    let file = std::fs::File::create(&out).expect("create");
    let cpu = if isa.xlen == Xlen::Rv32 { "rv32" } else { "rv64" };
    let status = Command::new(tool)
        .args(["-cpu", &format!("{cpu},zba=true,zbb=true,zbs=true")])
        .arg(&path)
        .stdout(Stdio::from(file))
        .status()
        .expect("QEMU starts");
    assert!(status.success(), "{tool} ends with {status}");
    let output = std::fs::read(&out).expect("read");
    let (results, scratch) = (program.results(&output), output[program.result_bytes()..].to_vec());
    Some(Run { program, results, scratch })
}

/// The model's words for a planned case, with `row`'s meaning.
fn words(isa: &Isa, p: &Planned, inst: &Inst, memory: &mut FlatMemory) -> Option<Vec<u64>> {
    let (regs, next) = model(isa, &p.case, inst, memory).ok()?;
    let rd = regs[usize::from(inst.rd)];
    Some(match inst.row.sem {
        Sem::Jump(_) | Sem::Branch(_) => vec![rd, u64::from(next == p.target)],
        _ => vec![rd],
    })
}

/// QEMU 7.2 goes on counting above 32 bits where the low word of `ctzw` is zero; the manual says 32. Others agree
/// with the manual, so this is allowed, not asked for.
fn known_fault(p: &Planned, found: u64) -> bool {
    let value = p.case.regs[usize::from(p.case.inst.rs1)];
    p.case.inst.row.name == "ctzw" && value as u32 == 0 && found == u64::from(value.trailing_zeros())
}

/// Whether results and memory are what the model says, with another meaning for one row if asked.
fn agrees(isa: &Isa, run: &Run, twin: Option<&'static Row>, mut seen: impl FnMut(&Planned, bool)) -> bool {
    let mut memory = scratch();
    let mut all = true;
    for p in &run.program.planned {
        let mut inst = p.case.inst;
        if let Some(row) = twin.filter(|t| t.name == inst.row.name) {
            inst.row = row;
        }
        let found = words(isa, p, &inst, &mut memory);
        let same = found.is_some_and(|w| w[..] == run.results[p.at..p.at + w.len()]);
        let same = same || (twin.is_none() && known_fault(p, run.results[p.at]));
        seen(p, same);
        all &= same;
    }
    all && memory.bytes == run.scratch
}

fn cosimulate(isa: &Isa, blocks: usize, rounds: usize, seed: u64) -> Option<u64> {
    let run = run(isa, blocks, rounds, seed)?;
    let forms: Vec<Form> = forms(isa);
    let mut tally = Tally::new(&forms, &[]);
    let ok = agrees(isa, &run, None, |p, same| {
        let (c, found) = (&p.case, &run.results[p.at]);
        assert!(same, "model and QEMU: {} ({:#x}) at {:#x} with {:x?}: found {found:#x}", c.inst, c.inst.bits, c.pc, c.regs);
        tally.add(forms[p.form].name);
    });
    assert!(ok, "memory differs after the same stores");
    Some(tally.finish(&format!("QEMU {:?}", isa.xlen)))
}

#[test]
fn agrees_with_qemu() {
    for isa in &SETS {
        let Some(cases) = cosimulate(isa, 100, 40, 1) else { continue };
        assert!(cases > 300_000, "{cases}");
    }
}

#[test]
#[ignore = "minutes"]
fn agrees_with_qemu_for_long() {
    for isa in &SETS {
        let cases = (2..32).map_while(|seed| cosimulate(isa, 100, 40, seed)).sum::<u64>();
        assert!(cases > 10_000_000 || qemu(isa).is_none(), "{cases}");
    }
}

/// Wrong meanings are seen in QEMU's results too; those of rows that only QEMU runs, all of them.
#[test]
fn wrong_meanings_are_refuted_by_qemu() {
    let isa = &SETS[0];
    let Some(run) = run(isa, 8, 64, 99) else { return };
    assert!(agrees(isa, &run, None, |_, _| ()), "the table itself is right");
    let mut made = 0;
    for row in santoku_isa::rows().filter(|r| r.is_in(isa) && ["zext.h", "rev8", "sw", "lh", "bgeu", "jalr"].contains(&r.name)) {
        for sem in wrong(row, isa) {
            made += 1;
            let twin: &'static Row = Box::leak(Box::new(Row { sem, ..*row }));
            assert!(!agrees(isa, &run, Some(twin), |_, _| ()), "{}: {sem:?}", row.name);
        }
    }
    println!("{made} wrong meanings refuted by QEMU");
    assert!(made > 20);
}
