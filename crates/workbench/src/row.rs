//! A row of `lib/primitives.toml`: all that is said of one primitive. What each field means: `docs/primitives.md`.

use crate::interface_row::{FunctionRow, NamesRow};
use santoku_target::Level;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path};

/// A primitive.
#[derive(Clone, Debug, Default, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Primitive {
    /// Dotted name, family first.
    pub name: String,
    pub title: String,
    /// Source file, from the root of the tree.
    pub entry: String,
    /// Stem of the generated C files.
    pub unit: String,
    /// Hand-written C over the exported functions.
    #[serde(default, deserialize_with = "one")]
    pub api_source: Vec<String>,
    #[serde(default, deserialize_with = "one")]
    pub api_header: Vec<String>,
    /// C that programs which are run need besides.
    pub support: Option<String>,
    /// Targets in the generated file: the last one is the fallback, earlier ones need 128-bit integers.
    pub targets: Vec<String>,
    /// Bytes of stack that its functions use, by the width of the target's registers: so many are cleared when they return.
    #[serde(default)]
    pub stack: StackRows,
    /// By target, bytes of stack that functions of the program use on RISC-V with compilers that optimise, and the C that calls them, where no `stack`
    /// is given: `santoku lab certify` tells them, and whether they are enough.
    #[serde(default)]
    pub measured_stack: BTreeMap<String, BTreeMap<String, u32>>,
    /// What arguments stand for, by their names, in all functions.
    #[serde(default)]
    pub encodings: BTreeMap<String, String>,
    /// Values of arguments that tests try often, by name.
    #[serde(default)]
    pub edges: BTreeMap<String, Vec<String>>,
    /// Kept in `dist/`, with its objects certified. A new primitive is built and tested on every target before that.
    #[serde(default = "yes")]
    pub ship: bool,
    /// Primitives whose functions, names and code by hand this one has, too: its program exports what theirs do.
    #[serde(default, rename = "with")]
    pub parts: Vec<String>,
    /// The interface, where it is not what the program exports.
    #[serde(default, rename = "function")]
    pub functions: Vec<FunctionRow>,
    /// Other names of these functions.
    #[serde(default)]
    pub names: Vec<NamesRow>,
    #[serde(default, rename = "workload")]
    pub workloads: Vec<Workload>,
    /// Calls of the program's own functions, where C written by hand stands before them: what its assembly is searched by.
    #[serde(default, rename = "bare")]
    pub bare: Vec<Workload>,
    #[serde(default, rename = "table")]
    pub tables: Vec<TableRow>,
    #[serde(default, rename = "ladder")]
    pub ladders: Vec<Ladder>,
    /// The smallest form, which its C has, too.
    pub small: Option<SmallRow>,
    #[serde(default, rename = "assembly")]
    pub assemblies: Vec<AssemblyRow>,
    #[serde(default, rename = "rival")]
    pub rivals: Vec<Rival>,
    #[serde(default, rename = "also")]
    pub also: Vec<Also>,
    /// Functions of its C that are proved in a moment: their machine code is changed, and the changes must be found.
    #[serde(default)]
    pub mutants: Vec<String>,
    #[serde(default)]
    pub published: Vec<Published>,
    #[serde(default)]
    pub series: Vec<Step>,
}

fn yes() -> bool {
    true
}

/// A path, of which there may be several where primitives are put together.
fn one<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    Ok(vec![String::deserialize(from)?])
}

/// Bytes of stack, at most, of everything that a function of the header calls.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct StackRows {
    pub bits32: Option<StackRow>,
    pub bits64: Option<StackRow>,
}

impl StackRows {
    /// For registers of so many bits.
    pub fn of(&self, bits: u32) -> Option<StackRow> {
        if bits == 64 { self.bits64 } else { self.bits32 }
    }
}

#[derive(Clone, Copy, Debug, Deserialize, Serialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct StackRow {
    /// By compilers that optimise.
    pub optimised: u32,
    /// By others.
    pub plain: u32,
}

/// A call that is measured.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Workload {
    pub operation: String,
    /// Name in records; none: primitive and operation.
    pub program: Option<String>,
    pub function: String,
    #[serde(default)]
    pub inputs: BTreeMap<String, Bytes>,
    /// Inputs that are what an operation before leaves: `box.c`.
    #[serde(default)]
    pub from: BTreeMap<String, String>,
    /// What it must leave, by the names of results. None: what the interpreter makes of the source.
    #[serde(default)]
    pub results: BTreeMap<String, Bytes>,
    /// What it must return.
    pub returns: Option<i64>,
    /// Bytes that it processes, for cycles per byte.
    #[serde(default)]
    pub bytes: usize,
}

/// Bytes, in pieces.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(untagged)]
pub enum Bytes {
    One(Piece),
    Many(Vec<Piece>),
}

#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(untagged)]
pub enum Piece {
    /// Hexadecimal digits.
    Hex(String),
    /// `start`, `start + step`, ... modulo 256.
    Run {
        bytes: usize,
        start: u8,
        step: u8,
    },
}

impl Bytes {
    /// The bytes; `None`: digits that are not hexadecimal.
    pub fn get(&self) -> Option<Vec<u8>> {
        let one = |p: &Piece| match p {
            Piece::Hex(text) => santoku_num::from_hex(text),
            Piece::Run { bytes, start, step } => Some((0..*bytes).map(|k| start.wrapping_add(step.wrapping_mul(k as u8))).collect::<Vec<u8>>()),
        };
        match self {
            Bytes::One(piece) => one(piece),
            Bytes::Many(pieces) => pieces.iter().map(one).collect::<Option<Vec<_>>>().map(|p| p.concat()),
        }
    }
}

/// A table of figures: a machine, and our builds on it.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct TableRow {
    /// As descriptions of targets name it.
    pub machine: String,
    pub targets: Vec<String>,
    /// Our passes run at the level of the C compiler, and rivals are compiled at each; otherwise at the level files are shipped at, and at theirs.
    #[serde(default)]
    pub passes_at_level: bool,
    /// Workload that is run on all vectors of its function, for the spread of cycles.
    pub vectors: Option<String>,
    /// Rival that others are compared with.
    pub reference: Option<String>,
    /// A line for each operation, with all machines side by side, of one build of each implementation.
    #[serde(default)]
    pub by_operation: bool,
}

/// A series of builds on one machine, each with one thing more.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Ladder {
    pub name: String,
    pub machine: String,
    /// The workload whose cycles it is about.
    pub operation: String,
    #[serde(rename = "rung")]
    pub rungs: Vec<Rung>,
    /// Another series, quoted.
    #[serde(default)]
    pub published: Vec<Quoted>,
    /// Whose that is.
    #[serde(default)]
    pub source: String,
}

#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Rung {
    pub label: String,
    /// A target, or choices for one.
    pub target: String,
    /// Interface and variant, before the target's choices.
    #[serde(default)]
    pub choices: Vec<(String, String)>,
    /// C by this compiler; none: assembly of our own back end.
    pub compiler: Option<String>,
    /// Level of the C compiler.
    #[serde(default = "optimised")]
    pub level: Level,
    /// Instruction set, if not that of the target's runs.
    pub isa: Option<String>,
    /// The back end does not know the groups that the machine executes as one.
    #[serde(default)]
    pub ungrouped: bool,
    /// With the orders that a search found for the target.
    #[serde(default)]
    pub searched: bool,
    /// As in [`AssemblyRow`].
    pub inline: Option<usize>,
}

#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Quoted {
    pub label: String,
    /// Millions: 10^6.
    pub mcycles: f64,
}

/// Assembly of our own back end: measured on the machine of its target, and kept in `dist/riscv/<target>/`.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct AssemblyRow {
    /// A target, or choices for one.
    pub target: String,
    #[serde(default = "optimised")]
    pub level: Level,
    /// Functions of up to so many instructions are put where they are called; none: as the back end does of itself.
    pub inline: Option<usize>,
}

/// The smallest form of a primitive's C, which `-DSANTOKU_SMALL` selects.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct SmallRow {
    /// A target, or choices for one.
    pub target: String,
    #[serde(default = "small")]
    pub level: Level,
}

fn small() -> Level {
    Level::Os
}

fn optimised() -> Level {
    Level::O2
}

/// Another implementation, `peers/<name>/`.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Rival {
    pub name: String,
    /// The folder of `peers/` that describes it; none: that of its name.
    pub peer: Option<String>,
    /// Machines that it is measured on.
    pub machines: Vec<String>,
    /// Level that it is compiled at where a table does not say.
    pub level: Level,
    /// C beside its description that defines our functions by its own; none: it has them, perhaps by other names.
    pub adapter: Option<String>,
    /// Function of the adapter that is called once before anything else.
    pub setup: Option<String>,
    /// Its names of our functions, where they differ.
    #[serde(default)]
    pub functions: BTreeMap<String, String>,
    /// It has the interface itself, so that every function can be called beside ours.
    #[serde(default)]
    pub interface: bool,
    /// They have the names of TweetNaCl's objects.
    #[serde(default)]
    pub tweetnacl_names: bool,
    /// Functions that it does not have.
    #[serde(default)]
    pub lacks: Vec<String>,
    /// Functions whose results must not lie where arguments lie.
    #[serde(default)]
    pub apart: Vec<String>,
    /// Arguments whose edge values it refuses.
    #[serde(default)]
    pub refuses: Vec<String>,
}

impl Rival {
    /// The folder of `peers/` that describes it.
    pub fn peer(&self) -> &str {
        self.peer.as_deref().unwrap_or(&self.name)
    }
}

/// A program that is certified beside the shipped ones.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Also {
    pub target: String,
    /// Interface and variant, before the target's choices.
    #[serde(default)]
    pub choices: Vec<(String, String)>,
}

/// Figures that others published of an operation, quoted beside ours and never mixed with what is measured here.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Published {
    pub machine: String,
    pub operation: String,
    /// Whose.
    pub variant: String,
    /// On what.
    pub source: String,
    pub rows: Vec<PublishedRow>,
}

#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct PublishedRow {
    pub level: Level,
    pub core_mcycles: Option<f64>,
    pub board_mcycles: Option<f64>,
    pub stack_bytes: Option<u64>,
    pub size_bytes: Option<u64>,
}

/// A step of an ablation: passes that are switched on.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Step {
    pub label: String,
    pub adds: Vec<String>,
    /// Without compressed instructions.
    #[serde(default)]
    pub plain_code: bool,
    pub published: Option<PublishedStep>,
}

/// The step of a published series that does the like.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct PublishedStep {
    pub tag: String,
    pub board_mcycles: BTreeMap<Level, f64>,
}

/// A cipher, written for one block and sliced by layouts.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Cipher {
    pub name: String,
    pub title: String,
    pub entry: String,
    /// C name of the function of one block.
    pub function: String,
    pub schedule: Option<Schedule>,
    pub message_bytes: usize,
    /// Copies tried with bitslicing.
    pub bitslice_copies: Vec<u32>,
    /// Target that its plain code is certified for.
    pub target: String,
    /// Adapters of other implementations, by the names of these.
    #[serde(default)]
    pub rivals: BTreeMap<String, String>,
}

/// A key schedule.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Schedule {
    pub function: String,
    /// Parameter of the block function that takes its result.
    pub parameter: String,
    pub key_bytes: usize,
}

/// Lower-case words.
fn word(s: &str, more: &str) -> bool {
    !s.is_empty() && s.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || more.contains(char::from(b)))
}

fn inside(s: &str) -> bool {
    !s.is_empty() && Path::new(s).components().all(|c| matches!(c, Component::Normal(_)))
}

fn twice<'s>(mut names: impl Iterator<Item = &'s String>) -> Option<&'s String> {
    let mut seen = BTreeSet::new();
    names.find(|n| !seen.insert(*n))
}

impl Primitive {
    /// The same for one target alone.
    pub fn only(&self, target: &str) -> Primitive {
        Primitive { targets: vec![target.to_string()], small: None, ..self.clone() }
    }

    /// C stands between callers and the functions of its program.
    pub fn has_interface(&self) -> bool {
        !self.functions.is_empty()
    }

    /// The program by itself, without its interface, and the calls of its own functions.
    pub fn by_itself(&self) -> Primitive {
        match self.has_interface() {
            false => self.clone(),
            true => {
                let bare = Primitive { api_source: vec![], api_header: vec![], functions: vec![], names: vec![], parts: vec![], ..self.clone() };
                Primitive { encodings: BTreeMap::new(), workloads: self.bare.clone(), ..bare }
            }
        }
    }

    /// Takes in what another one, a part of it, has of an interface.
    pub(crate) fn take_in(&mut self, part: &Primitive) {
        self.functions.extend(part.functions.iter().map(|f| FunctionRow { encodings: part.encodings.clone(), ..f.clone() }));
        self.names.extend(part.names.iter().cloned());
        self.workloads.extend(part.workloads.iter().cloned());
        self.edges.extend(part.edges.clone());
        self.api_source.extend(part.api_source.iter().cloned());
        self.api_header.extend(part.api_header.iter().cloned());
        if self.support.is_none() {
            self.support.clone_from(&part.support);
        }
    }

    /// Why the row describes nothing that can be made: names become those of files and folders, the title stands in a comment of C.
    pub(crate) fn wrong(&self) -> Option<String> {
        let files = [&self.entry].into_iter().chain(&self.api_source).chain(&self.api_header).chain(&self.support);
        if !word(&self.name, "._") || self.name.split('.').any(str::is_empty) {
            return Some("a name is lower-case words and digits, joined by dots".into());
        }
        if !word(&self.unit, "_") {
            return Some(format!("the unit {:?} is not of lower-case letters, digits and `_`", self.unit));
        }
        if self.title.trim().is_empty() || self.title.contains("*/") || self.title.chars().any(char::is_control) {
            return Some("the title is not one line that can stand in a comment of C".into());
        }
        if let Some(path) = files.into_iter().find(|f| !inside(f)) {
            return Some(format!("{path:?} is not a path below the root of the tree"));
        }
        if let Some(name) = twice(self.functions.iter().map(|f| &f.name)) {
            return Some(format!("two functions have the name {name:?}"));
        }
        if let Some(f) = self.functions.iter().find(|f| f.calls.is_empty()).filter(|_| self.api_source.is_empty()) {
            return Some(format!("the function {:?} has no `calls`, and there is no `api_source` that has it", f.name));
        }
        if self.targets.is_empty() || twice(self.targets.iter()).is_some() {
            return Some("`targets` names at least one target, and none twice".into());
        }
        if self.small.as_ref().is_some_and(|s| self.targets.contains(&s.target)) {
            return Some("`small` names a target that is not one of `targets`".into());
        }
        self.wrong_measures()
    }

    /// What is wrong with what is said of measuring.
    fn wrong_measures(&self) -> Option<String> {
        if let Some(name) = twice(self.workloads.iter().map(|w| &w.operation)) {
            return Some(format!("two workloads have the operation {name:?}"));
        }
        if let Some(name) = twice(self.bare.iter().map(|w| &w.operation)) {
            return Some(format!("two rows `bare` have the operation {name:?}"));
        }
        if let Some(name) = twice(self.tables.iter().map(|t| &t.machine)) {
            return Some(format!("two tables are of the machine {name:?}"));
        }
        for w in self.workloads.iter().chain(&self.bare) {
            if !word(&w.operation, "-") {
                return Some(format!("the operation {:?} is not of lower-case letters, digits and `-`", w.operation));
            }
            if let Some((name, _)) = w.inputs.iter().chain(&w.results).find(|(_, b)| b.get().is_none()) {
                return Some(format!("{}: {name}: not hexadecimal", w.operation));
            }
        }
        for t in &self.tables {
            if t.targets.is_empty() || self.workloads.is_empty() {
                return Some(format!("the table of {:?} has no target, or there is no workload", t.machine));
            }
            if let Some(name) = t.vectors.iter().find(|v| self.workloads.iter().all(|w| w.operation != **v)) {
                return Some(format!("the table of {:?} has no workload {name:?}", t.machine));
            }
            if let Some(name) = t.reference.iter().find(|r| self.rivals_on(&t.machine).all(|x| x.name != **r)) {
                return Some(format!("the table of {:?} has no rival {name:?}", t.machine));
            }
        }
        let files = self.rivals.iter().flat_map(|r| [Some(&r.name), r.peer.as_ref(), r.adapter.as_ref()]).flatten();
        files.into_iter().find(|f| !inside(f)).map(|path| format!("{path:?} is no name of a file"))
    }

    /// Rivals that a machine has.
    pub fn rivals_on<'p>(&'p self, machine: &'p str) -> impl Iterator<Item = &'p Rival> {
        self.rivals.iter().filter(move |r| r.machines.iter().any(|m| m == machine))
    }

    /// The table of a machine; none named: the first.
    pub fn table(&self, machine: Option<&str>) -> Option<&TableRow> {
        self.tables.iter().find(|t| machine.is_none_or(|m| m == t.machine))
    }
}

impl Cipher {
    pub(crate) fn wrong(&self) -> Option<String> {
        if !word(&self.name, "._") || !inside(&self.entry) || self.rivals.iter().any(|(n, a)| !inside(n) || !inside(a)) {
            return Some("a name or a path is not one".into());
        }
        (self.message_bytes == 0).then(|| "a message of no bytes".into())
    }

    /// As a primitive whose program exports its functions itself.
    pub fn plain(&self) -> Primitive {
        Primitive {
            name: self.name.clone(),
            title: self.title.clone(),
            entry: self.entry.clone(),
            unit: self.name.replace('.', "_"),
            targets: vec![self.target.clone()],
            ..Primitive::default()
        }
    }
}
