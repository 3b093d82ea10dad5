//! What is believed for each claim, derived from the sources that are believed.
//!
//! Needs: the folder `crates/`.  Keeps: a file counts for the claims that its own header names, else for those that the header of the
//! module or crate around it names; a crate that believed code uses and that says nothing is an error. Absent on purpose: any list
//! of files, any figure.
//!
//! A header says `//! Trusted: safe, c.`, or `//! Trusted: nothing: ` and why, in the comment that begins the file.

mod lines;
mod marks;
mod outside;
mod tree;

pub use lines::{code, code_lines};
pub use marks::CLAIMS;
pub use tree::{read, Source};

use marks::{marks, of};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

/// One crate, as far as it is believed for a claim.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Component {
    pub name: String,
    /// Lines of code: neither blank nor comment nor test.
    pub lines: usize,
    /// SHA-256 of the paths and texts of its believed files, in hexadecimal.
    pub digest: String,
    /// Paths below `crates/`, with their lines.
    pub files: Vec<(String, usize)>,
}

/// What is believed for one claim.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {
    pub name: String,
    pub what: String,
    pub lines: usize,
    pub components: Vec<Component>,
    /// Libraries of others that these crates use, with their versions. Their lines are not counted.
    pub outside: Vec<String>,
}

/// The claims, from all sources and manifests of a tree.
///
/// # Errors
/// A line for each header that names no claim, or says nothing where something must be said.
pub fn ledger(sources: &[Source], lock: &str) -> Result<Vec<Claim>, Vec<String>> {
    let marks = marks(sources)?;
    let mut claims = Vec::new();
    let mut wrong = Vec::new();
    for (name, what) in CLAIMS {
        let mut crates: BTreeMap<&str, Vec<&Source>> = BTreeMap::new();
        for s in sources.iter().filter(|s| s.is_code() && of(&marks, &s.path).is_some_and(|m| m.contains(name))) {
            crates.entry(s.of_crate()).or_default().push(s);
        }
        wrong.extend(outside::silent(name, &crates, sources, &marks));
        let components: Vec<Component> = crates.iter().map(|(name, files)| component(name, files)).collect();
        let lines = components.iter().map(|c| c.lines).sum();
        if lines == 0 {
            wrong.push(format!("nothing is believed for `{name}`"));
        }
        let outside = outside::libraries(crates.keys().copied(), sources, lock);
        claims.push(Claim { name: name.into(), what: what.into(), lines, components, outside });
    }
    if wrong.is_empty() { Ok(claims) } else { Err(wrong) }
}

fn component(name: &str, files: &[&Source]) -> Component {
    let mut hash = Sha256::new();
    for s in files {
        hash.update(format!("{}\n{}\n{}", s.path, s.text.len(), s.text));
    }
    let files: Vec<(String, usize)> = files.iter().map(|s| (s.path.clone(), code_lines(&s.text))).collect();
    let digest = hash.finalize().iter().map(|b| format!("{b:02x}")).collect();
    Component { name: name.to_string(), lines: files.iter().map(|f| f.1).sum(), digest, files }
}
