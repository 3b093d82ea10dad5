//! The pages of `docs/diagnostics/`: every program on them does what its page says. What is shown of a terminal is for
//! `crates/cli/tests`.

use santoku_diag::Diagnostic;
use santoku_driver::{build, check, open_obligations, prove, run_case, vacuous, BuildOptions, Checked, Failure, Request};
use santoku_passes::Level;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// A fenced block: the words behind the backticks, and the text.
struct Block {
    info: String,
    text: String,
}

fn blocks(page: &str) -> Vec<Block> {
    let mut out: Vec<Block> = Vec::new();
    let mut open: Option<Block> = None;
    for line in page.lines() {
        match (&mut open, line.strip_prefix("```")) {
            (None, Some(info)) => open = Some(Block { info: info.to_string(), text: String::new() }),
            (Some(_), Some(_)) => out.extend(open.take()),
            (Some(b), None) => b.text += &format!("{line}\n"),
            (None, None) => {}
        }
    }
    assert!(open.is_none(), "a fence is not closed");
    out
}

type Texts = BTreeMap<String, String>;

/// Files that the page names under `marks`.
fn files(blocks: &[Block], marks: &[&str]) -> Texts {
    let of = |b: &Block| {
        let name = marks.iter().find_map(|m| b.info.strip_prefix(m))?.trim();
        Some((name.to_string(), b.text.clone()))
    };
    blocks.iter().filter_map(of).collect()
}

fn compile(main: &str, others: &Texts) -> Result<Checked, Vec<Diagnostic>> {
    let request = Request::new("main.stk", santoku_driver::built_in("portable").unwrap().unwrap());
    let mut load = |path: &str| Ok(if path == "main.stk" { Some(main.to_string()) } else { others.get(path).cloned() });
    check(&request, &mut load).map_err(user_fault)
}

fn user_fault(f: Failure) -> Vec<Diagnostic> {
    match f {
        Failure::Refused { diagnostics, .. } => diagnostics,
        Failure::Internal { stage, message } => panic!("internal error in {stage}: {message}"),
    }
}

fn codes(all: &[Diagnostic]) -> BTreeSet<&'static str> {
    all.iter().map(|d| d.code).collect()
}

/// What the last stage of interest says of a program: codes of its messages.
fn outcome(how: &str, main: &str, others: &Texts) -> BTreeSet<&'static str> {
    let checked = match compile(main, others) {
        Ok(c) => c,
        Err(d) => return codes(&d),
    };
    match how {
        "check" => BTreeSet::new(),
        "prove" => {
            let report = prove(&checked, &santoku_prove::cache::NoStore, 1);
            assert!(report.total() > 0, "nothing to prove");
            let mut all = open_obligations(&checked, &report);
            all.extend(vacuous(&checked, &report, false));
            codes(&all)
        }
        "test" => {
            let tests = checked.program.tests.iter().filter(|t| t.cases.is_none());
            let outcomes: Vec<_> = tests.map(|t| run_case(&checked, t, vec![], santoku_driver::STEPS).unwrap_or_else(|f| panic!("{f:?}"))).collect();
            assert!(!outcomes.is_empty(), "no test");
            outcomes.iter().filter_map(|o| o.failure.as_ref()).map(|d| d.code).collect()
        }
        _ => {
            let options = BuildOptions {
                level: Level::O2,
                without: BTreeSet::new(),
                dump_after: None,
                unit: "main".into(),
                provenance: String::new(),
                keep_secrets: true,
            };
            build(&checked, &options, &|| 0).map_or_else(|f| codes(&user_fault(f)), |_| BTreeSet::new())
        }
    }
}

#[test]
fn examples_fail_with_their_code_and_ways_out_work() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/diagnostics");
    let mut wrong = Vec::new();
    let (mut failing, mut working) = (0, 0);
    for (code, _) in santoku_diag::CODES {
        let page = std::fs::read_to_string(folder.join(format!("{code}.md"))).unwrap_or_else(|e| panic!("{code}: {e}"));
        let blocks = blocks(&page);
        let others = files(&blocks, &["stk file "]);
        let mut good = others.clone();
        good.extend(files(&blocks, &["stk works-file "]));
        for b in &blocks {
            let (how, must_fail) = match b.info.as_str() {
                "stk fails" => ("check", true),
                "stk works" => ("check", false),
                "stk unproved" => ("prove", true),
                "stk proved" => ("prove", false),
                "stk fails-test" => ("test", true),
                "stk works-test" => ("test", false),
                "stk fails-build" => ("build", true),
                "stk works-build" => ("build", false),
                _ => continue,
            };
            let found = outcome(how, &b.text, if must_fail { &others } else { &good });
            let right = if must_fail { found.contains(code) } else { found.is_empty() };
            if !right {
                wrong.push(format!("{code} ({}): {found:?}\n{}", b.info, b.text));
            }
            *(if must_fail { &mut failing } else { &mut working }) += 1;
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(failing > 60 && working > 60, "{failing} failing and {working} working examples");
}
