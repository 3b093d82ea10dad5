//! Functions of random programs that are not inlined: what they are given, in how many registers and where on the stack, what they give
//! back, and calls of them.
//!
//! Needs: the expressions of [`Text`].  Keeps: every helper is well typed on its own.  Absent: who calls, and when ([`crate::attack`]).

use crate::attack::{Text, WORDS};

/// A type of a parameter or of a result.
#[derive(Clone, Debug)]
enum Ty {
    Word(&'static str),
    Bool,
    /// `public int in 0..9`
    Public,
    /// `[u16; 3]`
    Halves,
    /// `[u32; 2]`
    Pair,
    /// `(u32, u8)`, results only.
    Tuple,
    /// `S`
    Struct,
    /// The array of run-time length of the caller: its type.
    Row(String),
}

impl Ty {
    fn text(&self) -> String {
        match self {
            Ty::Word(name) => name.to_string(),
            Ty::Bool => "bool".into(),
            Ty::Public => "public int in 0..9".into(),
            Ty::Halves => "[u16; 3]".into(),
            Ty::Pair => "[u32; 2]".into(),
            Ty::Tuple => "(u32, u8)".into(),
            Ty::Struct => "S".into(),
            Ty::Row(text) => text.clone(),
        }
    }
}

/// What the caller has under which name.
pub(crate) struct Caller {
    /// A parameter `s: S`.
    pub(crate) has_struct: bool,
    /// The type of the parameter `m` of run-time length.
    pub(crate) row: Option<String>,
}

pub(crate) struct Helper {
    name: String,
    params: Vec<Ty>,
    result: Ty,
}

impl Helper {
    /// A signature; up to eleven parameters, so that some go on the stack.
    pub(crate) fn new(t: &mut Text, n: u64, caller: &Caller) -> Helper {
        let count = if t.rng.one_in(3) { 5 + t.number(7) } else { 1 + t.number(4) };
        let mut params: Vec<Ty> = (0..count).map(|_| param(t)).collect();
        if let Some(row) = caller.row.as_ref().filter(|_| t.rng.one_in(2)) {
            let at = t.number(count) as usize;
            params[at] = Ty::Row(row.clone());
        }
        let result = match t.number(6) {
            0 | 1 => Ty::Word("u32"),
            2 => Ty::Word("u64"),
            3 => Ty::Tuple,
            4 => Ty::Struct,
            _ => Ty::Pair,
        };
        Helper { name: format!("h{n}"), params, result }
    }

    /// Its definition.
    pub(crate) fn text(&self, t: &mut Text) -> String {
        let kept = [std::mem::take(&mut t.leaves), std::mem::take(&mut t.bits), std::mem::take(&mut t.tests)];
        t.leaves = vec!["t".into(), "w".into()];
        let mut rounds = t.rng.one_in(3).then(|| (2 + t.number(4)).to_string());
        for (k, ty) in self.params.iter().enumerate() {
            let x = format!("x{k}");
            match ty {
                Ty::Bool => t.bits.push(x),
                Ty::Public => t.tests.extend([format!("{x} > 4"), format!("{x} == 7")]),
                Ty::Row(_) => rounds = Some("n".into()),
                _ => t.leaves.extend(reads(t, ty, &x)),
            }
        }
        let outside = t.leaves.len();
        for (k, ty) in self.params.iter().enumerate() {
            match ty {
                Ty::Row(text) if text.starts_with("[S") => t.leaves.extend(t.of_struct(&format!("x{k}[i]"))),
                Ty::Row(_) => t.leaves.push(format!("u32(x{k}[i])")),
                _ => {}
            }
        }
        let body = match rounds {
            Some(to) => format!("  for i in 0..<{to} {{\n{}  }}\n", t.body("    ")),
            None => t.body("  "),
        };
        t.leaves.truncate(outside);
        let result = value(t, &self.result, None);
        [t.leaves, t.bits, t.tests] = kept;
        let lens = if self.params.iter().any(|ty| matches!(ty, Ty::Row(_))) { "<n: len>" } else { "" };
        let params: Vec<String> = self.params.iter().enumerate().map(|(k, ty)| format!("x{k}: {}", ty.text())).collect();
        let (name, params, to) = (&self.name, params.join(", "), self.result.text());
        format!("\n@noinline\nfn {name}{lens}({params}) -> {to} {{\n  var t: u32 = 5\n  var w: u32 = 11\n{body}  {result}\n}}\n")
    }

    /// A statement that calls it, `name` for what it gives back; and what can be read behind it.
    pub(crate) fn call(&self, t: &mut Text, name: &str, caller: &Caller) -> (String, Vec<String>) {
        let args: Vec<String> = self.params.iter().map(|ty| value(t, ty, Some(caller))).collect();
        let call = format!("{}({})", self.name, args.join(", "));
        match self.result {
            // Often what is given is what is written.
            Ty::Pair if t.rng.one_in(2) => (format!("q = {call}"), vec![]),
            _ => (format!("let {name} = {call}"), reads(t, &self.result, name)),
        }
    }
}

fn param(t: &mut Text) -> Ty {
    match t.number(10) {
        0..=3 => Ty::Word(WORDS[t.number(4) as usize]),
        4 => Ty::Word("u64"),
        5 => Ty::Bool,
        6 => Ty::Public,
        7 => Ty::Halves,
        8 => Ty::Pair,
        _ => Ty::Struct,
    }
}

/// Expressions of type `u32` that read a value.
fn reads(t: &Text, ty: &Ty, value: &str) -> Vec<String> {
    match ty {
        Ty::Word("u32") => vec![value.into()],
        Ty::Word("u64") => vec![format!("u32({value})"), format!("u32({value} >> 27)")],
        Ty::Word(_) => vec![format!("u32({value})")],
        Ty::Halves => vec![format!("u32({value}[0])"), format!("u32({value}[2])")],
        Ty::Pair => vec![format!("{value}[0]"), format!("{value}[1]")],
        Ty::Tuple => vec![format!("{value}.0"), format!("u32({value}.1)")],
        Ty::Struct => t.of_struct(value),
        Ty::Bool | Ty::Public | Ty::Row(_) => vec![],
    }
}

/// A value of a type: of what a caller has, or made anew.
fn value(t: &mut Text, ty: &Ty, caller: Option<&Caller>) -> String {
    let has_struct = caller.is_some_and(|c| c.has_struct);
    match ty {
        Ty::Word("u32") => t.expr(1),
        Ty::Word("u64") => format!("(u64({}) << 32) | u64({})", t.expr(1), t.expr(1)),
        Ty::Word(name) => format!("{name}({})", t.expr(1)),
        Ty::Bool => format!("{} < {}", t.expr(0), t.expr(0)),
        Ty::Public => if t.rng.one_in(2) { "p".into() } else { t.number(10).to_string() },
        Ty::Halves => format!("[u16({}), 9, u16({})]", t.expr(1), t.expr(0)),
        Ty::Pair if caller.is_some() && !t.rng.one_in(3) => "q".into(),
        Ty::Pair => format!("[{}, {}]", t.expr(1), t.expr(1)),
        Ty::Tuple => format!("({}, u8({}))", t.expr(1), t.expr(1)),
        Ty::Struct if has_struct && t.rng.one_in(2) => "s".into(),
        Ty::Struct => {
            let fields: Vec<String> = t.fields.clone().iter().enumerate().map(|(k, ty)| format!("f{k}: {}", field(t, ty))).collect();
            format!("S {{ {} }}", fields.join(", "))
        }
        Ty::Row(_) => "m".into(),
    }
}

fn field(t: &mut Text, ty: &str) -> String {
    match ty {
        "u32" => t.expr(1),
        "u64" => format!("u64({}) << 3", t.expr(1)),
        "[u16; 3]" => format!("[u16({}), 5, u16({})]", t.expr(0), t.expr(0)),
        "int in -300..200" => format!("int(u8({})) - 200", t.expr(1)),
        word => format!("{word}({})", t.expr(1)),
    }
}
