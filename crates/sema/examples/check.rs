//! Compiles one file below `lib` (or any root) and prints the diagnostics, or the size of the program.
//! `cargo run -p santoku-sema --example check -- FILE [ROOT..] [INTERFACE=VARIANT..]`

use santoku_sema::{compile, Options};

fn main() {
    let mut args = std::env::args().skip(1);
    let entry = args.next().unwrap_or_default();
    let (impls, roots): (Vec<String>, Vec<String>) = args.partition(|a| a.contains('='));
    let impls = impls.iter().filter_map(|a| a.split_once('=')).map(|(i, v)| (i.to_string(), v.to_string())).collect();
    let mut load = |path: &str| std::fs::read_to_string(path).ok();
    match compile(&entry, &roots, &mut load, &Options { impls }) {
        Ok(c) => {
            println!("{entry}: {} functions, {} tests", c.program.funcs.len(), c.program.tests.len());
            if std::env::var_os("SHOW").is_some() {
                println!("{:#?}", c.program);
            }
            let mut interp = santoku_ir::interp::Interp::with_options(&c.program, santoku_ir::interp::Options::checked());
            for t in &c.program.tests {
                println!("  {}: {:?}", t.name, interp.run_test(t));
            }
        }
        Err(f) => {
            for d in &f.diagnostics {
                let place = d.primary.as_ref().map(|(s, label)| {
                    let (line, col) = f.sources.line_col(s.file, s.start);
                    format!("{}:{line}:{col}: {label}", f.sources.name(s.file))
                });
                println!("{}: {} [{}] {:?}", d.code, d.title, place.unwrap_or_default(), d.help);
            }
        }
    }
}
