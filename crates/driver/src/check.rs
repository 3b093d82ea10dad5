//! The front half of the pipeline: load, parse, analyse, verify.
//! Trusted: text.

use crate::choices;
use crate::request::{Loader, Request};
use crate::failure::Failure;
use crate::target::Target;
use santoku_diag::{Diagnostic, Severity, Sources};
use santoku_ir::{FuncId, Program};
use std::collections::BTreeMap;

/// A program that is well formed; nothing is proved of it yet.
#[derive(Clone, Debug)]
pub struct Checked {
    pub program: Program,
    /// What it was checked for: proofs and C are for the same.
    pub target: Target,
    pub sources: Sources,
    pub warnings: Vec<Diagnostic>,
}

impl Checked {
    /// Whether some function has a C name.
    pub fn exports(&self) -> bool {
        self.program.funcs.iter().any(|f| f.export.is_some())
    }

    pub fn name(&self, f: FuncId) -> &str {
        &self.program.func(f).name
    }
}

/// Loads, analyses and verifies `request.entry` with all it imports.
///
/// # Errors
/// [`Failure::Refused`] for faults of the texts and of the request; [`Failure::Internal`] when the verifier refuses
/// what the analysis made.
pub fn check(request: &Request, load: &mut Loader) -> Result<Checked, Failure> {
    choices::check(request, load)?;
    let impls = impls(request);
    // Faults of loading are better news than the missing import they lead to.
    let mut faults: Vec<Diagnostic> = Vec::new();
    let mut text = |path: &str| match load(path) {
        Ok(text) => text,
        Err(d) => {
            faults.push(d);
            None
        }
    };
    let options = santoku_sema::Options { impls };
    let compiled = santoku_sema::compile(&request.entry, &request.roots, &mut text, &options);
    if !faults.is_empty() {
        let sources = compiled.map_or_else(|f| f.sources, |c| c.sources);
        return Err(Failure::Refused { sources, diagnostics: faults });
    }
    let compiled = compiled.map_err(|failed| refused(failed.sources, failed.diagnostics))?;
    if let Some(e) = santoku_ir::verify::verify(&compiled.program).first() {
        return Err(Failure::internal("verify", format!("after analysis: {e}")));
    }
    Ok(Checked {
        program: compiled.program,
        target: request.target.clone(),
        sources: compiled.sources,
        warnings: compiled.warnings,
    })
}

fn refused(sources: Sources, diagnostics: Vec<Diagnostic>) -> Failure {
    if diagnostics.iter().all(|d| d.severity != Severity::Error) {
        return Failure::internal("sema", "refused a program without saying why");
    }
    // Analysis reports its own defects under this code.
    if let Some(d) = diagnostics.iter().find(|d| d.code == "internal") {
        return Failure::internal("sema", d.title.clone());
    }
    Failure::Refused { sources, diagnostics }
}

/// The choices of the request, then those of the target for other interfaces. The last part of a module's name means it too.
fn impls(request: &Request) -> BTreeMap<String, String> {
    let last = |name: &str| name.rsplit('.').next().is_some_and(|l| request.impls.contains_key(l));
    let mut all = request.target.impls.clone();
    all.retain(|interface, _| !last(interface));
    all.extend(request.impls.clone());
    all
}
