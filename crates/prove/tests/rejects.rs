//! Every program of `proof/reject` is refused for the reason its first line names, and for no other; with its second
//! line's repair applied it is accepted.

use santoku_prove::obligation::Outcome;
use santoku_prove::{prove, ProveOptions};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// What became of a program: `(code or kind, message)` of every refusal; none means accepted.
fn judge(name: &str, text: &str) -> Vec<(String, String)> {
    let entry = format!("{name}.stk");
    let mut load = |path: &str| (path == entry).then(|| text.to_string());
    let program = match santoku_sema::compile(&entry, &[], &mut load, &santoku_sema::Options::default()) {
        Ok(c) => c.program,
        Err(f) => return f.diagnostics.iter().map(|d| (d.code.to_string(), d.title.clone())).collect(),
    };
    let report = prove(&program, &ProveOptions { threads: 1, ..ProveOptions::default() });
    assert!(report.total() > 0, "{name}: nothing to prove");
    let refusal = |o: &santoku_prove::obligation::Obligation| {
        let Outcome::Failed { reason, witness, .. } = &o.outcome else { unreachable!("only failures are asked for") };
        let seen = witness.as_ref().map_or(String::new(), |w| format!("; {} for {:?}", w.message, w.inputs));
        (o.kind.name().to_string(), format!("{}: {reason}{seen}", o.text))
    };
    report.failed().map(refusal).collect()
}

struct Case {
    name: String,
    text: String,
    code: String,
    message: String,
    repaired: Option<String>,
}

fn read(path: &Path) -> Case {
    let text = std::fs::read_to_string(path).expect("a readable file");
    let name = path.file_stem().and_then(|s| s.to_str()).expect("a name").to_string();
    let mut lines = text.lines();
    let head = lines.next().and_then(|l| l.strip_prefix("// refuse: ")).unwrap_or_else(|| panic!("{name}: no `// refuse:` line"));
    let (code, message) = head.split_once(' ').unwrap_or((head, ""));
    let repaired = lines.next().and_then(|l| l.strip_prefix("// repair: ")).map(|r| {
        let (from, to) = r.split_once(" => ").unwrap_or_else(|| panic!("{name}: a repair is `from => to`"));
        let body = text.lines().skip(2).collect::<Vec<_>>().join("\n");
        assert!(body.contains(from), "{name}: nothing to repair");
        body.replace(from, to)
    });
    Case { name, code: code.into(), message: message.into(), repaired, text }
}

fn cases() -> Vec<Case> {
    let dir = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../proof/reject");
    let mut paths: Vec<PathBuf> = std::fs::read_dir(&dir)
        .expect("proof/reject")
        .filter_map(|e| e.ok().map(|e| e.path()))
        .filter(|p| p.extension().is_some_and(|x| x == "stk"))
        .collect();
    paths.sort();
    paths.iter().map(|p| read(p)).collect()
}

#[test]
fn each_is_refused_for_its_own_reason() {
    let cases = cases();
    assert!(cases.len() >= 25, "only {} programs", cases.len());
    let mut wrong = Vec::new();
    for c in &cases {
        let found = judge(&c.name, &c.text);
        let kinds: BTreeSet<&str> = found.iter().map(|f| f.0.as_str()).collect();
        if kinds != BTreeSet::from([c.code.as_str()]) || !found.iter().any(|f| f.1.contains(&c.message)) {
            wrong.push(format!("{}: wanted {} `{}`, found {found:#?}", c.name, c.code, c.message));
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}

#[test]
fn each_repair_is_accepted() {
    let repairs: Vec<(String, String)> = cases().into_iter().filter_map(|c| Some((c.name, c.repaired?))).collect();
    assert!(repairs.len() >= 25, "only {} repairs", repairs.len());
    let mut wrong = Vec::new();
    for (name, text) in &repairs {
        let found = judge(name, text);
        if !found.is_empty() {
            wrong.push(format!("{name}: {found:#?}"));
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), repairs.len(), wrong.join("\n"));
}

#[test]
fn the_judge_accepts_a_right_program_and_sees_what_is_wrong() {
    let right = "fn f(a: int in 0..9) -> int in 0..18 { a + a }\n";
    assert_eq!(judge("right", right), []);
    assert_eq!(judge("wrong", &right.replace("18", "17"))[0].0, "range");
}
