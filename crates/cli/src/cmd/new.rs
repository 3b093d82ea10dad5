//! `santoku new`

use crate::project::{plain, MANIFEST};
use crate::{files, report};
use santoku_diag::Diagnostic;
use santoku_driver::Failure;
use std::path::Path;

#[derive(clap::Args)]
pub struct Args {
    /// Folder to make; its last part is the name of the project
    path: String,
    /// What its programs are for, separated by commas: files of `targets/`
    #[arg(long, value_name = "NAMES", value_delimiter = ',', default_values_t = ["host64".to_string(), "rv32".to_string()])]
    targets: Vec<String>,
}

/// Makes a project that is proved, tested and builds as it stands. A folder that holds anything is left alone.
pub fn run(args: &Args) -> Result<u8, Failure> {
    report::stage("new");
    let folder = Path::new(&args.path);
    let name = folder.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    if !plain(&name) {
        let d = Diagnostic::error("bad-option", format!("`{name}` cannot be the name of a project"));
        return Err(files::refused(d.note("why: modules and C files are named after it").help("lower-case letters, digits and `_`, a letter first")));
    }
    for target in &args.targets {
        if santoku_driver::built_in(target)?.is_none() {
            return Err(santoku_driver::unknown_target(target, &santoku_target::names().into_iter().map(str::to_string).collect::<Vec<_>>()));
        }
    }
    if folder.exists() && std::fs::read_dir(folder).map_or(true, |mut entries| entries.next().is_some()) {
        let d = Diagnostic::error("already-there", format!("`{}` is there already, and not an empty folder", args.path));
        return Err(files::refused(d.help("choose another name; an existing folder becomes a project by a `santoku.toml`: `santoku explain bad-project`")));
    }
    let all = [
        (MANIFEST.to_string(), manifest(&name, &args.targets)),
        (format!("lib/{name}.stk"), program(&name)),
        ("README.md".to_string(), readme(&name)),
        (".gitignore".to_string(), "/build\n".to_string()),
    ];
    for (path, text) in &all {
        let path = folder.join(path);
        let (folder, file) = (files::parent(&path), path.file_name().map(|f| f.to_string_lossy().into_owned()).unwrap_or_default());
        files::write_all(&folder, &[(file, text.clone())])?;
        report::out(&format!("{}\n", path.display()));
    }
    report::answer(&serde_json::json!({ "project": name, "files": all.iter().map(|(path, _)| folder.join(path)).collect::<Vec<_>>() }))?;
    report::out(&format!("next: cd {}, santoku test, santoku prove, santoku build lib/{name}.stk\n", args.path));
    Ok(report::DONE)
}

fn manifest(name: &str, targets: &[String]) -> String {
    let list: Vec<String> = targets.iter().map(|t| format!("{t:?}")).collect();
    let targets = list.join(", ");
    format!(
        "[project]\nname = \"{name}\"\nversion = \"0.1.0\"\n# Folder of the modules: `use a.b` is `lib/a/b.stk`, or else in the library that comes with santoku.\nlibrary = \"lib\"\n\
         # `santoku check` and `prove` take all of them, other commands the first, unless `--target` names one.\ntargets = [{targets}]\n"
    )
}

/// A first program: field addition, whose contract is proved and whose tests carry.
fn program(name: &str) -> String {
    PROGRAM.replace("NAME", name)
}

const PROGRAM: &str = r#"const P = 2^127 - 1

/// An integer modulo P: five limbs of 26 bits, the least significant first. Limbs may be a little larger, so that a sum needs one carry.
type Fe = [int in 0..2^26 + 2^10; 5] means sum(i in 0..<5) self[i] * 2^(26*i) mod P

/// a + b.
@export("NAME_add")
fn add(a: Fe, b: Fe) -> Fe
  ensures result ≡ a + b
{
  var r: [int; 5] = a
  for i in 0..<5 { r[i] += b[i] }
  for i in 0..<4 {
    r[i + 1] += r[i] >> 26
    r[i] &= 2^26 - 1
  }
  // 2^130 is 8 modulo P.
  r[0] += 8 * (r[4] >> 26)
  r[4] &= 2^26 - 1
  r
}

test "2^26 - 1 + 1 carries" {
  assert add([2^26 - 1, 0, 0, 0, 0], [1, 0, 0, 0, 0]) == [0, 1, 0, 0, 0]
}

test "2^130 comes back as 8" {
  assert add([0, 0, 0, 0, 2^26 - 1], [0, 0, 0, 0, 1]) == [8, 0, 0, 0, 0]
}
"#;

fn readme(name: &str) -> String {
    format!(
        "# {name}\n\n```\nsantoku test                                  # tests, in the interpreter\nsantoku prove                                 # ranges, indices, contracts, no secret in branches or addresses\n\
         santoku build lib/{name}.stk                   # build/{name}/{name}.c and .h\nsantoku lab bench lib/{name}.stk::add          # cycles, stack and size on every machine that is here\n```\n"
    )
}
