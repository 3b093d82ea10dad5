//! Items: what stands at top level and inside interfaces.

use super::{Parsed, Parser};
use crate::ast::{Expr, 
    Attr, Block, Clause, ClauseKind, ConstFunction, File, Function, Generic, GenericKind, Ident, Interface, Item, ItemKind, Param, SpecFunction, Type, TestCases,
};
use crate::token::{Kw, Tok, Token, P};
use santoku_diag::{Diagnostic, Span};

impl Parser<'_> {
    pub fn file_items(&mut self) -> File {
        let mut items = Vec::new();
        loop {
            while self.eat(P::Semi) {}
            if self.at_eof() {
                return File { items };
            }
            let first = self.tok();
            self.mark().starts = true;
            let item = self.item();
            items.push(item.unwrap_or_else(|_| {
                self.sync_item(first);
                Item { doc: vec![], attrs: vec![], kind: ItemKind::Error, span: self.since(first) }
            }));
        }
    }

    /// Skips to a line that starts with an item keyword.
    fn sync_item(&mut self, first: Token) {
        loop {
            let t = self.tok();
            let starts = t.line_start && (is_item_kw(t.tok) || t.tok == Tok::P(P::At) || self.at_module_item());
            if t.tok == Tok::Eof || (starts && t.start > first.start) {
                return;
            }
            self.bump();
        }
    }

    fn item(&mut self) -> Parsed<Item> {
        let first = self.tok();
        let doc = self.docs();
        let attrs = self.attrs()?;
        if let (Some(a), false) = (attrs.first(), self.at_kw(Kw::Fn)) {
            if !self.at_kw(Kw::Use) {
                let d = Diagnostic::error("syntax", "attribute on something that is not a function").at(a.span, "only `fn`, `for` and `use` take attributes");
                self.report(d.help("remove it"));
            } else if let Some(a) = attrs.iter().find(|a| a.name.name != "export") {
                let d = Diagnostic::error("syntax", format!("`use` does not take this `@{}`", a.name.name)).at(a.span, "not an attribute of `use`");
                self.report(d.help("`@export use a.b` exports what `a.b` exports, `@export(\"p\") use a.b` with `p_` before each name; remove any other attribute"));
            }
        }
        let kind = match self.tok().tok {
            Tok::Kw(Kw::Fn) => ItemKind::Fn(self.function(doc.clone(), attrs.clone(), true)?),
            Tok::Kw(Kw::Lemma) => ItemKind::Fn(self.function(doc.clone(), attrs.clone(), true)?),
            Tok::Kw(Kw::Spec) => ItemKind::Spec(self.spec_function(doc.clone(), true)?),
            Tok::Kw(Kw::Interface) => ItemKind::Interface(self.interface()?),
            Tok::Kw(Kw::Test) => self.test()?,
            Tok::Kw(Kw::Const) if self.peek(1).tok == Tok::Kw(Kw::Fn) => ItemKind::ConstFn(self.const_function(doc.clone(), true)?),
            Tok::Ident if self.at_module_item() => self.module_item()?,
            _ => {
                let kind = self.line_item()?;
                self.expect_end()?;
                kind
            }
        };
        Ok(Item { doc, attrs, kind, span: self.since(first) })
    }

    /// Items that end with their line.
    fn line_item(&mut self) -> Parsed<ItemKind> {
        let Tok::Kw(kw) = self.tok().tok else { return Err(self.not_an_item()) };
        match kw {
            Kw::Use => {
                self.bump();
                let module = self.module_ref()?;
                let alias = if self.eat_kw(Kw::As) { Some(self.ident("a name")?) } else { None };
                Ok(ItemKind::Use { module, alias })
            }
            Kw::Implements => {
                self.bump();
                let path = self.dotted()?;
                let variant = if self.eat_kw(Kw::As) { Some(self.ident("the name of the implementation")?) } else { None };
                Ok(ItemKind::Implements { path, variant })
            }
            Kw::Const => {
                self.bump();
                let name = self.ident("the name of the constant")?;
                let ty = if self.eat(P::Colon) { Some(self.ty()?) } else { None };
                self.expect(P::Eq)?;
                Ok(ItemKind::Const { name, ty, value: self.expr()? })
            }
            Kw::Type => {
                self.bump();
                let name = self.ident("the name of the type")?;
                self.expect(P::Eq)?;
                let ty = self.ty()?;
                Ok(ItemKind::Type { name, ty, means: self.means()? })
            }
            Kw::Struct => {
                self.bump();
                let name = self.ident("the name of the struct")?;
                self.expect(P::LBrace)?;
                Ok(ItemKind::Struct { name, fields: self.list(P::RBrace, "`,` or `}`", Self::field_type)? })
            }
            Kw::Table => self.table(),
            _ => Err(self.not_an_item()),
        }
    }

    fn not_an_item(&mut self) -> super::Reported {
        self.unexpected("an item (`use`, `const`, `type`, `struct`, `table`, `perm`, `fn`, `const fn`, `lemma`, `spec fn`, `interface`, `implements`, `module<..>`, `instance` or `test`)")
    }

    fn field_type(&mut self) -> Parsed<(Ident, Type)> {
        let name = self.ident("the name of a field")?;
        self.expect(P::Colon)?;
        Ok((name, self.ty()?))
    }

    /// `table sbox: u4 -> u4 = [6, 5, 12, ...]`
    fn table(&mut self) -> Parsed<ItemKind> {
        self.bump();
        let (name, input, output, entries) = self.mapping("the name of the table")?;
        Ok(ItemKind::Table { name, input, output, entries })
    }

    /// `name: u4 -> u4 = [..]`
    pub(super) fn mapping(&mut self, what: &str) -> Parsed<(Ident, Type, Type, Expr)> {
        let name = self.ident(what)?;
        self.expect(P::Colon)?;
        let input = self.ty()?;
        self.expect(P::Arrow)?;
        let output = self.ty()?;
        self.expect(P::Eq)?;
        Ok((name, input, output, self.expr()?))
    }

    fn test(&mut self) -> Parsed<ItemKind> {
        self.bump();
        let name = self.string("the name of the test, in quotes")?;
        let from = self.tok().tok == Tok::Ident && self.slice(self.tok()) == "from";
        let cases = if from { Some(self.test_cases()?) } else { None };
        Ok(ItemKind::Test { name, cases, body: self.block()? })
    }

    /// `from "cases.json" <n: len>(m: [u8; n], d: [u8; 32] = "digest")`
    fn test_cases(&mut self) -> Parsed<TestCases> {
        self.bump();
        let file_token = self.tok();
        let file = self.string("the name of a file, in quotes")?;
        let file_span = self.span_of(file_token);
        let generics = self.generics()?;
        let mut fields = vec![];
        self.expect(P::LParen)?;
        let params = self.list(P::RParen, "`,` or `)`", |p| {
            let name = p.ident("the name of a parameter")?;
            p.expect(P::Colon)?;
            let ty = p.ty()?;
            fields.push(if p.eat(P::Eq) { Some(p.string("the name of a field, in quotes")?) } else { None });
            Ok(Param { name, ty })
        })?;
        Ok(TestCases { file, file_span, generics, params, fields })
    }

    fn string(&mut self, what: &str) -> Parsed<String> {
        let Tok::Str(index) = self.tok().tok else { return Err(self.unexpected(what)) };
        self.bump();
        Ok(self.lexed.strings[index as usize].clone())
    }

    /// The `///` lines before the next token.
    fn docs(&mut self) -> Vec<String> {
        let before = self.tok().comments_before as usize;
        let from = self.pos.checked_sub(1).map_or(0, |i| self.lexed.tokens[i].comments_before as usize);
        let docs = self.lexed.comments[from..before].iter().filter(|c| c.doc && c.line_start);
        docs.map(|c| self.text[c.start as usize + 3..c.end as usize].trim().to_string()).collect()
    }

    /// `@name` or `@name("text")`, any number.
    pub fn attrs(&mut self) -> Parsed<Vec<Attr>> {
        let mut out = Vec::new();
        while self.at(P::At) {
            let first = self.bump();
            let name = self.ident("the name of an attribute")?;
            let mut arg = None;
            if self.at(P::LParen) && !self.tok().nl {
                self.bump();
                let Tok::Str(index) = self.tok().tok else { return Err(self.unexpected("a text in quotes")) };
                self.bump();
                arg = Some(self.lexed.strings[index as usize].clone());
                self.expect(P::RParen)?;
            }
            out.push(Attr { name, arg, span: self.since(first) });
        }
        Ok(out)
    }

    fn function(&mut self, doc: Vec<String>, attrs: Vec<Attr>, with_body: bool) -> Parsed<Function> {
        let first = self.tok();
        let lemma = self.eat_kw(Kw::Lemma);
        if !lemma {
            self.expect_kw(Kw::Fn)?;
        }
        let name = self.ident("the name of the function")?;
        let generics = self.generics()?;
        let params = self.params()?;
        let ret = if self.eat(P::Arrow) { Some(self.ty()?) } else { None };
        let contracts = self.contracts()?;
        let body = self.fn_body(with_body)?;
        Ok(Function { lemma, doc, attrs, name, generics, params, ret, contracts, body, span: self.since(first) })
    }

    fn fn_body(&mut self, wanted: bool) -> Parsed<Option<crate::ast::Block>> {
        if wanted {
            return Ok(Some(self.block()?));
        }
        if !self.at(P::LBrace) {
            self.expect_end()?;
            return Ok(None);
        }
        let span = self.span_of(self.tok());
        let body = self.block()?;
        self.report(
            Diagnostic::error("syntax", "function with a body inside an interface")
                .at(Span { end: span.end, ..span }, "an interface only declares functions")
                .help("move the body into the implementations"),
        );
        Ok(Some(body))
    }

    /// `<n: len, K: const, T: type>`
    fn generics(&mut self) -> Parsed<Vec<Generic>> {
        if !self.at(P::Lt) {
            return Ok(Vec::new());
        }
        self.angles(|p| {
            let name = p.ident("the name of a generic parameter")?;
            p.expect(P::Colon)?;
            let kind = match p.tok().tok {
                Tok::Kw(Kw::Len) => GenericKind::Len,
                Tok::Kw(Kw::Const) => GenericKind::Const,
                Tok::Kw(Kw::Type) => GenericKind::Type,
                _ => return Err(p.unexpected("`len`, `const` or `type`")),
            };
            p.bump();
            let bounds = if kind == GenericKind::Len { p.int_range()? } else { None };
            Ok(Generic { name, kind, bounds })
        })
    }

    fn params(&mut self) -> Parsed<Vec<Param>> {
        self.expect(P::LParen)?;
        self.list(P::RParen, "`,` or `)`", |p| {
            let name = p.ident("the name of a parameter")?;
            p.expect(P::Colon)?;
            Ok(Param { name, ty: p.ty()? })
        })
    }

    fn contracts(&mut self) -> Parsed<Vec<Clause>> {
        let mut out = Vec::new();
        loop {
            let first = self.tok();
            let kind = match first.tok {
                Tok::Kw(Kw::Requires) => ClauseKind::Requires,
                Tok::Kw(Kw::Ensures) => ClauseKind::Ensures,
                _ => return Ok(out),
            };
            self.mark().clause = true;
            self.bump();
            let cond = self.expr()?;
            out.push(Clause { kind, cond, span: self.since(first) });
        }
    }

    fn spec_function(&mut self, doc: Vec<String>, with_body: bool) -> Parsed<SpecFunction> {
        let first = self.tok();
        self.expect_kw(Kw::Spec)?;
        self.expect_kw(Kw::Fn)?;
        let name = self.ident("the name of the function")?;
        let params = self.params()?;
        self.expect(P::Arrow)?;
        let ret = self.ty()?;
        let body = self.value_body(with_body)?;
        Ok(SpecFunction { doc, name, params, ret, body, span: self.since(first) })
    }

    /// `const fn f(a: int) -> int = e`
    fn const_function(&mut self, doc: Vec<String>, with_body: bool) -> Parsed<ConstFunction> {
        let first = self.tok();
        self.expect_kw(Kw::Const)?;
        self.expect_kw(Kw::Fn)?;
        let name = self.ident("the name of the function")?;
        let params = self.params()?;
        self.expect(P::Arrow)?;
        let ret = self.ty()?;
        let body = self.value_body(with_body)?;
        Ok(ConstFunction { doc, name, params, ret, body, span: self.since(first) })
    }

    /// `= e`, or a block.
    fn value_body(&mut self, needed: bool) -> Parsed<Option<Block>> {
        if self.at(P::LBrace) {
            return Ok(Some(self.block()?));
        }
        let mut body = None;
        if needed || self.at(P::Eq) {
            self.expect(P::Eq)?;
            let result = self.expr()?;
            body = Some(Block { stmts: Vec::new(), span: result.span, result: Some(Box::new(result)) });
        }
        self.expect_end()?;
        Ok(body)
    }

    fn interface(&mut self) -> Parsed<Interface> {
        self.bump();
        let name = self.ident("the name of the interface")?;
        let mut out = Interface { name, default: None, extends: None, consts: vec![], const_fns: vec![], types: vec![], fns: vec![], specs: vec![] };
        if self.tok().tok == Tok::Ident && self.slice(self.tok()) == "extends" {
            self.bump();
            out.extends = Some(self.dotted()?);
        }
        if !self.at(P::LBrace) {
            return Err(self.unexpected("`{`"));
        }
        self.mark().block = true;
        let open = self.bump();
        loop {
            while self.eat(P::Semi) {}
            if self.at(P::RBrace) {
                self.mark().block = true;
                self.bump();
                return Ok(out);
            }
            if self.at_eof() {
                self.unclosed(open);
                return Ok(out);
            }
            let first = self.tok();
            self.mark().starts = true;
            if self.member(&mut out).is_err() && !self.sync_member(first) {
                return Ok(out);
            }
        }
    }

    /// Skips to the next member, or the `}`; false: to an item, the `}` is missing (and the fault reported).
    fn sync_member(&mut self, first: Token) -> bool {
        loop {
            let t = self.tok();
            let moved = t.start > first.start;
            let member = matches!(t.tok, Tok::Kw(Kw::Const | Kw::Type | Kw::Spec | Kw::Fn) | Tok::P(P::At));
            match t.tok {
                Tok::P(P::RBrace) | Tok::Eof => return true,
                _ if t.line_start && moved && member => return true,
                _ if t.line_start && moved && is_item_kw(t.tok) => return false,
                _ => drop(self.bump()),
            }
        }
    }

    fn member(&mut self, out: &mut Interface) -> Parsed<()> {
        let doc = self.docs();
        let attrs = self.attrs()?;
        let t = self.tok();
        match t.tok {
            Tok::Kw(Kw::Type) => {
                self.bump();
                out.types.push(self.ident("the name of the type")?);
                self.expect_end()
            }
            Tok::Kw(Kw::Const) if self.peek(1).tok == Tok::Kw(Kw::Fn) => {
                out.const_fns.push(self.const_function(doc, false)?);
                Ok(())
            }
            Tok::Kw(Kw::Const) => {
                self.bump();
                out.consts.push(self.ident("the name of the constant")?);
                self.expect_end()
            }
            Tok::Kw(Kw::Spec) => {
                out.specs.push(self.spec_function(doc, false)?);
                Ok(())
            }
            Tok::Kw(Kw::Fn) => {
                out.fns.push(self.function(doc, attrs, false)?);
                Ok(())
            }
            Tok::Ident if self.slice(t) == "default" => {
                self.bump();
                out.default = Some(self.ident("the name of the default implementation")?);
                self.expect_end()
            }
            _ => Err(self.unexpected("a member (`default`, `const`, `type`, `const fn`, `spec fn` or `fn`)")),
        }
    }
}

fn is_item_kw(t: Tok) -> bool {
    matches!(
        t,
        Tok::Kw(Kw::Use | Kw::Implements | Kw::Interface | Kw::Type | Kw::Struct | Kw::Const | Kw::Table | Kw::Fn | Kw::Lemma | Kw::Spec | Kw::Test)
    )
}
