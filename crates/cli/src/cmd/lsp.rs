//! `santoku lsp`

use super::common::{target_of, Library};
use crate::cache::Cache;
use crate::project::Project;
use crate::{files, report, standard};
use santoku_diag::Diagnostic;
use santoku_driver::{Checked, Failure, Loader, Store};
use santoku_lsp::{serve, World};
use std::path::{Path, PathBuf};
use std::sync::Arc;

#[derive(clap::Args)]
pub struct Args {
    /// What programs are for; default: the first target of their project, else portable
    #[arg(long)]
    target: Option<String>,
    #[command(flatten)]
    library: Library,
}

struct Files {
    target: Option<String>,
    library: Library,
    cache: Cache,
}

impl World for Files {
    fn check(&self, path: &str, texts: &mut Loader) -> Result<Checked, Failure> {
        self.library.load_with(path, &target_of(self.target.as_deref(), path)?, texts)
    }

    fn text(&self, path: &str) -> Result<Option<String>, Diagnostic> {
        files::read(path)
    }

    fn roots(&self, path: &str) -> Vec<String> {
        // A project that cannot be read is told when its programs are checked.
        Project::of(path).map(|project| self.library.roots(path, project.as_ref())).unwrap_or_default()
    }

    /// The library inside of the command is written into the cache, for reading.
    fn on_disk(&self, path: &str) -> Option<PathBuf> {
        let (Some(below), Some(text)) = (standard::below(path), standard::text(path)) else { return std::fs::canonicalize(path).ok() };
        let place = self.cache.folder()?.with_extension("lib").join(env!("CARGO_PKG_VERSION")).join(below);
        let kept = std::fs::read_to_string(&place).is_ok_and(|kept| kept == text);
        if !kept {
            let name = Path::new(below).file_name()?.to_string_lossy().into_owned();
            files::write_all(&files::parent(&place), &[(name, text.to_string())]).ok()?;
        }
        Some(place)
    }

    fn store(&self) -> &dyn Store {
        &self.cache
    }
}

/// Serves one editor on standard input and output.
pub fn run(args: &Args) -> Result<u8, Failure> {
    report::stage("lsp");
    let world = Files { target: args.target.clone(), library: args.library.clone(), cache: Cache::of_user() };
    serve(Arc::new(world)).map(|()| report::DONE).map_err(|why| {
        let d = Diagnostic::error("bad-editor", "the editor does not speak the Language Server Protocol").note(format!("why: {why}"));
        files::refused(d.help("`santoku lsp` is started by an editor: docs/editor.md"))
    })
}
