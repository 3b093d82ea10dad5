//! `table` items: total maps on small words, applied by functions that say what they mean and are marked as tables.
//!
//! Keeps: no address depends on a secret. Whether a circuit takes the place of the scan is a later pass's choice.

use crate::context::Cx;
use crate::entities::Entity;
use crate::keys::Applied;
use crate::limits;
use crate::sty::{STy, Signature};
use crate::values::CVal;
use num_traits::ToPrimitive;
use santoku_diag::{Diagnostic, Span};
use santoku_syntax::ast::ExprKind;
use num_bigint::BigInt;
use santoku_ir::build::FuncBuilder;
use santoku_ir::table::Table;
use santoku_ir::{Applies, CmpOp, ConstId, ConstValue, Expr, Func, FuncId, Inline, Len, Loc, LocalId, LocalKind, Place, Program, Stmt, Ty};

/// How a wrong item is refused: code, what is wrong, the way out.
pub type Bad = (&'static str, &'static str, &'static str);

const BAD: Bad =
    ("bad-table", "this table is not a total map on small words", "write `table t: u4 -> u4 = [..]` with one entry per input");

impl Cx<'_> {
    /// Sizes and entries of a table, checked.
    pub fn table_info(&mut self, entity: Entity, span: Span) -> Option<Table> {
        self.once(entity, span, |cx| &mut cx.tables, |cx| cx.read_table(entity))
    }

    fn read_table(&mut self, entity: Entity) -> Option<Table> {
        let place = self.world.table(entity)?.name.span;
        let ((inputs, outputs), values) = self.mapping(entity, &BAD)?;
        if inputs > limits::TABLE_BITS || outputs > limits::TABLE_BITS {
            return self.bad_mapping(&BAD, place, "tables have at most 8 bits on each side");
        }
        if values.len() != 1 << inputs {
            let why = format!("{} entries for {} inputs", values.len(), 1u32 << inputs);
            return self.bad_mapping(&BAD, place, &why);
        }
        let mut entries = Vec::new();
        for (v, span) in values {
            match self.coerce(v, &Ty::Word(outputs), span)? {
                CVal::Word(_, v) => entries.push(v.to_u64().unwrap_or(0)),
                _ => return None,
            }
        }
        Some(Table { inputs, outputs, entries })
    }

    /// Bits of both sides of a `table` or `perm` item, and its entries, each with its place.
    pub fn mapping(&mut self, entity: Entity, bad: &Bad) -> Option<((u32, u32), Vec<(CVal, Span)>)> {
        let item = self.world.table(entity)?;
        let mut env = self.env(entity.module);
        let sides = (self.plain_type(&mut env, item.input)?, self.plain_type(&mut env, item.output)?);
        let (Ty::Word(inputs), Ty::Word(outputs)) = sides else {
            return self.bad_mapping(bad, item.name.span, "it maps words to words");
        };
        // Entries written one by one are judged where each stands.
        let values = match &item.entries.kind {
            ExprKind::Array(parts) => parts.iter().map(|e| Some((self.const_expr(&mut env, e)?, e.span))).collect::<Option<_>>()?,
            _ => match self.const_expr(&mut env, item.entries)? {
                CVal::Array(values) => values.into_iter().map(|v| (v, item.entries.span)).collect(),
                _ => return self.bad_mapping(bad, item.entries.span, "this is no array"),
            },
        };
        Some(((inputs, outputs), values))
    }

    pub fn bad_mapping<T>(&mut self, (code, what, help): &Bad, span: Span, why: &str) -> Option<T> {
        self.fail(Diagnostic::error(code, *what).at(span, why).help(*help))
    }

    /// The function that applies a table to a value of type `ty`: the table's input word, or an array of words
    /// whose columns are inputs. With it, its result type.
    pub fn table_function(&mut self, entity: Entity, ty: &Ty, span: Span) -> Option<(FuncId, Ty)> {
        let info = self.table_info(entity, span)?;
        let (applied, ret) = match ty {
            Ty::Word(b) if *b == info.inputs => (Applied::Word, Ty::Word(info.outputs)),
            Ty::Array { elem, len: Len::Const(n), .. } if *n == u64::from(info.inputs) => match **elem {
                Ty::Word(b) => (Applied::Columns(b), Ty::array(Ty::Word(b), u64::from(info.outputs))),
                _ => return self.bad_table_argument(&info, ty, span),
            },
            _ => return self.bad_table_argument(&info, ty, span),
        };
        Some((self.applied(entity, &info, applied)?, ret))
    }

    /// The function that loads from the table, beside one that applies it to a secret word. `None` of every other function.
    pub fn loading(&mut self, func: FuncId) -> Option<FuncId> {
        let (entity, _) = *self.table_funcs.iter().find(|((_, applied), id)| **id == func && *applied == Applied::Word)?.0;
        let info = self.table_info(entity, self.world.table(entity)?.name.span)?;
        self.applied(entity, &info, Applied::Public)
    }

    fn applied(&mut self, entity: Entity, info: &Table, applied: Applied) -> Option<FuncId> {
        if let Some(id) = self.table_funcs.get(&(entity, applied)) {
            return Some(*id);
        }
        let table = self.world.table(entity)?;
        let (base, loc) = (self.qualified(entity.module, &table.name.name), self.loc(table.name.span));
        let name = self.fresh_func_name(&match applied {
            Applied::Word => base.clone(),
            Applied::Public => format!("{base}$public"),
            Applied::Columns(bits) => format!("{base}$u{bits}"),
        });
        let other = self.table_funcs.iter().find(|((of, _), _)| *of == entity).and_then(|(_, id)| match self.program.func(*id).applies {
            Some(Applies::Table(id)) => Some(id),
            _ => None,
        });
        let id = other.unwrap_or_else(|| {
            let entries = info.entries.iter().map(|e| ConstValue::Scalar((*e).into())).collect();
            self.program.add_const(base, Ty::array(Ty::Word(info.outputs), 1 << info.inputs), ConstValue::Array(entries))
        });
        let columns = if let Applied::Columns(bits) = applied { Some(Masks::of(&mut self.program, &name, info, bits)) } else { None };
        let mut f = FuncBuilder::new(&self.program, name);
        let ret = match &columns {
            None => of_word(&mut f, info, id, applied == Applied::Public),
            Some(masks) => of_columns(&mut f, info, masks),
        };
        let mut func = f.finish();
        // A scan, or the many gates of a word, are written out once; columns are gates between registers.
        func.inline = if applied == Applied::Word { Inline::Auto } else { Inline::Always };
        func.applies = Some(Applies::Table(id));
        placed(&mut func, loc);
        let public = func.local(func.params[0]).public;
        let signature = Signature { params: vec![(func.local(func.params[0]).ty.clone(), public)], ret: STy::one(ret), ret_public: vec![public] };
        let id = self.program.add_func(func);
        self.signatures.insert(id, signature);
        self.table_funcs.insert((entity, applied), id);
        Some(id)
    }

    fn bad_table_argument<T>(&mut self, info: &Table, ty: &Ty, span: Span) -> Option<T> {
        let found = self.show(ty);
        self.fail(
            Diagnostic::error("type-mismatch", format!("this table cannot be applied to {found}"))
                .at(span, format!("this is {found}"))
                .help(format!("it takes a u{0}, or an array of {0} words", info.inputs)),
        )
    }
}

/// A loop over `0..<n`.
pub fn each(f: &mut FuncBuilder, name: &str, n: u32, body: impl FnOnce(&mut FuncBuilder, LocalId)) {
    let i = f.counter(name);
    let body = f.block(|f| body(f, i));
    f.push(Stmt::for_range(i, Expr::int(0), Expr::int(n), body));
}

/// All of a function stands at one place of the source.
pub fn placed(func: &mut Func, loc: Loc) {
    fn block(body: &mut [Stmt], loc: Loc) {
        for s in body {
            *s.loc_mut() = loc;
            santoku_ir::visit::blocks_mut(s).into_iter().for_each(|b| block(b, loc));
        }
    }
    func.loc = loc;
    func.locals.iter_mut().for_each(|l| l.loc = loc);
    block(&mut func.body, loc);
}

/// All entries are looked at and one is selected; where the word is public it is the index. The result's type.
fn of_word(f: &mut FuncBuilder, info: &Table, table: ConstId, public: bool) -> Ty {
    let (input, output) = (Ty::Word(info.inputs), Ty::Word(info.outputs));
    let x = f.local(LocalKind::Param, "x", input.clone(), public);
    let y = f.local(LocalKind::Ret, "y", output.clone(), public);
    if public {
        let at = f.get(x).cast(Ty::int());
        let entry = f.read(Place::constant(table).index(at));
        f.assign(Place::local(y), entry);
        return output;
    }
    let zero = Expr::word(info.outputs, 0);
    f.assign(Place::local(y), zero.clone());
    each(f, "i", 1 << info.inputs, |f, i| {
        let is = Expr::cmp(CmpOp::Eq, f.get(x), f.get(i).cast(input.clone()));
        let at = f.get(i);
        let entry = f.read(Place::constant(table).index(at));
        let src = f.get(y) | Expr::select(is, entry, zero.clone());
        f.assign(Place::local(y), src);
    });
    output
}

/// Words of zeros or of ones, as constants: for each input of the table the bits that it lacks, and the bits that it gives.
struct Masks {
    bits: u32,
    lacks: ConstId,
    gives: ConstId,
}

impl Masks {
    fn of(program: &mut Program, name: &str, info: &Table, bits: u32) -> Masks {
        let ones: BigInt = (BigInt::from(1) << bits) - 1;
        let mut rows = |what: &str, n: u32, bit: &dyn Fn(u64, u32) -> bool| {
            let row = |i: u64| ConstValue::Array((0..n).map(|j| ConstValue::Scalar(if bit(i, j) { ones.clone() } else { 0.into() })).collect());
            let ty = Ty::array(Ty::array(Ty::Word(bits), n.into()), 1 << info.inputs);
            program.add_const(format!("{name}${what}"), ty, ConstValue::Array((0..1u64 << info.inputs).map(row).collect()))
        };
        let lacks = rows("lacks", info.inputs, &|i, j| i >> j & 1 == 0);
        let gives = rows("gives", info.outputs, &|i, o| info.entries[i as usize] >> o & 1 == 1);
        Masks { bits, lacks, gives }
    }
}

/// Each column is compared with every input of the table, and given the bits of its entry. The result's type.
fn of_columns(f: &mut FuncBuilder, info: &Table, masks: &Masks) -> Ty {
    let word = Ty::Word(masks.bits);
    let array = |n: u32| Ty::array(word.clone(), n.into());
    let (x, y) = (f.param("x", array(info.inputs)), f.ret("y", array(info.outputs)));
    let is = f.var("is", word.clone());
    f.assign(Place::local(y), Expr::repeat(Expr::word(masks.bits, 0), Len::Const(info.outputs.into())));
    each(f, "i", 1 << info.inputs, |f, i| {
        f.assign(Place::local(is), !Expr::word(masks.bits, 0));
        each(f, "j", info.inputs, |f, j| {
            let (at, row) = (f.get(j), f.get(i));
            let (bit, lacks) = (f.read(Place::local(x).index(at.clone())), f.read(Place::constant(masks.lacks).index(row).index(at)));
            let src = f.get(is) & (bit ^ lacks);
            f.assign(Place::local(is), src);
        });
        each(f, "o", info.outputs, |f, o| {
            let (at, row) = (f.get(o), f.get(i));
            let gives = f.read(Place::constant(masks.gives).index(row).index(at.clone()));
            let src = f.read(Place::local(y).index(at.clone())) | (f.get(is) & gives);
            f.assign(Place::local(y).index(at), src);
        });
    });
    array(info.outputs)
}
