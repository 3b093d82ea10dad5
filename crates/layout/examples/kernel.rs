//! Writes the C of one kernel: `kernel FILE FUNCTION LAYOUT ISA K G SHARED DIR NAME`.
use santoku_layout::{build, Layout, Request};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let a: Vec<String> = std::env::args().collect();
    let compiled = santoku_sema::compile(&a[1], &[], &mut |p| std::fs::read_to_string(p).ok(), &Default::default());
    let program = compiled.map_err(|f| format!("{:?}", f.diagnostics))?.program;
    let layout = [Layout::Scalar, Layout::Vertical, Layout::Bitslice].into_iter().find(|l| l.name() == a[3]).ok_or("layout")?;
    let isa = santoku_target::vector(&a[4])?.ok_or("isa")?;
    let request = Request {
        layout,
        isa,
        interleave: a[5].parse()?,
        granularity: a[6].parse()?,
        shared: a[7].split(',').filter(|s| !s.is_empty()).map(String::from).collect(),
        name: a[9].clone(),
        without: Default::default(),
        dump_after: None,
    };
    let kernel = build(&program, &a[2], &request)?;
    for line in &kernel.checks {
        eprintln!("{line}");
    }
    std::fs::write(format!("{}/{}.c", a[8], kernel.name), &kernel.source)?;
    std::fs::write(format!("{}/{}.h", a[8], kernel.name), &kernel.header)?;
    println!("{} {} {} {}", kernel.blocks, kernel.block_bytes, kernel.shared_bytes, kernel.cflags.join(" "));
    Ok(())
}
