//! Vector mode: a word is a SIMD register holding that word of many instances, one per lane. Operations are macros
//! `V_ADD32(a, b)`, `V_ROTL32(a, k)`, ... of a preamble the caller supplies.

use crate::context::{FnCx, Res};
use crate::ctype::CTy;
use crate::known::const_count;
use santoku_ir::{BinOp, Expr, ExprKind, Ty, UnOp};

impl FnCx<'_> {
    /// A word expression as a register.
    pub fn vector(&mut self, e: &Expr) -> Res<String> {
        let Ty::Word(bits) = e.ty else { return Err(self.unsupported("a value that is not a word in a vector program")) };
        if !matches!(bits, 8 | 16 | 32 | 64) {
            return Err(self.unsupported(format!("a word of {bits} bits in a register, which has lanes of 8, 16, 32 or 64")));
        }
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
            ExprKind::Un(UnOp::Neg, a) => Ok(format!("V_SUB{bits}(V_SET{bits}(0), {})", self.vector(a)?)),
            ExprKind::Bin(op, a, b) => self.vector_bin(bits, *op, a, b),
            ExprKind::Cast(a) if a.ty == e.ty => self.vector(a),
            // The same in all lanes.
            ExprKind::Cast(_) | ExprKind::Select(..) if self.is_public(e) => {
                let c = self.emit(e)?;
                Ok(format!("V_SET{bits}({})", c.text))
            }
            ExprKind::Cast(a) => match a.ty {
                Ty::Word(from) => Err(self.unsupported(format!("a conversion from words of {from} bits to words of {bits} between lanes"))),
                _ => Err(self.unsupported("a conversion of a secret integer or condition to a lane")),
            },
            ExprKind::Select(..) => Err(self.unsupported("a selection by a secret between lanes")),
            ExprKind::Cmp(..) | ExprKind::Array(_) | ExprKind::Repeat(_) | ExprKind::Struct(..) => {
                Err(self.unsupported("a value that is not a word in a vector program"))
            }
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
                let Some(k) = const_count(b) else {
                    let k = self.count(b)?;
                    return Ok(match op {
                        BinOp::Shl => two(&format!("SHLV{bits}"), k),
                        BinOp::Shr => two(&format!("SHRV{bits}"), k),
                        BinOp::Rotl => two(&format!("ROTLV{bits}"), k),
                        _ => two(&format!("ROTLV{bits}"), format!("{bits} - ({k})")),
                    });
                };
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
