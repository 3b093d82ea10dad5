//! The verifier, run between all passes: is this a program at all?
//!
//! Needs: any [`Program`] value whatsoever.  Keeps: one rule per code in [`CODES`]; a program without errors
//! never meets [`crate::interp::FaultKind::Internal`].  Absent: obligations that need values (ranges, indices in
//! bounds, shift counts, contracts), which belong to the prover. Whether every array element is written before
//! it is read is decided here only for the patterns of [`assigned`]; the rest is reported as
//! [`Report::undecided`], for the prover too.

mod assigned;
mod calls;
mod check;
mod found;
mod secrecy;
mod spec;
mod types;

pub use found::{Undecided, VerifyError};

use check::{exprs_within, FuncCheck};
use crate::data::*;
use crate::limits::{EXPR_DEPTH, STMT_DEPTH};
use crate::ty::{LocalId, Ty};
use crate::typing::first_bad_struct;
use crate::visit;
use std::collections::BTreeSet;

/// Every code an error may carry, with the rule it stands for.
pub const CODES: &[(&str, &str)] = &[
    ("arity", "calls, literals and results have as many parts as declared"),
    ("constant", "a constant fits its type"),
    ("contract", "contracts are well formed and mention constants, lengths, parameters and (ensures) results"),
    ("counter", "a loop counter is an Int local of kind Counter, written by its loop alone, read inside it alone"),
    ("declassify", "a function that declassifies has one scalar for a result, and stays a function of its own"),
    ("each", "a function that is said to apply one to each element of an array gives an array of the same type, and stays a function of its own"),
    ("id", "every id names something"),
    ("kind", "lens, params and rets list exactly the locals of their kind, once each"),
    ("length", "parametric lengths are lengths of the function; a call's lengths give its argument types"),
    ("name", "function names are unique"),
    ("nesting", "types, expressions and statements nest within the limits"),
    ("operator", "division, masks and integer shifts have the constant operands they need"),
    ("order", "functions follow what they call; structs follow what they contain"),
    ("overlap", "destinations of a call are disjoint, and their indices are not written by it"),
    ("perm", "a function that is said to permute bits has a constant of their numbers, and words for parameter and result"),
    ("projection", "a projection fits the type it narrows"),
    ("range", "ranges are not empty, one per element, and join to the element's range"),
    ("readonly", "parameters, lengths and constants are not assigned"),
    ("secret", "public places receive public values; branches, bounds, indices and shift counts are public"),
    ("table", "a function that is said to apply a table has a constant of that shape, and its parameter and result"),
    ("test", "a test is a function without lengths, parameters and results"),
    ("type", "operands and values have the types required"),
    ("unassigned", "variables and results are assigned before they are read or returned"),
];

/// What the verifier found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    pub errors: Vec<VerifyError>,
    /// Obligations left to the prover, in source order.
    pub undecided: Vec<Undecided>,
}

/// All broken rules of a program; none for a well-formed one.
pub fn verify(program: &Program) -> Vec<VerifyError> {
    report(program).errors
}

/// Broken rules and what is left to the prover.
pub fn report(program: &Program) -> Report {
    let mut out = Report::default();
    declarations(program, &mut out);
    // Everything below trusts that declarations can be walked.
    if !out.errors.is_empty() {
        return out;
    }
    for (at, func) in program.funcs.iter().enumerate() {
        let mut check = FuncCheck::new(program, at, func);
        check.run();
        out.errors.append(&mut check.errors);
        out.undecided.append(&mut check.undecided);
    }
    tests(program, &mut out);
    out
}

fn program_error(out: &mut Report, loc: Loc, code: &'static str, message: String) {
    out.errors.push(VerifyError { func: String::new(), loc, code, message });
}

fn declarations(program: &Program, out: &mut Report) {
    for (at, def) in program.structs.iter().enumerate() {
        for (name, ty) in &def.fields {
            if let Err((code, message)) = types::declared(ty, &program.structs[..at], &[]) {
                program_error(out, Loc::default(), code, format!("field {}.{name}: {message}", def.name));
            }
        }
    }
    if let Some(at) = first_bad_struct(&program.structs) {
        if out.errors.is_empty() {
            program_error(out, Loc::default(), "nesting", format!("struct {} is too large", program.structs[at].name));
        }
        return;
    }
    for c in &program.consts {
        let bad = types::declared(&c.ty, &program.structs, &[]).and_then(|()| types::const_fits(program, &c.ty, &c.value));
        if let Err((code, message)) = bad {
            program_error(out, c.loc, code, format!("constant {}: {message}", c.name));
        }
    }
    for f in &program.specs {
        if let Err((code, message)) = spec::spec_fn(program, f) {
            program_error(out, f.loc, code, format!("spec fn {}: {message}", f.name));
        }
    }
    let mut names = BTreeSet::new();
    for f in program.funcs.iter().filter(|f| !names.insert(&f.name)) {
        program_error(out, f.loc, "name", format!("two functions are called {}", f.name));
    }
}

fn tests(program: &Program, out: &mut Report) {
    for test in &program.tests {
        match program.funcs.get(test.func.0 as usize) {
            None => program_error(out, Loc::default(), "id", format!("test {} has no function", test.name)),
            Some(f) if f.rets.len() + if test.cases.is_none() { f.lens.len() + f.params.len() } else { 0 } > 0 => {
                program_error(out, f.loc, "test", format!("test {} takes or gives values", test.name));
            }
            Some(f) if test.cases.as_ref().is_some_and(|c| c.fields.len() != f.params.len()) => {
                program_error(out, f.loc, "test", format!("test {} has another number of fields than of parameters", test.name));
            }
            Some(_) => {}
        }
    }
}

impl FuncCheck<'_> {
    /// Stages, each trusting that the earlier found nothing.
    fn run(&mut self) {
        let stages: [fn(&mut Self); 5] =
            [Self::nesting, Self::locals, Self::types, Self::secrecy_and_contracts, Self::assignments];
        for stage in stages {
            stage(self);
            if !self.errors.is_empty() {
                return;
            }
        }
    }

    fn nesting(&mut self) {
        let mut blocks: Vec<(&[Stmt], usize)> = vec![(&self.func.body, 1)];
        while let Some((body, depth)) = blocks.pop() {
            if depth > STMT_DEPTH {
                return self.error("nesting", format!("statements nest more than {STMT_DEPTH} deep"));
            }
            for stmt in body {
                self.loc = stmt.loc();
                let mut exprs = Vec::new();
                visit::stmt_exprs(stmt, &mut |e| exprs.push((e, 1)));
                if !exprs_within(exprs) {
                    return self.error("nesting", format!("an expression nests more than {EXPR_DEPTH} deep"));
                }
                blocks.extend(visit::blocks(stmt).into_iter().map(|b| (b, depth + 1)));
            }
        }
    }

    fn locals(&mut self) {
        self.loc = self.func.loc;
        let one = matches!(self.func.rets[..], [only] if self.func.locals.get(only.0 as usize).is_some_and(|l| l.ty.is_scalar()));
        if self.func.declassifies && !(one && self.func.inline == Inline::Never) {
            self.error("declassify", "it declassifies, and its result is not one scalar, or it may be inlined");
        }
        match self.func.applies {
            Some(Applies::Table(_)) if crate::table::of(self.program, self.func).is_none() => {
                self.error("table", "its constant, parameter or result is not that of a table");
            }
            Some(Applies::Perm(_)) if crate::perm::of(self.program, self.func).is_none() => {
                self.error("perm", "its constant, parameter or result is not that of a permutation of bits");
            }
            Some(Applies::Each) if crate::each::array(self.func).is_none() || self.func.inline != Inline::Never => {
                self.error("each", "its parameter and result are not arrays of one type, or it may be inlined");
            }
            _ => {}
        }
        let lens = &self.func.lens;
        for local in &self.func.locals {
            self.loc = local.loc;
            if let Err((code, message)) = types::declared(&local.ty, &self.program.structs, lens) {
                self.error(code, format!("{}: {message}", local.name));
            }
            if matches!(local.kind, LocalKind::Len | LocalKind::Counter) && !matches!(local.ty, Ty::Int(_)) {
                let code = if local.kind == LocalKind::Len { "kind" } else { "counter" };
                self.error(code, format!("{} is not an Int", local.name));
            }
        }
        self.loc = self.func.loc;
        let lists = [
            (LocalKind::Len, &self.func.lens),
            (LocalKind::Param, &self.func.params),
            (LocalKind::Ret, &self.func.rets),
        ];
        for (kind, list) in lists {
            let declared = (0..self.func.locals.len() as u32).map(LocalId).filter(|id| self.kind(*id) == Some(kind));
            let mut listed = list.clone();
            listed.sort();
            if !declared.eq(listed) {
                self.error("kind", format!("the list of {kind:?} locals is not the set of them"));
            }
        }
    }

    fn secrecy_and_contracts(&mut self) {
        self.secrecy();
        self.contracts();
    }
}
