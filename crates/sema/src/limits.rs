//! Bounds that keep every run finite and small. Each refusal has its own message.

/// Bits of the largest constant (in magnitude).
pub const CONST_BITS: u64 = 4096;
/// Elements of all constants of one run together.
pub const CONST_ELEMENTS: u64 = 1 << 22;
/// Steps of constant evaluation in one run.
pub const CONST_STEPS: u64 = 1 << 24;
/// Iterations of a loop with constant bounds.
pub const LOOP_TRIPS: u64 = 1 << 24;
/// Elements of one array of constant length, nested elements counted.
pub const ARRAY_ELEMENTS: u64 = 1 << 22;
/// Largest run-time length, `2^31 - 1`.
pub const RUNTIME_LENGTH: u64 = (1 << 31) - 1;
/// Nesting of expressions, blocks and types; below what the core admits (`santoku_ir::limits`).
pub const EXPR_NESTING: u32 = 200;
pub const STMT_NESTING: u32 = 48;
pub const TYPE_NESTING: u32 = 24;
/// Functions in one chain of calls.
pub const CALL_DEPTH: usize = 100;
/// Monomorphic instances in one program.
pub const INSTANCES: usize = 1 << 14;
/// Instances of modules in one program.
pub const MODULE_INSTANCES: usize = 1 << 10;
/// Calls of constant functions inside one another.
pub const CONST_CALL_DEPTH: u32 = 4096;
/// Results of constant functions that are remembered.
pub const CONST_RESULTS: usize = 1 << 18;
/// Input and output bits of a `table`.
pub const TABLE_BITS: u32 = santoku_ir::table::BITS_MAX;
/// Stack of the analysis thread; nesting and call depth together stay far below it.
pub const STACK_BYTES: usize = 1 << 30;
