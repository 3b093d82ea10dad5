//! Circuits as data, and their values.

/// One gate. Operands are nodes: the inputs first, then one node per gate in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Gate {
    And(u32, u32),
    Or(u32, u32),
    Xor(u32, u32),
    Not(u32),
    Const(bool),
    /// Any function of three nodes: bit `a + 2b + 4c` of the table is the value at `[a, b, c]`.
    Lut([u32; 3], u8),
}

impl Gate {
    /// Nodes read, in order.
    pub fn operands(&self) -> Vec<u32> {
        match *self {
            Gate::And(a, b) | Gate::Or(a, b) | Gate::Xor(a, b) => vec![a, b],
            Gate::Not(a) => vec![a],
            Gate::Const(_) => vec![],
            Gate::Lut(abc, _) => abc.to_vec(),
        }
    }

    /// The same gate on other nodes.
    #[must_use]
    pub fn map(&self, f: impl Fn(u32) -> u32) -> Gate {
        match *self {
            Gate::And(a, b) => Gate::And(f(a), f(b)),
            Gate::Or(a, b) => Gate::Or(f(a), f(b)),
            Gate::Xor(a, b) => Gate::Xor(f(a), f(b)),
            Gate::Not(a) => Gate::Not(f(a)),
            Gate::Const(c) => Gate::Const(c),
            Gate::Lut([a, b, c], t) => Gate::Lut([f(a), f(b), f(c)], t),
        }
    }

    /// Value on 64 columns at once; `at` gives the columns of a node.
    pub fn columns(&self, at: impl Fn(u32) -> u64) -> u64 {
        match *self {
            Gate::And(a, b) => at(a) & at(b),
            Gate::Or(a, b) => at(a) | at(b),
            Gate::Xor(a, b) => at(a) ^ at(b),
            Gate::Not(a) => !at(a),
            Gate::Const(c) => if c { !0 } else { 0 },
            Gate::Lut([a, b, c], t) => lut(t, [at(a), at(b), at(c)]),
        }
    }
}

/// A table of three inputs applied to 64 columns.
pub fn lut(table: u8, [a, b, c]: [u64; 3]) -> u64 {
    (0..8u32).filter(|p| table >> p & 1 == 1).fold(0, |r, p| {
        let side = |x: u64, k: u32| if p >> k & 1 == 1 { x } else { !x };
        r | (side(a, 0) & side(b, 1) & side(c, 2))
    })
}

/// A total map on small words as gates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Circuit {
    pub inputs: u32,
    pub gates: Vec<Gate>,
    /// Node of each output bit, lowest first.
    pub outputs: Vec<u32>,
}

impl Circuit {
    /// Value at one input word.
    pub fn evaluate(&self, x: u64) -> u64 {
        let mut nodes: Vec<u64> = (0..self.inputs).map(|i| x >> i & 1).collect();
        for g in &self.gates {
            let v = g.columns(|n| nodes[n as usize]) & 1;
            nodes.push(v);
        }
        self.outputs.iter().enumerate().fold(0, |r, (i, n)| r | nodes[*n as usize] << i)
    }

    /// Gates, nots and constants among them.
    pub fn count(&self) -> usize {
        self.gates.len()
    }

    /// Gates on the longest way from an input to an output.
    pub fn depth(&self) -> u32 {
        let mut depth = vec![0; self.inputs as usize];
        for g in &self.gates {
            let d = g.operands().iter().map(|o| depth[*o as usize] + 1).max().unwrap_or(0);
            depth.push(d);
        }
        self.outputs.iter().map(|o| depth[*o as usize]).max().unwrap_or(0)
    }

    /// Every operand is an earlier node, and all inputs give the entries.
    pub fn computes(&self, entries: &[u64]) -> bool {
        let ordered = self.gates.iter().enumerate().all(|(k, g)| g.operands().iter().all(|o| *o < self.inputs + k as u32));
        let nodes = self.inputs + self.gates.len() as u32;
        ordered
            && self.inputs < 32
            && entries.len() == 1 << self.inputs
            && self.outputs.iter().all(|o| *o < nodes)
            && entries.iter().enumerate().all(|(x, want)| self.evaluate(x as u64) == *want)
    }

    /// Without gates that no output needs.
    #[must_use]
    pub fn swept(&self) -> Circuit {
        let n = self.inputs as usize;
        let mut needed = vec![false; n + self.gates.len()];
        self.outputs.iter().for_each(|o| needed[*o as usize] = true);
        for (k, g) in self.gates.iter().enumerate().rev() {
            if needed[n + k] {
                g.operands().iter().for_each(|o| needed[*o as usize] = true);
            }
        }
        let mut place: Vec<u32> = (0..self.inputs).collect();
        let mut gates = Vec::new();
        for (k, g) in self.gates.iter().enumerate() {
            place.push((n + gates.len()) as u32);
            if needed[n + k] {
                gates.push(g.map(|o| place[o as usize]));
            }
        }
        Circuit { inputs: self.inputs, gates, outputs: self.outputs.iter().map(|o| place[*o as usize]).collect() }
    }
}

/// The gates a machine has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Basis {
    /// And, or, exclusive or, not.
    Two,
    /// Any function of three inputs (`vpternlog`).
    Lut3,
}

/// A gate as a table over its operands in order.
pub fn table_of(g: &Gate) -> u8 {
    match g {
        Gate::Lut(_, t) => *t,
        Gate::And(..) => 0x88,
        Gate::Or(..) => 0xee,
        Gate::Xor(..) => 0x66,
        Gate::Not(_) => 0x55,
        Gate::Const(c) => if *c { 0xff } else { 0 },
    }
}
