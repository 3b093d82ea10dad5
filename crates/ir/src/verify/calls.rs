//! Calls: order of functions, numbers and types of what is passed, destinations that do not meet.

use super::types::Judged;
use super::check::{affine_len, FuncCheck};
use crate::data::*;
use crate::ty::{Len, LocalId, Ty};
use crate::visit;
use num_bigint::BigInt;

fn bad(code: &'static str, message: impl Into<String>) -> Judged {
    Err((code, message.into()))
}

impl FuncCheck<'_> {
    pub(super) fn call(&self, dsts: &[Place], id: FuncId, lens: &[Expr], args: &[Expr]) -> Judged {
        let at = id.0 as usize;
        if at >= self.program.funcs.len() {
            return bad("id", format!("no function {at}"));
        }
        if at >= self.at {
            return bad("order", format!("{} is called before it is declared", self.program.funcs[at].name));
        }
        let callee = &self.program.funcs[at];
        let counts = [
            ("lengths", lens.len(), callee.lens.len()),
            ("arguments", args.len(), callee.params.len()),
            ("destinations", dsts.len(), callee.rets.len()),
        ];
        for (what, have, want) in counts {
            if have != want {
                return bad("arity", format!("{have} {what} instead of {want} for {}", callee.name));
            }
        }
        lens.iter().try_for_each(|l| self.same(&Ty::int(), &l.ty, "a length"))?;
        for (arg, param) in args.iter().zip(&callee.params) {
            let local = callee.local(*param);
            let want = self.instance(callee, &local.ty, lens)?;
            self.same(&want, &arg.ty, &format!("argument {}", local.name))?;
        }
        for (dst, ret) in dsts.iter().zip(&callee.rets) {
            self.writable(dst)?;
            let local = callee.local(*ret);
            let have = self.instance(callee, &local.ty, lens)?;
            self.same(&self.place(dst)?, &have, &format!("result {}", local.name))?;
        }
        self.separate(dsts)
    }

    /// A callee's type with the caller's lengths put in.
    fn instance(&self, callee: &Func, ty: &Ty, lens: &[Expr]) -> Result<Ty, (&'static str, String)> {
        let Ty::Array { elem, len, ranges } = ty else { return Ok(ty.clone()) };
        let len = match len {
            Len::Const(n) => Len::Const(*n),
            Len::Param { param, add } => self.instance_len(callee, *param, *add, lens).ok_or_else(|| {
                ("length", format!("the length given for {} is no length of an array here", callee.local(*param).name))
            })?,
        };
        Ok(Ty::Array { elem: Box::new(self.instance(callee, elem, lens)?), len, ranges: ranges.clone() })
    }

    fn instance_len(&self, callee: &Func, param: LocalId, add: i64, lens: &[Expr]) -> Option<Len> {
        let position = callee.lens.iter().position(|l| *l == param)?;
        match affine_len(lens.get(position)?, &self.func.lens)? {
            Len::Const(n) => n.checked_add_signed(add).map(Len::Const),
            Len::Param { param, add: more } => Some(Len::Param { param, add: more.checked_add(add)? }),
        }
    }

    fn separate(&self, dsts: &[Place]) -> Judged {
        for (i, a) in dsts.iter().enumerate() {
            if dsts[i + 1..].iter().any(|b| !disjoint(a, b)) {
                return bad("overlap", "two destinations of a call may overlap");
            }
            let mut clash = false;
            visit::place_exprs(a, &mut |e| {
                let read = visit::expr_locals(e);
                clash |= dsts.iter().any(|d| matches!(d.base, Base::Local(id) if read.contains(&id)));
            });
            if clash {
                return bad("overlap", "the index of a destination is itself written by the call");
            }
        }
        Ok(())
    }
}

/// Two places that certainly share nothing: different bases, or constant projections that part.
pub(super) fn disjoint(a: &Place, b: &Place) -> bool {
    if a.base != b.base {
        return true;
    }
    for (p, q) in a.projs.iter().zip(&b.projs) {
        match (p, q) {
            (Proj::Field(i), Proj::Field(j)) if i != j => return true,
            _ if p == q => {}
            _ => {
                let (Some((lo, hi)), Some((from, to))) = (extent(p), extent(q)) else { return false };
                return hi <= from || to <= lo;
            }
        }
    }
    false
}

/// The elements a constant projection selects, from and up to (excluded).
fn extent(proj: &Proj) -> Option<(BigInt, BigInt)> {
    let (off, len) = match proj {
        Proj::Field(_) => return None,
        Proj::Index(e) => (e.as_const()?, 1),
        Proj::Slice { off, len } => (off.as_const()?, *len),
    };
    Some((off.clone(), off + len))
}
