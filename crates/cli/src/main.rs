//! The command `santoku`.
//!
//! Needs: `driver` for all work.  Keeps: messages on stderr, results on stdout; exit code 0 done, 1 tests or proofs failed,
//! 2 the user's fault, 70 ours; no output file is ever half written.
//! Absent on purpose: any knowledge of the language.

// A failure ends the run: its size costs nothing.
#![allow(clippy::result_large_err)]

mod cache;
mod cmd;
mod files;
mod message;
mod project;
mod report;
mod standard;
mod tables;

use clap::{CommandFactory, Parser, Subcommand};
use std::process::ExitCode;

/// Cryptography that is proven, constant-time and fast.
#[derive(Parser)]
#[command(name = "santoku", version, disable_help_subcommand = true)]
struct Cli {
    /// Print the result as one JSON object: what was found, the exit code, and all messages
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Make a project
    New(cmd::new::Args),
    /// Format files in place
    Fmt(cmd::fmt::Args),
    /// Check a program: names, types, secrecy
    Check(cmd::check::Args),
    /// Run a function in the interpreter
    Run(cmd::run::Args),
    /// Run the test blocks of files and folders
    Test(cmd::test::Args),
    /// Prove ranges, indices, contracts, termination and secrecy
    Prove(cmd::prove::Args),
    /// Make C
    Build(cmd::build::Args),
    /// Prove machine code equal to its source, and free of secret-dependent time
    Certify(cmd::certify::Args),
    /// Make the shipped C files again, or check that they are as made
    Dist(cmd::dist::Args),
    /// Make a package for programs in another language
    Package(cmd::package::Args),
    /// Measure: tables, ablations, profiles
    Lab(cmd::lab::Args),
    /// List the stages and passes of the compiler
    Passes,
    /// Print what is believed for each claim, in lines
    Trust(cmd::trust::Args),
    /// Serve an editor: messages, proven ranges, definitions, formatting, the state of proofs
    Lsp(cmd::lsp::Args),
    /// Show, bound or clear what is kept of proofs
    Cache(cmd::cache::Args),
    /// Explain a diagnostic code
    Explain(cmd::explain::Args),
    /// Print a script that completes commands and options in a shell
    Completions {
        /// bash, zsh, fish, elvish or powershell
        shell: clap_complete::Shell,
    },
}

/// Stack of the working thread: trees are at most a few hundred levels high, debug builds need much per level.
const STACK_BYTES: usize = 256 << 20;

fn main() -> ExitCode {
    let cli = Cli::parse();
    report::install_panic_hook();
    if cli.json {
        report::use_json();
    }
    ExitCode::from(report::finish(guarded(move || run(cli.command))))
}

/// Runs `work` on a thread with a stack of its own; a panic in it is a fault of ours.
fn guarded(work: impl FnOnce() -> u8 + Send + 'static) -> u8 {
    match std::thread::Builder::new().stack_size(STACK_BYTES).spawn(work).map(std::thread::JoinHandle::join) {
        Ok(Ok(code)) => code,
        // The panic hook has told what happened.
        Ok(Err(_)) => report::INTERNAL,
        Err(e) => report::internal("start", &e.to_string()),
    }
}

fn run(command: Command) -> u8 {
    let done = match command {
        Command::New(args) => cmd::new::run(&args),
        Command::Lsp(args) => cmd::lsp::run(&args),
        Command::Cache(args) => cmd::cache::run(&args),
        Command::Fmt(args) => cmd::fmt::run(&args),
        Command::Check(args) => cmd::check::run(&args),
        Command::Run(args) => cmd::run::run(&args),
        Command::Test(args) => cmd::test::run(&args),
        Command::Prove(args) => cmd::prove::run(&args),
        Command::Build(args) => cmd::build::run(&args),
        Command::Certify(args) => cmd::certify::run(&args),
        Command::Dist(args) => cmd::dist::run(&args),
        Command::Package(args) => cmd::package::run(&args),
        Command::Lab(args) => cmd::lab::run(&args),
        Command::Passes => cmd::passes::run(),
        Command::Trust(args) => cmd::trust::run(&args),
        Command::Explain(args) => cmd::explain::run(&args),
        Command::Completions { shell } => {
            let mut script = vec![];
            clap_complete::generate(shell, &mut Cli::command(), "santoku", &mut script);
            let script = String::from_utf8_lossy(&script);
            report::out(&script);
            report::answer(&serde_json::json!({ "shell": shell.to_string(), "script": script })).map(|()| report::DONE)
        }
    };
    done.unwrap_or_else(|failure| report::failure(&failure))
}

#[cfg(test)]
mod tests {
    use super::*;
    use santoku_driver::Failure;

    #[test]
    fn a_panic_is_an_internal_error() {
        assert_eq!(guarded(|| panic!("a defect")), 70);
        assert_eq!(guarded(|| 2), 2);
    }

    #[test]
    fn an_internal_failure_is_no_fault_of_the_user() {
        assert_eq!(report::failure(&Failure::internal("cse", "lost a term")), 70);
    }
}
