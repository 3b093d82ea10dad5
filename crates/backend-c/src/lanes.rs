//! Functions that machines with registers of vectors have in another text: the preprocessor takes one of them, or the C of the program.
//!
//! Needs: kernels that compute what the functions compute, from `layout`.  Keeps: the text of the program, where no kernel is taken.
//! Absent: a choice while the program runs.
//! Trusted: c.

use crate::options::{Lanes, LanesOf, Options, Stack};
use santoku_ir::visit::reached;
use santoku_ir::{Func, FuncId, Program};
use std::fmt::Write;

/// Which registers the compiler has: the number of some [`Lanes`], or 0.
const CHOSEN: &str = "STK_LANES";

/// The headers of vector units are those of gcc and clang, and take `<stdlib.h>` where there is a C library; where there should be one and is none,
/// the file compiles all the same.
const COMPILERS: &str = "#if !defined(STK_NO_VECTORS) && !defined(__GNUC__) && !defined(__clang__)\n#define STK_NO_VECTORS\n#endif\n\
                         #if !defined(STK_NO_VECTORS) && defined(__has_include) && (__STDC_HOSTED__ || !defined(__clang__))\n#if !__has_include(<stdlib.h>)\n#define STK_NO_VECTORS\n#endif\n#endif\n";

/// The choice, for the top of the source.
pub fn choice(opts: &Options) -> String {
    if opts.lanes.is_empty() {
        return String::new();
    }
    let mut text = format!(
        "/* Functions that do the same to several blocks do it to all at once where the compiler was told of registers for that. Define STK_NO_VECTORS to\n \
         * do without. The order of bytes in memory is that of the machines that have them. */\n#ifndef {CHOSEN}\n{COMPILERS}#if defined(STK_NO_VECTORS)\n#define {CHOSEN} 0\n"
    );
    for l in &opts.lanes {
        let _ = write!(text, "#elif {}\n#define {CHOSEN} {}\n{}", l.guard, l.number, l.preamble);
    }
    let _ = write!(text, "#else\n#define {CHOSEN} 0\n#endif\n#endif\n\n");
    for l in opts.lanes.iter().filter(|l| !l.gates.is_empty()) {
        let _ = write!(text, "#if {CHOSEN} == {}\n{}#endif\n\n", l.number, l.gates);
    }
    text
}

/// The macro with the bytes of stack that kernels use beside the rest.
pub fn stack_macro(unit: &str) -> String {
    format!("{}_LANES", crate::clear::stack_macro(unit))
}

/// Its definition.
pub fn stack(opts: &Options) -> String {
    let mut text = String::new();
    let name = stack_macro(&opts.unit);
    for (k, l) in opts.lanes.iter().enumerate() {
        let most = |of: &dyn Fn(&Stack) -> u32| l.kernels.values().map(|kernel| of(&kernel.stack)).max().unwrap_or(0);
        let word = if k == 0 { "#if" } else { "#elif" };
        let (optimised, plain) = (most(&|s| s.optimised), most(&|s| s.plain));
        let _ = write!(text, "{word} {CHOSEN} == {}\n#ifdef __OPTIMIZE__\n#define {name} {optimised}\n#else\n#define {name} {plain}\n#endif\n", l.number);
    }
    if text.is_empty() { text } else { format!("{text}#else\n#define {name} 0\n#endif\n\n") }
}

/// A function in all its texts, the one that was printed for the program last. `names`: of its locals in C.
pub fn instead(lanes: &[Lanes], f: &Func, printed: &str, head: &str, names: &[String]) -> String {
    let mut text = String::new();
    let ([x], [y]) = (f.params.as_slice(), f.rets.as_slice()) else { return printed.into() };
    let (out, given) = (&names[y.0 as usize], &names[x.0 as usize]);
    let mut kernels: Vec<(String, &LanesOf)> = vec![];
    for l in lanes {
        let Some(kernel) = l.kernels.get(&f.name) else { continue };
        let when = format!("{CHOSEN} == {}", l.number);
        // The operations of units differ, and their texts seldom.
        match kernels.iter_mut().find(|(_, k)| (&k.text, &k.entry) == (&kernel.text, &kernel.entry)) {
            Some((also, _)) => *also = format!("{also} || {when}"),
            None => kernels.push((when, kernel)),
        }
    }
    for (when, kernel) in kernels {
        let word = if text.is_empty() { "#if" } else { "#elif" };
        let _ = write!(text, "{word} {when}\n{}\n{head}\n{{\n    {}((uint8_t *){out}, (const uint8_t *){given});\n}}\n", kernel.text, kernel.entry);
    }
    if text.is_empty() { printed.into() } else { format!("{text}#else\n{printed}#endif\n") }
}

/// Whether a kernel is among what a function calls.
pub fn reaches(program: &Program, opts: &Options, func: usize) -> bool {
    reached(program, [FuncId(func as u32)]).into_iter().any(|id| opts.lanes.iter().any(|l| l.kernels.contains_key(&program.func(id).name)))
}

/// Names of file scope that kernels have.
pub fn names(opts: &Options) -> Vec<String> {
    let mut names: Vec<String> = opts.lanes.iter().flat_map(|l| l.kernels.values().flat_map(|k| k.names.iter().cloned())).collect();
    names.sort();
    names.dedup();
    names
}
