//! The descriptions that are compiled in.

use crate::{Compilers, Fault, Target, VectorUnit};

include!(concat!(env!("OUT_DIR"), "/files.rs"));

/// The file of compilers, beside those of machines.
const COMPILERS: &str = "compilers";

fn within(name: &str, fault: Fault) -> Fault {
    Fault { reason: format!("{name}: {}", fault.reason), at: None }
}

fn machine(name: &str) -> Result<Option<Target>, Fault> {
    let Some((_, text)) = MACHINES.iter().find(|(n, _)| *n == name && *n != COMPILERS) else { return Ok(None) };
    Target::parse(name, "", text).map(Some).map_err(|e| within(name, e))
}

/// A target that is compiled in: a machine, or choices for one. `Ok(None)`: there is none of that name.
///
/// # Errors
/// [`Fault`]: its file does not describe one; a fault of the build.
pub fn built_in(name: &str) -> Result<Option<Target>, Fault> {
    match CHOICES.iter().find(|(n, _)| *n == name) {
        Some((_, text)) => Target::choose(name, "", text, &mut machine).map(Some).map_err(|e| within(name, e)),
        None => machine(name),
    }
}

/// Names of the machines, sorted.
pub fn machine_names() -> impl Iterator<Item = &'static str> {
    MACHINES.iter().map(|(name, _)| *name).filter(|name| *name != COMPILERS)
}

/// Names of all targets, sorted.
pub fn names() -> Vec<&'static str> {
    let mut all: Vec<&str> = machine_names().chain(CHOICES.iter().map(|(name, _)| *name)).collect();
    all.sort_unstable();
    all
}

/// The compilers.
///
/// # Errors
/// [`Fault`]: their file is wrong; a fault of the build.
pub fn compilers() -> Result<Compilers, Fault> {
    let text = MACHINES.iter().find(|(n, _)| *n == COMPILERS).map_or("", |(_, text)| text);
    Compilers::parse(text).map_err(|e| within(COMPILERS, e))
}

/// The vector units of all machines, narrow ones first.
///
/// # Errors
/// [`Fault`]: a file is wrong; a fault of the build.
pub fn vectors() -> Result<Vec<VectorUnit>, Fault> {
    let mut all = vec![];
    for name in machine_names() {
        all.extend(machine(name)?.into_iter().flat_map(|t| t.vectors));
    }
    all.sort_by_key(|v| v.register_bits);
    Ok(all)
}

/// A vector unit by its name.
///
/// # Errors
/// Those of [`vectors`].
pub fn vector(name: &str) -> Result<Option<VectorUnit>, Fault> {
    Ok(vectors()?.into_iter().find(|v| v.name == name))
}
