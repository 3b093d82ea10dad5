//! The report of a release: the newest record of every table with a picture, what is proved of the shipped code, and where cycles go.
//!
//! Needs: `lab/runs` and `dist/certified.json`.  Keeps: every figure names its record; nothing is measured here.  Absent: how it looks in a browser.

use crate::bars::{svg, Bar, Panel};
use crate::claims::kept;
use crate::primitives::Tree;
use crate::subject::variant;
use crate::BenchError;
use santoku_lab::record::{Row, Run};
use santoku_target::Level;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Files of the report: `report.md` and pictures.
pub type Files = Vec<(String, String)>;

/// Makes the report. `flames`: pictures made elsewhere, by their titles and file names.
///
/// # Errors
/// `Io`, `Lab`: a record cannot be read; `Declaration`: there is none, or no list of what is certified.
pub fn report(tree: &Tree, flames: &[(String, String)]) -> Result<Files, BenchError> {
    let runs = newest(&tree.root.join("lab/runs"))?;
    if runs.is_empty() {
        return Err(BenchError::Declaration { path: "lab/runs".into(), reason: "there is no record".into() });
    }
    let mut text = format!(
        "# Report, version {}\n\nMade by `santoku lab report` from the records of `lab/runs`, the newest of each table. Cycles of e31, ckb-vm and zkvm are exact; those of the host are medians on a shared machine: compare within a table.\n",
        env!("CARGO_PKG_VERSION")
    );
    let mut files = vec![];
    text += "\n## What is proved of the shipped code\n\n";
    text += &proofs(tree)?;
    text += "\n## Tables\n";
    for (what, folder) in &runs {
        let run = Run::read(folder).map_err(|e| BenchError::lab(what, e))?;
        let (section, pictures) = table(what, folder, &run)?;
        text += &section;
        files.extend(pictures);
    }
    if !flames.is_empty() {
        text += "\n## Where the cycles go\n";
        for (title, file) in flames {
            let _ = write!(text, "\n### {title}\n\n![{title}]({file})\n");
        }
    }
    files.push(("report.md".into(), text));
    Ok(files)
}

/// The picture of the front page, without builds that are not optimised: the first operation of the first primitive on the machine of its first table, our builds beside its rivals; and
/// the record it is drawn from.
///
/// # Errors
/// `Declaration`: there is no such record, or nothing in it.
pub fn front(tree: &Tree) -> Result<(String, String), BenchError> {
    let bad = |reason: String| BenchError::Declaration { path: "lab/runs".into(), reason };
    let all = tree.shipped()?;
    let first = all.iter().find_map(|p| Some((p, p.tables.first()?, p.workloads.first()?)));
    let (primitive, row, work) = first.ok_or_else(|| bad("no primitive is measured".into()))?;
    let what = format!("{}-{}", primitive.name, row.machine);
    let folder = newest(&tree.root.join("lab/runs"))?.remove(&what).ok_or_else(|| bad(format!("there is no record of {what}")))?;
    let run = Run::read(&folder).map_err(|e| BenchError::lab(&what, e))?;
    let program = work.program.clone().unwrap_or_else(|| format!("{}.{}", primitive.name, work.operation));
    let builds: Vec<String> = row.targets.iter().map(|t| variant(t)).chain(primitive.rivals.iter().map(|r| r.name.clone())).collect();
    let mut own: Vec<(&Row, usize)> = run.rows.iter().filter(|r| r.program == program && r.level != Level::O0.name()).filter_map(|r| Some((r, builds.iter().position(|b| *b == r.variant)?))).collect();
    own.sort_by(|(a, k), (b, l)| (&a.level, k).cmp(&(&b.level, l)));
    let bar = |(r, group): &(&Row, usize)| {
        let value = r.cycles_core as f64 / 1e6;
        Bar { label: format!("-{}  {}: {value:.1}", r.level, r.variant), value, spread: None, group: *group }
    };
    let title = format!("{}: Mcycles of `{}` on {}", primitive.title, work.operation, row.machine);
    let picture = svg(&[Panel { title, bars: own.iter().map(bar).collect() }]).map_err(bad)?;
    let record = folder.strip_prefix(&tree.root).unwrap_or(&folder).display().to_string();
    Ok((record, picture))
}

/// The newest folder of each name, by its date and number.
fn newest(runs: &Path) -> Result<BTreeMap<String, PathBuf>, BenchError> {
    let entries = std::fs::read_dir(runs).map_err(|e| BenchError::Io { path: runs.into(), reason: e.to_string() })?;
    let mut found: BTreeMap<String, ((String, u32), PathBuf)> = BTreeMap::new();
    for path in entries.flatten().map(|e| e.path()).filter(|p| p.join("raw.ndjson").is_file()) {
        let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
        let Some((date, what)) = name.split_at_checked(10).and_then(|(d, w)| Some((d, w.strip_prefix('-')?))) else { continue };
        // A second run of a day has a number behind its name.
        let (what, number) = match what.rsplit_once('-').and_then(|(w, n)| Some((w, n.parse::<u32>().ok()?))) {
            Some((w, n)) => (w, n),
            None => (what, 1),
        };
        let age = (date.to_string(), number);
        if found.get(what).is_none_or(|(other, _)| *other < age) {
            found.insert(what.to_string(), (age, path));
        }
    }
    Ok(found.into_iter().map(|(what, (_, path))| (what, path)).collect())
}

/// A table with a picture of each program.
fn table(what: &str, folder: &Path, run: &Run) -> Result<(String, Files), BenchError> {
    let name = folder.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    let first = run.rows.first().ok_or_else(|| BenchError::lab(what, "a record without rows"))?;
    let mut text = format!("\n### {what}\n\nRecord `lab/runs/{name}`, commit {}.\n", first.commit);
    let mut pictures = vec![];
    let programs: Vec<&str> = run.rows.iter().fold(vec![], |mut all, r| {
        if !all.contains(&r.program.as_str()) {
            all.push(&r.program);
        }
        all
    });
    let variants: BTreeSet<&str> = run.rows.iter().map(|r| r.variant.as_str()).collect();
    let panels: Vec<Panel> = programs.iter().map(|program| panel(program, run.rows.iter().filter(|r| r.program == *program), &variants)).collect();
    let file = format!("{what}.svg");
    let picture = svg(&panels).map_err(|reason| BenchError::Internal { stage: "picture".into(), reason })?;
    let _ = write!(text, "\n![Cycles of {what}]({file})\n\n{}", rows(&run.rows));
    pictures.push((file, picture));
    Ok((text, pictures))
}

fn panel<'r>(program: &str, rows: impl Iterator<Item = &'r Row>, variants: &BTreeSet<&str>) -> Panel {
    let bar = |r: &Row| Bar {
        label: format!("{} -{}", r.variant, r.level),
        value: r.cycles_core as f64,
        spread: None,
        group: variants.iter().position(|v| *v == r.variant).unwrap_or(0),
    };
    let bars: Vec<Bar> = rows.map(bar).collect();
    Panel { title: format!("{program}: cycles"), bars }
}

fn rows(all: &[Row]) -> String {
    let mut text = String::from("| program | implementation | machine | level | cycles | board | instructions | stack | stack bound | size |\n|---|---|---|---|---:|---:|---:|---:|---:|---:|\n");
    let number = |n: Option<u64>| n.map_or("-".to_string(), |n| n.to_string());
    for r in all {
        let more = [r.cycles_board, r.instret, r.stack_bytes, r.stack_bound_bytes, r.size_bytes].map(number).join(" | ");
        let _ = writeln!(text, "| {} | {} | {} | {} | {} | {more} |", r.program, r.variant, r.machine, r.level, r.cycles_core);
    }
    text
}

/// Functions by the objects in which they are proved, and those that are not in every one.
fn proofs(tree: &Tree) -> Result<String, BenchError> {
    let list = kept(tree)?.ok_or_else(|| BenchError::Declaration { path: crate::claims::MANIFEST.into(), reason: "it is not there".into() })?;
    let mut objects: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for o in &list.objects {
        *objects.entry((&o.primitive, &o.target)).or_default() += 1;
    }
    let mut functions: BTreeMap<(&str, &str), BTreeMap<&str, usize>> = BTreeMap::new();
    for f in &list.functions {
        *functions.entry((&f.primitive, &f.target)).or_default().entry(&f.function).or_default() += 1;
    }
    let mut text = String::from("An object is a program as one compiler makes it at one level for one instruction set. A function stands in an object unless the compiler put it into its callers, where it is proved with them.\n\n| program | objects | functions | proofs |\n|---|---:|---:|---:|\n");
    for (unit, count) in &objects {
        let own = functions.get(unit);
        let proofs: usize = own.map_or(0, |f| f.values().sum());
        let _ = writeln!(text, "| {}@{} | {count} | {} | {proofs} |", unit.0, unit.1, own.map_or(0, BTreeMap::len));
    }
    for (unit, own) in &functions {
        let most = objects.get(unit).copied().unwrap_or(0);
        let _ = write!(text, "\n<details><summary>{}@{}: every function, and in how many of {most} objects it is proved</summary>\n\n| function | objects |\n|---|---:|\n", unit.0, unit.1);
        text += &own.iter().map(|(f, n)| format!("| `{f}` | {n} |\n")).collect::<String>();
        text += "\n</details>\n";
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_record_of_each_name_counts() {
        let folder = tempfile::tempdir().expect("scratch");
        for name in ["2026-01-02-a-e31", "2026-01-02-a-e31-2", "2026-01-02-a-e31-10", "2026-01-01-a-e31-11", "2026-01-03-b-host", "2026-01-04-c", "notes"] {
            std::fs::create_dir(folder.path().join(name)).expect("made");
            if name != "2026-01-04-c" {
                std::fs::write(folder.path().join(name).join("raw.ndjson"), "").expect("written");
            }
        }
        let found = newest(folder.path()).expect("records");
        let names: Vec<(&str, String)> = found.iter().map(|(w, p)| (w.as_str(), p.file_name().expect("a name").to_string_lossy().into_owned())).collect();
        assert_eq!(names, [("a-e31", "2026-01-02-a-e31-10".to_string()), ("b-host", "2026-01-03-b-host".to_string())]);
    }

    /// README shows the newest record, and says which.
    #[test]
    fn the_picture_of_the_front_page_is_of_the_newest_record() {
        let tree = Tree::find(Path::new(env!("CARGO_MANIFEST_DIR"))).expect("inside the repository");
        let (record, picture) = front(&tree).expect("a picture");
        assert!(tree.read("docs/sign-cycles.svg").expect("the picture") == picture, "docs/sign-cycles.svg is not of {record}: `santoku lab report` makes it");
        assert!(tree.read("README.md").expect("the page").contains(&format!("(`{record}`)")), "README does not name {record}");
    }

    /// The report of this tree: every record that it names is there, and its figures are those of the record.
    #[test]
    fn the_report_has_the_figures_of_its_records() {
        let tree = Tree::find(Path::new(env!("CARGO_MANIFEST_DIR"))).expect("inside the repository");
        let files = report(&tree, &[("a title".into(), "flames.svg".into())]).expect("a report");
        let text = &files.iter().find(|(n, _)| n == "report.md").expect("the page").1;
        let records: Vec<&str> = text.lines().filter_map(|l| l.strip_prefix("Record `")?.split('`').next()).collect();
        assert!(records.len() >= 8, "{records:?}");
        let mut figures = 0;
        for record in records {
            for row in Run::read(&tree.root.join(record)).expect("a record").rows {
                assert!(text.contains(&format!("| {} | {} | {} | {} | {} |", row.program, row.variant, row.machine, row.level, row.cycles_core)), "{record}");
                figures += 1;
            }
        }
        assert!(figures > 100 && text.contains("![a title](flames.svg)") && text.contains("@rv32"), "{figures}");
        for (name, _) in files.iter().filter(|(n, _)| n.ends_with(".svg")) {
            assert!(text.contains(&format!("]({name})")), "{name} is shown nowhere");
        }
    }
}
