//! `santoku build --layout`: kernels for many blocks.

use crate::tables::Tables;
use crate::{files, report};
use santoku_driver::{lay_out_watched, GRANULARITY, Checked, Failure, Isa, Layout, LayoutOptions};
use std::path::Path;

#[derive(clap::Args)]
pub struct LayOut {
    /// Make a kernel for many blocks of a one-block program: how blocks lie in registers
    #[arg(long, value_parser = layout, value_name = "LAYOUT", help_heading = "Layouts", conflicts_with = "level")]
    pub layout: Option<Layout>,
    /// Instruction set: portable64, sse2, avx2, avx512vl (256 bits) or avx512
    #[arg(long, value_parser = isa, value_name = "ISA", default_value = "portable64", help_heading = "Layouts", requires = "layout")]
    isa: Isa,
    /// Copies of the computation in one function
    #[arg(long, value_name = "K", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=8), help_heading = "Layouts", requires = "layout")]
    interleave: u32,
    /// Statements of one copy before the next copy's
    #[arg(long, value_name = "G", default_value_t = GRANULARITY, value_parser = clap::value_parser!(u32).range(1..=100_000), help_heading = "Layouts", requires = "layout")]
    granularity: u32,
    /// The function of one block; its other parameters are shared by all. Default: the only exported one of that shape
    #[arg(long, value_name = "FUNCTION", help_heading = "Layouts", requires = "layout")]
    block: Option<String>,
}

pub fn layout(text: &str) -> Result<Layout, String> {
    Layout::ALL.into_iter().find(|l| l.name() == text).ok_or_else(|| format!("layouts are {}", Layout::ALL.map(Layout::name).join(", ")))
}

/// A vector unit of the machines that are compiled in.
pub fn isa(text: &str) -> Result<Isa, String> {
    let all = santoku_target::vectors().map_err(|e| e.to_string())?;
    let known: Vec<String> = all.iter().map(|i| i.name.clone()).collect();
    all.into_iter().find(|i| i.name == text).ok_or_else(|| format!("instruction sets are {}", known.join(", ")))
}

impl LayOut {
    /// The options as they are written, with a blank in front; nothing without `--layout`.
    pub fn text(&self) -> String {
        let Some(layout) = self.layout else { return String::new() };
        let block = self.block.iter().map(|b| format!(" --block {b}")).collect::<String>();
        let (isa, k, g) = (&self.isa.name, self.interleave, self.granularity);
        format!(" --layout {} --isa {isa} --interleave {k} --granularity {g}{block}", layout.name())
    }
}

/// What `santoku build` also says of a layout.
pub struct Choice<'a> {
    pub unit: &'a str,
    pub without: &'a [String],
    pub dump_after: &'a Option<String>,
    pub verbose: bool,
}

/// Writes `<unit>.c` and `<unit>.h` of the kernel, and prints their paths and how to compile them.
pub fn run(args: &LayOut, layout: Layout, checked: &Checked, choice: Choice<'_>, provenance: String, folder: &Path) -> Result<u8, Failure> {
    report::stage("layout");
    let options = LayoutOptions {
        layout,
        isa: args.isa.clone(),
        interleave: args.interleave,
        granularity: args.granularity as usize,
        block: args.block.clone(),
        unit: choice.unit.to_string(),
        provenance,
        without: choice.without.iter().cloned().collect(),
        dump_after: choice.dump_after.clone(),
    };
    let made = lay_out_watched(checked, &options, &mut Tables::new())?;
    report::stage("write");
    files::write_all(folder, &made.files)?;
    if choice.verbose {
        made.checks.iter().for_each(|c| report::out(&format!("checked: {c}\n")));
    }
    made.left_out.iter().for_each(|l| report::err(&format!("left out: {l}\n")));
    let paths: Vec<String> = made.files.iter().map(|(name, _)| folder.join(name).display().to_string()).collect();
    paths.iter().for_each(|path| report::out(&format!("{path}\n")));
    report::answer(&serde_json::json!({ "files": paths, "blocks": made.blocks, "cflags": made.cflags, "checked": made.checks, "left_out": made.left_out }))?;
    let flags: String = made.cflags.iter().map(|f| format!(" {f}")).collect();
    report::out(&format!("{} blocks a batch; compile with -O3{flags}\n", made.blocks));
    Ok(report::DONE)
}
