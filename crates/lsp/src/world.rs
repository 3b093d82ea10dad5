//! What the server needs from outside.

use santoku_diag::Diagnostic;
use santoku_driver::{Checked, Failure, Loader, Store};
use std::path::PathBuf;

/// Files, options and the store of proofs.
pub trait World: Send + Sync {
    /// Loads and checks the program in the file `path`; every text comes from `texts`.
    ///
    /// # Errors
    /// Those of the driver, and of choosing a target.
    fn check(&self, path: &str, texts: &mut Loader) -> Result<Checked, Failure>;

    /// The text of a file as it is kept. `Ok(None)`: there is none.
    ///
    /// # Errors
    /// A file that cannot be used.
    fn text(&self, path: &str) -> Result<Option<String>, Diagnostic>;

    /// Folders in which modules are looked for, behind that of the importing file.
    fn roots(&self, path: &str) -> Vec<String>;

    /// Where an editor can open a file that was loaded by this path.
    fn on_disk(&self, path: &str) -> Option<PathBuf>;

    /// Results of proofs.
    fn store(&self) -> &dyn Store;
}
