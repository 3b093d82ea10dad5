//! Where each local is: in names, if every access says which number it is of, or in memory.
//! Trusted: nothing: nothing that ships is made of it.

use crate::layout::{Layout, Scalar};
use num_traits::ToPrimitive;
use santoku_ir::visit::{stmt_exprs, walk_expr, walk_stmts};
use santoku_ir::{Base, Expr, ExprKind, Func, LocalKind, Place, Program, Proj, Stmt};

/// Numbers of one expression that are computed side by side.
pub(super) const LEAVES_MAX: usize = 4096;

/// How far arrays and structs are taken apart. Numbers that have names of their own need no memory; what is treated as a whole takes fewer instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spread {
    /// Numbers of one local that are kept in names.
    pub names: usize,
    /// Numbers that are copied, chosen or filled in one by one.
    pub moved: usize,
}

impl Default for Spread {
    fn default() -> Spread {
        Spread { names: 256, moved: 32 }
    }
}

impl Spread {
    /// For short code.
    pub fn short() -> Spread {
        Spread { names: 16, moved: 4 }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Home {
    /// A number.
    Name,
    /// An array or struct whose numbers have names of their own.
    Names(Vec<Scalar>),
    Memory,
}

pub(crate) fn homes(program: &Program, f: &Func, spread: Spread) -> Result<Vec<Home>, String> {
    let mut homes = vec![];
    for l in &f.locals {
        homes.push(match () {
            () if l.ty.is_scalar() => Home::Name,
            () if l.kind != LocalKind::Var => Home::Memory,
            () => {
                let leaves = Layout::of(program, &l.ty)?.leaves(spread.names);
                leaves.map_or(Home::Memory, |all| Home::Names(all.into_iter().map(|(_, s)| s).collect()))
            }
        });
    }
    let mut to_memory = |p: &Place, callee: bool| {
        if let Base::Local(id) = p.base {
            if !f.local(id).ty.is_scalar() && (callee || !p.projs.iter().all(is_known)) {
                homes[id.0 as usize] = Home::Memory;
            }
        }
    };
    walk_stmts(&f.body, &mut |s| {
        match s {
            Stmt::Assign { dst, .. } => to_memory(dst, false),
            Stmt::Call { dsts, args, .. } => {
                dsts.iter().for_each(|p| to_memory(p, true));
                for a in args.iter().filter(|a| !a.ty.is_scalar()) {
                    if let ExprKind::Read(p) = &a.kind {
                        to_memory(p, true);
                    }
                }
            }
            _ => {}
        }
        if matches!(s, Stmt::Assert { .. } | Stmt::Ghost { .. }) {
            return;
        }
        stmt_exprs(s, &mut |e| {
            walk_expr(e, &mut |e| {
                if let ExprKind::Read(p) = &e.kind {
                    to_memory(p, false);
                }
            });
        });
    });
    Ok(homes)
}

/// Which part it is shows without running the program.
fn is_known(proj: &Proj) -> bool {
    match proj {
        Proj::Field(_) => true,
        Proj::Index(e) | Proj::Slice { off: e, .. } => constant(e).is_some(),
    }
}

/// A constant index.
pub(crate) fn constant(e: &Expr) -> Option<u64> {
    match (&e.kind, &e.ty) {
        (ExprKind::Const(v), _) => v.to_u64(),
        (_, santoku_ir::Ty::Int(Some(r))) => r.single()?.to_u64(),
        _ => None,
    }
}
