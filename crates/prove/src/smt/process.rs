//! The solver as a child process: text in, text out.

use std::io::Write;
use std::process::{Command, Stdio};
use std::sync::OnceLock;

/// Whether a solver answers on this machine; asked once.
pub fn available() -> bool {
    static FOUND: OnceLock<bool> = OnceLock::new();
    *FOUND.get_or_init(|| run("(check-sat)\n").is_some_and(|reply| reply.trim() == "sat"))
}

/// The reply to one script, or `None` where there is no solver or it broke off.
pub fn run(script: &str) -> Option<String> {
    let mut child = Command::new("z3")
        // The scripts set a resource limit; the clock is a net below it, never the usual end.
        .args(["-in", "-smt2", "-T:120"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let mut stdin = child.stdin.take()?;
    let sent = stdin.write_all(script.as_bytes());
    drop(stdin);
    let out = child.wait_with_output().ok()?;
    sent.ok()?;
    String::from_utf8(out.stdout).ok()
}
