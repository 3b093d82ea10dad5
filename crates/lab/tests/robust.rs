//! Broken input of every kind ends in a typed error: no panic, no hang.

use santoku_lab::harness::{Arg, Call, Level, Code, Program, Ret, Rv32Job, Source, Toolchain};
use santoku_lab::rv32::{decode, Config, Image, Machine, Op, SimError};
use santoku_lab::stack::{self, StackError};
use santoku_lab::LabError;

/// Repeatable noise (xorshift).
struct Noise(u64);

impl Noise {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % n
    }
}

fn program() -> Program {
    let text =
        "unsigned f(unsigned n) { unsigned r = 1; for (unsigned i = 1; i < n; i++) r = r * i + n / i; return r; }";
    let sources = vec![Source::Text { name: "f.c".into(), text: text.into() }];
    let call = Call {
        declaration: "unsigned f(unsigned)".into(),
        function: "f".into(),
        args: vec![Arg::Word32(50)],
        ret: Ret::Word32,
    };
    let job = Rv32Job { code: Code::Compressed, level: Level::Os, ..Rv32Job::new(sources, vec![call]) };
    Toolchain::find().expect("the cross compiler is installed").build(&job).expect("it builds")
}

fn run(elf: &[u8]) -> Result<u32, SimError> {
    let config = Config { step_limit: 20_000, profile: true, ..Config::default() };
    Ok(Machine::new(&Image::parse(elf)?, &config)?.run()?.exit_status)
}

#[test]
fn damaged_executables_end_in_errors() {
    let elf = program().elf;
    assert_eq!(run(&elf), Ok(0));
    let mut noise = Noise(0x1234_5678_9abc_def1);
    let (mut refused, mut stopped) = (0, 0);
    for _ in 0..400 {
        let mut damaged = elf.clone();
        for _ in 0..1 + noise.below(8) {
            // Half of the damage goes to the headers.
            let at = if noise.below(2) == 0 { noise.below(0x100) } else { noise.below(damaged.len()) };
            damaged[at] = noise.below(256) as u8;
        }
        match run(&damaged) {
            Err(SimError::BadElf(_)) => refused += 1,
            Err(_) => stopped += 1,
            Ok(_) => {}
        }
    }
    assert!(refused > 20 && stopped > 20, "{refused} refused, {stopped} stopped");
    for len in [0, 1, 51, 52, 100, elf.len() / 2] {
        assert!(matches!(run(&elf[..len]), Err(SimError::BadElf(_))), "{len} bytes");
    }
}

#[test]
fn random_code_ends_in_errors() {
    let program = program();
    let start = program.image.entry;
    let mut noise = Noise(99);
    let mut illegal = 0;
    for _ in 0..300 {
        let mut image = program.image.clone();
        let code: Vec<u8> = (0..64).map(|_| noise.below(256) as u8).collect();
        image.patch(start, &code).expect("the entry is loaded");
        let config = Config { step_limit: 20_000, ..Config::default() };
        let ended = Machine::new(&image, &config).expect("it loads").run();
        illegal += u32::from(matches!(ended, Err(SimError::IllegalInstruction { .. })));
    }
    assert!(illegal > 50);
}

#[test]
fn reserved_compressed_encodings_are_illegal() {
    // Zero; c.addi4spn, c.lui, c.addi16sp with immediate 0; c.lwsp to x0; c.jr x0; 64-bit shifts; floating point; c.subw.
    let reserved = [0x0000, 0x0004, 0x6081, 0x6101, 0x4002, 0x8002, 0x9081, 0x1082, 0x2000, 0x6002, 0x9c01];
    for encoding in reserved {
        assert_eq!(decode(encoding).op, Op::Illegal, "{encoding:#06x}");
    }
    let legal = (0..=0xffffu32).filter(|e| e & 3 != 3 && decode(*e).op != Op::Illegal).count();
    // From the tables of chapter 16, form by form: addi4spn, lw, sw; addi, jal, li, addi16sp, lui, srli, srai, andi, four
    // register operations, j, beqz, bnez; slli, lwsp, jr, mv, ebreak, jalr, add, swsp.
    let quadrants = [
        8 * 255 + 2 * 2048,
        3 * 2048 + 63 + 31 * 63 + 2 * 256 + 512 + 4 * 64 + 3 * 2048,
        32 * 32 + 31 * 64 + 31 + 32 * 31 + 1 + 31 + 32 * 31 + 2048,
    ];
    assert_eq!(legal, quadrants.iter().sum::<usize>());
    for e in (0..=0xffffu32).filter(|e| e & 3 != 3) {
        let inst = decode(e);
        assert!(inst.len == 2 && inst.rd < 32 && inst.rs1 < 32 && inst.rs2 < 32);
    }
}

#[test]
fn broken_jobs_and_call_graphs_are_refused() {
    let toolchain = Toolchain::find().expect("the cross compiler is installed");
    let refused = |job: Rv32Job| matches!(toolchain.build(&job), Err(LabError::BadJob(_)));
    let source = vec![Source::Text { name: "f.c".into(), text: "void f(void) {}".into() }];
    let call = |name: &str| Call { declaration: String::new(), function: name.into(), args: vec![], ret: Ret::Void };
    assert!(refused(Rv32Job::new(vec![], vec![call("f")])));
    assert!(refused(Rv32Job::new(source.clone(), vec![])));
    assert!(refused(Rv32Job::new(source, vec![call("f(); evil")])));
    let outside = vec![Source::Text { name: "../f.c".into(), text: String::new() }];
    assert!(refused(Rv32Job::new(outside, vec![call("f")])));
    assert!(matches!(stack::bound(["nonsense"], "f"), Err(StackError::Unreadable(_))));
    assert!(matches!(stack::bound(["node: { title: \"f\""], "f"), Err(StackError::Unreadable(_))));
    assert!(matches!(stack::bound([""], "f"), Err(StackError::UnknownRoot(_))));
    assert!(santoku_lab::size::text_rodata(b"no object").is_err());
}
