//! Bindings for Rust: a module for each unit, with functions that take and give arrays where sizes are fixed and slices where they are not. What is as long as an
//! input, and may be that input's object, is made in its place. Lengths of slices are compared before C is called; those of arrays are their types.

use crate::abi::{Abi, AbiError, Argument, Returns, Role};
use crate::call::{apart_from, Call, Check, Size};
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

fn word(name: &str) -> String {
    const TAKEN: [&str; 42] = [
        "as", "async", "await", "break", "const", "continue", "crate", "dyn", "else", "enum", "extern", "false", "fn", "for", "if", "impl", "in", "let", "loop", "match", "mod",
        "move", "mut", "pub", "ref", "return", "self", "static", "struct", "super", "trait", "true", "type", "unsafe", "use", "where", "while", "box", "final", "c", "number",
        "answer",
    ];
    apart_from(&TAKEN, name)
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

/// Whether an output is made in the place of this input.
fn is_place(call: &Call, input: &Argument) -> bool {
    call.outputs.iter().any(|o| place(call, o).is_some_and(|i| i.name == input.name))
}

/// Size of an argument in bytes, if it is fixed.
fn fixed(call: &Call, a: &Argument) -> Option<i64> {
    let size = call.size(a);
    size.of.is_none().then_some(size.add)
}

fn length_of(size: Size) -> String {
    size.expression(|input| format!("{}.len()", word(&input.name)))
}

fn parameters(call: &Call) -> Vec<String> {
    let apart = call.outputs.iter().filter(|a| fixed(call, a).is_none() && place(call, a).is_none());
    let outputs = apart.map(|a| format!("{}: &mut [u8]", word(&a.name)));
    let inputs = call.inputs.iter().map(|a| {
        let of_type = match fixed(call, a) {
            Some(n) => format!("&[u8; {n}]"),
            None if is_place(call, a) => "&mut [u8]".into(),
            None => "&[u8]".into(),
        };
        format!("{}: {of_type}", word(&a.name))
    });
    let values = call.values.iter().map(|a| format!("{}: {}", word(&a.name), number_type(a)));
    outputs.chain(inputs).chain(values).collect()
}

/// Comparisons, and room for what is written.
fn statements(call: &Call) -> Vec<String> {
    let mut all = vec![];
    for check in call.checks() {
        match check {
            Check::Exactly(a, _) if fixed(call, a).is_some() => {}
            Check::Exactly(a, size) => all.push(format!("assert_eq!({}.len(), {});", word(&a.name), length_of(size))),
            Check::AtLeast(a, least) => all.push(format!("assert!({}.len() >= {least});", word(&a.name))),
            Check::AtMost(size, most) => all.push(format!("assert!({} <= {most});", length_of(size))),
            Check::Within(a, low, high) => all.push(format!("assert!(({low}..={high}).contains(&{}));", word(&a.name))),
        }
    }
    for a in call.outputs.iter().filter(|a| place(call, a).is_none()) {
        let name = word(&a.name);
        all.push(match fixed(call, a) {
            Some(n) => format!("let mut {name} = [0u8; {n}];"),
            None => format!("assert_eq!({name}.len(), {});", length_of(call.size(a))),
        });
    }
    all.extend(call.number.map(|a| format!("let mut number: {} = 0;", number_type(a))));
    // One pointer for both, taken when nothing else looks at the slice any more.
    for name in call.inputs.iter().filter(|a| is_place(call, a)).map(|a| word(&a.name)) {
        all.push(format!("let length_of_{name} = {name}.len();"));
        all.push(format!("let place_of_{name} = {name}.as_mut_ptr();"));
    }
    all
}

/// What the C function returns: type, and value.
fn answer(returns: Returns) -> Option<(&'static str, &'static str)> {
    match returns {
        Returns::Nothing => None,
        Returns::Status => Some(("bool", "answer == 0")),
        Returns::Verdict => Some(("bool", "answer != 0")),
        Returns::Word32 => Some(("u32", "answer")),
        Returns::Word64 => Some(("u64", "answer")),
    }
}

/// What the binding returns: types, and values.
fn results(call: &Call) -> (Vec<String>, Vec<String>) {
    let arrays = call.outputs.iter().filter_map(|a| Some((format!("[u8; {}]", fixed(call, a)?), word(&a.name))));
    let number = call.number.map(|a| (number_type(a).to_string(), "number".to_string()));
    let answer = answer(call.function.returns).map(|(of_type, value)| (of_type.to_string(), value.to_string()));
    arrays.chain(number).chain(answer).unzip()
}

/// One thing, or a tuple.
fn tuple(all: &[String]) -> String {
    if let [one] = all { one.clone() } else { format!("({})", all.join(", ")) }
}

fn binding(call: &Call) -> String {
    let (types, values) = results(call);
    let of_type = if types.is_empty() { String::new() } else { format!(" -> {}", tuple(&types)) };
    let mut text = format!("\n    pub fn {}({}){of_type} {{\n", word(call.name), parameters(call).join(", "));
    for statement in statements(call) {
        let _ = writeln!(text, "        {statement}");
    }
    let arguments: Vec<String> = call.function.arguments.iter().map(|a| argument(call, a)).collect();
    let kept = if answer(call.function.returns).is_some() { "let answer = " } else { "" };
    let _ = writeln!(text, "        // Lengths are as the C wants them: compared above, or types.\n        {kept}unsafe {{ c::{}({}) }};", call.function.name, arguments.join(", "));
    if !values.is_empty() {
        let _ = writeln!(text, "        {}", tuple(&values));
    }
    text + "    }\n"
}

/// What C is given for an argument.
fn argument(call: &Call, a: &Argument) -> String {
    let at_place = |input: &Argument| format!("place_of_{}", word(&input.name));
    match a.role {
        Role::Output if a.is_number() => if a.null { "core::ptr::null_mut()" } else { "&mut number" }.into(),
        Role::Output => place(call, a).map_or_else(|| format!("{}.as_mut_ptr()", word(&a.name)), at_place),
        Role::Input if is_place(call, a) => at_place(a),
        Role::Input => format!("{}.as_ptr()", word(&a.name)),
        Role::Value => word(&a.name),
        Role::Length => {
            let taken = |input: &Argument| if is_place(call, input) { format!("length_of_{}", word(&input.name)) } else { format!("{}.len()", word(&input.name)) };
            let length = call.length(&a.name).map_or("0".into(), |size| size.expression(taken));
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
                {"name":"am","role":"input","number":1,"bytes":{"times":0,"add":8}},
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
                        pub fn st_u_seal(c_: *mut u8, tag: *mut u8, n: usize, key: *const u8, am: *const u8, m: *const u8);
                        #[link_name = "santoku_rs_0_1_st_u_copy"]
                        pub fn st_u_copy(c_: *mut u8, clen: *mut u64, m: *const u8, n: u64) -> i32;
                    }
                }

                pub fn seal(key: &[u8; 32], am: &[u8; 8], m: &mut [u8]) -> [u8; 16] {
                    assert!(m.len() <= 100);
                    let mut tag = [0u8; 16];
                    let length_of_m = m.len();
                    let place_of_m = m.as_mut_ptr();
                    // Lengths are as the C wants them: compared above, or types.
                    unsafe { c::st_u_seal(place_of_m, tag.as_mut_ptr(), length_of_m, key.as_ptr(), am.as_ptr(), place_of_m) };
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
