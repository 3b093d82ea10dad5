//! The pages of the passes and their index follow the table.

use crate::{Class, PIPELINE, TABLE};
use std::fs;
use std::path::PathBuf;

fn docs() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/passes")
}

fn index() -> String {
    let mut text = String::from(
        "# Passes\n\nIn the order in which they first run. *Checked* means on every run, not once; see \
         [how the check works](check.md).\n\n| pass | what it does | class | levels |\n|---|---|---|---|\n",
    );
    for pass in TABLE {
        let class = match pass.class {
            Class::Proved => "proved",
            Class::Checked => "checked",
            Class::Trusted => "trusted",
        };
        let levels: Vec<String> = pass.levels.iter().map(ToString::to_string).collect();
        text.push_str(&format!("| [{0}]({0}.md) | {1} | {2} | {3} |\n", pass.name, pass.doc, class, levels.join(" ")));
    }
    text.push_str(&format!("\nRun order: `{}`.\n", PIPELINE.join("`, `")));
    text
}

#[test]
fn the_index_is_the_table() {
    let path = docs().join("README.md");
    if std::env::var_os("SANTOKU_BLESS").is_some() {
        fs::write(&path, index()).expect("index written");
    }
    assert_eq!(fs::read_to_string(&path).unwrap_or_default(), index(), "SANTOKU_BLESS=1 rewrites the index");
}

#[test]
fn every_pass_has_a_real_page_and_every_page_a_pass() {
    for pass in TABLE {
        let text = fs::read_to_string(docs().join(format!("{}.md", pass.name))).unwrap_or_default();
        for part in [&format!("# {}", pass.name), "## Why", "## Check", "## Options", "## Example"] {
            assert!(text.contains(part), "{}: no `{part}`", pass.name);
        }
        assert!(text.len() > 900, "{}: {} bytes is no page", pass.name, text.len());
        assert!(!text.contains("TODO"), "{}", pass.name);
    }
    for entry in fs::read_dir(docs()).expect("docs/passes") {
        let name = entry.expect("entry").file_name().into_string().unwrap_or_default();
        let stem = name.trim_end_matches(".md");
        assert!(matches!(stem, "README" | "check") || TABLE.iter().any(|p| p.name == stem), "{name} belongs to no pass");
    }
}
