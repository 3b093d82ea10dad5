//! Exported functions as C calls them: what a caller other than a C compiler has to know.
//!
//! Trusted: c.

use crate::context::{FnCx, Signature};
use crate::ctype::CTy;
use santoku_ir::{ContractKind, Func, Len, LocalId, Ty};

/// What an argument is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The function writes it: a pointer.
    Result,
    /// A length that arrays behind it have: a `size_t`, of which 32 bits are used.
    Length,
    /// The function reads it: a pointer, or a scalar by its value.
    Value,
}

/// How a number lies in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Number {
    /// 1, 2, 4, 8 or 16.
    pub bytes: usize,
    pub signed: bool,
}

impl Number {
    /// Of a scalar, or of the scalars in an array; none of a structure or a register.
    fn of(t: &CTy) -> Option<Number> {
        match t.leaf() {
            CTy::Int(i) => Some(Number { bytes: i.bits as usize / 8, signed: i.signed }),
            CTy::Vec(_) | CTy::Array(..) | CTy::Struct(_) => None,
        }
    }
}

/// An argument of an exported function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Argument {
    /// Its name in the program.
    pub name: String,
    pub role: Role,
    /// Its type in the program; lengths of arrays are those of the `Length` arguments, counted from 0.
    pub ty: Ty,
    /// Of the value, or of the elements of an array.
    pub number: Option<Number>,
    pub public: bool,
    /// Of a result: the arguments whose object it may be.
    pub may_be: Vec<String>,
}

impl Argument {
    /// For the header: dimensions, what the function does with it, and whether it may show in the time that a call takes. `lengths`: the names
    /// of the arguments that are lengths; `shares`: with the arguments whose object it may be, which is so of C, and not of other code with this header.
    pub(crate) fn in_words(&self, lengths: &[&str], shares: bool) -> String {
        let (mut dimensions, mut at) = (String::new(), &self.ty);
        while let Ty::Array { elem, len, .. } = at {
            let length = match len {
                Len::Const(n) => n.to_string(),
                Len::Param { param, add } => {
                    let of = lengths.get(param.0 as usize).copied().unwrap_or("a length");
                    match add {
                        0 => of.to_string(),
                        n if *n < 0 => format!("{of} - {}", n.unsigned_abs()),
                        n => format!("{of} + {n}"),
                    }
                }
            };
            dimensions += &format!("[{length}]");
            at = elem;
        }
        let range = match at {
            Ty::Int(Some(r)) if self.role != Role::Result => format!(", from {} to {}", r.lo, r.hi),
            _ => String::new(),
        };
        let what = match self.role {
            Role::Result => "written",
            Role::Length => "a length",
            Role::Value => "read",
        };
        let stops = if self.role == Role::Length { ", a greater one stops the program (STK_MISUSE)" } else { "" };
        let secrecy = match self.role {
            Role::Result => "",
            _ if self.public || self.role == Role::Length => "; public",
            _ => "; secret",
        };
        let may_be = if self.may_be.is_empty() || !shares { String::new() } else { format!("; may be {}", self.may_be.join(" or ")) };
        format!("{}{dimensions}: {what}{range}{stops}{secrecy}{may_be}", self.name)
    }
}

/// An exported function: its C name, its arguments in the order of C, and what it returns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exported {
    pub name: String,
    /// The whole declaration under that name, without a semicolon.
    pub declaration: String,
    pub arguments: Vec<Argument>,
    /// Type of the value returned; none for `void`.
    pub returned: Option<Ty>,
    pub returned_number: Option<Number>,
    /// What the program says of it: documentation, and what callers must establish, as its text has it.
    pub doc: Vec<String>,
    pub requires: Vec<String>,
}

impl Exported {
    pub(crate) fn of(cx: &FnCx<'_>, f: &Func, signature: &Signature) -> Result<Exported, crate::EmitError> {
        let argument = |role: Role| {
            move |(id, number): (&LocalId, Option<Number>)| {
                let l = f.local(*id);
                Argument { name: l.name.clone(), role, ty: l.ty.clone(), number, public: l.public, may_be: vec![] }
            }
        };
        let in_place = &cx.unit.in_place[cx.unit.index_of(f)];
        let may_be = |r: usize| (0..f.params.len()).filter(|k| in_place.allowed(r, *k)).map(|k| f.local(f.params[k]).name.clone()).collect();
        let results = if signature.returns { &[][..] } else { &f.rets[..] };
        let results = results.iter().zip(signature.rets.iter().map(Number::of)).map(argument(Role::Result));
        let results = results.enumerate().map(|(r, a)| Argument { may_be: may_be(r), ..a });
        let lengths = f.lens.iter().map(|id| (id, Some(Number { bytes: 4, signed: false }))).map(argument(Role::Length));
        let values = f.params.iter().zip(signature.params.iter().map(Number::of)).map(argument(Role::Value));
        Ok(Exported {
            name: signature.outside().clone(),
            declaration: cx.declaration(signature, signature.outside())?,
            arguments: results.chain(lengths).chain(values).collect(),
            returned: signature.returns.then(|| f.local(f.rets[0]).ty.clone()),
            returned_number: signature.rets.first().filter(|_| signature.returns).and_then(Number::of),
            doc: crate::func::doc_lines(f),
            requires: f.contracts.iter().filter(|c| c.kind == ContractKind::Requires).map(|c| crate::func::in_comment(&c.text)).collect(),
        })
    }
}
