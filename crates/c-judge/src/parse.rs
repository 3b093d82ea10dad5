//! Words to trees. What is not of the C that we print is refused.

use crate::lex::{words, Word};
use crate::pieces::Pieces;
use crate::tree::{Ex, Function, Init, Kind, Num, Stmt, Type};
use santoku_num::Int;

/// Names of types beyond those of `stdint.h`: structs, and that of registers.
#[derive(Clone, Debug, Default)]
pub struct Types {
    pub structs: Vec<String>,
    pub lanes: Option<String>,
}

impl Types {
    pub fn of(pieces: &Pieces) -> Types {
        Types { structs: pieces.structs.iter().flatten().cloned().collect(), lanes: pieces.lanes.clone() }
    }
}

pub struct Parser<'a> {
    words: Vec<(Word, usize)>,
    at: usize,
    types: &'a Types,
}

pub type Res<T> = Result<T, (usize, String)>;

/// Binary operators, loosest first.
const LEVELS: [&[&str]; 8] = [&["|"], &["^"], &["&"], &["==", "!="], &["<", ">", "<=", ">="], &["<<", ">>"], &["+", "-"], &["*", "/", "%"]];

/// Written before a definition; they change who sees and who inlines it.
const QUALIFIERS: [&str; 6] = ["static", "inline", "const", "STK_BODY", "STK_NOINLINE", "STK_API"];

impl<'a> Parser<'a> {
    pub fn new(text: &str, types: &'a Types) -> Res<Parser<'a>> {
        Ok(Parser { words: words(text).map_err(|line| (line, "a character that C text of ours has not".to_string()))?, at: 0, types })
    }

    pub fn line(&self) -> usize {
        self.words.get(self.at).or(self.words.last()).map_or(1, |w| w.1)
    }

    fn fail<T>(&self, what: &str) -> Res<T> {
        let found = self.words.get(self.at).map_or("the end".to_string(), |w| format!("{:?}", w.0));
        Err((self.line(), format!("{what} expected before {found}")))
    }

    pub fn done(&self) -> bool {
        self.at >= self.words.len()
    }

    fn peek(&self, mark: &str) -> bool {
        self.ahead(0, mark)
    }

    fn ahead(&self, n: usize, mark: &str) -> bool {
        matches!(self.words.get(self.at + n), Some((Word::Mark(m), _)) if *m == mark)
    }

    fn name_ahead(&self, n: usize) -> Option<&str> {
        match self.words.get(self.at + n) {
            Some((Word::Name(s), _)) => Some(s),
            _ => None,
        }
    }

    pub fn take(&mut self, mark: &str) -> bool {
        let there = self.peek(mark);
        self.at += usize::from(there);
        there
    }

    pub fn want(&mut self, mark: &str) -> Res<()> {
        if self.take(mark) { Ok(()) } else { self.fail(&format!("`{mark}`")) }
    }

    pub fn take_name(&mut self, name: &str) -> bool {
        let there = self.name_ahead(0) == Some(name);
        self.at += usize::from(there);
        there
    }

    pub fn name(&mut self) -> Res<String> {
        match self.words.get(self.at) {
            Some((Word::Name(s), _)) => {
                self.at += 1;
                Ok(s.clone())
            }
            _ => self.fail("a name"),
        }
    }

    fn type_at(&self, n: usize) -> Option<Type> {
        let num = |signed, bits| Some(Type::Num(Num { signed, bits }));
        match self.name_ahead(n)? {
            "void" => Some(Type::Void),
            "uint8_t" => num(false, 8),
            "uint16_t" => num(false, 16),
            "uint32_t" => num(false, 32),
            // An address or a size: only casts and lengths are of these types.
            "uint64_t" | "size_t" | "uintptr_t" => num(false, 64),
            "stk_u128" => num(false, 128),
            "int8_t" => num(true, 8),
            "int16_t" => num(true, 16),
            "int32_t" => num(true, 32),
            "int64_t" => num(true, 64),
            "stk_i128" => num(true, 128),
            s if self.types.lanes.as_deref() == Some(s) => Some(Type::Lanes),
            s => self.types.structs.iter().any(|t| t == s).then(|| Type::Struct(s.to_string())),
        }
    }

    fn ty(&mut self) -> Res<Type> {
        while self.take_name("const") {}
        match self.type_at(0) {
            Some(t) => {
                self.at += 1;
                Ok(t)
            }
            None => self.fail("a type"),
        }
    }

    /// `[2][3]` behind a name, around `elem`.
    fn dims(&mut self, elem: Type) -> Res<Type> {
        if !self.take("[") {
            return Ok(elem);
        }
        let n = match self.words.get(self.at) {
            Some((Word::Number(v, _), _)) => v.to_u64(),
            _ => None,
        };
        let Some(n) = n else { return self.fail("a length") };
        self.at += 1;
        self.want("]")?;
        Ok(Type::Array(Box::new(self.dims(elem)?), Some(n)))
    }

    /// The name in `STK_NAME(name)`, or a name.
    fn called(&mut self) -> Res<String> {
        if self.name_ahead(0) == Some("STK_NAME") {
            self.at += 1;
            self.want("(")?;
            let name = self.name()?;
            self.want(")")?;
            return Ok(name);
        }
        self.name()
    }

    /// Members of the struct of a `typedef`, and its name.
    pub fn typedef(&mut self) -> Res<(String, Vec<(String, Type)>)> {
        if !(self.take_name("typedef") && self.take_name("struct")) {
            return self.fail("`typedef struct`");
        }
        self.want("{")?;
        let mut fields = vec![];
        while !self.take("}") {
            let base = self.ty()?;
            let name = self.name()?;
            fields.push((name, self.dims(base)?));
            self.want(";")?;
        }
        let name = self.name()?;
        self.want(";")?;
        Ok((name, fields))
    }

    /// `STK_TABLE type name[..] = value;`
    pub fn table(&mut self) -> Res<(String, Type, Init)> {
        if !self.take_name("STK_TABLE") {
            return self.fail("`STK_TABLE`");
        }
        let base = self.ty()?;
        let name = self.name()?;
        let ty = self.dims(base)?;
        self.want("=")?;
        let value = self.init()?;
        self.want(";")?;
        Ok((name, ty, value))
    }

    fn init(&mut self) -> Res<Init> {
        if !self.take("{") {
            return Ok(Init::Value(self.choice()?));
        }
        let mut all = vec![];
        loop {
            all.push(self.init()?);
            if !self.take(",") {
                self.want("}")?;
                return Ok(Init::List(all));
            }
        }
    }

    pub fn function(&mut self) -> Res<Function> {
        while self.name_ahead(0).is_some_and(|n| QUALIFIERS.contains(&n)) {
            self.at += 1;
        }
        let ret = self.ty()?;
        let name = self.called()?;
        self.want("(")?;
        let (mut params, mut alone) = (vec![], vec![]);
        if self.name_ahead(0) == Some("void") && self.ahead(1, ")") {
            self.at += 1;
        } else {
            loop {
                let (param, restrict) = self.parameter()?;
                params.push(param);
                alone.push(restrict);
                if !self.take(",") {
                    break;
                }
            }
        }
        self.want(")")?;
        Ok(Function { ret, name, params, alone, body: self.block()? })
    }

    /// Name, type and whether it is a pointer to that; and whether it points there alone.
    fn parameter(&mut self) -> Res<((String, Type, bool), bool)> {
        let base = self.ty()?;
        let wrapped = self.peek("(");
        if wrapped {
            self.at += 1;
        }
        let pointer = self.take("*");
        let alone = self.take_name("restrict");
        let name = self.name()?;
        if wrapped {
            self.want(")")?;
        }
        Ok(((name, if wrapped { self.dims(base)? } else { base }, pointer), alone))
    }

    fn block(&mut self) -> Res<Vec<Stmt>> {
        self.want("{")?;
        let mut all = vec![];
        while !self.take("}") {
            all.push(self.stmt()?);
        }
        Ok(all)
    }

    fn stmt(&mut self) -> Res<Stmt> {
        let line = self.line();
        let kind = self.kind()?;
        Ok(Stmt { kind, line })
    }

    fn kind(&mut self) -> Res<Kind> {
        if self.peek("{") {
            return Ok(Kind::Block(self.block()?));
        }
        match self.name_ahead(0) {
            Some("for") => return self.loops(),
            Some("if") => return self.branch(),
            Some("return") => {
                self.at += 1;
                let value = self.choice()?;
                self.want(";")?;
                return Ok(Kind::Return(value));
            }
            Some(_) if self.type_at(0).is_some() => return self.declaration(),
            _ => {}
        }
        let left = self.choice()?;
        let kind = if self.take("=") {
            Kind::Assign(left, self.choice()?)
        } else if self.take("|=") {
            Kind::Gather(left, self.choice()?)
        } else {
            Kind::Do(left)
        };
        self.want(";")?;
        Ok(kind)
    }

    fn declaration(&mut self) -> Res<Kind> {
        let base = self.ty()?;
        let name = self.name()?;
        let ty = self.dims(base)?;
        let (mut init, mut zero) = (None, false);
        if self.take("=") {
            if self.take("{") {
                zero = matches!(self.words.get(self.at), Some((Word::Number(v, _), _)) if v.is_zero());
                self.at += 1;
                self.want("}")?;
            } else {
                init = Some(self.choice()?);
            }
        }
        self.want(";")?;
        Ok(Kind::Declare { ty, name, init, zero })
    }

    fn loops(&mut self) -> Res<Kind> {
        self.at += 1;
        self.want("(")?;
        let var = self.choice()?;
        self.want("=")?;
        let from = self.choice()?;
        self.want(";")?;
        let cond = self.choice()?;
        self.want(";")?;
        let step = if self.peek(")") { None } else { Some(self.choice()?) };
        self.want(")")?;
        Ok(Kind::For { init: Box::new((var, from)), cond, step, body: self.block()? })
    }

    fn branch(&mut self) -> Res<Kind> {
        self.at += 1;
        self.want("(")?;
        let cond = self.choice()?;
        self.want(")")?;
        let then = self.block()?;
        let els = if self.take_name("else") { self.block()? } else { vec![] };
        Ok(Kind::If { cond, then, els })
    }

    pub fn choice(&mut self) -> Res<Ex> {
        let c = self.binary(0)?;
        if !self.take("?") {
            return Ok(c);
        }
        let a = self.choice()?;
        self.want(":")?;
        let b = self.choice()?;
        Ok(Ex::Choice(Box::new(c), Box::new(a), Box::new(b)))
    }

    fn binary(&mut self, level: usize) -> Res<Ex> {
        let Some(marks) = LEVELS.get(level) else { return self.unary() };
        let mut left = self.binary(level + 1)?;
        while let Some(mark) = marks.iter().find(|m| self.peek(m)) {
            self.at += 1;
            let right = self.binary(level + 1)?;
            left = Ex::Bin(mark, Box::new(left), Box::new(right));
        }
        Ok(left)
    }

    fn unary(&mut self) -> Res<Ex> {
        for mark in ["-", "~"] {
            if self.take(mark) {
                return Ok(Ex::Un(mark, Box::new(self.unary()?)));
            }
        }
        if self.take("&") {
            return Ok(Ex::Address(Box::new(self.unary()?)));
        }
        if self.take("*") {
            return Ok(Ex::Behind(Box::new(self.unary()?)));
        }
        if self.peek("(") && self.type_at(1).is_some() {
            self.at += 1;
            let mut ty = self.ty()?;
            if self.take("(") {
                self.want("*")?;
                self.want(")")?;
                ty = Type::Array(Box::new(self.dims(ty)?), None);
            }
            self.want(")")?;
            return Ok(Ex::Cast(ty, Box::new(self.unary()?)));
        }
        self.postfix()
    }

    fn postfix(&mut self) -> Res<Ex> {
        let mut e = self.primary()?;
        loop {
            if self.take("[") {
                let i = self.choice()?;
                self.want("]")?;
                e = Ex::Index(Box::new(e), Box::new(i));
            } else if self.take(".") {
                e = Ex::Field(Box::new(e), self.name()?);
            } else if self.take("->") {
                e = Ex::Field(Box::new(Ex::Behind(Box::new(e))), self.name()?);
            } else if self.take("++") {
                e = Ex::Step(Box::new(e), "+");
            } else if self.take("--") {
                e = Ex::Step(Box::new(e), "-");
            } else {
                return Ok(e);
            }
        }
    }

    fn primary(&mut self) -> Res<Ex> {
        if self.take("(") {
            let e = self.choice()?;
            self.want(")")?;
            return Ok(e);
        }
        if let Some((Word::Number(v, unsigned), _)) = self.words.get(self.at).cloned() {
            self.at += 1;
            return self.literal(v, if unsigned { Num::U32 } else { Num::INT });
        }
        let name = self.called()?;
        let constant = |signed, bits| Some(Num { signed, bits });
        let of = match name.as_str() {
            "UINT32_C" => constant(false, 32),
            "UINT64_C" => constant(false, 64),
            "INT32_C" => constant(true, 32),
            "INT64_C" => constant(true, 64),
            "sizeof" => {
                self.want("(")?;
                let ty = self.ty()?;
                self.want(")")?;
                return Ok(Ex::SizeOf(ty));
            }
            _ => None,
        };
        if !self.take("(") {
            return Ok(Ex::Name(name));
        }
        if let Some(ty) = of {
            let Some((Word::Number(v, false), _)) = self.words.get(self.at).cloned() else { return self.fail("a number") };
            self.at += 1;
            self.want(")")?;
            return self.literal(v, ty);
        }
        let mut args = vec![];
        while !self.take(")") {
            args.push(self.choice()?);
            if !self.peek(")") {
                self.want(",")?;
            }
        }
        Ok(Ex::Call(name, args))
    }

    /// A number that its type holds.
    fn literal(&self, v: Int, ty: Num) -> Res<Ex> {
        if ty.range().holds(v.clone()) { Ok(Ex::Number(v, ty)) } else { self.fail("a number that its type holds") }
    }
}
