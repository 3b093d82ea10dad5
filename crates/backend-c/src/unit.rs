//! A whole C unit: includes, checks, helpers, types, tables, prototypes, functions, and its header.
//!
//! Trusted: c.

use crate::EmitError;
use crate::alias::InPlace;
use crate::clear::{clearing, Each};
use crate::context::{storage, FnCx, Outer, Res, Signature, StorageError, UnitCx};
use crate::ctype::{literal, word_storage, CInt, CTy};
use crate::exported::{Exported, Role};
use crate::func::doc_lines;
use crate::lanes;
use crate::merge::in_one;
use crate::names::Names;
use crate::options::{Clears, Options, Placement, Stack};
use crate::preamble::{helpers_for, in_parts, mentions, products, wide_types, API, ASSUMED, ASSUMPTIONS, MEMORY, NAMES, NOINLINE, PLACEMENT};
use crate::printed::printed_functions;
use crate::settle::settled;
use crate::together::{helpers_in, renaming};
use santoku_c_judge::{Compared, Piece, Pieces};
use santoku_ir::visit::walk_places;
use santoku_ir::{Base, ConstValue, Func, FuncId, Inline, Loc, LocalKind, Program, Range, StructDef, StructId, Ty};
use std::collections::BTreeMap;
use std::fmt::Write;

/// The printed unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Emitted {
    pub source: String,
    pub header: String,
    /// The C name of every function that is printed.
    pub functions: BTreeMap<FuncId, String>,
    /// Functions that the program exports: those of the header, if it has any.
    pub exported: Vec<Exported>,
    /// What was read back from the text and compared with the program.
    pub compared: Compared,
}

/// A program as text for a file that has other functions, too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inner {
    /// Types, tables and functions alone: a source without what stands before them.
    pub text: String,
    /// The C names of all functions.
    pub names: Vec<String>,
    /// Bytes of stack that the functions that get secrets are guessed to use.
    pub stack: Stack,
}

/// As [`emit`], for another file.
///
/// # Errors
/// As [`emit`].
pub fn emit_inner(program: &Program, opts: &Options) -> Result<Inner, EmitError> {
    let (emitted, _, text, stack) = emit_parts(program, opts)?;
    Ok(Inner { text, names: emitted.functions.into_values().collect(), stack })
}

/// Prints `program` as one C file and its header.
///
/// Every integer occurrence must carry its proven range. Functions with an export name are external
/// when `opts.export`; all others are `static`.
///
/// # Errors
/// See [`EmitError`].
pub fn emit(program: &Program, opts: &Options) -> Result<Emitted, EmitError> {
    emit_in_pieces(program, opts).map(|(emitted, _)| emitted)
}

/// As [`emit`], with the parts that were read back.
///
/// # Errors
/// As [`emit`].
pub fn emit_in_pieces(program: &Program, opts: &Options) -> Result<(Emitted, Pieces), EmitError> {
    emit_parts(program, opts).map(|(emitted, pieces, ..)| (emitted, pieces))
}

/// Text of the file, what was read back, the text of types, tables and functions, and their stack.
fn emit_parts(program: &Program, opts: &Options) -> Result<(Emitted, Pieces, String, Stack), EmitError> {
    let meant = program;
    let program = &settled(program);
    let unit = prepare(program, opts)?;
    let mut pieces = pieces(&unit);
    let printed = printed_functions(program);
    let mut bodies = String::new();
    let mut prototypes = String::new();
    let (mut functions, mut exported) = (BTreeMap::new(), vec![]);
    let mut own_bytes = vec![crate::estimate::Own::default(); program.funcs.len()];
    for (k, f) in program.funcs.iter().enumerate() {
        let Some(root) = printed[k].filter(|_| macro_of(opts, f).is_none()) else { continue };
        let external = opts.export && root;
        functions.insert(FuncId(k as u32), unit.signatures[k].name.clone());
        let cx = FnCx::new(&unit, FuncId(k as u32))?;
        own_bytes[k] = crate::estimate::Own::of(&cx);
        if external || root && f.export.is_some() {
            let signature = &unit.signatures[k];
            let own = Exported::of(&cx, f, signature)?;
            if external {
                let _ = writeln!(prototypes, "{}{};\n", header_doc(f, &own, opts), cx.declaration(signature, &signature.written_outside())?);
            }
            exported.push(own);
        }
        let outer_linkage = if opts.renamed { "STK_API " } else { "" };
        let signature = &unit.signatures[k];
        let outer = if signature.outer.is_some() { cx.clearing(signature, outer_linkage)? } else { String::new() };
        let linkage = match (external, f.inline) {
            _ if signature.outer.is_some() => "static STK_BODY ",
            (true, _) => outer_linkage,
            // Code by hand that calls it holds no part of it: each is certified for itself.
            (false, _) if f.export.is_some() && !opts.export => "STK_NOINLINE static ",
            (false, Inline::Never) => "STK_NOINLINE static ",
            (false, Inline::Auto | Inline::Always) => "static ",
        };
        let names = cx.names[..meant.funcs[k].locals.len()].to_vec();
        let head = cx.declaration(signature, &signature.written())?;
        let text = cx.define(signature, linkage)?;
        bodies.push_str(&lanes::instead(&opts.lanes, f, &text, &format!("{linkage}{head}"), &names));
        bodies.push('\n');
        bodies.push_str(&outer);
        pieces.functions.push(Piece { func: FuncId(k as u32), text, names, outer });
    }
    let types = types(&unit);
    pieces.types.clone_from(&types);
    pieces.tables = tables(&unit);
    let compared = santoku_c_judge::compare(meant, &pieces).map_err(EmitError::Misprinted)?;
    // Each type is defined once: in the header, if that names one.
    let public = unit.struct_names.iter().any(|n| mentions(&prototypes, n));
    let (public, private) = if public { (types, String::new()) } else { (String::new(), types) };
    let clearing = opts.clears != Clears::Nothing && (!opts.export || bodies.contains("STK_CLEAR("));
    let header = header(opts, &prototypes, (&public, clearing));
    let internal = functions.iter().filter(|(id, name)| program.func(**id).export.as_ref() != Some(*name)).map(|(_, name)| name.clone());
    let mut names: Vec<String> = internal.collect();
    if !private.is_empty() {
        names.extend((0..program.structs.len()).filter(|k| unit.struct_fields[*k].is_some()).map(|k| unit.struct_names[k].clone()));
    }
    names.extend(lanes::names(opts));
    let estimate = crate::estimate::estimated(program, &own_bytes);
    // Code that calls functions by hand clears as much as each of them needs.
    let mut each = vec![];
    for (k, f) in program.funcs.iter().enumerate().filter(|(k, _)| !opts.export && opts.clears == Clears::Estimated && printed[*k].is_some()) {
        let kernels = lanes::reaches(program, opts, k);
        each.extend(f.export.clone().map(|name| Each { name, stack: crate::estimate::estimated_of(program, &own_bytes, k), kernels }));
    }
    let body = format!("{private}{}{bodies}", pieces.tables);
    let source = source(&unit, (&body, names), &header, (estimate, each));
    Ok((Emitted { source, header, functions, exported, compared }, pieces, body, estimate))
}

/// What the text is read back with.
fn pieces(unit: &UnitCx<'_>) -> Pieces {
    let name = |k: usize| unit.struct_fields[k].is_some().then(|| unit.struct_names[k].clone());
    let mut macros: BTreeMap<String, Vec<FuncId>> = BTreeMap::new();
    for (f, name) in unit.opts.vector.iter().flat_map(|v| &v.macros) {
        if let Some(k) = unit.index.get(f) {
            macros.entry(name.clone()).or_default().push(FuncId(*k as u32));
        }
    }
    Pieces {
        structs: (0..unit.struct_names.len()).map(name).collect(),
        consts: unit.const_names.clone(),
        lanes: unit.opts.vector.as_ref().map(|v| v.type_name.clone()),
        macros,
        shared: unit.in_place.iter().map(|p| p.all().clone()).collect(),
        ..Pieces::default()
    }
}

/// Refuses what C cannot have of the functions that are printed, whatever the passes make of their bodies: names, and types of
/// parameters and results. The ranges of results need not be written.
///
/// # Errors
/// See [`EmitError`]; the first in order of the program.
pub fn interface(program: &Program, opts: &Options) -> Result<(), EmitError> {
    let mut outside = program.clone();
    outside.consts.clear();
    // A module that exports nothing is printed where others use it.
    let exports = program.funcs.iter().any(|f| f.export.is_some());
    let printed = if exports { printed_functions(program) } else { vec![None; program.funcs.len()] };
    for (f, printed) in outside.funcs.iter_mut().zip(printed) {
        f.body.clear();
        if printed.is_none() {
            (f.lens, f.params, f.rets, f.locals) = Default::default();
        }
        let own: Vec<bool> = f.locals.iter().map(|l| matches!(l.kind, LocalKind::Len | LocalKind::Param | LocalKind::Ret)).collect();
        for (l, own) in f.locals.iter_mut().zip(own) {
            l.ty = if own { narrow_where_open(&l.ty) } else { Ty::Bool };
        }
    }
    prepare(&outside, opts).map(drop)
}

/// The type with the narrowest range where none is written.
fn narrow_where_open(ty: &Ty) -> Ty {
    match ty {
        Ty::Int(None) => Ty::Int(Some(Range::new(0, 0))),
        Ty::Array { elem, len, ranges } => Ty::Array { elem: Box::new(narrow_where_open(elem)), len: len.clone(), ranges: ranges.clone() },
        other => other.clone(),
    }
}

fn prepare<'a>(program: &'a Program, opts: &'a Options) -> Res<UnitCx<'a>> {
    let mut globals = Names::default();
    for (name, _) in crate::preamble::HELPERS {
        globals.reserve(name);
    }
    // Names that the user chose come first; what we name steps aside.
    for (f, name) in program.funcs.iter().filter_map(|f| Some((f, f.export.as_ref()?))) {
        if let Some(why) = crate::names::unusable(name).filter(|_| macro_of(opts, f).is_none()) {
            return Err(EmitError::Name { name: name.clone(), why: why.into(), loc: f.loc });
        }
        globals.reserve(name);
    }
    let struct_names = program.structs.iter().map(|s| globals.fresh(&s.name)).collect();
    let const_names = program.consts.iter().map(|c| globals.fresh(&c.name)).collect();
    let mut unit = UnitCx {
        program,
        opts,
        signatures: vec![],
        in_place: vec![],
        globals,
        struct_names,
        struct_fields: vec![],
        const_names,
        const_types: vec![],
        const_used: vec![],
        index: program.funcs.iter().enumerate().map(|(k, f)| (f.name.clone(), k)).collect(),
    };
    for (k, s) in program.structs.iter().enumerate() {
        let fields = match (struct_fields(&unit, s), struct_used_at(program, StructId(k as u32))) {
            (Ok(fields), _) => Some(fields),
            (Err((what, e)), Some(loc)) => return Err(e.of_item(&unit, &format!("field `{}.{what}`", s.name), loc)),
            (Err(_), None) => None,
        };
        unit.struct_fields.push(fields);
    }
    let used = used_constants(program);
    for (k, c) in program.consts.iter().enumerate() {
        // Constants that no function reads may be of any size: nothing is printed for them.
        let t = if used[k] { const_type(&unit, &c.ty, &c.value) } else { Ok(CTy::Int(crate::ctype::U32)) };
        let t = t.map_err(|e| e.of_item(&unit, &format!("constant `{}`", c.name), c.loc))?;
        unit.const_types.push(t);
    }
    unit.const_used = used;
    for f in &program.funcs {
        let renamed = opts.renamed && opts.export && f.export.is_some() && macro_of(opts, f).is_none();
        let outer = f.export.clone().filter(|_| clears(opts, f)).map(|name| Outer { name, renamed });
        let name = match macro_of(opts, f).or_else(|| f.export.clone().filter(|_| outer.is_none())) {
            Some(n) => n,
            None => unit.globals.fresh(&f.name),
        };
        let renamed = renamed && outer.is_none();
        let sizes = opts.export && f.export.is_some() && macro_of(opts, f).is_none();
        unit.signatures.push(Signature { outer, sizes, ..signature(&unit, f, name, renamed)? });
        let mut done = (opts.decisions.in_place)(f, &unit.in_place);
        if let Some(one) = (opts.decisions.one_object)(f).map(|pair| in_one(f, pair)) {
            done = done.and(&InPlace::of(&one, &unit.in_place));
        }
        unit.in_place.push(done);
    }
    Ok(unit)
}

/// Names and types of the fields of a struct, or the field that has none.
fn struct_fields(unit: &UnitCx<'_>, s: &StructDef) -> Result<Vec<(String, CTy)>, (String, StorageError)> {
    let mut names = Names::default();
    let mut fields = vec![];
    for (n, t) in &s.fields {
        let cty = storage(unit, t, false).map_err(|e| (n.clone(), e))?;
        if let CTy::Struct(id) = cty.leaf() {
            if unit.struct_fields[id.0 as usize].is_none() {
                return Err((n.clone(), StorageError::Unannotated));
            }
        }
        fields.push((names.fresh(n), cty));
    }
    Ok(fields)
}

/// A place where a value of the struct is declared, itself or as part of another.
fn struct_used_at(program: &Program, id: StructId) -> Option<Loc> {
    fn holds(program: &Program, ty: &Ty, id: StructId) -> bool {
        match ty {
            Ty::Array { elem, .. } => holds(program, elem, id),
            Ty::Struct(s) => *s == id || program.structs[s.0 as usize].fields.iter().any(|(_, t)| holds(program, t, id)),
            Ty::Word(_) | Ty::Int(_) | Ty::Bool => false,
        }
    }
    let consts = program.consts.iter().map(|c| (&c.ty, c.loc));
    let locals = program.funcs.iter().flat_map(|f| f.locals.iter().map(|l| (&l.ty, if l.loc.line > 0 { l.loc } else { f.loc })));
    locals.chain(consts).find(|(t, _)| holds(program, t, id)).map(|(_, loc)| loc)
}

/// It is called through another function, which clears the stack: others call it, and it gets secrets.
fn clears(opts: &Options, f: &Func) -> bool {
    let secrets = f.params.iter().any(|id| !f.local(*id).public);
    opts.clears != Clears::Nothing && opts.export && macro_of(opts, f).is_none() && secrets
}

/// The macro that stands for a function.
fn macro_of(opts: &Options, f: &Func) -> Option<String> {
    opts.vector.as_ref()?.macros.get(&f.name).cloned()
}

fn used_constants(program: &Program) -> Vec<bool> {
    let mut used = vec![false; program.consts.len()];
    let printed = printed_functions(program);
    for (_, f) in program.funcs.iter().enumerate().filter(|(k, _)| printed[*k].is_some()) {
        walk_places(&f.body, &mut |p, _| {
            if let Base::Const(id) = p.base {
                used[id.0 as usize] = true;
            }
        });
    }
    used
}

/// Tables keep their declared element type; undeclared integers take the narrowest type of their values.
fn const_type(unit: &UnitCx<'_>, ty: &Ty, value: &ConstValue) -> Result<CTy, StorageError> {
    match (undeclared(ty), values(value)) {
        (true, Some(range)) => storage(unit, &with_leaf(ty, &range), true),
        _ => storage(unit, ty, true),
    }
}

/// An integer, or nested arrays of them, without a range.
fn undeclared(ty: &Ty) -> bool {
    match ty {
        Ty::Array { elem, ranges, .. } => ranges.is_none() && undeclared(elem),
        other => *other == Ty::Int(None),
    }
}

fn with_leaf(ty: &Ty, range: &Range) -> Ty {
    match ty {
        Ty::Array { elem, len, .. } => Ty::Array { elem: Box::new(with_leaf(elem, range)), len: len.clone(), ranges: None },
        _ => Ty::Int(Some(range.clone())),
    }
}

fn values(value: &ConstValue) -> Option<Range> {
    match value {
        ConstValue::Scalar(v) => Some(Range::new(v.clone(), v.clone())),
        ConstValue::Array(vs) | ConstValue::Struct(vs) => vs.iter().filter_map(values).reduce(|a, b| a.join(&b)),
    }
}

fn signature(unit: &UnitCx<'_>, f: &Func, name: String, renamed: bool) -> Res<Signature> {
    let ty = |id: &santoku_ir::LocalId| -> Res<CTy> {
        let l = f.local(*id);
        let t = storage(unit, &l.ty, l.public).map_err(|e| e.of(unit, f, &l.name))?;
        Ok(match t {
            CTy::Int(t) => CTy::Int(t.promoted()),
            other => other,
        })
    };
    let params = f.params.iter().map(ty).collect::<Res<Vec<_>>>()?;
    let rets = f.rets.iter().map(ty).collect::<Res<Vec<_>>>()?;
    let returns = rets.len() == 1 && !rets[0].is_aggregate();
    Ok(Signature { name, params, rets, returns, renamed, sizes: false, outer: None })
}

fn types(unit: &UnitCx<'_>) -> String {
    let mut text = String::new();
    for (k, s) in unit.program.structs.iter().enumerate() {
        let Some(fields) = &unit.struct_fields[k] else { continue };
        let _ = writeln!(text, "/* {} */\ntypedef struct {{", s.name);
        for (n, t) in fields {
            let _ = writeln!(text, "    {};", member(unit, t, n));
        }
        let _ = writeln!(text, "}} {};\n", unit.struct_names[k]);
    }
    text
}

fn member(unit: &UnitCx<'_>, t: &CTy, name: &str) -> String {
    let (mut dims, mut at) = (String::new(), t);
    while let CTy::Array(e, santoku_ir::Len::Const(n)) = at {
        let _ = write!(dims, "[{}]", (*n).max(1));
        at = e;
    }
    format!("{} {name}{dims}", unit.scalar_name(at))
}

fn tables(unit: &UnitCx<'_>) -> String {
    let mut text = String::new();
    for (k, c) in unit.program.consts.iter().enumerate() {
        if unit.const_used[k] {
            let _ = writeln!(
                text,
                "/* {} */\nSTK_TABLE {} = {};\n",
                c.name,
                member(unit, &unit.const_types[k], &unit.const_names[k]),
                initialiser(unit, &unit.const_types[k], &c.value, 1)
            );
        }
    }
    text
}

fn initialiser(unit: &UnitCx<'_>, t: &CTy, v: &ConstValue, depth: usize) -> String {
    let pad = "    ".repeat(depth);
    match (t, v) {
        (CTy::Int(t), ConstValue::Scalar(v)) => literal(v, t.promoted()),
        (CTy::Vec(b), ConstValue::Scalar(v)) => literal(v, word_storage(*b)),
        (CTy::Array(e, _), ConstValue::Array(vs)) => {
            let items: Vec<String> = vs.iter().map(|v| initialiser(unit, e, v, depth + 1)).collect();
            let per_line = if matches!(**e, CTy::Int(CInt { bits: 8 | 16, .. })) { 8 } else if e.is_aggregate() { 1 } else { 4 };
            let lines: Vec<String> = items.chunks(per_line).map(|c| format!("{pad}{}", c.join(", "))).collect();
            format!("{{\n{}\n{}}}", lines.join(",\n"), "    ".repeat(depth - 1))
        }
        (CTy::Struct(id), ConstValue::Struct(vs)) => {
            let items: Vec<String> =
                unit.struct_fields[id.0 as usize].iter().flatten().zip(vs).map(|((_, t), v)| format!("{pad}{}", initialiser(unit, t, v, depth + 1))).collect();
            format!("{{\n{}\n{}}}", items.join(",\n"), "    ".repeat(depth - 1))
        }
        _ => "0".into(),
    }
}

/// `names`: of the types and functions that no other file sees.
fn source(unit: &UnitCx<'_>, (body, mut names): (&str, Vec<String>), header: &str, (estimate, each): (Stack, Vec<Each>)) -> String {
    let opts = unit.opts;
    let rest = format!("{body}{}", opts.api_source);
    let helpers = helpers_for(&rest, header);
    names.extend((0..unit.const_names.len()).filter(|k| unit.const_used[*k]).map(|k| unit.const_names[k].clone()));
    names.extend(ASSUMED.iter().copied().chain(helpers_in(&helpers)).map(str::to_string));
    // The macros of a kernel's instruction set are not those of another kernel's.
    let (before, behind) = if opts.vector.is_some() { Default::default() } else { renaming(&opts.unit, &names) };
    let mut text = format!("/* {} */\n", opts.provenance.replace('\n', "\n * "));
    let _ = writeln!(text, "#include \"{}.h\"\n\n{before}{MEMORY}", opts.unit);
    if let Some(v) = &opts.vector {
        text.push_str(&v.preamble);
        text.push('\n');
    }
    text.push_str(&lanes::choice(opts));
    text.push_str(ASSUMPTIONS);
    if body.contains("STK_MUL_") {
        text.push('\n');
        text.push_str(&in_parts(opts.products));
    }
    if let Some(bits) = opts.secret_product {
        text.push('\n');
        text.push_str(&products(&opts.unit, bits, opts.products));
    }
    if body.contains("STK_API ") {
        text.push('\n');
        text.push_str(API);
    }
    if opts.clears != Clears::Nothing && (!opts.export || body.contains("STK_CLEAR(")) {
        let stack = match opts.clears {
            Clears::Stack(stack) => stack,
            Clears::Estimated | Clears::Nothing => estimate,
        };
        text.push('\n');
        text.push_str(&lanes::stack(opts));
        let more = if opts.lanes.is_empty() { String::new() } else { format!(" + {}", lanes::stack_macro(&opts.unit)) };
        text.push_str(&clearing(opts, stack, &each, &more));
    }
    if body.contains("STK_NOINLINE") {
        text.push('\n');
        text.push_str(NOINLINE);
    }
    text.push('\n');
    if body.contains("STK_TABLE ") {
        if opts.placement == Placement::Ram {
            text.push_str("#define STK_TABLES_IN_RAM\n");
        }
        text.push_str(PLACEMENT);
        text.push('\n');
    }
    text.push_str(&helpers);
    text.push_str(&rest);
    text.push_str(&behind);
    text
}

fn header(opts: &Options, prototypes: &str, (types, clearing): (&str, bool)) -> String {
    let guard = format!("SANTOKU_{}_H", opts.unit.to_uppercase());
    let note = if clearing { crate::clear::note(&opts.unit) } else { String::new() };
    let text = format!("{note}{types}{prototypes}{}", opts.api_header);
    format!(
        "/* {} */\n#ifndef {guard}\n#define {guard}\n\n#include <stddef.h>\n#include <stdint.h>\n\n{}#ifdef __cplusplus\nextern \"C\" {{\n#endif\n\n{}{text}#ifdef __cplusplus\n}}\n#endif\n\n#endif\n",
        opts.provenance.replace('\n', "\n * "),
        if opts.renamed { format!("{NAMES}\n") } else { String::new() },
        wide_types(&text),
    )
}

/// What the source says of the function, then its arguments.
fn header_doc(f: &Func, own: &Exported, opts: &Options) -> String {
    let mut lines = doc_lines(f);
    let names: Vec<&str> = own.arguments.iter().filter(|a| a.role == Role::Length).map(|a| a.name.as_str()).collect();
    if !own.arguments.is_empty() && !lines.is_empty() {
        lines.push(String::new());
    }
    lines.extend(own.arguments.iter().map(|a| a.in_words(&names, opts.renamed)));
    lines.extend(own.requires.iter().map(|r| format!("requires {r}")));
    if lines.is_empty() {
        return String::new();
    }
    format!("/* {} */\n", lines.join("\n * ").replace(" * \n", " *\n"))
}
