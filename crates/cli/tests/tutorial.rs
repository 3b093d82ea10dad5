//! Pages whose commands are run as they stand: what they print must hold what the page shows.
//!
//! A block ```` ```console ```` has commands behind `$ ` and lines of what they print, in order; `...` stands for any lines. A comment `# exit code 1`
//! says how a command ends. `<!-- append FILE -->`, `<!-- write FILE -->` and `<!-- replace FILE: TEXT -->` (`FILE, the last: TEXT`) say what becomes of the next block.

mod support;
use std::path::Path;
use std::process::Command;
use support::Sandbox;

struct Reader {
    sandbox: Sandbox,
    folder: String,
    commands: usize,
    lines: usize,
}

impl Reader {
    fn new() -> Reader {
        Reader { sandbox: Sandbox::new(&[]), folder: ".".into(), commands: 0, lines: 0 }
    }

    fn file(&self, name: &str) -> String {
        format!("{}/{name}", self.folder)
    }

    /// What the comment in front of a block says to do with it.
    fn change(&self, order: &str, block: &str) {
        if let Some(file) = order.strip_prefix("append ") {
            let file = self.file(file);
            self.sandbox.write(&file, self.sandbox.read(&file) + block);
        } else if let Some(file) = order.strip_prefix("write ") {
            self.sandbox.write(&self.file(file), block);
        } else if let Some((file, old)) = order.strip_prefix("replace ").and_then(|o| o.split_once(": ")) {
            let (file, last) = file.split_once(", ").map_or((file, false), |(f, which)| (f, which == "the last"));
            let text = self.sandbox.read(&self.file(file));
            let at = if last { text.rfind(old) } else { text.find(old) }.unwrap_or_else(|| panic!("`{old}` is not in {file}"));
            let new = format!("{}{}{}", &text[..at], block.trim_end(), &text[at + old.len()..]);
            self.sandbox.write(&self.file(file), new);
        } else {
            panic!("unknown order `{order}`");
        }
    }

    fn console(&mut self, block: &str) {
        let mut rest = block.lines().peekable();
        while let Some(line) = rest.next() {
            let command = line.strip_prefix("$ ").unwrap_or_else(|| panic!("`{line}` stands behind no command"));
            let mut wanted = vec![];
            while let Some(line) = rest.next_if(|l| !l.starts_with("$ ")) {
                wanted.push(line);
            }
            self.run(command, &wanted);
        }
    }

    fn run(&mut self, line: &str, wanted: &[&str]) {
        let (command, comment) = line.split_once('#').map_or((line, ""), |(c, rest)| (c, rest.trim()));
        let code: i32 = comment.strip_prefix("exit code ").map_or(0, |n| n.parse().expect("a number"));
        let words: Vec<&str> = command.split_whitespace().collect();
        self.commands += 1;
        if words[0] == "cd" {
            self.folder = self.file(words[1]);
            return;
        }
        let run = if words[0] == "santoku" {
            self.sandbox.run_in(&self.folder, &words[1..])
        } else {
            support::Run::of(Command::new(words[0]).args(&words[1..]).current_dir(self.sandbox.path(&self.folder)).output().unwrap_or_else(|e| panic!("{line}: {e}")))
        };
        let said = format!("{}{}", run.stdout, run.stderr);
        assert_eq!(run.code, code, "{line}: {said}");
        self.lines += shown(&said, wanted).unwrap_or_else(|missing| panic!("{line}: `{missing}` is not in, or not in order:\n{said}"));
    }

    fn page(&mut self, text: &str) {
        let (mut order, mut lines) = (None, text.lines());
        while let Some(line) = lines.next() {
            if let Some(comment) = line.strip_prefix("<!-- ").and_then(|l| l.strip_suffix(" -->")) {
                order = Some(comment.to_string());
            } else if let Some(kind) = line.strip_prefix("```") {
                let block: String = lines.by_ref().take_while(|l| *l != "```").map(|l| format!("{l}\n")).collect();
                match (order.take(), kind) {
                    (Some(order), _) => self.change(&order, &block),
                    (None, "console") => self.console(&block),
                    (None, _) => {}
                }
            }
        }
    }
}

/// Whether the lines that are wanted stand in the text, in order: one behind the other, or anywhere further on behind `...`. How many there are.
fn shown<'w>(said: &str, wanted: &[&'w str]) -> Result<usize, &'w str> {
    let lines: Vec<&str> = said.lines().collect();
    let (mut at, mut free, mut count) = (0, false, 0);
    for want in wanted {
        if *want == "..." {
            free = true;
            continue;
        }
        let found = lines[at.min(lines.len())..].iter().position(|l| l.contains(want)).filter(|gap| free || *gap == 0);
        at += found.ok_or(*want)? + 1;
        free = false;
        count += 1;
    }
    Ok(count)
}

fn read(page: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(page)).expect("the page")
}

#[test]
fn the_tutorial_is_as_it_says() {
    let mut reader = Reader::new();
    reader.page(&read("tutorial.md"));
    assert!(reader.commands >= 10 && reader.lines >= 20, "{} commands, {} lines", reader.commands, reader.lines);
}

#[test]
fn the_page_of_projects_and_scripts_is_as_it_says() {
    let mut reader = Reader::new();
    reader.page(&read("editor.md"));
    assert!(reader.commands >= 9 && reader.lines >= 8, "{} commands, {} lines", reader.commands, reader.lines);
}

/// Beside the library of the tree.
#[test]
fn the_page_of_layouts_is_as_it_says() {
    let mut reader = Reader::new();
    let library = std::fs::canonicalize(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../lib")).expect("the library");
    std::os::unix::fs::symlink(library, reader.sandbox.path("lib")).expect("a link");
    reader.page(&read("layouts.md"));
    assert!(reader.commands >= 1 && reader.lines >= 3, "{} commands, {} lines", reader.commands, reader.lines);
}

/// The reader itself sees what is missing, out of order, or not at once behind.
#[test]
fn the_reader_misses_nothing() {
    let said = "one\ntwo\nthree\n";
    assert_eq!((shown(said, &["one", "two"]), shown(said, &["...", "three"]), shown(said, &["one", "...", "three", "..."])), (Ok(2), Ok(1), Ok(2)));
    assert_eq!((shown(said, &["two"]), shown(said, &["one", "three"]), shown(said, &["...", "three", "two"])), (Err("two"), Err("three"), Err("two")));
    let wrong = |from: &str, to: &str| {
        let page = read("tutorial.md");
        assert!(page.contains(from), "{from}");
        let page = page.replacen(from, to, 1);
        std::panic::catch_unwind(move || Reader::new().page(&page)).is_err()
    };
    assert!(wrong("2 passed, 0 failed", "3 passed, 0 failed"));
    assert!(wrong("# exit code 1", ""));
    assert!(wrong("t[i] + 8 * t[i + 5]\n```", "t[i] + 9 * t[i + 5]\n```"));
}

/// The prototype that the reference gives for a function is the one that the compiler prints.
#[test]
fn the_c_interface_is_as_the_reference_says() {
    let page = read("language.md");
    let section = page.split("## The C interface").nth(1).expect("the section");
    let program = section.split("```\n").nth(1).expect("a program").trim_end();
    let prototype = section.split("is `").nth(1).and_then(|s| s.split('`').next()).expect("a prototype");
    let s = Sandbox::new(&[("main.stk", format!("{program}\n{{ if b {{ -1 }} else {{ 0 }} }}\n").as_bytes())]);
    let run = s.run(&["build", "main.stk", "-o", "out"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(s.read("out/main.h").contains(prototype), "{prototype}: {}", s.read("out/main.h"));
}
