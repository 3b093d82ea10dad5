//! What the user sees: messages on stderr, results on stdout, exit codes.

use santoku_diag::render::{render, render_all, Colour};
use santoku_diag::{Diagnostic, Sources};
use santoku_driver::Failure;
use std::io::{IsTerminal, Write};
use std::sync::Mutex;

pub const DONE: u8 = 0;
/// Tests or proofs failed, files are not formatted.
pub const FAILED: u8 = 1;
/// The user's fault.
pub const USER: u8 = 2;
/// Our fault (`EX_SOFTWARE` of sysexits.h).
pub const INTERNAL: u8 = 70;

/// The stage at work, for the message of a panic.
static STAGE: Mutex<String> = Mutex::new(String::new());

/// Notes which stage is at work.
pub fn stage(name: &str) {
    if let Ok(mut s) = STAGE.lock() {
        name.clone_into(&mut s);
    }
}

/// Turns panics into internal errors: a message that names the stage, and no backtrace.
pub fn install_panic_hook() {
    std::panic::set_hook(Box::new(|info| {
        let stage = STAGE.lock().map(|s| s.clone()).unwrap_or_default();
        let what = info.payload().downcast_ref::<&str>().map(ToString::to_string);
        let what = what.or_else(|| info.payload().downcast_ref::<String>().cloned()).unwrap_or_default();
        let place = info.location().map(|l| format!(" ({}:{})", l.file(), l.line())).unwrap_or_default();
        internal(if stage.is_empty() { "start" } else { &stage }, &format!("{what}{place}"));
    }));
}

/// Writes to stdout. A reader that went away ends the program quietly.
pub fn out(text: &str) {
    let mut stdout = std::io::stdout().lock();
    if stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()).is_err() {
        std::process::exit(i32::from(DONE));
    }
}

/// Writes to stderr; there is nobody to tell if that fails.
pub fn err(text: &str) {
    let _ = std::io::stderr().lock().write_all(text.as_bytes());
}

fn colour() -> Colour {
    let plain = std::env::var_os("NO_COLOR").is_some_and(|v| !v.is_empty());
    if std::io::stderr().is_terminal() && !plain {
        Colour::Ansi
    } else {
        Colour::Plain
    }
}

/// One message, without a count.
pub fn diagnostic(d: &Diagnostic, sources: &Sources) {
    err(&render(d, sources, colour()));
}

/// Messages with a count of errors.
pub fn diagnostics(all: &[Diagnostic], sources: &Sources) {
    err(&render_all(all, sources, colour()));
}

/// Tells of a failure and gives its exit code.
pub fn failure(f: &Failure) -> u8 {
    match f {
        Failure::Refused { sources, diagnostics: all } => {
            diagnostics(all, sources);
            USER
        }
        Failure::Internal { stage, message } => internal(stage, message),
    }
}

/// Tells of a fault of ours.
pub fn internal(stage: &str, message: &str) -> u8 {
    err(&format!("internal error in pass {stage}: {message}\nplease report this with the program that caused it; nothing was written\n"));
    INTERNAL
}
