//! Text of modules, which reads back as what was printed.
//!
//! ```text
//! machine 32 64 little
//! table @0 "hash.K" align 4 = 982f8a42 91443771
//! func "main.f" export "f" (%0: ptr! "x" out, %1: w32 "n" most 4) -> (w64!) {
//!   slot $0 "t": 32 align 8 !
//!   %2: ptr! = slot $0
//!   %3: w32 = const 0
//!   %4: w64! = load.4 [%0 + %1*8 + 16]
//!   store.8 [%2 + 8], %4
//!   for %5: w32 = %3 to %1 carry (%6: w64! = %4) -> (%7: w64!) {
//!     %8: w64! = add %6, %4
//!     yield %8
//!   }
//!   yield %7
//! }
//! ```
//!
//! A function that stays one has `noinline` before its parameters, one whose results are public whatever they are made of also `declassifies`.
//!
//! Needs: nothing.  Keeps: `parse(print(m)) == m`.  Absent: names of values, which are numbers.
//! Trusted: nothing: nothing that ships is made of it.

mod parse;
mod print;
mod words;

pub use parse::{parse, Error};
pub use print::print;
