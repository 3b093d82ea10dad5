//! Worst-case stack use of a function: longest path through the compiler's call graph.
//!
//! Needs the `.ci` files GCC (10 or later) writes with `-fcallgraph-info=su,da`, one per translation unit: each function
//! with its frame, each call, library calls the compiler inserted included. Functions without such a file (libgcc) are
//! given by the caller, see [`leaf_frame`]. Refused, because no bound follows: recursion, frames of unknown size, calls
//! through pointers.

use std::collections::{BTreeMap, BTreeSet};

use thiserror::Error;

use crate::rv32::{decode, Class, Image, Op};

/// Why there is no bound.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum StackError {
    /// The root is not in the graph.
    #[error("no call-graph entry for `{0}`")]
    UnknownRoot(String),
    /// A function that can call itself, through the others.
    #[error("recursion: {}", .0.join(" -> "))]
    Recursion(Vec<String>),
    /// A function whose frame depends on run-time values.
    #[error("`{0}` has a frame of dynamic size")]
    DynamicFrame(String),
    /// A call through a pointer.
    #[error("`{0}` calls through a pointer")]
    IndirectCall(String),
    /// A called function whose frame nobody knows.
    #[error("`{callee}`, called by `{caller}`, has no known frame")]
    UnknownCallee { caller: String, callee: String },
    /// A line that is not what GCC writes.
    #[error("unreadable call-graph line: {0}")]
    Unreadable(String),
    /// Two translation units define the same function with different frames.
    #[error("`{0}` is defined twice")]
    Duplicate(String),
}

/// Bound for one root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StackBound {
    /// Bytes from the stack pointer at the call of the root to the deepest stack pointer possible.
    pub bytes: u64,
    /// Functions on a deepest path, root first.
    pub path: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Frame {
    Static(u64),
    Dynamic,
    /// Declared here, defined elsewhere.
    External,
}

/// Call graph of a program. Build with [`CallGraph::add`], then ask for [`CallGraph::bound`].
#[derive(Clone, Debug, Default)]
pub struct CallGraph {
    frames: BTreeMap<String, Frame>,
    calls: BTreeMap<String, BTreeSet<String>>,
}

const INDIRECT: &str = "__indirect_call";

impl CallGraph {
    /// Adds one translation unit: the text of its `.ci` file.
    pub fn add(&mut self, ci: &str) -> Result<(), StackError> {
        for line in ci.lines() {
            let unreadable = || StackError::Unreadable(line.to_string());
            if line.starts_with("node:") {
                let title = field(line, "title").ok_or_else(unreadable)?;
                let frame = frame_of(&field(line, "label").ok_or_else(unreadable)?, line).ok_or_else(unreadable)?;
                self.define(title, frame)?;
            } else if line.starts_with("edge:") {
                let from = field(line, "sourcename").ok_or_else(unreadable)?;
                let to = field(line, "targetname").ok_or_else(unreadable)?;
                self.calls.entry(from).or_default().insert(to);
            } else if !(line.starts_with("graph:") || line == "}" || line.is_empty()) {
                return Err(unreadable());
            }
        }
        Ok(())
    }

    /// Adds a leaf function by hand.
    pub fn add_leaf(&mut self, name: &str, bytes: u64) -> Result<(), StackError> {
        self.define(name.to_string(), Frame::Static(bytes))
    }

    /// Functions that are called but have no known frame.
    pub fn unknown(&self) -> impl Iterator<Item = &str> {
        let external = |n: &str| matches!(self.frames.get(n), None | Some(Frame::External)) && n != INDIRECT;
        let called: BTreeSet<&str> = self.calls.values().flatten().chain(self.frames.keys()).map(String::as_str).collect();
        called.into_iter().filter(move |n| external(n))
    }

    /// Whether the frame of a function is known; a static one goes by the name of its file, a colon, and its own.
    pub fn knows(&self, name: &str) -> bool {
        matches!(self.frames.get(name), Some(Frame::Static(_) | Frame::Dynamic))
    }

    /// Bytes of the frame of a function, where they are known.
    pub fn frame(&self, name: &str) -> Option<u64> {
        match self.frames.get(name) {
            Some(Frame::Static(bytes)) => Some(*bytes),
            _ => None,
        }
    }

    /// Says that `name` is the code of `same` under a second name: the compiler folds identical functions into one and
    /// tells the frame of one name only.
    pub fn add_alias(&mut self, name: &str, same: &str) {
        self.frames.insert(name.to_string(), Frame::Static(0));
        self.calls.insert(name.to_string(), BTreeSet::from([same.to_string()]));
    }

    fn define(&mut self, name: String, frame: Frame) -> Result<(), StackError> {
        match (self.frames.get(&name), &frame) {
            (None | Some(Frame::External), _) => {
                self.frames.insert(name, frame);
                Ok(())
            }
            (Some(_), Frame::External) => Ok(()),
            (Some(known), _) if *known == frame => Ok(()),
            _ => Err(StackError::Duplicate(name)),
        }
    }

    /// Longest path from `root`, in bytes of frames.
    pub fn bound(&self, root: &str) -> Result<StackBound, StackError> {
        if !matches!(self.frames.get(root), Some(Frame::Static(_) | Frame::Dynamic)) {
            return Err(StackError::UnknownRoot(root.to_string()));
        }
        let mut done = BTreeMap::new();
        self.visit(root, "", &mut Vec::new(), &mut done)?;
        let mut path = vec![root.to_string()];
        while let Some(next) = path.last().and_then(|last| done[last.as_str()].1) {
            path.push(next.to_string());
        }
        Ok(StackBound { bytes: done[root].0, path })
    }

    /// Depth of the recursion is the length of the longest call chain, which is bounded by the number of functions.
    fn visit<'a>(
        &'a self,
        name: &'a str,
        caller: &str,
        open: &mut Vec<&'a str>,
        done: &mut BTreeMap<&'a str, (u64, Option<&'a str>)>,
    ) -> Result<u64, StackError> {
        if let Some(&(bytes, _)) = done.get(name) {
            return Ok(bytes);
        }
        if let Some(at) = open.iter().position(|&n| n == name) {
            let cycle = open[at..].iter().chain([&name]).map(|n| n.to_string()).collect();
            return Err(StackError::Recursion(cycle));
        }
        let frame = match self.frames.get(name) {
            Some(Frame::Static(bytes)) => *bytes,
            Some(Frame::Dynamic) => return Err(StackError::DynamicFrame(name.to_string())),
            _ if name == INDIRECT => return Err(StackError::IndirectCall(caller.to_string())),
            _ => return Err(StackError::UnknownCallee { caller: caller.to_string(), callee: name.to_string() }),
        };
        open.push(name);
        let mut deepest = (0, None);
        for callee in self.calls.get(name).into_iter().flatten() {
            let below = self.visit(callee, name, open, done)?;
            if deepest.1.is_none() || below > deepest.0 {
                deepest = (below, Some(callee.as_str()));
            }
        }
        open.pop();
        done.insert(name, (frame + deepest.0, deepest.1));
        Ok(frame + deepest.0)
    }
}

/// Stack bound of `root` from the `.ci` texts of a whole program; shorthand for [`CallGraph`].
pub fn bound<'a>(units: impl IntoIterator<Item = &'a str>, root: &str) -> Result<StackBound, StackError> {
    let mut graph = CallGraph::default();
    for unit in units {
        graph.add(unit)?;
    }
    graph.bound(root)
}

/// Frame of a function known only as machine code (libgcc's), if it is a leaf with a constant frame: the most its
/// instructions lower the stack pointer. `None` when it calls, or sets the stack pointer otherwise.
pub fn leaf_frame(image: &Image, name: &str) -> Option<u64> {
    let symbol = image.symbols.get(name).filter(|s| s.size > 0)?;
    let code = image.bytes(symbol.addr, symbol.size as usize)?;
    let end = symbol.addr.checked_add(symbol.size)?;
    let (mut at, mut lowered) = (0, 0u64);
    while let Some(low) = code.get(at..at + 2) {
        let high = code.get(at + 2..at + 4).unwrap_or(&[0, 0]);
        let inst = decode(u32::from_le_bytes([low[0], low[1], high[0], high[1]]));
        let target = symbol.addr.wrapping_add(at as u32).wrapping_add(inst.imm as u32);
        let leaves = match inst.op {
            Op::Jal => inst.rd != 0 || !(symbol.addr..end).contains(&target),
            Op::Jalr => inst.rd != 0 || inst.rs1 != 1,
            Op::Illegal => true,
            _ => inst.op.class() == Class::Branch && !(symbol.addr..end).contains(&target),
        };
        let moves_sp = inst.rd == 2;
        if leaves || moves_sp && !(inst.op == Op::Addi && inst.rs1 == 2) {
            return None;
        }
        if moves_sp && inst.imm < 0 {
            lowered += u64::from(inst.imm.unsigned_abs());
        }
        at += usize::from(inst.len);
    }
    Some(lowered)
}

/// Bytes by which assembly in a function lowers the stack pointer beyond the frame that the compiler knows of: a constant in a register is
/// subtracted. 0 where nothing does.
pub fn moved_by_assembly(image: &Image, name: &str) -> u64 {
    let Some(symbol) = image.symbols.get(name).filter(|s| s.size > 0) else { return 0 };
    let Some(code) = image.bytes(symbol.addr, symbol.size as usize) else { return 0 };
    let (mut at, mut most, mut constants) = (0, 0, BTreeMap::new());
    while let Some(low) = code.get(at..at + 2) {
        let high = code.get(at + 2..at + 4).unwrap_or(&[0, 0]);
        let inst = decode(u32::from_le_bytes([low[0], low[1], high[0], high[1]]));
        let value = match inst.op {
            Op::Lui => Some(inst.imm),
            Op::Addi if inst.rs1 == 0 => Some(inst.imm),
            Op::Addi => constants.get(&inst.rs1).map(|c: &i32| c.wrapping_add(inst.imm)),
            Op::Sub if (inst.rd, inst.rs1) == (2, 2) => {
                most = most.max(constants.get(&inst.rs2).map_or(0, |c| u64::from(c.unsigned_abs())));
                None
            }
            _ => None,
        };
        match value {
            Some(v) => drop(constants.insert(inst.rd, v)),
            None => drop(constants.remove(&inst.rd)),
        }
        at += usize::from(inst.len);
    }
    most
}

/// The quoted value after `name:` in a `.ci` line.
fn field(line: &str, name: &str) -> Option<String> {
    let rest = &line[line.find(&format!("{name}: \""))? + name.len() + 3..];
    Some(rest[..rest.find('"')?].to_string())
}

/// Frame from a node's label: its third line is `N bytes (static)`, `(dynamic)` or `(dynamic,bounded)`.
fn frame_of(label: &str, line: &str) -> Option<Frame> {
    if line.contains("shape : ellipse") {
        return Some(Frame::External);
    }
    let text = label.split("\\n").find(|part| part.contains(" bytes ("))?;
    let (bytes, kind) = text.split_once(" bytes ")?;
    let bytes = bytes.parse().ok()?;
    Some(if kind == "(static)" { Frame::Static(bytes) } else { Frame::Dynamic })
}
