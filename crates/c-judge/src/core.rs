//! Expressions of the program as terms.

use crate::state::{Res, State};
use crate::term::{Atom, Bit, Step, Var, T};
use santoku_ir::{BinOp, CmpOp, Expr, ExprKind, Place, Proj, Ty, UnOp};
use santoku_num::{Int, Itv};

/// Arrays of so many elements are looked at one by one.
pub const FEW: u64 = 32;

impl State<'_> {
    /// The value of a scalar expression. What is proved of it is known of its term from then on.
    pub fn term(&mut self, e: &Expr) -> Res<T> {
        let t = self.bare_term(e)?;
        let Ty::Int(Some(r)) = &e.ty else { return Ok(t) };
        self.terms.fact(t, r);
        Ok(match r.single() {
            Some(v) => self.terms.int(v.clone()),
            None => t,
        })
    }

    /// What is proved of the values of an expression, before C computes them: where they are read, and that they fit what they become.
    pub fn foresee(&mut self, e: &Expr, becomes: Option<&Ty>) -> Res<()> {
        let element = |t: Option<&Ty>, k: usize, me: &Self| match t {
            Some(Ty::Array { elem, ranges: None, .. }) => Some((**elem).clone()),
            Some(Ty::Array { ranges: Some(rs), .. }) => Some(Ty::Int(rs.get(k).cloned())),
            Some(Ty::Struct(id)) => me.unit.program.structs[id.0 as usize].fields.get(k).map(|f| f.1.clone()),
            _ => None,
        };
        match &e.kind {
            _ if e.ty.is_scalar() => {
                let t = self.term(e)?;
                if let Some(Ty::Int(Some(r))) = becomes {
                    self.terms.fact(t, r);
                }
                Ok(())
            }
            ExprKind::Read(p) => {
                let (root, path, from, _) = self.spot(p)?;
                if let (Some(fits), None) = (becomes, from) {
                    self.known.push((root, path.clone(), fits.clone()));
                }
                if let (Ty::Array { ranges: Some(rs), .. }, Some(from)) = (&e.ty, from.filter(|f| self.terms.value(*f).is_some())) {
                    for (k, r) in rs.iter().enumerate() {
                        let k = self.terms.int(k as i128);
                        let at = Step::Index(self.terms.add(from, k));
                        self.known.push((root, [path.clone(), vec![at]].concat(), Ty::Int(Some(r.clone()))));
                    }
                    return Ok(());
                }
                let ty = match (&e.ty, from) {
                    // Positions are counted from elsewhere.
                    (Ty::Array { elem, len, ranges: Some(rs) }, Some(_)) => {
                        let all = rs.iter().cloned().reduce(|a, b| a.join(&b));
                        Ty::Array { elem: Box::new(all.map_or((**elem).clone(), |r| Ty::Int(Some(r)))), len: len.clone(), ranges: None }
                    }
                    (ty, _) => ty.clone(),
                };
                self.known.push((root, path, ty));
                Ok(())
            }
            ExprKind::Array(es) | ExprKind::Struct(_, es) => es.iter().enumerate().try_for_each(|(k, e)| self.foresee(e, element(becomes, k, self).as_ref())),
            ExprKind::Repeat(a) => self.foresee(a, None),
            ExprKind::Select(c, a, b) => {
                self.term(c)?;
                self.foresee(a, None)?;
                self.foresee(b, None)
            }
            _ => Ok(()),
        }
    }

    /// A place with its indices as they are written, whatever is proved of them.
    pub fn as_written(&mut self, p: &Place) -> Res<Vec<Step>> {
        let reads = self.core_reads.len();
        let mut path = vec![];
        for j in &p.projs {
            match j {
                Proj::Field(k) => path.push(Step::Field(*k)),
                Proj::Index(e) => path.push(Step::Index(match &e.kind {
                    ExprKind::Read(p) if p.projs.is_empty() => self.place_of(self.root_of(p.base), vec![])?,
                    _ => self.bare_term(e)?,
                })),
                // What is behind it counts from elsewhere.
                Proj::Slice { .. } => return self.spot(p).map(|s| s.1),
            }
        }
        self.core_reads.truncate(reads);
        Ok(path)
    }

    fn bare_term(&mut self, e: &Expr) -> Res<T> {
        match &e.kind {
            ExprKind::Const(v) => Ok(self.terms.int(v.clone())),
            ExprKind::Read(p) => {
                let (root, path, ..) = self.spot(p)?;
                self.core_reads.push((root, path.clone()));
                self.held(root, path)
            }
            ExprKind::Un(op, a) => {
                let a = self.term(a)?;
                Ok(match (op, &e.ty) {
                    (UnOp::Not, Ty::Word(bits)) => self.terms.complement(a, *bits),
                    (UnOp::Not, _) => self.terms.not(a),
                    (UnOp::Neg, Ty::Word(bits)) => {
                        let a = self.terms.neg(a);
                        self.terms.modulo(a, *bits)
                    }
                    (UnOp::Neg, _) => self.terms.neg(a),
                })
            }
            ExprKind::Bin(op, a, b) => {
                let (a, b) = (self.term(a)?, self.term(b)?);
                match &e.ty {
                    Ty::Word(bits) => self.word(*op, a, b, *bits),
                    _ => self.whole(*op, a, b),
                }
            }
            ExprKind::Cmp(op, a, b) if a.ty.is_scalar() => {
                let (a, b) = (self.term(a)?, self.term(b)?);
                Ok(self.order(*op, a, b))
            }
            ExprKind::Cmp(op, a, b) => {
                let mut all = vec![];
                self.differences(a, b, &a.ty.clone(), &mut vec![], &mut all)?;
                let same = self.terms.zeros(all);
                Ok(if *op == CmpOp::Eq { same } else { self.terms.not(same) })
            }
            ExprKind::Select(c, a, b) => {
                let (c, a, b) = (self.term(c)?, self.term(a)?, self.term(b)?);
                Ok(self.terms.select(c, a, b))
            }
            ExprKind::Cast(a) => {
                let a = self.term(a)?;
                Ok(match &e.ty {
                    Ty::Word(bits) => self.terms.modulo(a, *bits),
                    _ => a,
                })
            }
            ExprKind::Array(_) | ExprKind::Repeat(_) | ExprKind::Struct(..) => self.fail("an aggregate where a scalar is expected"),
        }
    }

    fn word(&mut self, op: BinOp, a: T, b: T, bits: u32) -> Res<T> {
        let t = &mut self.terms;
        Ok(match op {
            BinOp::Add | BinOp::Sub | BinOp::Mul => {
                let all = match op {
                    BinOp::Add => t.add(a, b),
                    BinOp::Sub => t.sub(a, b),
                    _ => t.mul(a, b),
                };
                t.modulo(all, bits)
            }
            BinOp::And => t.bits(Bit::And, vec![a, b]),
            BinOp::Or => t.bits(Bit::Or, vec![a, b]),
            BinOp::Xor => t.bits(Bit::Xor, vec![a, b]),
            BinOp::Shl => self.shift(Var::Shl, a, b, bits),
            BinOp::Shr => self.shift(Var::Shr, a, b, bits),
            BinOp::Rotl => self.shift(Var::Rotl, a, b, bits),
            BinOp::Rotr => {
                let whole = t.int(i128::from(bits));
                let back = match t.value(b) {
                    Some(k) => t.int(whole_minus(&k, bits)),
                    None => t.sub(whole, b),
                };
                if t.value(b).is_some() { self.shift(Var::Rotl, a, back, bits) } else { self.rotate_down(a, b, bits) }
            }
            BinOp::Div | BinOp::Mod => return self.fail("a division of words"),
        })
    }

    /// A word shifted by a count; where that is not constant, in the type that C computes the word in.
    pub fn shift(&mut self, how: Var, a: T, count: T, bits: u32) -> T {
        let wide = computed(bits);
        if self.terms.value(count).is_some() || how == Var::Rotl && bits == wide {
            return self.terms.by_count(how, a, count, bits);
        }
        if how == Var::Rotl {
            let whole = self.terms.int(i128::from(bits));
            let rest = self.terms.sub(whole, count);
            return self.around(a, count, rest, bits, wide);
        }
        let all = self.terms.by_count(how, a, count, if how == Var::Shr { 0 } else { wide });
        self.terms.modulo(all, bits)
    }

    fn rotate_down(&mut self, a: T, count: T, bits: u32) -> T {
        let wide = computed(bits);
        let whole = self.terms.int(i128::from(bits));
        let rest = self.terms.sub(whole, count);
        if bits == wide { self.terms.by_count(Var::Rotl, a, rest, bits) } else { self.around(a, rest, count, bits, wide) }
    }

    fn around(&mut self, a: T, up: T, down: T, bits: u32, wide: u32) -> T {
        let up = self.terms.by_count(Var::Shl, a, up, wide);
        let down = self.terms.by_count(Var::Shr, a, down, 0);
        let all = self.terms.bits(Bit::Or, vec![up, down]);
        self.terms.modulo(all, bits)
    }

    /// Of exact integers, and of conditions.
    fn whole(&mut self, op: BinOp, a: T, b: T) -> Res<T> {
        let t = &mut self.terms;
        let constant = t.value(b);
        let count = constant.as_ref().and_then(Int::to_u64).and_then(|k| u32::try_from(k).ok());
        Ok(match (op, constant, count) {
            (BinOp::Add, ..) => t.add(a, b),
            (BinOp::Sub, ..) => t.sub(a, b),
            (BinOp::Mul, ..) => t.mul(a, b),
            (BinOp::And, ..) => t.bits(Bit::And, vec![a, b]),
            (BinOp::Or, ..) => t.bits(Bit::Or, vec![a, b]),
            (BinOp::Xor, ..) => t.bits(Bit::Xor, vec![a, b]),
            (BinOp::Shl, _, Some(k)) => t.scale(a, &Int::pow2(k)),
            (BinOp::Shr, _, Some(k)) => t.shr(a, k),
            (BinOp::Div, Some(d), _) if d > Int::ZERO => t.div(a, &d),
            (BinOp::Mod, Some(d), _) if d > Int::ZERO => t.rem(a, &d),
            _ => return self.fail("an operation on integers that C has not"),
        })
    }

    pub fn order(&mut self, op: CmpOp, a: T, b: T) -> T {
        let t = &mut self.terms;
        match op {
            CmpOp::Eq => t.eq(a, b),
            CmpOp::Ne => {
                let same = t.eq(a, b);
                t.not(same)
            }
            CmpOp::Lt => t.lt(a, b),
            CmpOp::Gt => t.lt(b, a),
            CmpOp::Le => {
                let more = t.lt(b, a);
                t.not(more)
            }
            CmpOp::Ge => {
                let less = t.lt(a, b);
                t.not(less)
            }
        }
    }

    /// The value of an aggregate at a path.
    pub fn part(&mut self, e: &Expr, path: &[Step]) -> Res<T> {
        match (&e.kind, path.split_first()) {
            _ if e.ty.is_scalar() => match path {
                [] => self.term(e),
                _ => self.fail("a part of a scalar"),
            },
            (ExprKind::Read(p), _) => self.part_of(p, &e.ty, path),
            (ExprKind::Array(es), Some((Step::Index(i), rest))) => {
                let at = self.terms.value(*i).and_then(|v| v.to_u64()).and_then(|k| es.get(k as usize));
                match at {
                    Some(e) => self.part(e, rest),
                    None => self.fail("an element of a list of values at an index that is not constant"),
                }
            }
            (ExprKind::Repeat(e), Some((Step::Index(_), rest))) => self.part(e, rest),
            (ExprKind::Struct(_, es), Some((Step::Field(k), rest))) => self.part(&es[*k as usize], rest),
            (ExprKind::Select(c, a, b), _) => {
                let (c, a, b) = (self.term(c)?, self.part(a, path)?, self.part(b, path)?);
                Ok(self.terms.select(c, a, b))
            }
            _ => self.fail("a part that this value has not"),
        }
    }

    fn part_of(&mut self, p: &Place, ty: &Ty, path: &[Step]) -> Res<T> {
        let (root, mut whole, from, _) = self.spot(p)?;
        // What is known of the whole where it is read.
        let known = self.ty_behind(ty, path).and_then(|t| crate::unit::declared_range(&t));
        whole.extend(self.counted(from, path));
        self.core_reads.push((root, whole.clone()));
        let t = self.held(root, whole)?;
        if let Some(r) = known {
            self.terms.fact(t, &r);
        }
        Ok(self.single(t))
    }

    /// The indices of an array: all of them where there are few, else one that stands for all.
    pub fn indices(&mut self, depth: u32, len: T) -> Vec<T> {
        match self.terms.value(len).and_then(|n| n.to_u64()).filter(|n| *n <= FEW) {
            Some(n) => (0..n).map(|k| self.terms.int(i128::from(k))).collect(),
            None => vec![self.round(depth, len)],
        }
    }

    /// An index for all elements of an array, in an array of so many dimensions.
    pub fn round(&mut self, depth: u32, len: T) -> T {
        let most = self.terms.range(len).hi;
        let range = Itv::new(Int::ZERO, most.sub(&Int::ONE).max(Int::ZERO));
        self.terms.atom(Atom::Round(depth, len), range)
    }

    /// What C gathers to see whether two aggregates differ.
    fn differences(&mut self, a: &Expr, b: &Expr, ty: &Ty, path: &mut Vec<Step>, out: &mut Vec<T>) -> Res<()> {
        match ty {
            Ty::Array { elem, len, .. } => {
                let depth = path.iter().filter(|s| matches!(s, Step::Index(i) if self.terms.round_of(*i).is_some())).count() as u32;
                let n = self.length(len)?;
                for i in self.indices(depth, n) {
                    path.push(Step::Index(i));
                    self.differences(a, b, elem, path, out)?;
                    path.pop();
                }
            }
            Ty::Struct(id) => {
                for (k, (_, t)) in self.unit.program.structs[id.0 as usize].fields.clone().iter().enumerate() {
                    path.push(Step::Field(k as u32));
                    self.differences(a, b, t, path, out)?;
                    path.pop();
                }
            }
            Ty::Word(_) | Ty::Int(_) | Ty::Bool => {
                let (x, y) = (self.part(a, path)?, self.part(b, path)?);
                self.difference(x, y, out);
            }
        }
        Ok(())
    }

    fn difference(&mut self, x: T, y: T, out: &mut Vec<T>) {
        let (rx, ry) = (self.terms.range(x), self.terms.range(y));
        let all = rx.join(&ry);
        let window = |bits: u32| Itv::new(Int::pow2(bits - 1).neg(), Int::mask(bits - 1));
        let fits = |r: &Itv, bits: u32| window(bits).contains(r) || Itv::word(bits).contains(r);
        let bits = if fits(&rx, 64) && fits(&ry, 64) { 64 } else { 128 };
        let (a, b) = (self.terms.modulo(x, bits), self.terms.modulo(y, bits));
        let d = self.terms.bits(Bit::Xor, vec![a, b]);
        out.push(self.terms.modulo(d, 64));
        if bits == 128 {
            let high = self.terms.shr(d, 64);
            out.push(self.terms.modulo(high, 64));
        }
        // No width has both: the sign tells them apart.
        if !window(bits).contains(&all) && !Itv::word(bits).contains(&all) {
            let side = if rx.lo.is_negative() { a } else { b };
            out.push(self.terms.shr(side, bits - 1));
        }
    }
}

fn whole_minus(k: &Int, bits: u32) -> Int {
    let k = k.to_u64().unwrap_or(0) as u32 % bits;
    Int::from(i128::from((bits - k) % bits))
}

/// Bits of the type that C computes a word in.
fn computed(bits: u32) -> u32 {
    [32, 64, 128].into_iter().find(|w| *w >= bits).unwrap_or(bits)
}
