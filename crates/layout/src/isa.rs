//! How blocks lie in registers. The registers and their operations are data: the vector units of `targets/`.

pub use santoku_target::VectorUnit as Isa;

/// How blocks lie in registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Layout {
    /// One block, one word per register.
    Scalar,
    /// One word of many blocks per register, a lane each.
    Vertical,
    /// One bit of many blocks per register.
    Bitslice,
}

impl Layout {
    pub const ALL: [Layout; 3] = [Layout::Scalar, Layout::Vertical, Layout::Bitslice];

    pub fn name(self) -> &'static str {
        match self {
            Layout::Scalar => "scalar",
            Layout::Vertical => "vertical",
            Layout::Bitslice => "bitslice",
        }
    }
}
