//! The folder for Visual Studio Code: its grammar knows the words of the language, and its files are there.

use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../editors/vscode");

fn json(name: &str) -> Value {
    let text = std::fs::read_to_string(Path::new(FOLDER).join(name)).unwrap_or_else(|e| panic!("{name}: {e}"));
    serde_json::from_str(&text).unwrap_or_else(|e| panic!("{name}: {e}"))
}

/// Words between `(` and `)` of the alternatives of a rule.
fn words(rule: &Value) -> BTreeSet<String> {
    let patterns = rule["patterns"].as_array().expect("patterns").iter();
    let text: Vec<&str> = patterns.filter_map(|p| p["match"].as_str()).filter_map(|m| m.split_once('(')?.1.split_once(')')).map(|(inside, _)| inside).collect();
    text.iter().flat_map(|t| t.split('|')).map(str::to_string).collect()
}

#[test]
fn every_keyword_has_a_colour_and_no_other_word() {
    let grammar = json("syntaxes/santoku.tmLanguage.json");
    let mut coloured = words(&grammar["repository"]["keywords"]);
    coloured.extend(words(&grammar["repository"]["types"]));
    let keywords: BTreeSet<String> = santoku_syntax::keywords().map(str::to_string).collect();
    assert!(keywords.len() > 30);
    assert_eq!(coloured, keywords);
}

#[test]
fn the_extension_names_files_that_are_there() {
    let package = json("package.json");
    json("language-configuration.json");
    let contributes = &package["contributes"];
    let named = [&package["main"], &contributes["languages"][0]["configuration"], &contributes["grammars"][0]["path"]];
    for file in named {
        assert!(Path::new(FOLDER).join(file.as_str().expect("a path")).is_file(), "{file}");
    }
    assert_eq!(contributes["languages"][0]["extensions"][0], ".stk");
    assert_eq!(package["version"], env!("CARGO_PKG_VERSION"));
    // Settings that are read, are declared.
    let code = std::fs::read_to_string(Path::new(FOLDER).join("extension.js")).expect("the extension");
    let settings = contributes["configuration"]["properties"].as_object().expect("settings");
    for name in settings.keys() {
        assert!(code.contains(&format!("get(\"{}\")", name.trim_start_matches("santoku."))), "{name}");
    }
    assert_eq!(code.matches("settings.get(").count(), settings.len());
}
