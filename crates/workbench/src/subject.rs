//! What is measured: one C implementation, ours or a rival's.

use crate::amalgam::{amalgam, Amalgam};
use crate::assembly;
use crate::compile::{compile, emit, Build, Checks};
use crate::interface::{functions, Function};
use crate::names::tweetnacl_name;
use crate::primitives::{Primitive, Tree};
use crate::row::Rival;
use crate::BenchError;
use santoku_backend_c::{Emitted, Exported};
use santoku_lab::harness::{Call, Source};
use santoku_lab::{bench, peers};
use santoku_passes::Level;
use std::collections::BTreeSet;

/// Our C of a primitive for a target.
#[derive(Clone, Debug)]
pub struct Ours {
    /// One file, its header pasted in.
    pub text: String,
    /// Functions that C calls.
    pub functions: Vec<Function>,
    /// Functions that the program exports: with an interface written by hand, C does not see them.
    pub exported: Vec<Exported>,
    /// Checks of our passes.
    pub checks: Checks,
}

/// Our code of a primitive for one target, its header pasted in.
///
/// # Errors
/// Those of the compiler; `Declaration`: the interface is none.
pub fn ours(tree: &Tree, primitive: &Primitive, target: &str, level: Level, without: &BTreeSet<String>) -> Result<Ours, BenchError> {
    let one = primitive.only(target);
    let Amalgam { emitted: made, checks, .. } = amalgam(tree, &one, level, without, "")?;
    let text = one_file(&one.unit, &made)?;
    Ok(Ours { text, functions: functions(primitive, &made.exported)?, exported: made.exported, checks })
}

/// The same for a target with other choices.
///
/// # Errors
/// As [`ours`].
pub fn ours_for(tree: &Tree, primitive: &Primitive, build: &Build) -> Result<Ours, BenchError> {
    let compiled = compile(tree, primitive, build)?;
    let made = emit(primitive, build, &compiled, &primitive.title)?;
    let text = one_file(&primitive.unit, &made)?;
    Ok(Ours { text, functions: functions(primitive, &made.exported)?, exported: made.exported, checks: compiled.checks() })
}

/// A unit's source with its header in the place of the line that includes it.
pub(crate) fn one_file(unit: &str, made: &Emitted) -> Result<String, BenchError> {
    let include = format!("#include \"{unit}.h\"\n");
    let Some((before, after)) = made.source.split_once(&include) else {
        let reason = format!("{unit}.c does not include its header");
        return Err(BenchError::Internal { stage: "amalgam".into(), reason });
    };
    Ok(format!("{before}{}{after}", made.header))
}

/// Our name in tables: the target's, unless it is a plain one.
pub fn variant(target: &str) -> String {
    match target.split_once('-') {
        Some((_, algorithm)) => format!("santoku-{algorithm}"),
        None => "santoku".to_string(),
    }
}

/// C that programs which are run need besides.
fn support(tree: &Tree, primitive: &Primitive) -> Vec<Source> {
    primitive.support.iter().map(|path| Source::File(tree.root.join(path))).collect()
}

/// A text of ours as what the lab builds.
pub fn of_text(tree: &Tree, primitive: &Primitive, name: &str, text: String, calls: Vec<Call>) -> bench::Subject {
    let sources = vec![Source::Text { name: format!("{}.c", primitive.unit), text }];
    bench::Subject { support: support(tree, primitive), ..bench::Subject::new(name, sources, calls) }
}

/// Assembly of ours as what the lab builds.
pub fn of_assembly(tree: &Tree, primitive: &Primitive, name: &str, text: String, calls: Vec<Call>) -> bench::Subject {
    let sources = vec![Source::Text { name: assembly::name(&primitive.unit), text }];
    bench::Subject { sources, ..of_text(tree, primitive, name, String::new(), calls) }
}

/// The rival's name for a function of ours.
pub(crate) fn called(primitive: &Primitive, row: &Rival, name: &str) -> String {
    match row.functions.get(name) {
        Some(own) => own.clone(),
        None if row.tweetnacl_names => tweetnacl_name(primitive, name).unwrap_or_else(|| name.to_string()),
        None => name.to_string(),
    }
}

/// A rival, obtained from its registry, that is given the same calls.
///
/// # Errors
/// `Lab`: it cannot be obtained.
pub fn rival(tree: &Tree, primitive: &Primitive, row: &Rival, calls: &[Call]) -> Result<bench::Subject, BenchError> {
    let peer = peers::fetch(&tree.root, row.peer()).map_err(|e| BenchError::lab(&row.name, e))?;
    let adapter = row.adapter.iter().map(|file| peer.adapter_dir.join(file));
    // The name stands once, before the parenthesis of the arguments.
    let renamed = |call: &Call| {
        let own = called(primitive, row, &call.function);
        Call { declaration: call.declaration.replacen(&format!("{}(", call.function), &format!("{own}("), 1), function: own, ..call.clone() }
    };
    let sources = peer.sources.iter().cloned().chain(adapter).map(Source::File).collect();
    Ok(bench::Subject {
        support: support(tree, primitive),
        include_dirs: peer.include_dirs.clone(),
        libs: peer.libs.clone(),
        flags: peer.cflags.clone(),
        level: row.level,
        setup: row.setup.clone(),
        ..bench::Subject::new(&row.name, sources, calls.iter().map(renamed).collect())
    })
}
