//! What the user sees: messages on stderr, results on stdout, exit codes.
//!
//! With `--json`, stdout holds one object and nothing else: what the command gave to [`answer`], the exit code and every message.

use crate::message::Message;
use santoku_diag::render::{render, render_all, Colour};
use santoku_diag::{Diagnostic, Sources};
use santoku_driver::Failure;
use serde::Serialize;
use serde_json::{Map, Value};
use std::io::{IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};
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

/// Whether `--json` was given.
static JSON: AtomicBool = AtomicBool::new(false);
/// What `--json` prints at the end.
static ANSWER: Mutex<Option<Map<String, Value>>> = Mutex::new(None);
static MESSAGES: Mutex<Vec<Value>> = Mutex::new(Vec::new());

/// From now on text for stdout is dropped; [`finish`] prints one object.
pub fn use_json() {
    JSON.store(true, Ordering::Relaxed);
}

pub fn json() -> bool {
    JSON.load(Ordering::Relaxed)
}

/// Adds the fields of `value`, a structure, to what `--json` prints; nothing without it.
///
/// # Errors
/// Ours: `value` is no structure.
pub fn answer(value: &impl Serialize) -> Result<(), Failure> {
    if !json() {
        return Ok(());
    }
    match serde_json::to_value(value) {
        Ok(Value::Object(fields)) => {
            if let Ok(mut all) = ANSWER.lock() {
                all.get_or_insert_default().extend(fields);
            }
            Ok(())
        }
        Ok(_) => Err(Failure::internal("json", "the result is no structure")),
        Err(e) => Err(Failure::internal("json", e.to_string())),
    }
}

/// Ends a run: with `--json`, prints its object. Gives the exit code.
pub fn finish(code: u8) -> u8 {
    if json() {
        let mut all = ANSWER.lock().ok().and_then(|mut a| a.take()).unwrap_or_default();
        all.insert("exit".into(), code.into());
        all.insert("messages".into(), MESSAGES.lock().map(|mut m| std::mem::take(&mut *m)).unwrap_or_default().into());
        write_out(&format!("{:#}\n", Value::Object(all)));
    }
    code
}

fn keep(d: &Diagnostic, sources: &Sources) {
    if let (true, Ok(value), Ok(mut all)) = (json(), serde_json::to_value(Message::of(d, sources)), MESSAGES.lock()) {
        all.push(value);
    }
}

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

/// Writes to stdout, but with `--json`. A reader that went away ends the program quietly.
pub fn out(text: &str) {
    if !json() {
        write_out(text);
    }
}

fn write_out(text: &str) {
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
    keep(d, sources);
    err(&render(d, sources, colour()));
}

/// Messages with a count of errors.
pub fn diagnostics(all: &[Diagnostic], sources: &Sources) {
    all.iter().for_each(|d| keep(d, sources));
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
    if let (true, Ok(mut all)) = (json(), MESSAGES.lock()) {
        all.push(serde_json::json!({ "severity": "internal", "pass": stage, "title": message }));
    }
    err(&format!("internal error in pass {stage}: {message}\nplease report this with the program that caused it; nothing was written\n"));
    INTERNAL
}
