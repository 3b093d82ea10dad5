//! Expressions of C: conversions and the types of operations are those of the standard; what it leaves undefined is refused.

use crate::state::{Kind, Res, Spot, State, Val};
use crate::term::{Bit, Var, T};
use crate::tree::{Ex, Num, Type};
use santoku_ir::{CmpOp, Ty};
use santoku_num::{Int, Itv};

impl State<'_> {
    /// The object that an expression names.
    pub fn place(&mut self, e: &Ex) -> Res<Spot> {
        match e {
            Ex::Name(n) => {
                let s = self.named(n)?;
                if s.1 { self.fail(format!("`{n}` is a pointer")) } else { Ok(s.0) }
            }
            Ex::Behind(p) => match &**p {
                Ex::Name(n) => {
                    let s = self.named(n)?;
                    if s.1 { Ok(s.0) } else { self.fail(format!("`{n}` is no pointer")) }
                }
                _ => self.fail("what is behind an expression that is no name"),
            },
            Ex::Index(a, i) => {
                let s = self.place(a)?;
                let i = self.public_index(i)?;
                self.index(&s, i)
            }
            Ex::Field(a, name) => {
                let s = self.place(a)?;
                self.field(&s, name)
            }
            Ex::Address(a) => self.elements(a),
            _ => self.fail("an expression that is no object"),
        }
    }

    /// The elements of an array from one of them on.
    fn elements(&mut self, e: &Ex) -> Res<Spot> {
        let Ex::Index(a, i) = e else { return self.fail("an address that is not that of an element") };
        let s = self.place(a)?;
        let Type::Array(elem, _) = &s.ty else { return self.fail("an index into what is no array") };
        let ty = Type::Array(elem.clone(), None);
        let i = self.public_index(i)?;
        Ok(Spot { from: Some(self.offset(s.from, i)), ty, ..s })
    }

    fn named(&mut self, name: &str) -> Res<(Spot, bool)> {
        if let Some(o) = self.objects.get(name) {
            let spot = Spot { root: o.root, path: vec![], from: None, ty: o.ty.clone(), core: o.core.clone(), public: o.public };
            return Ok((spot, o.behind));
        }
        match self.unit.tables.get(name) {
            Some((k, ty)) => {
                let core = Some(self.unit.program.consts[*k as usize].ty.clone());
                Ok((Spot { root: crate::term::Root::Const(*k), path: vec![], from: None, ty: ty.clone(), core, public: true }, false))
            }
            None => self.fail(format!("nothing is called `{name}` here")),
        }
    }

    fn public_index(&mut self, i: &Ex) -> Res<T> {
        let v = self.value(i)?;
        if !v.public {
            return self.fail("a secret is an index");
        }
        Ok(v.t)
    }

    pub fn value(&mut self, e: &Ex) -> Res<Val> {
        let of = |t: T, ty: Num, public: bool| Val { t, kind: Kind::Num(ty), public };
        match e {
            Ex::Number(v, ty) => Ok(of(self.terms.int(v.clone()), *ty, true)),
            Ex::Name(_) | Ex::Behind(_) | Ex::Index(..) | Ex::Field(..) => {
                let s = self.place(e)?;
                self.load(&s)
            }
            Ex::Un(op, a) => self.unary(op, a),
            Ex::Bin(op, a, b) => self.binary(op, a, b),
            Ex::Choice(c, a, b) => {
                let c = self.value(c)?;
                let (a, b) = (self.number(a)?, self.number(b)?);
                self.decides(&c)?;
                let ty = a.1.common(b.1);
                let (x, y) = (self.convert(a.0.t, ty), self.convert(b.0.t, ty));
                Ok(of(self.terms.select(c.t, x, y), ty, a.0.public && b.0.public))
            }
            Ex::Cast(Type::Num(ty), a) => {
                if let Ex::Call(name, args) = &**a {
                    if let Some(v) = self.product(name, args)? {
                        return Ok(of(self.convert(v.t, *ty), *ty, v.public));
                    }
                }
                let v = self.any_number(a)?;
                Ok(of(self.convert(v.0.t, *ty), *ty, v.0.public))
            }
            Ex::Call(name, args) => match self.product(name, args)? {
                Some(v) if matches!(v.kind, Kind::Num(t) if !t.signed) => Ok(v),
                Some(_) => self.fail("a product whose type depends on the processor"),
                None => self.helper(name, args),
            },
            Ex::Cast(..) | Ex::Address(_) | Ex::Step(..) | Ex::SizeOf(_) => self.fail("no value of a number"),
        }
    }

    fn load(&mut self, s: &Spot) -> Res<Val> {
        let kind = match (&s.ty, &s.core) {
            (Type::Num(t), _) => Kind::Num(*t),
            (Type::Lanes, Some(Ty::Word(bits))) => Kind::Lanes(*bits),
            _ => return self.fail("an aggregate where a scalar is expected"),
        };
        if self.gathers.contains_key(&s.root) {
            return self.fail("what is gathered is compared with 0 alone");
        }
        let t = self.read(s.root, &s.path)?;
        let public = s.public && (!State::own(s.root) || self.stores.iter().filter(|st| st.root == s.root).all(|st| st.public));
        // The object holds nothing else.
        if let Kind::Num(ty) = kind {
            self.terms.fact(t, &ty.range());
        }
        Ok(Val { t, kind, public })
    }

    /// A number, and its type before promotion.
    fn any_number(&mut self, e: &Ex) -> Res<(Val, Num)> {
        let v = self.value(e)?;
        match v.kind {
            Kind::Num(ty) => Ok((v, ty)),
            Kind::Lanes(_) => self.fail("a register where a number is expected"),
        }
    }

    fn number(&mut self, e: &Ex) -> Res<(Val, Num)> {
        let (v, ty) = self.any_number(e)?;
        Ok((v, ty.promoted()))
    }

    /// C11 6.3.1.3, and modulo the width where that leaves a signed type open.
    pub fn convert(&mut self, t: T, to: Num) -> T {
        if to.signed { self.terms.signed(t, to.bits) } else { self.terms.modulo(t, to.bits) }
    }

    /// The result of an operation in a type: unsigned types wrap, signed ones must not.
    fn result(&mut self, t: T, ty: Num, public: bool) -> Res<Val> {
        if ty.signed && !self.terms.within(t, &ty.range()) {
            let range = self.terms.range(t);
            return self.fail(format!("{} may leave its signed type of {} bits: {} .. {}", self.terms.show(t), ty.bits, range.lo, range.hi));
        }
        let t = if ty.signed { t } else { self.terms.modulo(t, ty.bits) };
        Ok(Val { t, kind: Kind::Num(ty), public })
    }

    fn unary(&mut self, op: &str, a: &Ex) -> Res<Val> {
        let (v, ty) = self.number(a)?;
        match op {
            "-" => {
                let t = self.terms.neg(v.t);
                self.result(t, ty, v.public)
            }
            _ if !ty.signed => {
                let t = self.terms.complement(v.t, ty.bits);
                self.result(t, ty, v.public)
            }
            _ => self.fail("the complement of a signed number"),
        }
    }

    /// A condition is 0 or 1, and public where it decides what is computed.
    pub fn decides(&mut self, c: &Val) -> Res<()> {
        if !c.public {
            return self.fail("a secret decides what is done");
        }
        if !self.terms.within(c.t, &Itv::bool()) {
            return self.fail("a condition that may be neither 0 nor 1");
        }
        Ok(())
    }

    fn binary(&mut self, op: &str, a: &Ex, b: &Ex) -> Res<Val> {
        let ((a, ta), (b, tb)) = (self.number(a)?, self.number(b)?);
        let public = a.public && b.public;
        if op == "<<" || op == ">>" {
            return self.shifted(op, (a, ta), b);
        }
        let ty = ta.common(tb);
        let (x, y) = (self.convert(a.t, ty), self.convert(b.t, ty));
        let bits = |me: &mut Self, how: Bit| {
            // Bits of negative numbers are those of no number here.
            let fine = [x, y].iter().all(|t| !me.terms.range(*t).lo.is_negative());
            if fine { Ok(Val { t: me.terms.bits(how, vec![x, y]), kind: Kind::Num(ty), public }) } else { me.fail("bits of a number that may be negative") }
        };
        let compared = match op {
            "+" | "-" | "*" => {
                let t = match op {
                    "+" => self.terms.add(x, y),
                    "-" => self.terms.sub(x, y),
                    _ => self.terms.mul(x, y),
                };
                return self.result(t, ty, public);
            }
            "&" => return bits(self, Bit::And),
            "|" => return bits(self, Bit::Or),
            "^" => return bits(self, Bit::Xor),
            "/" | "%" => return self.divided(op, x, y, ty, public),
            "<" => CmpOp::Lt,
            ">" => CmpOp::Gt,
            "<=" => CmpOp::Le,
            ">=" => CmpOp::Ge,
            "==" => CmpOp::Eq,
            _ => CmpOp::Ne,
        };
        if !public {
            return self.fail("a secret is compared by an operator of C, which may branch");
        }
        Ok(Val { t: self.order(compared, x, y), kind: Kind::Num(Num::INT), public })
    }

    fn shifted(&mut self, op: &str, (a, ty): (Val, Num), count: Val) -> Res<Val> {
        if !self.terms.within(count.t, &Itv::new(0, i128::from(ty.bits) - 1)) || !count.public {
            return self.fail("a shift by a count that is secret, or may be that of no bit");
        }
        let negative = self.terms.range(a.t).lo.is_negative();
        if op == "<<" && ty.signed {
            // Defined for numbers that are not negative and stay in the type (C11 6.5.7).
            let k = self.terms.value(count.t).and_then(|v| v.to_u64()).filter(|_| !negative);
            let Some(k) = k else { return self.fail("a shift of a number that may be negative") };
            let t = self.terms.scale(a.t, &Int::pow2(k as u32));
            return self.result(t, ty, a.public);
        }
        let t = match (op, self.terms.value(count.t).and_then(|v| v.to_u64())) {
            ("<<", _) => self.terms.by_count(Var::Shl, a.t, count.t, ty.bits),
            (_, Some(k)) => self.terms.shr(a.t, k as u32),
            _ if negative => return self.fail("a shift of a number that may be negative"),
            _ => self.terms.by_count(Var::Shr, a.t, count.t, 0),
        };
        Ok(Val { t, kind: Kind::Num(ty), public: a.public })
    }

    /// C cuts quotients towards zero.
    fn divided(&mut self, op: &str, x: T, y: T, ty: Num, public: bool) -> Res<Val> {
        let Some(d) = self.terms.value(y).filter(|d| *d > Int::ZERO) else { return self.fail("a division by what is no positive constant") };
        let cut = self.terms.cut(x, &d);
        let t = if op == "/" {
            let q = self.terms.div(x, &d);
            self.terms.add(q, cut)
        } else {
            let r = self.terms.rem(x, &d);
            let less = self.terms.scale(cut, &d);
            self.terms.sub(r, less)
        };
        self.result(t, ty, public)
    }

    /// Products that the processor decides about: the value is the same, whatever it decides.
    fn product(&mut self, name: &str, args: &[Ex]) -> Res<Option<Val>> {
        let wide = match name {
            "STK_MUL_WIDE" => true,
            "STK_MUL_LOW" => false,
            _ => return Ok(None),
        };
        let [a, b] = args else { return self.fail("a product of two") };
        let ((a, ta), (b, tb)) = (self.number(a)?, self.number(b)?);
        if ta != tb || ta.bits != 64 {
            return self.fail("a product of numbers of other types than 64 bits");
        }
        if wide && !(self.terms.within(a.t, &Itv::word(32)) && self.terms.within(b.t, &Itv::word(32))) {
            return self.fail("a wide product of numbers of more than 32 bits");
        }
        let t = self.terms.mul(a.t, b.t);
        self.result(t, ta, a.public && b.public).map(Some)
    }

    /// Functions of the fixed text.
    fn helper(&mut self, name: &str, args: &[Ex]) -> Res<Val> {
        if name.starts_with("V_") {
            return self.lanes(name, args);
        }
        if let Some(rest) = name.strip_prefix("stk_load_") {
            return self.load_bytes(rest, args);
        }
        let (base, width) = name.split_at(name.rfind(|c: char| !c.is_ascii_digit()).map_or(0, |k| k + 1));
        let Some(bits) = width.parse::<u32>().ok().filter(|b| [8, 16, 32, 64, 128].contains(b)) else { return self.fail(format!("a call of `{name}` in an expression")) };
        if base == "stk_eq_u" {
            if let [Ex::Name(n), zero] = args {
                if let Some(all) = self.objects.get(n).and_then(|o| self.gathers.get(&o.root)).cloned() {
                    let zero = self.value(zero)?;
                    if self.terms.value(zero.t) != Some(Int::ZERO) || bits != 64 {
                        return self.fail("what is gathered is compared with 0 alone");
                    }
                    if (self.loops.len(), self.sides.len()) != (all.loops, all.sides) {
                        return self.fail("what is gathered is compared elsewhere than it begins");
                    }
                    return Ok(Val { t: self.terms.zeros(all.parts), kind: Kind::Num(Num::U32), public: all.public });
                }
            }
        }
        let given: Vec<(Val, Num)> = args.iter().map(|a| self.number(a)).collect::<Res<_>>()?;
        let public = given.iter().all(|v| v.0.public);
        let word = Num { signed: false, bits };
        let arg = |me: &mut Self, k: usize, ty: Num| match given.get(k) {
            Some(v) => Ok(me.convert(v.0.t, ty)),
            None => me.fail(format!("too few arguments of `{name}`")),
        };
        let out = |t: T, ty: Num| Ok(Val { t, kind: Kind::Num(ty), public });
        match (base, given.len()) {
            ("stk_eq_u" | "stk_lt_u" | "stk_lt_i", 2) => {
                let ty = Num { signed: base == "stk_lt_i", bits };
                let (a, b) = (arg(self, 0, ty)?, arg(self, 1, ty)?);
                out(self.order(if base == "stk_eq_u" { CmpOp::Eq } else { CmpOp::Lt }, a, b), Num::U32)
            }
            ("stk_carry_u", 2) => {
                let (a, b) = (arg(self, 0, word)?, arg(self, 1, word)?);
                let both = self.terms.add(a, b);
                out(self.terms.shr(both, bits), Num::U32)
            }
            ("stk_sel_u", 3) => {
                let (c, a, b) = (arg(self, 0, Num::U32)?, arg(self, 1, word)?, arg(self, 2, word)?);
                self.condition(c)?;
                out(self.terms.select(c, a, b), word)
            }
            ("stk_mask_u", 1) => {
                let c = arg(self, 0, Num::U32)?;
                self.condition(c)?;
                out(self.terms.mask(c, bits), word)
            }
            ("stk_rotl" | "stk_rotr", 2) => {
                let (x, k) = (arg(self, 0, word)?, arg(self, 1, Num::U32)?);
                if !given[1].0.public || !self.terms.within(k, &Itv::new(0, i128::from(bits) - 1)) {
                    return self.fail("a rotation by a count that is secret, or may be that of no bit");
                }
                let k = if base == "stk_rotl" {
                    k
                } else {
                    let whole = self.terms.int(i128::from(bits));
                    self.terms.sub(whole, k)
                };
                out(self.terms.by_count(Var::Rotl, x, k, bits), word)
            }
            _ => self.fail(format!("a call of `{name}` in an expression")),
        }
    }

    fn condition(&mut self, c: T) -> Res<()> {
        if self.terms.within(c, &Itv::bool()) { Ok(()) } else { self.fail("a condition that may be neither 0 nor 1") }
    }

    /// `le32` of a pointer, and the like.
    fn load_bytes(&mut self, how: &str, args: &[Ex]) -> Res<Val> {
        let [at] = args else { return self.fail("a load of one pointer") };
        let (little, bits) = self.order_of(how)?;
        let s = self.bytes_at(at)?;
        let (mut parts, mut public) = (vec![], s.public);
        for k in 0..bits / 8 {
            let i = self.terms.int(i128::from(k));
            let one = self.index(&s, i)?;
            let v = self.load(&one)?;
            public &= v.public;
            let up = 8 * if little { k } else { bits / 8 - 1 - k };
            parts.push(self.terms.scale(v.t, &Int::pow2(up)));
        }
        let t = self.terms.bits(Bit::Or, parts);
        Ok(Val { t, kind: Kind::Num(Num { signed: false, bits: bits.max(32) }), public })
    }

    pub fn order_of(&self, how: &str) -> Res<(bool, u32)> {
        let little = how.starts_with("le");
        match how.get(2..).and_then(|w| w.parse().ok()).filter(|b| [16, 32, 64].contains(b) && (little || how.starts_with("be"))) {
            Some(bits) => Ok((little, bits)),
            None => self.fail("an access of bytes in an order that is none"),
        }
    }

    /// A pointer to bytes.
    pub fn bytes_at(&mut self, e: &Ex) -> Res<Spot> {
        let s = match e {
            Ex::Address(a) => self.elements(a)?,
            _ => self.place(e)?,
        };
        match &s.ty {
            Type::Array(elem, _) if **elem == Type::Num(Num { signed: false, bits: 8 }) => Ok(s),
            _ => self.fail("bytes expected"),
        }
    }

    /// Macros of registers: in each lane what the name says.
    fn lanes(&mut self, name: &str, args: &[Ex]) -> Res<Val> {
        let end = name.rfind(|c: char| !c.is_ascii_digit()).map_or(0, |k| k + 1);
        let (base, width) = (&name[2..end], name[end..].parse::<u32>().ok());
        if base == "SET" {
            let ([a], Some(bits)) = (args, width) else { return self.fail("a register of one number") };
            let (v, _) = self.any_number(a)?;
            return Ok(Val { t: self.terms.modulo(v.t, bits), kind: Kind::Lanes(bits), public: v.public });
        }
        let Some(first) = args.first() else { return self.fail("a macro without arguments") };
        let a = self.register(first, width)?;
        let Kind::Lanes(bits) = a.kind else { return self.fail("no register") };
        let out = |t: T, public: bool| Ok(Val { t, kind: Kind::Lanes(bits), public });
        if let ("NOT", 1) = (base, args.len()) {
            return out(self.terms.complement(a.t, bits), a.public);
        }
        let [_, second] = args else { return self.fail(format!("a call of `{name}`")) };
        let counted = match base {
            "SHL" | "SHLV" => Some(Var::Shl),
            "SHR" | "SHRV" => Some(Var::Shr),
            "ROTL" | "ROTLV" => Some(Var::Rotl),
            _ => None,
        };
        if let Some(how) = counted {
            let (k, _) = self.any_number(second)?;
            let most = if how == Var::Rotl { bits } else { bits - 1 };
            if !k.public || !self.terms.within(k.t, &Itv::new(0, i128::from(most))) {
                return self.fail("a shift by a count that is secret, or may be that of no bit");
            }
            return out(self.shift(how, a.t, k.t, bits), a.public);
        }
        let b = self.register(second, Some(bits))?;
        let public = a.public && b.public;
        let t = match base {
            "AND" => self.terms.bits(Bit::And, vec![a.t, b.t]),
            "OR" => self.terms.bits(Bit::Or, vec![a.t, b.t]),
            "XOR" => self.terms.bits(Bit::Xor, vec![a.t, b.t]),
            "ADD" => self.terms.add(a.t, b.t),
            "SUB" => self.terms.sub(a.t, b.t),
            "MUL" => self.terms.mul(a.t, b.t),
            _ => return self.fail(format!("a call of `{name}`")),
        };
        out(self.terms.modulo(t, bits), public)
    }

    fn register(&mut self, e: &Ex, bits: Option<u32>) -> Res<Val> {
        let v = self.value(e)?;
        match (v.kind, bits) {
            (Kind::Lanes(b), Some(w)) if b != w => self.fail("registers of lanes of other widths"),
            (Kind::Lanes(_), _) => Ok(v),
            _ => self.fail("a number where a register is expected"),
        }
    }
}
