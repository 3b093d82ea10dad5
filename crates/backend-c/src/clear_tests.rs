//! Assembly that overwrites registers says so: a compiler that does not know keeps a pointer or half a sum there.

use crate::clear::{clearing, Each};
use crate::options::{Options, Stack};
use std::collections::BTreeSet;
use std::io::Write;
use std::process::{Command, Stdio};

/// A machine as its compilers describe it by macros, and how many registers are overwritten there.
struct Machine {
    name: &'static str,
    macros: &'static [&'static str],
    registers: usize,
}

const MACHINES: [Machine; 14] = [
    Machine { name: "rv32", macros: &["__riscv", "__riscv_xlen=32"], registers: 15 },
    Machine { name: "rv64", macros: &["__riscv", "__riscv_xlen=64"], registers: 15 },
    Machine { name: "rv64 with vectors", macros: &["__riscv", "__riscv_xlen=64", "__riscv_vector"], registers: 49 },
    Machine { name: "x86-64 without SSE", macros: &["__x86_64__"], registers: 9 },
    Machine { name: "x86-64", macros: &["__x86_64__", "__SSE2__"], registers: 25 },
    Machine { name: "x86-64 with AVX", macros: &["__x86_64__", "__SSE2__", "__AVX__"], registers: 25 },
    Machine { name: "x86-64 with AVX-512", macros: &["__x86_64__", "__SSE2__", "__AVX__", "__AVX512F__"], registers: 49 },
    Machine { name: "AArch64 without vectors", macros: &["__aarch64__"], registers: 18 },
    Machine { name: "AArch64", macros: &["__aarch64__", "__ARM_NEON"], registers: 50 },
    Machine { name: "Arm", macros: &["__arm__"], registers: 6 },
    Machine { name: "Arm with doubles", macros: &["__arm__", "__ARM_FP"], registers: 14 },
    Machine { name: "Arm with Neon", macros: &["__arm__", "__ARM_FP", "__ARM_NEON"], registers: 30 },
    Machine { name: "z/Architecture", macros: &["__s390x__"], registers: 14 },
    Machine { name: "z/Architecture with vectors", macros: &["__s390x__", "__VX__"], registers: 30 },
];

/// What the macro becomes there: its assembly, and the registers it says to overwrite.
fn assembly(macros: &[&str]) -> (String, BTreeSet<String>) {
    let text = clearing(&Options::new("u", None), Stack { optimised: 512, plain: 512 }, &[] as &[Each], "");
    let mut cpp = Command::new("cc");
    cpp.args(["-E", "-P", "-undef", "-xc", "-D__GNUC__=12"]).args(macros.iter().map(|m| format!("-D{m}"))).arg("-");
    let mut child = cpp.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("a C preprocessor");
    child.stdin.take().expect("its input").write_all(format!("{text}\nCLEARED STK_CLEAR(512)\n").as_bytes()).expect("written");
    let out = child.wait_with_output().expect("its output");
    let all = String::from_utf8(out.stdout).expect("text");
    let body = all.split_once("CLEARED").expect("the macro").1;
    let (code, operands) = body.split_once("::").expect("operands");
    let clobbers = operands.split_once(':').expect("clobbers").1;
    (quoted(code).concat().replace("\\n\\t", "\n"), quoted(clobbers).into_iter().collect())
}

fn quoted(text: &str) -> Vec<String> {
    text.split('"').skip(1).step_by(2).map(str::to_string).collect()
}

/// The registers that assembly names, but the stack pointer and the zero register, by the names of clobbers.
fn named(code: &str) -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    for line in code.lines() {
        let words: Vec<&str> = line.split(|c: char| !c.is_ascii_alphanumeric() && c != '.').filter(|w| !w.is_empty()).collect();
        let Some((what, operands)) = words.split_first() else { continue };
        match *what {
            "vzeroall" => all.extend((0..16).map(|k| format!("xmm{k}"))),
            "vsetvli" => all.extend(["vl".to_string(), "vtype".to_string()]),
            _ => {}
        }
        for o in operands {
            let o = o.split('.').next().unwrap_or(o);
            let (letters, number) = o.split_at(o.find(|c: char| c.is_ascii_digit()).unwrap_or(o.len()));
            let number: Option<u32> = number.trim_end_matches('d').parse().ok();
            match (*what, letters, number) {
                ("vmv.v.i", "v", Some(k)) => all.extend((k..k + 8).map(|k| format!("v{k}"))),
                (_, "zmm", Some(k)) => _ = all.insert(format!("xmm{k}")),
                (_, "q", Some(k)) => all.extend([2 * k, 2 * k + 1].map(|k| format!("d{k}"))),
                // The lower registers of vectors are those of numbers.
                ("vzero", "v", Some(k)) if k < 16 => _ = all.insert(format!("f{k}")),
                ("lgr" | "sgr" | "cgr", "r", Some(15)) => {}
                (_, "e" | "m", Some(_)) => {}
                (_, "x" | "v" | "r" | "a" | "t" | "f" | "d" | "k" | "xmm", Some(k)) => _ = all.insert(format!("{letters}{k}")),
                _ if o == "lr" => _ = all.insert("lr".into()),
                _ if o.len() == 3 && (o.starts_with('e') || o.starts_with('r')) && o != "rsp" => _ = all.insert(format!("r{}", &o[1..])),
                _ => {}
            }
        }
        if line.contains("stosq") {
            all.extend(["rcx".to_string(), "rdi".to_string()]);
        }
    }
    all
}

/// What is overwritten and not said.
fn unsaid(code: &str, said: &BTreeSet<String>) -> Vec<String> {
    named(code).difference(said).cloned().collect()
}

#[test]
fn what_is_overwritten_is_said() {
    let mut count = 0;
    for m in &MACHINES {
        let (code, said) = assembly(m.macros);
        assert_eq!(unsaid(&code, &said), Vec::<String>::new(), "{}", m.name);
        assert_eq!(named(&code).len(), m.registers, "{}: {:?}", m.name, named(&code));
        count += m.registers;
    }
    println!("checked: {count} registers of {} machines", MACHINES.len());
}

#[test]
fn a_register_that_is_not_said_is_found() {
    for m in &MACHINES {
        let (code, said) = assembly(m.macros);
        for one in named(&code) {
            let fewer: BTreeSet<String> = said.iter().filter(|r| **r != one).cloned().collect();
            assert_eq!(unsaid(&code, &fewer), vec![one], "{}", m.name);
        }
    }
}
