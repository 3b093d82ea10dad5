//! Exported functions as C calls them: what a caller other than a C compiler has to know.

use crate::func::{FnCx, Signature};
use santoku_ir::{Func, LocalId, Ty};

/// What an argument is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The function writes it: a pointer.
    Result,
    /// A length that arrays behind it have: a 32-bit integer.
    Length,
    /// The function reads it: a pointer, or a scalar by its value.
    Value,
}

/// An argument of an exported function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Argument {
    /// Its name in the program.
    pub name: String,
    pub role: Role,
    /// Its type in the program; lengths of arrays are those of the `Length` arguments, counted from 0.
    pub ty: Ty,
    pub public: bool,
}

/// An exported function: its C name, its arguments in the order of C, and what it returns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exported {
    pub name: String,
    /// The whole declaration, without a semicolon.
    pub declaration: String,
    pub arguments: Vec<Argument>,
    /// Type of the value returned; none for `void`.
    pub returned: Option<Ty>,
}

impl Exported {
    pub(crate) fn of(cx: &FnCx<'_>, f: &Func, signature: &Signature) -> Result<Exported, crate::EmitError> {
        let argument = |role: Role| {
            move |id: &LocalId| {
                let l = f.local(*id);
                Argument { name: l.name.clone(), role, ty: l.ty.clone(), public: l.public }
            }
        };
        let results = if signature.returns { &[][..] } else { &f.rets[..] };
        let arguments = results.iter().map(argument(Role::Result)).chain(f.lens.iter().map(argument(Role::Length)));
        Ok(Exported {
            name: signature.name.clone(),
            declaration: cx.prototype(signature)?,
            arguments: arguments.chain(f.params.iter().map(argument(Role::Value))).collect(),
            returned: signature.returns.then(|| f.local(f.rets[0]).ty.clone()),
        })
    }
}
