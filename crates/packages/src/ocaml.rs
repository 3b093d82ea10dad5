//! Bindings for OCaml: a module with one submodule a unit, and the C that its functions call. Inputs are strings; outputs are made by the binding and returned.
//! Every length is compared with what the C function reads before it is called, so that no string is read or written beyond its end.

use crate::abi::{Abi, AbiError, Argument, Returns, Role};
use crate::call::{apart_from, Call, Check, Size};
use std::fmt::Write;

/// Arguments that OCaml hands to C one by one; of more, bytecode hands over an array.
const DIRECT: usize = 5;

/// The OCaml of the bindings of these units.
///
/// # Errors
/// A function with an argument that has no counterpart here.
pub fn module(units: &[Abi]) -> Result<String, AbiError> {
    let mut text = String::from(
        "(* Made of the interface descriptions of the C files by `santoku package`. Do not edit. *)\n\n\
         let exactly size name s =\n  if String.length s <> size then invalid_arg (Printf.sprintf \"%s: %d bytes, must be %d\" name (String.length s) size)\n\n\
         let at_most size name n = if n > size then invalid_arg (Printf.sprintf \"%s: %d, at most %d\" name n size)\n\n\
         let within low high name n = if n < low || n > high then invalid_arg (Printf.sprintf \"%s: %d, must be %d to %d\" name n low high)\n",
    );
    for unit in units {
        let _ = write!(text, "\n(** {} *)\nmodule {} = struct\n", unit.title, capitalised(&unit.unit));
        for f in &unit.functions {
            text += &binding(&Call::of(unit, f)?);
        }
        text += "end\n";
    }
    Ok(text)
}

/// The C that these bindings call.
///
/// # Errors
/// As [`module`].
pub fn stubs(units: &[Abi]) -> Result<String, AbiError> {
    let mut text = String::from("/* Made of the interface descriptions of the C files by `santoku package`. Do not edit. */\n#include <stddef.h>\n#include <stdint.h>\n#include <caml/mlvalues.h>\n");
    for unit in units {
        let _ = writeln!(text, "#include \"{}\"", unit.header);
    }
    for unit in units {
        for f in &unit.functions {
            text += &stub(&Call::of(unit, f)?);
        }
    }
    Ok(text)
}

fn capitalised(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().collect::<String>() + letters.as_str())
}

fn word(name: &str) -> String {
    const TAKEN: [&str; 57] = [
        "and", "as", "assert", "asr", "begin", "class", "constraint", "do", "done", "downto", "else", "end", "exception", "external", "false", "for", "fun", "function",
        "functor", "if", "in", "include", "inherit", "initializer", "land", "lazy", "let", "lor", "lsl", "lsr", "lxor", "match", "method", "mod", "module", "mutable",
        "new", "nonrec", "object", "of", "open", "or", "private", "rec", "sig", "struct", "then", "to", "true", "try", "type", "val", "virtual", "when", "while", "with",
        "answer",
    ];
    apart_from(&TAKEN, name)
}

fn size_of(size: Size) -> String {
    match size.of {
        None => size.add.to_string(),
        Some(_) => format!("({})", size.expression(|input| format!("String.length {}", word(&input.name)))),
    }
}

/// A statement.
fn check(check: &Check) -> String {
    match check {
        Check::Exactly(a, size) => format!("exactly {} \"{}\" {}", size_of(*size), a.name, word(&a.name)),
        Check::AtLeast(a, least) => format!("within {least} max_int \"{}\" (String.length {})", a.name, word(&a.name)),
        Check::AtMost(size, most) => format!("at_most {most} \"{}\" {}", size.of.map_or("", |a| &a.name), size_of(*size)),
        Check::Within(a, low, high) => format!("within {low} {high} \"{}\" {}", a.name, word(&a.name)),
    }
}

fn symbol(call: &Call) -> String {
    format!("ml_{}", call.function.name)
}

/// Names of what C is given, in its order.
fn handed(call: &Call) -> Vec<String> {
    call.handed().map(|a| word(&a.name)).collect()
}

fn binding(call: &Call) -> String {
    let handed = handed(call);
    let types: Vec<&str> = call.outputs.iter().map(|_| "bytes").chain(call.inputs.iter().map(|_| "string")).chain(call.values.iter().map(|_| "int")).collect();
    let bytecode = if handed.len() > DIRECT { format!("\"{}_bytecode\" ", symbol(call)) } else { String::new() };
    let result = if call.answers() { "int" } else { "unit" };
    let mut text = format!("\n  external {}_c : {} -> {result} = {bytecode}\"{}\" [@@noalloc]\n\n", call.name, types.join(" -> "), symbol(call));
    let labels: Vec<String> = call.inputs.iter().chain(&call.values).map(|a| format!("~{}", word(&a.name))).collect();
    let _ = writeln!(text, "  let {} {} =", call.name, labels.join(" "));
    for c in call.checks() {
        let _ = writeln!(text, "    {};", check(&c));
    }
    for a in &call.outputs {
        let _ = writeln!(text, "    let {} = Bytes.create {} in", word(&a.name), size_of(call.size(a)));
    }
    let called = format!("{}_c {}", call.name, handed.join(" "));
    let outputs = call.outputs.iter().map(|a| format!("Bytes.unsafe_to_string {}", word(&a.name)));
    let answer = match call.function.returns {
        Returns::Status => "answer = 0",
        Returns::Verdict => "answer <> 0",
        Returns::Nothing | Returns::Word32 | Returns::Word64 => "answer",
    };
    let results: Vec<String> = outputs.chain(call.answers().then(|| answer.to_string())).collect();
    let bound = if call.answers() { format!("let answer = {called} in") } else { format!("{called};") };
    let _ = writeln!(text, "    {bound}\n    {}", if results.len() == 1 { results[0].clone() } else { format!("({})", results.join(", ")) });
    text
}

fn stub(call: &Call) -> String {
    let handed = handed(call);
    let parameters: Vec<String> = handed.iter().map(|name| format!("value {name}")).collect();
    let mut text = format!("\nvalue {}({})\n{{\n", symbol(call), parameters.join(", "));
    if let Some(number) = call.number {
        let signed = number.range.as_ref().is_some_and(|[low, _]| low.starts_with('-'));
        let _ = writeln!(text, "    {} number;", if signed { "int32_t" } else { "uint32_t" });
    }
    let arguments: Vec<String> = call.function.arguments.iter().map(|a| argument(call, a)).collect();
    let called = format!("{}({})", call.function.name, arguments.join(", "));
    let _ = match (call.number, call.function.returns) {
        (Some(_), _) => writeln!(text, "    {called};\n    return Val_int(number);"),
        (None, Returns::Nothing) => writeln!(text, "    {called};\n    return Val_unit;"),
        (None, _) => writeln!(text, "    return Val_int({called});"),
    };
    text += "}\n";
    if handed.len() > DIRECT {
        let elements: Vec<String> = (0..handed.len()).map(|k| format!("argv[{k}]")).collect();
        let _ = write!(text, "\nvalue {0}_bytecode(value *argv, int argn)\n{{\n    (void)argn;\n    return {0}({1});\n}}\n", symbol(call), elements.join(", "));
    }
    text
}

/// What C is given for an argument.
fn argument(call: &Call, a: &Argument) -> String {
    match a.role {
        Role::Input => format!("(const uint8_t *)String_val({})", word(&a.name)),
        Role::Output if a.is_number() => if a.null { "NULL" } else { "&number" }.into(),
        Role::Output => format!("(uint8_t *)Bytes_val({})", word(&a.name)),
        Role::Value => format!("(uint32_t)Int_val({})", word(&a.name)),
        Role::Length => call.length(&a.name).map_or("0".into(), |size| size.expression(|input| format!("caml_string_length({})", word(&input.name)))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    fn argument(name: &str, role: &str, number: u32, bytes: &str) -> String {
        format!("{{\"name\":\"{name}\",\"role\":\"{role}\",\"number\":{number}{bytes}}}")
    }

    fn unit(arguments: &[String], returns: &str) -> Abi {
        let text = format!(
            "{{\"unit\":\"u\",\"title\":\"U\",\"header\":\"u.h\",\"functions\":[{{\"name\":\"st_u_f\",\"declaration\":\"\",\"returns\":\"{returns}\",\"arguments\":[{0}]}},{{\"name\":\"st_u_g\",\"declaration\":\"\",\"returns\":\"verdict\",\"arguments\":[{1}]}}]}}",
            arguments.join(","),
            argument("x", "input", 1, ",\"bytes\":{\"times\":0,\"add\":2}")
        );
        Abi::parse(&text).unwrap_or_else(|e| panic!("{e}: {text}"))
    }

    fn sealing() -> Abi {
        let fixed = |n: u32| format!(",\"bytes\":{{\"times\":0,\"add\":{n}}}");
        let of = |add: i32| format!(",\"bytes\":{{\"of\":\"n\",\"times\":1,\"add\":{add}}}");
        unit(
            &[
                argument("c", "output", 1, &of(16)),
                argument("status", "output", 4, &(fixed(4) + ",\"range\":[\"-1\",\"0\"]")),
                argument("n", "length", 4, ",\"range\":[\"0\",\"100\"]"),
                argument("m", "input", 1, &of(0)),
                argument("a", "input", 1, &of(-4)),
                argument("k", "input", 1, &fixed(32)),
                argument("kind", "value", 4, ",\"range\":[\"0\",\"3\"]"),
            ],
            "nothing",
        )
    }

    #[test]
    fn every_length_is_compared_before_the_call() {
        let text = module(&[sealing()]).unwrap_or_else(|e| panic!("{e:?}"));
        let f = text.split("module U = struct").nth(1).expect("the unit");
        expect![[r#"


              external f_c : bytes -> string -> string -> string -> int -> int = "ml_st_u_f" [@@noalloc]

              let f ~m ~a ~k ~kind =
                exactly (String.length m - 4) "a" a;
                exactly 32 "k" k;
                at_most 100 "m" (String.length m);
                within 0 3 "kind" kind;
                let c = Bytes.create (String.length m + 16) in
                let answer = f_c c m a k kind in
                (Bytes.unsafe_to_string c, answer)

              external g_c : string -> int = "ml_st_u_g" [@@noalloc]

              let g ~x =
                exactly 2 "x" x;
                let answer = g_c x in
                answer <> 0
            end
        "#]]
        .assert_eq(f);
    }

    #[test]
    fn what_has_no_counterpart_is_refused() {
        let fixed = ",\"bytes\":{\"times\":0,\"add\":4}";
        let number = |name: &str| argument(name, "output", 4, fixed);
        let refused = |abi: Abi| module(&[abi]).expect_err("refused").reason;
        assert!(refused(unit(&[number("x"), number("y")], "nothing")).contains("more than one number"));
        assert!(refused(unit(&[number("x")], "status")).contains("more than one number"));
        assert!(refused(unit(&[argument("x", "input", 8, fixed)], "nothing")).contains("an array of numbers"));
        assert!(refused(unit(&[argument("x", "input", 1, fixed)], "word64")).contains("64 bits"));
        assert!(refused(unit(&[argument("x", "input", 1, "")], "nothing")).contains("no size"));
        assert!(refused(unit(&[argument("x", "output", 1, ",\"bytes\":{\"of\":\"n\",\"times\":1,\"add\":0}")], "nothing")).contains("that of no input"));
        assert!(refused(unit(&[argument("x", "input", 1, ",\"bytes\":{\"of\":\"n\",\"times\":2,\"add\":0}")], "nothing")).contains("multiple"));
    }
}
