//! Assembly text: frames, moves, far addresses.
//! Trusted: nothing: the certifier looks at the bytes.

use crate::allocate::{allocate, Allocated};
use crate::comments::Comments;
use crate::code::{length, small, Code, Inst, Label};
use crate::layout::{inward, returning};
use crate::mach::{word_access, At, Line, Mach, SCRATCH, SP, X};
use crate::options::{NotEmitted, Options};
use crate::schedule::{schedule, schedule_again, slots};
use crate::tuning::Tuning;
use crate::select::select;
use santoku_lower::pass::sharing;
use santoku_lower::Module;
use crate::clear::clearing;
use std::collections::BTreeMap;
use std::fmt::Write;

const NAMES: [&str; 32] = [
    "zero", "ra", "sp", "gp", "tp", "t0", "t1", "t2", "s0", "s1", "a0", "a1", "a2", "a3", "a4", "a5", "a6", "a7", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9",
    "s10", "s11", "t3", "t4", "t5", "t6",
];

/// Assembly of a module.
pub struct Emitted {
    /// For the GNU assembler and those that read what it reads.
    pub text: String,
    /// Of each function, in order, by name: what [`Tuning`] numbers.
    pub counts: Vec<(String, Counts)>,
}

/// How many there are of what [`Tuning`] numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counts {
    /// Instructions as selected.
    pub instructions: usize,
    pub registers: usize,
    /// Instructions with registers.
    pub lines: usize,
    /// What was found by a search is for this very code.
    pub tuned: bool,
}

/// # Errors
/// The first function that has no code.
pub fn emit(module: &Module, options: &Options) -> Result<Emitted, NotEmitted> {
    // Compressed forms have their operands in another order, and groups know one.
    let mut text = String::from("# Behind an instruction: the line that it comes from, with the file's name where that is another, and the variable whose value it gives.\n");
    text.push_str(if options.fused { "\t.option norvc\n\t.text\n" } else { "\t.text\n" });
    let mut depths: BTreeMap<String, u64> = BTreeMap::new();
    let (mut words, mut counts) = (vec![], vec![]);
    let sharing = sharing(module);
    for (k, f) in module.funcs.iter().enumerate() {
        let symbol = &options.symbols[k];
        let outer = f.export.as_ref().filter(|e| *e != symbol);
        let wrong = |what| NotEmitted { func: f.name.clone(), what };
        let Made { code, made, frame, counts: own, found } = make(module, k, options, sharing.contains(&k)).map_err(wrong)?;
        counts.push((f.name.clone(), own));
        let told = Comments { file: f.notes.file(), notes: &code.notes, last: None };
        let mut e = Emit { options, frame, made, number: k, words: &mut words, told, out: String::new() };
        e.function();
        let below = code.insts.iter().filter_map(|i| match i {
            Inst::Call { symbol, .. } => Some(depths.get(symbol).copied().unwrap_or(OF_LIBRARY)),
            _ => None,
        });
        let depth = e.frame.bytes + below.max().unwrap_or(0);
        depths.insert(symbol.clone(), depth);
        let body = std::mem::take(&mut e.out);
        let place = f.notes.place.as_ref().map(|p| format!(" ({}, line {})", p.file, p.line)).unwrap_or_default();
        let order = match found {
            Some(_) if !own.tuned => "; the order that was found by search is for other code, and not used",
            Some(_) => "; in an order found by search",
            None => "",
        };
        text.push_str(&function(&format!("{}{place}{order}", f.name), symbol, f.export.is_some() && outer.is_none(), &body));
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
    if !words.is_empty() {
        let _ = write!(text, "\n\t.section .rodata\n\n# constants\n\t.balign 8\n\t.type words, @object\nwords:\n");
        words.iter().for_each(|n| {
            let _ = writeln!(text, "\t.dword {n}");
        });
        text.push_str("\t.size words, . - words\n");
    }
    text.push_str("\n\t.section .note.GNU-stack, \"\", @progbits\n");
    Ok(Emitted { text, counts })
}

/// A function as instructions with registers, in their order.
struct Made<'o> {
    code: Code,
    made: Allocated,
    frame: Frame,
    counts: Counts,
    /// What a search found for a function of this name.
    found: Option<&'o Tuning>,
}

/// `shares`: the function has results that may lie in the place of what it reads.
fn make<'o>(module: &Module, k: usize, options: &'o Options, shares: bool) -> Result<Made<'o>, String> {
    let f = &module.funcs[k];
    let found = options.tuned.get(&f.name);
    let none = Tuning::default();
    // Out of order, what is read again may be read behind a result that lies in its place.
    let in_order = options.latency.is_none() && found.is_none_or(|t| t.before.is_empty());
    let mut code = select(module, f, options, in_order || !shares)?;
    let instructions = code.insts.len();
    let used = found.filter(|t| t.instructions == instructions);
    let tuning = used.unwrap_or(&none);
    schedule(&mut code, options.latency.as_ref(), &tuning.before);
    let (mut made, frame) = placed(&code, options, tuning)?;
    made.code = keeping(made.code, &made.saved, options.xlen);
    let counts = Counts { instructions, registers: code.registers as usize, lines: made.code.len(), tuned: used.is_some() };
    if let Some(latency) = &options.latency {
        made.code = schedule_again(made.code, latency, &|at| frame.place(at, options.xlen).1, &tuning.behind);
    }
    Ok(Made { code, made, frame, counts, found })
}

/// Registers of the machine, and the frame. Where nothing turns out to go through the scratch register, values may be in that one too; a pipeline
/// moves no instruction past one that has it.
fn placed(code: &Code, options: &Options, tuning: &Tuning) -> Result<(Allocated, Frame), String> {
    let lazy = options.latency.is_none();
    let attempt = |all| -> Result<Option<(Allocated, Frame)>, String> {
        let Some(mut made) = allocate(code, options.xlen, (lazy, all), &tuning.spill)? else { return Ok(None) };
        if lazy {
            made.code = inward(made.code);
            made.code = if options.short { made.code } else { returning(made.code) };
        }
        let frame = Frame::of(code, &made, options.xlen);
        Ok(Some((made, frame)))
    };
    if lazy {
        if let Some(placed) = attempt(true)?.filter(|(made, frame)| frame.near(&made.code, options.xlen)) {
            return Ok(placed);
        }
    }
    attempt(false)?.ok_or("a scratch register that is not there".into())
}

/// Slots of a pipeline that a function's instructions take, each executed once, or so many instructions where there is no pipeline. It is a guess,
/// by which a search chooses what to run. `shares`: the function has results that may lie in the place of what it reads.
///
/// # Errors
/// The function has no code.
pub fn guess(module: &Module, k: usize, options: &Options, shares: bool) -> Result<usize, NotEmitted> {
    let wrong = |what| NotEmitted { func: module.funcs[k].name.clone(), what };
    let made = make(module, k, options, shares).map_err(wrong)?;
    Ok(match &options.latency {
        Some(latency) => slots(&made.made.code, latency),
        None => made.made.code.len(),
    })
}

/// The same code, which gives callers back what is in these registers.
fn keeping(code: Vec<Line>, saved: &[X], xlen: u32) -> Vec<Line> {
    let (load, store) = word_access(xlen);
    let all = || saved.iter().zip(0..);
    let mut out: Vec<Line> = all().map(|(x, k)| Mach::Store(store, *x, At::Saved(k), 0).into()).collect();
    for i in code {
        if i.mach == Mach::Return {
            out.extend(all().map(|(x, k)| Line::from(Mach::Load(load, *x, At::Saved(k), 0))));
        }
        out.push(i);
    }
    out
}

/// A constant of more instructions is loaded, which takes two.
const LI_MAX: usize = 3;

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
    spilled: BTreeMap<u32, u64>,
    saved: u64,
    bytes: u64,
}

impl Frame {
    fn of(code: &Code, a: &Allocated, xlen: u32) -> Frame {
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
        let first = at.next_multiple_of(word);
        let places = shared(&a.spilled);
        let count = places.values().map(|k| k + 1).max().unwrap_or(0);
        let spilled = places.into_iter().map(|(v, k)| (v, first + k * word)).collect();
        let saved = first + count * word;
        let bytes = (saved + a.saved.len() as u64 * word).next_multiple_of(16);
        Frame { slots, spilled, saved, bytes }
    }

    /// No distance in the code is too far for one instruction.
    fn near(&self, code: &[Line], xlen: u32) -> bool {
        let reached = |i: &Line| match &i.mach {
            Mach::Load(_, _, at, offset) | Mach::Store(_, _, at, offset) => small(self.place(*at, xlen).1 + offset),
            _ => true,
        };
        small(-(self.bytes as i64)) && small(self.bytes as i64) && code.iter().all(reached)
    }

    /// A register and a distance from it.
    fn place(&self, at: At, xlen: u32) -> (X, i64) {
        let word = u64::from(xlen / 8);
        match at {
            At::Reg(x) => (x, 0),
            At::Slot(k) => (SP, self.slots[k as usize] as i64),
            At::Spilled(v) => (SP, self.spilled.get(&v).copied().unwrap_or(0) as i64),
            At::Incoming(k) => (SP, (self.bytes + u64::from(k) * word) as i64),
            At::Outgoing(k) => (SP, (u64::from(k) * word) as i64),
            At::Saved(k) => (SP, (self.saved + u64::from(k) * word) as i64),
        }
    }
}

/// Places by number, one for several registers that are never live at once.
fn shared(spans: &BTreeMap<u32, (usize, usize)>) -> BTreeMap<u32, u64> {
    let mut all: Vec<(usize, usize, u32)> = spans.iter().map(|(v, (a, b))| (*a, *b, *v)).collect();
    all.sort_unstable();
    let mut ends: Vec<usize> = vec![];
    let mut places = BTreeMap::new();
    for (start, end, v) in all {
        let k = match ends.iter().position(|e| *e < start) {
            Some(k) => k,
            None => {
                ends.push(0);
                ends.len() - 1
            }
        };
        ends[k] = end;
        places.insert(v, k as u64);
    }
    places
}

struct Emit<'c> {
    options: &'c Options,
    /// Constants that are loaded, of the whole module.
    words: &'c mut Vec<i64>,
    made: Allocated,
    frame: Frame,
    number: usize,
    told: Comments<'c>,
    out: String,
}

impl Emit<'_> {
    fn line(&mut self, text: &str) {
        let _ = writeln!(self.out, "\t{text}");
    }

    fn label(&self, l: Label) -> String {
        format!(".L{}_{}", self.number, l.0)
    }

    fn function(&mut self) {
        self.move_stack(-(self.frame.bytes as i64));
        let code = std::mem::take(&mut self.made.code);
        for i in code {
            self.inst(&i.mach);
            self.told.behind(&mut self.out, i.of);
        }
    }

    fn move_stack(&mut self, by: i64) {
        let far = name(SCRATCH);
        match by {
            0 => {}
            by if small(by) => self.line(&format!("addi sp, sp, {by}")),
            by => {
                self.line(&format!("li {far}, {by}"));
                self.line(&format!("add sp, sp, {far}"));
            }
        }
    }

    /// A load or store of a register at a distance from another.
    fn access(&mut self, how: &str, x: X, base: X, offset: i64) {
        if small(offset) {
            self.line(&format!("{how} {}, {offset}({})", name(x), name(base)));
            return;
        }
        let far = name(SCRATCH);
        self.line(&format!("li {far}, {offset}"));
        self.line(&format!("add {far}, {far}, {}", name(base)));
        self.line(&format!("{how} {}, 0({far})", name(x)));
    }

    fn inst(&mut self, i: &Mach) {
        match i {
            Mach::Three(op, d, a, b) => self.line(&format!("{op} {}, {}, {}", name(*d), name(*a), name(*b))),
            Mach::Imm(op, d, a, n) => self.line(&format!("{op} {}, {}, {n}", name(*d), name(*a))),
            Mach::Li(d, n) if length(*n) > LI_MAX => {
                let k = self.words.iter().position(|w| w == n).unwrap_or_else(|| {
                    self.words.push(*n);
                    self.words.len() - 1
                });
                self.line(&format!("ld {}, words+{}", name(*d), 8 * k));
            }
            Mach::Li(d, n) => self.line(&format!("li {}, {n}", name(*d))),
            Mach::Mv(d, s) => self.line(&format!("mv {}, {}", name(*d), name(*s))),
            Mach::Table(d, k) => self.line(&format!("lla {}, {}", name(*d), table(*k))),
            Mach::Slot(d, k, offset) => {
                let at = self.frame.slots[*k as usize] as i64 + offset;
                if small(at) {
                    self.line(&format!("addi {}, sp, {at}", name(*d)));
                } else {
                    self.line(&format!("li {}, {at}", name(*d)));
                    self.line(&format!("add {0}, {0}, sp", name(*d)));
                }
            }
            Mach::Load(how, x, at, offset) | Mach::Store(how, x, at, offset) => {
                let (base, first) = self.frame.place(*at, self.options.xlen);
                self.access(how, *x, base, first + offset);
            }
            Mach::Group(kind, ins, outs, temporaries) => {
                let names = |all: &[X]| all.iter().map(|x| name(*x)).collect::<Vec<_>>();
                for line in kind.text(&names(ins), &names(outs), &names(temporaries)) {
                    self.line(&line);
                }
            }
            Mach::Label(l) => {
                let _ = writeln!(self.out, "{}:", self.label(*l));
            }
            Mach::Jump(l) => self.line(&format!("j {}", self.label(*l))),
            Mach::Branch(op, a, b, l) => self.line(&format!("{op} {}, {}, {}", name(*a), name(*b), self.label(*l))),
            Mach::Call(symbol) => self.line(&format!("call {symbol}")),
            Mach::Return => {
                self.move_stack(self.frame.bytes as i64);
                self.line("ret");
            }
            Mach::Stop => self.line("ebreak"),
            Mach::Fill => self.line("bne zero, zero, .+4"),
        }
    }
}

fn name(x: X) -> &'static str {
    NAMES[usize::from(x) % 32]
}

#[cfg(test)]
mod tests {
    use super::length;

    /// As GNU as 2.40 writes `li`.
    #[test]
    fn constants_take_so_many_instructions() {
        let known = [(0, 1), (-1, 1), (2047, 1), (2048, 2), (-2049, 2), (0x1234_5000, 1), (0x1234_5678, 2), (-1 << 32, 2), (0xffff_fffe, 3), (i64::MIN, 2), (-884_452_912_994_769_583, 8), (-3_687_945_983_376_704_433, 8)];
        for (n, want) in known {
            assert_eq!(length(n), want, "{n:#x}");
        }
    }
}
