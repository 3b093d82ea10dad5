//! Options that several commands take, and the way from a path to a checked program.

use crate::project::Project;
use crate::{files, report};
use santoku_diag::{Diagnostic, Sources};
use santoku_driver::{built_in, read_choices, read_machine, unknown_target, Checked, Failure, Loader, Request, Target, DEFAULT_TARGET};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// How long the interpreter may run.
#[derive(clap::Args, Clone, Debug)]
pub struct Limit {
    /// Steps that one run of the interpreter may take: statements, rounds of loops, elements copied
    #[arg(long, value_name = "N", default_value_t = santoku_driver::STEPS)]
    pub steps: u64,
}

/// Where texts are found and how interfaces are served.
#[derive(clap::Args, Clone, Debug)]
pub struct Library {
    /// Folder of the library; default: `lib` beside or above the file, then the library inside of this command
    #[arg(long = "lib", value_name = "DIR")]
    libs: Vec<String>,
    /// Implementation of an interface, before that of the tuning file
    #[arg(long = "impl", value_name = "INTERFACE=VARIANT")]
    impls: Vec<String>,
}

/// The library, and what a program is for.
#[derive(clap::Args, Clone, Debug)]
pub struct Source {
    #[command(flatten)]
    library: Library,
    /// What the program is for: a file of `targets/`, or of `tuned/` for other implementations; default: the project's, else portable
    #[arg(long)]
    target: Option<String>,
}

impl Source {
    /// Name of the target of a program: that given, else the first of its project.
    pub fn target_name(&self, entry: &str) -> Result<String, Failure> {
        target_of(self.target.as_deref(), entry)
    }

    /// Names of the targets of a program: that given, else those of its project. At least one.
    pub fn targets(&self, entry: &str) -> Result<Vec<String>, Failure> {
        if let Some(name) = &self.target {
            return Ok(vec![name.clone()]);
        }
        project_targets(entry)
    }

    /// The `--impl` options as they were written.
    pub fn impl_args(&self) -> impl Iterator<Item = &String> {
        self.library.impls.iter()
    }
}

/// The targets of the project of a program. At least one.
fn project_targets(entry: &str) -> Result<Vec<String>, Failure> {
    let all = Project::of(entry)?.map(|p| p.targets).unwrap_or_default();
    Ok(if all.is_empty() { vec![DEFAULT_TARGET.to_string()] } else { all })
}

/// The target of this name, or else the first of the program's project.
pub fn target_of(name: Option<&str>, entry: &str) -> Result<String, Failure> {
    Ok(match name {
        Some(name) => name.to_string(),
        None => project_targets(entry)?.swap_remove(0),
    })
}

impl Library {
    /// Loads and checks `entry` for a target.
    pub fn load(&self, entry: &str, target: &str) -> Result<Checked, Failure> {
        // A missing entry is told by its path, not as an import.
        files::read_entry(entry)?;
        self.load_with(entry, target, &mut |path| files::read(path))
    }

    /// [`Library::load`], with texts from elsewhere.
    pub fn load_with(&self, entry: &str, target: &str, texts: &mut Loader) -> Result<Checked, Failure> {
        report::stage("sema");
        santoku_driver::check(&self.request(entry, target)?, texts)
    }

    /// What the driver needs to know to compile `entry`.
    fn request(&self, entry: &str, name: &str) -> Result<Request, Failure> {
        if let Some(dir) = self.libs.iter().find(|l| !Path::new(l).is_dir()) {
            let d = Diagnostic::error("bad-option", format!("there is no folder `{dir}`"));
            return Err(files::refused(d.note("why: `--lib` names the folder of the library").help("check the path; it is taken from the current folder")));
        }
        let project = Project::of(entry)?;
        let roots = self.roots(entry, project.as_ref());
        let home = project.as_ref().map(|p| p.root.clone()).or_else(|| files::home_of(entry));
        let beside = self.libs.first().map(|lib| files::parent(Path::new(lib))).or(home);
        let library = files::programs(entry, &roots);
        let mut impls = project.map(|p| p.impls).unwrap_or_default();
        impls.extend(self.impls()?);
        Ok(Request { roots, impls, library, ..Request::new(entry, target(name, beside.as_deref())?) })
    }

    /// Folders of modules, in the order in which they are searched.
    pub fn roots(&self, entry: &str, project: Option<&Project>) -> Vec<String> {
        if !self.libs.is_empty() {
            return self.libs.clone();
        }
        let own = match project {
            Some(p) => Some(p.library.display().to_string()),
            None => files::home_of(entry).map(|home| files::join(&home, "lib")),
        };
        own.into_iter().chain([crate::standard::ROOT.to_string()]).collect()
    }

    fn impls(&self) -> Result<BTreeMap<String, String>, Failure> {
        let mut out = BTreeMap::new();
        for text in &self.impls {
            let Some((interface, variant)) = text.split_once('=').filter(|(a, b)| !a.is_empty() && !b.is_empty()) else {
                let d = Diagnostic::error("bad-option", format!("`--impl {text}` does not name an interface and a variant"));
                return Err(Failure::refused(&Sources::default(), d.help("write `--impl fe25519=radix51`")));
            };
            if let Some(other) = out.insert(interface.to_string(), variant.to_string()) {
                let d = Diagnostic::error("bad-option", format!("`--impl {interface}` is given twice, as `{other}` and as `{variant}`"));
                return Err(Failure::refused(&Sources::default(), d.help("give it once")));
            }
        }
        Ok(out)
    }
}

/// The target of this name: a file of the folders `tuned` or `targets` in `home` if they have one, else as compiled in.
fn target(name: &str, home: Option<&Path>) -> Result<Target, Failure> {
    let own = |folder: &str| home.map(|h| files::targets(&files::join(h, folder))).unwrap_or_default();
    let (choices, machines) = (own("tuned"), own("targets"));
    let mut machine = |name: &str| match machines.get(name) {
        Some(path) => read_machine(name, path, &files::read_entry(path)?).map(Some),
        None => built_in(name),
    };
    if let Some(path) = choices.get(name) {
        return read_choices(name, path, &files::read_entry(path)?, &mut machine);
    }
    if let Some(target) = machine(name)? {
        return Ok(target);
    }
    let built_in = santoku_target::names().into_iter().map(str::to_string);
    let known: BTreeSet<String> = choices.into_keys().chain(machines.into_keys()).chain(built_in).collect();
    Err(unknown_target(name, &known.into_iter().collect::<Vec<_>>()))
}

/// Loads and checks `entry`; warnings are shown at once.
pub fn check(source: &Source, entry: &str) -> Result<Checked, Failure> {
    check_for(source, entry, &source.target_name(entry)?)
}

/// [`check`] for one target of several.
pub fn check_for(source: &Source, entry: &str, target: &str) -> Result<Checked, Failure> {
    load_for(source, entry, target).map(warned)
}

/// Shows what there is to say of a program that was loaded.
pub fn warned(checked: Checked) -> Checked {
    for w in &checked.warnings {
        report::diagnostic(w, &checked.sources);
    }
    checked
}

/// [`check_for`], whose warnings are left to [`warned`].
pub fn load_for(source: &Source, entry: &str, target: &str) -> Result<Checked, Failure> {
    source.library.load(entry, target)
}

/// Each program with each of its targets.
pub fn each_target(source: &Source, paths: &[String]) -> Result<Vec<(String, String)>, Failure> {
    let mut all = vec![];
    for path in paths {
        all.extend(source.targets(path)?.into_iter().map(|target| (path.clone(), target)));
    }
    Ok(all)
}

/// The paths that were named; without any, the folder of the project's modules.
pub fn named_or_project(paths: &[String]) -> Result<Vec<String>, Failure> {
    if !paths.is_empty() {
        return Ok(paths.to_vec());
    }
    let library = Project::here()?.library;
    Ok(vec![if library.as_os_str().is_empty() { ".".into() } else { library.display().to_string() }])
}
