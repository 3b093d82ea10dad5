//! `make release`: what is in the archives, that they are the same twice, and what is refused.

mod support;
use std::path::Path;
use std::process::{Command, Output};
use support::good;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

fn run(command: &mut Command) -> Output {
    command.output().unwrap_or_else(|e| panic!("{command:?}: {e}"))
}

fn git(tree: &Path, args: &[&str]) -> String {
    good(Command::new("git").args(["-c", "user.name=test", "-c", "user.email=test@example.org"]).args(args).current_dir(tree))
}

fn release(tree: &Path, out: &str) -> Output {
    run(Command::new("tools/release.sh").arg(out).current_dir(tree).env("SANTOKU", env!("CARGO_BIN_EXE_santoku")))
}

#[test]
fn archives_are_complete_and_made_of_committed_trees_alone() {
    let folder = tempfile::tempdir().expect("scratch");
    let tree = folder.path().join("tree");
    good(Command::new("git").args(["clone", "-q", "--depth", "1"]).arg(format!("file://{}", std::fs::canonicalize(ROOT).expect("a path").display())).arg(&tree));
    let version = env!("CARGO_PKG_VERSION");
    let made = release(&tree, "../one");
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let out = folder.path().join("one");
    good(Command::new("sha256sum").arg("-c").arg("SHA256SUMS").current_dir(&out));
    let listed = |archive: &str| good(Command::new("tar").arg("-tzf").arg(out.join(archive)));
    let sums = std::fs::read_to_string(out.join("SHA256SUMS")).expect("sums");
    let names: Vec<&str> = sums.lines().filter_map(|l| l.split_whitespace().nth(1)).collect();
    assert_eq!(names.len(), 3, "{sums}");
    let library = listed(&format!("santoku-c-{version}.tar.gz"));
    for file in ["c/nacl_sign/nacl_sign.c", "c/nacl_sign/nacl_sign.h", "c/santoku.h", "rust/nacl_sign.rs", "certified.json", "LICENSE-0BSD", "docs/c-interface.md"] {
        assert!(library.lines().any(|l| l == format!("santoku-c-{version}/{file}")), "{file} is not in {library}");
    }
    assert!(listed(&format!("santoku-{version}.tar.gz")).contains(&format!("santoku-{version}/Makefile\n")));
    let command = names.iter().find(|n| !n.starts_with("santoku-c-") && **n != format!("santoku-{version}.tar.gz")).expect("the command");
    let command = listed(command);
    assert!(["/santoku\n", "/completions/santoku.bash\n", "/editors/vscode/package.json\n"].iter().all(|f| command.contains(f)), "{command}");
    // The library from its archive, as a stranger compiles it.
    good(Command::new("tar").arg("-xzf").arg(out.join(format!("santoku-c-{version}.tar.gz"))).current_dir(folder.path()));
    good(Command::new("gcc").args(["-std=c99", "-O1", "-c", "-o", "/dev/null"]).arg(folder.path().join(format!("santoku-c-{version}/c/nacl_sign/nacl_sign.c"))));
    // The same commit, the same bytes.
    assert!(release(&tree, "../two").status.success());
    assert_eq!(std::fs::read_to_string(folder.path().join("two/SHA256SUMS")).expect("sums"), sums);
    refusals(&tree, version);
    assert!(!folder.path().join("three").exists());
}

/// A tree with a change; a version that the change log does not have; another version in the header.
fn refusals(tree: &Path, version: &str) {
    let refused = |says: &str| {
        let out = release(tree, "../three");
        let said = String::from_utf8_lossy(&out.stderr).into_owned();
        assert!(out.status.code() == Some(2) && said.contains(says), "{says}: {said}");
    };
    let change = |file: &str, from: &str, to: &str| {
        let text = std::fs::read_to_string(tree.join(file)).expect("a file");
        assert!(text.contains(from), "{file}: {from}");
        std::fs::write(tree.join(file), text.replacen(from, to, 1)).expect("written");
    };
    change("README.md", "# Santoku", "# Santoku ");
    refused("changes that are not committed");
    git(tree, &["checkout", "-q", "README.md"]);
    change("CHANGELOG.md", &format!("## {version} "), "## 99.0.0 ");
    git(tree, &["commit", "-qam", "another version"]);
    refused("CHANGELOG.md has no section");
    change("dist/c/santoku.h", &format!("\"{version}\""), "\"99.0.0\"");
    refused("dist/c/santoku.h is not of version");
}
