//! Claims about a program, each true and made false by one.
//!
//! Needs: a grown program with the values of everything on all inputs.  Keeps: a lie is broken by the input it names.
//! Absent: claims that are false by more; those are easier to refuse.

use crate::ast::{Ex, Op, Prog, St, Tail, Ty};
use crate::grow::Grow;
use crate::run::{bounds, inputs, Run, Seen};
use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::{One, Signed, ToPrimitive, Zero};

#[derive(Clone, Debug)]
pub struct Claim {
    pub kind: &'static str,
    pub truth: Prog,
    pub lie: Prog,
    /// An input that breaks the lie.
    pub input: usize,
}

pub const KINDS: [&str; 19] = [
    "local", "inner local", "result", "index", "slice", "shift", "assert", "ensures bound", "ensures not", "ensures congruent",
    "ensures equal", "ensures limbs", "guarded", "guarded index", "requires", "argument", "field", "element", "table",
];

type Ends = (BigInt, BigInt);

/// What a claim adds to the end of the body, to the head and before the function.
#[derive(Clone, Debug, Default)]
struct Form {
    line: String,
    ret: String,
    result: String,
    clause: String,
    items: String,
}

/// A value at the end of the body: as integer text, its values, its ends.
struct Value {
    e: Ex,
    text: String,
    all: Vec<BigInt>,
    ends: Ends,
    /// The upper end is the one that moves.
    up: bool,
    short: Ends,
    input: usize,
}

fn range((lo, hi): &Ends) -> String {
    format!("int in {lo}..{hi}")
}

fn line(l: String) -> Form {
    Form { line: l, ..Form::default() }
}

impl Value {
    /// A comparison that is true, one that is false by one, and the input that breaks it.
    fn clause(&self, g: &mut Grow<'_>, x: &str) -> (String, String, usize) {
        let ((lo, hi), k) = (&self.ends, g.rng.below(self.all.len() as u64) as usize);
        let (slo, shi) = &self.short;
        match g.rng.below(4) {
            _ if lo == hi && g.rng.one_in(2) => (format!("{x} == {lo}"), format!("{x} != {lo}"), 0),
            0 => {
                let free = (0..40).map(|i| lo + i).find(|c| !self.all.contains(c)).unwrap_or(hi + 1);
                (format!("{x} != {free}"), format!("{x} != {}", self.all[k]), k)
            }
            1 => {
                let base = &self.all[0];
                let m = self.all.iter().fold(BigInt::zero(), |m, v| m.gcd(&(v - base)));
                let m = if m.is_zero() { BigInt::from(7) } else { m };
                let wider: BigInt = &m * (2 + g.rng.below(2));
                let broken = self.all.iter().position(|v| !(v - base).mod_floor(&wider).is_zero());
                let is = |m: &BigInt, r: &BigInt| format!("{x} === {} mod {m}", r.mod_floor(m));
                match broken {
                    Some(i) => (is(&m, base), is(&wider, base), i),
                    None => (is(&m, base), is(&m, &(base + 1)), 0),
                }
            }
            _ if self.up => (format!("{x} <= {hi}"), format!("{x} <= {shi}"), self.input),
            _ => (format!("{x} >= {lo}"), format!("{x} >= {slo}"), self.input),
        }
    }
}

/// A claim of the given kind, if the program allows one.
pub fn make(g: &mut Grow<'_>, kind: &'static str) -> Option<Claim> {
    match kind {
        "inner local" => return inner(g),
        "table" => return table(g),
        "ensures equal" => return equal(g),
        "ensures limbs" => return (0..3).find_map(|_| limbs(g)),
        "guarded" | "guarded index" => return (0..6).find_map(|_| guarded(g, kind)),
        _ => {}
    }
    let v = value(g, matches!(kind, "index" | "slice" | "shift"))?;
    let (ends, short, text) = (&v.ends, &v.short, &v.text);
    let both = |f: &dyn Fn(&Ends) -> Form| (f(ends), f(short), v.input);
    let (t, l, input) = match kind {
        "local" => both(&|r| line(format!("let z: {} = {text}", range(r)))),
        "result" => both(&|r| Form { ret: range(r), result: text.clone(), ..Form::default() }),
        "field" => both(&|r| Form { items: format!("struct Z {{ a: u8, f: {} }}\n", range(r)), ..line(format!("let z = Z {{ a: 1, f: {text} }}")) }),
        "element" => {
            let mixed = g.rng.one_in(2);
            both(&|(lo, hi)| match mixed {
                true => line(format!("let z: [int in {lo} - i..{hi} + i; i < 2] = [{text}, {text}]")),
                false => line(format!("let z: [{}; 1] = [{text}]", range(&(lo.clone(), hi.clone())))),
            })
        }
        "argument" => both(&|r| Form { items: format!("fn need(x: {}) -> int {{\n  x\n}}\n", range(r)), ..line(format!("let z = need({text})")) }),
        "index" | "slice" | "shift" => return place(g, kind, &v),
        "assert" => {
            let (t, l, i) = v.clause(g, text);
            let plain = |c: &str| !c.contains("===");
            if !plain(&t) {
                return None;
            }
            (line(format!("assert {t}")), line(format!("assert {l}")), i)
        }
        "requires" => {
            let (t, l, i) = v.clause(g, "x");
            let wide = range(&(&ends.0 - 3, &ends.1 + 3));
            let need = |c: String| Form { items: format!("fn need(x: {wide}) -> int\n  requires {c}\n{{\n  x\n}}\n"), ..line(format!("let z = need({text})")) };
            (need(t), need(l), i)
        }
        _ => {
            let word = match g.prog.ty(&g.f, &v.e) {
                Ty::Word(b) if g.rng.one_in(2) => Some(b),
                _ => None,
            };
            let (ret, result) = match word {
                Some(b) => (format!("u{b}"), g.prog.show(&g.f, &v.e)),
                None => (range(&(&ends.0 - 5, &ends.1 + 5)), text.clone()),
            };
            let (t, l, i) = v.clause(g, "result");
            let with = |c: String| Form { ret: ret.clone(), result: result.clone(), clause: format!("ensures {c}"), ..Form::default() };
            (with(t), with(l), i)
        }
    };
    Some(claim(g, kind, t, l, input))
}

fn claim(g: &Grow<'_>, kind: &'static str, t: Form, l: Form, input: usize) -> Claim {
    Claim { kind, truth: with(g, t), lie: with(g, l), input }
}

fn with(g: &Grow<'_>, form: Form) -> Prog {
    let (mut p, mut f) = (g.prog.clone(), g.f.clone());
    let or = |s: String, d: &str| if s.is_empty() { d.to_string() } else { s };
    let lines = if form.line.is_empty() { vec![] } else { vec![form.line] };
    f.tail = Some(Tail { lines, ret: or(form.ret, "int"), result: or(form.result, "0") });
    f.clauses = if form.clause.is_empty() { vec![] } else { vec![form.clause] };
    p.items = form.items;
    p.funcs.push(f);
    p
}

fn value(g: &mut Grow<'_>, public: bool) -> Option<Value> {
    let depth = 1 + g.rng.below(2) as u32;
    let e = if !public && g.rng.one_in(8) {
        g.packed()?
    } else if g.rng.below(5) < 3 { g.int(depth, public) } else { g.some_word(depth, public) };
    let all = g.vals(&e)?;
    if matches!(e, Ex::Lit(..)) || public && !g.public(&e) {
        return None;
    }
    let word = matches!(g.prog.ty(&g.f, &e), Ty::Word(_));
    let text = g.prog.show(&g.f, &e);
    let text = if word { format!("int({text})") } else { text };
    let (ends, up) = (bounds(&all), g.rng.one_in(2));
    let at = |x: &BigInt| all.iter().position(|y| y == x).unwrap_or(0);
    let (short, input) = match (&ends, up) {
        // A single value: its neighbour.
        ((lo, hi), _) if lo == hi => ((lo + 1 - 2 * i32::from(up), hi + 1 - 2 * i32::from(up)), 0),
        ((lo, hi), true) => ((lo.clone(), hi - 1), at(hi)),
        ((lo, hi), false) => ((lo + 1, hi.clone()), at(lo)),
    };
    Some(Value { e, text, ends, up, short, input, all })
}

/// The value as an index, offset or count: the array, or the word, is one too short, or the value one too low.
fn place(g: &mut Grow<'_>, kind: &'static str, v: &Value) -> Option<Claim> {
    let (lo, hi) = &v.ends;
    let span = (hi - lo).to_u32().filter(|s| *s < 120)?;
    let moved = if lo.is_zero() && g.rng.one_in(2) { v.text.clone() } else if lo.is_negative() { format!("({} + {})", v.text, -lo) } else { format!("({} - {lo})", v.text) };
    let under = format!("({moved} - 1)");
    let write = g.rng.one_in(2);
    let k = 1 + g.rng.below(3) as u32;
    let at = |x: &BigInt| v.all.iter().position(|y| y == x).unwrap_or(0);
    let use_of = |x: &str, n: u32| match kind {
        "index" if write => format!("var z: [u8; {n}] = [0; {n}]; z[{x}] = 1"),
        "index" => format!("let y: [u8; {n}] = [0; {n}]; let z = y[{x}]"),
        "slice" if write => format!("var z: [u8; {0}] = [0; {0}]; z[{x}; {k}] = [1; {k}]", n + k - 1),
        "slice" => format!("let y: [u8; {0}] = [0; {0}]; let z = y[{x}; {k}]", n + k - 1),
        _ if write => format!("let y: u{n} = 1; let z = y << {x}"),
        _ => format!("let y: u{n} = 1; let z = y <<< {x}"),
    };
    let truth = line(use_of(&moved, span + 1));
    let (lie, input) = match v.up && span > 0 {
        true => (line(use_of(&moved, span)), at(hi)),
        false => (line(use_of(&under, span + 1)), at(lo)),
    };
    Some(claim(g, kind, truth, lie, input))
}

/// A local anywhere in the body, declared as tight as it is.
fn inner(g: &mut Grow<'_>) -> Option<Claim> {
    let (mut p, mut f) = (g.prog.clone(), g.f.clone());
    f.tail = Some(Tail { lines: vec![], ret: "int".into(), result: "0".into() });
    let seen = Seen::default();
    let (mut env, n) = inputs(&f)?;
    Run { prog: &p, func: &f, n, seen: &seen }.block(&mut env, &f.body)?;
    let ints = |v: &usize| match &f.vars[*v].ty {
        Ty::Int => true,
        Ty::Arr(t, _) => **t == Ty::Int,
        _ => false,
    };
    let all: Vec<(usize, Ends)> = seen.all().into_iter().filter(|(v, r)| ints(v) && r.0 < r.1).collect();
    if all.is_empty() {
        return None;
    }
    let (var, (lo, hi)) = g.rng.pick(&all).clone();
    let mut lie = f.clone();
    f.vars[var].range = Some((lo.clone(), hi.clone()));
    lie.vars[var].range = Some(if g.rng.one_in(2) { (lo, hi - 1) } else { (lo + 1, hi) });
    let mut q = p.clone();
    p.funcs.push(f);
    q.funcs.push(lie);
    let input = breaks(&q)?;
    Some(Claim { kind: "inner local", truth: p, lie: q, input })
}

/// An input that the last function does not survive.
pub fn breaks(p: &Prog) -> Option<usize> {
    let f = p.main();
    let (env, n) = inputs(f)?;
    let dies = |keep: &[usize]| {
        let mut env = env.iter().map(|v| v.as_ref().map(|v| v.at(keep))).collect();
        let seen = Seen::default();
        Run { prog: p, func: f, n: keep.len(), seen: &seen }.block(&mut env, &f.body).is_none()
    };
    let mut keep: Vec<usize> = (0..n).collect();
    while keep.len() > 1 {
        let half = keep.split_off(keep.len() / 2);
        if !dies(&keep) {
            keep = half;
        }
    }
    keep.first().copied().filter(|i| dies(&[*i]))
}

/// A table as short as the body allows, and one element shorter.
fn table(g: &mut Grow<'_>) -> Option<Claim> {
    let (mut truth, mut f) = (g.prog.clone(), g.f.clone());
    f.tail = Some(Tail { lines: vec![], ret: "int".into(), result: "0".into() });
    truth.funcs.push(f);
    let t = g.rng.below(truth.tables.len() as u64) as usize;
    loop {
        let mut lie = truth.clone();
        let values = &mut lie.tables.get_mut(t)?.values;
        values.pop();
        if values.is_empty() {
            return None;
        }
        if let Some(input) = breaks(&lie) {
            return Some(Claim { kind: "table", truth, lie, input });
        }
        truth = lie;
    }
}

/// The result as a formula over the parameters, and a formula that differs on some input.
fn equal(g: &mut Grow<'_>) -> Option<Claim> {
    let v = value(g, false)?;
    let right = formula(g, &v.e, 0)?;
    if g.vals(&right)? != v.all {
        return None;
    }
    let mut wrong = right.clone();
    let mut nr = g.rng.below(size(&right)) as i64;
    let how = g.rng.below(3);
    damage(&mut wrong, &mut nr, how);
    if let Ex::Lit(..) = right {
        return None;
    }
    let (t, l, input) = match g.vals(&wrong).and_then(|w| w.iter().zip(&v.all).position(|(a, b)| a != b)) {
        Some(i) => (right.clone(), wrong, i),
        None => (right.clone(), Ex::Bin(Op::Add, Box::new(right), Box::new(Ex::Lit(BigInt::one(), Ty::Int))), 0),
    };
    let (ret, result) = match g.prog.ty(&g.f, &v.e) {
        Ty::Word(b) => (format!("u{b}"), g.prog.show(&g.f, &v.e)),
        _ => (range(&v.ends), v.text.clone()),
    };
    let op = *g.rng.pick(&["==", "==", "<=", ">="]);
    let holds = |w: &Ex, g: &Grow<'_>| {
        let w = g.vals(w)?;
        v.all.iter().zip(&w).position(|(a, b)| match op {
            "==" => a != b,
            "<=" => a > b,
            _ => a < b,
        })
    };
    let (op, input) = match holds(&l, g) {
        Some(i) => (op, i),
        None => ("==", input),
    };
    let form = |e: &Ex| {
        let text = g.prog.show(&g.f, e).replace("int(", "(");
        Form { ret: ret.clone(), result: result.clone(), clause: format!("ensures result {op} {text}"), ..Form::default() }
    };
    Some(claim(g, "ensures equal", form(&t), form(&l), input))
}

/// What a public condition leaves of a value.
fn guarded(g: &mut Grow<'_>, kind: &'static str) -> Option<Claim> {
    let index = kind == "guarded index";
    let (c, v) = (g.cond(1, true), value(g, index)?);
    if !g.public(&c) {
        return None;
    }
    let truth = g.vals(&c)?;
    let here: Vec<usize> = (0..g.n).filter(|i| !truth[*i].is_zero()).collect();
    let (lo, hi) = bounds(&here.iter().map(|i| v.all[*i].clone()).collect::<Vec<_>>());
    if here.is_empty() || lo == hi || (&lo, &hi) == (&v.ends.0, &v.ends.1) {
        return None;
    }
    let c = g.prog.show(&g.f, &c);
    let text = &v.text;
    let (end, form): (&BigInt, Box<dyn Fn(&Ends) -> String>) = if index {
        (&hi, Box::new(|(a, b)| format!("let y: [u8; {0}] = [0; {0}]; let z = y[{text} - {a}]", b - a + 1).replace("- -", "+ ")))
    } else {
        (if v.up { &hi } else { &lo }, Box::new(|r| format!("let z: {} = {text}", range(r))))
    };
    if index && &hi - &lo > BigInt::from(200) {
        return None;
    }
    let up = index || v.up;
    let short = if up { (lo.clone(), &hi - 1) } else { (&lo + 1, hi.clone()) };
    let input = here.iter().copied().find(|i| v.all[*i] == *end)?;
    let all = |r: &Ends| line(format!("if {c} {{ {} }}", form(r)));
    Some(claim(g, kind, all(&(lo.clone(), hi.clone())), all(&short), input))
}

/// Two limbs after a carry, folded or not: what their sum is.
fn limbs(g: &mut Grow<'_>) -> Option<Claim> {
    let lit = |v: BigInt| Box::new(Ex::Lit(v, Ty::Int));
    let bin = |op, a: &Ex, b: Box<Ex>| Ex::Bin(op, Box::new(a.clone()), b);
    let (a, b) = (g.int(2, false), g.int(2, false));
    let (fa, fb) = (formula(g, &a, 0)?, formula(g, &b, 0)?);
    let (k, j, c) = (1 + g.rng.below(8), 1 + g.rng.below(8), 1 + g.rng.below(20));
    let power = |k: u64| BigInt::one() << k;
    let mut low = bin(Op::And, &a, lit(power(k) - 1));
    let mut high = bin(Op::Add, &b, Box::new(bin(Op::Shr, &a, lit(k.into()))));
    let fold = g.rng.one_in(2);
    if fold {
        low = bin(Op::Add, &low, Box::new(bin(Op::Mul, &bin(Op::Shr, &high, lit(j.into())), lit(c.into()))));
        high = bin(Op::And, &high, lit(power(j) - 1));
    }
    let right = bin(Op::Add, &fa, Box::new(bin(Op::Mul, &fb, lit(power(k)))));
    let m: BigInt = power(k + j) - c;
    if fold && m < BigInt::from(3) {
        return None;
    }
    let (l, h, want) = (g.vals(&low)?, g.vals(&high)?, g.vals(&right)?);
    // What the lie changes: the weight of the upper limb, the modulus, or the sum itself.
    let how = g.rng.below(3);
    let weight = if how == 0 { power(k) + 1 } else { power(k) };
    let modulus = if how == 1 { &m + 1 } else { m.clone() };
    let add = BigInt::from(i32::from(how == 2 || how == 1 && !fold));
    let breaks = |i: &usize| {
        let d: BigInt = &l[*i] + &weight * &h[*i] - &want[*i] - &add;
        if fold { !d.mod_floor(&modulus).is_zero() } else { !d.is_zero() }
    };
    let input = (0..g.n).find(breaks)?;
    let text = g.prog.show(&g.f, &right).replace("int(", "(");
    let form = |weight: &BigInt, m: &BigInt, add: &BigInt| {
        let sum = format!("result[0] + {weight} * result[1]");
        let clause = if fold { format!("ensures {sum} === {text} + {add} mod {m}") } else { format!("ensures {sum} == {text} + {add}") };
        let result = format!("[{}, {}]", g.prog.show(&g.f, &low), g.prog.show(&g.f, &high));
        Form { ret: "[int; 2]".into(), result, clause, ..Form::default() }
    };
    let (t, l) = (form(&power(k), &m, &BigInt::zero()), form(&weight, &modulus, &add));
    Some(claim(g, "ensures limbs", t, l, input))
}

/// The meaning of a scalar expression in exact integers over the parameters.
fn formula(g: &Grow<'_>, e: &Ex, depth: u32) -> Option<Ex> {
    if depth > 12 {
        return None;
    }
    let sub = |e: &Ex| formula(g, e, depth + 1).map(Box::new);
    let int = |v: BigInt| Box::new(Ex::Lit(v, Ty::Int));
    let bin = |op, a, b| Ex::Bin(op, a, b);
    let wrap = |e: Ex, t: &Ty| match t {
        Ty::Word(b) => bin(Op::Mod, Box::new(e), int(BigInt::one() << *b)),
        _ => e,
    };
    let ty = g.prog.ty(&g.f, e);
    Some(match e {
        Ex::Lit(v, _) => Ex::Lit(v.clone(), Ty::Int),
        Ex::Var(v) if *v < g.f.params => match ty {
            Ty::Bool => e.clone(),
            _ => Ex::Cast(Ty::Int, Box::new(e.clone())),
        },
        Ex::Var(v) => {
            let of = g.f.body.iter().find_map(|s| match s {
                St::Let(w, e) if w == v && !g.f.vars[*v].mutable => Some(e),
                _ => None,
            });
            formula(g, of?, depth + 1)?
        }
        Ex::Bin(op @ (Op::Add | Op::Sub | Op::Mul), a, b) => wrap(bin(*op, sub(a)?, sub(b)?), &ty),
        Ex::Bin(op @ (Op::Div | Op::Mod), a, b) => bin(*op, sub(a)?, sub(b)?),
        Ex::Bin(Op::And, a, b) => match &**b {
            Ex::Lit(m, _) if ty != Ty::Bool && (m + 1u32).magnitude().count_ones() == 1 => bin(Op::Mod, sub(a)?, int(m + 1)),
            _ => return None,
        },
        Ex::Bin(op @ (Op::Shl | Op::Shr), a, b) => match &**b {
            Ex::Lit(k, _) => {
                let power = int(BigInt::one() << k.to_u32()?);
                wrap(bin(if *op == Op::Shl { Op::Mul } else { Op::Div }, sub(a)?, power), &ty)
            }
            _ => return None,
        },
        Ex::Neg(a) => wrap(bin(Op::Sub, int(BigInt::zero()), sub(a)?), &ty),
        Ex::Not(a) => match ty {
            Ty::Word(b) => bin(Op::Sub, int((BigInt::one() << b) - 1), sub(a)?),
            _ => Ex::Not(sub(a)?),
        },
        Ex::Cast(_, a) if g.prog.ty(&g.f, a) == Ty::Bool => return None,
        Ex::Cast(t, a) => wrap(*sub(a)?, t),
        Ex::Cmp(r, a, b) => Ex::Cmp(*r, sub(a)?, sub(b)?),
        Ex::Sel(c, a, b) if ty != Ty::Bool => Ex::Sel(sub(c)?, sub(a)?, sub(b)?),
        _ => return None,
    })
}

fn size(e: &Ex) -> u64 {
    match e {
        Ex::Bin(_, a, b) | Ex::Cmp(_, a, b) => 1 + size(a) + size(b),
        Ex::Sel(a, b, c) => 1 + size(a) + size(b) + size(c),
        Ex::Cast(_, a) | Ex::Neg(a) | Ex::Not(a) => 1 + size(a),
        _ => 1,
    }
}

/// One node changed: a literal by one, a remainder left out, a sum for a difference.
fn damage(e: &mut Ex, nr: &mut i64, how: u64) {
    *nr -= 1;
    if *nr <= 0 {
        let new = match e {
            Ex::Lit(v, Ty::Int) => Some(Ex::Lit(if how == 0 { &*v - 1 } else { &*v + 1 }, Ty::Int)),
            Ex::Bin(Op::Mod, a, _) if how == 0 => Some((**a).clone()),
            Ex::Bin(Op::Add, a, b) if how == 1 => Some(Ex::Bin(Op::Sub, a.clone(), b.clone())),
            Ex::Bin(Op::Sub, a, b) if how == 1 => Some(Ex::Bin(Op::Add, a.clone(), b.clone())),
            Ex::Sel(c, a, b) if how == 2 => Some(Ex::Sel(c.clone(), b.clone(), a.clone())),
            _ => None,
        };
        if let Some(new) = new {
            *e = new;
            *nr = i64::MAX;
            return;
        }
    }
    match e {
        Ex::Bin(_, a, b) | Ex::Cmp(_, a, b) => {
            damage(a, nr, how);
            damage(b, nr, how);
        }
        Ex::Sel(a, b, c) => [a, b, c].into_iter().for_each(|e| damage(e, nr, how)),
        Ex::Cast(_, a) | Ex::Neg(a) | Ex::Not(a) => damage(a, nr, how),
        _ => {}
    }
}
