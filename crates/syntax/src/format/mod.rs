//! The formatter: the tokens of a well-formed file, laid out anew.
//!
//! Keeps: every token but separators (`;` for a newline, a last `,`), every comment, in order; so the tree cannot change.
//! What the author decides: empty lines (one at most), blocks on one line, statements joined by `;`, arithmetic without spaces.
//! Everything else follows from the tokens, which makes formatting idempotent.

mod doc;
mod list;
mod space;

use crate::parser::{parse_marked, Marked};
use crate::token::{Kw, Tok, P};
use doc::Doc;
use santoku_diag::{Diagnostic, FileId};

/// Formats a file: two spaces of indentation, lines of at most 100 columns where tokens allow it.
/// A file with errors is not formatted; the errors are those of [`crate::parse`].
pub fn format(file: FileId, text: &str) -> Result<String, Vec<Diagnostic>> {
    let parsed = parse_marked(file, text);
    if !parsed.errors.is_empty() {
        return Err(parsed.errors);
    }
    let mates = mates(&parsed);
    let mut layout = Layout { text, parsed: &parsed, mates, comment: 0 };
    let docs = layout.file();
    let mut out = doc::print(&docs);
    out.truncate(out.trim_end().len());
    if !out.is_empty() {
        out.push('\n');
    }
    Ok(out)
}

struct Layout<'a> {
    text: &'a str,
    parsed: &'a Marked,
    /// For an opening bracket, the index of its closing one.
    mates: Vec<usize>,
    /// The next comment to be laid out.
    comment: usize,
}

fn text(s: impl Into<String>) -> Doc {
    Doc::Text(s.into())
}

/// Pairs brackets; the file is well-formed, so they nest.
fn mates(parsed: &Marked) -> Vec<usize> {
    let tokens = &parsed.lexed.tokens;
    let mut mates = vec![0; tokens.len()];
    let mut open = Vec::new();
    for (i, t) in tokens.iter().enumerate() {
        let angle = parsed.marks[i].angle;
        match t.tok {
            Tok::P(P::LParen | P::LBracket | P::LBrace) => open.push(i),
            Tok::P(P::Lt) if angle => open.push(i),
            Tok::P(P::RParen | P::RBracket | P::RBrace) => drop(open.pop().map(|o| mates[o] = i)),
            Tok::P(P::Gt) if angle => drop(open.pop().map(|o| mates[o] = i)),
            _ => {}
        }
    }
    mates
}

impl Layout<'_> {
    fn tok(&self, i: usize) -> Tok {
        self.parsed.lexed.tokens[i].tok
    }

    fn is(&self, i: usize, p: P) -> bool {
        self.tok(i) == Tok::P(p)
    }

    fn line_start(&self, i: usize) -> bool {
        self.parsed.lexed.tokens[i].line_start
    }

    fn source(&self, i: usize) -> &str {
        let t = self.parsed.lexed.tokens[i];
        &self.text[t.start as usize..t.end as usize]
    }

    fn tight(&self, i: usize) -> bool {
        let tokens = &self.parsed.lexed.tokens;
        tokens.get(i + 1).is_some_and(|next| space::is_tight(&tokens[i], self.parsed.marks[i], next.spaced))
    }

    fn breaks_behind(&self, i: usize) -> bool {
        let tokens = &self.parsed.lexed.tokens;
        tokens.get(i + 1).is_some_and(|next| space::is_spaced_operator(&tokens[i], self.parsed.marks[i], next.spaced))
    }

    fn spaced(&self, i: usize) -> bool {
        let (tokens, marks) = (&self.parsed.lexed.tokens, &self.parsed.marks);
        space::between(&tokens[i - 1], marks[i - 1], &tokens[i], marks[i], (self.tight(i - 1), self.tight(i)))
    }

    /// Behind the bracket opened at `i`, or behind `i`.
    fn skip(&self, i: usize) -> usize {
        self.mates[i].max(i) + 1
    }

    /// Whether an empty line stands before byte `at`.
    fn blank_before(&self, at: u32) -> bool {
        let before = &self.text[..at as usize];
        let space = &before[before.trim_end_matches([' ', '\t', '\r', '\n']).len()..];
        space.matches('\n').count() >= 2
    }

    /// The comments not yet laid out that stand before token `i`.
    fn comments_before(&mut self, i: usize) -> Vec<crate::token::Comment> {
        let upto = self.parsed.lexed.tokens[i].comments_before as usize;
        let from = self.comment.min(upto);
        self.comment = upto.max(self.comment);
        self.parsed.lexed.comments[from..upto].to_vec()
    }

    fn comment_text(&self, c: &crate::token::Comment) -> String {
        self.text[c.start as usize..c.end as usize].to_string()
    }

    fn file(&mut self) -> Vec<Doc> {
        let eof = self.parsed.lexed.tokens.len() - 1;
        let mut docs = self.entries(0, eof, true);
        docs.push(Doc::Hard);
        docs
    }

    /// Statements, items or members from token `from` up to the token `to` that closes them, on lines of their own, with
    /// their comments. Only statements may stand behind a `;` on one line.
    fn entries(&mut self, from: usize, to: usize, items: bool) -> Vec<Doc> {
        let mut docs: Vec<Doc> = Vec::new();
        let mut line: Vec<Doc> = Vec::new();
        for (k, (i, end)) in self.entry_ranges(from, to).into_iter().enumerate() {
            if k > 0 && !items && !self.line_start(i) {
                line.push(Doc::Line("; "));
            } else {
                flush(&mut docs, &mut line);
                docs.extend(self.leading(i, k == 0, k == 0 && from == 0));
            }
            line.push(self.entry(i, end, items));
        }
        let empty = docs.is_empty() && line.is_empty();
        flush(&mut docs, &mut line);
        docs.extend(self.closing_comments(to, empty, empty && from == 0));
        docs
    }

    /// Where the entries of a block begin and end, without their `;`.
    fn entry_ranges(&self, from: usize, to: usize) -> Vec<(usize, usize)> {
        let mut out = Vec::new();
        let mut i = from;
        while i < to {
            if self.is(i, P::Semi) {
                i += 1;
                continue;
            }
            let end = self.entry_end(i, to);
            out.push((i, end));
            i = end;
        }
        out
    }

    /// The token behind the entry that begins at `i`: the next start or `;` on this level.
    fn entry_end(&self, i: usize, to: usize) -> usize {
        let mut k = self.skip(i);
        while k < to && !self.parsed.marks[k].starts && !self.is(k, P::Semi) {
            k = self.skip(k);
        }
        k
    }

    /// The newline before an entry, and the comments that lead it.
    fn leading(&mut self, i: usize, first: bool, file_start: bool) -> Vec<Doc> {
        let mut docs = Vec::new();
        let mut quiet = first;
        let mut begun = file_start;
        for c in self.comments_before(i) {
            if !c.line_start {
                docs.push(Doc::Comment(format!(" {}", self.comment_text(&c))));
                continue;
            }
            if !std::mem::take(&mut begun) {
                docs.push(self.newline(c.start, quiet));
            }
            docs.push(Doc::Comment(self.comment_text(&c)));
            quiet = false;
        }
        if !begun {
            let start = self.parsed.lexed.tokens[i].start;
            docs.push(self.newline(start, quiet));
        }
        docs
    }

    /// `quiet`: no empty line, whatever the source says.
    fn newline(&self, at: u32, quiet: bool) -> Doc {
        if !quiet && self.blank_before(at) {
            Doc::Blank
        } else {
            Doc::Hard
        }
    }

    /// Comments between the last entry and the closing token.
    fn closing_comments(&mut self, to: usize, mut quiet: bool, mut begun: bool) -> Vec<Doc> {
        let mut docs = Vec::new();
        for c in self.comments_before(to) {
            if !c.line_start {
                docs.push(Doc::Comment(format!(" {}", self.comment_text(&c))));
                continue;
            }
            if !std::mem::take(&mut begun) {
                docs.push(self.newline(c.start, std::mem::take(&mut quiet)));
            }
            docs.push(Doc::Comment(self.comment_text(&c)));
        }
        docs
    }

    /// One statement, item or member: attributes, a head, clauses on lines of their own, a block.
    fn entry(&mut self, from: usize, to: usize, item: bool) -> Doc {
        let mut docs = Vec::new();
        let mut i = from;
        // Attributes of items and members stand on lines of their own.
        while item && self.is(i, P::At) {
            let end = if self.is(i + 2, P::LParen) { self.skip(i + 2) } else { i + 2 };
            docs.push(self.run(i, end));
            docs.extend(self.gap_comments(end).unwrap_or_else(|| vec![Doc::Hard]));
            i = end;
        }
        let mut clauses = false;
        while i < to {
            let end = self.part_end(i, to, clauses);
            if self.parsed.marks[i].clause {
                clauses = true;
                let mut part = self.gap_comments(i).unwrap_or_else(|| vec![Doc::Hard]);
                part.push(self.run(i, end));
                docs.push(Doc::Nest(part));
            } else if clauses {
                docs.extend(self.gap_comments(i).unwrap_or_else(|| vec![Doc::Hard]));
                docs.push(self.run(i, end));
            } else {
                docs.push(self.run(i, end));
            }
            i = end;
        }
        cat(docs)
    }

    /// The end of the head (before the first clause), of a clause, or of the block behind clauses.
    fn part_end(&self, i: usize, to: usize, clauses: bool) -> usize {
        let mut k = self.skip(i);
        while k < to {
            let m = self.parsed.marks[k];
            if m.clause || (m.block && self.is(k, P::LBrace) && (clauses || self.parsed.marks[i].clause) && !self.inside_if(i, k)) {
                break;
            }
            k = self.skip(k);
        }
        k
    }

    /// Whether the block at `k` belongs to an `if` of the clause begun at `i`.
    fn inside_if(&self, i: usize, k: usize) -> bool {
        let mut j = i;
        let mut open_ifs = 0usize;
        while j < k {
            match self.tok(j) {
                Tok::Kw(Kw::If) => open_ifs += 1,
                Tok::Kw(Kw::Else) if !matches!(self.tok(j + 1), Tok::Kw(Kw::If)) => open_ifs += 1,
                Tok::P(P::LBrace) if self.parsed.marks[j].block => open_ifs = open_ifs.saturating_sub(1),
                _ => {}
            }
            j = self.skip(j);
        }
        open_ifs > 0
    }

    /// Comments before token `i` in the middle of an entry, and the newline behind them; None if there are none.
    fn gap_comments(&mut self, i: usize) -> Option<Vec<Doc>> {
        let comments = self.comments_before(i);
        if comments.is_empty() {
            return None;
        }
        let mut docs = Vec::new();
        for c in comments {
            let t = self.comment_text(&c);
            if c.line_start {
                docs.push(Doc::Hard);
                docs.push(Doc::Comment(t));
            } else {
                docs.push(Doc::Comment(format!(" {t}")));
            }
        }
        docs.push(Doc::Hard);
        Some(docs)
    }

    /// Tokens `from .. to` as a fill that may break behind spaced operators.
    fn run(&mut self, from: usize, to: usize) -> Doc {
        self.run_in(from, to, false)
    }

    /// `in_if`: the tokens are one whole `if`, whose blocks are flat or broken together.
    fn run_in(&mut self, from: usize, to: usize, in_if: bool) -> Doc {
        let mut parts: Vec<Doc> = Vec::new();
        let mut part: Vec<Doc> = Vec::new();
        let mut i = from;
        while i < to {
            if i > from {
                if let Some(mut gap) = self.gap_comments(i) {
                    gap.pop();
                    part.append(&mut gap);
                    parts.extend([cat(std::mem::take(&mut part)), Doc::Hard]);
                } else if self.breaks_behind(i - 1) {
                    parts.extend([cat(std::mem::take(&mut part)), Doc::Line(" ")]);
                } else if self.spaced(i) {
                    part.push(text(" "));
                }
            }
            let chained = in_if && (i == from || self.tok(i - 1) == Tok::Kw(Kw::Else));
            let close = self.mates[i];
            if self.tok(i) == Tok::Kw(Kw::If) && !chained {
                let end = self.if_end(i, to);
                part.push(Doc::group(vec![self.run_in(i, end, true)]));
                i = end;
            } else if close == 0 {
                part.push(text(self.source(i)));
                i += 1;
            } else {
                let block = self.parsed.marks[i].block;
                part.push(match (block, in_if) {
                    (true, true) => Doc::Cat(self.block(i, close)),
                    (true, false) => Doc::group(self.block(i, close)),
                    (false, _) => self.list(i, close),
                });
                i = close + 1;
            }
        }
        parts.push(cat(part));
        Doc::Fill { parts, hang: !in_if }
    }

    /// Behind the last block of the `if` at `i`.
    fn if_end(&self, i: usize, to: usize) -> usize {
        let (mut k, mut cond) = (i + 1, i + 1);
        while k < to {
            if self.parsed.marks[k].block && self.is(k, P::LBrace) && !self.inside_if(cond, k) {
                let end = self.skip(k);
                if end >= to || self.tok(end) != Tok::Kw(Kw::Else) {
                    return end;
                }
                if self.tok(end + 1) != Tok::Kw(Kw::If) {
                    return self.skip(end + 1);
                }
                (k, cond) = (end + 2, end + 2);
            } else {
                k = self.skip(k);
            }
        }
        to
    }
}

fn flush(docs: &mut Vec<Doc>, joined: &mut Vec<Doc>) {
    if !joined.is_empty() {
        docs.push(Doc::Fill { parts: std::mem::take(joined), hang: false });
    }
}

fn cat(mut docs: Vec<Doc>) -> Doc {
    if docs.len() == 1 {
        return docs.remove(0);
    }
    Doc::Cat(docs)
}
