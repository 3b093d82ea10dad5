//! C between callers and the functions of a program, as rows of the table describe it: lengths in the range of the program, outputs that are
//! written only where a verdict allows it, objects that are apart, and no secret left behind.
//!
//! Needs: the rows, and what the program exports.  Keeps: every function is the calls that its row says, on objects of the lengths that these have.
//! Absent: what the functions of the program compute.
//! Trusted: c.

use crate::interface::{c_argument, compiled, declared, range, rest, Argument, ArgumentRole, Extent, Function, Returns};
use crate::interface_row::{CallRow, FunctionRow};
use crate::row::Primitive;
use crate::row::StackRows;
use santoku_backend_c::{function_stack_macro, stack_macro, Exported};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// Texts that follow those of the program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shim {
    pub source: String,
    pub header: String,
}

/// A call of a row.
struct Step<'a> {
    of: Function,
    callee: &'a Exported,
    /// What each argument is, in the callee's order.
    passed: Vec<String>,
}

/// A function that a row describes.
struct Made<'a> {
    row: &'a FunctionRow,
    f: Function,
    steps: Vec<Step<'a>>,
    /// The lengths that all steps take.
    bounds: BTreeMap<String, (u64, u64)>,
}

/// The functions of a primitive that rows describe.
///
/// # Errors
/// Which function cannot be as its row says, and why.
pub fn shim(primitive: &Primitive, exported: &[Exported]) -> Result<Shim, String> {
    let mut text = Shim::default();
    for row in primitive.functions.iter().filter(|f| !f.calls.is_empty()) {
        let made = made(row, exported).map_err(|why| format!("{}: {why}", row.name))?;
        // Where a row says how deep the stack is, it is one number for all.
        let stack = if primitive.stack == StackRows::default() { made.stack() } else { stack_macro(&primitive.unit) };
        text.source += &made.source(&stack);
        text.header += &made.header();
    }
    if text.source.contains("STK_DEEPER(") {
        text.source.insert_str(0, "#define STK_DEEPER(a, b) ((a) > (b) ? (a) : (b))\n\n");
    }
    if text.source.contains("STK_APART(") {
        text.source.insert_str(0, APART);
    }
    if text.source.contains("randombytes(") {
        text.header.insert_str(0, RANDOM);
    }
    Ok(text)
}

const APART: &str = "/* Define STK_DEBUG to have every call look at whether its objects are apart as the header says; the program stops if they are not. */
#ifdef STK_DEBUG
#ifndef STK_MISUSE
#if defined(__GNUC__) || defined(__clang__)
#define STK_MISUSE() __builtin_trap()
#else
#define STK_MISUSE() for (;;) { }
#endif
#endif
#define STK_APART(a, an, b, bn) do { if ((uintptr_t)(a) < (uintptr_t)(b) + (size_t)(bn) && (uintptr_t)(b) < (uintptr_t)(a) + (size_t)(an)) { STK_MISUSE(); } } while (0)
#else
#define STK_APART(a, an, b, bn) ((void)0)
#endif

";

const RANDOM: &str = "/* Supplied by the caller: fills x with xlen random bytes. Used by functions that make keys. */
extern void randombytes(unsigned char *x, unsigned long long xlen);

";

fn made<'a>(row: &'a FunctionRow, exported: &'a [Exported]) -> Result<Made<'a>, String> {
    let f = declared(row)?;
    let mut made = Made { row, f, steps: vec![], bounds: BTreeMap::new() };
    for call in &row.calls {
        let step = made.step(call, exported)?;
        made.steps.push(step);
    }
    made.filled()?;
    made.ordered()?;
    for a in made.f.arguments.clone() {
        for other in &a.same {
            made.in_place(&a, other)?;
        }
    }
    Ok(made)
}

impl<'a> Made<'a> {
    fn argument(&self, name: &str) -> Option<&Argument> {
        self.f.arguments.iter().find(|a| a.name == name)
    }

    /// Bytes of an argument or a local.
    fn extent(&self, name: &str) -> Option<Extent> {
        let local = self.row.locals.get(name).map(|n| Extent::fixed(*n));
        self.argument(name).filter(|a| a.number == 1).and_then(|a| a.bytes.clone()).or(local)
    }

    fn step(&mut self, call: &CallRow, exported: &'a [Exported]) -> Result<Step<'a>, String> {
        let callee = exported.iter().find(|e| e.name == call.function).ok_or_else(|| format!("the program exports no `{}`", call.function))?;
        let of = compiled(callee)?;
        if let Some(name) = call.pass.keys().find(|name| of.arguments.iter().all(|a| a.name != **name)) {
            return Err(format!("`{}` has no argument `{name}`", call.function));
        }
        let named = |name: &String| call.pass.get(name).unwrap_or(name).clone();
        let passed: Vec<String> = of.arguments.iter().map(|a| named(&a.name)).collect();
        for ((a, own), name) in of.arguments.iter().zip(&callee.arguments).zip(&passed) {
            match a.role {
                ArgumentRole::Length => self.length(name, range(&own.ty))?,
                ArgumentRole::Value => return Err(format!("`{}` takes a number, `{}`", call.function, a.name)),
                _ => {
                    let wanted = a.bytes.clone().map(|e| Extent { of: e.of.as_ref().map(named), ..e });
                    let has = self.extent(name).ok_or_else(|| format!("there is no object `{name}` of bytes for `{}`", call.function))?;
                    if wanted.as_ref() != Some(&has) || a.number != 1 {
                        return Err(format!("`{name}` has {has} bytes, and `{}` takes {}", call.function, wanted.map_or("none".into(), |e| e.to_string())));
                    }
                    if a.role == ArgumentRole::Input && a.public && !self.argument(name).is_some_and(|x| x.public) {
                        return Err(format!("`{name}` is a secret, and `{}` takes it for public", call.function));
                    }
                }
            }
        }
        if !matches!(of.returns, Returns::Nothing | Returns::Verdict) {
            return Err(format!("`{}` returns a number", call.function));
        }
        Ok(Step { of, callee, passed })
    }

    fn length(&mut self, name: &str, range: Option<[String; 2]>) -> Result<(), String> {
        if !self.argument(name).is_some_and(|a| a.role == ArgumentRole::Length) {
            return Err(format!("`{name}` is no length"));
        }
        let bound = |k: usize| range.as_ref().and_then(|r| r[k].parse::<u64>().ok());
        let (lo, hi) = bound(0).zip(bound(1)).ok_or_else(|| format!("the length `{name}` has no bounds"))?;
        let at = self.bounds.entry(name.to_string()).or_insert((lo, hi));
        *at = (at.0.max(lo), at.1.min(hi));
        Ok(())
    }

    /// What is filled first is an output, and null pointers come with no bytes.
    fn filled(&self) -> Result<(), String> {
        if let Some(name) = self.row.random.iter().chain(&self.row.zeros).find(|n| !self.argument(n).is_some_and(|a| a.role == ArgumentRole::Output)) {
            return Err(format!("`{name}` is filled, and no output"));
        }
        if let Some(name) = self.row.locals.keys().find(|n| self.argument(n).is_some()) {
            return Err(format!("`{name}` is an argument and a local"));
        }
        let empty = |a: &&Argument| self.may_be_empty(a);
        match self.f.arguments.iter().find(|a| a.null && !empty(a) || !a.overlaps.is_empty()) {
            Some(a) => Err(format!("`{}` may be null and has bytes, or overlaps in part: that needs code by hand", a.name)),
            None => Ok(()),
        }
    }

    /// As many bytes as a length that may be 0.
    fn may_be_empty(&self, a: &Argument) -> bool {
        let of = a.bytes.as_ref().filter(|e| e.add == 0 && e.times == 1).and_then(|e| e.of.clone());
        of.is_some_and(|of| self.bounds.get(&of).is_some_and(|(lo, _)| *lo == 0))
    }

    /// Nothing is read before it is there, nothing is written before the last verdict, and everything is used and written.
    fn ordered(&self) -> Result<(), String> {
        let mut there: BTreeSet<&str> = self.f.arguments.iter().filter(|a| a.role.is_read()).map(|a| a.name.as_str()).collect();
        let mut written: BTreeSet<&str> = self.row.random.iter().chain(&self.row.zeros).map(String::as_str).collect();
        there.extend(&written);
        let mut used: BTreeSet<&str> = self.row.random.iter().map(String::as_str).collect();
        for step in &self.steps {
            for (a, name) in step.of.arguments.iter().zip(&step.passed) {
                used.insert(name);
                if a.role == ArgumentRole::Input && !there.contains(name.as_str()) {
                    return Err(format!("`{}` reads `{name}`, which is not there yet", step.of.name));
                }
            }
            if step.of.returns == Returns::Verdict && written.iter().any(|name| self.argument(name).is_some()) {
                return Err(format!("an output is written before `{}` says yes", step.of.name));
            }
            for (k, name) in step.results() {
                let local = self.row.locals.contains_key(name);
                if !local && !self.argument(name).is_some_and(|a| a.role.is_written()) {
                    return Err(format!("`{}` writes `{name}`, which is no output", step.of.name));
                }
                step.shares(k, name, name)?;
                there.insert(name);
                written.insert(name);
            }
        }
        let lacks = |a: &&Argument| a.role.is_written() && !written.contains(a.name.as_str()) || !used.contains(a.name.as_str());
        match self.f.arguments.iter().find(lacks) {
            Some(a) => Err(format!("`{}` is not used, or not written", a.name)),
            None => Ok(()),
        }
    }

    /// `output` may be the object of `other`: every function that writes it then reads `other` in a way that allows it, and none reads it later.
    fn in_place(&self, output: &Argument, other: &str) -> Result<(), String> {
        let bad = |why: String| Err(format!("`{}` is not to be `{other}`: {why}", output.name));
        if !self.argument(other).is_some_and(|a| a.role == ArgumentRole::Input && a.bytes == output.bytes) || output.role != ArgumentRole::Output {
            return bad("that is no input of so many bytes, or this is no output".into());
        }
        if self.row.random.iter().chain(&self.row.zeros).any(|n| *n == output.name) {
            return bad("it is filled before anything is read".into());
        }
        let mut written = false;
        for step in &self.steps {
            if written && step.reads(other) {
                return bad(format!("`{}` reads that later", step.of.name));
            }
            for (k, _) in step.results().filter(|(_, name)| *name == output.name) {
                step.shares(k, &output.name, other)?;
                written = true;
            }
        }
        Ok(())
    }

    fn secret(&self) -> bool {
        !self.row.random.is_empty() || self.f.arguments.iter().any(|a| a.role.is_read() && !a.public)
    }

    /// Bytes of stack that its calls use, as an expression of C.
    fn stack(&self) -> String {
        let each: BTreeSet<String> = self.steps.iter().map(|s| function_stack_macro(&s.of.name)).collect();
        each.into_iter().reduce(|a, b| format!("STK_DEEPER({a}, {b})")).unwrap_or_default()
    }

    /// Why -1 is returned before anything is called, as a condition.
    fn outside(&self) -> String {
        let bound = |(name, (lo, hi)): (&String, &(u64, u64))| match lo {
            0 => format!("{name} > {hi}u"),
            lo => format!("{name} < {lo} || {name} > {hi}u"),
        };
        self.bounds.iter().map(bound).collect::<Vec<_>>().join(" || ")
    }

    fn source(&self, stack: &str) -> String {
        let name = &self.f.name;
        let list = self.f.arguments.iter().map(c_argument).collect::<Vec<_>>().join(", ");
        let names = self.f.arguments.iter().map(|a| a.name.clone()).collect::<Vec<_>>().join(", ");
        let body = self.body();
        if !self.secret() {
            return format!("STK_API int STK_NAME({name})({list})\n{{\n{body}}}\n\n");
        }
        let random: String = self.row.random.iter().map(|n| format!("    randombytes({n}, {});\n", self.extent(n).map_or(String::new(), |e| e.to_string()))).collect();
        format!(
            "static STK_BODY int stk_{name}({list})\n{{\n{body}}}\n\nSTK_API int STK_NAME({name})({list})\n{{\n    int status;\n{random}    status = stk_{name}({names});\n    STK_CLEAR({stack});\n    return status;\n}}\n\n"
        )
    }

    fn body(&self) -> String {
        let mut text: String = self.row.locals.iter().map(|(name, n)| format!("    unsigned char {name}[{n}];\n")).collect();
        let outside = self.outside();
        if !outside.is_empty() {
            let _ = write!(text, "    if ({outside}) {{\n        return -1;\n    }}\n");
        }
        let mut outputs = self.f.arguments.iter().filter(|a| a.role.is_written());
        if let Some(of) = outputs.next().filter(|a| self.may_be_empty(a) && outputs.all(|b| b.bytes == a.bytes)).and_then(|a| a.bytes.as_ref()?.of.as_ref()) {
            let _ = write!(text, "    if ({of} == 0) {{\n        return 0;\n    }}\n");
        }
        text += &self.apart();
        for name in &self.row.zeros {
            let _ = writeln!(text, "    memset({name}, 0, (size_t)({}));", self.extent(name).map_or(String::new(), |e| e.to_string()));
        }
        for step in &self.steps {
            let call = format!("{}({})", step.of.name, step.of.arguments.iter().zip(&step.passed).map(|(a, name)| self.given(a, name)).collect::<Vec<_>>().join(", "));
            let _ = match step.of.returns {
                Returns::Verdict => write!(text, "    if (!{call}) {{\n        return -1;\n    }}\n"),
                _ => writeln!(text, "    {call};"),
            };
        }
        match self.row.returns.as_deref().and_then(rest) {
            Some((of, block)) => text + &format!("    return (int)({of} % {block});\n"),
            None => text + "    return 0;\n",
        }
    }

    /// An argument of a call.
    fn given(&self, a: &Argument, name: &str) -> String {
        let of = self.argument(name).filter(|x| x.null).and_then(|x| x.bytes.as_ref()?.of.clone());
        match (a.role, of) {
            (ArgumentRole::Length, _) => format!("(uint32_t){name}"),
            (ArgumentRole::Input, Some(of)) => format!("{of} ? {name} : (const unsigned char *)\"\""),
            _ => name.to_string(),
        }
    }

    /// Looks at whether outputs are apart from everything that they must be apart from.
    fn apart(&self) -> String {
        let mut text = String::new();
        let pointers: Vec<&Argument> = self.f.arguments.iter().filter(|a| a.bytes.is_some()).collect();
        let size = |a: &Argument| a.bytes.as_ref().map_or(String::new(), |e| e.to_string());
        for (k, o) in pointers.iter().enumerate().filter(|(_, a)| a.role.is_written()) {
            for (_, a) in pointers.iter().enumerate().filter(|(j, a)| *j != k && (*j > k || !a.role.is_written())) {
                let look = format!("STK_APART({}, {}, {}, {});", o.name, size(o), a.name, size(a));
                let _ = match o.same.contains(&a.name) {
                    true => writeln!(text, "    if ({} != {}) {{\n        {look}\n    }}", o.name, a.name),
                    false => writeln!(text, "    {look}"),
                };
            }
        }
        text
    }

    fn header(&self) -> String {
        let mut lines = self.f.about.clone();
        lines.push(String::new());
        for a in &self.f.arguments {
            let size = a.bytes.as_ref().map_or(String::new(), |e| format!("[{e}]"));
            let what = match a.role {
                ArgumentRole::Output => "written",
                ArgumentRole::Changed => "read, then written",
                ArgumentRole::Input | ArgumentRole::Value => "read",
                ArgumentRole::Length => "a length",
            };
            let secrecy = if !a.role.is_read() { "" } else if a.public { "; public" } else { "; secret" };
            let bounds = self.bounds.get(&a.name).map_or(String::new(), |(lo, hi)| format!(", from {lo} to {hi}"));
            let null = a.null.then(|| a.bytes.as_ref()?.of.clone()).flatten().map_or(String::new(), |of| format!("; may be null if {of} is 0"));
            let same = if a.same.is_empty() { String::new() } else { format!("; may be {}", a.same.join(" or ")) };
            let zeros = self.row.arguments.iter().find(|r| r.name == a.name && r.zeros > 0).map_or(String::new(), |r| format!("; its first {} bytes must be 0", r.zeros));
            lines.push(format!("{}{size}: {what}{bounds}{secrecy}{null}{same}{zeros}", a.name));
        }
        lines.extend([String::new(), self.returned()]);
        let list = self.f.arguments.iter().map(c_argument).collect::<Vec<_>>().join(", ");
        format!("/* {} */\nint STK_NAME({})({list});\n\n", lines.join("\n * ").replace(" * \n", " *\n"), self.f.name)
    }

    fn returned(&self) -> String {
        let verdict = self.steps.iter().any(|s| s.of.returns == Returns::Verdict);
        let lengths: Vec<&str> = self.bounds.keys().map(String::as_str).collect();
        let beyond = format!("{} is outside of its range", lengths.join(" or "));
        let well = match self.row.returns.as_deref().and_then(rest) {
            Some((of, block)) => format!("the rest of {of} modulo {block}"),
            None => "0".into(),
        };
        match (verdict, lengths.is_empty()) {
            (true, true) => format!("Returns {well}; or -1 if it is not accepted."),
            (true, false) => format!("Returns {well}; or -1, with nothing written, if it is not accepted or {beyond}."),
            (false, true) => format!("Returns {well}."),
            (false, false) => format!("Returns {well}; or -1, with nothing written, if {beyond}."),
        }
    }
}

impl Step<'_> {
    /// Positions and objects of what it writes.
    fn results(&self) -> impl Iterator<Item = (usize, &str)> {
        self.of.arguments.iter().enumerate().filter(|(_, a)| a.role == ArgumentRole::Output).map(|(k, _)| (k, self.passed[k].as_str()))
    }

    fn reads(&self, object: &str) -> bool {
        self.of.arguments.iter().zip(&self.passed).any(|(a, name)| a.role == ArgumentRole::Input && name == object)
    }

    /// Whether result `k`, which is `output`, may lie where `other` does, if it reads that.
    fn shares(&self, k: usize, output: &str, other: &str) -> Result<(), String> {
        for (j, a) in self.of.arguments.iter().enumerate().filter(|(_, a)| a.role == ArgumentRole::Input) {
            if self.passed[j] == other && !self.callee.arguments[k].may_be.contains(&a.name) {
                return Err(format!("`{}` may read `{}` after it wrote `{output}`, and both are one object here", self.of.name, a.name));
            }
        }
        Ok(())
    }
}
