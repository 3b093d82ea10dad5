//! How many statements a function executes, roughly: decides what is unrolled and what is executed at its call.

use santoku_ir::{Program, Stmt};

/// What a call by contract counts at most: the body is not looked at.
const CONTRACT_COST: u64 = 100;

/// Per function, callees first: what a call of it takes, the body where it has no contract.
pub fn of_program(p: &Program) -> Vec<u64> {
    let mut costs: Vec<u64> = Vec::with_capacity(p.funcs.len());
    for f in &p.funcs {
        let body = block(&costs, &f.body);
        costs.push(if f.contracts.is_empty() { body } else { body.min(CONTRACT_COST) });
    }
    costs
}

/// Statements in one run of a block, given the costs of the functions it may call.
pub fn block(costs: &[u64], body: &[Stmt]) -> u64 {
    body.iter().fold(0u64, |s, st| s.saturating_add(stmt(costs, st)))
}

fn stmt(costs: &[u64], s: &Stmt) -> u64 {
    match s {
        Stmt::Assign { .. } | Stmt::Assert { .. } | Stmt::Ghost { .. } => 1,
        Stmt::Call { func, .. } => costs.get(func.0 as usize).copied().unwrap_or(0).saturating_add(1),
        Stmt::If { then, els, .. } => block(costs, then).saturating_add(block(costs, els)).saturating_add(1),
        Stmt::For { lo, hi, body, .. } => {
            let trips = match (lo.as_const(), hi.as_const()) {
                (Some(a), Some(b)) => u64::try_from(b - a).unwrap_or(if b < a { 0 } else { u64::MAX }),
                // Bounds that depend on outer counters are small in practice; an array of 64 is the usual size.
                _ => 64,
            };
            block(costs, body).saturating_add(1).saturating_mul(trips)
        }
    }
}
