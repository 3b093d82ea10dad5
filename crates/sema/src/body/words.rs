//! Words in bytes: `le32(b, i)` reads four bytes from index `i`, `le32(b, i) = w` writes them.
//!
//! The core has bytes alone; these become shifts of bytes and stores of bytes, in one form: the most significant byte
//! outermost, the last index stored first. The C printer knows that form (decision 0019).

use crate::secrecy::Need;
use super::context::{FnCx, One};
use num_bigint::BigInt;
use num_traits::{Signed, ToPrimitive};
use santoku_diag::{Diagnostic, Span};
use santoku_ir::{BinOp, Expr, ExprKind, Len, LocalId, Place, Ty};
use santoku_syntax::ast::{self, Path};

/// A builtin: bytes of the word, and whether the least significant is first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Form {
    bytes: u32,
    little: bool,
}

pub const NAMES: [&str; 6] = ["le16", "le32", "le64", "be16", "be32", "be64"];

/// The builtin a name stands for where no function has that name.
pub fn form(callee: &Path) -> Option<Form> {
    let name = callee.name.name.as_str();
    if callee.module.is_some() || !NAMES.contains(&name) {
        return None;
    }
    form_of(name)
}

impl Form {
    fn bits(self) -> u32 {
        8 * self.bytes
    }
    /// Shift of the byte at offset `k`.
    fn shift(self, k: u32) -> u32 {
        8 * if self.little { k } else { self.bytes - 1 - k }
    }
    /// Offset of the byte with shift `8 * j`.
    fn offset(self, j: u32) -> u32 {
        if self.little { j } else { self.bytes - 1 - j }
    }
}

impl FnCx<'_, '_> {
    /// Whether what is assigned to is a word in bytes.
    pub fn word_in_bytes(&mut self, target: &ast::Expr) -> Option<Form> {
        let ast::ExprKind::Call { callee, .. } = &super::context::bare(target).kind else { return None };
        form(callee).filter(|_| self.cx.resolve(self.env.module, callee).is_err())
    }

    /// `le32(b, i)` as a value.
    pub fn load_word(&mut self, form: Form, args: &[ast::Expr], span: Span) -> Option<One> {
        let [bytes, index] = args else { return self.wrong_arguments(form.name(), 2, args.len(), span) };
        if let Some(view) = self.view_of(bytes)? {
            let at = self.word_index(form, &view.ty(), bytes.span, index)?;
            let (place, at) = self.word_in_view(&view, at, form.bytes, index.span);
            return Some(One::fresh(load(form, &place, &at)));
        }
        let (place, ty) = self.place(bytes)?;
        let at = self.word_index(form, &ty, bytes.span, index)?;
        Some(One::fresh(load(form, &place, &at)))
    }

    /// `le32(b, i) = w`, `le32(b, i) ^= w`
    pub fn store_word(&mut self, form: Form, target: &ast::Expr, op: Option<ast::BinOp>, value: &ast::Expr, span: Span) -> Option<()> {
        let ast::ExprKind::Call { args, .. } = &super::context::bare(target).kind else { return None };
        let [bytes, index] = &args[..] else { return self.wrong_arguments(form.name(), 2, args.len(), target.span) };
        let (place, ty) = self.assignable(bytes)?;
        let at = self.word_index(form, &ty, bytes.span, index)?;
        let word = Ty::Word(form.bits());
        let w = match op {
            None => self.typed(value, &word)?,
            Some(op) => {
                let old = One::fresh(load(form, &place, &at));
                let new = self.update(op, old, target.span, value, span)?;
                self.coerce(new, &word, span)?
            }
        };
        let id = self.local("w", word.clone(), santoku_ir::LocalKind::Var, span);
        self.assign(Place::local(id), w, span);
        for k in (0..form.bytes).rev() {
            let byte = match form.shift(k) {
                0 => read(id, &word),
                shift => read(id, &word).shr(shift),
            };
            self.assign(place.clone().index(offset(&at, k)), byte.cast(Ty::Word(8)), span);
        }
        Some(())
    }

    /// The index of the first byte; its text is repeated, so it is simple or held in a variable.
    fn word_index(&mut self, form: Form, ty: &Ty, span: Span, index: &ast::Expr) -> Option<Expr> {
        let Ty::Array { elem, len, .. } = ty else { return self.no_bytes(ty, span) };
        if **elem != Ty::Word(8) {
            return self.no_bytes(ty, span);
        }
        let at = self.public_int(index, Need::Index)?;
        if let (Some(v), Len::Const(n)) = (at.as_const(), len) {
            let last = v + form.bytes - 1i32;
            if v.is_negative() || last.to_u64().is_none_or(|v| v >= *n) {
                let outside = if v.is_negative() { v.clone() } else { last };
                return self.cx.outside(&outside, *n, index.span);
            }
        }
        Some(if is_simple(&at) { at } else { self.held_int(at, index.span) })
    }

    fn no_bytes<T>(&mut self, ty: &Ty, span: Span) -> Option<T> {
        let found = self.cx.show(ty);
        self.fail(
            Diagnostic::error("type-mismatch", format!("expected bytes, found {found}"))
                .at(span, format!("this is {found}"))
                .help("words are read from and written to arrays of `u8`"),
        )
    }
}

impl Form {
    fn name(self) -> &'static str {
        let at = NAMES.iter().position(|n| form_of(n) == Some(self));
        at.map_or("le32", |i| NAMES[i])
    }
}

fn form_of(name: &str) -> Option<Form> {
    let bits: u32 = name[2..].parse().ok()?;
    Some(Form { bytes: bits / 8, little: name.starts_with("le") })
}

/// `byte << k | (.. | byte)`, the most significant byte outermost.
fn load(form: Form, place: &Place, at: &Expr) -> Expr {
    let term = |j: u32| {
        let byte = Expr::read(place.clone().index(offset(at, form.offset(j))), &Ty::Word(8)).cast(Ty::Word(form.bits()));
        if j == 0 { byte } else { byte.shl(8 * j) }
    };
    (1..form.bytes).fold(term(0), |low, j| term(j) | low)
}

fn read(id: LocalId, ty: &Ty) -> Expr {
    Expr::read(Place::local(id), ty)
}

/// `at + k`
fn offset(at: &Expr, k: u32) -> Expr {
    let k = BigInt::from(k);
    match &at.kind {
        ExprKind::Const(v) => Expr::int(v + k),
        ExprKind::Bin(BinOp::Add, a, b) if b.as_const().is_some() => {
            let sum = b.as_const().map_or(k.clone(), |c| c + &k);
            if sum == BigInt::ZERO { (**a).clone() } else { (**a).clone() + Expr::int(sum) }
        }
        _ if k == BigInt::ZERO => at.clone(),
        _ => at.clone() + Expr::int(k),
    }
}

/// Constants, variables and sums and products of them.
fn is_simple(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Const(_) => true,
        ExprKind::Read(p) => p.projs.is_empty(),
        ExprKind::Bin(BinOp::Add | BinOp::Sub | BinOp::Mul, a, b) => is_simple(a) && is_simple(b),
        _ => false,
    }
}
