//! Names the engine by its content: proofs are kept only as long as nothing that judges has changed.

#[path = "../prove/build/digest.rs"]
mod digest;

/// What judges: this crate, the machine model, the reader of object files, the meaning of the source, the way to the solver with what it
/// needs, and the versions of what others wrote.
const JUDGES: [&str; 11] =
    ["src", "../bytes/src", "../meaning/src", "../judge/src", "../isa/src", "../elf/src", "../ir/src", "../num/src", "../prove/src/smt", "../prove/src/itv.rs", "../../Cargo.lock"];

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rustc-env=SANTOKU_CERTIFY_ENGINE={}", digest::of(&JUDGES));
    println!("cargo:rustc-env=SANTOKU_CERTIFY_JUDGES={}", JUDGES.join(" "));
}
