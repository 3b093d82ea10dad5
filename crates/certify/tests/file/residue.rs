//! What functions leave on the stack and in registers: those that clear it are shown to leave nothing, and whatever is wrong with the clearing
//! is found, as runs of the code find it.

use crate::support::{image, isa, judged, made_so, object, of, Compiler, Dice, Made};
use santoku_certify::report::{ByHand, Residue, ResidueState, Status};
use santoku_elf::Image;
use santoku_isa::{decode, Machine, Memory};
use santoku_skips::seeds;

/// A step kept apart, with a frame of its own; a public function; a result in a register; arguments on the stack of 32-bit machines.
const PROGRAM: &str = "
@noinline
fn step(k: [u32; 8], x: u32) -> [u32; 8] {
  var r: [u32; 8]
  for i in 0..<8 { r[i] = (k[i] ^ (k[(i + 3) % 8] <<< 7)) + x }
  r
}

@export(\"mix\")
fn mix(k: [u32; 8], m: public [u32; 8]) -> [u32; 8] {
  let a = step(k, m[0])
  let b = step(a, m[1])
  var r: [u32; 8]
  for i in 0..<8 { r[i] = a[i] ^ b[i] ^ m[i] }
  r
}

@export(\"total\")
fn total(k: [u32; 8], x: u32) -> u32 {
  let a = step(k, x)
  a[0] + a[7]
}

@export(\"many\")
fn many(a: [u32; 8], b: [u32; 8], c: [u32; 8], d: [u32; 8]) -> ([u32; 8], [u32; 8], [u32; 8], [u32; 8], [u32; 8]) {
  (step(a, 1), step(b, 2), step(c, 3), step(d, 4), a)
}

@export(\"open\")
fn open(m: public [u32; 8]) -> [u32; 8] { step(m, 1) }
";

fn made() -> Made {
    made_so(PROGRAM, false)
}

fn residue<'r>(all: &'r [Residue], symbol: &str) -> &'r Residue {
    all.iter().find(|r| r.symbol == symbol).unwrap_or_else(|| panic!("no {symbol} in {all:?}"))
}

#[test]
fn functions_that_clear_leave_nothing_by_every_compiler_and_level() {
    let made = made();
    let mut objects = 0;
    for compiler in [Compiler::Gcc, Compiler::Clang] {
        for march in ["rv32im", "rv32imc", "rv64imc"] {
            for level in ["O1", "O2", "O3", "Os"] {
                let Some(object) = object(compiler, march, level, "unit.c", &made.c) else { continue };
                let report = judged(&made, &object);
                let what = format!("{compiler:?} {march} {level}");
                let open: Vec<_> = report.open().map(|f| (&f.symbol, f.status.reason())).collect();
                assert!(report.holds(), "{what}: {open:?}");
                let symbols: Vec<&str> = report.residues.iter().map(|r| r.symbol.as_str()).collect();
                assert!(symbols.len() == 3 && report.leaves_nothing(), "{what}: {:?}", report.residues);
                for symbol in ["mix", "total", "many"] {
                    assert!(matches!(&of(&report, symbol).status, Status::HandsOn { callee } if callee.function == format!("unit.{symbol}")), "{what}: {symbol}");
                    let r = residue(&report.residues, symbol);
                    assert!(r.overwritten >= 32 && r.overwritten < r.deepest, "{what}: {r:?}");
                }
                // A caller may give one object for a result and a parameter: that was asked of the function inside.
                assert!(!of(&report, "mix").shared.is_empty(), "{what}");
                objects += 1;
            }
        }
    }
    santoku_skips::checked(objects, "objects that leave nothing");
}

#[test]
fn functions_that_do_not_clear_are_said_to_leave_secrets() {
    let (with, without) = (made(), made_so(PROGRAM, true));
    let kept = format!("#define STK_KEEP_SECRETS\n{}", with.c);
    for (what, made, c) in [("left out in the C", &with, &kept), ("left out when the C was made", &without, &without.c)] {
        let Some(object) = object(Compiler::Gcc, "rv32imc", "O2", "unit.c", c) else { return };
        let report = judged(made, &object);
        assert!(report.holds() && !report.leaves_nothing(), "{what}");
        assert!(report.residues.len() == 3 && report.residues.iter().all(|r| r.state != ResidueState::Nothing), "{what}: {:?}", report.residues);
        assert!(report.residues.iter().any(|r| matches!(r.state, ResidueState::Remains { .. })), "{what}: {:?}", report.residues);
    }
}

/// Changes of the C text, each of which leaves a secret somewhere: what is said of `mix`.
#[test]
fn what_is_wrong_with_clearing_is_found() {
    let made = made();
    let call = "unit_mix(r, k, m);\n";
    assert_eq!(made.c.matches(call).count(), 1, "{}", made.c);
    let after = |text: &str| made.c.replace(call, &format!("{call}    {text}\n"));
    let cases = [
        ("a stack that is said to be small", format!("#define STK_STACK_UNIT 16\n{}", made.c), "bytes of stack"),
        ("a function put into the one that clears", format!("#define STK_BODY\n{}", made.c.replace("static STK_BODY ", "static inline __attribute__((always_inline)) ")), "bytes of stack"),
        ("a secret read afterwards", after("STK_CLEAR(STK_STACK_UNIT); { uint32_t x = k[0]; __asm__ volatile(\"\" :: \"r\"(x)); } return;"), "register"),
        ("a secret on the own frame", after("{ volatile uint32_t x = k[0]; (void)x; }"), "bytes of stack"),
        ("a register of the caller", after("__asm__ volatile(\"lw s5, 0(%0)\" :: \"r\"(k));"), "s5"),
    ];
    let mut found = 0;
    for (what, c, place) in cases {
        assert_ne!(c, made.c, "{what}");
        for compiler in [Compiler::Gcc, Compiler::Clang] {
            let Some(object) = object(compiler, "rv32im", "O1", "unit.c", &c) else { continue };
            let report = judged(&made, &object);
            let told = match &residue(&report.residues, "mix").state {
                ResidueState::Nothing => panic!("{compiler:?}: {what}: said to leave nothing"),
                ResidueState::Remains { place } => place.clone(),
                ResidueState::NotFollowed { reason } => reason.clone(),
            };
            assert!(told.contains(place), "{compiler:?}: {what}: {told}");
            found += 1;
        }
    }
    santoku_skips::checked(found, "ways to leave a secret");
}

/// A function that clears, and does something else besides: nothing is said of what it computes.
#[test]
fn a_function_that_changes_what_it_hands_on_is_not_taken_for_the_one_inside() {
    let made = made();
    let call = "unit_mix(r, k, m);\n";
    let wrong = ["unit_mix(r, m, k);\n", "unit_mix(r, k, m); r[0] ^= 1;\n", "unit_mix(r, k, m); unit_mix(r, r, m);\n", "if (k != m) { unit_mix(r, k, m); }\n"];
    let mut seen = 0;
    for new in wrong {
        let Some(object) = object(Compiler::Gcc, "rv32im", "O2", "unit.c", &made.c.replace(call, new)) else { return };
        let report = judged(&made, &object);
        assert_eq!(of(&report, "mix").status, Status::NoSource, "{new}");
        assert!(matches!(of(&report, "total").status, Status::HandsOn { .. }), "{new}");
        seen += 1;
    }
    let swapped = made.c.replace("unit_total(k, x);\n", "unit_total(k, x) + 1;\n");
    assert_ne!(swapped, made.c);
    let Some(object) = object(Compiler::Gcc, "rv32im", "O2", "unit.c", &swapped) else { return };
    assert_eq!(of(&judged(&made, &object), "total").status, Status::NoSource);
    assert_eq!(seen, wrong.len());
}

/// A function without a source that calls one which clears: it leaves nothing, unless it has secrets of its own, which the other one does
/// not find or keeps for it.
#[test]
fn a_function_that_calls_one_which_clears_leaves_what_is_its_own() {
    let made = made();
    let outer = |text: &str| format!("{}\nvoid outer(uint32_t *r, const uint32_t *k, const uint32_t *m)\n{{\n    {text}\n}}\n", made.c);
    let cases = [
        ("mix(r, k, m);", true),
        ("mix(r, k, m); mix(r, r, m);", true),
        // In a register that is saved on the stack by the callee, on its own frame, in a register that the callee clears.
        ("uint32_t x = k[0], y = k[1]; mix(r, k, m); r[1] ^= x; r[2] ^= y + x;", false),
        ("volatile uint32_t x = k[0]; mix(r, k, m); (void)x;", false),
        ("__asm__ volatile(\"lw t4, 0(%0)\" :: \"r\"(k) : \"t4\"); mix(r, k, m);", true),
        ("mix(r, k, m); __asm__ volatile(\"lw t4, 0(%0)\" :: \"r\"(r) : \"t4\");", false),
    ];
    let mut seen = 0;
    for compiler in [Compiler::Gcc, Compiler::Clang] {
        for (text, clean) in cases {
            let Some(object) = object(compiler, "rv32im", "O1", "unit.c", &outer(text)) else { continue };
            let report = judged(&made, &object);
            let r = residue(&report.residues, "outer");
            assert_eq!(r.state == ResidueState::Nothing, clean, "{compiler:?}: {text}: {r:?}");
            seen += 1;
        }
    }
    santoku_skips::checked(seen, "functions around one that clears");
}

/// Code without a source around one that clears, and whether its time may show a secret.
#[test]
fn code_by_hand_that_shows_a_secret_in_its_time_is_found() {
    let made = made();
    let helpers = "static STK_BODY void first(uint32_t *r, const uint32_t *k, const uint32_t *m)\n{\n    mix(r, k, m);\n    r[0] += HELPED;\n}\n\
        static STK_BODY uint32_t pick(uint32_t x, const uint32_t *m)\n{\n    return m[x & 7];\n}\n";
    let outer = |text: &str, helped: &str| {
        let helpers = helpers.replace("HELPED", helped);
        format!("{}\n{helpers}void outer(uint32_t *r, const uint32_t *k, const uint32_t *m, uint32_t n)\n{{\n    {text}\n    first(r, k, m);\n    r[1] = pick(n, m);\n}}\n", made.c)
    };
    // What stands in the outer function, in the one that it calls, and where the secret shows.
    let cases = [
        ("", "1", None),
        ("if (n > 3) { r[0] = k[n & 7]; }", "m[k == m]", None),
        ("if (r != k) { r[3] = total(k, 1); }", "1", None),
        ("if (k[0] & 4) { __asm__ volatile(\"nop\"); }", "1", Some(("the condition of", "outer"))),
        ("", "({ if (k[0] & 4) { __asm__ volatile(\"nop\"); } 1; })", Some(("the condition of", "first"))),
        ("r[k[0] & 7] = 1;", "1", Some(("the address of", "outer"))),
        ("", "m[k[1] & 7]", Some(("the address of", "first"))),
        ("r[2] = n / k[0];", "1", Some(("an operand of", "outer"))),
        ("r[2] = k[0] % n;", "1", Some(("an operand of", "outer"))),
        ("r[2] = pick(k[0], m);", "1", Some(("the address of", "pick"))),
        ("if (total(k, 1) & 1) { __asm__ volatile(\"nop\"); }", "1", Some(("the condition of", "outer"))),
        ("", "({ if (total(k, 1) & 1) { __asm__ volatile(\"nop\"); } 1; })", Some(("the condition of", "first"))),
    ];
    let (mut clean, mut shown) = (0, 0);
    for compiler in [Compiler::Gcc, Compiler::Clang] {
        for (march, level) in [("rv32im", "O1"), ("rv32imc", "O2"), ("rv64imc", "Os")] {
            for (text, helped, wanted) in cases {
                let Some(object) = object(compiler, march, level, "unit.c", &outer(text, helped)) else { continue };
                let report = judged(&made, &object);
                let what = format!("{compiler:?} {march} {level}: {text} {helped}");
                let r = residue(&report.residues, "outer");
                match (&r.by_hand, wanted) {
                    (Some(ByHand::ShowsNothing), None) => clean += 1,
                    (Some(ByHand::Shows { place }), Some((how, symbol))) => {
                        assert!(place.contains(how) && place.contains(&format!("`{symbol}`")), "{what}: {place}");
                        assert!(report.shows() && !report.leaves_nothing() && r.reason().is_some(), "{what}");
                        shown += 1;
                    }
                    (found, _) => panic!("{what}: {found:?}"),
                }
            }
        }
    }
    santoku_skips::checked(clean, "functions by hand that show nothing");
    santoku_skips::checked(shown, "functions by hand that show a secret");
}

/// A program of which something is not proved leaves who knows what.
#[test]
fn nothing_is_said_over_code_that_is_not_proved() {
    let made = made();
    let wrong = made.c.replace("<< 7", "<< 9");
    assert_ne!(wrong, made.c);
    let Some(object) = object(Compiler::Gcc, "rv32im", "O2", "unit.c", &wrong) else { return };
    let report = judged(&made, &object);
    assert!(!report.holds());
    let state = &residue(&report.residues, "mix").state;
    assert!(matches!(state, ResidueState::NotFollowed { reason } if reason.contains("not proved")), "{state:?}");
}

/// Instructions of the clearing and what becomes of them.
const CHANGES: [(&str, &str); 21] = [
    ("mv a3, sp", "addi a3, sp, 16"),
    ("mv a3, sp", "addi a3, sp, -16"),
    ("li a5, %0", "li a5, %0 - 16"),
    ("li a5, %0", "li a5, 64"),
    ("li a5, %0", "li a5, 0"),
    ("li a4, 0", "nop"),
    ("sub sp, sp, a5", "sub sp, sp, zero"),
    ("mv a5, sp", "addi a5, sp, 16"),
    ("mv a5, sp", "addi a5, sp, 64"),
    ("sw a4, 4(a5)", "nop"),
    ("sw a4, 4(a5)", "sw a6, 4(a5)"),
    ("sw a4, 4(a5)", "sb a4, 4(a5)"),
    ("sw a4, 4(a5)", "sw a4, 8(a5)"),
    ("sw a4, 12(a5)", "sh a4, 12(a5)"),
    ("addi a5, a5, 16", "addi a5, a5, 32"),
    ("addi a5, a5, 16", "addi a5, a5, 12"),
    ("bne a5, a3, 1b", "nop"),
    ("bne a5, a3, 1b", "bltu a3, a5, 1b"),
    ("bne a5, a3, 1b", "bltu a5, a3, 1b"),
    ("mv sp, a3", "nop"),
    ("li t2, 0", "mv t2, t2"),
];

/// A machine with the file's code, and memory of its own.
struct Ram<'a> {
    image: &'a Image,
    bytes: Vec<u8>,
}

const BASE: u64 = 0x5000_0000;
const SIZE: u64 = 1 << 16;
const TOP: u64 = BASE + (1 << 15);

impl Memory for Ram<'_> {
    fn load(&mut self, address: u64, bytes: u8) -> Option<u64> {
        (0..u64::from(bytes)).rev().try_fold(0, |sum, k| {
            let at = address + k;
            let inside = at.checked_sub(BASE).filter(|o| *o < SIZE).map(|o| self.bytes[o as usize]);
            Some(sum << 8 | u64::from(inside.or_else(|| self.image.read_only(at))?))
        })
    }
    fn store(&mut self, address: u64, bytes: u8, value: u64) -> Option<()> {
        (0..u64::from(bytes)).try_for_each(|k| {
            let o = (address + k).checked_sub(BASE).filter(|o| *o < SIZE)?;
            self.bytes[o as usize] = (value >> (8 * k)) as u8;
            Some(())
        })
    }
}

/// The stack below the caller's and the registers that callers save after a call of `mix` with this secret; `None`: it does not return.
fn after_a_call(image: &Image, secret: u8) -> Option<(Vec<u8>, Vec<u64>)> {
    let entry = image.function("mix").expect("its code").address;
    let mut ram = Ram { image, bytes: vec![0x77; SIZE as usize] };
    let (out, key, public) = (TOP + 0x1000, TOP + 0x2000, TOP + 0x3000);
    (0..32).for_each(|k| ram.bytes[(key - BASE + k) as usize] = secret.wrapping_mul(k as u8 + 3));
    let mut machine = Machine::new(isa(image), entry);
    machine.regs.iter_mut().skip(1).for_each(|r| *r = 0x1234_5678);
    let back = BASE + SIZE + 16;
    (machine.regs[1], machine.regs[2]) = (back, TOP);
    (machine.regs[10], machine.regs[11], machine.regs[12]) = (out, key, public);
    for _ in 0..200_000 {
        if machine.pc == back {
            let free = [5, 6, 7, 10, 11, 12, 13, 14, 15, 16, 17, 28, 29, 30, 31].map(|r| machine.regs[r]);
            return Some((ram.bytes[..(TOP - BASE) as usize].to_vec(), free.to_vec()));
        }
        let inst = decode(&machine.isa, image.word(machine.pc)?)?;
        machine.execute(&inst, &mut ram).ok()?;
    }
    None
}

/// Clearing with one instruction changed: where two calls that differ in the secret leave something different, it is not said that nothing is left.
#[test]
fn changed_clearing_that_runs_show_to_leave_secrets_is_never_accepted() {
    let made = made();
    let mut dice = Dice::new(seeds::first());
    let (mut shown, mut refused, mut tried) = (0, 0, 0);
    let registers = ["t2", "t3", "t4", "t5", "t6", "a0", "a1", "a2", "a3", "a5", "a6", "a7"];
    let dropped: Vec<(String, String)> = registers.iter().map(|r| (format!("li {r}, 0"), "nop".to_string())).collect();
    let kept: Vec<(String, String)> = registers.iter().map(|r| (format!("li {r}, 0"), format!("lw {r}, -64(sp)"))).collect();
    let all = CHANGES.iter().map(|(a, b)| (a.to_string(), b.to_string())).chain(dropped).chain(kept);
    for (old, new) in std::iter::once((String::new(), String::new())).chain(all) {
        let riscv = made.c.find("#define STK_CLEAR_16 \"sw").expect("the RISC-V part");
        let end = riscv + made.c[riscv..].find("#elif").expect("its end");
        let changed = made.c[riscv..end].replacen(&old, &new, 1);
        assert!(old.is_empty() || changed != made.c[riscv..end], "{old}");
        let c = format!("{}{changed}{}", &made.c[..riscv], &made.c[end..]);
        let compiler = if dice.below(2) == 0 { Compiler::Gcc } else { Compiler::Clang };
        let level = ["O1", "O2", "O3", "Os"][dice.below(4)];
        let Some(object) = object(compiler, ["rv32im", "rv32imc"][dice.below(2)], level, "unit.c", &c) else { continue };
        let report = judged(&made, &object);
        let nothing = residue(&report.residues, "mix").state == ResidueState::Nothing;
        let image = image(&object);
        let ends: Vec<_> = [1, 2, 77].map(|s| after_a_call(&image, s)).to_vec();
        let differ = ends.iter().any(|e| *e != ends[0]) || ends[0].is_none();
        assert!(!(differ && nothing), "{compiler:?} {level}: `{old}` -> `{new}`: runs show a secret, and it is said that nothing is left");
        assert!(!old.is_empty() || nothing && !differ, "{compiler:?} {level}: unchanged, {:?}", report.residues);
        tried += 1;
        shown += usize::from(differ);
        refused += usize::from(!nothing);
    }
    println!("tried: {tried} changes of the clearing, {shown} shown to leave something by runs, {refused} refused");
    assert!(tried == 0 || shown >= 12 && refused >= shown && refused < tried, "{tried} {shown} {refused}");
}
