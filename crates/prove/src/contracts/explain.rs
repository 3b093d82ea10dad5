//! Why a clause is open, in words: what could not be settled, where, and what is left.

use crate::ranges::show::Show;
use super::goal::Open;
use super::run::Exec;
use santoku_ir::{visit, Loc, Stmt};

/// Characters of a statement that are shown.
const TEXT_MAX: usize = 80;

impl Exec<'_> {
    pub fn explain(&self, open: &Open) -> String {
        let at = open.origin.filter(|o| *o != 0).and_then(|o| Some((o, *self.locs.get(o as usize)?))).filter(|(_, l)| l.line > 0);
        let from = match at {
            None => "could not show it from the parameters alone".to_string(),
            Some((o, loc)) => {
                let place = self.places.get(&o).map_or(String::new(), |(l, i)| {
                    let name = &self.frame.func.local(*l).name;
                    i.map_or(format!(" at `{name}`"), |i| format!(" at `{name}[{i}]`"))
                });
                let statement = self.statement_at(loc).map_or(String::new(), |text| format!(", after `{text}`"));
                format!("could not settle {}{place}{statement} of line {}", open.newest, loc.line)
            }
        };
        let seen = if open.refuted { "it is false on sample inputs; " } else { "" };
        format!("{seen}{from}; left over: {}", open.residual)
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
                Stmt::Assert { text, .. } | Stmt::Ghost { text, .. } => format!("assert {text}"),
            });
        });
        found.map(|text| match text.char_indices().nth(TEXT_MAX) {
            Some((i, _)) => format!("{}..", &text[..i]),
            None => text,
        })
    }
}
