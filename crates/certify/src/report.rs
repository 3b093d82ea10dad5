//! What was found of a file, as data: for tables, for JSON, for manifests.
//!
//! Needs: nothing.  Keeps: the order of addresses; a report of no proved function never holds.  Absent: how things are shown.
//! Trusted: nothing: data for those who print.

use crate::leak::Evidence;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What was found of a whole file.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct FileReport {
    /// Version of the engine that judged.
    pub engine: String,
    /// SHA-256 of the program's core text: proofs against one program say nothing of another.
    pub program: String,
    /// Instruction set that was assumed, `rv32imc`, and `_zba_zbb_zbs` behind it.
    pub isa: String,
    /// A linked image, not an object.
    pub linked: bool,
    /// Functions of the file, by address.
    pub functions: Vec<FunctionReport>,
    /// Functions of the program that have no symbol in the file, in order of the program.
    pub without_symbol: Vec<WithoutSymbol>,
    pub totals: Totals,
    /// What is left behind by every function that other files can call and that handles secrets; none where one function was asked for.
    #[serde(default)]
    pub residues: Vec<Residue>,
    /// What the result rests on beside the proof.
    pub assumed: Vec<String>,
}

/// What a function leaves in the stack below its caller's frame and in the registers that callers save.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Residue {
    pub symbol: String,
    #[serde(flatten)]
    pub state: ResidueState,
    /// Bytes of stack that it and what it calls may write.
    pub deepest: u64,
    /// Bytes of them that were overwritten when they may have held a secret.
    pub overwritten: u64,
    /// Of the code by hand that runs in it; none where all of it has a source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by_hand: Option<ByHand>,
}

/// Whether branches, addresses and the operands of slow operations in code without a source may depend on secrets. Everything that is read
/// from memory other than the frame counts as secret, and so do arguments in registers that hold one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "time", rename_all = "snake_case")]
pub enum ByHand {
    ShowsNothing,
    /// This instruction may.
    Shows { place: String },
    NotFollowed { reason: String },
}

impl Residue {
    /// Nothing is left, and code by hand shows no secret in its time.
    pub fn is_clean(&self) -> bool {
        self.state == ResidueState::Nothing && self.by_hand.as_ref().is_none_or(|b| *b == ByHand::ShowsNothing)
    }

    /// Code by hand that may show a secret.
    pub fn shows(&self) -> bool {
        matches!(self.by_hand, Some(ByHand::Shows { .. }))
    }

    /// Why it is not clean.
    pub fn reason(&self) -> Option<String> {
        self.state.reason().or_else(|| match self.by_hand.as_ref()? {
            ByHand::ShowsNothing => None,
            ByHand::Shows { place } => Some(format!("code without a source may show a secret: {place}")),
            ByHand::NotFollowed { reason } => Some(format!("code without a source is not followed: {reason}")),
        })
    }
}

impl ResidueState {
    /// Why it is not shown that nothing is left; `None` where it is.
    pub fn reason(&self) -> Option<String> {
        match self {
            ResidueState::Nothing => None,
            ResidueState::Remains { place } => Some(format!("may leave a secret: {place}")),
            ResidueState::NotFollowed { reason } => Some(format!("not shown to leave no secret: {reason}")),
        }
    }
}

/// What is known of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "left", rename_all = "snake_case")]
pub enum ResidueState {
    /// No secret, but for what it returns.
    Nothing,
    /// A secret may be there.
    Remains { place: String },
    NotFollowed { reason: String },
}

/// A function of the program that the file does not name.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct WithoutSymbol {
    /// Name in the core IR.
    pub function: String,
    /// Executed inside a function that is in the file; otherwise the file lacks it.
    pub inlined: bool,
    /// Others can call it.
    #[serde(default)]
    pub exported: bool,
}

/// One symbol with code.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct FunctionReport {
    pub symbol: String,
    /// The name that hashes of other functions have for it: another where several symbols stand at one address.
    pub entry: String,
    /// Name in the core IR; none for code that the program does not know.
    pub function: Option<String>,
    pub address: u64,
    /// Bytes of code.
    pub bytes: u64,
    /// SHA-256 of what the code means, see `santoku_elf::Image::code_hash`.
    pub hash: String,
    /// Not visible to other files.
    pub local: bool,
    pub status: Status,
    /// Its hash, with those of the functions under `inside`, covers every byte that the proof read; otherwise what is said holds of
    /// this very file, and the function enters no list of hashes.
    pub hashed: bool,
    /// Counts of the comparison in which no objects coincide.
    pub work: Work,
    /// How it is called, where the compiler gave it another convention than the source's: arguments that it does not get.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub convention: Vec<String>,
    /// Calls it rests on, by name of the callee.
    pub calls: Vec<Rest>,
    /// Code without a proof of its own that it runs, directly or through others such.
    pub inside: Vec<Inside>,
    /// Of what is proved on its own: why the certifier is believed for it. None where the judge of bytes accepts it, and all that it calls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub believed: Option<String>,
    /// Comparisons in which results share an object with a parameter, because a caller does so or could.
    pub shared: Vec<SharedReport>,
}

/// How much was looked at.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Work {
    /// Instructions followed.
    pub instructions: u64,
    /// Bytes of stack, at most.
    pub stack: u64,
    /// Monomials of all terms.
    pub terms: usize,
    /// Results and registers compared.
    pub compared: usize,
    /// Questions to the solver; all else was settled by the normal form.
    #[serde(default)]
    pub asked: u64,
    /// Of these, answered with yes.
    #[serde(default)]
    pub settled: u64,
    pub micros: u64,
    /// Found in the store, not proved anew.
    pub cached: bool,
}

/// A comparison with results in the places of parameters.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SharedReport {
    /// Names of a result and of the parameter that is the same object.
    pub pairs: Vec<(String, String)>,
    pub status: Status,
    /// As in [`FunctionReport::hashed`].
    pub hashed: bool,
    pub work: Work,
    /// Calls it rests on.
    pub calls: Vec<Rest>,
}

/// A callee that a proof rests on.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Rest {
    /// Name in the core IR.
    pub function: String,
    /// Results that share an object with a parameter, in this call.
    pub shared: Vec<(String, String)>,
}

/// A place in the code.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Site {
    pub pc: u64,
    pub instruction: String,
    /// File and line, where the file has a line table.
    pub line: Option<(String, u32)>,
}

/// Two terms that are not shown equal, and how far apart they are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Differing {
    /// Which word.
    pub what: String,
    /// The smallest terms that differ.
    pub machine: String,
    pub source: String,
    /// An input on which the words differ, with both values; in `not_proved` it need not be one that a caller could give.
    pub witness: Option<Witness>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Witness {
    /// Name and value.
    pub inputs: Vec<(String, String)>,
    pub machine: String,
    pub source: String,
}

/// What is known of a function.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "verdict", rename_all = "snake_case")]
pub enum Status {
    /// Proved, and so is everything it rests on.
    Equal,
    /// Proved as part of every function that calls it.
    Inside { callers: Vec<String> },
    /// Gets the arguments of a proved function, hands them to it, and returns its results: what it does besides is to clear the stack.
    HandsOn { callee: Rest },
    /// Nothing in the program stands for it, and nothing that was proved runs it.
    NoSource,
    /// Gives another value on the inputs shown.
    Refuted(Differing),
    NotProved(Differing),
    /// A branch, an address or an operation of variable time depends on a secret.
    Leak { what: String, site: Site, term: String, evidence: Evidence },
    /// Memory or registers are used that the function must leave alone.
    Broken { reason: String, site: Site },
    /// Code that the executor does not follow.
    NotFollowed { reason: String, site: Site },
    /// Source that the executor does not follow.
    SourceNotFollowed { reason: String },
    /// A static function that is not what the source says when called as the source says, or a caller that gives one something else
    /// than the source; while nothing that others can call was seen to be wrong. The compiler may have given it another convention,
    /// which was not found out.
    OtherConvention { reason: String },
    /// Equal if its callee were, which is not proved.
    RestsOn { callee: Rest },
}

impl Status {
    /// The word for tables and counts.
    pub fn word(&self) -> &'static str {
        match self {
            Status::Equal => "equal",
            Status::Inside { .. } => "inside its callers",
            Status::HandsOn { .. } => "hands on",
            Status::NoSource => "no source",
            Status::Refuted(_) => "refuted",
            Status::NotProved(_) => "not proved",
            Status::Leak { .. } => "secret leak",
            Status::Broken { .. } => "broken rule",
            Status::NotFollowed { .. } => "not followed",
            Status::SourceNotFollowed { .. } => "source not followed",
            Status::OtherConvention { .. } => "another convention",
            Status::RestsOn { .. } => "rests on another",
        }
    }

    /// Nothing about the code is open.
    pub fn holds(&self) -> bool {
        matches!(self, Status::Equal | Status::Inside { .. } | Status::HandsOn { .. })
    }

    /// Why it is not proved, in one line; `None` where it is.
    pub fn reason(&self) -> Option<String> {
        Some(match self {
            Status::Equal | Status::Inside { .. } | Status::HandsOn { .. } => return None,
            Status::NoSource => "no function of the program stands for it".into(),
            Status::Refuted(d) | Status::NotProved(d) => d.line(),
            Status::Leak { what, site, term, .. } => format!("{what}: `{}` at {}: {term}", site.instruction, site.place()),
            Status::Broken { reason, site } | Status::NotFollowed { reason, site } => {
                format!("{reason}: `{}` at {}", site.instruction, site.place())
            }
            Status::OtherConvention { reason } => format!("wrong as the source calls it, or called in another way: {reason}"),
            Status::SourceNotFollowed { reason } => reason.clone(),
            Status::RestsOn { callee } => format!("rests on {callee}, which is not proved"),
        })
    }
}

impl Differing {
    fn line(&self) -> String {
        match &self.witness {
            Some(w) => format!("{}: the code gives {}, the source {}", self.what, w.machine, w.source),
            None => format!("{}: the code has {}, the source {}", self.what, self.machine, self.source),
        }
    }
}

impl Site {
    /// `f.c:12 (0x1a4)`, or the address alone.
    pub fn place(&self) -> String {
        match &self.line {
            Some((file, line)) => format!("{file}:{line} ({:#x})", self.pc),
            None => format!("{:#x}", self.pc),
        }
    }
}

impl std::fmt::Display for Rest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "`{}`", self.function)?;
        for (result, parameter) in &self.shared {
            write!(f, ", its result `{result}` in the place of `{parameter}`")?;
        }
        Ok(())
    }
}

/// Counts over the functions of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Totals {
    /// Functions of the file that stand for one of the program.
    pub functions: usize,
    /// Of those, proved: equal, or inside their callers.
    pub proved: usize,
    /// Of those, proved on their own.
    pub equal: usize,
    /// Of those, accepted by the judge of bytes with all that they call.
    #[serde(default)]
    pub judged: usize,
    pub without_source: usize,
    /// Comparisons that held with a result in the place of a parameter.
    pub shared: usize,
    pub instructions: u64,
    pub compared: usize,
    pub bytes: u64,
    /// Found in the store.
    pub cached: usize,
    /// Time of all comparisons together.
    pub micros: u64,
    /// Functions of the program, by the word of their verdict.
    pub verdicts: BTreeMap<String, usize>,
}

impl Totals {
    pub(crate) fn of(functions: &[FunctionReport]) -> Totals {
        let mut t = Totals::default();
        for f in functions {
            if f.function.is_none() {
                t.without_source += usize::from(f.status == Status::NoSource);
                continue;
            }
            t.functions += 1;
            t.proved += usize::from(f.status.holds());
            t.equal += usize::from(f.status == Status::Equal);
            t.judged += usize::from(f.status == Status::Equal && f.believed.is_none());
            t.bytes += f.bytes;
            *t.verdicts.entry(f.status.word().to_string()).or_default() += 1;
            t.shared += f.shared.iter().filter(|s| s.status.holds()).count();
            for w in std::iter::once(&f.work).chain(f.shared.iter().map(|s| &s.work)) {
                t.instructions += w.instructions;
                t.compared += w.compared;
                t.micros += w.micros;
                t.cached += usize::from(w.cached);
            }
        }
        t
    }
}

impl FileReport {
    /// Every function of the program that the file has is proved, and at least one on its own.
    pub fn holds(&self) -> bool {
        self.totals.equal > 0 && self.totals.proved == self.totals.functions
    }

    /// No function that handles secrets leaves any behind, and no code without a source shows one in its time.
    pub fn leaves_nothing(&self) -> bool {
        self.residues.iter().all(Residue::is_clean)
    }

    /// Code without a source may show a secret in its time.
    pub fn shows(&self) -> bool {
        self.residues.iter().any(Residue::shows)
    }

    /// Functions of the program in the file that are not proved.
    pub fn open(&self) -> impl Iterator<Item = &FunctionReport> {
        self.functions.iter().filter(|f| f.function.is_some() && !f.status.holds())
    }
}

/// Of functions that are not looked at, in objects and in images.
const C_LIBRARY: &str = "`memcpy`, `memmove` and `memset` of the C library do what the standard says, in time that depends on length and addresses alone";

/// What it rests on that the functions of an image have the hashes of proved ones.
pub const ASSUMED_OF_MATCHES: [&str; 3] = [
    C_LIBRARY,
    "the functions that are called in the image by these names are those of the C library: their code is not looked at, whether the image holds it or not",
    "all that `santoku certify` assumed when the list was made, which its report of an object says under `assumed`",
];

/// What the result rests on beside the proof.
pub const ASSUMED: [&str; 13] = [
    "the processor does what the instruction model (crate `isa`) says, and its time and memory traces show no more than the addresses of code and data and the operands of operations listed as variable-time",
    "the file's bytes, relocations and symbols mean what the reader (crate `elf`) says, and reach the processor unchanged",
    "arguments and results travel as the integer calling convention says, with the C types that the ranges of the source give",
    "inputs are in the ranges and meet the preconditions of the source",
    "the source itself keeps its obligations: what `santoku prove` proves",
    "objects given by pointer lie whole in memory, aligned, and do not overlap each other, the stack, code or constants, except in the ways listed under `shared`",
    "no array of run-time length is larger than half the address space",
    "the stack is as large as the functions need, and nothing else writes to the memory of a function while it runs",
    "constants of a few bytes that a compiler keeps in writable memory (`.sdata`), under labels of its own, are not written",
    C_LIBRARY,
    "objects are linked statically, by a linker that changes nothing but what relocations say: symbols that are neither weak nor in a COMDAT group mean the definition of this file, whatever their visibility, and nothing is put before them when the program is linked or starts",
    "a hash names a function with its constants; who relies on hashes needs those of all functions it calls",
    "of what is said to be left behind: code without a source writes nothing but its frame and what it is given, and its parameters in registers are addresses, lengths or public values; `memcpy`, `memmove` and `memset` use at most 128 bytes of stack, and `randombytes` leaves nothing",
];

/// Code without a proof of its own that runs inside a function.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Inside {
    pub symbol: String,
    pub hash: String,
}
