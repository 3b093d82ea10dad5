//! Runs the binary in a folder of its own.
#![allow(dead_code)] // each test binary uses its part

use expect_test::Expect;
use std::path::Path;
use std::io::Write;
use std::process::{Command, Output, Stdio};

pub struct Sandbox {
    folder: tempfile::TempDir,
    cache: tempfile::TempDir,
}

pub struct Run {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

/// `santoku build main.stk -o out` on one program that is refused.
pub fn refused(text: &str, want: Expect) {
    refused_files(&[("main.stk", text.as_bytes())], &["build", "main.stk", "-o", "out"], want);
}

/// The whole message, exit code 2, and nothing written.
pub fn refused_files(files: &[(&str, &[u8])], args: &[&str], want: Expect) {
    let sandbox = Sandbox::new(files);
    let before = sandbox.listing();
    let run = sandbox.run(args);
    want.assert_eq(&run.stderr);
    assert_eq!(run.code, 2, "{}", run.stderr);
    assert_eq!(run.stdout, "");
    assert_eq!(sandbox.listing(), before, "something was written");
}

/// A command that must succeed; what it prints.
pub fn good(command: &mut Command) -> String {
    let out = command.output().unwrap_or_else(|e| panic!("{command:?}: {e}"));
    assert!(out.status.success(), "{command:?}: {}\n{}{}", out.status, String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr));
    String::from_utf8_lossy(&out.stdout).into_owned()
}

impl Run {
    pub fn of(out: Output) -> Run {
        let text = |b: Vec<u8>| String::from_utf8(b).unwrap();
        Run { code: out.status.code().unwrap(), stdout: text(out.stdout), stderr: text(out.stderr) }
    }
}

impl Sandbox {
    pub fn new(files: &[(&str, &[u8])]) -> Sandbox {
        let sandbox = Sandbox { folder: tempfile::tempdir().unwrap(), cache: tempfile::tempdir().unwrap() };
        files.iter().for_each(|(name, bytes)| sandbox.write(name, bytes));
        sandbox
    }

    pub fn run(&self, args: &[&str]) -> Run {
        self.run_in(".", args)
    }

    /// From a folder inside.
    pub fn run_in(&self, folder: &str, args: &[&str]) -> Run {
        let mut command = Command::new(env!("CARGO_BIN_EXE_santoku"));
        Run::of(command.args(args).current_dir(self.folder.path().join(folder)).env("XDG_CACHE_HOME", self.cache.path()).output().unwrap())
    }

    /// With a text as standard input.
    pub fn run_with(&self, args: &[&str], input: &str) -> Run {
        let mut command = Command::new(env!("CARGO_BIN_EXE_santoku"));
        command.args(args).current_dir(self.folder.path()).env("XDG_CACHE_HOME", self.cache.path());
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        Run::of(child.wait_with_output().unwrap())
    }

    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        let path = self.folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }

    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.folder.path().join(name)).unwrap()
    }

    pub fn remove(&self, name: &str) {
        std::fs::remove_file(self.folder.path().join(name)).unwrap();
    }

    pub fn path(&self, name: &str) -> String {
        self.folder.path().join(name).display().to_string()
    }

    /// Every file, sorted.
    pub fn listing(&self) -> Vec<String> {
        let mut out = Vec::new();
        walk(self.folder.path(), self.folder.path(), &mut out);
        out.sort();
        out
    }
}

fn walk(root: &Path, dir: &Path, out: &mut Vec<String>) {
    for entry in std::fs::read_dir(dir).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            walk(root, &path, out);
        } else {
            out.push(path.strip_prefix(root).unwrap().display().to_string());
        }
    }
}
