//! Bindings for OCaml: a module with one submodule a unit, and the C that its functions call. Inputs are strings; outputs are made by the binding and returned.
//! Every length is compared with what the C function reads before it is called, so that no string is read or written beyond its end.

use crate::abi::{Abi, AbiError, Argument, Bytes, Function, Returns, Role};
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
            text += &Call::of(unit, f)?.ocaml();
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
            text += &Call::of(unit, f)?.c();
        }
    }
    Ok(text)
}

fn capitalised(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().collect::<String>() + letters.as_str())
}

/// Names that are something else in OCaml get a `_`.
fn word(name: &str) -> String {
    const TAKEN: [&str; 57] = [
        "and", "as", "assert", "asr", "begin", "class", "constraint", "do", "done", "downto", "else", "end", "exception", "external", "false", "for", "fun", "function",
        "functor", "if", "in", "include", "inherit", "initializer", "land", "lazy", "let", "lor", "lsl", "lsr", "lxor", "match", "method", "mod", "module", "mutable",
        "new", "nonrec", "object", "of", "open", "or", "private", "rec", "sig", "struct", "then", "to", "true", "try", "type", "val", "virtual", "when", "while", "with",
        "answer",
    ];
    if TAKEN.contains(&name) { format!("{name}_") } else { name.to_string() }
}

/// A function and the parts that its arguments play.
struct Call<'a> {
    /// Name in OCaml.
    name: &'a str,
    function: &'a Function,
    inputs: Vec<&'a Argument>,
    values: Vec<&'a Argument>,
    /// Octets that are written.
    outputs: Vec<&'a Argument>,
    /// The number that is written, if there is one.
    number: Option<&'a Argument>,
}

impl<'a> Call<'a> {
    fn of(unit: &'a Abi, function: &'a Function) -> Result<Call<'a>, AbiError> {
        let refused = |reason: &str| Err(AbiError { function: function.name.clone(), reason: reason.to_string() });
        let of = |role: Role| function.arguments.iter().filter(move |a| a.role == role);
        let numbers: Vec<&Argument> = function.arguments.iter().filter(|a| a.is_number() && !a.null).collect();
        if numbers.len() > 1 || (!numbers.is_empty() && function.returns != Returns::Nothing) {
            return refused("more than one number is a result");
        }
        if function.arguments.is_empty() {
            return refused("it has no argument");
        }
        if of(Role::Input).any(|a| a.number > 1) {
            return refused("an array of numbers is an input");
        }
        let outputs: Vec<&Argument> = of(Role::Output).filter(|a| !a.is_number()).collect();
        for a in of(Role::Input).chain(outputs.iter().copied()) {
            let Some(bytes) = &a.bytes else { return refused("an argument has no size") };
            if bytes.of.is_some() && bytes.times != 1 {
                return refused("a size is a multiple of a length");
            }
            if let (Role::Output, Some(length)) = (a.role, &bytes.of) {
                if !of(Role::Input).any(|i| i.bytes.as_ref().is_some_and(|b| b.of.as_ref() == Some(length))) {
                    return refused("the length of an output is that of no input");
                }
            }
        }
        let name = function.name.strip_prefix(unit.prefix()).unwrap_or(&function.name);
        Ok(Call { name, function, inputs: of(Role::Input).collect(), values: of(Role::Value).collect(), outputs, number: numbers.first().copied() })
    }

    /// Names of what C is given, in its order.
    fn handed(&self) -> Vec<String> {
        self.outputs.iter().chain(&self.inputs).chain(&self.values).map(|a| word(&a.name)).collect()
    }

    fn symbol(&self) -> String {
        format!("ml_{}", self.function.name)
    }

    /// Has C anything to return?
    fn answers(&self) -> bool {
        self.number.is_some() || self.function.returns != Returns::Nothing
    }

    /// The input whose size says what the length is, and what is to be added to that.
    fn source(&self, length: &str) -> Option<(&'a Argument, i64)> {
        let has = |a: &&&Argument| a.bytes.as_ref().is_some_and(|b| b.of.as_deref() == Some(length));
        self.inputs.iter().find(has).map(|a| (*a, a.bytes.as_ref().map_or(0, |b| -b.add)))
    }

    fn ocaml(&self) -> String {
        let handed = self.handed();
        let types: Vec<&str> = self.outputs.iter().map(|_| "bytes").chain(self.inputs.iter().map(|_| "string")).chain(self.values.iter().map(|_| "int")).collect();
        let bytecode = if handed.len() > DIRECT { format!("\"{}_bytecode\" ", self.symbol()) } else { String::new() };
        let result = if self.answers() { "int" } else { "unit" };
        let mut text = format!("\n  external {}_c : {} -> {result} = {bytecode}\"{}\" [@@noalloc]\n\n", self.name, types.join(" -> "), self.symbol());
        let labels: Vec<String> = self.inputs.iter().chain(&self.values).map(|a| format!("~{}", word(&a.name))).collect();
        let _ = writeln!(text, "  let {} {} =", self.name, labels.join(" "));
        for check in self.checks() {
            let _ = writeln!(text, "    {check};");
        }
        for a in &self.outputs {
            let _ = writeln!(text, "    let {} = Bytes.create {} in", word(&a.name), self.size(a.bytes.as_ref()));
        }
        let call = format!("{}_c {}", self.name, handed.join(" "));
        let outputs = self.outputs.iter().map(|a| format!("Bytes.unsafe_to_string {}", word(&a.name)));
        let answer = match self.function.returns {
            Returns::Status => "answer = 0",
            Returns::Verdict => "answer <> 0",
            Returns::Nothing => "answer",
        };
        let results: Vec<String> = outputs.chain(self.answers().then(|| answer.to_string())).collect();
        let bound = if self.answers() { format!("let answer = {call} in") } else { format!("{call};") };
        let _ = writeln!(text, "    {bound}\n    {}", if results.len() == 1 { results[0].clone() } else { format!("({})", results.join(", ")) });
        text
    }

    /// What must hold of the arguments, a statement each.
    fn checks(&self) -> Vec<String> {
        let mut all = vec![];
        for a in &self.inputs {
            let Some(Bytes { of, add, .. }) = &a.bytes else { continue };
            match of {
                None => all.push(format!("exactly {add} \"{}\" {}", a.name, word(&a.name))),
                Some(length) => match self.source(length) {
                    Some((first, _)) if first.name != a.name => all.push(format!("exactly {} \"{}\" {}", self.size(a.bytes.as_ref()), a.name, word(&a.name))),
                    _ if *add > 0 => all.push(format!("within {add} max_int \"{}\" (String.length {})", a.name, word(&a.name))),
                    _ => {}
                },
            }
        }
        for a in self.function.arguments.iter().filter(|a| a.role == Role::Length) {
            if let (Some([_, most]), Some((input, add))) = (&a.range, self.source(&a.name)) {
                all.push(format!("at_most {most} \"{}\" (String.length {}{})", input.name, word(&input.name), plus(add)));
            }
        }
        for a in &self.values {
            if let Some([low, high]) = &a.range {
                all.push(format!("within {low} {high} \"{}\" {}", a.name, word(&a.name)));
            }
        }
        all
    }

    /// How many bytes that is, in OCaml.
    fn size(&self, bytes: Option<&Bytes>) -> String {
        let Some(bytes) = bytes else { return "0".into() };
        match bytes.of.as_ref().and_then(|length| self.source(length)) {
            Some((input, add)) => format!("(String.length {}{})", word(&input.name), plus(add + bytes.add)),
            None => bytes.add.to_string(),
        }
    }

    fn c(&self) -> String {
        let handed = self.handed();
        let parameters: Vec<String> = handed.iter().map(|name| format!("value {name}")).collect();
        let mut text = format!("\nvalue {}({})\n{{\n", self.symbol(), parameters.join(", "));
        if let Some(number) = self.number {
            let signed = number.range.as_ref().is_some_and(|[low, _]| low.starts_with('-'));
            let _ = writeln!(text, "    {} number;", if signed { "int32_t" } else { "uint32_t" });
        }
        let arguments: Vec<String> = self.function.arguments.iter().map(|a| self.argument(a)).collect();
        let call = format!("{}({})", self.function.name, arguments.join(", "));
        let _ = match (self.number, self.function.returns) {
            (Some(_), _) => writeln!(text, "    {call};\n    return Val_int(number);"),
            (None, Returns::Nothing) => writeln!(text, "    {call};\n    return Val_unit;"),
            (None, _) => writeln!(text, "    return Val_int({call});"),
        };
        text += "}\n";
        if handed.len() > DIRECT {
            let elements: Vec<String> = (0..handed.len()).map(|k| format!("argv[{k}]")).collect();
            let _ = write!(text, "\nvalue {0}_bytecode(value *argv, int argn)\n{{\n    (void)argn;\n    return {0}({1});\n}}\n", self.symbol(), elements.join(", "));
        }
        text
    }

    /// What C is given for an argument.
    fn argument(&self, a: &Argument) -> String {
        match a.role {
            Role::Input => format!("(const uint8_t *)String_val({})", word(&a.name)),
            Role::Output if a.is_number() => if a.null { "NULL" } else { "&number" }.into(),
            Role::Output => format!("(uint8_t *)Bytes_val({})", word(&a.name)),
            Role::Value => format!("(uint32_t)Int_val({})", word(&a.name)),
            Role::Length => match self.source(&a.name) {
                Some((input, add)) => format!("caml_string_length({}){}", word(&input.name), plus(add)),
                None => "0".into(),
            },
        }
    }
}

/// `+ n`, `- n`, or nothing.
fn plus(n: i64) -> String {
    match n {
        0 => String::new(),
        n if n < 0 => format!(" - {}", -n),
        n => format!(" + {n}"),
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
            "{{\"unit\":\"u\",\"title\":\"U\",\"header\":\"u.h\",\"functions\":[{{\"name\":\"st_u_f\",\"returns\":\"{returns}\",\"arguments\":[{0}]}},{{\"name\":\"st_u_g\",\"returns\":\"verdict\",\"arguments\":[{1}]}}]}}",
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
        assert!(refused(unit(&[argument("x", "input", 1, "")], "nothing")).contains("no size"));
        assert!(refused(unit(&[argument("x", "output", 1, ",\"bytes\":{\"of\":\"n\",\"times\":1,\"add\":0}")], "nothing")).contains("that of no input"));
        assert!(refused(unit(&[argument("x", "input", 1, ",\"bytes\":{\"of\":\"n\",\"times\":2,\"add\":0}")], "nothing")).contains("multiple"));
    }
}
