//! What the caller of the back end chooses for a unit.

use crate::decisions::Decisions;
use std::collections::BTreeMap;

/// Where constant tables live when the user of the C file does not say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Placement {
    #[default]
    Flash,
    Ram,
}

/// How 64-bit products with a secret in them are made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Products {
    /// In one multiplication.
    #[default]
    Whole,
    /// As the compiler finds out: of 16-bit ones on processors known for a time that depends on the operands of wider ones.
    Chosen,
    /// Of 16-bit ones.
    Parts,
}

/// Bytes of stack that a unit's functions use, at most. Nobody knows before the C is compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stack {
    /// With a compiler that optimises.
    pub optimised: u32,
    /// With one that does not.
    pub plain: u32,
}

/// Bytes of stack that functions of the header use on RISC-V, by name, as deep as machine code was seen to go.
#[derive(Clone, Debug, Default)]
pub struct Measured {
    pub bytes: BTreeMap<String, u32>,
    /// Seen at levels for size alone.
    pub for_size: bool,
}

impl Measured {
    /// Where the numbers hold, as a condition of the preprocessor.
    pub fn condition(&self) -> &'static str {
        match self.for_size {
            true => "defined(__riscv) && defined(__OPTIMIZE_SIZE__)",
            false => "defined(__riscv)",
        }
    }
}

/// What functions of the header do about the secrets that they leave on the stack.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Clears {
    /// They stay.
    #[default]
    Nothing,
    /// So many bytes are overwritten.
    Stack(Stack),
    /// As many as the stack is guessed to be deep.
    Estimated,
}

#[derive(Clone, Debug)]
pub struct Options {
    /// Name of the unit: `nacl_sign` gives `nacl_sign.c` and `nacl_sign.h`.
    pub unit: String,
    /// Widest integer the target computes with: 64 or 128 bits.
    pub widest: u32,
    pub placement: Placement,
    /// First comment of both files: how they were made.
    pub provenance: String,
    /// C text appended to the unit (hand-written API over the exported functions), and to the header.
    pub api_source: String,
    pub api_header: String,
    pub vector: Option<Vector>,
    /// Other texts of functions, for machines with registers of vectors. The first that a compiler has is taken.
    pub lanes: Vec<Lanes>,
    /// Stack that exported functions use on RISC-V, where that is known better than by an estimate.
    pub measured: Measured,
    /// Bits of the widest product with a secret in it, `None` where secrets are not multiplied: the unit refuses processors that
    /// take a time for it that depends on the secret. Only an analysis of the program knows, so there is no default.
    pub secret_product: Option<u32>,
    pub products: Products,
    /// Exported functions are external and stand in the header; when false they are `static` too (`api_source` calls them).
    pub export: bool,
    /// Their names may be changed by whoever compiles the unit, and they are hidden from other libraries: `STK_NAME` and `STK_API`.
    pub renamed: bool,
    /// What functions of the header that get secrets do before they return.
    pub clears: Clears,
    pub decisions: Decisions,
}

impl Options {
    /// What most units are, for one of this name whose widest product of a secret has so many bits.
    pub fn new(unit: impl Into<String>, secret_product: Option<u32>) -> Options {
        Options {
            unit: unit.into(),
            widest: 128,
            placement: Placement::Flash,
            provenance: String::new(),
            api_source: String::new(),
            api_header: String::new(),
            vector: None,
            lanes: vec![],
            measured: Measured::default(),
            secret_product,
            products: Products::Whole,
            export: true,
            renamed: false,
            clears: Clears::Nothing,
            decisions: Decisions::default(),
        }
    }
}

/// The SIMD flavour of a unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Vector {
    /// Name of the register type, defined by `preamble`.
    pub type_name: String,
    pub register_bytes: u32,
    /// Includes, the type, and the operation macros `V_SETw V_ADDw V_SUBw V_MULw V_SHLw V_SHRw V_ROTLw V_XOR V_AND V_OR V_NOT`;
    /// `V_SHLVw V_SHRVw V_ROTLVw` take a count that is known when the program runs, `w` among them.
    pub preamble: String,
    /// Functions (by name in the program) that are not printed: a call of one is a use of this macro of the preamble.
    pub macros: BTreeMap<String, String>,
}

/// Functions in registers of vectors, beside the same functions in C.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lanes {
    /// What tells these registers from others, a number above 0.
    pub number: usize,
    /// When a compiler has them, for `#if`.
    pub guard: String,
    /// The type and the operations of their texts.
    pub preamble: String,
    /// Operations that these texts alone have.
    pub gates: String,
    /// By the name of the function in the program; each gives an array of arrays for one.
    pub kernels: BTreeMap<String, LanesOf>,
}

/// One function in registers of vectors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LanesOf {
    /// Types, tables and functions, the last of them `entry`.
    pub text: String,
    /// `void entry(uint8_t *out, const uint8_t *in)`: words in memory with the least significant byte first.
    pub entry: String,
    /// All names of file scope.
    pub names: Vec<String>,
    pub stack: Stack,
}
