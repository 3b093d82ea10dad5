fn main() {
    for path in std::env::args().skip(1) {
        let image = santoku_elf::load(&std::fs::read(&path).unwrap()).unwrap();
        let isa = if image.xlen == 32 { santoku_isa::Isa::rv32imc() } else { santoku_isa::Isa::rv64imc() };
        for f in image.functions.iter().filter(|f| f.local) {
            println!("{path} {} {:?}", f.name, santoku_certify::stack_depth(&image, isa, &f.name));
        }
    }
}
