//! Tables of bytes in registers of bytes: looked up by shuffles in place of gates.
//!
//! In the program a lookup is a call of the function that applies the table; the printer replaces it by instructions that are made of what
//! the function gives for every input, not of what it is said to apply. No instruction loads from an address that depends on a byte.
//!
//! Needs: a vector unit with lookups of bytes (`lookup`); tables that are affine, or affine behind inversion, are one instruction where it has one.
//! Absent: tables of fewer bits, and bytes in wider lanes; they become gates.

use crate::isa::Isa;
use santoku_ir::interp::{Interp, Value};
use santoku_ir::table::{self, Form};
use santoku_ir::{Applies, ConstId, Func, FuncId, Program};
use std::fmt::Write;

/// The table of bytes that a function applies to a secret byte.
pub fn table_of(program: &Program, func: &Func) -> Option<ConstId> {
    let (table, form) = table::of(program, func)?;
    let secret = func.params.iter().all(|x| !func.local(*x).public);
    match func.applies {
        Some(Applies::Table(id)) if secret && form == Form::Word && (table.inputs, table.outputs) == (8, 8) => Some(id),
        _ => None,
    }
}

/// The function that applies a table, of a program that has it. A call of an id that is none is refused by the verifier.
pub fn existing(program: &Program, table: ConstId) -> FuncId {
    let at = program.funcs.iter().position(|f| table_of(program, f) == Some(table));
    at.map_or(FuncId(u32::MAX), |at| FuncId(at as u32))
}

/// What the function gives for every byte: found by running it.
pub fn entries(program: &Program, id: FuncId) -> Option<[u8; 256]> {
    let (mut interp, mut out) = (Interp::new(program), [0; 256]);
    for (x, y) in out.iter_mut().enumerate() {
        let found = interp.call(id, &[], vec![Value::word(x as u64)]).ok()?;
        *y = u8::try_from(found.first()?.as_word()?).ok()?;
    }
    Some(out)
}

/// `static inline V NAME(V x)`: the entry for each byte of `x`.
pub fn text(isa: &Isa, name: &str, entries: &[u8; 256]) -> String {
    let mut t = String::new();
    let body = isa.lookup.as_deref().unwrap_or_default();
    let _ = writeln!(t, "static inline V {name}(V x)\n{{");
    if let Some((affine, (of_inverse, matrix, constant))) = isa.affine.as_ref().zip(one_instruction(entries)) {
        let map = if of_inverse { &affine.of_inverse } else { &affine.of_byte };
        let map = map.replace("{matrix}", &format!("{matrix:016x}")).replace("{constant}", &format!("{constant:02x}"));
        let _ = writeln!(t, "#if defined({})\n    return {map};\n#else", affine.guard);
        t.push_str(&with_bytes(body, entries));
        t.push_str("#endif\n}\n");
    } else {
        t.push_str(&with_bytes(body, entries));
        t.push_str("}\n");
    }
    t
}

fn with_bytes(body: &str, entries: &[u8; 256]) -> String {
    let rows: Vec<String> = entries.chunks(16).map(|r| r.iter().map(u8::to_string).collect::<Vec<_>>().join(", ")).collect();
    format!("    static const uint8_t t[256] = {{\n        {}\n    }};\n{body}", rows.join(",\n        "))
}

/// Whether a table is affine over the bits of a byte's inverse, not of the byte, with its matrix and constant: one instruction.
fn one_instruction(entries: &[u8; 256]) -> Option<(bool, u64, u8)> {
    let of_inverse: Vec<u8> = (0..=255).map(|x| entries[usize::from(inverse(x))]).collect();
    let affine = |of_inverse, t: &[u8]| matrix(t).map(|(m, c)| (of_inverse, m, c));
    affine(false, entries).or_else(|| affine(true, &of_inverse))
}

/// The matrix and constant of an affine map of bytes, as `vgf2p8affineqb` takes them: byte `7 - i` is the row of bit `i`.
fn matrix(t: &[u8]) -> Option<(u64, u8)> {
    let column = |k: usize| t[1 << k] ^ t[0];
    let rows: Vec<u8> = (0..8).map(|i| (0..8).fold(0, |row, k| row | (column(k) >> i & 1) << k)).collect();
    let packed = rows.iter().enumerate().fold(0u64, |m, (i, row)| m | u64::from(*row) << (8 * (7 - i)));
    (0..256).all(|x| applied(packed, t[0], x as u8) == t[x]).then_some((packed, t[0]))
}

/// What `vgf2p8affineqb` gives for a byte (Intel SDM, volume 2).
fn applied(matrix: u64, constant: u8, x: u8) -> u8 {
    (0..8).fold(constant, |y, i| y ^ (((matrix >> (8 * (7 - i))) as u8 & x).count_ones() as u8 & 1) << i)
}

/// The inverse modulo x^8 + x^4 + x^3 + x + 1, that of 0 being 0: the 254th power.
fn inverse(x: u8) -> u8 {
    let mul = |a: u8, b: u8| (0..8).rev().fold(0u8, |r, k| (r << 1) ^ if r & 0x80 != 0 { 0x1b } else { 0 } ^ if b >> k & 1 == 1 { a } else { 0 });
    (0..7).fold((1u8, x), |(product, power), _| {
        let square = mul(power, power);
        (mul(product, square), square)
    }).0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sbox() -> [u8; 256] {
        std::array::from_fn(|x| {
            let i = inverse(x as u8);
            (0..5).fold(0x63, |y, k| y ^ i.rotate_left(k))
        })
    }

    /// What is printed comes from what the function computes: a mark that names another table makes no difference.
    #[test]
    fn entries_are_what_the_function_gives() {
        let mut read = |p: &str| (p == "main.stk").then(|| "table t: u8 -> u8 = [for i in 0..<256: u8(255 - i)]\nfn f(x: u8) -> u8 { t(x) }\n".to_string());
        let mut p = santoku_sema::compile("main.stk", &[], &mut read, &santoku_sema::Options::default()).unwrap_or_else(|f| panic!("{:?}", f.diagnostics)).program;
        let id = p.find("main.t").expect("t");
        let right: [u8; 256] = std::array::from_fn(|x| 255 - x as u8);
        assert_eq!(entries(&p, id), Some(right));
        let f = &mut p.funcs[id.0 as usize];
        let y = f.rets[0];
        f.body.push(santoku_ir::Stmt::assign(santoku_ir::Place::local(y), santoku_ir::Expr::word(8, 9)));
        assert!(table_of(&p, p.func(id)).is_some());
        assert_eq!(entries(&p, id), Some([9; 256]));
    }

    #[test]
    fn inverses_are_inverses() {
        assert_eq!((inverse(0), inverse(1), inverse(2), inverse(0x53)), (0, 1, 0x8d, 0xca));
        assert!((0..=255).all(|x| inverse(inverse(x)) == x));
    }

    /// AES's S-box is affine behind inversion: FIPS 197, 5.1.1.
    #[test]
    fn tables_that_one_instruction_computes_are_found() {
        let (of_inverse, m, c) = one_instruction(&sbox()).expect("AES");
        assert_eq!((of_inverse, c), (true, 0x63));
        assert!((0..=255).all(|x| applied(m, c, inverse(x)) == sbox()[usize::from(x)]));
        let rotated: [u8; 256] = std::array::from_fn(|x| (x as u8).rotate_left(3) ^ 5);
        let (of_inverse, m, c) = one_instruction(&rotated).expect("affine");
        assert!(!of_inverse && (0..=255).all(|x| applied(m, c, x) == rotated[usize::from(x)]));
        let mut other = sbox();
        other.swap(7, 8);
        assert_eq!(one_instruction(&other), None);
        assert_eq!(one_instruction(&std::array::from_fn(|x| (x as u8).wrapping_add(1))), None);
    }
}
