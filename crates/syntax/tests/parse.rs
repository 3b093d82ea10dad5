//! The parser on what the reference allows and on what it forbids.

use santoku_diag::FileId;
use santoku_syntax::ast::*;
use santoku_syntax::parse;

const REFERENCE: &str = include_str!("samples/reference.stk");

fn tree(text: &str) -> File {
    let (file, errors) = parse(FileId(0), text);
    assert!(errors.is_empty(), "{text}\n{errors:#?}");
    file
}

/// The expression of `const X = <text>`.
fn expr(text: &str) -> Expr {
    match tree(&format!("const X = {text}\n")).items.remove(0).kind {
        ItemKind::Const { value, .. } => value,
        other => panic!("{other:?}"),
    }
}

/// Fully parenthesised, to see how operators bind.
fn show(e: &Expr) -> String {
    let list = |v: &[Expr]| v.iter().map(show).collect::<Vec<_>>().join(", ");
    match &e.kind {
        ExprKind::Int(v) => v.to_string(),
        ExprKind::Name(p) => p.module.iter().map(|m| format!("{}::", m.name)).collect::<String>() + &p.name.name,
        ExprKind::Power { base, exp } => format!("pow({base}, {})", show(exp)),
        ExprKind::Call { callee, generics, args } => format!("{}<{}>({})", callee.name.name, generics.len(), list(args)),
        ExprKind::Index { base, index } => format!("{}[{}]", show(base), show(index)),
        ExprKind::Slice { base, off, len } => format!("{}[{}; {}]", show(base), show(off), show(len)),
        ExprKind::Field { base, field } => format!("{}.{}", show(base), field.name),
        ExprKind::TupleField { base, index } => format!("{}.{index}", show(base)),
        ExprKind::Un { op, arg } => format!("{op:?}({})", show(arg)),
        ExprKind::Bin { op, lhs, rhs } => format!("{op:?}({}, {})", show(lhs), show(rhs)),
        ExprKind::Congruent { lhs, rhs, modulus } => format!("Cong({}, {}, {})", show(lhs), show(rhs), modulus.as_ref().map_or("none".to_string(), |m| show(m))),
        ExprKind::Sum { lo, hi, body, inclusive, .. } => format!("Sum({}, {}, {inclusive}, {})", show(lo), show(hi), show(body)),
        ExprKind::Forall { body, .. } => format!("Forall({})", show(body)),
        ExprKind::Paren(e) => show(e),
        ExprKind::Tuple(v) => format!("({})", list(v)),
        ExprKind::Array(v) => format!("[{}]", list(v)),
        other => format!("{other:?}"),
    }
}

fn codes(text: &str) -> Vec<&'static str> {
    parse(FileId(0), text).1.iter().map(|d| d.code).collect()
}

#[test]
fn the_reference_sample_parses_to_every_kind_of_item() {
    let file = tree(REFERENCE);
    assert_eq!(file.items.len(), 15);
    let ItemKind::Fn(f) = &file.items.iter().find(|i| matches!(i.kind, ItemKind::Fn(_))).unwrap().kind else { unreachable!() };
    assert_eq!(f.doc, ["Doc line one.", "Doc line two."]);
    assert_eq!(f.attrs[1].arg.as_deref(), Some("c_name"));
    assert_eq!(f.contracts.len(), 3);
    assert_eq!(f.generics.len(), 3);
    let body = f.body.as_ref().unwrap();
    assert_eq!(body.stmts.len(), 16);
    assert!(matches!(body.result.as_ref().unwrap().kind, ExprKind::If { .. }));
}

#[test]
fn operators_bind_as_the_table_says() {
    for (text, shown) in [
        ("a + b * c", "Add(a, Mul(b, c))"),
        ("a - b - c", "Sub(Sub(a, b), c)"),
        ("-2^62 * x", "Mul(Neg(pow(2, 62)), x)"),
        ("2^2^3", "pow(2, pow(2, 3))"),
        ("2^k", "pow(2, k)"),
        ("2 ^ k", "BitXor(2, k)"),
        ("a << 1 + b", "Shl(a, Add(1, b))"),
        ("a & b << 1", "BitAnd(a, Shl(b, 1))"),
        ("a | b ^ c & d", "BitOr(a, BitXor(b, BitAnd(c, d)))"),
        ("a == b | c && d < e || f", "Or(And(Eq(a, BitOr(b, c)), Lt(d, e)), f)"),
        ("a ==> b ==> c", "Implies(a, Implies(b, c))"),
        ("a ≡ b + 1 mod P && c", "And(Cong(a, Add(b, 1), P), c)"),
        ("a === b mod 2^4", "Cong(a, b, pow(2, 4))"),
        ("sum(i in 0..<4) x[i] * 2 + y", "Add(Sum(0, 4, false, Mul(x[i], 2)), y)"),
        ("forall(i in 0..4) a ==> b && c", "Forall(Implies(a, And(b, c)))"),
        ("x[i; 4].f.0[1]", "x[i; 4].f.0[1]"),
        ("~a >>> 3 <<< 4", "Rotl(Rotr(BitNot(a), 3), 4)"),
        ("M::f::<16, u8, K>(x) % 3", "Rem(f<3>(x), 3)"),
        ("(a < b) == c", "Eq(Lt(a, b), c)"),
        ("[1,\n 2\n, 3]", "[1, 2, 3]"),
    ] {
        assert_eq!(show(&expr(text)), shown, "{text}");
    }
}

#[test]
fn a_line_goes_on_after_an_operator_and_ends_otherwise() {
    let file = tree("fn f() -> int {\n  let a = 1 +\n    2\n  let b = g(a,\n    a)\n  -a\n}\n");
    let ItemKind::Fn(f) = &file.items[0].kind else { panic!() };
    let body = f.body.as_ref().unwrap();
    assert_eq!(body.stmts.len(), 2);
    assert_eq!(show(body.result.as_ref().unwrap()), "Neg(a)");
}

#[test]
fn ranges_that_exclude_their_end_lose_one() {
    let file = tree("type T = int in 0..<8\n");
    let ItemKind::Type { ty: Type { kind: TypeKind::Int(Some((_, hi))), .. }, .. } = &file.items[0].kind else { panic!() };
    assert_eq!(show(hi), "Sub(8, 1)");
}

#[test]
fn every_fault_has_its_code() {
    for (text, code) in [
        ("const X = \n", "syntax"),
        ("const X = 1 + \u{2603}\n", "bad-character"),
        ("// \u{202e} reversed\n", "bad-character"),
        ("/* no */\n", "bad-character"),
        ("const X = 0xfg\n", "bad-literal"),
        ("const X = 0x\n", "bad-literal"),
        ("const X = b\"abc\n", "bad-literal"),
        ("const X = hex\"0\"\n", "bad-literal"),
        ("const X = hex\"0g\"\n", "bad-literal"),
        ("const X = b\"\\q\"\n", "bad-literal"),
        ("const sum = 1\n", "reserved-word"),
        ("const u8 = 1\n", "reserved-word"),
        ("const X = a < b < c\n", "comparison-chain"),
        ("const X = a ≡ b mod c == d\n", "comparison-chain"),
        ("const X = x^2\n", "power-spacing"),
        ("const X = 2^ 3\n", "power-spacing"),
        ("fn f() -> u8 { 1 = 2\n3 }\n", "not-a-place"),
        ("fn f() -> u8 { a\n3 }\n", "unused-value"),
        ("fn f() -> u8 { if c { 1 } else { 2 }\n3 }\n", "unused-value"),
        ("fn f() -> u8 { if c { 1 } else if d { 2 }\n3 }\n", "unused-value"),
        ("fn f() -> u8 { if c { x = 1 } else if d { 2 }\n3 }\n", "unused-value"),
        ("fn f() -> u8 {\n  3\n", "unclosed"),
        ("fn f() -> u8 {\n  3\nfn g() -> u8 { 1 }\n", "unclosed"),
        ("fn f() -> u8 { let (a, b, a) = g()\na }\n", "duplicate-name"),
        ("fn f() -> u8 { let u1 = 3\nu1 + u1 }\n", "reserved-word"),
        ("@inline const X = 1\n", "syntax"),
        ("let x = 3\n", "syntax"),
        ("fn f() -> u8 { return 3 }\n", "syntax"),
        ("fn f() -> u8 { let x = if c { 1 }\nx }\n", "syntax"),
        ("const X = ()\n", "syntax"),
    ] {
        assert_eq!(codes(text).first(), Some(&code), "{text}");
    }
}

#[test]
fn many_faults_are_reported_and_what_follows_is_still_read() {
    let text = "const A = )\nfn f() -> u8 {\n  let = 3\n  x = (1 + \n  let y = 2\n  if { }\n  y\n}\nconst B = 7\nfn g( -> u8 { 1 }\nconst C = 8\n";
    let (file, errors) = parse(FileId(0), text);
    assert!(errors.len() >= 4, "{errors:#?}");
    let consts: Vec<_> = file.items.iter().filter_map(|i| if let ItemKind::Const { name, .. } = &i.kind { Some(&name.name[..]) } else { None }).collect();
    assert_eq!(consts, ["B", "C"]);
}

#[test]
fn literals_end_at_two_to_the_4096() {
    let at = |shift: usize| format!("const X = 0x1{}\n", "0".repeat(shift));
    tree(&at(1024));
    assert_eq!(codes(&at(1025)), ["integer-too-large"]);
    assert_eq!(codes(&format!("const X = {}\n", "9".repeat(200_000))), ["integer-too-large"]);
}

#[test]
fn depth_is_limited_in_every_direction() {
    let n = 100_000;
    let rep = |s: &str| s.repeat(n);
    for text in [
        format!("const X = {}", rep("(")),
        format!("const X = {}1", rep("-")),
        format!("const X = {}1", rep("2^")),
        format!("const X = {}1", rep("1 + ")),
        format!("const X = {}1", rep("a ==> ")),
        format!("const X = x{}", rep("[0]")),
        format!("const X = {}", rep("sum(i in 0..1) ")),
        format!("const X = {}", rep("if a { 1 } else ")),
        format!("type X = {}", rep("public ")),
        format!("type X = {}", rep("[")),
        format!("fn f() -> u8 {{ let x = {}", rep("if a { ")),
        format!("fn f() -> u8 {{ {}", rep("if a { ")),
        format!("fn f() -> u8 {{ if a {{ }} {}", rep("else if a { } ")),
    ] {
        assert_eq!(codes(&text).last(), Some(&"nesting-too-deep"), "{}", &text[..60]);
    }
    let ok = 90;
    tree(&format!("const X = {}1{}\n", "(".repeat(ok), ")".repeat(ok)));
    tree(&format!("const X = {}1\n", "1 + ".repeat(300)));
}

#[test]
fn depth_adds_up_along_nested_chains() {
    let mut e = String::from("1");
    for _ in 0..10 {
        e = format!("({e}){}", " + 1".repeat(60));
    }
    assert_eq!(codes(&format!("const X = {e}\n")), ["nesting-too-deep"]);
}

#[test]
fn files_above_4_mib_are_refused_and_errors_are_capped() {
    assert_eq!(codes(&" ".repeat((4 << 20) + 1)), ["file-too-large"]);
    let all = codes(&"?".repeat(1000).replace('?', "fn ?\n"));
    assert_eq!(all.len(), 51);
    assert_eq!(all.last(), Some(&"too-many-errors"));
}
