//! Source-like text of expressions and places, for messages.

use santoku_ir::{Base, BinOp, CmpOp, Expr, ExprKind, Func, LocalId, Place, Program, Proj, Ty, UnOp};

/// Names of one function's locals and the program's constants.
#[derive(Clone, Copy)]
pub struct Show<'a> {
    pub program: &'a Program,
    pub func: &'a Func,
}

/// Longer texts are cut.
const MAX_TEXT: usize = 160;

impl Show<'_> {
    pub fn local(&self, id: LocalId) -> String {
        self.func.locals.get(id.0 as usize).map_or_else(|| format!("%{}", id.0), |l| l.name.clone())
    }

    pub fn place(&self, p: &Place) -> String {
        let (mut text, mut ty) = match p.base {
            Base::Local(id) => (self.local(id), self.func.locals.get(id.0 as usize).map(|l| l.ty.clone())),
            Base::Const(id) => {
                let c = &self.program.consts[id.0 as usize];
                (c.name.clone(), Some(c.ty.clone()))
            }
        };
        for proj in &p.projs {
            match proj {
                Proj::Field(i) => {
                    text.push('.');
                    text.push_str(&self.field(ty.as_ref(), *i));
                }
                Proj::Index(e) => text.push_str(&format!("[{}]", self.expr(e))),
                Proj::Slice { off, len } => text.push_str(&format!("[{}; {len}]", self.expr(off))),
            }
            ty = match (ty, proj) {
                (Some(Ty::Struct(id)), Proj::Field(i)) => {
                    self.program.structs[id.0 as usize].fields.get(*i as usize).map(|f| f.1.clone())
                }
                (Some(Ty::Array { elem, .. }), Proj::Index(_)) => Some(*elem),
                (other, _) => other,
            };
        }
        text
    }

    fn field(&self, ty: Option<&Ty>, i: u32) -> String {
        match ty {
            Some(Ty::Struct(id)) => {
                self.program.structs[id.0 as usize].fields.get(i as usize).map_or(i.to_string(), |f| f.0.clone())
            }
            _ => i.to_string(),
        }
    }

    /// At most about [`MAX_TEXT`] characters.
    pub fn expr(&self, e: &Expr) -> String {
        let text = self.nested(e, 0, 8);
        if text.chars().count() <= MAX_TEXT {
            return text;
        }
        text.chars().take(MAX_TEXT).chain("...".chars()).collect()
    }

    fn nested(&self, e: &Expr, outer: u8, depth: u8) -> String {
        if depth == 0 {
            return "...".into();
        }
        let list = |es: &[Expr]| {
            let shown: Vec<String> = es.iter().take(4).map(|e| self.nested(e, 0, depth - 1)).collect();
            shown.join(", ") + if es.len() > 4 { ", ..." } else { "" }
        };
        match &e.kind {
            ExprKind::Const(v) => v.to_string(),
            ExprKind::Read(p) => self.place(p),
            ExprKind::Un(op, a) => {
                let sign = match op {
                    UnOp::Neg => "-",
                    UnOp::Not => "~",
                };
                format!("{sign}{}", self.nested(a, 9, depth - 1))
            }
            ExprKind::Bin(op, a, b) => {
                let (name, level) = binary(*op);
                let text = format!("{} {name} {}", self.nested(a, level, depth - 1), self.nested(b, level + 1, depth - 1));
                if level < outer { format!("({text})") } else { text }
            }
            ExprKind::Cmp(op, a, b) => {
                let text = format!("{} {} {}", self.nested(a, 3, depth - 1), compare(*op), self.nested(b, 3, depth - 1));
                if outer > 2 { format!("({text})") } else { text }
            }
            ExprKind::Select(c, a, b) => format!(
                "if {} {{ {} }} else {{ {} }}",
                self.nested(c, 0, depth - 1),
                self.nested(a, 0, depth - 1),
                self.nested(b, 0, depth - 1)
            ),
            ExprKind::Cast(a) => {
                let to = match &e.ty {
                    Ty::Word(n) => format!("u{n}"),
                    _ => "int".into(),
                };
                format!("{to}({})", self.nested(a, 0, depth - 1))
            }
            ExprKind::Array(es) => format!("[{}]", list(es)),
            ExprKind::Repeat(a) => format!("[{}; ..]", self.nested(a, 0, depth - 1)),
            ExprKind::Struct(id, es) => format!("{} {{ {} }}", self.program.structs[id.0 as usize].name, list(es)),
        }
    }
}

fn binary(op: BinOp) -> (&'static str, u8) {
    match op {
        BinOp::Mul => ("*", 8),
        BinOp::Div => ("/", 8),
        BinOp::Mod => ("%", 8),
        BinOp::Add => ("+", 7),
        BinOp::Sub => ("-", 7),
        BinOp::Shl => ("<<", 6),
        BinOp::Shr => (">>", 6),
        BinOp::Rotl => ("<<<", 6),
        BinOp::Rotr => (">>>", 6),
        BinOp::And => ("&", 5),
        BinOp::Xor => ("^", 4),
        BinOp::Or => ("|", 3),
    }
}

fn compare(op: CmpOp) -> &'static str {
    match op {
        CmpOp::Eq => "==",
        CmpOp::Ne => "!=",
        CmpOp::Lt => "<",
        CmpOp::Le => "<=",
        CmpOp::Gt => ">",
        CmpOp::Ge => ">=",
    }
}
