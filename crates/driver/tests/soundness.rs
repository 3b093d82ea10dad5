//! `SOUNDNESS.md` speaks of the stages that there are, each in the class that `santoku passes` prints.

use santoku_driver::stages;
use santoku_passes::Class;
use std::collections::{BTreeMap, BTreeSet};

const CLASSES: [&str; 4] = ["checker", "proved", "checked", "trusted"];

/// Names in backticks before a class, as in "(`load`, `sema`: trusted)".
fn classes(text: &str) -> BTreeMap<String, String> {
    let mut out = BTreeMap::new();
    for group in text.split('(').skip(1).filter_map(|rest| rest.split(')').next()) {
        let Some((names, class)) = group.rsplit_once("`: ").filter(|(_, c)| CLASSES.contains(c)) else { continue };
        for name in format!("{names}`").split(", ") {
            let name = name.strip_prefix('`').and_then(|n| n.strip_suffix('`')).unwrap_or_else(|| panic!("({group})"));
            assert!(out.insert(name.to_string(), class.to_string()).is_none(), "`{name}` has two classes");
        }
    }
    out
}

fn disagreements(text: &str) -> BTreeSet<String> {
    let word = |c: Option<Class>| match c {
        None => CLASSES[0],
        Some(Class::Proved) => CLASSES[1],
        Some(Class::Checked) => CLASSES[2],
        Some(Class::Trusted) => CLASSES[3],
    };
    let (said, all) = (classes(text), stages());
    assert!(!said.is_empty(), "no class is named");
    // What is neither proved, checked nor named would be believed in silence.
    let missing = all.iter().filter(|s| !matches!(s.class, Some(Class::Proved | Class::Checked)) && !said.contains_key(s.name)).map(|s| s.name.to_string());
    let wrong = said.iter().filter(|(name, class)| !all.iter().any(|s| s.name == *name && word(s.class) == *class)).map(|(name, _)| name.clone());
    missing.chain(wrong).collect()
}

#[test]
fn the_risks_name_every_stage_that_is_not_checked() {
    let text = include_str!("../../../SOUNDNESS.md");
    assert_eq!(disagreements(text), BTreeSet::new());
    for (from, to, name) in [("`sema`: trusted", "`sema`: checked", "sema"), ("`backend-c`: checked", "`backend-c`: trusted", "backend-c"), ("(`c-judge`: checker)", "", "c-judge"), ("`interleave`: checked", "`unrol`: checked", "unrol")] {
        assert!(text.contains(from), "{from}");
        assert!(disagreements(&text.replace(from, to)).contains(name), "{name}");
    }
}
