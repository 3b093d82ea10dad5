//! Vectors as batches for `c/batch.c`, and host builds of the shipped file.
#![allow(dead_code)] // each test binary uses its part

use santoku_lab::harness::{Arg, Call, Ret};
use santoku_driver::{build, check, BuildOptions, Lowering, Request};
use santoku_target::{Level, Target};
use santoku_vectors::ed25519::{SignVector, VerifyVector};
use santoku_vectors::{cases, ed25519, oracle, Expected};
use santoku_workbench::amalgam;
use santoku_workbench::dist::folder;
use santoku_workbench::interface::functions;
use santoku_workbench::primitives::Tree;
use santoku_workbench::subject::Ours;
use santoku_workbench::table::Bench;
use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

pub fn tree() -> Tree {
    Tree::find(Path::new(env!("CARGO_MANIFEST_DIR"))).expect("inside the repository")
}

/// Passes descend deep trees; test threads have small stacks.
pub fn on_big_stack<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|s| {
        let thread = std::thread::Builder::new().stack_size(256 << 20).spawn_scoped(s, work).expect("a thread");
        thread.join().unwrap_or_else(|e| std::panic::resume_unwind(e))
    })
}

/// The workloads of a primitive on a machine, with the shipped file for its interface.
pub fn bench(primitive: &str, target: &str) -> Bench {
    let tree = tree();
    let (primitive, target) = (tree.primitive(primitive).expect("declared"), tree.target(target).expect("described"));
    let made = on_big_stack(|| amalgam::amalgam(&tree, &primitive, Level::O2, &BTreeSet::new(), "").unwrap_or_else(|e| panic!("{e}")));
    let exported = made.emitted.exported;
    let first = Ours { text: shipped_unit(&primitive.unit), functions: functions(&primitive, &exported).expect("an interface"), exported, checks: made.checks };
    Bench::new(&tree, &primitive, target, first).unwrap_or_else(|e| panic!("{e}"))
}

/// Assembly of ours for a choice of implementations, with functions of at most so many instructions where they are called.
pub fn assembly(entry: &str, unit: &str, target: &Target, inline_max: usize) -> String {
    on_big_stack(|| {
        let tree = tree();
        let mut load = |path: &str| Ok(std::fs::read_to_string(tree.root.join(path)).ok());
        let request = Request { roots: vec!["lib".into()], impls: target.impls.clone(), ..Request::new(entry, target.clone()) };
        let checked = check(&request, &mut load).unwrap_or_else(|e| panic!("{e:?}"));
        let options = BuildOptions { level: Level::O2, without: BTreeSet::new(), dump_after: None, unit: unit.into(), provenance: String::new(), keep_secrets: false };
        let built = build(&checked, &options, &|| 0).unwrap_or_else(|e| panic!("{e:?}"));
        let how = Lowering { inline_max, ..Lowering::of(Level::O2) };
        santoku_driver::assembly(&built, target, &Default::default(), &how).unwrap_or_else(|e| panic!("{e:?}"))
    })
}

/// Assembly that is shipped for a target.
pub fn shipped_assembly(target: &str, unit: &str) -> String {
    let path = santoku_workbench::assembly::path(target, unit);
    tree().read(&path.to_string_lossy()).unwrap_or_else(|e| panic!("{e}"))
}

/// A choice that is compiled in.
pub fn choice(name: &str) -> Target {
    santoku_target::built_in(name).expect("its file is right").expect("it is compiled in")
}

/// Assembly in which the first product behind the label that ends so is another word.
pub fn spoiled(text: &str, label: &str) -> String {
    let at = text.find(&format!("{label}:\n")).expect("the label");
    let product = at + text[at..].find("\tmulhu ").expect("a product");
    format!("{}\tmulh {}", &text[..product], &text[product + "\tmulhu ".len()..])
}

pub fn c_file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/c").join(name)
}

pub fn shipped() -> PathBuf {
    tree().root.join("dist/c/nacl_sign")
}

/// A record of the batch and the bytes it must make.
#[derive(Clone)]
pub struct Case {
    pub id: String,
    pub input: Vec<u8>,
    pub expected: Vec<u8>,
}

fn case(id: &str, op: u8, len: usize, parts: &[&[u8]], expected: Vec<u8>) -> Case {
    let mut input = vec![op];
    input.extend((len as u32).to_le_bytes());
    input.extend(parts.concat());
    Case { id: format!("{id} {}", op as char), input, expected }
}

/// Keys, signatures and verdicts of a vector.
pub fn sign_cases(v: &SignVector) -> Vec<Case> {
    let sk = [v.seed, v.public].concat();
    let keys = [&v.public[..], &sk].concat();
    let signed = [&v.signature[..], &v.message].concat();
    let attached = [&(signed.len() as u64).to_le_bytes()[..], &signed].concat();
    let detached = [&64u64.to_le_bytes()[..], &v.signature, &[0]].concat();
    vec![
        case(&v.id, b'K', 0, &[&v.seed], keys.repeat(2)),
        case(&v.id, b'S', v.message.len(), &[&sk, &v.message], attached.repeat(2)),
        case(&v.id, b'D', v.message.len(), &[&sk, &v.message], detached),
        open_case(&v.id, &v.public, &v.signature, &v.message, true),
    ]
}

/// `crypto_sign_open` of signature and message, not in place and in place.
pub fn open_case(id: &str, public: &[u8], signature: &[u8], message: &[u8], accept: bool) -> Case {
    let signed = [signature, message].concat();
    let n = signed.len();
    let expected = match accept {
        true => {
            let head = [&[0][..], &((n - 64) as u64).to_le_bytes(), message].concat();
            // In place, the last 64 bytes stay what they were.
            [&head[..], &[0; 64], &head, &signed[n - 64..]].concat()
        }
        // Into an empty buffer, then in place: the message is zeroed and nothing else is written, nothing at all without one.
        false => {
            let mut in_place = signed.clone();
            in_place[..n.saturating_sub(64)].fill(0);
            [&[0xff; 9][..], &vec![0; n], &[0xff; 9], &in_place].concat()
        }
    };
    case(id, b'O', n, &[public, &signed], expected)
}

pub fn wycheproof_case(v: &VerifyVector) -> Case {
    assert_ne!(v.expected, Expected::Acceptable, "{}: a verdict is wanted", v.id);
    open_case(&v.id, &v.public, &v.signature, &v.message, v.expected == Expected::Valid)
}

/// RFC 8032 and Wycheproof: all of both.
pub fn published() -> Vec<Case> {
    let (rfc, wycheproof) = (ed25519::rfc8032(), ed25519::wycheproof());
    assert_eq!((rfc.len(), wycheproof.len()), (5, 151));
    rfc.iter().flat_map(sign_cases).chain(wycheproof.iter().map(wycheproof_case)).collect()
}

/// The 1024 vectors published with NaCl.
pub fn nacl() -> Vec<Case> {
    let peer = santoku_lab::peers::fetch(&tree().root, "nacl-vectors").expect("the vector file is fetched");
    let text = std::fs::read_to_string(&peer.data[0]).expect("readable");
    let vectors = ed25519::nacl(&text).expect("the table is as described");
    assert_eq!(vectors.len(), 1024);
    vectors.iter().flat_map(sign_cases).collect()
}

/// Random keys and messages. Signatures are those on which two independent libraries agree; one of key, signature and
/// message is then spoiled in one bit, and both libraries' verdict on that is asked for.
pub fn random(count: usize) -> &'static [Case] {
    const MOST: u64 = 10_000;
    static ALL: OnceLock<Vec<Case>> = OnceLock::new();
    let all = ALL.get_or_init(|| cases::sign_cases(0x5a17, MOST).flat_map(|c| random_cases(&c)).collect());
    // Five records a case.
    &all[..5 * count]
}

fn random_cases(c: &cases::SignCase) -> Vec<Case> {
    let public = oracle::public_dalek(&c.seed);
    let signature = oracle::sign_dalek(&c.seed, &c.message);
    assert_eq!((public, signature), (oracle::public_ring(&c.seed), oracle::sign_ring(&c.seed, &c.message)), "case {}", c.index);
    let id = format!("random {}", c.index);
    let v = SignVector { id: id.clone(), seed: c.seed, public, message: c.message.clone(), signature };
    let mut cases = sign_cases(&v);
    let (mut public, mut signature, mut message) = (public, signature, c.message.clone());
    let at = c.index as usize;
    let spoiled = match at % 3 {
        0 if !message.is_empty() => &mut message[..],
        1 => &mut public[..],
        _ => &mut signature[..],
    };
    let byte = (at * 7) % spoiled.len();
    spoiled[byte] ^= 1 << (at % 8);
    let verdict = oracle::verify_dalek(&public, &message, &signature);
    assert_eq!(verdict, oracle::verify_ring(&public, &message, &signature), "case {} spoiled", c.index);
    let accepted = if verdict { 0 } else { 0xff };
    cases.push(case(&format!("{id} spoiled"), b'V', message.len(), &[&public, &signature, &message], vec![accepted]));
    cases
}

/// What went wrong, by name; empty if nothing.
pub fn failures(cases: &[Case], output: &[u8]) -> Vec<String> {
    assert!(!cases.is_empty(), "a check of nothing");
    let mut at = 0;
    let mut failed = vec![];
    for case in cases {
        let end = at + case.expected.len();
        if output.get(at..end) != Some(&case.expected[..]) {
            failed.push(case.id.clone());
        }
        at = end;
    }
    if output.len() != at {
        failed.push(format!("{} bytes of output instead of {at}", output.len()));
    }
    failed
}

/// The call of `c/batch.c` on these records.
pub fn batch_call(cases: &[Case]) -> Call {
    let bytes = input(cases);
    let (room, n) = (cases.iter().map(|c| c.expected.len()).sum(), bytes.len() as u64);
    Call {
        declaration: "unsigned long long stk_batch(unsigned char *, const unsigned char *, unsigned long long)".into(),
        function: "stk_batch".into(),
        args: vec![Arg::Out(room), Arg::In(bytes), Arg::Word64(n)],
        ret: Ret::Word64,
    }
}

pub fn input(cases: &[Case]) -> Vec<u8> {
    cases.iter().flat_map(|c| c.input.iter().copied()).collect()
}

/// A host program of the batch.
pub struct HostProgram {
    _dir: tempfile::TempDir,
    path: PathBuf,
}

const WARNINGS: [&str; 4] = ["-std=c99", "-Wall", "-Wextra", "-Werror"];

/// Compiles `source` (text of `nacl_sign.c`) with its header and the batch. Every warning is an error.
pub fn host_program(compiler: &str, flags: &[&str], source: &str) -> HostProgram {
    let dir = tempfile::tempdir().expect("scratch folder");
    std::fs::write(dir.path().join("nacl_sign.c"), source).expect("write");
    let path = dir.path().join("batch");
    let mut cc = Command::new(compiler);
    cc.args(WARNINGS).args(flags).arg("-I").arg(shipped()).arg("-o").arg(&path);
    cc.arg(dir.path().join("nacl_sign.c")).arg(c_file("batch.c")).arg(c_file("host.c"));
    let out = cc.output().unwrap_or_else(|e| panic!("{compiler}: {e}"));
    assert!(out.status.success(), "{cc:?}:\n{}", String::from_utf8_lossy(&out.stderr));
    HostProgram { _dir: dir, path }
}

impl HostProgram {
    pub fn run(&self, cases: &[Case]) -> Vec<String> {
        let mut child =
            Command::new(&self.path).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("runs");
        let mut stdin = child.stdin.take().expect("piped");
        let bytes = input(cases);
        let feeder = std::thread::spawn(move || stdin.write_all(&bytes));
        let out = child.wait_with_output().expect("ends");
        let fed = feeder.join().expect("no panic");
        assert!(out.status.success() && fed.is_ok(), "{}: {}", out.status, String::from_utf8_lossy(&out.stderr));
        failures(cases, &out.stdout)
    }
}

pub fn shipped_source() -> String {
    shipped_file("nacl_sign", "c")
}

/// A shipped file, its header pasted in.
pub fn shipped_unit(unit: &str) -> String {
    let include = format!("#include \"{unit}.h\"\n");
    let source = shipped_file(unit, "c");
    assert!(source.contains(&include));
    source.replacen(&include, &shipped_file(unit, "h"), 1)
}

/// A shipped file as it is.
pub fn shipped_file(unit: &str, extension: &str) -> String {
    std::fs::read_to_string(tree().root.join(folder(unit)).join(format!("{unit}.{extension}"))).expect("the shipped file is there")
}

/// The units whose functions `c/memcheck.c` calls, all of them.
pub const CALLED: [&str; 11] = [
    "aead_aesgcm",
    "aead_chacha20poly1305",
    "aead_xchacha20poly1305",
    "hash_sha256",
    "hash_sha384",
    "hkdf_sha256",
    "hkdf_sha512",
    "hmac_sha256",
    "hmac_sha384",
    "hmac_sha512",
    "nacl",
];

/// The first round constant of SHA-512 (FIPS 180-4, section 4.2.3) with one bit wrong.
pub fn with_a_wrong_constant(source: &str) -> String {
    let spoiled = source.replace("UINT64_C(0x428a2f98d728ae22)", "UINT64_C(0x428a2f98d728ae23)");
    assert_ne!(source, spoiled, "the constant is in the file");
    spoiled
}
