//! Test vectors as text that a package's own tests read.

use santoku_num::hex;
use santoku_vectors::named::{self, Vector};
use santoku_vectors::Expected;
use std::fmt::Write;

/// A line: source and number, function, arguments as `name=hex`, then `->`, the results in order, and what is returned, `valid` or
/// `invalid`, where that is settled.
fn line(v: &Vector) -> String {
    let mut text = format!("{} {}", v.id.replace(' ', "_"), v.function);
    for (name, bytes) in &v.inputs {
        let _ = write!(text, " {name}={}", hex(bytes));
    }
    text.push_str(" ->");
    for bytes in &v.outputs {
        let _ = write!(text, " {}", hex(bytes));
    }
    match v.returned {
        Some(Expected::Valid) => text.push_str(" valid"),
        Some(Expected::Invalid) => text.push_str(" invalid"),
        Some(Expected::Acceptable) | None => {}
    }
    text + "\n"
}

/// The vectors of primitives, a line each, below a line for each primitive.
pub fn text(primitives: &[String]) -> String {
    let of = |name: &String| (name.clone(), named::of(name).unwrap_or_default());
    primitives.iter().map(of).filter(|(_, all)| !all.is_empty()).fold(String::new(), |text, (name, all)| {
        text + &format!("# {name}: {} vectors\n", all.len()) + &all.iter().map(line).collect::<String>()
    })
}
