//! Another convention than the source's: what a compiler may make of a function that nobody outside of its file can call.
//!
//! Needs: [`super::inputs`].  Keeps: what is proved of a function under a convention is a statement of its own, about these
//! arguments and no others; a caller that relies on it has to make the call of the source with them.  Absent: which convention
//! a function has, which is guessed elsewhere and decides nothing.

use santoku_bytes::abi::Role;
use num_bigint::BigInt;
use num_traits::ToPrimitive;
use santoku_ir::{Func, FuncId, Len, Program, Ty};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

use crate::term::Terms;
use super::inputs::{meeting, Inputs};
use super::stop::Stop;
use super::value::{concrete, known_length, with_lengths, Value};

/// What is known of an argument that is not passed as the source says.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fact {
    /// It has these scalars, in storage order.
    Always(Vec<BigInt>),
    /// It may be anything: the function does not depend on it.
    Unread,
}

/// An argument that the code does not get.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Change {
    pub fact: Fact,
    /// Its registers are left free, with anything in them; otherwise those behind it move up.
    pub seat: bool,
}

/// The arguments that a function does not get. None: the source's convention.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Convention(pub BTreeMap<Role, Change>);

impl Convention {
    /// The source's.
    pub fn is_source(&self) -> bool {
        self.0.is_empty()
    }

    /// What holds of the arguments in every call that may rely on it.
    pub fn has_facts(&self) -> bool {
        self.0.values().any(|c| matches!(c.fact, Fact::Always(_)))
    }

    /// All lengths, where they are facts; nothing where none is.
    ///
    /// # Errors
    /// [`Stop::Unsupported`]: some are known and others are not.
    pub fn lengths(&self, f: &Func) -> Result<Option<Vec<u64>>, Stop> {
        let of = |k: usize| match &self.0.get(&Role::Len(k))?.fact {
            Fact::Always(v) => v.first()?.to_u64(),
            Fact::Unread => None,
        };
        let known: Vec<Option<u64>> = (0..f.lens.len()).map(of).collect();
        match (known.iter().all(Option::is_some) && !known.is_empty(), known.iter().any(Option::is_some)) {
            (true, _) => Ok(known.into_iter().collect()),
            (false, true) => Err(Stop::Unsupported("a convention with some of several lengths".into())),
            (false, _) => Ok(None),
        }
    }

    /// The type of a parameter, with the lengths that are facts written into it.
    ///
    /// # Errors
    /// As [`Convention::lengths`].
    pub fn shape(&self, f: &Func, ty: &Ty) -> Result<Ty, Stop> {
        let lens = self.lengths(f)?;
        Ok(with_lengths(ty, &|len| match (len, &lens) {
            (Len::Const(n), _) => Some(*n),
            (Len::Param { .. }, Some(lens)) => known_length(f, lens, len),
            (Len::Param { .. }, None) => None,
        }))
    }

    /// Gives the arguments that are facts their values, in the terms and on the samples.
    ///
    /// # Errors
    /// [`Stop`]: a value does not fit its type, or a parameter by which the results are placed is none.
    pub fn impose(&self, program: &Program, func: FuncId, terms: &mut Terms, inputs: &mut Inputs) -> Result<(), Stop> {
        let f = program.func(func);
        let bad = || Stop::Malformed("a fact that does not fit its parameter".into());
        for (role, change) in &self.0 {
            let (Role::Param(p), Fact::Always(scalars)) = (role, &change.fact) else { continue };
            let ty = self.shape(f, &f.local(*f.params.get(*p).ok_or_else(bad)?).ty)?;
            let value = concrete(program, &ty, &mut scalars.iter().cloned()).ok_or_else(bad)?;
            let words: Vec<_> = scalars.iter().map(|v| terms.int(v.clone())).collect();
            inputs.args[*p] = Value::build(program, &ty, &mut words.into_iter())?;
            inputs.concrete.iter_mut().for_each(|(_, args)| args[*p] = value.clone());
        }
        if self.has_facts() {
            inputs.valid &= meeting(program, func, inputs.concrete.clone())?.len() == inputs.concrete.len();
        }
        Ok(())
    }

    /// For reports, an argument a line.
    pub fn told(&self, f: &Func) -> Vec<String> {
        let name = |role: &Role| match role {
            Role::Len(k) => f.lens.get(*k),
            Role::Param(k) => f.params.get(*k),
            Role::Ret(k) => f.rets.get(*k),
        };
        let one = |(role, change): (&Role, &Change)| {
            let name = name(role).map_or("?", |id| f.local(*id).name.as_str());
            let what = match &change.fact {
                Fact::Always(v) if v.len() == 1 => format!("`{name}` is always {}", v[0]),
                Fact::Always(v) => format!("`{name}` is always the constant {}", digest(v)),
                Fact::Unread => format!("`{name}` is not read"),
            };
            format!("{what}, {}", if change.seat { "and its register holds anything" } else { "and it is not passed" })
        };
        self.0.iter().map(one).collect()
    }
}

/// Names a constant by its scalars.
fn digest(scalars: &[BigInt]) -> String {
    let all: Vec<String> = scalars.iter().map(BigInt::to_string).collect();
    santoku_num::hex(&Sha256::digest(all.join(","))[..12])
}
