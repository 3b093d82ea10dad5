//! The tables: what is trusted.

mod base;
mod bits;
mod muldiv;
mod short;

use crate::row::Row;

pub(crate) static ROWS: [&[Row]; 5] = [base::BASE, base::SYSTEM, muldiv::M, bits::ZB, bits::ZB_BYTES];
pub(crate) use short::SHORTS;
