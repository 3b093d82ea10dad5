//! How values of the core lie in memory, as C has it: scalars in the narrowest of 8, 16, 32, 64 or 128 bits, at multiples of their size.
//!
//! Needs: types whose integers have ranges.  Keeps: the layout that the C printer gives to the same types.  Absent: registers.
//! Trusted: nothing: nothing that ships is made of it.

use santoku_ir::{Len, Program, Range, Ty};

/// Numbers side by side.
const ROW_MAX: usize = 4096;

/// A number in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scalar {
    pub bytes: u32,
    pub signed: bool,
    /// The values that may lie there.
    pub range: Range,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Layout {
    Scalar(Scalar),
    Array { elem: Box<Layout>, len: Len },
    /// Fields with their offsets; bytes and alignment of all.
    Struct { fields: Vec<(u64, Layout)>, bytes: u64, align: u32 },
}

impl Scalar {
    /// `None`: of more than 128 bits.
    pub fn of(range: &Range, least: u32) -> Option<Scalar> {
        let signed = range.lo.is_negative();
        let fits = |bits: u32| if signed { signed_range(bits).contains(range) } else { range.fits(bits) };
        let bits = [8, 16, 32, 64, 128].into_iter().find(|b| *b >= least && fits(*b))?;
        Some(Scalar { bytes: bits / 8, signed, range: range.clone() })
    }
}

/// Numbers of so many bits with a sign.
pub fn signed_range(bits: u32) -> Range {
    let half = santoku_num::Int::pow2(bits - 1);
    Range::new(half.neg(), half.sub(&santoku_num::Int::ONE))
}

/// The values of a scalar type; none of an aggregate or an integer without a range.
pub fn range_of(ty: &Ty) -> Option<Range> {
    match ty {
        Ty::Word(b) => Some(Range::word(*b)),
        Ty::Bool => Some(Range::new(0, 1)),
        Ty::Int(r) => r.clone(),
        Ty::Array { .. } | Ty::Struct(_) => None,
    }
}

impl Layout {
    /// # Errors
    /// The type that has none.
    pub fn of(program: &Program, ty: &Ty) -> Result<Layout, String> {
        match ty {
            Ty::Word(_) | Ty::Bool | Ty::Int(_) => {
                let range = range_of(ty).ok_or("an integer without a range")?;
                Scalar::of(&range, 8).map(Layout::Scalar).ok_or_else(|| format!("a number of more than 128 bits in memory ({range:?})"))
            }
            Ty::Array { ranges: Some(all), len, .. } => {
                let range = all.iter().cloned().reduce(|a, b| a.join(&b)).ok_or("an array of no ranges")?;
                let elem = Layout::of(program, &Ty::Int(Some(range)))?;
                Ok(Layout::Array { elem: Box::new(elem), len: len.clone() })
            }
            Ty::Array { elem, len, .. } => Ok(Layout::Array { elem: Box::new(Layout::of(program, elem)?), len: len.clone() }),
            Ty::Struct(id) => {
                let (mut fields, mut end, mut align) = (vec![], 0u64, 1u32);
                for (_, t) in &program.structs[id.0 as usize].fields {
                    let l = Layout::of(program, t)?;
                    let at = end.next_multiple_of(l.align().into());
                    end = at + l.bytes().ok_or("a struct with an array of run-time length")?;
                    align = align.max(l.align());
                    fields.push((at, l));
                }
                Ok(Layout::Struct { fields, bytes: end.next_multiple_of(align.into()), align })
            }
        }
    }

    pub fn align(&self) -> u32 {
        match self {
            Layout::Scalar(s) => s.bytes,
            Layout::Array { elem, .. } => elem.align(),
            Layout::Struct { align, .. } => *align,
        }
    }

    /// `None`: the length is known at run time.
    pub fn bytes(&self) -> Option<u64> {
        match self {
            Layout::Scalar(s) => Some(s.bytes.into()),
            Layout::Array { elem, len: Len::Const(n) } => elem.bytes().map(|b| b * n),
            Layout::Array { .. } => None,
            Layout::Struct { bytes, .. } => Some(*bytes),
        }
    }

    /// Numbers in it, with their offsets, in order; `None` where there are more than `most`, or the length is known at run time.
    pub fn leaves(&self, most: usize) -> Option<Vec<(u64, Scalar)>> {
        let mut out = vec![];
        self.collect(0, most, &mut out).then_some(out)
    }

    /// If it is numbers of one size side by side: one that may be each of them, and how many.
    pub fn row(&self) -> Option<(Scalar, u64)> {
        let leaves = self.leaves(ROW_MAX)?;
        let first = leaves.first()?.1.clone();
        let beside = |(k, (at, s)): (usize, &(u64, Scalar))| *at == k as u64 * u64::from(first.bytes) && (s.bytes, s.signed) == (first.bytes, first.signed);
        if !leaves.iter().enumerate().all(beside) {
            return None;
        }
        let range = leaves.iter().map(|l| l.1.range.clone()).reduce(|a, b| a.join(&b))?;
        Some((Scalar { range, ..first }, leaves.len() as u64))
    }

    fn collect(&self, at: u64, most: usize, out: &mut Vec<(u64, Scalar)>) -> bool {
        match self {
            Layout::Scalar(s) => {
                out.push((at, s.clone()));
                out.len() <= most
            }
            Layout::Array { elem, len: Len::Const(n) } => elem.bytes().is_some_and(|b| (0..*n).all(|k| elem.collect(at + k * b, most, out))),
            Layout::Array { .. } => false,
            Layout::Struct { fields, .. } => fields.iter().all(|(o, l)| l.collect(at + o, most, out)),
        }
    }
}
