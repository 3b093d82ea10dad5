//! Loop fusion: two neighbouring loops over the same span become one.
//!
//! Needs: constant bounds.  Keeps: what each iteration computes. A second loop that looks ahead by a few elements (the
//! first carry pass of a sum does, by one) is delayed: the first loop's first iterations come before the joint loop.
//! Leaves out: loops with calls of unequal span, loops that share a scalar, indices other than counter plus constant.
//! Class: checked.
//! Page: docs/passes/loop-fusion.md.  Tests: src/tests/alone.rs, src/tests/broken.rs.

use crate::options::PassOptions;
use crate::util::{accesses, each_function, local_of};
use num_bigint::BigInt;
use num_traits::ToPrimitive;
use santoku_ir::visit::{blocks_mut, substitute, Access};
use santoku_ir::{BinOp, Expr, ExprKind, LocalId, Place, Program, Proj, Stmt, Unroll};

/// The second loop may lag behind the first by this many iterations.
const LAG_MAX: i64 = 2;

pub fn run(program: &Program, _: &PassOptions) -> Program {
    each_function(program, |_, func| block(&mut func.body))
}

fn block(body: &mut Vec<Stmt>) {
    for stmt in body.iter_mut() {
        blocks_mut(stmt).into_iter().for_each(block);
    }
    let mut at = 0;
    while at + 1 < body.len() {
        match fuse(&body[at], &body[at + 1]) {
            Some(mut joint) => {
                let more = joint.len() - 1;
                body.splice(at..at + 2, joint.drain(..));
                // The joint loop, which is last, may be joined with the next.
                at += more;
            }
            None => at += 1,
        }
    }
}

struct Loop<'a> {
    var: LocalId,
    lo: &'a BigInt,
    hi: &'a BigInt,
    rev: bool,
    unroll: Unroll,
    body: &'a [Stmt],
}

fn as_loop(stmt: &Stmt) -> Option<Loop<'_>> {
    let Stmt::For { var, lo, hi, rev, unroll, body, .. } = stmt else { return None };
    Some(Loop { var: *var, lo: lo.as_const()?, hi: hi.as_const()?, rev: *rev, unroll: *unroll, body })
}

/// Both loops as one (after the first loop's leading iterations), or `None` where that could change something.
fn fuse(first: &Stmt, second: &Stmt) -> Option<Vec<Stmt>> {
    let (a, b) = (as_loop(first)?, as_loop(second)?);
    if a.rev != b.rev || a.unroll != b.unroll || a.hi <= a.lo || b.hi <= b.lo {
        return None;
    }
    let lag = lag(&a, &b)?;
    let spans = if a.rev { lag == 0 && a.lo == b.lo && a.hi == b.hi } else { a.lo == b.lo && a.hi - lag == *b.hi };
    if !spans || !(0..=LAG_MAX).contains(&lag) {
        return None;
    }
    let Stmt::For { lo, hi, loc, .. } = second else { return None };
    let mut out = Vec::new();
    for k in 0..lag {
        let mut lead = a.body.to_vec();
        substitute(&mut lead, a.var, &Expr::int(a.lo + BigInt::from(k)));
        out.append(&mut lead);
    }
    let counter = Expr::int_local(b.var);
    let ahead = if lag == 0 { counter } else { counter + Expr::int(lag) };
    let mut body = a.body.to_vec();
    substitute(&mut body, a.var, &ahead);
    body.extend(b.body.iter().cloned());
    out.push(Stmt::For {
        var: b.var,
        lo: lo.clone(),
        hi: hi.clone(),
        rev: b.rev,
        unroll: b.unroll,
        // Invariants of either loop speak of states that no longer exist.
        invariants: Vec::new(),
        body,
        loc: *loc,
    });
    Some(out)
}

/// The smallest lag at which every iteration of `b` finds what it found before; `None` where no lag is known to do.
fn lag(a: &Loop, b: &Loop) -> Option<i64> {
    let mut lag = 0;
    for (p, how_p) in accesses(a.body) {
        for (q, how_q) in accesses(b.body) {
            if p.base != q.base || (how_p == Access::Read && how_q == Access::Read) {
                continue;
            }
            let id = local_of(p)?;
            if id == a.var || id == b.var {
                return None;
            }
            match conflict((p, a.var), (q, b.var)) {
                Conflict::Never => {}
                Conflict::At(ahead) if a.rev => lag = lag.max(-ahead),
                Conflict::At(ahead) => lag = lag.max(ahead),
                Conflict::Unknown => return None,
            }
        }
    }
    Some(lag)
}

enum Conflict {
    Never,
    /// Iteration `i` of the second loop meets iteration `i + ahead` of the first, and no other.
    At(i64),
    Unknown,
}

fn conflict((p, i): (&Place, LocalId), (q, j): (&Place, LocalId)) -> Conflict {
    match (p.projs.first(), q.projs.first()) {
        (Some(Proj::Field(x)), Some(Proj::Field(y))) if x != y => Conflict::Never,
        (Some(Proj::Index(x)), Some(Proj::Index(y))) => match (offset(x, i), offset(y, j)) {
            (Some(x), Some(y)) => Conflict::At(y - x),
            _ => match (x.as_const(), y.as_const()) {
                (Some(x), Some(y)) if x != y => Conflict::Never,
                _ => Conflict::Unknown,
            },
        },
        _ => Conflict::Unknown,
    }
}

/// `c` where the index is `counter + c`.
fn offset(e: &Expr, counter: LocalId) -> Option<i64> {
    match &e.kind {
        ExprKind::Read(p) => (*p == Place::local(counter)).then_some(0),
        ExprKind::Bin(BinOp::Add, x, c) | ExprKind::Bin(BinOp::Add, c, x) if c.as_const().is_some() => {
            offset(x, counter)?.checked_add(c.as_const()?.to_i64()?)
        }
        ExprKind::Bin(BinOp::Sub, x, c) => offset(x, counter)?.checked_sub(c.as_const()?.to_i64()?),
        _ => None,
    }
}
