//! From one-block source to C: the steps in order, and the text around the kernel.

use crate::ahead::{ahead, hoist};
use crate::error::LayoutError;
use crate::isa::{Isa, Layout};
use crate::transpose::{functions, Block};
use crate::bits::Unequal;
use crate::{bits, cells, columns, count, graph, interleave, lookup, lut, slice, tables, widen};
use santoku_backend_c::{emit, EmitError, Options, Vector};
use santoku_circuit::Basis;
use santoku_ir::{build::FuncBuilder, Applies, Func, FuncId, Inline, Len, LocalId, Place, Program, Stmt, Ty, Unroll};
use santoku_passes::{circuits, optimise, Circuits, Level, Observer, PassOptions, Silent};
use santoku_prove::products::widest_secret_product;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// Loops are unrolled when their copies together stay within this size (see `PassOptions`): those over the words of a block,
/// not those over rounds.
const UNROLL: u64 = 400;
/// Where a loop as it is has no form in the layout, rounds are written out up to this size.
const UNROLL_ALL: u64 = 12_000;
/// Bits of all shared inputs.
const SHARED_BITS_MAX: u64 = 1 << 20;

/// What to build.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    pub layout: Layout,
    pub isa: Isa,
    /// Copies of the computation, at least 1.
    pub interleave: u32,
    /// Statements of one copy before the next copy's, at least 1.
    pub granularity: usize,
    /// Parameters (by name) that all blocks share: keys. All others but one block are refused.
    pub shared: BTreeSet<String>,
    /// C name of the kernel; prefixes everything in its file.
    pub name: String,
}

/// A C file and how to call what is in it.
///
/// `void NAME_setup(struct NAME_keys *k, const uint8_t *shared)`: shared inputs in parameter order, words little-endian.
/// `void NAME_blocks(uint8_t *out, const uint8_t *in, const struct NAME_keys *k, size_t batches)`: `blocks` blocks a batch.
/// `void NAME_sliced(void *out, const void *in, const struct NAME_keys *k, size_t batches)`: without transposition; registers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kernel {
    pub name: String,
    /// Text of `NAME.c`.
    pub source: String,
    /// Text of `NAME.h`.
    pub header: String,
    /// Instruction-set flags for gcc and clang.
    pub cflags: Vec<String>,
    /// Blocks in the registers of one copy.
    pub lanes: u32,
    /// Blocks per batch: lanes times copies.
    pub blocks: u32,
    pub block_bytes: u32,
    pub shared_bytes: u32,
    /// Operations on registers of one copy, which computes `lanes` blocks: gates, where the layout is `bitslice`.
    pub operations: u64,
    /// What was checked on the way.
    pub checks: Vec<String>,
    /// Steps that were left out because they could not be checked, and why; each only makes the kernel faster.
    pub left_out: Vec<String>,
}

/// Builds the kernel of `func` (by name or C name).
///
/// # Errors
/// See [`LayoutError`].
pub fn build(program: &Program, func: &str, request: &Request) -> Result<Kernel, LayoutError> {
    build_watched(program, func, request, &mut Silent)
}

/// As [`build`]; `watch` is told of searches for circuits of tables.
///
/// # Errors
/// As [`build`].
pub fn build_watched(program: &Program, func: &str, request: &Request, watch: &mut dyn Observer) -> Result<Kernel, LayoutError> {
    let circuits = circuits(program, watch);
    let build_with = |unroll: u64| build_with(program, func, request, (unroll, &circuits));
    match build_with(UNROLL) {
        // Indices, rotations and constants that change from round to round are known once the rounds are written out.
        Err(first @ LayoutError::Operation { .. }) => match build_with(UNROLL_ALL) {
            Err(LayoutError::Internal { step, reason }) => Err(LayoutError::Internal { step, reason }),
            Err(_) => Err(first),
            made => made,
        },
        made => made,
    }
}

fn build_with(program: &Program, func: &str, request: &Request, (unroll, circuits): (u64, &Circuits)) -> Result<Kernel, LayoutError> {
    let mut made = Steps::start(program, func, request)?;
    made.straighten(unroll, circuits)?;
    if request.layout == Layout::Vertical {
        made.widen()?;
    }
    if request.isa.ternary.is_some() && request.layout != Layout::Scalar {
        made.keys_ahead()?;
        made.cells()?;
    }
    if request.layout == Layout::Bitslice {
        made.bitslice()?;
    }
    made.operations = count::operations(&made.program, made.f());
    made.interleave()?;
    made.print()
}

struct Steps<'a> {
    request: &'a Request,
    program: Program,
    func: FuncId,
    /// Computes parameters that depend on shared ones alone.
    prepare: Option<Func>,
    /// The bitsliced program on words of one bit, which checks are made on.
    narrow: Option<(Program, FuncId)>,
    block: Block,
    /// Name of the function in the source.
    origin: String,
    /// Shared parameters of the source: name and type.
    shared: Vec<(String, Ty)>,
    operations: u64,
    checks: Vec<String>,
    left_out: Vec<String>,
}

/// Words of a type: their number and size, where all have the same.
fn words(ty: &Ty) -> Option<(u32, u32)> {
    match ty {
        Ty::Word(b) => Some((1, *b)),
        Ty::Array { elem, len: Len::Const(n), .. } => words(elem).and_then(|(m, b)| Some((m.checked_mul(u32::try_from(*n).ok()?)?, b))),
        _ => None,
    }
}

impl<'a> Steps<'a> {
    fn start(program: &Program, func: &str, request: &'a Request) -> Result<Steps<'a>, LayoutError> {
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
        if let Some(s) = request.shared.iter().find(|s| shared.iter().all(|(n, _)| n != *s)) {
            return Err(shape(&format!("it has no parameter `{s}` to share")));
        }
        if request.layout == Layout::Vertical && !request.isa.lanes {
            return Err(LayoutError::Machine { reason: format!("{} has no lanes for a vertical layout", request.isa.name) });
        }
        let mut program = program.clone();
        program.tests.clear();
        let in_lanes = request.layout == Layout::Vertical && bits == 8;
        let bytes: Vec<bool> = program.funcs.iter().map(|f| in_lanes && lookup::table_of(&program, f).is_some()).collect();
        for (k, f) in program.funcs.iter_mut().enumerate() {
            f.export = None;
            f.contracts.clear();
            f.inline = if bytes[k] { Inline::Never } else { Inline::Always };
            if matches!(f.applies, Some(Applies::Perm(_))) && request.layout == Layout::Bitslice {
                f.body.iter_mut().for_each(written_out);
            }
        }
        let origin = program.funcs[at].name.clone();
        Ok(Steps { request, program, origin, func: FuncId(at as u32), prepare: None, narrow: None, block, shared, operations: 0, checks: vec![], left_out: vec![] })
    }

    fn f(&self) -> &Func {
        self.program.func(self.func)
    }

    fn shared_ids(&self) -> BTreeSet<LocalId> {
        let f = self.f();
        f.params.iter().filter(|id| self.request.shared.contains(&f.local(**id).name)).copied().collect()
    }

    /// Tables in the machine's gates, calls inlined, short loops unrolled, one operation per statement.
    fn straighten(&mut self, unroll: u64, circuits: &Circuits) -> Result<(), LayoutError> {
        let name = self.f().name.clone();
        let basis = if self.request.isa.ternary.is_some() && self.request.layout != Layout::Scalar { Basis::Lut3 } else { Basis::Two };
        let p = columns::retarget(&self.program, basis)?;
        let mut options = PassOptions::new(Level::O2, 64);
        options.unroll_size_max = unroll;
        options.keep_tests = false;
        options.roots = BTreeSet::from([name.clone()]);
        options.circuits.clone_from(circuits);
        // Where each bit has a register, a bit that moves is another name, and exchanges would be gates.
        let sliced = (self.request.layout == Layout::Bitslice).then(|| "perms".to_string());
        let without = sliced.into_iter().chain(["derive-width".to_string()]).collect();
        let done = optimise(&p, Level::O2, &without, &options).map_err(|e| LayoutError::internal("passes", e.to_string()))?;
        let mut p = done.program;
        let id = p.find(&name).ok_or_else(|| LayoutError::internal("passes", "the function is gone"))?;
        let before = p.clone();
        tables::of_counters(&mut p, id);
        let mut f = p.func(id).clone();
        graph::normalise(&p, &mut f);
        p.funcs[id.0 as usize] = f;
        let kept = self.optional("straighten", (&before, id), (&p, id))?;
        (self.program, self.func) = (if kept { p } else { before }, id);
        Ok(())
    }

    /// Words narrower than a lane, in lanes. What has no such form stays, and is refused where it has no instruction.
    fn widen(&mut self) -> Result<(), LayoutError> {
        let Some(p) = widen::widen(&self.program, self.func, self.block.bits) else { return Ok(()) };
        let id = p.find(&self.f().name).ok_or_else(|| LayoutError::internal("widen", "the function is gone"))?;
        let (before, f) = (self.program.clone(), self.func);
        self.same("widen", (&before, f), (&p, id))?;
        (self.program, self.func) = (p, id);
        Ok(())
    }

    /// A step that the layout needs: refused where it cannot be checked.
    fn same(&mut self, step: &'static str, (before, f): (&Program, FuncId), (after, g): (&Program, FuncId)) -> Result<(), LayoutError> {
        match bits::same(before, f, after, g) {
            Ok(gates) => {
                self.checks.push(format!("{step}: equal bit by bit, {gates} gates"));
                verified(step, after)
            }
            Err(why) => Err(self.unequal(step, before.func(f), why)),
        }
    }

    /// A step that only makes the kernel faster: false, and nothing is to be changed, where it cannot be checked.
    fn optional(&mut self, step: &'static str, before: (&Program, FuncId), after: (&Program, FuncId)) -> Result<bool, LayoutError> {
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

    fn unequal(&self, step: &'static str, f: &Func, why: Unequal) -> LayoutError {
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

    /// Masks of loops move ahead; what depends on keys alone moves out.
    fn keys_ahead(&mut self) -> Result<(), LayoutError> {
        let shared = self.shared_ids();
        let before = self.program.clone();
        let mut f = self.f().clone();
        if ahead(&self.program, &mut f, &shared) == 0 {
            return Ok(());
        }
        graph::normalise(&self.program, &mut f);
        self.program.funcs[self.func.0 as usize] = f.clone();
        let (p, id) = (self.program.clone(), self.func);
        if !self.optional("keys-ahead", (&before, id), (&p, id))? {
            self.program = before;
            return Ok(());
        }
        if self.request.layout == Layout::Bitslice {
            return Ok(());
        }
        let shared = self.shared_ids();
        let Some(prepare) = hoist(&self.program, &mut f, &shared) else { return Ok(()) };
        graph::normalise(&self.program, &mut f);
        let before = self.program.clone();
        self.program.funcs[self.func.0 as usize] = f;
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

    fn cells(&mut self) -> Result<(), LayoutError> {
        match cells::cover(&self.program, self.func)? {
            Ok(covered) => (self.program, self.func) = covered,
            Err(why) => {
                self.left_out.push(format!("cells: {why}"));
                return Ok(());
            }
        }
        self.checks.push("cells: cut out with equal terms, tables on all inputs".into());
        verified("cells", &self.program)
    }

    fn bitslice(&mut self) -> Result<(), LayoutError> {
        // The check is made on words of one bit, by the code that makes words of 64.
        let (p, id) = slice::bitslice(&self.program, self.func, 1, true)?;
        let (before, f) = (self.program.clone(), self.func);
        self.same("bitslice", (&before, f), (&p, id))?;
        self.narrow = Some((p, id));
        (self.program, self.func) = slice::bitslice(&self.program, self.func, 64, true)?;
        verified("bitslice", &self.program)
    }

    fn interleave(&mut self) -> Result<(), LayoutError> {
        let mut shared = self.request.shared.clone();
        if let Some(p) = &self.prepare {
            shared.extend(p.rets.iter().map(|id| p.local(*id).name.clone()));
        }
        let (k, granularity) = (self.request.interleave, self.request.granularity);
        if let Some((p, id)) = self.narrow.take() {
            let narrow = interleave::copies(&p, id, &shared, k, granularity)?;
            self.same("interleave", (&narrow.reference, narrow.func), (&narrow.program, narrow.func))?;
            let wide = interleave::copies(&self.program, self.func, &shared, k, granularity)?;
            (self.program, self.func) = (wide.program, wide.func);
        } else {
            (self.program, self.func) = interleave::interleave(&self.program, self.func, &shared, k, granularity)?;
            self.checks.push(format!("interleave: {k} copies equal by terms"));
        }
        verified("interleave", &self.program)
    }

    fn lanes(&self) -> u32 {
        match self.request.layout {
            Layout::Scalar => 1,
            Layout::Vertical => self.request.isa.register_bits / self.block.bits,
            Layout::Bitslice => self.request.isa.register_bits,
        }
    }

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

    fn print(mut self) -> Result<Kernel, LayoutError> {
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
            uniform_masks(&mut p, &self.request.shared);
        }
        let tables: Vec<u8> = tables.into_iter().collect();
        let vector = (self.request.layout != Layout::Scalar)
            .then(|| Vector { type_name: "V".into(), preamble: self.request.isa.preamble(&tables) + &lookups, macros });
        let (api_source, api_header) = self.api();
        let options = Options {
            provenance: format!("{core}, {} layout, {}, {} copies.", self.request.layout.name(), self.request.isa.name, self.request.interleave),
            api_source,
            api_header,
            vector,
            export: false,
            ..Options::new(&name, secret_product)
        };
        let out = emit(&p, &options).map_err(|e| self.unprinted(e))?;
        let lanes = self.lanes();
        Ok(Kernel {
            name,
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
        })
    }

    /// The text of functions that look bytes up, for the calls of those that apply a table.
    fn lookups(&self, p: &Program, macros: &mut BTreeMap<String, String>) -> Result<String, LayoutError> {
        let mut text = String::new();
        if self.request.layout != Layout::Vertical || self.block.bits != 8 {
            return Ok(text);
        }
        for (k, f) in p.funcs.iter().enumerate().filter(|(_, f)| lookup::table_of(p, f).is_some()) {
            let entries = lookup::entries(p, FuncId(k as u32)).ok_or_else(|| LayoutError::internal("print", "a table that does not run on every byte"))?;
            let name = format!("stk_lookup_{k}");
            text.push_str(&lookup::text(&self.request.isa, &name, &entries));
            macros.insert(f.name.clone(), name);
        }
        Ok(text)
    }

    /// Key structure, set-up, and the two batch functions.
    fn api(&self) -> (String, String) {
        let (name, layout) = (&self.request.name, self.request.layout);
        let register = if layout == Layout::Scalar { format!("typedef uint{}_t V;\n", self.block.bits.next_power_of_two()) } else { String::new() };
        let mut source = register;
        let prepared: Vec<(String, Ty)> = self.prepare.iter().flat_map(|p| p.rets.iter().map(|id| (p.local(*id).name.clone(), p.local(*id).ty.clone()))).collect();
        let element = |bits: u32| match layout {
            Layout::Scalar => format!("uint{}_t", bits.next_power_of_two().max(8)),
            Layout::Vertical => "V".to_string(),
            Layout::Bitslice => "uint64_t".to_string(),
        };
        let _ = writeln!(source, "struct {name}_keys {{");
        for (n, t) in self.shared.iter().chain(&prepared) {
            let (_, bits) = words(t).unwrap_or((0, 8));
            let last = if layout == Layout::Bitslice { format!("[{bits}]") } else { String::new() };
            let _ = writeln!(source, "    {} {}{}{last};", element(bits), safe(n), dims(t));
        }
        if self.shared.is_empty() {
            source.push_str("    uint8_t none;\n");
        }
        source.push_str("};\n\n");
        source.push_str(&self.setup(&element, &prepared));
        source.push_str(&functions(name, self.block, layout, &self.request.isa));
        source.push_str(&self.batches(&prepared));
        let header = format!(
            "struct {name}_keys;\nsize_t {name}_keys_size(void);\nvoid {name}_setup(struct {name}_keys *k, const uint8_t *shared);\n\
             void {name}_blocks(uint8_t *out, const uint8_t *in, const struct {name}_keys *k, size_t batches);\n\
             void {name}_sliced(void *out, const void *in, const struct {name}_keys *k, size_t batches);\n\n"
        );
        (source, header)
    }

    fn setup(&self, element: &dyn Fn(u32) -> String, prepared: &[(String, Ty)]) -> String {
        let name = &self.request.name;
        let mut t = format!("size_t {name}_keys_size(void)\n{{\n    return sizeof(struct {name}_keys);\n}}\n\n");
        let _ = writeln!(t, "void {name}_setup(struct {name}_keys *k, const uint8_t *shared)\n{{");
        if self.shared.is_empty() {
            t.push_str("    (void)shared;\n    k->none = 0;\n");
        }
        let mut offset = 0;
        for (n, ty) in &self.shared {
            let (count, bits) = words(ty).unwrap_or((0, 8));
            let (bytes, ptr) = (bits / 8, format!("(({} *)&k->{})", element(bits), safe(n)));
            let mut word = String::new();
            for j in 0..bytes {
                let _ = write!(word, "{}(uint64_t)shared[{offset} + {bytes} * i + {j}] << {}", if j > 0 { " | " } else { "" }, 8 * j);
            }
            let store = match self.request.layout {
                Layout::Scalar => format!("{ptr}[i] = ({})w;", element(bits)),
                Layout::Vertical => format!("{ptr}[i] = V_SET{bits}(w);"),
                Layout::Bitslice => format!("for (j = 0; j < {bits}; j++) {{ {ptr}[{bits} * i + j] = 0 - (w >> j & 1); }}"),
            };
            let j = if self.request.layout == Layout::Bitslice { ", j" } else { "" };
            let _ = writeln!(t, "    {{\n        size_t i{j};\n        for (i = 0; i < {count}; i++) {{\n            uint64_t w = {word};\n            {store}\n        }}\n    }}");
            offset += count * bytes;
        }
        if !prepared.is_empty() {
            let outs = prepared.iter().map(|(n, _)| format!("k->{}", safe(n)));
            let ins = self.shared.iter().map(|(n, _)| format!("k->{}", safe(n)));
            let _ = writeln!(t, "    {name}_prepare({});", outs.chain(ins).collect::<Vec<_>>().join(", "));
        }
        t.push_str("}\n\n");
        t
    }

    fn batches(&self, prepared: &[(String, Ty)]) -> String {
        let (name, k, layout) = (&self.request.name, self.request.interleave, self.request.layout);
        let n = self.block.registers(self.request.layout);
        let lanes = self.lanes();
        let bytes = lanes * self.block.bytes();
        let call = |out: &str, input: &str| {
            let pick = |base: &str| (0..k).map(|c| format!("(void *)({base} + {})", c * n)).collect::<Vec<_>>();
            let keys = self.shared.iter().chain(prepared).map(|(n, t)| match t {
                Ty::Word(_) if layout != Layout::Bitslice => format!("k->{}", safe(n)),
                _ => format!("(void *)k->{}", safe(n)),
            });
            [pick(out), pick(input), keys.collect()].concat().join(", ")
        };
        let total = k * n;
        let unused = if self.shared.is_empty() { "    (void)k;\n" } else { "" };
        let mut t = format!(
            "void {name}_sliced(void *out, const void *in, const struct {name}_keys *k, size_t batches)\n{{\n    V *o = out;\n    V *p = (void *)in;\n{unused}    \
             for (; batches > 0; batches--, o += {total}, p += {total}) {{\n        {name}_core({});\n    }}\n}}\n\n",
            call("o", "p")
        );
        let _ = write!(
            t,
            "void {name}_blocks(uint8_t *out, const uint8_t *in, const struct {name}_keys *k, size_t batches)\n{{\n    V o[{total}], p[{total}];\n    int c;\n{unused}    \
             for (; batches > 0; batches--, out += {step}, in += {step}) {{\n        for (c = 0; c < {k}; c++) {{ {name}_in(p + c * {n}, in + c * {bytes}); }}\n        \
             {name}_core({});\n        for (c = 0; c < {k}; c++) {{ {name}_out(out + c * {bytes}, o + c * {n}); }}\n    }}\n}}\n",
            call("o", "p"),
            step = k * bytes
        );
        t
    }
}

/// A loop whose rounds have to be written out, however many there are.
fn written_out(s: &mut Stmt) {
    if let Stmt::For { unroll, .. } = s {
        *unroll = Unroll::Always;
    }
}

/// The proven range of every counter and index written in.
fn ranged(program: &Program, f: &Func, name: &str, layout: Layout) -> Result<Program, LayoutError> {
    let done = optimise(program, Level::O0, &BTreeSet::new(), &PassOptions::new(Level::O0, 64));
    let done = done.map_err(|e| LayoutError::internal("ranges", e.to_string()))?;
    match done.steps.iter().flat_map(|s| s.reverted.iter().chain(&s.believed)).next() {
        Some(_) => Err(LayoutError::Operation {
            func: name.to_string(),
            what: "place for contracts and assertions, without which the ranges of its integers are not found".into(),
            layout: layout.name(),
            loc: f.loc,
        }),
        None => Ok(done.program),
    }
}

fn verified(step: &'static str, p: &Program) -> Result<(), LayoutError> {
    match santoku_ir::verify::verify(p).into_iter().next() {
        Some(e) => Err(LayoutError::internal(step, e.to_string())),
        None => Ok(()),
    }
}

/// A key bit is the same in all blocks: its word stays a scalar in C, spread over a register where it is used. The mark that
/// says so to the printer is `public`; it is set after all checks of secrecy, and on parameters alone.
fn uniform_masks(p: &mut Program, shared: &BTreeSet<String>) {
    for f in &mut p.funcs {
        let params = f.params.clone();
        for id in params {
            let l = &mut f.locals[id.0 as usize];
            l.public |= shared.contains(&l.name);
        }
    }
}

fn dims(t: &Ty) -> String {
    match t {
        Ty::Array { elem, len: Len::Const(n), .. } => format!("[{n}]{}", dims(elem)),
        _ => String::new(),
    }
}

/// A C identifier.
fn safe(name: &str) -> String {
    format!("in_{}", name.replace(|c: char| !c.is_ascii_alphanumeric(), "_"))
}
