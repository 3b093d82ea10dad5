//! Blocks and bracketed lists.

use super::{cat, text, Doc, Layout};
use crate::token::{Tok, P};

/// Items of at most this many tokens are filled, several on a line.
const SHORT_ITEM_TOKENS: usize = 2;

/// What stands between brackets: its items as token ranges.
struct Items {
    ranges: Vec<(usize, usize)>,
    /// `;` between two of them, as in `[e; n]`.
    semicolon: bool,
    /// Its author ended it with a comma.
    last_comma: bool,
}

impl Layout<'_> {
    /// `{ statements }`, to be put into a group: one line if its author wrote it so and it fits.
    pub(super) fn block(&mut self, open: usize, close: usize) -> Vec<Doc> {
        let one_line = (open + 1..=close).all(|k| !self.line_start(k));
        let items = self.is_interface(open);
        if !one_line {
            let inner = self.entries(open + 1, close, items);
            let empty = inner.is_empty();
            let mut docs = vec![text("{"), Doc::Nest(inner)];
            if !empty {
                docs.push(Doc::Hard);
            }
            docs.push(text("}"));
            return docs;
        }
        let ranges = self.entry_ranges(open + 1, close);
        if ranges.is_empty() {
            return vec![text("{}")];
        }
        let mut inner = Vec::new();
        for (k, (i, end)) in ranges.into_iter().enumerate() {
            inner.push(Doc::Line(if k == 0 { " " } else { "; " }));
            inner.push(self.entry(i, end, items));
        }
        vec![text("{"), Doc::Nest(inner), Doc::Line(" "), text("}")]
    }

    fn is_interface(&self, open: usize) -> bool {
        open >= 2 && self.tok(open - 2) == Tok::Kw(crate::token::Kw::Interface)
    }

    /// `( )`, `[ ]`, `< >` around generics, `{ }` around fields.
    pub(super) fn list(&mut self, open: usize, close: usize) -> Doc {
        let items = self.items(open, close);
        let braces = self.is(open, P::LBrace);
        let (opening, closing) = (text(self.source(open)), text(self.source(close)));
        if items.ranges.is_empty() {
            return cat(vec![opening, closing]);
        }
        if items.ranges.len() == 1 && !braces && !items.last_comma {
            return self.hugged(open, close, items.ranges[0]);
        }
        let short = |(a, b): &(usize, usize)| b - a <= SHORT_ITEM_TOKENS;
        if items.semicolon && items.ranges.iter().all(short) {
            return self.short_array(open, close, &items);
        }
        let filled = self.is(open, P::LBracket) && !items.semicolon && items.ranges.iter().all(short);
        let edge = if braces { " " } else { "" };
        let comma = !items.semicolon && !self.parsed.marks[open].angle && (braces || items.ranges.len() > 1);
        let broken = braces && self.line_start(open + 1);
        let separator = if items.semicolon { ";" } else { "," };
        let mut inner = vec![if broken { Doc::Hard } else { Doc::Line(edge) }];
        let mut parts: Vec<Doc> = Vec::new();
        let last = items.ranges.len() - 1;
        for (k, (from, to)) in items.ranges.into_iter().enumerate() {
            let (comments, commented) = self.list_comments(from);
            if k == 0 && commented {
                inner = comments;
                inner.push(Doc::Hard);
            } else if k > 0 {
                parts.push(if commented { Doc::Hard } else { Doc::Line(" ") });
                if let (true, Some(i)) = (commented, parts.len().checked_sub(2)) {
                    let before = std::mem::replace(&mut parts[i], Doc::Hard);
                    parts[i] = cat(std::iter::once(before).chain(comments).collect());
                }
            }
            let item = self.run(from, to);
            let end = if k < last {
                text(separator)
            } else if comma {
                Doc::IfBroken(",")
            } else {
                text("")
            };
            parts.push(cat(vec![item, end]));
        }
        if filled {
            // The last comma belongs to the group, not to the fill that holds the item.
            inner.push(Doc::Fill { parts, hang: false });
        } else {
            inner.extend(parts);
        }
        inner.extend(self.list_comments(close).0);
        Doc::group(vec![opening, Doc::Nest(inner), Doc::Line(edge), closing])
    }

    /// `[e; n]`, which is better whole on the next line than broken.
    fn short_array(&mut self, open: usize, close: usize, items: &Items) -> Doc {
        let mut docs = vec![text(self.source(open))];
        for (k, (from, to)) in items.ranges.iter().enumerate() {
            docs.push(text(if k == 0 { "" } else { "; " }));
            docs.extend(self.gap_comments(*from).unwrap_or_default());
            docs.push(self.run(*from, *to));
        }
        docs.extend(self.gap_comments(close).unwrap_or_default());
        docs.push(text(self.source(close)));
        cat(docs)
    }

    /// One item: no line of its own, its operators may break.
    fn hugged(&mut self, open: usize, close: usize, (from, to): (usize, usize)) -> Doc {
        let mut docs = vec![text(self.source(open))];
        docs.extend(self.gap_comments(from).unwrap_or_default());
        docs.push(self.run(from, to));
        docs.extend(self.gap_comments(close).unwrap_or_default());
        docs.push(text(self.source(close)));
        cat(docs)
    }

    /// The comments before an item or the closing bracket, without the newline behind them.
    fn list_comments(&mut self, before: usize) -> (Vec<Doc>, bool) {
        match self.gap_comments(before) {
            None => (Vec::new(), false),
            Some(mut docs) => {
                docs.pop();
                (docs, true)
            }
        }
    }

    fn items(&self, open: usize, close: usize) -> Items {
        let mut out = Items { ranges: Vec::new(), semicolon: false, last_comma: false };
        let mut from = open + 1;
        let mut i = from;
        while i < close {
            let separator = self.is(i, P::Comma) || self.is(i, P::Semi);
            let field = self.is(open, P::LBrace) && self.parsed.lexed.tokens[i].nl && self.is(i + 1, P::Colon);
            if (separator || field) && from < i {
                out.ranges.push((from, i));
                from = i;
            }
            if separator {
                out.semicolon |= self.is(i, P::Semi);
                out.last_comma = self.is(i, P::Comma) && i + 1 == close;
                from = i + 1;
            }
            i = self.skip(i);
        }
        if from < close {
            out.ranges.push((from, close));
        }
        out
    }
}
