//! What is refused, and where: one program at least for every code this crate reports.

mod common;
use common::{build, refusal};
use std::collections::BTreeSet;

/// `(source, message)`: exactly this one message.
const CASES: &[(&str, &str)] = &[
    // Names.
    ("fn f(x: u8) -> u8 { y }", "unknown-name 1:21 `y` is not defined"),
    ("fn f(x: u8) -> u8 { g(x) }", "unknown-name 1:21 `g` is not defined"),
    ("fn f(x: u8) -> T { x }", "unknown-name 1:16 `T` is not defined"),
    ("fn f(x: u8) -> u8 requires result == x { x }", "unknown-name 1:28 `result` has no meaning here"),
    ("fn f(x: u8) -> u8 { M::g(x) }", "unknown-module 1:21 no module `M` here"),
    ("const A = 1\nconst A = 2", "duplicate-name 2:7 `A` is defined twice"),
    ("fn f(x: u8, x: u8) -> u8 { x }", "duplicate-name 1:13 parameter `x` appears twice"),
    ("struct S { a: u8, a: u8 }", "duplicate-name 1:19 field `a` appears twice"),
    ("test \"a\" { assert true }\ntest \"a\" { assert true }", "duplicate-name 2:1 test \"a\" appears twice"),
    ("@export(\"f\")\nfn f(x: u8) -> u8 { x }\n@export(\"f\")\nfn g(x: u8) -> u8 { x }", "duplicate-name 4:4 two functions are exported as `f`"),
    ("const A = 1\nfn f(x: A) -> u8 { 1 }", "not-a-type 2:9 this constant is not a type"),
    ("fn g(x: u8) -> u8 { x }\nfn f(x: u8) -> u8 { g }", "not-a-value 2:21 this function is not a value"),
    ("const A = 1\nfn f(x: u8) -> u8 { A(x) }", "not-callable 2:21 this constant cannot be called here"),
    ("spec fn s(x: int) -> int = x\nfn f(x: u8) -> u8 { s(x) }", "not-callable 2:21 this specification cannot be called here"),
    ("fn g(x: u8) -> u8 { x }\nfn f(x: u8) -> u8 ensures result == g(x) { x }", "not-callable 2:37 this function cannot be called in a specification"),
    ("fn g(x: u8) -> u8 { x }\nfn f(x: u8) -> u8 { g(x, x) }", "wrong-arguments 2:21 `g` takes 1 arguments, 2 given"),
    ("struct S { a: u8 }\nfn f(x: u8) -> u8 { S { a: x }.b }", "unknown-field 2:32 no field `b`"),
    ("struct S { a: u8, b: u8 }\nfn f(x: u8) -> S { S { a: x } }", "missing-field 2:20 field `b` is missing"),
    ("fn f(x: u8) -> u8 { (x, x).2 }", "unknown-field 1:21 no part 2 in a tuple of 2"),
    ("fn f(x: u8) -> u8 ensures result ≡ x { x }", "no-modulus 1:27 a congruence without a modulus"),
    ("type A = int in 0..9 means self mod 7\ntype B = int in 0..9 means self mod 5\nfn f(x: A) -> B ensures result ≡ x { x }", "no-modulus 3:34 a congruence of values with different moduli"),
    ("type A = [u8; 2] means self", "type-mismatch 1:24 expected an integer, found an array"),
    ("type A = [u8; 2] means self[0]\nfn f(x: A) -> A ensures result.a == 1 { x }", "bad-specification 2:25 this form cannot stand in a specification"),
    ("type A = [u8; 2] means self[0] mod x\nfn f(x: A) -> A ensures result ≡ x { x }", "unknown-name 1:36 `x` is not defined"),
    ("spec fn s(x: int) -> int = x\nfn f(x: int in 0..9) -> int in 0..9 {\n  ghost let y = s(x)\n  y\n}", "ghost-in-code 4:3 `y` belongs to ghost text"),
    // Types.
    ("fn f(x: u8) -> u16 { x }", "type-mismatch 1:22 expected u16, found u8"),
    ("fn f(x: u8, y: u16) -> u8 { x + y }", "type-mismatch 1:33 operands of different types: u8 and u16"),
    ("fn f(x: u8) -> int { x }", "type-mismatch 1:22 expected int, found u8"),
    ("fn f(x: u8) -> u8 { if x { 1 } else { 2 } }", "type-mismatch 1:24 expected bool, found u8"),
    ("fn f(x: [u8; 4]) -> [u8; 5] { x }", "type-mismatch 1:31 expected [u8; 5], found [u8; 4]"),
    ("fn f(x: u8) -> u8 { x[0] }", "type-mismatch 1:23 u8 cannot be indexed"),
    ("fn f(x: u8) -> u8 { x.a }", "type-mismatch 1:21 u8 has no fields"),
    ("fn f(x: u8) -> u8 { let (a, b) = x; a }", "type-mismatch 1:34 2 names for a value of type u8"),
    ("spec fn s(x: int) -> bool = x", "type-mismatch 1:22 expected a bool, found an integer"),
    ("fn f(x: bool) -> bool { ~x }", "bad-operator 1:26 `~` on bool"),
    ("fn f(x: int in 0..9) -> int { x ^ x }", "bad-operator 1:31 this operation does not exist on int in 0..9"),
    ("fn f(x: int in 0..9) -> int { x & 6 }", "bad-operator 1:31 this operation does not exist on int"),
    ("fn f(x: [u8; 2]) -> bool { x < x }", "bad-operator 1:28 [u8; 2] has no order"),
    ("spec fn s(x: int) -> int = x <<< 1", "bad-operator 1:28 this operation needs a number of bits, and integers have none"),
    ("fn f(x: [u8; 2]) -> u16 { u16(x) }", "bad-conversion 1:27 no conversion from [u8; 2] to u16"),
    ("fn f(x: int) -> int { x }", "missing-range 1:9 a parameter of type `int` without a range"),
    ("struct S { a: [int; 4] }", "missing-range 1:15 a struct field of type `int` without a range"),
    ("fn g<T: type>(x: T) -> T { x }\nfn f(x: u8) -> int { let y: int = int(x); g(y) }", "missing-range 2:43 `T` would be `int` without a range"),
    ("fn f(x: int in 5..4) -> u8 { 1 }", "empty-range 1:9 empty range 5..4"),
    ("fn f(x: [u8; i < 4]) -> u8 { 1 }", "bad-range 1:10 ranges per index need `int in lo..hi` and a constant length"),
    ("fn f(x: [u8; 2 - 3]) -> u8 { 1 }", "bad-length 1:14 array length is negative"),
    ("fn f<n: len>(x: [u8; n], y: [u8; 2*n]) -> u8 { 1 }", "bad-length 1:34 array length of this form is not supported"),
    ("fn f(x: u200) -> u8 { 1 }", "bad-word 1:9 no word type of 200 bits"),
    ("struct A { b: B }\nstruct B { a: [A; 2] }", "recursive-type 2:16 a type contains itself"),
    ("type A = [A; 2]", "recursive-type 1:11 a type contains itself"),
    ("fn f(x: [public u8; 2]) -> u8 { 1 }", "misplaced-public 1:10 `public` cannot stand inside a type"),
    ("fn f(x: (u8, u8)) -> u8 { 1 }", "misplaced-tuple 1:9 a tuple cannot stand here"),
    ("fn f(x: u8) -> u8 { x + (x, x) }", "misplaced-tuple 1:25 a tuple cannot stand here"),
    ("fn g<T: type>(x: u8) -> T { T(x) }\nfn f(x: u8) -> u8 { let y = g(x); y }", "cannot-infer 2:29 cannot infer `T` of `g`"),
    ("fn g<T: type>(x: T) -> T { x }\nfn f<n: len>(x: [u8; n]) -> [u8; n] { g(x) }", "bad-type-argument 2:39 `T` would be an array of run-time length"),
    // Constants.
    ("const A = 2^5000", "const-too-large 1:11 constant beyond 2^4096"),
    ("const A = 2^(2^100)", "const-too-large 1:11 constant beyond 2^4096"),
    ("const A = [0; 2^40]", "const-too-large 1:15 constant too large to evaluate"),
    ("const A = [for i in 0..<2^21: [0; 100]]", "const-too-large 1:31 constant too large to evaluate"),
    ("fn f(x: [u8; 2^40]) -> u8 { 1 }", "const-too-large 1:14 array too large"),
    ("fn f(x: u8) -> u8 { let y = [[x; 2^12]; 2^12]; x }", "const-too-large 1:29 array too large"),
    ("fn f(x: u8) -> u8 { var y = x; for i in 0..<8 step 0 { y += 1 }\n y }", "bad-step 1:52 the step of a loop is no positive constant"),
    ("fn f(x: u8) -> u8 { var y = x; for i in 0..<2^40 { y += 1 }\n y }", "loop-too-long 1:41 loop runs too often"),
    ("const A = B\nconst B = A + 1", "cyclic-constant 2:11 a constant is defined by itself"),
    ("table t: u2 -> u2 = [for i in 0..<4: t(3 - i)]\nfn f(x: u2) -> u2 { t(x) }", "cyclic-constant 1:38 a constant is defined by itself"),
    ("perm p: u2 -> u2 = [int(p(1)), 0]\nfn f(x: u2) -> u2 { p(x) }", "cyclic-constant 1:25 a constant is defined by itself"),
    ("const A: u8 = 256", "out-of-range 1:15 256 does not fit u8"),
    ("fn f(x: u8) -> u8 { x + 256 }", "out-of-range 1:25 256 does not fit u8"),
    ("fn f(x: u8) -> int in 0..7 { 8 }", "out-of-range 1:30 8 does not fit int in 0..7"),
    ("fn f(x: [u8; 4]) -> u8 { x[4] }", "index-out-of-range 1:28 index 4 outside an array of 4"),
    ("fn f(x: [u8; 4]) -> [u8; 2] { x[3; 2] }", "index-out-of-range 1:33 index 4 outside an array of 4"),
    ("const A = [1, 2][2]", "index-out-of-range 1:18 index 2 outside an array of 2"),
    ("fn g(x: u8) -> u8 { x }\nconst A = g(1)", "not-constant 2:11 a compile-time constant is needed here"),
    ("fn f(x: public int in 0..9) -> [u8; 2] { let y: [u8; x] = [1, 2]; y }", "not-constant 1:54 a compile-time constant is needed here"),
    ("fn f(x: int in 0..9, i: public int in 0..9) -> int { x << i }", "not-constant 1:59 an exact integer is shifted by constants, and by counters with constant bounds"),
    ("const N = 4\nfn f(x: u8) -> u8 { let N = x; let y = [x; N]; y[0] }", "not-constant 2:44 a compile-time constant is needed here"),
    ("const A = 1 / 0", "bad-divisor 1:11 divisor is not positive"),
    ("fn f(x: u8, y: u8) -> u8 { x / y }", "bad-divisor 1:28 divisor is not a constant"),
    ("fn f(x: u8) -> u8 { x / 3 }", "bad-divisor 1:21 words are divided by powers of two only"),
    ("const A = 2^(0 - 1)", "bad-exponent 1:11 exponent is negative"),
    ("fn f(x: u8) -> u8 { x << 8 }", "bad-shift 1:26 shift count out of range"),
    ("table t: u2 -> u2 = [0, 1, 2]", "bad-table 1:7 this table is not a total map on small words"),
    ("table t: u9 -> u2 = [0, 1, 2]", "bad-table 1:7 this table is not a total map on small words"),
    ("perm p: u3 -> u3 = [0, 1]", "bad-perm 1:6 this is no permutation of bits"),
    ("perm p: u3 -> u3 = [0, 1, 3]", "bad-perm 1:27 this is no permutation of bits"),
    ("perm p: u3 -> u3 = [0, 0 - 1, 2]", "bad-perm 1:24 this is no permutation of bits"),
    ("perm p: u3 -> bool = [0, 1, 2]", "bad-perm 1:6 this is no permutation of bits"),
    ("perm p: u3 -> u3 = 5", "bad-perm 1:20 this is no permutation of bits"),
    ("perm p: u3 -> u3 = [2, 1, 0]\nfn f(x: u4) -> u3 { p(x) }", "type-mismatch 2:23 this permutation cannot be applied to u4"),
    ("perm p: u3 -> u3 = [2, 1, 0]\nfn f(x: [u8; 4]) -> [u8; 3] { p(x) }", "type-mismatch 2:33 this permutation cannot be applied to [u8; 4]"),
    ("perm p: u3 -> u3 = [2, 1, 0]\nconst A = p(8)", "out-of-range 2:13 8 does not fit u3"),
    // Statements.
    ("fn f(x: u8) -> u8 { x = 1; x }", "assign-to-immutable 1:21 `x` cannot be assigned to"),
    ("fn f(x: u8) -> u8 { let y = x; y += 1; y }", "assign-to-immutable 1:32 `y` cannot be assigned to"),
    ("fn f(x: u8) -> u8 { for i in 0..3 { i = 2 }\n x }", "assign-to-immutable 1:37 `i` cannot be assigned to"),
    ("const A = 1\nfn f(x: u8) -> u8 { A = 1; x }", "not-a-place 2:21 `A` cannot be assigned to"),
    ("fn f(x: u8) -> u8 { var y = x; let z = if x == 1 { y = 2; 3 } else { 4 }; y + z }", "assign-in-expression 1:52 `y` is assigned inside an expression"),
    ("fn f(x: u8) -> u8 { var y: u8; if x == 1 { y += 1 }\n y }", "unset-variable 1:44 a variable is read before it has a value"),
    ("fn f(x: u8) -> u8 { let y = x }", "missing-result 1:31 the body has no result"),
    ("fn f(x: u8) { x }", "missing-result 1:4 `f` returns nothing"),
    ("fn f(x: u8) -> u8 { var y = x; for i in 0..3 invariant g(y) == 1 { y += 1 }\n y }\nfn g(x: u8) -> u8 { x }", "bad-invariant 1:56 an invariant cannot call functions or build arrays"),
    ("@fast\nfn f(x: u8) -> u8 { x }", "bad-attribute 1:1 unknown attribute `@fast`"),
    ("@export(\"a b\")\nfn f(x: u8) -> u8 { x }", "bad-attribute 1:1 `@export` needs a C identifier"),
    ("fn f(x: u8) -> u8 { var y = x; @fast for i in 0..3 { y += 1 }\n y }", "bad-attribute 1:32 unknown attribute `@fast`"),
    ("fn f(x: u8) -> u8 { g(x) }\nfn g(x: u8) -> u8 { h(x) }\nfn h(x: u8) -> u8 { g(x) }", "recursive-function 3:21 `main.g` calls itself"),
    ("fn f<K: const>(x: u8) -> u8 { f::<K + 1>(x) }\nfn g(x: u8) -> u8 { f::<0>(x) }", "recursive-function 1:31 `main.f` calls itself"),
    ("fn f(x: u8) -> bool { x ≡ 1 mod 2 }", "spec-only 1:23 this form belongs to specifications"),
    ("fn f(x: int in 0..9) -> int { ghost let d = 2 * x\n d }", "ghost-in-code 2:2 `d` belongs to ghost text"),
    ("struct S { a: int in 0..9 }\nspec fn s(x: int) -> S = S { a: x }", "bad-specification 2:26 this form cannot stand in a specification"),
    // Secrets.
    ("fn f(t: [u8; 4], x: u8) -> u8 { t[int(x) & 3] }", "secret-index 1:35 index depends on a secret"),
    ("fn f(t: [u8; 4], x: int in 0..2) -> [u8; 2] { t[x; 2] }", "secret-index 1:49 index depends on a secret"),
    ("fn f(n: int in 0..9) -> int { var y: int in 0..9 = 0; for i in 0..<n { y = i }\n y }", "secret-bound 1:68 loop bound depends on a secret"),
    ("fn f(x: u8, n: int in 0..7) -> u8 { x >> n }", "secret-shift 1:42 shift count depends on a secret"),
    ("fn f(x: int in 0..99) -> int { x / 10 }", "secret-division 1:32 division of a secret"),
    ("fn g(x: public u8) -> u8 { x }\nfn f(x: u8) -> u8 { g(x) }", "secret-argument 2:23 secret passed as a public argument"),
    ("fn f(x: u8) -> public u8 { x + 1 }", "secret-value 1:16 a public variable or result holds a secret"),
    ("fn f(x: u8) -> u8 { let y: public u8 = x; y }", "secret-value 1:28 a public variable or result holds a secret"),
    ("fn g(x: u8) -> u8 { x }\n@declassify fn f(x: u8) -> u8 { x }", "bad-attribute 2:28 a function that declassifies gives one public scalar"),
    ("@declassify fn f(x: u8) -> public [u8; 2] { [x, x] }", "bad-attribute 1:28 a function that declassifies gives one public scalar"),
    ("@declassify fn f(x: u8) -> (public u8, public u8) { (x, x) }", "bad-attribute 1:28 a function that declassifies gives one public scalar"),
    ("@declassify fn f(x: public u8) -> public u8 { x }", "bad-attribute 1:1 there is nothing to declassify"),
    ("@declassify @inline fn f(x: u8) -> public u8 { x }", "bad-attribute 1:1 a function that declassifies is never inlined"),
    ("@layout(\"bitslice\") fn f(x: [[u8; 2]; 4]) -> [[u8; 2]; 4] { x }", "bad-attribute 1:1 `@layout` needs the name of a layout"),
    ("@layout fn f(x: [[u8; 2]; 4]) -> [[u8; 2]; 4] { x }", "bad-attribute 1:1 `@layout` needs the name of a layout"),
    ("@layout(\"vertical\") fn f(x: [[u8; 2]; 4]) -> [[u8; 2]; 4] { x }", "bad-attribute 1:1 this function has no layout"),
    ("fn g(x: u8) -> u8 { x }\n@layout(\"vertical\") fn f(x: [u8; 4]) -> [u8; 4] { [for i in 0..<4: g(x[i])] }", "bad-attribute 2:1 this function has no layout"),
    ("fn g(x: [u8; 2]) -> [u8; 2] { x }\n@layout(\"vertical\") fn f(x: [[u8; 2]; 4]) -> [[u8; 2]; 4] { [for i in 0..<4: g(x[3 - i])] }", "bad-attribute 2:1 this function has no layout"),
    ("fn g(x: [u8; 2]) -> [u8; 2] { x }\n@layout(\"vertical\") fn f(x: [[u8; 2]; 4]) -> [[u8; 2]; 4] { [for i in 0..<4: g(g(x[i]))] }", "bad-attribute 2:1 this function has no layout"),
    ("fn g(x: [u8; 2]) -> [u8; 2] { x }\n@layout(\"vertical\") fn f(x: [[u8; 2]; 4]) -> [[u8; 2]; 4] { var y = x\n for i in 0..<3 { y[i] = g(x[i]) }\n y }", "bad-attribute 2:1 this function has no layout"),
    ("fn g(x: [u8; 2], k: u8) -> [u8; 2] { [x[0] ^ k, x[1]] }\n@layout(\"vertical\") fn f(x: [[u8; 2]; 4], k: u8) -> [[u8; 2]; 4] { [for i in 0..<4: g(x[i], k)] }", "bad-attribute 2:1 this function has no layout"),
    ("fn g(x: [u8; 2]) -> [u8; 2] { x }\n@layout(\"vertical\") @inline fn f(x: [[u8; 2]; 4]) -> [[u8; 2]; 4] { [for i in 0..<4: g(x[i])] }", "bad-attribute 2:1 a function with a layout is never inlined"),
    ("@declassify fn f(t: [u8; 2], x: u8) -> public u8 { t[int(x) & 1] }", "secret-index 1:54 index depends on a secret"),
    ("@declassify fn g(x: u8) -> public u8 { x }\nfn f(t: [u8; 2], x: u8) -> u8 { t[int(g(x) ^ x) & 1] }", "secret-index 2:35 index depends on a secret"),
    ("fn f(t: [u8; 4], c: bool) -> u8 { var i: int in 0..3 = 0; if c { i = 1 }\n t[i] }", "secret-index 2:4 index depends on a secret"),
];

#[test]
fn each_case_has_its_one_message() {
    let mut wrong = Vec::new();
    for (source, wanted) in CASES {
        let found = refusal(&[("main.stk", source)], &[]);
        if found != [*wanted] {
            wrong.push(format!("{source}\n  wanted {wanted}\n  found  {found:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

const IFACE: &str = "interface fe {\n  default a\n  type Fe\n  fn g(x: Fe, n: public int in 0..7) -> Fe\n}";
const USER: &str = "use fe as F\nfn f(x: F::Fe) -> F::Fe { F::g(x, 1) }";

/// Programs of several files: files after the first, message.
fn file_cases() -> Vec<(Vec<(&'static str, &'static str)>, &'static str)> {
    vec![
        (vec![("main.stk", "use a.b")], "missing-module 1:1 module `a.b` not found"),
        (vec![("main.stk", "use a"), ("a.stk", "use b"), ("b.stk", "use a")], "cyclic-import 1:1 imports form a cycle"),
        (vec![("main.stk", "use main")], "cyclic-import 1:1 imports form a cycle"),
        (
            vec![("main.stk", "use a\nuse b as a"), ("a.stk", ""), ("b.stk", "")],
            "duplicate-name 2:10 `a` is imported twice",
        ),
        (vec![("main.stk", USER), ("fe.stk", IFACE)], "missing-module 1:1 `fe` has no implementation `a`"),
        (
            vec![("main.stk", USER), ("fe.stk", IFACE), ("fe_a.stk", "type Fe = u8")],
            "not-an-implementation 1:1 `fe_a.stk` does not implement `fe`",
        ),
        (
            vec![("main.stk", "use fe as F"), ("fe.stk", "interface fe { type Fe }")],
            "no-implementation 1:1 no implementation of `fe` is chosen",
        ),
        (
            vec![("main.stk", "implements fe as a"), ("fe.stk", "const A = 1")],
            "not-an-interface 1:1 `fe` declares no interface",
        ),
        (
            vec![("main.stk", "const A = 1\nimplements fe as a\ntype Fe = u8\nfn g(x: Fe, n: public int in 0..7) -> Fe { x }"), ("fe.stk", IFACE)],
            "misplaced-implements 2:1 `implements` is not the first item of its file",
        ),
        (
            vec![("main.stk", "implements fe as a\ntype Fe = u8"), ("fe.stk", IFACE)],
            "missing-member 1:1 `fn g` of interface `fe` is not defined",
        ),
        (
            vec![("main.stk", "implements fe as a\ntype Fe = u8\nfn g(x: public Fe, n: public int in 0..7) -> Fe { x }"), ("fe.stk", IFACE)],
            "interface-mismatch 3:4 `g` differs from its interface",
        ),
        (
            vec![("main.stk", "implements fe as a\ntype Fe = u8\nfn g(x: Fe, n: public int in 0..6) -> Fe { x }"), ("fe.stk", IFACE)],
            "interface-mismatch 3:4 `g` differs from its interface",
        ),
        (
            vec![("main.stk", "implements fe as a\ntype Fe = u8\nfn g(x: Fe, n: public int in 0..7) -> u16 { u16(x) }"), ("fe.stk", IFACE)],
            "interface-mismatch 3:4 `g` differs from its interface",
        ),
        (
            vec![
                ("main.stk", "use fe as F\nfn f(x: F::Fe) -> F::Fe { F::hidden(x) }"),
                ("fe.stk", IFACE),
                ("fe_a.stk", "implements fe as a\ntype Fe = u8\nfn g(x: Fe, n: public int in 0..7) -> Fe { hidden(x) }\nfn hidden(x: Fe) -> Fe { x }"),
            ],
            "unknown-name 2:30 `hidden` is not defined",
        ),
        // Parameters: more in parameters.rs.
        (vec![("main.stk", "use m"), ("m.stk", "module<P: const>")], "module-arguments 1:1 module `m` takes parameters"),
        (vec![("main.stk", "const A = 1\nmodule<P: const>")], "misplaced-module 2:1 `module<..>` does not stand at the top of its file"),
    ]
}

#[test]
fn each_set_of_files_has_its_one_message() {
    for (files, wanted) in file_cases() {
        assert_eq!(refusal(&files, &[]), vec![wanted.to_string()], "for {files:#?}");
    }
    let none = santoku_sema::compile("no.stk", &[], &mut |_| None, &Default::default());
    assert_eq!(none.err().map(|f| f.diagnostics[0].code), Some("missing-file"));
}

#[test]
fn limits_are_refused_not_suffered() {
    let chain: String = (0..150).map(|i| format!("fn f{i}(x: u8) -> u8 {{ f{}(x) }}\n", i + 1)).collect();
    let chain = format!("{chain}fn f150(x: u8) -> u8 {{ x }}");
    assert_eq!(refusal(&[("main.stk", &chain)], &[])[0].split(' ').next(), Some("nesting-too-deep"));
    let types: String = (0..40).map(|i| format!("type T{} = [T{i}; 1]\n", i + 1)).collect();
    let types = format!("type T0 = u8\n{types}");
    assert!(refusal(&[("main.stk", &types)], &[]).iter().all(|m| m.starts_with("nesting-too-deep") || m.starts_with("recursive-type")));
    let many: String = (0..150).map(|i| format!("g::<{i}>(x); ")).map(|c| format!("y ^= {c}")).collect();
    let all: String = (0..110).map(|i| format!("fn g{i}<K: const>(x: u8) -> u8 {{ h::<K * 1000 + {i}>(x) }}\n")).collect();
    let all = format!("fn h<K: const>(x: u8) -> u8 {{ x + u8(K) }}\n{all}fn g<K: const>(x: u8) -> u8 {{ var y = x; {} y }}\nfn f(x: u8) -> u8 {{ var y = x; {many} y }}",
        (0..110).map(|i| format!("y ^= g{i}::<K>(x); ")).collect::<String>());
    assert_eq!(refusal(&[("main.stk", &all)], &[])[0].split(' ').next(), Some("too-many-instances"));
}

/// The deepest program the parser and the limits let through fits the stack.
#[test]
fn the_deepest_program_compiles() {
    let nest = |n: usize, inner: &str| "(x + ".repeat(n) + inner + &")".repeat(n);
    let mut text = String::new();
    for i in 0..99 {
        let call = if i < 98 { format!("f{}(x)", i + 1) } else { "x".to_string() };
        let choice = nest(20, &format!("[if x == 1 {{ {} }} else {{ 2 }}][0]", nest(20, &call)));
        let ifs = "if y == 1 {\n".repeat(40) + &format!("y = {choice}\n") + &"}\n".repeat(40);
        text += &format!("fn f{i}(x: u8) -> u8 {{\nvar y = x\n{ifs}y\n}}\n");
    }
    if let Err(f) = build(&[("main.stk", &text)], &[]) {
        panic!("{}", common::brief_all(&f.diagnostics[..1], &f.sources));
    }
}

#[test]
fn unused_values_are_refused() {
    // The parser sees most of them; a value where a block wants none is ours.
    let found = refusal(&[("main.stk", "fn f(x: u8) -> u8 { var y = x; for i in 0..3 { y }\n y }")], &[]);
    assert_eq!(found, ["unused-value 1:48 this value is not used"]);
}

/// All source texts below a folder.
fn sources(folder: &std::path::Path) -> String {
    let mut text = String::new();
    for entry in std::fs::read_dir(folder).expect("source folder") {
        let path = entry.expect("entry").path();
        if path.is_dir() {
            text += &sources(&path);
        } else {
            text += &std::fs::read_to_string(&path).expect("source file");
        }
    }
    text
}

#[test]
fn every_code_of_this_crate_has_a_case() {
    let source = sources(&std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src"));
    let used: BTreeSet<&str> = santoku_diag::CODES.iter().map(|c| c.0).filter(|c| source.contains(&format!("\"{c}\""))).collect();
    assert!(used.len() > 50);
    let mut seen: BTreeSet<String> = CASES.iter().map(|c| c.1.to_string()).collect();
    seen.extend(file_cases().iter().map(|c| c.1.to_string()));
    let seen: BTreeSet<&str> = seen.iter().filter_map(|m| m.split(' ').next()).collect();
    // These have tests of their own above, or cannot be provoked.
    let elsewhere = ["internal", "missing-file", "nesting-too-deep", "too-many-instances", "unused-value"];
    let missing: Vec<&&str> = used.iter().filter(|c| !seen.contains(**c) && !elsewhere.contains(c)).collect();
    assert!(missing.is_empty(), "codes without a case: {missing:?}");
}

#[test]
fn a_secret_is_traced_to_its_parameter() {
    let source = "fn f(t: [u8; 4], key: u8) -> u8 {\n  let a = int(key)\n  let b = a & 3\n  t[b]\n}";
    let Err(f) = build(&[("main.stk", source)], &[]) else { panic!("accepted") };
    let labels: Vec<&str> = f.diagnostics[0].secondary.iter().map(|s| s.1.as_str()).collect();
    assert_eq!(labels, ["`b` becomes secret here", "`a` becomes secret here", "`key` is secret: a parameter without `public`"]);
}

#[test]
fn errors_do_not_cascade() {
    let source = "fn f(x: u8) -> u8 {\n  let a = nope(x)\n  let b = a + 1\n  let c: u16 = b\n  a ^ b\n}\nfn g(x: u8) -> u8 { f(x) + f(x) }";
    assert_eq!(refusal(&[("main.stk", source)], &[]), ["unknown-name 2:11 `nope` is not defined"]);
    // Two independent faults are both reported.
    let two = "fn f(x: u8) -> u8 { p }\nfn g(x: u8) -> u8 { q }";
    assert_eq!(refusal(&[("main.stk", two)], &[]).len(), 2);
}

#[test]
fn damaged_programs_never_panic() {
    let source = include_str!("meaning.rs");
    let programs: Vec<&str> = source.split("r#\"").skip(1).filter_map(|p| p.split("\"#").next()).collect();
    assert!(programs.len() > 10);
    let mut refused = 0;
    let mut seed = 1u64;
    for program in programs {
        let words: Vec<&str> = program.split_inclusive(|c: char| !c.is_alphanumeric()).collect();
        for _ in 0..12 {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let (at, from) = ((seed >> 33) as usize % words.len(), (seed >> 13) as usize % words.len());
            let mut damaged = words.clone();
            match seed >> 60 & 3 {
                0 => drop(damaged.remove(at)),
                1 => damaged.insert(at, words[from]),
                _ => damaged[at] = words[from],
            }
            refused += usize::from(build(&[("main.stk", &damaged.concat())], &[]).is_err());
        }
    }
    assert!(refused > 50);
}

/// Two messages in full, as the user sees them.
#[test]
fn messages_read_well() {
    let text = |files: &[(&str, &str)]| match build(files, &[]) {
        Ok(_) => panic!("accepted"),
        Err(f) => santoku_diag::render::render_all(&f.diagnostics, &f.sources, santoku_diag::render::Colour::Plain),
    };
    let secret = text(&[("main.stk", "fn pick(t: [u8; 4], key: u8) -> u8 {\n  let i = int(key) & 3\n  t[i]\n}\n")]);
    let cycle = text(&[("main.stk", "use a\n"), ("a.stk", "use b\n"), ("b.stk", "use a\n")]);
    let wanted = include_str!("messages.txt");
    let found = format!("{secret}\n{cycle}");
    assert_eq!(found.trim_end(), wanted.trim_end(), "\n{found}");
}
