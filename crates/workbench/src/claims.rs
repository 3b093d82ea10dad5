//! What `dist/certified.json` claims, compared with what is so: the generated files, the objects made of them, the theorems.
//!
//! Needs: compilers for what is certified again.  Keeps: a theorem that is no longer there is named; so is one that is new, a file
//! that is not the one the hashes come from, and an object of a shipped program that is not listed.  Absent: how the list is shown.

use crate::certify::{cell, Cell, Outside, Wish};
use crate::dist::kept_files;
use crate::matrix::{compile, compiler_version, configs, Config};
use crate::matrix_units::{all_units, make_shipped, shipped_text, Unit};
use crate::primitives::Tree;
use crate::{parallel, BenchError};
use santoku_certify::program_hash;
use santoku_num::hex;
use santoku_certify::manifest::{parse, print, records, File, List, Object, Record};
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;

/// Place of the list, from the root of the tree.
pub const MANIFEST: &str = "dist/certified.json";

/// The list that is kept; `None`: there is none.
///
/// # Errors
/// `Declaration`: it is malformed; `Io`: it cannot be read.
pub fn kept(tree: &Tree) -> Result<Option<List>, BenchError> {
    let path = tree.root.join(MANIFEST);
    match std::fs::read_to_string(&path) {
        Ok(text) => parse(&text).map(Some).map_err(|reason| BenchError::Declaration { path, reason }),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(BenchError::io(path, &e)),
    }
}

/// The list with the rows of these cells in the place of what it had of the same objects, and the files as they are.
///
/// # Errors
/// Those of [`kept`]; `Io`: a generated file cannot be read.
pub fn manifest(tree: &Tree, cells: &[Cell]) -> Result<String, BenchError> {
    let mut list = kept(tree)?.unwrap_or_default();
    list.files = files(tree)?;
    let new: Vec<Object> = cells.iter().map(object).collect();
    let place = |o: &Object| (o.primitive.clone(), o.target.clone(), o.march.clone(), o.flags.clone());
    let renewed: BTreeSet<_> = new.iter().map(place).collect();
    // What was proved against another state of the source is no proof for this one.
    let old = |o: &Object| new.iter().any(|n| (&n.primitive, &n.target) == (&o.primitive, &o.target) && n.program != o.program);
    list.objects.retain(|o| !old(o) && !renewed.contains(&place(o)));
    let left = std::mem::take(&mut list.functions);
    list.functions = left.into_iter().filter(|r| list.objects.iter().any(|o| o.has(r))).collect();
    list.objects.extend(new);
    for cell in cells {
        list.functions.extend(records(&cell.report, &cell.origin()));
    }
    print(&list).map_err(|reason| BenchError::Internal { stage: "certify".into(), reason })
}

/// The text of a list, with the files as they are.
///
/// # Errors
/// `Io`: a generated file cannot be read.
pub fn with_files(tree: &Tree, list: List) -> Result<String, BenchError> {
    let list = List { files: files(tree)?, ..list };
    print(&list).map_err(|reason| BenchError::Internal { stage: "certify".into(), reason })
}

fn object(cell: &Cell) -> Object {
    let o = cell.origin();
    let (text, program) = (cell.text.clone(), cell.report.program.clone());
    Object { primitive: o.primitive, target: o.target, march: o.march, xlen: o.xlen, compiler: o.compiler, flags: o.flags, text, program }
}

fn files(tree: &Tree) -> Result<Vec<File>, BenchError> {
    let mut all = vec![];
    for path in kept_files(tree)? {
        let full = tree.root.join(&path);
        let bytes = std::fs::read(&full).map_err(|e| BenchError::io(full, &e))?;
        all.push(File { path: path.to_string_lossy().into_owned(), sha256: hex(&Sha256::digest(bytes)) });
    }
    all.sort();
    Ok(all)
}

/// What is not as the list says, without compiling anything: files, and objects of shipped programs.
///
/// # Errors
/// `Io`: a generated file cannot be read; those of the tables.
pub fn text_faults(tree: &Tree, list: &List) -> Result<Vec<String>, BenchError> {
    let mut faults = vec![];
    let (now, then): (BTreeSet<File>, BTreeSet<File>) = (files(tree)?.into_iter().collect(), list.files.iter().cloned().collect());
    faults.extend(now.symmetric_difference(&then).map(|f| f.path.clone()).collect::<BTreeSet<_>>().into_iter().map(|path| {
        format!("`{path}` is not the file that the hashes come from")
    }));
    let configs = configs()?;
    for unit in all_units(tree)? {
        let Some(text) = shipped_text(tree, &unit)? else { continue };
        let digest = hex(&Sha256::digest(text));
        for config in &unit.ways(&configs) {
            let found: Vec<&Object> = list.objects.iter().filter(|o| is_of(o, &unit, config)).collect();
            match found[..] {
                [o] if o.text == digest => {}
                [o] => faults.push(format!("{}: certified of another text than `dist` has", o.name())),
                [] => faults.push(format!("{} {}: not certified", unit.name, config.name())),
                _ => faults.push(format!("{} {}: certified more than once", unit.name, config.name())),
            }
        }
    }
    if list.objects.is_empty() || list.functions.is_empty() {
        faults.push("nothing is certified".into());
    }
    Ok(faults)
}

/// Objects that were certified against another program than the one the source is now: its C may be the same, and its hash is not.
///
/// # Errors
/// Those of making a program.
pub fn program_faults(tree: &Tree, list: &List) -> Result<Vec<String>, BenchError> {
    let certified = |u: &&Unit| list.objects.iter().any(|o| is_named(o, u));
    let all = all_units(tree)?;
    let units: Vec<&Unit> = all.iter().filter(certified).collect();
    let programs = parallel::map(&units, parallel::threads(), |unit| Ok::<_, BenchError>(program_hash(&make_shipped(tree, unit)?.program)))?;
    let faults = units.iter().zip(&programs).flat_map(|(unit, program)| {
        let other = list.objects.iter().filter(move |o| is_named(o, unit) && o.program != *program);
        other.map(|o| format!("{}: certified of another program than the source is now", o.name()))
    });
    Ok(faults.collect())
}

fn is_named(o: &Object, unit: &Unit) -> bool {
    format!("{}@{}", o.primitive, o.target) == unit.name
}

pub(crate) fn is_of(o: &Object, unit: &Unit, config: &Config) -> bool {
    is_named(o, unit) && o.march == config.march && o.flags == config.arguments()
}

/// The objects whose turn it is: one for each width of registers, so that with every turn another comes and all come.
pub fn chosen(list: &List, turn: u64) -> Vec<&Object> {
    let widths: BTreeSet<u32> = list.objects.iter().map(|o| o.xlen).collect();
    let one = |xlen: u32| {
        let all: BTreeSet<&Object> = list.objects.iter().filter(|o| o.xlen == xlen).collect();
        let n = turn % all.len().max(1) as u64;
        all.into_iter().nth(n as usize)
    };
    widths.into_iter().filter_map(one).collect()
}

/// How a certified object is found again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Again {
    /// All its theorems, so many.
    Holds(usize),
    /// What is not as the list says.
    Faults(Vec<String>),
    /// It cannot be asked here: another compiler than the list's, or none.
    Skipped(String),
}

/// Compiles an object of the list again and certifies it, and compares the theorems.
///
/// # Errors
/// Those of making, compiling and certifying.
pub fn again(tree: &Tree, list: &List, o: &Object, outside: &Outside) -> Result<Again, BenchError> {
    let (all, configs) = (all_units(tree)?, configs()?);
    let found = all.iter().flat_map(|u| u.ways(&configs).into_iter().map(move |c| (u, c))).find(|(u, c)| is_of(o, u, c));
    let Some((unit, config)) = found else { return Ok(Again::Faults(vec![format!("{}: there is no such object any more", o.name())])) };
    let compiler = match compiler_version(&config) {
        Ok(version) if version == o.compiler => version,
        Ok(other) => return Ok(Again::Skipped(format!("the compiler here is {other}"))),
        Err(e) => return Ok(Again::Skipped(e.to_string())),
    };
    let made = make_shipped(tree, unit)?;
    let folder = tempfile::tempdir().map_err(|e| BenchError::io(std::env::temp_dir(), &e))?;
    let bytes = compile(&config, &made.source, folder.path())?;
    let wish = Wish { again: true, threads: parallel::threads(), ..Wish::default() };
    let cell = cell(tree, unit, (&config, compiler), &made, &bytes, (&wish, outside))?;
    let then: BTreeSet<&Record> = list.functions.iter().filter(|r| o.has(r)).collect();
    let faults = differences(o, &object(&cell), &then, &records(&cell.report, &cell.origin()));
    Ok(if faults.is_empty() { Again::Holds(then.len()) } else { Again::Faults(faults) })
}

/// Theorems that are gone or new, by name.
fn differences(old: &Object, new: &Object, then: &BTreeSet<&Record>, now: &[Record]) -> Vec<String> {
    let mut faults = vec![];
    if old != new {
        faults.push(format!("{}: the object is made of another text or program", old.name()));
    }
    let now: BTreeSet<&Record> = now.iter().collect();
    let symbols = |all: &BTreeSet<&Record>| -> BTreeSet<String> { all.iter().map(|r| r.symbol.clone()).collect() };
    let here = symbols(&now);
    for r in then.difference(&now) {
        let what = if here.contains(&r.symbol) { "proved, but of other code or in other ways than the list says" } else { "no longer proved" };
        faults.push(format!("{}: `{}` is {what}", old.name(), r.symbol));
    }
    let there = symbols(then);
    faults.extend(now.difference(then).filter(|r| !there.contains(&r.symbol)).map(|r| format!("{}: `{}` is proved, and not in the list", old.name(), r.symbol)));
    if then.is_empty() {
        faults.push(format!("{}: nothing is claimed of it", old.name()));
    }
    faults
}
