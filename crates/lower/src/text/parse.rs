//! Text as modules.
//! Trusted: nothing: nothing that ships is made of it.

use super::words::{find, BIN, CMP, CONVERT, SHIFT};
use crate::data::{Address, Block, Count, For, Func, Inst, Kind, Machine, Module, Named, Op, Param, Slot, Table, Type, Value};

/// What is wrong with a text, and on which line, counted from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    pub line: usize,
    pub reason: String,
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "line {}: {}", self.line, self.reason)
    }
}

impl std::error::Error for Error {}

type Res<T> = Result<T, Error>;

/// # Errors
/// The first line that is none of a module.
pub fn parse(text: &str) -> Res<Module> {
    let mut p = Parser { tokens: tokens(text)?, at: 0, depth: 0, module: Module::default() };
    p.machine()?;
    while p.peek() == "table" {
        let t = p.table()?;
        p.module.tables.push(t);
    }
    while p.peek() == "func" {
        let f = p.func()?;
        p.module.funcs.push(f);
    }
    if p.at < p.tokens.len() {
        return Err(p.wrong("`func`"));
    }
    Ok(p.module)
}

/// Blocks within blocks.
const DEPTH_MAX: u32 = 200;

struct Token {
    text: String,
    line: usize,
    quoted: bool,
}

/// Words, numbers, quoted names, single signs; `#` begins a comment.
fn tokens(text: &str) -> Res<Vec<Token>> {
    let mut out = vec![];
    for (k, line) in text.lines().enumerate() {
        let line_number = k + 1;
        let mut rest = line.trim_start();
        while let Some(c) = rest.chars().next() {
            let (token, quoted, used) = match c {
                '#' => break,
                '"' => {
                    let end = rest[1..].find('"').ok_or_else(|| Error { line: line_number, reason: "a name without an end".into() })?;
                    (rest[1..=end].to_string(), true, end + 2)
                }
                '-' if rest.starts_with("->") => ("->".to_string(), false, 2),
                _ if part_of_word(c) => {
                    let end = rest.find(|c| !part_of_word(c)).unwrap_or(rest.len());
                    (rest[..end].to_string(), false, end)
                }
                _ => (c.to_string(), false, c.len_utf8()),
            };
            out.push(Token { text: token, line: line_number, quoted });
            rest = rest[used..].trim_start();
        }
    }
    Ok(out)
}

fn part_of_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '.' | '_')
}

struct Parser {
    tokens: Vec<Token>,
    at: usize,
    depth: u32,
    module: Module,
}

impl Parser {
    fn peek(&self) -> &str {
        self.tokens.get(self.at).filter(|t| !t.quoted).map_or("", |t| &t.text)
    }

    fn wrong(&self, wanted: &str) -> Error {
        let at = self.tokens.get(self.at).or(self.tokens.last());
        let found = self.tokens.get(self.at).map_or("the end".to_string(), |t| format!("`{}`", t.text));
        Error { line: at.map_or(1, |t| t.line), reason: format!("{found} where {wanted} is expected") }
    }

    fn take(&mut self, word: &str) -> bool {
        let here = self.peek() == word;
        self.at += usize::from(here);
        here
    }

    fn expect(&mut self, word: &str) -> Res<()> {
        if self.take(word) { Ok(()) } else { Err(self.wrong(&format!("`{word}`"))) }
    }

    fn quoted(&mut self) -> Res<String> {
        let text = self.tokens.get(self.at).filter(|t| t.quoted).map(|t| t.text.clone()).ok_or_else(|| self.wrong("a name in quotes"))?;
        self.at += 1;
        Ok(text)
    }

    fn number<T: std::str::FromStr>(&mut self) -> Res<T> {
        let n = self.peek().parse().map_err(|_| self.wrong("a number"))?;
        self.at += 1;
        Ok(n)
    }

    fn after<T: std::str::FromStr>(&mut self, sign: &str) -> Res<T> {
        self.expect(sign)?;
        self.number()
    }

    fn value(&mut self) -> Res<Value> {
        self.after("%").map(Value)
    }

    /// Items with commas between them, up to the closing sign.
    fn list<T>(&mut self, close: &str, item: &mut dyn FnMut(&mut Parser) -> Res<T>) -> Res<Vec<T>> {
        let mut out = vec![];
        while !self.take(close) {
            if !out.is_empty() {
                self.expect(",")?;
            }
            out.push(item(self)?);
        }
        Ok(out)
    }

    fn machine(&mut self) -> Res<()> {
        self.expect("machine")?;
        let mut words = vec![];
        while self.peek().parse::<u32>().is_ok() {
            words.push(self.number()?);
        }
        let big_endian = self.take("big");
        if !big_endian {
            self.expect("little")?;
        }
        self.module.machine = Machine { words, big_endian };
        Ok(())
    }

    fn table(&mut self) -> Res<Table> {
        self.expect("table")?;
        let number: usize = self.after("@")?;
        if number != self.module.tables.len() {
            return Err(self.wrong(&format!("table @{}", self.module.tables.len())));
        }
        let name = self.quoted()?;
        self.expect("align")?;
        let align = self.number()?;
        self.expect("=")?;
        let mut bytes = vec![];
        let hex = |t: &str| t.len() % 2 == 0 && !t.is_empty() && t.bytes().all(|b| b.is_ascii_hexdigit());
        while hex(self.peek()) {
            let text = self.peek().to_string();
            bytes.extend((0..text.len()).step_by(2).filter_map(|k| u8::from_str_radix(&text[k..k + 2], 16).ok()));
            self.at += 1;
        }
        Ok(Table { name, align, bytes })
    }

    fn func(&mut self) -> Res<Func> {
        self.expect("func")?;
        let name = self.quoted()?;
        let export = if self.take("export") { Some(self.quoted()?) } else { None };
        let apart = self.take("noinline");
        let declassifies = self.take("declassifies");
        self.expect("(")?;
        let params = self.list(")", &mut |p| {
            let (value, ty) = p.named()?;
            Ok(Param { value, ty, name: p.quoted()?, written: p.take("out"), most: if p.take("most") { Some(p.number()?) } else { None } })
        })?;
        self.expect("->")?;
        self.expect("(")?;
        let results = self.list(")", &mut Parser::ty)?;
        self.expect("{")?;
        let mut slots = vec![];
        while self.peek() == "slot" {
            slots.push(self.slot(slots.len())?);
        }
        let body = self.block()?;
        Ok(Func { name, export, apart, declassifies, params, results, slots, body, notes: Default::default() })
    }

    fn slot(&mut self, number: usize) -> Res<Slot> {
        self.expect("slot")?;
        if self.after::<usize>("$")? != number {
            return Err(self.wrong(&format!("slot ${number}")));
        }
        let name = self.quoted()?;
        let bytes = self.after(":")?;
        self.expect("align")?;
        let align = self.number()?;
        Ok(Slot { name, bytes, align, secret: self.take("!") })
    }

    fn ty(&mut self) -> Res<Type> {
        let word = self.peek().to_string();
        let kind = match word.strip_prefix('w').and_then(|b| b.parse().ok()) {
            Some(bits) => Kind::Word(bits),
            None if word == "ptr" => Kind::Ptr,
            None => return Err(self.wrong("a type")),
        };
        self.at += 1;
        Ok(Type { kind, secret: self.take("!") })
    }

    fn named(&mut self) -> Res<Named> {
        let v = self.value()?;
        self.expect(":")?;
        Ok((v, self.ty()?))
    }

    /// Up to the closing brace.
    fn block(&mut self) -> Res<Block> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(self.wrong("fewer blocks within blocks"));
        }
        let mut b = Block::default();
        while !matches!(self.peek(), "}" | "yield") {
            b.insts.push(self.inst()?);
        }
        if self.take("yield") {
            b.yields.push(self.value()?);
            while self.take(",") {
                b.yields.push(self.value()?);
            }
        }
        self.expect("}")?;
        self.depth -= 1;
        Ok(b)
    }

    fn inst(&mut self) -> Res<Inst> {
        match self.peek().to_string().as_str() {
            "copy" => {
                self.at += 1;
                let to = self.address()?;
                self.expect(",")?;
                let from = self.address()?;
                self.expect(",")?;
                Ok(Inst::Copy { to, from, count: self.count()? })
            }
            "call" => self.call(vec![]),
            "if" => self.branch(),
            "for" => self.rounds(),
            store if store.starts_with("store.") => {
                let bytes = store["store.".len()..].parse().map_err(|_| self.wrong("a store"))?;
                self.at += 1;
                let at = self.address()?;
                self.expect(",")?;
                Ok(Inst::Store { bytes, at, value: self.value()? })
            }
            _ => {
                let mut dst = vec![self.named()?];
                while self.take(",") {
                    dst.push(self.named()?);
                }
                self.expect("=")?;
                if self.peek() == "call" { self.call(dst) } else { Ok(Inst::Let { dst, op: self.op()? }) }
            }
        }
    }

    fn call(&mut self, dst: Vec<Named>) -> Res<Inst> {
        self.expect("call")?;
        let name = self.quoted()?;
        let func = self.module.funcs.iter().position(|f| f.name == name).ok_or_else(|| self.wrong("a function that stands before this one"))?;
        self.expect("(")?;
        Ok(Inst::Call { dst, func: func as u32, args: self.list(")", &mut Parser::value)? })
    }

    fn names(&mut self) -> Res<Vec<Named>> {
        self.expect("->")?;
        self.expect("(")?;
        let dst = self.list(")", &mut Parser::named)?;
        self.expect("{")?;
        Ok(dst)
    }

    fn branch(&mut self) -> Res<Inst> {
        self.expect("if")?;
        let cond = self.value()?;
        let dst = self.names()?;
        let then = self.block()?;
        self.expect("else")?;
        self.expect("{")?;
        Ok(Inst::If { cond, dst, then, els: self.block()? })
    }

    fn rounds(&mut self) -> Res<Inst> {
        self.expect("for")?;
        let counter = self.named()?;
        self.expect("=")?;
        let lo = self.value()?;
        self.expect("to")?;
        let hi = self.value()?;
        let (rev, signed) = (self.take("rev"), self.take("signed"));
        self.expect("carry")?;
        self.expect("(")?;
        let carried = self.list(")", &mut |p| {
            let named = p.named()?;
            p.expect("=")?;
            Ok((named, p.value()?))
        })?;
        let dst = self.names()?;
        Ok(Inst::For(Box::new(For { counter, lo, hi, rev, signed, carried, dst, body: self.block()? })))
    }

    fn op(&mut self) -> Res<Op> {
        let word = self.peek().to_string();
        self.at += 1;
        let two = |p: &mut Parser| -> Res<(Value, Value)> {
            let a = p.value()?;
            p.expect(",")?;
            Ok((a, p.value()?))
        };
        if let Some(op) = find(&BIN, &word) {
            return two(self).map(|(a, b)| Op::Bin(op, a, b));
        }
        if let Some(op) = find(&SHIFT, &word) {
            return two(self).map(|(a, b)| Op::Shift(op, a, b));
        }
        if let Some(op) = find(&CMP, &word) {
            return two(self).map(|(a, b)| Op::Cmp(op, a, b));
        }
        if let Some(op) = find(&CONVERT, &word) {
            return self.value().map(|a| Op::Convert(op, a));
        }
        let three = |p: &mut Parser, make: fn(Value, Value, Value) -> Op| {
            let (a, b) = two(p)?;
            p.expect(",")?;
            Ok(make(a, b, p.value()?))
        };
        match word.as_str() {
            "const" => self.number().map(Op::Const),
            "slot" => self.after("$").map(Op::Slot),
            "table" => self.after("@").map(Op::Table),
            "at" => self.address().map(Op::At),
            "addc" => three(self, Op::AddCarry),
            "subb" => three(self, Op::SubBorrow),
            "select" => three(self, Op::Select),
            load if load.starts_with("load.") => {
                let size = &load["load.".len()..];
                let (size, signed) = size.strip_suffix('s').map_or((size, false), |s| (s, true));
                let bytes = size.parse().map_err(|_| self.wrong("a load"))?;
                Ok(Op::Load { bytes, signed, at: self.address()? })
            }
            _ => {
                self.at -= 1;
                Err(self.wrong("an operation"))
            }
        }
    }

    fn address(&mut self) -> Res<Address> {
        self.expect("[")?;
        let mut a = Address::of(self.value()?);
        while !self.take("]") {
            if self.take("-") {
                a.offset = -self.number::<i64>()?;
                continue;
            }
            self.expect("+")?;
            if self.peek() == "%" {
                let v = self.value()?;
                a.index = Some((v, self.after("*")?));
            } else {
                a.offset = self.number()?;
            }
        }
        Ok(a)
    }

    fn count(&mut self) -> Res<Count> {
        if self.peek() != "%" {
            return self.number().map(|plus| Count { times: None, plus });
        }
        let v = self.value()?;
        let times = Some((v, self.after("*")?));
        let below = self.take("-");
        if !below {
            self.expect("+")?;
        }
        let n: i64 = self.number()?;
        Ok(Count { times, plus: if below { -n } else { n } })
    }
}
