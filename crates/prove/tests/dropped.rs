//! A carry that is dropped at the end of a sum: it is zero where the sum has room for all of it, which no range shows, and nowhere else.

use santoku_ir::FuncId;
use santoku_prove::clauses::Finder;
use santoku_prove::{prove, ProveOptions};

/// The product of two numbers of two limbs, column by column, and `more`, in `kept` limbs of `w` bits, of which the last is cut off. Limbs go up to
/// `most`.
fn columns(w: u32, most: &str, kept: usize, more: u32) -> String {
    let column = |k: usize| {
        let products: Vec<String> = (0..2).filter(|i| k >= *i && k - i < 2).map(|i| format!("a[{i}] * b[{}]", k - i)).collect();
        if products.is_empty() { "0".into() } else { products.join(" + ") }
    };
    let mut body = format!("  var r: [int in 0..2^{w} - 1; {kept}]\n  let v0 = {} + {more}\n  r[0] = v0 & (2^{w} - 1)\n", column(0));
    for k in 1..kept {
        body += &format!("  let v{k} = {} + (v{} >> {w})\n  r[{k}] = v{k} & (2^{w} - 1)\n", column(k), k - 1);
    }
    format!(
        "fn f(a: [int in 0..{most}; 2], b: [int in 0..{most}; 2]) -> [int in 0..2^{w} - 1; {kept}]\n  \
         ensures (sum(i in 0..<{kept}) result[i] * 2^({w}*i)) == (a[0] + 2^{w} * a[1]) * (b[0] + 2^{w} * b[1]) + {more}\n{{\n{body}  r\n}}\n"
    )
}

/// What the engines and the judge of meaning say of the only clause.
fn verdicts(text: &str) -> (bool, bool) {
    let mut load = |path: &str| (path == "t.stk").then(|| text.to_string());
    let p = santoku_sema::compile("t.stk", &[], &mut load, &santoku_sema::Options::default()).unwrap_or_else(|f| panic!("{:?}\n{text}", f.diagnostics)).program;
    let report = prove(&p, &ProveOptions::default());
    assert_eq!(report.faults().count(), 0, "{text}");
    let engines = report.failed().count() == 0;
    let judge = santoku_meaning::check(&p, FuncId(p.funcs.len() as u32 - 1), &Finder).is_ok_and(|c| c.ensures.get(&0) == Some(&true));
    (engines, judge)
}

#[test]
fn a_dropped_carry_is_zero_where_there_is_room_and_nowhere_else() {
    let (mut right, mut wrong) = (0, 0);
    for w in [8, 16, 32] {
        let full = format!("2^{w} - 1");
        // The largest product leaves room for more than 2^(2 w).
        for (most, kept, more) in [(full.as_str(), 4, 0), (&full, 4, 1), (&full, 4, 255), (&full, 5, 0), (&format!("2^{w} - 2"), 4, 3)] {
            let text = columns(w, most, kept, more);
            assert_eq!(verdicts(&text), (true, true), "{text}");
            right += 1;
        }
        // One limb too few, limbs of one bit more or of one number more.
        for (most, kept, more) in [(full.as_str(), 3, 0), (&full, 2, 1), (&format!("2^{w}"), 4, 0), (&format!("2^{} - 1", w + 1), 4, 0), (&format!("2^{} - 1", w - 1), 3, 0)] {
            let text = columns(w, most, kept, more);
            assert_eq!(verdicts(&text), (false, false), "{text}");
            wrong += 1;
        }
    }
    println!("tried: {right} sums with room, all proved and judged; {wrong} without, all refused");
}
