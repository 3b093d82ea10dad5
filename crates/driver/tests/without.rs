//! Passes left out, one by one, two by two and at random: a build gives C or says why not. It is never our fault.

use santoku_driver::{build, check, BuildOptions, Checked, Failure, Request};
use santoku_passes::{Level, TABLE};
use std::collections::BTreeSet;

const PROGRAMS: [(&str, &str); 3] = [
    ("sponge", include_str!("without/sponge.stk")),
    ("ranges", include_str!("without/ranges.stk")),
    ("branches", include_str!("without/branches.stk")),
];

fn compile(text: &str) -> Checked {
    let request = Request::new("main.stk", santoku_driver::built_in("portable").unwrap().unwrap());
    let mut load = |path: &str| Ok((path == "main.stk").then(|| text.to_string()));
    check(&request, &mut load).unwrap_or_else(|f| panic!("{f:?}"))
}

/// True where there is C, false where the build was refused with a reason.
fn builds(name: &str, checked: &Checked, level: Level, without: &[&str]) -> bool {
    let options = BuildOptions {
        level,
        without: without.iter().map(|s| (*s).to_string()).collect(),
        dump_after: None,
        unit: "unit".into(),
        provenance: String::new(),
        keep_secrets: true,
    };
    match build(checked, &options, &|| 0) {
        Ok(built) => {
            assert!(built.files.iter().any(|(f, text)| f == "unit.c" && text.contains('{')));
            let put_back: Vec<_> = built.steps.iter().flat_map(|s| &s.reverted).collect();
            assert!(put_back.is_empty(), "{name} at {level} without {without:?}: {put_back:?}");
            true
        }
        Err(Failure::Refused { diagnostics, .. }) => {
            assert_eq!(diagnostics[0].code, "needed-pass", "{name} at {level} without {without:?}: {diagnostics:?}");
            false
        }
        Err(Failure::Internal { stage, message }) => panic!("{name} at {level} without {without:?}: {stage}: {message}"),
    }
}

#[test]
fn no_choice_of_passes_is_an_internal_error() {
    let names: Vec<&str> = TABLE.iter().map(|p| p.name).collect();
    let (mut built, mut refused) = (0, 0);
    let mut seed = 1u64;
    for (name, text) in PROGRAMS {
        let checked = compile(text);
        let mut cuts: BTreeSet<(Level, Vec<&str>)> = BTreeSet::new();
        for level in Level::ALL {
            cuts.insert((level, vec![]));
            cuts.extend(names.iter().map(|n| (level, vec![*n])));
        }
        for _ in 0..30 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let (bits, level) = (seed >> 20, Level::ALL[(seed >> 60) as usize % 5]);
            let some = names.iter().enumerate().filter(|(i, n)| bits >> i & 1 == 1 && **n != "derive-width").map(|(_, n)| *n);
            cuts.insert((level, some.collect()));
        }
        for (level, without) in cuts {
            *(if builds(name, &checked, level, &without) { &mut built } else { &mut refused }) += 1;
        }
    }
    println!("tried: {built} builds with passes left out, {refused} refused because C needs the pass");
    assert!(built > 250 && refused == 5 * PROGRAMS.len());
}
