//! The judge of bytes by itself, without the certifier before it: right code of several kinds is accepted, and of the same code with
//! bits of its instructions changed nothing is accepted that runs tell apart.

use crate::attack::{differs_in, shows_secrets_in};
use crate::support::{accepted, image, made, object, Compiler, Dice, Made};
use santoku_elf::Image;
use santoku_skips::seeds;

/// Carries over words, signed limbs with rounded carries, mixing of words, a selection, calls and memory, 64-bit words.
const PROGRAMS: [(&str, &str); 6] = [
    (
        "carries",
        "@export(\"f\")\nfn f(a: [u32; 4], b: [u32; 4]) -> [u32; 5] {\n  var r: [u32; 5]\n  var c: u64 = 0\n  for i in 0..<4 {\n    c = c + u64(a[i]) + u64(b[i])\n    r[i] = u32(c)\n    c = c >> 32\n  }\n  r[4] = u32(c)\n  r\n}\n",
    ),
    (
        "limbs",
        "@export(\"f\")\nfn f(x: [int in -2^26..2^26; 3], y: [int in -2^26..2^26; 3]) -> [int in -2^30..2^30; 3] {\n  var t: [int in -2^60..2^60; 3]\n  t[0] = x[0] * y[0] + 19 * x[1] * y[2]\n  t[1] = x[0] * y[1] + x[1] * y[0]\n  t[2] = x[2] * y[0] - 3 * x[1] * y[1]\n  let c = (t[0] + 2^25) >> 26\n  [t[0] - (c << 26), (t[1] & 0x3ffffff) + 1, (t[2] >> 28) & 0xffff]\n}\n",
    ),
    (
        "mixing",
        "@export(\"f\")\nfn f(x: [u32; 4], k: u32) -> [u32; 4] {\n  var s = x\n  for i in 0..<4 {\n    s[0] = s[0] + s[1] + k\n    s[3] = (s[3] ^ s[0]) <<< 16\n    s[2] = s[2] + s[3]\n    s[1] = (s[1] ^ s[2]) <<< 7\n  }\n  s\n}\n",
    ),
    (
        "selection",
        "@export(\"f\")\nfn f(x: [u32; 3], y: [u32; 3], s: bool) -> [u32; 3] {\n  var r: [u32; 3]\n  for i in 0..<3 { r[i] = if s { x[i] } else { y[i] } }\n  r\n}\n",
    ),
    (
        "calls",
        "@noinline\nfn step(a: [u32; 4], k: u8) -> [u32; 4] {\n  var r: [u32; 4]\n  for i in 0..<4 { r[i] = (a[(i + 1) % 4] <<< 7) + u32(k) }\n  r\n}\n\n@export(\"f\")\nfn f(a: [u32; 4], k: u8) -> [u32; 4] { step(step(a, k), k) }\n",
    ),
    (
        "words",
        "@export(\"f\")\nfn f(a: u64, b: u64, c: [u8; 8]) -> u64 {\n  var t: u64 = 0\n  for i in 0..<8 { t = t | (u64(c[i]) << (8 * i)) }\n  ((a + b) >> 9) ^ (t <<< 20) ^ (a * b)\n}\n",
    ),
];
const MACHINES: [(&str, &str); 4] = [("rv32imc", "O1"), ("rv32imc", "O2"), ("rv64imc", "O2"), ("rv64imc", "Os")];
/// Objects of these that are accepted, at least.
const OBJECTS: usize = 16;
/// Changes of each instruction, and instructions changed of a function.
const CHANGES: usize = 3;
const INSTRUCTIONS: usize = 40;

/// A function's instructions: where, and their bytes.
fn instructions(image: &Image, symbol: &str) -> Vec<(u64, Vec<u8>)> {
    let f = image.function(symbol).unwrap_or_else(|| panic!("no {symbol}"));
    let (mut at, mut out) = (f.address, vec![]);
    while at < f.address + f.size {
        let word = image.fetch(at).expect("code");
        let bytes = if word & 3 == 3 { word.to_le_bytes().to_vec() } else { word.to_le_bytes()[..2].to_vec() };
        let next = at + bytes.len() as u64;
        out.push((at, bytes));
        at = next;
    }
    out
}

/// Changed instructions of a function: how many were tried, refused, and accepted while no run tells them apart.
fn change(made: &Made, right: &Image, what: &str, dice: &mut Dice) -> [usize; 3] {
    let mut counts = [0; 3];
    let all = instructions(right, "f");
    for n in 0..all.len().min(INSTRUCTIONS) {
        let (pc, old) = &all[if all.len() <= INSTRUCTIONS { n } else { dice.below(all.len()) }];
        for _ in 0..CHANGES {
            let mut new = old.clone();
            let bit = 2 + dice.below(8 * new.len() - 2);
            new[bit / 8] ^= 1 << (bit % 8);
            let Some(changed) = right.replaced(*pc, &new) else { continue };
            counts[0] += 1;
            if !accepted(made, &changed, "f") {
                counts[1] += 1;
                continue;
            }
            counts[2] += 1;
            let how = differs_in(made, &changed, 7);
            assert_eq!(how, None, "{what}: bit {bit} at {pc:#x}");
            assert!(!shows_secrets_in(made, &changed, 7), "{what}: bit {bit} at {pc:#x} shows secrets");
        }
    }
    counts
}

#[test]
fn the_judge_accepts_right_code_and_no_change_that_runs_show() {
    let mut sums = [0; 3];
    let (mut objects, mut dice) = (0, Dice::new(0x0b17_e5));
    for (name, text) in PROGRAMS {
        let made = made(text);
        for (march, level) in seeds::some(MACHINES, 2) {
            let what = format!("{name} {march} {level}");
            let Some(object) = object(Compiler::Gcc, march, level, "unit.c", &made.c) else { return };
            let right = image(&object);
            if !accepted(&made, &right, "f") {
                println!("{what}: right, and not accepted");
                continue;
            }
            objects += 1;
            let counts = change(&made, &right, &what, &mut dice);
            sums.iter_mut().zip(counts).for_each(|(s, c)| *s += c);
        }
    }
    println!("the judge of bytes: {objects} right functions accepted; {} changed, {} refused, {} alike", sums[0], sums[1], sums[2]);
    assert!(objects >= seeds::least(OBJECTS, 2) && sums[0] >= seeds::least(1000, 2), "{sums:?}");
    assert!(sums[1] * 100 >= sums[0] * 90, "{sums:?}");
}

const FIVE: &str = "@export(\"f\")\nfn f(x: u32) -> u32 { x + 5 }\n";

/// Code of `f`, and constants.
fn by_hand(march: &str, body: &str) -> Option<Image> {
    let text = format!(
        ".text\n.globl f\n.type f,@function\nf:\n {}\n.size f,.-f\n.section .rodata\n.balign 8\n.type TT,@object\nTT: .word 1,5\n.size TT,8\n\
         .type Q,@object\nQ: .word 3,4\n.{} TT\n.word 7\n.balign 8\n.size Q,.-Q\n",
        body.replace("; ", "\n "),
        if march.starts_with("rv64") { "dword" } else { "word" }
    );
    Some(image(&object(Compiler::Gcc, march, "O1", "unit.S", &text)?))
}

/// The frame may be longer than the first page, which is nobody's; what is outside of it is refused all the same.
#[test]
fn frames_of_any_length_are_followed() {
    let made = made(FIVE);
    let body = |frame: u32, at: u32| format!("li t0,{frame}; sub sp,sp,t0; li t1,{at}; add t1,sp,t1; sw a0,0(t1); li a0,0; lw a0,0(t1); addiw a0,a0,5; add sp,sp,t0; ret");
    for (march, add) in [("rv32im", "addi "), ("rv64im", "addiw ")] {
        for (frame, at, right) in [(16, 12, true), (4096, 0, true), (8192, 4, true), (1 << 19, 0, true), (8192, 8192, false), (4096, 1 << 31, false), (1 << 21, 0, false)] {
            let Some(image) = by_hand(march, &body(frame, at).replace("addiw ", add)) else { return };
            assert_eq!(accepted(&made, &image, "f"), right, "{march}: {frame}, {at}");
        }
    }
}

/// A copy holds the pointers of what was copied, whole.
#[test]
fn pointers_in_constants_are_copied() {
    let made = made(FIVE);
    for (march, at, bytes, load, add) in [("rv32im", 8, 4, "lw", "add"), ("rv64im", 8, 8, "ld", "addw")] {
        let body = |from: u32, n: u32, read: u32| {
            format!(
                "addi sp,sp,-48; {store} ra,40(sp); {store} s0,32(sp); mv s0,a0; mv a0,sp; lui a1,%hi(Q+{from}); addi a1,a1,%lo(Q+{from}); li a2,{n}; call memcpy; \
                 {load} t0,{read}(sp); lw t0,4(t0); {add} a0,s0,t0; {load} ra,40(sp); {load} s0,32(sp); addi sp,sp,48; ret",
                store = load.replace('l', "s")
            )
        };
        let whole = [body(0, at + bytes, at), body(8, bytes, 0), body(4, at + bytes, at - 4)];
        for (text, right) in [(&whole[0], true), (&whole[1], true), (&whole[2], bytes == 4), (&body(0, at + bytes / 2, at), false), (&body(0, at + bytes, 0), false)] {
            let Some(image) = by_hand(march, text) else { return };
            assert_eq!(accepted(&made, &image, "f"), right, "{march}: {text}");
        }
    }
}
