//! The solver as a child process: text in, text out.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
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

/// A solver that stays, for many small questions.
#[derive(Debug)]
pub struct Session {
    solver: Option<(Child, ChildStdin, BufReader<ChildStdout>)>,
    limit: u64,
}

impl Session {
    /// `limit`: the solver's own steps for one question. Nothing runs before the first.
    pub fn new(limit: u64) -> Session {
        Session { solver: None, limit }
    }

    /// The answer (`sat`, `unsat`, `unknown`) to declarations and assertions, or `None` where there is no solver or it broke
    /// off.
    pub fn ask(&mut self, script: &str) -> Option<String> {
        if self.solver.is_none() {
            self.solver = Session::start();
        }
        let limit = self.limit;
        let answer = self.solver.as_mut().and_then(|(_, stdin, stdout)| {
            // The clock is a net below the limit, never the usual end.
            let head = "(reset)\n(set-option :timeout 5000)\n(set-option :smt.arith.solver 2)\n";
            write!(stdin, "{head}(set-option :rlimit {limit})\n(set-logic ALL)\n{script}(check-sat)\n").ok()?;
            stdin.flush().ok()?;
            let mut line = String::new();
            stdout.read_line(&mut line).ok().filter(|n| *n > 0)?;
            Some(line.trim().to_string())
        });
        if !matches!(answer.as_deref(), Some("sat" | "unsat" | "unknown")) {
            self.end();
        }
        answer
    }

    fn start() -> Option<(Child, ChildStdin, BufReader<ChildStdout>)> {
        let mut child = Command::new("z3")
            .args(["-in", "-smt2"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .ok()?;
        let (stdin, stdout) = (child.stdin.take()?, child.stdout.take()?);
        Some((child, stdin, BufReader::new(stdout)))
    }

    fn end(&mut self) {
        if let Some((mut child, stdin, _)) = self.solver.take() {
            drop(stdin);
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.end();
    }
}
