//! A lie that was believed, cut down as far as it is still believed.
//!
//! Needs: a tree and what must stay so.  Keeps: every step is tested.  Absent: changes inside expressions of the claim.

use crate::ast::{Ex, Prog, St, Ty};
use num_bigint::BigInt;

pub fn smallest(mut p: Prog, still: &dyn Fn(&Prog) -> bool) -> Prog {
    loop {
        let at = p.funcs.len() - 1;
        let cuts = bodies(&p.funcs[at].body);
        let smaller = cuts.into_iter().find_map(|body| {
            let mut q = p.clone();
            q.funcs[at].body = body;
            still(&q).then_some(q)
        });
        match smaller {
            Some(q) => p = q,
            None => return p,
        }
    }
}

/// The block with one statement left out or made simpler.
fn bodies(body: &[St]) -> Vec<Vec<St>> {
    let mut out = Vec::new();
    for (i, s) in body.iter().enumerate() {
        let with = |new: &[St]| [&body[..i], new, &body[i + 1..]].concat();
        out.push(with(&[]));
        match s {
            St::If(c, a, b) => {
                out.push(with(a));
                out.push(with(b));
                out.extend(bodies(a).into_iter().map(|a| with(&[St::If(c.clone(), a, b.clone())])));
                out.extend(bodies(b).into_iter().map(|b| with(&[St::If(c.clone(), a.clone(), b)])));
            }
            St::For { var, lo, hi, rev, invariants, body: inner } => {
                let again = |body| St::For { var: *var, lo: lo.clone(), hi: hi.clone(), rev: *rev, invariants: invariants.clone(), body };
                out.extend(bodies(inner).into_iter().map(|b| with(&[again(b)])));
            }
            St::Let(v, e) => out.extend(parts(e).into_iter().map(|e| with(&[St::Let(*v, e)]))),
            St::Set(place, e) => out.extend(parts(e).into_iter().map(|e| with(&[St::Set(place.clone(), e)]))),
        }
    }
    out
}

/// Operands in place of an operation; what does not fit is refused by the front end.
fn parts(e: &Ex) -> Vec<Ex> {
    match e {
        Ex::Bin(_, a, b) => vec![(**a).clone(), (**b).clone()],
        Ex::Neg(a) | Ex::Not(a) => vec![(**a).clone()],
        Ex::Sel(_, a, b) => vec![(**a).clone(), (**b).clone()],
        Ex::Cast(t, a) => parts(a).into_iter().map(|a| Ex::Cast(t.clone(), Box::new(a))).collect(),
        Ex::Call(..) | Ex::Idx(..) => vec![Ex::Lit(BigInt::from(1), Ty::Int)],
        _ => Vec::new(),
    }
}
