//! The state of the proof of each function, above it.

use crate::document::Document;
use crate::instances::instances;
use crate::names::functions;
use crate::positions::Columns;
use lsp_types::{CodeLens, Command};
use santoku_driver::Report;
use santoku_ir::Func;
use santoku_syntax::ast::Function;

pub fn lenses(doc: &Document, columns: Columns) -> Vec<CodeLens> {
    let lens = |f: &Function| CodeLens {
        range: columns.range(&doc.text, f.name.span.start, f.name.span.end),
        // A command without a name does nothing when it is chosen.
        command: Some(Command { title: state(doc, f), command: String::new(), arguments: None }),
        data: None,
    };
    functions(&doc.tree).map(lens).collect()
}

/// How the proof of a function stands, over all its instances, in a few words.
pub fn state(doc: &Document, f: &Function) -> String {
    let Some(known) = doc.current() else { return "not looked at yet".into() };
    if known.checked.is_none() {
        return if known.refused.is_some() { "not proved: the program has errors".into() } else { "not looked at yet".into() };
    }
    let Some(report) = &known.report else { return if doc.proving { "proving".into() } else { "not proved yet: save to prove".into() } };
    let all: Vec<&Func> = instances(known, doc, f).map(|(_, f)| f).collect();
    if all.is_empty() {
        return "nothing to prove: not in this program".into();
    }
    counted(report, &all)
}

fn counted(report: &Report, all: &[&Func]) -> String {
    let of: Vec<_> = report.functions.iter().filter(|r| all.iter().any(|f| f.name == r.name)).collect();
    let total: usize = of.iter().map(|r| r.obligations.len()).sum();
    let open = of.iter().flat_map(|r| &r.obligations).filter(|o| !o.proved()).count();
    let instances = if all.len() > 1 { format!(", {} instances", all.len()) } else { String::new() };
    match (total, open) {
        (0, _) => format!("nothing to prove{instances}"),
        (_, 0) => format!("proved: {total} obligations{instances}"),
        _ => format!("{open} of {total} obligations open{instances}"),
    }
}
