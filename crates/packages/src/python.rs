//! Bindings for Python: a class with static functions for each unit, over an extension module that cffi makes. cffi releases the interpreter's lock while C runs.
//! Every length is compared with what the C function reads before it is called.

use crate::abi::{Abi, AbiError, Argument, Returns, Role};
use crate::call::{apart_from, Call, Check, Size};
use crate::description::C_FOLDER;
use std::fmt::Write;

/// The script that tells cffi what to compile: declarations, headers and sources of these units, and of `by_hand`, C files of the package itself.
#[must_use]
pub fn builder(units: &[Abi], by_hand: &[String]) -> String {
    let declarations: String = units.iter().flat_map(|u| &u.functions).map(|f| plain(&f.declaration) + ";\n").collect();
    let includes: String = units.iter().map(|u| format!("#include \"{}\"\n", u.header)).collect();
    let sources: String = units.iter().map(|u| format!("{}.c", u.unit)).chain(by_hand.iter().cloned()).map(|name| format!("        \"{C_FOLDER}/{name}\",\n")).collect();
    format!(
        "# Made of the interface descriptions of the C files by `santoku package`. Do not edit.\nfrom cffi import FFI\n\nffibuilder = FFI()\nffibuilder.cdef(\n    \"\"\"\n{declarations}\"\"\"\n)\n\
         ffibuilder.set_source(\n    \"santoku._c\",\n    \"\"\"\n{includes}\"\"\",\n    sources=[\n{sources}    ],\n    include_dirs=[\"{C_FOLDER}\"],\n    extra_compile_args=[\"-O2\"],\n)\n"
    )
}

/// A declaration with the names of types that cffi knows.
fn plain(declaration: &str) -> String {
    [("__INT32_TYPE__", "int32_t"), ("__UINT32_TYPE__", "uint32_t"), ("__SIZE_TYPE__", "size_t")].iter().fold(declaration.to_string(), |text, (from, to)| text.replace(from, to))
}

/// The Python of the bindings.
///
/// # Errors
/// A function whose binding the description does not determine.
pub fn module(units: &[Abi]) -> Result<String, AbiError> {
    let mut text = String::from(
        "# Made of the interface descriptions of the C files by `santoku package`. Do not edit.\nfrom santoku._c import ffi, lib\n\n\n\
         def _octets(x):\n    return ffi.from_buffer(\"unsigned char[]\", x)\n\n\n\
         def _exactly(size, name, x):\n    if len(x) != size:\n        raise ValueError(f\"{name}: {len(x)} bytes, must be {size}\")\n\n\n\
         def _within(low, high, name, n):\n    if not low <= n <= high:\n        raise ValueError(f\"{name}: {n}, must be {low} to {high}\")\n",
    );
    for unit in units {
        let _ = write!(text, "\n\nclass {}:\n    \"\"\"{}.\"\"\"\n", unit.unit, unit.title);
        for f in &unit.functions {
            text += &binding(&Call::of(unit, f)?);
        }
    }
    Ok(text)
}

fn word(name: &str) -> String {
    const TAKEN: [&str; 41] = [
        "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue", "def", "del", "elif", "else", "except", "finally", "for", "from",
        "global", "if", "import", "in", "is", "lambda", "nonlocal", "not", "or", "pass", "raise", "return", "try", "while", "with", "yield", "answer", "number", "ffi", "lib",
        "len", "bytes",
    ];
    apart_from(&TAKEN, name)
}

fn size_of(size: Size) -> String {
    size.expression(|input| format!("len({})", word(&input.name)))
}

/// A statement.
fn check(check: &Check) -> String {
    match check {
        Check::Exactly(a, size) => format!("_exactly({}, \"{}\", {})", size_of(*size), a.name, word(&a.name)),
        Check::AtLeast(a, least) => format!("_within({least}, 2**62, \"{}\", len({}))", a.name, word(&a.name)),
        Check::AtMost(size, most) => format!("_within(0, {most}, \"{}\", {})", size.of.map_or("", |a| &a.name), size_of(*size)),
        Check::Within(a, low, high) => format!("_within({low}, {high}, \"{}\", {})", a.name, word(&a.name)),
    }
}

fn binding(call: &Call) -> String {
    let names: Vec<String> = call.inputs.iter().chain(&call.values).map(|a| word(&a.name)).collect();
    let mut text = format!("\n    @staticmethod\n    def {}({}):\n", word(call.name), names.join(", "));
    // Of octets: what has larger elements tells their number as its length.
    for a in &call.inputs {
        let _ = writeln!(text, "        {0} = _octets({0})", word(&a.name));
    }
    for c in call.checks() {
        let _ = writeln!(text, "        {}", check(&c));
    }
    for a in &call.outputs {
        let _ = writeln!(text, "        {} = bytearray({})", word(&a.name), size_of(call.size(a)));
    }
    if let Some(number) = call.number {
        let signed = number.range.as_ref().is_some_and(|[low, _]| low.starts_with('-'));
        let _ = writeln!(text, "        number = ffi.new(\"{} *\")", if signed { "int32_t" } else { "uint32_t" });
    }
    let arguments: Vec<String> = call.function.arguments.iter().map(|a| argument(call, a)).collect();
    let called = format!("lib.{}({})", call.function.name, arguments.join(", "));
    let answer = match call.function.returns {
        Returns::Status => Some("answer == 0"),
        Returns::Verdict => Some("answer != 0"),
        Returns::Word32 | Returns::Word64 => Some("answer"),
        Returns::Nothing => call.number.map(|_| "number[0]"),
    };
    let kept = if call.function.returns == Returns::Nothing { "" } else { "answer = " };
    let results: Vec<String> = call.outputs.iter().map(|a| format!("bytes({})", word(&a.name))).chain(answer.map(str::to_string)).collect();
    let _ = writeln!(text, "        {kept}{called}\n        return {}", results.join(", "));
    text
}

/// What C is given for an argument.
fn argument(call: &Call, a: &Argument) -> String {
    match a.role {
        Role::Output if a.is_number() => if a.null { "ffi.NULL" } else { "number" }.into(),
        Role::Output => format!("_octets({})", word(&a.name)),
        Role::Input | Role::Value => word(&a.name),
        Role::Length => call.length(&a.name).map_or("0".into(), size_of),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    fn unit() -> Abi {
        let text = r#"{"unit":"u","title":"U","header":"u.h","functions":[
            {"name":"st_u_open","declaration":"void st_u_open(unsigned char *m, __INT32_TYPE__ *number, __SIZE_TYPE__ n, const unsigned char *c, const unsigned char *from)","returns":"nothing","arguments":[
                {"name":"m","role":"output","number":1,"bytes":{"of":"n","times":1,"add":-16}},
                {"name":"number","role":"output","number":4,"bytes":{"times":0,"add":4},"range":["-1","0"]},
                {"name":"n","role":"length","number":4,"range":["0","100"]},
                {"name":"c","role":"input","number":1,"bytes":{"of":"n","times":1,"add":0}},
                {"name":"from","role":"input","number":1,"bytes":{"times":0,"add":32}}]},
            {"name":"st_u_is","declaration":"__UINT32_TYPE__ st_u_is(const unsigned char *x)","returns":"verdict","arguments":[
                {"name":"x","role":"input","number":1,"bytes":{"times":0,"add":2}}]}]}"#;
        Abi::parse(text).unwrap_or_else(|e| panic!("{e}"))
    }

    #[test]
    fn every_length_is_compared_before_the_call() {
        let text = module(&[unit()]).unwrap_or_else(|e| panic!("{e:?}"));
        expect![[r#"
            class u:
                """U."""

                @staticmethod
                def open(c, from_):
                    c = _octets(c)
                    from_ = _octets(from_)
                    _exactly(32, "from", from_)
                    _within(0, 100, "c", len(c))
                    _within(16, 2**62, "c", len(c))
                    m = bytearray(len(c) - 16)
                    number = ffi.new("int32_t *")
                    lib.st_u_open(_octets(m), number, len(c), c, from_)
                    return bytes(m), number[0]

                @staticmethod
                def is_(x):
                    x = _octets(x)
                    _exactly(2, "x", x)
                    answer = lib.st_u_is(x)
                    return answer != 0
        "#]].assert_eq(&text[text.find("class u:").expect("the unit")..]);
    }

    #[test]
    fn cffi_is_told_plain_types() {
        let text = builder(&[unit()], &["own.c".into()]);
        assert!(text.contains("void st_u_open(unsigned char *m, int32_t *number, size_t n,") && text.contains("uint32_t st_u_is(") && !text.contains("__"), "{text}");
        assert!(text.contains("\"csrc/u.c\",\n        \"csrc/own.c\",") && text.contains("#include \"u.h\""), "{text}");
    }
}
