//! Why a clause is open, in words: the newest statement that what is left comes from, then what is left.

use super::exec::Exec;
use super::goal::Open;
use crate::ranges::show::Show;
use santoku_ir::{visit, Loc, Stmt};

/// Characters of a statement that are shown.
const TEXT_MAX: usize = 80;

impl Exec<'_> {
    pub fn explain(&self, open: &Open) -> String {
        let at = open.origin.and_then(|o| self.locs.get(o as usize)).filter(|l| l.line > 0);
        let from = at.filter(|_| open.origin != Some(0)).map_or("from the parameters alone".to_string(), |l| match self.statement_at(*l) {
            Some(text) => format!("after `{text}` of line {}", l.line),
            None => format!("after line {}", l.line),
        });
        let seen = if open.refuted { "it is false on sample inputs" } else { "could not show it" };
        format!("{seen} {from}; left over: {}", open.residual)
    }

    /// The statement of the function itself at a place, as text.
    fn statement_at(&self, loc: Loc) -> Option<String> {
        let func = self.prog.func(self.frame.id);
        let show = Show { program: self.prog, func };
        let mut found = None;
        visit::walk_stmts(&func.body, &mut |s| {
            if found.is_some() || s.loc() != loc {
                return;
            }
            found = Some(match s {
                Stmt::Assign { dst, src, .. } => format!("{} = {}", show.place(dst), show.expr(src)),
                Stmt::Call { func, args, .. } => {
                    let args: Vec<String> = args.iter().map(|a| show.expr(a)).collect();
                    let name = &self.prog.func(*func).name;
                    format!("{}({})", name.rsplit('.').next().unwrap_or(name), args.join(", "))
                }
                Stmt::For { var, lo, hi, .. } => format!("for {} in {}..<{}", show.local(*var), show.expr(lo), show.expr(hi)),
                Stmt::If { cond, .. } => format!("if {}", show.expr(cond)),
                Stmt::Assert { text, .. } => format!("assert {text}"),
            });
        });
        found.map(|text| match text.char_indices().nth(TEXT_MAX) {
            Some((i, _)) => format!("{}..", &text[..i]),
            None => text,
        })
    }
}
