//! Pages whose commands are run as they stand: what they print must hold what the page shows.
//!
//! A block ```` ```console ```` has commands behind `$ ` and lines of what they print, in order; `...` stands for any lines. A comment `# exit code 1`
//! says how a command ends. `<!-- append FILE -->`, `<!-- write FILE -->` and `<!-- replace FILE: TEXT -->` (`FILE, the last: TEXT`) say what becomes of the next block;
//! `<!-- same FILE -->` that the file holds it, and `<!-- not run: REASON -->` why its commands are not run here.

mod support;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use support::Sandbox;

struct Reader {
    sandbox: Sandbox,
    folder: String,
    commands: usize,
    lines: usize,
    /// Blocks with a reason for not being run.
    left: usize,
}

impl Reader {
    fn new() -> Reader {
        Reader { sandbox: Sandbox::new(&[]), folder: ".".into(), commands: 0, lines: 0, left: 0 }
    }

    /// Beside the library and the shipped files of the tree.
    fn in_the_tree() -> Reader {
        let reader = Reader::new();
        for folder in ["lib", "dist"] {
            let there = std::fs::canonicalize(tree().join(folder)).expect("a folder of the tree");
            std::os::unix::fs::symlink(there, reader.sandbox.path(folder)).expect("a link");
        }
        reader
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
        } else if let Some(file) = order.strip_prefix("same ") {
            let text = self.sandbox.read(&self.file(file));
            assert!(text.contains(block.trim_end()), "{file} holds another text:\n{text}");
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
                match (order.take().filter(|o| !o.starts_with("library") && !o.starts_with("trust") && !o.starts_with("end of")), kind) {
                    (Some(order), _) if order.starts_with("not run: ") => {
                        assert!(order.len() > 30, "no reason: {order}");
                        self.left += 1;
                    }
                    (Some(order), _) => self.change(&order, &block),
                    (None, "console") => self.console(&block),
                    (None, kind) => {
                        let command = |l: &str| ["$ ", "santoku ", "make ", "cargo ", "cc "].iter().any(|c| l.starts_with(c));
                        assert!(!matches!(kind, "sh" | "bash") && !block.lines().any(command), "commands that nobody runs:\n{block}");
                    }
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

fn tree() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(page: &str) -> String {
    std::fs::read_to_string(tree().join(page)).unwrap_or_else(|e| panic!("{page}: {e}"))
}

/// All pages that a reader of the project meets, those of diagnostics and decisions apart: the first have examples that other tests run, the second look back.
fn pages() -> Vec<String> {
    let mut pages: Vec<String> = ["README.md", "CONTRIBUTING.md", "SECURITY.md", "ARCHITECTURE.md", "SOUNDNESS.md", "examples/README.md", "editors/vscode/README.md"].map(String::from).to_vec();
    for folder in ["docs", "docs/passes"] {
        let names = std::fs::read_dir(tree().join(folder)).expect("a folder").flatten().map(|f| f.file_name().into_string().expect("a name"));
        pages.extend(names.filter(|n| n.ends_with(".md")).map(|n| format!("{folder}/{n}")));
    }
    pages.sort();
    pages
}

#[test]
fn the_tutorial_is_as_it_says() {
    let mut reader = Reader::new();
    reader.page(&read("docs/tutorial.md"));
    assert!(reader.commands >= 10 && reader.lines >= 20, "{} commands, {} lines", reader.commands, reader.lines);
}

#[test]
fn the_page_of_projects_and_scripts_is_as_it_says() {
    let mut reader = Reader::new();
    reader.page(&read("docs/editor.md"));
    assert!(reader.commands >= 9 && reader.lines >= 8, "{} commands, {} lines", reader.commands, reader.lines);
}

#[test]
fn the_front_page_is_as_it_says() {
    let mut reader = Reader::in_the_tree();
    reader.page(&read("README.md"));
    assert!(reader.commands >= 9 && reader.lines >= 6, "{} commands, {} lines", reader.commands, reader.lines);
}

/// Every other page, beside the library of the tree; a block of commands is run or says why not.
#[test]
fn all_pages_are_as_they_say() {
    let (mut commands, mut left, mut read_pages) = (0, 0, 0);
    for page in pages().iter().filter(|p| !["README.md", "docs/tutorial.md", "docs/editor.md", "docs/how-to-get-a-proof.md"].contains(&p.as_str())) {
        let mut reader = Reader::in_the_tree();
        reader.page(&read(page));
        (commands, left, read_pages) = (commands + reader.commands, left + reader.left, read_pages + 1);
    }
    println!("tried: {commands} commands of {read_pages} pages; {left} blocks say why they are not run");
    assert!(commands >= 5 && left <= 9, "{commands} commands, {left} blocks left: run them, or say here that there are more");
}

/// Commands in the running text, and where they stand: `santoku` with words behind it.
fn in_text(text: &str) -> Vec<Vec<String>> {
    let outside: String = text.split("```").step_by(2).collect();
    let quoted = outside.split('`').skip(1).step_by(2).filter_map(|q| q.strip_prefix("santoku "));
    quoted.map(|q| q.split_whitespace().map(|w| w.trim_matches(|c| "[]".contains(c)).to_string()).collect()).collect()
}

/// What the command does not know of these words: a subcommand, or an option of it.
fn unknown(help: &mut BTreeMap<Vec<String>, String>, words: &[String]) -> Option<String> {
    let mut path: Vec<String> = vec![];
    let s = Sandbox::new(&[]);
    let mut page = |path: &[String]| {
        let ask = || s.run(&[&path.iter().map(String::as_str).collect::<Vec<_>>()[..], &["--help"]].concat()).stdout;
        help.entry(path.to_vec()).or_insert_with(ask).clone()
    };
    for word in words {
        let said = page(&path);
        let is_command = |w: &str| said.lines().any(|l| l.strip_prefix("  ").is_some_and(|l| l.split_whitespace().next() == Some(w) && !l.starts_with(' ')));
        if said.contains("Commands:") {
            if !is_command(word) && !word.starts_with('-') {
                return Some(word.clone());
            }
            if !word.starts_with('-') {
                path.push(word.clone());
                continue;
            }
        }
        let named = |w: &str| said.split(|c: char| !(c.is_alphanumeric() || c == '-')).any(|known| known == w);
        if word.starts_with('-') && word.len() > 1 && !named(&word[..if word.starts_with("--") { word.len() } else { 2 }]) {
            return Some(word.clone());
        }
    }
    None
}

#[test]
fn commands_in_the_text_exist() {
    let (mut help, mut tried) = (BTreeMap::new(), 0);
    for page in pages() {
        for words in in_text(&read(&page)) {
            let wrong = unknown(&mut help, &words);
            assert!(wrong.is_none(), "{page}: `santoku {}`: there is no `{}`", words.join(" "), wrong.unwrap_or_default());
            tried += 1;
        }
    }
    println!("tried: {tried} commands in the text of {} pages", pages().len());
    assert!(tried > 50);
    let mut wrong = |text: &str| in_text(text).iter().find_map(|w| unknown(&mut help, w));
    assert_eq!(wrong("see `santoku prove --targets rv32`").as_deref(), Some("--targets"));
    assert_eq!(wrong("see `santoku lab tables`").as_deref(), Some("tables"));
    assert_eq!(wrong("see `santoku lab table NAME [--machine M]` and `santoku prove -h`"), None);
}

/// The reader itself sees what is missing, out of order, or not at once behind.
#[test]
fn the_reader_misses_nothing() {
    let said = "one\ntwo\nthree\n";
    assert_eq!((shown(said, &["one", "two"]), shown(said, &["...", "three"]), shown(said, &["one", "...", "three", "..."])), (Ok(2), Ok(1), Ok(2)));
    assert_eq!((shown(said, &["two"]), shown(said, &["one", "three"]), shown(said, &["...", "three", "two"])), (Err("two"), Err("three"), Err("two")));
    let wrong = |from: &str, to: &str| {
        let page = read("docs/tutorial.md");
        assert!(page.contains(from), "{from}");
        let page = page.replacen(from, to, 1);
        std::panic::catch_unwind(move || Reader::new().page(&page)).is_err()
    };
    assert!(wrong("2 passed, 0 failed", "3 passed, 0 failed"));
    assert!(wrong("# exit code 1", ""));
    assert!(wrong("```console", "```sh"));
    assert!(wrong("t[i] + 8 * t[i + 5]\n```", "t[i] + 9 * t[i + 5]\n```"));
}

/// The prototype that the reference gives for a function is the one that the compiler prints.
#[test]
fn the_c_interface_is_as_the_reference_says() {
    let page = read("docs/language.md");
    let section = page.split("## The C interface").nth(1).expect("the section");
    let program = section.split("```\n").nth(1).expect("a program").trim_end();
    let prototype = section.split("is `").nth(1).and_then(|s| s.split('`').next()).expect("a prototype");
    let s = Sandbox::new(&[("main.stk", format!("{program}\n{{ if b {{ -1 }} else {{ 0 }} }}\n").as_bytes())]);
    let run = s.run(&["build", "main.stk", "-o", "out"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(s.read("out/main.h").contains(prototype), "{prototype}: {}", s.read("out/main.h"));
}
