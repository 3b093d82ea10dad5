//! `santoku lsp`, as an editor sees it: the whole conversation over pipes.

mod support;
use serde_json::{json, Value};
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{channel, Receiver};
use std::time::Duration;
use support::Sandbox;

struct Editor {
    child: Child,
    to: ChildStdin,
    from: Receiver<Value>,
    asked: i64,
    /// Notifications that came while something else was waited for.
    kept: Vec<Value>,
    root: String,
}

fn read(from: &mut BufReader<ChildStdout>) -> Option<Value> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if from.read_line(&mut line).ok()? == 0 {
            return None;
        }
        match line.trim() {
            "" => break,
            l => length = l.strip_prefix("Content-Length: ").and_then(|n| n.parse().ok()).unwrap_or(length),
        }
    }
    let mut bytes = vec![0; length];
    from.read_exact(&mut bytes).ok()?;
    Some(serde_json::from_slice(&bytes).expect("JSON"))
}

impl Editor {
    fn start(s: &Sandbox) -> Editor {
        Editor::with(s, json!({ "workspace": { "codeLens": { "refreshSupport": true } } }))
    }

    fn with(s: &Sandbox, capabilities: Value) -> Editor {
        let mut command = Command::new(env!("CARGO_BIN_EXE_santoku"));
        command.arg("lsp").current_dir(s.path(".")).env("XDG_CACHE_HOME", s.path("cache"));
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let (to, mut out) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        let (send, from) = channel();
        std::thread::spawn(move || {
            while let Some(message) = read(&mut out) {
                if send.send(message).is_err() {
                    break;
                }
            }
        });
        let root = std::fs::canonicalize(s.path(".")).unwrap().display().to_string();
        let mut editor = Editor { child, to, from, asked: 0, kept: vec![], root };
        let about = editor.ask("initialize", json!({ "capabilities": capabilities, "processId": null, "rootUri": null }));
        assert_eq!(about["capabilities"]["hoverProvider"], true, "{about:#}");
        editor.notify("initialized", json!({}));
        editor
    }

    fn send(&mut self, message: &Value) {
        let text = message.to_string();
        write!(self.to, "Content-Length: {}\r\n\r\n{text}", text.len()).unwrap();
        self.to.flush().unwrap();
    }

    fn notify(&mut self, method: &str, params: Value) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    fn next(&mut self) -> Value {
        self.from.recv_timeout(Duration::from_secs(120)).expect("an answer within two minutes")
    }

    fn respond(&mut self, method: &str, params: Value) -> Value {
        self.asked += 1;
        let id = self.asked;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        loop {
            let message = self.next();
            if message["id"] == id && message["method"].is_null() {
                return message;
            }
            self.kept.push(message);
        }
    }

    fn ask(&mut self, method: &str, params: Value) -> Value {
        let message = self.respond(method, params);
        assert!(message["error"].is_null(), "{method}: {message:#}");
        message["result"].clone()
    }

    fn uri(&self, file: &str) -> String {
        format!("file://{}/{file}", self.root)
    }

    fn open(&mut self, file: &str, text: &str) {
        let uri = self.uri(file);
        self.notify("textDocument/didOpen", json!({ "textDocument": { "uri": uri, "languageId": "santoku", "version": 1, "text": text } }));
    }

    fn change(&mut self, file: &str, version: i32, text: &str) {
        let uri = self.uri(file);
        self.notify("textDocument/didChange", json!({ "textDocument": { "uri": uri, "version": version }, "contentChanges": [{ "text": text }] }));
    }

    /// Waits for messages of a file of which this holds.
    fn messages(&mut self, file: &str, wanted: impl Fn(&[Value]) -> bool) -> Vec<Value> {
        let uri = self.uri(file);
        let mut kept = std::mem::take(&mut self.kept).into_iter();
        loop {
            let m = kept.next().unwrap_or_else(|| self.next());
            if m["method"] == "textDocument/publishDiagnostics" && m["params"]["uri"] == uri.as_str() {
                let all = m["params"]["diagnostics"].as_array().unwrap().clone();
                if wanted(&all) {
                    self.kept = kept.collect();
                    return all;
                }
            }
        }
    }

    /// The position of the first `what`, so many bytes in.
    fn at(&self, file: &str, text: &str, what: &str, inside: usize) -> Value {
        let offset = text.find(what).unwrap_or_else(|| panic!("no {what}")) + inside;
        let line = text[..offset].matches('\n').count();
        let column = text[text[..offset].rfind('\n').map_or(0, |n| n + 1)..offset].encode_utf16().count();
        json!({ "textDocument": { "uri": self.uri(file) }, "position": { "line": line, "character": column } })
    }

    /// Asks until the answer holds this text: checking and proving go on beside.
    fn hover_with(&mut self, at: &Value, says: &str) -> String {
        for _ in 0..600 {
            let found = self.ask("textDocument/hover", at.clone());
            let text = found["contents"]["value"].as_str().unwrap_or_default().to_string();
            if text.contains(says) {
                return text;
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        panic!("no `{says}` in {}", self.ask("textDocument/hover", at.clone()));
    }

    fn lenses(&mut self, file: &str) -> Vec<String> {
        let uri = self.uri(file);
        let all = self.ask("textDocument/codeLens", json!({ "textDocument": { "uri": uri } }));
        all.as_array().unwrap().iter().map(|l| l["command"]["title"].as_str().unwrap().to_string()).collect()
    }

    fn lenses_with(&mut self, file: &str, says: &str) -> Vec<String> {
        for _ in 0..600 {
            let all = self.lenses(file);
            if all.iter().any(|l| l.contains(says)) {
                return all;
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        panic!("no `{says}` in {:?}", self.lenses(file));
    }

    fn end(mut self) {
        assert_eq!(self.ask("shutdown", Value::Null), Value::Null);
        self.notify("exit", Value::Null);
        assert_eq!(self.child.wait().unwrap().code(), Some(0));
    }
}

const MAIN: &str = "use part as P\nuse hash.sha256 as H\n\n/// Twice the limbs ≡ 2 * x.\n@export(\"twice\")\nfn twice(x: [int in 0..2^20; 3], k: public int in 0..7) -> [int; 3] {\n  var r: [int; 3] = x\n  for i in 0..<3 { r[i] += x[i] }\n  let both = r[0] + P::one(r[1])\n  r[2] = both + k\n  r\n}\n\nfn all<n: len>(m: [u8; n]) -> [u8; 32] { H::hash(m) }\n";
const PART: &str = "/// One more.\nfn one(y: int in 0..2^22) -> int { y + 1 }\n";

/// Ranges, secrecy, documentation, definitions and proofs of a program with two files of its own.
#[test]
fn the_editor_shows_ranges_secrecy_definitions_and_proofs() {
    let s = Sandbox::new(&[("main.stk", MAIN.as_bytes()), ("part.stk", PART.as_bytes())]);
    let mut e = Editor::start(&s);
    e.open("main.stk", MAIN);
    let text = e.hover_with(&e.at("main.stk", MAIN, "r[i] +=", 0), "r[0] in 0..2^21");
    assert!(text.contains("secret"), "{text}");
    e.hover_with(&e.at("main.stk", MAIN, "both + k", 1), "both: int in 1..2^22 + 1");
    assert!(e.hover_with(&e.at("main.stk", MAIN, "+ k\n", 2), "int in 0..7").contains("public"));
    assert!(e.hover_with(&e.at("main.stk", MAIN, "i in 0..<3", 0), "i: int in 0..2").contains("public"));
    assert!(e.hover_with(&e.at("main.stk", MAIN, "P::one", 4), "fn one(y: int in 0..2^22) -> int").contains("One more."));
    let whole = e.hover_with(&e.at("main.stk", MAIN, "twice(x", 2), "proved: ");
    assert!(whole.contains("Twice the limbs ≡ 2 * x.") && whole.contains("fn twice(x: [int in 0..2^20; 3]"), "{whole}");
    // Definitions: a variable, a function of another file, a module, the library inside of the command.
    let define = |e: &mut Editor, what: &str, inside: usize| e.ask("textDocument/definition", e.at("main.stk", MAIN, what, inside));
    let line = |found: &Value| (found["uri"].as_str().unwrap_or_default().rsplit('/').next().unwrap_or_default().to_string(), found["range"]["start"]["line"].as_u64());
    assert_eq!(line(&define(&mut e, "r[2] =", 0)), ("main.stk".into(), Some(6)));
    assert_eq!(line(&define(&mut e, "P::one", 3)), ("part.stk".into(), Some(1)));
    assert_eq!(line(&define(&mut e, "P::one", 0)), ("part.stk".into(), Some(0)));
    let library = define(&mut e, "H::hash", 3);
    let path = library["uri"].as_str().unwrap().strip_prefix("file://").unwrap().to_string();
    let shown = std::fs::read_to_string(&path).unwrap();
    let at = library["range"]["start"]["line"].as_u64().unwrap() as usize;
    assert!(path.ends_with("hash/sha256.stk") && shown.lines().nth(at).unwrap().contains("fn hash"), "{path}");
    // Lenses: what is proved, and what nobody asked for.
    let lenses = e.lenses_with("main.stk", "proved: ");
    assert_eq!(lenses.len(), 2);
    assert!(lenses.iter().all(|l| l.starts_with("proved: ")), "{lenses:?}");
    let outline = e.ask("textDocument/documentSymbol", json!({ "textDocument": { "uri": e.uri("main.stk") } }));
    let names: Vec<&str> = outline.as_array().unwrap().iter().map(|o| o["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["twice", "all"]);
    assert!(e.kept.iter().any(|m| m["method"] == "workspace/codeLens/refresh"));
    e.end();
}

/// Errors come and go with the text, of other files too; what is open is told when it is saved.
#[test]
fn messages_follow_the_text() {
    let s = Sandbox::new(&[("main.stk", MAIN.as_bytes()), ("part.stk", PART.as_bytes())]);
    let mut e = Editor::start(&s);
    e.open("main.stk", MAIN);
    e.messages("main.stk", <[Value]>::is_empty);
    e.change("main.stk", 2, &MAIN.replace("both + k", "both + q"));
    let all = e.messages("main.stk", |m| !m.is_empty());
    assert_eq!((all[0]["code"].as_str(), all[0]["range"]["start"].clone()), (Some("unknown-name"), json!({ "line": 9, "character": 16 })), "{all:#?}");
    assert!(all[0]["message"].as_str().unwrap().contains("try: "));
    // An import in the editor counts as it stands there, not as it is kept.
    e.change("main.stk", 3, MAIN);
    e.messages("main.stk", <[Value]>::is_empty);
    e.open("part.stk", &PART.replace("fn one", "fn two"));
    e.change("main.stk", 4, &format!("{MAIN}\n"));
    assert_eq!(e.messages("main.stk", |m| !m.is_empty())[0]["code"], "unknown-name");
    // An error of the import stands in its own file, and goes with it.
    e.change("part.stk", 2, "fn one(\n");
    e.change("main.stk", 5, MAIN);
    e.messages("part.stk", |m| !m.is_empty());
    e.change("part.stk", 3, PART);
    e.change("main.stk", 6, MAIN);
    e.messages("part.stk", <[Value]>::is_empty);
    // Too wide a value: open once it is saved, with the reason.
    let wide = MAIN.replace("0..2^20", "0..2^23");
    e.change("main.stk", 7, &wide);
    let uri = e.uri("main.stk");
    e.notify("textDocument/didSave", json!({ "textDocument": { "uri": uri } }));
    let all = e.messages("main.stk", |m| m.iter().any(|d| d["code"] == "range"));
    assert!(all.iter().any(|d| d["message"].as_str().unwrap().contains("claim: ")), "{all:#?}");
    assert!(e.lenses_with("main.stk", "open")[0].contains(" obligations open"));
    // Closed: nothing is said of it any more.
    e.notify("textDocument/didClose", json!({ "textDocument": { "uri": uri } }));
    e.messages("main.stk", <[Value]>::is_empty);
    assert_eq!(e.ask("textDocument/hover", e.at("main.stk", MAIN, "r[i]", 0)), Value::Null);
    e.end();
}

#[test]
fn formatting_gives_the_formatters_text() {
    let s = Sandbox::new(&[]);
    let mut e = Editor::with(&s, json!({ "general": { "positionEncodings": ["utf-8"] } }));
    let format = |e: &mut Editor, file: &str| e.ask("textDocument/formatting", json!({ "textDocument": { "uri": e.uri(file) }, "options": { "tabSize": 2, "insertSpaces": true } }));
    e.open("ugly.stk", "const  A=1 // ü\n");
    let edits = format(&mut e, "ugly.stk");
    assert_eq!((edits[0]["newText"].as_str(), edits.as_array().unwrap().len()), (Some("const A = 1 // ü\n"), 1));
    assert_eq!(edits[0]["range"]["end"], json!({ "line": 1, "character": 0 }));
    e.open("neat.stk", "const A = 1\n");
    assert_eq!(format(&mut e, "neat.stk"), json!([]));
    e.open("wrong.stk", "const = 1\n");
    assert_eq!(format(&mut e, "wrong.stk"), Value::Null);
    e.end();
}

/// Cut and damaged texts at every place, while questions are asked: there is always an answer, and the server lives.
#[test]
fn no_text_ends_the_server() {
    let s = Sandbox::new(&[("part.stk", PART.as_bytes())]);
    let mut e = Editor::start(&s);
    e.open("main.stk", MAIN);
    let ends: Vec<usize> = (0..MAIN.len()).filter(|i| MAIN.is_char_boundary(*i)).step_by(7).collect();
    for (n, end) in ends.iter().enumerate() {
        let text = format!("{}{}", &MAIN[..*end], ["", "(", "≡", "::", "{ let ", "\u{0}", "9^9^9"][n % 7]);
        e.change("main.stk", 2 + n as i32, &text);
        for (line, character) in [(0, 0), (n as u32 % 14, n as u32 % 40), (99, 99)] {
            let at = json!({ "textDocument": { "uri": e.uri("main.stk") }, "position": { "line": line, "character": character } });
            e.ask("textDocument/hover", at.clone());
            e.ask("textDocument/definition", at);
        }
        e.lenses("main.stk");
    }
    e.change("main.stk", 10_000, MAIN);
    e.hover_with(&e.at("main.stk", MAIN, "r[i] +=", 0), "r[0] in 0..2^21");
    // What is not known is said to be so, and ends nothing.
    assert_eq!(e.respond("textDocument/rename", json!({}))["error"]["code"], -32601);
    assert_eq!(e.respond("textDocument/hover", json!({ "position": 1 }))["error"]["code"], -32602);
    e.notify("no/such", json!({}));
    assert!(e.kept.iter().all(|m| m["method"] != "window/showMessage"), "an internal error");
    e.end();
}

#[test]
fn what_is_no_editor_is_refused() {
    let run = Sandbox::new(&[]).run_with(&["lsp"], "hello\n");
    assert!(run.code == 2 && run.stderr.contains("error[bad-editor]") && run.stdout.is_empty(), "{}", run.stderr);
}
