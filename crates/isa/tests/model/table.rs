//! The tables themselves: no two rows overlap, widths pair, every encoding comes back.

use crate::random::Random;
use santoku_isa::{
    decode, decode_short, rows, shorts, Bases, Expr, Ext, Field, Fields, Inst, Isa, Pattern, Row, Sem, Width, Xlen,
};

const SETS: [Isa; 2] = [Isa::rv32imc_zb(), Isa::rv64imc_zb()];

fn pattern(row: &Row) -> Pattern {
    Pattern::parse(row.pattern, 32).expect("a row's pattern")
}

/// Instructions per extension in the manual's tables of contents, RV32 and RV64.
#[test]
fn every_extension_is_complete() {
    let counts = |ext: Ext| SETS.map(|isa| rows().filter(|r| r.ext == ext && r.is_in(&isa)).count());
    // 40 of RV32I (fence, ecall and ebreak are under System); 12 more on RV64.
    assert_eq!(counts(Ext::I), [37, 37 + 12]);
    assert_eq!(counts(Ext::System), [3 + 6, 3 + 6]);
    assert_eq!(counts(Ext::M), [8, 13]);
    assert_eq!(counts(Ext::Zba), [3, 8]);
    assert_eq!(counts(Ext::Zbb), [18, 24]);
    assert_eq!(counts(Ext::Zbs), [8, 8]);
    // Without floating point: c.nop and the hints are part of their expansions.
    assert_eq!(SETS.map(|isa| shorts().filter(|s| s.bases.has(isa.xlen)).count()), [26, 32]);
}

fn overlap(a: &Pattern, b: &Pattern) -> bool {
    (a.value ^ b.value) & a.mask & b.mask == 0
}

/// For any 32 bits at most one row of an instruction set matches: every pair differs in a bit that both fix.
#[test]
fn no_two_rows_share_an_encoding() {
    let mut pairs = 0;
    for isa in SETS {
        let all: Vec<_> = rows().filter(|r| r.is_in(&isa)).map(|r| (r.name, pattern(r))).collect();
        for (n, (name, a)) in all.iter().enumerate() {
            for (other, b) in &all[n + 1..] {
                assert!(!overlap(a, b), "{name} and {other}");
                pairs += 1;
            }
        }
    }
    println!("{pairs} pairs of rows are disjoint");
    assert!(pairs > 9_000);
    let [twin, row] = ["0000000 rs2 rs1 000 rd 0110011", "000000x rs2 rs1 xxx rd 0110011"].map(|p| Pattern::parse(p, 32).expect("pattern"));
    assert!(overlap(&twin, &row), "an overlap is seen");
}

/// Of every halfword that starts a compressed instruction, at most one form matches; all are counted.
#[test]
fn no_two_compressed_forms_share_an_encoding() {
    for (isa, legal) in SETS.into_iter().zip([0; 2]) {
        let all: Vec<_> = shorts().filter(|s| s.bases.has(isa.xlen)).map(|s| (s.name, Pattern::parse(s.pattern, 16).expect("pattern"))).collect();
        let mut found = 0;
        for bits in (0..=0xffff).filter(|b| b & 3 != 3) {
            let hits: Vec<_> = all.iter().filter(|(_, p)| p.read(bits).is_some()).map(|(n, _)| *n).collect();
            assert!(hits.len() <= 1, "{bits:#06x}: {hits:?}");
            assert_eq!(decode_short(&isa, bits).map(|(s, _)| s.name), hits.first().copied(), "{bits:#06x}");
            found += hits.len();
        }
        println!("{:?}: {found} of 49152 halfwords are compressed instructions", isa.xlen);
        assert!(found > legal);
    }
    assert!(decode(&SETS[0], 0).is_none() && decode(&SETS[0], 0xffff_ffff).is_none(), "illegal by definition");
}

fn random_fields(p: &Pattern, r: &mut Random) -> Fields {
    let reg = |r: &mut Random, f: Field| if p.has(f) { r.below(32) as u8 } else { 0 };
    let (rd, rs1, rs2) = (reg(r, Field::Rd), reg(r, Field::Rs1), reg(r, Field::Rs2));
    let up = 64 - p.imm_bits();
    let imm = match (p.has_imm(), p.imm_signed()) {
        (false, _) => 0,
        (true, true) => (r.next() << up) as i64 >> up,
        (true, false) => (r.next() << up >> up) as i64,
    };
    Fields { rd, rs1, rs2, imm: imm >> p.imm_low() << p.imm_low() }
}

fn fields(inst: &Inst) -> Fields {
    Fields { rd: inst.rd, rs1: inst.rs1, rs2: inst.rs2, imm: inst.imm }
}

#[test]
fn encodings_come_back() {
    let mut r = Random::new(1);
    let mut done = 0;
    for isa in SETS {
        for row in rows().filter(|r| r.is_in(&isa)) {
            let p = pattern(row);
            for _ in 0..200 {
                let f = random_fields(&p, &mut r);
                let bits = row.encode(&f).unwrap_or_else(|| panic!("{} {f:?}", row.name));
                let inst = decode(&isa, bits).unwrap_or_else(|| panic!("{} {bits:#x}", row.name));
                assert!(std::ptr::eq(inst.row, row), "{} came back as {}", row.name, inst.row.name);
                assert_eq!((fields(&inst), inst.len, inst.bits), (f, 4, bits), "{}", row.name);
                done += 1;
            }
        }
    }
    println!("{done} encodings came back");
    assert!(done > 30_000);
}

/// Compressed forms and the instructions they abbreviate, from the manual's text by hand (chapter C).
#[test]
fn compressed_examples() {
    let text = |isa: &Isa, bits| decode(isa, bits).map_or("none".into(), |i| i.to_string());
    let [rv32, rv64] = &SETS;
    for (bits, on32, on64) in [
        (0x1141, "addi sp, sp, -16", "addi sp, sp, -16"),
        (0x0800, "addi s0, sp, 16", "addi s0, sp, 16"),
        (0x8082, "jalr zero, 0(ra)", "jalr zero, 0(ra)"),
        (0x852a, "add a0, zero, a0", "add a0, zero, a0"),
        (0x4505, "addi a0, zero, 1", "addi a0, zero, 1"),
        (0x717d, "addi sp, sp, -16", "addi sp, sp, -16"),
        (0xc606, "sw ra, 12(sp)", "sw ra, 12(sp)"),
        (0xe406, "none", "sd ra, 8(sp)"),
        (0x2501, "jal ra, .+1536", "addiw a0, a0, 0"),
        (0x9002, "ebreak", "ebreak"),
        (0x1502, "none", "slli a0, a0, 32"),
        (0x0001, "addi zero, zero, 0", "addi zero, zero, 0"),
        (0x6501, "none", "none"),
    ] {
        assert_eq!(text(rv32, bits), on32, "{bits:#x}");
        assert_eq!(text(rv64, bits), on64, "{bits:#x}");
    }
}

#[test]
fn absent_extensions_do_not_decode() {
    let bare = Isa { xlen: Xlen::Rv64, c: false, m: false, zba: false, zbb: false, zbs: false };
    let word = |isa: &Isa, name: &str| {
        let row = rows().find(|r| r.name == name && r.bases != Bases::Rv32).expect("row");
        decode(isa, row.encode(&Fields::default()).expect("zero fields fit")).is_some()
    };
    for name in ["mul", "divw", "sh1add", "andn", "rev8", "bset", "bexti"] {
        assert!(word(&SETS[1], name) && !word(&bare, name), "{name}");
    }
    assert!(word(&bare, "addw") && !word(&SETS[0], "addw"));
    assert!(decode(&bare, 0x8082).is_none());
}

/// Width of an expression on `xlen`, if its operands pair.
fn width(e: &Expr, x: u32) -> Option<u32> {
    let of = |w: &Width| match w {
        Width::X => x,
        Width::XX => 2 * x,
        Width::N(n) => *n,
    };
    let pair = |a: &Expr, b: &Expr| width(a, x).filter(|w| width(b, x) == Some(*w));
    match e {
        Expr::Rs1 | Expr::Rs2 | Expr::Imm | Expr::Pc | Expr::Const(_) => Some(x),
        Expr::Not(a) | Expr::Count(_, a) => width(a, x),
        Expr::Bin(_, a, b) => pair(a, b),
        Expr::Shift(_, a, b) => pair(a, b).filter(|w| w.is_power_of_two()),
        Expr::Cmp(_, a, b) => pair(a, b).map(|_| 1),
        Expr::If(c, a, b) => pair(a, b).filter(|_| width(c, x) == Some(1)),
        Expr::Zext(w, a) | Expr::Sext(w, a) => width(a, x).filter(|a| *a <= of(w)).map(|_| of(w)),
        Expr::Bits(lo, w, a) => width(a, x).filter(|a| lo + w <= *a && *w > 0).map(|_| *w),
        Expr::High(a) => width(a, x).filter(|w| w % 2 == 0).map(|w| w / 2),
        Expr::Concat(parts) => parts.iter().map(|p| width(p, x)).sum(),
    }
}

#[test]
fn widths_pair() {
    let mut done = 0;
    for isa in SETS {
        let x = isa.xlen.bits();
        for row in rows().filter(|r| r.is_in(&isa)) {
            let (e, want) = match &row.sem {
                Sem::Write(e) | Sem::Jump(e) | Sem::Load { address: e, .. } | Sem::Store { address: e, .. } => (e, x),
                Sem::Branch(e) => (e, 1),
                _ => continue,
            };
            assert_eq!(width(e, x), Some(want), "{} on {x} bits", row.name);
            done += 1;
        }
    }
    assert!(done > 150, "{done}");
    assert_eq!(width(&Expr::Zext(Width::X, &Expr::Zext(Width::XX, &Expr::Rs1)), 32), None, "a narrowing extension is seen");
}
