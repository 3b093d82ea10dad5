//! Vector mode: a word is a SIMD register holding that word of many instances, one per lane. Operations are macros
//! `V_ADD32(a, b)`, `V_ROTL32(a, k)`, ... of a preamble the caller supplies.

use crate::expr::{const_count, Res};
use crate::func::{CTy, FnCx};
use santoku_ir::{BinOp, Expr, ExprKind, Ty, UnOp};

/// The SIMD flavour of a unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Vector {
    /// Name of the register type, defined by `preamble`.
    pub type_name: String,
    /// Includes, the type, and the operation macros `V_SETw V_ADDw V_SUBw V_MULw V_SHLw V_SHRw V_ROTLw V_XOR V_AND V_OR V_NOT`.
    pub preamble: String,
    /// Functions (by name in the program) that are not printed: a call of one is a use of this macro of the preamble.
    pub macros: std::collections::BTreeMap<String, String>,
}

impl FnCx<'_> {
    /// A word expression as a register.
    pub fn vector(&mut self, e: &Expr) -> Res<String> {
        let Ty::Word(bits) = e.ty else { return Err(self.unsupported("a value that is not a word in a vector program")) };
        match &e.kind {
            ExprKind::Const(_) => {
                let c = self.emit(e)?;
                Ok(format!("V_SET{bits}({})", c.text))
            }
            ExprKind::Read(p) => {
                let (text, cty) = self.place(p)?;
                match cty {
                    CTy::Vec(_) => Ok(text),
                    _ => Ok(format!("V_SET{bits}({text})")),
                }
            }
            ExprKind::Un(UnOp::Not, a) => Ok(format!("V_NOT({})", self.vector(a)?)),
            ExprKind::Bin(op, a, b) => self.vector_bin(bits, *op, a, b),
            ExprKind::Cast(a) if a.ty == e.ty => self.vector(a),
            ExprKind::Cast(_) if self.is_public(e) => {
                let c = self.emit(e)?;
                Ok(format!("V_SET{bits}({})", c.text))
            }
            _ => Err(self.unsupported("this operation in vertical layout")),
        }
    }

    fn vector_bin(&mut self, bits: u32, op: BinOp, a: &Expr, b: &Expr) -> Res<String> {
        let x = self.vector(a)?;
        let two = |name: &str, y: String| format!("V_{name}({x}, {y})");
        Ok(match op {
            BinOp::And => two("AND", self.vector(b)?),
            BinOp::Or => two("OR", self.vector(b)?),
            BinOp::Xor => two("XOR", self.vector(b)?),
            BinOp::Add => two(&format!("ADD{bits}"), self.vector(b)?),
            BinOp::Sub => two(&format!("SUB{bits}"), self.vector(b)?),
            BinOp::Mul => two(&format!("MUL{bits}"), self.vector(b)?),
            BinOp::Shl | BinOp::Shr | BinOp::Rotl | BinOp::Rotr => {
                let k = const_count(b).ok_or_else(|| self.unsupported("a variable shift in vertical layout"))?;
                match op {
                    BinOp::Shl => two(&format!("SHL{bits}"), k.to_string()),
                    BinOp::Shr => two(&format!("SHR{bits}"), k.to_string()),
                    BinOp::Rotl => two(&format!("ROTL{bits}"), (k % bits).to_string()),
                    _ => two(&format!("ROTL{bits}"), ((bits - k % bits) % bits).to_string()),
                }
            }
            BinOp::Div | BinOp::Mod => return Err(self.unsupported("division in vertical layout")),
        })
    }

    /// A scalar object broadcast to all lanes.
    pub fn broadcast(&self, text: &str, to: &CTy) -> Res<String> {
        match to {
            CTy::Vec(bits) => Ok(format!("V_SET{bits}({text})")),
            _ => Err(self.unsupported("a broadcast to a scalar")),
        }
    }
}
