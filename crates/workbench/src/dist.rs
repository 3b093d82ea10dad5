//! The generated files that are kept in the tree: for every shipped row of `lib/primitives.toml` `dist/c/<unit>/<unit>.{c,h,abi.json}`,
//! `dist/rust/<unit>.rs` and, for each of its rows of assembly, `dist/riscv/<target>/<unit>.{s,h}`; `docs/library.md`, and rows of README.

use crate::amalgam::{amalgam, Amalgam};
use crate::assembly::{self, assembly};
use crate::compile::believed;
use crate::interface::described;
use crate::pages::{export_map, page, readme, umbrella, Shipped};
use crate::primitives::{Primitive, Tree};
use crate::row::AssemblyRow;
use crate::{parallel, BenchError};
use santoku_passes::Level;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// Level at which files are shipped.
pub const LEVEL: Level = Level::O2;

/// What the shipped files say of themselves, without a number that would change with the prover. Who writes them, proves first.
const CLAIM: &str = "\
For each target every obligation of the source is proved: ranges, indices, contracts, termination, secrecy. `santoku dist --check`
proves them again.
";

/// Files of one folder, from the root of the tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unit {
    pub folder: PathBuf,
    /// File name and text.
    pub files: Vec<(String, String)>,
    /// Functions whose ranges the judge does not accept as they are after the passes, a line each: a unit with any is not shipped.
    pub believed: Vec<String>,
}

/// How a kept file is not what the compiler makes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Difference {
    Missing,
    /// First line that differs, from 1, with both texts; an absent line is empty.
    Line { line: usize, kept: String, made: String },
    /// No row of the table makes it.
    Surplus,
}

/// What the file asks of compilers and processors: from its targets, and from the conditions in its text.
fn needs(tree: &Tree, primitive: &Primitive, text: &str) -> Result<Vec<String>, BenchError> {
    let mut all = vec!["C99, with two's complement and arithmetic right shifts of negative values".to_string()];
    let last = primitive.targets.last().map(|t| tree.target(t)).transpose()?;
    if last.is_some_and(|t| t.widest > 64) {
        all.push("integers of 128 bits (`unsigned __int128`)".into());
    }
    if text.contains("STK_ALLOW_VARIABLE_TIME") {
        all.push("a multiplication whose time does not depend on its operands; on processors known to lack it compilation fails".into());
    }
    if text.contains("STK_PRODUCTS_IN_PARTS") {
        all.push("where only products of 32 by 32 bits are unsafe, they are built from products of 16 by 16 bits".into());
    }
    Ok(all)
}

/// Makes one primitive's C, and says which functions it has.
fn unit(tree: &Tree, primitive: &Primitive) -> Result<(Unit, Shipped), BenchError> {
    let Amalgam { emitted: made, believed, .. } = amalgam(tree, primitive, LEVEL, &BTreeSet::new(), CLAIM)?;
    let name = &primitive.unit;
    let (described, header_only) = described(primitive, &made.exported)?;
    let shipped = Shipped { primitive: primitive.clone(), functions: described, header_only, needs: needs(tree, primitive, &made.source)? };
    let abi = shipped.abi().map_err(|reason| BenchError::Internal { stage: "pages".into(), reason })?;
    let files = vec![(format!("{name}.c"), made.source), (format!("{name}.h"), made.header), (format!("{name}.abi.json"), abi)];
    Ok((Unit { folder: folder(name), files, believed }, shipped))
}

/// The files that are kept of a row of assembly: that, and the header that C calls it by.
fn assembled(tree: &Tree, primitive: &Primitive, row: &AssemblyRow) -> Result<Unit, BenchError> {
    let made = assembly(tree, primitive, row)?;
    let header = made.built.files.iter().filter(|(name, _)| name.ends_with(".h")).map(|(name, text)| (name.clone(), text.replace(" * \n", " *\n")));
    let files = header.chain([(assembly::name(&primitive.unit), made.text.clone())]).collect();
    Ok(Unit { folder: assembly::folder(&row.target), files, believed: believed(&made.built.steps, &made.built.again) })
}

/// Makes the units of these primitives, several at a time, and what is written of them; `all`: of pages that describe the whole library, too.
///
/// # Errors
/// Those of the compiler; `Declaration`: README has no place for rows.
pub fn units(tree: &Tree, primitives: &[Primitive], all: bool) -> Result<Vec<Unit>, BenchError> {
    let made = parallel::map(primitives, parallel::threads(), |p| unit(tree, p))?;
    let (mut units, shipped): (Vec<Unit>, Vec<Shipped>) = made.into_iter().unzip();
    for p in primitives {
        units.extend(parallel::map(&p.assemblies, parallel::threads(), |row| assembled(tree, p, row))?);
    }
    let plain = |folder: &str, files: Vec<(String, String)>| Unit { folder: PathBuf::from(folder), files, believed: vec![] };
    units.push(plain("dist/rust", shipped.iter().map(|s| (format!("{}.rs", s.primitive.unit), s.rust())).collect()));
    if all {
        units.push(plain("dist/c", vec![("santoku.h".into(), umbrella(&shipped)), ("santoku.map".into(), export_map(&shipped))]));
        units.push(plain("docs", vec![("library.md".into(), page(&shipped))]));
        if tree.root.join("README.md").exists() {
            let text = readme(&tree.read("README.md")?, &shipped);
            let text = text.ok_or_else(|| BenchError::Declaration { path: "README.md".into(), reason: "it has no marks for the rows of the library".into() })?;
            units.push(plain("", vec![("README.md".into(), text)]));
        }
    }
    Ok(units)
}

/// Folder of a unit, from the root of the tree.
pub fn folder(unit: &str) -> PathBuf {
    PathBuf::from("dist/c").join(unit)
}

/// The first file, in order of path, that is not as made. `all`: the units are those of the whole table, so files of no
/// unit are differences too.
///
/// # Errors
/// `Io` if a file is there but cannot be read.
pub fn first_difference(tree: &Tree, units: &[Unit], all: bool) -> Result<Option<(PathBuf, Difference)>, BenchError> {
    let made: BTreeMap<PathBuf, &str> =
        units.iter().flat_map(|u| u.files.iter().map(|(n, t)| (u.folder.join(n), t.as_str()))).collect();
    let mut paths: BTreeSet<PathBuf> = made.keys().cloned().collect();
    if all {
        paths.extend(kept_files(tree)?);
    }
    for path in paths {
        let Some(made) = made.get(&path) else { return Ok(Some((path, Difference::Surplus))) };
        let full = tree.root.join(&path);
        let kept = match std::fs::read_to_string(&full) {
            Ok(kept) => kept,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Some((path, Difference::Missing))),
            Err(e) => return Err(BenchError::io(full, &e)),
        };
        if let Some(difference) = first_line(&kept, made) {
            return Ok(Some((path, difference)));
        }
    }
    Ok(None)
}

fn first_line(kept: &str, made: &str) -> Option<Difference> {
    if kept == made {
        return None;
    }
    let (mut old, mut new) = (kept.split('\n'), made.split('\n'));
    for line in 1.. {
        match (old.next(), new.next()) {
            (None, None) => break,
            (a, b) if a == b => {}
            (a, b) => return Some(Difference::Line { line, kept: a.unwrap_or_default().into(), made: b.unwrap_or_default().into() }),
        }
    }
    None
}

/// Generated files below `dist`, from the root of the tree.
pub(crate) fn kept_files(tree: &Tree) -> Result<Vec<PathBuf>, BenchError> {
    let mut found = vec![];
    let mut open = ["dist/c", "dist/rust", "dist/riscv"].map(PathBuf::from).to_vec();
    while let Some(folder) = open.pop() {
        let full = tree.root.join(&folder);
        let entries = match std::fs::read_dir(&full) {
            Ok(entries) => entries,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => continue,
            Err(e) => return Err(BenchError::io(full, &e)),
        };
        for entry in entries.flatten() {
            let path = folder.join(entry.file_name());
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => open.push(path),
                _ => found.push(path),
            }
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree() -> (tempfile::TempDir, Tree, Unit) {
        let dir = tempfile::tempdir().expect("scratch");
        let unit = Unit { folder: folder("u"), files: vec![("u.c".into(), "a\nb\n".into()), ("u.h".into(), "h\n".into())], believed: vec![] };
        std::fs::create_dir_all(dir.path().join("dist/c/u")).expect("folder");
        for (name, text) in &unit.files {
            std::fs::write(dir.path().join("dist/c/u").join(name), text).expect("file");
        }
        let tree = Tree { root: dir.path().to_path_buf() };
        (dir, tree, unit)
    }

    #[test]
    fn what_is_as_made_is_no_difference() {
        let (_dir, tree, unit) = tree();
        assert_eq!(first_difference(&tree, &[unit], true).expect("read"), None);
    }

    #[test]
    fn a_changed_missing_or_surplus_file_is_named() {
        let (dir, tree, unit) = tree();
        let at = |name: &str| dir.path().join("dist/c/u").join(name);
        std::fs::write(at("u.c"), "a\nB\n").expect("write");
        let line = Difference::Line { line: 2, kept: "B".into(), made: "b".into() };
        let found = || first_difference(&tree, std::slice::from_ref(&unit), true).expect("read");
        assert_eq!(found(), Some(("dist/c/u/u.c".into(), line)));
        std::fs::write(at("u.c"), "a\nb").expect("write");
        assert!(matches!(found(), Some((_, Difference::Line { line: 3, .. }))));
        std::fs::write(at("u.c"), "a\nb\n").expect("write");
        std::fs::remove_file(at("u.h")).expect("remove");
        assert_eq!(found(), Some(("dist/c/u/u.h".into(), Difference::Missing)));
        std::fs::write(at("u.h"), "h\n").expect("write");
        std::fs::write(at("old.c"), "").expect("write");
        assert_eq!(found(), Some(("dist/c/u/old.c".into(), Difference::Surplus)));
        assert_eq!(first_difference(&tree, &[unit], false).expect("read"), None);
    }
}
