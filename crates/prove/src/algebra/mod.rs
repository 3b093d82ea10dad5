//! Integer algebra: polynomials over named integers ("atoms"), their intervals, and the few rules that decide
//! whether a polynomial is zero, exactly or modulo a constant.
//!
//! Every machine word is an exact integer here. Whatever is not a polynomial (a shift, a mask, a wrap, a comparison)
//! introduces atoms together with the equation that defines them; a goal is settled by substituting definitions,
//! newest atom first.
//!
//! Needs: big integers.  Keeps: every atom has one integer value in every execution.  Absent on purpose: programs,
//! contracts, words (see `contracts`).
//! Trusted: engines.

pub mod atoms;
pub mod bound;
pub mod ideal;
pub mod mono;
pub mod num;
pub mod poly;
pub mod reduce;
pub mod simplex;
pub mod split;

pub use atoms::{Atoms, Def};
pub use mono::{Atom, Exp, Mono};
pub use poly::Poly;
