//! Assembly text: frames, moves, far addresses.
//! Trusted: nothing: the certifier looks at the bytes.

use crate::allocate::{allocate, Allocation, Place, SCRATCH};
use crate::code::{small, Base, Code, Inst, Label, Reg};
use crate::moves::ordered;
use crate::options::{NotEmitted, Options};
use crate::schedule::schedule;
use crate::select::select;
use santoku_lower::Module;
use crate::clear::clearing;
use std::collections::BTreeMap;
use std::fmt::Write;

const NAMES: [&str; 32] = [
    "zero", "ra", "sp", "gp", "tp", "t0", "t1", "t2", "s0", "s1", "a0", "a1", "a2", "a3", "a4", "a5", "a6", "a7", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9",
    "s10", "s11", "t3", "t4", "t5", "t6",
];

/// Assembly of a module, for the GNU assembler and those that read what it reads.
///
/// # Errors
/// The first function that has no code.
pub fn emit(module: &Module, options: &Options) -> Result<String, NotEmitted> {
    let mut text = String::from("\t.text\n");
    let mut depths: BTreeMap<String, u64> = BTreeMap::new();
    for (k, f) in module.funcs.iter().enumerate() {
        let symbol = &options.symbols[k];
        let outer = f.export.as_ref().filter(|e| *e != symbol);
        let wrong = |what| NotEmitted { func: f.name.clone(), what };
        let mut code = select(module, f, options).map_err(wrong)?;
        schedule(&mut code, &options.latency);
        let allocation = allocate(&code);
        let mut e = Emit { options, code: &code, frame: Frame::of(&code, &allocation, options.xlen), allocation, number: k, out: String::new() };
        e.function().map_err(wrong)?;
        let below = code.insts.iter().filter_map(|i| match i {
            Inst::Call { symbol, .. } => Some(depths.get(symbol).copied().unwrap_or(OF_LIBRARY)),
            _ => None,
        });
        let depth = e.frame.bytes + below.max().unwrap_or(0);
        depths.insert(symbol.clone(), depth);
        let body = std::mem::take(&mut e.out);
        text.push_str(&function(&f.name, symbol, f.export.is_some() && outer.is_none(), &body));
        if let Some(outer) = outer {
            let words = f.params.len().saturating_sub(8) as u64;
            text.push_str(&function(&format!("{}, of which no secret stays behind", f.name), outer, true, &clearing(symbol, (words, f.results.len()), depth, options.xlen)));
        }
    }
    if !module.tables.is_empty() {
        text.push_str("\n\t.section .rodata\n");
    }
    for (k, t) in module.tables.iter().enumerate() {
        let name = table(k as u32);
        let _ = write!(text, "\n# {}\n\t.balign {}\n\t.type {name}, @object\n{name}:\n", t.name, t.align.max(4));
        for chunk in t.bytes.chunks(16) {
            let bytes: Vec<String> = chunk.iter().map(u8::to_string).collect();
            let _ = writeln!(text, "\t.byte {}", bytes.join(", "));
        }
        let _ = writeln!(text, "\t.size {name}, . - {name}");
    }
    Ok(text + "\n\t.section .note.GNU-stack, \"\", @progbits\n")
}

/// Bytes of stack that are left to `memmove`.
const OF_LIBRARY: u64 = 128;

fn function(name: &str, symbol: &str, global: bool, body: &str) -> String {
    let global = if global { format!("\t.globl {symbol}\n") } else { String::new() };
    format!("\n# {name}\n{global}\t.balign 4\n\t.type {symbol}, @function\n{symbol}:\n{body}\t.size {symbol}, . - {symbol}\n")
}

fn table(k: u32) -> String {
    format!("table_{k}")
}

/// Distances from the stack pointer, lowest first: words for callees, slots, spilled words, saved registers.
struct Frame {
    slots: Vec<u64>,
    spilled: u64,
    saved: u64,
    bytes: u64,
    /// The return address is among what is saved.
    link: bool,
}

impl Frame {
    fn of(code: &Code, a: &Allocation, xlen: u32) -> Frame {
        let word = u64::from(xlen / 8);
        let outgoing = code.insts.iter().map(|i| match i {
            Inst::Call { args, .. } => args.len().saturating_sub(8) as u64,
            _ => 0,
        });
        let mut at = outgoing.max().unwrap_or(0) * word;
        let mut slots = vec![];
        for (bytes, align) in &code.slots {
            at = at.next_multiple_of(u64::from(*align).max(word));
            slots.push(at);
            at += bytes;
        }
        let spilled = at.next_multiple_of(word);
        let saved = spilled + u64::from(a.spilled) * word;
        let link = code.insts.iter().any(|i| matches!(i, Inst::Call { .. }));
        let bytes = (saved + (a.saved.len() as u64 + u64::from(link)) * word).next_multiple_of(16);
        Frame { slots, spilled, saved, bytes, link }
    }
}

struct Emit<'c> {
    options: &'c Options,
    code: &'c Code,
    allocation: Allocation,
    frame: Frame,
    number: usize,
    out: String,
}

type Res<T> = Result<T, String>;

impl Emit<'_> {
    fn line(&mut self, text: &str) {
        let _ = writeln!(self.out, "\t{text}");
    }

    fn word(&self) -> u64 {
        u64::from(self.options.xlen / 8)
    }

    fn load_word(&self) -> &'static str {
        if self.options.xlen == 64 { "ld" } else { "lw" }
    }

    fn store_word(&self) -> &'static str {
        if self.options.xlen == 64 { "sd" } else { "sw" }
    }

    fn label(&self, l: Label) -> String {
        format!(".L{}_{}", self.number, l.0)
    }

    fn function(&mut self) -> Res<()> {
        self.move_stack(-(self.frame.bytes as i64));
        self.saved(self.store_word());
        let insts = self.code.insts.clone();
        insts.iter().try_for_each(|i| self.inst(i))
    }

    /// Of the registers that the caller wants back.
    fn saved(&mut self, how: &str) {
        let link = self.frame.link.then_some(1);
        for (k, x) in self.allocation.saved.clone().into_iter().chain(link).enumerate() {
            self.access(how, x, 2, (self.frame.saved + k as u64 * self.word()) as i64);
        }
    }

    fn move_stack(&mut self, by: i64) {
        match by {
            0 => {}
            by if small(by) => self.line(&format!("addi sp, sp, {by}")),
            by => {
                self.line(&format!("li {}, {by}", NAMES[SCRATCH[0] as usize]));
                self.line(&format!("add sp, sp, {}", NAMES[SCRATCH[0] as usize]));
            }
        }
    }

    /// A load or store of a register at a distance from another.
    fn access(&mut self, how: &str, x: u8, base: u8, offset: i64) {
        if small(offset) {
            self.line(&format!("{how} {}, {offset}({})", NAMES[x as usize], NAMES[base as usize]));
            return;
        }
        let far = NAMES[SCRATCH[0] as usize];
        self.line(&format!("li {far}, {offset}"));
        self.line(&format!("add {far}, {far}, {}", NAMES[base as usize]));
        self.line(&format!("{how} {}, 0({far})", NAMES[x as usize]));
    }

    /// Where a place that is no register lies, from the stack pointer.
    fn offset(&self, place: Place) -> i64 {
        let word = self.word();
        (match place {
            Place::X(_) => 0,
            Place::Spilled(k) => self.frame.spilled + u64::from(k) * word,
            Place::Incoming(k) => self.frame.bytes + u64::from(k) * word,
            Place::Outgoing(k) => u64::from(k) * word,
        }) as i64
    }

    /// One place to another.
    fn copy(&mut self, to: Place, from: Place) {
        match (to, from) {
            (Place::X(d), Place::X(s)) => self.line(&format!("mv {}, {}", NAMES[d as usize], NAMES[s as usize])),
            (Place::X(d), from) => self.access(self.load_word(), d, 2, self.offset(from)),
            (to, Place::X(s)) => self.access(self.store_word(), s, 2, self.offset(to)),
            (to, from) => {
                let through = SCRATCH[1];
                self.access(self.load_word(), through, 2, self.offset(from));
                self.access(self.store_word(), through, 2, self.offset(to));
            }
        }
    }

    /// All at once. What nothing reads goes nowhere.
    fn copies(&mut self, moves: &[(Option<Place>, Option<Place>)]) {
        let known: Vec<(Place, Place)> = moves.iter().filter_map(|(d, s)| Some(((*d)?, (*s)?))).collect();
        for (to, from) in ordered(&known, Place::X(SCRATCH[2])) {
            self.copy(to, from);
        }
    }

    /// A register of the machine with the value; a spilled one is loaded into the scratch register of this number.
    fn read(&mut self, r: Reg, scratch: usize) -> Res<u8> {
        match self.allocation.place(r).ok_or("a register without a place")? {
            Place::X(x) => Ok(x),
            spilled => {
                let x = SCRATCH[scratch];
                self.access(self.load_word(), x, 2, self.offset(spilled));
                Ok(x)
            }
        }
    }

    /// The register that an instruction writes, and where it goes from there.
    fn target(&self, r: Reg) -> (u8, Option<Place>) {
        match self.allocation.place(r) {
            Some(Place::X(x)) => (x, None),
            Some(spilled) => (SCRATCH[1], Some(spilled)),
            None => (0, None),
        }
    }

    fn written(&mut self, d: Reg, text: impl FnOnce(&str) -> String) {
        let (x, spilled) = self.target(d);
        self.line(&text(NAMES[x as usize]));
        if let Some(place) = spilled {
            self.access(self.store_word(), x, 2, self.offset(place));
        }
    }

    fn base(&mut self, base: Base, offset: i64) -> Res<(u8, i64)> {
        match base {
            Base::Reg(r) => Ok((self.read(r, 2)?, offset)),
            Base::Slot(k) => Ok((2, self.frame.slots[k as usize] as i64 + offset)),
        }
    }

    fn inst(&mut self, i: &Inst) -> Res<()> {
        match i {
            Inst::Three(name, d, a, b) => {
                let (a, b) = (NAMES[self.read(*a, 1)? as usize], NAMES[self.read(*b, 2)? as usize]);
                self.written(*d, |d| format!("{name} {d}, {a}, {b}"));
            }
            Inst::Imm(name, d, a, n) => {
                let a = NAMES[self.read(*a, 1)? as usize];
                self.written(*d, |d| format!("{name} {d}, {a}, {n}"));
            }
            Inst::Li(d, n) => self.written(*d, |d| format!("li {d}, {n}")),
            Inst::Table(d, k) => self.written(*d, |d| format!("lla {d}, {}", table(*k))),
            Inst::Slot(d, k, offset) => {
                let at = self.frame.slots[*k as usize] as i64 + offset;
                match small(at) {
                    true => self.written(*d, |d| format!("addi {d}, sp, {at}")),
                    false => {
                        let far = NAMES[SCRATCH[0] as usize];
                        self.line(&format!("li {far}, {at}"));
                        self.written(*d, |d| format!("add {d}, {far}, sp"));
                    }
                }
            }
            Inst::Load(name, d, base, offset) => {
                let (base, offset) = self.base(*base, *offset)?;
                let (x, spilled) = self.target(*d);
                self.access(name, x, base, offset);
                if let Some(place) = spilled {
                    self.access(self.store_word(), x, 2, self.offset(place));
                }
            }
            Inst::Store(name, v, base, offset) => {
                let v = self.read(*v, 1)?;
                let (base, offset) = self.base(*base, *offset)?;
                self.access(name, v, base, offset);
            }
            Inst::Move(moves) => {
                let all: Vec<_> = moves.iter().map(|(d, s)| (self.allocation.place(*d), self.allocation.place(*s))).collect();
                self.copies(&all);
            }
            Inst::Label(l) => {
                let _ = writeln!(self.out, "{}:", self.label(*l));
            }
            Inst::Jump(l) => self.line(&format!("j {}", self.label(*l))),
            Inst::Branch(name, a, b, l) => {
                let (a, b) = (NAMES[self.read(*a, 1)? as usize], NAMES[self.read(*b, 2)? as usize]);
                self.line(&format!("{name} {a}, {b}, {}", self.label(*l)));
            }
            Inst::Call { symbol, args, results } => {
                let place = |k: usize| if k < 8 { Place::X(10 + k as u8) } else { Place::Outgoing(k as u32 - 8) };
                let given: Vec<_> = args.iter().enumerate().map(|(k, r)| (Some(place(k)), self.allocation.place(*r))).collect();
                self.copies(&given);
                self.line(&format!("call {symbol}"));
                let got: Vec<_> = results.iter().enumerate().map(|(k, r)| (self.allocation.place(*r), Some(place(k)))).collect();
                self.copies(&got);
            }
            Inst::Enter(regs) => {
                let place = |k: usize| if k < 8 { Place::X(10 + k as u8) } else { Place::Incoming(k as u32 - 8) };
                let read = |r: &Reg| self.code.insts.iter().any(|i| i.reads().contains(r));
                let got: Vec<_> = regs.iter().enumerate().filter(|(_, r)| read(r)).map(|(k, r)| (self.allocation.place(*r), Some(place(k)))).collect();
                self.copies(&got);
            }
            Inst::Return(regs) => {
                let all: Vec<_> = regs.iter().enumerate().map(|(k, r)| (Some(Place::X(10 + k as u8)), self.allocation.place(*r))).collect();
                self.copies(&all);
                self.saved(self.load_word());
                self.move_stack(self.frame.bytes as i64);
                self.line("ret");
            }
            Inst::Stop => self.line("ebreak"),
        }
        Ok(())
    }
}
