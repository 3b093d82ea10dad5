//! Names the engine by its content: proofs are kept only as long as nothing that judges has changed.

#[path = "../prove/build/digest.rs"]
mod digest;

/// What judges: this crate, the machine model, the reader of object files, the meaning of the source, the way to the solver.
const JUDGES: [&str; 5] = ["src", "../isa/src", "../elf/src", "../ir/src", "../prove/src/smt"];

fn main() {
    println!("cargo:rustc-env=SANTOKU_CERTIFY_ENGINE={}", digest::of(&JUDGES));
}
