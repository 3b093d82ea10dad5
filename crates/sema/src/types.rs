//! Types: from syntax to core types, with the publicness written on them.

use crate::context::{Cached, Cx};
use crate::entities::Entity;
use crate::keys::Arg;
use crate::names::Item;
use crate::sty::{open_int, STy};
use crate::values::{CVal, Env, Generic};
use crate::{arith, limits};
use num_bigint::BigInt;
use num_traits::{Signed, ToPrimitive};
use santoku_diag::{Diagnostic, Span};
use santoku_ir::{Len, LocalId, Range, StructDef, StructId, Ty};
use santoku_syntax::ast::{BinOp, Expr, ExprKind, Ident, Type, TypeKind};

/// A length as base plus constant.
struct Linear {
    param: Option<LocalId>,
    add: BigInt,
}

impl Cx<'_> {
    /// A type of one core value; tuples are refused.
    pub fn one_type(&mut self, env: &mut Env, t: &Type) -> Option<(Ty, bool)> {
        match self.any_type(env, t)? {
            STy::One { ty, public } => Some((ty, public)),
            STy::Tuple(_) => self.fail(
                Diagnostic::error("misplaced-tuple", "a tuple cannot stand here")
                    .at(t.span, "tuples are for results and locals")
                    .help("declare a struct"),
            ),
        }
    }

    /// A type of one core value without `public` on it.
    pub fn plain_type(&mut self, env: &mut Env, t: &Type) -> Option<Ty> {
        let (ty, public) = self.one_type(env, t)?;
        if public {
            return self.fail(
                Diagnostic::error("misplaced-public", "`public` cannot stand inside a type")
                    .at(t.span, "publicness belongs to a whole parameter, result or variable")
                    .help("write `public` in front of the whole type"),
            );
        }
        Some(ty)
    }

    pub fn any_type(&mut self, env: &mut Env, t: &Type) -> Option<STy> {
        let ty = match &t.kind {
            TypeKind::Word(bits) if (1..=128).contains(bits) => Ty::Word(*bits),
            TypeKind::Word(bits) => return self.bad_word(&bits.to_string(), t.span),
            TypeKind::Bool => Ty::Bool,
            TypeKind::Int(None) => Ty::Int(None),
            TypeKind::Int(Some((lo, hi))) => Ty::Int(Some(self.range(env, lo, hi, t.span)?)),
            TypeKind::Array { elem, index, len } => self.array_type(env, elem, index.as_ref(), len)?,
            TypeKind::Tuple(parts) => {
                let parts = parts.iter().map(|p| self.any_type(env, p)).collect::<Option<Vec<_>>>()?;
                return Some(STy::Tuple(parts));
            }
            TypeKind::Named(path) => {
                if let (None, Some(Generic::Type(ty))) = (&path.module, env.generics.get(&path.name.name)) {
                    return Some(STy::one(ty.clone()));
                }
                match self.resolve(env.module, path) {
                    Err(d) => match path.name.name.strip_prefix('u') {
                        Some(bits) if path.module.is_none() && bits.parse::<u32>().is_ok() => {
                            return self.bad_word(bits, t.span)
                        }
                        _ => return self.unresolved(d),
                    },
                    Ok(entity) => return self.named_type(entity, path.span),
                }
            }
            TypeKind::Public(inner) => return Some(self.any_type(env, inner)?.make_public()),
            TypeKind::Error => return None,
        };
        Some(STy::one(ty))
    }

    fn bad_word<T>(&mut self, bits: &str, span: Span) -> Option<T> {
        self.fail(
            Diagnostic::error("bad-word", format!("no word type of {bits} bits"))
                .at(span, "words have 1 to 128 bits")
                .help("use `int in a..b` for larger numbers"),
        )
    }

    fn named_type(&mut self, entity: Entity, span: Span) -> Option<STy> {
        match entity.item {
            Item::Struct(_) => Some(STy::one(Ty::Struct(self.struct_id(entity, span)?))),
            Item::Type(_) => {
                if self.aliases.contains(&entity) || self.aliases.len() > limits::TYPE_NESTING as usize {
                    return self.recursive_type(span);
                }
                let (_, ty) = self.world.type_alias(entity)?;
                self.aliases.push(entity);
                let mut env = self.env(entity.module);
                let result = self.any_type(&mut env, ty);
                self.aliases.pop();
                result
            }
            Item::Param(_) => {
                let name = &self.world.param(entity)?.name;
                match self.module_args(entity.module).and_then(|args| args.get(&name.name)) {
                    Some(Arg::Type(ty)) => Some(STy::one(ty.clone())),
                    _ => self.fail(
                        Diagnostic::error("not-a-type", format!("`{}` is not a type", name.name))
                            .at(span, "a type is needed here")
                            .help("declare the parameter as `type`"),
                    ),
                }
            }
            other => self.fail(
                Diagnostic::error("not-a-type", format!("this {} is not a type", other.noun()))
                    .at(span, "a type is needed here")
                    .help("types come from `type`, `struct`, the word types, `int` and `bool`"),
            ),
        }
    }

    fn recursive_type<T>(&mut self, span: Span) -> Option<T> {
        self.fail(
            Diagnostic::error("recursive-type", "a type contains itself")
                .at(span, "leads back to the type being defined")
                .help("values have a fixed size; use an array of a fixed length instead"),
        )
    }

    pub fn struct_id(&mut self, entity: Entity, span: Span) -> Option<StructId> {
        match self.structs.get(&entity) {
            Some(Cached::Done(id)) => return Some(*id),
            Some(Cached::Busy) => return self.recursive_type(span),
            Some(Cached::Failed) => return None,
            None => {}
        }
        self.structs.insert(entity, Cached::Busy);
        let result = self.define_struct(entity);
        let state = result.map_or(Cached::Failed, Cached::Done);
        self.structs.insert(entity, state);
        result
    }

    fn define_struct(&mut self, entity: Entity) -> Option<StructId> {
        let (name, fields) = self.world.structure(entity)?;
        let mut env = self.env(entity.module);
        let mut out: Vec<(String, Ty)> = Vec::new();
        let mut ok = true;
        for (field, ty) in fields {
            if out.iter().any(|(n, _)| *n == field.name) {
                ok = false;
                self.report(
                    Diagnostic::error("duplicate-name", format!("field `{}` appears twice", field.name))
                        .at(field.span, "second field of this name")
                        .help("rename one of them"),
                );
                continue;
            }
            match self.plain_type(&mut env, ty) {
                Some(t) => {
                    ok &= self.closed(&t, ty.span, "a struct field");
                    out.push((field.name.clone(), t));
                }
                None => ok = false,
            }
        }
        if !ok {
            return None;
        }
        let full = self.qualified(entity.module, &name.name);
        self.program.structs.push(StructDef { name: full, fields: out });
        self.struct_entities.push(entity);
        let id = StructId(self.program.structs.len() as u32 - 1);
        self.nesting_ok(&Ty::Struct(id), name.span).then_some(id)
    }

    /// Requires every exact integer in `ty` to have a range.
    pub fn closed(&mut self, ty: &Ty, span: Span, what: &str) -> bool {
        let open = open_int(ty);
        if open {
            self.report(
                Diagnostic::error("missing-range", format!("{what} of type `int` without a range"))
                    .at(span, "the range of this integer is not given")
                    .help("write `int in a..b`; only locals and results may leave it out"),
            );
        }
        !open
    }

    fn nesting_ok(&mut self, ty: &Ty, span: Span) -> bool {
        let ok = self.depth(ty) <= limits::TYPE_NESTING;
        if !ok {
            self.report(
                Diagnostic::error("nesting-too-deep", "type nested too deeply")
                    .at(span, format!("more than {} levels", limits::TYPE_NESTING))
                    .help("flatten the type"),
            );
        }
        ok
    }

    fn depth(&self, ty: &Ty) -> u32 {
        match ty {
            Ty::Array { elem, .. } => 1 + self.depth(elem),
            Ty::Struct(id) => {
                let fields = &self.program.structs[id.0 as usize].fields;
                1 + fields.iter().map(|f| self.depth(&f.1)).max().unwrap_or(0)
            }
            Ty::Word(_) | Ty::Int(_) | Ty::Bool => 0,
        }
    }

    /// Scalars in a value of this type; a run-time length counts as 1.
    pub fn elements(&self, ty: &Ty) -> u64 {
        match ty {
            Ty::Array { elem, len, .. } => {
                let n = if let Len::Const(n) = len { *n } else { 1 };
                self.elements(elem).saturating_mul(n)
            }
            Ty::Struct(id) => {
                let fields = &self.program.structs[id.0 as usize].fields;
                fields.iter().fold(0, |sum: u64, f| sum.saturating_add(self.elements(&f.1)))
            }
            Ty::Word(_) | Ty::Int(_) | Ty::Bool => 1,
        }
    }

    fn range(&mut self, env: &mut Env, lo: &Expr, hi: &Expr, span: Span) -> Option<Range> {
        let (low, high) = (self.const_int(env, lo)?, self.const_int(env, hi)?);
        let range = Range::new(low, high);
        if range.is_empty() {
            let title = format!("empty range {}", arith::show_range(&range));
            return self.fail(
                Diagnostic::error("empty-range", title)
                    .at(span, "no integer lies in it")
                    .help("a range `a..b` contains both ends and needs a <= b"),
            );
        }
        Some(range)
    }

    /// The lengths that a `len` parameter takes.
    pub fn length_range(&mut self, env: &mut Env, g: &santoku_syntax::ast::Generic) -> Option<Range> {
        let most = Range::new(0, limits::RUNTIME_LENGTH);
        let Some((lo, hi)) = &g.bounds else { return Some(most) };
        let span = lo.span.to(hi.span);
        let range = self.range(env, lo, hi, span)?;
        if !most.contains(&range) {
            return self.fail(
                Diagnostic::error("bad-length", "no array has a length of this range")
                    .at(span, format!("this is {}", arith::show_range(&range)))
                    .help("give bounds from 0 to 2^31-1"),
            );
        }
        Some(range)
    }

    fn array_type(&mut self, env: &mut Env, elem: &Type, index: Option<&Ident>, len: &Expr) -> Option<Ty> {
        let length = self.length(env, len)?;
        let ty = match index {
            None => Ty::Array { elem: Box::new(self.plain_type(env, elem)?), len: length, ranges: None },
            Some(index) => self.ranged_array(env, elem, index, length, len.span)?,
        };
        if self.elements(&ty) > limits::ARRAY_ELEMENTS {
            return self.array_too_large(len.span);
        }
        self.nesting_ok(&ty, elem.span).then_some(ty)
    }

    fn array_too_large<T>(&mut self, span: Span) -> Option<T> {
        self.fail(
            Diagnostic::error("const-too-large", "array too large")
                .at(span, "more than 2^22 elements")
                .help("arrays of constant length hold at most 2^22 scalars"),
        )
    }

    fn ranged_array(&mut self, env: &mut Env, elem: &Type, index: &Ident, length: Len, span: Span) -> Option<Ty> {
        let (TypeKind::Int(Some((lo, hi))), Len::Const(n)) = (&elem.kind, &length) else {
            return self.fail(
                Diagnostic::error("bad-range", "ranges per index need `int in lo..hi` and a constant length")
                    .at(elem.span, "does not have this form")
                    .help("write `[int in lo(i)..hi(i); i < 16]`"),
            );
        };
        if *n == 0 || *n > limits::ARRAY_ELEMENTS {
            return self.array_too_large(span);
        }
        let mut ranges = Vec::new();
        for i in 0..*n {
            env.vars.push((index.name.clone(), CVal::Int(i.into())));
            let range = self.range(env, lo, hi, elem.span);
            env.vars.pop();
            ranges.push(range?);
        }
        let join = ranges.iter().skip(1).fold(ranges[0].clone(), |a, r| a.join(r));
        Some(Ty::Array { elem: Box::new(Ty::Int(Some(join))), len: length, ranges: Some(ranges) })
    }

    /// A length expression: constant, or a length parameter plus a constant.
    pub fn length(&mut self, env: &mut Env, e: &Expr) -> Option<Len> {
        let linear = self.linear(env, e)?;
        match linear.param {
            None => match linear.add.to_u64() {
                Some(n) if n <= limits::ARRAY_ELEMENTS => Some(Len::Const(n)),
                _ if linear.add.is_negative() => self.fail(
                    Diagnostic::error("bad-length", "array length is negative")
                        .at(e.span, format!("this is {}", arith::show(&linear.add)))
                        .help("lengths are at least 0"),
                ),
                _ => self.array_too_large(e.span),
            },
            Some(param) => match linear.add.to_i64().filter(|a| a.unsigned_abs() <= limits::RUNTIME_LENGTH) {
                Some(add) => Some(Len::Param { param, add }),
                None => self.array_too_large(e.span),
            },
        }
    }

    fn linear(&mut self, env: &mut Env, e: &Expr) -> Option<Linear> {
        match &e.kind {
            ExprKind::Paren(inner) => self.linear(env, inner),
            ExprKind::Name(path) if path.module.is_none() => match env.generic(&path.name.name) {
                Some(Generic::Len(len)) => Some(match len {
                    Len::Const(n) => Linear { param: None, add: (*n).into() },
                    Len::Param { param, add } => Linear { param: Some(*param), add: (*add).into() },
                }),
                _ => Some(Linear { param: None, add: self.const_int(env, e)? }),
            },
            ExprKind::Bin { op: op @ (BinOp::Add | BinOp::Sub), lhs, rhs } if mentions_length(env, e) => {
                let (a, b) = (self.linear(env, lhs)?, self.linear(env, rhs)?);
                match (op, a.param, b.param) {
                    (BinOp::Add, param, None) => Some(Linear { param, add: a.add + b.add }),
                    (BinOp::Add, None, param) => Some(Linear { param, add: a.add + b.add }),
                    (_, param, None) => Some(Linear { param, add: a.add - b.add }),
                    _ => self.bad_length(e.span),
                }
            }
            _ if mentions_length(env, e) => self.bad_length(e.span),
            _ => Some(Linear { param: None, add: self.const_int(env, e)? }),
        }
    }

    fn bad_length<T>(&mut self, span: Span) -> Option<T> {
        self.fail(
            Diagnostic::error("bad-length", "array length of this form is not supported")
                .at(span, "neither a constant nor `n + constant`")
                .help("make the length a parameter of its own (`fn f<m: len>`)"),
        )
    }

    /// The type as the user would write it.
    pub fn show(&self, ty: &Ty) -> String {
        match ty {
            Ty::Word(bits) => format!("u{bits}"),
            Ty::Int(None) => "int".to_string(),
            Ty::Int(Some(r)) => format!("int in {}", arith::show_range(r)),
            Ty::Bool => "bool".to_string(),
            Ty::Array { elem, len, .. } => {
                let n = match len {
                    Len::Const(n) => n.to_string(),
                    Len::Param { add: 0, .. } => "n".to_string(),
                    Len::Param { add, .. } if *add < 0 => format!("n - {}", -add),
                    Len::Param { add, .. } => format!("n + {add}"),
                };
                format!("[{}; {n}]", self.show(elem))
            }
            Ty::Struct(id) => {
                let name = &self.program.structs[id.0 as usize].name;
                name.rsplit('.').next().unwrap_or(name).to_string()
            }
        }
    }

    pub fn show_sty(&self, ty: &STy) -> String {
        match ty {
            STy::One { ty, .. } => self.show(ty),
            STy::Tuple(parts) => {
                format!("({})", parts.iter().map(|p| self.show_sty(p)).collect::<Vec<_>>().join(", "))
            }
        }
    }
}

/// Whether a length parameter occurs in the expression.
fn mentions_length(env: &Env, e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Name(path) => {
            path.module.is_none() && matches!(env.generic(&path.name.name), Some(Generic::Len(_)))
        }
        ExprKind::Paren(a) | ExprKind::Un { arg: a, .. } | ExprKind::Power { exp: a, .. } => mentions_length(env, a),
        ExprKind::Bin { lhs, rhs, .. } => mentions_length(env, lhs) || mentions_length(env, rhs),
        _ => false,
    }
}
