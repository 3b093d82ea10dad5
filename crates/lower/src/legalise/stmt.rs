//! Statements: what a branch or a round changes in names is handed on by name.
//! Trusted: nothing: nothing that ships is made of it.

use super::body::{Body, Key, Res};
use super::homes::Home;
use super::number::{Num, Rep};
use crate::data::{Block, For, Inst, Named, Type, Value};
use num_bigint::BigInt;
use santoku_ir::visit::walk_stmts;
use santoku_ir::{Base, Expr, LocalId, LocalKind, Stmt};
use std::collections::BTreeSet;

impl Body<'_, '_> {
    pub fn statements(&mut self, all: &[Stmt]) -> Res<()> {
        all.iter().try_for_each(|s| self.statement(s))
    }

    fn statement(&mut self, s: &Stmt) -> Res<()> {
        self.here = s.loc();
        match s {
            Stmt::Assert { .. } | Stmt::Ghost { .. } => Ok(()),
            Stmt::Assign { dst, src, .. } if src.ty.is_scalar() => {
                let n = self.scalar(src)?;
                let spot = self.spot(dst)?;
                self.write_values(&spot, &[n])
            }
            Stmt::Assign { dst, src, .. } => self.assign(dst, src),
            Stmt::Call { dsts, func, lens, args, .. } => self.call(dsts, *func, lens, args),
            Stmt::If { cond, then, els, .. } => self.branch(cond, then, els),
            Stmt::For { var, lo, hi, rev, body, .. } => self.rounds(*var, (lo, hi), *rev, body),
        }
    }

    fn branch(&mut self, cond: &Expr, then: &[Stmt], els: &[Stmt]) -> Res<()> {
        let c = self.scalar(cond)?;
        let before = self.now.clone();
        let (then_insts, ()) = self.within(|b| b.statements(then))?;
        let after_then = std::mem::replace(&mut self.now, before);
        let (els_insts, ()) = self.within(|b| b.statements(els))?;
        let after_els = self.now.clone();
        // What neither side reads behind the branch may have no value on one of them.
        let changed: Vec<Key> = self.assigned(&[then, els]).into_iter().filter(|k| after_then.contains_key(k) || after_els.contains_key(k)).collect();
        let (mut then_block, mut els_block) = (Block { insts: then_insts, yields: vec![] }, Block { insts: els_insts, yields: vec![] });
        let mut dst: Vec<Named> = vec![];
        for key in changed {
            let rep = self.rep_at(key)?;
            for (block, after) in [(&mut then_block, &after_then), (&mut els_block, &after_els)] {
                self.yielded(block, after.get(&key), rep)?;
            }
            let named = self.named(key, rep);
            dst.extend(named.iter().map(|v| (*v, self.ty(*v))));
            self.now.insert(key, Num { words: named, bits: rep.bits, signed: rep.signed });
        }
        self.push(Inst::If { cond: c.words[0], dst, then: then_block, els: els_block });
        Ok(())
    }

    /// The words of a number at the end of a block; of one without a value, zeros.
    fn yielded(&mut self, block: &mut Block, n: Option<&Num>, rep: Rep) -> Res<()> {
        let words = match n {
            Some(n) => n.words.clone(),
            None => {
                let (insts, n) = self.within(|b| Ok(b.number(&BigInt::from(0), rep)))?;
                block.insts.extend(insts);
                n.words
            }
        };
        block.yields.extend(words);
        Ok(())
    }

    fn rep_at(&self, key: Key) -> Res<Rep> {
        Ok(self.shared.words.fit(&self.scalar_at(key)?.range))
    }

    /// New names for a number of a local.
    fn named(&mut self, key: Key, rep: Rep) -> Vec<Value> {
        let l = self.func.local(key.0);
        let ty = Type::word(rep.bits, !l.public && l.kind != LocalKind::Counter);
        let n = Num { words: (0..rep.words).map(|_| self.fresh(ty)).collect(), bits: rep.bits, signed: rep.signed };
        self.note(key, &n);
        n.words
    }

    fn rounds(&mut self, var: LocalId, (lo, hi): (&Expr, &Expr), rev: bool, body: &[Stmt]) -> Res<()> {
        let (a, b) = (self.scalar(lo)?, self.scalar(hi)?);
        let own = self.rep_at((var, 0))?;
        let signed = a.signed || b.signed || own.signed;
        let bits = a.bits.max(b.bits).max(own.bits);
        if [&a, &b].iter().any(|n| n.words.len() != 1) || own.words != 1 {
            return Err("a loop whose counter takes several words".into());
        }
        let one = Rep { bits, words: 1, signed };
        let (a, b) = (self.converted(&a, one), self.converted(&b, one));
        let keys: Vec<Key> = self.assigned(&[body]).into_iter().filter(|k| k.0 != var).collect();
        let (mut carried, mut reps) = (vec![], vec![]);
        for key in &keys {
            let rep = self.rep_at(*key)?;
            let first = match self.now.get(key) {
                Some(n) => n.words.clone(),
                None => self.number(&BigInt::from(0), rep).words,
            };
            let names = self.named(*key, rep);
            carried.extend(names.iter().map(|v| (*v, self.ty(*v))).zip(first));
            self.now.insert(*key, Num { words: names, bits: rep.bits, signed: rep.signed });
            reps.push(rep);
        }
        let counter = self.fresh(Type::word(bits, false));
        let (insts, yields) = self.within(|s| {
            let n = Num { words: vec![counter], bits, signed };
            let n = s.converted(&n, own);
            s.now.insert((var, 0), n);
            s.statements(body)?;
            let mut yields = vec![];
            for key in &keys {
                yields.extend(s.read_key(*key)?.words);
            }
            Ok(yields)
        })?;
        let mut dst: Vec<Named> = vec![];
        for (key, rep) in keys.iter().zip(reps) {
            let names = self.named(*key, rep);
            dst.extend(names.iter().map(|v| (*v, self.ty(*v))));
            self.now.insert(*key, Num { words: names, bits: rep.bits, signed: rep.signed });
        }
        self.now.remove(&(var, 0));
        let counter = (counter, self.ty(counter));
        self.push(Inst::For(Box::new(For { counter, lo: a.words[0], hi: b.words[0], rev, signed, carried, dst, body: Block { insts, yields } })));
        Ok(())
    }

    /// Numbers in names that these statements may change. Counters live in their loops alone.
    fn assigned(&self, all: &[&[Stmt]]) -> BTreeSet<Key> {
        let mut out = BTreeSet::new();
        let mut add = |base: Base| {
            let Base::Local(id) = base else { return };
            match &self.homes[id.0 as usize] {
                Home::Name => {
                    out.insert((id, 0));
                }
                Home::Names(leaves) => out.extend((0..leaves.len() as u32).map(|k| (id, k))),
                Home::Memory => {}
            }
        };
        for body in all {
            walk_stmts(body, &mut |s| match s {
                Stmt::Assign { dst, .. } => add(dst.base),
                Stmt::Call { dsts, .. } => dsts.iter().for_each(|p| add(p.base)),
                _ => {}
            });
        }
        out
    }
}
