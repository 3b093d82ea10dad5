//! Other names of an interface's functions, and its sizes, for its header.

use crate::interface_row::NamesRow;
use crate::row::Primitive;
use std::fmt::Write;

/// Definitions of macros that stand before the functions; empty where the primitive has no other names.
pub fn names(primitive: &Primitive) -> String {
    if primitive.names.is_empty() {
        return String::new();
    }
    let mut tweet = String::new();
    let mut plain = String::new();
    for row in &primitive.names {
        for part in &row.functions {
            let behind = |name: &str| if part.is_empty() { name.to_string() } else { format!("{name}_{part}") };
            let (own, object) = (behind(&row.own()), behind(&format!("{}_tweet", row.long())));
            let _ = writeln!(tweet, "#define {own} {object}");
            if let Some(other) = row.other() {
                let _ = writeln!(tweet, "#define {} {object}", behind(&other));
                let _ = writeln!(plain, "#define {} {own}", behind(&other));
            }
        }
    }
    let sizes: String = primitive.names.iter().map(sizes).collect();
    format!(
        "/* NaCl's other names. Define STK_TWEETNACL_NAMES, for this unit and for every file that includes this header, to give functions\n \
* the names of TweetNaCl's objects: what was compiled with tweetnacl.h then links. */\n\
#ifdef STK_TWEETNACL_NAMES\n{tweet}#else\n{plain}#endif\n\n{sizes}"
    )
}

/// The name of TweetNaCl's object for a function of ours; none where no row of names has it.
pub fn tweetnacl_name(primitive: &Primitive, name: &str) -> Option<String> {
    primitive.names.iter().find_map(|row| {
        let rest = name.strip_prefix(&row.own())?;
        let part = if rest.is_empty() { "" } else { rest.strip_prefix('_')? };
        row.functions.iter().any(|p| p == part).then(|| format!("{}_tweet{rest}", row.long()))
    })
}

fn sizes(row: &NamesRow) -> String {
    let Some((first, _)) = row.constants.first_key_value() else { return String::new() };
    let own = row.own();
    let mut text = format!("#ifndef {own}_{first} /* another header of NaCl's interface has them */\n");
    for (name, value) in &row.constants {
        let _ = writeln!(text, "#define {own}_{name} {value}");
    }
    if let Some(other) = row.other() {
        for (name, value) in &row.constants {
            let _ = writeln!(text, "#define {other}_{name} {value}");
        }
        let _ = writeln!(text, "#define {}_PRIMITIVE \"{}\"", row.operation, row.primitive);
    }
    text + "#endif\n\n"
}
