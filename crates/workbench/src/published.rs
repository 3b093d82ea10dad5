//! Figures that others published, quoted beside ours and never mixed with what is measured here.

/// One published figure set of signing 256 bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Published {
    /// Whose, with the source.
    pub variant: &'static str,
    pub level: &'static str,
    /// Millions of cycles on the HiFive1 rev B board.
    pub board_mcycles: f64,
    pub stack_bytes: Option<u64>,
    pub size_bytes: Option<u64>,
}

const SPARKNACL: &str = "SPARKNaCl 2021, published";
const TWEETNACL: &str = "TweetNaCl, published";

const fn row(variant: &'static str, level: &'static str, board_mcycles: f64, stack: u64, size: u64) -> Published {
    Published { variant, level, board_mcycles, stack_bytes: Some(stack), size_bytes: Some(size) }
}

const fn cycles(variant: &'static str, level: &'static str, board_mcycles: f64) -> Published {
    Published { variant, level, board_mcycles, stack_bytes: None, size_bytes: None }
}

/// Signing of 256 bytes on the board: SPARKNaCl's last published series (tag GNAT_CE_2021, GCC 10.3, rv32imc) and
/// TweetNaCl as released (rv32imc), both from SPARKNaCl's performance posts.
pub const SIGN_BOARD: [Published; 8] = [
    row(SPARKNACL, "O0", 110.20, 3136, 39864),
    row(SPARKNACL, "O1", 30.06, 2496, 20208),
    row(SPARKNACL, "O2", 24.37, 2464, 20736),
    row(SPARKNACL, "O3", 23.22, 2576, 24132),
    row(SPARKNACL, "Os", 27.62, 2368, 18236),
    cycles(TWEETNACL, "O0", 241.83),
    cycles(TWEETNACL, "O1", 97.65),
    cycles(TWEETNACL, "O2", 84.99),
];

/// SPARKNaCl's master of 2025, for which no figure was published: rebuilt (GNAT 12.2, -O2) and run on this model.
pub const SPARKNACL_2025_CORE_MCYCLES: f64 = 17.3;

/// A step of SPARKNaCl's published series.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// Their tag.
    pub tag: &'static str,
    /// Board Mcycles at -O0, -O1, -O2, -O3, -Os.
    pub board_mcycles: [Option<f64>; 5],
}

const fn step(tag: &'static str, o0: f64, o1: f64, o2: f64, rest: Option<(f64, f64)>) -> Step {
    let (o3, os) = match rest {
        Some((o3, os)) => (Some(o3), Some(os)),
        None => (None, None),
    };
    Step { tag, board_mcycles: [Some(o0), Some(o1), Some(o2), o3, os] }
}

/// The series in the order of its posts.
pub const SPARKNACL_SERIES: [Step; 11] = [
    step("Baseline", 198.03, 98.03, 93.86, None),
    step("Relax_Init", 191.54, 95.26, 88.66, None),
    step("PRE_Scalarmult", 191.40, 95.03, 87.06, None),
    step("Unroll_Multiply", 176.50, 69.88, 63.61, None),
    step("No_Slices", 177.40, 69.79, 58.31, None),
    step("RV32IM_Not_C", 182.15, 69.94, 57.77, None),
    step("RSO", 176.24, 69.34, 57.34, None),
    step("RV32IMC_A4", 174.47, 32.54, 41.10, Some((25.69, 30.52))),
    step("Loop_Fusion", 161.08, 32.00, 53.53, Some((25.13, 29.66))),
    step("Narrow_Mul", 113.68, 31.58, 26.40, Some((24.88, 29.41))),
    step("Unroll_First_Mul", 109.20, 30.21, 24.52, Some((23.58, 27.99))),
];
