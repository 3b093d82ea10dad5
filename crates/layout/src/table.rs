//! The table of the passes that lay a program out.

use crate::error::LayoutError;
use crate::isa::Layout;
use crate::request::Request;
use crate::steps::Steps;

/// One pass. All are checked on every run.
#[derive(Clone, Copy, Debug)]
pub struct LayoutPass {
    /// Name on the command line (`--without NAME`, `--dump-after NAME`) and of its section of `docs/layouts.md`.
    pub name: &'static str,
    /// One sentence.
    pub doc: &'static str,
    /// What its check is.
    pub why: &'static str,
    /// The kernel is right without it, only slower. It is left out, with a reason, where its check reaches no result.
    pub optional: bool,
    /// Layouts that run it.
    pub layouts: &'static [Layout],
    /// Runs only for machines with an instruction for any function of three bits.
    pub ternary: bool,
    pub(crate) run: fn(&mut Steps<'_>) -> Result<(), LayoutError>,
}

impl LayoutPass {
    /// Does it run for this request?
    pub fn runs_in(&self, request: &Request) -> bool {
        let left_out = self.optional && request.without.contains(self.name);
        self.layouts.contains(&request.layout) && (!self.ternary || request.isa.ternary.is_some()) && !left_out
    }
}

const SLICED: &[Layout] = &[Layout::Vertical, Layout::Bitslice];
const BITWISE: &str = "both programs are executed on the same unknown bits into one graph of gates, which must be equal";

const PLAIN: LayoutPass =
    LayoutPass { name: "", doc: "", why: BITWISE, optional: false, layouts: &Layout::ALL, ternary: false, run: |_| Ok(()) };

/// Every pass, in the order in which it runs.
pub static TABLE: &[LayoutPass] = &[
    LayoutPass {
        name: "columns",
        doc: "Gives functions on columns of bits the best circuit found for the gates of the machine.",
        why: "the function before and after is run on every input of the table",
        run: |s| s.columns(),
        ..PLAIN
    },
    LayoutPass {
        name: "straighten",
        doc: "Runs the passes of `-O2`: calls inlined, short loops written out.",
        why: "each of these passes has its own check",
        run: |s| s.straighten(),
        ..PLAIN
    },
    LayoutPass {
        name: "words",
        doc: "Makes words of what a secret decides: conditions, selections, comparisons, exact integers.",
        layouts: SLICED,
        run: |s| s.words(),
        ..PLAIN
    },
    LayoutPass {
        name: "one-each",
        doc: "Leaves one operation in a statement, each value computed once; what a counter alone decides becomes a table.",
        optional: true,
        run: |s| s.one_each(),
        ..PLAIN
    },
    LayoutPass {
        name: "widen",
        doc: "Puts words that are narrower than a lane into lanes, with zeros above them.",
        layouts: &[Layout::Vertical],
        run: |s| s.widen(),
        ..PLAIN
    },
    LayoutPass {
        name: "keys-ahead",
        doc: "Lets a loop that begins by masking with `k[i]` end by masking with `k[i+1]`, and moves masks in front of rotations.",
        optional: true,
        layouts: SLICED,
        ternary: true,
        run: |s| s.keys_ahead(),
        ..PLAIN
    },
    LayoutPass {
        name: "prepare-keys",
        doc: "Computes once, in a function of its own, what depends on shared inputs and the counter alone.",
        why: "preparation and kernel together are compared with the kernel before, bit by bit",
        optional: true,
        layouts: &[Layout::Vertical],
        ternary: true,
        run: |s| s.prepare_keys(),
    },
    LayoutPass {
        name: "cells",
        doc: "Covers runs of bitwise operations by functions of three inputs.",
        why: "what is cut out stays the same term; what replaces it is run on all eight inputs",
        optional: true,
        layouts: SLICED,
        ternary: true,
        run: |s| s.cells(),
    },
    LayoutPass {
        name: "bitslice",
        doc: "Makes a word of every bit, and functions from state to state of the bodies of loops.",
        why: "the same code makes words of one bit, and these are compared bit by bit",
        layouts: &[Layout::Bitslice],
        run: |s| s.bitslice(),
        ..PLAIN
    },
    LayoutPass {
        name: "interleave",
        doc: "Puts several copies of the computation into one function, so many statements of each in turn.",
        why: "each copy is the same term as a call, or equal bit by bit",
        run: |s| s.interleave(),
        ..PLAIN
    },
];

/// A pass of layouts by name.
pub fn find(name: &str) -> Option<&'static LayoutPass> {
    TABLE.iter().find(|p| p.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/layouts.md");

    fn rows() -> String {
        let row = |p: &LayoutPass| {
            let layouts: Vec<&str> = p.layouts.iter().map(|l| l.name()).collect();
            let ternary = if p.ternary { ", with three-input gates" } else { "" };
            format!("| [{0}](#{0}) | {1} | {2}{ternary} | {3} |\n", p.name, p.doc, if p.layouts.len() == Layout::ALL.len() { "all".into() } else { layouts.join(", ") }, p.why)
        };
        TABLE.iter().map(row).collect()
    }

    #[test]
    fn the_page_has_every_pass_in_order() {
        let text = std::fs::read_to_string(PAGE).unwrap();
        let at = text.find("| [columns]").unwrap();
        let end = at + text[at..].find("\n*Left out* below says").unwrap();
        let new = format!("{}{}{}", &text[..at], rows(), &text[end..]);
        if std::env::var_os("SANTOKU_BLESS").is_some() {
            std::fs::write(PAGE, &new).unwrap();
        }
        assert_eq!(std::fs::read_to_string(PAGE).unwrap(), new, "SANTOKU_BLESS=1 rewrites the table");
        let sections: Vec<&str> = text.lines().filter_map(|l| l.strip_prefix("### ")).collect();
        assert_eq!(sections, TABLE.iter().map(|p| p.name).collect::<Vec<_>>());
        for part in text.split("\n### ").skip(1) {
            let part = part.split("\n## ").next().unwrap();
            let pass = find(part.lines().next().unwrap()).unwrap();
            assert!(part.contains(if pass.optional { "*Left out:*" } else { "*Needed" }) && part.len() > 100, "{part}");
        }
    }
}
