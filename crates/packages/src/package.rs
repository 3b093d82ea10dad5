//! The files of a package.

use crate::abi::{Abi, AbiError};
use crate::description::{Description, Language, C_FOLDER};
use crate::{ocaml, python, rust, vectors};
use santoku_workbench::dist::units;
use santoku_workbench::primitives::{Primitive, Tree};
use santoku_workbench::BenchError;
use std::path::{Path, PathBuf};

/// Folder of what is written by hand, and the file that says what else there is.
const FOLDER: &str = "packages";
const DESCRIPTION: &str = "package.toml";

/// A package before its C is made.
#[derive(Debug)]
pub struct Package {
    folder: PathBuf,
    description: Description,
    pub primitives: Vec<Primitive>,
}

/// A package as it is written.
#[derive(Debug)]
pub struct Assembled {
    /// Path in the folder of the package, and text.
    pub files: Vec<(String, String)>,
    /// Functions that the judge does not accept: a package with any is not made.
    pub believed: Vec<String>,
}

/// Names of the packages that the tree describes.
///
/// # Errors
/// `Io`.
pub fn names(tree: &Tree) -> Result<Vec<String>, BenchError> {
    let folder = tree.root.join(FOLDER);
    let mut all = vec![];
    for entry in std::fs::read_dir(&folder).map_err(|e| BenchError::io(&folder, &e))? {
        let entry = entry.map_err(|e| BenchError::io(&folder, &e))?;
        if entry.path().join(DESCRIPTION).exists() {
            all.push(entry.file_name().to_string_lossy().into_owned());
        }
    }
    all.sort();
    Ok(all)
}

impl Package {
    /// # Errors
    /// `Unknown`: no such package; `Declaration`: its description is wrong.
    pub fn read(tree: &Tree, name: &str) -> Result<Package, BenchError> {
        let known = names(tree)?;
        if !known.iter().any(|k| k == name) {
            return Err(BenchError::Unknown { what: "package", name: name.into(), known });
        }
        let folder = Path::new(FOLDER).join(name);
        let path = folder.join(DESCRIPTION);
        let text = tree.read(&path.display().to_string())?;
        let description: Description = toml::from_str(&text).map_err(|e| BenchError::Declaration { path, reason: e.to_string() })?;
        // Packages have C alone.
        let of_c = |p: Primitive| Primitive { assemblies: vec![], ..p };
        let primitives = description.primitives.iter().map(|p| tree.primitive(p).map(of_c)).collect::<Result<_, _>>()?;
        Ok(Package { folder: tree.root.join(folder), description, primitives })
    }

    /// Compiles the primitives and makes the bindings. Whether they are proved, the caller has seen.
    ///
    /// # Errors
    /// Those of the compiler; `Internal`: an interface has no binding; `Io`.
    pub fn assemble(&self, tree: &Tree) -> Result<Assembled, BenchError> {
        let made = units(tree, &self.primitives, false)?;
        let code = Path::new(&self.description.code);
        let by_hand = by_hand(&self.folder, Path::new(""))?;
        let c_folder = match self.description.language {
            Language::Ocaml => code,
            Language::Python | Language::Rust => Path::new(C_FOLDER),
        };
        let parts = made.iter().filter(|u| u.folder.starts_with("dist/c")).flat_map(|u| &u.files);
        let (interfaces, sources): (Vec<_>, Vec<_>) = parts.partition(|(name, _)| name.ends_with(".abi.json"));
        let abis: Vec<Abi> = interfaces.into_iter().map(|(_, text)| Abi::parse(text).map_err(|e| fault("abi", e))).collect::<Result<_, _>>()?;
        let mut files: Vec<(PathBuf, String)> = sources.into_iter().map(|(name, text)| (c_folder.join(name), text.clone())).collect();
        let own = by_hand.iter().filter(|(path, _)| path.parent() == Some(c_folder) && path.extension().is_some_and(|e| e == "c"));
        let own: Vec<String> = own.filter_map(|(path, _)| path.file_name()).map(|n| n.to_string_lossy().into_owned()).collect();
        let places = match self.description.language {
            Language::Ocaml => [code.join("raw.ml"), code.join("santoku_stubs.c")],
            Language::Python => [code.join("_raw.py"), PathBuf::from("build_raw.py")],
            Language::Rust => [code.join("raw.rs"), PathBuf::from("build.rs")],
        };
        files.extend(places.into_iter().zip(bound(self.description.language, &abis, &own)?));
        files.extend(by_hand);
        for name in &self.description.also {
            files.push((PathBuf::from(name), tree.read(name)?));
        }
        files.push((PathBuf::from(&self.description.vectors), vectors::text(&self.description.primitives)));
        let files = files.into_iter().map(|(path, text)| (path.display().to_string(), text)).collect();
        Ok(Assembled { files, believed: made.into_iter().flat_map(|u| u.believed).collect() })
    }
}

/// Bindings of units by the texts of their interfaces: a module, and what stands between it and C.
///
/// # Errors
/// `Internal`: a text is no interface, or a function has no binding.
pub fn bindings(language: Language, interfaces: &[String]) -> Result<[String; 2], BenchError> {
    let abis: Vec<Abi> = interfaces.iter().map(|text| Abi::parse(text).map_err(|e| fault("abi", e))).collect::<Result<_, _>>()?;
    bound(language, &abis, &[])
}

fn bound(language: Language, abis: &[Abi], own: &[String]) -> Result<[String; 2], BenchError> {
    Ok(match language {
        Language::Ocaml => [ocaml::module(abis).map_err(no_binding)?, ocaml::stubs(abis).map_err(no_binding)?],
        Language::Python => [python::module(abis).map_err(no_binding)?, python::builder(abis, own)],
        Language::Rust => [rust::module(abis).map_err(no_binding)?, rust::builder(abis)],
    })
}

fn fault(stage: &str, e: impl std::fmt::Display) -> BenchError {
    BenchError::Internal { stage: stage.into(), reason: e.to_string() }
}

fn no_binding(e: AbiError) -> BenchError {
    fault("bindings", format!("{}: {}", e.function, e.reason))
}

/// Files of a folder, below `at` in the package, but for the description.
fn by_hand(folder: &Path, at: &Path) -> Result<Vec<(PathBuf, String)>, BenchError> {
    let mut all = vec![];
    for entry in std::fs::read_dir(folder).map_err(|e| BenchError::io(folder, &e))? {
        let path = entry.map_err(|e| BenchError::io(folder, &e))?.path();
        let inside = at.join(path.file_name().unwrap_or_default());
        if path.is_dir() {
            all.extend(by_hand(&path, &inside)?);
        } else if inside != Path::new(DESCRIPTION) {
            all.push((inside, std::fs::read_to_string(&path).map_err(|e| BenchError::io(&path, &e))?));
        }
    }
    all.sort();
    Ok(all)
}
