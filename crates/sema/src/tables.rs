//! `table` items: total maps on small words, compiled to circuits, never to loads.
//!
//! The `circuit` crate chooses the gates and proves them on every input of the table.

use crate::consts::CVal;
use crate::context::{Cached, Cx};
use crate::limits;
use crate::names::Entity;
use crate::types::{STy, Signature};
use num_traits::ToPrimitive;
use santoku_circuit::{Circuit, Gate};
use santoku_diag::{Diagnostic, Span};
use santoku_syntax::ast::ExprKind;
use santoku_ir::{BinOp, Expr, Func, FuncId, Inline, Len, Local, LocalId, LocalKind, Place, Stmt, Ty, UnOp};

/// A table whose entries are known.
#[derive(Clone, Debug)]
pub struct TableInfo {
    pub inputs: u32,
    pub outputs: u32,
    pub entries: Vec<u64>,
}

impl Cx<'_> {
    /// Sizes and entries of a table, checked.
    pub fn table_info(&mut self, entity: Entity) -> Option<TableInfo> {
        match self.tables.get(&entity) {
            Some(Cached::Done(info)) => return Some(info.clone()),
            Some(Cached::Busy | Cached::Failed) => return None,
            None => {}
        }
        self.tables.insert(entity, Cached::Busy);
        let info = self.read_table(entity);
        let state = info.clone().map_or(Cached::Failed, Cached::Done);
        self.tables.insert(entity, state);
        info
    }

    fn read_table(&mut self, entity: Entity) -> Option<TableInfo> {
        let table = self.world.table(entity)?;
        let mut env = self.env(entity.module);
        let sides = (self.plain_type(&mut env, table.input)?, self.plain_type(&mut env, table.output)?);
        let (Ty::Word(inputs), Ty::Word(outputs)) = sides else {
            return self.bad_table(table.name.span, "a table maps words to words");
        };
        if inputs > limits::TABLE_BITS || outputs > limits::TABLE_BITS {
            return self.bad_table(table.name.span, "tables have at most 8 bits on each side");
        }
        // Entries written one by one are judged where each stands.
        let values: Vec<(CVal, Span)> = match &table.entries.kind {
            ExprKind::Array(parts) => parts.iter().map(|e| Some((self.const_expr(&mut env, e)?, e.span))).collect::<Option<_>>()?,
            _ => match self.const_expr(&mut env, table.entries)? {
                CVal::Array(values) => values.into_iter().map(|v| (v, table.entries.span)).collect(),
                _ => return self.bad_table(table.entries.span, "this is no array"),
            },
        };
        if values.len() != 1 << inputs {
            let why = format!("{} entries for {} inputs", values.len(), 1u32 << inputs);
            return self.bad_table(table.name.span, &why);
        }
        let mut entries = Vec::new();
        for (v, span) in values {
            match self.coerce(v, &Ty::Word(outputs), span)? {
                CVal::Word(_, v) => entries.push(v.to_u64().unwrap_or(0)),
                _ => return None,
            }
        }
        Some(TableInfo { inputs, outputs, entries })
    }

    fn bad_table<T>(&mut self, span: Span, why: &str) -> Option<T> {
        self.fail(
            Diagnostic::error("bad-table", "this table is not a total map on small words")
                .at(span, why)
                .help("write `table t: u4 -> u4 = [..]` with one entry per input"),
        )
    }

    /// The function that applies a table to a value of type `ty`: the table's input word, or an array of words
    /// whose columns are inputs. With it, its result type.
    pub fn table_function(&mut self, entity: Entity, ty: &Ty, span: Span) -> Option<(FuncId, Ty)> {
        let info = self.table_info(entity)?;
        let (bits, ret) = match ty {
            Ty::Word(b) if *b == info.inputs => (0, Ty::Word(info.outputs)),
            Ty::Array { elem, len: Len::Const(n), .. } if *n == u64::from(info.inputs) => match **elem {
                Ty::Word(b) => (b, Ty::array(Ty::Word(b), u64::from(info.outputs))),
                _ => return self.bad_table_argument(&info, ty, span),
            },
            _ => return self.bad_table_argument(&info, ty, span),
        };
        if let Some(id) = self.table_funcs.get(&(entity, bits)) {
            return Some((*id, ret));
        }
        let table = self.world.table(entity)?;
        self.watch.table(&format!("{}: u{} -> u{}", table.name.name, info.inputs, info.outputs));
        let Some(circuit) = santoku_circuit::circuit_observed(info.inputs, info.outputs, &info.entries, self.watch) else {
            return self.fail(
                Diagnostic::error("internal", "a table has no circuit that computes it")
                    .at(span, "while compiling this table")
                    .note("pass: tables")
                    .help("this is a fault of the compiler; please report it"),
            );
        };
        let base = self.qualified(entity.module, &table.name.name);
        let name = self.fresh_func_name(&if bits == 0 { base } else { format!("{base}$u{bits}") });
        let loc = self.loc(table.name.span);
        let mut f = TableFunc { info: &info, bits, locals: Vec::new(), body: Vec::new(), loc };
        let func = f.build(name, ty, &ret, &circuit);
        let id = self.program.add_func(func);
        let signature =
            Signature { params: vec![(ty.clone(), false)], ret: STy::one(ret.clone()), ret_public: vec![false] };
        self.signatures.insert(id, signature);
        self.table_funcs.insert((entity, bits), id);
        Some((id, ret))
    }

    fn bad_table_argument<T>(&mut self, info: &TableInfo, ty: &Ty, span: Span) -> Option<T> {
        let found = self.show(ty);
        self.fail(
            Diagnostic::error("type-mismatch", format!("this table cannot be applied to {found}"))
                .at(span, format!("this is {found}"))
                .help(format!("it takes a u{0}, or an array of {0} words", info.inputs)),
        )
    }
}

/// Writes the gates of one table as a function. `bits`: 0 for a single word, else the size of the column words.
struct TableFunc<'a> {
    info: &'a TableInfo,
    bits: u32,
    locals: Vec<Local>,
    body: Vec<Stmt>,
    loc: santoku_ir::Loc,
}

impl TableFunc<'_> {
    fn local(&mut self, name: String, ty: Ty, kind: LocalKind) -> LocalId {
        self.locals.push(Local { name, ty, kind, public: false, loc: self.loc });
        LocalId(self.locals.len() as u32 - 1)
    }

    fn word(&self) -> Ty {
        Ty::Word(if self.bits == 0 { self.info.outputs } else { self.bits })
    }

    fn build(&mut self, name: String, input: &Ty, output: &Ty, circuit: &Circuit) -> Func {
        let x = self.local("x".into(), santoku_ir::typing::without_ranges(input), LocalKind::Param);
        let y = self.local("y".into(), output.clone(), LocalKind::Ret);
        let word = self.word();
        let mut nodes: Vec<Expr> = (0..self.info.inputs).map(|i| self.input(x, i)).collect();
        for (i, g) in circuit.gates.iter().enumerate() {
            let src = self.gate(g, &nodes);
            let id = self.local(format!("g{i}"), word.clone(), LocalKind::Var);
            self.body.push(Stmt::Assign { dst: Place::local(id), src, loc: self.loc });
            nodes.push(Expr::read(Place::local(id), &word));
        }
        let outs = circuit.outputs.iter().map(|n| nodes[*n as usize].clone()).collect();
        self.output(y, outs);
        Func {
            name,
            export: None,
            inline: Inline::Always,
            lens: Vec::new(),
            params: vec![x],
            rets: vec![y],
            locals: std::mem::take(&mut self.locals),
            body: std::mem::take(&mut self.body),
            contracts: Vec::new(),
            doc: String::new(),
            loc: self.loc,
        }
    }

    fn input(&self, x: LocalId, i: u32) -> Expr {
        if self.bits != 0 {
            return Expr::read(Place::local(x).at(u64::from(i)), &self.word());
        }
        let from = Ty::Word(self.info.inputs);
        let v = Expr::read(Place::local(x), &from);
        let bit = if i == 0 { v } else { v.shr(i) };
        if from == self.word() {
            bit
        } else {
            bit.cast(self.word())
        }
    }

    fn gate(&self, g: &Gate, nodes: &[Expr]) -> Expr {
        let at = |n: u32| nodes[n as usize].clone();
        match *g {
            Gate::And(a, b) => Expr::bin(BinOp::And, at(a), at(b)),
            Gate::Or(a, b) => Expr::bin(BinOp::Or, at(a), at(b)),
            Gate::Xor(a, b) => Expr::bin(BinOp::Xor, at(a), at(b)),
            Gate::Not(a) => Expr::un(UnOp::Not, at(a)),
            Gate::Const(c) => {
                let zero = Expr::new(santoku_ir::ExprKind::Const(0.into()), self.word());
                if c {
                    Expr::un(UnOp::Not, zero)
                } else {
                    zero
                }
            }
            Gate::Lut(..) => unreachable!("a circuit of two-input gates"),
        }
    }

    fn output(&mut self, y: LocalId, outs: Vec<Expr>) {
        if self.bits != 0 {
            for (i, src) in outs.into_iter().enumerate() {
                self.body.push(Stmt::Assign { dst: Place::local(y).at(i as u64), src, loc: self.loc });
            }
            return;
        }
        let bits = self.info.outputs;
        let parts = outs.into_iter().enumerate().map(|(i, e)| {
            let bit = e & Expr::word(bits, 1);
            if i == 0 {
                bit
            } else {
                bit.shl(i as u32)
            }
        });
        if let Some(src) = parts.reduce(|a, b| a | b) {
            self.body.push(Stmt::Assign { dst: Place::local(y), src, loc: self.loc });
        }
    }
}
