//! Small programs, compiled by real compilers.

use santoku_certify::report::{FileReport, FunctionReport};
use santoku_certify::{certify, Options, World, EFFORTS};
use santoku_driver::{build, check, BuildOptions, Request, Store};
use santoku_elf::Image;
use santoku_ir::{FuncId, Program};
use santoku_isa::Isa;
use santoku_passes::Level;
use santoku_num::SplitMix64;
use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;
use std::sync::Mutex;

/// A program and the C that is made from it.
pub struct Made {
    pub program: Program,
    pub symbols: BTreeMap<String, FuncId>,
    /// One file; the header's prototypes are not needed.
    pub c: String,
}

pub fn made(text: &str) -> Made {
    made_so(text, true)
}

/// With functions around those of the header that clear the stack, or without.
pub fn made_so(text: &str, keep_secrets: bool) -> Made {
    let target = santoku_driver::built_in("portable").expect("its file is right").expect("it is compiled in");
    let library = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../lib");
    let mut load = |path: &str| Ok(if path == "unit.stk" { Some(text.to_string()) } else { std::fs::read_to_string(library.join(path)).ok() });
    let checked = check(&Request::new("unit.stk", target), &mut load).unwrap_or_else(|f| panic!("{f:?}"));
    let options =
        BuildOptions { level: Level::O2, without: Default::default(), dump_after: None, unit: "unit".into(), provenance: String::new(), keep_secrets };
    let built = build(&checked, &options, &|| 0).unwrap_or_else(|f| panic!("{f:?}"));
    let text = |name: &str| built.files.iter().find(|(n, _)| n == name).map(|(_, t)| t.clone()).expect("a file");
    let c = text("unit.c").replace("#include \"unit.h\"", &text("unit.h")).replace("#include <string.h>", STRING);
    let symbols = built.names.iter().map(|(func, name)| (name.clone(), *func)).collect();
    Made { program: built.program, symbols, c }
}

const STRING: &str = "void *memcpy(void *, const void *, __SIZE_TYPE__);\nvoid *memmove(void *, const void *, __SIZE_TYPE__);\nvoid *memset(void *, int, __SIZE_TYPE__);";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compiler {
    Gcc,
    Clang,
}

/// What the compiler says of itself; `None` where there is none.
pub fn version(compiler: Compiler) -> Option<String> {
    let done = Command::new(compiler.command()).arg("--version").output().ok()?;
    String::from_utf8_lossy(&done.stdout).lines().next().map(str::to_string)
}

impl Compiler {
    fn command(self) -> String {
        let name = if self == Compiler::Gcc { "riscv-gcc" } else { "clang" };
        santoku_target::compilers().expect("right").0[name].command()
    }
}

/// An object, or `None` with a printed reason where there is no such compiler. `level`: `O2`, and more flags behind it.
pub fn object(compiler: Compiler, march: &str, level: &str, name: &str, text: &str) -> Option<Vec<u8>> {
    let done = compiled(compiler, march, level, name, text)?;
    Some(done.unwrap_or_else(|e| panic!("{e}\n{text}")))
}

/// An object, or what the compiler says of the text; `None` with a printed reason where there is no such compiler.
pub fn compiled(compiler: Compiler, march: &str, level: &str, name: &str, text: &str) -> Option<Result<Vec<u8>, String>> {
    let program = compiler.command();
    let folder = tempfile::tempdir().expect("scratch");
    std::fs::write(folder.path().join(name), text).expect("scratch");
    let mut cc = Command::new(&program);
    if compiler == Compiler::Clang {
        cc.arg(format!("--target=riscv{}-unknown-elf", &march[2..4]));
    }
    let mabi = if march.starts_with("rv32") { "ilp32" } else { "lp64" };
    cc.args([&format!("-march={march}"), &format!("-mabi={mabi}")]).args(format!("-{level}").split(' '));
    cc.args(["-g", "-ffreestanding", "-fno-pic", "-ffunction-sections", "-fdata-sections", "-c", name, "-o", "unit.o"]);
    let done = match cc.current_dir(folder.path()).output() {
        Ok(done) => done,
        Err(e) => {
            santoku_skips::skip("objects", format!("`{program}` does not run here: {e}"));
            return None;
        }
    };
    if !done.status.success() {
        return Some(Err(String::from_utf8_lossy(&done.stderr).into_owned()));
    }
    Some(Ok(std::fs::read(folder.path().join("unit.o")).expect("an object")))
}

/// Keeps texts in memory, and counts what was found.
#[derive(Default)]
pub struct Memory(pub Mutex<BTreeMap<String, String>>);

impl Store for Memory {
    fn get(&self, key: &str) -> Option<String> {
        self.0.lock().expect("one thread at a time").get(key).cloned()
    }
    fn put(&self, key: &str, text: &str) {
        self.0.lock().expect("one thread at a time").insert(key.into(), text.into());
    }
}

pub fn image(object: &[u8]) -> Image {
    santoku_elf::load(object).unwrap_or_else(|e| panic!("{e}"))
}

/// What executes an object of the tests.
pub fn isa(image: &Image) -> Isa {
    if image.xlen == 32 { Isa::rv32imc() } else { Isa::rv64imc() }
}

pub fn judged_with(made: &Made, object: &[u8], options: &Options, store: &dyn Store) -> FileReport {
    let image = image(object);
    let world = World { store, clock: &|| 0, tell: &|_, _, _| {} };
    certify(&image, isa(&image), &made.program, made.symbols.clone(), options, &world)
}

pub fn judged(made: &Made, object: &[u8]) -> FileReport {
    judged_with(made, object, &Options::default(), &Memory::default())
}

/// Whether the judge of bytes accepts a function, asked without the certifier, looking into all that it calls or into nothing, and all that
/// it calls.
pub fn accepted(made: &Made, image: &Image, symbol: &str) -> bool {
    accepted_on(made, image, symbol, false)
}

/// The same, of CKB-VM if that is the processor.
pub fn accepted_on(made: &Made, image: &Image, symbol: &str, ckb_vm: bool) -> bool {
    let ledger = santoku_elf::Ledger::new(image);
    let code = santoku_bytes::Code { image: &ledger, isa: isa(image), program: &made.program, symbols: &made.symbols, secret_mul_leaks: false, ckb_vm };
    let there: BTreeSet<FuncId> = made.symbols.iter().filter(|(s, _)| image.function(s).is_some()).map(|(_, f)| *f).collect();
    let mut open = vec![(made.symbols[symbol], vec![])];
    let mut seen = BTreeSet::new();
    while let Some((func, shared)) = open.pop() {
        if !seen.insert((func, shared.clone())) {
            continue;
        }
        let named = made.symbols.iter().find(|(s, f)| **f == func && image.function(s).is_some());
        let Some(place) = named.and_then(|(s, _)| image.function(s)) else { return false };
        let cut: BTreeSet<FuncId> = there.iter().copied().filter(|f| *f != func).collect();
        let asked = |cut: &BTreeSet<FuncId>| EFFORTS.iter().find_map(|e| santoku_bytes::check(&code, func, place.address, &shared, cut, *e).ok());
        let Some(done) = asked(&cut).or_else(|| asked(&BTreeSet::new())) else { return false };
        open.extend(done.calls);
    }
    true
}

pub fn of<'r>(report: &'r FileReport, symbol: &str) -> &'r FunctionReport {
    let found = report.functions.iter().find(|f| f.symbol == symbol);
    found.unwrap_or_else(|| panic!("no {symbol} in {:?}", report.functions.iter().map(|f| &f.symbol).collect::<Vec<_>>()))
}

/// Changes the first instruction of a function for which `change` gives another. The function must hold no relocation.
pub fn patched(object: &[u8], symbol: &str, change: impl Fn(u32) -> Option<u32>) -> Vec<u8> {
    let image = image(object);
    let f = image.function(symbol).unwrap_or_else(|| panic!("no {symbol}"));
    let words: Vec<u32> = (0..f.size / 4).map(|k| image.fetch(f.address + 4 * k).expect("code")).collect();
    let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
    let at: Vec<usize> = (0..object.len() - bytes.len()).filter(|k| object[*k..].starts_with(&bytes)).collect();
    assert_eq!(at.len(), 1, "the code of {symbol} stands once in the file");
    let (k, new) = words.iter().enumerate().find_map(|(k, w)| Some((k, change(*w)?))).expect("an instruction to change");
    let mut out = object.to_vec();
    out[at[0] + 4 * k..at[0] + 4 * k + 4].copy_from_slice(&new.to_le_bytes());
    assert_ne!(out, object);
    out
}

/// Random numbers for changes of objects, the same in every run.
pub struct Dice(SplitMix64);

impl Dice {
    pub fn new(seed: u64) -> Dice {
        Dice(SplitMix64::new(seed))
    }
    pub fn below(&mut self, n: usize) -> usize {
        self.0.below(n as u64) as usize
    }
}
