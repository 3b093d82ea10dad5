//! Files: reading texts, finding the library, writing whole results or nothing.

use santoku_diag::{Diagnostic, Sources};
use santoku_driver::Failure;
use santoku_syntax::FILE_BYTES_MAX;
use std::collections::BTreeMap;
use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

pub fn refused(d: Diagnostic) -> Failure {
    Failure::refused(&Sources::default(), d)
}

/// The text of a file, or of a program in this command. `Ok(None)`: there is none.
///
/// # Errors
/// `not-a-file`, `unreadable`, `file-too-large`, `not-utf8`.
pub fn read(path: &str) -> Result<Option<String>, Diagnostic> {
    if crate::standard::below(path).is_some() {
        return Ok(crate::standard::text(path).map(str::to_string));
    }
    let Some(file) = opened(path)? else { return Ok(None) };
    let meta = file.metadata().map_err(|e| unreadable(path, &e))?;
    if !meta.is_file() {
        let what = if meta.is_dir() { "a folder" } else { "not a plain file" };
        return Err(Diagnostic::error("not-a-file", format!("`{path}` is {what}")).help("name a file that ends in `.stk`"));
    }
    text_of(path, file, FILE_BYTES_MAX, "split it into several modules").map(Some)
}

/// `Ok(None)`: there is no file of this name.
fn opened(path: &str) -> Result<Option<std::fs::File>, Diagnostic> {
    match std::fs::File::open(path) {
        Ok(file) => Ok(Some(file)),
        Err(e) if matches!(e.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(None),
        Err(e) => Err(unreadable(path, &e)),
    }
}

/// Most bytes of a file of test cases: NIST's longest have some ten million.
const CASES_BYTES_MAX: usize = 64 << 20;

/// The text of a file of test cases. `Ok(None)`: there is none.
///
/// # Errors
/// As [`read`].
pub fn read_cases(path: &str) -> Result<Option<String>, Diagnostic> {
    opened(path)?.map(|file| text_of(path, file, CASES_BYTES_MAX, "split it into several files")).transpose()
}

/// Standard input as text.
///
/// # Errors
/// `unreadable`, `file-too-large`, `not-utf8`.
pub fn read_stdin() -> Result<String, Failure> {
    text_of("<stdin>", std::io::stdin(), FILE_BYTES_MAX, "split it into several modules").map_err(refused)
}

fn text_of(path: &str, from: impl Read, most: usize, way_out: &str) -> Result<String, Diagnostic> {
    let mut bytes = Vec::new();
    from.take(most as u64 + 1).read_to_end(&mut bytes).map_err(|e| unreadable(path, &e))?;
    if bytes.len() > most {
        let d = Diagnostic::error("file-too-large", format!("`{path}` has more than {most} bytes"));
        return Err(d.help(way_out));
    }
    String::from_utf8(bytes).map_err(|e| {
        let at = e.utf8_error().valid_up_to();
        let line = e.as_bytes()[..at].iter().filter(|b| **b == b'\n').count() + 1;
        Diagnostic::error("not-utf8", format!("`{path}` is not UTF-8 text"))
            .note(format!("why: byte {at}, in line {line}, does not belong to UTF-8"))
            .help("convert the file; programs are UTF-8")
    })
}

/// Most bytes of a file of machine code.
const OBJECT_BYTES_MAX: u64 = 256 << 20;

/// The bytes of a file that must be there.
///
/// # Errors
/// `missing-file`, `not-a-file`, `unreadable`, `file-too-large`.
pub fn read_bytes(path: &str) -> Result<Vec<u8>, Failure> {
    let file = opened(path).map_err(refused)?.ok_or_else(|| refused(no_file(path)))?;
    let meta = file.metadata().map_err(|e| refused(unreadable(path, &e)))?;
    if !meta.is_file() {
        let d = Diagnostic::error("not-a-file", format!("`{path}` is no plain file"));
        return Err(refused(d.help("name an object file or a linked image")));
    }
    let mut bytes = Vec::new();
    file.take(OBJECT_BYTES_MAX + 1).read_to_end(&mut bytes).map_err(|e| refused(unreadable(path, &e)))?;
    if bytes.len() as u64 > OBJECT_BYTES_MAX {
        let d = Diagnostic::error("file-too-large", format!("`{path}` has more than {OBJECT_BYTES_MAX} bytes"));
        return Err(refused(d.help("certify the objects it is made of, one by one")));
    }
    Ok(bytes)
}

fn unreadable(path: &str, e: &std::io::Error) -> Diagnostic {
    Diagnostic::error("unreadable", format!("`{path}` cannot be read")).note(format!("why: {e}")).help("check the permissions of the file")
}

/// The text of a file that must be there.
///
/// # Errors
/// Those of [`read`], and `missing-file`.
pub fn read_entry(path: &str) -> Result<String, Failure> {
    match read(path).map_err(refused)? {
        Some(text) => Ok(text),
        None => Err(refused(no_file(path))),
    }
}

pub fn no_file(path: &str) -> Diagnostic {
    Diagnostic::error("missing-file", format!("there is no file `{path}`")).help("check the path; it is taken from the current folder")
}

/// The folder that holds `lib/`, `targets/` and `tuned/`, looked for from the file upwards, then from the current folder upwards.
pub fn home_of(entry: &str) -> Option<PathBuf> {
    above(entry, &is_home)
}

/// The first folder of this kind: from the file upwards, then from the current folder upwards.
pub fn above(entry: &str, found: &dyn Fn(&Path) -> bool) -> Option<PathBuf> {
    let near = Path::new(entry).ancestors().skip(1).find(|d| found(d)).map(Path::to_path_buf);
    near.or_else(|| {
        let file = std::fs::canonicalize(entry).ok()?;
        file.ancestors().skip(1).find(|d| found(d)).map(Path::to_path_buf)
    })
    .or_else(|| std::env::current_dir().ok()?.ancestors().find(|d| found(d)).map(Path::to_path_buf))
}

/// Whether `folder/lib` holds programs, itself or in its folders: systems have a `/lib` of another kind.
fn is_home(folder: &Path) -> bool {
    let entries = |d: &Path| std::fs::read_dir(d).into_iter().flatten().flatten().map(|e| e.path()).collect::<Vec<_>>();
    let has_program = |all: &[PathBuf]| all.iter().any(|p| p.extension().is_some_and(|e| e == "stk"));
    let top = entries(&folder.join("lib"));
    has_program(&top) || top.iter().any(|d| has_program(&entries(d)))
}

/// `folder/name` as text, without `./` in front of relative names.
pub fn join(folder: &Path, name: &str) -> String {
    folder.join(name).display().to_string()
}

/// The folder that holds `path`, itself a folder.
pub fn parent(path: &Path) -> PathBuf {
    match (path.file_name(), path.parent()) {
        (Some(_), Some(parent)) => parent.to_path_buf(),
        _ => path.join(".."),
    }
}

/// The programs beside `entry` and below `roots`, sorted, each once. What cannot be read is left out.
pub fn programs(entry: &str, roots: &[String]) -> Vec<String> {
    let mut out = Vec::new();
    if roots.iter().any(|r| r == crate::standard::ROOT) {
        out.extend(crate::standard::programs(|name| roots.iter().any(|r| Path::new(r).join(name).is_file())));
    }
    for root in roots {
        // A part of a library serves for messages, too.
        let _ = walk(Path::new(root), &mut out);
    }
    let beside = Path::new(entry).parent().unwrap_or(Path::new(""));
    let listed = if beside.as_os_str().is_empty() { Path::new(".") } else { beside };
    let files = std::fs::read_dir(listed).into_iter().flatten().flatten().map(|e| beside.join(e.file_name()));
    out.extend(files.filter(|p| p.extension().is_some_and(|e| e == "stk") && p.is_file()).map(|p| p.display().to_string()));
    out.sort();
    out.dedup();
    out
}

/// Descriptions of a folder: name and path of each file. That of compilers describes no target.
pub fn targets(folder: &str) -> BTreeMap<String, String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let target = |path: PathBuf| Some((path.file_name()?.to_str()?.strip_suffix(".toml")?.to_string(), path.display().to_string()));
    entries.filter_map(|e| target(e.path())).filter(|(name, _)| name != "compilers").collect()
}

/// The `.stk` files of the given files and folders, sorted, each once.
///
/// # Errors
/// `missing-file`, `unreadable`.
pub fn collect(paths: &[String]) -> Result<Vec<String>, Failure> {
    let mut out = Vec::new();
    for path in paths {
        let meta = std::fs::metadata(path).map_err(|_| refused(no_file(path)))?;
        if meta.is_dir() {
            walk(Path::new(path), &mut out).map_err(|e| refused(unreadable(path, &e)))?;
        } else {
            out.push(path.clone());
        }
    }
    out.sort();
    out.dedup();
    Ok(out)
}

fn walk(folder: &Path, out: &mut Vec<String>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        let hidden = entry.file_name().to_string_lossy().starts_with('.');
        if kind.is_dir() && !hidden {
            walk(&entry.path(), out)?;
        } else if kind.is_file() && entry.path().extension().is_some_and(|e| e == "stk") {
            out.push(entry.path().display().to_string());
        }
    }
    Ok(())
}

/// Writes all files of `folder`, or none: each is written beside its place first, then all are renamed. A name may have folders in it.
///
/// # Errors
/// `unwritable`.
pub fn write_all(folder: &Path, files: &[(String, String)]) -> Result<(), Failure> {
    let fault = |path: &Path, e: &std::io::Error| {
        let d = Diagnostic::error("unwritable", format!("`{}` cannot be written", path.display()));
        refused(d.note(format!("why: {e}")).help("choose another place with `-o`, or change its permissions"))
    };
    std::fs::create_dir_all(folder).map_err(|e| fault(folder, &e))?;
    if let Some((name, _)) = files.iter().find(|(name, _)| folder.join(name).is_dir()) {
        return Err(fault(&folder.join(name), &std::io::Error::other("a folder of that name is there")));
    }
    let mut ready = Vec::new();
    for (name, text) in files {
        let path = folder.join(name);
        let its = path.parent().unwrap_or(folder);
        std::fs::create_dir_all(its).map_err(|e| fault(its, &e))?;
        let mut temp = tempfile::NamedTempFile::new_in(its).map_err(|e| fault(&path, &e))?;
        temp.write_all(text.as_bytes()).and_then(|()| temp.as_file().sync_all()).map_err(|e| fault(&path, &e))?;
        like_other_files(temp.as_file(), &path).map_err(|e| fault(&path, &e))?;
        ready.push((temp, path));
    }
    for (temp, path) in ready {
        temp.persist(&path).map_err(|e| fault(&path, &e.error))?;
    }
    Ok(())
}

/// Temporary files are private; results have the permissions of the file they replace, or those of a new file.
#[cfg(unix)]
fn like_other_files(temp: &std::fs::File, target: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let mode = std::fs::metadata(target).map_or(0o644, |m| m.permissions().mode());
    temp.set_permissions(std::fs::Permissions::from_mode(mode))
}

#[cfg(not(unix))]
fn like_other_files(_: &std::fs::File, _: &Path) -> std::io::Result<()> {
    Ok(())
}
