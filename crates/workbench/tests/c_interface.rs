//! The shipped C as a C user meets it: exact rooms and null pointers under sanitizers, every warning at every level, processors
//! on which it would not be constant-time.

mod support;

use std::path::Path;
use std::process::{Command, Output};
use support::{c_file, shipped, shipped_source, tree};

const HALF32: &str = "-DSANTOKU_32BIT";

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
            for half in [&[][..], &[HALF32]] {
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
