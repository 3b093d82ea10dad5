//! Parser of the text form: declarations and statements.

use super::lex::{tokens, RefKind, Token};
use super::print::of_kind;
use super::ParseError;
use crate::data::*;
use crate::limits::{EXPR_DEPTH, STMT_DEPTH, TYPE_DEPTH};
use crate::spec::{Contract, ContractKind, Ghost, SpecFn};
use crate::ty::{LocalId, StructDef, Ty};
use num_bigint::BigInt;

pub(super) type Parse<T> = Result<T, ParseError>;

/// How deep expressions, types and statements may nest together; a little above the limits of each,
/// so that programs at the limits pass and the verifier names what exceeds them.
const DEPTH: usize = EXPR_DEPTH + STMT_DEPTH + TYPE_DEPTH;

pub(super) struct Parser {
    tokens: Vec<(Token, u32)>,
    pub at: usize,
    pub program: Program,
    /// Locals of the function being read.
    pub locals: Vec<Local>,
    depth: usize,
    /// The next expression is the first after `(`, so that `: type` may say its type.
    pub type_may_follow: bool,
}

pub(super) fn program(text: &str) -> Parse<Program> {
    let tokens = tokens(text)?;
    let mut p = Parser { tokens, at: 0, program: Program::default(), locals: Vec::new(), depth: 0, type_may_follow: false };
    p.header()?;
    loop {
        match p.next() {
            Token::End => return Ok(p.program),
            Token::Ident(word) => p.item(&word)?,
            _ => return p.error_before("a declaration is expected"),
        }
    }
}

impl Parser {
    pub fn peek(&self) -> &Token {
        self.tokens.get(self.at).map_or(&Token::End, |(t, _)| t)
    }

    pub fn next(&mut self) -> Token {
        let token = self.peek().clone();
        self.at += 1;
        token
    }

    /// An error at the next token.
    pub fn error<T>(&self, message: &str) -> Parse<T> {
        self.error_at(self.at, message)
    }

    pub fn error_before<T>(&self, message: &str) -> Parse<T> {
        self.error_at(self.at.saturating_sub(1), message)
    }

    fn error_at<T>(&self, at: usize, message: &str) -> Parse<T> {
        let line = self.tokens.get(at).or(self.tokens.last()).map_or(1, |(_, line)| *line);
        Err(ParseError { line, message: message.to_string() })
    }

    pub fn symbol(&mut self, symbol: &'static str) -> Parse<()> {
        if self.eat(symbol) {
            return Ok(());
        }
        self.error(&format!("`{symbol}` is expected"))
    }

    pub fn eat(&mut self, symbol: &'static str) -> bool {
        let here = *self.peek() == Token::Symbol(symbol);
        self.at += usize::from(here);
        here
    }

    pub fn eat_word(&mut self, word: &str) -> bool {
        let here = matches!(self.peek(), Token::Ident(w) if w == word);
        self.at += usize::from(here);
        here
    }

    fn word(&mut self, word: &str) -> Parse<()> {
        if self.eat_word(word) {
            return Ok(());
        }
        self.error(&format!("`{word}` is expected"))
    }

    fn name(&mut self) -> Parse<String> {
        match self.next() {
            Token::Ident(s) | Token::Text(s) => Ok(s),
            _ => self.error_before("a name is expected"),
        }
    }

    fn text(&mut self) -> Parse<String> {
        match self.next() {
            Token::Text(s) => Ok(s),
            _ => self.error_before("a quoted text is expected"),
        }
    }

    pub fn number(&mut self) -> Parse<BigInt> {
        match self.next() {
            Token::Number(v, None) => Ok(v),
            _ => self.error_before("a number is expected"),
        }
    }

    pub fn number_u32(&mut self) -> Parse<u32> {
        match u32::try_from(self.number()?) {
            Ok(n) => Ok(n),
            Err(_) => self.error_before("a number below 2^32 is expected"),
        }
    }

    pub fn number_u64(&mut self) -> Parse<u64> {
        match u64::try_from(self.number()?) {
            Ok(n) => Ok(n),
            Err(_) => self.error_before("a number below 2^64 is expected"),
        }
    }

    /// Items separated by commas up to `end`, which is consumed.
    pub fn list<T>(&mut self, end: &'static str, item: fn(&mut Self) -> Parse<T>) -> Parse<Vec<T>> {
        let mut out = Vec::new();
        if self.eat(end) {
            return Ok(out);
        }
        loop {
            out.push(item(self)?);
            if self.eat(end) {
                return Ok(out);
            }
            self.symbol(",")?;
        }
    }

    /// Runs `f` one level deeper, within the limit.
    pub fn deeper<T>(&mut self, f: impl FnOnce(&mut Self) -> Parse<T>) -> Parse<T> {
        if self.depth >= DEPTH {
            return self.error("this nests too deeply");
        }
        self.depth += 1;
        let result = f(self);
        self.depth -= 1;
        result
    }

    /// The id of a reference of this kind. A name beside it must be that of the thing, if it is known yet.
    pub fn reference(&mut self, kind: RefKind) -> Parse<u32> {
        let Token::Ref { kind: found, id, name } = self.next() else {
            return self.error_before("a reference is expected");
        };
        if found != kind {
            return self.error_before("a reference to something else is expected");
        }
        let at = id as usize;
        let known = match kind {
            RefKind::Local => self.locals.get(at).map(|l| &l.name),
            RefKind::Const => self.program.consts.get(at).map(|c| &c.name),
            RefKind::Struct => self.program.structs.get(at).map(|s| &s.name),
            RefKind::Func => self.program.funcs.get(at).map(|f| &f.name),
            RefKind::Spec => self.program.specs.get(at).map(|s| &s.name),
            RefKind::Var => None,
        };
        match (name, known) {
            (Some(name), Some(known)) if name != *known => {
                self.error_before(&format!("this is called {known}, not {name}"))
            }
            _ => Ok(id),
        }
    }

    fn loc(&mut self) -> Parse<Loc> {
        if !self.eat("@") {
            return Ok(Loc::default());
        }
        let mut loc = Loc { file: self.number_u32()?, ..Loc::default() };
        self.symbol(":")?;
        loc.line = self.number_u32()?;
        self.symbol(":")?;
        loc.col = self.number_u32()?;
        if self.eat("+") {
            loc.start = self.number_u32()?;
            self.symbol(":")?;
            loc.end = self.number_u32()?;
        }
        Ok(loc)
    }

    // ---- declarations ----

    fn header(&mut self) -> Parse<()> {
        // `santoku-ir 1`: the minus sign belongs to no number here.
        self.word("santoku")?;
        self.symbol("-")?;
        self.word("ir")?;
        if self.number()? != BigInt::from(1) {
            return self.error_before("this version of the text form is not known");
        }
        Ok(())
    }

    fn item(&mut self, word: &str) -> Parse<()> {
        match word {
            "file" => {
                let file = self.text()?;
                self.program.files.push(file);
            }
            "struct" => {
                let name = self.name()?;
                self.symbol("{")?;
                let fields = self.list("}", Self::field)?;
                self.program.structs.push(StructDef { name, fields });
            }
            "const" => {
                let name = self.name()?;
                self.symbol(":")?;
                let ty = self.ty()?;
                self.symbol("=")?;
                let value = self.const_value()?;
                let loc = self.loc()?;
                self.program.consts.push(Const { name, ty, value, loc });
            }
            "spec" => {
                let name = self.name()?;
                self.symbol("(")?;
                let params = self.list(")", Self::name)?;
                self.symbol("=")?;
                let body = self.spec()?;
                let loc = self.loc()?;
                self.program.specs.push(SpecFn { name, params, body, loc });
            }
            "fn" => {
                let func = self.func()?;
                self.program.funcs.push(func);
            }
            "test" => {
                let name = self.text()?;
                let func = FuncId(self.reference(RefKind::Func)?);
                let cases = if self.eat_word("from") { Some(self.cases(func)?) } else { None };
                self.program.tests.push(Test { name, func, cases });
            }
            _ => return self.error_before("a declaration is expected"),
        }
        Ok(())
    }

    /// A file, and a field for each parameter of the test.
    fn cases(&mut self, func: FuncId) -> Parse<Cases> {
        let file = self.text()?;
        let params = self.program.funcs.get(func.0 as usize).map_or(0, |f| f.params.len());
        let fields = (0..params).map(|_| self.text()).collect::<Parse<_>>()?;
        Ok(Cases { file, fields })
    }

    fn field(&mut self) -> Parse<(String, Ty)> {
        let name = self.name()?;
        self.symbol(":")?;
        Ok((name, self.ty()?))
    }

    fn const_value(&mut self) -> Parse<ConstValue> {
        self.deeper(|p| {
            if p.eat("[") {
                return Ok(ConstValue::Array(p.list("]", Self::const_value)?));
            }
            if p.eat("{") {
                return Ok(ConstValue::Struct(p.list("}", Self::const_value)?));
            }
            Ok(ConstValue::Scalar(p.number()?))
        })
    }

    fn func(&mut self) -> Parse<Func> {
        let name = self.name()?;
        let inline = match (self.eat_word("inline"), self.eat_word("noinline")) {
            (true, _) => Inline::Always,
            (false, true) => Inline::Never,
            (false, false) => Inline::Auto,
        };
        let declassifies = self.eat_word("declassifies");
        let applies = if self.eat_word("table") {
            Some(Applies::Table(ConstId(self.reference(RefKind::Const)?)))
        } else if self.eat_word("perm") {
            Some(Applies::Perm(ConstId(self.reference(RefKind::Const)?)))
        } else if self.eat_word("each") {
            Some(Applies::Each)
        } else {
            None
        };
        let export = if self.eat_word("export") { Some(self.text()?) } else { None };
        let loc = self.loc()?;
        self.symbol("{")?;
        let doc = if self.eat_word("doc") { self.text()? } else { String::new() };
        self.locals.clear();
        while let Some(local) = self.local()? {
            self.locals.push(local);
        }
        let lens = self.id_list("lens", LocalKind::Len)?;
        let params = self.id_list("params", LocalKind::Param)?;
        let rets = self.id_list("rets", LocalKind::Ret)?;
        let mut contracts = Vec::new();
        while let Some(contract) = self.contract()? {
            contracts.push(contract);
        }
        self.word("body")?;
        let body = self.block()?;
        self.symbol("}")?;
        let locals = std::mem::take(&mut self.locals);
        Ok(Func { name, export, inline, declassifies, applies, lens, params, rets, locals, body, contracts, doc, loc })
    }

    fn local(&mut self) -> Parse<Option<Local>> {
        let kinds = [
            ("len", LocalKind::Len),
            ("param", LocalKind::Param),
            ("ret", LocalKind::Ret),
            ("var", LocalKind::Var),
            ("counter", LocalKind::Counter),
        ];
        let Some((_, kind)) = kinds.into_iter().find(|(word, _)| self.eat_word(word)) else { return Ok(None) };
        let name = self.name()?;
        self.symbol(":")?;
        let public = self.eat_word("public");
        let ty = self.ty()?;
        Ok(Some(Local { name, ty, kind, public, loc: self.loc()? }))
    }

    fn id_list(&mut self, word: &str, kind: LocalKind) -> Parse<Vec<LocalId>> {
        if !self.eat_word(word) {
            return Ok(of_kind(&self.locals, kind));
        }
        self.symbol("(")?;
        self.list(")", |p| p.reference(RefKind::Local).map(LocalId))
    }

    fn contract(&mut self) -> Parse<Option<Contract>> {
        let kind = match (self.eat_word("requires"), self.eat_word("ensures")) {
            (true, _) => ContractKind::Requires,
            (false, true) => ContractKind::Ensures,
            (false, false) => return Ok(None),
        };
        let cond = self.spec()?;
        let text = self.text()?;
        Ok(Some(Contract { kind, cond, text, loc: self.loc()? }))
    }

    // ---- statements ----

    fn block(&mut self) -> Parse<Vec<Stmt>> {
        self.symbol("{")?;
        self.deeper(|p| {
            let mut out = Vec::new();
            while !p.eat("}") {
                out.push(p.stmt()?);
            }
            Ok(out)
        })
    }

    fn stmt(&mut self) -> Parse<Stmt> {
        if self.eat_word("call") {
            return self.call();
        }
        if self.eat_word("for") {
            return self.repeat();
        }
        if self.eat_word("if") {
            let cond = self.expr()?;
            let loc = self.loc()?;
            let then = self.block()?;
            let els = if self.eat_word("else") { self.block()? } else { Vec::new() };
            return Ok(Stmt::If { cond, then, els, loc });
        }
        if self.eat_word("assert") {
            let cond = self.expr()?;
            let text = self.text()?;
            return Ok(Stmt::Assert { cond, text, loc: self.loc()? });
        }
        if self.eat_word("ghost") {
            let (what, text) = (self.ghost()?, self.text()?);
            return Ok(Stmt::Ghost { what, text, loc: self.loc()? });
        }
        let dst = self.place()?;
        self.symbol("=")?;
        let src = self.expr()?;
        Ok(Stmt::Assign { dst, src, loc: self.loc()? })
    }

    fn ghost(&mut self) -> Parse<Ghost> {
        if self.eat_word("assert") {
            return Ok(Ghost::Assert(self.spec()?));
        }
        if self.eat_word("invariant") {
            return Ok(Ghost::Invariant(self.spec()?));
        }
        if self.eat_word("let") {
            let id = LocalId(self.reference(RefKind::Local)?);
            self.symbol("=")?;
            return Ok(Ghost::Let(id, self.spec()?));
        }
        self.word("lemma")?;
        let id = FuncId(self.reference(RefKind::Func)?);
        self.symbol("(")?;
        Ok(Ghost::Lemma(id, self.list(")", Self::spec)?))
    }

    fn call(&mut self) -> Parse<Stmt> {
        self.symbol("(")?;
        let dsts = self.list(")", Self::place)?;
        self.symbol("=")?;
        let func = FuncId(self.reference(RefKind::Func)?);
        let lens = if self.eat("<") { self.list(">", Self::expr)? } else { Vec::new() };
        self.symbol("(")?;
        let args = self.list(")", Self::expr)?;
        Ok(Stmt::Call { dsts, func, lens, args, loc: self.loc()? })
    }

    fn repeat(&mut self) -> Parse<Stmt> {
        let var = LocalId(self.reference(RefKind::Local)?);
        self.word("in")?;
        let lo = self.expr()?;
        self.symbol("..<")?;
        let hi = self.expr()?;
        let rev = self.eat_word("rev");
        let unroll = match (self.eat_word("unroll"), self.eat_word("rolled")) {
            (true, _) => Unroll::Always,
            (false, true) => Unroll::Never,
            (false, false) => Unroll::Auto,
        };
        let mut invariants = Vec::new();
        while self.eat_word("invariant") {
            invariants.push(self.expr()?);
        }
        let loc = self.loc()?;
        Ok(Stmt::For { var, lo, hi, rev, unroll, invariants, body: self.block()?, loc })
    }
}
