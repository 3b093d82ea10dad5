//! Rendering of diagnostics to text, laid out by `annotate-snippets`.
//!
//! Keeps: any span, even one outside its text, renders; the work per message is bounded by [`WINDOW_BYTES_MAX`].

use crate::{Diagnostic, FileId, Severity, Sources, Span};
use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet};
use std::ops::Range;

/// A message that spans more source than this shows its place only, not the text.
pub const WINDOW_BYTES_MAX: usize = 16 << 10;
/// Columns of the rendered text, at most; longer source lines are cut around the marked part.
const WIDTH: usize = 120;

/// Whether escape codes for colour are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colour {
    Plain,
    Ansi,
}

/// One message, with a final newline:
/// ```text
/// error[range]: limb may leave its type
///   --> lib/field/fe25519.stk:41:9
///    |
/// 41 |   r[i+1] += r[i] >> 16
///    |             ^^^^^^^^^^ 0 .. 2^21, so the sum can reach 2^47
///    = declared: int in 0..2^16-1
///    = try: another carry pass
/// ```
pub fn render(d: &Diagnostic, sources: &Sources, colour: Colour) -> String {
    let level = match d.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let mut group = Group::with_title(level.primary_title(d.title.as_str()).id(d.code));
    for file in files(d, sources) {
        group = match window(d, sources, file) {
            Some((lines, marks)) => group.element(snippet(sources, file, lines, marks)),
            None => group.element(origin(d, sources, file)),
        };
    }
    for note in &d.notes {
        let (name, text) = split_note(note);
        group = group.element(Level::NOTE.with_name(name).message(text));
    }
    if let Some(help) = &d.help {
        group = group.element(Level::HELP.with_name("try").message(help.as_str()));
    }
    if let Some(more) = &d.more {
        group = group.element(Level::NOTE.with_name("more").message(more.as_str()));
    }
    let renderer = match colour {
        Colour::Plain => Renderer::plain(),
        Colour::Ansi => Renderer::styled(),
    };
    let text = renderer.term_width(WIDTH).render(&[group]);
    // A message without lines of code leaves trailing spaces on empty rows.
    text.lines().map(|l| l.trim_end().to_string() + "\n").collect()
}

/// All messages, an empty line between two, then `N errors`.
pub fn render_all(all: &[Diagnostic], sources: &Sources, colour: Colour) -> String {
    let mut out: String = all.iter().map(|d| render(d, sources, colour) + "\n").collect();
    let errors = all.iter().filter(|d| d.severity == Severity::Error).count();
    match errors {
        0 => {}
        1 => out += "1 error\n",
        n => out += &format!("{n} errors\n"),
    }
    out
}

/// `why: text` is a note named `why`; a note without such a name is a `note`.
fn split_note(note: &str) -> (&str, &str) {
    match note.split_once(": ") {
        Some((name, text)) if !name.is_empty() && name.bytes().all(|b| b.is_ascii_lowercase() || b == b'-') => (name, text),
        _ => ("note", note),
    }
}

fn spans(d: &Diagnostic) -> impl Iterator<Item = (Span, &str, bool)> {
    let primary = d.primary.iter().map(|(s, t)| (*s, t.as_str(), true));
    primary.chain(d.secondary.iter().map(|(s, t)| (*s, t.as_str(), false)))
}

/// The files a message points into, that of the primary place first.
fn files(d: &Diagnostic, sources: &Sources) -> Vec<FileId> {
    let mut out: Vec<FileId> = Vec::new();
    for (s, _, _) in spans(d) {
        if sources.contains(s.file) && !out.contains(&s.file) {
            out.push(s.file);
        }
    }
    out
}

/// A span as a range of `text`, on character boundaries.
fn clamp(span: Span, text: &str) -> Range<usize> {
    let floor = |i: u32| {
        let mut i = (i as usize).min(text.len());
        while !text.is_char_boundary(i) {
            i -= 1;
        }
        i
    };
    let (start, end) = (floor(span.start), floor(span.end));
    start..end.max(start)
}

/// A marked part of a window: where, what it says, whether it is the primary one.
type Marked<'a> = (Range<usize>, &'a str, bool);

/// The lines of `file` that hold all its marks, as a byte range, and the marks relative to it.
fn window<'a>(d: &'a Diagnostic, sources: &Sources, file: FileId) -> Option<(Range<usize>, Vec<Marked<'a>>)> {
    let text = sources.text(file);
    let marks: Vec<Marked> = spans(d).filter(|(s, _, _)| s.file == file).map(|(s, t, p)| (clamp(s, text), t, p)).collect();
    let start = marks.iter().map(|m| m.0.start).min()?;
    let end = marks.iter().map(|m| m.0.end).max()?;
    let from = text[..start].rfind('\n').map_or(0, |i| i + 1);
    let to = text[end..].find('\n').map_or(text.len(), |i| end + i);
    if to - from > WINDOW_BYTES_MAX {
        return None;
    }
    let marks = marks.into_iter().map(|(r, t, p)| (r.start - from..r.end - from, t, p)).collect();
    Some((from..to, marks))
}

fn snippet<'a>(sources: &'a Sources, file: FileId, lines: Range<usize>, marks: Vec<Marked<'a>>) -> Snippet<'a, annotate_snippets::Annotation<'a>> {
    let line = sources.line_col(file, lines.start as u32).0;
    let annotations = marks.into_iter().map(|(range, label, primary)| {
        let kind = if primary { AnnotationKind::Primary } else { AnnotationKind::Context };
        let label = Some(label).filter(|l| !l.is_empty());
        kind.span(range).label(label)
    });
    Snippet::source(&sources.text(file)[lines]).path(sources.name(file)).line_start(line as usize).annotations(annotations)
}

fn origin<'a>(d: &Diagnostic, sources: &'a Sources, file: FileId) -> Origin<'a> {
    let start = spans(d).find(|(s, _, _)| s.file == file).map_or(0, |(s, _, _)| s.start);
    let (line, column) = sources.line_col(file, start);
    Origin::path(sources.name(file)).line(line as usize).char_column(column as usize)
}
