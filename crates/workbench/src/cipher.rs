//! Ciphers in every layout on this machine: cycles per byte, each variant's output compared with the interpreter's.

use crate::compile::front;
use crate::primitives::{Cipher, Tree};
use crate::text::table;
use crate::{parallel, BenchError};
use santoku_ir::interp::{Interp, Value};
use santoku_ir::{Func, FuncId, Len, LocalId, Program, Ty};
use santoku_lab::cross::{machine, Cross};
use santoku_lab::host::rivals::rival;
use santoku_lab::host::{compare, HostImpl, HostRow, HostRun, Workload};
use santoku_lab::record::{Row, Stamp};
use santoku_layout::{build, Isa, Kernel, Layout, LayoutError, Request};
use std::path::Path;

/// What is sliced: a function of one block, and what all blocks share.
pub struct Sliced<'p> {
    /// In tables and records.
    pub name: String,
    pub program: &'p Program,
    /// C name of the function of one block.
    pub function: String,
    /// Parameters that all blocks share, in order, and their bytes.
    pub shared: Vec<(String, Vec<u8>)>,
    /// A multiple of every variant's batch that stays near the first-level cache.
    pub message_bytes: usize,
    /// Copies tried with bitslicing.
    pub bitslice: Vec<u32>,
}

/// Target of this machine.
pub const TARGET: &str = "host64";

const COPIES: [u32; 4] = [1, 2, 3, 4];

/// One way to build a cipher.
#[derive(Clone, Debug)]
struct Variant {
    layout: Layout,
    isa: Isa,
    copies: u32,
}

impl Variant {
    fn name(&self, compiler: &str) -> String {
        format!("{} {} K={} {compiler}", self.layout.name(), self.isa.name, self.copies)
    }
}

fn variants(bitslice: &[u32]) -> Result<Vec<Variant>, BenchError> {
    let units = santoku_target::vectors().map_err(|e| BenchError::Internal { stage: "targets".into(), reason: e.reason })?;
    let mut all = vec![];
    for isa in units.into_iter().filter(runs_here) {
        let mut with = |layout, copies: &[u32]| all.extend(copies.iter().map(|k| Variant { layout, isa: isa.clone(), copies: *k }));
        with(if isa.lanes { Layout::Vertical } else { Layout::Scalar }, &COPIES);
        with(Layout::Bitslice, bitslice);
    }
    Ok(all)
}

pub(crate) fn runs_here(isa: &Isa) -> bool {
    isa.is_listed(&std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default())
}

/// Builds every variant of a cipher, compares its output with the interpreter's, and times it with and without transposition.
///
/// # Errors
/// `Unknown` for a name that is no cipher; those of [`slice`].
pub fn run(tree: &Tree, name: &str, granularity: usize, tell: &(dyn Fn(&str) + Sync)) -> Result<HostRun, BenchError> {
    let all = tree.ciphers()?;
    let known = || all.iter().map(|c| c.name.to_string()).collect();
    let cipher = all.iter().find(|c| c.name == name).ok_or_else(|| BenchError::Unknown { what: "cipher", name: name.into(), known: known() })?;
    let program = front(tree, &cipher.entry, tree.target(TARGET)?)?.program;
    let key = Workload::new(&cipher.name, cipher.message_bytes).key();
    let shared = schedule(&program, cipher, &key)?;
    let sliced = Sliced {
        name: cipher.name.clone(),
        program: &program,
        function: cipher.function.clone(),
        shared,
        message_bytes: cipher.message_bytes,
        bitslice: cipher.bitslice_copies.clone(),
    };
    let compilers = host_compilers()?;
    let mut rivals = vec![];
    for (name, adapter) in &cipher.rivals {
        rivals.push(rival(&tree.root, name, adapter, &compilers[0], &["-O2"]).map_err(|e| BenchError::lab(name, e))?);
    }
    Ok(slice(&compilers, &sliced, granularity, (&rivals, false), tell)?.run)
}

/// Commands of this machine's compilers, at least one.
///
/// # Errors
/// `Lab`: one is not installed, or the description names none.
pub fn host_compilers() -> Result<Vec<String>, BenchError> {
    let target = machine(TARGET).map_err(|e| BenchError::lab(TARGET, e))?;
    let found = target.compilers.iter().map(|c| Cross::named(&target, Some(&c.name)).map(|c| c.compiler.command()));
    let found = found.collect::<Result<Vec<_>, _>>().map_err(|e| BenchError::lab("this machine", e))?;
    match found.is_empty() {
        false => Ok(found),
        true => Err(BenchError::lab(TARGET, "its description names no compiler")),
    }
}

/// Blocks of a message that whole batches of every variant fill: lanes and copies divide it.
pub const BATCH: usize = 1536;

/// Bytes of a block, of a function whose first parameter is one and all other parameters are shared by blocks.
pub fn block_bytes(program: &Program, f: &Func) -> Option<usize> {
    let ([first, rest @ ..], [ret], true) = (&f.params[..], &f.rets[..], f.lens.is_empty()) else { return None };
    let ty = |id: &LocalId| &f.local(*id).ty;
    let flat = matches!(ty(first), Ty::Array { elem, .. } if matches!(**elem, Ty::Word(_)));
    let same = flat && ty(first).same_shape(ty(ret));
    same.then(|| size(program, ty(first))).flatten().filter(|n| *n > 0 && rest.iter().all(|id| size(program, ty(id)).is_some()))
}

/// Layouts that were timed, and those that could not be built.
pub struct Slices {
    pub run: HostRun,
    /// Of each variant, by how the names of its implementations begin: operations of one copy, and the blocks that it computes.
    pub kernels: Vec<(String, (u64, u32))>,
    /// Variant, and why.
    pub left_out: Vec<(String, String)>,
}

/// Times a function of one block in every layout, beside others that bring their own adapters. `skip`: a layout that the function has no form in is
/// left out, and told; instructions are counted.
///
/// # Errors
/// `Internal` if a step of a layout fails its check; `Lab` if a variant does not build or computes something else.
pub fn slice(compilers: &[String], sliced: &Sliced<'_>, granularity: usize, (rivals, skip): (&[HostImpl], bool), tell: &(dyn Fn(&str) + Sync)) -> Result<Slices, BenchError> {
    let mut workload = Workload { count: skip, ..Workload::new(&sliced.name, sliced.message_bytes) };
    tell("interpreting");
    workload.expected.insert("blocks".into(), interpret(sliced, &workload.message())?);
    let scratch = tempfile::tempdir().map_err(|e| BenchError::io(std::env::temp_dir(), &e))?;
    let built = parallel::map(&variants(&sliced.bitslice)?, parallel::threads(), |v| {
        tell(&v.name(""));
        Ok::<_, BenchError>((v.clone(), kernel(sliced, v, granularity)))
    })?;
    let (mut impls, mut kernels, mut left_out) = (vec![], vec![], vec![]);
    for (n, (variant, kernel)) in built.iter().enumerate() {
        let kernel = match kernel {
            Ok(kernel) => kernel,
            Err(e) if skip => {
                left_out.push((variant.name("").trim().to_string(), e.to_string()));
                continue;
            }
            Err(e) => return Err(BenchError::Internal { stage: format!("layout, {}", variant.name("")), reason: e.to_string() }),
        };
        let folder = scratch.path().join(format!("kernel{n}"));
        write(&folder, kernel)?;
        kernels.push((variant.name(""), (kernel.operations, kernel.lanes)));
        impls.extend(compilers.iter().map(|c| host_impl(sliced, &folder, kernel, &variant.name(c), c)));
    }
    impls.extend(rivals.iter().cloned());
    if impls.is_empty() {
        let why = left_out.first().map_or_else(String::new, |(_, why)| why.clone());
        return Err(BenchError::lab(&sliced.function, format!("it has a form in no layout: {why}")));
    }
    tell("compiling and timing");
    let run = compare(&scratch.path().join("bench"), &impls, &workload).map_err(|e| BenchError::lab(&sliced.name, e))?;
    Ok(Slices { run, kernels, left_out })
}

fn kernel(sliced: &Sliced<'_>, v: &Variant, granularity: usize) -> Result<Kernel, LayoutError> {
    let shared = sliced.shared.iter().map(|(name, _)| name.clone()).collect();
    let request = Request { layout: v.layout, isa: v.isa.clone(), interleave: v.copies, granularity, shared, name: "kernel".into(), without: Default::default(), dump_after: None };
    build(sliced.program, &sliced.function, &request)
}

fn write(folder: &Path, kernel: &Kernel) -> Result<(), BenchError> {
    std::fs::create_dir_all(folder).map_err(|e| BenchError::io(folder, &e))?;
    for (name, text) in [("kernel.c", &kernel.source), ("kernel.h", &kernel.header)] {
        let path = folder.join(name);
        std::fs::write(&path, text).map_err(|e| BenchError::io(path, &e))?;
    }
    Ok(())
}

/// Two operations: `core` works on registers in sliced order, `blocks` on bytes, with the transposition both ways.
fn host_impl(sliced: &Sliced<'_>, folder: &Path, kernel: &Kernel, name: &str, compiler: &str) -> HostImpl {
    let n = sliced.message_bytes;
    let batches = n / (kernel.blocks * kernel.block_bytes) as usize;
    let list: Vec<String> = sliced.shared.iter().flat_map(|(_, b)| b).chain([&0]).map(u8::to_string).collect();
    let adapter = format!(
        "#include \"bench.h\"\n#include \"kernel.h\"\n\
         static uint8_t in[{n}] __attribute__((aligned(64))), out[{n}] __attribute__((aligned(64))), core_out[{n}] __attribute__((aligned(64)));\n\
         static const uint8_t shared[] = {{{}}};\nstatic struct kernel_keys *keys;\n\
         static void core(void) {{ kernel_sliced(core_out, in, keys, {batches}); }}\n\
         static void blocks(void) {{ kernel_blocks(out, in, keys, {batches}); }}\n\
         static int setup(void)\n{{\n  if (bench_msg_len != sizeof in) return 2;\n  memcpy(in, bench_msg, sizeof in);\n\
         \x20 keys = aligned_alloc(64, (kernel_keys_size() + 64) / 64 * 64);\n  if (!keys) return 1;\n  kernel_setup(keys, shared);\n  return 0;\n}}\n\
         static const struct bench_op ops[] = {{{{\"core\", core, {n}, 0, 0}}, {{\"blocks\", blocks, {n}, out, {n}}}}};\n\
         const struct bench_impl BENCH_IMPL = {{setup, ops, 2}};\n",
        list.join(",")
    );
    HostImpl {
        name: name.into(),
        compiler: compiler.into(),
        cflags: ["-O3".to_string()].into_iter().chain(kernel.cflags.iter().cloned()).collect(),
        sources: vec![folder.join("kernel.c")],
        include_dirs: vec![folder.to_path_buf()],
        libs: vec![],
        adapter,
    }
}

/// Bytes of a value, words little-endian; `None`: a type that bytes do not give.
pub fn size(program: &Program, ty: &Ty) -> Option<usize> {
    match ty {
        Ty::Word(bits) => Some(bits.div_ceil(8) as usize),
        Ty::Bool => Some(1),
        Ty::Array { elem, len: Len::Const(n), .. } => Some(size(program, elem)? * *n as usize),
        _ => None,
    }
}

/// The value that these bytes are.
fn value(ty: &Ty, bytes: &[u8]) -> Value {
    match ty {
        Ty::Array { elem, len: Len::Const(n), .. } => Value::array(bytes.chunks(bytes.len() / (*n).max(1) as usize).map(|b| value(elem, b)).collect()),
        Ty::Bool => Value::Bool(santoku_num::little(bytes) & 1 == 1),
        _ => Value::Word(santoku_num::little(bytes)),
    }
}

fn bytes(value: &Value, ty: &Ty, out: &mut Vec<u8>) {
    match (value, ty) {
        (Value::Word(w), Ty::Word(bits)) => out.extend(&w.to_le_bytes()[..bits.div_ceil(8) as usize]),
        (other, Ty::Array { elem, .. }) => other.parts().into_iter().flatten().for_each(|v| bytes(v, elem, out)),
        _ => {}
    }
}

/// Calls an exported function on bytes: an argument each.
fn call(program: &Program, name: &str, args: &[&[u8]]) -> Result<Vec<u8>, BenchError> {
    let internal = |reason: String| BenchError::Internal { stage: "interpreter".into(), reason };
    let at = program.funcs.iter().position(|f| f.export.as_deref() == Some(name));
    let f = at.map(|at| &program.funcs[at]).ok_or_else(|| internal(format!("`{name}` is not exported")))?;
    let args = f.params.iter().zip(args).map(|(id, b)| value(&f.local(*id).ty, b)).collect();
    let results = Interp::new(program).call(FuncId(at.unwrap_or(0) as u32), &[], args).map_err(|f| internal(f.to_string()))?;
    let mut out = vec![];
    for (value, id) in results.iter().zip(&f.rets) {
        bytes(value, &f.local(*id).ty, &mut out);
    }
    Ok(out)
}

/// What all blocks share: round keys of the bench's key.
fn schedule(program: &Program, cipher: &Cipher, key: &[u8; 64]) -> Result<Vec<(String, Vec<u8>)>, BenchError> {
    let Some(s) = &cipher.schedule else { return Ok(vec![]) };
    let key = key.get(..s.key_bytes).ok_or_else(|| BenchError::Declaration { path: "lib/primitives.toml".into(), reason: format!("{}: keys have at most 64 bytes", cipher.name) })?;
    Ok(vec![(s.parameter.clone(), call(program, &s.function, &[key])?)])
}

/// The message, block by block.
fn interpret(sliced: &Sliced<'_>, message: &[u8]) -> Result<Vec<u8>, BenchError> {
    let internal = |reason: String| BenchError::Internal { stage: "interpreter".into(), reason };
    let f = sliced.program.funcs.iter().find(|f| f.export.as_deref() == Some(&sliced.function)).ok_or_else(|| internal(format!("`{}` is not exported", sliced.function)))?;
    let names: Vec<&str> = f.params.iter().map(|id| f.local(*id).name.as_str()).collect();
    let shared = |name: &str| sliced.shared.iter().find(|(n, _)| n == name).map(|(_, b)| b.as_slice());
    let block = f.params.iter().find(|id| shared(&f.local(**id).name).is_none()).and_then(|id| size(sliced.program, &f.local(*id).ty));
    let block = block.filter(|n| *n > 0).ok_or_else(|| internal(format!("`{}` has no block", sliced.function)))?;
    let mut out = vec![];
    for part in message.chunks(block) {
        let args: Vec<&[u8]> = names.iter().map(|n| shared(n).unwrap_or(part)).collect();
        out.extend(call(sliced.program, &sliced.function, &args)?);
    }
    Ok(out)
}

/// Rows for the record: median core cycles of one pass over the message; cycles per byte stand in `host.json`.
pub fn rows(run: &HostRun, stamp: &Stamp) -> Vec<Row> {
    run.rows.iter().map(|r| row(&format!("{}.{}", run.workload, r.op), r, stamp)).collect()
}

fn row(program: &str, r: &HostRow, stamp: &Stamp) -> Row {
    Row {
        program: program.into(),
        variant: r.implementation.clone(),
        machine: "host".into(),
        level: r.cflags.split(' ').rev().find_map(|f| f.strip_prefix('-').filter(|l| l.starts_with('O'))).unwrap_or("-").into(),
        cycles_core: r.cycles_core.median.round() as u64,
        cycles_board: None,
        instret: r.instructions,
        icache_misses: None,
        flash_words: None,
        stack_bytes: None,
        stack_bound_bytes: None,
        size_bytes: None,
        trace_hash: None,
        compiler: r.compiler.clone(),
        flags: r.cflags.clone(),
        date: stamp.date.clone(),
        commit: stamp.commit.clone(),
    }
}

/// The table for people, fastest first within an operation.
pub fn text(run: &HostRun) -> String {
    let per_byte = |r: &HostRow| r.core_cycles_per_byte.map_or(f64::INFINITY, |s| s.median);
    let mut text = String::new();
    for (op, what) in [("core", "registers in, registers out"), ("blocks", "bytes in, bytes out"), ("encrypt", "libraries: whole cipher")] {
        let mut rows: Vec<&HostRow> = run.rows.iter().filter(|r| r.op == op).collect();
        if rows.is_empty() {
            continue;
        }
        rows.sort_by(|a, b| per_byte(a).total_cmp(&per_byte(b)));
        let spread = |r: &HostRow| r.core_cycles_per_byte.map_or_else(|| "-".into(), |s| format!("{:.3}..{:.3}", s.p10, s.p90));
        let lines = rows.iter().map(|r| vec![r.implementation.clone(), format!("{:.3}", per_byte(r)), spread(r)]).collect();
        text += &format!("{op}: {what}\n{}\n", table(&["implementation", "core cycles/byte", "10%..90%"], 1, lines));
    }
    let (name, bytes, cpu) = (&run.workload, run.message_len, &run.machine.cpu);
    text + &format!("{name}: {bytes} bytes; {cpu}; {}.\nEvery output in bytes equals the interpreter's.\n", run.samples())
}
