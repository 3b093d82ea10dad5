//! Several units in one translation unit: their names of file scope are kept apart by the preprocessor. The unit that stands first keeps its
//! names as they are, so that its object is the one that was certified; each that follows has its own name before each of its names.
//!
//! Needs: all names of file scope that are not the unit's alone.  Keeps: the text of the unit, and its object where it stands alone.
//! Trusted: nothing: a name that is forgotten here is defined twice, and the compiler says so.

use crate::preamble::HELPERS;

/// Defined once a unit stands in the translation unit.
const BEFORE: &str = "STK_UNIT_BEFORE";

/// The names of helpers that are defined in `text`.
pub fn helpers_in(text: &str) -> impl Iterator<Item = &'static str> + '_ {
    // Macros stand again with the same text, which C allows.
    HELPERS.iter().filter(|(name, definition)| name.starts_with("stk_") && text.contains(definition)).map(|(name, _)| *name)
}

/// What stands before the unit, and what stands behind it.
pub fn renaming(unit: &str, names: &[String]) -> (String, String) {
    let lines = |directive: &dyn Fn(&str) -> String| names.iter().map(|n| directive(n) + "\n").collect::<String>();
    let define = lines(&|n| format!("#define {n} {unit}_{n}"));
    let undefine = lines(&|n| format!("#undef {n}"));
    (
        format!("/* After another unit in the same translation unit, names that may be those of both are changed here. */\n#ifdef {BEFORE}\n{define}#endif\n\n"),
        format!("#ifdef {BEFORE}\n{undefine}#else\n#define {BEFORE}\n#endif\n"),
    )
}

/// The same around functions that are static because C with an interface of its own calls them, and that C: it follows what stands behind the program.
pub fn renaming_inside(unit: &str, names: &[&str]) -> (String, String) {
    let lines = |directive: &dyn Fn(&str) -> String| names.iter().map(|n| directive(n) + "\n").collect::<String>();
    (format!("#ifdef {BEFORE}\n{}#endif\n\n", lines(&|n| format!("#define {n} {unit}_{n}"))), lines(&|n| format!("#undef {n}")))
}
