//! Other names of an interface's functions, and its sizes, for its header.

use crate::interface_row::NamesRow;
use crate::row::Primitive;
use std::fmt::Write;

/// What stands before the functions; empty where the primitive has no other names.
pub fn names(primitive: &Primitive) -> String {
    if primitive.names.is_empty() {
        return String::new();
    }
    let mut tweet = String::new();
    let mut alone = String::new();
    // As in TweetNaCl's header, word by word: both may be included.
    for row in &primitive.names {
        for part in &row.functions {
            let behind = |name: &str| if part.is_empty() { name.to_string() } else { format!("{name}_{part}") };
            let (long, object) = (behind(&row.long()), behind(&format!("{}_tweet", row.long())));
            if row.default {
                let _ = writeln!(tweet, "#define {} {long}", behind(&row.operation));
            }
            if row.also_alone {
                let _ = writeln!(alone, "#define {} {long}", behind(&row.operation));
            }
            let _ = writeln!(tweet, "#define {long} {object}");
        }
    }
    let sizes: String = primitive.names.iter().map(sizes).collect();
    format!(
        "/* Define STK_TWEETNACL_NAMES, for this unit and for every file that includes this header, to give functions the names of TweetNaCl's\n \
* objects: what was compiled with tweetnacl.h then links. */\n\
#ifdef STK_TWEETNACL_NAMES\n{tweet}#endif\n{alone}\n{sizes}"
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

/// Constants of the language, so that a header of others may still define macros of these names.
fn sizes(row: &NamesRow) -> String {
    let Some((first, _)) = row.constants.first_key_value() else { return String::new() };
    let own = row.own();
    let all: Vec<String> = row.constants.iter().map(|(name, value)| format!("    {own}_{name} = {value}")).collect();
    let mut text = format!("#ifndef STK_SIZES_{own}\n#define STK_SIZES_{own}\n#ifndef {own}_{first} /* another header of NaCl's interface has them */\nenum {{\n{}\n}};\n#endif\n", all.join(",\n"));
    if row.default || row.also_alone {
        let _ = write!(text, "#ifndef {0}_PRIMITIVE\n#define {0}_PRIMITIVE \"{1}\"\n#endif\n", row.operation, row.primitive);
    }
    text + "#endif\n\n"
}
