//! Vector units: the register of a layout, and the text of C that each operation is.
//! Trusted: c.

use crate::Fault;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt::Write;

/// A register type `V` and its operations, as C preprocessor macros.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VectorUnit {
    /// Name of `--isa`.
    pub name: String,
    /// Bits of a register, a multiple of 64.
    pub register_bits: u32,
    /// Another unit of the same file, whose operations this one has where it names no other.
    pub like: Option<String>,
    /// Flags for the compiler.
    #[serde(default)]
    pub flags: Vec<String>,
    /// What a processor that has the unit lists in `/proc/cpuinfo`.
    #[serde(default)]
    pub processor: Vec<String>,
    /// A register can be added, multiplied and shifted as lanes of 8, 16, 32 or 64 bits.
    #[serde(default)]
    pub lanes: bool,
    /// Text before the operations: includes and the type `V`.
    #[serde(default)]
    pub prelude: String,
    /// Macro without its `V_`, with its parameters, and what it stands for.
    #[serde(default)]
    pub operations: BTreeMap<String, String>,
    /// Text behind the operations: functions that macros name.
    #[serde(default)]
    pub functions: String,
    /// Any function of three bits, of `a`, `b`, `c` and `{table}`, two hexadecimal digits.
    pub ternary: Option<String>,
    /// Statements that return the entries of `t[256]` for the bytes of `x`.
    pub lookup: Option<String>,
    /// Instructions for tables that are affine over the bits of a byte.
    pub affine: Option<Affine>,
}

/// Affine maps of bytes in one instruction, with `{matrix}` and `{constant}` in hexadecimal.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Affine {
    /// Macro that compilers define where the instruction may be used.
    pub guard: String,
    /// The map of `x`.
    pub of_byte: String,
    /// The map of the inverse of `x` modulo x^8 + x^4 + x^3 + x + 1.
    pub of_inverse: String,
}

impl VectorUnit {
    /// Whether a processor has the unit, by the text of its `/proc/cpuinfo`.
    pub fn is_listed(&self, cpuinfo: &str) -> bool {
        let flags: Vec<&str> = cpuinfo.lines().find(|l| l.starts_with("flags")).unwrap_or_default().split_whitespace().collect();
        self.processor.iter().all(|f| flags.contains(&f.as_str()))
    }

    /// For `#if`: a compiler was told of the unit by its [`flags`](Self::flags), each of which defines a macro (`-mavx2`: `__AVX2__`). `None` where
    /// a flag is another.
    pub fn guard(&self) -> Option<String> {
        let one = |f: &String| Some(format!("defined(__{}__)", f.strip_prefix("-m").filter(|m| m.bytes().all(|b| b.is_ascii_alphanumeric()))?.to_uppercase()));
        let all = self.flags.iter().map(one).collect::<Option<Vec<_>>>()?;
        (!all.is_empty()).then(|| all.join(" && "))
    }

    /// Type and macros, with the functions of three bits of these tables.
    pub fn preamble(&self, tables: &[u8]) -> String {
        self.operations_text() + &self.gates(tables)
    }

    /// Type and macros.
    pub fn operations_text(&self) -> String {
        let mut text = self.prelude.clone();
        for (operation, meaning) in &self.operations {
            let _ = writeln!(text, "#define V_{operation} {meaning}");
        }
        text.push_str(&self.functions);
        text
    }

    /// Macros for the functions of three bits of these tables.
    pub fn gates(&self, tables: &[u8]) -> String {
        let mut text = String::new();
        for t in tables {
            let meaning = self.ternary.as_deref().unwrap_or_default().replace("{table}", &format!("{t:02x}"));
            let _ = writeln!(text, "#define V_LUT_{t:02x}(a, b, c) {meaning}");
        }
        text
    }
}

/// Fills in what units take from others, and says what is wrong.
pub fn complete(units: &mut Vec<VectorUnit>) -> Result<(), Fault> {
    for k in 0..units.len() {
        let name = units[k].name.clone();
        if units[..k].iter().any(|u| u.name == name) {
            return Err(Fault::plain(format!("two vector units are called `{name}`")));
        }
        if units[k].register_bits == 0 || units[k].register_bits % 64 != 0 || units[k].register_bits > 4096 {
            return Err(Fault::plain(format!("`register_bits` of `{name}` is no multiple of 64 up to 4096")));
        }
        let Some(like) = units[k].like.clone() else { continue };
        let Some(base) = units[..k].iter().find(|u| u.name == like).cloned() else {
            return Err(Fault::plain(format!("`{name}` is like `{like}`, which is no vector unit before it")));
        };
        let unit = &mut units[k];
        for (operation, meaning) in base.operations {
            // The same operation, whatever its parameters are called.
            let word = |s: &str| s.split('(').next().unwrap_or_default().to_string();
            if !unit.operations.keys().any(|own| word(own) == word(&operation)) {
                unit.operations.insert(operation, meaning);
            }
        }
        for (own, from) in [(&mut unit.prelude, base.prelude), (&mut unit.functions, base.functions)] {
            if own.is_empty() {
                *own = from;
            }
        }
    }
    Ok(())
}
