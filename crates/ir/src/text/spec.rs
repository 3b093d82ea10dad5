//! Specification expressions: printer and parser side by side.

use super::lex::{RefKind, Token};
use super::parse::{Parse, Parser};
use super::print::{cmp_symbol, Printer};
use crate::data::{CmpOp, SpecId};
use crate::spec::{SpecExpr, SpecOp};

/// Infix operators on specification expressions.
#[derive(Clone, Copy)]
enum Infix {
    Arith(SpecOp),
    Cmp(CmpOp),
    And,
    Or,
    Implies,
}

const INFIX: [(&str, Infix); 18] = [
    ("+", Infix::Arith(SpecOp::Add)),
    ("-", Infix::Arith(SpecOp::Sub)),
    ("*", Infix::Arith(SpecOp::Mul)),
    ("/", Infix::Arith(SpecOp::Div)),
    ("%", Infix::Arith(SpecOp::Mod)),
    ("**", Infix::Arith(SpecOp::Pow)),
    ("&", Infix::Arith(SpecOp::And)),
    ("|", Infix::Arith(SpecOp::Or)),
    ("^", Infix::Arith(SpecOp::Xor)),
    ("==", Infix::Cmp(CmpOp::Eq)),
    ("!=", Infix::Cmp(CmpOp::Ne)),
    ("<", Infix::Cmp(CmpOp::Lt)),
    ("<=", Infix::Cmp(CmpOp::Le)),
    (">", Infix::Cmp(CmpOp::Gt)),
    (">=", Infix::Cmp(CmpOp::Ge)),
    ("&&", Infix::And),
    ("||", Infix::Or),
    ("==>", Infix::Implies),
];

fn arith_symbol(op: SpecOp) -> &'static str {
    match op {
        SpecOp::Add => "+",
        SpecOp::Sub => "-",
        SpecOp::Mul => "*",
        SpecOp::Div => "/",
        SpecOp::Mod => "%",
        SpecOp::Pow => "**",
        SpecOp::And => "&",
        SpecOp::Or => "|",
        SpecOp::Xor => "^",
    }
}

impl Printer<'_> {
    pub fn spec(&self, e: &SpecExpr) -> String {
        let infix = |a: &SpecExpr, op: &str, b: &SpecExpr| format!("({} {op} {})", self.spec(a), self.spec(b));
        let var = |slot: u32| Self::reference(RefKind::Var, slot, None);
        let fold = |word: &str, slot: u32, lo: &SpecExpr, hi: &SpecExpr, body: &SpecExpr| {
            format!("{word}({}, {}, {}, {})", var(slot), self.spec(lo), self.spec(hi), self.spec(body))
        };
        match e {
            SpecExpr::Int(v) => v.to_string(),
            SpecExpr::Bool(b) => b.to_string(),
            SpecExpr::Var(slot) => var(*slot),
            SpecExpr::Place(p) => self.place(p),
            SpecExpr::Index(a, i) => format!("at({}, {})", self.spec(a), self.spec(i)),
            SpecExpr::Field(a, i) => format!("field({}, {i})", self.spec(a)),
            SpecExpr::Len(a) => format!("len({})", self.spec(a)),
            SpecExpr::Neg(a) => format!("neg({})", self.spec(a)),
            SpecExpr::Bin(op, a, b) => infix(a, arith_symbol(*op), b),
            SpecExpr::Cmp(op, a, b) => infix(a, cmp_symbol(*op), b),
            SpecExpr::Congruent(a, b, m) => format!("cong({}, {}, {})", self.spec(a), self.spec(b), self.spec(m)),
            SpecExpr::Not(a) => format!("not({})", self.spec(a)),
            SpecExpr::And(a, b) => infix(a, "&&", b),
            SpecExpr::Or(a, b) => infix(a, "||", b),
            SpecExpr::Implies(a, b) => infix(a, "==>", b),
            SpecExpr::If(c, a, b) => format!("if({}, {}, {})", self.spec(c), self.spec(a), self.spec(b)),
            SpecExpr::Let(slot, a, b) => format!("let({}, {}, {})", var(*slot), self.spec(a), self.spec(b)),
            SpecExpr::Sum { slot, lo, hi, body } => fold("sum", *slot, lo, hi, body),
            SpecExpr::Forall { slot, lo, hi, body } => fold("forall", *slot, lo, hi, body),
            SpecExpr::Array(es) => format!("[{}]", self.specs(es)),
            SpecExpr::Call(id, args) => {
                let f = self.program.specs.get(id.0 as usize);
                let head = Self::reference(RefKind::Spec, id.0, f.map(|f| f.name.as_str()));
                format!("{head}({})", self.specs(args))
            }
        }
    }

    pub fn specs(&self, es: &[SpecExpr]) -> String {
        es.iter().map(|e| self.spec(e)).collect::<Vec<_>>().join(", ")
    }
}

impl Parser {
    pub fn spec(&mut self) -> Parse<SpecExpr> {
        self.deeper(Self::spec_here)
    }

    fn spec_here(&mut self) -> Parse<SpecExpr> {
        match self.peek().clone() {
            Token::Number(v, None) => {
                self.next();
                Ok(SpecExpr::Int(v))
            }
            Token::Ref { kind: RefKind::Var, .. } => Ok(SpecExpr::Var(self.reference(RefKind::Var)?)),
            Token::Ref { kind: RefKind::Spec, .. } => {
                let id = self.reference(RefKind::Spec)?;
                self.symbol("(")?;
                Ok(SpecExpr::Call(SpecId(id), self.list(")", Self::spec)?))
            }
            Token::Ref { .. } => Ok(SpecExpr::Place(self.place()?)),
            Token::Symbol("(") => self.spec_infix(),
            Token::Symbol("[") => {
                self.next();
                Ok(SpecExpr::Array(self.list("]", Self::spec)?))
            }
            Token::Ident(word) => {
                self.next();
                self.spec_word(&word)
            }
            _ => self.error("a specification expression is expected"),
        }
    }

    fn spec_infix(&mut self) -> Parse<SpecExpr> {
        self.symbol("(")?;
        let a = Box::new(self.spec()?);
        let found = INFIX.iter().find(|(s, _)| *self.peek() == Token::Symbol(s));
        let Some((symbol, op)) = found else { return self.error("an operator is expected") };
        self.symbol(symbol)?;
        let b = Box::new(self.spec()?);
        self.symbol(")")?;
        Ok(match op {
            Infix::Arith(op) => SpecExpr::Bin(*op, a, b),
            Infix::Cmp(op) => SpecExpr::Cmp(*op, a, b),
            Infix::And => SpecExpr::And(a, b),
            Infix::Or => SpecExpr::Or(a, b),
            Infix::Implies => SpecExpr::Implies(a, b),
        })
    }

    fn spec_word(&mut self, word: &str) -> Parse<SpecExpr> {
        match word {
            "true" => return Ok(SpecExpr::Bool(true)),
            "false" => return Ok(SpecExpr::Bool(false)),
            _ => self.symbol("(")?,
        }
        let e = match word {
            "at" => SpecExpr::Index(self.spec_arg()?, Box::new(self.spec()?)),
            "field" => SpecExpr::Field(self.spec_arg()?, self.number_u32()?),
            "len" => SpecExpr::Len(Box::new(self.spec()?)),
            "neg" => SpecExpr::Neg(Box::new(self.spec()?)),
            "not" => SpecExpr::Not(Box::new(self.spec()?)),
            "cong" => SpecExpr::Congruent(self.spec_arg()?, self.spec_arg()?, Box::new(self.spec()?)),
            "if" => SpecExpr::If(self.spec_arg()?, self.spec_arg()?, Box::new(self.spec()?)),
            "let" => SpecExpr::Let(self.slot()?, self.spec_arg()?, Box::new(self.spec()?)),
            "sum" | "forall" => {
                let (slot, lo, hi) = (self.slot()?, self.spec_arg()?, self.spec_arg()?);
                let body = Box::new(self.spec()?);
                match word {
                    "sum" => SpecExpr::Sum { slot, lo, hi, body },
                    _ => SpecExpr::Forall { slot, lo, hi, body },
                }
            }
            _ => return self.error("a specification expression is expected"),
        };
        self.symbol(")")?;
        Ok(e)
    }

    /// A binder and the comma after it.
    fn slot(&mut self) -> Parse<u32> {
        let slot = self.reference(RefKind::Var)?;
        self.symbol(",")?;
        Ok(slot)
    }

    /// An argument and the comma after it.
    fn spec_arg(&mut self) -> Parse<Box<SpecExpr>> {
        let e = self.spec()?;
        self.symbol(",")?;
        Ok(Box::new(e))
    }
}
