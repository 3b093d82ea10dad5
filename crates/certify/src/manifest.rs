//! What is claimed of machine code, `dist/certified.json`: the generated files, the objects made of them with target, compiler and
//! flags, and the hashes of the functions in those that were proved.
//!
//! Needs: reports.  Keeps: a function counts as known only with everything it runs and calls, by hash.  Absent: files.

use crate::report::{FileReport, Inside, SharedReport, Status};
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

/// A generated file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct File {
    /// From the root of the tree.
    pub path: String,
    /// SHA-256, 64 hexadecimal digits.
    pub sha256: String,
}

/// An object that was judged.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Object {
    pub primitive: String,
    pub target: String,
    pub march: String,
    pub xlen: u32,
    /// Name and version, as the compiler says it.
    pub compiler: String,
    pub flags: Vec<String>,
    /// SHA-256 of the C that was compiled: where the program is shipped for the target, the generated file with its header in it.
    pub text: String,
    /// SHA-256 of the core text of the program.
    pub program: String,
}

impl Object {
    /// Whether a record is of this object.
    pub fn has(&self, r: &Record) -> bool {
        (&self.primitive, &self.target, &self.march, &self.flags) == (&r.primitive, &r.target, &r.march, &r.flags)
            && (&self.program, &self.compiler, self.xlen) == (&r.program, &r.compiler, r.xlen)
    }

    /// `nacl.sign@rv32 rv32imc clang -O2`, for messages.
    pub fn name(&self) -> String {
        let level = self.flags.last().map_or("", String::as_str);
        format!("{}@{} {} {level}, {}", self.primitive, self.target, self.march, self.compiler)
    }
}

/// All that is claimed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct List {
    pub files: Vec<File>,
    pub objects: Vec<Object>,
    pub functions: Vec<Record>,
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

/// The records of a report: its functions that are equal, and whose hash covers all that was read for that.
pub fn records(report: &FileReport, origin: &Origin) -> Vec<Record> {
    let symbol_of: BTreeMap<&str, &str> =
        report.functions.iter().filter_map(|f| Some((f.function.as_deref()?, f.entry.as_str()))).collect();
    let convention_of: BTreeMap<&str, &Vec<String>> =
        report.functions.iter().filter_map(|f| Some((f.function.as_deref()?, &f.convention))).collect();
    let mut out = vec![];
    let listed = |s: &&SharedReport| s.status.holds() && s.hashed;
    for f in report.functions.iter().filter(|f| f.hashed) {
        let function = match (&f.status, &f.function) {
            (Status::Equal, Some(function)) => function.clone(),
            // It does what the function does that it calls.
            (Status::HandsOn { callee }, _) => callee.function.clone(),
            _ => continue,
        };
        // A way of sharing makes calls of its own.
        let calls: BTreeSet<Call> = f
            .calls
            .iter()
            .chain(f.shared.iter().filter(listed).flat_map(|s| &s.calls))
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
            shared: f.shared.iter().filter(listed).map(|s| s.pairs.clone()).collect(),
            convention: f.convention.clone(),
            calls: calls.into_iter().collect(),
            inside: f.inside.clone(),
        });
    }
    out
}

/// The list as text: sorted, without doubles, a row a line.
///
/// # Errors
/// None in practice: what the encoder says.
pub fn print(list: &List) -> Result<String, String> {
    fn rows<R: Ord + Serialize>(all: &[R]) -> Result<String, String> {
        let sorted: BTreeSet<&R> = all.iter().collect();
        let lines: Vec<String> = sorted.into_iter().map(serde_json::to_string).collect::<Result<_, _>>().map_err(|e| e.to_string())?;
        Ok(lines.join(",\n"))
    }
    let List { files, objects, functions } = list;
    Ok(format!("{{\"files\":[\n{}\n],\n\"objects\":[\n{}\n],\n\"functions\":[\n{}\n]}}\n", rows(files)?, rows(objects)?, rows(functions)?))
}

/// The list of a text.
///
/// # Errors
/// Why it is none: its form, or a function of no object.
pub fn parse(text: &str) -> Result<List, String> {
    let list: List = serde_json::from_str(text).map_err(|e| e.to_string())?;
    let hash = |h: &str| h.len() == 64 && h.bytes().all(|b| b.is_ascii_hexdigit() && !b.is_ascii_uppercase());
    if let Some(r) = list.functions.iter().find(|r| !hash(&r.hash) || !hash(&r.program) || r.inside.iter().any(|i| !hash(&i.hash))) {
        return Err(format!("`{}` has a hash that is not 64 hexadecimal digits", r.symbol));
    }
    let own = list.files.iter().map(|f| &f.sha256).chain(list.objects.iter().flat_map(|o| [&o.text, &o.program]));
    if let Some(h) = own.into_iter().find(|h| !hash(h)) {
        return Err(format!("`{h}` is no hash of 64 hexadecimal digits"));
    }
    match list.functions.iter().find(|r| list.objects.iter().filter(|o| o.has(r)).count() != 1) {
        Some(r) => Err(format!("`{}` belongs to no object of the list, or to several", r.symbol)),
        None => Ok(list),
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
    let hashes: Vec<String> = image.functions.iter().map(|f| crate::hash::hash_of(image, f)).collect();
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
