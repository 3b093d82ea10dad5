//! The matrix certified: every program of the library, by every compiler at every level, compared with its source.
//!
//! Needs: compilers, a store for proofs.  Keeps: every cell is compiled and compared in this run or found by the content of
//! its code; a run of no cells is refused.  Absent on purpose: how tables look on a terminal beyond plain text.

use crate::matrix::{compile, compiler_version, configs, Config, Level};
use crate::matrix_units::{all_units, make_shipped, Made, Unit};
use crate::primitives::Tree;
use crate::text::table;
use crate::BenchError;
use santoku_certify::manifest::Origin;
use santoku_certify::leak::Evidence;
use santoku_certify::report::{FileReport, FunctionReport, Residue, Status};
use santoku_certify::{certify, symbols, isa_of, program_hash, Options, World, ENGINE_VERSION};
use santoku_num::hex;
use santoku_driver::{timing, Store};
use santoku_lab::record::Stamp;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::PathBuf;

/// Which part of the matrix.
#[derive(Clone, Debug, Default)]
pub struct Wish {
    /// A primitive (`nacl.sign`) or a unit (`nacl.sign@rv32`).
    pub name: Option<String>,
    /// Kind of compiler: `gcc`, `clang`.
    pub compiler: Option<String>,
    /// Empty: all.
    pub levels: Vec<Level>,
    pub march: Option<String>,
    pub threads: usize,
    /// Only objects that the list of what is certified has.
    pub listed: Option<BTreeSet<(String, String, Vec<String>)>>,
    /// Judge objects anew that were judged before; proofs of single functions are still looked up.
    pub again: bool,
}

/// One object.
#[derive(Clone, Debug)]
pub struct Cell {
    pub unit: Unit,
    pub config: Config,
    /// Name and version, as the compiler says it.
    pub compiler: String,
    pub report: FileReport,
    /// SHA-256 of the C that was compiled.
    pub text: String,
    /// Wall time of the comparison.
    pub micros: u64,
}

/// What the work needs from outside.
pub struct Outside<'a> {
    pub store: &'a dyn Store,
    pub clock: &'a (dyn Fn() -> u64 + Sync),
    pub tell: &'a (dyn Fn(&str) + Sync),
    /// Told of every object as soon as it is judged: runs are long.
    pub judged: &'a dyn Fn(&Cell),
}

/// Certifies the part of the matrix that is wished for.
///
/// # Errors
/// `Unknown`: nothing is wished for; those of the compilers.
pub fn run(tree: &Tree, wish: &Wish, outside: &Outside) -> Result<Vec<Cell>, BenchError> {
    let all = all_units(tree)?;
    let named = |u: &&Unit| wish.name.as_ref().is_none_or(|n| u.primitive.name == *n || u.name == *n);
    let chosen: Vec<&Unit> = all.iter().filter(named).collect();
    if let (true, Some(name)) = (chosen.is_empty(), &wish.name) {
        return Err(BenchError::Unknown { what: "program", name: name.clone(), known: all.into_iter().map(|u| u.name).collect() });
    }
    let wanted = configs()?;
    let folder = tempfile::tempdir().map_err(|e| BenchError::io(std::env::temp_dir(), &e))?;
    let mut versions: BTreeMap<String, String> = BTreeMap::new();
    let mut cells = vec![];
    for unit in chosen {
        let own: Vec<Config> = unit.ways(&wanted).into_iter().filter(|c| wish.wants(c) && wish.lists(unit, c)).collect();
        if own.is_empty() {
            continue;
        }
        (outside.tell)(&unit.name);
        let made = make_shipped(tree, unit)?;
        for config in &own {
            if !versions.contains_key(&config.compiler.name) {
                versions.insert(config.compiler.name.clone(), compiler_version(config)?);
            }
            (outside.tell)(&format!("{} {}", unit.name, config.name()));
            let object = compile(config, &made.source, &folder.path().join(&unit.name))?;
            let compiler = versions.get(&config.compiler.name).cloned().unwrap_or_default();
            let cell = cell(tree, unit, (config, compiler), &made, &object, (wish, outside))?;
            (outside.judged)(&cell);
            cells.push(cell);
        }
    }
    if cells.is_empty() {
        let known = configs()?.iter().map(Config::name).collect();
        return Err(BenchError::Unknown { what: "object", name: "with all of these options".into(), known });
    }
    Ok(cells)
}

/// Judges one object, or finds what was said of it before.
///
/// # Errors
/// `Internal`: what the compiler made cannot be read; those of the unit's target.
pub fn cell(
    tree: &Tree,
    unit: &Unit,
    (config, compiler): (&Config, String),
    made: &Made,
    object: &[u8],
    (wish, outside): (&Wish, &Outside),
) -> Result<Cell, BenchError> {
    let bad = |reason: String| BenchError::Internal { stage: "certify".into(), reason: format!("{} {}: {reason}", unit.name, config.name()) };
    let image = santoku_elf::load(object).map_err(|e| bad(e.to_string()))?;
    let isa = isa_of(&config.march).ok_or_else(|| bad("no model of the instruction set".into()))?;
    let symbols = symbols(&image, &made.program, &made.names);
    let target = unit.target(tree)?;
    let secret_mul_leaks = !timing(&target).variable_time.is_empty();
    let options = Options { secret_mul_leaks, ckb_vm: target.ckb_vm(), only: None, threads: wish.threads.max(1) };
    let what = format!("{} {}", unit.name, config.name());
    let world = World {
        store: outside.store,
        clock: outside.clock,
        tell: &|done, known, symbol| (outside.tell)(&format!("{what}: {done} of {known}, {symbol}")),
    };
    let key = key(made, config, object, &options);
    let text = hex(&Sha256::digest(&made.source));
    let whole = |report, micros| Cell { unit: unit.clone(), config: config.clone(), compiler, report, text, micros };
    if let Some(kept) = recall(outside.store, &key).filter(|_| !wish.again) {
        return Ok(whole(kept.report, kept.micros));
    }
    let start = (outside.clock)();
    let report = certify(&image, isa, &made.program, symbols, &options, &world);
    let micros = (outside.clock)().saturating_sub(start);
    // Runs are long: one that was broken off goes on here.
    let kept = Kept { key, report, micros };
    if let Ok(text) = serde_json::to_string(&kept) {
        outside.store.put(&kept.key, &text);
    }
    Ok(whole(kept.report, kept.micros))
}

/// A judged object as it is kept, failures too: the same engine would say the same again.
#[derive(Serialize, Deserialize)]
struct Kept {
    /// Guards against a text under the wrong key.
    key: String,
    report: FileReport,
    micros: u64,
}

/// Everything the report of an object depends on.
fn key(made: &Made, config: &Config, object: &[u8], options: &Options) -> String {
    let mut text = Sha256::new();
    text.update(format!("object {ENGINE_VERSION} {} {} {} {}", program_hash(&made.program), config.march, options.secret_mul_leaks, options.ckb_vm));
    text.update(format!("{:?}", made.names));
    text.update(object);
    hex(&text.finalize())
}

fn recall(store: &dyn Store, key: &str) -> Option<Kept> {
    serde_json::from_str(&store.get(key)?).ok().filter(|kept: &Kept| kept.key == key)
}

impl Wish {
    fn lists(&self, unit: &Unit, c: &Config) -> bool {
        let own = (unit.name.clone(), c.march.to_string(), c.arguments());
        self.listed.as_ref().is_none_or(|all| all.contains(&own))
    }

    fn wants(&self, c: &Config) -> bool {
        self.compiler.as_ref().is_none_or(|x| *x == c.compiler.family)
            && (self.levels.is_empty() || self.levels.contains(&c.level))
            && self.march.as_ref().is_none_or(|m| *m == c.march)
    }
}

impl Cell {
    /// Target, and implementations chosen beside it, as in the unit's name.
    pub(crate) fn target(&self) -> String {
        self.unit.name.split_once('@').map_or(self.unit.target.as_str(), |(_, t)| t).to_string()
    }

    pub(crate) fn origin(&self) -> Origin {
        Origin {
            primitive: self.unit.primitive.name.clone(),
            target: self.target(),
            march: self.config.march.to_string(),
            xlen: self.config.xlen,
            compiler: self.compiler.clone(),
            flags: self.config.arguments(),
        }
    }
}

impl std::fmt::Display for Cell {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let t = &self.report.totals;
        write!(f, "{} {}: {} of {} proved, {:.1} s", self.unit.name, self.config.name(), t.proved, t.functions, self.micros as f64 / 1e6)
    }
}

/// Whether every function of every cell is proved.
pub fn holds(cells: &[Cell]) -> bool {
    !cells.is_empty() && cells.iter().all(|c| c.report.holds())
}

/// No code was found wrong: nothing is refuted, and no two inputs show a leak. Functions may be open, what is not shown to keep a
/// rule is open, and a static function may have another convention than the source's.
pub fn faultless(cells: &[Cell]) -> bool {
    let fault = |f: &FunctionReport| match &f.status {
        // Of a static function it is said only where something that others can call was seen to be wrong.
        Status::Refuted(_) => true,
        Status::Leak { .. } => true,
        _ => false,
    };
    !cells.is_empty() && cells.iter().all(|c| !c.report.open().any(fault))
}

/// Proved and all functions, a row a program and architecture, a column a compiler and level; then the reasons of the rest.
pub fn text(cells: &[Cell]) -> String {
    let columns: BTreeSet<(Reverse<&str>, Level)> = cells.iter().map(|c| (Reverse(c.config.compiler.family.as_str()), c.config.level)).collect();
    let mut rows: Vec<(&str, &str)> = vec![];
    for c in cells {
        let key = (c.unit.name.as_str(), c.config.march.as_str());
        if !rows.contains(&key) {
            rows.push(key);
        }
    }
    let mut header = vec!["program".to_string(), "architecture".to_string()];
    header.extend(columns.iter().map(|(c, l)| format!("{} {}", c.0, l.name())));
    let line = |(unit, march): &(&str, &str)| {
        let at = |(c, l): &(Reverse<&str>, Level)| {
            let found = cells.iter().find(|x| (x.unit.name.as_str(), x.config.march.as_str(), x.config.compiler.family.as_str(), x.config.level) == (*unit, *march, c.0, *l));
            found.map_or("-".to_string(), |x| format!("{}/{}", x.report.totals.proved, x.report.totals.functions))
        };
        [unit.to_string(), march.to_string()].into_iter().chain(columns.iter().map(at)).collect()
    };
    let header: Vec<&str> = header.iter().map(String::as_str).collect();
    let mut text = table(&header, 2, rows.iter().map(line).collect());
    for c in cells {
        for f in c.report.open() {
            let reason: String = f.status.reason().unwrap_or_default().chars().take(REASON_CHARS).collect();
            text += &format!("{} {}: {}: {}: {reason}\n", c.unit.name, c.config.name(), f.symbol, f.status.word());
        }
    }
    for c in cells {
        for (r, reason) in c.report.residues.iter().filter_map(|r| Some((r, r.reason()?))) {
            text += &format!("{} {}: {}: {reason}\n", c.unit.name, c.config.name(), r.symbol);
        }
    }
    let residues = || cells.iter().flat_map(|c| &c.report.residues);
    let clean = residues().filter(|r| r.is_clean()).count();
    let deepest = residues().map(|r| r.overwritten).max().unwrap_or(0);
    text += &format!("{clean} of {} functions that get secrets leave none behind; at most {deepest} bytes of stack held some\n", residues().count());
    let sum = |f: fn(&Cell) -> u64| cells.iter().map(f).sum::<u64>();
    let (proved, all) = (sum(|c| c.report.totals.proved as u64), sum(|c| c.report.totals.functions as u64));
    let (judged, equal) = (sum(|c| c.report.totals.judged as u64), sum(|c| c.report.totals.equal as u64));
    text + &format!("the judge of bytes accepts {judged} of {equal}\n") + &format!("{proved} of {all} functions proved in {} objects, {:.1} s\n", cells.len(), sum(|c| c.micros) as f64 / 1e6)
}

/// Of a reason in a table; records have all of it.
const REASON_CHARS: usize = 240;

/// A record: what was run when, a row an object.
#[derive(Serialize)]
struct RunRecord<'a> {
    what: &'a str,
    date: &'a str,
    commit: &'a str,
    engine: &'a str,
    rows: Vec<RowRecord<'a>>,
}

#[derive(Serialize)]
struct RowRecord<'a> {
    unit: &'a str,
    march: &'a str,
    compiler: &'a str,
    level: &'a str,
    flags: Vec<String>,
    functions: usize,
    proved: usize,
    /// Of those, proved on their own.
    equal: usize,
    /// Functions by the word of their verdict.
    verdicts: &'a BTreeMap<String, usize>,
    /// Comparisons that held with a result in the place of a parameter.
    shared: usize,
    instructions: u64,
    compared: usize,
    bytes: u64,
    /// Comparisons found in the store.
    cached: usize,
    micros: u64,
    slowest: Option<Slowest<'a>>,
    open: Vec<OpenRecord<'a>>,
    /// What functions that get secrets leave behind.
    residues: &'a [Residue],
}

#[derive(Serialize)]
struct Slowest<'a> {
    symbol: &'a str,
    micros: u64,
}

#[derive(Serialize)]
struct OpenRecord<'a> {
    symbol: &'a str,
    function: &'a str,
    verdict: &'a str,
    reason: String,
    /// Two inputs that show a leak.
    #[serde(skip_serializing_if = "Option::is_none")]
    evidence: Option<&'a Evidence>,
}

/// A row an object, as records have them.
pub fn rows(cells: &[Cell]) -> impl Serialize + '_ {
    cells.iter().map(RowRecord::of).collect::<Vec<_>>()
}

impl<'a> RowRecord<'a> {
    fn of(c: &'a Cell) -> RowRecord<'a> {
        let t = &c.report.totals;
        let slowest = c.report.functions.iter().max_by_key(|f| f.work.micros);
        let open = |f: &'a FunctionReport| OpenRecord {
            symbol: &f.symbol,
            function: f.function.as_deref().unwrap_or_default(),
            verdict: f.status.word(),
            reason: f.status.reason().unwrap_or_default(),
            evidence: match &f.status {
                Status::Leak { evidence, .. } => Some(evidence),
                _ => None,
            },
        };
        RowRecord {
            unit: &c.unit.name,
            march: &c.config.march,
            compiler: &c.compiler,
            level: c.config.level.name(),
            flags: c.config.arguments(),
            functions: t.functions,
            proved: t.proved,
            equal: t.equal,
            verdicts: &t.verdicts,
            shared: t.shared,
            instructions: t.instructions,
            compared: t.compared,
            bytes: t.bytes,
            cached: t.cached,
            micros: c.micros,
            slowest: slowest.map(|f| Slowest { symbol: &f.symbol, micros: f.work.micros }),
            open: c.report.open().map(open).collect(),
            residues: &c.report.residues,
        }
    }
}

/// Writes a record for every primitive, `lab/runs/<date>-certify.<primitive>.json`; a second one of a day gets a number. Gives
/// the paths, from the root of the tree.
///
/// # Errors
/// `Io`, `Lab`: a file cannot be written, or the day has too many.
pub fn write_records(tree: &Tree, cells: &[Cell], stamp: &Stamp) -> Result<Vec<PathBuf>, BenchError> {
    let names: BTreeSet<&str> = cells.iter().map(|c| c.unit.primitive.name.as_str()).collect();
    let mut written = vec![];
    for name in names {
        let own: Vec<&Cell> = cells.iter().filter(|c| c.unit.primitive.name == name).collect();
        let what = format!("certify.{name}");
        let engine = own.first().map_or("", |c| c.report.engine.as_str());
        let rows = own.into_iter().map(RowRecord::of).collect();
        let run = RunRecord { what: &what, date: &stamp.date, commit: &stamp.commit, engine, rows };
        let text = serde_json::to_string_pretty(&run).map_err(|e| BenchError::lab(&what, e))? + "\n";
        written.push(new_file(tree, &format!("{}-{what}", stamp.date), &text)?);
    }
    Ok(written)
}

/// Records are never overwritten.
pub(crate) fn new_file(tree: &Tree, name: &str, text: &str) -> Result<PathBuf, BenchError> {
    let folder = PathBuf::from("lab/runs");
    let full = tree.root.join(&folder);
    std::fs::create_dir_all(&full).map_err(|e| BenchError::io(&full, &e))?;
    for n in 1..1000 {
        let file = if n == 1 { format!("{name}.json") } else { format!("{name}-{n}.json") };
        let path = full.join(&file);
        match std::fs::File::create_new(&path) {
            Ok(mut f) => {
                f.write_all(text.as_bytes()).map_err(|e| BenchError::io(&path, &e))?;
                return Ok(folder.join(file));
            }
            Err(e) if e.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(e) => return Err(BenchError::io(&path, &e)),
        }
    }
    Err(BenchError::lab(name, "it was recorded too often"))
}
