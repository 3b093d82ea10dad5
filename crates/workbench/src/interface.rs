//! A primitive's functions as C calls them: by what the back end says of exported functions, or by what the row declares where the interface is
//! written by hand. No primitive has a line of code here.

use crate::interface_row::{ArgumentRow, FunctionRow};
use crate::row::Primitive;
use crate::BenchError;
use santoku_backend_c::{Argument as Compiled, Exported, Role};
use santoku_ir::{Len, Range, Ty};
use serde::Serialize;

/// A function.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Function {
    pub name: String,
    /// C declaration with types of the language alone, without a semicolon.
    pub declaration: String,
    pub arguments: Vec<Argument>,
    pub returns: Returns,
    /// Where it returns -1, it has written nothing.
    #[serde(skip)]
    pub untouched: bool,
    /// What it does, in the words of the program.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub about: Vec<String>,
    /// What callers must establish, as the program has it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub requires: Vec<String>,
}

/// An argument, in C's order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Argument {
    pub name: String,
    pub role: ArgumentRole,
    /// Bytes of one number in what it points to, or of the value.
    pub number: usize,
    /// It is a `size_t`; its range is that of so many bytes.
    #[serde(rename = "size_t", skip_serializing_if = "std::ops::Not::not")]
    pub size: bool,
    /// Numbers may be negative.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub signed: bool,
    /// Bytes that it points to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<Extent>,
    /// Bytes that other implementations may write.
    #[serde(skip)]
    pub room: Option<Extent>,
    /// What it holds may show in the time that a call takes.
    pub public: bool,
    /// The least and the most of a number, of each where it is an array, of a length.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub range: Option<[String; 2]>,
    /// What the bytes stand for, and the section that says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub encoding: Option<String>,
    /// It may be a null pointer.
    pub null: bool,
    /// Arguments that it may overlap.
    pub overlaps: Vec<String>,
    /// Arguments whose object it may be.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub same: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ArgumentRole {
    /// A pointer to what is read.
    Input,
    /// A pointer to what is written.
    Output,
    /// A pointer to what is read, then written.
    Changed,
    /// A length that other arguments have.
    Length,
    /// A number.
    Value,
}

impl ArgumentRole {
    /// A pointer to bytes that the function reads.
    pub fn is_read(self) -> bool {
        matches!(self, ArgumentRole::Input | ArgumentRole::Changed)
    }

    /// A pointer to bytes that it writes.
    pub fn is_written(self) -> bool {
        matches!(self, ArgumentRole::Output | ArgumentRole::Changed)
    }
}

/// A number of bytes: `times * of + add`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Extent {
    /// An argument that is a length.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub of: Option<String>,
    pub times: usize,
    pub add: i64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Returns {
    Nothing,
    /// 1 if accepted, 0 if not.
    Verdict,
    /// 0 if all is well, -1 if not.
    Status,
    /// A number of at most 32 bits.
    Word32,
    Word64,
}

impl Function {
    /// Whether what it returned says that its results are there; a number says so unless it is -1.
    pub fn has_results(&self, returned: i32) -> bool {
        match self.returns {
            Returns::Status | Returns::Verdict => self.returns.accepts(returned as u32 as u64),
            Returns::Nothing | Returns::Word32 | Returns::Word64 => returned != -1,
        }
    }
}

impl Returns {
    /// Whether a function that returned this says yes.
    pub fn accepts(self, returned: u64) -> bool {
        match self {
            Returns::Status => returned as u32 == 0,
            _ => returned != 0,
        }
    }
}

impl Extent {
    pub fn fixed(bytes: usize) -> Extent {
        Extent { of: None, times: 0, add: bytes as i64 }
    }

    /// Bytes, where lengths have these values.
    pub fn get(&self, length: &dyn Fn(&str) -> Option<usize>) -> Option<usize> {
        let base = match &self.of {
            Some(name) => length(name)? * self.times,
            None => 0,
        };
        usize::try_from(base as i64 + self.add).ok()
    }

    /// `32`, `n`, `n + 64`.
    fn parse(text: &str) -> Option<Extent> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let name = |w: &str| w.starts_with(|c: char| c.is_ascii_lowercase()).then(|| Some(w.to_string()));
        match words[..] {
            [number] if number.bytes().all(|b| b.is_ascii_digit()) => Some(Extent::fixed(number.parse().ok()?)),
            [of] => Some(Extent { of: name(of)?, times: 1, add: 0 }),
            [of, "+", number] => Some(Extent { of: name(of)?, times: 1, add: number.parse().ok()? }),
            [of, "-", number] => Some(Extent { of: name(of)?, times: 1, add: -number.parse::<i64>().ok()? }),
            _ => None,
        }
    }
}

impl std::fmt::Display for Extent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Some(of) = &self.of else { return write!(f, "{}", self.add) };
        match self.times {
            1 => write!(f, "{of}")?,
            k => write!(f, "{k} {of}")?,
        }
        match self.add {
            0 => Ok(()),
            n if n < 0 => write!(f, " - {}", -n),
            n => write!(f, " + {n}"),
        }
    }
}

/// The functions of a primitive; `exported`: those of its program.
///
/// # Errors
/// `Declaration`: the row declares none that could be, or the program exports a type that C does not have.
pub fn functions(primitive: &Primitive, exported: &[Exported]) -> Result<Vec<Function>, BenchError> {
    let bad = |name: &str, reason: String| BenchError::Declaration { path: "lib/primitives.toml".into(), reason: format!("{}: {name}: {reason}", primitive.name) };
    let found: Result<Vec<Function>, BenchError> = match primitive.functions.is_empty() {
        false => primitive.functions.iter().map(|f| declared(f).map_err(|reason| bad(&f.name, reason))).collect(),
        true => exported.iter().map(|f| compiled(f).map_err(|reason| bad(&f.name, reason))).collect(),
    };
    let mut found = found?;
    encoded(primitive, &mut found)?;
    Ok(found)
}

/// Puts what the row says of arguments into those of its functions.
///
/// # Errors
/// `Declaration`: a name that no argument has.
fn encoded(primitive: &Primitive, functions: &mut [Function]) -> Result<(), BenchError> {
    for (name, text) in &primitive.encodings {
        let mut any = false;
        for a in functions.iter_mut().flat_map(|f| &mut f.arguments).filter(|a| a.name == *name) {
            a.encoding = Some(text.clone());
            any = true;
        }
        if !any {
            let reason = format!("{}: encodings: no argument is called `{name}`", primitive.name);
            return Err(BenchError::Declaration { path: "lib/primitives.toml".into(), reason });
        }
    }
    Ok(())
}

/// Functions that can be described, and the names of those that cannot: they have types that nothing here calls.
///
/// # Errors
/// `Declaration`: the row declares none that could be.
pub fn described(primitive: &Primitive, exported: &[Exported]) -> Result<(Vec<Function>, Vec<String>), BenchError> {
    if !primitive.functions.is_empty() {
        return Ok((functions(primitive, exported)?, vec![]));
    }
    let (mut all, mut others) = (vec![], vec![]);
    for f in exported {
        match compiled(f) {
            Ok(function) => all.push(function),
            Err(_) => others.push(f.name.clone()),
        }
    }
    encoded(primitive, &mut all)?;
    Ok((all, others))
}

/// Scalars in an element of an array, which may be an array itself.
pub(crate) fn scalars(ty: &Ty) -> Option<usize> {
    match ty {
        Ty::Word(_) | Ty::Bool | Ty::Int(_) => Some(1),
        Ty::Array { elem, len: Len::Const(n), .. } => scalars(elem).map(|k| k * *n as usize),
        Ty::Array { .. } | Ty::Struct(_) => None,
    }
}

/// A function that the compiler printed.
///
/// # Errors
/// The argument whose type has no calls here.
pub fn compiled(f: &Exported) -> Result<Function, String> {
    let lengths: Vec<&str> = f.arguments.iter().filter(|a| a.role == Role::Length).map(|a| a.name.as_str()).collect();
    let mut arguments = vec![];
    for a in &f.arguments {
        arguments.push(argument(a, &lengths).ok_or_else(|| format!("`{}` has a type that is not called here", a.name))?);
    }
    // Types of C99's headers are not known where a program is driven. Longer names go first: they hold shorter ones.
    let words = [
        ("uint8_t", "unsigned char"),
        ("uint16_t", "unsigned short"),
        ("uint32_t", "__UINT32_TYPE__"),
        ("uint64_t", "unsigned long long"),
        ("size_t", "__SIZE_TYPE__"),
        ("int8_t", "signed char"),
        ("int16_t", "short"),
        ("int32_t", "__INT32_TYPE__"),
        ("int64_t", "long long"),
    ];
    let declaration = words.iter().fold(f.declaration.clone(), |text, (from, to)| text.replace(from, to));
    if declaration.contains("stk_") {
        return Err("it has numbers of 128 bits, which are not called here".into());
    }
    let returns = match (&f.returned, f.returned_number) {
        (None, _) => Returns::Nothing,
        (Some(Ty::Bool), _) => Returns::Verdict,
        (Some(Ty::Int(Some(r))), _) if *r == Range::new(-1, 0) => Returns::Status,
        (Some(_), Some(n)) if n.bytes == 8 => Returns::Word64,
        (Some(_), Some(n)) if n.bytes < 8 => Returns::Word32,
        (Some(_), _) => return Err("what it returns has a type that is not called here".into()),
    };
    Ok(Function { name: f.name.clone(), declaration, arguments, returns, untouched: false, about: f.doc.clone(), requires: f.requires.clone() })
}

/// The range of the integers that a value of this type is made of.
pub(crate) fn range(ty: &Ty) -> Option<[String; 2]> {
    match ty {
        Ty::Int(Some(r)) => Some([r.lo.to_string(), r.hi.to_string()]),
        Ty::Array { elem, .. } => range(elem),
        _ => None,
    }
}

fn argument(a: &Compiled, lengths: &[&str]) -> Option<Argument> {
    let number = a.number?;
    let plain = |role, bytes| Argument { name: a.name.clone(), role, number: number.bytes, size: role == ArgumentRole::Length, signed: number.signed, bytes, room: None, public: a.public, range: range(&a.ty), encoding: None, null: false, overlaps: vec![], same: a.may_be.clone() };
    if a.role == Role::Length {
        return Some(plain(ArgumentRole::Length, None));
    }
    let role = if a.role == Role::Result { ArgumentRole::Output } else { ArgumentRole::Input };
    match &a.ty {
        Ty::Array { elem, len, .. } => {
            let size = scalars(elem)? * number.bytes;
            let bytes = match len {
                Len::Const(n) => Extent::fixed(*n as usize * size),
                Len::Param { param, add } => Extent { of: Some(lengths.get(param.0 as usize)?.to_string()), times: size, add: add * size as i64 },
            };
            Some(plain(role, Some(bytes)))
        }
        Ty::Struct(_) => None,
        _ if number.bytes > 8 => None,
        _ => match role {
            ArgumentRole::Output => Some(plain(role, Some(Extent::fixed(number.bytes)))),
            _ => Some(plain(ArgumentRole::Value, None)),
        },
    }
}

/// `n % 128`: a length, and the bytes of a block.
pub(crate) fn rest(text: &str) -> Option<(&str, u32)> {
    let (of, block) = text.split_once(" % ")?;
    block.parse().ok().filter(|b| *b > 0).map(|b| (of, b))
}

/// A function that the row declares.
pub(crate) fn declared(f: &FunctionRow) -> Result<Function, String> {
    let arguments = f.arguments.iter().map(|a| declared_argument(a).ok_or_else(|| format!("`{}` is no argument", a.name))).collect::<Result<Vec<_>, _>>()?;
    let names: Vec<&str> = arguments.iter().filter(|a| a.role == ArgumentRole::Length).map(|a| a.name.as_str()).collect();
    let known = |e: &Extent| e.of.as_ref().is_none_or(|of| names.contains(&of.as_str()));
    if let Some(a) = arguments.iter().find(|a| !a.bytes.iter().chain(&a.room).all(known)) {
        return Err(format!("`{}` has a length that is no argument", a.name));
    }
    let returns = match f.returns.as_deref() {
        None => Returns::Nothing,
        Some("status") => Returns::Status,
        Some("verdict") => Returns::Verdict,
        Some(other) if rest(other).is_some_and(|(of, _)| names.contains(&of)) => Returns::Word32,
        Some(other) => return Err(format!("it returns `{other}`: `status`, `verdict` and `n % 128` are known")),
    };
    let list: Vec<String> = arguments.iter().map(c_argument).collect();
    let result = if returns == Returns::Nothing { "void" } else { "int" };
    let declaration = format!("{result} {}({})", f.name, list.join(", "));
    let encoding = |a: Argument| Argument { encoding: f.encodings.get(&a.name).cloned(), ..a };
    let arguments = arguments.into_iter().map(encoding).collect();
    Ok(Function { name: f.name.clone(), declaration, arguments, returns, untouched: !f.calls.is_empty(), about: f.about.lines().map(str::to_string).collect(), requires: vec![] })
}

fn declared_argument(a: &ArgumentRow) -> Option<Argument> {
    let (role, number, bytes) = match (&a.input, &a.output, a.length) {
        (Some(text), None, None) => (ArgumentRole::Input, a.number.unwrap_or(1), Some(Extent::parse(text)?)),
        (None, Some(text), None) => (ArgumentRole::Output, a.number.unwrap_or(1), Some(Extent::parse(text)?)),
        (Some(text), Some(same), None) if text == same => (ArgumentRole::Changed, a.number.unwrap_or(1), Some(Extent::parse(text)?)),
        (None, None, Some(number)) => (ArgumentRole::Length, number, None),
        _ => return None,
    };
    let room = match &a.room {
        Some(text) => Some(Extent::parse(text)?),
        None => None,
    };
    let public = a.public || role == ArgumentRole::Length;
    [1, 2, 4, 8].contains(&number).then(|| Argument { name: a.name.clone(), role, number, size: false, signed: false, bytes, room, public, range: None, encoding: None, null: a.null, overlaps: a.overlaps.clone(), same: a.same.clone() })
}

pub(crate) fn c_argument(a: &Argument) -> String {
    let ty = match a.number {
        1 => "unsigned char",
        2 => "unsigned short",
        4 => "__UINT32_TYPE__",
        _ => "unsigned long long",
    };
    match a.role {
        ArgumentRole::Input => format!("const {ty} *{}", a.name),
        ArgumentRole::Output | ArgumentRole::Changed => format!("{ty} *{}", a.name),
        ArgumentRole::Length | ArgumentRole::Value => format!("{ty} {}", a.name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_and_printed() {
        for text in ["32", "n", "n + 64", "n - 64"] {
            let e = Extent::parse(text).expect(text);
            assert_eq!(e.to_string(), text);
            assert_eq!(e.get(&|_| Some(100)), Some(match text { "32" => 32, "n" => 100, "n + 64" => 164, _ => 36 }));
        }
        for text in ["", "-3", "n * 2", "2 n", "n + m", "N"] {
            assert_eq!(Extent::parse(text), None, "{text}");
        }
        assert_eq!(Extent::parse("n - 64").expect("a size").get(&|_| Some(3)), None, "below nothing");
    }

    #[test]
    fn a_length_that_is_no_argument_is_refused() {
        let argument = |name: &str| ArgumentRow { name: name.into(), input: Some("n".into()), ..ArgumentRow::default() };
        let row = FunctionRow { name: "f".into(), arguments: vec![argument("m")], ..FunctionRow::default() };
        assert_eq!(declared(&row).map(|_| ()), Err("`m` has a length that is no argument".into()));
        let both = ArgumentRow { length: Some(3), ..argument("m") };
        assert!(declared(&FunctionRow { arguments: vec![both], ..row }).is_err());
    }
}
