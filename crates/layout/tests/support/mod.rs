//! Kernels of many programs at once: built, compiled together, and compared with the interpreter.

use santoku_ir::interp::{Interp, Value};
use santoku_ir::{FuncId, Len, Program, Ty};
use santoku_lab::host::HostProgram;
use santoku_layout::{build, Kernel, Layout, LayoutError, Request};
use santoku_prove::equiv::Rng;
use santoku_skips::seeds;
use santoku_target::VectorUnit;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// A program of one block, `f`, and how it is to be laid out.
pub struct Case {
    pub name: String,
    pub text: String,
    pub layout: Layout,
    pub isa: &'static str,
    pub interleave: u32,
}

/// What became of the cases.
#[derive(Default)]
pub struct Count {
    pub tried: usize,
    /// Kernels made, by layout.
    pub made: BTreeMap<&'static str, usize>,
    /// Kernels that were run and agreed on all blocks.
    pub agreed: usize,
    /// Refusals by reason.
    pub refused: BTreeMap<String, usize>,
    /// Optional steps that could not be checked, by reason.
    pub left_out: BTreeMap<String, usize>,
}

struct Made {
    case: usize,
    kernel: Kernel,
    program: Program,
    func: FuncId,
}

pub fn compile(text: &str) -> Program {
    let load = &mut |p: &str| (p == "block.stk").then(|| text.to_string());
    santoku_sema::compile("block.stk", &[], load, &Default::default()).unwrap_or_else(|f| panic!("{text}\n{:?}", f.diagnostics)).program
}

/// Builds, compiles and runs all; panics where a kernel computes something else than the interpreter, or where a refusal is a
/// fault of ours or names no place.
pub fn try_all(cases: &[Case]) -> Count {
    let mut count = Count::default();
    let mut made: BTreeMap<&'static str, Vec<Made>> = BTreeMap::new();
    for (k, c) in cases.iter().enumerate() {
        count.tried += 1;
        let program = compile(&c.text);
        let at = program.funcs.iter().position(|f| f.export.as_deref() == Some("f")).expect("exported");
        let f = &program.funcs[at];
        let shared: BTreeSet<String> = f.params.iter().skip(1).map(|id| f.local(*id).name.clone()).collect();
        let request = Request { layout: c.layout, isa: unit(c.isa), interleave: c.interleave, granularity: 5, shared, name: format!("k{k}"), without: Default::default(), dump_after: None };
        match build(&program, "f", &request) {
            Ok(kernel) => {
                *count.made.entry(c.layout.name()).or_default() += 1;
                kernel.left_out.iter().for_each(|l| *count.left_out.entry(l.clone()).or_default() += 1);
                made.entry(c.isa).or_default().push(Made { case: k, kernel, func: FuncId(at as u32), program });
            }
            Err(e) => {
                let what = format!("{} ({} {} K={}): {e}\n{}", c.name, c.layout.name(), c.isa, c.interleave, c.text);
                assert!(!matches!(e, LayoutError::Internal { .. }), "a fault of ours: {what}");
                assert!(e.loc().is_some_and(|l| l.line > 0) && !e.help().is_empty(), "a refusal without a place: {what}");
                let reason = match e {
                    LayoutError::Operation { what, layout, .. } => format!("{layout}: {what}"),
                    LayoutError::Unchecked { step, .. } => format!("unchecked: {step}"),
                    other => other.to_string(),
                };
                *count.refused.entry(reason).or_default() += 1;
            }
        }
    }
    for (k, (isa, kernels)) in made.into_iter().enumerate() {
        count.agreed += compare(cases, (isa, k), &kernels);
    }
    count
}

/// A vector unit that is compiled in.
pub fn unit(name: &str) -> VectorUnit {
    santoku_target::vector(name).expect("right").expect("compiled in")
}

pub fn runs_here(isa: &'static str) -> bool {
    unit(isa).is_listed(&std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default())
}

/// Different blocks in a batch.
const DIFFERENT: usize = 8;

/// Kernels that were run. Those for another machine are compiled alone. Compilers have their turn, another one for each machine.
fn compare(cases: &[Case], (isa, nr): (&'static str, usize), kernels: &[Made]) -> usize {
    let (mut rng, mut input, mut want) = (Rng::new(7), Vec::new(), Vec::new());
    let mut random = |n: usize| (0..n).map(|_| rng.next_u64() as u8).collect::<Vec<u8>>();
    for m in kernels {
        let shared = random(m.kernel.shared_bytes as usize);
        let blocks: Vec<Vec<u8>> = (0..DIFFERENT).map(|_| random(m.kernel.block_bytes as usize)).collect();
        let results: Vec<Vec<u8>> = blocks.iter().map(|b| interpreted(m, &shared, b)).collect();
        input.extend(shared);
        (0..m.kernel.blocks as usize).for_each(|b| input.extend(&blocks[b % DIFFERENT]));
        want.push((0..m.kernel.blocks as usize).flat_map(|b| results[b % DIFFERENT].clone()).collect::<Vec<u8>>());
    }
    let mut files: Vec<(String, String)> = vec![("main.c".into(), main_c(kernels))];
    for m in kernels {
        files.push((format!("{}.c", m.kernel.name), m.kernel.source.clone()));
        files.push((format!("{}.h", m.kernel.name), m.kernel.header.clone()));
    }
    let files: Vec<(&str, &str)> = files.iter().map(|(n, t)| (n.as_str(), t.as_str())).collect();
    let unit = unit(isa);
    let flags: Vec<&str> = ["-O1", "-w", "-Werror=implicit-function-declaration"].into_iter().chain(unit.flags.iter().map(String::as_str)).collect();
    for compiler in seeds::one(["gcc", "clang-19"], nr) {
        let program = HostProgram::build(compiler, &flags, &files).unwrap_or_else(|e| panic!("{compiler}, {}: {e}", isa));
        if !runs_here(isa) {
            continue;
        }
        let got = program.run(&[], &input).unwrap_or_else(|e| panic!("{compiler}: {e}"));
        let mut at = 0;
        for (m, want) in kernels.iter().zip(&want) {
            let (c, end) = (&cases[m.case], at + want.len());
            let name = c.layout.name();
            assert!(got.get(at..end) == Some(want), "{} ({name} {} K={}) by {compiler} is wrong\n{}", c.name, isa, c.interleave, c.text);
            at = end;
        }
    }
    if runs_here(isa) { kernels.len() } else { 0 }
}

fn main_c(kernels: &[Made]) -> String {
    let mut t = String::from("#include <stdio.h>\n#include <stdlib.h>\n#include <stdint.h>\n#include <stddef.h>\n");
    let mut body = String::new();
    for m in kernels {
        let (k, n) = (&m.kernel, &m.kernel.name);
        let _ = writeln!(t, "#include \"{n}.h\"");
        let (shared, batch) = (k.shared_bytes, k.blocks * k.block_bytes);
        let _ = writeln!(
            body,
            "    {{ uint8_t *s = malloc({shared} + 1), *in = malloc({batch}), *out = malloc({batch});\n      void *k = aligned_alloc(64, ({n}_keys_size() + 63) / 64 * 64);\n      \
             if (fread(s, 1, {shared}, stdin) != {shared} || fread(in, 1, {batch}, stdin) != {batch}) return 1;\n      \
             {n}_setup(k, s); {n}_blocks(out, in, k, 1);\n      if (fwrite(out, 1, {batch}, stdout) != {batch}) return 1;\n      free(s); free(in); free(out); free(k); }}"
        );
    }
    let _ = write!(t, "int main(void)\n{{\n{body}    return 0;\n}}\n");
    t
}

fn interpreted(m: &Made, shared: &[u8], block: &[u8]) -> Vec<u8> {
    let f = m.program.func(m.func);
    let (mut at, mut args) = (0, Vec::new());
    for (k, p) in f.params.iter().enumerate() {
        let mut start = 0;
        args.push(if k == 0 { value(&f.local(*p).ty, block, &mut start) } else { value(&f.local(*p).ty, shared, &mut at) });
    }
    let result = Interp::new(&m.program).call(m.func, &[], args).unwrap_or_else(|e| panic!("{e}"));
    let mut out = Vec::new();
    bytes(&f.local(f.rets[0]).ty, &result[0], &mut out);
    out
}

fn value(ty: &Ty, from: &[u8], at: &mut usize) -> Value {
    match ty {
        Ty::Array { elem, len: Len::Const(n), .. } => Value::array((0..*n).map(|_| value(elem, from, at)).collect()),
        Ty::Word(bits) => {
            let n = (*bits / 8) as usize;
            *at += n;
            Value::Word(from[*at - n..*at].iter().rev().fold(0u128, |w, b| w << 8 | u128::from(*b)))
        }
        other => panic!("{other:?}"),
    }
}

fn bytes(ty: &Ty, v: &Value, out: &mut Vec<u8>) {
    match (ty, v) {
        (Ty::Word(bits), Value::Word(w)) => out.extend(&w.to_le_bytes()[..(*bits / 8) as usize]),
        (Ty::Array { elem, .. }, v) => v.parts().unwrap_or_default().iter().for_each(|v| bytes(elem, v, out)),
        other => panic!("{other:?}"),
    }
}
