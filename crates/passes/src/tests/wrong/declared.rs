//! Changes of what is declared, none of which computes anything else in the core.

use super::Mistake;
use santoku_ir::{ConstValue, ContractKind, Func, Inline, LocalId, Local, LocalKind, Program, Range, SpecExpr, Ty};

/// The exported function of the sample.
fn top(p: &mut Program) -> &mut Func {
    p.funcs.iter_mut().find(|f| f.name.ends_with(".top")).expect("the function")
}

fn local<'a>(f: &'a mut Func, name: &str) -> &'a mut Local {
    f.locals.iter_mut().find(|l| l.name == name).expect("the local")
}

/// Some variable whose type fits.
fn var(f: &mut Func, fits: fn(&Ty) -> bool) -> &mut Local {
    f.locals.iter_mut().find(|l| l.kind == LocalKind::Var && !l.public && fits(&l.ty)).expect("a variable")
}

fn ranged(ty: &Ty) -> bool {
    matches!(ty, Ty::Int(Some(r)) if r.hi > 1000.into())
}

fn result(f: &mut Func, nr: usize) -> &mut Local {
    let LocalId(id) = f.rets[nr];
    &mut f.locals[id as usize]
}

/// Moves the upper bound of every range inside.
fn bound(ty: &mut Ty, by: i64) {
    match ty {
        Ty::Int(Some(r)) => r.hi = r.hi.add(&by.into()),
        Ty::Int(None) => *ty = Ty::Int(Some(Range::new(0, 10))),
        Ty::Array { elem, ranges, .. } => {
            bound(elem, by);
            ranges.iter_mut().flatten().for_each(|r| r.hi = r.hi.add(&by.into()));
        }
        Ty::Word(_) | Ty::Bool | Ty::Struct(_) => panic!("no range"),
    }
}

/// One range per element where there was one for all.
fn per_element(ty: &mut Ty, hi: i64) {
    let Ty::Array { ranges, .. } = ty else { panic!("no array") };
    *ranges = Some(vec![Range::new(0, hi); 4]);
}

pub const MISTAKES: &[(&str, Mistake)] = &[
    ("a field's range is narrower", |p| bound(&mut p.structs[0].fields[0].1, -500)),
    ("a field's range is wider", |p| bound(&mut p.structs[0].fields[0].1, 500)),
    ("a field has another name", |p| p.structs[0].fields[0].0.push('x')),
    ("a structure has another name", |p| p.structs[0].name.push('x')),
    ("a structure appears", |p| {
        let s = p.structs[0].clone();
        p.structs.push(santoku_ir::StructDef { name: "new".into(), ..s });
    }),
    ("a constant's element is another", |p| {
        let ConstValue::Array(vs) = &mut p.consts[0].value else { panic!("an array") };
        vs[2] = ConstValue::int(77);
    }),
    ("a constant's range is wider", |p| bound(&mut p.consts[0].ty, 1)),
    ("a constant's range is narrower", |p| bound(&mut p.consts[0].ty, -1)),
    ("a constant's elements have ranges", |p| per_element(&mut p.consts[0].ty, 255)),
    ("a constant has another name", |p| p.consts[0].name.push('x')),
    ("a constant stands elsewhere", |p| p.consts[0].loc.line += 1),
    ("a specification is another", |p| {
        let SpecExpr::Bin(_, _, two) = &mut p.specs[0].body else { panic!("a quotient") };
        **two = SpecExpr::Int(3.into());
    }),
    ("a specification's parameter has another name", |p| p.specs[0].params[0].push('x')),
    ("a specification vanishes behind another name", |p| p.specs[0].name.push('x')),
    ("a parameter's range is narrower", |p| bound(&mut local(top(p), "v").ty, -1)),
    ("a parameter's range is wider", |p| bound(&mut local(top(p), "v").ty, 1)),
    ("a parameter's elements have ranges", |p| per_element(&mut local(top(p), "v").ty, 65535)),
    ("a secret parameter is public", |p| local(top(p), "w").public = true),
    ("a public parameter is secret", |p| local(top(p), "k").public = false),
    ("a parameter has another name", |p| local(top(p), "w").name.push('x')),
    ("two parameters change places", |p| top(p).params.swap(0, 3)),
    ("a length's range is narrower", |p| bound(&mut local(top(p), "n").ty, -1)),
    ("a result's range is narrower", |p| bound(&mut result(top(p), 2).ty, -1)),
    ("a result's range is wider", |p| bound(&mut result(top(p), 2).ty, 1)),
    ("a result's elements have ranges", |p| per_element(&mut result(top(p), 0).ty, 65535)),
    ("a secret result is public", |p| result(top(p), 1).public = true),
    ("a precondition goes", |p| top(p).contracts.retain(|c| c.kind != ContractKind::Requires)),
    ("a promise goes", |p| top(p).contracts.retain(|c| c.kind != ContractKind::Ensures)),
    ("a precondition is weaker", |p| {
        let SpecExpr::Cmp(_, _, bound) = &mut top(p).contracts[0].cond else { panic!("a comparison") };
        **bound = SpecExpr::Int(4.into());
    }),
    ("a precondition is false", |p| top(p).contracts[0].cond = SpecExpr::Bool(false)),
    ("a promise is nothing", |p| top(p).contracts[1].cond = SpecExpr::Bool(true)),
    ("a precondition becomes a promise", |p| top(p).contracts[0].kind = ContractKind::Ensures),
    ("a clause reads differently", |p| top(p).contracts[1].text.push(' ')),
    ("clauses change places", |p| top(p).contracts.reverse()),
    ("a clause stands twice", |p| {
        let c = top(p).contracts[0].clone();
        top(p).contracts.push(c);
    }),
    ("an attribute against inlining goes", |p| {
        p.funcs.iter_mut().find(|f| f.name.ends_with(".keep")).expect("there").inline = Inline::Auto;
    }),
    ("an attribute against inlining appears", |p| top(p).inline = Inline::Never),
    ("the results are public for callers", |p| top(p).declassifies = true),
    ("a function is said to apply a table", |p| top(p).applies = Some(santoku_ir::Applies::Table(santoku_ir::ConstId(0)))),
    ("an exported function has another C name", |p| top(p).export = Some("other".into())),
    ("an exported function is not exported", |p| top(p).export = None),
    ("a function is exported", |p| {
        p.funcs.iter_mut().find(|f| f.name.ends_with(".keep")).expect("there").export = Some("keep".into());
    }),
    ("the documentation goes", |p| top(p).doc.clear()),
    ("a function stands elsewhere", |p| top(p).loc.line += 1),
    ("a test goes", |p| p.tests.clear()),
    ("a test has another name", |p| p.tests[0].name.push('x')),
    ("a test stands twice", |p| {
        let t = p.tests[0].clone();
        p.tests.push(t);
    }),
    ("a function has another name", |p| top(p).name.push('x')),
    ("files have other names", |p| p.files[0].push('x')),
    ("a variable's range is narrower", |p| bound(&mut var(top(p), ranged).ty, -100)),
    ("a variable's range is wider", |p| bound(&mut var(top(p), ranged).ty, 1000)),
    ("a secret variable is public", |p| var(top(p), |_| true).public = true),
    ("a variable has another name", |p| var(top(p), |_| true).name.push('y')),
    ("a variable is a counter", |p| var(top(p), ranged).kind = LocalKind::Counter),
    ("a variable stands elsewhere", |p| var(top(p), |_| true).loc.line += 1),
];
