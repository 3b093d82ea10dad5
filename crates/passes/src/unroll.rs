//! Unrolling: a loop becomes copies of its body, the counter a constant in each.
//!
//! Needs: constant bounds.  Keeps: order of iterations.  Inner loops are decided before the loop around them.
//! Leaves out: partial unrolling, loops with run-time bounds, `@rolled` loops; what exceeds its size stays a loop.
//! Class: checked.
//! Page: docs/passes/unroll.md.  Tests: src/tests/alone.rs, src/tests/broken.rs.

use crate::options::PassOptions;
use crate::util::{each_function, size};
use num_bigint::BigInt;
use num_traits::{Signed, ToPrimitive};
use santoku_ir::visit::{rewrite_stmts, substitute};
use santoku_ir::{Expr, Program, Stmt, Unroll};

/// Loops longer than this are never unrolled.
const TRIPS_MAX: u64 = 4096;

pub fn run(program: &Program, options: &PassOptions) -> Program {
    each_function(program, |_, func| {
        let mut body = std::mem::take(&mut func.body);
        rewrite_stmts(&mut body, &mut |stmt| match copies(&stmt, options) {
            Some(stmts) => stmts,
            None => vec![stmt],
        });
        func.body = body;
    })
}

/// The iterations one after the other, if the loop is to go.
fn copies(stmt: &Stmt, options: &PassOptions) -> Option<Vec<Stmt>> {
    let Stmt::For { var, lo, hi, rev, unroll, body, .. } = stmt else { return None };
    let (lo, hi) = (lo.as_const()?, hi.as_const()?);
    let span: BigInt = hi - lo;
    let trips = if span.is_negative() { 0 } else { span.to_u64()? };
    let allowed = match unroll {
        Unroll::Never => return None,
        Unroll::Always => options.unroll_hint_size_max.max(options.unroll_size_max),
        Unroll::Auto => options.unroll_size_max,
    };
    // A single iteration is never worth a loop.
    if trips > 1 && (trips > TRIPS_MAX || trips.saturating_mul(size(body)) > allowed) {
        return None;
    }
    let mut out = Vec::new();
    for k in 0..trips {
        let value = lo + BigInt::from(if *rev { trips - 1 - k } else { k });
        let mut copy = body.clone();
        substitute(&mut copy, *var, &Expr::int(value));
        out.append(&mut copy);
    }
    Some(out)
}
