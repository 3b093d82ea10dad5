//! A machine: what C is made for, and all that is known of what executes it.

use crate::run::{Costs, Run};
use crate::schedule::Schedules;
use crate::vector::{complete, VectorUnit};
use crate::{Fault, Level};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};

/// What C is made for, what is chosen there, and how it is compiled and executed. Choices are never needed for correctness.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Target {
    /// Name on the command line and of the file.
    #[serde(skip)]
    pub name: String,
    /// File that the choices are from; empty for none.
    #[serde(skip)]
    pub path: String,
    /// Name of the machine's own file: another than `name` where a file of `tuned/` chooses implementations.
    #[serde(skip)]
    pub machine: String,
    /// The machine in words.
    #[serde(default)]
    pub title: String,
    /// Bits of a register, what the passes count with: 32 or 64.
    pub word_bits: u32,
    /// Bits of the widest integer the C compiler offers: 64 or 128.
    pub widest: u32,
    #[serde(default)]
    pub byte_order: ByteOrder,
    #[serde(default)]
    pub variable_time: VariableTime,
    /// Interface module to variant.
    #[serde(rename = "impl", default)]
    pub impls: BTreeMap<String, String>,
    /// Instruction sets that there is a reason to compile for.
    #[serde(rename = "isa", default)]
    pub isas: Vec<InstructionSet>,
    /// Compilers, the first is the one of a command that names none.
    #[serde(rename = "compiler", default)]
    pub compilers: Vec<Use>,
    #[serde(rename = "vector", default)]
    pub vectors: Vec<VectorUnit>,
    /// How objects are certified; none: its machine code has no model.
    pub certify: Option<Certify>,
    pub run: Option<Run>,
    #[serde(default)]
    pub costs: Costs,
    /// Groups of instructions that execute as one.
    pub fused: Option<Fused>,
    /// Orders of instructions that a search found, by the name of the function.
    #[serde(skip)]
    pub schedules: Schedules,
}

/// How integers lie in memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ByteOrder {
    #[default]
    Little,
    Big,
}

/// Operations whose time depends on their operands.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VariableTime {
    /// Bits of a product from which it does.
    pub mul: Option<u32>,
    /// The document that says so.
    #[serde(default)]
    pub source: String,
    /// Mnemonics of the instructions concerned, as the compiler's disassembler writes them.
    #[serde(default)]
    pub instructions: Vec<String>,
    /// Functions of the compiler's library that are called for such operations.
    #[serde(default)]
    pub functions: Vec<String>,
}

/// An instruction set, as compilers are told of it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InstructionSet {
    pub name: String,
    /// Flags that choose it, and its calling convention.
    pub flags: Vec<String>,
    /// More flags for assembly that reads counters, where that takes an extension.
    #[serde(default)]
    pub counters: Vec<String>,
}

/// How a compiler is used for a target.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Use {
    /// Name in `targets/compilers.toml`.
    pub name: String,
    /// Flags that choose the machine among those it compiles for: before all others.
    #[serde(default)]
    pub select: Vec<String>,
    /// Further flags of programs.
    #[serde(default)]
    pub flags: Vec<String>,
    /// Levels that are measured.
    pub levels: Vec<Level>,
    /// Linker; default: the compiler.
    pub linker: Option<String>,
    /// Flags of the linker.
    #[serde(default)]
    pub link: Vec<String>,
    /// Libraries, behind all objects.
    #[serde(default)]
    pub libs: Vec<String>,
}

/// How objects are made for certifying.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Certify {
    /// Targets on whose instruction sets: this one's C says nothing of a processor.
    #[serde(default)]
    pub on: Vec<String>,
    /// Instruction sets of this target.
    #[serde(default)]
    pub isas: Vec<String>,
    /// Levels of the compilers.
    #[serde(default)]
    pub levels: Vec<Level>,
    /// Flags of the compilers.
    #[serde(default)]
    pub flags: Vec<String>,
}

/// Groups of instructions that execute as one.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fused {
    /// The model that knows what they mean.
    pub model: FusionModel,
    /// The groups: mnemonics.
    pub groups: Vec<String>,
}

/// Models of fused execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FusionModel {
    CkbVm,
}

/// A file of `tuned/`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Choices {
    machine: String,
    #[serde(rename = "impl", default)]
    impls: BTreeMap<String, String>,
    #[serde(rename = "schedule", default)]
    schedules: Schedules,
}

impl Target {
    /// Reads the text of `path`, the file of machine `name`.
    ///
    /// # Errors
    /// [`Fault`]: malformed, an unknown or missing field, a value out of range.
    pub fn parse(name: &str, path: &str, text: &str) -> Result<Target, Fault> {
        let mut target: Target = toml::from_str(text).map_err(|e| Fault::of(&e))?;
        if ![32, 64].contains(&target.word_bits) {
            return Err(Fault::plain("`word_bits` is 32 or 64"));
        }
        if ![64, 128].contains(&target.widest) {
            return Err(Fault::plain("`widest` is 64 or 128"));
        }
        if target.variable_time.mul.is_some_and(|bits| !(1..=128).contains(&bits)) {
            return Err(Fault::plain("`mul` in `[variable_time]` is 1 to 128 bits"));
        }
        complete(&mut target.vectors)?;
        target.names()?;
        Ok(Target { name: name.into(), path: path.into(), machine: name.into(), ..target })
    }

    /// Reads the text of `path`, the file `tuned/<name>.toml`: implementations chosen for a machine, and orders found for it, which `machine` finds by name.
    ///
    /// # Errors
    /// [`Fault`]: malformed, an unknown or missing field, no such machine, or `machine`'s.
    pub fn choose(name: &str, path: &str, text: &str, machine: &mut dyn FnMut(&str) -> Result<Option<Target>, Fault>) -> Result<Target, Fault> {
        let choices: Choices = toml::from_str(text).map_err(|e| Fault::of(&e))?;
        let Some(of) = machine(&choices.machine)? else {
            return Err(Fault::plain(format!("`machine` is `{}`, which is no file of `targets/`", choices.machine)));
        };
        for (function, schedule) in &choices.schedules {
            schedule.check(function)?;
        }
        Ok(Target { name: name.into(), path: path.into(), impls: choices.impls, schedules: choices.schedules, ..of })
    }

    /// Names that name nothing, and names that are given twice.
    fn names(&self) -> Result<(), Fault> {
        let mut seen = BTreeSet::new();
        let all = self.isas.iter().map(|i| ("instruction set", &i.name)).chain(self.compilers.iter().map(|c| ("compiler", &c.name)));
        for one in all {
            if !seen.insert(one) {
                return Err(Fault::plain(format!("two rows have the {} `{}`", one.0, one.1)));
            }
        }
        let wanted = self.run.iter().map(|r| &r.isa).chain(self.certify.iter().flat_map(|c| &c.isas));
        for name in wanted {
            if self.isa(name).is_none() {
                return Err(Fault::plain(format!("no `[[isa]]` is called `{name}`")));
            }
        }
        if self.run.as_ref().is_some_and(|r| (r.on == crate::Executor::Emulator) == r.command.is_empty()) {
            return Err(Fault::plain("`command` in `[run]` names an emulator, and is for emulators alone"));
        }
        Ok(())
    }

    /// An instruction set by its name.
    pub fn isa(&self, name: &str) -> Option<&InstructionSet> {
        self.isas.iter().find(|i| i.name == name)
    }

    /// Bits of the widest product of secrets that C may make in one: wider ones are made of several.
    pub fn products(&self) -> u32 {
        match self.variable_time.mul {
            Some(33..=64) if self.widest == 64 => 32,
            _ => 128,
        }
    }

    /// Whether groups of instructions execute as CKB-VM executes them.
    pub fn ckb_vm(&self) -> bool {
        self.fused.as_ref().is_some_and(|f| f.model == FusionModel::CkbVm)
    }
}
