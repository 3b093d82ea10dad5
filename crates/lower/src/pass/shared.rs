//! Which results of a function may lie where a parameter lies: where nothing of the parameter is read, or used, once the result is being written.
//! Trusted: nothing: nothing that ships is made of it.

use super::root::{roots, Root};
use crate::data::{Block, Func, Inst, Module, Op, Value};
use std::collections::{BTreeMap, BTreeSet};

/// A result and a parameter, by their places among the parameters.
pub type Pair = (usize, usize);

struct Walk<'f> {
    module: &'f Module,
    func: &'f Func,
    roots: BTreeMap<Value, Root>,
    pair: Pair,
    /// What was loaded from the parameter: a back end may load it where it is used.
    loaded: BTreeSet<Value>,
    written: bool,
    apart: bool,
}

/// May the two be one object? Calls within are asked the same.
pub fn shareable(module: &Module, func: usize, pair: Pair) -> bool {
    let f: &Func = &module.funcs[func];
    let (Some(result), Some(param)) = (f.params.get(pair.0), f.params.get(pair.1)) else { return false };
    if !result.written || param.written || result.ty != param.ty {
        return false;
    }
    let mut walk = Walk { module, func: f, roots: roots(f), pair, loaded: BTreeSet::new(), written: false, apart: false };
    walk.block(&f.body);
    !walk.apart
}

/// The functions that a call of the module gives a result and a parameter in one place.
pub fn sharing(module: &Module) -> BTreeSet<usize> {
    let mut all = BTreeSet::new();
    for f in &module.funcs {
        f.body.each(&mut |i| {
            if let Inst::Call { func, args, .. } = i {
                let params = &module.funcs[*func as usize].params;
                let shared = |k: usize| params[k].written && args.iter().enumerate().any(|(j, v)| j != k && *v == args[k]);
                if (0..args.len().min(params.len())).any(shared) {
                    all.insert(*func as usize);
                }
            }
        });
    }
    all
}

impl Walk<'_> {
    fn leads(&self, v: Value, k: usize) -> bool {
        self.roots.get(&v) == Some(&Root::Param(k))
    }

    fn block(&mut self, b: &Block) {
        b.insts.iter().for_each(|i| self.inst(i));
        self.uses(&b.yields);
    }

    /// Something is read of the parameter.
    fn reads(&mut self) {
        self.apart |= self.written;
    }

    fn uses(&mut self, all: &[Value]) {
        if all.iter().any(|v| self.loaded.contains(v)) {
            self.reads();
        }
    }

    fn inst(&mut self, i: &Inst) {
        self.uses(&i.reads());
        let (result, param) = self.pair;
        match i {
            Inst::Let { dst, op: Op::Load { at, .. } } => {
                if self.leads(at.base, param) {
                    self.reads();
                    self.loaded.extend(dst.iter().map(|d| d.0));
                }
            }
            Inst::Let { .. } => {}
            Inst::Store { at, .. } => self.written |= self.leads(at.base, result),
            Inst::Copy { to, from, .. } => {
                if self.leads(from.base, param) {
                    self.reads();
                    self.apart |= self.leads(to.base, result);
                }
                self.written |= self.leads(to.base, result);
            }
            Inst::Call { func, args, .. } => self.call(*func as usize, args),
            Inst::If { then, els, .. } => {
                let before = self.written;
                self.block(then);
                let after = std::mem::replace(&mut self.written, before);
                self.block(els);
                self.written |= after;
            }
            Inst::For(f) => {
                // A later round reads behind what an earlier one wrote.
                self.block(&f.body);
                self.block(&f.body);
            }
        }
    }

    fn call(&mut self, func: usize, args: &[Value]) {
        let (result, param) = self.pair;
        let callee = &self.module.funcs[func];
        let of = |k: usize| -> Vec<usize> { (0..args.len()).filter(|j| self.leads(args[*j], k)).collect() };
        let (results, params) = (of(result), of(param));
        if !params.is_empty() {
            self.reads();
        }
        let written: Vec<usize> = results.into_iter().filter(|j| callee.params.get(*j).is_some_and(|p| p.written)).collect();
        for r in &written {
            // The whole of both, and the callee allows it.
            let whole = |j: usize| self.func.params.iter().any(|p| p.value == args[j]);
            let alike = params.iter().all(|p| whole(*r) && whole(*p) && shareable(self.module, func, (*r, *p)));
            self.apart |= !alike;
        }
        self.written |= !written.is_empty();
    }
}
