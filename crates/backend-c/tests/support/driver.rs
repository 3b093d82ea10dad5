//! The C around the units: reads a call, makes it, writes its results.

use super::Subject;
use santoku_ir::{Func, Len, Program, StructId, Ty};
use std::fmt::Write;

/// Elements of an array whose length is a parameter, at most.
const LENGTH_MAX: u64 = 16;

/// Where a driver reads calls from and writes results to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// Standard input and output.
    Streams,
    /// Two arrays: for machines without a system. Entered through [`ENTRY`].
    Memory,
}

/// Declaration of the entry of a driver of [`Place::Memory`]: bytes written at `to` for `n` bytes read at `from`; 0 for a call
/// of nothing.
pub const ENTRY: &str = "unsigned long long drive(unsigned char *to, const unsigned char *from, unsigned long long n)";

const STREAMS: &str = r#"#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static int ended(void)
{
    int c = getchar();
    return c == EOF || ungetc(c, stdin) == EOF;
}
static int next(void) { return getchar(); }
static void give(int byte) { putchar(byte); }
"#;

const MEMORY: &str = r#"#include <stdint.h>
#include <string.h>
static const unsigned char *input, *end;
static unsigned char *output;
static int ended(void) { return input == end; }
static int next(void) { return *input++; }
static void give(int byte) { *output++ = (unsigned char)byte; }
"#;

/// Numbers have 16 bytes in a call, and those bits in C that its widest integer has.
const NUMBERS: &str = r#"#ifdef __SIZEOF_INT128__
typedef unsigned __int128 number;
#define NEGATIVE(x) 0
#else
typedef unsigned long long number;
#define NEGATIVE(x) ((x) < 0)
#endif
static number get(void)
{
    number v = 0;
    int i;
    for (i = 0; i < 16; i++) {
        number byte = (unsigned char)next();
        if (i < (int)sizeof v) { v |= byte << (8 * i); }
    }
    return v;
}
static void put(number v, int negative)
{
    int i;
    for (i = 0; i < 16; i++) { give(i < (int)sizeof v ? (int)(v >> (8 * i) & 255) : negative ? 255 : 0); }
}
#define GET(x) ((x) = (__typeof__(x))get())
#define PUT(x) put((number)(x), NEGATIVE(x))
"#;

/// One C file: the units of these numbers, a driver for each function, and the loop over calls.
pub fn text<'s>(subjects: impl IntoIterator<Item = (usize, &'s Subject)>, place: Place) -> String {
    let mut t = format!("{}{NUMBERS}", match place {
        Place::Streams => STREAMS,
        Place::Memory => MEMORY,
    });
    let mut cases = String::new();
    for (k, s) in subjects {
        t.push_str(&s.text());
        for (e, id) in s.entries.iter().enumerate() {
            let f = s.program.func(*id);
            let name = format!("{}_{}", s.name, f.name);
            let _ = writeln!(t, "static void drive_{k}_{e}(void)\n{{\n{}}}\n", drive(&s.program, f, &name, &prototype(&s.header, &name)));
            let _ = writeln!(cases, "        case {}: drive_{k}_{e}(); break;", k << 8 | e);
        }
    }
    let calls = |wrong: &str| {
        format!("    while (!ended()) {{\n        int which = (int)get() << 8;\n        which |= (int)get();\n        switch (which) {{\n{cases}        default: return {wrong};\n        }}\n    }}\n")
    };
    let _ = match place {
        Place::Streams => write!(t, "int main(void)\n{{\n{}    return fflush(stdout) != 0;\n}}\n", calls("1")),
        Place::Memory => write!(t, "{ENTRY};\n{ENTRY}\n{{\n    input = from;\n    end = from + n;\n    output = to;\n{}    return (unsigned long long)(output - to);\n}}\n", calls("0")),
    };
    t
}

/// Return type and parameters of `name` as its header has them.
struct Prototype {
    ret: String,
    params: Vec<String>,
}

fn prototype(header: &str, name: &str) -> Prototype {
    let call = format!(" {name}(");
    let line = header.lines().find(|l| l.contains(&call) && l.ends_with(");")).expect("an exported function is in the header");
    let (ret, rest) = line.split_once(&call).expect("found by it");
    let params = rest.trim_end_matches(");").split(", ").filter(|p| *p != "void");
    Prototype { ret: ret.to_string(), params: params.map(|p| p.replace("restrict ", "").replace("const ", "")).collect() }
}

/// Declaration of an object for a parameter, its name, and the argument that passes it.
fn object(param: &str, ty: &Ty) -> (String, String, String) {
    let name: String = if param.contains("(*") {
        param.split("(*").nth(1).and_then(|r| r.split(')').next()).expect("a pointer to an array").to_string()
    } else {
        param.rsplit([' ', '*']).next().expect("a name").to_string()
    };
    match ty {
        Ty::Array { len, .. } => {
            let n = match len {
                Len::Const(n) => (*n).max(1),
                Len::Param { .. } => LENGTH_MAX,
            };
            let sized = format!("{name}[{n}]");
            let declared = if param.contains("(*") { param.replace(&format!("(*{name})"), &sized) } else { param.replace(&format!("*{name}"), &sized) };
            (declared, name.clone(), name)
        }
        _ if param.contains('*') => (param.replace('*', ""), name.clone(), format!("&{name}")),
        _ => (param.to_string(), name.clone(), name),
    }
}

fn drive(p: &Program, f: &Func, c_name: &str, proto: &Prototype) -> String {
    let returns = f.rets.len() == 1 && f.local(f.rets[0]).ty.is_scalar();
    let ids: Vec<_> = if returns { vec![] } else { f.rets.clone() }.into_iter().chain(f.lens.clone()).chain(f.params.clone()).collect();
    assert_eq!(ids.len(), proto.params.len(), "{c_name}: {:?}", proto.params);
    let (mut decls, mut reads, mut writes, mut args) = (String::new(), String::new(), String::new(), vec![]);
    let objects: Vec<_> = ids.iter().zip(&proto.params).map(|(id, param)| object(param, &f.local(*id).ty)).collect();
    let length = |len: &Len| match len {
        Len::Const(n) => n.to_string(),
        Len::Param { param, add } => {
            let at = ids.iter().position(|id| id == param).expect("a length is a parameter");
            format!("{} + {add}", objects[at].1)
        }
    };
    for (id, (declared, name, arg)) in ids.iter().zip(&objects) {
        let ty = &f.local(*id).ty;
        let _ = writeln!(decls, "    {declared};");
        args.push(arg.clone());
        if f.rets.contains(id) {
            // What is not written shows.
            let _ = writeln!(reads, "    memset(&{name}, 0xa5, sizeof {name});");
            scalars(p, ty, name, "PUT", &length, 0, &mut writes);
        } else {
            scalars(p, ty, name, "GET", &length, 0, &mut reads);
        }
    }
    let call = format!("{c_name}({})", args.join(", "));
    if returns {
        return format!("{decls}    {} result;\n{reads}    result = {call};\n    PUT(result);\n", proto.ret);
    }
    format!("{decls}{reads}    {call};\n{writes}")
}

/// `op` on every scalar of an object, in order.
fn scalars(p: &Program, ty: &Ty, at: &str, op: &str, length: &dyn Fn(&Len) -> String, depth: usize, out: &mut String) {
    match ty {
        Ty::Word(_) | Ty::Int(_) | Ty::Bool => {
            let _ = writeln!(out, "    {op}({at});");
        }
        Ty::Array { elem, len, .. } => {
            let i = format!("i_{depth}");
            let _ = writeln!(out, "    {{ uint32_t {i}; for ({i} = 0; {i} < {}; {i}++) {{", length(len));
            scalars(p, elem, &format!("{at}[{i}]"), op, length, depth + 1, out);
            out.push_str("    } }\n");
        }
        Ty::Struct(StructId(id)) => {
            for (name, field) in &p.structs[*id as usize].fields {
                scalars(p, field, &format!("{at}.{name}"), op, length, depth, out);
            }
        }
    }
}
