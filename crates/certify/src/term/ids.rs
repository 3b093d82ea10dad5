//! Numbers of terms, atoms and monomials, and what is made of them.

use num_bigint::BigInt;
use std::collections::BTreeSet;
use std::rc::Rc;

/// Number of a term.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct T(pub u32);

/// Number of an atom.
pub(crate) type A = u32;
/// Number of a monomial: a product of atoms. 0 is the empty product.
pub(crate) type M = u32;
/// Ascending by monomial, no zero coefficient.
pub(crate) type Poly = Rc<[(M, BigInt)]>;

/// Exclusive or of products; the empty product is all ones.
pub(super) type Sum = BTreeSet<Vec<T>>;
