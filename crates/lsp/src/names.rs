//! The name under the cursor, and the names that a function binds.

use santoku_diag::Span;
use santoku_syntax::ast::{Block, Expr, ExprKind, File, Function, GhostKind, Ident, ItemKind, Stmt, StmtKind};

/// A name in a text: `name`, or `module::name`.
#[derive(Debug, PartialEq, Eq)]
pub struct Name<'t> {
    pub module: Option<&'t str>,
    pub name: &'t str,
    pub start: u32,
    pub end: u32,
}

fn is_part(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// The word around a byte, which may stand behind its last letter.
fn word(text: &str, at: usize) -> Option<(usize, usize)> {
    let start = text.get(..at)?.rfind(|c| !is_part(c)).map_or(0, |i| i + text[i..].chars().next().map_or(1, char::len_utf8));
    let end = text[at..].find(|c| !is_part(c)).map_or(text.len(), |i| at + i);
    (start < end && !text[start..].starts_with(|c: char| c.is_ascii_digit())).then_some((start, end))
}

/// The name at a byte of a text. On `M` of `M::f` it is `M` alone.
pub fn at(text: &str, offset: u32) -> Option<Name<'_>> {
    let (start, end) = word(text, offset as usize)?;
    let module = text[..start].strip_suffix("::").and_then(|before| word(text, before.len())).map(|(a, b)| &text[a..b]);
    Some(Name { module, name: &text[start..end], start: start as u32, end: end as u32 })
}

/// The function around a byte; of several, the innermost.
pub fn function_at(file: &File, offset: u32) -> Option<&Function> {
    functions(file).filter(|f| f.span.start <= offset && offset <= f.span.end).last()
}

/// All functions with a body that is code.
pub fn functions(file: &File) -> impl Iterator<Item = &Function> {
    file.items.iter().filter_map(|i| match &i.kind {
        ItemKind::Fn(f) if !f.lemma => Some(f),
        _ => None,
    })
}

/// The binding of `name` that a use at `offset` sees: the last one before it whose block is still open.
pub fn binding<'f>(file: &'f File, name: &str, offset: u32) -> Option<&'f Ident> {
    let mut all = Bindings { found: vec![] };
    for item in &file.items {
        match &item.kind {
            ItemKind::Fn(f) => {
                all.each(f.generics.iter().map(|g| &g.name), f.span.end);
                all.each(f.params.iter().map(|p| &p.name), f.span.end);
                f.body.iter().for_each(|b| all.block(b));
                f.contracts.iter().for_each(|c| all.expr(&c.cond));
            }
            ItemKind::Spec(s) => {
                all.each(s.params.iter().map(|p| &p.name), s.span.end);
                s.body.iter().for_each(|b| all.block(b));
            }
            ItemKind::ConstFn(c) => {
                all.each(c.params.iter().map(|p| &p.name), c.span.end);
                c.body.iter().for_each(|b| all.block(b));
            }
            ItemKind::Test { cases, body, .. } => {
                all.each(cases.iter().flat_map(|c| c.generics.iter().map(|g| &g.name).chain(c.params.iter().map(|p| &p.name))), item.span.end);
                all.block(body);
            },
            _ => {}
        }
    }
    let seen = all.found.into_iter().filter(|(ident, end)| ident.name == name && ident.span.start <= offset && offset <= *end);
    seen.map(|(ident, _)| ident).max_by_key(|ident| ident.span.start)
}

/// Names with the end of the text in which they are seen.
struct Bindings<'f> {
    found: Vec<(&'f Ident, u32)>,
}

impl<'f> Bindings<'f> {
    fn each(&mut self, names: impl Iterator<Item = &'f Ident>, end: u32) {
        self.found.extend(names.map(|n| (n, end)));
    }

    fn block(&mut self, b: &'f Block) {
        b.stmts.iter().for_each(|s| self.stmt(s, b.span));
        b.result.iter().for_each(|e| self.expr(e));
    }

    fn stmt(&mut self, s: &'f Stmt, block: Span) {
        match &s.kind {
            StmtKind::Let { names, value, .. } => {
                self.each(names.iter(), block.end);
                value.iter().for_each(|e| self.expr(e));
            }
            StmtKind::Assign { value, .. } => self.expr(value),
            StmtKind::For { var, invariants, body, .. } => {
                self.each(std::iter::once(var), s.span.end);
                invariants.iter().for_each(|e| self.expr(e));
                self.block(body);
            }
            StmtKind::If { then, els, .. } => {
                self.block(then);
                els.iter().for_each(|b| self.block(b));
            }
            StmtKind::Assert(e) => self.expr(e),
            StmtKind::Ghost(GhostKind::Let { name, value, .. }) => {
                self.each(std::iter::once(name), block.end);
                self.expr(value);
            }
            StmtKind::Ghost(GhostKind::Assign { .. } | GhostKind::Lemma(_)) | StmtKind::Error => {}
        }
    }

    /// The names that expressions bind: counters of comprehensions, sums and `forall`.
    fn expr(&mut self, e: &'f Expr) {
        match &e.kind {
            ExprKind::Comprehension { var, elem: body, .. } | ExprKind::Sum { var, body, .. } | ExprKind::Forall { var, body, .. } => {
                self.each(std::iter::once(var), e.span.end);
                self.expr(body);
            }
            ExprKind::Bin { lhs, rhs, .. } | ExprKind::Congruent { lhs, rhs, .. } => {
                self.expr(lhs);
                self.expr(rhs);
            }
            ExprKind::Un { arg, .. } | ExprKind::Paren(arg) | ExprKind::Convert { arg, .. } => self.expr(arg),
            ExprKind::Call { args, .. } | ExprKind::Tuple(args) | ExprKind::Array(args) => args.iter().for_each(|a| self.expr(a)),
            ExprKind::If { then, els, .. } => {
                self.block(then);
                self.block(els);
            }
            ExprKind::Struct { fields, .. } => fields.iter().for_each(|(_, e)| self.expr(e)),
            ExprKind::Index { base, .. } | ExprKind::Slice { base, .. } | ExprKind::Field { base, .. } | ExprKind::TupleField { base, .. } => self.expr(base),
            ExprKind::Repeat { elem, .. } => self.expr(elem),
            ExprKind::Int(_) | ExprKind::Bool(_) | ExprKind::Bytes { .. } | ExprKind::Name(_) | ExprKind::Power { .. } | ExprKind::Error => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::parse;

    #[test]
    fn names_under_the_cursor() {
        let text = "F::mul(a_1, 0x1f)";
        let name = |offset| at(text, offset).map(|n| (n.module, n.name));
        assert_eq!(name(0), Some((None, "F")));
        assert_eq!(name(3), Some((Some("F"), "mul")));
        assert_eq!(name(6), Some((Some("F"), "mul")));
        assert_eq!(name(9), Some((None, "a_1")));
        assert_eq!((name(14), name(11), name(99)), (None, None, None));
        assert_eq!(at("ü x", 3).map(|n| n.name), Some("x"));
    }

    /// The nearest binding before the use, in a block that is not closed.
    #[test]
    fn uses_see_the_nearest_open_binding() {
        let text = "fn f(x: u8) -> u8 {\n  if true { let x = 1\n let y = x }\n  let y = x\n  for i in 0..<3 { let z = i }\n  var x = x\n  x + y\n}\n";
        let file = parse(text);
        let bound = |name: &str, before: &str| binding(&file, name, text.find(before).unwrap() as u32 + before.len() as u32).map(|i| i.span.start as usize);
        let place = |what: &str| text.find(what);
        assert_eq!(bound("x", "let y = x"), Some(place("let x").unwrap() + 4));
        assert_eq!(bound("x", "}\n  let y = "), Some(place("x: u8").unwrap()));
        assert_eq!(bound("i", "let z = "), Some(place("i in").unwrap()));
        assert_eq!(bound("i", "var x = x"), None);
        assert_eq!(bound("x", "  x +"), Some(place("var x").unwrap() + 4));
    }
}
