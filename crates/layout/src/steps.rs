//! A program on its way to a kernel, and the checks that its passes share.

use crate::bits::{self, Unequal};
use crate::error::LayoutError;
use crate::isa::Layout;
use crate::{lookup, lut};
use crate::request::Request;
use crate::transpose::Block;
use santoku_ir::{Applies, Func, FuncId, Inline, Len, LocalId, Program, Stmt, Ty, Unroll};
use santoku_ir::visit::reached;
use santoku_passes::Circuits;
use std::collections::BTreeSet;

/// Bits of all shared inputs.
const SHARED_BITS_MAX: u64 = 1 << 20;

/// A pass, and the functions before and after it.
#[cfg(test)]
pub type Compared = (&'static str, (Program, FuncId), (Program, FuncId));

/// The program as far as it is laid out.
pub struct Steps<'a> {
    pub request: &'a Request,
    /// Loops are written out up to this size.
    pub unroll: u64,
    pub circuits: &'a Circuits,
    pub program: Program,
    pub func: FuncId,
    /// Computes parameters that depend on shared ones alone.
    pub prepare: Option<Func>,
    /// The bitsliced program on words of one bit, which checks are made on.
    pub narrow: Option<(Program, FuncId)>,
    pub block: Block,
    /// Name of the function in the source.
    pub origin: String,
    /// Shared parameters of the source: name and type.
    pub shared: Vec<(String, Ty)>,
    pub operations: u64,
    pub checks: Vec<String>,
    pub left_out: Vec<String>,
    /// What was compared, for tests that change it.
    #[cfg(test)]
    pub compared: Vec<Compared>,
    /// The pass `keys-ahead` moved something.
    pub moved: bool,
    pub dump: String,
}

/// Words of a type: their number and size, where all have the same.
pub fn words(ty: &Ty) -> Option<(u32, u32)> {
    match ty {
        Ty::Word(b) => Some((1, *b)),
        Ty::Array { elem, len: Len::Const(n), .. } => words(elem).and_then(|(m, b)| Some((m.checked_mul(u32::try_from(*n).ok()?)?, b))),
        _ => None,
    }
}

impl<'a> Steps<'a> {
    pub fn start(program: &Program, func: &str, request: &'a Request, (unroll, circuits): (u64, &'a Circuits)) -> Result<Steps<'a>, LayoutError> {
        let found = program.funcs.iter().position(|f| f.name == func || f.export.as_deref() == Some(func));
        let at = found.ok_or_else(|| LayoutError::NoFunction(func.to_string()))?;
        let f = &program.funcs[at];
        let shape = |reason: &str| LayoutError::Shape { func: f.name.clone(), reason: reason.into(), loc: f.loc };
        let is_shared = |id: &&LocalId| request.shared.contains(&f.local(**id).name);
        let own: Vec<&LocalId> = f.params.iter().filter(|id| !is_shared(id)).collect();
        let ([own], [ret], true) = (own.as_slice(), f.rets.as_slice(), f.lens.is_empty()) else {
            return Err(shape("it must take one block (and shared inputs) and give one block"));
        };
        let (ty, out) = (&f.local(**own).ty, &f.local(*ret).ty);
        let (Some((n, bits)), true) = (words(ty), ty.same_shape(out)) else {
            return Err(shape("a block must be an array of words, and the result one of the same type"));
        };
        let block = Block { words: n, bits };
        if !matches!(ty, Ty::Array { elem, .. } if matches!(**elem, Ty::Word(_))) {
            return Err(shape("a block must be a flat array of words"));
        }
        if let Some(why) = block.unfit(request.layout) {
            return Err(shape(why));
        }
        let shared: Vec<(String, Ty)> = f.params.iter().filter(is_shared).map(|id| (f.local(*id).name.clone(), f.local(*id).ty.clone())).collect();
        if shared.iter().any(|(_, t)| words(t).is_none_or(|(n, b)| b % 8 != 0 || b > 64 || n == 0)) {
            return Err(shape("shared inputs must be words of whole bytes, at most eight, or arrays of them"));
        }
        let total: u64 = shared.iter().filter_map(|(_, t)| words(t)).map(|(n, b)| u64::from(n) * u64::from(b)).sum();
        if total > SHARED_BITS_MAX {
            return Err(shape("shared inputs must have at most 131072 bytes together"));
        }
        if request.layout != Layout::Scalar && f.params.iter().any(|id| f.local(*id).public) {
            return Err(shape("a public input has no register: leave `public` out, or choose `scalar`"));
        }
        if let Some(open) = reached(program, [FuncId(at as u32)]).into_iter().map(|id| program.func(id)).find(|f| f.declassifies) {
            return Err(shape(&format!("`{}` declassifies, and each block of a batch would have a verdict of its own", open.name)));
        }
        if let Some(s) = request.shared.iter().find(|s| shared.iter().all(|(n, _)| n != *s)) {
            return Err(shape(&format!("it has no parameter `{s}` to share")));
        }
        if request.layout == Layout::Vertical && !request.isa.lanes {
            return Err(LayoutError::Machine { reason: format!("{} has no lanes for a vertical layout", request.isa.name) });
        }
        let mut program = program.clone();
        program.tests.clear();
        let in_lanes = request.layout == Layout::Vertical && bits == 8;
        let bytes: Vec<bool> = program.funcs.iter().map(|f| lookup::table_of(&program, f).is_some()).collect();
        for (k, f) in program.funcs.iter_mut().enumerate() {
            f.export = None;
            f.contracts.clear();
            // What is marked `@noinline` stays a function of its own.
            let apart = if bytes[k] { in_lanes } else { f.inline == Inline::Never };
            f.inline = if apart { Inline::Never } else { Inline::Always };
            if matches!(f.applies, Some(Applies::Perm(_))) && request.layout == Layout::Bitslice {
                f.body.iter_mut().for_each(written_out);
            }
        }
        let origin = program.funcs[at].name.clone();
        Ok(Steps { request, unroll, circuits, program, origin, func: FuncId(at as u32), prepare: None, narrow: None, block, shared, operations: 0, checks: vec![], left_out: vec![], #[cfg(test)] compared: vec![], moved: false, dump: String::new() })
    }

    pub fn f(&self) -> &Func {
        self.program.func(self.func)
    }

    /// Names of the functions that are laid out, callees first: all but cells and tables that the machine looks up in.
    pub fn laid_out(&self) -> Vec<String> {
        let apart = |f: &&Func| lut::is_lut(f) || lookup::table_of(&self.program, f).is_some();
        self.program.funcs.iter().filter(|f| !apart(f)).map(|f| f.name.clone()).collect()
    }

    pub fn shared_ids(&self) -> BTreeSet<LocalId> {
        let f = self.f();
        f.params.iter().filter(|id| self.request.shared.contains(&f.local(**id).name)).copied().collect()
    }

    /// A step that the layout needs: refused where it cannot be checked.
    pub fn same(&mut self, step: &'static str, (before, f): (&Program, FuncId), (after, g): (&Program, FuncId)) -> Result<(), LayoutError> {
        #[cfg(test)]
        self.compared.push((step, (before.clone(), f), (after.clone(), g)));
        match bits::same(before, f, after, g) {
            Ok(gates) => {
                self.checks.push(format!("{step}: equal bit by bit, {gates} gates"));
                verified(step, after)
            }
            Err(why) => Err(self.unequal(step, before.func(f), why)),
        }
    }

    /// A step that only makes the kernel faster: false, and nothing is to be changed, where it cannot be checked.
    pub fn optional(&mut self, step: &'static str, before: (&Program, FuncId), after: (&Program, FuncId)) -> Result<bool, LayoutError> {
        match self.same(step, before, after) {
            Ok(()) => Ok(true),
            Err(LayoutError::Operation { what, .. }) => {
                self.left_out.push(format!("{step}: the check has no form of {what}"));
                Ok(false)
            }
            Err(LayoutError::Unchecked { reason, .. }) => {
                self.left_out.push(format!("{step}: {reason}"));
                Ok(false)
            }
            Err(other) => Err(other),
        }
    }

    pub fn unequal(&self, step: &'static str, f: &Func, why: Unequal) -> LayoutError {
        let func = self.origin.clone();
        match why {
            Unequal::Differ(_) => LayoutError::internal(step, why.to_string()),
            Unequal::NoForm { what, loc } => {
                let loc = if loc.line > 0 { loc } else { f.loc };
                LayoutError::Operation { func, what, layout: self.request.layout.name(), loc }
            }
            Unequal::Undecided(_) | Unequal::TooBig => LayoutError::Unchecked { func, step, reason: why.to_string(), loc: f.loc },
        }
    }

    pub fn lanes(&self) -> u32 {
        match self.request.layout {
            Layout::Scalar => 1,
            Layout::Vertical => self.request.isa.register_bits / self.block.bits,
            Layout::Bitslice => self.request.isa.register_bits,
        }
    }
}

/// A loop whose rounds have to be written out, however many there are.
fn written_out(s: &mut Stmt) {
    if let Stmt::For { unroll, .. } = s {
        *unroll = Unroll::Always;
    }
}

pub fn verified(step: &'static str, p: &Program) -> Result<(), LayoutError> {
    match santoku_ir::verify::verify(p).into_iter().next() {
        Some(e) => Err(LayoutError::internal(step, e.to_string())),
        None => Ok(()),
    }
}
