//! Messages and file names in the editor's form.

use crate::positions::Columns;
use lsp_types::{Diagnostic as Shown, DiagnosticRelatedInformation, DiagnosticSeverity, Location, NumberOrString, Range, Uri};
use santoku_diag::{Diagnostic, Severity, Sources, Span};
use std::collections::BTreeMap;
use std::str::FromStr;

/// `file:///a/b.stk` as a path; `None`: no file.
pub fn path_of(uri: &Uri) -> Option<String> {
    let text = uri.as_str().strip_prefix("file://")?;
    let path = &text[text.find('/')?..];
    let bytes = path.as_bytes();
    let (mut out, mut at) = (Vec::with_capacity(bytes.len()), 0);
    while at < bytes.len() {
        if bytes[at] == b'%' {
            out.push(u8::from_str_radix(path.get(at + 1..at + 3)?, 16).ok()?);
            at += 3;
        } else {
            out.push(bytes[at]);
            at += 1;
        }
    }
    String::from_utf8(out).ok()
}

/// An absolute path as an address (RFC 8089).
pub fn uri_of(path: &str) -> Option<Uri> {
    let plain = |b: &u8| b.is_ascii_alphanumeric() || b"/-._~".contains(b);
    let text: String = path.bytes().map(|b| if plain(&b) { char::from(b).to_string() } else { format!("%{b:02X}") }).collect();
    path.starts_with('/').then(|| Uri::from_str(&format!("file://{text}")).ok()).flatten()
}

/// Messages of a run by the file they stand in; those without a place stand at the start of `home`.
pub fn by_file(all: &[Diagnostic], sources: &Sources, home: &str, columns: Columns) -> BTreeMap<String, Vec<Shown>> {
    let mut out: BTreeMap<String, Vec<Shown>> = BTreeMap::new();
    for d in all {
        let place = d.primary.as_ref().filter(|(span, _)| sources.contains(span.file));
        let (file, range) = match place {
            Some((span, _)) => (sources.name(span.file).to_string(), range(*span, sources, columns)),
            None => (home.to_string(), Range::default()),
        };
        out.entry(file).or_default().push(shown(d, range, sources, columns));
    }
    out
}

fn range(span: Span, sources: &Sources, columns: Columns) -> Range {
    columns.range(sources.text(span.file), span.start, span.end)
}

fn shown(d: &Diagnostic, range: Range, sources: &Sources, columns: Columns) -> Shown {
    let label = d.primary.iter().map(|(_, label)| label.clone()).filter(|l| !l.is_empty());
    let help = d.help.iter().map(|h| format!("try: {h}"));
    let more = d.more.iter().map(|m| format!("more: {m}"));
    let lines: Vec<String> = std::iter::once(d.title.clone()).chain(label).chain(d.notes.iter().cloned()).chain(help).chain(more).collect();
    let also = d.secondary.iter().filter(|(span, _)| sources.contains(span.file)).filter_map(|(span, label)| {
        let location = Location { uri: uri_of(sources.name(span.file))?, range: self::range(*span, sources, columns) };
        Some(DiagnosticRelatedInformation { location, message: label.clone() })
    });
    Shown {
        range,
        severity: Some(match d.severity {
            Severity::Error => DiagnosticSeverity::ERROR,
            Severity::Warning => DiagnosticSeverity::WARNING,
        }),
        code: Some(NumberOrString::String(d.code.to_string())),
        source: Some("santoku".into()),
        message: lines.join("\n"),
        related_information: Some(also.collect()),
        ..Shown::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_come_back() {
        for path in ["/a/b.stk", "/with space/ü%20#?.stk", "/c:+&=/x"] {
            assert_eq!(path_of(&uri_of(path).expect("an address")).as_deref(), Some(path));
        }
        assert_eq!(uri_of("relative.stk"), None);
        assert_eq!(path_of(&Uri::from_str("untitled:one").unwrap()), None);
        assert_eq!(path_of(&Uri::from_str("file://host/a").unwrap()).as_deref(), Some("/a"));
    }
}
