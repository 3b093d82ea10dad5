//! Names the prover by its content: proofs are kept only as long as nothing that judges has changed.

#[path = "build/digest.rs"]
mod digest;

/// What judges: this crate, the small judge, the meaning of the core, and the versions of what others wrote.
const JUDGES: [&str; 4] = ["src", "../judge/src", "../ir/src", "../../Cargo.lock"];

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rustc-env=SANTOKU_PROVE_ENGINE={}", digest::of(&JUDGES));
    println!("cargo:rustc-env=SANTOKU_PROVE_JUDGES={}", JUDGES.join(" "));
}
