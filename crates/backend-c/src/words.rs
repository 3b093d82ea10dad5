//! Words in bytes, in the form that `le32(b, i)` and its like have in the core (decision 0019): one call of a helper, whose
//! address is computed once. Any other form is printed byte by byte, as it stands.
//!
//! Inside a helper the bytes have constant offsets from one pointer, which compilers turn into one access where the machine
//! has it; `b[i]`, `b[i + 1]` with an unsigned `i` they may not, since `i + 1` could wrap.

use crate::context::{FnCx, Res};
use crate::ctype::{CInt, CTy, U32};
use crate::expr::Val;
use crate::known::const_count;
use num_bigint::BigInt;
use num_traits::Zero;
use santoku_ir::typing::without_ranges;
use santoku_ir::visit::map_expr;
use santoku_ir::{Base, BinOp, Expr, ExprKind, LocalId, Place, Proj, Stmt, Ty};

const WIDTHS: [u32; 3] = [64, 32, 16];
const BYTE: Ty = Ty::Word(8);

impl FnCx<'_> {
    /// The word `e` of `bits` bits, if it is a load.
    pub fn load_word(&mut self, e: &Expr, bits: u32) -> Res<Option<Val>> {
        if self.unit.opts.vector.is_some() || !WIDTHS.contains(&bits) {
            return Ok(None);
        }
        let Some((first, little)) = loaded(e, bits) else { return Ok(None) };
        let Some(at) = self.bytes_at(&first)? else { return Ok(None) };
        let ty = if bits == 64 { CInt { bits: 64, ..U32 } } else { U32 };
        Ok(Some(Val { text: format!("stk_load_{}{bits}({at})", order(little)), ty }))
    }

    /// Prints the store at the head of `stmts`, if one is there, and gives the number of its statements.
    pub fn store_word(&mut self, stmts: &[Stmt]) -> Res<Option<usize>> {
        if self.unit.opts.vector.is_some() {
            return Ok(None);
        }
        for bits in WIDTHS {
            let Some((first, word, little)) = stored(stmts, bits) else { continue };
            if self.f.local(word).ty != Ty::Word(bits) || self.by_pointer[word.0 as usize] {
                continue;
            }
            let Some(at) = self.bytes_at(&first)? else { continue };
            let name = self.names[word.0 as usize].clone();
            self.line(&format!("stk_store_{}{bits}({at}, {name});", order(little)));
            return Ok(Some((bits / 8) as usize));
        }
        Ok(None)
    }

    /// A pointer to a byte in memory.
    fn bytes_at(&mut self, first: &Place) -> Res<Option<String>> {
        let (text, cty) = self.place(first)?;
        let byte = CTy::Int(CInt { signed: false, bits: 8 });
        if cty != byte {
            return Ok(None);
        }
        Ok(Some(match text.strip_suffix("[0]") {
            Some(whole) => whole.to_string(),
            None => format!("&{text}"),
        }))
    }
}

fn order(little: bool) -> &'static str {
    if little { "le" } else { "be" }
}

/// The byte at the lowest index of a load, and whether it is the least significant.
fn loaded(e: &Expr, bits: u32) -> Option<(Place, bool)> {
    let mut bytes = Vec::new();
    let mut rest = e;
    for j in (1..bits / 8).rev() {
        let ExprKind::Bin(BinOp::Or, term, low) = &rest.kind else { return None };
        let ExprKind::Bin(BinOp::Shl, byte, count) = &term.kind else { return None };
        if rest.ty != Ty::Word(bits) || const_count(count) != Some(8 * j) {
            return None;
        }
        bytes.push(widened(byte, bits)?);
        rest = low;
    }
    bytes.push(widened(rest, bits)?);
    // From the most significant byte down.
    if consecutive(&bytes) {
        return Some((bytes[0].clone(), false));
    }
    bytes.reverse();
    consecutive(&bytes).then(|| (bytes[0].clone(), true))
}

fn widened(e: &Expr, bits: u32) -> Option<&Place> {
    let ExprKind::Cast(byte) = &e.kind else { return None };
    (e.ty == Ty::Word(bits) && byte.ty == BYTE).then(|| byte.as_read())?
}

/// The byte at the lowest index of a store at the head of `stmts`, the variable stored, and the order.
fn stored(stmts: &[Stmt], bits: u32) -> Option<(Place, LocalId, bool)> {
    let n = (bits / 8) as usize;
    let mut bytes = Vec::new();
    let mut parts = Vec::new();
    for s in stmts.get(..n)? {
        let Stmt::Assign { dst, src, .. } = s else { return None };
        let ExprKind::Cast(word) = &src.kind else { return None };
        if src.ty != BYTE || word.ty != Ty::Word(bits) {
            return None;
        }
        parts.push(match &word.kind {
            ExprKind::Bin(BinOp::Shr, word, count) => (variable(word)?, const_count(count)?),
            _ => (variable(word)?, 0),
        });
        bytes.push(dst);
    }
    let word = parts[0].0;
    let little = parts[0].1 != 0;
    // The last index is stored first.
    let shift = |k: usize| 8 * if little { n - 1 - k } else { k } as u32;
    let right = parts.iter().enumerate().all(|(k, p)| *p == (word, shift(k)));
    bytes.reverse();
    (right && consecutive(&bytes)).then(|| (bytes[0].clone(), word, little))
}

/// A whole variable.
fn variable(e: &Expr) -> Option<LocalId> {
    match e.as_read()? {
        Place { base: Base::Local(id), projs } if projs.is_empty() => Some(*id),
        _ => None,
    }
}

/// Elements of one array, each behind the one before; their indices read nothing that a store of a byte changes.
fn consecutive(bytes: &[&Place]) -> bool {
    let mut known: Option<(&Place, Option<Expr>, BigInt)> = None;
    for (k, place) in bytes.iter().enumerate() {
        let Some((Proj::Index(index), outer)) = place.projs.split_last() else { return false };
        let (base, at) = split(index);
        match &known {
            None => {
                if !place.projs.iter().all(plain) {
                    return false;
                }
                known = Some((place, base, at));
            }
            Some((first, from, start)) => {
                let same = first.base == place.base && first.projs[..first.projs.len() - 1] == *outer;
                if !same || *from != base || at != start + k {
                    return false;
                }
            }
        }
    }
    true
}

/// An index as something and a constant.
fn split(index: &Expr) -> (Option<Expr>, BigInt) {
    match &index.kind {
        ExprKind::Const(v) => (None, v.clone()),
        ExprKind::Bin(BinOp::Add, a, b) => match b.as_const() {
            Some(v) => {
                let (base, at) = split(a);
                (base, at + v)
            }
            None => (Some(bare(index)), BigInt::zero()),
        },
        _ => (Some(bare(index)), BigInt::zero()),
    }
}

/// Without the ranges of occurrences.
fn bare(e: &Expr) -> Expr {
    let mut e = e.clone();
    map_expr(&mut e, &mut |e| e.ty = without_ranges(&e.ty));
    e
}

/// Whole variables are all that the projection reads.
fn plain(proj: &Proj) -> bool {
    let whole = |e: &Expr| {
        let mut all = true;
        santoku_ir::visit::walk_expr(e, &mut |e| all &= e.as_read().is_none_or(|p| p.projs.is_empty() && matches!(p.base, Base::Local(_))));
        all
    };
    match proj {
        Proj::Field(_) => true,
        Proj::Index(e) | Proj::Slice { off: e, .. } => whole(e),
    }
}
