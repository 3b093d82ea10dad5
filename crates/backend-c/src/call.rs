//! Calls: arguments by value or by pointer, results straight into the caller's slot unless that could be observed.

use crate::alias::overlap;
use crate::context::{FnCx, Res};
use crate::ctype::{is_empty, CTy, U32};
use santoku_ir::{Base, Expr, ExprKind, FuncId, Place, Ty};

impl FnCx<'_> {
    pub fn call(&mut self, dsts: &[Place], func: FuncId, lens: &[Expr], args: &[Expr]) -> Res<()> {
        let sig = self.unit.signatures[func.0 as usize].clone();
        let mut lens_text = vec![];
        for e in lens {
            lens_text.push(self.emit_as(e, U32)?);
        }
        let scoped = self.needs_temporaries(dsts, func, args)?;
        if scoped {
            self.open("{");
        }
        let mut arg_text = vec![];
        for (a, t) in args.iter().zip(&sig.params) {
            arg_text.push(self.argument(a, &as_passed(t, &a.ty))?);
        }
        if sig.returns {
            let text = format!("{}({})", sig.written(), [lens_text, arg_text].concat().join(", "));
            self.store_return(&dsts[0], &sig.rets[0], text)?;
        } else {
            let mut outs = vec![];
            let mut copies = vec![];
            for (r, (d, t)) in dsts.iter().zip(&sig.rets).enumerate() {
                let (text, copy) = self.result_slot(d, t, func, r, args)?;
                outs.push(text);
                copies.extend(copy);
            }
            self.line(&format!("{}({});", sig.written(), [outs, lens_text, arg_text].concat().join(", ")));
            for (dst, dst_ty, tmp, tmp_ty) in copies {
                self.copy(&dst, &dst_ty, &tmp, &tmp_ty)?;
            }
        }
        if scoped {
            self.close();
        }
        Ok(())
    }

    fn store_return(&mut self, dst: &Place, from: &CTy, text: String) -> Res<()> {
        let (d, to) = self.place(dst)?;
        self.copy(&d, &to, &text, from)
    }

    /// Will any argument or result need a temporary (and so a block of its own)?
    fn needs_temporaries(&mut self, dsts: &[Place], func: FuncId, args: &[Expr]) -> Res<bool> {
        let sig = self.unit.signatures[func.0 as usize].clone();
        for (a, t) in args.iter().zip(&sig.params) {
            if t.is_aggregate() && self.direct_argument(a, t)?.is_none() {
                return Ok(true);
            }
        }
        if sig.returns {
            return Ok(false);
        }
        for (r, (d, t)) in dsts.iter().zip(&sig.rets).enumerate() {
            if self.direct_result(d, t, func, r, args)?.is_none() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn argument(&mut self, a: &Expr, t: &CTy) -> Res<String> {
        match t {
            CTy::Int(ty) => self.emit_as(a, *ty),
            CTy::Vec(_) => self.vector(a),
            CTy::Array(..) | CTy::Struct(_) => match self.direct_argument(a, t)? {
                Some(text) => Ok(text),
                None => {
                    let tmp = self.temporary(t)?;
                    self.fill(&tmp, t, a)?;
                    Ok(self.address(&tmp, t))
                }
            },
        }
    }

    /// The argument is an object in memory of the very type the callee wants.
    fn direct_argument(&mut self, a: &Expr, t: &CTy) -> Res<Option<String>> {
        let ExprKind::Read(p) = &a.kind else { return Ok(None) };
        let (text, have) = self.place(p)?;
        if !same_layout(&have, t) {
            return Ok(None);
        }
        Ok(Some(self.pointer_to(p, &text, t)))
    }

    /// Pointer to the object `text` of aggregate type `t` found at `p`.
    pub fn pointer_to(&self, p: &Place, text: &str, t: &CTy) -> String {
        match t {
            CTy::Struct(_) if p.projs.is_empty() && self.root_is_pointer_struct(p.base) => text.to_string(),
            CTy::Struct(_) => format!("&{text}"),
            // A nested constant array is `const T [n][m]`: the parameter is unqualified (see `parameter`).
            CTy::Array(elem, _) if elem.is_aggregate() && !matches!(**elem, CTy::Struct(_)) && self.reads_const(p) => {
                format!("({})(uintptr_t){text}", self.nested_pointer_type(t))
            }
            _ => text.to_string(),
        }
    }

    fn reads_const(&self, p: &Place) -> bool {
        matches!(p.base, Base::Const(_))
    }

    fn nested_pointer_type(&self, t: &CTy) -> String {
        let CTy::Array(elem, _) = t else { return String::new() };
        let (mut dims, mut at) = (String::new(), &**elem);
        while let CTy::Array(e, santoku_ir::Len::Const(n)) = at {
            dims.push_str(&format!("[{n}]"));
            at = e;
        }
        format!("{} (*){dims}", self.unit.scalar_name(at))
    }

    pub fn address(&self, tmp: &str, t: &CTy) -> String {
        match t {
            CTy::Struct(_) => format!("&{tmp}"),
            _ => tmp.to_string(),
        }
    }

    /// Where the callee may write result `r`; with the copy to make afterwards, if it is a temporary.
    #[allow(clippy::type_complexity)] // One use, local to this file.
    fn result_slot(&mut self, d: &Place, t: &CTy, func: FuncId, r: usize, args: &[Expr]) -> Res<(String, Option<(String, CTy, String, CTy)>)> {
        if let Some(text) = self.direct_result(d, t, func, r, args)? {
            return Ok((text, None));
        }
        let (dst, dst_ty) = self.place(d)?;
        let t = &as_stored(t, &dst_ty);
        let tmp = self.temporary(t)?;
        let dst = self.deref(d, &dst, &dst_ty);
        let out = if t.is_aggregate() { self.address(&tmp, t) } else { format!("&{tmp}") };
        Ok((out, Some((dst, dst_ty, tmp, t.clone()))))
    }

    /// The object the callee may write result `r` to, be it one element: none of what it may still read.
    fn direct_result(&mut self, d: &Place, t: &CTy, func: FuncId, r: usize, args: &[Expr]) -> Res<Option<String>> {
        let (text, have) = self.place(d)?;
        if !same_layout(&have, t) {
            return Ok(None);
        }
        let in_place = &self.unit.in_place[func.0 as usize];
        for (k, a) in args.iter().enumerate() {
            if a.ty.is_scalar() {
                continue;
            }
            // Anything but a direct object is copied to a temporary first and cannot clash.
            if let ExprKind::Read(p) = &a.kind {
                if overlap(p, d) && !(p == d && in_place.allowed(r, k)) {
                    return Ok(None);
                }
                // A parameter of ours may be the same object as a result of ours.
                if self.may_share(p, d) && !(p.projs == d.projs && in_place.allowed(r, k)) {
                    return Ok(None);
                }
            }
        }
        Ok(Some(if t.is_aggregate() { self.pointer_to(d, &text, t) } else { format!("&{text}") }))
    }

    /// Is `p` in a parameter and `d` in a result that callers may pass as one object?
    fn may_share(&self, p: &Place, d: &Place) -> bool {
        let (Base::Local(p), Base::Local(d)) = (p.base, d.base) else { return false };
        let (Some(pi), Some(ri)) = (self.f.params.iter().position(|x| *x == p), self.f.rets.iter().position(|x| *x == d)) else { return false };
        self.unit.in_place[self.unit.index_of(self.f)].allowed(ri, pi)
    }

    pub fn temporary(&mut self, t: &CTy) -> Res<String> {
        let name = self.fresh.fresh("tmp");
        let d = self.declarator(t, &name)?;
        let value = if is_empty(t) { " = {0}" } else { "" };
        self.line(&format!("{d}{value};"));
        Ok(name)
    }
}

/// The callee's type of a parameter with the lengths of what the caller passes: a length parameter in the signature is a local of
/// the callee, whose number is another local here.
fn as_passed(t: &CTy, passed: &Ty) -> CTy {
    match (t, passed) {
        (CTy::Array(elem, _), Ty::Array { elem: inner, len, .. }) => CTy::Array(Box::new(as_passed(elem, inner)), len.clone()),
        _ => t.clone(),
    }
}

/// The same for a result, by the object that the caller has for it.
fn as_stored(t: &CTy, stored: &CTy) -> CTy {
    match (t, stored) {
        (CTy::Array(elem, _), CTy::Array(inner, len)) => CTy::Array(Box::new(as_stored(elem, inner)), len.clone()),
        _ => t.clone(),
    }
}

/// Same element layout, so that a pointer may be passed (the outer length does not matter).
pub fn same_layout(a: &CTy, b: &CTy) -> bool {
    match (a, b) {
        (CTy::Array(x, _), CTy::Array(y, _)) => x == y,
        _ => a == b,
    }
}
