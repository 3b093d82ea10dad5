//! What is compiled in the matrix: every program of the library, with the core IR that its C was printed from.

use crate::amalgam::{body, interface, join, Part, SMALL};
use crate::assembly::{self, assembly, Assembly};
use crate::compile::{compile, emit, Build, Checks};
use crate::dist::folder;
use crate::matrix::Config;
use crate::primitives::{Primitive, Tree};
use crate::row::AssemblyRow;
use crate::subject::one_file;
use crate::BenchError;
use santoku_backend_c::{Compared, Emitted};
use santoku_driver::Target;
use santoku_ir::{FuncId, Program};
use santoku_certify::isa_of;
use santoku_passes::Level;
use santoku_target::{compilers, InstructionSet};
use std::collections::{BTreeMap, BTreeSet};

/// One program for one target.
#[derive(Clone, Debug, PartialEq)]
pub struct Unit {
    /// `nacl.sign@rv32`, and `+variant` for each implementation chosen beside the target's.
    pub name: String,
    pub primitive: Primitive,
    pub target: String,
    /// Its target is one of those of a shipped primitive.
    pub shipped: bool,
    /// Interface and variant, before the target's choices.
    pub choices: Vec<(String, String)>,
    /// That of our passes.
    pub level: Level,
    /// It is the smallest form of its primitive.
    pub small: bool,
    /// Instruction sets that it is compiled for.
    pub marches: Vec<String>,
    /// Their register widths.
    pub xlens: BTreeSet<u32>,
    /// It is assembly of ours, which is assembled in one way.
    pub assembly: Option<Box<(AssemblyRow, Config)>>,
}

impl Unit {
    /// Whether a configuration belongs to this unit's rows: the smallest form is for compilers that are asked for small code.
    pub fn wants(&self, config: &Config) -> bool {
        let level = !self.small || config.level == Level::Os;
        self.assembly.is_none() && level && self.marches.contains(&config.march)
    }

    /// The ways in which its text becomes an object; for C, those of these.
    pub fn ways(&self, configs: &[Config]) -> Vec<Config> {
        match &self.assembly {
            Some(a) => vec![a.1.clone()],
            None => configs.iter().filter(|c| self.wants(c)).cloned().collect(),
        }
    }

    /// The target with this unit's choices of implementations.
    ///
    /// # Errors
    /// `Unknown`, `Source`: there is no such target, or its file is wrong.
    pub fn target(&self, tree: &Tree) -> Result<Target, BenchError> {
        let mut target = tree.target(&self.target)?;
        target.impls.extend(self.choices.iter().cloned());
        Ok(target)
    }
}

/// Every unit: the shipped primitives for each of their targets, then ciphers and other implementations. Together they hold every implementation
/// in `lib/` that something is built of.
///
/// # Errors
/// `Declaration`, `Unknown`, `Source`: a table of the tree is wrong.
pub fn units(tree: &Tree) -> Result<Vec<Unit>, BenchError> {
    let mut all = vec![];
    for primitive in tree.shipped()? {
        for target in &primitive.targets {
            all.push(unit(tree, &primitive.name, primitive.clone(), target, &[])?);
        }
        if let Some(small) = &primitive.small {
            let of = unit(tree, &primitive.name, primitive.clone(), &small.target, &[])?;
            all.push(Unit { level: small.level, small: true, shipped: true, ..of });
        }
    }
    for cipher in tree.ciphers()? {
        all.push(unit(tree, &cipher.name, cipher.plain(), &cipher.target, &[])?);
    }
    for primitive in tree.shipped()? {
        for also in &primitive.also {
            all.push(unit(tree, &primitive.name, primitive.clone(), &also.target, &also.choices)?);
        }
    }
    Ok(all)
}

/// Those, and our own assembly: all that is certified.
///
/// # Errors
/// As [`units`].
pub fn all_units(tree: &Tree) -> Result<Vec<Unit>, BenchError> {
    Ok([units(tree)?, assemblies(tree)?].concat())
}

fn unit(tree: &Tree, name: &str, primitive: Primitive, target: &str, choices: &[(String, String)]) -> Result<Unit, BenchError> {
    let chosen: String = choices.iter().map(|(_, variant)| format!("+{variant}")).collect();
    let (marches, xlens) = marches(tree, target)?;
    Ok(Unit {
        name: format!("{name}@{target}{chosen}"),
        shipped: primitive.ship && choices.is_empty() && primitive.targets.iter().any(|t| t == target),
        primitive: primitive.only(target),
        level: LEVEL,
        small: false,
        target: target.to_string(),
        choices: choices.to_vec(),
        marches,
        xlens,
        assembly: None,
    })
}

/// The instruction sets of a target, and of those that its description names for certifying, with their register widths.
fn marches(tree: &Tree, target: &str) -> Result<(Vec<String>, BTreeSet<u32>), BenchError> {
    let of = tree.target(target)?;
    let mut all = vec![];
    for other in of.certify.iter().flat_map(|c| &c.on) {
        all.push(tree.target(other)?);
    }
    all.push(of);
    let isas = |t: &Target| t.certify.clone().unwrap_or_default().isas;
    Ok((all.iter().flat_map(isas).collect(), all.iter().filter(|t| !isas(t).is_empty()).map(|t| t.word_bits).collect()))
}

/// A unit's C and the program it was printed from.
#[derive(Clone, Debug)]
pub struct Made {
    /// Core IR after all passes: what the object is compared with.
    pub program: Program,
    /// The C name of every function that is printed.
    pub names: BTreeMap<FuncId, String>,
    /// One C file, header and hand-written API included. With an API the functions of the program are `static` in it.
    pub source: String,
    pub checks: Checks,
}

/// Level of our own passes, the one files are shipped at.
pub const LEVEL: Level = crate::dist::LEVEL;

/// Makes a unit. Nothing is proved here beyond what the passes check.
///
/// # Errors
/// Those of [`compile`] and [`emit`].
pub fn make(tree: &Tree, unit: &Unit) -> Result<Made, BenchError> {
    Ok(with_body(tree, unit)?.0)
}

/// The same, and the part of the C that is the target's.
fn with_body(tree: &Tree, unit: &Unit) -> Result<(Made, String), BenchError> {
    let build = Build { target: unit.target(tree)?, level: unit.level, without: BTreeSet::new() };
    let compiled = compile(tree, &unit.primitive, &build)?;
    let part = emit(&unit.primitive, &build, &compiled, &unit.name)?;
    let api = interface(tree, &unit.primitive, std::iter::once(&part))?;
    let own = body(&part.source, &unit.primitive.unit);
    let joined = join(&unit.primitive, &[Part { name: unit.target.clone(), condition: None, emitted: part }], &api, &unit.name);
    let source = one_file(&unit.primitive.unit, &joined)?;
    let checks = compiled.checks();
    Ok((Made { program: compiled.program, names: joined.functions, source, checks }, own))
}

/// Makes a unit; where it is shipped, with the text that is kept in `dist`.
///
/// # Errors
/// Those of [`make`]; `Declaration`: the kept file is not what the compiler makes.
pub fn make_shipped(tree: &Tree, unit: &Unit) -> Result<Made, BenchError> {
    if let Some(a) = &unit.assembly {
        return made_kept(tree, unit, &a.0);
    }
    let (made, own) = with_body(tree, unit)?;
    let Some(source) = shipped_text(tree, unit)? else { return Ok(made) };
    if !source.contains(own.trim()) {
        let path = tree.root.join(folder(&unit.primitive.unit));
        return Err(BenchError::Declaration { path, reason: format!("it does not hold what the compiler makes for {}: run `santoku dist`", unit.target) });
    }
    Ok(Made { source, ..made })
}

/// The generated text of a unit as it is kept in `dist`, for C with its header; `None` for one that is not shipped, or not chosen by
/// the width of registers alone.
///
/// # Errors
/// `Io`: it is not there.
pub fn shipped_text(tree: &Tree, unit: &Unit) -> Result<Option<String>, BenchError> {
    if let Some(a) = &unit.assembly {
        return kept_text(tree, unit, &a.0).map(Some);
    }
    let all = tree.shipped()?;
    let Some(p) = all.iter().find(|p| p.name == unit.primitive.name).filter(|_| unit.choices.is_empty()) else { return Ok(None) };
    let chosen = match (p.targets.iter().position(|t| *t == unit.target), p.targets.len()) {
        _ if unit.small => true,
        (Some(_), 1) => true,
        (Some(0), _) => unit.xlens == BTreeSet::from([64]),
        (Some(k), n) => k + 1 == n && unit.xlens == BTreeSet::from([32]),
        (None, _) => false,
    };
    if !chosen {
        return Ok(None);
    }
    let read = |suffix: &str| tree.read(&folder(&p.unit).join(format!("{}.{suffix}", p.unit)).to_string_lossy());
    let kept = Emitted { source: read("c")?, header: read("h")?, functions: BTreeMap::new(), exported: vec![], compared: Compared::default() };
    let text = one_file(&p.unit, &kept)?;
    Ok(Some(if unit.small { format!("#define {SMALL}\n{text}") } else { text }))
}

/// Every row of a shipped primitive as a program that is certified: `ecdsa.p256@ckb-ecdsa+assembly`.
///
/// # Errors
/// `Declaration`, `Source`: a table of the tree is wrong.
fn assemblies(tree: &Tree) -> Result<Vec<Unit>, BenchError> {
    let mut all = vec![];
    for primitive in tree.shipped()? {
        for row in &primitive.assemblies {
            let target = tree.target(&row.target)?;
            let config = assembled(&target, row)?;
            all.push(Unit {
                name: format!("{}@{}+assembly", primitive.name, row.target),
                primitive: primitive.clone(),
                level: row.level,
                small: false,
                target: row.target.clone(),
                shipped: true,
                choices: vec![],
                marches: vec![config.march.clone()],
                xlens: BTreeSet::from([config.xlen]),
                assembly: Some(Box::new((row.clone(), config))),
            });
        }
    }
    Ok(all)
}

/// The instruction set that programs for the target run with, or, where there is no model of that, one that is certified for it.
fn isa(target: &Target) -> Option<&InstructionSet> {
    let certified = target.certify.iter().flat_map(|c| &c.isas);
    let names = target.run.iter().map(|r| &r.isa).chain(certified).chain(target.isas.iter().map(|i| &i.name));
    names.filter(|name| isa_of(name).is_some()).find_map(|name| target.isa(name))
}

/// By the compiler of the target that brings an assembler with it.
fn assembled(target: &Target, row: &AssemblyRow) -> Result<Config, BenchError> {
    let bad = |reason: String| BenchError::Declaration { path: "lib/primitives.toml".into(), reason };
    let isa = isa(target).ok_or_else(|| bad(format!("{}: it has no instruction set", row.target)))?;
    let all = compilers().map_err(|e| bad(e.reason))?;
    let own = target.compilers.iter().filter_map(|using| all.0.get(&using.name)).find(|c| c.family == "gcc");
    let compiler = own.ok_or_else(|| bad(format!("{}: it has no gcc, whose assembler is used", row.target)))?;
    Ok(Config::assembler(target, isa, compiler, row.level))
}

/// A unit's assembly as it is kept, and the program it was made from.
///
/// # Errors
/// Those of [`assembly`]; `Declaration`: the kept file is not what the compiler makes.
fn made_kept(tree: &Tree, unit: &Unit, row: &AssemblyRow) -> Result<Made, BenchError> {
    let Assembly { text, built } = assembly(tree, &unit.primitive, row)?;
    if kept_text(tree, unit, row)? != text {
        let path = tree.root.join(assembly::folder(&row.target));
        return Err(BenchError::Declaration { path, reason: format!("it does not hold what the compiler makes of {}: run `santoku dist`", unit.primitive.name) });
    }
    Ok(Made { program: built.program, names: built.names, source: text, checks: Default::default() })
}

/// # Errors
/// `Io`: it is not there.
fn kept_text(tree: &Tree, unit: &Unit, row: &AssemblyRow) -> Result<String, BenchError> {
    tree.read(&assembly::path(&row.target, &unit.primitive.unit).to_string_lossy())
}
