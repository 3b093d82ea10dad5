//! Blocks in memory to registers and back, as generated C, for any number of words.
//!
//! Vertical: a network of unpack instructions. One stage on a pair of registers moves the bit that tells them apart into
//! the lowest bit of the position within 128 bits, and the highest position bit out to tell the results apart. The order of
//! blocks among lanes is whatever results; the way out undoes it. Bitslice: 64x64 bit matrices in each 64-bit lane.
//!
//! A block that is no whole number of groups (128 bits, 64 bits) takes its last group from its end: the words that two groups
//! share are moved twice and come out the same. A block shorter than one group lies in a longer one meanwhile.

use crate::isa::{Isa, Layout};
use std::fmt::Write;

/// Registers of a block lie on the stack.
const BLOCK_BITS_MAX: u32 = 1 << 16;

/// A block: `words` of `bits` each, least significant byte first, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    pub words: u32,
    pub bits: u32,
}

impl Block {
    pub fn bytes(self) -> u32 {
        self.words * self.bits / 8
    }
    /// Registers that hold the blocks of one copy.
    pub fn registers(self, layout: Layout) -> u32 {
        match layout {
            Layout::Scalar | Layout::Vertical => self.words,
            Layout::Bitslice => self.words * self.bits,
        }
    }
    /// Why there is no transposition, if there is none.
    pub fn unfit(self, layout: Layout) -> Option<&'static str> {
        if self.words == 0 || self.words.checked_mul(self.bits).is_none_or(|b| b > BLOCK_BITS_MAX) {
            return Some("a block must have at least one word and at most 8192 bytes");
        }
        let fits = match layout {
            Layout::Scalar => self.bits % 8 == 0 && self.bits <= 64,
            Layout::Vertical => matches!(self.bits, 8 | 16 | 32 | 64) && self.words * self.bits <= 16384,
            Layout::Bitslice => self.bits % 8 == 0 && self.bits <= 64,
        };
        (!fits).then_some(match layout {
            Layout::Scalar | Layout::Bitslice => "words must be whole bytes, at most eight",
            Layout::Vertical => "words must have 8, 16, 32 or 64 bits, and a block at most 2048 bytes",
        })
    }
}

/// `static void NAME_in(V *v, const uint8_t *p)` and `NAME_out(uint8_t *p, const V *v)` for the blocks of one copy.
pub fn functions(name: &str, block: Block, layout: Layout, isa: &Isa) -> String {
    match layout {
        Layout::Scalar => scalar(name, block),
        Layout::Vertical => vertical(name, block),
        Layout::Bitslice => bitslice(name, block, isa),
    }
}

fn scalar(name: &str, block: Block) -> String {
    let (n, bytes) = (block.words, block.bits / 8);
    format!(
        "static void {name}_in(V *v, const uint8_t *p)\n{{\n    int i, j;\n    for (i = 0; i < {n}; i++) {{\n        V w = 0;\n        \
         for (j = 0; j < {bytes}; j++) {{\n            w = (V)(w | (V)((V)p[{bytes} * i + j] << (8 * j)));\n        }}\n        v[i] = w;\n    }}\n}}\n\n\
         static void {name}_out(uint8_t *p, const V *v)\n{{\n    int i, j;\n    for (i = 0; i < {n}; i++) {{\n        \
         for (j = 0; j < {bytes}; j++) {{\n            p[{bytes} * i + j] = (uint8_t)(v[i] >> (8 * j));\n        }}\n    }}\n}}\n\n"
    )
}

/// The shape of an unpack network. A block shorter than 128 bits has a power of two of words here.
struct Network {
    block: Block,
    /// Position bits within 128 bits, and those of them that are word-index bits.
    position: u32,
    low: u32,
}

impl Network {
    fn of(block: Block) -> Network {
        let position = (128 / block.bits).ilog2();
        Network { block, position, low: block.words.ilog2().min(position) }
    }
    /// Registers that are transposed among each other, and the number of such sets.
    fn set(&self) -> u32 {
        1 << self.low
    }
    fn sets(&self) -> u32 {
        self.block.words.div_ceil(self.set())
    }
    /// First word of a set: the last one ends with the block, whatever the set before it has of it.
    fn first(&self, set: u32) -> u32 {
        (set << self.low).min(self.block.words - self.set())
    }
    /// Register bit on which word-index bit `k` comes out.
    fn exit(&self, k: u32) -> u32 {
        (self.position - 1 - k) % self.low.max(1)
    }
    fn word(&self, set: u32, register: u32) -> u32 {
        self.first(set) + (0..self.low).fold(0, |w, k| w | (register >> self.exit(k) & 1) << k)
    }
    /// Register of the way out that holds what register `ab` of the way in loaded.
    fn back(&self, ab: u32) -> u32 {
        (0..self.low).fold(0, |r, q| r | (ab >> q & 1) << self.exit(self.low - 1 - q))
    }
    fn stage(&self, text: &mut String, from: &str, to: &str, bit: u32) {
        for a in (0..self.set()).filter(|a| a >> bit & 1 == 0) {
            let b = a | 1 << bit;
            let w = self.block.bits;
            let _ = writeln!(text, "    {to}{a} = V_UNPACKLO{w}({from}{a}, {from}{b});\n    {to}{b} = V_UNPACKHI{w}({from}{a}, {from}{b});");
        }
    }
    /// Declarations of the two banks.
    fn banks(&self) -> String {
        let bank = |c: char| (0..self.set()).map(|k| format!("{c}{k}")).collect::<Vec<_>>().join(", ");
        format!("    V {}{};\n", bank('x'), if self.low > 0 { format!(", {}", bank('y')) } else { String::new() })
    }
}

fn vertical(name: &str, block: Block) -> String {
    if block.bytes() < 16 && !block.words.is_power_of_two() {
        return padded(name, block);
    }
    let n = Network::of(block);
    let stride = block.bytes().max(16);
    let address = |set: u32, ab: u32| format!("p + {ab} * (sizeof(V) / 16) * {stride} + {}", n.first(set) * block.bits / 8);
    let mut into = format!("static void {name}_in(V *v, const uint8_t *p)\n{{\n{}", n.banks());
    let mut back = format!("static void {name}_out(uint8_t *p, const V *v)\n{{\n{}", n.banks());
    for set in 0..n.sets() {
        let mut side = ["x", "y"];
        for ab in 0..n.set() {
            let _ = writeln!(into, "    x{ab} = V_LOAD({}, {stride});", address(set, ab));
            let _ = writeln!(back, "    x{ab} = v[{}];", n.word(set, ab));
        }
        if n.low > 0 {
            for s in 0..n.position {
                n.stage(&mut into, side[0], side[1], s % n.low);
                side.swap(0, 1);
            }
        }
        for ab in 0..n.set() {
            let _ = writeln!(into, "    v[{}] = {}{ab};", n.word(set, ab), side[0]);
        }
        side = ["x", "y"];
        for k in (0..n.low).rev() {
            n.stage(&mut back, side[0], side[1], n.exit(k));
            side.swap(0, 1);
        }
        for ab in 0..n.set() {
            let _ = writeln!(back, "    V_STORE({}, {stride}, {}{});", address(set, ab), side[0], n.back(ab));
        }
    }
    format!("{into}}}\n\n{back}}}\n\n")
}

/// Blocks of less than 128 bits, and of no power of two of words: as the first words of blocks that are one.
fn padded(name: &str, block: Block) -> String {
    let whole = Block { words: block.words.next_power_of_two(), ..block };
    let inner = vertical(&format!("{name}_whole"), whole);
    let (n, all, bytes, stride) = (block.words, whole.words, block.bytes(), whole.bytes());
    let lanes = format!("(int)(sizeof(V) / {})", block.bits / 8);
    format!(
        "{inner}static void {name}_in(V *v, const uint8_t *p)\n{{\n    uint8_t t[sizeof(V) * {all}];\n    V w[{all}];\n    int i;\n    memset(t, 0, sizeof t);\n    \
         for (i = 0; i < {lanes}; i++) {{ memcpy(t + {stride} * i, p + {bytes} * i, {bytes}); }}\n    {name}_whole_in(w, t);\n    \
         for (i = 0; i < {n}; i++) {{ v[i] = w[i]; }}\n}}\n\n\
         static void {name}_out(uint8_t *p, const V *v)\n{{\n    uint8_t t[sizeof(V) * {all}];\n    V w[{all}];\n    int i;\n    memset(w, 0, sizeof w);\n    \
         for (i = 0; i < {n}; i++) {{ w[i] = v[i]; }}\n    {name}_whole_out(t, w);\n    \
         for (i = 0; i < {lanes}; i++) {{ memcpy(p + {bytes} * i, t + {stride} * i, {bytes}); }}\n}}\n\n"
    )
}

fn bitslice(name: &str, block: Block, isa: &Isa) -> String {
    let lanes = isa.register_bits / 64;
    let (bytes, chunks) = (block.bytes(), block.bytes().div_ceil(8));
    // Bytes of a block in a chunk, and where the last chunk begins.
    let (part, last) = (bytes.min(8), bytes.saturating_sub(8));
    let mut t = String::from("#define SWAP(x, k, j, m) do { \\\n    V t_ = V_AND(V_XOR(V_SHR64((x)[k], j), (x)[(k) + (j)]), m); \\\n    (x)[(k) + (j)] = V_XOR((x)[(k) + (j)], t_); \\\n    (x)[k] = V_XOR((x)[k], V_SHL64(t_, j)); } while (0)\n");
    let _ = writeln!(t, "static void {name}_matrix(V *x)\n{{\n    int k, i;");
    for j in [32u32, 16, 8, 4, 2, 1] {
        let mut mask = u64::MAX >> 32;
        let mut at = 32;
        while at > j {
            at /= 2;
            mask ^= mask << at;
        }
        let _ = writeln!(t, "    for (k = 0; k < 64; k += {}) {{\n        for (i = k; i < k + {j}; i++) {{ SWAP(x, i, {j}, V_SET64(0x{mask:016x}ULL)); }}\n    }}", 2 * j);
    }
    t.push_str("}\n\n");
    // A register takes one 64-bit chunk of each of its lanes' blocks.
    let offset = |q: &str| format!("((size_t)i * {lanes} + {q}) * {bytes} + (size_t)at");
    let (load, store) = if part == 8 && (lanes == 1 || bytes == 8) {
        (format!("V_LOAD(p + {}, 16)", offset("0")), format!("V_STORE(p + {}, 16, x[i]);", offset("0")))
    } else {
        ("stk_chunks(p, i, at)".to_string(), "stk_unchunk(p, i, at, x[i]);".to_string())
    };
    if load.starts_with("stk") {
        let _ = writeln!(
            t,
            "static V stk_chunks(const uint8_t *p, int i, int at)\n{{\n    V v;\n    int q;\n{1}    for (q = 0; q < {lanes}; q++) {{ memcpy((uint8_t *)&v + 8 * q, p + {0}, {part}); }}\n    return v;\n}}\n\n\
             static void stk_unchunk(uint8_t *p, int i, int at, V v)\n{{\n    int q;\n    for (q = 0; q < {lanes}; q++) {{ memcpy(p + {0}, (const uint8_t *)&v + 8 * q, {part}); }}\n}}\n",
            offset("(size_t)q"),
            if part < 8 { "    memset(&v, 0, sizeof v);\n" } else { "" }
        );
    }
    let at = format!("int at = 8 * c < {last} ? 8 * c : {last};");
    let rows = 8 * part;
    // Whole groups are transposed where they lie.
    let (own, keep, zero) = match part {
        8 => ("V *x = v + 8 * at;", String::new(), ""),
        _ => ("V x[64];", format!("        memcpy(v, x, {rows} * sizeof(V));\n"), "        memset(x, 0, sizeof x);\n"),
    };
    let _ = write!(
        t,
        "static void {name}_in(V *v, const uint8_t *p)\n{{\n    int c, i;\n    for (c = 0; c < {chunks}; c++) {{\n        {at}\n        {own}\n        \
         for (i = 0; i < 64; i++) {{ x[i] = {load}; }}\n        {name}_matrix(x);\n{keep}    }}\n}}\n\n\
         static void {name}_out(uint8_t *p, const V *v)\n{{\n    int c, i;\n    for (c = 0; c < {chunks}; c++) {{\n        {at}\n        V x[64];\n{zero}        \
         memcpy(x, v + 8 * at, {rows} * sizeof(V));\n        {name}_matrix(x);\n        for (i = 0; i < 64; i++) {{ {store} }}\n    }}\n}}\n\n"
    );
    t
}
