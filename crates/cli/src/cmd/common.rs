//! Options that several commands take, and the way from a path to a checked program.

use crate::{files, report};
use santoku_diag::{Diagnostic, Sources};
use santoku_driver::{Checked, Failure, Request, Target};
use std::collections::BTreeMap;

/// Where texts are found and how interfaces are served.
#[derive(clap::Args, Clone, Debug)]
pub struct Source {
    /// Folder of the library; default: `lib` beside or above the file
    #[arg(long = "lib", value_name = "DIR")]
    libs: Vec<String>,
    /// What the program is for: chooses the tuning file
    #[arg(long, default_value = "portable", value_parser = Target::ALL.map(Target::name))]
    target: String,
    /// Implementation of an interface, before that of the tuning file
    #[arg(long = "impl", value_name = "INTERFACE=VARIANT")]
    impls: Vec<String>,
}

impl Source {
    /// The target; only names of targets get here.
    pub fn target(&self) -> Target {
        Target::from_name(&self.target).unwrap_or_default()
    }

    /// What the driver needs to know to compile `entry`.
    pub fn request(&self, entry: &str) -> Result<Request, Failure> {
        let home = files::home_of(entry);
        let mut roots = self.libs.clone();
        if roots.is_empty() {
            roots.extend(home.iter().map(|h| files::join(h, "lib")));
        }
        let tuned = home.map(|h| files::join(&h, &santoku_driver::tuned_path(self.target())));
        Ok(Request { entry: entry.into(), roots, impls: self.impls()?, tuned })
    }

    /// The `--impl` options as they were written.
    pub fn impl_args(&self) -> impl Iterator<Item = &String> {
        self.impls.iter()
    }

    fn impls(&self) -> Result<BTreeMap<String, String>, Failure> {
        let mut out = BTreeMap::new();
        for text in &self.impls {
            let Some((interface, variant)) = text.split_once('=').filter(|(a, b)| !a.is_empty() && !b.is_empty()) else {
                let d = Diagnostic::error("bad-option", format!("`--impl {text}` does not name an interface and a variant"));
                return Err(Failure::refused(&Sources::default(), d.help("write `--impl fe25519=radix51`")));
            };
            out.insert(interface.to_string(), variant.to_string());
        }
        Ok(out)
    }
}

/// Loads and checks `entry`; warnings are shown at once.
pub fn check(source: &Source, entry: &str) -> Result<Checked, Failure> {
    // A missing entry is told by its path, not as an import.
    files::read_entry(entry)?;
    report::stage("sema");
    let request = source.request(entry)?;
    let checked = santoku_driver::check(&request, &mut |path: &str| files::read(path))?;
    for w in &checked.warnings {
        report::diagnostic(w, &checked.sources);
    }
    Ok(checked)
}
