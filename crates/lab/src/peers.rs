//! Rivals obtained from package registries when a measurement needs them, pinned by version and SHA-256.
//!
//! Needs: `peers/<name>/peer.toml` under the repository's root, and the package client it names. Keeps:
//! `build/peers/<name>/<version>/`. Absent on purpose: any peer source in the tree, and any network code of our own.

use serde::Deserialize;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

/// `peer.toml`: where a peer comes from and what of it is used.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PeerSpec {
    /// Name, equal to the folder's.
    pub name: String,
    /// Name for tables.
    pub title: String,
    /// One sentence.
    pub about: String,
    /// Licence of what is fetched.
    pub licence: String,
    /// Flags for everything compiled from this peer.
    pub cflags: Vec<String>,
    /// Package and client.
    pub source: Source,
    /// Accepted versions, in the order they are tried.
    pub pin: Vec<Pin>,
    /// Declared differences between the package's text and what is compiled.
    #[serde(default)]
    pub edit: Vec<Edit>,
}

/// The client that brings a package.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum Source {
    /// A crate, by `cargo vendor`.
    Cargo {
        /// Crate.
        package: String,
    },
    /// A Debian package, by `apt-get download`; not installed, only unpacked.
    Debian {
        /// Binary package.
        package: String,
        /// Its architecture.
        architecture: String,
    },
}

/// One accepted version.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pin {
    /// Version as the client writes it.
    pub version: String,
    /// SHA-256 of the package archive.
    pub archive_sha256: String,
    /// C files to compile, relative to the package's root.
    #[serde(default)]
    pub sources: Vec<String>,
    /// Include folders.
    #[serde(default)]
    pub include: Vec<String>,
    /// Static libraries.
    #[serde(default)]
    pub libs: Vec<String>,
    /// Files that are read, not compiled.
    #[serde(default)]
    pub data: Vec<String>,
    /// SHA-256 of the files used.
    pub files: BTreeMap<String, String>,
}

/// One declared edit: `find` occurs exactly once in `file`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Edit {
    /// File, relative to the package's root.
    pub file: String,
    /// Text to find.
    pub find: String,
    /// Text to put there.
    pub replace: String,
}

/// A peer on disk, verified.
#[derive(Clone, Debug)]
pub struct Peer {
    /// [`PeerSpec::name`].
    pub name: String,
    /// [`PeerSpec::title`].
    pub title: String,
    /// Version obtained.
    pub version: String,
    /// [`PeerSpec::licence`].
    pub licence: String,
    /// [`PeerSpec::cflags`].
    pub cflags: Vec<String>,
    /// Root of the unpacked package.
    pub dir: PathBuf,
    /// `peers/<name>`: our adapters.
    pub adapter_dir: PathBuf,
    /// C files to compile.
    pub sources: Vec<PathBuf>,
    /// Include folders.
    pub include_dirs: Vec<PathBuf>,
    /// Static libraries.
    pub libs: Vec<PathBuf>,
    /// Files that are read, not compiled.
    pub data: Vec<PathBuf>,
}

/// Why a peer is not there.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PeerError {
    /// No such folder.
    #[error("no peer named `{name}`; known: {known}")]
    Unknown {
        /// Name asked for.
        name: String,
        /// Names there are.
        known: String,
    },
    /// `peer.toml` is not as described.
    #[error("{path}: {reason}")]
    Spec {
        /// File.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// No pinned version could be downloaded.
    #[error(
        "cannot obtain {name}: `{command}` failed:\n{stderr}\nCheck the network; for a Debian package run `apt-get update` first; \
         if the archive no longer has the version, add its successor and hash to peers/{name}/peer.toml"
    )]
    Obtain {
        /// Peer.
        name: String,
        /// Last command tried.
        command: String,
        /// What it said.
        stderr: String,
    },
    /// What arrived is not what was pinned.
    #[error("{path}: SHA-256 is {found}, pinned is {expected}; it was not used. Delete {dir} to fetch again")]
    Checksum {
        /// File.
        path: PathBuf,
        /// Folder it lies in.
        dir: PathBuf,
        /// Pinned hash.
        expected: String,
        /// Hash found.
        found: String,
    },
    /// A file could not be read or written.
    #[error("{path}: {source}")]
    Io {
        /// File.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
}

/// The nearest folder at or above `start` that holds `peers/README.md`: the repository's root.
pub fn find_root(start: &Path) -> Option<PathBuf> {
    start.ancestors().find(|d| d.join("peers/README.md").is_file()).map(Path::to_path_buf)
}

/// Names of all peers, sorted.
pub fn names(root: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(root.join("peers")).into_iter().flatten().flatten();
    let mut names: Vec<String> =
        entries.filter(|e| e.path().join("peer.toml").is_file()).map(|e| e.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// Reads `peers/<name>/peer.toml`.
pub fn load(root: &Path, name: &str) -> Result<PeerSpec, PeerError> {
    let known = names(root);
    if !known.iter().any(|n| n == name) {
        return Err(PeerError::Unknown { name: name.into(), known: known.join(", ") });
    }
    let path = root.join("peers").join(name).join("peer.toml");
    let text = read(&path)?;
    let bad = |path: &Path, reason: String| PeerError::Spec { path: path.into(), reason };
    let spec: PeerSpec = toml::from_str(&text).map_err(|e| bad(&path, e.to_string()))?;
    if spec.name != name || spec.pin.is_empty() {
        return Err(bad(&path, "`name` must be the folder's and there must be a [[pin]]".into()));
    }
    for pin in &spec.pin {
        if let Some(loose) = pin.sources.iter().chain(&pin.libs).chain(&pin.data).find(|f| !pin.files.contains_key(*f)) {
            return Err(bad(&path, format!("{loose} is used but has no SHA-256 under [pin.files]")));
        }
    }
    Ok(spec)
}

/// Peer `name`, downloaded if it is not there yet; hashes are checked on every call.
pub fn fetch(root: &Path, name: &str) -> Result<Peer, PeerError> {
    let spec = load(root, name)?;
    let base = root.join("build/peers").join(name);
    let present = spec.pin.iter().find(|p| base.join(&p.version).is_dir());
    let pin = match present {
        Some(pin) => pin,
        None => obtain_any(&spec, &base)?,
    };
    let dir = base.join(&pin.version);
    for (file, expected) in &pin.files {
        check(&dir.join(file), &dir, expected)?;
    }
    apply_edits(root, &spec, pin, &dir)
}

/// Downloads the first pinned version that its archive still has.
fn obtain_any<'a>(spec: &'a PeerSpec, base: &Path) -> Result<&'a Pin, PeerError> {
    static DOWNLOADS: AtomicUsize = AtomicUsize::new(0);
    let mut last = None;
    for pin in &spec.pin {
        // Unpacked beside and renamed when complete: a broken download is never taken for a peer. The name is this call's own.
        let nth = DOWNLOADS.fetch_add(1, Ordering::Relaxed);
        let partial = base.join(format!(".partial-{}-{}-{nth}", pin.version, std::process::id()));
        make_dir(&partial)?;
        let unpacked = match &spec.source {
            Source::Cargo { package } => vendor(spec, pin, package, &partial),
            Source::Debian { package, architecture } => unpack_deb(spec, pin, package, architecture, &partial),
        };
        let done = unpacked.and_then(|from| {
            let to = base.join(&pin.version);
            match std::fs::rename(&from, &to) {
                // Somebody else was faster; theirs is checked like ours.
                Err(_) if to.is_dir() => Ok(()),
                other => other.map_err(|source| PeerError::Io { path: to, source }),
            }
        });
        // Leftovers are harmless: the next run uses another name.
        let _ = std::fs::remove_dir_all(&partial);
        match done {
            Ok(()) => return Ok(pin),
            Err(e @ PeerError::Obtain { .. }) => last = Some(e),
            Err(e) => return Err(e),
        }
    }
    Err(last.unwrap_or_else(|| PeerError::Spec { path: base.into(), reason: "no pin".into() }))
}

/// `cargo vendor` in a package that depends on exactly this version.
fn vendor(spec: &PeerSpec, pin: &Pin, package: &str, dir: &Path) -> Result<PathBuf, PeerError> {
    let manifest = format!(
        "[package]\nname = \"peer\"\nversion = \"0.0.0\"\nedition = \"2021\"\n\n[dependencies]\n{package} = \"={}\"\n\n[workspace]\n",
        pin.version
    );
    make_dir(&dir.join("src"))?;
    write(&dir.join("Cargo.toml"), &manifest)?;
    write(&dir.join("src/lib.rs"), "")?;
    let mut cmd = Command::new("cargo");
    cmd.current_dir(dir).args(["vendor", "--quiet", "--versioned-dirs", "vendor"]);
    run(spec, cmd)?;
    // cargo has verified the archive against the lock file's checksum; ours must be the same.
    let lock = read(&dir.join("Cargo.lock"))?;
    let expected = format!("checksum = \"{}\"", pin.archive_sha256);
    if !lock.lines().any(|l| l == expected) {
        let found = format!("another (see {})", dir.join("Cargo.lock").display());
        return Err(PeerError::Checksum { path: package.into(), dir: dir.into(), expected: pin.archive_sha256.clone(), found });
    }
    Ok(dir.join("vendor").join(format!("{package}-{}", pin.version)))
}

/// `apt-get download` and `dpkg-deb -x`; needs no root and installs nothing.
fn unpack_deb(spec: &PeerSpec, pin: &Pin, package: &str, arch: &str, dir: &Path) -> Result<PathBuf, PeerError> {
    let mut get = Command::new("apt-get");
    get.current_dir(dir).args(["-q", "download", &format!("{package}:{arch}={}", pin.version)]);
    run(spec, get)?;
    let entries = std::fs::read_dir(dir).map_err(|source| PeerError::Io { path: dir.into(), source })?;
    let archive = entries.flatten().map(|e| e.path()).find(|p| p.extension().is_some_and(|e| e == "deb"));
    let archive = archive.ok_or_else(|| PeerError::Spec { path: dir.into(), reason: "no archive arrived".into() })?;
    check(&archive, dir, &pin.archive_sha256)?;
    let mut unpack = Command::new("dpkg-deb");
    unpack.arg("-x").arg(&archive).arg(dir.join("root"));
    run(spec, unpack)?;
    Ok(dir.join("root"))
}

/// Writes edited copies under `edited/` of the unpacked package and says where everything is.
fn apply_edits(root: &Path, spec: &PeerSpec, pin: &Pin, dir: &Path) -> Result<Peer, PeerError> {
    let mut texts: BTreeMap<&str, String> = BTreeMap::new();
    for edit in &spec.edit {
        let path = dir.join(&edit.file);
        let text = match texts.remove(edit.file.as_str()) {
            Some(text) => text,
            None => read(&path)?,
        };
        if text.matches(&edit.find).count() != 1 {
            return Err(PeerError::Spec { path, reason: format!("`{}` does not occur exactly once", edit.find) });
        }
        texts.insert(&edit.file, text.replace(&edit.find, &edit.replace));
    }
    for (file, text) in &texts {
        let path = dir.join("edited").join(file);
        if let Some(parent) = path.parent() {
            make_dir(parent)?;
        }
        // Only when it differs: a second process may be compiling it.
        if std::fs::read_to_string(&path).ok().as_ref() != Some(text) {
            write(&path, text)?;
        }
    }
    let place = |file: &String| match texts.contains_key(file.as_str()) {
        true => dir.join("edited").join(file),
        false => dir.join(file),
    };
    Ok(Peer {
        name: spec.name.clone(),
        title: spec.title.clone(),
        version: pin.version.clone(),
        licence: spec.licence.clone(),
        cflags: spec.cflags.clone(),
        dir: dir.to_path_buf(),
        adapter_dir: root.join("peers").join(&spec.name),
        sources: pin.sources.iter().map(place).collect(),
        // Edited headers go before the package's own.
        include_dirs: pin.include.iter().flat_map(|i| [dir.join("edited").join(i), dir.join(i)]).filter(|d| d.is_dir()).collect(),
        libs: pin.libs.iter().map(place).collect(),
        data: pin.data.iter().map(place).collect(),
    })
}

fn run(spec: &PeerSpec, mut cmd: Command) -> Result<(), PeerError> {
    let failed = |stderr: String, cmd: &Command| {
        let words = std::iter::once(cmd.get_program()).chain(cmd.get_args()).map(|a| a.to_string_lossy());
        PeerError::Obtain { name: spec.name.clone(), command: words.collect::<Vec<_>>().join(" "), stderr }
    };
    match cmd.output() {
        Ok(out) if out.status.success() => Ok(()),
        Ok(out) => Err(failed(String::from_utf8_lossy(&out.stderr).trim_end().to_string(), &cmd)),
        Err(e) => Err(failed(e.to_string(), &cmd)),
    }
}

fn check(path: &Path, dir: &Path, expected: &str) -> Result<(), PeerError> {
    let bytes = std::fs::read(path).map_err(|source| PeerError::Io { path: path.into(), source })?;
    let found = santoku_num::hex(&Sha256::digest(&bytes));
    if found == expected {
        return Ok(());
    }
    Err(PeerError::Checksum { path: path.into(), dir: dir.into(), expected: expected.into(), found })
}

fn read(path: &Path) -> Result<String, PeerError> {
    std::fs::read_to_string(path).map_err(|source| PeerError::Io { path: path.into(), source })
}

fn write(path: &Path, text: &str) -> Result<(), PeerError> {
    std::fs::write(path, text).map_err(|source| PeerError::Io { path: path.into(), source })
}

fn make_dir(path: &Path) -> Result<(), PeerError> {
    std::fs::create_dir_all(path).map_err(|source| PeerError::Io { path: path.into(), source })
}

#[cfg(test)]
mod tests;
