//! Names the prover by its content: proofs are kept only as long as nothing that judges has changed.

#[path = "build/digest.rs"]
mod digest;

/// What judges: this crate, the judge of safety, the judge of meaning, the meaning of the core, and the versions of what others wrote.
const JUDGES: [&str; 6] = ["src", "../judge/src", "../meaning/src", "../ir/src", "../num/src", "../../Cargo.lock"];

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rustc-env=SANTOKU_PROVE_ENGINE={}", digest::of(&JUDGES));
    println!("cargo:rustc-env=SANTOKU_PROVE_JUDGES={}", JUDGES.join(" "));
}
