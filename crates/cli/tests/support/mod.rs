//! Runs the binary in a folder of its own.

use std::path::Path;
use std::process::Command;

pub struct Sandbox {
    folder: tempfile::TempDir,
    cache: tempfile::TempDir,
}

pub struct Run {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Sandbox {
    pub fn new(files: &[(&str, &[u8])]) -> Sandbox {
        let folder = tempfile::tempdir().unwrap();
        for (name, bytes) in files {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, bytes).unwrap();
        }
        Sandbox { folder, cache: tempfile::tempdir().unwrap() }
    }

    pub fn run(&self, args: &[&str]) -> Run {
        let out = Command::new(env!("CARGO_BIN_EXE_santoku"))
            .args(args)
            .current_dir(self.folder.path())
            .env("XDG_CACHE_HOME", self.cache.path())
            .output()
            .unwrap();
        let text = |b: Vec<u8>| String::from_utf8(b).unwrap();
        Run { code: out.status.code().unwrap(), stdout: text(out.stdout), stderr: text(out.stderr) }
    }

    #[allow(dead_code)]
    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.folder.path().join(name)).unwrap()
    }

    /// Every file, sorted.
    #[allow(dead_code)]
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
