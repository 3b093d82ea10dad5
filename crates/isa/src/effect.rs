//! The one evaluator: an instruction's meaning in any domain.
//!
//! What does not depend on registers is computed here and reaches the domain as a constant: shift counts of immediate shifts, for
//! instance, and everything under an `If` that is already decided.

use crate::domain::{Domain, Word, Words};
use crate::row::{Binary, Compare, Count, Expr, Inst, Isa, Sem, Shift, Width};

/// What an instruction does to the machine, beyond going on to the next one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect<V> {
    /// `rd` gets a value of XLEN bits.
    Write {
        /// The value.
        value: V,
    },
    /// `rd` gets bytes from memory, little-endian, extended to XLEN.
    Load {
        /// First byte, XLEN bits.
        address: V,
        /// 1, 2, 4 or 8.
        bytes: u8,
        /// Extended with the sign, else with zeros.
        signed: bool,
    },
    /// Memory gets bytes, little-endian.
    Store {
        /// First byte, XLEN bits.
        address: V,
        /// 1, 2, 4 or 8.
        bytes: u8,
        /// The bytes, `8 * bytes` wide.
        value: V,
    },
    /// The next instruction is at `target` if `taken`.
    Branch {
        /// Width 1.
        taken: V,
        /// Address, below 2^XLEN.
        target: u64,
    },
    /// The next instruction is at `target`; `rd` gets `link`.
    Jump {
        /// Address, XLEN bits.
        target: V,
        /// Address of the instruction after this one, below 2^XLEN.
        link: u64,
    },
    /// Nothing that one hart sees.
    Fence,
    /// The environment decides.
    EnvCall,
    /// A debugger decides.
    Break,
    /// A control and status register is involved; no meaning here.
    Csr,
}

/// The effect of `inst` at address `pc` with source values `rs1` and `rs2` (XLEN bits; a register that the instruction does not
/// read may have any value).
pub fn effect<D: Domain>(d: &mut D, isa: &Isa, inst: &Inst, pc: u64, rs1: &D::V, rs2: &D::V) -> Effect<D::V> {
    let mut eval = Eval { d, xlen: isa.xlen.bits(), imm: inst.imm, pc, rs1, rs2 };
    let at = |offset: i64| pc.wrapping_add(offset as u64) & isa.xlen.mask();
    match &inst.row.sem {
        Sem::Write(e) => Effect::Write { value: eval.value(e) },
        Sem::Load { address, bytes, signed } => {
            Effect::Load { address: eval.value(address), bytes: *bytes, signed: *signed }
        }
        Sem::Store { address, bytes } => {
            let value = eval.value(&Expr::Rs2);
            let width = 8 * u32::from(*bytes);
            let value = if width == eval.xlen { value } else { eval.d.extract(&value, 0, width) };
            Effect::Store { address: eval.value(address), bytes: *bytes, value }
        }
        Sem::Branch(e) => Effect::Branch { taken: eval.value(e), target: at(inst.imm) },
        Sem::Jump(e) => Effect::Jump { target: eval.value(e), link: at(i64::from(inst.len)) },
        Sem::Fence => Effect::Fence,
        Sem::EnvCall => Effect::EnvCall,
        Sem::Break => Effect::Break,
        Sem::Csr => Effect::Csr,
    }
}

/// A value that depends on no register, or one of the domain's with its width.
enum Val<V> {
    Known(Word),
    Of(V, u32),
}

impl<V> Val<V> {
    fn width(&self) -> u32 {
        match self {
            Val::Known(w) => w.width,
            Val::Of(_, width) => *width,
        }
    }
}

struct Eval<'a, D: Domain> {
    d: &'a mut D,
    xlen: u32,
    imm: i64,
    pc: u64,
    rs1: &'a D::V,
    rs2: &'a D::V,
}

impl<D: Domain> Eval<'_, D> {
    fn value(&mut self, e: &Expr) -> D::V {
        let v = self.eval(e);
        self.lower(v)
    }

    fn lower(&mut self, v: Val<D::V>) -> D::V {
        match v {
            Val::Known(w) => self.d.constant(w.bits, w.width),
            Val::Of(v, _) => v,
        }
    }

    fn width(&self, w: Width) -> u32 {
        match w {
            Width::X => self.xlen,
            Width::XX => 2 * self.xlen,
            Width::N(n) => n,
        }
    }

    fn eval(&mut self, e: &Expr) -> Val<D::V> {
        match e {
            Expr::Rs1 => Val::Of(self.rs1.clone(), self.xlen),
            Expr::Rs2 => Val::Of(self.rs2.clone(), self.xlen),
            Expr::Imm => self.known(self.imm as u128),
            Expr::Const(c) => self.known(*c as u128),
            Expr::Pc => self.known(u128::from(self.pc)),
            Expr::Not(a) => self.unary(a, None, |d, a| d.not(a), |d, a| d.not(a)),
            Expr::Bin(op, a, b) => {
                let (a, b) = (self.eval(a), self.eval(b));
                self.binary(a, b, None, |d, a, b| binary(d, *op, a, b), |d, a, b| binary(d, *op, a, b))
            }
            Expr::Shift(op, a, count) => {
                let (a, count) = (self.eval(a), self.eval(count));
                let count = self.reduced(count, a.width());
                self.binary(a, count, None, |d, a, b| shift(d, *op, a, b), |d, a, b| shift(d, *op, a, b))
            }
            Expr::Cmp(op, a, b) => {
                let (a, b) = (self.eval(a), self.eval(b));
                self.binary(a, b, Some(1), |d, a, b| compare(d, *op, a, b), |d, a, b| compare(d, *op, a, b))
            }
            Expr::If(c, a, b) => self.choice(c, a, b),
            Expr::Zext(w, a) => {
                let w = self.width(*w);
                self.unary(a, Some(w), |d, a| d.zext(a, w), |d, a| d.zext(a, w))
            }
            Expr::Sext(w, a) => {
                let w = self.width(*w);
                self.unary(a, Some(w), |d, a| d.sext(a, w), |d, a| d.sext(a, w))
            }
            Expr::Bits(lo, w, a) => self.unary(a, Some(*w), |d, a| d.extract(a, *lo, *w), |d, a| d.extract(a, *lo, *w)),
            Expr::High(a) => {
                let a = self.eval(a);
                let half = a.width() / 2;
                self.unary_of(a, Some(half), |d, a| d.extract(a, half, half), |d, a| d.extract(a, half, half))
            }
            Expr::Concat(parts) => self.concat(parts),
            Expr::Count(op, a) => self.unary(a, None, |d, a| count(d, *op, a), |d, a| count(d, *op, a)),
        }
    }

    fn known(&self, bits: u128) -> Val<D::V> {
        Val::Known(Word::new(bits, self.xlen))
    }

    /// The count modulo `width`, a power of two.
    fn reduced(&mut self, count: Val<D::V>, width: u32) -> Val<D::V> {
        debug_assert!(width.is_power_of_two());
        let mask = Val::Known(Word::new(u128::from(width - 1), width));
        self.binary(count, mask, None, |d, a, b| d.and(a, b), |d, a, b| d.and(a, b))
    }

    /// An operation in both domains; `width` of the result if it is not the operand's.
    fn unary(
        &mut self,
        a: &Expr,
        width: Option<u32>,
        known: impl Fn(&mut Words, &Word) -> Word,
        of: impl Fn(&mut D, &D::V) -> D::V,
    ) -> Val<D::V> {
        let a = self.eval(a);
        self.unary_of(a, width, known, of)
    }

    fn unary_of(
        &mut self,
        a: Val<D::V>,
        width: Option<u32>,
        known: impl Fn(&mut Words, &Word) -> Word,
        of: impl Fn(&mut D, &D::V) -> D::V,
    ) -> Val<D::V> {
        match a {
            Val::Known(w) => Val::Known(known(&mut Words, &w)),
            Val::Of(v, w) => Val::Of(of(self.d, &v), width.unwrap_or(w)),
        }
    }

    fn binary(
        &mut self,
        a: Val<D::V>,
        b: Val<D::V>,
        width: Option<u32>,
        known: impl Fn(&mut Words, &Word, &Word) -> Word,
        of: impl Fn(&mut D, &D::V, &D::V) -> D::V,
    ) -> Val<D::V> {
        debug_assert_eq!(a.width(), b.width(), "the tables pair widths");
        if let (Val::Known(a), Val::Known(b)) = (&a, &b) {
            return Val::Known(known(&mut Words, a, b));
        }
        let width = width.unwrap_or(a.width());
        let (a, b) = (self.lower(a), self.lower(b));
        Val::Of(of(self.d, &a, &b), width)
    }

    fn choice(&mut self, c: &Expr, a: &Expr, b: &Expr) -> Val<D::V> {
        match self.eval(c) {
            Val::Known(w) => self.eval(if w.bits == 1 { a } else { b }),
            Val::Of(c, _) => {
                let (a, b) = (self.eval(a), self.eval(b));
                debug_assert_eq!(a.width(), b.width(), "the tables pair widths");
                let width = a.width();
                let (a, b) = (self.lower(a), self.lower(b));
                Val::Of(self.d.ite(&c, &a, &b), width)
            }
        }
    }

    fn concat(&mut self, parts: &[Expr]) -> Val<D::V> {
        let mut done = self.eval(&parts[0]);
        for part in &parts[1..] {
            let part = self.eval(part);
            let width = done.width() + part.width();
            done = match (done, part) {
                (Val::Known(hi), Val::Known(lo)) => Val::Known(Words.concat(&hi, &lo)),
                (hi, lo) => {
                    let (hi, lo) = (self.lower(hi), self.lower(lo));
                    Val::Of(self.d.concat(&hi, &lo), width)
                }
            };
        }
        done
    }
}

fn binary<D: Domain>(d: &mut D, op: Binary, a: &D::V, b: &D::V) -> D::V {
    match op {
        Binary::Add => d.add(a, b),
        Binary::Sub => d.sub(a, b),
        Binary::Mul => d.mul(a, b),
        Binary::And => d.and(a, b),
        Binary::Or => d.or(a, b),
        Binary::Xor => d.xor(a, b),
        Binary::Udiv => d.udiv(a, b),
        Binary::Urem => d.urem(a, b),
        Binary::Sdiv => d.sdiv(a, b),
        Binary::Srem => d.srem(a, b),
    }
}

fn shift<D: Domain>(d: &mut D, op: Shift, a: &D::V, count: &D::V) -> D::V {
    match op {
        Shift::Left => d.shl(a, count),
        Shift::Right => d.lshr(a, count),
        Shift::Arith => d.ashr(a, count),
    }
}

fn compare<D: Domain>(d: &mut D, op: Compare, a: &D::V, b: &D::V) -> D::V {
    match op {
        Compare::Eq => d.eq(a, b),
        Compare::Ult => d.ult(a, b),
        Compare::Slt => d.slt(a, b),
    }
}

fn count<D: Domain>(d: &mut D, op: Count, a: &D::V) -> D::V {
    match op {
        Count::LeadingZeros => d.clz(a),
        Count::TrailingZeros => d.ctz(a),
        Count::Ones => d.cpop(a),
    }
}
