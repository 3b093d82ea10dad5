//! Functions of anybody's programs on every machine: built at every level, run on inputs that repeat, compared with the interpreter.

use crate::compile::optimised;
use crate::interface::{compiled, ArgumentRole, Function};
use crate::operation::Case;
use crate::subject::one_file;
use crate::table::builds;
use crate::interpreted::interpreted;
use crate::BenchError;
use santoku_backend_c::{Argument, Emitted, Exported, Options, Role};
use santoku_driver::{build, BuildOptions, Checked, Lowering, Target};
use num_bigint::BigInt;
use num_integer::Integer;
use santoku_ir::interp::Int;
use santoku_ir::{Len, Program, Ty};
use santoku_lab::bench::{self, Operation, Subject};
use santoku_lab::harness::Source;
use santoku_num::SplitMix64;
use santoku_passes::Level;
use santoku_prove::products::widest_secret_product;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// What is measured of a side.
#[derive(Clone, Debug)]
pub enum Side {
    /// A function of a program: by its C name, or by its name in the source. None: every exported function.
    Program { name: String, path: String, function: Option<String> },
    /// A function of a C file that has the interface of the other side's.
    C { name: String, path: PathBuf, function: String },
}

impl Side {
    pub fn name(&self) -> &str {
        match self {
            Side::Program { name, .. } | Side::C { name, .. } => name,
        }
    }
}

/// How.
#[derive(Clone, Debug)]
pub struct Wish {
    /// Machines by their names in tables; none: all that measure.
    pub machines: Vec<String>,
    /// Levels of the C compilers; none: those of the descriptions.
    pub levels: Option<Vec<Level>>,
    /// Elements of arrays of run-time length.
    pub length: u32,
    /// Bytes of arguments, by name, in the place of random ones.
    pub inputs: BTreeMap<String, Vec<u8>>,
}

/// A function that is measured: its interface and its case.
#[derive(Clone, Debug)]
pub struct Asked {
    pub function: Function,
    pub case: Case,
    pub operation: Operation,
}

/// A program for a target: its C, and what is asked of it.
#[derive(Clone, Debug)]
pub struct Prepared {
    pub text: String,
    pub asked: Vec<Asked>,
    /// Before all passes, with the functions that are asked exported alone.
    pub program: Program,
    pub target: Target,
    /// What the back end says of them.
    pub exported: Vec<Exported>,
}

/// Inputs tried until what a function requires holds.
const TRIES: u64 = 400;
/// Base name of the C.
const UNIT: &str = "measured";

/// A program whose wanted functions are exported, and no other.
///
/// # Errors
/// `Unknown`: there is no such function.
pub fn exporting(program: &Program, function: Option<&str>) -> Result<Program, BenchError> {
    let mut program = program.clone();
    program.tests.clear();
    let Some(wanted) = function else {
        return match program.funcs.iter().any(|f| f.export.is_some()) {
            true => Ok(program),
            false => Err(unknown(&program, "exported function", "in this program")),
        };
    };
    let exact = |f: &santoku_ir::Func| f.export.as_deref() == Some(wanted) || f.name == wanted;
    let last = |f: &santoku_ir::Func| f.name.rsplit('.').next() == Some(wanted);
    // Of functions that are called so, the program's own: it uses the other ones' modules, whose names are longer.
    let depth = |at: usize| program.funcs[at].name.matches('.').count();
    let found = program.funcs.iter().position(exact).or_else(|| {
        let all: Vec<usize> = (0..program.funcs.len()).filter(|at| last(&program.funcs[*at])).collect();
        let least = all.iter().map(|at| depth(*at)).min()?;
        let mut own = all.into_iter().filter(|at| depth(*at) == least);
        own.next().filter(|_| own.next().is_none())
    });
    let at = found.ok_or_else(|| unknown(&program, "function", wanted))?;
    for (n, f) in program.funcs.iter_mut().enumerate() {
        let name = f.export.take().unwrap_or_else(|| format!("santoku_{}", f.name.replace(|c: char| !c.is_ascii_alphanumeric(), "_")));
        f.export = (n == at).then_some(name);
    }
    Ok(program)
}

fn unknown(program: &Program, what: &'static str, name: &str) -> BenchError {
    let known = program.funcs.iter().filter(|f| f.lens.is_empty() || f.export.is_some()).map(|f| f.name.clone()).collect();
    BenchError::Unknown { what, name: name.into(), known }
}

/// Compiles the functions of a checked program, chooses inputs and lets the interpreter say what they give.
///
/// # Errors
/// Those of passes and back end; `Lab`: a type that is not called here, or no inputs were found that a function takes.
pub fn prepare(checked: &Checked, function: Option<&str>, wish: &Wish) -> Result<Prepared, BenchError> {
    let source = exporting(&checked.program, function)?;
    let (emitted, text) = exported_c(&source, checked, UNIT)?;
    let arguments = || emitted.exported.iter().flat_map(|e| e.arguments.iter().filter(|a| a.role == Role::Value).map(|a| a.name.clone()));
    if let Some(name) = wish.inputs.keys().find(|name| arguments().all(|a| a != **name)) {
        let known: BTreeSet<String> = arguments().collect();
        return Err(BenchError::Unknown { what: "argument", name: name.clone(), known: known.into_iter().collect() });
    }
    let mut asked = vec![];
    for e in &emitted.exported {
        asked.push(ask(&source, e, wish)?);
    }
    Ok(Prepared { text, asked, program: source, target: checked.target.clone(), exported: emitted.exported })
}

/// What the back end makes of the exported functions of a program, and its C as one file.
///
/// # Errors
/// Those of passes and back end.
pub(crate) fn exported_c(program: &Program, checked: &Checked, unit: &str) -> Result<(Emitted, String), BenchError> {
    let target = &checked.target;
    let done = optimised(program, target, crate::dist::LEVEL, &BTreeSet::new())?;
    let options = Options {
        widest: target.widest,
        products: santoku_driver::products(target),
        provenance: unit.into(),
        export: true,
        lanes: santoku_driver::lanes(checked, &BTreeSet::new())?,
        ..Options::new(unit, widest_secret_product(&done.program))
    };
    let emitted = santoku_backend_c::emit(&done.program, &options)?;
    let text = one_file(unit, &emitted)?;
    Ok((emitted, text))
}

fn ask(program: &Program, exported: &Exported, wish: &Wish) -> Result<Asked, BenchError> {
    let lab = |reason: String| BenchError::lab(&exported.name, reason);
    let function = compiled(exported).map_err(lab)?;
    let mut random = SplitMix64::new(exported.name.bytes().fold(0x5a17, |h, b| (h ^ u64::from(b)).wrapping_mul(0x100_0000_01b3)));
    let mut last = String::new();
    for attempt in 0..TRIES {
        let mut case = Case { id: exported.name.clone(), function: exported.name.clone(), ..Case::default() };
        for a in exported.arguments.iter().filter(|a| a.role == Role::Value) {
            let given = wish.inputs.get(&a.name).cloned();
            let number = a.number.map_or(1, |n| n.bytes);
            if given.as_ref().is_some_and(|g| if matches!(a.ty, Ty::Array { .. }) { g.len() % number != 0 } else { g.len() != number }) {
                return Err(lab(format!("`{}` is of numbers of {number} bytes: `--input` gives all bytes of each", a.name)));
            }
            case.inputs.insert(a.name.clone(), given.unwrap_or_else(|| bytes(a, wish.length, attempt, &mut random)));
        }
        match interpreted(program, std::slice::from_ref(&function), std::slice::from_ref(exported), &mut case) {
            Ok(()) => {
                let operation = Operation { name: exported.name.clone(), bytes: processed(&function, &case) };
                return Ok(Asked { function, case, operation });
            }
            Err(BenchError::Declaration { reason, .. }) => last = reason,
            Err(other) => return Err(other),
        }
    }
    Err(lab(format!("no inputs were found in {TRIES} tries that it takes; the last: {last}. Give some with `--input NAME=HEX`")))
}

/// Random bytes of an argument: of its whole range at first, then ever smaller numbers, which more contracts take.
fn bytes(a: &Argument, length: u32, attempt: u64, random: &mut SplitMix64) -> Vec<u8> {
    let mut all = vec![];
    fill(&a.ty, a.number.map_or(1, |n| n.bytes), (length, attempt), random, &mut all);
    all
}

fn fill(ty: &Ty, size: usize, (length, attempt): (u32, u64), random: &mut SplitMix64, out: &mut Vec<u8>) {
    match ty {
        Ty::Array { elem, len, ranges } => {
            let n = match len {
                Len::Const(n) => *n as i64,
                Len::Param { add, .. } => i64::from(length) + add,
            };
            for k in 0..n.max(0) as usize {
                let own = ranges.as_ref().and_then(|r| r.get(k)).map(|r| Ty::Int(Some(r.clone())));
                fill(own.as_ref().unwrap_or(elem), size, (length, attempt), random, out);
            }
        }
        Ty::Int(Some(r)) => {
            let (lo, span) = (r.lo.to_big(), r.count().to_big());
            let any: BigInt = (BigInt::from(random.next_u64()) << 64u32) + random.next_u64();
            let v = Int::from((any.mod_floor(&span) + lo) >> (attempt * span.bits() / TRIES)).clamp(r.lo.clone(), r.hi.clone());
            out.extend(&v.low_bits(u128::MAX).to_le_bytes()[..size]);
        }
        scalar => {
            let bits = if let Ty::Word(bits) = scalar { *bits } else { 1 };
            let kept = u64::from(bits).saturating_sub(attempt * u64::from(bits) / TRIES) as u32;
            let word = (u128::from(random.next_u64()) << 64 | u128::from(random.next_u64())) & (u128::MAX >> (128 - kept.clamp(1, 128)));
            out.extend(&word.to_le_bytes()[..size]);
        }
    }
}

/// Bytes that a call processes, where a length says so: those of the longest array that has one.
fn processed(f: &Function, case: &Case) -> usize {
    let long = f.arguments.iter().filter(|a| a.role == ArgumentRole::Input && a.bytes.as_ref().is_some_and(|b| b.of.is_some()));
    long.filter_map(|a| case.inputs.get(&a.name).map(Vec::len)).max().unwrap_or(0)
}

/// Our build as the lab takes it.
pub fn subject(prepared: &Prepared, name: &str) -> Result<Subject, BenchError> {
    let calls = prepared.asked.iter().map(|a| a.case.call(std::slice::from_ref(&a.function), prepared.target.byte_order)).collect::<Result<_, _>>()?;
    Ok(Subject::new(name, vec![Source::Text { name: format!("{UNIT}.c"), text: prepared.text.clone() }], calls))
}

/// The same functions in assembly of our own back end, for each level that it knows and the machine's compilers of C have; none where it does not know the machine.
///
/// # Errors
/// Those of passes and back end.
pub fn in_assembly(checked: Checked, prepared: &Prepared, c: &Subject, levels: Option<&[Level]>) -> Result<Vec<Subject>, BenchError> {
    let target = &prepared.target;
    if !santoku_driver::has_assembly(target) {
        return Ok(vec![]);
    }
    let wanted: BTreeSet<Level> = builds(target, levels).into_iter().map(|(_, level)| level).collect();
    let checked = Checked { program: prepared.program.clone(), ..checked };
    [Level::O2, Level::Os].into_iter().filter(|l| wanted.contains(l)).map(|level| {
        let options = BuildOptions { level, without: BTreeSet::new(), dump_after: None, unit: UNIT.into(), provenance: String::new(), keep_secrets: false };
        let text = santoku_driver::assembly(&build(&checked, &options, &|| 0)?, target, &checked.sources, &Lowering::of(level))?;
        Ok(Subject { sources: vec![Source::Text { name: format!("{UNIT}.s"), text }], level, ..c.clone() })
    }).collect()
}

/// Whether a subject is of our own back end.
pub fn is_own(subject: &Subject) -> bool {
    matches!(subject.sources.first(), Some(Source::Text { name, .. }) if name.ends_with(".s"))
}

/// A C file in the place of our build: its function is called as ours is.
///
/// # Errors
/// `Lab`: ours has several functions.
pub fn c_subject(prepared: &Prepared, name: &str, path: &std::path::Path, function: &str) -> Result<Subject, BenchError> {
    let ours = subject(prepared, name)?;
    let [call] = &ours.calls[..] else { return Err(BenchError::lab(name, "name the one function that it is compared with: `FILE.stk::function`")) };
    let declaration = call.declaration.replacen(&format!("{}(", call.function), &format!("{function}("), 1);
    let call = santoku_lab::harness::Call { declaration, function: function.into(), ..call.clone() };
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(std::path::Path::new("."));
    Ok(Subject { sources: vec![Source::File(path.into())], include_dirs: vec![folder.into()], calls: vec![call], ..ours })
}

/// Targets of the machines that measure, one each: name of the machine, target.
///
/// # Errors
/// `Declaration`: a description is wrong; `Unknown`: a machine that does not measure.
pub fn machines(wanted: &[String]) -> Result<Vec<(String, String)>, BenchError> {
    let mut all: Vec<(String, String)> = vec![];
    for name in santoku_target::machine_names() {
        let target = santoku_lab::cross::machine(name).map_err(|e| BenchError::Declaration { path: name.into(), reason: e.to_string() })?;
        let machine = target.run.as_ref().map(|r| r.machine.clone()).unwrap_or_default();
        if bench::measures(&target) && all.iter().all(|(m, _)| *m != machine) {
            all.push((machine, name.to_string()));
        }
    }
    if let Some(name) = wanted.iter().find(|w| all.iter().all(|(m, _)| m != *w)) {
        return Err(BenchError::Unknown { what: "machine that measures", name: name.clone(), known: all.into_iter().map(|(m, _)| m).collect() });
    }
    Ok(all.into_iter().filter(|(m, _)| wanted.is_empty() || wanted.contains(m)).collect())
}
