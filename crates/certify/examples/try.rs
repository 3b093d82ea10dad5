use santoku_certify::{function, machine::Code};
use santoku_driver::*;
use santoku_passes::*;
use std::collections::BTreeMap;
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let (entry, target, obj) = (&a[1], &a[2], &a[3]);
    let only = a.get(4);
    let toml = std::fs::read_to_string(format!("tuned/{target}.toml")).unwrap();
    let t = santoku_driver::Target::parse(target, &format!("tuned/{target}.toml"), &toml).unwrap();
    let request = Request { roots: vec!["lib".to_string()], ..Request::new(entry, t.clone()) };
    let mut load = |path: &str| Ok(std::fs::read_to_string(path).ok());
    let checked = check(&request, &mut load).unwrap();
    let options = PassOptions { keep_tests: false, ..PassOptions::new(Level::O2, t.word_bits) };
    let done = optimise(&checked.program, Level::O2, &Default::default(), &options).unwrap();
    let program = done.program;
    let image = santoku_elf::load(&std::fs::read(obj).unwrap()).unwrap();
    let isa = if image.xlen == 32 { santoku_isa::Isa::rv32imc() } else { santoku_isa::Isa::rv64imc() };
    let mut symbols = BTreeMap::new();
    for (k, f) in program.funcs.iter().enumerate() {
        let n = f.export.clone().unwrap_or_else(|| f.name.replace(['.', '$'], "_"));
        symbols.insert(n, santoku_ir::FuncId(k as u32));
    }
    let code = Code::new(&image, isa, &program, symbols);
    let mut ok = 0; let mut all = 0;
    for f in &image.functions {
        let Some(func) = code.cut_at(f.address) else { println!("?? {}", f.name); continue };
        if only.is_some_and(|o| !f.name.contains(o.as_str())) { continue }
        let have: std::collections::BTreeSet<_> = image.functions.iter().filter_map(|f| code.cut_at(f.address)).collect();
        if ["compress","wnaf","double_mult"].iter().any(|x| f.name.contains(x)) && only.is_none() { continue }
        let t0 = std::time::Instant::now();
        let found = function::compare(&code, func, f.address, &[], &|id| have.contains(&id));
        all += 1;
        if found.verdict == function::Verdict::Equal { ok += 1; }
        let v = match &found.verdict { function::Verdict::Halted(h) => format!("HALT {:#x} {:?}: {}", h.pc, image.line(h.pc), h.why), function::Verdict::Equal => "equal".into(), v => format!("{v:?}") };
        let v: String = v.chars().take(if only.is_some() { 3000 } else { 330 }).collect();
        println!("{:45} {:6} steps {:8} terms {:6.2}s cmp {} {}", f.name, found.steps, found.terms, t0.elapsed().as_secs_f64(), found.compared, v);
    }
    println!("{ok}/{all}");
}
