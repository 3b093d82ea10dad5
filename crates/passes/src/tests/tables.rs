//! The pass `tables`: what it makes of tables, and broken twins of it that running every input catches.

use crate::run::{step, Reason};
use crate::{circuits, find, Level, Pass, PassFailure, PassOptions, Rewrite, Silent, StepReport};
use santoku_ir::visit::map_exprs;
use santoku_ir::{BinOp, Expr, ExprKind, Func, Place, Program, Stmt};
use santoku_prove::equiv::{everywhere, Rng};

/// Tables of many sizes, applied to words and to columns.
const PROGRAM: &str = "
table sbox: u4 -> u4 = [6, 5, 12, 10, 1, 14, 7, 9, 11, 0, 3, 13, 8, 15, 4, 2]
table odd: u3 -> u1 = [0, 1, 1, 0, 1, 0, 0, 1]
table wide: u2 -> u7 = [5, 127, 0, 66]
fn a(x: u4) -> u4 { sbox(x) }
fn b(x: [u16; 4]) -> [u16; 4] { sbox(x) }
fn c(x: u3) -> u1 { odd(x) }
fn d(x: [u1; 3]) -> [u1; 1] { odd(x) }
fn e(x: u2) -> u7 { wide(x) }
fn f(x: [u64; 2]) -> [u64; 7] { wide(x) }
fn g(x: public u2) -> public u7 { wide(x) }
";

fn compiled(text: &str) -> Program {
    let done = santoku_sema::compile("main.stk", &[], &mut |p| (p == "main.stk").then(|| text.to_string()), &santoku_sema::Options::default());
    done.unwrap_or_else(|f| panic!("{:?}", f.diagnostics)).program
}

fn with(p: &Program, level: Level, run: Rewrite) -> Result<(Program, StepReport), PassFailure> {
    let pass = Pass { run, ..*find("tables").expect("the pass") };
    step(&pass, p, &PassOptions { circuits: circuits(p, &mut Silent), ..PassOptions::new(level, 64) })
}

fn loops(f: &Func) -> bool {
    f.body.iter().any(|s| matches!(s, Stmt::For { .. }))
}

#[test]
fn scans_become_gates_and_loads_stay() {
    let p = compiled(PROGRAM);
    let marked: Vec<&Func> = p.funcs.iter().filter(|f| f.applies.is_some()).collect();
    assert_eq!((marked.len(), marked.iter().filter(|f| loops(f)).count()), (7, 6));
    for level in Level::ALL {
        let (after, report) = with(&p, level, crate::tables::run).expect("checked");
        assert_eq!((report.changed.len(), report.equal, report.nodes), (6, 6, 16 + 16 + 8 + 8 + 4 + 4), "{level}");
        assert!(report.reverted.is_empty() && after.funcs.iter().all(|f| f.applies.is_none() || !loops(f)), "{level}");
    }
    // Nobody searched: all stays.
    let pass = find("tables").expect("the pass");
    assert_eq!(step(pass, &p, &PassOptions::new(Level::O2, 64)).expect("checked").0, p);
}

#[test]
fn a_large_table_of_words_stays_a_scan_where_size_counts() {
    let mut rng = Rng::new(9);
    let mut entries: Vec<u64> = (0..256).collect();
    (1..256).rev().for_each(|i| entries.swap(i, rng.below(i as u64 + 1) as usize));
    let p = compiled(&format!("table s: u8 -> u8 = {entries:?}\nfn f(x: u8) -> u8 {{ s(x) }}\n"));
    let scan = |level| loops(with(&p, level, crate::tables::run).expect("checked").0.funcs.iter().find(|f| f.applies.is_some()).expect("a table"));
    assert_eq!((scan(Level::Os), scan(Level::O2)), (true, false));
}

/// The pass, then a mistake in every function that applies a table.
fn wrongly(program: &Program, options: &PassOptions, mistake: &dyn Fn(&mut Func)) -> Program {
    let mut p = crate::tables::run(program, options);
    p.funcs.iter_mut().filter(|f| f.applies.is_some() && f.params.iter().all(|x| !f.local(*x).public)).for_each(mistake);
    p
}

fn first_gate(f: &mut Func, change: &mut dyn FnMut(&mut Expr)) {
    let mut done = false;
    map_exprs(&mut f.body, &mut |e| {
        if !done && matches!(e.kind, ExprKind::Bin(BinOp::And | BinOp::Or | BinOp::Xor, ..) | ExprKind::Un(..)) {
            done = true;
            change(e);
        }
    });
}

const MISTAKES: [(&str, Rewrite); 4] = [
    ("a gate is another", |p, o| wrongly(p, o, &|f| first_gate(f, &mut |e| *e = Expr::un(santoku_ir::UnOp::Not, e.clone())))),
    ("an entry is wrong", |p, o| {
        let mut o = o.clone();
        let one_off = |t: &santoku_ir::table::Table| {
            let mut wrong = t.entries.clone();
            let last = wrong.len() - 1;
            wrong[last] ^= 1;
            santoku_circuit::circuit(t.inputs, t.outputs, &wrong).expect("a table")
        };
        o.circuits = o.circuits.keys().map(|t| (t.clone(), one_off(t))).collect();
        crate::tables::run(p, &o)
    }),
    ("outputs change places", |p, o| {
        let mut o = o.clone();
        o.circuits.values_mut().for_each(|c| c.outputs.rotate_left(1));
        crate::tables::run(p, &o)
    }),
    ("the table is another", |p, o| wrongly(p, o, &|f| {
        let y = f.rets[0];
        let ty = f.local(y).ty.clone();
        if let santoku_ir::Ty::Word(bits) = ty {
            f.body.push(Stmt::assign(Place::local(y), Expr::word(bits, 0)));
        } else if let santoku_ir::Ty::Array { elem, .. } = ty {
            let santoku_ir::Ty::Word(bits) = *elem else { return };
            f.body.push(Stmt::assign(Place::local(y).at(0), Expr::word(bits, 0)));
        }
    })),
];

#[test]
fn mistakes_are_caught_with_an_input() {
    let p = compiled(PROGRAM);
    for (what, run) in MISTAKES {
        let failure = with(&p, Level::O2, run).err().unwrap_or_else(|| panic!("{what}: not caught"));
        let Reason::Differs(d) = &failure.reason else { panic!("{what}: {failure}") };
        assert!(d.witness.is_some() && failure.pass == "tables", "{what}: {failure}");
    }
    println!("tried: {} mistakes of the pass `tables`, all caught", MISTAKES.len());
}

/// What runs on words that hold all columns does not speak for others, unless every column is treated alike.
#[test]
fn functions_that_mix_columns_are_none_of_columns() {
    let bodies = [
        ("[x[0] & x[1]]", true),
        ("[~x[0] ^ 0xffff]", true),
        ("[x[0] ^ 0]", true),
        ("[x[0] << 1]", false),
        ("[x[0] <<< 3]", false),
        ("[x[0] + x[1]]", false),
        ("[x[0] ^ 1]", false),
        ("[if x[0] == 0xaaaa { x[1] } else { 0 }]", false),
        ("[x[0] & K[1]]", true),
        ("[x[0] & L[1]]", false),
    ];
    for (body, alike) in bodies {
        let p = compiled(&format!("const K: [u16; 2] = [0, 0xffff]\nconst L: [u16; 2] = [0, 0xfffe]\nfn f(x: [u16; 2]) -> [u16; 1] {{ {body} }}\n"));
        let id = p.find("main.f").expect("f");
        assert_eq!(everywhere::of_columns(&p, id).is_some(), alike, "{body}");
    }
}

/// One bit of one entry of one table changed: never equal.
#[test]
fn changed_tables_are_never_equal() {
    let mut tried = 0;
    for seed in santoku_skips::seeds::part(0..60, 3) {
        let mut rng = Rng::new(4 + seed);
        let (inputs, outputs) = (1 + rng.below(6) as u32, 1 + rng.below(5) as u32);
        let entries: Vec<u64> = (0..1 << inputs).map(|_| rng.below(1 << outputs)).collect();
        let text = format!(
            "table s: u{inputs} -> u{outputs} = {entries:?}\nfn f(x: u{inputs}) -> u{outputs} {{ s(x) }}\nfn g(x: [u8; {inputs}]) -> [u8; {outputs}] {{ s(x) }}\n"
        );
        let before = compiled(&text);
        let mut o = PassOptions::new(Level::O2, 64);
        o.circuits = circuits(&before, &mut Silent);
        let after = crate::tables::run(&before, &o);
        let (i, bit) = (rng.below(entries.len() as u64) as usize, 1 << rng.below(outputs.into()));
        let mut other = entries.clone();
        other[i] ^= bit;
        let other = compiled(&text.replace(&format!("{entries:?}"), &format!("{other:?}")));
        for name in before.funcs.iter().filter(|f| f.applies.is_some()).map(|f| f.name.clone()) {
            assert!(everywhere::check(&before, &after, &name).is_equal(), "{text}");
            let verdict = everywhere::check(&other, &after, &name);
            assert!(matches!(&verdict, santoku_prove::equiv::Verdict::Differ(d) if d.witness.is_some()), "{text}: {verdict:?}");
            tried += 1;
        }
    }
    println!("tried: {tried} functions of tables with one bit changed, all refused");
    assert!(tried > santoku_skips::seeds::least(100, 3));
}
