//! Every machine that is described: its library is built by each of its compilers and executed there on published vectors.

mod support;

use santoku_lab::calls::{run, Job};
use santoku_lab::cross::{variable_time, Cross};
use santoku_lab::harness::{Call, Source};
use santoku_lab::LabError;
use santoku_skips::seeds;
use santoku_target::{Level, Target};
use santoku_vectors::curves;
use santoku_vectors::named::Vector;
use santoku_workbench::interface::Function;
use santoku_workbench::operation::Case as Asked;
use santoku_workbench::subject::ours;
use std::collections::{BTreeMap, BTreeSet};
use support::{batch_call, c_file, failures, nacl, on_big_stack, published, shipped, shipped_unit, tree, with_a_wrong_constant, Case};

/// C of a primitive for a target, its header pasted in. Targets whose C is the same share it.
#[derive(Default)]
struct Library(BTreeMap<String, Made>);

#[derive(Clone)]
struct Made {
    text: String,
    functions: Vec<Function>,
}

impl Library {
    fn text(&mut self, primitive: &str, target: &Target) -> String {
        self.made(primitive, target).text
    }

    fn made(&mut self, primitive: &str, target: &Target) -> Made {
        let key = format!("{primitive} {} {} {:?} {:?}", target.word_bits, target.widest, target.variable_time.mul, target.impls);
        let made = self.0.entry(key).or_insert_with(|| {
            let (tree, name) = (tree(), target.name.clone());
            let primitive = tree.primitive(primitive).expect("declared");
            let ours = on_big_stack(|| ours(&tree, &primitive, &name, Level::O2, &BTreeSet::new()).unwrap_or_else(|e| panic!("{name}: {e}")));
            Made { text: ours.text, functions: ours.functions }
        });
        made.clone()
    }
}

/// Machines, with what there is of choices for them.
fn targets() -> Vec<Target> {
    santoku_target::names().into_iter().map(|name| tree().target(name).unwrap_or_else(|e| panic!("{e}"))).collect()
}

fn job(sources: Vec<Source>, calls: Vec<Call>, level: Level) -> Job {
    Job { sources, include_dirs: vec![shipped()], calls, level }
}

/// The items in parts of which each fits the memory of the machine; `bytes`: what an item takes.
fn parts<'i, T>(cross: &Cross, items: &'i [T], bytes: impl Fn(&T) -> usize) -> Vec<&'i [T]> {
    let most = cross.target.run.as_ref().and_then(|r| r.memory).map_or(usize::MAX, |m| m.ram_bytes as usize / 3);
    let (mut out, mut from, mut taken) = (vec![], 0, 0);
    for (k, own) in items.iter().map(bytes).enumerate() {
        if taken + own > most && k > from {
            out.push(&items[from..k]);
            (from, taken) = (k, 0);
        }
        taken += own;
    }
    out.push(&items[from..]);
    out
}

/// What fails of signatures, by `text` in the place of the library.
fn signatures(cross: &Cross, text: &str, cases: &[Case], level: Level) -> Result<Vec<String>, LabError> {
    let mut failed = vec![];
    for part in parts(cross, cases, |c| c.input.len() + c.expected.len()) {
        failed.extend(batch(cross, text, part, level)?);
    }
    Ok(failed)
}

/// A batch in one program.
fn batch(cross: &Cross, text: &str, cases: &[Case], level: Level) -> Result<Vec<String>, LabError> {
    let room: usize = cases.iter().map(|c| c.expected.len()).sum();
    let sources = vec![Source::Text { name: "nacl_sign.c".into(), text: text.into() }, Source::File(c_file("batch.c"))];
    let ran = run(cross, &job(sources, vec![batch_call(cases)], level))?;
    assert_eq!(ran[0].ret as usize, room, "{}: bytes made", cross.target.name);
    Ok(failures(cases, ran[0].buffers[0].as_ref().expect("the output")))
}

/// Every vector of the kind in `vectors::named` that a primitive has, by its text for a target; how many ran, and what fails.
fn named(cross: &Cross, made: &Made, vectors: &[Vector], level: Level) -> (usize, Vec<String>) {
    let bytes = |v: &Vector| v.inputs.iter().map(|(_, b)| b.len()).chain(v.outputs.iter().map(Vec::len)).map(|n| n + 16).sum::<usize>();
    let (mut ran, mut failed) = (0, vec![]);
    for part in parts(cross, vectors, bytes) {
        let (n, wrong) = in_one_program(cross, made, part, level);
        ran += n;
        failed.extend(wrong);
    }
    (ran, failed)
}

fn in_one_program(cross: &Cross, made: &Made, vectors: &[Vector], level: Level) -> (usize, Vec<String>) {
    let order = cross.target.byte_order;
    let asked: Vec<Asked> = vectors.iter().map(|v| Asked::of(&made.functions, v).unwrap_or_else(|e| panic!("{e}"))).collect();
    let calls: Vec<Call> = asked.iter().map(|c| c.call(&made.functions, order).unwrap_or_else(|e| panic!("{e}"))).collect();
    let sources = vec![Source::Text { name: "library.c".into(), text: made.text.clone() }];
    let ran = run(cross, &job(sources, calls, level)).unwrap_or_else(|e| panic!("{}: {e}", cross.target.name));
    assert_eq!(ran.len(), vectors.len());
    (ran.len(), ran.iter().zip(&asked).filter_map(|(left, c)| c.wrong(&made.functions, left, order)).collect())
}

/// Runs vectors on all targets; the names of those that were tried. `all`: every vector at every level, not a part at the first.
fn every_target(all: bool) -> BTreeSet<String> {
    let mut library = Library::default();
    let mut cases = published();
    cases.extend(nacl().into_iter().step_by(if all { 1 } else { 61 }));
    let (mut tried, mut ran, mut seen) = (BTreeSet::new(), 0, BTreeSet::new());
    // Curves share their code: each has its turn. On this machine, all of them have all vectors (`curves.rs`).
    let curves: Vec<&str> = curves::names().collect();
    let now = curves[seeds::turn() as usize % curves.len()];
    let chosen = |name: &String| all || name == now || !curves.contains(&name.as_str());
    let names = tree().primitives().unwrap_or_else(|e| panic!("{e}")).into_iter().map(|p| p.name).filter(chosen);
    let primitives: BTreeMap<String, Vec<Vector>> = names.filter_map(|name| santoku_vectors::named::of(&name).map(|v| (name, v))).collect();
    assert!(!primitives.is_empty());
    for target in targets() {
        // Each machine has its turn with some of them, signatures first, and all with all in a long run.
        let turn = |k: usize| all || (k + tried.len() + seeds::turn() as usize) % 3 == 0;
        let others = primitives.iter().enumerate().filter(|(k, _)| turn(*k + 1)).map(|(_, row)| row);
        let others: Vec<(&String, Made, &Vec<Vector>)> = others.map(|(p, v)| (p, library.made(p, &target), v)).collect();
        let sign = (turn(0) || others.is_empty()).then(|| library.text("nacl.sign", &target));
        let compilers: Vec<_> = target.compilers.iter().filter(|c| !c.levels.is_empty()).collect();
        for using in if all { compilers } else { seeds::one(compilers, tried.len()) } {
            let cross = Cross::named(&target, Some(&using.name)).unwrap_or_else(|e| panic!("{e}"));
            let one = if using.levels.contains(&Level::O2) { Level::O2 } else { using.levels[0] };
            for level in using.levels.iter().filter(|l| all || **l == one) {
                let what = format!("{} {} {level}", target.name, using.name);
                // Simulators take their time, and other vectors have their turn on each machine.
                let mut counts = vec![];
                if let Some(sign) = &sign {
                    let part: Vec<Case> = cases.iter().skip(if all { 0 } else { ran % 17 }).step_by(if all { 1 } else { 17 }).cloned().collect();
                    let failed = signatures(&cross, sign, &part, *level).unwrap_or_else(|e| panic!("{what}: {e}"));
                    assert!(failed.is_empty(), "{what}: {} of {} fail: {:?}", failed.len(), part.len(), &failed[..failed.len().min(5)]);
                    counts.push(format!("{} records of signatures", part.len()));
                }
                for (name, made, vectors) in &others {
                    // A few of short lists, too.
                    let most = if curves.contains(&name.as_str()) { vectors.len() / 20 } else { 23 };
                    let each = if all { 1 } else { (vectors.len() / 7).clamp(1, most) };
                    let part: Vec<Vector> = vectors.iter().skip(ran % each).step_by(each).cloned().collect();
                    let (n, wrong) = named(&cross, made, &part, *level);
                    assert!(wrong.is_empty() && n > 5, "{what}, {name}: {wrong:?}");
                    counts.push(format!("{n} of {name}"));
                    seen.insert(name.to_string());
                }
                assert!(!counts.is_empty(), "{what}: nothing was tried");
                println!("tried: {what}: {}", counts.join(", "));
                ran += 1;
            }
        }
        tried.insert(target.name);
    }
    assert!(ran >= tried.len());
    assert_eq!(seen.len(), primitives.len(), "a primitive without a machine");
    tried
}

#[test]
fn every_described_machine_passes_vectors() {
    let tried = every_target(false);
    assert_eq!(tried, santoku_target::names().into_iter().map(str::to_string).collect());
    assert!(tried.len() >= 12, "{tried:?}");
}

#[test]
#[ignore = "minutes; `make soak` runs it"]
fn every_described_machine_passes_all_vectors_at_every_level() {
    every_target(true);
}

/// The forms that a shipped file has, each behind a condition of the preprocessor.
fn forms(text: &str) -> Vec<&str> {
    let starts = ["\n#elif defined(__SIZEOF_INT128__)", "\n#else /* "].iter().filter_map(|s| text.find(s));
    let (mut parts, mut from) = (vec![], 0);
    for at in starts {
        parts.push(&text[from..at]);
        from = at;
    }
    parts.push(&text[from..]);
    parts
}

/// The shipped files themselves, with limbs of 64 and of 32 bits and in the smallest form, and a twin that is spoiled in the form that is compiled.
#[test]
fn shipped_files_pass_vectors_in_both_halves() {
    let (mut library, mut tried) = (Library::default(), vec![]);
    let target = tree().target("host64").unwrap_or_else(|e| panic!("{e}"));
    for primitive in tree().shipped().unwrap_or_else(|e| panic!("{e}")).into_iter().filter(|p| p.targets.len() > 1) {
        let Some(vectors) = santoku_vectors::named::of(&primitive.name) else { continue };
        let text = shipped_unit(&primitive.unit);
        let forms = forms(&text);
        let small = primitive.small.iter().map(|_| (0, "#define SANTOKU_SMALL\n", "gcc"));
        let by_width = [(forms.len() - 2, "", "gcc"), (forms.len() - 1, "#define SANTOKU_32BIT\n", "clang")];
        for (own, half, using) in small.chain(by_width) {
            let cross = Cross::named(&target, Some(using)).unwrap_or_else(|e| panic!("{e}"));
            let made = Made { text: format!("{half}{text}"), functions: library.made(&primitive.name, &target).functions };
            let (ran, wrong) = named(&cross, &made, &vectors, Level::O2);
            assert!(wrong.is_empty() && ran > 20, "{} {half}: {wrong:?}", primitive.name);
            tried.push(ran);
            // Another form, spoiled, changes nothing; this one does.
            let fails = |spoiled: usize| {
                let text: String = forms.iter().enumerate().map(|(k, form)| if k == spoiled { form.replace(" * ", " + ") } else { form.to_string() }).collect();
                let twin = Made { text: format!("{half}{text}"), functions: made.functions.clone() };
                !named(&cross, &twin, &vectors[..20], Level::O2).1.is_empty()
            };
            let found: Vec<usize> = (0..forms.len()).filter(|k| fails(*k)).collect();
            assert_eq!(found, [own], "{} {half}", primitive.name);
        }
    }
    println!("tried: {tried:?} vectors on shipped files");
    assert!(tried.len() >= 4);
}

/// A wrong constant is seen on every kind of executor.
#[test]
fn a_wrong_constant_fails_on_every_kind_of_machine() {
    let mut library = Library::default();
    let cases = &published()[..4];
    for name in seeds::some(["portable", "rv32", "rv64im", "aarch64", "s390x"], 2) {
        let target = tree().target(name).unwrap_or_else(|e| panic!("{e}"));
        let text = with_a_wrong_constant(&library.text("nacl.sign", &target));
        let cross = Cross::find(&target, None).unwrap_or_else(|e| panic!("{e}"));
        let failed = signatures(&cross, &text, cases, Level::O2).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!(failed.len(), 4, "{name}: {failed:?}");
    }
}

/// The text of a function of generated C.
fn function<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let at = text.match_indices(&format!(" {name}(")).map(|(at, _)| at).find(|at| text[*at..].split_once('\n').is_some_and(|(_, rest)| rest.starts_with('{')))?;
    text[at..].split_once("\n}\n").map(|(body, _)| body)
}

/// Products of secrets are made of such that take the same time for all operands: no other instruction is in the objects, and none of the
/// compiler's functions is called. So it is in the text for these targets, and in that for any 32-bit processor, which finds out by itself; where
/// it is told not to, they are there.
#[test]
fn processors_with_slow_products_are_given_none() {
    let mut library = Library::default();
    let (mut objects, mut twins) = (0, 0);
    for target in targets().into_iter().filter(|t| t.variable_time.mul.is_some()) {
        let safe = library.text("nacl.sign", &target);
        let any = library.text("nacl.sign", &Target { variable_time: Default::default(), name: "rv32".into(), ..target.clone() });
        for using in &target.compilers {
            let cross = Cross::named(&target, Some(&using.name)).unwrap_or_else(|e| panic!("{e}"));
            for level in &seeds::some(using.levels.clone(), 3) {
                let found = |text: &str, told: &[&str]| {
                    let dir = tempfile::tempdir().expect("scratch");
                    let (c, o) = (dir.path().join("u.c"), dir.path().join("u.o"));
                    std::fs::write(&c, text).expect("written");
                    let mut flags = cross.flags(*level).expect("described");
                    flags.extend(cross.headers(dir.path()).expect("written"));
                    flags.extend(told.iter().map(|f| f.to_string()));
                    cross.object(&c, &flags, &[], &o).unwrap_or_else(|e| panic!("{e}"));
                    variable_time(&cross, &o).unwrap_or_else(|e| panic!("{e}"))
                };
                let what = format!("{} {} {level}", target.name, using.name);
                // Indices may be divided by constants, which compilers make a product of: a function that multiplies no secret.
                for text in [&safe, &any] {
                    let of_secrets = |f: &str| function(text, f).is_none_or(|body| body.contains("STK_MUL_"));
                    let wrong: Vec<_> = found(text, &[]).into_iter().filter(|(f, _)| of_secrets(f)).collect();
                    assert!(wrong.is_empty(), "{what}: {wrong:?}");
                    objects += 1;
                }
                let whole = ["-DSTK_PRODUCTS_IN_PARTS=0", "-DSTK_ALLOW_VARIABLE_TIME"];
                assert!(found(&any, &whole).len() > 10, "{what}: the check finds nothing");
                twins += 1;
            }
        }
    }
    println!("tried: {objects} objects without slow products, {twins} with them found");
    assert!(objects >= if seeds::whole() { 12 } else { 4 }, "{objects}");
}

/// What a description must say before it is shipped: nothing is described that nobody builds.
#[test]
fn shipped_descriptions_are_whole() {
    let mut seen = 0;
    for target in targets() {
        let name = &target.name;
        assert!(!target.title.is_empty() && target.run.is_some() && !target.compilers.is_empty(), "{name}");
        assert_eq!(target.variable_time.mul.is_some(), !target.variable_time.source.is_empty(), "{name}: no source");
        assert!(target.compilers.iter().any(|c| !c.levels.is_empty()), "{name}: no level");
        seen += 1;
    }
    assert!(seen >= 12);
}
