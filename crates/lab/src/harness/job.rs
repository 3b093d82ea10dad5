//! What is built and called, and the program it becomes.

use crate::rv32::Image;
use santoku_target::Level;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// A C translation unit.
#[derive(Clone, Debug)]
pub enum Source {
    /// A file on disk.
    File(PathBuf),
    /// Text, with the file name to give it.
    Text { name: String, text: String },
}

/// Instructions compiled to, of those that the machine has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Code {
    /// Four-byte instructions only.
    Plain,
    /// With compressed instructions.
    Compressed,
}

/// Where `const` data lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Constants {
    /// Copied to RAM by start-up code: reads cost what RAM costs.
    Ram,
    /// Left in flash: each read is a flash word in the board column.
    Flash,
}

/// One argument of a call. Buffers are aligned to 16 bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Arg {
    /// Pointer to these bytes, which the callee may change.
    In(Vec<u8>),
    /// Pointer to this many zero bytes.
    Out(usize),
    /// Null pointer.
    Null,
    /// An integer of at most 32 bits.
    Word32(u32),
    /// A 64-bit integer.
    Word64(u64),
}

/// What the called function returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ret {
    /// Nothing.
    Void,
    /// An integer of at most 32 bits.
    Word32,
    /// A 64-bit integer.
    Word64,
}

/// One measured call.
#[derive(Clone, Debug)]
pub struct Call {
    /// C declaration of the function, without the semicolon; empty when an earlier call declared it.
    pub declaration: String,
    /// Name of the function.
    pub function: String,
    /// Arguments, in order.
    pub args: Vec<Arg>,
    /// Result.
    pub ret: Ret,
}

/// A program to build and run.
#[derive(Clone, Debug)]
pub struct Rv32Job {
    /// C sources to measure.
    pub sources: Vec<Source>,
    /// Sources that the program needs but that belong to no size or stack figure (a source of randomness, say).
    pub support: Vec<Source>,
    /// Folders searched for headers.
    pub include_dirs: Vec<PathBuf>,
    /// Calls, made in this order in one run.
    pub calls: Vec<Call>,
    /// Instruction set.
    pub code: Code,
    /// Optimisation level of `sources`.
    pub level: Level,
    /// Where constants live.
    pub constants: Constants,
    /// Further compiler flags for `sources`.
    pub flags: Vec<String>,
    /// RAM the linker may use, in bytes; the board has 16 KiB.
    pub ram_bytes: u32,
}

impl Rv32Job {
    /// A job for compressed code at `-O2` with constants in RAM and 1 MiB of it.
    pub fn new(sources: Vec<Source>, calls: Vec<Call>) -> Self {
        Rv32Job {
            sources,
            support: Vec::new(),
            include_dirs: Vec::new(),
            calls,
            code: Code::Compressed,
            level: Level::O2,
            constants: Constants::Ram,
            flags: Vec::new(),
            ram_bytes: 1 << 20,
        }
    }
}

/// An object file of the measured sources.
#[derive(Clone, Debug)]
pub struct Object {
    /// File name of the source, without folder.
    pub name: String,
    /// Contents of the relocatable file.
    pub bytes: Vec<u8>,
    /// Call-graph file the compiler wrote for it.
    pub call_graph: String,
}

/// A built program. It can be run any number of times, with other inputs too.
#[derive(Clone, Debug)]
pub struct Program {
    /// The linked executable.
    pub elf: Vec<u8>,
    /// Its loadable image.
    pub image: Image,
    /// Objects of the measured sources.
    pub objects: Vec<Object>,
    /// First line of the compiler's version text.
    pub compiler: String,
    /// Flags the measured sources were compiled with.
    pub flags: Vec<String>,
    pub(crate) calls: Vec<Call>,
    pub(crate) run_time: String,
    pub(crate) ram_bytes: u32,
}
