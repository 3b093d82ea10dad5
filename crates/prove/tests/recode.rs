//! The signed digits of the comb make up the scalar, and other digits are refused.

use santoku_prove::clauses::Finder;

const COMB: &str = include_str!("../../../lib/curve/ed25519_comb.stk");
const ORDER: &str = "const L = 2^252 + 27742317777372353535851937790883648493
const L_BYTES: [u8; 32] = [for i in 0..<32: u8((L >> (8*i)) & 0xff)]
";

/// The function and what its contract speaks of.
fn text() -> String {
    let (from, to) = (COMB.find("spec fn number").expect("the contract"), COMB.find("/// Bit `at`").expect("the next function"));
    format!("{ORDER}{}", COMB[from..to].replace("S::", ""))
}

/// Which clauses hold: of odd scalars, of even ones.
fn judged(source: String) -> [bool; 2] {
    let work = move || {
        let mut read = |path: &str| (path == "main.stk").then(|| source.clone());
        let p = santoku_sema::compile("main.stk", &[], &mut read, &santoku_sema::Options::default()).unwrap_or_else(|f| panic!("{:?}", f.diagnostics)).program;
        let found = santoku_meaning::check(&p, p.find("main.recode").expect("the function"), &Finder).map(|c| c.ensures).unwrap_or_default();
        [0, 1].map(|nr| found.get(&nr) == Some(&true))
    };
    std::thread::Builder::new().stack_size(256 << 20).spawn(work).expect("a thread").join().expect("no panic")
}

#[test]
fn digits_make_up_the_scalar_or_the_scalar_and_the_order() {
    assert_eq!(judged(text()), [true, true]);
}

#[test]
fn other_digits_are_refused() {
    // Text, text in its place, and which of the two clauses still hold.
    let wrong = [
        ("+ 255 + carry", "+ 254 + carry", [false, false]),
        ("if even { int(L_BYTES[i]) } else { 0 }", "if even { 0 } else { int(L_BYTES[i]) }", [false, false]),
        ("number(k) + L mod", "number(k) + L + 1 mod", [true, false]),
        ("t[32] = carry", "t[32] = 0", [false, false]),
        ("mod 2^257", "mod 2^258", [true, false]),
    ];
    for (from, to, held) in wrong {
        let text = text();
        assert_eq!(text.matches(from).count(), 1, "{from}");
        assert_eq!(judged(text.replace(from, to)), held, "`{from}` is `{to}`");
    }
    println!("recode: {} wrong texts refused", wrong.len());
}
