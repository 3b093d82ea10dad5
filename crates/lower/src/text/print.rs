//! Modules as text.
//! Trusted: nothing: nothing that ships is made of it.

use super::words::{name, BIN, CMP, CONVERT, SHIFT};
use crate::data::{Address, Block, Count, Func, Inst, Kind, Module, Named, Op, Type, Value};
use crate::notes::Notes;
use std::fmt::Write;

pub fn print(module: &Module) -> String {
    let words: Vec<String> = module.machine.words.iter().map(u32::to_string).collect();
    let mut text = format!("machine {} {}\n", words.join(" "), if module.machine.big_endian { "big" } else { "little" });
    for (k, t) in module.tables.iter().enumerate() {
        let _ = write!(text, "table @{k} {:?} align {} =", t.name, t.align);
        for chunk in t.bytes.chunks(16) {
            let hex: String = chunk.iter().map(|b| format!("{b:02x}")).collect();
            let _ = write!(text, " {hex}");
        }
        text.push('\n');
    }
    for f in &module.funcs {
        func(&mut text, module, f);
    }
    text
}

fn func(text: &mut String, module: &Module, f: &Func) {
    let params: Vec<String> = f.params.iter().map(|p| format!("{} {:?}{}{}", named(&(p.value, p.ty)), p.name, if p.written { " out" } else { "" }, p.most.map(|n| format!(" most {n}")).unwrap_or_default())).collect();
    let results: Vec<String> = f.results.iter().map(|t| ty(*t)).collect();
    let export = f.export.as_ref().map(|e| format!(" export {e:?}")).unwrap_or_default();
    let apart = if f.apart { " noinline" } else { "" };
    let declassifies = if f.declassifies { " declassifies" } else { "" };
    let _ = writeln!(text, "func {:?}{export}{apart}{declassifies} ({}) -> ({}) {{", f.name, params.join(", "), results.join(", "));
    for (k, s) in f.slots.iter().enumerate() {
        let _ = writeln!(text, "  slot ${k} {:?}: {} align {}{}", s.name, s.bytes, s.align, if s.secret { " !" } else { "" });
    }
    block(text, (module, &f.notes), &f.body, 1);
    text.push_str("}\n");
}

fn block(text: &mut String, (module, notes): (&Module, &Notes), b: &Block, depth: usize) {
    let pad = "  ".repeat(depth);
    for i in &b.insts {
        text.push_str(&pad);
        inst(text, (module, notes), i, depth);
        if let Inst::Let { dst, .. } | Inst::Call { dst, .. } = i {
            if let Some(note) = dst.first().and_then(|d| notes.of(d.0 .0)) {
                let _ = write!(text, "  # {}", note.text(notes.file()));
            }
        }
        text.push('\n');
    }
    if !b.yields.is_empty() {
        let _ = writeln!(text, "{pad}yield {}", values(&b.yields));
    }
}

fn inst(text: &mut String, of: (&Module, &Notes), i: &Inst, depth: usize) {
    let module = of.0;
    let pad = "  ".repeat(depth);
    let names = |dst: &[Named]| dst.iter().map(named).collect::<Vec<_>>().join(", ");
    let _ = match i {
        Inst::Let { dst, op } => write!(text, "{} = {}", names(dst), operation(op)),
        Inst::Store { bytes, at, value } => write!(text, "store.{bytes} {}, %{}", address(at), value.0),
        Inst::Copy { to, from, count: n } => write!(text, "copy {}, {}, {}", address(to), address(from), count(n)),
        Inst::Call { dst, func, args } => {
            let callee = module.funcs.get(*func as usize).map_or("?", |f| &f.name);
            let given = if dst.is_empty() { String::new() } else { format!("{} = ", names(dst)) };
            write!(text, "{given}call {callee:?}({})", values(args))
        }
        Inst::If { cond, dst, then, els } => {
            let _ = writeln!(text, "if %{} -> ({}) {{", cond.0, names(dst));
            block(text, of, then, depth + 1);
            let _ = writeln!(text, "{pad}}} else {{");
            block(text, of, els, depth + 1);
            write!(text, "{pad}}}")
        }
        Inst::For(f) => {
            let carried: Vec<String> = f.carried.iter().map(|(n, v)| format!("{} = %{}", named(n), v.0)).collect();
            let how = format!("{}{}", if f.rev { " rev" } else { "" }, if f.signed { " signed" } else { "" });
            let _ = writeln!(text, "for {} = %{} to %{}{how} carry ({}) -> ({}) {{", named(&f.counter), f.lo.0, f.hi.0, carried.join(", "), names(&f.dst));
            block(text, of, &f.body, depth + 1);
            write!(text, "{pad}}}")
        }
    };
}

fn operation(op: &Op) -> String {
    match op {
        Op::Const(v) => format!("const {v}"),
        Op::Slot(k) => format!("slot ${k}"),
        Op::Table(k) => format!("table @{k}"),
        Op::At(at) => format!("at {}", address(at)),
        Op::Bin(o, a, b) => format!("{} {}", name(&BIN, *o), values(&[*a, *b])),
        Op::Shift(o, a, b) => format!("{} {}", name(&SHIFT, *o), values(&[*a, *b])),
        Op::Cmp(o, a, b) => format!("{} {}", name(&CMP, *o), values(&[*a, *b])),
        Op::AddCarry(a, b, c) => format!("addc {}", values(&[*a, *b, *c])),
        Op::SubBorrow(a, b, c) => format!("subb {}", values(&[*a, *b, *c])),
        Op::Select(a, b, c) => format!("select {}", values(&[*a, *b, *c])),
        Op::Convert(o, a) => format!("{} %{}", name(&CONVERT, *o), a.0),
        Op::Load { bytes, signed, at } => format!("load.{bytes}{} {}", if *signed { "s" } else { "" }, address(at)),
    }
}

fn ty(t: Type) -> String {
    let secret = if t.secret { "!" } else { "" };
    match t.kind {
        Kind::Word(bits) => format!("w{bits}{secret}"),
        Kind::Ptr => format!("ptr{secret}"),
    }
}

fn named((v, t): &Named) -> String {
    format!("%{}: {}", v.0, ty(*t))
}

fn values(all: &[Value]) -> String {
    all.iter().map(|v| format!("%{}", v.0)).collect::<Vec<_>>().join(", ")
}

fn address(a: &Address) -> String {
    let index = a.index.map(|(v, scale)| format!(" + %{}*{scale}", v.0)).unwrap_or_default();
    let offset = match a.offset {
        0 => String::new(),
        n if n < 0 => format!(" - {}", n.unsigned_abs()),
        n => format!(" + {n}"),
    };
    format!("[%{}{index}{offset}]", a.base.0)
}

fn count(c: &Count) -> String {
    match c.times {
        Some((v, times)) => format!("%{}*{times} {} {}", v.0, if c.plus < 0 { "-" } else { "+" }, c.plus.unsigned_abs()),
        None => c.plus.to_string(),
    }
}
