//! What a permutation of the bits of a word is made of.

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Exchanges bit `i` and bit `i + shift` for each bit `i` of `low`.
    Swap { shift: u32, low: u128 },
    /// The exclusive or of the word moved in several ways, of each way the bits of a mask, or all.
    Moves(Vec<(Move, Option<u128>)>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Move {
    Left(u32),
    Right(u32),
    /// Rotated left.
    Around(u32),
}
