//! Code without source, functions whose convention a compiler changed, and lists of proved hashes.

use crate::support::{image, judged, made, object, of, patched, Compiler};
use crate::{refused, PROGRAM};
use santoku_certify::manifest::{look_up, parse, print, records, List, Match, Object, Origin, Record};
use santoku_certify::report::{FileReport, Status};

const SOURCE: &str = "@noinline
fn step(a: [u32; 4]) -> [u32; 4] {
  var r: [u32; 4]
  for i in 0..<4 { r[i] = a[i] + 5 * a[(i + 1) % 4] }
  r
}
@export(\"twice\")
fn twice(a: [u32; 4]) -> [u32; 4] { step(step(a)) }
";

/// `step` with its parameters the other way round, and with a helper of its own.
const CHANGED: &str = "#include <stdint.h>
static __attribute__((noinline)) uint32_t turn(uint32_t x) { return 5 * x; }
static __attribute__((noinline)) void unit_step(const uint32_t *a, uint32_t *r)
{
  r[0] = a[0] + turn(a[1]); r[1] = a[1] + turn(a[2]); r[2] = a[2] + turn(a[3]); r[3] = a[3] + turn(a[0]);
}
void twice(uint32_t *r, const uint32_t *a) { uint32_t t[4]; unit_step(a, t); unit_step(t, r); }
";

#[test]
fn what_cannot_stand_alone_is_proved_inside_its_callers() {
    let made = made(SOURCE);
    let Some(object) = object(Compiler::Gcc, "rv32im", "O1", "unit.c", CHANGED) else { return };
    let report = judged(&made, &object);
    let status = |name: &str| &of(&report, name).status;
    assert_eq!(status("twice"), &Status::Equal);
    assert_eq!(status("unit_step"), &Status::Inside { callers: vec!["twice".into()] });
    assert_eq!(status("turn"), &Status::Inside { callers: vec!["twice".into()] });
    assert_eq!((report.totals.functions, report.totals.proved, report.totals.equal), (2, 2, 1));
    assert!(report.holds());
    let inside: Vec<&str> = of(&report, "twice").inside.iter().map(|i| i.symbol.as_str()).collect();
    assert_eq!(inside, ["turn", "unit_step"]);
    // The other way: the helper is wrong.
    let wrong = CHANGED.replace("5 * x", "6 * x");
    let Some(object) = support_object(&wrong) else { return };
    let report = judged(&made, &object);
    assert!(!report.holds() && !of(&report, "twice").status.holds() && !of(&report, "unit_step").status.holds());
    assert_eq!(of(&report, "turn").status, Status::NoSource);
}

fn support_object(text: &str) -> Option<Vec<u8>> {
    object(Compiler::Gcc, "rv32im", "O1", "unit.c", text)
}

fn listed(report: &FileReport) -> Vec<Record> {
    rows(report, "rv32im")
}

/// What the list says of one function of an object.
pub fn look_up_in(object: &[u8], list: &[Record], symbol: &str) -> Match {
    let found = look_up(&image(object), list).into_iter().find(|m| m.symbol == symbol);
    found.unwrap_or_else(|| panic!("no {symbol}"))
}

/// The rows of a report, written and read back.
pub fn rows(report: &FileReport, march: &str) -> Vec<Record> {
    let origin = Origin {
        primitive: "p".into(),
        target: "portable".into(),
        march: march.into(),
        xlen: march[2..4].parse().expect("a width"),
        compiler: "cc 1".into(),
        flags: vec!["-O1".into()],
    };
    let Origin { primitive, target, march, xlen, compiler, flags } = origin.clone();
    let (text, program) = ("0".repeat(64), report.program.clone());
    let object = Object { primitive, target, march, xlen, compiler, flags, text, program };
    let list = List { files: vec![], objects: vec![object], functions: records(report, &origin) };
    let again = parse(&print(&list).expect("a list")).expect("it reads back");
    assert_eq!(again.functions.len(), list.functions.len());
    again.functions
}

#[test]
fn hashes_are_found_again_with_all_they_rest_on() {
    let made = made(PROGRAM);
    let Some(good) = support_object(&made.c) else { return };
    let list = listed(&judged(&made, &good));
    assert!(list.len() >= 4);
    let matched = |object: &[u8], symbol: &str| {
        let all = look_up(&image(object), &list);
        all.into_iter().find(|m| m.symbol == symbol).unwrap_or_else(|| panic!("no {symbol}"))
    };
    for symbol in ["twice", "unit_step", "choose", "add"] {
        assert_eq!(matched(&good, symbol).records.len(), 1, "{symbol}");
    }
    // A callee that was proved against another program does not count.
    let mut mixed = list.clone();
    mixed.iter_mut().filter(|r| r.symbol == "unit_step").for_each(|r| r.program = "0".repeat(64));
    let twice = look_up(&image(&good), &mixed).into_iter().find(|m| m.symbol == "twice").expect("twice");
    assert_eq!((twice.records.len(), twice.lacks.as_deref()), (0, Some("unit_step")));
    // A changed function is unknown, and who calls it is not proved here, although its own bytes are.
    let bad = patched(&good, "unit_step", refused::xor_to_or);
    assert!(matched(&bad, "unit_step").records.is_empty() && matched(&bad, "unit_step").lacks.is_none());
    let twice = matched(&bad, "twice");
    assert!(twice.records.is_empty());
    assert_eq!(twice.lacks.as_deref(), Some("unit_step"));
    assert_eq!(matched(&bad, "add").records.len(), 1);
}

#[test]
fn what_runs_inside_is_part_of_a_match() {
    let made = made(SOURCE);
    let Some(good) = support_object(CHANGED) else { return };
    let list = listed(&judged(&made, &good));
    assert_eq!(list.len(), 1, "only what stands alone is listed");
    let found = |text: &str| {
        let object = support_object(text).expect("the compiler was there");
        look_up(&image(&object), &list).into_iter().find(|m| m.symbol == "twice").expect("twice")
    };
    assert_eq!(found(CHANGED).records.len(), 1);
    let other = found(&CHANGED.replace("5 * x", "6 * x"));
    assert!(other.records.is_empty());
    assert_eq!(other.lacks.as_deref(), Some("turn"));
}

#[test]
fn malformed_lists_are_refused() {
    assert!(parse("{\"files\":[],\"objects\":[],\"functions\":[]}").is_ok_and(|l| l == List::default()));
    assert!(parse("[]").is_err());
    let good = r#"{"files":[{"path":"p","sha256":"HASH"}],"objects":[{"primitive":"p","target":"t","march":"rv32im","xlen":32,"compiler":"c","flags":[],"text":"HASH","program":"HASH"}],"functions":[{"primitive":"p","target":"t","program":"HASH","symbol":"f","function":"f","hash":"HASH","march":"rv32im","xlen":32,"compiler":"c","flags":[],"shared":[],"calls":[],"inside":[]}]}"#;
    let with = |hash: &str| parse(&good.replace("HASH", hash));
    assert!(with(&"0a".repeat(32)).is_ok());
    for hash in ["", "0a", &"0A".repeat(32), &"zz".repeat(32)] {
        assert!(with(hash).is_err(), "{hash}");
    }
    let changes = [
        ("\"xlen\":32", "\"xlen\":\"32\""),
        ("\"symbol\":\"f\",", ""),
        ("\"inside\":[]", "\"inside\":[],\"more\":1"),
        ("[{", "{"),
        // A function of no object.
        ("\"target\":\"t\"", "\"target\":\"u\""),
        ("\"compiler\":\"c\"", "\"compiler\":\"d\""),
    ];
    for (from, to) in changes {
        let text = good.replace("HASH", &"0a".repeat(32));
        assert_ne!(text.replacen(from, to, 1), text);
        assert!(parse(&text.replacen(from, to, 1)).is_err(), "{from}");
    }
}
