//! Calls that belong together: what one makes, another takes.

use super::plan::Plan;
use crate::interface::{Argument, ArgumentRole, Function};
use crate::interface_row::FunctionRow;
use santoku_num::SplitMix64;
use std::collections::BTreeMap;

/// Calls in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Group {
    pub steps: Vec<Step>,
}

/// A call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// Position of the function.
    pub function: usize,
    pub args: Vec<Value>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    Number(u64),
    /// An object with these bytes in it.
    Object(Vec<u8>),
    Null,
    /// The object of an argument before it.
    Same(usize),
    /// So many bytes of what an earlier step left in an object, one of them changed.
    Left { step: usize, arg: usize, bytes: usize, at: usize, change: u8 },
}

/// What a call left: what it returned, and its objects.
pub struct Answer {
    pub returned: i32,
    pub objects: Vec<Option<Vec<u8>>>,
}

impl Value {
    fn size(&self) -> Option<usize> {
        match self {
            Value::Object(bytes) => Some(bytes.len()),
            Value::Left { bytes, .. } => Some(*bytes),
            Value::Number(_) | Value::Null | Value::Same(_) => None,
        }
    }
}

/// The calls of a plan.
///
/// # Errors
/// What the rows lack, in words.
pub fn build(functions: &[Function], rows: &[FunctionRow], plan: &Plan) -> Result<Group, String> {
    let mut maker = Maker { functions, rows, plan, group: Group::default(), made: BTreeMap::new() };
    maker.step(plan.function)?;
    Ok(maker.group)
}

struct Maker<'a> {
    functions: &'a [Function],
    rows: &'a [FunctionRow],
    plan: &'a Plan,
    group: Group,
    /// Steps, by their functions.
    made: BTreeMap<usize, usize>,
}

impl Maker<'_> {
    fn step(&mut self, function: usize) -> Result<usize, String> {
        if let Some(step) = self.made.get(&function) {
            return Ok(*step);
        }
        let f = &self.functions[function];
        let row = self.rows.iter().find(|r| r.name == f.name).ok_or_else(|| format!("{} has no row", f.name))?;
        let last = function == self.plan.function;
        let mut sources = BTreeMap::new();
        for (k, a) in row.arguments.iter().enumerate().filter(|_| !(last && self.plan.fresh)) {
            let Some((maker, output)) = a.made_by() else { continue };
            let at = self.functions.iter().position(|g| g.name == maker).ok_or_else(|| format!("{}: there is no `{maker}`", f.name))?;
            let step = self.step(at)?;
            let arg = self.functions[at].arguments.iter().position(|b| b.name == output).ok_or_else(|| format!("{maker} has no `{output}`"))?;
            sources.insert(k, (step, arg));
        }
        let length = self.length(f, &sources)?;
        let lengths = |name: &str| f.arguments.iter().any(|a| a.name == name && a.role == ArgumentRole::Length).then_some(length);
        let nth = self.plan.change.map_or(0, |(at, _)| at % sources.len().max(1));
        let changed = sources.keys().nth(nth).copied().filter(|_| last);
        let mut args = vec![];
        for (k, a) in f.arguments.iter().enumerate() {
            let size = a.room.as_ref().or(a.bytes.as_ref()).map(|e| e.get(&lengths).unwrap_or(0)).unwrap_or(0);
            args.push(match (a.role, sources.get(&k)) {
                (ArgumentRole::Length | ArgumentRole::Value, _) => Value::Number(length as u64),
                (_, Some((step, arg))) => {
                    let (at, change) = self.plan.change.filter(|_| changed == Some(k)).unwrap_or((0, 0));
                    Value::Left { step: *step, arg: *arg, bytes: size, at, change }
                }
                (ArgumentRole::Output, None) => self.output(f, k, size, last),
                (ArgumentRole::Input | ArgumentRole::Changed, None) if size == 0 && a.null && self.plan.null => Value::Null,
                (ArgumentRole::Input | ArgumentRole::Changed, None) => {
                    let mut bytes = self.plan.bytes(&a.name, size);
                    let zeros = row.arguments[k].zeros.min(size);
                    bytes[..zeros].fill(0);
                    Value::Object(bytes)
                }
            });
        }
        // An output that is an input's object comes first in C's order, and holds that input's bytes.
        if let Some((output, input)) = self.shared(f).filter(|_| last) {
            let (first, second) = (output.min(input), output.max(input));
            if args[input].size() == args[output].size() {
                args[first] = args[input].clone();
                args[second] = Value::Same(first);
            }
        }
        self.group.steps.push(Step { function, args });
        self.made.insert(function, self.group.steps.len() - 1);
        Ok(self.group.steps.len() - 1)
    }

    /// The length of a call: of what an earlier one made, if it takes that.
    fn length(&self, f: &Function, sources: &BTreeMap<usize, (usize, usize)>) -> Result<usize, String> {
        for (k, (step, arg)) in sources {
            let Some(e) = f.arguments[*k].bytes.as_ref().filter(|e| e.of.is_some()) else { continue };
            let size = self.group.steps[*step].args[*arg].size().ok_or("what was made has no size")?;
            return usize::try_from(size as i64 - e.add).map_err(|_| format!("{}: what was made is too short", f.name));
        }
        Ok(self.plan.length)
    }

    fn output(&self, f: &Function, k: usize, size: usize, last: bool) -> Value {
        let mut random = SplitMix64::new(self.plan.fill ^ (f.arguments[k].name.len() as u64) << 32 ^ k as u64 ^ u64::from(last) << 40);
        Value::Object(random.bytes(size))
    }

    /// Positions of an output and of an input whose object it is in this plan.
    fn shared(&self, f: &Function) -> Option<(usize, usize)> {
        let all: Vec<(usize, usize)> = f.arguments.iter().enumerate().flat_map(|(k, a)| a.same.iter().filter_map(move |n| Some((k, f.arguments.iter().position(|b| b.name == *n)?)))).collect();
        let nth = self.plan.same?;
        (!all.is_empty()).then(|| all[nth % all.len()])
    }
}

/// A plan in words, for who wants to try it again.
pub fn describe(plan: &Plan, functions: &[Function], rows: &[FunctionRow]) -> String {
    let mut lines = vec![format!("function {}, length {}", functions[plan.function].name, plan.length)];
    let steps = build(functions, rows, plan).unwrap_or_default().steps;
    for f in steps.iter().map(|s| &functions[s.function]) {
        for (a, bytes) in f.arguments.iter().filter(|a| a.role.is_read()).filter_map(|a| Some((a, plan.inputs.get(&a.name)?))) {
            let digits: String = bytes.iter().map(|b| format!("{b:02x}")).collect();
            lines.push(format!("{}: {} = {digits}", f.name, a.name));
        }
    }
    lines.extend(plan.same.map(|k| format!("objects that are one: pair {k}")));
    lines.extend(plan.change.map(|(at, by)| format!("byte {at} of what was made is changed by {by:#04x}")));
    lines.join("\n")
}

/// What the driver reads.
pub fn encode(groups: &[Group]) -> Vec<u8> {
    let mut out = vec![];
    for group in groups {
        out.push(255);
        for step in &group.steps {
            out.push(step.function as u8);
            step.args.iter().for_each(|value| put(&mut out, value));
        }
    }
    out
}

fn put(out: &mut Vec<u8>, value: &Value) {
    let word = |out: &mut Vec<u8>, n: usize| out.extend((n as u32).to_le_bytes());
    match value {
        Value::Number(n) => {
            out.push(0);
            out.extend(n.to_le_bytes());
        }
        Value::Object(bytes) => {
            out.push(1);
            word(out, bytes.len());
            out.extend(bytes);
        }
        Value::Null => out.push(2),
        Value::Same(k) => out.extend([3, *k as u8]),
        Value::Left { step, arg, bytes, at, change } => {
            out.extend([4, *step as u8, *arg as u8]);
            word(out, *bytes);
            word(out, *at);
            out.push(*change);
        }
    }
}

impl Step {
    /// Reads what the call left; `at`: where that begins.
    pub fn answer(&self, bytes: &[u8], at: &mut usize) -> Option<Answer> {
        let returned = i32::from_le_bytes(bytes.get(*at..*at + 4)?.try_into().ok()?);
        *at += 4;
        let mut objects = vec![];
        for value in &self.args {
            objects.push(match value.size() {
                Some(n) => {
                    let found = bytes.get(*at..*at + n)?.to_vec();
                    *at += n;
                    Some(found)
                }
                None => None,
            });
        }
        Some(Answer { returned, objects })
    }

    /// How two answers differ, ours first; or how ours is not as the header says.
    pub fn differs(&self, f: &Function, group: &Group, nth: usize, [a, b]: [&Answer; 2]) -> Option<String> {
        if a.returned != b.returned {
            return Some(format!("step {nth} of {}: it returns {} and {}", group.steps.len(), a.returned, b.returned));
        }
        let shared: Vec<usize> = self.args.iter().filter_map(|v| if let Value::Same(k) = v { Some(*k) } else { None }).collect();
        for (k, argument) in f.arguments.iter().enumerate() {
            let (Some(x), Some(y)) = (&a.objects[k], &b.objects[k]) else { continue };
            let written = argument.role.is_written() || shared.contains(&k);
            if let Value::Object(before) = &self.args[k] {
                if !written && x != before {
                    return Some(format!("step {nth}: `{}` is changed", argument.name));
                }
                if written && f.untouched && !f.has_results(a.returned) && x != before {
                    return Some(format!("step {nth}: `{}` is changed, and {} is returned", argument.name, a.returned));
                }
            }
            let wanted = if written && f.has_results(a.returned) { self.compared(f, argument, x.len()) } else { 0 };
            if let Some(i) = (0..wanted).find(|i| x[*i] != y[*i]) {
                return Some(format!("step {nth}: byte {i} of `{}` is {:#04x} and {:#04x}", argument.name, x[i], y[i]));
            }
        }
        None
    }

    /// Bytes of an object that both must have written.
    fn compared(&self, f: &Function, a: &Argument, room: usize) -> usize {
        let length = f.arguments.iter().position(|x| x.role == ArgumentRole::Length).and_then(|k| if let Value::Number(n) = self.args[k] { Some(n as usize) } else { None });
        a.bytes.as_ref().and_then(|e| e.get(&|_| length)).unwrap_or(room).min(room)
    }
}
