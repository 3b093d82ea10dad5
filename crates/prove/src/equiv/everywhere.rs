//! Equality of small functions: both are run on every input.
//!
//! A function of one word of at most eight bits has at most 256 inputs. One that takes an array of at most eight words and treats every
//! column of their bits alike has 256 columns: it is run on words that hold all of them. A function that only moves bits of a word is known from
//! what it makes of single bits ([`super::linear`]).
//!
//! Needs: the two programs.  Keeps: `Equal` only behind runs on all inputs, none of which faults.  Absent: anything larger.
//! Trusted: c.

use super::{Difference, Verdict, Witness};
use santoku_ir::interp::{Interp, Value};
use santoku_ir::table::{columns, Table, BITS_MAX};
use santoku_ir::visit::walk_stmts;
use santoku_ir::{Base, BinOp, ConstId, ConstValue, Expr, ExprKind, Func, FuncId, Place, Program, Proj, Stmt, Ty, UnOp};

/// Is `func` of `after` the same function as in `before`?
pub fn check(before: &Program, after: &Program, func: &str) -> Verdict {
    let (old, new) = match super::both(before, after, func) {
        Ok(both) => both,
        Err(why) => return Verdict::Unknown(why),
    };
    if let (Some(a), Some(b)) = (applied(before, old), applied(after, new)) {
        if a.inputs != b.inputs || a.entries.len() != b.entries.len() {
            return Verdict::Unknown(format!("`{func}` has another number of inputs"));
        }
        return compared(before, old, &a.entries, &b.entries, &|i| i.to_string());
    }
    let (Some(a), Some(b)) = (super::linear::images(before, old), super::linear::images(after, new)) else {
        return Verdict::Unknown(format!("`{func}` is not a function of one small word, of columns of bits, or of moved bits, that runs on every input"));
    };
    if a.len() != b.len() {
        return Verdict::Unknown(format!("`{func}` has another number of inputs"));
    }
    compared(before, old, &a, &b, &|i| if i == 0 { "0".to_string() } else { (1u128 << (i - 1)).to_string() })
}

/// Results before and after, the inputs counted in order.
fn compared<T: PartialEq + ToString>(program: &Program, id: FuncId, was: &[T], is: &[T], input: &dyn Fn(usize) -> String) -> Verdict {
    match was.iter().zip(is).position(|(x, y)| x != y) {
        None => Verdict::Equal { nodes: was.len() },
        Some(i) => {
            let (was, is) = (was[i].to_string(), is[i].to_string());
            let f = program.func(id);
            let name = |id: santoku_ir::LocalId| f.local(id).name.clone();
            let witness = Witness { inputs: vec![(name(f.params[0]), input(i))], before: was.clone(), after: is.clone() };
            Verdict::Differ(Box::new(Difference { result: name(f.rets[0]), before: was, after: is, exact: true, witness: Some(witness) }))
        }
    }
}

/// What a function gives for every input.
fn applied(program: &Program, id: FuncId) -> Option<Table> {
    let f = program.func(id);
    let ([x], [y], true) = (f.params.as_slice(), f.rets.as_slice(), f.lens.is_empty()) else { return None };
    let (Ty::Word(inputs), Ty::Word(outputs)) = (&f.local(*x).ty, &f.local(*y).ty) else {
        return of_columns(program, id).map(|(table, _)| table);
    };
    if *inputs > BITS_MAX || *outputs > 64 {
        return None;
    }
    let mut interp = Interp::new(program);
    let mut run = |x: u64| u64::try_from(interp.call(id, &[], vec![Value::word(x)]).ok()?.first()?.as_word()?).ok();
    Some(Table { inputs: *inputs, outputs: *outputs, entries: (0..1u64 << inputs).map(&mut run).collect::<Option<_>>()? })
}

/// The table of a function of columns, and the bits of its words. `None` if it is not seen to treat all columns alike.
pub fn of_columns(program: &Program, id: FuncId) -> Option<(Table, u32)> {
    let f = program.func(id);
    let ([x], [y], true) = (f.params.as_slice(), f.rets.as_slice(), f.lens.is_empty()) else { return None };
    let ((inputs, bits), (outputs, same)) = (columns(&f.local(*x).ty)?, columns(&f.local(*y).ty)?);
    let small = |n: u32| (1..=BITS_MAX).contains(&n);
    if bits != same || !small(inputs) || !small(outputs) || !alike(program, f, bits) {
        return None;
    }
    Some((Table { inputs, outputs, entries: on_columns(program, id, inputs, bits)? }, bits))
}

/// What a function of an array of words of `bits` gives for each column of bits, if it treats all alike: as many columns at a time as words
/// have bits. `None` if it faults.
pub fn on_columns(program: &Program, id: FuncId, inputs: u32, bits: u32) -> Option<Vec<u64>> {
    let (mut interp, mut entries, width) = (Interp::new(program), Vec::new(), bits.min(64));
    for from in (0..1u64 << inputs).step_by(width as usize) {
        let word = |i: u32| (0..width).fold(0u64, |w, k| w | ((from + u64::from(k)) >> i & 1) << k);
        let out = interp.call(id, &[], vec![Value::words(&(0..inputs).map(word).collect::<Vec<u64>>())]).ok()?;
        let words: Vec<u128> = out.first()?.parts()?.iter().map(Value::as_word).collect::<Option<_>>()?;
        for k in 0..u64::from(width).min((1 << inputs) - from) {
            entries.push(words.iter().enumerate().fold(0, |e, (o, w)| e | ((w >> k & 1) as u64) << o));
        }
    }
    Some(entries)
}

/// Every statement does the same to all columns: words are combined bit by bit, constants are all zeros or all ones, and indices know no words.
fn alike(program: &Program, f: &Func, bits: u32) -> bool {
    let mut alike = true;
    walk_stmts(&f.body, &mut |s| {
        alike &= match s {
            Stmt::Assign { dst, src, .. } => place(program, dst) && columnwise(program, src, bits),
            Stmt::For { lo, hi, .. } => index(lo) && index(hi),
            _ => false,
        }
    });
    alike
}

fn columnwise(program: &Program, e: &Expr, bits: u32) -> bool {
    let inside = |e: &Expr| columnwise(program, e, bits);
    let own = match &e.ty {
        Ty::Word(b) => *b == bits,
        ty => columns(ty).is_some_and(|(_, b)| b == bits),
    };
    own && match &e.kind {
        ExprKind::Const(v) => *v == 0.into() || *v == (num_bigint::BigInt::from(1) << bits) - 1,
        ExprKind::Read(p) => place(program, p),
        ExprKind::Un(UnOp::Not, a) | ExprKind::Repeat(a) => inside(a),
        ExprKind::Bin(BinOp::And | BinOp::Or | BinOp::Xor, a, b) => inside(a) && inside(b),
        ExprKind::Array(es) => es.iter().all(inside),
        _ => false,
    }
}

fn place(program: &Program, p: &Place) -> bool {
    let uniform = match p.base {
        Base::Local(_) => true,
        Base::Const(id) => all_or_nothing(program, id),
    };
    uniform && p.projs.iter().all(|p| matches!(p, Proj::Index(e) if index(e)))
}

/// Integers made of constants and counters: in a function of columns nothing else gives one.
fn index(e: &Expr) -> bool {
    matches!(e.ty, Ty::Int(_)) && match &e.kind {
        ExprKind::Const(_) => true,
        ExprKind::Read(p) => p.projs.is_empty() && matches!(p.base, Base::Local(_)),
        ExprKind::Bin(_, a, b) => index(a) && index(b),
        _ => false,
    }
}

/// A constant all of whose words are zeros or all ones.
fn all_or_nothing(program: &Program, id: ConstId) -> bool {
    fn word(ty: &Ty) -> Option<u32> {
        match ty {
            Ty::Word(b) => Some(*b),
            Ty::Array { elem, .. } => word(elem),
            _ => None,
        }
    }
    fn values(v: &ConstValue, ones: &num_bigint::BigInt) -> bool {
        match v {
            ConstValue::Scalar(v) => *v == 0.into() || v == ones,
            ConstValue::Array(vs) => vs.iter().all(|v| values(v, ones)),
            ConstValue::Struct(_) => false,
        }
    }
    let Some(c) = program.consts.get(id.0 as usize) else { return false };
    word(&c.ty).is_some_and(|bits| values(&c.value, &((num_bigint::BigInt::from(1) << bits) - 1)))
}
