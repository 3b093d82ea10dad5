//! Blocks and statements.

use super::{Parsed, Parser};
use crate::ast::{Attr, BinOp, Block, Expr, ExprKind, GhostKind, Ident, Stmt, StmtKind};
use crate::token::{Kw, Tok, Token, P};
use santoku_diag::Diagnostic;
use std::collections::BTreeMap;

/// A statement, or an expression that is the result if the block ends behind it.
enum Entry {
    Stmt(Box<StmtKind>),
    Value(Expr),
}

impl Parser<'_> {
    /// `{ ... }`. Faults inside are reported and stepped over; only a missing `{` fails.
    pub fn block(&mut self) -> Parsed<Block> {
        if !self.at(P::LBrace) {
            return Err(self.unexpected("`{`"));
        }
        self.nested(Self::block_inner)
    }

    fn block_inner(&mut self) -> Parsed<Block> {
        self.mark().block = true;
        let open = self.bump();
        let mut stmts = Vec::new();
        let mut result = None;
        loop {
            while self.eat(P::Semi) {}
            if self.at(P::RBrace) {
                self.mark().block = true;
                self.bump();
                break;
            }
            if self.at_eof() || self.at_item_start() {
                self.unclosed(open);
                break;
            }
            let first = self.tok();
            self.mark().starts = true;
            match self.entry() {
                Ok(Entry::Stmt(kind)) => stmts.push(Stmt { kind: *kind, span: self.since(first) }),
                Ok(Entry::Value(e)) => {
                    let end = self.pos;
                    while self.eat(P::Semi) {}
                    if self.at(P::RBrace) || self.at_eof() || self.at_item_start() {
                        result = Some(Box::new(e));
                    } else {
                        self.pos = end;
                        stmts.push(self.value_in_the_middle(e));
                    }
                }
                Err(_) => {
                    self.sync_statement(first);
                    stmts.push(Stmt { kind: StmtKind::Error, span: self.since(first) });
                }
            }
        }
        Ok(Block { stmts, result, span: self.since(open) })
    }

    /// A keyword at the start of a line that only starts an item: a `}` was forgotten before it.
    fn at_item_start(&self) -> bool {
        let t = self.tok();
        let item = matches!(
            t.tok,
            Tok::Kw(Kw::Fn | Kw::Spec | Kw::Use | Kw::Interface | Kw::Implements | Kw::Struct | Kw::Table | Kw::Test | Kw::Const | Kw::Type)
        );
        t.line_start && (item || (t.tok == Tok::P(P::At) && self.attributes_lead_to_fn()))
    }

    fn attributes_lead_to_fn(&self) -> bool {
        let mut ahead = 0;
        while self.peek(ahead).tok == Tok::P(P::At) {
            ahead += if self.peek(ahead + 2).tok == Tok::P(P::LParen) { 5 } else { 2 };
        }
        self.peek(ahead).tok == Tok::Kw(Kw::Fn)
    }

    pub fn unclosed(&mut self, open: Token) {
        let t = self.tok();
        let found = self.describe(t);
        let d = Diagnostic::error("unclosed", format!("expected `}}`, found {found}"))
            .at(self.span_of(t), "the block is still open here")
            .also(self.span_of(open), "it was opened here")
            .help("add the missing `}`");
        self.report(d);
    }

    fn entry(&mut self) -> Parsed<Entry> {
        let kind = match self.tok().tok {
            Tok::Kw(Kw::Let) => self.let_stmt(false)?,
            Tok::Kw(Kw::Var) => self.let_stmt(true)?,
            Tok::Kw(Kw::For) => self.for_stmt(Vec::new())?,
            Tok::P(P::At) => {
                let attrs = self.attrs()?;
                self.for_stmt(attrs)?
            }
            Tok::Kw(Kw::If) => return self.if_entry(),
            Tok::Kw(Kw::Ghost) => StmtKind::Ghost(self.ghost()?),
            Tok::Kw(Kw::Assert) => {
                self.bump();
                StmtKind::Assert(self.expr()?)
            }
            _ => return self.expr_entry(),
        };
        self.expect_end()?;
        Ok(Entry::Stmt(Box::new(kind)))
    }

    /// `let a: T = e`, `let (a, b) = e`, `var a: T`
    fn let_stmt(&mut self, mutable: bool) -> Parsed<StmtKind> {
        self.bump();
        let tuple = self.eat(P::LParen);
        let names = if tuple {
            let names = self.list(P::RParen, "`,` or `)`", |p| p.ident("a name"))?;
            self.each_once(&names);
            names
        } else {
            vec![self.ident("a name")?]
        };
        let ty = if self.eat(P::Colon) { Some(self.ty()?) } else { None };
        let uninit = mutable && !tuple && ty.is_some() && !self.at(P::Eq);
        let value = if uninit {
            None
        } else {
            self.expect(P::Eq)?;
            Some(self.expr()?)
        };
        Ok(StmtKind::Let { mutable, names, tuple, ty, value })
    }

    /// `ghost let x = e`, `ghost var x = e`, `ghost x = e`, `ghost name(e, ..)`
    fn ghost(&mut self) -> Parsed<GhostKind> {
        self.bump();
        let mutable = self.at_kw(Kw::Var);
        if mutable || self.at_kw(Kw::Let) {
            self.bump();
            let name = self.ident("a name")?;
            self.expect(P::Eq)?;
            return Ok(GhostKind::Let { mutable, name, value: self.expr()? });
        }
        let e = self.expr()?;
        match e.kind {
            ExprKind::Call { .. } => Ok(GhostKind::Lemma(e)),
            ExprKind::Name(path) if path.module.is_none() && self.eat(P::Eq) => Ok(GhostKind::Assign { name: path.name, value: self.expr()? }),
            _ => Err(self.unexpected("`=`, or a call of a lemma")),
        }
    }

    /// Two results must not go to one name.
    fn each_once(&mut self, names: &[Ident]) {
        let mut seen: BTreeMap<&str, &Ident> = BTreeMap::new();
        for n in names {
            let Some(first) = seen.insert(&n.name, n) else { continue };
            let d = Diagnostic::error("duplicate-name", format!("`{}` takes two results", n.name))
                .at(n.span, "the second time")
                .also(first.span, "the first time")
                .help("give each result a name of its own");
            self.report(d);
        }
    }

    fn for_stmt(&mut self, attrs: Vec<Attr>) -> Parsed<StmtKind> {
        self.expect_kw(Kw::For)?;
        let var = self.ident("the name of the loop variable")?;
        self.expect_kw(Kw::In)?;
        let rev = self.eat_kw(Kw::Rev);
        let (lo, hi, inclusive) = self.range()?;
        let step = self.step()?;
        let mut invariants = Vec::new();
        while self.at_kw(Kw::Invariant) {
            self.mark().clause = true;
            self.bump();
            invariants.push(self.expr()?);
        }
        let body = self.block()?;
        Ok(StmtKind::For { attrs, var, rev, lo, hi, inclusive, step, invariants, body })
    }

    /// `step 16` behind the range of a loop; `step` is a name everywhere else.
    fn step(&mut self) -> Parsed<Option<Expr>> {
        let t = self.tok();
        if t.tok != Tok::Ident || self.slice(t) != "step" {
            return Ok(None);
        }
        self.bump();
        self.bound().map(Some)
    }

    /// `if` at the start of a statement: a statement, unless it is last in its block and has values.
    fn if_entry(&mut self) -> Parsed<Entry> {
        let first = self.tok();
        let (cond, then, els) = self.if_parts()?;
        self.expect_end()?;
        match els {
            Some(els) if then.result.is_some() && els.result.is_some() => {
                let kind = ExprKind::If { cond: Box::new(cond), then, els };
                Ok(Entry::Value(Expr { kind, span: self.since(first) }))
            }
            els => {
                self.dropped_results(&then, els.as_ref());
                Ok(Entry::Stmt(Box::new(StmtKind::If { cond, then, els })))
            }
        }
    }

    /// Reports the results of the blocks of an `if` that is a statement, along its `else if`s.
    fn dropped_results(&mut self, then: &Block, mut els: Option<&Block>) {
        let mut dropped: Vec<_> = then.result.iter().map(|e| e.span).collect();
        while let Some(block) = els {
            els = None;
            dropped.extend(block.result.iter().map(|e| e.span));
            if let [Stmt { kind: StmtKind::If { then, els: next, .. }, span }] = &block.stmts[..] {
                if *span == block.span {
                    dropped.extend(then.result.iter().map(|e| e.span));
                    els = next.as_ref();
                }
            }
        }
        for span in dropped {
            self.unused_value(span);
        }
    }

    /// `if c { } else if d { } else { }`: an `else if` is a block with one `if` in it.
    pub fn if_parts(&mut self) -> Parsed<(Expr, Block, Option<Block>)> {
        self.expect_kw(Kw::If)?;
        let cond = self.expr()?;
        let then = self.block()?;
        if !self.eat_kw(Kw::Else) {
            return Ok((cond, then, None));
        }
        if !self.at_kw(Kw::If) {
            return Ok((cond, then, Some(self.block()?)));
        }
        let first = self.tok();
        let (c, t, e) = self.nested(Self::if_parts)?;
        let span = self.since(first);
        let valued = t.result.is_some() && e.as_ref().is_some_and(|b| b.result.is_some());
        let block = match e {
            Some(els) if valued => {
                let kind = ExprKind::If { cond: Box::new(c), then: t, els };
                Block { stmts: vec![], result: Some(Box::new(Expr { kind, span })), span }
            }
            els => Block { stmts: vec![Stmt { kind: StmtKind::If { cond: c, then: t, els }, span }], result: None, span },
        };
        Ok((cond, then, Some(block)))
    }

    fn expr_entry(&mut self) -> Parsed<Entry> {
        let e = self.expr()?;
        let Some(op) = assign_op(self.tok().tok) else {
            self.expect_end()?;
            return Ok(Entry::Value(e));
        };
        if !is_place(&e) {
            let d = Diagnostic::error("not-a-place", "this cannot be assigned to")
                .at(e.span, "a value, not a place")
                .help("places are a `var` and its parts: `x`, `x[i]`, `x.f`, `x[off; k]`");
            self.report(d);
        }
        self.bump();
        let value = self.expr()?;
        self.expect_end()?;
        Ok(Entry::Stmt(Box::new(StmtKind::Assign { place: e, op, value })))
    }

    fn value_in_the_middle(&mut self, e: Expr) -> Stmt {
        let span = e.span;
        // An `if` with values that is not last: its values go nowhere, its statements might matter.
        self.unused_value(span);
        let kind = match e.kind {
            ExprKind::If { cond, then, els } => StmtKind::If { cond: *cond, then, els: Some(els) },
            _ => StmtKind::Error,
        };
        Stmt { kind, span }
    }

    fn unused_value(&mut self, span: santoku_diag::Span) {
        let d = Diagnostic::error("unused-value", "this value is not used")
            .at(span, "computed and dropped")
            .note("why: functions are pure, so computing a value and dropping it does nothing")
            .help("bind it with `let`, assign it, or make it the last expression of the block");
        self.report(d);
    }

    /// Skips to where a statement can begin: behind the end of this line, before the closing `}`.
    fn sync_statement(&mut self, first: Token) {
        let mut depth = 0u32;
        loop {
            let t = self.tok();
            let starts = matches!(t.tok, Tok::Kw(Kw::Let | Kw::Var | Kw::For | Kw::If | Kw::Assert | Kw::Ghost));
            let moved = t.start > first.start;
            match t.tok {
                Tok::Eof => return,
                Tok::P(P::RBrace) if depth == 0 => return,
                Tok::P(P::RBrace) => depth -= 1,
                _ if moved && self.at_item_start() => return,
                _ if depth == 0 && moved && (t.nl || (t.line_start && starts)) => return,
                Tok::P(P::LBrace) => depth += 1,
                _ => {}
            }
            self.bump();
        }
    }
}

/// `None`: not an assignment; `Some(None)`: plain `=`.
fn assign_op(t: Tok) -> Option<Option<BinOp>> {
    let Tok::P(p) = t else { return None };
    Some(Some(match p {
        P::Eq => return Some(None),
        P::PlusEq => BinOp::Add,
        P::MinusEq => BinOp::Sub,
        P::StarEq => BinOp::Mul,
        P::AmpEq => BinOp::BitAnd,
        P::PipeEq => BinOp::BitOr,
        P::CaretEq => BinOp::BitXor,
        P::ShlEq => BinOp::Shl,
        P::ShrEq => BinOp::Shr,
        P::RotlEq => BinOp::Rotl,
        P::RotrEq => BinOp::Rotr,
        _ => return None,
    }))
}

/// Places by shape; whether the root is a `var` is for name resolution to say.
fn is_place(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Name(p) => p.module.is_none(),
        ExprKind::Index { base, .. } | ExprKind::Slice { base, .. } | ExprKind::Field { base, .. } | ExprKind::TupleField { base, .. } => is_place(base),
        // `le32(b, i) = w` writes a word into bytes.
        ExprKind::Call { callee, args, .. } => {
            let word = matches!(callee.name.name.as_str(), "le16" | "le32" | "le64" | "be16" | "be32" | "be64");
            callee.module.is_none() && word && args.first().is_some_and(is_place)
        }
        _ => false,
    }
}
