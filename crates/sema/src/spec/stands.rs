//! Types of specifications: informal, and with what a value of a type stands for.
//!
//! `type Fe = [Limb; 4] means value(self) mod P`: where a specification needs an integer, a value of that type is the
//! integer it stands for; a congruence without `mod` takes the modulus of its sides.
//! Trusted: text.

use crate::context::Cx;
use crate::entities::Entity;
use crate::modules::ModId;
use crate::names::Item;
use crate::sty::STy;
use crate::values::Generic;
use super::scope::{spec_of, Scope, SpecTy, SpecVal};
use num_bigint::BigInt;
use santoku_diag::{Diagnostic, Span};
use santoku_ir::{SpecExpr, SpecFn, SpecId, StructId, Ty};
use santoku_syntax::ast::{BinOp, Expr, Type, TypeKind};
use std::collections::{BTreeMap, BTreeSet};

impl Cx<'_> {
    pub(super) fn spec_mismatch<T>(&mut self, found: &SpecTy, want: &SpecTy, span: Span) -> Option<T> {
        let (f, w) = (self.spell_spec(found), self.spell_spec(want));
        self.fail(
            Diagnostic::error("type-mismatch", format!("expected {w}, found {f}"))
                .at(span, format!("the value is {f}, {w} is needed"))
                .help("specifications compute with integers, bools, arrays and structs"),
        )
    }

    fn spell_spec(&self, ty: &SpecTy) -> String {
        match ty {
            SpecTy::Int => "an integer".into(),
            SpecTy::Bool => "a bool".into(),
            SpecTy::Array(_) => "an array".into(),
            SpecTy::Struct(id) => self.show(&Ty::Struct(*id)),
            SpecTy::Stands(entity, _) => {
                let name = self.world.type_alias(*entity).map_or("", |a| a.0.name.as_str());
                self.qualified(entity.module, name)
            }
        }
    }

    pub(super) fn spec_ty(&mut self, module: ModId, generics: &BTreeMap<String, Generic>, t: &Type) -> Option<SpecTy> {
        match &t.kind {
            TypeKind::Word(_) | TypeKind::Int(_) => Some(SpecTy::Int),
            TypeKind::Bool => Some(SpecTy::Bool),
            TypeKind::Array { elem, .. } => Some(SpecTy::Array(Box::new(self.spec_ty(module, generics, elem)?))),
            TypeKind::Public(inner) => self.spec_ty(module, generics, inner),
            TypeKind::Named(path) => {
                if let (None, Some(Generic::Type(ty))) = (&path.module, generics.get(&path.name.name)) {
                    return Some(spec_of(ty));
                }
                // Says what is wrong with the type, if anything is: cycles too.
                let mut env = self.env(module);
                let ty = self.plain_type(&mut env, t)?;
                match self.resolve(module, path) {
                    Ok(entity @ Entity { item: Item::Type(_), .. }) => {
                        let (_, inner) = self.world.type_alias(entity)?;
                        let inner = self.spec_ty(entity.module, &BTreeMap::new(), inner)?;
                        let stands = self.world.means(entity).is_some();
                        Some(if stands { SpecTy::Stands(entity, Box::new(inner)) } else { inner })
                    }
                    _ => Some(spec_of(&ty)),
                }
            }
            TypeKind::Tuple(_) => self.fail(
                Diagnostic::error("misplaced-tuple", "a tuple cannot stand here")
                    .at(t.span, "specifications take no tuples")
                    .help("pass the parts, or declare a struct"),
            ),
            TypeKind::Error => None,
        }
    }

    /// Type of a field as its struct declares it.
    pub(super) fn field_ty(&mut self, id: StructId, field: usize) -> Option<SpecTy> {
        let entity = *self.struct_entities.get(id.0 as usize)?;
        let (_, fields) = self.world.structure(entity)?;
        self.spec_ty(entity.module, &BTreeMap::new(), &fields.get(field)?.1)
    }

    /// The specification function from a value of the type to the integer it stands for.
    pub fn meaning_id(&mut self, entity: Entity) -> Option<SpecId> {
        if let Some(id) = self.specs.get(&(entity, BTreeSet::new())) {
            return Some(*id);
        }
        let means = self.world.means(entity)?;
        let (name, ty) = self.world.type_alias(entity)?;
        let id = SpecId(self.program.specs.len() as u32);
        self.specs.insert((entity, BTreeSet::new()), id);
        let (loc, full) = (self.loc(name.span), self.qualified(entity.module, &name.name));
        self.program.specs.push(SpecFn { name: full, params: vec!["self".into()], body: SpecExpr::Int(BigInt::ZERO), loc });
        let own = self.spec_ty(entity.module, &BTreeMap::new(), ty)?;
        let vars = vec![("self".to_string(), own.into_bare())];
        let mut scope = Scope::new(self, entity.module, &BTreeMap::new());
        scope.vars = vars;
        let body = scope.int(&means.value)?;
        self.meaning_modulus(entity)?;
        self.program.specs[id.0 as usize].body = body;
        Some(id)
    }

    /// The modulus up to which values of the type are meant.
    fn meaning_modulus(&mut self, entity: Entity) -> Option<Option<BigInt>> {
        let Some(modulus) = self.world.means(entity)?.modulus.as_ref() else { return Some(None) };
        let mut env = self.env(entity.module);
        self.const_int(&mut env, modulus).map(Some)
    }
}

impl Scope<'_, '_> {
    /// A value where one of type `want` is needed.
    pub(super) fn fit(&mut self, x: SpecExpr, ty: &SpecTy, want: &SpecTy, span: Span) -> Option<SpecExpr> {
        match (ty, want) {
            (SpecTy::Stands(entity, _), SpecTy::Int) => {
                let id = self.cx.meaning_id(*entity)?;
                let modulus = self.cx.meaning_modulus(*entity)?;
                self.moduli.extend(modulus.map(|m| (m, span)));
                Some(SpecExpr::Call(id, vec![x]))
            }
            _ if ty.bare() == want.bare() => Some(x),
            _ => self.cx.spec_mismatch(ty, want, span),
        }
    }

    /// Two sides of a comparison: integers where one of them is one or order is asked; otherwise what both are.
    pub(super) fn both(&mut self, op: BinOp, lhs: &Expr, rhs: &Expr) -> Option<(SpecExpr, SpecExpr, SpecTy)> {
        let ((a, ty), (b, other)) = (self.one(lhs)?, self.one(rhs)?);
        let equality = matches!(op, BinOp::Eq | BinOp::Ne);
        let as_integers = !equality || ty == SpecTy::Int || other == SpecTy::Int;
        let stands = matches!(ty, SpecTy::Stands(..)) || matches!(other, SpecTy::Stands(..));
        if as_integers && stands {
            let a = self.fit(a, &ty, &SpecTy::Int, lhs.span)?;
            let b = self.fit(b, &other, &SpecTy::Int, rhs.span)?;
            return Some((a, b, SpecTy::Int));
        }
        let b = self.fit(b, &other, &ty.bare(), rhs.span)?;
        Some((a, b, ty.bare()))
    }

    /// `a ≡ b mod m`
    pub(super) fn congruent(&mut self, lhs: &Expr, rhs: &Expr, modulus: Option<&Expr>, span: Span) -> Option<(SpecExpr, SpecTy)> {
        let outer = std::mem::take(&mut self.moduli);
        let sides = (self.int(lhs), self.int(rhs));
        let seen = std::mem::replace(&mut self.moduli, outer);
        let (a, b) = (sides.0?, sides.1?);
        let m = match modulus {
            Some(m) => self.int(m)?,
            None => SpecExpr::Int(self.one_modulus(&seen, span)?),
        };
        Some((SpecExpr::Congruent(Box::new(a), Box::new(b), Box::new(m)), SpecTy::Bool))
    }

    fn one_modulus(&mut self, seen: &[(BigInt, Span)], span: Span) -> Option<BigInt> {
        let Some((first, place)) = seen.first() else {
            return self.fail(
                Diagnostic::error("no-modulus", "a congruence without a modulus")
                    .at(span, "no value here stands for an integer modulo another")
                    .help("write `a ≡ b mod m`, or declare the type: `type Fe = .. means value(self) mod P`"),
            );
        };
        match seen.iter().find(|(m, _)| m != first) {
            None => Some(first.clone()),
            Some((_, other)) => self.fail(
                Diagnostic::error("no-modulus", "a congruence of values with different moduli")
                    .at(*other, "another modulus than")
                    .also(*place, "the one of this value")
                    .help("say which is meant: `a ≡ b mod m`"),
            ),
        }
    }

    /// Types of a result, as declared and as they are.
    pub(super) fn stands_in(&mut self, value: SpecVal, declared: Option<&Type>, ty: &STy) -> Option<SpecVal> {
        let Some(t) = declared else { return Some(value) };
        match (value, &t.kind, ty) {
            (value, TypeKind::Public(inner), _) => self.stands_in(value, Some(inner), ty),
            (SpecVal::One(x, _), _, STy::One { .. }) => {
                let generics = self.generics.clone();
                let ty = self.cx.spec_ty(self.module, &generics, t)?;
                Some(SpecVal::One(x, ty))
            }
            (SpecVal::Tuple(parts), TypeKind::Tuple(ts), STy::Tuple(tys)) => {
                let each = parts.into_iter().zip(ts).zip(tys).map(|((v, t), ty)| self.stands_in(v, Some(t), ty));
                Some(SpecVal::Tuple(each.collect::<Option<_>>()?))
            }
            (value, ..) => Some(value),
        }
    }
}
