//! Emitted C beside the interpreter: many programs in one C file, called through a driver that reads arguments and writes
//! results as numbers of 128 bits.
//!
//! The driver takes the C types from the emitted prototypes, not from the tables of the back end, and what it puts in and
//! takes out is converted by the C compiler: a type that is too narrow shows as a wrong number.
#![allow(dead_code, unused_imports)] // each test binary uses its part

mod driver;
mod inputs;
pub mod riscv;

use driver::Place;
pub use inputs::{edges, random};

use num_bigint::BigInt;
use num_traits::One;
use santoku_backend_c::{emit, emit_in_pieces, Clears, EmitError, Options};
use santoku_c_judge::Pieces;
use santoku_ir::interp::{Interp, Value};
use santoku_ir::{FuncId, Program};
use santoku_lab::host::{HostError, HostProgram};
use santoku_passes::{find, Level, PassOptions};

pub const COMPILERS: [&str; 2] = ["gcc", "clang-19"];
/// No pass ran: what they would fold may be compared in vain, or make a variable vain. That alone is no error.
const STRICT: [&str; 8] =
    ["-std=c99", "-O1", "-Wall", "-Wextra", "-Werror", "-Wno-error=type-limits", "-Wno-error=tautological-compare", "-Wno-error=unused-but-set-variable"];
const SANITIZED: [&str; 2] = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"];

/// gcc warns of signs, too, where a complement that is never small is compared in vain; clang of a variable that a random program assigns to itself.
fn excused(compiler: &str) -> &'static [&'static str] {
    if compiler == "gcc" { &["-Wno-error=sign-compare"] } else { &["-Wno-error=self-assign"] }
}

/// A program as it was meant, and its C.
pub struct Subject {
    pub name: String,
    /// What the interpreter runs.
    pub program: Program,
    /// Functions that C calls, all exported.
    pub entries: Vec<FuncId>,
    /// Bits of the widest integer that its C needs.
    pub widest: u32,
    header: String,
    source: String,
}

/// The proven ranges written into a program, and nothing else done.
pub fn annotated(program: &Program) -> Program {
    let pass = find("derive-width").expect("the pass has this name");
    (pass.run)(program, &PassOptions::new(Level::O0, 64))
}

/// A program given by its text, with widths, and its C in pieces.
pub fn in_pieces(text: &str) -> (Program, Pieces) {
    let p = santoku_ir::text::parse(text).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(santoku_ir::verify::verify(&p), vec![]);
    let p = annotated(&p);
    let (_, pieces) = emit_in_pieces(&p, &Options::new("unit", None)).unwrap_or_else(|e| panic!("{e}\n{text}"));
    (p, pieces)
}

/// Exports every function, under names that begin with that of the unit, as all names do.
pub fn exported(made: &mut Program, name: &str) {
    for f in &mut made.funcs {
        f.name = format!("{name}_{}", f.name);
        f.export = Some(f.name.clone());
    }
    for named in made.structs.iter_mut().map(|s| &mut s.name).chain(made.consts.iter_mut().map(|c| &mut c.name)) {
        *named = format!("{name}_{named}");
    }
}

impl Subject {
    /// Emits `made` (of which `program` is the meaning) under names that start with `name`, all of its functions exported.
    pub fn new(name: &str, program: Program, made: Program) -> Result<Subject, EmitError> {
        Subject::on(name, program, made, 128)
    }

    /// The same for a target whose widest integer has so many bits.
    pub fn on(name: &str, program: Program, made: Program, widest: u32) -> Result<Subject, EmitError> {
        // Every other one of those with a number clears the stack behind its functions.
        let clears = if name.ends_with(['0', '2', '4', '6', '8']) { Clears::Estimated } else { Clears::Nothing };
        Subject::with(program, made, &Options { widest, clears, ..Options::new(name, None) })
    }

    /// The same with all options of the printer.
    pub fn with(program: Program, mut made: Program, options: &Options) -> Result<Subject, EmitError> {
        exported(&mut made, &options.unit);
        let out = emit(&made, options)?;
        Ok(Subject::of(program, &out.header, &out.source, options))
    }

    /// The program with the C text that is given for it.
    pub fn of(program: Program, header: &str, source: &str, options: &Options) -> Subject {
        let (name, widest) = (&options.unit, options.widest);
        // One file holds many units: each keeps its helpers to itself.
        let own = |text: &str| text.replace("stk_", &format!("stk_{name}_")).replace("STK_", &format!("STK_{name}_")).replace(&format!("#include \"{name}.h\"\n"), "");
        let entries = (0..program.funcs.len() as u32).map(FuncId).collect();
        Subject { name: name.to_string(), program, entries, widest, header: own(header), source: own(source) }
    }

    pub fn text(&self) -> String {
        format!("{}{}", self.header, self.source)
    }

    /// Replaces `from` everywhere; false if it is nowhere.
    pub fn replace(&mut self, from: &str, to: &str) -> bool {
        let found = self.source.contains(from);
        self.source = self.source.replace(from, to);
        found
    }

    /// Replaces `from` in line `nth` of those with it in function bodies (loop headers and comments aside); false if there is none.
    pub fn mutate(&mut self, from: &str, to: &str, nth: usize) -> bool {
        let body = |line: &str| line.starts_with("    ") && !line.contains("for (") && !line.contains("/*") && line.contains(from);
        let mut lines: Vec<String> = self.source.lines().map(String::from).collect();
        let Some(line) = lines.iter_mut().filter(|l| body(l)).nth(nth) else { return false };
        *line = line.replacen(from, to, 1);
        self.source = lines.join("\n") + "\n";
        true
    }
}

/// One call: arguments, and the results the interpreter gives.
pub struct Call {
    subject: usize,
    entry: usize,
    what: String,
    input: Vec<u8>,
    expected: Vec<u128>,
}

/// Runs the interpreter on one input; it must not fault.
pub fn call(subjects: &[Subject], subject: usize, entry: usize, lens: &[u64], args: Vec<Value>) -> Call {
    let s = &subjects[subject];
    let id = s.entries[entry];
    let mut numbers: Vec<u128> = lens.iter().map(|n| u128::from(*n)).collect();
    args.iter().for_each(|a| flatten(a, &mut numbers));
    let shown: Vec<String> = args.iter().map(ToString::to_string).collect();
    let what = format!("{}::{} lens {lens:?} args [{}]", s.name, s.program.func(id).name, shown.join(", "));
    let results = Interp::new(&s.program).call(id, lens, args).unwrap_or_else(|fault| panic!("{what}: {fault}"));
    let mut expected = vec![];
    results.iter().for_each(|r| flatten(r, &mut expected));
    let mut input = vec![];
    for n in [subject, entry] {
        input.extend((n as u128).to_le_bytes());
    }
    numbers.iter().for_each(|n| input.extend(n.to_le_bytes()));
    Call { subject, entry, what, input, expected }
}

/// Scalars in order, modulo 2^128.
fn flatten(v: &Value, out: &mut Vec<u128>) {
    match v.parts() {
        Some(parts) => parts.iter().for_each(|p| flatten(p, out)),
        None => {
            let n = v.to_integer().expect("defined");
            let modulus = BigInt::one() << 128u32;
            let low: BigInt = ((n % &modulus) + &modulus) % &modulus;
            out.push(low.try_into().expect("below 2^128"));
        }
    }
}

/// How a build is made.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Every warning is an error, every undefined operation ends the program.
    Strict,
    /// For spoiled C, which may be both.
    Lenient,
}

/// The subjects' C with its driver.
pub fn build(compiler: &str, subjects: &[Subject], mode: Mode) -> Result<HostProgram, HostError> {
    let flags = match mode {
        Mode::Strict => [&STRICT[..], excused(compiler), &SANITIZED].concat(),
        Mode::Lenient => vec!["-std=c99", "-O1", "-w"],
    };
    HostProgram::build(compiler, &flags, &[("units.c", &driver::text(subjects.iter().enumerate(), Place::Streams))])
}

/// The calls whose results differ, by what they are.
pub fn differing<'c>(program: &HostProgram, calls: &'c [Call]) -> Result<Vec<&'c Call>, HostError> {
    let calls: Vec<&Call> = calls.iter().collect();
    Ok(wrong(&calls, &program.run(&[], &input(&calls))?))
}

/// What a driver reads.
fn input(calls: &[&Call]) -> Vec<u8> {
    calls.iter().flat_map(|c| c.input.iter().copied()).collect()
}

/// The calls whose part of what a driver wrote is not what the interpreter gives.
fn wrong<'c>(calls: &[&'c Call], output: &[u8]) -> Vec<&'c Call> {
    let wanted: usize = calls.iter().map(|c| 16 * c.expected.len()).sum();
    assert_eq!(output.len(), wanted, "results of another number");
    let mut at = 0;
    let mut same = |c: &Call| {
        let got = &output[at..at + 16 * c.expected.len()];
        at += got.len();
        got.chunks(16).zip(&c.expected).all(|(bytes, want)| bytes == want.to_le_bytes())
    };
    calls.iter().copied().filter(|c| !same(c)).collect()
}

impl Call {
    pub fn subject(&self) -> usize {
        self.subject
    }
    pub fn what(&self) -> &str {
        &self.what
    }
    /// Scalars compared.
    pub fn results(&self) -> usize {
        self.expected.len()
    }
}
