//! `perm` items: which bit of a word each bit of the result is. Applied by a function that says so bit by bit and is marked, or, to an
//! array, by one that gives its words other places.
//!
//! Keeps: indices and counts are public. How a word is permuted in few instructions is a later pass's choice.

use crate::context::Cx;
use crate::entities::Entity;
use crate::sty::{STy, Signature};
use crate::tables::{each, placed, Bad};
use crate::values::CVal;
use num_traits::ToPrimitive;
use santoku_diag::{Diagnostic, Span};
use santoku_ir::build::FuncBuilder;
use santoku_ir::perm::{Perm, BITS_MAX};
use santoku_ir::{Applies, BinOp, ConstId, ConstValue, Expr, FuncId, Inline, Len, Place, Range, Ty};

const BAD: Bad = (
    "bad-perm",
    "this is no permutation of bits",
    "write `perm p: u4 -> u4 = [1, 2, 3, 0]`: for each bit of the result, least significant first, the number of the bit that it is",
);

impl Cx<'_> {
    /// Sizes and entries of a permutation, checked.
    pub fn perm_info(&mut self, entity: Entity, span: Span) -> Option<Perm> {
        self.once(entity, span, |cx| &mut cx.perms, |cx| cx.read_perm(entity))
    }

    fn read_perm(&mut self, entity: Entity) -> Option<Perm> {
        let place = self.world.table(entity)?.name.span;
        let ((inputs, outputs), values) = self.mapping(entity, &BAD)?;
        if inputs.max(outputs) > BITS_MAX {
            return self.bad_mapping(&BAD, place, "words have at most 128 bits");
        }
        if values.len() as u64 != u64::from(outputs) {
            let why = format!("{} entries for {outputs} bits of the result", values.len());
            return self.bad_mapping(&BAD, place, &why);
        }
        let mut from = Vec::new();
        for (v, span) in values {
            let number = match &v {
                CVal::Int(v) | CVal::Word(_, v) => v.to_u32().filter(|v| *v < inputs),
                _ => None,
            };
            let Some(number) = number else {
                return self.bad_mapping(&BAD, span, &format!("bits of the input have the numbers 0 to {}", inputs - 1));
            };
            from.push(number);
        }
        Some(Perm { inputs, from })
    }

    /// The function that permutes the bits of a word, or the words of an array, and its result type.
    pub fn perm_function(&mut self, entity: Entity, ty: &Ty, span: Span) -> Option<(FuncId, Ty)> {
        let info = self.perm_info(entity, span)?;
        let outputs = info.from.len();
        let (words, ret) = match ty {
            Ty::Word(b) if *b == info.inputs => (None, Ty::Word(outputs as u32)),
            Ty::Array { elem, len: Len::Const(n), .. } if *n == u64::from(info.inputs) && matches!(**elem, Ty::Word(_)) => {
                let Ty::Word(bits) = **elem else { return None };
                (Some(bits), Ty::array(Ty::Word(bits), outputs as u64))
            }
            _ => {
                let found = self.show(ty);
                return self.fail(
                    Diagnostic::error("type-mismatch", format!("this permutation cannot be applied to {found}"))
                        .at(span, format!("this is {found}"))
                        .help(format!("it takes a u{0}, or an array of {0} words", info.inputs)),
                );
            }
        };
        if let Some(id) = self.perm_funcs.get(&(entity, words)) {
            return Some((*id, ret));
        }
        let id = self.permuting(entity, &info, words, &ret)?;
        self.perm_funcs.insert((entity, words), id);
        Some((id, ret))
    }

    fn permuting(&mut self, entity: Entity, info: &Perm, words: Option<u32>, ret: &Ty) -> Option<FuncId> {
        let item = self.world.table(entity)?;
        let (base, loc) = (self.qualified(entity.module, &item.name.name), self.loc(item.name.span));
        let name = self.fresh_func_name(&words.map_or(base.clone(), |bits| format!("{base}$u{bits}")));
        let ty = Ty::array(Ty::Int(Some(Range::new(0, info.inputs - 1))), info.from.len() as u64);
        let numbers = self.program.add_const(base, ty, ConstValue::ints(info.from.iter().copied()));
        let mut f = FuncBuilder::new(&self.program, name);
        let param = match words {
            None => of_word(&mut f, info, numbers),
            Some(bits) => of_words(&mut f, info, numbers, bits),
        };
        let mut func = f.finish();
        func.inline = Inline::Always;
        func.applies = if words.is_none() { Some(Applies::Perm(numbers)) } else { None };
        placed(&mut func, loc);
        let signature = Signature { params: vec![(param, false)], ret: STy::one(ret.clone()), ret_public: vec![false] };
        let id = self.program.add_func(func);
        self.signatures.insert(id, signature);
        Some(id)
    }
}

/// One bit after the other is moved to its place. The parameter's type.
fn of_word(f: &mut FuncBuilder, info: &Perm, numbers: ConstId) -> Ty {
    let (input, output) = (Ty::Word(info.inputs), Ty::Word(info.from.len() as u32));
    let (x, y) = (f.param("x", input.clone()), f.ret("y", output.clone()));
    f.assign(Place::local(y), Expr::word(info.from.len() as u32, 0));
    each(f, "j", info.from.len() as u32, |f, j| {
        let from = f.read(Place::constant(numbers).index(f.get(j)));
        let bit = Expr::bin(BinOp::Shr, f.get(x), from).cast(output.clone()) & Expr::word(info.from.len() as u32, 1);
        let src = f.get(y) ^ Expr::bin(BinOp::Shl, bit, f.get(j));
        f.assign(Place::local(y), src);
    });
    input
}

/// Each word is taken from its place. The parameter's type.
fn of_words(f: &mut FuncBuilder, info: &Perm, numbers: ConstId, bits: u32) -> Ty {
    let array = |n: u32| Ty::array(Ty::Word(bits), n.into());
    let (x, y) = (f.param("x", array(info.inputs)), f.ret("y", array(info.from.len() as u32)));
    each(f, "j", info.from.len() as u32, |f, j| {
        let from = f.read(Place::constant(numbers).index(f.get(j)));
        let src = f.read(Place::local(x).index(from));
        f.assign(Place::local(y).index(Expr::int_local(j)), src);
    });
    array(info.inputs)
}
