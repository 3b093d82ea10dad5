//! From the last program to C.

use crate::error::LayoutError;
use crate::isa::Layout;
use crate::request::Kernel;
use crate::{lookup, lut};
use crate::ranges::ranged;
use crate::steps::{words, Steps};
use santoku_backend_c::{emit, emit_inner, Decisions, EmitError, Inner, Options, Vector};
use santoku_ir::{Base, Expr, ExprKind, FuncId, Place, Program, Stmt};
use santoku_prove::products::widest_secret_product;
use std::collections::{BTreeMap, BTreeSet};

impl Steps<'_> {
    fn unprinted(&self, e: EmitError) -> LayoutError {
        let (what, loc) = match e {
            EmitError::Unsupported { what, loc, .. } => (what, loc),
            EmitError::TooWide { bits, widest, loc, .. } => (format!("integer of {bits} bits: the target has at most {widest}"), loc),
            EmitError::Name { loc, .. } | EmitError::Storage { loc, .. } => (e.to_string(), loc),
            EmitError::Unannotated { .. } | EmitError::Misprinted(_) => return LayoutError::internal("print", e.to_string()),
        };
        let loc = if loc.line > 0 { loc } else { self.f().loc };
        LayoutError::Operation { func: self.origin.clone(), what, layout: self.request.layout.name(), loc }
    }

    pub fn print(mut self) -> Result<Kernel, LayoutError> {
        let api = self.api();
        let (program, options, ..) = self.printable(api)?;
        let out = emit(&program, &options).map_err(|e| self.unprinted(e))?;
        let lanes = self.lanes();
        Ok(Kernel {
            name: self.request.name.clone(),
            source: out.source,
            header: out.header,
            cflags: self.request.isa.flags.clone(),
            lanes,
            blocks: lanes * self.request.interleave,
            block_bytes: self.block.bytes(),
            shared_bytes: self.shared.iter().filter_map(|(_, t)| words(t)).map(|(n, b)| n * b / 8).sum(),
            operations: self.operations,
            checks: self.checks,
            left_out: self.left_out,
            dump: self.dump,
        })
    }

    /// The kernel as text for another file; the three-input gates that it has, and functions that its preamble must have.
    pub fn inner(&mut self) -> Result<(Inner, Vec<u8>, String), LayoutError> {
        let (program, options, tables, lookups) = self.printable(Default::default())?;
        let inner = emit_inner(&program, &options).map_err(|e| self.unprinted(e))?;
        Ok((inner, tables, lookups))
    }

    /// The program, and how it is printed: with `api` behind the functions and in the header; three-input gates, and functions that look up.
    fn printable(&mut self, (api_source, api_header): (String, String)) -> Result<(Program, Options, Vec<u8>, String), LayoutError> {
        let name = self.request.name.clone();
        let core = self.f().name.clone();
        self.program.funcs[self.func.0 as usize].export = Some(format!("{name}_core"));
        if let Some(mut p) = self.prepare.take() {
            p.export = Some(format!("{name}_prepare"));
            self.program.add_func(p.clone());
            self.prepare = Some(p);
        }
        let mut p = ranged(&self.program, self.f(), &self.origin, self.request.layout)?;
        let mut macros = BTreeMap::new();
        let mut tables = BTreeSet::new();
        for k in 0..p.funcs.len() {
            if lut::is_lut(&p.funcs[k]) {
                let t = lut::table_of(&p, FuncId(k as u32)).ok_or_else(|| LayoutError::internal("print", "a cell without a table"))?;
                macros.insert(p.funcs[k].name.clone(), format!("V_LUT_{t:02x}"));
                tables.insert(t);
            }
        }
        let lookups = self.lookups(&p, &mut macros)?;
        if !lookups.is_empty() {
            self.checks.push("lookups: entries read off by running on every byte".into());
        }
        // Before keys are marked for the printer: they are secrets.
        let secret_product = widest_secret_product(&p);
        if self.request.layout == Layout::Bitslice {
            let kernel = p.find(&core).unwrap_or(self.func);
            uniform_masks(&mut p, kernel, &self.request.shared);
        }
        let tables: Vec<u8> = tables.into_iter().collect();
        let vector = (self.request.layout != Layout::Scalar)
            .then(|| Vector { type_name: "V".into(), register_bytes: self.request.isa.register_bits / 8, preamble: self.request.isa.preamble(&tables) + &lookups, macros });
        let options = Options {
            provenance: format!("{core}, {} layout, {}, {} copies.", self.request.layout.name(), self.request.isa.name, self.request.interleave),
            api_source,
            api_header,
            vector,
            decisions: Decisions::without(&self.request.without).0,
            export: false,
            ..Options::new(&name, secret_product)
        };
        Ok((p, options, tables, lookups))
    }

    /// The text of functions that look bytes up, for the calls of those that apply a table.
    fn lookups(&self, p: &Program, macros: &mut BTreeMap<String, String>) -> Result<String, LayoutError> {
        let mut text = String::new();
        if self.request.layout != Layout::Vertical || self.block.bits != 8 {
            return Ok(text);
        }
        for (k, f) in p.funcs.iter().enumerate().filter(|(_, f)| lookup::table_of(p, f).is_some()) {
            let entries = lookup::entries(p, FuncId(k as u32)).ok_or_else(|| LayoutError::internal("print", "a table that does not run on every byte"))?;
            let name = format!("{}_lookup_{k}", self.request.name);
            text.push_str(&lookup::text(&self.request.isa, &name, &entries));
            macros.insert(f.name.clone(), name);
        }
        Ok(text)
    }
}

/// A key bit is the same in all blocks: its word stays a scalar in C, spread over a register where it is used. The mark that
/// says so to the printer is `public`; it is set after all checks of secrecy, and on parameters alone: the shared ones of the
/// kernel, and those of functions that get nothing else wherever they are called.
fn uniform_masks(p: &mut Program, kernel: FuncId, shared: &BTreeSet<String>) {
    let of_kernel = p.func(kernel).params.iter().map(|id| shared.contains(&p.func(kernel).local(*id).name)).collect();
    let mut uniform: BTreeMap<FuncId, Vec<bool>> = BTreeMap::from([(kernel, of_kernel)]);
    for id in (0..=kernel.0).rev().map(FuncId) {
        let Some(mine) = uniform.get(&id).cloned().filter(|_| !lut::is_lut(p.func(id))) else { continue };
        let f = &mut p.funcs[id.0 as usize];
        for (param, _) in f.params.iter().zip(mine).filter(|(_, same)| *same) {
            f.locals[param.0 as usize].public = true;
        }
        let f = p.func(id);
        santoku_ir::visit::walk_stmts(&f.body, &mut |s| {
            let Stmt::Call { func, args, .. } = s else { return };
            let same = |a: &Expr| matches!(&a.kind, ExprKind::Read(Place { base: Base::Local(id), .. }) if f.local(*id).public);
            let all = uniform.entry(*func).or_insert_with(|| vec![true; args.len()]);
            all.iter_mut().zip(args).for_each(|(u, a)| *u &= same(a));
        });
    }
}
