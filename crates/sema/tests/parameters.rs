//! Modules with parameters and constant functions: what they mean, and what is refused.

mod common;
use common::{accept, holds_in, refusal};

const PRIME: &str = "interface prime {\n  const P\n  type Fe\n  spec fn value(x: Fe) -> int\n  const fn element(x: int) -> Fe\n  fn double(x: Fe) -> Fe\n    ensures value(result) ≡ 2 * value(x) mod P\n}";
const RESIDUES: &str = "implements prime\nmodule<P: const>\ntype Fe = int in 0..P - 1\nspec fn value(x: Fe) -> int = x\nconst fn element(x: int) -> int = x % P\nfn double(x: Fe) -> Fe { if 2 * x >= P { 2 * x - P } else { 2 * x } }\ntest \"own\" { assert double(element(P - 1)) == element(P - 2) }";
const CURVE: &str = "module<F: prime, A: const>\nstruct Point { x: F::Fe }\nconst ORIGIN: Point = Point { x: F::element(A) }\nfn quad(p: Point) -> Point { Point { x: F::double(F::double(p.x)) } }";

fn files<'a>(main: &'a str, more: &[(&'static str, &'a str)]) -> Vec<(&'static str, &'a str)> {
    let mut out = vec![("main.stk", main), ("prime.stk", PRIME), ("residues.stk", RESIDUES), ("curve.stk", CURVE)];
    for (path, text) in more {
        out.retain(|(p, _)| p != path);
        out.push((path, text));
    }
    out
}

#[test]
fn one_text_serves_several_constants() {
    let main = "use residues<P = 7> as F7\nuse residues<11> as F11\nuse curve<F7, A = 10> as C\nuse curve<F = F11, A = 10> as D\n\
        test \"t\" {\n  assert C::quad(C::ORIGIN).x == 5\n  assert D::quad(D::ORIGIN).x == 7\n  assert F7::P + F11::P == 18\n}";
    let c = holds_in(&files(main, &[]), &[]);
    let names: Vec<&str> = c.program.funcs.iter().map(|f| f.name.as_str()).collect();
    for name in ["main.F7.double", "main.F11.double", "main.C.quad", "main.D.quad"] {
        assert!(names.contains(&name), "{names:?}");
    }
    let doubles = c.program.funcs.iter().filter(|f| f.name.ends_with(".double"));
    assert!(doubles.clone().count() == 2 && doubles.into_iter().all(|f| f.contracts.len() == 1), "contracts are inherited by each instance");
}

/// Equal arguments make one module, whoever gives them and in whatever form, so that the types are the same.
#[test]
fn equal_arguments_are_one_module() {
    let other = "use residues<P = 8 - 1> as G\nuse curve<F = G, A = 3> as C\nfn make() -> C::Point { C::ORIGIN }";
    let main = "use other\nuse residues<7> as F\nuse curve<F, 2 + 1> as C\nfn f() -> C::Point { C::quad(other::make()) }\ntest \"t\" { assert f().x == 5 }";
    let c = holds_in(&files(main, &[("other.stk", other)]), &[]);
    assert_eq!(c.program.funcs.iter().filter(|f| f.name.ends_with(".quad")).count(), 1);
}

#[test]
fn types_and_arrays_are_arguments_too() {
    let stack = "module<T: type, INIT: const>\nconst N = len(INIT)\nfn swap(x: [T; N]) -> [T; N] { [for i in 0..<N: x[N - 1 - i]] }\nfn init() -> [T; N] { INIT }";
    let main = "use stack<u8, [u8(1), 2, 3]> as S\nuse stack<T = bool, INIT = [true, false]> as B\n\
        test \"t\" {\n  assert S::swap(S::init()) == [3, 2, 1]\n  assert B::swap(B::init()) == [false, true]\n}";
    holds_in(&files(main, &[("stack.stk", stack)]), &[]);
}

/// A file that is another name of an instance: its own items, then the instance's; tests of both run.
#[test]
fn a_file_stands_for_an_instance() {
    let f7 = "instance residues<P = 7>\nconst MORE = P + 1\ntest \"here\" { assert MORE == 8 }";
    let main = "use f7 as F\nuse curve<F = f7, A = 3> as C\ntest \"t\" {\n  assert F::double(F::element(5)) == 3\n  assert F::MORE == 8\n  assert C::quad(C::ORIGIN).x == 5\n}";
    holds_in(&files(main, &[("f7.stk", f7)]), &[]);
    let c = holds_in(&[("main.stk", f7), ("prime.stk", PRIME), ("residues.stk", RESIDUES)], &[]);
    assert_eq!(c.program.tests.len(), 2);
}

/// An interface that extends another, implemented by an instance and chosen like any other implementation.
#[test]
fn an_instance_implements_a_chosen_interface() {
    let f7 = "const P = 7\ninterface f7 extends prime { default a }";
    let a = "implements f7 as a\ninstance residues<P = P>";
    let main = "use f7 as F\nuse curve<F, A = 3> as C\ntest \"t\" {\n  assert F::double(F::element(5)) == 3\n  assert C::quad(C::ORIGIN).x == 5\n  assert F::P == 7\n}";
    let c = holds_in(&files(main, &[("f7.stk", f7), ("f7_a.stk", a)]), &[]);
    let double = c.program.funcs.iter().find(|f| f.name == "f7_a.double").expect("the instance is named after its file");
    assert_eq!(double.contracts.len(), 1);
}

/// A module with parameters as the entry: every example is compiled, under a name of its own.
#[test]
fn examples_stand_for_a_module_by_itself() {
    let main = "module<P: const>\nexample<P = 7>\nexample<11>\nfn last() -> int { P - 1 }\ntest \"t\" { assert last() + 1 == P }";
    let c = holds_in(&[("main.stk", main)], &[]);
    let names: Vec<&str> = c.program.funcs.iter().map(|f| f.name.as_str()).filter(|n| n.ends_with("last")).collect();
    assert_eq!(names, ["main.example1.last", "main.example2.last"]);
    assert_eq!(c.program.tests.len(), 2);
}

/// A generic function that nothing uses is tried with sample values where the modules have the numbers they have elsewhere: an implementation that is an
/// instance gets its number before the example of the entry.
#[test]
fn samples_of_a_module_by_itself_know_its_instances() {
    let seven = "const P = 7\ninterface seven extends prime { default a }";
    let a = "implements seven as a\ninstance residues<P = P>";
    let unused = "fn g<w: const>(x: u8) -> u8 { x }";
    let main = format!("module<F: prime>\nexample<seven>\nuse curve<F, A = 3> as C\n{unused}\nfn h() -> u8 {{ u16(1) }}");
    let said = refusal(&files(&main, &[("seven.stk", seven), ("seven_a.stk", a)]), &[]);
    assert!(said.iter().any(|d| d.starts_with("type-mismatch")), "{said:?}");
    let main = format!("module<F: prime>\nexample<seven>\nuse curve<F, A = 3> as C\n{unused}\ntest \"t\" {{ assert C::quad(C::ORIGIN).x == 5 }}");
    holds_in(&files(&main, &[("seven.stk", seven), ("seven_a.stk", a)]), &[]);
}

/// What an imported module exports is not exported by the program that uses it.
#[test]
fn exports_of_other_modules_do_not_leak() {
    let lib = "@export(\"inner\")\nfn g(x: u8) -> u8 { x }";
    let c = accept(&[("main.stk", "use lib as L\n@export(\"outer\")\nfn f(x: u8) -> u8 { L::g(x) }"), ("lib.stk", lib)], &[]);
    let exported = |c: &santoku_sema::Compiled| c.program.funcs.iter().filter_map(|f| f.export.clone()).collect::<Vec<_>>();
    assert_eq!(exported(&c), ["outer"]);
    assert_eq!(exported(&accept(&[("main.stk", lib)], &[])), ["inner"]);
}

/// `@export use` exports what the module does, of any depth, once; what the program itself makes of generic functions is not exported.
#[test]
fn modules_are_exported() {
    let lib = "@export(\"inner\")\nfn g(x: u8) -> u8 { x }\nfn other(x: u8) -> u8 { x }\ntest \"not here\" { assert g(1) == 2 }";
    let between = "@export use lib\nuse lib as L\n@export(\"between\")\nfn b(x: u8) -> u8 { L::g(x) }";
    let exported = |main: &str| {
        let c = accept(&[("main.stk", main), ("between.stk", between), ("lib.stk", lib)], &[]);
        assert_eq!(c.program.tests.len(), 0);
        assert!(c.program.funcs.iter().all(|f| !f.name.ends_with("other")));
        let mut names: Vec<String> = c.program.funcs.iter().filter_map(|f| f.export.clone()).collect();
        names.sort();
        names
    };
    assert_eq!(exported("@export use lib as L\nuse between as B\nfn f(x: u8) -> u8 { L::g(B::b(x)) }"), ["inner"]);
    assert_eq!(exported("@export use between as B"), ["between", "inner"]);
    assert_eq!(exported("@export use lib\n@export use between\n@export(\"outer\")\nfn f(x: u8) -> u8 { x }"), ["between", "inner", "outer"]);
    assert_eq!(exported("@export(\"p\") use lib\n@export(\"p\") use lib as L\n@export(\"inner\")\nfn f(x: u8) -> u8 { x }"), ["inner", "p_inner"]);
    assert_eq!(exported("@export(\"p\") use between as B"), ["p_between", "p_inner"]);
    let refused = |main: &str, code: &str| {
        let said = refusal(&[("main.stk", main), ("lib.stk", lib), ("none.stk", "fn g(x: u8) -> u8 { x }")], &[]);
        assert!(said.iter().any(|d| d.starts_with(code)), "{main}: {said:?}");
    };
    refused("@export use none\nfn f(x: u8) -> u8 { x }", "bad-attribute");
    refused("@export use lib\n@export(\"inner\")\nfn f(x: u8) -> u8 { x }", "duplicate-name");
    refused("@inline use lib\nfn f(x: u8) -> u8 { x }", "syntax");
    refused("@export(\"1\") use lib\nfn f(x: u8) -> u8 { x }", "bad-attribute");
    refused("@export(\"p\") use lib\n@export use lib as L\nfn f(x: u8) -> u8 { x }", "bad-attribute");
    refused("@export(\"p\") use lib\n@export(\"p_inner\")\nfn f(x: u8) -> u8 { x }", "duplicate-name");
}

#[test]
fn constant_functions_are_evaluated() {
    let main = "const fn fact(n: int) -> int = if n == 0 { 1 } else { n * fact(n - 1) }\n\
        const fn gcd(a: int, b: int) -> int { let r = a % b\n if r == 0 { b } else { gcd(b, r) } }\n\
        const fn limbs(n: int) -> [int; 4] = [for i in 0..<4: (n >> (16 * i)) & 0xffff]\n\
        struct S { a: u8, b: [int in 0..9; 2] }\n\
        const fn pair(x: int) -> S = S { a: u8(x), b: [x % 10, 1] }\n\
        const K: [int; 4] = limbs(2^40 + 3)\n\
        const TABLE: [S; 3] = [for i in 0..<3: pair(100 * i)]\n\
        spec fn is_six(x: int) -> bool = x == fact(3)\n\
        fn code(x: u8) -> u8 ensures is_six(6) { x + gcd(12, 18) }\n\
        fn rolled(x: [u32; 4]) -> u32 { var r: u32 = 0; @rolled for i in 0..<4 { r += x[i] * fact(i) }; r }\n\
        test \"t\" {\n  assert fact(20) == 2432902008176640000\n  assert K[2] == 256\n  assert TABLE[2].a == 200\n  assert code(1) == 7\n  assert rolled([1, 1, 1, 1]) == 10\n}";
    holds_in(&[("main.stk", main)], &[]);
}

/// `(files beside the common ones, message)`
type Case = (&'static str, Vec<(&'static str, &'static str)>, &'static str);

fn cases() -> Vec<Case> {
    vec![
        // Arguments.
        ("use residues as F", vec![], "module-arguments 1:1 module `residues` takes parameters"),
        ("use residues<P = 7, Q = 3> as F", vec![], "module-arguments 1:21 module `residues` has no parameter `Q`"),
        ("use residues<7, 8> as F", vec![], "module-arguments 1:17 module `residues` takes 1 parameters, 2 given"),
        ("use residues<P = 7, P = 8> as F", vec![], "module-arguments 1:21 `P` is given twice"),
        ("use residues<7> as F\nuse curve<A = 1, F> as C", vec![], "module-arguments 2:18 an argument without a name follows one with a name"),
        ("use residues<7> as F\nuse F<3> as G", vec![("F.stk", "fn f(x: u8) -> u8 { x }")], "module-arguments 2:7 module `F` takes 0 parameters, 1 given"),
        ("use curve<7, 8> as C\nfn f(p: C::Point) -> C::Point { p }", vec![], "module-arguments 1:11 `F` needs a module"),
        ("use curve<residues, 8> as C", vec![], "module-arguments 1:11 module `residues` takes parameters"),
        ("use other\nuse curve<other, 8> as C\nfn f(p: C::Point) -> C::Point { p }", vec![("other.stk", "const P = 7")], "module-arguments 2:11 module `other` does not implement `prime`"),
        ("use residues<u8> as F\nfn f() -> int { F::P }", vec![], "module-arguments 1:14 `P` needs a constant"),
        ("use list<8> as L\nfn f(x: L::T) -> L::T { x }", vec![("list.stk", "module<T: type>")], "module-arguments 1:10 `T` needs a type"),
        ("fn g(x: u8) -> u8 { x }\nuse residues<g(1)> as F\nfn f() -> int { F::P }", vec![], "not-constant 2:14 a compile-time constant is needed here"),
        ("use residues<7> as F\nuse residues<11> as F", vec![], "duplicate-name 2:21 `F` is imported twice"),
        // Headers.
        ("module<P: const>\nmodule<Q: const>", vec![], "misplaced-module 2:1 `module<..>` stands twice in one file"),
        ("const A = 1\nmodule<P: const>", vec![], "misplaced-module 2:1 `module<..>` does not stand at the top of its file"),
        ("module<F: residues>", vec![], "not-an-interface 1:11 `residues` declares no interface"),
        ("module<P: const, P: const>", vec![], "duplicate-name 1:18 `P` is defined twice"),
        ("module<P: const>\nconst P = 3", vec![], "duplicate-name 2:7 `P` is defined twice"),
        ("module<P: const>\nexample<Q = 3>", vec![], "module-arguments 2:9 module `main` has no parameter `Q`"),
        // Two instances are two modules: their types do not mix.
        ("use residues<7> as F\nuse residues<11> as G\nuse curve<F, 1> as C\nuse curve<G, 1> as D\nfn f(p: C::Point) -> D::Point { p }", vec![], "type-mismatch 5:33 expected Point, found Point"),
        // Endless instances and constants.
        ("use a<3> as A\nfn f() -> int { A::F }", vec![("a.stk", "module<N: const>\nuse b<N + 1> as B\nconst F = B::F"), ("b.stk", "module<N: const>\nconst F: int = F")], "cyclic-constant 2:16 a constant is defined by itself"),
        ("const fn f(n: int) -> int = f(n + 1)\nconst A = f(0)", vec![], "const-too-large 1:29 calls of `f` nested too deeply"),
        ("const fn f(n: int) -> int = if n == 0 { 1 } else { f(n - 1) + f(n - 1 + 0 * n) + sum(i in 0..<100000) i }\nconst A = f(2000)", vec![], "const-too-large 1:103 constant too large to evaluate"),
        ("const fn f(n: int in 0..9) -> int = n\nconst A = f(10)", vec![], "out-of-range 2:13 10 does not fit int in 0..9"),
        ("const fn f(n: int) -> u8 = n\nconst A = f(300)", vec![], "out-of-range 1:28 300 does not fit u8"),
        ("const fn f(n: int) -> int = n\nfn g(x: u8) -> u8 { x + f(x) }", vec![], "not-constant 2:27 a compile-time constant is needed here"),
        ("const fn f(n: int) -> int = n\nconst A = f(1, 2)", vec![], "wrong-arguments 2:11 `f` takes 1 arguments, 2 given"),
        ("const fn f(n: int) -> int { var x = n; x }\nconst A = f(1)", vec![], "not-constant 1:29 a compile-time constant is needed here"),
        // Interfaces.
        (
            "use f7 as F",
            vec![("f7.stk", "const P = 7\ninterface f7 extends prime { default a }"), ("f7_a.stk", "implements f7 as a\ninstance residues<P = 11>")],
            "interface-mismatch 1:1 `P` has another value than in its interface",
        ),
        (
            "use f7 as F",
            vec![("f7.stk", "interface f7 { default a\n  fn g(x: u8) -> u8\n    ensures result == x\n}"), ("f7_a.stk", "implements f7 as a\ninstance plain<P = 11>"), ("plain.stk", "module<P: const>\nfn g(x: u8) -> u8 { x }")],
            "interface-mismatch 1:1 `g` is not bound by the contracts of its interface",
        ),
        (
            "use f7 as F",
            vec![("f7.stk", "interface f7 extends prime { default a }"), ("f7_a.stk", "implements f7 as a\ntype Fe = u8\nspec fn value(x: Fe) -> int = x\nconst fn element(x: int) -> int = x\nfn double(x: Fe) -> Fe { 2 * x }")],
            "missing-member 1:1 `const P` of interface `prime` is not defined",
        ),
        (
            "use residues<7> as F\nfn f(x: F::Fe) -> F::Fe { x }",
            vec![("residues.stk", "implements prime\nmodule<P: const>\ntype Fe = int in 0..P - 1\nspec fn value(x: Fe) -> int = x\nfn double(x: Fe) -> Fe { x }")],
            "missing-member 1:1 `const fn element` of interface `prime` is not defined",
        ),
    ]
}

#[test]
fn each_wrong_program_has_its_one_message() {
    let cases = cases();
    let wrong: Vec<String> = cases
        .iter()
        .map(|(main, more, wanted)| (main, wanted, refusal(&files(main, more), &[])))
        .filter(|(_, wanted, found)| *found != vec![wanted.to_string()])
        .map(|(main, wanted, found)| format!("{main}\nwanted {wanted}\nfound {found:#?}"))
        .collect();
    assert!(cases.len() >= 30 && wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// An error inside a module with parameters says in which instance it stands.
#[test]
fn errors_name_the_instance() {
    let bad = "module<N: const>\nfn f(x: [u8; 4]) -> u8 { x[N] }";
    let main = "use bad<3> as Fine\nuse bad<9> as Wrong\nfn g(x: [u8; 4]) -> u8 { Fine::f(x) + Wrong::f(x) }";
    let read = |path: &str| [("main.stk", main), ("bad.stk", bad)].into_iter().find(|f| f.0 == path).map(|f| f.1.to_string());
    let failed = santoku_sema::compile("main.stk", &[], &mut |p| read(p), &Default::default()).expect_err("an index outside");
    let text = format!("{:?}", failed.diagnostics);
    assert!(failed.diagnostics.len() == 1 && text.contains("in the instance `main.Wrong`"), "{text}");
}
