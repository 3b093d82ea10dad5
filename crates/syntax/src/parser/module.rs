//! Modules with parameters: what a file takes, stands for, and is tried with; references to modules.
//!
//! `module`, `instance`, `example` and `perm` are words of this place only: elsewhere they are names like others.
//! Trusted: text.

use super::{Parsed, Parser};
use crate::ast::{GenericArg, ItemKind, Means, ModuleArg, ModuleParam, ModuleParamKind, ModuleRef};
use crate::token::{Kw, Tok, P};

impl Parser<'_> {
    /// Whether the next tokens are `module <`, `example <`, `instance name` or `perm name`.
    pub(super) fn at_module_item(&self) -> bool {
        let (t, next) = (self.tok(), self.peek(1).tok);
        t.tok == Tok::Ident
            && match self.slice(t) {
                "module" | "example" => next == Tok::P(P::Lt),
                "instance" | "perm" => next == Tok::Ident,
                _ => false,
            }
    }

    pub(super) fn module_item(&mut self) -> Parsed<ItemKind> {
        let word = self.bump();
        let kind = match self.slice(word) {
            "module" => ItemKind::Module { params: self.angles(Self::module_param)? },
            "example" => ItemKind::Example { args: self.angles(Self::module_arg)? },
            "perm" => {
                let (name, input, output, entries) = self.mapping("the name of the permutation")?;
                ItemKind::Perm { name, input, output, entries }
            }
            _ => ItemKind::Instance { module: self.module_ref()? },
        };
        // A `>` seems to continue its line.
        if !self.tok().line_start {
            self.expect_end()?;
        }
        Ok(kind)
    }

    /// `field.montgomery`, `field.montgomery<P = 2^255 - 19, W = 64>`
    pub(super) fn module_ref(&mut self) -> Parsed<ModuleRef> {
        let first = self.tok();
        let path = self.dotted()?;
        let args = if self.at(P::Lt) { self.angles(Self::module_arg)? } else { Vec::new() };
        Ok(ModuleRef { path, args, span: self.since(first) })
    }

    fn module_arg(&mut self) -> Parsed<ModuleArg> {
        let first = self.tok();
        let named = first.tok == Tok::Ident && self.peek(1).tok == Tok::P(P::Eq);
        let name = if named { Some(self.ident("a name")?) } else { None };
        if named {
            self.bump();
        }
        let value: GenericArg = self.generic_arg()?;
        Ok(ModuleArg { name, value, span: self.since(first) })
    }

    fn module_param(&mut self) -> Parsed<ModuleParam> {
        let name = self.ident("the name of a parameter")?;
        self.expect(P::Colon)?;
        let kind = match self.tok().tok {
            Tok::Kw(Kw::Const) => ModuleParamKind::Const,
            Tok::Kw(Kw::Type) => ModuleParamKind::Type,
            Tok::Ident => return Ok(ModuleParam { name, kind: ModuleParamKind::Module(self.dotted()?) }),
            _ => return Err(self.unexpected("`const`, `type` or the path of an interface")),
        };
        self.bump();
        Ok(ModuleParam { name, kind })
    }

    /// `means value(self) mod P`, if given.
    pub(super) fn means(&mut self) -> Parsed<Option<Means>> {
        let t = self.tok();
        if t.tok != Tok::Ident || t.nl || self.slice(t) != "means" {
            return Ok(None);
        }
        self.bump();
        let value = self.expr()?;
        let modulus = if self.eat_kw(Kw::Mod) { Some(self.expr()?) } else { None };
        Ok(Some(Means { value, modulus }))
    }

    /// `<a, b>`; lines may end anywhere inside.
    pub(super) fn angles<T>(&mut self, mut one: impl FnMut(&mut Self) -> Parsed<T>) -> Parsed<Vec<T>> {
        self.mark().angle = true;
        self.expect(P::Lt)?;
        let mut out = Vec::new();
        while !self.at(P::Gt) {
            out.push(one(self)?);
            if !self.eat(P::Comma) {
                break;
            }
        }
        self.mark().angle = true;
        self.expect(P::Gt)?;
        Ok(out)
    }
}
