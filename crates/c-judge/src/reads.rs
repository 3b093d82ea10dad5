//! Which variables C reads at all.

use crate::state::State;
use crate::term::Root;
use crate::tree::{Ex, Kind, Stmt, Type};
use santoku_ir::{LocalId, LocalKind};
use std::collections::BTreeSet;

/// The variables of the program that no statement of C reads.
pub fn unread(state: &State<'_>, body: &[Stmt]) -> Vec<Root> {
    let mut read = BTreeSet::new();
    body.iter().for_each(|s| statement(state, s, &mut read));
    let vars = (0..state.f.locals.len()).filter(|k| state.f.locals[*k].kind == LocalKind::Var);
    vars.filter(|k| !read.contains(state.name_of(LocalId(*k as u32)))).map(|k| Root::Object(k as u32)).collect()
}

fn statement(state: &State<'_>, s: &Stmt, out: &mut BTreeSet<String>) {
    match &s.kind {
        Kind::Declare { init, .. } => init.iter().for_each(|e| names(e, out)),
        Kind::Assign(to, e) => {
            target(to, out);
            match e {
                Ex::Cast(_, inner) => value(state, inner, out),
                _ => value(state, e, out),
            }
        }
        Kind::Gather(to, e) => [to, e].into_iter().for_each(|e| names(e, out)),
        Kind::Do(e) => value(state, e, out),
        Kind::Block(all) => all.iter().for_each(|s| statement(state, s, out)),
        Kind::For { init, cond, step, body } => {
            [&init.0, &init.1, cond].into_iter().chain(step).for_each(|e| names(e, out));
            body.iter().for_each(|s| statement(state, s, out));
        }
        Kind::If { cond, then, els } => {
            names(cond, out);
            then.iter().chain(els).for_each(|s| statement(state, s, out));
        }
        Kind::Return(e) => names(e, out),
    }
}

/// A call writes what its results go to.
fn value(state: &State<'_>, e: &Ex, out: &mut BTreeSet<String>) {
    let Ex::Call(name, args) = e else { return names(e, out) };
    let written = match state.unit.functions.get(name) {
        Some((id, shape)) if shape.ret == Type::Void => state.unit.program.func(*id).rets.len(),
        _ => usize::from(matches!(name.as_str(), "memmove" | "memset") || name.starts_with("stk_store_")),
    };
    for (k, a) in args.iter().enumerate() {
        if k < written { target(a, out) } else { names(a, out) }
    }
}

/// What is read to find out where something goes.
fn target(e: &Ex, out: &mut BTreeSet<String>) {
    match e {
        Ex::Name(_) => {}
        Ex::Index(a, i) => {
            target(a, out);
            names(i, out);
        }
        Ex::Field(a, _) | Ex::Address(a) | Ex::Behind(a) => target(a, out),
        _ => names(e, out),
    }
}

fn names(e: &Ex, out: &mut BTreeSet<String>) {
    match e {
        Ex::Name(n) => {
            out.insert(n.clone());
        }
        Ex::Number(..) | Ex::SizeOf(_) => {}
        Ex::Un(_, a) | Ex::Cast(_, a) | Ex::Field(a, _) | Ex::Address(a) | Ex::Behind(a) | Ex::Step(a, _) => names(a, out),
        Ex::Bin(_, a, b) | Ex::Index(a, b) => [a, b].into_iter().for_each(|e| names(e, out)),
        Ex::Choice(a, b, c) => [a, b, c].into_iter().for_each(|e| names(e, out)),
        Ex::Call(_, args) => args.iter().for_each(|e| names(e, out)),
    }
}
