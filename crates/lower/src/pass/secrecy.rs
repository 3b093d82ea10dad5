//! What is secret, told again from what the function gets: a body that came from a callee says what the callee's callers may give, not what this one
//! does.
//! Trusted: nothing: nothing that ships is made of it.

use super::root::{roots, Root};
use crate::data::{Block, Func, Inst, Kind, Module, Named, Op, Value};
use std::collections::{BTreeMap, BTreeSet};

/// `loose`: slots from this number on may be made secret; `module` has the functions that are called.
pub(super) fn secrecy(f: &Func, module: &Module, loose: usize) -> Func {
    let roots = roots(f);
    let mut made = f.clone();
    loop {
        let mut pass = Again { module, roots: &roots, slots: made.slots.iter().map(|s| s.secret).collect(), loose, secret: BTreeSet::new(), ptrs: BTreeMap::new() };
        for p in &made.params {
            if p.ty.secret {
                pass.secret.insert(p.value);
            }
            if p.ty.kind == Kind::Ptr {
                pass.ptrs.insert(p.value, p.ty.secret);
            }
        }
        pass.block(&mut made.body);
        let same = made.slots.iter().zip(&pass.slots).all(|(s, now)| s.secret == *now);
        made.slots.iter_mut().zip(pass.slots).for_each(|(s, now)| s.secret = now);
        if same {
            return made;
        }
    }
}

struct Again<'m> {
    module: &'m Module,
    roots: &'m BTreeMap<Value, Root>,
    slots: Vec<bool>,
    loose: usize,
    /// Words.
    secret: BTreeSet<Value>,
    /// Whether what lies there is.
    ptrs: BTreeMap<Value, bool>,
}

impl Again<'_> {
    fn is(&self, v: Value) -> bool {
        self.secret.contains(&v) || self.ptrs.get(&v).copied().unwrap_or(false)
    }

    fn mark(&mut self, d: &mut Named, secret: bool) {
        d.1.secret = secret;
        if d.1.kind == Kind::Ptr {
            self.ptrs.insert(d.0, secret);
        } else if secret {
            self.secret.insert(d.0);
        }
    }

    /// Something secret is put there.
    fn put(&mut self, base: Value) {
        if let Some(Root::Slot(k)) = self.roots.get(&base) {
            if *k as usize >= self.loose {
                self.slots[*k as usize] = true;
            }
        }
    }

    fn block(&mut self, b: &mut Block) {
        for i in &mut b.insts {
            self.inst(i);
        }
    }

    fn inst(&mut self, i: &mut Inst) {
        match i {
            Inst::Let { dst, op } => {
                let secret = match op {
                    Op::Slot(k) => self.slots[*k as usize],
                    Op::Table(_) => false,
                    Op::Load { at, .. } | Op::At(at) => self.is(at.base),
                    op => op.operands().iter().any(|v| self.is(*v)),
                };
                dst.iter_mut().for_each(|d| self.mark(d, secret));
            }
            Inst::Store { at, value, .. } => {
                if self.is(*value) {
                    self.put(at.base);
                }
            }
            Inst::Copy { to, from, .. } => {
                if self.is(from.base) {
                    self.put(to.base);
                }
            }
            Inst::Call { dst, func, args } => {
                let callee = &self.module.funcs[*func as usize];
                let secrets = args.iter().zip(&callee.params).any(|(v, p)| !p.written && self.is(*v));
                for (v, p) in args.iter().zip(&callee.params) {
                    if p.written && p.ty.secret && secrets {
                        self.put(*v);
                    }
                }
                let given: Vec<bool> = callee.results.iter().map(|t| t.secret && secrets).collect();
                dst.iter_mut().zip(given).for_each(|(d, secret)| self.mark(d, secret));
            }
            Inst::If { dst, then, els, .. } => {
                self.block(then);
                self.block(els);
                let secret: Vec<bool> = then.yields.iter().zip(&els.yields).map(|(a, b)| self.is(*a) || self.is(*b)).collect();
                dst.iter_mut().zip(secret).for_each(|(d, secret)| self.mark(d, secret));
            }
            Inst::For(f) => {
                f.counter.1.secret = false;
                let mut secret: Vec<bool> = f.carried.iter().map(|c| self.is(c.1)).collect();
                loop {
                    f.carried.iter_mut().zip(&secret).for_each(|(c, s)| self.mark(&mut c.0, *s));
                    self.block(&mut f.body);
                    let next: Vec<bool> = f.body.yields.iter().zip(&secret).map(|(v, s)| *s || self.is(*v)).collect();
                    if next == secret {
                        break;
                    }
                    secret = next;
                }
                f.dst.iter_mut().zip(secret).for_each(|(d, s)| self.mark(d, s));
            }
        }
    }
}
