//! Bounds on nesting and size, so that no tree walker of any stage overflows its stack.
//!
//! The verifier refuses programs beyond them, the text reader refuses text beyond them, the interpreter
//! faults. They are far above what people write and what passes need to build.

/// Deepest nesting of one expression; passes that build expressions stay below it.
pub const EXPR_DEPTH: usize = 256;
/// Deepest nesting of statements in one function.
pub const STMT_DEPTH: usize = 64;
/// Deepest nesting of types (arrays of arrays, structs in structs).
pub const TYPE_DEPTH: usize = 32;
/// Most scalars and structs one struct unfolds to, arrays counted once.
pub const STRUCT_NODES: usize = 1 << 16;
/// Deepest nesting of open blocks and calls in one run of the interpreter.
pub const RUN_DEPTH: usize = 1000;
/// Deepest nesting of one evaluation of a specification, calls of `spec fn`s included.
pub const SPEC_DEPTH: usize = 3000;
/// Widest exact integer the interpreter computes with, in bits.
pub const INT_BITS: u64 = 1 << 20;
