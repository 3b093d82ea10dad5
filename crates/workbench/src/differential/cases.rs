//! Which calls are tried: all lengths, values on edges, results of other calls with one byte changed, objects that are one.

use crate::interface::{ArgumentRole, Function};
use crate::interface_row::FunctionRow;
use super::group::build;
use super::plan::Plan;
use crate::row::{Primitive, Rival};
use santoku_num::SplitMix64;
use std::collections::BTreeMap;

/// Lengths are below this, but a few that are above.
const USUAL: u64 = 601;
/// A function that takes long has one plan where others have so many.
const SLOW: u64 = 16;

/// Makes plans.
pub struct Generator<'a> {
    functions: &'a [Function],
    rows: &'a [FunctionRow],
    edges: BTreeMap<String, Vec<Vec<u8>>>,
    rival: &'a Rival,
    random: SplitMix64,
}

impl<'a> Generator<'a> {
    /// # Errors
    /// A value of the row that is not hexadecimal.
    pub fn new(primitive: &'a Primitive, rival: &'a Rival, functions: &'a [Function], seed: u64) -> Result<Generator<'a>, String> {
        let mut edges = BTreeMap::new();
        for (name, values) in &primitive.edges {
            let bytes = values.iter().map(|v| santoku_num::from_hex(v).ok_or_else(|| format!("edges of `{name}`: {v:?} is not hexadecimal")));
            edges.insert(name.clone(), bytes.collect::<Result<Vec<_>, _>>()?);
        }
        Ok(Generator { functions, rows: &primitive.functions, edges, rival, random: SplitMix64::new(seed) })
    }

    pub fn functions(&self) -> &'a [Function] {
        self.functions
    }

    pub fn rows(&self) -> &'a [FunctionRow] {
        self.rows
    }

    fn below(&mut self, n: u64) -> u64 {
        self.random.below(n)
    }

    /// Whether a call of the plan takes a value that the other one refuses, and we do not.
    pub fn refused(&self, plan: &Plan) -> bool {
        let steps = build(self.functions, self.rows, plan).unwrap_or_default().steps;
        let taken = |name: &String| steps.iter().any(|s| self.functions[s.function].arguments.iter().any(|a| a.name == *name && a.role.is_read()));
        let edge = |name: &String| plan.inputs.get(name).is_some_and(|b| self.edges.get(name).is_some_and(|all| all.contains(b)));
        self.rival.refuses.iter().any(|name| edge(name) && taken(name))
    }

    pub fn plan(&mut self) -> Plan {
        let function = loop {
            let at = self.below(self.functions.len() as u64) as usize;
            let slow = self.rows.iter().any(|r| r.name == self.functions[at].name && r.slow);
            if !slow || self.below(SLOW) == 0 {
                break at;
            }
        };
        let length = match self.below(64) {
            0 => self.below(5000),
            1 => 64 * self.below(20),
            _ => self.below(USUAL),
        };
        let mut names: Vec<(String, usize)> = vec![];
        for f in self.functions {
            for a in f.arguments.iter().filter(|a| a.role.is_read() && a.role != ArgumentRole::Length) {
                let size = a.bytes.as_ref().and_then(|e| e.get(&|_| Some(length as usize + 64))).unwrap_or(0);
                match names.iter_mut().find(|(n, _)| *n == a.name) {
                    Some((_, most)) => *most = size.max(*most),
                    None => names.push((a.name.clone(), size)),
                }
            }
        }
        let mut inputs: BTreeMap<String, Vec<u8>> = names.into_iter().map(|(name, size)| (name.clone(), self.value(&name, size))).collect();
        let row = self.rows.iter().find(|r| r.name == self.functions[function].name);
        for (name, like) in row.iter().flat_map(|r| &r.arguments).filter_map(|a| Some((&a.name, a.like.as_ref()?))) {
            if self.below(4) > 0 {
                let mut bytes = inputs.get(like).cloned().unwrap_or_default();
                if self.below(2) == 0 && !bytes.is_empty() {
                    let at = self.below(bytes.len() as u64) as usize;
                    bytes[at] ^= 1 << self.below(8);
                }
                inputs.insert(name.clone(), bytes);
            }
        }
        Plan {
            function,
            length: length as usize,
            inputs,
            fill: self.random.next_u64(),
            same: (self.below(3) == 0).then(|| self.below(8) as usize).filter(|_| !self.rival.apart.contains(&self.functions[function].name)),
            change: (self.below(3) == 0).then(|| (self.below(10_000) as usize, 1 << self.below(8))),
            fresh: self.below(10) == 0,
            null: self.below(2) == 0,
        }
    }

    /// Bytes, mostly random.
    fn value(&mut self, name: &str, size: usize) -> Vec<u8> {
        let known = self.edges.get(name).map_or(0, Vec::len) as u64;
        let kind = self.below(12);
        match kind {
            0 => vec![0; size],
            1 => vec![255; size],
            2 => {
                let mut bytes = vec![0; size];
                if size > 0 {
                    let at = self.below(size as u64) as usize;
                    bytes[at] = 1 << self.below(8);
                }
                bytes
            }
            3 | 4 if known > 0 => {
                let nth = self.below(known) as usize;
                self.edges[name][nth].clone()
            }
            _ => self.random.bytes(size),
        }
    }
}
