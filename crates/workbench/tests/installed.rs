//! The shipped C beside other libraries with the same names, and as an installed library.

mod support;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use support::{c_file, shipped, tree};

const WARNINGS: [&str; 5] = ["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror"];
const PREFIX: &str = "-DSTK_NAME(name)=my_##name";

fn run(command: &mut Command) -> Output {
    command.output().unwrap_or_else(|e| panic!("{command:?}: {e}"))
}

/// Runs a command that must succeed; what it prints.
fn good(command: &mut Command) -> String {
    let out = run(command);
    assert!(out.status.success(), "{command:?}: {}\n{}{}", out.status, String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr));
    String::from_utf8_lossy(&out.stdout).into_owned()
}

/// Our file as an object.
fn object(dir: &Path, flags: &[String]) -> PathBuf {
    let out = dir.join("nacl_sign.o");
    good(Command::new("gcc").args(["-O1", "-fPIC", "-c"]).args(flags).arg(shipped().join("nacl_sign.c")).arg("-o").arg(&out));
    out
}

/// The program with these headers in this order, linked; it must run.
fn program(dir: &Path, headers: &[&str], flags: &[String], link: &[String]) -> PathBuf {
    let out = dir.join("program");
    let mut cc = Command::new("gcc");
    cc.args(WARNINGS).args(["-O1", "-g"]).arg("-I").arg(shipped()).args(flags);
    for (macro_name, header) in ["FIRST", "SECOND"].iter().zip(headers) {
        cc.arg(format!("-D{macro_name}=\"{header}\""));
    }
    good(cc.arg(c_file("names.c")).args(link).arg("-o").arg(&out));
    assert_eq!(good(&mut Command::new(&out)), "ed25519\n", "{headers:?}");
    out
}

/// The class that `nm` gives a symbol of a file: `T` defined, `U` from elsewhere; `None`: it is not there.
fn class(file: &Path, options: &[&str], symbol: &str) -> Option<char> {
    let listed = good(Command::new("nm").args(options).arg(file));
    listed.lines().find_map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let name = words.last()?.split('@').next()?;
        (name == symbol).then(|| words[words.len() - 2].chars().next())?
    })
}

fn scratch() -> tempfile::TempDir {
    tempfile::tempdir().expect("scratch")
}

fn path(p: &Path) -> String {
    p.to_string_lossy().into_owned()
}

const OURS: &str = "nacl_sign.h";

/// A program that includes tweetnacl.h calls ours, compiled with the names that this header maps NaCl's to.
#[test]
fn programs_of_tweetnacl_call_ours() {
    let peer = santoku_lab::peers::fetch(&tree().root, "tweetnacl").expect("TweetNaCl is fetched");
    let header = peer.include_dirs.iter().map(|d| d.join("tweetnacl.h")).find(|h| h.exists()).expect("its header");
    let include = vec!["-I".to_string(), path(header.parent().expect("a folder"))];
    for sanitized in [&[][..], &["-fsanitize=address,undefined".to_string()]] {
        let dir = scratch();
        let names = [&include[..], &["-include".into(), "tweetnacl.h".into()], sanitized].concat();
        let ours = object(dir.path(), &names);
        assert_eq!(class(&ours, &[], "crypto_sign_ed25519_tweet"), Some('T'));
        assert_eq!(class(&ours, &[], "crypto_sign"), None);
        for headers in [&["tweetnacl.h"][..], &["tweetnacl.h", OURS], &[OURS, "tweetnacl.h"]] {
            let built = program(dir.path(), headers, &[&include[..], sanitized].concat(), &[path(&ours)]);
            assert_eq!(class(&built, &[], "crypto_sign_ed25519_tweet").map(|c| c.to_ascii_uppercase()), Some('T'), "{headers:?}");
        }
    }
}

/// What a program that was written for TweetNaCl does, each function called once.
const TWEET: &str = r#"#include HEADER
#include <stdio.h>
#include <string.h>
void randombytes(unsigned char *x, unsigned long long n) { while (n--) *x++ = (unsigned char)(n * 37 + 5); }
int main(void)
{
  static unsigned char pk[crypto_box_PUBLICKEYBYTES], sk[crypto_box_SECRETKEYBYTES], k[crypto_box_BEFORENMBYTES], nonce[crypto_box_NONCEBYTES];
  static unsigned char m[crypto_box_ZEROBYTES + 40], c[sizeof m], d[sizeof m], h[crypto_hash_BYTES], a[crypto_onetimeauth_BYTES], out[crypto_core_salsa20_OUTPUTBYTES];
  int bad = 0;
  memset(m + crypto_box_ZEROBYTES, 7, 40);
  bad |= crypto_box_keypair(pk, sk);
  bad |= crypto_box(c, m, sizeof m, nonce, pk, sk) | crypto_box_open(d, c, sizeof m, nonce, pk, sk) | memcmp(m, d, sizeof m);
  bad |= crypto_box_beforenm(k, pk, sk) | crypto_box_open_afternm(d, c, sizeof m, nonce, k) | memcmp(m, d, sizeof m);
  c[crypto_box_BOXZEROBYTES] ^= 1;
  bad |= crypto_secretbox_open(d, c, sizeof m, nonce, k) != -1;
  bad |= crypto_stream(d, 70, nonce, k) | crypto_stream_xor(d, d, 70, nonce, k) | d[69];
  bad |= crypto_onetimeauth(a, m, sizeof m, k) | crypto_onetimeauth_verify(a, m, sizeof m, k);
  bad |= crypto_hash(h, m, sizeof m) | crypto_core_salsa20(out, nonce, k, nonce) | crypto_scalarmult_base(k, sk) | crypto_verify_32(k, pk);
  printf("%d %02x%02x%02x\n", bad, h[0], out[0], a[0]);
  return bad;
}
"#;

/// All of NaCl, compiled with one macro, is what a program that includes TweetNaCl's header is linked with, in place of TweetNaCl; and the program is
/// the same with our header. Without the macro, that header's names are not there.
#[test]
fn all_of_nacl_stands_in_for_tweetnacl() {
    let root = &tree().root;
    let peer = santoku_lab::peers::fetch(root, "tweetnacl").expect("TweetNaCl is fetched");
    let header = peer.include_dirs.iter().find(|d| d.join("tweetnacl.h").exists()).expect("its header");
    let dir = scratch();
    let at = |name: &str| dir.path().join(name);
    std::fs::write(at("tweet.c"), TWEET).expect("written");
    let unit = root.join("dist/c/nacl");
    let mut printed = vec![];
    for (name, source, flags) in [("ours", unit.join("nacl.c"), &["-DSTK_TWEETNACL_NAMES"][..]), ("theirs", peer.sources[0].clone(), &["-w"]), ("plain", unit.join("nacl.c"), &[])] {
        good(Command::new("gcc").args(["-O1", "-c"]).args(flags).arg("-I").arg(header).arg(&source).arg("-o").arg(at(name)));
        let mut cc = Command::new("gcc");
        cc.args(["-O1", "-w", "-DHEADER=\"tweetnacl.h\""]).arg("-I").arg(header).arg(at("tweet.c")).arg("-x").arg("none").arg(at(name)).arg("-o").arg(at("program"));
        if name == "plain" {
            assert!(!run(&mut cc).status.success());
            cc = Command::new("gcc");
            cc.args(["-O1", "-Wall", "-Werror", "-DHEADER=\"nacl.h\""]).arg("-I").arg(&unit).arg(at("tweet.c")).arg(at(name)).arg("-o").arg(at("program"));
        }
        good(&mut cc);
        printed.push(good(&mut Command::new(at("program"))));
    }
    assert!(printed[0].starts_with("0 ") && printed.iter().all(|p| *p == printed[0]), "{printed:?}");
    // Headers of a unit and of its parts, TweetNaCl's and libsodium's, in either order.
    let all = ["nacl.h", "nacl_sign.h", "nacl_box.h"];
    for headers in [&[&all[..], &["tweetnacl.h"]].concat(), &[&["tweetnacl.h"], &all[..]].concat(), &[&all[..], &["sodium.h"]].concat(), &[&["sodium.h"], &all[..]].concat()] {
        let text: String = headers.iter().map(|h| format!("#include <{h}>\n")).collect();
        std::fs::write(at("headers.c"), text + "int size(void);\nint size(void)\n{\n  return crypto_box_ZEROBYTES + crypto_sign_BYTES;\n}\n").expect("written");
        let folders = ["nacl", "nacl_sign", "nacl_box"].map(|u| format!("-I{}", root.join("dist/c").join(u).display()));
        good(Command::new("gcc").args(["-Wall", "-Werror", "-fsyntax-only"]).args(folders).arg("-isystem").arg(header).arg(at("headers.c")));
    }
}

/// Points of small order as keys and as R: accepted as RFC 8032 has it, refused with the macro, and then every verdict is libsodium's.
#[test]
fn small_order_is_refused_where_asked_as_by_libsodium() {
    let verdicts = |flags: &[String]| {
        let dir = scratch();
        let ours = object(dir.path(), &[&[PREFIX.to_string()], flags].concat());
        let out = dir.path().join("small_order");
        good(Command::new("gcc").args(["-O1", "-Wall", "-Wextra", "-Werror", PREFIX]).arg("-I").arg(shipped()).arg(c_file("small_order.c")).arg(&ours).arg("-lsodium").arg("-o").arg(&out));
        let printed = good(&mut Command::new(&out));
        printed.split_whitespace().map(|n| n.parse().unwrap_or_else(|_| panic!("{printed}"))).collect::<Vec<u32>>()
    };
    let (plain, strict) = (verdicts(&[]), verdicts(&["-DSTK_REFUSE_SMALL_ORDER".into()]));
    // 64 messages, each with 64 pairs of points, one R under an honest key, an honest signature and a spoiled one.
    assert_eq!((plain[0], strict[0]), (64 * 67, 64 * 67));
    assert_eq!(strict[1..], [64, 64, 0], "ours, libsodium's, differences");
    assert!(plain[1] > 64 + 500 && plain[2] == 64 && plain[3] == plain[1] - 64, "{plain:?}");
}

/// Ours under a prefix and libsodium's in one program, by either order of headers, static or shared: each call goes where it says.
#[test]
fn ours_and_libsodium_s_live_in_one_program() {
    for sodium in [&["-lsodium".to_string()][..], &["-l:libsodium.a".to_string(), "-lpthread".into()]] {
        for headers in [&["sodium.h", OURS], &[OURS, "sodium.h"]] {
            let dir = scratch();
            let ours = object(dir.path(), &[PREFIX.into()]);
            let link = [&[path(&ours)][..], sodium].concat();
            // libsodium brings its own.
            let flags = [PREFIX.to_string(), "-DHAS_RANDOMBYTES".into()];
            let built = program(dir.path(), headers, &[&flags[..], &["-DOWN(name)=my_##name".into()]].concat(), &link);
            assert!(class(&built, &[], "my_crypto_sign").is_some() && class(&built, &[], "crypto_sign").is_none(), "{headers:?}");
            let built = program(dir.path(), headers, &flags, &link);
            let theirs = if sodium.len() == 1 { 'U' } else { 'T' };
            assert_eq!(class(&built, &[], "crypto_sign"), Some(theirs), "{headers:?}");
        }
    }
    // Without a prefix the declarations agree, and the object that is named first is linked.
    for headers in [&["sodium.h", OURS], &[OURS, "sodium.h"]] {
        let dir = scratch();
        let ours = object(dir.path(), &[]);
        let built = program(dir.path(), headers, &[], &[path(&ours)]);
        assert!(matches!(class(&built, &[], "crypto_sign"), Some('t' | 'T')), "{headers:?}");
    }
}

const PLUGIN: &str = "#include <sodium.h>\nint plugin(unsigned char *sm, const unsigned char *sk);\nint plugin(unsigned char *sm, const unsigned char *sk)\n{\n  unsigned long long n;\n  return crypto_sign(sm, &n, (const unsigned char *)\"\", 0, sk);\n}\n";
/// Our object is replaced by one that says so when it is called.
const LOUD: &str = "#include <stdlib.h>\n#define LOUD __attribute__((visibility(VISIBILITY)))\nLOUD int crypto_sign(unsigned char *sm, unsigned long long *n, const unsigned char *m, unsigned long long k, const unsigned char *sk);\nLOUD int crypto_sign(unsigned char *sm, unsigned long long *n, const unsigned char *m, unsigned long long k, const unsigned char *sk)\n{\n  (void)sm, (void)n, (void)m, (void)k, (void)sk;\n  exit(7);\n}\n";
const HOST: &str = "int plugin(unsigned char *, const unsigned char *);\nint crypto_sign(unsigned char *, unsigned long long *, const unsigned char *, unsigned long long, const unsigned char *);\nint main(int argc, char **argv)\n{\n  unsigned char sm[64], sk[64] = {0};\n  unsigned long long n;\n  if (argc > 5) return crypto_sign(sm, &n, 0, 0, (unsigned char *)argv[0]);\n  return plugin(sm, sk);\n}\n";

/// A shared library that uses libsodium goes on doing so in a program that has our functions: they are hidden. A visible function of the
/// name is called in its place.
#[test]
fn a_library_that_uses_libsodium_is_not_given_ours() {
    let dir = scratch();
    let at = |name: &str| dir.path().join(name);
    for (name, text) in [("plugin.c", PLUGIN), ("loud.c", LOUD), ("host.c", HOST)] {
        std::fs::write(at(name), text).expect("written");
    }
    good(Command::new("gcc").args(["-shared", "-fPIC", "-o"]).arg(at("libplugin.so")).arg(at("plugin.c")).arg("-lsodium"));
    let ours = object(dir.path(), &[]);
    assert!(good(Command::new("readelf").arg("-sW").arg(&ours)).lines().any(|l| l.contains("HIDDEN") && l.ends_with(" crypto_sign")), "ours are hidden");
    for (visibility, code) in [("hidden", 0), ("default", 7)] {
        good(Command::new("gcc").arg(format!("-DVISIBILITY=\"{visibility}\"")).arg("-c").arg(at("loud.c")).arg("-o").arg(at("loud.o")));
        good(Command::new("gcc").arg(at("host.c")).arg(at("loud.o")).arg("-L").arg(dir.path()).args(["-lplugin", "-Wl,-rpath,$ORIGIN", "-o"]).arg(at("host")));
        assert_eq!(run(&mut Command::new(at("host"))).status.code(), Some(code), "{visibility}");
    }
}

/// Functions of the export map.
fn mapped() -> Vec<String> {
    let map = std::fs::read_to_string(tree().root.join("dist/c/santoku.map")).expect("shipped");
    let (_, rest) = map.split_once("global:").expect("a map");
    let (names, _) = rest.split_once("local:").expect("a map");
    names.split(';').map(str::trim).filter(|n| !n.is_empty()).map(str::to_string).collect()
}

#[test]
fn an_installed_library_is_found_by_pkg_config_and_cmake() {
    let dir = scratch();
    let prefix = dir.path().join("usr");
    let install = |prefix: &str, destination: &str| run(Command::new(tree().root.join("tools/install.sh")).env("PREFIX", prefix).env("DESTDIR", destination).env("CFLAGS", "-O1"));
    let out = install(&path(&prefix), "");
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let library = prefix.join("lib/libsantoku.so");
    // What is exported is what the map says, under the version of the interface.
    let names = mapped();
    assert!(names.len() >= 12, "{names:?}");
    let exported = good(Command::new("nm").args(["-D", "--defined-only"]).arg(&library));
    let mut own: Vec<&str> = exported.lines().filter_map(|l| l.split_whitespace().last()).filter_map(|n| n.strip_suffix("@@SANTOKU_0")).collect();
    own.sort_unstable();
    assert_eq!(own, names);
    // What it wants of others: memory functions and the caller's randomness.
    let wanted = good(Command::new("nm").args(["-D", "--undefined-only"]).arg(&library));
    let wanted: Vec<&str> = wanted.lines().filter_map(|l| l.split_whitespace().last()).map(|n| n.split('@').next().unwrap_or(n)).collect();
    assert!(wanted.iter().all(|n| ["memcpy", "memmove", "memset", "randombytes", "__cxa_finalize", "__stack_chk_fail"].contains(n) || n.starts_with("_ITM_") || *n == "__gmon_start__"), "{wanted:?}");
    // pkg-config, shared and static.
    let pkg = |what: &[&str]| good(Command::new("pkg-config").env("PKG_CONFIG_PATH", prefix.join("lib/pkgconfig")).args(what).arg("santoku"));
    assert_eq!(pkg(&["--modversion"]).trim(), env!("CARGO_PKG_VERSION"));
    let flags: Vec<String> = pkg(&["--cflags", "--libs"]).split_whitespace().map(str::to_string).collect();
    let rpath = format!("-Wl,-rpath,{}", path(&prefix.join("lib")));
    let shared = program(dir.path(), &["santoku.h"], &[], &[&flags[..], &[rpath, "-I".into(), path(&prefix.join("include/santoku"))]].concat());
    assert_eq!(class(&shared, &["-D"], "crypto_sign"), Some('U'));
    let archive = path(&prefix.join("lib/libsantoku.a"));
    let alone = program(dir.path(), &["santoku.h"], &["-I".into(), path(&prefix.join("include/santoku"))], &[archive]);
    assert!(class(&alone, &["-D"], "crypto_sign").is_none());
    // CMake.
    let project = dir.path().join("project");
    std::fs::create_dir_all(&project).expect("made");
    let lists = "cmake_minimum_required(VERSION 3.13)\nproject(p C)\nfind_package(santoku 0.1 REQUIRED)\nforeach(kind santoku static)\n  add_executable(p_${kind} names.c)\n  target_compile_definitions(p_${kind} PRIVATE FIRST=<santoku.h>)\n  target_link_libraries(p_${kind} PRIVATE santoku::${kind})\nendforeach()\n";
    std::fs::write(project.join("CMakeLists.txt"), lists).expect("written");
    std::fs::copy(c_file("names.c"), project.join("names.c")).expect("copied");
    good(Command::new("cmake").arg(format!("-DCMAKE_PREFIX_PATH={}", path(&prefix))).arg("-S").arg(&project).arg("-B").arg(project.join("b")));
    good(Command::new("cmake").arg("--build").arg(project.join("b")));
    for kind in ["santoku", "static"] {
        assert_eq!(good(&mut Command::new(project.join(format!("b/p_{kind}")))), "ed25519\n");
    }
    // A newer version is not found, and a path that is none is refused.
    std::fs::write(project.join("CMakeLists.txt"), lists.replace("santoku 0.1", "santoku 77")).expect("written");
    let out = run(Command::new("cmake").arg(format!("-DCMAKE_PREFIX_PATH={}", path(&prefix))).arg("-S").arg(&project).arg("-B").arg(project.join("c")));
    assert!(!out.status.success());
    let out = install("usr", "");
    assert!(out.status.code() == Some(2) && String::from_utf8_lossy(&out.stderr).contains("whole path"));
}

/// Names of the functions that the library exports.
fn exported() -> Vec<String> {
    let map = std::fs::read_to_string(tree().root.join("dist/c/santoku.map")).expect("the export map");
    let global = map.split_once("global:").and_then(|(_, rest)| rest.split_once("local:")).expect("its two lists").0.to_string();
    global.split(';').map(|name| name.trim().to_string()).filter(|name| !name.is_empty()).collect()
}

/// The units of the library: those that are parts of others are not in it.
fn all_units() -> Vec<String> {
    let all = tree().shipped().expect("declared");
    let whole = |name: &str| all.iter().all(|p| !p.parts.iter().any(|part| part == name));
    all.iter().filter(|p| whole(&p.name)).map(|p| p.unit.clone()).collect()
}

/// Compiles a translation unit that includes these units, in this order; `change` edits each text. What the compiler says.
fn together(dir: &Path, units: &[String], compiler: &[&str], change: &dyn Fn(String) -> String) -> Output {
    let mut cc = Command::new(compiler[0]);
    cc.args(&compiler[1..]).args(WARNINGS).args(["-O1", "-fPIC", "-c"]).arg("-o").arg(dir.join("all.o"));
    let mut all = String::new();
    for unit in units {
        let from = tree().root.join("dist/c").join(unit);
        let text = std::fs::read_to_string(from.join(unit).with_extension("c")).expect("a unit");
        std::fs::write(dir.join(unit).with_extension("c"), change(text)).expect("write");
        cc.arg("-I").arg(from);
        all += &format!("#include \"{unit}.c\"\n");
    }
    std::fs::write(dir.join("all.c"), all).expect("write");
    run(cc.arg(dir.join("all.c")))
}

#[test]
fn units_share_a_translation_unit_in_any_order() {
    let (exported, mut units, mut compiled) = (exported(), all_units(), 0);
    assert!(exported.len() > 10 && units.len() > 4, "{exported:?} {units:?}");
    for turn in 0..units.len() {
        units.rotate_left(1);
        for compiler in [&["gcc"][..], &["clang-19", "-DSANTOKU_32BIT"]] {
            let dir = scratch();
            let said = together(dir.path(), &units, compiler, &|text| text);
            assert!(said.status.success(), "{units:?} {compiler:?}:\n{}", String::from_utf8_lossy(&said.stderr));
            let object = dir.path().join("all.o");
            assert!(exported.iter().all(|name| class(&object, &[], name) == Some('T')), "{units:?}");
            // First, in the middle and last.
            program(dir.path(), &[OURS], &[], &[path(&object)]);
            compiled += 1;
        }
        // Without the new names, two functions have one name.
        if turn == 0 {
            let said = together(scratch().path(), &units, &["gcc"], &|text| text.replace("#define STK_UNIT_BEFORE\n", ""));
            assert!(!said.status.success() && String::from_utf8_lossy(&said.stderr).contains("redefinition of"));
        }
    }
    println!("tried: {compiled} translation units of {} units", units.len());
}

#[test]
fn chosen_units_become_one_file_with_one_header() {
    let (dir, root) = (scratch(), tree().root.clone());
    let amalgamate = |units: &str| run(Command::new(root.join("tools/amalgamate.sh")).env("UNITS", units).env("OUT", dir.path()));
    let all = all_units();
    for chosen in [all.join(" "), "nacl_sign".to_string(), format!("{} nacl_sign", all.last().expect("units"))] {
        let made = amalgamate(&chosen);
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        let object = dir.path().join("santoku.o");
        good(Command::new("gcc").args(WARNINGS).args(["-O1", "-c"]).arg(dir.path().join("santoku.c")).arg("-o").arg(&object));
        good(Command::new("g++").args(["-std=c++11", "-Wall", "-Werror", "-fsyntax-only", "-x", "c++"]).arg(dir.path().join("santoku.h")));
        program(dir.path(), &["santoku.h"], &["-I".into(), path(dir.path())], &[path(&object)]);
    }
    let refused = amalgamate("nacl nacl_sign");
    assert!(refused.status.code() == Some(2) && String::from_utf8_lossy(&refused.stderr).contains("more than one of these units has crypto_sign"));
    let refused = amalgamate("nacl_sign nothing");
    assert!(refused.status.code() == Some(2) && String::from_utf8_lossy(&refused.stderr).contains("there is no unit `nothing`"));
}
