//! Bindings for Rust: a module for each unit, with functions that take and give arrays where sizes are fixed and slices where they are not. What is as long as an
//! input, and may be that input's object, is made in its place. Lengths of slices are compared before C is called; those of arrays are their types.

use crate::abi::{Abi, AbiError, Argument, Returns, Role};
use crate::call::{Call, Check, Size};
use crate::description::C_FOLDER;
use std::fmt::Write;

/// What the names of the C functions have before them in the crate, so that other copies of the C may be linked beside.
const PREFIX: &str = "santoku_rs_0_1_";

/// The Rust of the bindings.
///
/// # Errors
/// A function whose binding the description does not determine.
pub fn module(units: &[Abi]) -> Result<String, AbiError> {
    let mut text = String::from("// Made of the interface descriptions of the C files by `santoku package`. Do not edit.\n");
    for unit in units {
        let calls: Vec<Call> = unit.functions.iter().map(|f| Call::of(unit, f)).collect::<Result<_, _>>()?;
        let _ = write!(text, "\n/// {}.\npub mod {} {{\n    mod c {{\n        extern \"C\" {{\n", unit.title, unit.unit);
        for call in &calls {
            let _ = writeln!(text, "            #[link_name = \"{PREFIX}{}\"]\n            pub fn {};", call.function.name, declaration(call));
        }
        text += "        }\n    }\n";
        for call in &calls {
            text += &binding(call);
        }
        text += "}\n";
    }
    Ok(text)
}

/// The script that compiles the C of these units.
#[must_use]
pub fn builder(units: &[Abi]) -> String {
    let files: String = units.iter().map(|u| format!("    \"{C_FOLDER}/{}.c\",\n", u.unit)).collect();
    format!(
        "// Made of the interface descriptions of the C files by `santoku package`. Do not edit.\nconst FILES: &[&str] = &[\n{files}];\n\nfn main() {{\n    println!(\"cargo:rerun-if-changed={C_FOLDER}\");\n    \
         cc::Build::new().files(FILES).include(\"{C_FOLDER}\").opt_level(2).define(\"STK_NAME(name)\", \"{PREFIX}##name\").compile(\"santoku_c\");\n}}\n"
    )
}

/// Names that are something else in Rust or in a binding get a `_`.
fn word(name: &str) -> String {
    const TAKEN: [&str; 42] = [
        "as", "async", "await", "break", "const", "continue", "crate", "dyn", "else", "enum", "extern", "false", "fn", "for", "if", "impl", "in", "let", "loop", "match", "mod",
        "move", "mut", "pub", "ref", "return", "self", "static", "struct", "super", "trait", "true", "type", "unsafe", "use", "where", "while", "box", "final", "c", "number",
        "answer",
    ];
    if TAKEN.contains(&name) { format!("{name}_") } else { name.to_string() }
}

fn number_type(a: &Argument) -> &'static str {
    match (a.number, a.range.as_ref().is_some_and(|[low, _]| low.starts_with('-'))) {
        (8, _) => "u64",
        (_, true) => "i32",
        (_, false) => "u32",
    }
}

fn declaration(call: &Call) -> String {
    let parameters: Vec<String> = call
        .function
        .arguments
        .iter()
        .map(|a| {
            let of_type = match a.role {
                Role::Input => "*const u8".to_string(),
                Role::Output if a.is_number() => format!("*mut {}", number_type(a)),
                Role::Output => "*mut u8".to_string(),
                Role::Length if a.size_t => "usize".to_string(),
                Role::Length | Role::Value => number_type(a).to_string(),
            };
            format!("{}: {of_type}", word(&a.name))
        })
        .collect();
    let result = match call.function.returns {
        Returns::Nothing => "",
        Returns::Status => " -> i32",
        Returns::Verdict | Returns::Word32 => " -> u32",
        Returns::Word64 => " -> u64",
    };
    format!("{}({}){result}", call.function.name, parameters.join(", "))
}

/// The input in whose place an output of run-time length is made.
fn place<'a>(call: &Call<'a>, output: &Argument) -> Option<&'a Argument> {
    let size = call.size(output);
    size.of.filter(|input| size.add == 0 && output.same.contains(&input.name))
}

/// Size of an argument in bytes, if it is fixed.
fn fixed(call: &Call, a: &Argument) -> Option<i64> {
    let size = call.size(a);
    size.of.is_none().then_some(size.add)
}

fn length_of(size: Size) -> String {
    let Some(input) = size.of else { return size.add.to_string() };
    let length = format!("{}.len()", word(&input.name));
    match size.add {
        0 => length,
        n if n < 0 => format!("{length} - {}", -n),
        n => format!("{length} + {n}"),
    }
}

fn binding(call: &Call) -> String {
    let placed: Vec<(&Argument, &Argument)> = call.outputs.iter().filter_map(|o| Some((*o, place(call, o)?))).collect();
    let in_place = |a: &Argument| placed.iter().any(|(_, input)| input.name == a.name);
    let made_there = |a: &Argument| placed.iter().any(|(o, _)| o.name == a.name);
    let mut parameters = vec![];
    for a in &call.outputs {
        if fixed(call, a).is_none() && !made_there(a) {
            parameters.push(format!("{}: &mut [u8]", word(&a.name)));
        }
    }
    for a in &call.inputs {
        parameters.push(match (fixed(call, a), in_place(a)) {
            (Some(n), _) => format!("{}: &[u8; {n}]", word(&a.name)),
            (None, true) => format!("{}: &mut [u8]", word(&a.name)),
            (None, false) => format!("{}: &[u8]", word(&a.name)),
        });
    }
    parameters.extend(call.values.iter().map(|a| format!("{}: {}", word(&a.name), number_type(a))));
    let (mut before, mut types, mut results) = (String::new(), vec![], vec![]);
    for check in call.checks() {
        let _ = match check {
            Check::Exactly(a, _) if fixed(call, a).is_some() => Ok(()),
            Check::Exactly(a, size) => writeln!(before, "        assert_eq!({}.len(), {});", word(&a.name), length_of(size)),
            Check::AtLeast(a, least) => writeln!(before, "        assert!({}.len() >= {least});", word(&a.name)),
            Check::AtMost(size, most) => writeln!(before, "        assert!({} <= {most});", length_of(size)),
            Check::Within(a, low, high) => writeln!(before, "        assert!(({low}..={high}).contains(&{}));", word(&a.name)),
        };
    }
    for a in call.outputs.iter().filter(|a| !made_there(a)) {
        let name = word(&a.name);
        let _ = match fixed(call, a) {
            Some(n) => {
                types.push(format!("[u8; {n}]"));
                results.push(name.clone());
                writeln!(before, "        let mut {name} = [0u8; {n}];")
            }
            None => writeln!(before, "        assert_eq!({name}.len(), {});", length_of(call.size(a))),
        };
    }
    if let Some(number) = call.number {
        let _ = writeln!(before, "        let mut number: {} = 0;", number_type(number));
        types.push(number_type(number).into());
        results.push("number".into());
    }
    let arguments: Vec<String> = call.function.arguments.iter().map(|a| argument(call, a, placed.iter().find(|(o, _)| o.name == a.name).map(|(_, input)| *input))).collect();
    let mut called = format!("unsafe {{ c::{}({}) }}", call.function.name, arguments.join(", "));
    // One pointer for both, taken when nothing else looks at the slice any more.
    for (_, input) in &placed {
        let name = word(&input.name);
        let _ = write!(before, "        let length_of_{name} = {name}.len();\n        let place_of_{name} = {name}.as_mut_ptr();\n");
        for (of_slice, once) in [("len()", "length_of"), ("as_mut_ptr()", "place_of"), ("as_ptr()", "place_of")] {
            called = called.replace(&format!("{name}.{of_slice}"), &format!("{once}_{name}"));
        }
    }
    let answer = match call.function.returns {
        Returns::Nothing => None,
        Returns::Status => Some(("bool", "answer == 0")),
        Returns::Verdict => Some(("bool", "answer != 0")),
        Returns::Word32 => Some(("u32", "answer")),
        Returns::Word64 => Some(("u64", "answer")),
    };
    if let Some((of_type, value)) = answer {
        types.push(of_type.into());
        results.push(value.into());
    }
    let of_type = match types.len() {
        0 => String::new(),
        1 => format!(" -> {}", types[0]),
        _ => format!(" -> ({})", types.join(", ")),
    };
    let result = if results.len() == 1 { results[0].clone() } else { format!("({})", results.join(", ")) };
    let kept = if answer.is_some() { "let answer = " } else { "" };
    let last = if results.is_empty() { String::new() } else { format!("        {result}\n") };
    format!("\n    pub fn {}({}){of_type} {{\n{before}        // Lengths are as the C wants them: compared above, or types.\n        {kept}{called};\n{last}    }}\n", word(call.name), parameters.join(", "))
}

/// What C is given for an argument; `place`: the input in whose place it is made.
fn argument(call: &Call, a: &Argument, place: Option<&Argument>) -> String {
    match a.role {
        Role::Output if a.is_number() => if a.null { "core::ptr::null_mut()" } else { "&mut number" }.into(),
        Role::Output => format!("{}.as_mut_ptr()", word(&place.unwrap_or(a).name)),
        Role::Input => format!("{}.as_ptr()", word(&a.name)),
        Role::Value => word(&a.name),
        Role::Length => {
            let length = call.length(&a.name).map_or("0".into(), length_of);
            if a.size_t { length } else { format!("({length}) as {}", number_type(a)) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    #[test]
    fn what_may_lie_on_an_input_is_made_there() {
        let text = r#"{"unit":"u","title":"U","header":"u.h","functions":[
            {"name":"st_u_seal","declaration":"","returns":"nothing","arguments":[
                {"name":"c","role":"output","number":1,"bytes":{"of":"n","times":1,"add":0},"same":["m"]},
                {"name":"tag","role":"output","number":1,"bytes":{"times":0,"add":16}},
                {"name":"n","role":"length","number":4,"size_t":true,"range":["0","100"]},
                {"name":"key","role":"input","number":1,"bytes":{"times":0,"add":32}},
                {"name":"m","role":"input","number":1,"bytes":{"of":"n","times":1,"add":0}}]},
            {"name":"st_u_copy","declaration":"","returns":"status","arguments":[
                {"name":"c","role":"output","number":1,"bytes":{"of":"n","times":1,"add":-2}},
                {"name":"clen","role":"output","number":8,"bytes":{"times":0,"add":8},"null":true},
                {"name":"m","role":"input","number":1,"bytes":{"of":"n","times":1,"add":0}},
                {"name":"n","role":"length","number":8}]}]}"#;
        let unit = Abi::parse(text).unwrap_or_else(|e| panic!("{e}"));
        let text = module(&[unit]).unwrap_or_else(|e| panic!("{e:?}"));
        expect![[r#"
            pub mod u {
                mod c {
                    extern "C" {
                        #[link_name = "santoku_rs_0_1_st_u_seal"]
                        pub fn st_u_seal(c_: *mut u8, tag: *mut u8, n: usize, key: *const u8, m: *const u8);
                        #[link_name = "santoku_rs_0_1_st_u_copy"]
                        pub fn st_u_copy(c_: *mut u8, clen: *mut u64, m: *const u8, n: u64) -> i32;
                    }
                }

                pub fn seal(key: &[u8; 32], m: &mut [u8]) -> [u8; 16] {
                    assert!(m.len() <= 100);
                    let mut tag = [0u8; 16];
                    let length_of_m = m.len();
                    let place_of_m = m.as_mut_ptr();
                    // Lengths are as the C wants them: compared above, or types.
                    unsafe { c::st_u_seal(place_of_m, tag.as_mut_ptr(), length_of_m, key.as_ptr(), place_of_m) };
                    tag
                }

                pub fn copy(c_: &mut [u8], m: &[u8]) -> bool {
                    assert!(m.len() >= 2);
                    assert_eq!(c_.len(), m.len() - 2);
                    // Lengths are as the C wants them: compared above, or types.
                    let answer = unsafe { c::st_u_copy(c_.as_mut_ptr(), core::ptr::null_mut(), m.as_ptr(), (m.len()) as u64) };
                    answer == 0
                }
            }
        "#]].assert_eq(&text[text.find("pub mod").expect("the unit")..]);
    }
}
