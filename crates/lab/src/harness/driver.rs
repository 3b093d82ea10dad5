//! The C driver of a job: buffers with the test vectors, and a `main` that makes the calls between markers.

use std::fmt::Write;

use crate::error::LabError;
use super::job::{Arg, Call, Ret};

/// Symbol of the buffer of an argument.
pub fn buffer(call: usize, arg: usize) -> String {
    format!("lab_call{call}_arg{arg}")
}

/// Symbol of the result of a call: eight bytes.
pub fn result(call: usize) -> String {
    format!("lab_call{call}_result")
}

/// Variable that says which call [`selecting`] makes; the number of calls stands for none.
pub const SELECTED: &str = "lab_selected";

/// Text of the driver: all calls in order, between marks.
pub fn text(calls: &[Call]) -> Result<String, LabError> {
    let (declarations, bodies) = parts(calls)?;
    let marked = bodies.iter().map(|b| format!("    lab_window_begin();\n    {b}\n    lab_window_end();\n")).collect::<String>();
    let marks = "void lab_window_begin(void);\nvoid lab_window_end(void);\n";
    Ok(format!("{marks}{declarations}\nint main(void)\n{{\n{marked}    return 0;\n}}\n"))
}

/// Text of a driver that makes one call: the one whose number is in [`SELECTED`].
pub fn selecting(calls: &[Call]) -> Result<String, LabError> {
    let (declarations, bodies) = parts(calls)?;
    let none = calls.len();
    let chosen = bodies.iter().enumerate().map(|(n, b)| format!("    if ({SELECTED} == {n}u) {{\n        {b}\n    }}\n")).collect::<String>();
    // Not zero, or the variable would have no bytes in the file.
    Ok(format!("{declarations}volatile unsigned {SELECTED} __attribute__((section(\".data\"))) = {none}u;\n\nint main(void)\n{{\n{chosen}    return 0;\n}}\n"))
}

/// Declarations of functions and buffers, and the statement of every call.
fn parts(calls: &[Call]) -> Result<(String, Vec<String>), LabError> {
    if calls.is_empty() {
        return Err(LabError::BadJob("no call to measure".into()));
    }
    let mut declarations = String::new();
    let mut bodies = vec![];
    for (n, call) in calls.iter().enumerate() {
        check_name(&call.function)?;
        if !call.declaration.is_empty() {
            let _ = writeln!(declarations, "{};", call.declaration.trim_end_matches(';'));
        }
        let args = call.args.iter().enumerate().map(|(a, arg)| argument(&mut declarations, n, a, arg));
        let args = args.collect::<Vec<_>>().join(", ");
        let assign = match call.ret {
            Ret::Void => String::new(),
            Ret::Word32 => format!("{} = (unsigned)", result(n)),
            Ret::Word64 => format!("{} = (unsigned long long)", result(n)),
        };
        let _ = writeln!(declarations, "unsigned long long {};", result(n));
        bodies.push(format!("{assign}{}({args});", call.function));
    }
    Ok((declarations, bodies))
}

/// Declares what the argument needs, and gives the expression to pass.
fn argument(declarations: &mut String, call: usize, arg: usize, value: &Arg) -> String {
    let name = buffer(call, arg);
    let mut declare = |len: usize, init: &str| {
        let len = len.max(1);
        let _ = writeln!(declarations, "__attribute__((aligned(16))) unsigned char {name}[{len}]{init};");
        format!("(void *){name}")
    };
    match value {
        Arg::In(bytes) => {
            // An explicit section: an all-zero input must not move to .bss, or it could not be replaced later.
            let mut init = String::from(" __attribute__((section(\".data\"))) = {");
            for byte in bytes {
                let _ = write!(init, "{byte},");
            }
            init.push_str(if bytes.is_empty() { "0}" } else { "}" });
            declare(bytes.len(), &init)
        }
        Arg::Out(len) => declare(*len, ""),
        Arg::Null => "(void *)0".to_string(),
        Arg::Word32(value) => format!("{value}u"),
        Arg::Word64(value) => format!("{value}ull"),
    }
}

fn check_name(name: &str) -> Result<(), LabError> {
    let letters = name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    if name.is_empty() || !letters || name.as_bytes()[0].is_ascii_digit() {
        return Err(LabError::BadJob(format!("`{name}` is no function name")));
    }
    Ok(())
}

/// A number whose lowest byte comes first.
pub(crate) fn number(bytes: &[u8]) -> u64 {
    santoku_num::little(bytes) as u64
}
