//! Compiling inline sources: one file, or several by path.

use santoku_diag::{Diagnostic, Severity, Sources};
use santoku_ir::interp::{Interp, Options as RunOptions};
use santoku_sema::{compile, Compiled, Failed, Options};
use std::collections::BTreeMap;

/// Compiles `files` (path, text) from the first of them; roots: `lib`.
pub fn build(files: &[(&str, &str)], impls: &[(&str, &str)]) -> Result<Compiled, Failed> {
    let texts: BTreeMap<&str, &str> = files.iter().copied().collect();
    let impls = impls.iter().map(|(i, v)| (i.to_string(), v.to_string())).collect();
    let mut load = |path: &str| texts.get(path).map(|t| t.to_string());
    compile(files[0].0, &["lib".to_string()], &mut load, &Options { impls })
}

/// Must compile; the core verifier must agree.
#[allow(dead_code)]
pub fn accept(files: &[(&str, &str)], impls: &[(&str, &str)]) -> Compiled {
    match build(files, impls) {
        Ok(c) => {
            assert_eq!(santoku_ir::verify::verify(&c.program), vec![]);
            c
        }
        Err(f) => panic!("refused:\n{}", brief_all(&f.diagnostics, &f.sources)),
    }
}

/// Must compile, and every test in it must hold with contracts and ranges checked. At least one test.
#[allow(dead_code)]
pub fn holds_in(files: &[(&str, &str)], impls: &[(&str, &str)]) -> Compiled {
    let c = accept(files, impls);
    assert!(!c.program.tests.is_empty(), "no test in the source");
    let mut interp = Interp::with_options(&c.program, RunOptions::checked());
    for t in &c.program.tests {
        if let Err(fault) = interp.run_test(t) {
            panic!("test {:?}: {fault:?}", t.name);
        }
    }
    c
}

#[allow(dead_code)]
pub fn holds(source: &str) -> Compiled {
    holds_in(&[("main.stk", source)], &[])
}

/// `code line:column title` per message.
pub fn brief_all(ds: &[Diagnostic], sources: &Sources) -> String {
    ds.iter().map(|d| brief(d, sources) + "\n").collect()
}

pub fn brief(d: &Diagnostic, sources: &Sources) -> String {
    let place = d.primary.as_ref().map_or(String::new(), |(s, _)| {
        let (line, col) = sources.line_col(s.file, s.start);
        format!(" {line}:{col}")
    });
    format!("{}{place} {}", d.code, d.title)
}

/// Must be refused: gives the brief messages. Every error has a registered code, a label where it has a place,
/// and a way out.
#[allow(dead_code)]
pub fn refusal(files: &[(&str, &str)], impls: &[(&str, &str)]) -> Vec<String> {
    let failed = match build(files, impls) {
        Ok(_) => panic!("accepted:\n{}", files[0].1),
        Err(f) => f,
    };
    assert!(failed.diagnostics.iter().any(|d| d.severity == Severity::Error));
    for d in &failed.diagnostics {
        assert!(santoku_diag::CODES.iter().any(|(c, _)| *c == d.code), "unregistered code {}: {} for\n{}", d.code, d.title, files[0].1);
        assert!(d.help.as_ref().is_some_and(|h| !h.is_empty()), "no way out: {d:?}");
        assert!(d.primary.as_ref().is_none_or(|(_, label)| !label.is_empty()), "no label: {d:?}");
        assert_ne!(d.code, "internal", "{d:?}");
    }
    failed.diagnostics.iter().map(|d| brief(d, &failed.sources)).collect()
}
