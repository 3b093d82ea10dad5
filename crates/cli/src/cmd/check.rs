//! `santoku check`

use super::common::{check_for, each_target, named_or_project, Source};
use super::lay_out;
use crate::{files, report};
use crate::tables::Tables;
use santoku_diag::Diagnostic;
use serde::Serialize;
use santoku_driver::{interface, Failure, Isa, Layout, LayoutOptions, GRANULARITY};

#[derive(clap::Args)]
pub struct Args {
    /// Programs, and folders with `.stk` files; default: the modules of the project
    files: Vec<String>,
    /// Also refuse what has no kernel in this layout
    #[arg(long, value_parser = lay_out::layout, value_name = "LAYOUT")]
    layout: Option<Layout>,
    /// Instruction set of the layout: portable64, sse2, avx2, avx512vl (256 bits) or avx512
    #[arg(long, value_parser = lay_out::isa, value_name = "ISA", default_value = "portable64", requires = "layout")]
    isa: Isa,
    /// Copies of the computation in one function
    #[arg(long, value_name = "K", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=8), requires = "layout")]
    interleave: u32,
    /// The function of one block. Default: the only exported one of that shape
    #[arg(long, value_name = "FUNCTION", requires = "layout")]
    block: Option<String>,
    #[command(flatten)]
    source: Source,
}

/// Prints how much was checked, a line a file. One with errors does not end it: the exit code is that of the worst.
pub fn run(args: &Args) -> Result<u8, Failure> {
    let named = named_or_project(&args.files)?;
    let paths = files::collect(&named)?;
    if paths.is_empty() {
        let d = Diagnostic::error("missing-file", format!("no `.stk` file is in {}", named.join(", ")));
        return Err(files::refused(d.help("name a program, or a folder that holds one")));
    }
    let (mut worst, mut all) = (report::DONE, vec![]);
    let programs = each_target(&args.source, &paths)?;
    for (path, target) in &programs {
        match one(args, path, target) {
            Ok(counts) => all.push(counts),
            Err(failure) if programs.len() > 1 => worst = worst.max(report::failure(&failure)),
            Err(failure) => return Err(failure),
        }
    }
    report::answer(&serde_json::json!({ "programs": all }))?;
    Ok(worst)
}

/// How much was checked of one program, with all it imports.
#[derive(Serialize)]
struct Counts<'a> {
    program: &'a str,
    target: &'a str,
    functions: usize,
    tests: usize,
    files: usize,
}

fn one<'a>(args: &Args, path: &'a str, target: &'a str) -> Result<Counts<'a>, Failure> {
    let checked = check_for(&args.source, path, target)?;
    interface(&checked)?;
    if let Some(layout) = args.layout {
        report::stage("layout");
        let (isa, interleave, block) = (args.isa.clone(), args.interleave, args.block.clone());
        let options = LayoutOptions { layout, isa, interleave, granularity: GRANULARITY as usize, block, unit: "unit".into(), provenance: String::new(), without: Default::default(), dump_after: None };
        santoku_driver::lay_out_watched(&checked, &options, &mut Tables::new())?;
    }
    let p = &checked.program;
    let counts = Counts { program: path, target, functions: p.funcs.len() - p.tests.len(), tests: p.tests.len(), files: p.files.len() };
    report::out(&format!("{path}: {} functions, {} tests, {} files\n", counts.functions, counts.tests, counts.files));
    Ok(counts)
}
