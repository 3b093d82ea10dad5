//! Ciphers in every layout on this machine: cycles per byte, each variant's output compared with the interpreter's.

use crate::compile::front;
use crate::primitives::Tree;
use crate::text::table;
use crate::{parallel, BenchError};
use santoku_ir::interp::{Interp, Value};
use santoku_ir::{FuncId, Program};
use santoku_lab::host::rivals::{rival, CHACHA20};
use santoku_lab::host::{compare, HostImpl, HostRow, HostRun, Workload};
use santoku_lab::record::{Row, Stamp};
use santoku_layout::{build, Isa, Kernel, Layout, Request};
use std::path::Path;

/// A cipher of the table.
#[derive(Clone, Copy, Debug)]
pub struct Cipher {
    pub name: &'static str,
    entry: &'static str,
    func: &'static str,
    /// C name of the key schedule, run on five 16-bit words of the bench's key; its result is the shared input.
    schedule: Option<(&'static str, &'static str)>,
    word_bytes: usize,
    block_bytes: usize,
    /// A multiple of every variant's batch that stays near the first-level cache.
    message_bytes: usize,
    /// Copies tried with bitslicing; none: its additions make it pointless.
    bitslice: &'static [u32],
    rivals: &'static [&'static str],
}

/// The ciphers there are.
pub const CIPHERS: [Cipher; 2] = [
    Cipher {
        name: "cipher.rectangle",
        entry: "lib/cipher/rectangle.stk",
        func: "rectangle_encrypt",
        schedule: Some(("rectangle80_schedule", "keys")),
        word_bytes: 2,
        block_bytes: 8,
        message_bytes: 24_576,
        bitslice: &[1, 2],
        rivals: &[],
    },
    Cipher {
        name: "cipher.chacha20",
        entry: "lib/cipher/chacha20.stk",
        func: "chacha20_block",
        schedule: None,
        word_bytes: 4,
        block_bytes: 64,
        message_bytes: 12_288,
        bitslice: &[],
        rivals: &CHACHA20,
    },
];

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

fn variants(cipher: &Cipher) -> Result<Vec<Variant>, BenchError> {
    let units = santoku_target::vectors().map_err(|e| BenchError::Internal { stage: "targets".into(), reason: e.reason })?;
    let mut all = vec![];
    for isa in units.into_iter().filter(runs_here) {
        let mut with = |layout, copies: &[u32]| all.extend(copies.iter().map(|k| Variant { layout, isa: isa.clone(), copies: *k }));
        with(if isa.lanes { Layout::Vertical } else { Layout::Scalar }, &COPIES);
        with(Layout::Bitslice, cipher.bitslice);
    }
    Ok(all)
}

fn runs_here(isa: &Isa) -> bool {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let flags: Vec<&str> = info.lines().find(|l| l.starts_with("flags")).unwrap_or_default().split_whitespace().collect();
    isa.processor.iter().all(|f| flags.contains(&f.as_str()))
}

/// Builds every variant, compares its output with the interpreter's, and times it with and without transposition.
///
/// # Errors
/// `Unknown` for a name that is no cipher; `Internal` if a step of a layout fails its check; `Lab` if a variant does not build
/// or computes something else.
pub fn run(tree: &Tree, name: &str, granularity: usize, tell: &(dyn Fn(&str) + Sync)) -> Result<HostRun, BenchError> {
    let known = || CIPHERS.iter().map(|c| c.name.to_string()).collect();
    let cipher = CIPHERS.iter().find(|c| c.name == name).ok_or_else(|| BenchError::Unknown { what: "cipher", name: name.into(), known: known() })?;
    let program = front(tree, cipher.entry, tree.target("host64")?)?.program;
    let mut workload = Workload::new(cipher.name, cipher.message_bytes);
    tell("interpreting");
    let shared = shared(&program, cipher, &workload.key())?;
    workload.expected.insert("blocks".into(), interpret(&program, cipher, &shared, &workload.message())?);
    let scratch = tempfile::tempdir().map_err(|e| BenchError::io(std::env::temp_dir(), &e))?;
    let built = parallel::map(&variants(cipher)?, parallel::threads(), |v| {
        tell(&v.name(""));
        Ok::<_, BenchError>((v.clone(), kernel(&program, cipher, v, granularity)?))
    })?;
    let compilers = crate::sign_host::compilers(tree)?;
    let mut impls = vec![];
    for (n, (variant, kernel)) in built.iter().enumerate() {
        let folder = scratch.path().join(format!("kernel{n}"));
        write(&folder, kernel)?;
        impls.extend(compilers.iter().map(|c| host_impl(cipher, &folder, kernel, &shared, &variant.name(c), c)));
    }
    for name in cipher.rivals {
        impls.push(rival(&tree.root, name, "chacha20", &compilers[0], &["-O2"]).map_err(|e| BenchError::lab(*name, e))?);
    }
    tell("compiling and timing");
    compare(&scratch.path().join("bench"), &impls, &workload).map_err(|e| BenchError::lab(cipher.name, e))
}

fn kernel(program: &Program, cipher: &Cipher, v: &Variant, granularity: usize) -> Result<Kernel, BenchError> {
    let shared = cipher.schedule.iter().map(|(_, parameter)| parameter.to_string()).collect();
    let request = Request { layout: v.layout, isa: v.isa.clone(), interleave: v.copies, granularity, shared, name: "kernel".into() };
    build(program, cipher.func, &request).map_err(|e| BenchError::Internal { stage: format!("layout, {}", v.name("")), reason: e.to_string() })
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
fn host_impl(cipher: &Cipher, folder: &Path, kernel: &Kernel, shared: &[u8], name: &str, compiler: &str) -> HostImpl {
    let n = cipher.message_bytes;
    let batches = n / (kernel.blocks * kernel.block_bytes) as usize;
    let list: Vec<String> = shared.iter().chain([&0]).map(u8::to_string).collect();
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

fn words(bytes: &[u8], size: usize) -> Vec<u64> {
    bytes.chunks(size).map(|c| c.iter().rev().fold(0, |w, b| w << 8 | u64::from(*b))).collect()
}

fn bytes(value: &Value, size: usize, out: &mut Vec<u8>) {
    match value {
        Value::Word(w) => out.extend(&w.to_le_bytes()[..size]),
        other => other.parts().into_iter().flatten().for_each(|v| bytes(v, size, out)),
    }
}

fn call(program: &Program, name: &str, args: Vec<Value>) -> Result<Value, BenchError> {
    let internal = |reason: String| BenchError::Internal { stage: "interpreter".into(), reason };
    let at = program.funcs.iter().position(|f| f.export.as_deref() == Some(name));
    let at = at.ok_or_else(|| internal(format!("`{name}` is not exported")))?;
    let results = Interp::new(program).call(FuncId(at as u32), &[], args).map_err(|f| internal(f.to_string()))?;
    results.into_iter().next().ok_or_else(|| internal(format!("`{name}` gives nothing")))
}

/// Bytes of the shared input: round keys of the bench's key.
fn shared(program: &Program, cipher: &Cipher, key: &[u8; 64]) -> Result<Vec<u8>, BenchError> {
    let mut out = vec![];
    if let Some((schedule, _)) = cipher.schedule {
        let keys = call(program, schedule, vec![Value::words(&words(&key[..10], 2))])?;
        bytes(&keys, cipher.word_bytes, &mut out);
    }
    Ok(out)
}

/// The message, block by block.
fn interpret(program: &Program, cipher: &Cipher, shared: &[u8], message: &[u8]) -> Result<Vec<u8>, BenchError> {
    let mut out = vec![];
    for block in message.chunks(cipher.block_bytes) {
        let mut args = vec![Value::words(&words(block, cipher.word_bytes))];
        if cipher.schedule.is_some() {
            args.push(Value::array(shared.chunks(cipher.block_bytes).map(|k| Value::words(&words(k, cipher.word_bytes))).collect()));
        }
        bytes(&call(program, cipher.func, args)?, cipher.word_bytes, &mut out);
    }
    Ok(out)
}

/// Rows for the record: median core cycles of one pass over the message; cycles per byte stand in `host.json`.
pub fn rows(run: &HostRun, stamp: &Stamp) -> Vec<Row> {
    run.rows.iter().map(|r| crate::sign_host::row(&format!("{}.{}", run.workload, r.op), r, stamp)).collect()
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
