//! Who is told how a search goes on.
//! Trusted: text.

use crate::gates::Circuit;

/// Is told of searches; a table on record or made before in this run needs none. Has neither clock nor terminal: what tells of time
/// notes it when it is called.
pub trait Observer: Send {
    /// Circuits asked for from now on are of this table.
    fn table(&mut self, _name: &str) {}
    /// A stage of the search begins: `inversion`, `expansion`, `pools` or `improvement`.
    fn stage(&mut self, _name: &str) {}
    /// There is a smaller circuit, of so many gates.
    fn found(&mut self, _gates: usize) {}
    /// The search has ended with this circuit.
    fn done(&mut self, _circuit: &Circuit) {}
}

/// Hears nothing.
pub struct Silent;

impl Observer for Silent {}
