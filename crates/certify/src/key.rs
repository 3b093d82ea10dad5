//! Results by content: what a proof of one function depends on, as a key.
//!
//! Needs: the hashes of an object file, the text of the core IR, a store given by the caller.  Keeps: only `equal` is
//! remembered, with the calls it rests on, so a failure is always shown afresh.  Absent: files.
//! Trusted: bytes, leaks, certifier.

use crate::function::{Found, Verdict};
use santoku_num::hex;
use crate::source::convention::Convention;
use crate::subject::Options;
use santoku_elf::{Access, Cover, Image, Island, Seen};
use santoku_ir::text::{func_text, print};
use santoku_ir::{visit, Func, FuncId, Program, Stmt};
use santoku_isa::Isa;
use santoku_prove::cache::Store;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};

/// Changes with every line of what judges (`build.rs`).
pub const ENGINE_VERSION: &str = concat!("santoku-certify ", env!("SANTOKU_CERTIFY_ENGINE"));

/// A proved function as it is kept. Callees by name: numbers differ between programs.
#[derive(Serialize, Deserialize)]
struct Kept {
    /// Guards against a text under the wrong key.
    key: String,
    steps: u64,
    stack: u64,
    terms: usize,
    compared: usize,
    asked: u64,
    settled: u64,
    calls: Vec<(String, Vec<(usize, usize)>)>,
    hashed: bool,
    judged: Option<String>,
}

/// Makes the keys of one file and one program.
pub struct Keys<'a> {
    program: &'a Program,
    /// Functions whose calls are not looked into, with their symbols and how each is called.
    cut: BTreeMap<FuncId, Vec<(String, Convention)>>,
    /// What all functions of the file have in common: the machine, all code that is no function of the program.
    common: [u8; 32],
}

impl<'a> Keys<'a> {
    pub fn new(image: &Image, isa: &Isa, program: &'a Program, (symbols, conventions): (&BTreeMap<String, FuncId>, &BTreeMap<u64, Convention>), options: &Options) -> Keys<'a> {
        let mut cut: BTreeMap<FuncId, Vec<(String, Convention)>> = BTreeMap::new();
        for (symbol, func) in symbols {
            if let Some(f) = image.function(symbol) {
                cut.entry(*func).or_default().push((symbol.clone(), conventions.get(&f.address).cloned().unwrap_or_default()));
            }
        }
        Keys { program, cut, common: common(image, isa, program, symbols, options) }
    }

    /// The key of one comparison, 64 hexadecimal digits. `code`: its hash, and what a linker may leave out of it, which is not in that; `called`:
    /// the functions it calls.
    pub fn key(&self, (hash, loose): (&[u8; 32], &[u64]), func: FuncId, (shared, convention): (&[(usize, usize)], &Convention), called: &BTreeSet<FuncId>) -> String {
        let mut text = Sha256::new();
        text.update(self.common);
        text.update(hash);
        text.update(format!("{loose:?}\n"));
        text.update(format!("{shared:?}\n{convention:?}\n{}\n", self.program.func(func).name));
        let (mut followed, mut cut) = (BTreeSet::from([func]), BTreeSet::new());
        let mut open = vec![func];
        while let Some(f) = open.pop() {
            text.update(func_text(self.program, &bare(self.program.func(f))));
            for callee in visit::callees(self.program.func(f)) {
                if self.cut.contains_key(&callee) && called.contains(&callee) {
                    cut.insert(callee);
                } else if followed.insert(callee) {
                    open.push(callee);
                }
            }
        }
        for callee in cut {
            let mut head = bare(self.program.func(callee));
            head.body.clear();
            text.update(func_text(self.program, &head));
            text.update(format!("{:?}\n", self.cut.get(&callee)));
        }
        hex(&text.finalize())
    }
}

/// Everything else that a comparison sees: instruction set, options, types and constants of the program, and the code that is
/// executed wherever it is called, because no function of the program stands for it.
fn common(image: &Image, isa: &Isa, program: &Program, symbols: &BTreeMap<String, FuncId>, options: &Options) -> [u8; 32] {
    let mut text = Sha256::new();
    text.update(ENGINE_VERSION);
    text.update(format!("{isa:?} {} {}\n", options.secret_mul_leaks, options.ckb_vm));
    let types = Program { files: vec![], structs: program.structs.clone(), consts: program.consts.clone(), specs: program.specs.clone(), funcs: vec![], tests: vec![] };
    text.update(print(&types));
    // A hash names the functions that are called by one name each.
    for f in image.functions.iter().filter(|f| !f.aliases.is_empty()) {
        let known = std::iter::once(&f.name).chain(&f.aliases).filter_map(|n| Some((n, &program.func(*symbols.get(n)?).name)));
        text.update(format!("{} {:?} {:?}\n", f.name, f.aliases, known.collect::<Vec<_>>()));
    }
    for f in &image.functions {
        if !std::iter::once(&f.name).chain(&f.aliases).any(|n| symbols.contains_key(n)) {
            text.update(format!("{}\n", f.name));
            text.update(image.code_hash(f));
            text.update(format!("{:?}\n", image.loose_in(f)));
            // Where 16-bit instructions are none, this decides whether it can be executed.
            text.update([(f.address % 4) as u8]);
        }
    }
    // What entries are aligned to is in no hash.
    for section in &image.sections {
        if let Some(entries) = section.entries() {
            text.update(format!("{entries:?}\n"));
        }
    }
    for section in image.sections.iter().filter(|s| s.access == Access::Code) {
        let mut at = section.address;
        while at - section.address < section.size {
            match image.function_at(at) {
                Some(f) => at = f.address.saturating_add(f.size.max(1)),
                None => {
                    text.update([image.read_only(at).unwrap_or(0), u8::from(image.is_loose(at))]);
                    at += 1;
                }
            }
        }
    }
    text.finalize().into()
}

/// Whether all that was read in executing a function is in its hash, or in those of the functions without source that it runs
/// (`own`, all of them by address): then whatever has these hashes is the same to the executor.
pub(crate) fn hashed(image: &Image, own: &BTreeSet<u64>, seen: &Seen) -> bool {
    let mut cover = Cover::default();
    for f in own.iter().filter_map(|a| image.function_at(*a)) {
        cover.extend(image.cover(f));
    }
    let held = |(island, address): &(Option<Island>, u64)| island.is_some_and(|i| cover.holds(i, *address));
    !image.linked && seen.code.is_subset(own) && seen.data.iter().all(held)
}

/// The key of a proof that rests on bytes which are in no hash: it holds of this very file.
pub(crate) fn of_file(key: &str, image: &Image) -> String {
    hex(&Sha256::digest([key.as_bytes(), &image.digest()].concat()))
}

/// Places in the source do not enter a key, nor does the documentation.
fn bare(f: &Func) -> Func {
    let none = santoku_ir::Loc::default();
    let mut f = f.clone();
    (f.loc, f.doc) = (none, Default::default());
    f.locals.iter_mut().for_each(|l| l.loc = none);
    f.contracts.iter_mut().for_each(|c| c.loc = none);
    strip(&mut f.body);
    f
}

fn strip(body: &mut [Stmt]) {
    for s in body {
        match s {
            Stmt::Assign { loc, .. } | Stmt::Call { loc, .. } | Stmt::For { loc, .. } | Stmt::If { loc, .. } | Stmt::Assert { loc, .. } | Stmt::Ghost { loc, .. } => {
                *loc = santoku_ir::Loc::default();
            }
        }
        visit::blocks_mut(s).into_iter().for_each(|b| strip(b));
    }
}

/// Names a program by its text.
pub fn program_hash(program: &Program) -> String {
    hex(&Sha256::digest(print(program)))
}

/// The remembered proof under a key.
pub fn recall(store: &dyn Store, key: &str, program: &Program) -> Option<Found> {
    let kept: Kept = serde_json::from_str(&store.get(key)?).ok()?;
    if kept.key != key {
        return None;
    }
    let calls = kept.calls.into_iter().map(|(name, shared)| Some((program.find(&name)?, shared))).collect::<Option<_>>()?;
    let Kept { steps, stack, terms, compared, asked, settled, hashed, judged, .. } = kept;
    Some(Found { verdict: Verdict::Equal, steps, stack, calls, terms, compared, asked, settled, hashed, refused: None, calling: None, other_call: false, judged })
}

/// Remembers a comparison that found the function equal.
pub fn remember(store: &dyn Store, key: &str, program: &Program, found: &Found) {
    let calls = found.calls.iter().map(|(f, shared)| (program.func(*f).name.clone(), shared.clone())).collect();
    let Found { steps, stack, terms, compared, asked, settled, hashed, .. } = *found;
    let judged = found.judged.clone();
    if let Ok(text) = serde_json::to_string(&Kept { key: key.to_string(), steps, stack, terms, compared, asked, settled, calls, hashed, judged }) {
        store.put(key, &text);
    }
}
