//! Tests whose cases are in a file: values of their parameters.

use num_bigint::BigInt;
use santoku_ir::interp::Value;
use santoku_ir::{Func, Len, LocalId, Program, Test, Ty};
use santoku_num::from_hex;
use santoku_vectors::file::{read, Datum, Record};
use std::collections::BTreeMap;

/// What a file gives a test.
#[derive(Clone, Debug, Default)]
pub struct Suite {
    pub cases: Vec<Case>,
    /// Cases that the parameters of the test cannot hold, by the reason.
    pub left_out: BTreeMap<String, usize>,
}

/// The values of all parameters, in order.
#[derive(Clone, Debug)]
pub struct Case {
    pub id: String,
    pub args: Vec<Value>,
}

/// Why there is no value.
enum No {
    /// The case is not for this test.
    LeftOut(String),
    /// The file is not as the test says.
    Wrong(String),
}

/// Reads the cases of a test. At least one is left.
///
/// # Errors
/// What is wrong with the file, in words.
pub fn suite(program: &Program, test: &Test, name: &str, text: &str) -> Result<Suite, String> {
    let f = program.func(test.func);
    let fields = test.cases.as_ref().map(|c| c.fields.as_slice()).unwrap_or_default();
    let mut out = Suite::default();
    for record in read(name, text)? {
        match args(f, fields, &record) {
            Ok(args) => out.cases.push(Case { id: record.id, args }),
            Err(No::LeftOut(why)) => *out.left_out.entry(why).or_default() += 1,
            Err(No::Wrong(why)) => return Err(format!("{}: {why}", record.id)),
        }
    }
    if out.cases.is_empty() {
        let why: Vec<String> = out.left_out.iter().map(|(why, n)| format!("{n}: {why}")).collect();
        return Err(format!("no case fits the parameters of the test ({})", why.join("; ")));
    }
    Ok(out)
}

fn args(f: &Func, fields: &[String], record: &Record) -> Result<Vec<Value>, No> {
    let mut values = vec![];
    for (id, field) in f.params.iter().zip(fields) {
        let datum = record.data.get(field).ok_or_else(|| {
            let known: Vec<&str> = record.data.keys().map(String::as_str).collect();
            No::Wrong(format!("it has no field `{field}`; there are: {}", known.join(", ")))
        })?;
        values.push(value(&f.local(*id).ty, datum, field)?);
    }
    lengths(f, &values)?;
    Ok(values)
}

/// The lengths of arrays agree and are in their bounds.
fn lengths(f: &Func, values: &[Value]) -> Result<(), No> {
    let mut found: BTreeMap<LocalId, i128> = BTreeMap::new();
    for (id, value) in f.params.iter().zip(values) {
        if let (Ty::Array { len: Len::Param { param, add }, .. }, Some(parts)) = (&f.local(*id).ty, value.parts()) {
            let n = parts.len() as i128 - i128::from(*add);
            let name = &f.local(*param).name;
            if found.insert(*param, n).is_some_and(|other| other != n) {
                return Err(No::LeftOut(format!("arrays of length `{name}` differ in length")));
            }
            let inside = match &f.local(*param).ty {
                Ty::Int(Some(r)) => r.holds(n),
                _ => n >= 0,
            };
            if !inside {
                return Err(No::LeftOut(format!("the length `{name}` is outside its range")));
            }
        }
    }
    Ok(())
}

fn value(ty: &Ty, d: &Datum, field: &str) -> Result<Value, No> {
    let wrong = |what: &str| No::Wrong(format!("`{field}` is not {what}"));
    match (ty, d) {
        (Ty::Array { elem, len, .. }, _) => {
            let parts = match d {
                Datum::List(all) => all.iter().map(|d| value(elem, d, field)).collect::<Result<Vec<_>, _>>()?,
                Datum::Text(digits) if **elem == Ty::Word(8) => {
                    from_hex(digits).ok_or_else(|| wrong("a string of hexadecimal pairs"))?.into_iter().map(Value::word).collect()
                }
                _ => return Err(wrong("a byte string or a list")),
            };
            match len {
                Len::Const(n) if *n != parts.len() as u64 => Err(No::LeftOut(format!("`{field}` is not {n} long"))),
                _ => Ok(Value::array(parts)),
            }
        }
        (Ty::Bool, Datum::Bool(b)) => Ok(Value::Bool(*b)),
        (Ty::Bool, Datum::Text(t)) => match t.split_whitespace().next().unwrap_or_default().to_ascii_lowercase().as_str() {
            "valid" | "true" | "p" | "pass" => Ok(Value::Bool(true)),
            "invalid" | "false" | "f" | "fail" => Ok(Value::Bool(false)),
            "acceptable" => Err(No::LeftOut(format!("`{field}` is acceptable: either way is right"))),
            _ => Err(wrong("a truth value")),
        },
        (Ty::Word(bits), _) => {
            let n = integer(d).ok_or_else(|| wrong("an integer"))?;
            let fits = n.bits() <= u64::from(*bits);
            u128::try_from(n).ok().filter(|_| fits).map(Value::Word).ok_or_else(|| No::LeftOut(format!("`{field}` is not a word of {bits} bits")))
        }
        (Ty::Int(range), _) => {
            let n = integer(d).ok_or_else(|| wrong("an integer"))?;
            match range.as_ref().filter(|r| !r.holds(&n)) {
                Some(r) => Err(No::LeftOut(format!("`{field}` is outside {}..{}", r.lo, r.hi))),
                None => Ok(Value::int(n)),
            }
        }
        (Ty::Bool, _) => Err(wrong("a truth value")),
        (Ty::Struct(_), _) => Err(No::Wrong(format!("`{field}` is a struct; files have bytes, integers, truth values and lists"))),
    }
}

/// Numbers as they are written; texts in hexadecimal, the most significant digit first.
fn integer(d: &Datum) -> Option<BigInt> {
    match d {
        Datum::Number(n) => n.parse().ok(),
        Datum::Text(t) if !t.is_empty() && t.bytes().all(|b| b.is_ascii_hexdigit()) => BigInt::parse_bytes(t.as_bytes(), 16),
        _ => None,
    }
}
