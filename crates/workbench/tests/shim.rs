//! Rows that describe functions over those of a program: what cannot be so is refused.

mod support;

use santoku_workbench::amalgam;
use santoku_workbench::interface_row::{ArgumentRow, CallRow, FunctionRow};
use santoku_workbench::shim::shim;
use std::collections::{BTreeMap, BTreeSet};
use support::{on_big_stack, tree};

type Change = fn(&mut FunctionRow);

fn argument<'r>(row: &'r mut FunctionRow, name: &str) -> &'r mut ArgumentRow {
    row.arguments.iter_mut().find(|a| a.name == name).expect("an argument")
}

/// What is done to the row of a function, and what is said of it then.
const WRONG: [(&str, Change, &str); 17] = [
    ("crypto_box_open", |f| f.calls.swap(1, 2), "an output is written before `santoku_secretbox_authentic` says yes"),
    ("crypto_box_open", |f| drop(f.calls.remove(0)), "which is not there yet"),
    ("crypto_box_open", |f| f.locals.extend([("k".to_string(), 31)]), "`k` has 31 bytes, and `santoku_box_beforenm` takes 32"),
    ("crypto_box_open", |f| f.locals.clear(), "there is no object `k`"),
    ("crypto_box_open", |f| argument(f, "pk").input = Some("64".into()), "`pk` has 64 bytes"),
    ("crypto_box_open", |f| argument(f, "m").same = vec!["nonce".into()], "is not to be `nonce`"),
    ("crypto_box", |f| f.calls[0].function = "santoku_boxes".into(), "the program exports no `santoku_boxes`"),
    ("crypto_box", |f| drop(f.calls[0].pass.insert("message".into(), "m".into())), "has no argument `message`"),
    ("crypto_box", |f| argument(f, "sk").null = true, "may be null and has bytes"),
    ("crypto_box", |f| argument(f, "c").overlaps = vec!["m".into()], "overlaps in part"),
    ("crypto_box", |f| f.arguments.push(ArgumentRow { name: "key".into(), input: Some("32".into()), ..ArgumentRow::default() }), "`key` is not used"),
    ("crypto_box", |f| f.zeros = vec!["m".into()], "`m` is filled, and no output"),
    // The program reads the message behind its first writes where it makes the signature; the sum of a message, too.
    ("crypto_hash", |f| f.arguments[0] = ArgumentRow { name: "out".into(), output: Some("n".into()), ..ArgumentRow::default() }, "`out` has n bytes"),
    ("crypto_stream", |f| f.calls[0].pass.extend([("m".to_string(), "n".to_string())]), "there is no object `n`"),
    ("crypto_box_keypair", |f| f.random.clear(), "which is not there yet"),
    ("crypto_core_salsa20", |f| argument(f, "out").same = vec!["k".into()], "is not to be `k`"),
    ("crypto_verify_16", |f| f.calls.push(CallRow { function: "santoku_verify_32".into(), pass: BTreeMap::new() }), "`x` has 16 bytes"),
];

#[test]
fn rows_that_do_not_fit_the_program_are_refused() {
    let tree = tree();
    let primitive = tree.primitive("nacl").expect("declared");
    let one = primitive.only("rv32");
    let made = on_big_stack(|| amalgam::amalgam(&tree, &one, santoku_target::Level::O0, &BTreeSet::new(), "").unwrap_or_else(|e| panic!("{e}")));
    let exported = made.emitted.exported;
    let whole = shim(&one, &exported).expect("the rows as they are");
    assert!(whole.source.matches("STK_API int").count() > 20 && whole.header.matches("STK_NAME(").count() > 20);
    for (name, change, why) in &WRONG {
        let mut wrong = one.clone();
        let row = wrong.functions.iter_mut().find(|f| f.name == *name).expect("a function");
        change(row);
        let said = shim(&wrong, &exported).expect_err(name);
        assert!(said.contains(why) && said.starts_with(name), "{name}: {said}");
    }
    // A secret where the program may branch on what it is given; an output that lies where the program reads later.
    let open = |e: &santoku_backend_c::Exported| e.name == "santoku_box";
    let mut public = exported.clone();
    public.iter_mut().filter(|e| open(e)).flat_map(|e| &mut e.arguments).filter(|a| a.name == "sk").for_each(|a| a.public = true);
    let said = shim(&one, &public).expect_err("a secret");
    assert!(said.contains("`sk` is a secret, and `santoku_box` takes it for public"), "{said}");
    let mut apart = exported.clone();
    apart.iter_mut().filter(|e| open(e)).flat_map(|e| &mut e.arguments).for_each(|a| a.may_be.clear());
    let said = shim(&one, &apart).expect_err("one object");
    assert!(said.contains("may read `m` after it wrote `c`"), "{said}");
    println!("tried: {} wrong rows", WRONG.len() + 2);
}
