//! Arrays and structs: copies, literals, selections, comparison.

use crate::alias::{expr_places, overlap};
use crate::context::{FnCx, Res};
use crate::ctype::{is_empty, literal, CInt, CTy, U32};
use crate::expr::Val;
use crate::known::is_zero_const;
use num_bigint::BigInt;
use santoku_ir::visit::place_exprs;
use santoku_ir::{Base, CmpOp, Expr, ExprKind, Len, Place, Ty};
use std::collections::{BTreeMap, BTreeSet};

/// Elements up to which a selection is written out: gcc at -O2 keeps even a loop of five, which costs more than what is in it.
const FEW: u64 = 5;

impl FnCx<'_> {
    /// `dst = src` for an aggregate; through a temporary if `src` reads what `dst` overwrites piece by piece.
    pub fn assign_aggregate(&mut self, dst: &Place, text: &str, cty: &CTy, src: &Expr) -> Res<()> {
        let text = self.deref(dst, text, cty);
        let whole = matches!(src.kind, ExprKind::Read(_));
        if !fills_in_place(dst, src) || !whole && index_reads(dst, dst.base) {
            self.open("{");
            let tmp = self.temporary(cty)?;
            self.fill(&tmp, cty, src)?;
            self.copy(&text, cty, &tmp, cty)?;
            self.close();
            return Ok(());
        }
        self.fill(&text, cty, src)
    }

    /// A struct behind a pointer as an lvalue.
    pub fn deref(&self, p: &Place, text: &str, cty: &CTy) -> String {
        if matches!(cty, CTy::Struct(_)) && p.projs.is_empty() && self.root_is_pointer_struct(p.base) {
            format!("(*{text})")
        } else {
            text.to_string()
        }
    }

    /// Stores `src` into the object `dst` (an lvalue) of type `cty`, which `src` does not read piecewise.
    pub fn fill(&mut self, dst: &str, cty: &CTy, src: &Expr) -> Res<()> {
        match (&src.kind, cty) {
            // Compilers warn of a loop over nothing.
            (ExprKind::Repeat(_), _) if is_empty(cty) => Ok(()),
            (_, CTy::Int(_) | CTy::Vec(_)) => self.assign_scalar(dst, cty, src),
            (ExprKind::Read(p), _) => {
                let (text, have) = self.place(p)?;
                let text = self.deref(p, &text, &have);
                self.copy(dst, cty, &text, &have)
            }
            (ExprKind::Array(es), CTy::Array(elem, _)) => {
                for (k, e) in es.iter().enumerate() {
                    self.fill(&format!("{dst}[{k}]"), elem, e)?;
                }
                Ok(())
            }
            (ExprKind::Repeat(e), CTy::Array(elem, len)) => {
                if is_zero_const(e) && matches!(**elem, CTy::Int(_)) {
                    let bytes = self.bytes(cty)?;
                    self.line(&format!("memset({dst}, 0, {bytes});"));
                    return Ok(());
                }
                let i = self.loop_over(len)?;
                self.fill(&format!("{dst}[{i}]"), elem, e)?;
                self.close();
                self.close();
                Ok(())
            }
            (ExprKind::Struct(_, es), CTy::Struct(id)) => {
                let fields = self.unit.fields(*id);
                for ((name, ty), e) in fields.iter().zip(es) {
                    self.fill(&format!("{dst}.{name}"), ty, e)?;
                }
                Ok(())
            }
            (ExprKind::Select(c, a, b), _) => self.fill_select(dst, cty, c, a, b),
            _ => Err(self.unsupported("this aggregate expression")),
        }
    }

    /// `dst = c ? a : b`, element by element under a mask; public conditions branch.
    fn fill_select(&mut self, dst: &str, cty: &CTy, c: &Expr, a: &Expr, b: &Expr) -> Res<()> {
        if self.is_public(c) {
            let cond = self.emit_as(c, U32)?;
            self.open(&format!("if ({cond}) {{"));
            self.fill(dst, cty, a)?;
            self.indent -= 1;
            self.open("} else {");
            self.fill(dst, cty, b)?;
            self.close();
            return Ok(());
        }
        self.open("{");
        let cond = self.fresh.fresh("cond");
        let text = self.emit_as(c, U32)?;
        self.line(&format!("uint32_t {cond} = {text};"));
        let (x, x_ty) = self.operand(cty, a)?;
        let (y, y_ty) = self.operand(cty, b)?;
        // One mask for each width, before the loops: a mask made in a loop keeps compilers from vectorising it.
        let mut widths = BTreeSet::new();
        self.select_widths(cty, &x_ty, &y_ty, &mut widths);
        let mut masks = BTreeMap::new();
        for bits in widths {
            let mask = self.fresh.fresh("mask");
            self.line(&format!("{} {mask} = stk_mask_u{bits}({cond});", CInt::unsigned(bits).name()));
            masks.insert(bits, mask);
        }
        self.select_into(dst, cty, &masks, (&x, &x_ty), (&y, &y_ty))?;
        self.close();
        Ok(())
    }

    /// Widths of the masks that a selection between objects of these types takes.
    fn select_widths(&self, to: &CTy, a: &CTy, b: &CTy, out: &mut BTreeSet<u32>) {
        match (to, a, b) {
            (CTy::Int(t), CTy::Int(ta), CTy::Int(tb)) => {
                out.insert(select_width(*t, *ta, *tb));
            }
            (CTy::Array(e, _), CTy::Array(ea, _), CTy::Array(eb, _)) => self.select_widths(e, ea, eb, out),
            (CTy::Struct(id), CTy::Struct(_), CTy::Struct(_)) => {
                self.unit.fields(*id).iter().for_each(|(_, ty)| self.select_widths(ty, ty, ty, out));
            }
            _ => {}
        }
    }

    /// The operand as an object in memory.
    fn operand(&mut self, cty: &CTy, e: &Expr) -> Res<(String, CTy)> {
        if let ExprKind::Read(p) = &e.kind {
            let (text, have) = self.place(p)?;
            return Ok((self.deref(p, &text, &have), have));
        }
        let tmp = self.temporary(cty)?;
        self.fill(&tmp, cty, e)?;
        Ok((tmp, cty.clone()))
    }

    fn select_into(&mut self, dst: &str, cty: &CTy, masks: &BTreeMap<u32, String>, a: (&str, &CTy), b: (&str, &CTy)) -> Res<()> {
        match (cty, a.1, b.1) {
            (CTy::Int(t), CTy::Int(ta), CTy::Int(tb)) => {
                let u = CInt::unsigned(select_width(*t, *ta, *tb));
                let text = |v: (&str, &CInt)| if *v.1 == u { v.0.to_string() } else { format!("({}){}", u.name(), v.0) };
                let (x, y) = (text((a.0, ta)), text((b.0, tb)));
                let mask = &masks[&u.bits];
                let back = if *t == u && u.bits >= 32 { String::new() } else { format!("({})", t.name()) };
                self.line(&format!("{dst} = {back}({y} ^ ({mask} & ({x} ^ {y})));"));
                Ok(())
            }
            (CTy::Array(e, Len::Const(n)), CTy::Array(ea, _), CTy::Array(eb, _)) if *n <= FEW && matches!(**e, CTy::Int(_)) => {
                for i in 0..*n {
                    let at = |s: &str| format!("{s}[{i}]");
                    self.select_into(&at(dst), e, masks, (&at(a.0), ea), (&at(b.0), eb))?;
                }
                Ok(())
            }
            (CTy::Array(e, len), CTy::Array(ea, _), CTy::Array(eb, _)) => {
                let i = self.loop_over(len)?;
                self.select_into(&format!("{dst}[{i}]"), e, masks, (&format!("{}[{i}]", a.0), ea), (&format!("{}[{i}]", b.0), eb))?;
                self.close();
                self.close();
                Ok(())
            }
            (CTy::Struct(id), CTy::Struct(_), CTy::Struct(_)) => {
                for (name, ty) in self.unit.fields(*id) {
                    let at = |s: &str| format!("{s}.{name}");
                    self.select_into(&at(dst), &ty, masks, (&at(a.0), &ty), (&at(b.0), &ty))?;
                }
                Ok(())
            }
            _ => Err(self.unsupported("a secret selection between vectors of different shape")),
        }
    }

    /// Copies an object; `memcpy` where the layouts agree, else element by element with conversion.
    pub fn copy(&mut self, dst: &str, to: &CTy, src: &str, from: &CTy) -> Res<()> {
        if dst == src && to == from {
            return Ok(());
        }
        match (to, from) {
            (CTy::Int(a), CTy::Int(b)) => {
                let c = if a == b { String::new() } else { format!("({})", a.name()) };
                self.line(&format!("{dst} = {c}{src};"));
                Ok(())
            }
            (CTy::Vec(_), CTy::Vec(_)) | (CTy::Struct(_), CTy::Struct(_)) => {
                self.line(&format!("{dst} = {src};"));
                Ok(())
            }
            (CTy::Array(a, len), CTy::Array(b, _)) if a == b => {
                let size = self.bytes(&CTy::Array(a.clone(), len.clone()))?;
                self.line(&format!("memmove({dst}, {src}, {size});"));
                Ok(())
            }
            (CTy::Array(a, len), CTy::Array(b, _)) => {
                let i = self.loop_over(len)?;
                self.copy(&format!("{dst}[{i}]"), a, &format!("{src}[{i}]"), b)?;
                self.close();
                self.close();
                Ok(())
            }
            (CTy::Vec(_), CTy::Int(_)) => {
                let text = self.broadcast(src, to)?;
                self.line(&format!("{dst} = {text};"));
                Ok(())
            }
            _ => Err(self.unsupported("a copy between objects of different shape")),
        }
    }

    /// Opens `{ uint32_t k; for (k = 0; k < len; k++) {`; close twice.
    fn loop_over(&mut self, len: &Len) -> Res<String> {
        let n = self.length(len);
        let i = self.fresh.fresh("k");
        self.open("{");
        self.line(&format!("uint32_t {i};"));
        self.open(&format!("for ({i} = 0; {i} < {n}; {i}++) {{"));
        Ok(i)
    }

    pub fn length(&self, len: &Len) -> String {
        match len {
            Len::Const(n) => n.to_string(),
            Len::Param { param, add } => {
                let n = &self.names[param.0 as usize];
                match add {
                    0 => n.clone(),
                    a if *a > 0 => format!("({n} + {a}u)"),
                    a => format!("({n} - {}u)", a.unsigned_abs()),
                }
            }
        }
    }

    fn bytes(&self, cty: &CTy) -> Res<String> {
        let (mut dims, mut at) = (vec![], cty);
        while let CTy::Array(e, len) = at {
            // A number of rows times their length may not fit the type of the number.
            let rows = matches!((&**e, len), (CTy::Array(..), Len::Param { .. }));
            dims.push(format!("{}{}", if rows { "(size_t)" } else { "" }, self.length(len)));
            at = e;
        }
        let elem = self.unit.scalar_name(at);
        let size = if matches!(at, CTy::Int(CInt { bits: 8, .. })) { String::new() } else { format!(" * sizeof({elem})") };
        Ok(format!("{}{size}", dims.join(" * ")))
    }

    /// Equality of arrays or structs without an early exit: all differences are gathered first.
    pub fn compare_aggregates(&mut self, op: CmpOp, a: &Expr, b: &Expr) -> Res<Val> {
        if !matches!(op, CmpOp::Eq | CmpOp::Ne) {
            return Err(self.unsupported("an order between aggregates"));
        }
        let acc = self.fresh.fresh("diff");
        self.line(&format!("uint64_t {acc} = 0;"));
        let (x_ty, mut y_ty) = (self.type_of_aggregate(&a.ty)?, self.type_of_aggregate(&b.ty)?);
        if let (CTy::Int(x), CTy::Int(y)) = (x_ty.leaf(), y_ty.leaf()) {
            if x.holds(&y.range()) {
                y_ty = x_ty.clone();
            }
        }
        self.open("{");
        let (x, x_ty) = self.operand(&x_ty, a)?;
        let (y, y_ty) = self.operand(&y_ty, b)?;
        self.gather(&acc, (&x, &x_ty), (&y, &y_ty))?;
        self.close();
        let eq = format!("stk_eq_u64({acc}, {})", literal(&BigInt::from(0), crate::ctype::U64));
        Ok(Val { text: if op == CmpOp::Eq { eq } else { format!("({eq} ^ 1u)") }, ty: U32 })
    }

    /// Converted to the wider unsigned type, different values differ: but for a negative one and one that this type alone holds.
    fn gather_scalar(&mut self, acc: &str, a: (&str, CInt), b: (&str, CInt)) {
        let u = CInt::unsigned(a.1.bits.max(b.1.bits).max(64));
        let differ = format!("({0}){1} ^ ({0}){2}", u.name(), a.0, b.0);
        if u.bits == 64 {
            self.line(&format!("{acc} |= {differ};"));
        } else {
            self.line(&format!("{acc} |= (uint64_t)({differ}) | (uint64_t)(({differ}) >> 64);"));
        }
        let (signed, other) = if a.1.signed { (a, b) } else { (b, a) };
        if signed.1.signed && other.1 == u {
            self.line(&format!("{acc} |= (uint64_t)(({}){} >> {});", u.name(), signed.0, u.bits - 1));
        }
    }

    fn type_of_aggregate(&self, ty: &Ty) -> Res<CTy> {
        crate::context::storage(self.unit, ty, true).map_err(|_| self.unsupported("a comparison of aggregates without proven ranges"))
    }

    fn gather(&mut self, acc: &str, a: (&str, &CTy), b: (&str, &CTy)) -> Res<()> {
        match (a.1, b.1) {
            (CTy::Int(x), CTy::Int(y)) => {
                self.gather_scalar(acc, (a.0, *x), (b.0, *y));
                Ok(())
            }
            (CTy::Array(ea, len), CTy::Array(eb, _)) => {
                let i = self.loop_over(len)?;
                self.gather(acc, (&format!("{}[{i}]", a.0), ea), (&format!("{}[{i}]", b.0), eb))?;
                self.close();
                self.close();
                Ok(())
            }
            (CTy::Struct(id), CTy::Struct(_)) => {
                for (name, ty) in self.unit.fields(*id) {
                    self.gather(acc, (&format!("{}.{name}", a.0), &ty), (&format!("{}.{name}", b.0), &ty))?;
                }
                Ok(())
            }
            _ => Err(self.unsupported("this comparison of aggregates")),
        }
    }
}

/// Bits of the words in which a selection between `a` and `b` for `to` is made.
fn select_width(to: CInt, a: CInt, b: CInt) -> u32 {
    to.bits.max(a.bits).max(b.bits)
}

/// May `src` be stored piece by piece into `dst`: is nothing of it read after a piece of what it reads was stored?
fn fills_in_place(dst: &Place, src: &Expr) -> bool {
    match &src.kind {
        // One copy, which may overlap.
        ExprKind::Read(p) => !index_reads(p, dst.base),
        // Whatever the condition, whole sides follow; what is no object comes from a temporary of its own.
        ExprKind::Select(_, a, b) => [a, b].into_iter().all(|side| match &side.kind {
            ExprKind::Read(p) => !index_reads(p, dst.base) && (p == dst || !overlap(p, dst)),
            _ => fills_in_place(dst, side),
        }),
        _ => !reads(src, dst.base),
    }
}

fn reads(e: &Expr, base: Base) -> bool {
    let mut found = false;
    expr_places(e, &mut |p| found |= p.base == base);
    found
}

/// Do the indices of `p` read `base`?
fn index_reads(p: &Place, base: Base) -> bool {
    let mut found = false;
    place_exprs(p, &mut |e| found |= reads(e, base));
    found
}
