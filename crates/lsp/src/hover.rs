//! What is known of the name under the cursor.

use crate::document::Document;
use crate::instances::instances;
use crate::items::{find, Texts};
use crate::lens::state;
use crate::names::{self, Name};
use crate::show;
use santoku_ir::{Func, Local, Program};
use santoku_syntax::ast::Ident;

/// Markdown for the name at a byte of a document, and the bytes of the name.
pub fn hover(doc: &Document, offset: u32, texts: &Texts) -> Option<(String, u32, u32)> {
    let name = names::at(&doc.text, offset)?;
    let text = local(doc, &name).or_else(|| item(doc, &name, texts))?;
    Some((text, name.start, name.end))
}

/// A parameter, variable or counter: its type, its proven range and whether it is secret, in every instance of its function.
fn local(doc: &Document, name: &Name) -> Option<String> {
    if name.module.is_some() {
        return None;
    }
    let ident = names::binding(&doc.tree, name.name, name.end)?;
    let Some(function) = names::function_at(&doc.tree, ident.span.start) else {
        return Some(format!("`{}`\n\nof specifications and tests", name.name));
    };
    let known = doc.current();
    let mut lines: Vec<String> = vec![];
    for (p, f) in known.iter().flat_map(|k| instances(k, doc, function)) {
        if let Some(l) = declared(f, ident, doc) {
            let line = about(p, f, l);
            if !lines.contains(&line) {
                lines.push(line);
            }
        }
    }
    if lines.is_empty() {
        let why = if known.is_none_or(|k| k.checked.is_none()) { "the program has errors, or is being checked" } else { "not in the program: no instance of this function, or ghost text" };
        return Some(format!("`{}`\n\n{why}", name.name));
    }
    let proving = if known.is_some_and(|k| k.ranges.is_none()) { "\n\nranges are being computed" } else { "" };
    Some(lines.join("\n\n---\n\n") + proving)
}

/// The local that this binding became: that of its name which was declared there.
fn declared<'f>(f: &'f Func, ident: &Ident, doc: &Document) -> Option<&'f Local> {
    let named = |l: &&Local| l.name == ident.name && doc.text.len() as u32 >= l.loc.end;
    let at = |l: &&Local| l.loc.start <= ident.span.start && ident.span.end <= l.loc.end;
    f.locals.iter().filter(named).find(at).or_else(|| f.locals.iter().filter(named).filter(|l| l.loc.start <= ident.span.start).max_by_key(|l| l.loc.start))
}

fn about(p: &Program, f: &Func, l: &Local) -> String {
    let secrecy = if l.public { "public" } else { "secret" };
    let elements: String = show::elements(&l.ty).iter().map(|line| format!("\n{}{line}", l.name)).collect();
    format!("```santoku\n{}: {}{elements}\n```\n{secrecy}", l.name, show::ty(p, f, &l.ty))
}

/// Something with a name at top level: what it says of itself, its documentation, and the state of its proof.
fn item(doc: &Document, name: &Name, texts: &Texts) -> Option<String> {
    let found = find(texts, &doc.path, &doc.text, &doc.tree, name)?;
    let about = found.doc.join("\n");
    let here = names::functions(&doc.tree).find(|f| found.path == doc.path && f.name.span.start == found.name.0);
    let proof = here.map(|f| format!("\n\n{}", state(doc, f))).unwrap_or_default();
    Some(format!("```santoku\n{}\n```\n{about}{proof}", found.header))
}
