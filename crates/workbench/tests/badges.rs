//! The badges of the front page say what the tree says: `UPDATE_EXPECT=1` draws them again.

mod support;

use expect_test::expect_file;
use serde_json::Value;
use support::tree;

/// Pixels of a letter, and of the room beside a text.
const LETTER: usize = 7;
const ROOM: usize = 6;

/// A label and what it says, as one picture.
fn badge(label: &str, says: &str) -> String {
    let width = |text: &str| LETTER * text.chars().count();
    let (left, right) = (width(label) + 2 * ROOM, width(says) + 2 * ROOM);
    let text = |x: usize, text: &str| format!("<text x=\"{x}\" y=\"14\" textLength=\"{}\">{text}</text>\n", width(text));
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{all}\" height=\"20\" role=\"img\" aria-label=\"{label}: {says}\">\n\
<title>{label}: {says}</title>\n\
<clipPath id=\"round\"><rect width=\"{all}\" height=\"20\" rx=\"3\"/></clipPath>\n\
<g clip-path=\"url(#round)\"><rect width=\"{left}\" height=\"20\" fill=\"#444\"/><rect x=\"{left}\" width=\"{right}\" height=\"20\" fill=\"#2a7f62\"/></g>\n\
<g fill=\"#fff\" font-family=\"Verdana, DejaVu Sans, sans-serif\" font-size=\"11\">\n{}{}</g>\n</svg>\n",
        text(ROOM, label),
        text(left + ROOM, says),
        all = left + right,
    )
}

fn json(path: &str) -> Value {
    let text = std::fs::read_to_string(tree().root.join(path)).unwrap_or_else(|e| panic!("{path}: {e}"));
    serde_json::from_str(&text).unwrap_or_else(|e| panic!("{path}: {e}"))
}

fn thousands(n: usize) -> String {
    if n < 1000 { n.to_string() } else { format!("{},{:03}", n / 1000, n % 1000) }
}

#[test]
fn badges_are_true() {
    let list = json("dist/certified.json");
    let [functions, objects] = ["functions", "objects"].map(|key| list[key].as_array().expect("a list").len());
    assert!(functions > 1000 && objects > 100);
    let proved = format!("{} functions in {} objects", thousands(functions), thousands(objects));
    expect_file!["../../../docs/badges/proved.svg"].assert_eq(&badge("RISC-V code proved", &proved));
    let licence = json("dist/c/nacl_sign/nacl_sign.abi.json")["licence"].as_str().expect("a licence").to_string();
    expect_file!["../../../docs/badges/licence.svg"].assert_eq(&badge("licence of the C files", &licence));
    expect_file!["../../../docs/badges/version.svg"].assert_eq(&badge("version", env!("CARGO_PKG_VERSION")));
    let readme = std::fs::read_to_string(tree().root.join("README.md")).expect("the front page");
    for name in ["proved", "licence", "version"] {
        assert!(readme.contains(&format!("](docs/badges/{name}.svg)")), "{name} is not on the front page");
    }
}
