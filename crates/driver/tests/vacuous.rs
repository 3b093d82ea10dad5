//! What holds only for want of an input is said: a warning, an error where strictness is asked for.

use santoku_diag::Severity;
use santoku_driver::{check, prove, vacuous, Checked, Request};

fn checked(text: &str) -> Checked {
    let request = Request::new("main.stk", santoku_driver::built_in("portable").expect("built in").expect("known"));
    let mut load = |path: &str| Ok((path == "main.stk").then(|| text.to_string()));
    check(&request, &mut load).unwrap_or_else(|f| panic!("{f:?}"))
}

/// Severities and places of what is vacuous in a program that is proved.
fn found(text: &str, strict: bool) -> Vec<(Severity, String)> {
    let c = checked(text);
    let report = prove(&c, &santoku_prove::cache::NoStore, 1);
    assert!(report.holds(), "{text}: {:?}", report.failed().collect::<Vec<_>>());
    let note = |d: santoku_diag::Diagnostic| (d.severity, d.notes.into_iter().find(|n| n.starts_with("condition")).unwrap_or_default());
    vacuous(&c, &report, strict).into_iter().map(note).collect()
}

#[test]
fn requires_that_exclude_each_other() {
    let program = "fn f(x: int in 0..9, y: int in 0..9) -> int in 0..1 requires x < y requires y < x { x + y }\n";
    assert_eq!(found(program, false), [(Severity::Warning, "condition: x < y, y < x".into())]);
    assert_eq!(found(program, true), [(Severity::Error, "condition: x < y, y < x".into())]);
    let alone = "fn f(x: int in 0..9) -> int in 0..1 requires x > 9 { x }\n";
    assert_eq!(found(alone, false), [(Severity::Warning, "condition: x > 9".into())]);
    // Only trying all inputs finds this one out.
    let tried = "fn f(x: u4) -> u4 ensures result == 3 requires x * x % 16 == 3 { x }\n";
    assert_eq!(found(tried, false).len(), 1);
    let possible = "fn f(x: int in 0..9, y: int in 0..9) -> int in 0..17 requires x < y { x + y }\n";
    assert_eq!(found(possible, true), []);
}

#[test]
fn an_assertion_that_nothing_reaches() {
    let program = "fn f(x: public int in 0..9) -> int in 0..9 { if x > 9 { assert x == 3 }\n x }\n";
    assert_eq!(found(program, false).len(), 1);
    assert_eq!(found(&program.replace("x > 9", "x > 8 && x == 3 || x == 3"), false), []);
}
