//! The C driver of a job: buffers with the test vectors, and a `main` that makes the calls between markers.

use std::fmt::Write;

use super::{Arg, Call, Ret};
use crate::error::LabError;

/// Symbol of the buffer of an argument.
pub fn buffer(call: usize, arg: usize) -> String {
    format!("lab_call{call}_arg{arg}")
}

/// Symbol of the result of a call: eight bytes.
pub fn result(call: usize) -> String {
    format!("lab_call{call}_result")
}

/// Text of the driver.
pub fn text(calls: &[Call]) -> Result<String, LabError> {
    if calls.is_empty() {
        return Err(LabError::BadJob("no call to measure".into()));
    }
    let mut declarations = String::from("void lab_window_begin(void);\nvoid lab_window_end(void);\n");
    let mut body = String::new();
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
        let _ =
            writeln!(body, "    lab_window_begin();\n    {assign}{}({args});\n    lab_window_end();", call.function);
    }
    Ok(format!("{declarations}\nint main(void)\n{{\n{body}    return 0;\n}}\n"))
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
