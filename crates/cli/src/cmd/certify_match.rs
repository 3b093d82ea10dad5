//! `santoku certify --match`

use crate::{files, report};
use santoku_certify::manifest::{look_up, parse, Match, Record};
use santoku_certify::report::ASSUMED_OF_MATCHES;
use std::collections::BTreeSet;
use santoku_diag::{Diagnostic, Sources};
use santoku_driver::Failure;
use santoku_elf::Image;
use serde::Serialize;
use std::path::Path;

/// The list as of the making of this command.
const SHIPPED: &str = include_str!("../../../../dist/certified.json");

#[derive(Serialize)]
struct Json<'a> {
    file: &'a str,
    matched: usize,
    /// Everything that was asked for is proved: what the exit code says.
    holds: bool,
    /// What that rests on beside the list.
    assumed: &'static [&'static str],
    /// Functions of the C library in the file, which are not looked at.
    not_looked_at: Vec<&'a str>,
    functions: Vec<JsonFunction<'a>>,
}

#[derive(Serialize)]
struct JsonFunction<'a> {
    #[serde(flatten)]
    found: &'a Match,
    proved_as: Vec<&'a Record>,
}

/// Exit 0 if all that is asked for is proved, each with everything it calls, and at least one function is: the functions of these
/// names; without names, every function of the image that has the name of one in the list. 1 otherwise.
pub fn run(path: &str, image: &Image, manifest: Option<&Path>, names: &[String]) -> Result<u8, Failure> {
    let (name, text) = match manifest {
        Some(file) => (file.display().to_string(), files::read_entry(&file.display().to_string())?),
        None => ("dist/certified.json".to_string(), SHIPPED.to_string()),
    };
    let list = parse(&text).map(|list| list.functions).map_err(|why| {
        let d = Diagnostic::error("bad-manifest", format!("`{name}` is no list of certified hashes"));
        Failure::refused(&Sources::default(), d.note(format!("why: {why}")).help("leave `--manifest` out to use the list that came with this command"))
    })?;
    let found = look_up(image, &list);
    let matched = found.iter().filter(|m| !m.records.is_empty()).count();
    let (own, missing) = own(image, &found, &list, names);
    let open: Vec<&Match> = own.iter().copied().filter(|m| m.records.is_empty()).collect();
    let holds = !own.is_empty() && open.is_empty() && missing.is_empty();
    if report::json() {
        let records = |m: &Match| m.records.iter().filter_map(|n| list.get(*n)).collect();
        let functions = found.iter().map(|m| JsonFunction { proved_as: records(m), found: m }).collect();
        report::answer(&Json { file: path, matched, holds, assumed: &ASSUMED_OF_MATCHES, not_looked_at: library(image), functions })?;
    } else {
        found.iter().for_each(|m| report::out(&line(m, &list)));
        report::out(&format!("{matched} of {} functions are among the {} proved in `{name}`\n", found.len(), list.len()));
        let which = if names.is_empty() { "that have the name of one in the list" } else { "asked for" };
        report::out(&format!("{} of {} functions {which} are proved\n", own.len() - open.len(), own.len() + missing.len()));
        missing.iter().for_each(|name| report::out(&format!("not there: {name}\n")));
        ASSUMED_OF_MATCHES.iter().for_each(|what| report::out(&format!("assumed: {what}\n")));
        library(image).iter().for_each(|name| report::out(&format!("not looked at: {name}\n")));
    }
    Ok(if holds { report::DONE } else { report::FAILED })
}

/// The functions of the C library that the file holds itself.
fn library(image: &Image) -> Vec<&str> {
    ["memcpy", "memmove", "memset"].into_iter().filter(|name| image.function(name).is_some()).collect()
}

/// The functions that the exit code is about, and the names that were asked for and are not there.
fn own<'m>(image: &Image, found: &'m [Match], list: &[Record], names: &[String]) -> (Vec<&'m Match>, Vec<String>) {
    let listed: BTreeSet<&str> = list.iter().map(|r| r.symbol.as_str()).collect();
    let names_of = |m: &Match| -> Vec<String> {
        let at = image.functions.iter().filter(|f| f.address == m.address);
        at.flat_map(|f| std::iter::once(&f.name).chain(&f.aliases).cloned()).collect()
    };
    let asked = |name: &str| if names.is_empty() { listed.contains(name) } else { names.iter().any(|n| n == name) };
    let own = found.iter().filter(|m| names_of(m).iter().any(|n| asked(n))).collect();
    let there: BTreeSet<String> = found.iter().flat_map(names_of).collect();
    // A name of the list that the file defines, and at which it has no code.
    let empty = image.without_code.iter().map(|f| &f.name).filter(|n| names.is_empty() && asked(n));
    (own, names.iter().chain(empty).filter(|n| !there.contains(*n)).cloned().collect())
}

fn line(m: &Match, list: &[Record]) -> String {
    let hash: String = m.hash.chars().take(12).collect();
    match (m.records.first().and_then(|n| list.get(*n)), &m.lacks) {
        (Some(r), _) => {
            let more = if m.records.len() > 1 { format!(", and {} more ways", m.records.len() - 1) } else { String::new() };
            let how = format!("{} {} by {} {}{more}", r.primitive, r.target, r.compiler, r.flags.join(" "));
            format!("proved   {} {hash} as `{}` of {how}\n", m.symbol, r.function)
        }
        (None, Some(other)) => format!("in part  {} {hash}: the hash is proved, but `{other}`, which it needs, is not found with a proved hash\n", m.symbol),
        (None, None) => format!("unknown  {} {hash}\n", m.symbol),
    }
}
