//! The passes of layouts, each with its check.

use crate::ahead::{ahead, hoist};
use crate::error::LayoutError;
use crate::isa::Layout;
use crate::ranges::ranged;
use crate::steps::{verified, Steps};
use crate::{cells as cover, columns as columns_of, count, graph, interleave as copies, slice, tables, widen as lanes, words as in_words};
use santoku_circuit::Basis;
use santoku_ir::{build::FuncBuilder, Func, FuncId, LocalId, Place, Program};
use santoku_passes::{optimise, Level, PassOptions};
use std::collections::BTreeSet;

impl Steps<'_> {
    pub fn columns(&mut self) -> Result<(), LayoutError> {
        let basis = if self.request.isa.ternary.is_some() && self.request.layout != Layout::Scalar { Basis::Lut3 } else { Basis::Two };
        let name = self.f().name.clone();
        self.program = columns_of::retarget(&self.program, basis)?;
        self.found("columns", &name)
    }

    pub fn straighten(&mut self) -> Result<(), LayoutError> {
        let name = self.f().name.clone();
        let mut options = PassOptions::new(Level::O2, 64);
        options.unroll_size_max = self.unroll;
        options.keep_tests = false;
        options.roots = BTreeSet::from([name.clone()]);
        options.circuits.clone_from(self.circuits);
        // Where each bit has a register, a bit that moves is another name, and exchanges would be gates.
        let sliced = (self.request.layout == Layout::Bitslice).then(|| "perms".to_string());
        let asked = self.request.without.iter().filter(|n| santoku_passes::find(n).is_some()).cloned();
        let without = sliced.into_iter().chain(["derive-width".to_string()]).chain(asked).collect();
        let done = optimise(&self.program, Level::O2, &without, &options).map_err(|e| LayoutError::internal("straighten", e.to_string()))?;
        self.program = done.program;
        self.found("straighten", &name)
    }

    /// The function has another number now.
    fn found(&mut self, step: &'static str, name: &str) -> Result<(), LayoutError> {
        self.func = self.at(step, &self.program, name)?;
        Ok(())
    }

    pub fn words(&mut self) -> Result<(), LayoutError> {
        let laid_out = self.laid_out().into_iter().collect();
        if !in_words::needed(&self.program, &laid_out) {
            return Ok(());
        }
        let name = self.f().name.clone();
        let before = ranged(&self.program, self.f(), &self.origin, self.request.layout)?;
        let f = self.at("words", &before, &name)?;
        let widest = if self.request.layout == Layout::Vertical { self.block.bits } else { 128 };
        let after = in_words::in_words(&before, &laid_out, widest).map_err(|no| {
            let loc = if no.loc.line > 0 { no.loc } else { before.func(f).loc };
            LayoutError::Operation { func: self.origin.clone(), what: no.what, layout: self.request.layout.name(), loc }
        })?;
        self.same("words", (&before, f), (&after, f))?;
        (self.program, self.func) = (after, f);
        Ok(())
    }

    pub fn one_each(&mut self) -> Result<(), LayoutError> {
        let (mut p, id) = (self.program.clone(), self.func);
        for name in self.laid_out() {
            let at = self.at("one-each", &p, &name)?;
            tables::of_counters(&mut p, at);
            let mut f = p.func(at).clone();
            graph::name_arguments(&p, &mut f);
            graph::normalise(&p, &mut f);
            p.funcs[at.0 as usize] = f;
        }
        let before = self.program.clone();
        if self.optional("one-each", (&before, id), (&p, id))? {
            self.program = p;
        }
        Ok(())
    }

    fn at(&self, step: &'static str, p: &Program, name: &str) -> Result<FuncId, LayoutError> {
        p.find(name).ok_or_else(|| LayoutError::internal(step, format!("`{name}` is gone")))
    }

    /// Words narrower than a lane, in lanes. What has no such form stays, and is refused where it has no instruction.
    pub fn widen(&mut self) -> Result<(), LayoutError> {
        let Some(p) = lanes::widen(&self.program, &self.laid_out(), self.func, self.block.bits) else { return Ok(()) };
        let id = self.at("widen", &p, &self.f().name)?;
        let (before, f) = (self.program.clone(), self.func);
        self.same("widen", (&before, f), (&p, id))?;
        (self.program, self.func) = (p, id);
        Ok(())
    }

    pub fn keys_ahead(&mut self) -> Result<(), LayoutError> {
        let shared = self.shared_ids();
        let before = self.program.clone();
        let mut f = self.f().clone();
        if ahead(&self.program, &mut f, &shared) == 0 {
            return Ok(());
        }
        graph::normalise(&self.program, &mut f);
        self.program.funcs[self.func.0 as usize] = f;
        let (p, id) = (self.program.clone(), self.func);
        self.moved = self.optional("keys-ahead", (&before, id), (&p, id))?;
        if !self.moved {
            self.program = before;
        }
        Ok(())
    }

    pub fn prepare_keys(&mut self) -> Result<(), LayoutError> {
        let (shared, id, before) = (self.shared_ids(), self.func, self.program.clone());
        let mut f = self.f().clone();
        let Some(prepare) = self.moved.then(|| hoist(&before, &mut f, &shared)).flatten() else { return Ok(()) };
        graph::normalise(&before, &mut f);
        self.program.funcs[id.0 as usize] = f;
        let (whole, whole_id) = self.composed(&before, &prepare);
        match self.optional("prepare-keys", (&before, id), (&whole, whole_id))? {
            true => self.prepare = Some(prepare),
            false => self.program = before,
        }
        Ok(())
    }

    /// Preparation and kernel together: the function they stand for.
    fn composed(&self, before: &Program, prepare: &Func) -> (Program, FuncId) {
        let mut p = self.program.clone();
        let prepare_id = p.add_func(prepare.clone());
        let (old, new) = (before.func(self.func), self.f());
        let mut b = FuncBuilder::new(&p, format!("{}$whole", old.name));
        let params: Vec<LocalId> = old.params.iter().map(|id| b.param(old.local(*id).name.clone(), old.local(*id).ty.clone())).collect();
        let rets: Vec<LocalId> = old.rets.iter().map(|id| b.ret(old.local(*id).name.clone(), old.local(*id).ty.clone())).collect();
        let made: Vec<LocalId> = prepare.rets.iter().map(|id| b.var(prepare.local(*id).name.clone(), prepare.local(*id).ty.clone())).collect();
        let shared: Vec<LocalId> = params.iter().zip(&old.params).filter(|(_, id)| self.request.shared.contains(&old.local(**id).name)).map(|(p, _)| *p).collect();
        let args = shared.iter().map(|s| b.get(*s)).collect();
        b.call(made.iter().map(|m| Place::local(*m)).collect(), prepare_id, vec![], args);
        let args = params.iter().chain(&made).take(new.params.len()).map(|p| b.get(*p)).collect();
        b.call(rets.iter().map(|r| Place::local(*r)).collect(), self.func, vec![], args);
        let f = b.finish();
        let id = p.add_func(f);
        (p, id)
    }

    pub fn cells(&mut self) -> Result<(), LayoutError> {
        let root = self.f().name.clone();
        for name in self.laid_out() {
            let at = self.at("cells", &self.program, &name)?;
            match cover::cover(&self.program, at)? {
                Ok((covered, _)) => self.program = covered,
                Err(why) => self.left_out.push(format!("cells: {why}")),
            }
        }
        self.found("cells", &root)?;
        self.checks.push("cells: cut out with equal terms, tables on all inputs".into());
        verified("cells", &self.program)
    }

    pub fn bitslice(&mut self) -> Result<(), LayoutError> {
        // The check is made on words of one bit, by the code that makes words of 64.
        let (p, id) = slice::bitslice(&self.program, self.func, 1, true)?;
        let (before, f) = (self.program.clone(), self.func);
        self.same("bitslice", (&before, f), (&p, id))?;
        self.narrow = Some((p, id));
        (self.program, self.func) = slice::bitslice(&self.program, self.func, 64, true)?;
        verified("bitslice", &self.program)
    }

    pub fn interleave(&mut self) -> Result<(), LayoutError> {
        self.operations = count::operations(&self.program, self.f());
        let mut shared = self.request.shared.clone();
        if let Some(p) = &self.prepare {
            shared.extend(p.rets.iter().map(|id| p.local(*id).name.clone()));
        }
        let (k, granularity) = (self.request.interleave, self.request.granularity);
        if let Some((p, id)) = self.narrow.take() {
            let narrow = copies::copies(&p, id, &shared, k, granularity)?;
            self.same("interleave", (&narrow.reference, narrow.func), (&narrow.program, narrow.func))?;
            let wide = copies::copies(&self.program, self.func, &shared, k, granularity)?;
            (self.program, self.func) = (wide.program, wide.func);
        } else {
            (self.program, self.func) = copies::interleave(&self.program, self.func, &shared, k, granularity)?;
            self.checks.push(format!("interleave: {k} copies equal by terms"));
        }
        verified("interleave", &self.program)
    }
}
