//! What a binding does, whatever its language: inputs come as strings of octets, all lengths are compared with what the C function reads and writes, outputs are
//! made by the binding and returned, and behind them the number or the verdict.

use crate::abi::{Abi, AbiError, Argument, Bytes, Function, Returns, Role};

/// A function and the parts that its arguments play.
pub struct Call<'a> {
    /// Its name without what the names of the unit begin with.
    pub name: &'a str,
    pub function: &'a Function,
    pub inputs: Vec<&'a Argument>,
    pub values: Vec<&'a Argument>,
    /// Octets that are written.
    pub outputs: Vec<&'a Argument>,
    /// The number that is written, if there is one.
    pub number: Option<&'a Argument>,
}

/// So many octets as an input has, if one is named, and `add`.
#[derive(Clone, Copy)]
pub struct Size<'a> {
    pub of: Option<&'a Argument>,
    pub add: i64,
}

impl Size<'_> {
    /// As an expression, in which `length` is that of the length of an input.
    pub fn expression(self, length: impl Fn(&Argument) -> String) -> String {
        match (self.of.map(length), self.add) {
            (None, add) => add.to_string(),
            (Some(length), 0) => length,
            (Some(length), add) if add < 0 => format!("{length} - {}", -add),
            (Some(length), add) => format!("{length} + {add}"),
        }
    }
}

/// The name of an argument in a language, or in a binding, where these names are something else.
#[must_use]
pub fn apart_from(taken: &[&str], name: &str) -> String {
    if taken.contains(&name) { format!("{name}_") } else { name.to_string() }
}

/// What must hold before C is called.
pub enum Check<'a> {
    /// The input has this size.
    Exactly(&'a Argument, Size<'a>),
    AtLeast(&'a Argument, i64),
    /// The size, of this input, is at most that.
    AtMost(Size<'a>, &'a str),
    /// The value is in this range.
    Within(&'a Argument, &'a str, &'a str),
}

impl<'a> Call<'a> {
    /// # Errors
    /// A function whose binding the description does not determine.
    pub fn of(unit: &'a Abi, function: &'a Function) -> Result<Call<'a>, AbiError> {
        let refused = |reason: &str| Err(AbiError { function: function.name.clone(), reason: reason.to_string() });
        let of = |role: Role| function.arguments.iter().filter(move |a| a.role == role);
        let numbers: Vec<&Argument> = function.arguments.iter().filter(|a| a.is_number() && !a.null).collect();
        if numbers.len() > 1 || (!numbers.is_empty() && function.returns != Returns::Nothing) {
            return refused("more than one number is a result");
        }
        if function.returns == Returns::Word64 {
            return refused("it returns a number of 64 bits");
        }
        if function.arguments.is_empty() {
            return refused("it has no argument");
        }
        if of(Role::Input).any(|a| a.number > 1) {
            return refused("an array of numbers is an input");
        }
        let outputs: Vec<&Argument> = of(Role::Output).filter(|a| !a.is_number()).collect();
        for a in of(Role::Input).chain(outputs.iter().copied()) {
            let Some(bytes) = &a.bytes else { return refused("an argument has no size") };
            if bytes.of.is_some() && bytes.times != 1 {
                return refused("a size is a multiple of a length");
            }
            if let (Role::Output, Some(length)) = (a.role, &bytes.of) {
                if !of(Role::Input).any(|i| i.bytes.as_ref().is_some_and(|b| b.of.as_ref() == Some(length))) {
                    return refused("the length of an output is that of no input");
                }
            }
        }
        let name = function.name.strip_prefix(unit.prefix()).unwrap_or(&function.name);
        Ok(Call { name, function, inputs: of(Role::Input).collect(), values: of(Role::Value).collect(), outputs, number: numbers.first().copied() })
    }

    /// What C is given of the arguments that have a counterpart: outputs, inputs, values.
    pub fn handed(&self) -> impl Iterator<Item = &'a Argument> + '_ {
        self.outputs.iter().chain(&self.inputs).chain(&self.values).copied()
    }

    /// Has C anything to return?
    #[must_use]
    pub fn answers(&self) -> bool {
        self.number.is_some() || self.function.returns != Returns::Nothing
    }

    /// What a length is: the size of the first input that has it, less what that has more.
    #[must_use]
    pub fn length(&self, name: &str) -> Option<Size<'a>> {
        let has = |a: &&&Argument| a.bytes.as_ref().is_some_and(|b| b.of.as_deref() == Some(name));
        self.inputs.iter().find(has).map(|a| Size { of: Some(a), add: a.bytes.as_ref().map_or(0, |b| -b.add) })
    }

    /// How many octets an argument has.
    #[must_use]
    pub fn size(&self, a: &Argument) -> Size<'a> {
        let Some(Bytes { of, add, .. }) = &a.bytes else { return Size { of: None, add: 0 } };
        match of.as_deref().and_then(|length| self.length(length)) {
            Some(size) => Size { add: size.add + add, ..size },
            None => Size { of: None, add: *add },
        }
    }

    #[must_use]
    pub fn checks(&self) -> Vec<Check<'a>> {
        let mut all = vec![];
        for a in &self.inputs {
            let size = self.size(a);
            match (size.of, &a.bytes) {
                // What says the length has any, from so many octets on.
                (Some(first), Some(bytes)) if std::ptr::eq(first, *a) => {
                    if bytes.add > 0 {
                        all.push(Check::AtLeast(a, bytes.add));
                    }
                }
                _ => all.push(Check::Exactly(a, size)),
            }
        }
        for a in self.function.arguments.iter().filter(|a| a.role == Role::Length) {
            if let (Some([_, most]), Some(size)) = (&a.range, self.length(&a.name)) {
                all.push(Check::AtMost(size, most));
            }
        }
        for a in &self.values {
            if let Some([low, high]) = &a.range {
                all.push(Check::Within(a, low, high));
            }
        }
        // An output that is shorter than an input has no fewer than 0 octets.
        for size in self.outputs.iter().map(|a| self.size(a)) {
            if let (Some(input), true) = (size.of, size.add < 0) {
                let named = all.iter().any(|c| matches!(c, Check::AtLeast(b, n) if std::ptr::eq(*b, input) && *n >= -size.add));
                if !named {
                    all.push(Check::AtLeast(input, -size.add));
                }
            }
        }
        all
    }
}
