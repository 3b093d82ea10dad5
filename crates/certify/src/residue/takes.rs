//! Where functions of the program get the addresses of what they read and write, for callers that have it in their frames.
//!
//! Needs: what was proved of the file.  Keeps: only of a function that is equal to its source under the convention of its source, which
//! therefore writes its results and its own frame, and nothing else.  Absent: objects of run-time length.
//! Trusted: certifier.

use super::value::V;
use crate::report::{FunctionReport, Status};
use crate::source::abi::{signature, Kind, Place, Role};
use crate::subject::Subject;

/// An argument.
#[derive(Clone, Copy, Debug)]
enum Argument {
    Value { place: Place, words: u32 },
    /// `bytes`: none where the call says how many. `public`: what is written there is no secret.
    Read { place: Place, bytes: Option<u64> },
    Written { place: Place, bytes: Option<u64>, public: bool },
}

/// What a function gets. Places behind its arguments it does not read.
#[derive(Clone, Debug)]
pub(crate) struct Takes(Vec<Argument>);

/// Bytes of a frame that a callee writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Written {
    pub at: i64,
    pub bytes: i64,
    pub public: bool,
}

/// A caller with a frame, at a call.
pub(crate) trait Frame {
    /// So many words from a place on.
    fn passed(&self, place: Place, words: u32) -> Vec<V>;
    /// Some of these bytes may be of an address in the frame: the callee could give it back.
    fn holds_address(&self, at: i64, bytes: i64) -> bool;
}

impl Takes {
    pub fn of(subject: &Subject, f: &FunctionReport) -> Option<Takes> {
        if f.status != Status::Equal || !f.convention.is_empty() {
            return None;
        }
        let own = subject.functions_of(subject.image.function_at(f.address).filter(|own| own.address == f.address)?);
        let [func] = own.into_iter().collect::<Vec<_>>()[..] else { return None };
        let func = subject.program.func(func);
        let xlen = subject.isa.xlen.bits();
        let signature = signature(subject.program, func, xlen).ok()?;
        let arguments = signature.args.iter().map(|arg| {
            let place = arg.place;
            let object = match &arg.kind {
                Kind::Scalar(s) => return Argument::Value { place, words: s.bits.div_ceil(xlen) },
                Kind::Pointer(object) => object,
            };
            let bytes = object.repeat.is_none().then_some(object.size);
            match arg.role {
                Role::Ret(r) => Argument::Written { place, bytes, public: func.gives_public(func.rets[r]) },
                Role::Len(_) | Role::Param(_) => Argument::Read { place, bytes },
            }
        });
        Some(Takes(arguments.collect()))
    }

    /// What a call writes in the frame from `sp` up to its caller's.
    ///
    /// # Errors
    /// An address in the frame of which that is not known, or which may come back as a value.
    pub fn written(&self, sp: i64, frame: &dyn Frame) -> Result<Vec<Written>, String> {
        let mut all = vec![];
        for argument in &self.0 {
            let passed = match *argument {
                Argument::Value { place, words } => frame.passed(place, words),
                Argument::Read { place, .. } | Argument::Written { place, .. } => frame.passed(place, 1),
            };
            if !passed.iter().any(|v| v.is_of_frame()) {
                continue;
            }
            let known = |bytes: Option<u64>| match passed[..] {
                [V::Stack(at)] => Some((at, i64::try_from(bytes?).ok()?)),
                _ => None,
            };
            match *argument {
                Argument::Read { bytes, .. } if known(bytes).is_some_and(|(at, bytes)| !frame.holds_address(at, bytes)) => {}
                Argument::Written { bytes, public, .. } => {
                    let inside = known(bytes).filter(|(at, bytes)| *at >= sp && at.checked_add(*bytes).is_some_and(|end| end <= 0));
                    let (at, bytes) = inside.ok_or("a call that may write to an address in the frame")?;
                    all.push(Written { at, bytes, public });
                }
                _ => return Err("a call that may get an address in the frame".into()),
            }
        }
        Ok(all)
    }
}
