//! Objects of the signature library whose proved functions are changed, and the record of what became of it.
//!
//! Needs: compilers.  Keeps: a row a function and object; a function that is not proved is told and not changed; a run of no changes is
//! refused.  Absent: how changes are judged ([`crate::mutants`]).

use crate::certify::new_file;
use crate::matrix::{compile, compiler_version, configs, Config, Level};
use crate::matrix_units::{make, units, Unit};
use crate::mutants::{judge, Counts, Subject, Tally};
use crate::primitives::Tree;
use crate::{parallel, BenchError};
use santoku_certify::{isa_of, ENGINE_VERSION};
use santoku_driver::timing;
use santoku_lab::record::Stamp;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Functions that are proved in a moment, as the rows of primitives name them.
///
/// # Errors
/// `Declaration`: no row names any.
pub fn quick(tree: &Tree) -> Result<Vec<String>, BenchError> {
    let all: Vec<String> = tree.shipped()?.into_iter().flat_map(|p| p.mutants).collect();
    match all.is_empty() {
        false => Ok(all),
        true => Err(BenchError::Declaration { path: "lib/primitives.toml".into(), reason: "no row has `mutants`".into() }),
    }
}

/// Other symbols tried for a relocation, where not all are.
pub const SYMBOLS: usize = 6;

/// What is changed.
pub struct Wish<'a> {
    pub functions: &'a [&'a str],
    /// Changes of each function of each object.
    pub each: Counts,
    pub config: &'a dyn Fn(&Config) -> bool,
    /// 0, or another set of changes.
    pub seed: u64,
}

/// One function of one object.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    pub unit: String,
    pub march: String,
    pub compiler: String,
    pub level: String,
    pub function: String,
    #[serde(flatten)]
    pub tally: Tally,
}

/// Changes the functions wished for, as far as objects hold them and they are proved; `tell` hears of each.
///
/// # Errors
/// `Unknown`: nothing was changed; those of compilers and units.
pub fn run(tree: &Tree, wish: &Wish, tell: &dyn Fn(&str)) -> Result<Vec<Row>, BenchError> {
    let all = units(tree)?;
    let folder = tempfile::tempdir().map_err(|e| BenchError::io(std::env::temp_dir(), &e))?;
    let mut rows = vec![];
    // Of a primitive that names functions, what is shipped.
    let shipped = |u: &&Unit| !u.primitive.mutants.is_empty() && u.choices.is_empty() && u.shipped;
    for unit in all.iter().filter(shipped) {
        let name = &unit.name;
        let made = make(tree, unit)?;
        let symbols: BTreeMap<_, _> = made.names.iter().map(|(func, name)| (name.clone(), *func)).collect();
        let secret_mul_leaks = !timing(&unit.target(tree)?).variable_time.is_empty();
        for config in configs()?.iter().filter(|c| unit.wants(c) && (wish.config)(c)) {
            let compiler = compiler_version(config)?;
            let bad = |reason: String| BenchError::Internal { stage: "mutants".into(), reason: format!("{name} {}: {reason}", config.name()) };
            // Lines of the source are read anew with every changed object, and say nothing here.
            let mut bare = config.clone();
            bare.flags.retain(|f| f != "-g");
            let object = compile(&bare, &made.source, folder.path())?;
            let image = santoku_elf::load(&object).map_err(|e| bad(e.to_string()))?;
            let isa = isa_of(&config.march).ok_or_else(|| bad("no model of the instruction set".into()))?;
            let subject = Subject { object: &object, image: &image, isa, program: &made.program, symbols: symbols.clone(), secret_mul_leaks };
            for function in wish.functions.iter().filter(|f| image.function(f).is_some()) {
                let seed = 0x5a17 + rows.len() as u64 + wish.seed;
                match judge(&subject, function, (wish.each, seed), parallel::threads()) {
                    Err(why) => tell(&format!("{}: {why}", config.name())),
                    Ok(tally) => {
                        tell(&format!("{} {function}: {tally}", config.name()));
                        let (unit, march, level) = (name.to_string(), config.march.to_string(), config.level.name().to_string());
                        rows.push(Row { unit, march, compiler: compiler.clone(), level, function: function.to_string(), tally });
                    }
                }
            }
        }
    }
    match rows.iter().any(|r| r.tally.mutants > 0) {
        true => Ok(rows),
        false => Err(BenchError::Unknown { what: "proved function", name: "to change".into(), known: wish.functions.iter().map(|f| f.to_string()).collect() }),
    }
}

/// The sum of all rows.
pub fn total(rows: &[Row]) -> Tally {
    let mut all = Tally::default();
    rows.iter().for_each(|r| all.add(r.tally.clone()));
    all
}

/// The configurations with compressed instructions at these levels.
pub fn compressed(levels: &[Level]) -> impl Fn(&Config) -> bool + '_ {
    move |c| c.march.ends_with("imc") && levels.contains(&c.level)
}

/// Writes a record, `lab/runs/<date>-mutants.json`; its path from the root of the tree.
///
/// # Errors
/// `Io`, `Lab`: it cannot be written.
pub fn write_record(tree: &Tree, rows: &[Row], stamp: &Stamp) -> Result<PathBuf, BenchError> {
    #[derive(Serialize)]
    struct Record<'a> {
        what: &'a str,
        date: &'a str,
        commit: &'a str,
        engine: &'a str,
        total: Tally,
        rows: &'a [Row],
    }
    let record = Record { what: "mutants", date: &stamp.date, commit: &stamp.commit, engine: ENGINE_VERSION, total: total(rows), rows };
    let text = serde_json::to_string_pretty(&record).map_err(|e| BenchError::lab("mutants", e))? + "\n";
    new_file(tree, &format!("{}-mutants", stamp.date), &text)
}
