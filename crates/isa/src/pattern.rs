//! Encodings as the manual prints them.
//!
//! A pattern lists fields from the highest bit to the lowest, separated by blanks:
//! - `0`, `1` and `x` (ignored) stand for themselves;
//! - `rd`, `rs1`, `rs2` are five bits, `rd'`, `rs1'`, `rs2'` three bits that stand for x8 to x15;
//! - `imm[12|10:5]` are those bits of the immediate, whose sign is its highest bit; `uimm[..]` has no sign; bits that no field
//!   gives are zero;
//! - `nzimm`, `nzuimm`: likewise, and zero is no instruction;
//! - `rd!=0,2`: a register field that must not be any of these.

/// What a field of an encoding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Field {
    /// Destination.
    Rd,
    /// First source.
    Rs1,
    /// Second source.
    Rs2,
}

const REGISTERS: [(&str, Field); 3] = [("rd", Field::Rd), ("rs1", Field::Rs1), ("rs2", Field::Rs2)];

#[derive(Clone, Debug)]
struct Register {
    field: Field,
    at: u32,
    /// Three bits for x8 to x15.
    prime: bool,
    not: Vec<u8>,
}

/// Bits `from ..` of the instruction are bits `to ..` of the immediate.
#[derive(Clone, Copy, Debug)]
struct Piece {
    from: u32,
    to: u32,
    width: u32,
}

/// A parsed pattern.
#[derive(Clone, Debug)]
pub struct Pattern {
    /// Bits that are fixed.
    pub mask: u32,
    /// Their values.
    pub value: u32,
    registers: Vec<Register>,
    pieces: Vec<Piece>,
    signed: bool,
    nonzero: bool,
}

/// Field values of one encoding; 0 for fields that are absent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fields {
    /// Destination.
    pub rd: u8,
    /// First source.
    pub rs1: u8,
    /// Second source.
    pub rs2: u8,
    /// Immediate.
    pub imm: i64,
}

impl Pattern {
    /// Parses a pattern of `bits` (16 or 32) bits; the error says what is wrong with it.
    pub fn parse(text: &str, bits: u32) -> Result<Pattern, String> {
        let mut p = Pattern { mask: 0, value: 0, registers: vec![], pieces: vec![], signed: true, nonzero: false };
        let mut at = bits;
        for token in text.split(' ') {
            at = p.token(token, at).ok_or_else(|| format!("`{token}` in `{text}`"))?;
        }
        match at {
            0 => Ok(p),
            _ => Err(format!("`{text}` leaves {at} of {bits} bits")),
        }
    }

    /// Reads one token whose bits lie below bit `at`; where they end.
    fn token(&mut self, token: &str, at: u32) -> Option<u32> {
        if token.bytes().all(|b| b"01x".contains(&b)) && !token.is_empty() {
            return self.literal(token, at);
        }
        match token.split_once('[') {
            Some((name, places)) => self.immediate(name, places.strip_suffix(']')?, at),
            None => self.register(token, at),
        }
    }

    fn literal(&mut self, token: &str, mut at: u32) -> Option<u32> {
        for b in token.bytes() {
            at = at.checked_sub(1)?;
            self.mask |= u32::from(b != b'x') << at;
            self.value |= u32::from(b == b'1') << at;
        }
        Some(at)
    }

    fn register(&mut self, token: &str, at: u32) -> Option<u32> {
        let (name, not) = token.split_once("!=").unwrap_or((token, ""));
        let not = not.split(',').filter(|n| !n.is_empty()).map(|n| n.parse().ok()).collect::<Option<_>>()?;
        let prime = name.ends_with('\'');
        let field = REGISTERS.iter().find(|(n, _)| *n == name.trim_end_matches('\''))?.1;
        let at = at.checked_sub(if prime { 3 } else { 5 })?;
        self.registers.push(Register { field, at, prime, not });
        Some(at)
    }

    fn immediate(&mut self, name: &str, places: &str, mut at: u32) -> Option<u32> {
        let unsigned = name.ends_with("uimm");
        if !matches!(name, "imm" | "uimm" | "nzimm" | "nzuimm") || (!self.pieces.is_empty() && unsigned == self.signed) {
            return None;
        }
        self.signed = !unsigned;
        self.nonzero |= name.starts_with("nz");
        for place in places.split('|') {
            let (hi, lo) = place.split_once(':').unwrap_or((place, place));
            let (hi, lo): (u32, u32) = (hi.parse().ok()?, lo.parse().ok()?);
            let width = hi.checked_sub(lo)? + 1;
            at = at.checked_sub(width)?;
            self.pieces.push(Piece { from: at, to: lo, width });
        }
        Some(at)
    }

    /// Whether the encoding has this register field.
    pub fn has(&self, field: Field) -> bool {
        self.registers.iter().any(|r| r.field == field)
    }

    /// Whether the encoding has an immediate.
    pub fn has_imm(&self) -> bool {
        !self.pieces.is_empty()
    }

    /// Bits of the immediate counted from 0, the sign included; 0 without one.
    pub fn imm_bits(&self) -> u32 {
        self.pieces.iter().map(|p| p.to + p.width).max().unwrap_or(0)
    }

    /// Lowest bit of the immediate that the encoding holds.
    pub fn imm_low(&self) -> u32 {
        self.pieces.iter().map(|p| p.to).min().unwrap_or(0)
    }

    /// Whether the immediate has a sign.
    pub fn imm_signed(&self) -> bool {
        self.signed
    }

    /// The fields of `bits`; `None` if `bits` is not of this pattern.
    pub fn read(&self, bits: u32) -> Option<Fields> {
        if bits & self.mask != self.value {
            return None;
        }
        let mut f = Fields::default();
        for r in &self.registers {
            let n = match r.prime {
                true => 8 + (bits >> r.at & 7) as u8,
                false => (bits >> r.at & 31) as u8,
            };
            if r.not.contains(&n) {
                return None;
            }
            *f.of(r.field) = n;
        }
        let raw = self.pieces.iter().fold(0i64, |v, p| v | (i64::from(bits >> p.from) & ((1 << p.width) - 1)) << p.to);
        let up = 64 - self.imm_bits();
        f.imm = if self.signed && up < 64 { raw << up >> up } else { raw };
        (f.imm != 0 || !self.nonzero).then_some(f)
    }

    /// The encoding with these fields, ignored bits zero; `None` if a field does not fit. Fields the pattern lacks are not looked at.
    pub fn write(&self, f: &Fields) -> Option<u32> {
        let mut f = *f;
        let mut bits = self.value;
        for r in &self.registers {
            let n = *f.of(r.field);
            let n = if r.prime { n.checked_sub(8).filter(|n| *n < 8)? } else { n };
            bits |= u32::from(n) << r.at;
        }
        for p in &self.pieces {
            bits |= ((f.imm >> p.to) as u32 & (u32::MAX >> (32 - p.width))) << p.from;
        }
        let back = self.read(bits)?;
        (!self.has_imm() || back.imm == f.imm).then_some(bits)
    }
}

impl Fields {
    fn of(&mut self, field: Field) -> &mut u8 {
        match field {
            Field::Rd => &mut self.rd,
            Field::Rs1 => &mut self.rs1,
            Field::Rs2 => &mut self.rs2,
        }
    }

    /// Value of a register field.
    pub fn get(mut self, field: Field) -> u8 {
        *self.of(field)
    }
}
