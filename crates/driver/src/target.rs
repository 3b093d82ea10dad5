//! Targets, and the tuning data that belongs to them.

use santoku_diag::{Diagnostic, Sources};
use std::collections::BTreeMap;

/// What C is made for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Target {
    /// Any C99 compiler; no integer wider than 64 bits.
    #[default]
    Portable,
    /// 32-bit RISC-V: 32-bit registers, 64-bit products.
    Rv32,
    /// 64-bit machines with a C compiler that has 128-bit integers.
    Host64,
    /// CKB-VM: 64-bit RISC-V.
    Ckb,
}

impl Target {
    pub const ALL: [Target; 4] = [Target::Portable, Target::Rv32, Target::Host64, Target::Ckb];

    /// Name on the command line and of the tuning file.
    pub fn name(self) -> &'static str {
        match self {
            Target::Portable => "portable",
            Target::Rv32 => "rv32",
            Target::Host64 => "host64",
            Target::Ckb => "ckb",
        }
    }

    pub fn from_name(name: &str) -> Option<Target> {
        Target::ALL.into_iter().find(|t| t.name() == name)
    }

    /// Bits of a register: what the passes count with.
    pub fn word_bits(self) -> u32 {
        match self {
            Target::Portable | Target::Rv32 => 32,
            Target::Host64 | Target::Ckb => 64,
        }
    }

    /// Bits of the widest integer the C compiler offers.
    pub fn widest(self) -> u32 {
        match self {
            Target::Portable | Target::Rv32 => 64,
            Target::Host64 | Target::Ckb => 128,
        }
    }
}

/// Path of the tuning file below the folder that holds the library.
pub fn tuned_path(target: Target) -> String {
    format!("tuned/{}.toml", target.name())
}

/// The `[impl]` table of a tuning file: interface to variant.
pub(crate) fn tuned_impls(name: &str, text: &str) -> Result<BTreeMap<String, String>, (Sources, Diagnostic)> {
    let fault = |why: String| {
        let mut sources = Sources::default();
        sources.add(name, text);
        let d = Diagnostic::error("bad-tuning", format!("tuning file `{name}` cannot be read"));
        (sources, d.note(format!("why: {why}")).help("it holds a table `[impl]` with lines such as `fe25519 = \"radix51\"`"))
    };
    let table: toml::Table = text.parse().map_err(|e: toml::de::Error| fault(e.message().to_string()))?;
    let Some(impls) = table.get("impl") else { return Ok(BTreeMap::new()) };
    let impls = impls.as_table().ok_or_else(|| fault("`impl` is not a table".into()))?;
    let mut out = BTreeMap::new();
    for (interface, variant) in impls {
        let variant = variant.as_str().ok_or_else(|| fault(format!("the variant of `{interface}` is not a text")))?;
        out.insert(interface.clone(), variant.to_string());
    }
    Ok(out)
}
