//! The C that is read: types, expressions, statements, functions.

use santoku_num::{Int, Itv};

/// An integer type of exact width.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Num {
    pub signed: bool,
    pub bits: u32,
}

impl Num {
    pub const U32: Num = Num { signed: false, bits: 32 };
    pub const U64: Num = Num { signed: false, bits: 64 };
    pub const INT: Num = Num { signed: true, bits: 32 };

    pub fn range(self) -> Itv {
        if self.signed { Itv::new(Int::pow2(self.bits - 1).neg(), Int::mask(self.bits - 1)) } else { Itv::word(self.bits) }
    }

    /// C11 6.3.1.1: smaller ones are computed with as `int`, which has 32 bits.
    pub fn promoted(self) -> Num {
        if self.bits < 32 { Num::INT } else { self }
    }

    /// C11 6.3.1.8: the type in which two promoted operands meet.
    pub fn common(self, other: Num) -> Num {
        let wide = self.bits.max(other.bits);
        let signed = |t: Num| t.signed || t.bits < wide;
        Num { signed: signed(self) && signed(other), bits: wide }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Type {
    Void,
    Num(Num),
    /// A register of lanes.
    Lanes,
    Struct(String),
    /// Without a length: what a pointer points to.
    Array(Box<Type>, Option<u64>),
}

impl Type {
    /// The scalar behind so many indices; none behind a field.
    pub fn leaf_behind(&self, path: &[crate::term::Step]) -> Option<Num> {
        match (self.leaf(), path.iter().any(|s| matches!(s, crate::term::Step::Field(_)))) {
            (Type::Num(t), false) => Some(*t),
            _ => None,
        }
    }

    pub fn leaf(&self) -> &Type {
        match self {
            Type::Array(e, _) => e.leaf(),
            other => other,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ex {
    Number(Int, Num),
    Name(String),
    /// `-`, `~`
    Un(&'static str, Box<Ex>),
    Bin(&'static str, Box<Ex>, Box<Ex>),
    Choice(Box<Ex>, Box<Ex>, Box<Ex>),
    Cast(Type, Box<Ex>),
    Call(String, Vec<Ex>),
    Index(Box<Ex>, Box<Ex>),
    Field(Box<Ex>, String),
    Address(Box<Ex>),
    Behind(Box<Ex>),
    /// `x--` or `x++`, with its sign.
    Step(Box<Ex>, &'static str),
    SizeOf(Type),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stmt {
    pub kind: Kind,
    pub line: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// With its first value, or `{0}`.
    Declare { ty: Type, name: String, init: Option<Ex>, zero: bool },
    Assign(Ex, Ex),
    /// `x |= e`
    Gather(Ex, Ex),
    Do(Ex),
    Block(Vec<Stmt>),
    For { init: Box<(Ex, Ex)>, cond: Ex, step: Option<Ex>, body: Vec<Stmt> },
    If { cond: Ex, then: Vec<Stmt>, els: Vec<Stmt> },
    Return(Ex),
}

#[derive(Clone, Debug)]
pub struct Function {
    pub ret: Type,
    pub name: String,
    /// Name, type, whether it is a pointer to that.
    pub params: Vec<(String, Type, bool)>,
    /// Pointers that nothing else may point where they do.
    pub alone: Vec<bool>,
    pub body: Vec<Stmt>,
}

#[derive(Clone, Debug)]
pub enum Init {
    Value(Ex),
    List(Vec<Init>),
}
