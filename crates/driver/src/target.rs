//! Targets: what C is made for. Each is one file, `tuned/<name>.toml`; there is no other list of them.
//!
//! The machine (widths, variable-time operations) is compiled in and so known everywhere; the choice of implementations
//! belongs to a library and is read from the `tuned` folder beside it.

use crate::failure::Failure;
use santoku_diag::{Diagnostic, Sources, Span};
use santoku_ir::BinOp;
use santoku_prove::secrecy::Timing;
use serde::Deserialize;
use std::collections::BTreeMap;

include!(concat!(env!("OUT_DIR"), "/targets.rs"));

/// What C is made for, and what is chosen there. Choices are never needed for correctness.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Target {
    /// Name on the command line and of the file.
    #[serde(skip)]
    pub name: String,
    /// File that the choices are from; empty for none.
    #[serde(skip)]
    pub path: String,
    /// Bits of a register, what the passes count with: 32 or 64.
    pub word_bits: u32,
    /// Bits of the widest integer the C compiler offers: 64 or 128.
    pub widest: u32,
    /// The processor is CKB-VM, which executes some groups of instructions as one.
    #[serde(default)]
    pub ckb_vm: bool,
    #[serde(default)]
    variable_time: VariableTime,
    /// Interface module to variant.
    #[serde(rename = "impl", default)]
    pub impls: BTreeMap<String, String>,
}

/// Operations whose time depends on their operands: least word size, in bits, from which it does.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct VariableTime {
    mul: Option<u32>,
}

/// The target of a command that names none.
pub const DEFAULT_TARGET: &str = "portable";

impl Target {
    /// Reads the text of `path`, the file of target `name`.
    ///
    /// # Errors
    /// `bad-tuning`: malformed, an unknown or missing field, a value out of range.
    pub fn parse(name: &str, path: &str, text: &str) -> Result<Target, Failure> {
        let fault = |why: &str, at: Option<std::ops::Range<usize>>| {
            let mut sources = Sources::default();
            let file = sources.add(path, text);
            let d = Diagnostic::error("bad-tuning", format!("`{path}` does not describe a target"));
            let d = match at {
                Some(at) => d.at(Span { file, start: at.start as u32, end: at.end as u32 }, why),
                None => d.note(format!("why: {why}")),
            };
            Failure::refused(&sources, d.help("`santoku explain bad-tuning` shows a whole file"))
        };
        let target: Target = toml::from_str(text).map_err(|e| fault(e.message().lines().next().unwrap_or_default(), e.span()))?;
        if ![32, 64].contains(&target.word_bits) {
            return Err(fault("`word_bits` is 32 or 64", None));
        }
        if ![64, 128].contains(&target.widest) {
            return Err(fault("`widest` is 64 or 128", None));
        }
        if target.variable_time.mul.is_some_and(|bits| !(1..=128).contains(&bits)) {
            return Err(fault("`mul` in `[variable_time]` is 1 to 128 bits", None));
        }
        Ok(Target { name: name.into(), path: path.into(), ..target })
    }

    /// A target that is compiled in, without choices of implementations. `Ok(None)`: there is none of that name.
    ///
    /// # Errors
    /// [`Failure::Internal`]: its file does not describe a target.
    pub fn built_in(name: &str) -> Result<Option<Target>, Failure> {
        let Some((_, text)) = BUILT_IN.iter().find(|(n, _)| *n == name) else { return Ok(None) };
        match Target::parse(name, "", text) {
            Ok(target) => Ok(Some(Target { impls: BTreeMap::new(), ..target })),
            Err(e) => Err(Failure::internal("targets", format!("{name}: {e:?}"))),
        }
    }

    /// Names of the targets compiled in, sorted.
    pub fn built_in_names() -> impl Iterator<Item = &'static str> {
        BUILT_IN.iter().map(|(name, _)| *name)
    }

    /// What the prover must not let a secret meet.
    pub fn timing(&self) -> Timing {
        Timing { variable_time: self.variable_time.mul.map(|least| (BinOp::Mul, least)).into_iter().collect() }
    }
}

/// No target has this name.
pub fn unknown_target(name: &str, known: &[String]) -> Failure {
    let d = Diagnostic::error("unknown-target", format!("there is no target `{name}`"));
    let d = d.note(format!("targets: {}", known.join(", ")));
    Failure::refused(&Sources::default(), d.help("choose one of these, or write a file `tuned/<target>.toml`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_describes_a_target() {
        let names: Vec<&str> = Target::built_in_names().collect();
        for expected in [DEFAULT_TARGET, "rv32", "rv32-spark", "host64", "ckb", "cortex-m3"] {
            assert!(names.contains(&expected), "{expected} is not in {names:?}");
        }
        for name in names {
            let target = Target::built_in(name).unwrap_or_else(|f| panic!("{f:?}")).unwrap_or_else(|| panic!("{name}"));
            assert_eq!((target.name.as_str(), target.impls.len()), (name, 0));
        }
        assert!(matches!(Target::built_in("z80"), Ok(None)));
    }

    #[test]
    fn a_file_that_is_not_wholly_understood_is_refused() {
        let good = "word_bits = 32\nwidest = 64\n[impl]\na = \"b\"\n[variable_time]\nmul = 64\n";
        let target = Target::parse("t", "t.toml", good).unwrap_or_else(|f| panic!("{f:?}"));
        assert_eq!(target.timing().variable_time, [(BinOp::Mul, 64)]);
        for (from, to) in [
            ("word_bits = 32\n", ""),
            ("word_bits = 32", "word_bits = 31"),
            ("word_bits = 32", "word_bits = \"32\""),
            ("widest = 64", "widest = 32"),
            ("widest = 64", "widest = 64\nwide = 1"),
            ("[impl]", "[impls]"),
            ("\"b\"", "51"),
            ("mul", "mull"),
            ("mul = 64", "mul = 0"),
            ("mul = 64", "mul = 129"),
            ("[variable_time]", "[variable_time"),
        ] {
            let text = good.replace(from, to);
            assert_ne!(text, good);
            match Target::parse("t", "t.toml", &text) {
                Err(Failure::Refused { diagnostics, .. }) => assert_eq!(diagnostics[0].code, "bad-tuning"),
                other => panic!("{to}: {other:?}"),
            }
        }
    }
}
