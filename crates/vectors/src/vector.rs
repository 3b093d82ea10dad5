//! A vector by the names of a function and its parameters.

use crate::Expected;

/// A call and what it must leave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Vector {
    /// Source and number.
    pub id: String,
    /// The exported function.
    pub function: &'static str,
    /// Arguments by name: bytes of arrays, little-endian bytes of scalars.
    pub inputs: Vec<(&'static str, Vec<u8>)>,
    /// Results in order, likewise.
    pub outputs: Vec<Vec<u8>>,
    /// The verdict returned, of a function that returns one.
    pub returned: Option<Expected>,
}
