//! `santoku check`

use super::common::{check, Source};
use super::lay_out;
use crate::{files, report};
use crate::tables::Tables;
use santoku_diag::Diagnostic;
use santoku_driver::{interface, Failure, Isa, Layout, LayoutOptions, GRANULARITY};

#[derive(clap::Args)]
pub struct Args {
    /// Programs, and folders with `.stk` files
    #[arg(required = true)]
    files: Vec<String>,
    /// Also refuse what has no kernel in this layout
    #[arg(long, value_parser = lay_out::layout, value_name = "LAYOUT")]
    layout: Option<Layout>,
    /// Instruction set of the layout: portable64, avx2, avx512vl (256 bits) or avx512
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
    let paths = files::collect(&args.files)?;
    if paths.is_empty() {
        let d = Diagnostic::error("missing-file", format!("no `.stk` file is in {}", args.files.join(", ")));
        return Err(files::refused(d.help("name a program, or a folder that holds one")));
    }
    let mut worst = report::DONE;
    for path in &paths {
        match one(args, path) {
            Ok(()) => {}
            Err(failure) if paths.len() > 1 => worst = worst.max(report::failure(&failure)),
            Err(failure) => return Err(failure),
        }
    }
    Ok(worst)
}

fn one(args: &Args, path: &str) -> Result<(), Failure> {
    let checked = check(&args.source, path)?;
    interface(&checked)?;
    if let Some(layout) = args.layout {
        report::stage("layout");
        let (isa, interleave, block) = (args.isa.clone(), args.interleave, args.block.clone());
        let options = LayoutOptions { layout, isa, interleave, granularity: GRANULARITY as usize, block, unit: "unit".into(), provenance: String::new() };
        santoku_driver::lay_out_watched(&checked, &options, &mut Tables::new())?;
    }
    let p = &checked.program;
    report::out(&format!("{path}: {} functions, {} tests, {} files\n", p.funcs.len() - p.tests.len(), p.tests.len(), p.files.len()));
    Ok(())
}
