//! The search for orders of instructions: it goes where its seed says, what it finds is faster and right, and its result is used.

use santoku_target::schedule;
use santoku_workbench::primitives::Tree;
use santoku_workbench::search::{run, Found, Wish};
use santoku_workbench::BenchError;
use std::path::Path;

/// Products in a chain and sums beside it, in an order that no multiplier likes.
const PROGRAM: &str = "@export(\"mixed\")
fn mixed(a: [u32; 8], b: [u32; 8]) -> [u32; 8] {
  var r: [u32; 8] = a
  @unroll for i in 0..<8 {
    r[i] = a[i] * b[7 - i] + (a[(i + 1) % 8] ^ b[i])
  }
  @unroll for i in 1..<8 {
    r[i] = r[i] * r[i - 1] + (b[i] >> 3)
  }
  r
}
";
const ROWS: &str = "[[primitive]]
name = \"test.mixed\"
title = \"Products and sums\"
entry = \"lib/mixed.stk\"
unit = \"mixed\"
targets = [\"rv32\"]
ship = false

[[primitive.workload]]
operation = \"mix\"
function = \"mixed\"
inputs.a = { bytes = 32, start = 3, step = 7 }
inputs.b = { bytes = 32, start = 91, step = 29 }

[[primitive.assembly]]
target = \"mine\"
";
const CHOICES: &str = "# Kept.\nmachine = \"rv32\"\n";

fn tree(folder: &Path) -> Tree {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for name in ["lib", "targets", "tuned"] {
        std::fs::create_dir(folder.join(name)).expect("a folder");
    }
    for name in ["rv32.toml", "compilers.toml"] {
        std::fs::copy(root.join("targets").join(name), folder.join("targets").join(name)).expect("a description");
    }
    let write = |path: &str, text: &str| std::fs::write(folder.join(path), text).expect("written");
    write("lib/mixed.stk", PROGRAM);
    write("lib/primitives.toml", ROWS);
    write("tuned/mine.toml", CHOICES);
    Tree { root: folder.to_path_buf() }
}

/// A search that writes what it finds, as the command does.
fn searched(tree: &Tree, seed: u64, rounds: usize) -> Found {
    let path = tree.root.join("tuned/mine.toml");
    let wish = Wish { target: "mine".into(), seed, rounds };
    let mut kept = 0;
    let found = run(tree, "test.mixed", &wish, &|_| (), &mut |all| {
        kept += 1;
        let text = std::fs::read_to_string(&path).expect("the choices");
        std::fs::write(&path, schedule::replaced(&text, all)).expect("written");
        Ok(())
    });
    let found = found.unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(kept, found.taken);
    found
}

fn cycles(f: &Found) -> (u64, u64) {
    (f.before.measures[0].cycles, f.after.measures[0].cycles)
}

#[test]
fn what_a_search_finds_is_faster_and_goes_on_from_its_file() {
    let (one, other) = (tempfile::tempdir().expect("scratch"), tempfile::tempdir().expect("scratch"));
    let (tree, twin) = (tree(one.path()), tree(other.path()));
    let first = searched(&tree, 1, 4);
    let (before, after) = cycles(&first);
    println!("tried: {} programs, {} changes: {before} cycles, then {after}", first.tried, first.taken);
    assert!(first.tried > 4 * 8 && first.taken > 0 && after < before, "{before} {after}");
    // The same seed goes the same way.
    assert_eq!(searched(&twin, 1, 4).schedules, first.schedules);
    // The file has it, with what stood there before; the next search begins there.
    let file = tree.read("tuned/mine.toml").expect("the choices");
    assert!(file.starts_with("# Kept.\n") && file.contains("[schedule.\"mixed.mixed\"]"), "{file}");
    assert_eq!(tree.target("mine").expect("described").schedules, first.schedules);
    let next = searched(&tree, 2, 2);
    assert_eq!(cycles(&next).0, after);
    assert!(cycles(&next).1 <= after);
}

#[test]
fn an_order_that_is_for_other_code_is_not_used_and_says_so() {
    let folder = tempfile::tempdir().expect("scratch");
    let tree = tree(folder.path());
    let primitive = tree.primitive("test.mixed").expect("declared");
    let text = || santoku_workbench::assembly::assembly(&tree, &primitive, &primitive.assemblies[0]).unwrap_or_else(|e| panic!("{e}")).text;
    let plain = text();
    let with = |schedule: &str| std::fs::write(tree.root.join("tuned/mine.toml"), format!("{CHOICES}\n[schedule.\"mixed.mixed\"]\n{schedule}")).expect("written");
    with("instructions = 3\nbefore = [[2, 9]]\n");
    let instructions = |text: &str| text.lines().filter(|l| l.starts_with('\t')).map(|l| l.split('#').next().unwrap_or_default().trim_end().to_string()).collect::<Vec<_>>();
    assert!(text().contains("is for other code, and not used"));
    assert_eq!(instructions(&text()), instructions(&plain));
    // Of another function: not for this program, which is no fault.
    std::fs::write(tree.root.join("tuned/mine.toml"), format!("{CHOICES}\n[schedule.\"other.f\"]\ninstructions = 3\nbefore = [[2, 9]]\n")).expect("written");
    assert_eq!(text(), plain);
}

/// Orders that are shipped are for the code that is shipped.
#[test]
fn shipped_orders_are_used() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let (mut used, mut files) = (0, 0);
    for p in (Tree { root: root.clone() }).primitives().expect("declared") {
        for row in &p.assemblies {
            let path = root.join(santoku_workbench::assembly::path(&row.target, &p.unit));
            let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
            let other: Vec<&str> = text.lines().filter(|l| l.contains("for other code, and not used")).collect();
            assert!(other.is_empty(), "{}: {other:#?}", path.display());
            used += text.matches("in an order found by search").count();
            files += 1;
        }
    }
    println!("tried: {files} files, {used} functions in an order found by search");
    assert!(files >= 7 && used >= 20, "{files} {used}");
}

#[test]
fn what_cannot_be_searched_is_named() {
    let folder = tempfile::tempdir().expect("scratch");
    let tree = tree(folder.path());
    for (name, target) in [("test.mixed", "rv32"), ("test.mixed", "other"), ("test.other", "mine")] {
        let wish = Wish { target: target.into(), seed: 1, rounds: 1 };
        let found = run(&tree, name, &wish, &|_| (), &mut |_| Ok(())).err().map(|e| e.to_string());
        assert!(matches!(&found, Some(e) if e.contains("test.mixed")), "{name} {target}: {found:?}");
    }
    let stopped = run(&tree, "test.mixed", &Wish { target: "mine".into(), seed: 1, rounds: 4 }, &|_| (), &mut |_| Err(BenchError::Io { path: "x".into(), reason: "full".into() }));
    assert!(matches!(stopped, Err(BenchError::Io { .. })), "what cannot be kept ends the search");
}
