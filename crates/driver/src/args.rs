//! Values as text on the command line, read and shown by their type.

use num_bigint::{BigInt, Sign};
use num_traits::ToPrimitive;
use santoku_ir::interp::Value;
use santoku_ir::{Func, Len, Program, Ty};
use std::collections::BTreeMap;

/// Elements of an array argument, at most.
const ELEMENTS_MAX: usize = 1 << 24;

/// Reads a value of type `ty`: integers `5`, `-3`, `0xff`; `true`, `false`; bytes `hex:00ff`, `hex"00ff"`, `00ff`;
/// arrays `[1, 2]`; structs `{1, [2, 3]}` in the order of fields.
///
/// # Errors
/// What is wrong, in words.
pub fn parse_arg(program: &Program, ty: &Ty, text: &str) -> Result<Value, String> {
    let mut p = ArgParser { program, text, pos: 0 };
    let value = p.value(ty)?;
    p.space();
    if p.pos < text.len() {
        return Err(format!("`{}` is left over", short(&text[p.pos..])));
    }
    Ok(value)
}

fn short(text: &str) -> String {
    text.chars().take(24).collect()
}

struct ArgParser<'a> {
    program: &'a Program,
    text: &'a str,
    pos: usize,
}

impl ArgParser<'_> {
    fn rest(&self) -> &str {
        &self.text[self.pos..]
    }

    fn space(&mut self) {
        self.pos = self.text.len() - self.rest().trim_start().len();
    }

    fn eat(&mut self, c: char) -> bool {
        self.space();
        let yes = self.rest().starts_with(c);
        self.pos += if yes { c.len_utf8() } else { 0 };
        yes
    }

    /// Characters up to a separator.
    fn word(&mut self) -> String {
        self.space();
        let rest = self.rest();
        let len = rest.find(|c: char| matches!(c, ',' | ']' | '}' | '[' | '{') || c.is_whitespace()).unwrap_or(rest.len());
        let word = rest[..len].to_string();
        self.pos += len;
        word
    }

    fn value(&mut self, ty: &Ty) -> Result<Value, String> {
        self.space();
        match ty {
            Ty::Word(bits) => self.machine_word(*bits),
            Ty::Int(range) => {
                let v = self.integer()?;
                match range.as_ref().filter(|r| !r.holds(&v)) {
                    Some(r) => Err(format!("{v} is outside {}..{}", r.lo, r.hi)),
                    None => Ok(Value::int(v)),
                }
            }
            Ty::Bool => match self.word().as_str() {
                "true" => Ok(Value::Bool(true)),
                "false" => Ok(Value::Bool(false)),
                other => Err(format!("`{}` is not `true` or `false`", short(other))),
            },
            Ty::Array { elem, len, .. } => self.array(elem, len),
            Ty::Struct(id) => {
                let program = self.program;
                let def = program.structs.get(id.0 as usize).ok_or("unknown struct")?;
                let types: Vec<&Ty> = def.fields.iter().map(|(_, t)| t).collect();
                self.fields(&def.name, &types)
            }
        }
    }

    fn integer(&mut self) -> Result<BigInt, String> {
        let word = self.word();
        let (negative, digits) = word.strip_prefix('-').map_or((false, word.as_str()), |d| (true, d));
        let (digits, radix) = digits.strip_prefix("0x").map_or((digits, 10), |d| (d, 16));
        // 2^4096 has 1,234 digits: what is longer is refused before it costs time.
        let value = if digits.len() > 1240 || digits.starts_with('+') || digits.starts_with('-') {
            None
        } else {
            BigInt::parse_bytes(digits.replace('_', "").as_bytes(), radix)
        };
        let value = value.ok_or_else(|| format!("`{}` is not an integer", short(&word)))?;
        Ok(if negative { -value } else { value })
    }

    fn machine_word(&mut self, bits: u32) -> Result<Value, String> {
        let v = self.integer()?;
        let fits = v.sign() != Sign::Minus && v.bits() <= u64::from(bits);
        v.to_u128().filter(|_| fits).map(Value::Word).ok_or_else(|| format!("{v} is not a word of {bits} bits"))
    }

    fn array(&mut self, elem: &Ty, len: &Len) -> Result<Value, String> {
        let out = if *elem == Ty::Word(8) && !self.rest().starts_with('[') {
            self.bytes()?
        } else {
            if !self.eat('[') {
                return Err(format!("expected `[` of an array, found `{}`", short(self.rest())));
            }
            self.elements(']', &mut |p, _| p.value(elem))?
        };
        match len {
            Len::Const(n) if *n != out.len() as u64 => Err(format!("{} elements for an array of {n}", out.len())),
            _ => Ok(Value::array(out)),
        }
    }

    fn elements(&mut self, close: char, one: &mut dyn FnMut(&mut Self, usize) -> Result<Value, String>) -> Result<Vec<Value>, String> {
        let mut out = Vec::new();
        while !self.eat(close) {
            if out.len() == ELEMENTS_MAX {
                return Err("too many elements".into());
            }
            out.push(one(self, out.len())?);
            if !self.eat(',') && !self.rest().trim_start().starts_with(close) {
                return Err(format!("expected `,` or `{close}`, found `{}`", short(self.rest())));
            }
        }
        Ok(out)
    }

    fn fields(&mut self, name: &str, types: &[&Ty]) -> Result<Value, String> {
        if !self.eat('{') {
            return Err(format!("expected `{{` of struct `{name}`"));
        }
        let parts = self.elements('}', &mut |p, i| match types.get(i) {
            Some(ty) => p.value(ty),
            None => Err(format!("more than the {} fields of `{name}`", types.len())),
        })?;
        if parts.len() != types.len() {
            return Err(format!("{} of the {} fields of `{name}`", parts.len(), types.len()));
        }
        Ok(Value::structure(parts))
    }

    fn bytes(&mut self) -> Result<Vec<Value>, String> {
        let word = self.word();
        let quoted = word.strip_prefix("hex\"").and_then(|w| w.strip_suffix('"'));
        let digits = quoted.or_else(|| word.strip_prefix("hex:")).unwrap_or(&word);
        if digits.len() % 2 != 0 || !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
            return Err(format!("`{}` is not a byte string of hexadecimal pairs", short(&word)));
        }
        let nibble = |b: u8| (b as char).to_digit(16).unwrap_or(0);
        Ok(digits.as_bytes().chunks(2).map(|p| Value::Word(u128::from(nibble(p[0]) << 4 | nibble(p[1])))).collect())
    }
}

/// The lengths of a call, from the lengths of its arguments.
pub(crate) fn lens_of(f: &Func, args: &[Value]) -> Result<Vec<u64>, String> {
    let mut found = BTreeMap::new();
    for (id, value) in f.params.iter().zip(args) {
        collect_lens(&f.local(*id).ty, value, &mut found)?;
    }
    let one = |id| found.get(id).copied().ok_or_else(|| format!("the length `{}` does not follow from the arguments", f.local(*id).name));
    f.lens.iter().map(one).collect()
}

fn collect_lens(ty: &Ty, value: &Value, found: &mut BTreeMap<santoku_ir::LocalId, u64>) -> Result<(), String> {
    let (Ty::Array { elem, len, .. }, Some(parts)) = (ty, value.parts()) else { return Ok(()) };
    if let Len::Param { param, add } = len {
        let n = u64::try_from(parts.len() as i128 - i128::from(*add)).map_err(|_| "an array is too short".to_string())?;
        if let Some(before) = found.insert(*param, n).filter(|b| *b != n) {
            return Err(format!("one length is both {before} and {n}"));
        }
    }
    parts.iter().try_for_each(|p| collect_lens(elem, p, found))
}

/// The text of a value: bytes as `hex"..."`, everything else as [`parse_arg`] reads it.
pub fn show_value(ty: &Ty, value: &Value) -> String {
    if let (Ty::Array { elem, .. }, Some(bytes)) = (ty, value.to_bytes()) {
        if **elem == Ty::Word(8) {
            return format!("hex\"{}\"", santoku_num::hex(&bytes));
        }
    }
    match (ty, value.parts()) {
        (Ty::Array { elem, .. }, Some(parts)) => format!("[{}]", parts.iter().map(|p| show_value(elem, p)).collect::<Vec<_>>().join(", ")),
        _ => value.to_string(),
    }
}
