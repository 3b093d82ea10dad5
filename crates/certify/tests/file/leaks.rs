//! Code that shows secrets: told with its place and two inputs that make it visible.

use crate::refused::by_hand;
use crate::support::{image, judged, made, object, of, Compiler, Made};
use santoku_certify::concrete::{inputs, Bench, End, Shown};
use santoku_certify::leak::{evidence, Evidence};
use santoku_certify::report::{Site, Status};
use santoku_isa::Isa;

/// The leak of `symbol` in C that stands for the program.
fn told(symbol: &str, text: &str) -> Option<(String, Site, Evidence)> {
    let (_, report) = by_hand("leak.c", text)?;
    let Status::Leak { what, site, evidence, .. } = &of(&report, symbol).status else { panic!("{:?}", of(&report, symbol).status) };
    Some((what.clone(), site.clone(), evidence.clone()))
}

fn names(all: &[(String, String, String)]) -> Vec<&str> {
    all.iter().map(|(name, ..)| name.as_str()).collect()
}

#[test]
fn a_branch_on_a_secret_is_told_with_its_line_and_two_inputs() {
    let text = "#include <stdint.h>\nuint32_t choose(uint32_t x, uint32_t y, uint32_t s)\n{\n  if (s) {\n    __asm__ volatile(\"\");\n    return x;\n  }\n  return y;\n}\n";
    let Some((what, site, shown)) = told("choose", text) else { return };
    assert!(what.contains("branch"), "{what}");
    assert!(site.line.as_ref().is_some_and(|(file, line)| file.ends_with("leak.c") && *line == 4), "{site:?}");
    assert!(site.instruction.starts_with('b'), "{site:?}");
    // Only what decides differs.
    assert_eq!(names(&shown.secrets), ["s"], "{shown:?}");
    assert_eq!(shown.same.len(), 2);
    let mut seen = [shown.first.as_str(), shown.second.as_str()];
    seen.sort_unstable();
    assert_eq!((seen, shown.execution), (["the branch is not taken", "the branch is taken"], 1));
}

#[test]
fn an_address_that_depends_on_a_secret_is_told_with_two_inputs() {
    let text = "#include <stdint.h>\nuint32_t choose(uint32_t x, uint32_t y, uint32_t s)\n{\n  volatile uint32_t both[2];\n  both[0] = y;\n  both[1] = x;\n  return both[s];\n}\n";
    let Some((what, site, shown)) = told("choose", text) else { return };
    assert!(what.contains("address") && site.line.as_ref().is_some_and(|(_, line)| *line == 7), "{what} {site:?}");
    assert_eq!(names(&shown.secrets), ["s"]);
    assert!(shown.first.starts_with("the address is the stack+") && shown.first != shown.second, "{shown:?}");
}

#[test]
fn a_division_of_a_secret_is_told_with_two_inputs() {
    let text = "#include <stdint.h>\nuint32_t choose(uint32_t x, uint32_t y, uint32_t s)\n{\n  volatile uint32_t q = x / (y | 1);\n  (void)q;\n  return y ^ ((x ^ y) & -s);\n}\n";
    let Some((what, site, shown)) = told("choose", text) else { return };
    assert!(what.contains("variable time") && site.instruction.starts_with("divu"), "{what} {site:?}");
    assert!(names(&shown.secrets).iter().all(|n| ["x", "y"].contains(n)) && !shown.secrets.is_empty(), "{shown:?}");
    assert!(shown.first.starts_with("the operands are ") && shown.first != shown.second);
}

/// A secret that shows inside one element of an array, on the second round of a loop.
#[test]
fn of_an_array_only_what_shows_differs() {
    let text = "#include <stdint.h>
void add(uint32_t *r, const uint32_t *a, const uint32_t *b)
{
  for (int i = 0; i < 4; i++) {
    r[i] = a[i] + b[i];
    if (i == 1 && (a[i] & 1)) __asm__ volatile(\"\");
  }
}
";
    let Some((_, _, shown)) = told("add", text) else { return };
    assert_eq!(names(&shown.secrets), ["a"], "{shown:?}");
    let words = |text: &str| text.trim_matches(['[', ']']).split(", ").map(String::from).collect::<Vec<_>>();
    let (_, first, second) = &shown.secrets[0];
    let differ: Vec<usize> = (0..4).filter(|k| words(first)[*k] != words(second)[*k]).collect();
    assert_eq!(differ, [1], "{shown:?}");
}

/// A fourth argument that no caller gives, taken for an address: not a leak.
#[test]
fn registers_without_meaning_are_no_secrets() {
    let text = "#include <stdint.h>
uint32_t choose(uint32_t x, uint32_t y, uint32_t s, const uint32_t *t)
{
  return y ^ ((x ^ y) & -s) ^ (*(const volatile uint32_t *)t & 0);
}
";
    let Some((_, report)) = by_hand("leak.c", text) else { return };
    let Status::Broken { reason, .. } = &of(&report, "choose").status else { panic!("{:?}", of(&report, "choose").status) };
    assert!(reason.contains("called as the source is, it ends at"), "{reason}");
    // Nor where what is passed on plays no part.
    let text = "#include <stdint.h>
__attribute__((noinline)) void unit_step(uint32_t *r, const uint32_t *a) { (void)r; (void)a; __asm__ volatile(\"\"); }
void add(uint32_t *r, const uint32_t *a, const uint32_t *b, const uint32_t *c)
{
  uint32_t t[4];
  unit_step(t, c);
  for (int i = 0; i < 4; i++) r[i] = a[i] + b[i];
}
";
    let Some((_, report)) = by_hand("leak.c", text) else { return };
    let Status::Broken { reason, .. } = &of(&report, "add").status else { panic!("{:?}", of(&report, "add").status) };
    assert!(reason.contains("x13 at entry is used, which has no value here"), "{reason}");
}

fn bench_of<'a>(made: &'a Made, image: &'a santoku_elf::Image, symbol: &str) -> Bench<'a> {
    let func = made.symbols[symbol];
    let entry = image.function(symbol).expect("it is there").address;
    Bench::new((image, Isa::rv32imc()), &made.program, func, entry, &[]).unwrap_or_else(|e| panic!("{e}"))
}

/// The other way: where nothing depends on a secret no two inputs show one, at no instruction.
#[test]
fn code_without_leaks_shows_nothing() {
    let made = made(crate::PROGRAM);
    let Some(object) = object(Compiler::Gcc, "rv32im", "O1", "unit.c", &made.c) else { return };
    assert!(judged(&made, &object).holds());
    let image = image(&object);
    let mut asked = 0;
    for symbol in ["choose", "add", "twice"] {
        let (bench, func) = (bench_of(&made, &image, symbol), made.symbols[symbol]);
        for (first, second) in inputs::pairs(&made.program, func, 32, 5, 1) {
            assert_eq!(bench.run(&first, 1, 10_000).seen, bench.run(&second, 1, 10_000).seen, "{symbol}");
            asked += 1;
        }
        let entry = image.function(symbol).expect("it is there").address;
        assert_eq!(evidence(&bench, (&made.program, func), 32, entry), None, "{symbol}");
    }
    assert!(asked > 20);
}

/// Runs give what the source gives, whatever the noise; rules that code breaks end them.
#[test]
fn runs_agree_with_the_source_and_see_broken_rules() {
    let made = made(crate::PROGRAM);
    let Some(object) = object(Compiler::Clang, "rv32imc", "O2", "unit.c", &made.c) else { return };
    let image = image(&object);
    let mut runs = 0;
    for symbol in ["choose", "add", "twice"] {
        let bench = bench_of(&made, &image, symbol);
        for input in inputs::inputs(&made.program, made.symbols[symbol], 32, 12, 1) {
            let mut interp = santoku_ir::interp::Interp::new(&made.program);
            let want = interp.call(made.symbols[symbol], &input.lens, input.args.clone()).unwrap_or_else(|e| panic!("{e}"));
            for noise in [1, 2] {
                let ran = bench.run(&input, noise, 10_000);
                assert_eq!((&ran.end, &ran.results), (&End::Returned, &bench.expected(&want)), "{symbol}");
                runs += 1;
            }
        }
    }
    assert!(runs > 30);
    for (line, why) in [("r[4] = 1;", "memory"), ("*(volatile uint32_t *)b = 1;", "memory"), ("__asm__ volatile(\"li s1, 1\");", "s1")] {
        let text = format!("#include <stdint.h>\nvoid add(uint32_t *r, const uint32_t *a, const uint32_t *b)\n{{\n  for (int i = 0; i < 4; i++) r[i] = a[i] + b[i];\n  {line}\n}}\n");
        let Some((made, object)) = santoku_pair(&text) else { return };
        let image = crate::support::image(&object);
        let bench = bench_of(&made, &image, "add");
        let input = inputs::inputs(&made.program, made.symbols["add"], 32, 5, 1).pop().expect("an input");
        let ran = bench.run(&input, 3, 10_000);
        assert!(matches!(&ran.end, End::Fault { why: w, .. } if w.contains(why)), "{line}: {:?}", ran.end);
        assert!(ran.results.is_empty() && ran.seen.iter().any(|(_, s)| matches!(s, Shown::Address(_))));
    }
}

fn santoku_pair(text: &str) -> Option<(Made, Vec<u8>)> {
    let made = made(crate::PROGRAM);
    let object = object(Compiler::Gcc, "rv32im", "O1", "unit.c", text)?;
    Some((made, object))
}
