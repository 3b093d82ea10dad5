//! What was found equal, before the judge of bytes.
//!
//! Needs: [`santoku_bytes`].  Keeps: what the judge accepts is remembered beside the proof, and so is why it does not.  Absent: what follows
//! for a whole file ([`crate::verdict`]).
//! Trusted: bytes, leaks, certifier.

use crate::function::{rotates, Found};
use crate::machine::Code;
use santoku_bytes::{check, Effort};
use santoku_ir::FuncId;
use std::collections::BTreeSet;

/// Terms looked at in one attempt: some seconds.
const TERMS: u64 = 3_000_000;
/// As it is; then with names for what is long.
/// How hard the judge is asked to try, one after the other.
pub const EFFORTS: [Effort; 4] = [Effort { names: None, limits: (100_000, 2_000), merged: 1000, terms: TERMS }, Effort { names: Some(2), limits: (400_000, 20_000), merged: 1000, terms: TERMS }, Effort { names: Some(5), limits: (400_000, 20_000), merged: 1000, terms: TERMS }, Effort { names: Some(12), limits: (400_000, 20_000), merged: 1000, terms: TERMS }];

/// Why the judge does not accept what was found equal; nothing where it does.
pub(crate) fn judged(code: &Code, func: FuncId, pc: u64, shared: &[(usize, usize)], cut: &BTreeSet<FuncId>, found: &Found) -> Option<String> {
    if !code.convention_at(pc).is_source() {
        return Some("another convention than the source's".into());
    }
    let own = santoku_bytes::Code { image: &code.image, isa: code.isa, program: code.program, symbols: &code.symbols, secret_mul_leaks: code.secret_mul_leaks, ckb_vm: code.ckb_vm };
    let mut why = None;
    let efforts = if rotates(code.program.func(func)) { &EFFORTS[1..] } else { &EFFORTS };
    for &effort in efforts {
        match check(&own, func, pc, shared, cut, effort) {
            Ok(accepted) if accepted.calls.is_subset(&found.calls) => return None,
            Ok(_) => return Some("it rests on other calls than the proof".into()),
            Err(stop) => why = why.or(Some(stop.0)),
        }
    }
    why
}
