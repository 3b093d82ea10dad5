//! What the source says that a compiler may use of a function nobody else can call: arguments that are the same in every call,
//! and arguments that are not read.
//!
//! Needs: the core IR.  Keeps: nothing rests on it: a convention guessed from it is proved of the code, and of every call.
//! Absent: values that take arithmetic to know.
//! Trusted: nothing: what it guesses is proved or dropped.

use crate::source::abi::Role;
use crate::source::convention::{Change, Convention, Fact};
use num_bigint::BigInt;
use santoku_ir::visit::{destinations, walk_exprs, walk_stmts};
use santoku_ir::{Base, ConstValue, Expr, ExprKind, Func, FuncId, LocalId, Place, Program, Stmt};
use std::collections::BTreeMap;

/// Conventions tried for one function.
const TRIES: usize = 12;
/// Assignments followed to a constant.
const DEPTH: u32 = 6;

/// What is known of the arguments of every function.
pub(crate) struct Facts(BTreeMap<(FuncId, Role), Fact>);

impl Facts {
    pub fn of(program: &Program) -> Facts {
        let mut facts = Facts(BTreeMap::new());
        let all = || (0..program.funcs.len() as u32).map(FuncId);
        // What is handed on to those alone that do not read it is not read either.
        for _ in 0..DEPTH {
            let pairs = all().flat_map(|func| roles(program.func(func)).map(move |role| (func, role)));
            let found: Vec<(FuncId, Role)> = pairs.filter(|(func, role)| !facts.is_read(program.func(*func), *role)).collect();
            if found.len() == facts.0.len() {
                break;
            }
            facts.0.extend(found.into_iter().map(|key| (key, Fact::Unread)));
        }
        // A constant may be handed on: as often as there are functions in a row.
        for _ in 0..DEPTH {
            let mut seen: BTreeMap<(FuncId, Role), Option<Vec<BigInt>>> = BTreeMap::new();
            for caller in all() {
                for (callee, role, value) in facts.passed(program, caller) {
                    seen.entry((callee, role)).and_modify(|v| *v = v.take().filter(|v| Some(v) == value.as_ref())).or_insert(value);
                }
            }
            let exported = |func: FuncId| program.func(func).export.is_some();
            let new = seen.into_iter().filter(|((func, _), _)| !exported(*func)).filter_map(|(k, v)| Some((k, Fact::Always(v?))));
            let before = facts.0.len();
            for (key, fact) in new {
                facts.0.entry(key).or_insert(fact);
            }
            if facts.0.len() == before {
                break;
            }
        }
        facts
    }

    /// Whether the body reads an argument, or writes it.
    fn is_read(&self, f: &Func, role: Role) -> bool {
        let id = match role {
            Role::Len(k) => f.lens[k],
            Role::Param(k) => f.params[k],
            Role::Ret(k) => f.rets[k],
        };
        let is_it = |e: &Expr| matches!(&e.kind, ExprKind::Read(p) if p.base == Base::Local(id));
        let mut written = f.rets.contains(&id);
        let (mut read, mut handed_on) = (0, 0);
        walk_exprs(&f.body, &mut |e| read += usize::from(is_it(e)));
        walk_stmts(&f.body, &mut |s| {
            written |= destinations(s).iter().any(|d| d.base == Base::Local(id));
            let Stmt::Call { func, lens, args, .. } = s else { return };
            let lens = lens.iter().enumerate().map(|(k, e)| (Role::Len(k), e));
            let all = lens.chain(args.iter().enumerate().map(|(k, e)| (Role::Param(k), e)));
            handed_on += all.filter(|(role, e)| is_it(e) && self.0.get(&(*func, *role)) == Some(&Fact::Unread)).count();
        });
        written || read > handed_on
    }

    /// The arguments of every call in a function, where they are constants.
    fn passed(&self, program: &Program, caller: FuncId) -> Vec<(FuncId, Role, Option<Vec<BigInt>>)> {
        let f = program.func(caller);
        let mut found = vec![];
        walk_stmts(&f.body, &mut |s| {
            let Stmt::Call { func, lens, args, .. } = s else { return };
            found.extend(lens.iter().enumerate().map(|(k, e)| (*func, Role::Len(k), self.value(program, caller, e, DEPTH))));
            found.extend(args.iter().enumerate().map(|(k, e)| (*func, Role::Param(k), self.value(program, caller, e, DEPTH))));
        });
        found
    }

    fn value(&self, program: &Program, caller: FuncId, e: &Expr, depth: u32) -> Option<Vec<BigInt>> {
        let f = program.func(caller);
        match &e.kind {
            ExprKind::Const(v) => Some(vec![v.clone()]),
            ExprKind::Read(Place { base: Base::Const(id), projs }) if projs.is_empty() => {
                Some(scalars(&program.consts.get(id.0 as usize)?.value))
            }
            ExprKind::Read(Place { base: Base::Local(id), projs }) if projs.is_empty() => {
                if let Some(role) = role_of(f, *id) {
                    return match self.0.get(&(caller, role))? {
                        Fact::Always(v) => Some(v.clone()),
                        Fact::Unread => None,
                    };
                }
                let src = only_value(f, *id)?;
                self.value(program, caller, src, depth.checked_sub(1)?)
            }
            ExprKind::Array(parts) => {
                let all = parts.iter().map(|e| self.value(program, caller, e, depth));
                Some(all.collect::<Option<Vec<_>>>()?.into_iter().flatten().collect())
            }
            _ => None,
        }
    }

    /// The conventions that a compiler may have given a function, the likeliest first.
    pub fn conventions(&self, program: &Program, func: FuncId) -> Vec<Convention> {
        let all: Vec<(Role, &Fact)> = roles(program.func(func)).filter_map(|r| Some((r, self.0.get(&(func, r))?))).collect();
        // Of each argument: it is gone, its register is left free, or it is passed after all.
        let ways = 3usize.saturating_pow(all.len() as u32).min(729);
        let digit = |way: usize, k: usize| way / 3usize.pow(k as u32) % 3;
        let make = |way: usize| {
            let one = |(k, (role, fact)): (usize, &(Role, &Fact))| match digit(way, k) {
                0 => Some((*role, Change { fact: (*fact).clone(), seat: false })),
                1 => Some((*role, Change { fact: (*fact).clone(), seat: true })),
                _ => None,
            };
            Convention(all.iter().take(6).enumerate().filter_map(one).collect())
        };
        let mut order: Vec<usize> = (0..ways).collect();
        order.sort_by_key(|way| (0..all.len().min(6)).map(|k| [0, 2, 3][digit(*way, k)]).sum::<u32>());
        // A function that others may call, as far as a compiler knows, keeps its registers: what it does not read is any.
        let unread = all.iter().filter(|(_, fact)| **fact == Fact::Unread);
        let kept = Convention(unread.map(|(role, fact)| (*role, Change { fact: (*fact).clone(), seat: true })).collect());
        let mut made: Vec<Convention> = vec![];
        for convention in std::iter::once(kept).chain(order.into_iter().map(make)).filter(|c| !c.is_source()) {
            if !made.contains(&convention) {
                made.push(convention);
            }
        }
        made.truncate(TRIES);
        made
    }
}

fn roles(f: &Func) -> impl Iterator<Item = Role> {
    (0..f.lens.len()).map(Role::Len).chain((0..f.params.len()).map(Role::Param))
}

fn role_of(f: &Func, id: LocalId) -> Option<Role> {
    let len = f.lens.iter().position(|l| *l == id).map(Role::Len);
    len.or_else(|| f.params.iter().position(|p| *p == id).map(Role::Param))
}

/// What a local is given in its only assignment.
fn only_value(f: &Func, id: LocalId) -> Option<&Expr> {
    let mut values = vec![];
    walk_stmts(&f.body, &mut |s| {
        for dst in destinations(s).iter().filter(|d| d.base == Base::Local(id)) {
            values.push(match s {
                Stmt::Assign { src, .. } if dst.projs.is_empty() => Some(src),
                _ => None,
            });
        }
    });
    match values[..] {
        [only] => only,
        _ => None,
    }
}

fn scalars(value: &ConstValue) -> Vec<BigInt> {
    match value {
        ConstValue::Scalar(v) => vec![v.clone()],
        ConstValue::Array(all) | ConstValue::Struct(all) => all.iter().flat_map(scalars).collect(),
    }
}
