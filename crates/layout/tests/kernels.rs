//! Every variant, compiled by gcc and clang, against the interpreter on random inputs and against published vectors.

use santoku_ir::interp::{Interp, Value};
use santoku_ir::Program;
use santoku_lab::host::HostProgram;
use santoku_layout::{build, embedded, Kernel, Layout, LayoutError, Request};
use santoku_prove::equiv::Rng;
use santoku_vectors::cipher::{chacha20_rfc8439, rectangle, RectangleKey};

const RECTANGLE: &str = include_str!("../../../lib/cipher/rectangle.stk");
const CHACHA20: &str = include_str!("../../../lib/cipher/chacha20.stk");
const CHACHA20_SPEC: &str = include_str!("../../../lib/cipher/chacha20_spec.stk");

fn compile(text: &str) -> Program {
    let load = &mut |p: &str| match p {
        "cipher.stk" => Some(text.to_string()),
        "cipher/chacha20_spec.stk" => Some(CHACHA20_SPEC.to_string()),
        _ => None,
    };
    santoku_sema::compile("cipher.stk", &[], load, &Default::default()).unwrap_or_else(|f| panic!("{:?}", f.diagnostics)).program
}

fn request(layout: Layout, isa: &'static str, interleave: u32, granularity: usize, shared: &[&str]) -> Request {
    let isa = unit(isa);
    let shared = shared.iter().map(|s| (*s).to_string()).collect();
    Request { layout, isa, interleave, granularity, shared, name: "kernel".into(), without: Default::default(), dump_after: None }
}

fn unit(name: &str) -> santoku_target::VectorUnit {
    santoku_target::vector(name).expect("right").expect("compiled in")
}

/// Does this machine run it? Says so if not.
fn runs_here(isa: &'static str) -> bool {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let flags: Vec<&str> = info.lines().find(|l| l.starts_with("flags")).unwrap_or("").split_whitespace().collect();
    let unit = unit(isa);
    let missing: Vec<&String> = unit.processor.iter().filter(|f| !flags.contains(&f.as_str())).collect();
    if !missing.is_empty() {
        santoku_skips::lacking(format!("kernels for {}", isa), format!("this processor lacks {missing:?}"));
    }
    missing.is_empty()
}

const MAIN: &str = r#"
#include "kernel.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(int argc, char **argv)
{
    size_t shared = (size_t)atol(argv[1]), batch = (size_t)atol(argv[2]), batches = (size_t)atol(argv[3]);
    uint8_t *s = malloc(shared + 1), *in = malloc(batch * batches), *out = malloc(batch * batches);
    void *k = aligned_alloc(64, (kernel_keys_size() + 63) / 64 * 64);
    (void)argc;
    if (fread(s, 1, shared, stdin) != shared || fread(in, 1, batch * batches, stdin) != batch * batches) { return 1; }
    kernel_setup(k, s);
    kernel_blocks(out, in, k, batches);
    return fwrite(out, 1, batch * batches, stdout) != batch * batches;
}
"#;

/// The kernel's output on `blocks` (whole batches) with these shared bytes.
fn run(kernel: &Kernel, compiler: &str, shared: &[u8], blocks: &[u8]) -> Vec<u8> {
    let batch = (kernel.blocks * kernel.block_bytes) as usize;
    assert_eq!((shared.len(), blocks.len() % batch), (kernel.shared_bytes as usize, 0));
    let flags: Vec<&str> = ["-O1", "-w"].into_iter().chain(kernel.cflags.iter().map(String::as_str)).collect();
    let files = [("kernel.c", kernel.source.as_str()), ("kernel.h", &kernel.header), ("main.c", MAIN)];
    let program = HostProgram::build(compiler, &flags, &files).unwrap_or_else(|e| panic!("{e}"));
    let sizes = [shared.len(), batch, blocks.len() / batch].map(|n| n.to_string());
    program.run(&sizes.each_ref().map(String::as_str), &[shared, blocks].concat()).unwrap_or_else(|e| panic!("{e}"))
}

fn words(bytes: &[u8], size: usize) -> Vec<u64> {
    bytes.chunks(size).map(|c| c.iter().rev().fold(0, |w, b| w << 8 | u64::from(*b))).collect()
}

fn bytes(values: &Value, size: usize, out: &mut Vec<u8>) {
    match values {
        Value::Word(w) => out.extend(&w.to_le_bytes()[..size]),
        other => other.parts().unwrap().iter().for_each(|v| bytes(v, size, out)),
    }
}

struct Cipher {
    program: Program,
    func: &'static str,
    /// Bytes per word and per block.
    word: usize,
    block: usize,
    shared: &'static [&'static str],
}

fn rectangle_cipher() -> Cipher {
    Cipher { program: compile(RECTANGLE), func: "rectangle_encrypt", word: 2, block: 8, shared: &["keys"] }
}

fn chacha20_cipher() -> Cipher {
    Cipher { program: compile(CHACHA20), func: "chacha20_block", word: 4, block: 64, shared: &[] }
}

impl Cipher {
    /// Interpreted, block by block.
    fn expected(&self, shared: &[u8], blocks: &[u8]) -> Vec<u8> {
        let id = self.program.funcs.iter().position(|f| f.export.as_deref() == Some(self.func)).unwrap();
        let mut interp = Interp::new(&self.program);
        let mut out = Vec::new();
        for block in blocks.chunks(self.block) {
            let mut args = vec![Value::words(&words(block, self.word))];
            if !shared.is_empty() {
                args.push(Value::array(shared.chunks(8).map(|k| Value::words(&words(k, 2))).collect()));
            }
            let result = interp.call(santoku_ir::FuncId(id as u32), &[], args).unwrap();
            bytes(&result[0], self.word, &mut out);
        }
        out
    }

    fn check(&self, layout: Layout, isa: &'static str, k: u32, g: usize) -> usize {
        let kernel = build(&self.program, self.func, &request(layout, isa, k, g, self.shared)).unwrap_or_else(|e| panic!("{e}"));
        assert!(kernel.checks.len() >= 2, "{:?}", kernel.checks);
        if !runs_here(isa) {
            return 0;
        }
        let mut rng = Rng::new(u64::from(k) * 31 + g as u64);
        let mut random = |n: usize| (0..n).map(|_| rng.next_u64() as u8).collect::<Vec<u8>>();
        let shared = random(kernel.shared_bytes as usize);
        let blocks = random((2 * kernel.blocks * kernel.block_bytes) as usize);
        let want = self.expected(&shared, &blocks);
        for compiler in santoku_skips::seeds::one(["gcc", "clang-19"], k as usize + g) {
            let got = run(&kernel, compiler, &shared, &blocks);
            assert!(got == want, "{} {} {} K={k} G={g} by {compiler} is wrong", self.func, layout.name(), isa);
        }
        1
    }
}

const VECTORS: [&'static str; 4] = ["sse2", "avx2", "avx512vl", "avx512"];

#[test]
fn rectangle_scalar_and_vertical() {
    let c = rectangle_cipher();
    let mut ran = c.check(Layout::Scalar, "portable64", 1, 1) + c.check(Layout::Scalar, "portable64", 3, 2);
    for (k, isa) in VECTORS.into_iter().enumerate() {
        ran += c.check(Layout::Vertical, isa, 1, 1) + c.check(Layout::Vertical, isa, k as u32 + 2, 5);
    }
    assert!(ran >= 2, "the portable ones run everywhere");
    santoku_skips::checked(ran, "kernels");
}

#[test]
fn rectangle_bitslice() {
    let c = rectangle_cipher();
    let mut ran = c.check(Layout::Bitslice, "portable64", 1, 1) + c.check(Layout::Bitslice, "portable64", 2, 1);
    for isa in VECTORS {
        ran += c.check(Layout::Bitslice, isa, 1, 1);
    }
    assert!(ran >= 2, "the portable ones run everywhere");
    santoku_skips::checked(ran, "kernels");
}

#[test]
fn chacha20_scalar_and_vertical() {
    let c = chacha20_cipher();
    let mut ran = c.check(Layout::Scalar, "portable64", 2, 1);
    for (k, isa) in VECTORS.into_iter().enumerate() {
        ran += c.check(Layout::Vertical, isa, 5 - k as u32, 3);
    }
    assert!(ran >= 1, "the portable one runs everywhere");
    santoku_skips::checked(ran, "kernels");
}

#[test]
fn chacha20_bitslice_adds_by_adders() {
    assert_eq!(chacha20_cipher().check(Layout::Bitslice, "portable64", 1, 1), 1);
}

#[test]
fn published_vectors_of_rectangle() {
    let c = rectangle_cipher();
    let schedule = c.program.funcs.iter().position(|f| f.export.as_deref() == Some("rectangle80_schedule")).unwrap();
    let mut seen = 0;
    for v in rectangle() {
        let RectangleKey::K80(key) = v.key else { continue };
        let mut interp = Interp::new(&c.program);
        let keys = interp.call(santoku_ir::FuncId(schedule as u32), &[], vec![Value::words(&key)]).unwrap();
        let mut shared = Vec::new();
        bytes(&keys[0], 2, &mut shared);
        let layout = if seen == 0 { Layout::Bitslice } else { Layout::Scalar };
        let kernel = build(&c.program, c.func, &request(layout, "portable64", 1, 1, c.shared)).unwrap();
        let one: Vec<u8> = v.plaintext.iter().flat_map(|w| w.to_le_bytes()).collect();
        let want: Vec<u8> = v.ciphertext.iter().flat_map(|w| w.to_le_bytes()).collect();
        let n = kernel.blocks as usize;
        assert_eq!(run(&kernel, "gcc", &shared, &one.repeat(n)), want.repeat(n), "{}", v.id);
        seen += 1;
    }
    assert_eq!(seen, 2);
}

#[test]
fn published_vectors_of_chacha20() {
    let c = chacha20_cipher();
    let kernel = build(&c.program, c.func, &request(Layout::Scalar, "portable64", 1, 1, &[])).unwrap();
    let (mut blocks, mut want) = (Vec::new(), Vec::new());
    for v in chacha20_rfc8439().iter().filter(|v| v.plaintext.len() >= 64) {
        for word in [0x6170_7865u32, 0x3320_646e, 0x7962_2d32, 0x6b20_6574] {
            blocks.extend(word.to_le_bytes());
        }
        blocks.extend(v.key);
        blocks.extend(v.counter.to_le_bytes());
        blocks.extend(v.nonce);
        want.extend(v.plaintext[..64].iter().zip(&v.ciphertext[..64]).map(|(p, c)| p ^ c));
    }
    assert!(want.len() >= 5 * 64);
    assert_eq!(run(&kernel, "gcc", &[], &blocks), want);
}

#[test]
fn what_has_no_layout_is_refused_with_its_place() {
    let p = compile("@export(\"f\")\nfn f(x: [u32; 4]) -> [u32; 4] {\n  [u32((int(x[0]) * int(x[1]) * int(x[2]) * int(x[3]) * int(x[0])) >> 100), x[1], x[2], x[3]]\n}\n");
    let e = build(&p, "f", &request(Layout::Bitslice, "portable64", 1, 1, &[])).unwrap_err();
    let LayoutError::Operation { what, loc, .. } = &e else { panic!("{e}") };
    assert_eq!((what.as_str(), loc.line), ("exact integer of 160 bits: there are words of 128 at most", 3));
    assert!(e.to_string().contains("bitslice layout has no exact integer of 160 bits"), "{e}");
    let e = build(&p, "g", &request(Layout::Scalar, "portable64", 1, 1, &[])).unwrap_err();
    assert_eq!(e, LayoutError::NoFunction("g".into()));
    let vertical = build(&p, "f", &request(Layout::Vertical, "portable64", 1, 1, &[])).unwrap_err();
    assert!(matches!(vertical, LayoutError::Machine { .. }));
    let shared = build(&p, "f", &request(Layout::Scalar, "portable64", 1, 1, &["k"])).unwrap_err();
    assert!(matches!(shared, LayoutError::Shape { .. }), "{shared}");
    let two = compile("@export(\"f\")\nfn f(x: [u32; 4], y: u32) -> [u32; 4] {\n  [x[0] + y, x[1], x[2], x[3]]\n}\n");
    let e = build(&two, "f", &request(Layout::Scalar, "portable64", 1, 1, &[])).unwrap_err();
    assert!(matches!(e, LayoutError::Shape { .. }), "{e}");
    let verdict = compile("@declassify\nfn same(x: [u32; 4]) -> public bool { x == [1; 4] }\n@export(\"f\")\nfn f(x: [u32; 4]) -> [u32; 4] {\n  var y = x\n  if same(x) { y[0] = 7 }\n  y\n}\n");
    for layout in [Layout::Scalar, Layout::Bitslice] {
        let e = build(&verdict, "f", &request(layout, "portable64", 1, 1, &[])).unwrap_err();
        assert!(matches!(&e, LayoutError::Shape { reason, .. } if reason.contains("same` declassifies")), "{e}");
    }
}

/// Functions of a program that apply another to each element: a kernel where elements fill registers, a refusal by the name of what is applied.
#[test]
fn functions_with_a_layout_have_kernels_where_they_fill_registers() {
    let text = |n: u32| {
        format!("fn g(x: [u32; 4]) -> [u32; 4] {{ [x[1] + x[2], x[0] <<< 3, x[2], x[3] ^ x[0]] }}\n@layout(\"vertical\")\nfn f(x: [[u32; 4]; {n}]) -> [[u32; 4]; {n}] {{ [for i in 0..<{n}: g(x[i])] }}\n")
    };
    let kernel = |text: &str, isa: &str| {
        let p = compile(text);
        embedded(&p, p.find("cipher.f").expect("it is there"), &unit(isa), &Default::default(), &Default::default())
    };
    for (n, isa, has) in [(8, "sse2", true), (8, "avx2", true), (8, "avx512", false), (4, "sse2", true), (4, "avx2", false), (6, "sse2", false), (0, "sse2", false), (48, "avx512", true)] {
        let made = kernel(&text(n), isa).unwrap_or_else(|e| panic!("{n} {isa}: {e}"));
        assert_eq!(made.is_some(), has, "{n} elements in {isa}");
        let names = made.map(|m| m.kernel.names).unwrap_or_default();
        assert!(names.iter().all(|name| name.starts_with("cipher_f_lanes")), "a name of another text: {names:?}");
    }
    let unmarked = compile(&text(8).replace("@layout(\"vertical\")", "@noinline"));
    assert_eq!(embedded(&unmarked, unmarked.find("cipher.f").expect("it is there"), &unit("sse2"), &Default::default(), &Default::default()), Ok(None));
    let e = kernel(&text(8).replace("u32", "int in 0..9").replace("[x[1] + x[2], x[0] <<< 3, x[2], x[3] ^ x[0]]", "x"), "sse2").expect_err("integers have no lanes");
    assert!(e.to_string().starts_with("`cipher.g` cannot be laid out") && e.loc().is_some_and(|l| l.line == 1), "{e}");
}

#[test]
fn the_bit_check_tells_a_wrong_rotation_and_a_wrong_gate() {
    let right = compile("@export(\"f\")\nfn f(x: [u16; 2]) -> [u16; 2] {\n  [(x[0] <<< 5) ^ x[1], x[0] & x[1]]\n}\n");
    let id = right.find("cipher.f").unwrap();
    let (sliced, bits) = santoku_layout::bitslice(&right, id, 1, false).unwrap();
    assert!(santoku_layout::bits::same(&right, id, &sliced, bits).is_ok());
    for wrong in ["[(x[0] <<< 6) ^ x[1], x[0] & x[1]]", "[(x[0] <<< 5) ^ x[1], x[0] | x[1]]", "[x[0] & x[1], (x[0] <<< 5) ^ x[1]]"] {
        let p = compile(&format!("@export(\"f\")\nfn f(x: [u16; 2]) -> [u16; 2] {{\n  {wrong}\n}}\n"));
        let other = p.find("cipher.f").unwrap();
        assert!(santoku_layout::bits::same(&p, other, &sliced, bits).is_err(), "{wrong}");
    }
}

/// Narrow words in wide lanes: what an operation carries beyond them must be masked off.
#[test]
fn the_bit_check_tells_a_narrow_word_that_keeps_what_lies_beyond_it() {
    let program = |result: &str| compile(&format!("@export(\"f\")\nfn f(x: [u32; 2]) -> [u32; 2] {{\n  {result}\n}}\n"));
    let right = program("[u32(~u16(x[0]) + u16(x[1])), u32(u16(x[1]) <<< 3)]");
    let id = right.find("cipher.f").unwrap();
    let same = |other: &str| {
        let p = program(other);
        let f = p.find("cipher.f").unwrap();
        santoku_layout::bits::same(&right, id, &p, f)
    };
    let rotated = "(((x[1] & 0xffff) << 3) | ((x[1] & 0xffff) >> 13)) & 0xffff";
    assert!(same(&format!("[(((x[0] & 0xffff) ^ 0xffff) + (x[1] & 0xffff)) & 0xffff, {rotated}]")).is_ok());
    for (first, second) in [
        ("((x[0] & 0xffff) ^ 0xffff) + (x[1] & 0xffff)", rotated),
        ("(~(x[0] & 0xffff) ^ (x[1] & 0xffff)) & 0xffff", rotated),
        ("(((x[0] & 0xffff) ^ 0xffff) + (x[1] & 0xffff)) & 0xffff", "((x[1] & 0xffff) << 3) | ((x[1] & 0xffff) >> 13)"),
        ("(((x[0] & 0xffff) ^ 0xffff) + (x[1] & 0xffff)) & 0xffff", "((x[1] << 3) | (x[1] >> 13)) & 0xffff"),
    ] {
        assert!(same(&format!("[{first}, {second}]")).is_err(), "{first}, {second}");
    }
}

/// One block of two words, and a key that all share.
fn mixing(key: &str, step: &str) -> String {
    format!("@export(\"mix\")\nfn mix(block: [u32; 2], key: {key}u32) -> [u32; 2] {{ [{step}, block[0]] }}")
}

/// Processors whose multiplication takes a time that depends on its operands must not run a kernel that multiplies secrets.
#[test]
fn a_kernel_that_multiplies_secrets_refuses_processors_that_would_leak_them() {
    let refuses = |key: &str, step: &str, layout: Layout, isa: &'static str| {
        let kernel = build(&compile(&mixing(key, step)), "mix", &request(layout, isa, 2, 5, &["key"]));
        let kernel = kernel.unwrap_or_else(|e| panic!("{} {step}: {e}", layout.name()));
        (kernel.source.contains("#error"), kernel.source.contains("STK_ALLOW_VARIABLE_TIME"))
    };
    for (layout, isa) in [(Layout::Scalar, "portable64"), (Layout::Vertical, "avx2")] {
        assert_eq!(refuses("", "block[1] * key", layout, isa), (true, true), "{}", layout.name());
        assert_eq!(refuses("", "block[1] * block[0]", layout, isa), (true, true), "{}", layout.name());
        assert_eq!(refuses("", "block[1] + key", layout, isa), (false, false), "{}", layout.name());
        assert_eq!(refuses("", "block[1] * 8", layout, isa), (false, false), "a shift, {}", layout.name());
    }
    assert_eq!(refuses("public ", "block[1] + key * key", Layout::Scalar, "portable64"), (false, false), "of public values");
    assert_eq!(refuses("", "block[1] ^ key", Layout::Bitslice, "avx2"), (false, false));
}
