//! Every folder of `examples/`, built and run as its page says; and a twin of each that must fail.

mod support;
use santoku_lab::ckb::{self, CkbJob};
use santoku_vectors::oracle::new_p256;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use support::good;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

fn example(name: &str) -> PathBuf {
    Path::new(ROOT).join("examples").join(name)
}

fn run(command: &mut Command) -> Output {
    command.output().unwrap_or_else(|e| panic!("{command:?}: {e}"))
}

fn scratch() -> tempfile::TempDir {
    tempfile::tempdir().expect("scratch")
}

/// A copy of an example's file with one thing changed, in the example's place.
fn changed(name: &str, file: &str, from: &str, to: &str, into: &Path) {
    let text = std::fs::read_to_string(example(name).join(file)).expect("the example");
    assert!(text.contains(from), "{name}/{file}: {from}");
    std::fs::write(into.join(file), text.replacen(from, to, 1)).expect("written");
}

/// `make` in an example, with the files made elsewhere.
fn make(name: &str, out: &Path, more: &[String]) -> Command {
    let mut command = Command::new("make");
    command.args(["-s", "-C"]).arg(example(name)).arg(format!("OUT={}", out.display())).args(more);
    command
}

#[test]
fn every_example_is_listed_and_tested() {
    let page = std::fs::read_to_string(example("README.md")).expect("the page");
    let folders: BTreeSet<String> = std::fs::read_dir(example("")).expect("examples").flatten().filter(|e| e.path().is_dir()).map(|e| e.file_name().to_string_lossy().into_owned()).collect();
    let tested = ["firmware", "firmware-secretbox", "box", "c-cmake", "ckb-p256-lock", "cipher-avx2"].map(str::to_string);
    assert_eq!(folders, tested.iter().cloned().collect());
    for name in &folders {
        assert!(page.contains(&format!("| [{name}]({name}) |")), "{name} is not on the page");
    }
}

/// The board says what it accepted and refused, and stops with the program's exit code.
#[test]
fn firmware_runs_on_qemu() {
    let out = scratch();
    let printed = good(&mut make("firmware", out.path(), &["run".into()]));
    assert_eq!(printed, "accepted: firmware 1.2.3\nrefused: one changed bit\n");
    // Without the change of a bit the image is good, and main says that this is wrong.
    let twin = scratch();
    changed("firmware", "main.c", "sealed[70] ^= 1", "sealed[70] ^= 0", twin.path());
    let main = format!("MAIN={}", twin.path().join("main.c").display());
    let failed = run(&mut make("firmware", twin.path(), &["run".into(), main]));
    let said = String::from_utf8_lossy(&failed.stdout).into_owned();
    assert!(!failed.status.success() && said.ends_with("accepted a changed image\n"), "{said}");
}

#[test]
fn the_sensor_runs_on_qemu() {
    let out = scratch();
    let printed = good(&mut make("firmware-secretbox", out.path(), &["run".into()]));
    assert_eq!(printed, "refused: another number\nrefused: one changed bit\ntaken: 21.5 C, 1013 hPa\n");
    // A gateway that waits for the packet it has had takes it.
    let twin = scratch();
    changed("firmware-secretbox", "main.c", "numbered(nonce, 8)", "numbered(nonce, 7)", twin.path());
    let main = format!("MAIN={}", twin.path().join("main.c").display());
    let failed = run(&mut make("firmware-secretbox", twin.path(), &["run".into(), main]));
    let said = String::from_utf8_lossy(&failed.stdout).into_owned();
    assert!(!failed.status.success() && said.ends_with("took an old packet\n"), "{said}");
}

#[test]
fn the_tool_seals_for_one_reader() {
    let out = scratch();
    good(&mut make("box", out.path(), &["CC=gcc".into()]));
    let tool = |words: &[&str], given: &[u8]| {
        let mut command = Command::new(out.path().join("box"));
        let mut child = command.args(words).current_dir(out.path()).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the tool");
        let mut to = child.stdin.take().expect("its input");
        let _ = to.write_all(given);
        drop(to);
        child.wait_with_output().expect("its end")
    };
    for name in ["alice", "bob", "eve"] {
        assert!(tool(&["keys", name], b"").status.success());
    }
    // Keys are not overwritten.
    let again = tool(&["keys", "alice"], b"");
    assert!(again.status.code() == Some(2) && String::from_utf8_lossy(&again.stderr).contains("alice.secret"));
    for length in [0, 1, 15, 16, 63, 64, 65, 65_535 - 32, 65_536 - 32, 200_000] {
        let message: Vec<u8> = (0..length).map(|i| (i * 7 % 251) as u8).collect();
        let sealed = tool(&["seal", "alice.secret", "bob.public"], &message);
        assert!(sealed.status.success() && sealed.stdout.len() == message.len() + 24 + 16, "{length}");
        let opened = tool(&["open", "bob.secret", "alice.public"], &sealed.stdout);
        assert!(opened.status.success() && opened.stdout == message, "{length}");
        // For another reader, from another writer, changed, cut off.
        let mut changed = sealed.stdout.clone();
        let at = changed.len() / 2;
        changed[at] ^= 1;
        let wrong: [(&[&str], &[u8]); 4] = [
            (&["open", "eve.secret", "alice.public"], &sealed.stdout),
            (&["open", "bob.secret", "eve.public"], &sealed.stdout),
            (&["open", "bob.secret", "alice.public"], &changed),
            (&["open", "bob.secret", "alice.public"], &sealed.stdout[..sealed.stdout.len() - 1]),
        ];
        for (words, given) in wrong {
            let out = tool(words, given);
            assert!(out.status.code() == Some(1) && out.stdout.is_empty(), "{length}: {words:?}");
        }
    }
    for given in [&b""[..], &[0; 23], &[0; 24], &[0; 39]] {
        assert_eq!(tool(&["open", "bob.secret", "alice.public"], given).status.code(), Some(1));
    }
    assert_eq!(tool(&["seal", "nobody.secret", "bob.public"], b"").status.code(), Some(2));
    assert_eq!(tool(&["lock"], b"").status.code(), Some(2));
}

#[test]
fn the_program_with_cmake_runs() {
    let (prefix, build) = (scratch(), scratch());
    good(Command::new("make").args(["-s", "install", "CC=gcc"]).arg(format!("PREFIX={}", prefix.path().display())).current_dir(ROOT));
    let find = format!("-DCMAKE_PREFIX_PATH={}", prefix.path().display());
    good(Command::new("cmake").arg("-S").arg(example("c-cmake")).arg("-B").arg(build.path()).arg(&find));
    good(Command::new("cmake").arg("--build").arg(build.path()));
    let printed = good(&mut Command::new(build.path().join("notary")));
    // SHA-256 as coreutils compute it.
    let sum = good(Command::new("sh").args(["-c", "printf 'I owe you one.' | sha256sum | cut -d' ' -f1"]));
    assert_eq!(printed, format!("signed: I owe you one.\nsha256: {sum}refused: one changed bit\n"));
    // Where nothing is installed, CMake says so.
    let nowhere = scratch();
    let out = run(Command::new("cmake").arg("-S").arg(example("c-cmake")).arg("-B").arg(nowhere.path()).arg("-DCMAKE_FIND_USE_PACKAGE_REGISTRY=OFF"));
    assert!(!out.status.success());
}

/// Tables of Molecule: offsets of the fields, then these.
fn table(fields: &[&[u8]]) -> Vec<u8> {
    let mut at = 4 + 4 * fields.len();
    let mut out = vec![];
    for field in fields {
        out.extend((at as u32).to_le_bytes());
        at += field.len();
    }
    let mut whole = (at as u32).to_le_bytes().to_vec();
    whole.extend(out);
    fields.iter().for_each(|f| whole.extend(*f));
    whole
}

fn bytes(b: &[u8]) -> Vec<u8> {
    [&(b.len() as u32).to_le_bytes(), b].concat()
}

#[test]
fn the_lock_opens_for_its_key_alone() {
    let out = scratch();
    good(&mut make("ckb-p256-lock", out.path(), &[]));
    let elf = std::fs::read(out.path().join("lock")).expect("the script");
    let hash: Vec<u8> = (0..32).collect();
    let (key, signature) = new_p256(&hash);
    let (script, witness) = (|key: &[u8]| table(&[&[7; 32], &[1], &bytes(key)]), |lock: &[u8]| table(&[lock, &[], &[]]));
    let spend = |hash: &[u8], script: Vec<u8>, witness: Vec<u8>| {
        let loads = BTreeMap::from([(2061, hash.to_vec()), (2052, script), (2074, witness)]);
        ckb::run(&elf, &CkbJob { loads, ..CkbJob::default() }).unwrap_or_else(|e| panic!("{e}"))
    };
    let opened = spend(&hash, script(&key), witness(&bytes(&signature)));
    assert_eq!(opened.exit_code, 0);
    assert!((400_000..600_000).contains(&opened.cycles), "{} cycles", opened.cycles);
    let exit = |hash: &[u8], script: Vec<u8>, witness: Vec<u8>| spend(hash, script, witness).exit_code;
    // Another transaction, another key, one changed bit.
    let (other, _) = new_p256(&hash);
    let mut spoiled = signature;
    spoiled[5] ^= 1;
    assert_eq!(exit(&[9; 32], script(&key), witness(&bytes(&signature))), 1);
    assert_eq!(exit(&hash, script(&other), witness(&bytes(&signature))), 1);
    assert_eq!(exit(&hash, script(&key), witness(&bytes(&spoiled))), 1);
    // Forms that are none: too short, too long, offsets that lead outside, cut at every byte.
    assert_eq!(exit(&hash, script(&key[..63]), witness(&bytes(&signature))), 2);
    assert_eq!(exit(&hash, script(&key), witness(&[])), 2);
    assert_eq!(exit(&hash, script(&key), witness(&bytes(&[0; 2000]))), 2);
    let whole = script(&key);
    for cut in 0..whole.len() {
        assert_eq!(exit(&hash, whole[..cut].to_vec(), witness(&bytes(&signature))), 2, "{cut}");
    }
    for at in 0..16 {
        let mut wild = witness(&bytes(&signature));
        wild[at] = 0xff;
        let code = exit(&hash, script(&key), wild);
        assert!(code != 0 || at >= 12, "offset byte {at}");
    }
}

#[test]
fn the_cipher_runs_eight_blocks_at_a_time() {
    if !std::fs::read_to_string("/proc/cpuinfo").is_ok_and(|text| text.split_whitespace().any(|w| w == "avx2")) {
        return santoku_skips::lacking("example cipher-avx2", "this processor has no AVX2");
    }
    let (out, cache) = (scratch(), scratch());
    let santoku = format!("SANTOKU={}", env!("CARGO_BIN_EXE_santoku"));
    let printed = good(make("cipher-avx2", out.path(), &["run".into(), santoku.clone(), "CC=gcc".into()]).env("XDG_CACHE_HOME", cache.path()));
    assert!(printed.ends_with("eight blocks of ChaCha20, the first as RFC 8439 has it\n"), "{printed}");
    let twin = scratch();
    changed("cipher-avx2", "main.c", "put32(state + 48, 1 + block)", "put32(state + 48, 2 + block)", twin.path());
    let main = format!("MAIN={}", twin.path().join("main.c").display());
    let failed = run(make("cipher-avx2", twin.path(), &["run".into(), santoku, main, "CC=gcc".into()]).env("XDG_CACHE_HOME", cache.path()));
    assert!(!failed.status.success() && String::from_utf8_lossy(&failed.stdout).ends_with("not ChaCha20\n"));
}
