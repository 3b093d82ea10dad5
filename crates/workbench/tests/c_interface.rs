//! The shipped C as a C user meets it: exact rooms and null pointers under sanitizers, every warning at every level, processors
//! on which it would not be constant-time.

mod support;

use std::path::Path;
use std::process::{Command, Output};
use support::{c_file, shipped, shipped_source, tree};

const HALF32: &str = "-DSANTOKU_32BIT";
const SMALL: &str = "-DSANTOKU_SMALL";

fn run(cc: &mut Command) -> Output {
    cc.output().unwrap_or_else(|e| panic!("{cc:?}: {e}"))
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Compiles `source` with `c/edges.c` under sanitizers and runs it.
fn edges(compiler: &str, half: &[&str], source: &str) -> Output {
    let dir = tempfile::tempdir().expect("scratch folder");
    let (file, program) = (dir.path().join("nacl_sign.c"), dir.path().join("edges"));
    std::fs::write(&file, source).expect("write");
    let mut cc = Command::new(compiler);
    cc.args(["-std=c99", "-Wall", "-Wextra", "-Werror", "-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]);
    cc.args(half).arg("-I").arg(shipped()).arg("-o").arg(&program).arg(&file).arg(c_file("edges.c"));
    let built = run(&mut cc);
    assert!(built.status.success(), "{cc:?}:\n{}", text(&built.stderr));
    run(&mut Command::new(&program))
}

#[test]
fn exact_rooms_null_pointers_and_refused_lengths_are_clean_under_sanitizers() {
    for (compiler, half) in [("gcc", &[][..]), ("clang-19", &[HALF32])] {
        let out = edges(compiler, half, &shipped_source());
        let said = text(&out.stdout);
        assert!(out.status.success(), "{compiler} {half:?}: {said}\n{}", text(&out.stderr));
        let calls: usize = said.trim().trim_end_matches(" calls").parse().expect("a number");
        assert!(calls > 300, "{said}");
        println!("{compiler} {half:?}: {calls} calls");
    }
}

/// Zeroing the whole of sm's length is what callers of libsodium have no room for.
#[test]
fn zeroing_more_than_the_message_is_found() {
    let source = shipped_source();
    let wrong = source.replace("memset(m, 0, (size_t)size);", "memset(m, 0, (size_t)n);");
    assert_ne!(source, wrong, "the line is in the file");
    let out = edges("clang-19", &[], &wrong);
    assert!(!out.status.success() && text(&out.stderr).contains("heap-buffer-overflow"), "{}", text(&out.stderr));
}

/// All generated C files of the tree.
fn units() -> Vec<std::path::PathBuf> {
    let root = tree().root.join("dist/c");
    let folders = std::fs::read_dir(&root).expect("shipped").flatten();
    let mut files: Vec<_> = folders.map(|f| f.path().join(f.file_name()).with_extension("c")).filter(|f| f.exists()).collect();
    files.sort();
    assert!(files.len() >= 2, "{files:?}");
    files
}

#[test]
fn no_compiler_warns_without_optimisation() {
    let mut compiled = 0;
    for file in units() {
        for compiler in ["gcc", "clang-19"] {
            for half in [&[][..], &[HALF32], &[SMALL]] {
                // Warnings of data flow differ by level; -O1 and -O2 are compiled with the same flags by the tests of vectors.
                for level in ["-O0", "-Og"] {
                    let mut cc = Command::new(compiler);
                    cc.args(["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", level, "-c", "-o", "/dev/null"]).args(half).arg(&file);
                    let out = run(&mut cc);
                    assert!(out.status.success(), "{cc:?}:\n{}", text(&out.stderr));
                    compiled += 1;
                }
            }
        }
    }
    println!("{compiled} compilations without a warning");
}

/// What the preprocessor of clang says of `file` for a processor.
fn preprocessed(file: &Path, processor: &[&str]) -> Output {
    run(Command::new("clang-19").args(processor).args(["-ffreestanding", "-fsyntax-only"]).arg(file))
}

/// Processors whose 64-bit products take a time that depends on the operands, and what a refusal names.
const IN_PARTS: [(&[&str], &str); 4] = [
    (&["--target=thumbv6m-none-eabi", "-mcpu=cortex-m0"], "Cortex-M0"),
    (&["--target=thumbv6m-none-eabi", "-mcpu=cortex-m0plus"], "Cortex-M0"),
    (&["--target=thumbv7m-none-eabi", "-mcpu=cortex-m3"], "Cortex-M3"),
    (&["--target=thumbv8m.base-none-eabi", "-mcpu=cortex-m23"], "Cortex-M23"),
];

/// Processors without constant-time products of any width.
const REFUSED: [(&[&str], &str); 4] = [
    (&["--target=riscv32-unknown-elf", "-march=rv32i"], "RISC-V without M"),
    (&["--target=riscv64-unknown-elf", "-march=rv64ic"], "RISC-V without M"),
    (&["--target=armv4t-none-eabi"], "before ARMv6"),
    (&["--target=i686-linux-gnu", "-march=i486"], "a time that depends"),
];

const ACCEPTED: [&[&str]; 7] = [
    &["--target=thumbv7em-none-eabi", "-mcpu=cortex-m4"],
    &["--target=thumbv8m.main-none-eabi", "-mcpu=cortex-m33"],
    &["--target=riscv32-unknown-elf", "-march=rv32im"],
    &["--target=riscv64-unknown-elf", "-march=rv64imac"],
    &["--target=aarch64-none-elf"],
    &["--target=x86_64-linux-gnu"],
    &["--target=i686-linux-gnu"],
];

#[test]
fn processors_that_would_leak_through_multiplication_are_refused_unless_overridden() {
    let file = shipped().join("nacl_sign.c");
    for (processor, names) in REFUSED {
        let out = preprocessed(&file, processor);
        let said = text(&out.stderr);
        assert!(!out.status.success() && said.contains("#error") && said.contains(names), "{processor:?}: {said}");
        let overridden = preprocessed(&file, &[processor, &["-DSTK_ALLOW_VARIABLE_TIME"]].concat());
        assert!(overridden.status.success(), "{processor:?}: {}", text(&overridden.stderr));
    }
    // Accepted because products are made in parts there, and refused where they are not.
    for (processor, names) in IN_PARTS {
        let told = |more: &[&str]| preprocessed(&file, &[processor, more].concat());
        assert!(told(&[]).status.success(), "{processor:?}: {}", text(&told(&[]).stderr));
        let said = text(&told(&["-DSTK_PRODUCTS_IN_PARTS=0"]).stderr);
        assert!(said.contains("#error") && said.contains(names), "{processor:?}: {said}");
        assert!(told(&["-DSTK_PRODUCTS_IN_PARTS=0", "-DSTK_ALLOW_VARIABLE_TIME"]).status.success(), "{processor:?}");
    }
    for processor in ACCEPTED {
        let out = preprocessed(&file, processor);
        assert!(out.status.success(), "{processor:?}: {}", text(&out.stderr));
    }
    println!("{} processors refused, {} given products in parts, {} accepted as they are", REFUSED.len(), IN_PARTS.len(), ACCEPTED.len());
}

/// A verification has no secrets: nothing is refused on their account.
#[test]
fn a_unit_without_secret_products_refuses_nobody() {
    let text = std::fs::read_to_string(tree().root.join("dist/c/p256_ecdsa_verify/p256_ecdsa_verify.c")).expect("shipped");
    assert!(!text.contains("STK_ALLOW_VARIABLE_TIME"));
}

/// Object formats of other systems than Linux: what clang is told, and how such an object begins.
const FORMATS: &[(&str, &[u8])] = &[
    ("x86_64-apple-macos11", &[0xcf, 0xfa, 0xed, 0xfe]),
    ("arm64-apple-macos11", &[0xcf, 0xfa, 0xed, 0xfe]),
    ("arm64-apple-ios14", &[0xcf, 0xfa, 0xed, 0xfe]),
    ("x86_64-pc-windows-msvc", &[0x64, 0x86]),
    ("aarch64-pc-windows-msvc", &[0x64, 0xaa]),
    ("i686-pc-windows-msvc", &[0x4c, 0x01]),
    ("wasm32-unknown-unknown", b"\0asm"),
];

#[test]
fn units_compile_for_mach_o_and_coff_and_for_compilers_without_attributes() {
    let dir = tempfile::tempdir().expect("scratch folder");
    let object = dir.path().join("unit.o");
    let stranger = ["-U__GNUC__", "-U__clang__", "-U_MSC_VER"];
    let (mut compiled, mut refused) = (0, 0);
    for file in units() {
        for (system, begins) in FORMATS {
            for level in ["-O0", "-O2"] {
                let mut cc = Command::new("clang-19");
                cc.arg(format!("--target={system}")).args(["-std=c99", "-ffreestanding", "-pedantic", "-Wall", "-Wextra", "-Werror", level, "-c", "-o"]).arg(&object).arg(&file);
                let out = run(&mut cc);
                if !out.status.success() {
                    // 64-bit limbs alone, for a processor without products of them.
                    let said = text(&out.stderr);
                    assert!(said.contains("computes with unsigned __int128"), "{cc:?}: {said}");
                    assert!(system.starts_with("i686"), "{cc:?}: {said}");
                    refused += 1;
                    continue;
                }
                assert!(std::fs::read(&object).expect("an object").starts_with(begins), "{cc:?}");
                compiled += 1;
            }
        }
        for compiler in ["gcc", "clang-19"] {
            let out = run(Command::new(compiler).args(["-std=c99", "-Wall", "-Wextra", "-Werror", "-O2", "-c", "-o"]).arg(&object).args(stranger).arg(&file));
            assert!(out.status.success(), "{compiler}: {}", text(&out.stderr));
            compiled += 1;
        }
    }
    println!("{compiled} objects for other systems and compilers, {refused} refused for want of 128 bits");
    assert!(compiled >= 80 && refused == 2, "{compiled} {refused}");
}

/// A C program that calls each function with a length that is greater than its bound by one, or by 2^32, and nothing behind its pointers.
/// A call that returns ends the program with 3; what `STK_MISUSE` is defined as here, with 7.
fn calls_beyond(abi: &serde_json::Value) -> Vec<String> {
    let functions = abi["functions"].as_array().expect("functions");
    let mut programs = vec![];
    for f in functions {
        let arguments = f["arguments"].as_array().expect("arguments");
        for at in (0..arguments.len()).filter(|at| arguments[*at]["size_t"] == true) {
            let bound: u64 = arguments[at]["range"][1].as_str().and_then(|n| n.parse().ok()).expect("a bound");
            for beyond in [bound + 1, 1 << 32] {
                let given = |(k, a): (usize, &serde_json::Value)| match () {
                    () if k == at => format!("(size_t){beyond}ull"),
                    () if a["bytes"].is_null() => "0".to_string(),
                    () => "(void *)rooms".to_string(),
                };
                let list: Vec<String> = arguments.iter().enumerate().map(given).collect();
                let (header, name) = (abi["header"].as_str().expect("a header"), f["name"].as_str().expect("a name"));
                programs.push(format!("#include <stdlib.h>\n#include \"{header}\"\nvoid stop(void);\nvoid stop(void)\n{{\n    exit(7);\n}}\n\nint main(void)\n{{\n    static unsigned char rooms[64];\n    (void){name}({});\n    return 3;\n}}\n", list.join(", ")));
            }
        }
    }
    programs
}

/// Compiles a call beside a unit's source and runs it.
fn call_beyond(compiler: &str, (folder, source): (&Path, &str), program: &str) -> std::process::ExitStatus {
    let dir = tempfile::tempdir().expect("scratch folder");
    let [unit, main, made] = ["unit.c", "main.c", "main"].map(|name| dir.path().join(name));
    std::fs::write(&unit, source).expect("write");
    std::fs::write(&main, program).expect("write");
    let mut cc = Command::new(compiler);
    cc.args(["-std=gnu99", "-Wall", "-Wextra", "-Werror", "-O2"]).arg("-I").arg(folder).arg("-o").arg(&made).arg(&unit).arg(&main);
    let built = run(&mut cc);
    assert!(built.status.success(), "{cc:?}:\n{}\n{program}", text(&built.stderr));
    run(&mut Command::new(&made)).status
}

#[test]
fn a_length_beyond_its_bound_stops_the_program_before_anything_is_read() {
    use std::os::unix::process::ExitStatusExt;
    let (ill, trap) = (4, 5); // Linux: SIGILL, SIGTRAP
    let (mut calls, mut returned) = (0, 0);
    for file in units() {
        let (folder, source) = (file.parent().expect("a folder"), std::fs::read_to_string(&file).expect("a source"));
        let abi: serde_json::Value = serde_json::from_slice(&std::fs::read(file.with_extension("abi.json")).expect("abi.json")).expect("JSON");
        let own = format!("void stop(void);\n#define STK_MISUSE() stop()\n{source}");
        let unchecked = source.replace("if ((n) > (most)) {", "if (0) {");
        for program in calls_beyond(&abi) {
            for compiler in ["gcc", "clang-19"] {
                let status = call_beyond(compiler, (folder, &source), &program);
                assert!(matches!(status.signal(), Some(n) if n == ill || n == trap), "{compiler}: {status}\n{program}");
                let status = call_beyond(compiler, (folder, &own), &program);
                assert_eq!(status.code(), Some(7), "{compiler}\n{program}");
                calls += 2;
            }
            // Cut off, a length of 2^32 is none at all, and all seems well.
            if program.contains("4294967296") {
                assert_eq!(call_beyond("gcc", (folder, &unchecked), &program).code(), Some(3), "{program}");
                returned += 1;
            }
        }
    }
    println!("{calls} calls with too great a length were stopped; without the check {returned} returned");
    assert!(calls >= 40 && returned >= 5, "{calls} {returned}");
}
