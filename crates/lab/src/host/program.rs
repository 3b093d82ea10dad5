//! A C program built for this machine and fed bytes: to see what C computes, not how fast.

use super::error::HostError;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// A built program; its folder goes with it.
#[derive(Debug)]
pub struct HostProgram {
    _dir: tempfile::TempDir,
    path: PathBuf,
}

/// Can this compiler be started?
pub fn available(compiler: &str) -> bool {
    Command::new(compiler).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|s| s.success())
}

impl HostProgram {
    /// Compiles and links those of `files` (name, text) that end in `.c`; the others lie beside them.
    ///
    /// # Errors
    /// [`HostError::Tool`] without the compiler, [`HostError::Build`] with what it said.
    pub fn build(compiler: &str, flags: &[&str], files: &[(&str, &str)]) -> Result<HostProgram, HostError> {
        let dir = tempfile::tempdir().map_err(|source| HostError::Io { path: std::env::temp_dir(), source })?;
        let path = dir.path().join("program");
        let mut cc = Command::new(compiler);
        cc.current_dir(dir.path()).args(flags).arg("-o").arg(&path);
        for (name, text) in files {
            let file = dir.path().join(name);
            std::fs::write(&file, text).map_err(|source| HostError::Io { path: file, source })?;
            if name.ends_with(".c") {
                cc.arg(name);
            }
        }
        super::link::checked(cc, "the program", compiler)?;
        Ok(HostProgram { _dir: dir, path })
    }

    /// What it writes when it is given `input`.
    ///
    /// # Errors
    /// [`HostError::Crashed`] if it ends otherwise than with 0.
    pub fn run(&self, args: &[&str], input: &[u8]) -> Result<Vec<u8>, HostError> {
        let io = |source| HostError::Io { path: self.path.clone(), source };
        let mut command = Command::new(&self.path);
        let piped = command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = piped.spawn().map_err(io)?;
        let stdin = child.stdin.take();
        let out = std::thread::scope(|s| {
            // A program that ends before it has read everything says why by itself.
            s.spawn(move || stdin.map(|mut to| to.write_all(input)));
            child.wait_with_output()
        });
        let out = out.map_err(io)?;
        if out.status.success() {
            return Ok(out.stdout);
        }
        Err(HostError::Crashed { status: out.status.to_string(), stderr: String::from_utf8_lossy(&out.stderr).into_owned() })
    }
}
