//! Proofs taken over for objects of other text: only where every function has the hash of the list.

mod support;

use santoku_certify::manifest::List;
use santoku_workbench::carry::carried;
use santoku_workbench::claims::kept;
use support::tree;

/// Of the real list what is said of SHA-256, by compilers that are here.
fn list() -> List {
    let all = kept(&tree()).expect("readable").expect("there");
    let objects: Vec<_> = all.objects.iter().filter(|o| o.primitive == "hash.sha256" && o.flags.last().is_some_and(|f| f == "-O1")).cloned().collect();
    let functions = all.functions.into_iter().filter(|r| objects.iter().any(|o| o.has(r))).collect();
    List { files: vec![], objects, functions }
}

#[test]
fn objects_with_the_same_functions_are_taken_over_and_no_others() {
    let list = list();
    assert!(list.objects.len() >= 4 && list.functions.len() >= 16, "{} objects", list.objects.len());
    let run = |list: &List| carried(&tree(), list.clone(), &|_| ()).unwrap_or_else(|e| panic!("{e}"));
    let done = run(&list);
    assert_eq!((done.taken, done.same, &done.left), (0, list.objects.len(), &vec![]));

    let other_text = || {
        let mut other = list.clone();
        other.objects.iter_mut().for_each(|o| o.text = "0".repeat(64));
        other
    };
    let done = run(&other_text());
    let skipped = done.left.iter().filter(|l| l.contains("the compiler here is")).count();
    assert_eq!((done.taken + skipped, done.same, done.left.len()), (list.objects.len(), 0, skipped), "{:?}", done.left);
    assert!(done.taken > 0 && done.list.objects.iter().filter(|o| list.objects.contains(o)).count() == done.taken);

    // A function of other code, another program, another compiler, nothing claimed.
    let mut changed = other_text();
    let first = changed.objects[0].clone();
    changed.functions.iter_mut().find(|r| first.has(r)).expect("a function").hash = "1".repeat(64);
    let done = run(&changed);
    assert!(done.left.iter().any(|l| l.starts_with(&first.name()) && l.contains("is another")), "{:?}", done.left);
    assert_eq!(done.list.objects[0].text, "0".repeat(64));

    let mut program = other_text();
    program.objects.iter_mut().for_each(|o| o.program = "2".repeat(64));
    assert_eq!(run(&program).taken, 0);

    let mut compiler = other_text();
    compiler.objects.iter_mut().for_each(|o| o.compiler = "gcc 1.0".into());
    assert_eq!(run(&compiler).taken, 0);

    let nothing = List { functions: vec![], ..other_text() };
    assert_eq!(run(&nothing).taken, 0);
    println!("tried: {} objects, each taken over with its functions and left without", list.objects.len());
}
