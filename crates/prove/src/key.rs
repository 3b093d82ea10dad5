//! What a proof depends on, as one number: the SHA-256 of a function's core text without places, of everything that this refers to, of the
//! keys of its callees, of the options and of the sources of what judges.
//!
//! Needs: a verified program.  Keeps: whatever is referred to by number counts by its content, so that a function has one key in
//! every program that holds it. All references are found in the text itself; none can be forgotten here.

use santoku_ir::{visit, Func, Loc, Program, Stmt};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, VecDeque};

/// Keys of all functions, callees first. `judge`: what proves, and with which options.
pub fn keys(p: &Program, judge: &str) -> Vec<String> {
    let mut known = Known { p, funcs: Vec::with_capacity(p.funcs.len()), consts: Vec::new() };
    known.consts = p.consts.iter().map(|c| known.digest(&format!("{:?} {:?}", c.ty, c.value))).collect();
    for f in &p.funcs {
        let key = known.digest(&format!("{judge} {:?}", without_places(f)));
        known.funcs.push(key);
    }
    known.funcs
}

/// Functions and constants with their digests, as far as these are made.
struct Known<'p> {
    p: &'p Program,
    funcs: Vec<String>,
    consts: Vec<String>,
}

impl Known<'_> {
    /// Of a text in which things are referred to by number, and of those things.
    fn digest(&self, text: &str) -> String {
        let mut hash = Sha256::new();
        let mut rest = Rest::default();
        hash.update(self.named(text, &mut rest));
        while let Some(next) = rest.open.pop_front() {
            hash.update("\n");
            hash.update(self.named(&next.text(self.p), &mut rest));
        }
        santoku_num::hex(&hash.finalize())
    }

    /// The text with functions and constants by their digests, and all else by the order in which it comes up: specification
    /// functions call themselves.
    fn named(&self, text: &str, rest: &mut Rest) -> String {
        let mut out = String::with_capacity(text.len());
        let mut left = text;
        while let Some(at) = left.find(['"', '(']) {
            out.push_str(&left[..at]);
            left = &left[at..];
            let taken = if left.starts_with('"') { end_of_string(left) } else { 1 };
            let number = left.find(')').and_then(|end| left.get(1..end)?.parse::<usize>().ok());
            let digest = |all: &[String]| number.and_then(|n| all.get(n).cloned());
            let instead = match number {
                Some(_) if out.ends_with("FuncId") => digest(&self.funcs),
                Some(_) if out.ends_with("ConstId") => digest(&self.consts),
                Some(n) if out.ends_with("SpecId") => Some(rest.number(Ref::Spec(n)).to_string()),
                Some(n) if out.ends_with("StructId") => Some(rest.number(Ref::Struct(n)).to_string()),
                _ => None,
            };
            out.push_str(&left[..taken]);
            left = &left[taken..];
            if let Some(name) = instead {
                out.push_str(&name);
                left = left.trim_start_matches(|c: char| c.is_ascii_digit());
            }
        }
        out + left
    }
}

/// Where a string in a text written by `Debug` ends, of one that begins there.
fn end_of_string(text: &str) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// What is part of a digest by its text.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Ref {
    Spec(usize),
    Struct(usize),
}

impl Ref {
    fn text(self, p: &Program) -> String {
        match self {
            Ref::Spec(n) => format!("{:?}", p.specs.get(n).map(|s| (&s.params, &s.body))),
            Ref::Struct(n) => format!("{:?}", p.structs.get(n).map(|s| &s.fields)),
        }
    }
}

/// What came up so far, and whose text is still to come.
#[derive(Default)]
struct Rest {
    numbers: BTreeMap<Ref, usize>,
    open: VecDeque<Ref>,
}

impl Rest {
    fn number(&mut self, of: Ref) -> usize {
        let next = self.numbers.len();
        *self.numbers.entry(of).or_insert_with(|| {
            self.open.push_back(of);
            next
        })
    }
}

fn without_places(f: &Func) -> Func {
    let mut f = f.clone();
    let none = Loc::default();
    f.loc = none;
    f.doc.clear();
    f.locals.iter_mut().for_each(|l| l.loc = none);
    f.contracts.iter_mut().for_each(|c| c.loc = none);
    fn strip(body: &mut [Stmt]) {
        for s in body {
            match s {
                Stmt::Assign { loc, .. }
                | Stmt::Call { loc, .. }
                | Stmt::For { loc, .. }
                | Stmt::If { loc, .. }
                | Stmt::Assert { loc, .. }
                | Stmt::Ghost { loc, .. } => *loc = Loc::default(),
            }
            visit::blocks_mut(s).into_iter().for_each(|b| strip(b));
        }
    }
    strip(&mut f.body);
    f
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fault_tests::compiled;

    /// A function that refers to one thing of each sort: a constant of structs, a struct, a function, a specification function that calls itself.
    const OWN: &str = "struct P { x: u8, y: u16 }
const TABLE: [P; 2] = [P { x: 1, y: 2 }, P { x: 3, y: 4 }]
spec fn power(n: int) -> int = if n <= 0 { 1 } else { 2 * power(n - 1) }
fn one(p: P) -> u8 { p.x }
fn f(i: public int in 0..1) -> u8
  ensures result <= power(2)
{ one(TABLE[i]) }
";
    const OTHERS: &str = "struct A { z: u32 }
const MORE: [u8; 2] = [7, 8]
spec fn twice(n: int) -> int = 2 * n
fn other(a: A) -> u32
  ensures result * 2 == twice(result)
{ a.z + u32(MORE[0]) }
";

    fn key_of_f(text: &str) -> (usize, String) {
        let p = compiled(text);
        let at = p.funcs.iter().position(|f| f.name.ends_with("f")).unwrap();
        (at, keys(&p, "").swap_remove(at))
    }

    #[test]
    fn a_function_has_one_key_in_every_program() {
        let ((first, alone), (later, beside)) = (key_of_f(OWN), key_of_f(&format!("{OTHERS}{OWN}")));
        assert!(first != later, "numbers must differ for this to say anything");
        assert_eq!(alone, beside);
    }

    #[test]
    fn whatever_it_refers_to_changes_its_key() {
        let (_, key) = key_of_f(OWN);
        let changes = [("y: 4", "y: 5"), ("y: u16", "y: u32"), ("2 * power", "3 * power"), ("{ p.x }", "{ p.x & 3 }"), ("power(2)", "power(3)"), ("in 0..1", "in 0..0")];
        for (from, to) in changes {
            assert!(OWN.contains(from) && key_of_f(&OWN.replace(from, to)).1 != key, "{from}");
        }
        let p = compiled(OWN);
        assert!(keys(&p, "a").iter().zip(keys(&p, "b")).all(|(a, b)| *a != b));
    }

    #[test]
    fn text_in_quotes_refers_to_nothing() {
        let p = compiled(OWN);
        let known = Known { p: &p, funcs: vec!["digest".into()], consts: vec!["table".into()] };
        let named = |text: &str| known.named(text, &mut Rest::default());
        let quoted = "text: \"FuncId(0) \\\" StructId(0)\"";
        assert_eq!(named(&format!("{quoted} func: FuncId(0)")), format!("{quoted} func: FuncId(digest)"));
        assert_eq!(named("ConstId(0) ConstId(9) LocalId(0) (0) StructId(5) StructId(4) StructId(5)"), "ConstId(table) ConstId(9) LocalId(0) (0) StructId(0) StructId(1) StructId(0)");
    }
}
