//! Every program of the library that exports something, optimised for machines of several widths and lowered: its functions compute what the
//! core's interpreter does.

#[path = "support/library.rs"]
mod library;
mod support;

use santoku_ir::interp::{Interp, Options};
use santoku_ir::FuncId;
use santoku_lower::legalise::{legalise, Spread};
use santoku_lower::pass::{optimise, Choice, Costs};
use santoku_passes::Level;
use santoku_skips::seeds::one;
use library::{built, is_curve, programs};
use support::{edges, machine, random, same, sound};

/// Targets, and the words that the machine is given.
const TARGETS: [(&str, &[u32]); 3] = [("rv32", &[32]), ("rv64im", &[32, 64]), ("host64", &[32, 64, 128])];

#[test]
fn programs_of_the_library_compute_what_the_interpreter_does() {
    let paths = programs();
    let (mut modules, mut functions, mut numbers, mut calls, mut refused) = (0, 0, 0, 0, vec![]);
    for (k, path) in paths.iter().enumerate() {
        for (target, words) in one(TARGETS, k) {
            let (level, spread) = [(Level::O1, Spread::default()), (Level::O2, Spread::default()), (Level::Os, Spread::short())][(k + words.len()) % 3];
            let Some(made) = built(path, target, level) else { continue };
            let lowered = match legalise(&made.program, &machine(words, false), spread) {
                Ok(l) => l,
                Err(e) => {
                    refused.push(format!("{path} for {target}: {e}"));
                    continue;
                }
            };
            sound(&lowered.module).unwrap_or_else(|why| panic!("{path} for {target}: {}", &why[..why.len().min(2000)]));
            let better = optimise(&lowered, &Costs::default(), &Choice::default());
            sound(&better.module).unwrap_or_else(|why| panic!("{path} for {target}: {}", &why[..why.len().min(2000)]));
            modules += 1;
            // Signatures take long; what they call does not.
            let steps = if is_curve(path) { 2_000_000 } else { 40_000_000 };
            let mut checked = Interp::with_options(&made.program, Options { steps, ..Options::checked() });
            for id in lowered.funcs.keys().copied().collect::<Vec<FuncId>>() {
                let mut any = false;
                for input in random(&made.program, id, 2, functions as u64).into_iter().chain(edges(&made.program, id).into_iter().take(2)) {
                    if checked.call(id, &input.0, input.1.clone()).is_err() {
                        // It requires something else, or takes long.
                        continue;
                    }
                    let what = || format!("{path} for {target}: {}", made.program.func(id).name);
                    numbers += same(&made.program, &made.program, &lowered, id, &input, 1 << 26).unwrap_or_else(|why| panic!("{}: {why}", what()));
                    if better.funcs.contains_key(&id) {
                        numbers += same(&made.program, &made.program, &better, id, &input, 1 << 26).unwrap_or_else(|why| panic!("{}, after passes: {why}", what()));
                    }
                    calls += 1;
                    any = true;
                }
                functions += usize::from(any);
            }
        }
    }
    println!("tried: {} programs, {modules} modules, {functions} functions, {calls} calls, {numbers} numbers compared; refused: {refused:#?}", paths.len());
    assert!(modules >= 6 && functions >= 100 && numbers > 3000 && refused.is_empty(), "{modules} {functions} {numbers} {refused:#?}");
}

/// Calls in a loop stay, unless what is called is short; elsewhere they go.
#[test]
fn long_functions_are_not_put_into_loops() {
    let made = built("lib/ecdsa/p256.stk", "rv64im", Level::O2).expect("it is built");
    let lowered = legalise(&made.program, &machine(&[32, 64], false), Spread::default()).expect("it is lowered");
    let calls_of = |costs: &Costs, of: &str| {
        let module = optimise(&lowered, costs, &Choice::default()).module;
        let f = module.funcs.iter().find(|f| f.name.contains(of)).unwrap_or_else(|| panic!("no {of}"));
        let mut calls = 0;
        f.body.each(&mut |i| calls += usize::from(matches!(i, santoku_lower::Inst::Call { .. })));
        calls
    };
    let (power, double) = (".E.pow$", "curve.p256.double");
    let long = Costs { inline_max: 1000, ..Costs::default() };
    let both = Costs { inline_in_loops_max: 1000, ..long.clone() };
    let found: Vec<(usize, usize)> = [&Costs::default(), &long, &both].map(|c| (calls_of(c, power), calls_of(c, double))).into();
    assert!(found[0].0 > 0 && found[0].1 > 0, "{found:?}");
    assert!(found[1].0 > 0 && found[1].1 == 0, "{found:?}");
    assert_eq!(found[2], (0, 0));
}

/// An argument that lies in the place of a result goes through memory of its own: as much as the caller says of the length, whose number among
/// the callee's variables may be that of another.
#[test]
fn memory_for_a_result_of_run_time_length_is_as_much_as_its_caller_says() {
    let mut tried = 0;
    for (path, most) in [("lib/kdf/hkdf_sha256.stk", 255 * 32), ("lib/kdf/hkdf_sha512.stk", 255 * 64)] {
        for (target, words) in TARGETS {
            let made = built(path, target, Level::O1).expect("it is built");
            let lowered = legalise(&made.program, &machine(words, false), Spread::default()).unwrap_or_else(|e| panic!("{path} for {target}: {e}"));
            let f = lowered.module.funcs.iter().find(|f| f.name.ends_with(".K.expand")).expect("a function of HKDF");
            let slots: Vec<u64> = f.slots.iter().filter(|s| s.name == "of all").map(|s| s.bytes).collect();
            assert!(!slots.is_empty() && slots.iter().all(|n| *n == most), "{path} for {target}: {slots:?}");
            tried += slots.len();
        }
    }
    santoku_skips::checked(tried, "results in memory of their own");
}
