//! Scalar expressions. Every operation is computed in the narrowest C type (of at least 32 bits) that holds its
//! operands and its result, all known from the proven ranges.

use crate::EmitError;
use crate::context::{FnCx, Res};
use crate::ctype::{literal, pow2, word_storage, CInt, CTy, U32};
use crate::options::Products;
use crate::known::{const_count, decided, mask_bits, scalar_range};
use crate::settle::single;
use num_bigint::BigInt;
use num_traits::{One, Signed, Zero};
use santoku_ir::{Base, BinOp, CmpOp, Expr, ExprKind, Len, Place, Proj, Range, Ty, UnOp};

/// C text of a scalar and the type it has in C. The text binds as tightly as a primary expression.
#[derive(Clone, Debug)]
pub struct Val {
    pub text: String,
    pub ty: CInt,
}

impl FnCx<'_> {
    /// The type in which a value of this expression naturally lives.
    pub fn natural(&self, e: &Expr) -> Res<CInt> {
        match &e.ty {
            Ty::Word(b) => self.word_type(*b),
            _ => self.fit(&self.range_of(e)?),
        }
    }

    /// The type in which words of `bits` bits are computed, within what the target has.
    fn word_type(&self, bits: u32) -> Res<CInt> {
        let t = word_storage(bits).promoted();
        if t.bits > self.unit.opts.widest {
            return Err(EmitError::TooWide { func: self.f.name.clone(), bits: bits.into(), widest: self.unit.opts.widest, loc: self.loc });
        }
        Ok(t)
    }

    /// Expression text converted to `t` (value preserving: the caller knows that `t` holds the range).
    pub fn emit_as(&mut self, e: &Expr, t: CInt) -> Res<String> {
        if let ExprKind::Const(v) = &e.kind {
            // On a side that is never chosen, it may be a number that the type has not.
            return Ok(literal(&t.wrapped(v), t));
        }
        let v = self.emit(e)?;
        Ok(cast(v, t))
    }

    pub fn emit(&mut self, e: &Expr) -> Res<Val> {
        // A range of one value is that value, whatever computes it.
        if let Some(v) = single(e) {
            let t = self.fit(&Range::new(v.clone(), v.clone()))?;
            return Ok(Val { text: literal(&v, t), ty: t });
        }
        match &e.kind {
            ExprKind::Const(v) => {
                let t = self.natural(e)?;
                Ok(Val { text: literal(v, t), ty: t })
            }
            ExprKind::Read(p) => self.read(e, p),
            ExprKind::Un(op, a) => self.unary(e, *op, a),
            ExprKind::Bin(op, a, b) => match e.ty {
                Ty::Word(bits) => match self.load_word(e, bits)? {
                    Some(loaded) => Ok(loaded),
                    None => self.word_bin(bits, *op, a, b),
                },
                Ty::Bool => self.bool_bin(*op, a, b),
                _ => self.int_bin(e, *op, a, b),
            },
            ExprKind::Cmp(op, a, b) => self.compare(*op, a, b),
            ExprKind::Select(c, a, b) => self.select(e, c, a, b),
            ExprKind::Cast(a) => self.convert(e, a),
            ExprKind::Array(_) | ExprKind::Repeat(_) | ExprKind::Struct(..) => Err(self.unsupported("an aggregate where a scalar is expected")),
        }
    }

    fn read(&mut self, e: &Expr, p: &Place) -> Res<Val> {
        let (text, cty) = self.place(p)?;
        let stored = match cty {
            CTy::Int(stored) => stored,
            CTy::Vec(_) => return Err(self.unsupported("a comparison, condition or exact integer of what differs from lane to lane")),
            CTy::Array(..) | CTy::Struct(_) => return Err(self.unsupported("an aggregate where a scalar is expected")),
        };
        let t = self.natural(e)?;
        Ok(Val { text: if stored == t { text } else { format!("({}){}", t.name(), text) }, ty: t })
    }

    fn unary(&mut self, e: &Expr, op: UnOp, a: &Expr) -> Res<Val> {
        match (op, &e.ty) {
            (UnOp::Not, Ty::Bool) => {
                let a = self.emit_as(a, U32)?;
                Ok(Val { text: format!("({a} ^ 1u)"), ty: U32 })
            }
            (_, Ty::Word(bits)) => {
                let t = self.word_type(*bits)?;
                let a = self.emit_as(a, t)?;
                let text = if op == UnOp::Not { format!("(~{a})") } else { format!("(0u - {a})") };
                Ok(trim_word(text, *bits, t))
            }
            (UnOp::Neg, _) => {
                let r = self.range_of(e)?.join(&self.range_of(a)?);
                let t = self.fit(&r.join(&Range::new(0, 0)))?;
                let a = self.emit_as(a, t)?;
                Ok(self.narrow_to_natural(Val { text: format!("(-{a})"), ty: t }, e)?)
            }
            (UnOp::Not, _) => Err(self.unsupported("`~` on an exact integer")),
        }
    }

    /// After an operation in a wider type: the natural type of the result.
    fn narrow_to_natural(&self, v: Val, e: &Expr) -> Res<Val> {
        let t = self.natural(e)?;
        Ok(if t.bits < v.ty.bits { Val { text: format!("({}){}", t.name(), v.text), ty: t } } else { v })
    }

    fn int_bin(&mut self, e: &Expr, op: BinOp, a: &Expr, b: &Expr) -> Res<Val> {
        match op {
            BinOp::And => return self.int_mask(e, a, b),
            BinOp::Shr => return self.int_shr(e, a, b),
            BinOp::Div | BinOp::Mod => return self.int_div(e, op, a, b),
            BinOp::Shl => {
                let k = const_count(b).ok_or_else(|| self.unsupported("a variable shift of an exact integer"))?;
                let factor = pow2(k);
                let r = self.range_of(e)?.join(&self.range_of(a)?);
                let t = self.at_least(self.fit(&r)?, k)?;
                let a = self.emit_as(a, t)?;
                let text = match t.signed {
                    false => format!("({a} << {k})"),
                    true if t.range().holds(&factor) => format!("({a} * {})", literal(&factor, t)),
                    // The operand is 0 or -1.
                    true => format!("(-{a} * {})", literal(&-factor, t)),
                };
                return self.narrow_to_natural(Val { text, ty: t }, e);
            }
            BinOp::Add | BinOp::Sub | BinOp::Mul => {}
            BinOp::Or | BinOp::Xor | BinOp::Rotl | BinOp::Rotr => return Err(self.unsupported("a bitwise operation on exact integers")),
        }
        let r = self.range_of(e)?.join(&self.range_of(a)?).join(&self.range_of(b)?);
        let t = self.fit(&r)?;
        let (x, y) = (self.emit_as(a, t)?, self.emit_as(b, t)?);
        let text = match op {
            BinOp::Add => format!("({x} + {y})"),
            BinOp::Sub => format!("({x} - {y})"),
            _ => self.product((a, &x), (b, &y), t),
        };
        self.narrow_to_natural(Val { text, ty: t }, e)
    }

    /// The product of two operands that are computed in `t`. Where the processor takes a time for wide products that depends on the operands,
    /// those of secrets are made of narrow ones.
    pub fn product(&self, (a, x): (&Expr, &str), (b, y): (&Expr, &str), t: CInt) -> String {
        let shift = |e: &Expr| single(e).is_some_and(|c| c.is_zero() || (&c.abs() & (c.abs() - BigInt::one())).is_zero());
        let secret = !(self.is_public(a) && self.is_public(b)) && !shift(a) && !shift(b);
        if !secret || t.bits != 64 || self.unit.opts.products == Products::Whole {
            return format!("({x} * {y})");
        }
        let narrow = |e: &Expr| scalar_range(e).is_some_and(|r| CInt::unsigned(32).holds(&r));
        let how = if narrow(a) && narrow(b) { "STK_MUL_WIDE" } else { "STK_MUL_LOW" };
        // The macro gives the type of its operands, or an unsigned one.
        if t.signed { format!("({}){how}({x}, {y})", t.name()) } else { format!("{how}({x}, {y})") }
    }

    /// `t`, or wider so that a shift by `k` is defined.
    fn at_least(&self, mut t: CInt, k: u32) -> Res<CInt> {
        while t.bits <= k {
            if t.bits >= self.unit.opts.widest {
                return Err(self.unsupported("a shift count beyond the widest type"));
            }
            t.bits *= 2;
        }
        Ok(t)
    }

    /// `x & (2^k - 1)`: only the low k bits of x are needed, so x is computed modulo a power of two.
    fn int_mask(&mut self, e: &Expr, a: &Expr, b: &Expr) -> Res<Val> {
        let (x, m) = if matches!(a.kind, ExprKind::Const(_)) { (b, a) } else { (a, b) };
        let ExprKind::Const(m) = &m.kind else { return Err(self.unsupported("`&` of two variable exact integers")) };
        let k = mask_bits(m).ok_or_else(|| self.unsupported("`&` of an exact integer with a constant that is not 2^k - 1"))?;
        let range = self.range_of(x)?;
        if k > self.unit.opts.widest && !range.lo.is_negative() && range.hi <= m.into() {
            let all = self.emit(x)?;
            return self.narrow_to_natural(all, e);
        }
        let low = self.low_bits(x, k.max(1))?;
        if k == low.ty.bits {
            return self.narrow_to_natural(low, e);
        }
        self.narrow_to_natural(Val { text: format!("({} & {})", low.text, literal(m, low.ty)), ty: low.ty }, e)
    }

    fn int_shr(&mut self, e: &Expr, a: &Expr, b: &Expr) -> Res<Val> {
        let k = const_count(b).ok_or_else(|| self.unsupported("a variable shift of an exact integer"))?;
        if let Some(carry) = self.carry(a, k)? {
            return Ok(carry);
        }
        let t = self.at_least(self.natural(a)?, k)?;
        let x = self.emit_as(a, t)?;
        self.narrow_to_natural(Val { text: format!("({x} >> {k})"), ty: t }, e)
    }

    /// What is left of a sum of two numbers of 64 bits behind a shift by 64. In 128 bits, gcc adds the zeros above each.
    fn carry(&mut self, a: &Expr, k: u32) -> Res<Option<Val>> {
        let ExprKind::Bin(BinOp::Add, x, y) = &a.kind else { return Ok(None) };
        let word = CInt::unsigned(64);
        if !(self.unit.opts.decisions.carries)(k) || !word.holds(&self.range_of(x)?) || !word.holds(&self.range_of(y)?) {
            return Ok(None);
        }
        let (x, y) = (self.emit_as(x, word)?, self.emit_as(y, word)?);
        Ok(Some(Val { text: format!("stk_carry_u64({x}, {y})"), ty: U32 }))
    }

    /// Floor division and remainder by a positive constant.
    fn int_div(&mut self, e: &Expr, op: BinOp, a: &Expr, b: &Expr) -> Res<Val> {
        let ExprKind::Const(d) = &b.kind else { return Err(self.unsupported("division by a variable")) };
        if let Some(k) = mask_bits(&(d - 1)).filter(|_| d.is_positive()) {
            if op == BinOp::Mod {
                let mask = Expr { kind: ExprKind::Const(d - 1), ty: b.ty.clone() };
                return self.int_mask(e, a, &mask);
            }
            let count = Expr { kind: ExprKind::Const(k.into()), ty: b.ty.clone() };
            return self.int_shr(e, a, &count);
        }
        let r = self.range_of(a)?;
        let t = self.fit(&r.join(&Range::new(d.clone(), d.clone())))?;
        let x = self.emit_as(a, t)?;
        let d = literal(d, t);
        let sign = if op == BinOp::Div { "/" } else { "%" };
        if !r.lo.is_negative() {
            return self.narrow_to_natural(Val { text: format!("({x} {sign} {d})"), ty: t }, e);
        }
        // C truncates towards zero; the language rounds down. Nothing here leaves the type, at its ends neither.
        let below = format!("({x} % {d} < 0)");
        let text = if op == BinOp::Mod { format!("({x} % {d} + ({below} ? {d} : 0))") } else { format!("({x} / {d} - {below})") };
        self.narrow_to_natural(Val { text, ty: t }, e)
    }

    fn word_bin(&mut self, bits: u32, op: BinOp, a: &Expr, b: &Expr) -> Res<Val> {
        let t = self.word_type(bits)?;
        let x = self.emit_as(a, t)?;
        let infix = |s: &str, y: String| format!("({x} {s} {y})");
        match op {
            BinOp::And | BinOp::Or | BinOp::Xor => {
                let y = self.emit_as(b, t)?;
                Ok(Val { text: infix(match op { BinOp::And => "&", BinOp::Or => "|", _ => "^" }, y), ty: t })
            }
            BinOp::Add | BinOp::Sub => {
                let y = self.emit_as(b, t)?;
                Ok(trim_word(infix(if op == BinOp::Add { "+" } else { "-" }, y), bits, t))
            }
            BinOp::Mul => {
                let y = self.emit_as(b, t)?;
                Ok(trim_word(self.product((a, &x), (b, &y), t), bits, t))
            }
            BinOp::Shl | BinOp::Shr => {
                let k = self.count(b)?;
                let text = infix(if op == BinOp::Shl { "<<" } else { ">>" }, k);
                Ok(if op == BinOp::Shl { trim_word(text, bits, t) } else { Val { text, ty: t } })
            }
            BinOp::Rotl | BinOp::Rotr => self.rotate(bits, t, x, op == BinOp::Rotl, b),
            BinOp::Div | BinOp::Mod => Err(self.unsupported("division of words")),
        }
    }

    fn rotate(&mut self, bits: u32, t: CInt, x: String, left: bool, b: &Expr) -> Res<Val> {
        if let Some(k) = const_count(b) {
            let k = if left { k % bits } else { (bits - k % bits) % bits };
            if k == 0 {
                return Ok(Val { text: x, ty: t });
            }
            return Ok(trim_word(format!("(({x} << {k}) | ({x} >> {}))", bits - k), bits, t));
        }
        let k = self.count(b)?;
        if bits != t.bits {
            // The type is wider than the word: a count of 0 shifts everything out on the other side, and is defined.
            let (to, back) = if left { ("<<", ">>") } else { (">>", "<<") };
            return Ok(trim_word(format!("(({x} {to} {k}) | ({x} {back} ({bits}u - {k})))"), bits, t));
        }
        let name = if left { "stk_rotl" } else { "stk_rotr" };
        Ok(Val { text: format!("{name}{bits}({x}, {k})"), ty: t })
    }

    /// A public shift count.
    pub fn count(&mut self, b: &Expr) -> Res<String> {
        match const_count(b) {
            Some(k) => Ok(k.to_string()),
            None => self.emit_as(b, U32),
        }
    }

    fn bool_bin(&mut self, op: BinOp, a: &Expr, b: &Expr) -> Res<Val> {
        let (x, y) = (self.emit_as(a, U32)?, self.emit_as(b, U32)?);
        let s = match op {
            BinOp::And => "&",
            BinOp::Or => "|",
            BinOp::Xor => "^",
            _ => return Err(self.unsupported("arithmetic on bool")),
        };
        Ok(Val { text: format!("({x} {s} {y})"), ty: U32 })
    }

    fn convert(&mut self, e: &Expr, a: &Expr) -> Res<Val> {
        match &e.ty {
            Ty::Word(bits) => {
                let t = self.word_type(*bits)?;
                let low = self.low_bits(a, *bits)?;
                let text = cast(low, t);
                let narrow_enough = match &a.ty {
                    Ty::Word(from) => from <= bits,
                    Ty::Bool => true,
                    _ => self.range_of(a)?.fits(*bits),
                };
                Ok(if narrow_enough { Val { text, ty: t } } else { trim_word(text, *bits, t) })
            }
            _ => {
                let v = self.emit(a)?;
                let t = self.natural(e)?;
                Ok(Val { text: cast(v, t), ty: t })
            }
        }
    }

    /// A comparison yields 0 or 1 without a branch: public operands by the C operator, secret ones by the sign of a difference.
    fn compare(&mut self, op: CmpOp, a: &Expr, b: &Expr) -> Res<Val> {
        if !a.ty.is_scalar() {
            return self.compare_aggregates(op, a, b);
        }
        let (ra, rb) = (self.range_of(a)?, self.range_of(b)?);
        if let Some(known) = decided(op, &ra, &rb) {
            return Ok(Val { text: format!("{}u", u32::from(known)), ty: U32 });
        }
        let t = self.fit(&ra.join(&rb))?;
        let (x, y) = (self.emit_as(a, t)?, self.emit_as(b, t)?);
        if self.is_public(a) && self.is_public(b) {
            let s = match op {
                CmpOp::Eq => "==",
                CmpOp::Ne => "!=",
                CmpOp::Lt => "<",
                CmpOp::Le => "<=",
                CmpOp::Gt => ">",
                CmpOp::Ge => ">=",
            };
            return Ok(Val { text: format!("(uint32_t)({x} {s} {y})"), ty: U32 });
        }
        let kind = format!("{}{}", if t.signed { "i" } else { "u" }, t.bits);
        let text = match op {
            CmpOp::Eq => format!("stk_eq_u{}({}, {})", t.bits, as_unsigned(&x, t), as_unsigned(&y, t)),
            CmpOp::Ne => format!("(stk_eq_u{}({}, {}) ^ 1u)", t.bits, as_unsigned(&x, t), as_unsigned(&y, t)),
            CmpOp::Lt => format!("stk_lt_{kind}({x}, {y})"),
            CmpOp::Gt => format!("stk_lt_{kind}({y}, {x})"),
            CmpOp::Le => format!("(stk_lt_{kind}({y}, {x}) ^ 1u)"),
            CmpOp::Ge => format!("(stk_lt_{kind}({x}, {y}) ^ 1u)"),
        };
        Ok(Val { text, ty: U32 })
    }

    fn select(&mut self, e: &Expr, c: &Expr, a: &Expr, b: &Expr) -> Res<Val> {
        let r = self.range_of(a)?.join(&self.range_of(b)?);
        let t = match &e.ty {
            Ty::Word(bits) => self.word_type(*bits)?,
            _ => self.fit(&r)?,
        };
        let cond = self.emit_as(c, U32)?;
        let (x, y) = (self.emit_as(a, t)?, self.emit_as(b, t)?);
        let text = if self.is_public(c) {
            format!("({cond} ? {x} : {y})")
        } else {
            let raw = format!("stk_sel_u{}({cond}, {}, {})", t.bits, as_unsigned(&x, t), as_unsigned(&y, t));
            if t.signed {
                format!("({}){raw}", t.name())
            } else {
                raw
            }
        };
        self.narrow_to_natural(Val { text, ty: t }, e)
    }

    /// C text of a place and the C type of what is there. Slices are not allowed here (see `pointer`).
    pub fn place(&mut self, p: &Place) -> Res<(String, CTy)> {
        let (mut text, mut cty) = self.root(p.base);
        let mut arrow = self.root_is_pointer_struct(p.base);
        for j in &p.projs {
            match j {
                Proj::Field(k) => {
                    let CTy::Struct(id) = cty else { return Err(self.unsupported("a field of a non-struct")) };
                    let (name, ty) = self.unit.fields(id)[*k as usize].clone();
                    text = format!("{text}{}{name}", if arrow { "->" } else { "." });
                    cty = ty;
                }
                Proj::Index(i) => {
                    let CTy::Array(elem, _) = cty else { return Err(self.unsupported("an index into a non-array")) };
                    let i = self.index(i)?;
                    text = format!("{text}[{i}]");
                    cty = *elem;
                }
                Proj::Slice { off, len } => {
                    let CTy::Array(elem, _) = cty else { return Err(self.unsupported("a slice of a non-array")) };
                    let off = self.index(off)?;
                    text = if off == "0" { text } else { format!("(&{text}[{off}])") };
                    cty = CTy::Array(elem, Len::Const(*len));
                }
            }
            arrow = false;
        }
        Ok((text, cty))
    }

    fn index(&mut self, i: &Expr) -> Res<String> {
        let r = self.range_of(i)?;
        if r.lo == r.hi {
            return Ok(r.lo.to_string());
        }
        let v = self.emit(i)?;
        // Redundant outer parentheses read badly inside brackets.
        Ok(strip_parens(&v.text))
    }

    /// Is every leaf of the expression public?
    pub fn is_public(&self, e: &Expr) -> bool {
        let mut ok = true;
        crate::alias::expr_places(e, &mut |p| {
            if let Base::Local(id) = p.base {
                ok &= self.f.local(id).public;
            }
        });
        ok
    }
}

/// The text with a pair of parentheses around the whole removed.
pub fn strip_parens(s: &str) -> String {
    if !(s.starts_with('(') && s.ends_with(')')) {
        return s.to_string();
    }
    let mut depth = 0;
    for (k, c) in s.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        if depth == 0 && k + 1 < s.len() {
            return s.to_string();
        }
    }
    s[1..s.len() - 1].to_string()
}

pub fn cast(v: Val, t: CInt) -> String {
    if v.ty == t {
        v.text
    } else {
        format!("({}){}", t.name(), v.text)
    }
}

fn as_unsigned(text: &str, t: CInt) -> String {
    if t.signed {
        format!("({}){text}", t.to_unsigned().name())
    } else {
        text.to_string()
    }
}

/// Cuts a word computed in `t` to its `bits` bits. The result is parenthesised.
fn trim_word(text: String, bits: u32, t: CInt) -> Val {
    if bits == t.bits {
        return Val { text, ty: t };
    }
    let mask = pow2(bits) - BigInt::one();
    Val { text: format!("({text} & {})", literal(&mask, t)), ty: t }
}
