//! A diagnostic as `--json` prints it.

use santoku_diag::{Diagnostic, Severity, Sources, Span};
use serde::Serialize;

/// Lines and columns count from 1, columns in characters; ends are behind the last character.
#[derive(Serialize)]
pub struct Message<'a> {
    severity: &'static str,
    code: &'a str,
    title: &'a str,
    place: Option<Place<'a>>,
    also: Vec<Place<'a>>,
    notes: &'a [String],
    help: Option<&'a str>,
    more: Option<&'a str>,
}

#[derive(Serialize)]
struct Place<'a> {
    file: &'a str,
    line: u32,
    column: u32,
    end_line: u32,
    end_column: u32,
    label: &'a str,
}

impl<'a> Message<'a> {
    pub fn of(d: &'a Diagnostic, sources: &'a Sources) -> Message<'a> {
        let place = |(span, label): &'a (Span, String)| place(*span, label, sources);
        Message {
            severity: match d.severity {
                Severity::Error => "error",
                Severity::Warning => "warning",
            },
            code: d.code,
            title: &d.title,
            place: d.primary.as_ref().and_then(place),
            also: d.secondary.iter().filter_map(place).collect(),
            notes: &d.notes,
            help: d.help.as_deref(),
            more: d.more.as_deref(),
        }
    }
}

fn place<'a>(span: Span, label: &'a str, sources: &'a Sources) -> Option<Place<'a>> {
    sources.contains(span.file).then(|| {
        let ((line, column), (end_line, end_column)) = (sources.line_col(span.file, span.start), sources.line_col(span.file, span.end));
        Place { file: sources.name(span.file), line, column, end_line, end_column, label }
    })
}
