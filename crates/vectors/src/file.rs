//! Files of cases: JSON as Wycheproof and NIST's ACVP write it, and the `.rsp` files of NIST's CAVP.
//!
//! JSON: `testGroups`, each with `tests`; a case has its own fields and those of its group. Or a list of cases. Fields of inner objects are
//! reached by dots: `publicKey.pk`. `.rsp`: `name = value` lines, a blank line behind each case; `[name = value]` holds for all that follow. Where a
//! case has `Len`, a number of bits, `Msg` ends there (CAVP writes one byte for an empty message). A line `FAIL` is Wycheproof's `result`.

use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// A value of a file, its type not known yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Datum {
    Text(String),
    /// An integer in decimal.
    Number(String),
    Bool(bool),
    List(Vec<Datum>),
}

/// One case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// Where it stands in the file.
    pub id: String,
    pub data: BTreeMap<String, Datum>,
}

/// The cases of a file, in order. There is at least one.
///
/// # Errors
/// What is wrong with it, in words.
pub fn read(name: &str, text: &str) -> Result<Vec<Record>, String> {
    let found = if name.ends_with(".rsp") {
        responses(text)?
    } else if name.ends_with(".json") {
        json(text)?
    } else {
        return Err("cases are read from files that end in `.json` or `.rsp`".into());
    };
    if found.is_empty() { Err("it has no case".into()) } else { Ok(found) }
}

fn json(text: &str) -> Result<Vec<Record>, String> {
    let whole: Value = serde_json::from_str(text).map_err(|e| format!("it is not JSON: {e}"))?;
    if let Value::Array(all) = &whole {
        return all.iter().enumerate().map(|(n, case)| record(format!("case {}", n + 1), &[case])).collect();
    }
    let Some(groups) = whole.get("testGroups").and_then(Value::as_array) else {
        return Err("it has neither a list of cases nor `testGroups`".into());
    };
    let mut out = vec![];
    for group in groups {
        let tests = group.get("tests").and_then(Value::as_array).ok_or("a group has no `tests`")?;
        for case in tests {
            let number = case.get("tcId").map_or_else(|| format!("case {}", out.len() + 1), |n| format!("tcId {n}"));
            let comment = case.get("comment").and_then(Value::as_str).filter(|c| !c.is_empty());
            out.push(record(comment.map_or(number.clone(), |c| format!("{number}, {c}")), &[group, case])?);
        }
    }
    Ok(out)
}

/// The fields of these objects, later ones first.
fn record(id: String, objects: &[&Value]) -> Result<Record, String> {
    let mut data = BTreeMap::new();
    for object in objects {
        let Value::Object(fields) = object else { return Err(format!("{id} is no object")) };
        flatten("", fields, &mut data);
    }
    Ok(Record { id, data })
}

fn flatten(prefix: &str, fields: &Map<String, Value>, out: &mut BTreeMap<String, Datum>) {
    for (name, value) in fields.iter().filter(|(name, _)| *name != "tests") {
        let name = format!("{prefix}{name}");
        match value {
            Value::Object(inner) => flatten(&format!("{name}."), inner, out),
            other => {
                if let Some(d) = datum(other) {
                    out.insert(name, d);
                }
            }
        }
    }
}

/// `None`: nothing that a case can be made of, such as a fraction.
fn datum(value: &Value) -> Option<Datum> {
    match value {
        Value::String(s) => Some(Datum::Text(s.clone())),
        Value::Bool(b) => Some(Datum::Bool(*b)),
        Value::Number(n) if n.is_i64() || n.is_u64() => Some(Datum::Number(n.to_string())),
        Value::Array(all) => all.iter().map(datum).collect::<Option<_>>().map(Datum::List),
        Value::Null | Value::Number(_) | Value::Object(_) => None,
    }
}

/// The cases of a text like CAVP's `.rsp` files.
///
/// # Errors
/// What is wrong with it, in words.
pub fn responses(text: &str) -> Result<Vec<Record>, String> {
    let (mut out, mut section, mut own) = (vec![], BTreeMap::new(), None::<Record>);
    for (n, line) in text.lines().map(str::trim).enumerate() {
        if line.is_empty() {
            out.extend(own.take());
        } else if let Some(inside) = line.strip_prefix('[').and_then(|l| l.strip_suffix(']')) {
            out.extend(own.take());
            match inside.split_once('=') {
                Some((name, value)) => drop(section.insert(name.trim().to_string(), Datum::Text(value.trim().to_string()))),
                None => drop(section.insert("section".to_string(), Datum::Text(inside.trim().to_string()))),
            }
        } else if line == "FAIL" {
            if let Some(case) = &mut own {
                case.data.insert(RESULT.to_string(), Datum::Text("invalid".to_string()));
            }
        } else if !line.starts_with('#') {
            let (name, value) = line.split_once('=').ok_or_else(|| format!("line {} is no `name = value`", n + 1))?;
            let case = own.get_or_insert_with(|| Record { id: format!("line {}", n + 1), data: section.clone() });
            case.data.insert(name.trim().to_string(), Datum::Text(value.trim().to_string()));
        }
    }
    out.extend(own.take());
    out.iter_mut().for_each(cut);
    // A file that says so of some cases says by its silence that the others are right.
    if out.iter().any(|case| case.data.contains_key(RESULT)) {
        for case in &mut out {
            case.data.entry(RESULT.to_string()).or_insert_with(|| Datum::Text("valid".to_string()));
        }
    }
    Ok(out)
}

/// What Wycheproof calls the verdict of a case, and CAVP writes as a line `FAIL`.
const RESULT: &str = "result";

/// `Msg` has `Len` bits.
fn cut(case: &mut Record) {
    let bits = match case.data.get("Len") {
        Some(Datum::Text(n)) => n.parse::<usize>().ok().filter(|n| n % 8 == 0),
        _ => None,
    };
    if let (Some(bits), Some(Datum::Text(m))) = (bits, case.data.get_mut("Msg")) {
        m.truncate(bits / 4);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(r: &Record, name: &str) -> String {
        match r.data.get(name) {
            Some(Datum::Text(t) | Datum::Number(t)) => t.clone(),
            other => format!("{other:?}"),
        }
    }

    #[test]
    fn cases_have_the_fields_of_their_group() {
        let file = r#"{"algorithm": "X", "testGroups": [{"publicKey": {"pk": "00ff", "size": 2}, "tests": [
            {"tcId": 7, "comment": "edge", "msg": "", "result": "valid", "flags": ["A", "B"], "x": null, "ok": true},
            {"tcId": 8, "comment": "", "msg": "0a", "publicKey": {"pk": "11"}}]}]}"#;
        let all = read("a.json", file).expect("cases");
        assert_eq!((all.len(), all[0].id.as_str(), all[1].id.as_str()), (2, "tcId 7, edge", "tcId 8"));
        assert_eq!((text(&all[0], "publicKey.pk"), text(&all[0], "publicKey.size"), text(&all[1], "publicKey.pk")), ("00ff".into(), "2".into(), "11".into()));
        assert_eq!(all[0].data["flags"], Datum::List(vec![Datum::Text("A".into()), Datum::Text("B".into())]));
        assert_eq!((all[0].data.get("x"), &all[0].data["ok"]), (None, &Datum::Bool(true)));
        assert_eq!(read("a.json", r#"[{"m": 1}, {"m": -2}]"#).expect("cases")[1].data["m"], Datum::Number("-2".into()));
    }

    #[test]
    fn responses_have_sections_and_lengths() {
        let file = "#  CAVS 11.0\n\n[L = 32]\n\nLen = 0\nMsg = 00\nMD = e3b0\n\nLen = 16\nMsg = 1122\nMD = aa\n[P-256]\nX = 1\n";
        let all = read("a.rsp", file).expect("cases");
        let ids: Vec<&str> = all.iter().map(|r| r.id.as_str()).collect();
        assert_eq!(ids, ["line 5", "line 9", "line 13"]);
        assert_eq!((text(&all[0], "Msg"), text(&all[1], "Msg"), text(&all[1], "L")), (String::new(), "1122".into(), "32".into()));
        assert_eq!(text(&all[2], "section"), "P-256");
    }

    #[test]
    fn a_case_that_fails_is_invalid_and_others_valid() {
        let all = read("a.rsp", "Count = 0\nTag = 00\nPT = \n\nCount = 1\nTag = 01\nFAIL\n").expect("cases");
        assert_eq!((text(&all[0], "result"), text(&all[1], "result")), ("valid".into(), "invalid".into()));
        assert!(read("a.rsp", "Count = 0\nFAILED\n").is_err());
    }

    #[test]
    fn what_is_no_file_of_cases_is_refused() {
        let wrong = [("a.txt", "[]"), ("a.json", "{"), ("a.json", "{}"), ("a.json", "[]"), ("a.json", "[1]"), ("a.json", r#"{"testGroups": [{}]}"#), ("a.json", r#"{"testGroups": [{"tests": []}]}"#), ("a.rsp", ""), ("a.rsp", "Len 0\n")];
        wrong.iter().for_each(|(name, text)| assert!(read(name, text).is_err(), "{text}"));
    }
}
