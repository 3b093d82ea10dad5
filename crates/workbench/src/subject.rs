//! What is measured: one C implementation, ours or a rival's.

use crate::amalgam::{amalgam, Amalgam};
use crate::compile::Checks;
use crate::primitives::{Primitive, Tree};
use crate::BenchError;
use santoku_backend_c::{Emitted, Exported};
use santoku_lab::harness::Source;
use santoku_lab::peers;
use santoku_passes::Level;
use std::collections::BTreeSet;
use std::path::PathBuf;

/// A C implementation with NaCl's C interface.
#[derive(Clone, Debug)]
pub struct Subject {
    /// Name in tables and records.
    pub variant: String,
    pub sources: Vec<Source>,
    pub include_dirs: Vec<PathBuf>,
    pub flags: Vec<String>,
    /// What goes before `_open` in the names of its functions.
    pub prefix: &'static str,
    /// Functions of ours that C calls; none for a rival, or where an interface is written by hand.
    pub exported: Vec<Exported>,
    /// Checks of our passes; none for a rival.
    pub checks: Checks,
}

/// Our code of a primitive for one target, its header pasted in.
pub fn ours(tree: &Tree, primitive: &Primitive, target: &str, level: Level, without: &BTreeSet<String>) -> Result<Subject, BenchError> {
    let one = Primitive { targets: vec![target.to_string()], ..primitive.clone() };
    let Amalgam { emitted: made, checks, .. } = amalgam(tree, &one, level, without, "")?;
    let text = one_file(&one.unit, &made)?;
    Ok(Subject {
        variant: variant(target),
        sources: vec![Source::Text { name: format!("{}.c", one.unit), text }],
        include_dirs: vec![],
        flags: vec![],
        prefix: "crypto_sign",
        exported: made.exported.clone(),
        checks,
    })
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

/// TweetNaCl as released; its header maps NaCl's names to longer ones.
pub fn tweetnacl(tree: &Tree) -> Result<Subject, BenchError> {
    let peer = peers::fetch(&tree.root, "tweetnacl").map_err(|e| BenchError::lab("tweetnacl", e))?;
    Ok(Subject {
        variant: peer.name.clone(),
        sources: peer.sources.iter().cloned().map(Source::File).collect(),
        include_dirs: peer.include_dirs.clone(),
        flags: peer.cflags.clone(),
        prefix: "crypto_sign_ed25519_tweet",
        exported: vec![],
        checks: Checks::default(),
    })
}
