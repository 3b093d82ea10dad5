//! From bits to rows.

use crate::pattern::{Field, Fields, Pattern};
use crate::row::{Inst, Isa, Row, Short, Xlen};
use crate::table;
use std::sync::LazyLock;

/// Where a register of the long form comes from.
#[derive(Clone, Copy)]
enum Source {
    Absent,
    Field(Field),
    Fixed(u8),
}

struct LongForm {
    /// For RV32 and RV64.
    rows: [Option<&'static Row>; 2],
    sources: [Source; 3],
}

struct Compiled {
    rows: Vec<(&'static Row, Pattern)>,
    /// By bits 6:2.
    row_buckets: [Vec<usize>; 32],
    shorts: Vec<(&'static Short, Pattern, LongForm)>,
    /// By bits 15:13 and 1:0.
    short_buckets: [Vec<usize>; 32],
}

/// A malformed table is our own fault and ends here, at the first decoding; the tests decode.
static COMPILED: LazyLock<Compiled> = LazyLock::new(|| compile().unwrap_or_else(|e| panic!("internal error in isa::table: {e}")));

/// All instructions of 32 bits, of all sets.
pub fn rows() -> impl Iterator<Item = &'static Row> {
    table::ROWS.iter().flat_map(|t| t.iter())
}

/// All compressed instructions, of all sets.
pub fn shorts() -> impl Iterator<Item = &'static Short> {
    table::SHORTS.iter()
}

fn compile() -> Result<Compiled, String> {
    let mut c = Compiled { rows: vec![], row_buckets: Default::default(), shorts: vec![], short_buckets: Default::default() };
    for row in rows() {
        let pattern = Pattern::parse(row.pattern, 32)?;
        if pattern.mask & 0x7f != 0x7f {
            return Err(format!("{}: the opcode must be fixed", row.name));
        }
        c.row_buckets[(pattern.value >> 2 & 31) as usize].push(c.rows.len());
        c.rows.push((row, pattern));
    }
    for short in shorts() {
        let pattern = Pattern::parse(short.pattern, 16)?;
        if pattern.mask & 0xe003 != 0xe003 {
            return Err(format!("{}: the opcode must be fixed", short.name));
        }
        let long = long_form(short, &pattern).ok_or_else(|| format!("{}: `{}`", short.name, short.long))?;
        c.short_buckets[short_bucket(pattern.value)].push(c.shorts.len());
        c.shorts.push((short, pattern, long));
    }
    Ok(c)
}

fn short_bucket(bits: u32) -> usize {
    (bits >> 11 & 0x1c | bits & 3) as usize
}

fn long_form(short: &Short, pattern: &Pattern) -> Option<LongForm> {
    let mut words = short.long.split(' ');
    let name = words.next()?;
    let find = |xlen: Xlen| {
        let row = rows().find(|r| r.name == name && r.bases.has(xlen));
        short.bases.has(xlen).then_some(row).flatten()
    };
    let rows = [find(Xlen::Rv32), find(Xlen::Rv64)];
    let mut sources = [Source::Absent; 3];
    for word in words {
        let (to, from) = word.split_once('=')?;
        let source = match from.strip_prefix('x') {
            Some(n) => Source::Fixed(n.parse().ok().filter(|n| *n < 32)?),
            None => Source::Field(field(from).filter(|f| pattern.has(*f))?),
        };
        sources[field(to)? as usize] = source;
    }
    let missing = [Xlen::Rv32, Xlen::Rv64].iter().any(|x| short.bases.has(*x) && rows[*x as usize].is_none());
    (!missing).then_some(LongForm { rows, sources })
}

fn field(name: &str) -> Option<Field> {
    match name {
        "rd" => Some(Field::Rd),
        "rs1" => Some(Field::Rs1),
        "rs2" => Some(Field::Rs2),
        _ => None,
    }
}

/// The instruction that starts in the low bits of `bits` (first halfword lowest); `None` if it is illegal, reserved, longer than
/// 32 bits, or not in `isa`. Hints decode to the instructions they are; they do nothing.
pub fn decode(isa: &Isa, bits: u32) -> Option<Inst> {
    if bits & 3 != 3 {
        return decode_short(isa, bits).map(|(_, inst)| inst);
    }
    let c = &*COMPILED;
    let (row, f) = c.row_buckets[(bits >> 2 & 31) as usize].iter().find_map(|&n| {
        let (row, pattern) = &c.rows[n];
        Some((*row, row.is_in(isa).then(|| pattern.read(bits))??))
    })?;
    Some(Inst { row, rd: f.rd, rs1: f.rs1, rs2: f.rs2, imm: f.imm, len: 4, bits })
}

/// The compressed instruction in the low 16 bits, and what it abbreviates.
pub fn decode_short(isa: &Isa, bits: u32) -> Option<(&'static Short, Inst)> {
    let bits = bits & 0xffff;
    if !isa.c {
        return None;
    }
    let c = &*COMPILED;
    let (short, long, f) = c.short_buckets[short_bucket(bits)].iter().find_map(|&n| {
        let (short, pattern, long) = &c.shorts[n];
        Some((*short, long, short.bases.has(isa.xlen).then(|| pattern.read(bits))??))
    })?;
    let row = long.rows[isa.xlen as usize]?;
    let of = |field: Field| match long.sources[field as usize] {
        Source::Absent => 0,
        Source::Field(from) => f.get(from),
        Source::Fixed(n) => n,
    };
    let inst = Inst { row, rd: of(Field::Rd), rs1: of(Field::Rs1), rs2: of(Field::Rs2), imm: f.imm, len: 2, bits };
    Some((short, inst))
}

impl Row {
    /// The encoding with these fields; `None` if one does not fit.
    pub fn encode(&self, fields: &Fields) -> Option<u32> {
        Pattern::parse(self.pattern, 32).ok()?.write(fields)
    }
}
