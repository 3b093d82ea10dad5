//! Names of instruction sets.

use santoku_isa::{Isa, Xlen};

/// `rv32imc`, `rv64imc_zba_zbb_zbs`.
pub fn isa_name(isa: &Isa) -> String {
    let mut name = format!("rv{}i", isa.xlen.bits());
    for (has, letter) in [(isa.m, "m"), (isa.c, "c"), (isa.zba, "_zba"), (isa.zbb, "_zbb"), (isa.zbs, "_zbs")] {
        name.push_str(if has { letter } else { "" });
    }
    name
}

/// The instruction set of a name, if there is a model of it.
pub fn isa_of(name: &str) -> Option<Isa> {
    let sets = [Xlen::Rv32, Xlen::Rv64].into_iter().flat_map(|xlen| {
        (0..32u32).map(move |bits| {
            let has = |k: u32| bits >> k & 1 == 1;
            Isa { xlen, m: has(0), c: has(1), zba: has(2), zbb: has(3), zbs: has(4) }
        })
    });
    sets.into_iter().find(|isa| isa_name(isa) == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back() {
        for isa in [Isa::rv32imc(), Isa::rv64imc(), Isa::rv32imc_zb(), Isa::rv64imc_zb()] {
            assert_eq!(isa_of(&isa_name(&isa)), Some(isa));
        }
        assert_eq!(isa_of("rv32im").map(|i| (i.m, i.c)), Some((true, false)));
        for wrong in ["", "rv32", "rv32imcf", "rv32icm", "rv64imc_zbb_zba", "rv128i", "RV32I"] {
            assert_eq!(isa_of(wrong), None, "{wrong}");
        }
    }
}
