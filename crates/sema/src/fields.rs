//! Struct literals and fields, at compile time and in code.

use crate::context::Cx;
use crate::values::{CVal, Env};
use santoku_diag::{Diagnostic, Span};
use santoku_ir::{StructId, Ty};
use santoku_syntax::ast::{Expr, Ident, Path, Type, TypeKind};

impl Cx<'_> {
    pub fn const_struct(&mut self, env: &mut Env, path: &Path, fields: &[(Ident, Expr)], span: Span) -> Option<CVal> {
        let id = self.struct_path(env, path)?;
        let order = self.field_order(id, fields, span)?;
        let def = self.program.structs[id.0 as usize].fields.clone();
        let mut values = Vec::new();
        for (at, (_, ty)) in order.into_iter().zip(&def) {
            let v = self.const_expr(env, &fields[at].1)?;
            values.push(self.coerce(v, ty, fields[at].1.span)?);
        }
        Some(CVal::Struct(id, values))
    }

    /// The struct that a path names.
    pub fn struct_path(&mut self, env: &mut Env, path: &Path) -> Option<StructId> {
        let ty = Type { kind: TypeKind::Named(path.clone()), span: path.span };
        match self.plain_type(env, &ty)? {
            Ty::Struct(id) => Some(id),
            other => {
                let found = self.show(&other);
                self.fail(
                    Diagnostic::error("type-mismatch", format!("`{}` is not a struct", path.name.name))
                        .at(path.span, format!("this is {found}"))
                        .help("only structs are built with `{ field: value }`"),
                )
            }
        }
    }

    /// For each field of the struct in order, the position of its value in the literal.
    pub fn field_order(&mut self, id: StructId, fields: &[(Ident, Expr)], span: Span) -> Option<Vec<usize>> {
        let names: Vec<String> = self.program.structs[id.0 as usize].fields.iter().map(|f| f.0.clone()).collect();
        for (i, (field, _)) in fields.iter().enumerate() {
            if !names.contains(&field.name) {
                return self.unknown_field(&names, field);
            }
            if fields[..i].iter().any(|f| f.0.name == field.name) {
                return self.fail(
                    Diagnostic::error("duplicate-name", format!("field `{}` is given twice", field.name))
                        .at(field.span, "second value")
                        .help("remove one of them"),
                );
            }
        }
        let mut order = Vec::new();
        for name in &names {
            match fields.iter().position(|f| f.0.name == *name) {
                Some(at) => order.push(at),
                None => {
                    return self.fail(
                        Diagnostic::error("missing-field", format!("field `{name}` is missing"))
                            .at(span, "every field needs a value")
                            .help(format!("add `{name}: ..`")),
                    )
                }
            }
        }
        Some(order)
    }

    pub fn unknown_field<T>(&mut self, names: &[String], field: &Ident) -> Option<T> {
        self.fail(
            Diagnostic::error("unknown-field", format!("no field `{}`", field.name))
                .at(field.span, "not a field of this struct")
                .help(format!("fields are: {}", names.join(", "))),
        )
    }

    pub fn const_field(&mut self, v: CVal, field: &Ident) -> Option<CVal> {
        let CVal::Struct(id, mut vs) = v else { return self.not_constant(field.span, "only structs have fields") };
        let names: Vec<String> = self.program.structs[id.0 as usize].fields.iter().map(|f| f.0.clone()).collect();
        match names.iter().position(|n| *n == field.name) {
            Some(i) => Some(vs.swap_remove(i)),
            None => self.unknown_field(&names, field),
        }
    }
}
