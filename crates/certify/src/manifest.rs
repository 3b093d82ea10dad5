//! Hashes of functions that were proved, and by which compiler they came: `dist/certified.json`.
//!
//! Needs: reports.  Keeps: a function counts as known only with everything it runs and calls, by hash.  Absent: files.

use crate::report::{FileReport, Status};
use santoku_elf::{Function, Image};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// A function of which other code is needed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Call {
    pub symbol: String,
    /// Name in the core IR.
    pub function: String,
    /// Results that share an object with a parameter in this call, by name.
    pub shared: Vec<(String, String)>,
    /// How it is called, if not as the source says.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub convention: Vec<String>,
}

/// Code without a proof of its own that runs inside a function.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Inside {
    pub symbol: String,
    pub hash: String,
}

/// One proved function of one object.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    pub primitive: String,
    pub target: String,
    /// SHA-256 of the core text of the program that it was proved against.
    pub program: String,
    pub symbol: String,
    /// Name in the core IR.
    pub function: String,
    /// SHA-256, 64 hexadecimal digits, of what the code means.
    pub hash: String,
    pub march: String,
    pub xlen: u32,
    /// Name and version, as the compiler says it.
    pub compiler: String,
    pub flags: Vec<String>,
    /// The ways in which results may share objects with parameters, beside none: each a list of names.
    pub shared: Vec<Vec<(String, String)>>,
    /// Arguments that the code does not get, and what is known of them: the proof is of calls that keep to that.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub convention: Vec<String>,
    pub calls: Vec<Call>,
    pub inside: Vec<Inside>,
}

/// Where an object came from.
#[derive(Clone, Debug)]
pub struct Origin {
    pub primitive: String,
    pub target: String,
    pub march: String,
    pub xlen: u32,
    pub compiler: String,
    pub flags: Vec<String>,
}

/// The records of a report: its functions that are equal.
pub fn records(report: &FileReport, origin: &Origin) -> Vec<Record> {
    let symbol_of: BTreeMap<&str, &str> =
        report.functions.iter().filter_map(|f| Some((f.function.as_deref()?, f.symbol.as_str()))).collect();
    let convention_of: BTreeMap<&str, &Vec<String>> =
        report.functions.iter().filter_map(|f| Some((f.function.as_deref()?, &f.convention))).collect();
    let mut out = vec![];
    for f in report.functions.iter().filter(|f| f.status == Status::Equal) {
        let Some(function) = f.function.clone() else { continue };
        // A way of sharing makes calls of its own.
        let calls: BTreeSet<Call> = f
            .calls
            .iter()
            .chain(f.shared.iter().filter(|s| s.status.holds()).flat_map(|s| &s.calls))
            .map(|c| Call {
                symbol: symbol_of.get(c.function.as_str()).map_or_else(String::new, ToString::to_string),
                function: c.function.clone(),
                shared: c.shared.clone(),
                convention: convention_of.get(c.function.as_str()).map_or_else(Vec::new, |c| c.to_vec()),
            })
            .collect();
        let Origin { primitive, target, march, xlen, compiler, flags } = origin.clone();
        out.push(Record {
            primitive,
            target,
            program: report.program.clone(),
            symbol: f.symbol.clone(),
            function,
            hash: f.hash.clone(),
            march,
            xlen,
            compiler,
            flags,
            shared: f.shared.iter().filter(|s| s.status.holds()).map(|s| s.pairs.clone()).collect(),
            convention: f.convention.clone(),
            calls: calls.into_iter().collect(),
            inside: f.inside.clone(),
        });
    }
    out
}

/// The list as text: sorted, without doubles.
///
/// # Errors
/// None in practice: what the encoder says.
pub fn print(records: &[Record]) -> Result<String, String> {
    let sorted: BTreeSet<&Record> = records.iter().collect();
    let lines: Vec<String> = sorted.into_iter().map(serde_json::to_string).collect::<Result<_, _>>().map_err(|e| e.to_string())?;
    Ok(format!("[\n{}\n]\n", lines.join(",\n")))
}

/// The list of a text.
///
/// # Errors
/// Why it is none.
pub fn parse(text: &str) -> Result<Vec<Record>, String> {
    let records: Vec<Record> = serde_json::from_str(text).map_err(|e| e.to_string())?;
    let hash = |h: &str| h.len() == 64 && h.bytes().all(|b| b.is_ascii_hexdigit() && !b.is_ascii_uppercase());
    match records.iter().find(|r| !hash(&r.hash) || !hash(&r.program) || r.inside.iter().any(|i| !hash(&i.hash))) {
        Some(r) => Err(format!("`{}` has a hash that is not 64 hexadecimal digits", r.symbol)),
        None => Ok(records),
    }
}

/// What the list says of one function of an image.
#[derive(Clone, Debug, Serialize)]
pub struct Match {
    pub symbol: String,
    pub address: u64,
    pub hash: String,
    /// Numbers of the records that hold for it, with everything they rest on.
    pub records: Vec<usize>,
    /// The hash is known, but not that of this symbol, which it runs or calls.
    pub lacks: Option<String>,
}

/// Looks up every function of an image.
pub fn look_up(image: &Image, list: &[Record]) -> Vec<Match> {
    let hashes: Vec<String> = image.functions.iter().map(|f| crate::file::hash_of(image, f)).collect();
    let here = |k: usize| &image.functions[k];
    let named = |name: &str| -> Vec<usize> { (0..hashes.len()).filter(|k| has_name(here(*k), name)).collect() };
    let fits = |k: usize, r: &Record| r.hash == hashes[k] && r.xlen == image.xlen && has_name(here(k), &r.symbol);
    // Records that may hold, by function; then those that rest on something else fall away.
    let mut held: Vec<BTreeSet<usize>> =
        (0..hashes.len()).map(|k| (0..list.len()).filter(|n| fits(k, &list[*n])).collect()).collect();
    let known = held.clone();
    let lack = |n: usize, held: &[BTreeSet<usize>]| -> Option<String> {
        let r = &list[n];
        let same = |o: &Record| (&o.primitive, &o.target, &o.program) == (&r.primitive, &r.target, &r.program);
        let answers = |k: usize, c: &Call| {
            held[k].iter().any(|m| {
                let o = &list[*m];
                same(o) && o.function == c.function && o.convention == c.convention && (c.shared.is_empty() || o.shared.contains(&c.shared))
            })
        };
        let call = r.calls.iter().find(|c| {
            let all = named(&c.symbol);
            all.is_empty() || !all.into_iter().all(|k| answers(k, c))
        });
        let inside = r.inside.iter().find(|i| {
            let all = named(&i.symbol);
            all.is_empty() || !all.into_iter().all(|k| hashes[k] == i.hash)
        });
        call.map(|c| c.symbol.clone()).or(inside.map(|i| i.symbol.clone()))
    };
    loop {
        let kept: Vec<BTreeSet<usize>> =
            held.iter().map(|all| all.iter().copied().filter(|n| lack(*n, &held).is_none()).collect()).collect();
        if kept == held {
            break;
        }
        held = kept;
    }
    let lacks = |k: usize| known[k].iter().filter(|_| held[k].is_empty()).find_map(|n| lack(*n, &held));
    let one = |k: usize| Match {
        symbol: here(k).name.clone(),
        address: here(k).address,
        hash: hashes[k].clone(),
        records: held[k].iter().copied().collect(),
        lacks: lacks(k),
    };
    (0..hashes.len()).map(one).collect()
}

fn has_name(f: &Function, name: &str) -> bool {
    f.name == name || f.aliases.iter().any(|a| a == name)
}
