//! What believed crates use: crates of ours that say nothing of themselves, and libraries of others.

use crate::Source;
use crate::marks::Marks;
use std::collections::{BTreeMap, BTreeSet};
use toml::Table;

const OURS: &str = "santoku-";

/// Names in the section `[dependencies]` of a crate, those of tests and build scripts apart.
fn uses(krate: &str, sources: &[Source]) -> Vec<String> {
    let manifest = sources.iter().find(|s| s.path == format!("{krate}/Cargo.toml"));
    let table: Table = manifest.and_then(|m| m.text.parse().ok()).unwrap_or_default();
    table.get("dependencies").and_then(|d| d.as_table()).map(|d| d.keys().cloned().collect()).unwrap_or_default()
}

/// Crates of ours that believed crates use and whose header does not say what they are trusted for.
pub fn silent(claim: &str, crates: &BTreeMap<&str, Vec<&Source>>, sources: &[Source], marks: &Marks) -> Vec<String> {
    let mut out = BTreeSet::new();
    for krate in crates.keys() {
        for used in uses(krate, sources).iter().filter_map(|u| u.strip_prefix(OURS)) {
            if !marks.contains_key(&format!("{used}/src/lib.rs")) {
                out.insert(format!("`{krate}` is believed for `{claim}` and uses `{used}`, whose lib.rs does not say what it is trusted for"));
            }
        }
    }
    out.into_iter().collect()
}

/// Libraries of others that these crates use directly, with the versions of `Cargo.lock`.
pub fn libraries<'a>(crates: impl Iterator<Item = &'a str>, sources: &[Source], lock: &str) -> Vec<String> {
    let lock: Table = lock.parse().unwrap_or_default();
    let packages = lock.get("package").and_then(|p| p.as_array()).cloned().unwrap_or_default();
    let versions = |name: &str| {
        let of = packages.iter().filter(|p| p.get("name").and_then(|n| n.as_str()) == Some(name));
        of.filter_map(|p| p.get("version")?.as_str()).collect::<Vec<_>>().join(" or ")
    };
    let names: BTreeSet<String> = crates.flat_map(|c| uses(c, sources)).filter(|u| !u.starts_with(OURS)).collect();
    names.into_iter().map(|n| format!("{n} {}", versions(&n)).trim_end().to_string()).collect()
}
