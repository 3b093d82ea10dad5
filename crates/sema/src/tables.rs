//! `table` items: total maps on small words, compiled to circuits, never to loads.
//!
//! [`circuit`] is the one place that chooses gates; what it returns is checked on every input before use.

use crate::context::{Cached, Cx};
use crate::limits;
use crate::names::Entity;
use crate::types::{STy, Signature};
use num_traits::ToPrimitive;
use santoku_diag::{Diagnostic, Span};
use santoku_ir::{BinOp, Expr, Func, FuncId, Inline, Len, Local, LocalId, LocalKind, Place, Stmt, Ty, UnOp};
use std::collections::BTreeMap;

/// A gate over numbered nodes: inputs first (bit 0 of the table's index is node 0), then one node per gate in
/// order. The last `outputs` gates are the outputs, bit 0 first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Gate {
    And(u32, u32),
    Or(u32, u32),
    Xor(u32, u32),
    Not(u32),
    Const(bool),
    Copy(u32),
}

/// A table whose entries are known.
#[derive(Clone, Debug)]
pub struct TableInfo {
    pub inputs: u32,
    pub outputs: u32,
    pub entries: Vec<u64>,
}

/// Gates that compute `entries[x]` from the bits of `x`; `inputs <= 8`, `entries` has `2^inputs` elements below
/// `2^outputs`.
///
/// Shannon expansion with shared subfunctions; of several variable orders the one with the fewest gates.
pub fn circuit(inputs: u32, outputs: u32, entries: &[u64]) -> Vec<Gate> {
    let mut best: Option<Vec<Gate>> = None;
    for order in orders(inputs) {
        let gates = expand(inputs, outputs, entries, &order);
        if best.as_ref().is_none_or(|b| gates.len() < b.len()) {
            best = Some(gates);
        }
    }
    best.unwrap_or_default()
}

/// All orders of up to 4 variables, the rotations of more.
fn orders(n: u32) -> Vec<Vec<u32>> {
    if n > 4 {
        return (0..n).map(|r| (0..n).map(|i| (i + r) % n).collect()).collect();
    }
    let mut all = vec![Vec::new()];
    for _ in 0..n {
        all = all
            .into_iter()
            .flat_map(|p: Vec<u32>| {
                (0..n).filter(|v| !p.contains(v)).map(|v| p.iter().copied().chain([v]).collect()).collect::<Vec<_>>()
            })
            .collect();
    }
    all
}

/// A Boolean function as its truth table over the variables still open, least significant index first.
type Truth = Vec<bool>;

struct Builder {
    inputs: u32,
    gates: Vec<Gate>,
    known: BTreeMap<Gate, u32>,
    functions: BTreeMap<(usize, Truth), u32>,
}

fn expand(inputs: u32, outputs: u32, entries: &[u64], order: &[u32]) -> Vec<Gate> {
    let mut b = Builder { inputs, gates: Vec::new(), known: BTreeMap::new(), functions: BTreeMap::new() };
    let mut results = Vec::new();
    for bit in 0..outputs {
        // Index the truth table so that its top half is `order[0] = 1`.
        let truth: Truth = (0..entries.len())
            .map(|i| {
                let index = order.iter().rev().enumerate().fold(0, |x, (at, var)| x | ((i >> at & 1) << var));
                entries[index] >> bit & 1 == 1
            })
            .collect();
        results.push(b.function(order, truth));
    }
    for node in results {
        b.gates.push(Gate::Copy(node));
    }
    b.gates
}

impl Builder {
    fn function(&mut self, order: &[u32], truth: Truth) -> u32 {
        if truth.iter().all(|b| *b == truth[0]) {
            return self.gate(Gate::Const(truth[0]));
        }
        let key = (order.len(), truth);
        if let Some(node) = self.functions.get(&key) {
            return *node;
        }
        let truth = &key.1;
        let inverse: Truth = truth.iter().map(|b| !b).collect();
        if let Some(node) = self.functions.get(&(order.len(), inverse)) {
            return self.gate(Gate::Not(*node));
        }
        let (low, high) = truth.split_at(truth.len() / 2);
        let node = self.choose(order, low, high);
        self.functions.insert(key, node);
        node
    }

    /// `order[0] ? high : low`
    fn choose(&mut self, order: &[u32], low: &[bool], high: &[bool]) -> u32 {
        let (x, rest) = (order[0], &order[1..]);
        let constant = |t: &[bool]| t.iter().all(|b| *b == t[0]).then(|| t[0]);
        match (constant(low), constant(high)) {
            (Some(false), Some(true)) => return x,
            (Some(true), Some(false)) => return self.gate(Gate::Not(x)),
            (Some(false), _) => {
                let h = self.function(rest, high.to_vec());
                return self.gate(Gate::And(x, h));
            }
            (_, Some(true)) => {
                let l = self.function(rest, low.to_vec());
                return self.gate(Gate::Or(x, l));
            }
            _ => {}
        }
        if low == high {
            return self.function(rest, low.to_vec());
        }
        // low ^ (x & (low ^ high)); where low is the inverse of high, low ^ x.
        let differ: Truth = low.iter().zip(high).map(|(a, b)| a != b).collect();
        let l = self.function(rest, low.to_vec());
        if constant(&differ) == Some(true) {
            return self.gate(Gate::Xor(l, x));
        }
        let d = self.function(rest, differ);
        let t = self.gate(Gate::And(x, d));
        self.gate(Gate::Xor(l, t))
    }

    fn gate(&mut self, g: Gate) -> u32 {
        if let Some(node) = self.known.get(&g) {
            return *node;
        }
        self.gates.push(g);
        let node = self.inputs + self.gates.len() as u32 - 1;
        self.known.insert(g, node);
        node
    }
}

/// The value of a circuit at one input.
pub fn evaluate(inputs: u32, outputs: u32, gates: &[Gate], x: u64) -> u64 {
    let mut nodes: Vec<bool> = (0..inputs).map(|i| x >> i & 1 == 1).collect();
    for g in gates {
        let at = |n: u32| nodes[n as usize];
        let v = match *g {
            Gate::And(a, b) => at(a) & at(b),
            Gate::Or(a, b) => at(a) | at(b),
            Gate::Xor(a, b) => at(a) ^ at(b),
            Gate::Not(a) => !at(a),
            Gate::Const(c) => c,
            Gate::Copy(a) => at(a),
        };
        nodes.push(v);
    }
    let first = nodes.len() - outputs as usize;
    nodes[first..].iter().enumerate().fold(0, |r, (i, b)| r | u64::from(*b) << i)
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
        if table.entries.len() != 1 << inputs {
            let why = format!("{} entries for {} inputs", table.entries.len(), 1u32 << inputs);
            return self.bad_table(table.name.span, &why);
        }
        let mut entries = Vec::new();
        for e in table.entries {
            let v = self.const_expr(&mut env, e)?;
            match self.coerce(v, &Ty::Word(outputs), e.span)? {
                crate::consts::CVal::Word(_, v) => entries.push(v.to_u64().unwrap_or(0)),
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
        let gates = circuit(info.inputs, info.outputs, &info.entries);
        let right = |x: &usize| evaluate(info.inputs, info.outputs, &gates, *x as u64) == info.entries[*x];
        if !(0..info.entries.len()).all(|x| right(&x)) {
            return self.fail(
                Diagnostic::error("internal", "the circuit of a table is wrong")
                    .at(span, "while compiling this table")
                    .note("pass: tables")
                    .help("this is a fault of the compiler; please report it"),
            );
        }
        let table = self.world.table(entity)?;
        let base = self.qualified(entity.module, &table.name.name);
        let name = self.fresh_func_name(&if bits == 0 { base } else { format!("{base}$u{bits}") });
        let loc = self.loc(table.name.span);
        let mut f = TableFunc { info: &info, bits, locals: Vec::new(), body: Vec::new(), loc };
        let func = f.build(name, ty, &ret, &gates);
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

    fn build(&mut self, name: String, input: &Ty, output: &Ty, gates: &[Gate]) -> Func {
        let x = self.local("x".into(), santoku_ir::typing::without_ranges(input), LocalKind::Param);
        let y = self.local("y".into(), output.clone(), LocalKind::Ret);
        let word = self.word();
        let mut nodes: Vec<Expr> = (0..self.info.inputs).map(|i| self.input(x, i)).collect();
        let inner = gates.len() - self.info.outputs as usize;
        for (i, g) in gates[..inner].iter().enumerate() {
            let src = self.gate(g, &nodes);
            let id = self.local(format!("g{i}"), word.clone(), LocalKind::Var);
            self.body.push(Stmt::Assign { dst: Place::local(id), src, loc: self.loc });
            nodes.push(Expr::read(Place::local(id), &word));
        }
        let outs: Vec<Expr> = gates[inner..].iter().map(|g| self.gate(g, &nodes)).collect();
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
            Gate::Copy(a) => at(a),
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

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(inputs: u32, outputs: u32, entries: &[u64]) -> usize {
        let gates = circuit(inputs, outputs, entries);
        for (x, want) in entries.iter().enumerate() {
            assert_eq!(evaluate(inputs, outputs, &gates, x as u64), *want, "input {x}");
        }
        gates.len() - outputs as usize
    }

    #[test]
    fn circuits_equal_their_tables() {
        let rectangle = [6, 5, 12, 10, 1, 14, 7, 9, 11, 0, 3, 13, 8, 15, 4, 2];
        assert!(checked(4, 4, &rectangle) <= 40);
        assert_eq!(checked(1, 1, &[0, 1]), 0);
        assert_eq!(checked(2, 1, &[0, 1, 1, 0]), 1);
        checked(3, 2, &[0, 0, 0, 0, 0, 0, 0, 0]);
        checked(3, 2, &[3, 0, 1, 3, 2, 2, 1, 0]);
        let eight: Vec<u64> = (0..256u64).map(|x| (x * x * 167 + 13 * x + 5) % 256).collect();
        checked(8, 8, &eight);
    }

    #[test]
    fn a_wrong_gate_is_seen() {
        let table = [6, 5, 12, 10, 1, 14, 7, 9, 11, 0, 3, 13, 8, 15, 4, 2];
        let mut gates = circuit(4, 4, &table);
        let at = gates.iter().position(|g| matches!(g, Gate::Xor(..))).unwrap_or(0);
        if let Gate::Xor(a, b) = gates[at] {
            gates[at] = Gate::Or(a, b);
        }
        assert!((0..16).any(|x| evaluate(4, 4, &gates, x) != table[x as usize]));
    }
}
