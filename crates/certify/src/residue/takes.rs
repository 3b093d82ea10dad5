//! Where functions of the program get the addresses of what they read and write, for callers that have it in their frames.
//!
//! Needs: what was proved of the file.  Keeps: only of a function that is equal to its source under the convention of its source, which
//! therefore writes its results and its own frame, and nothing else.  Absent: objects of run-time length.
//! Trusted: certifier.

use super::value::V;
use crate::report::{FunctionReport, Status};
use crate::source::abi::{signature, Kind, Place, Role};
use crate::subject::Subject;

/// An address that a function gets.
#[derive(Clone, Copy, Debug)]
struct Object {
    place: Place,
    /// None: as many as the call says.
    bytes: Option<u64>,
    written: bool,
    /// What is written there is no secret.
    public: bool,
}

/// The addresses that a function gets. In other arguments, in places behind them, and in memory it takes no value for an address.
#[derive(Clone, Debug)]
pub(crate) struct Takes(Vec<Object>);

/// Bytes of a frame that a callee writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Written {
    pub at: i64,
    pub bytes: i64,
    pub public: bool,
}

impl Takes {
    pub fn of(subject: &Subject, f: &FunctionReport) -> Option<Takes> {
        if f.status != Status::Equal || !f.convention.is_empty() {
            return None;
        }
        let own = subject.functions_of(subject.image.function_at(f.address).filter(|own| own.address == f.address)?);
        let [func] = own.into_iter().collect::<Vec<_>>()[..] else { return None };
        let func = subject.program.func(func);
        let signature = signature(subject.program, func, subject.isa.xlen.bits()).ok()?;
        let objects = signature.args.iter().filter_map(|arg| {
            let Kind::Pointer(object) = &arg.kind else { return None };
            let bytes = object.repeat.is_none().then_some(object.size);
            let public = matches!(arg.role, Role::Ret(r) if func.gives_public(func.rets[r]));
            Some(Object { place: arg.place, bytes, written: matches!(arg.role, Role::Ret(_)), public })
        });
        Some(Takes(objects.collect()))
    }

    /// What a call writes in the frame from `sp` up to its caller's; `passed`: the word in a place.
    ///
    /// # Errors
    /// An address in the frame of which that is not known.
    pub fn written(&self, sp: i64, passed: &dyn Fn(Place) -> V) -> Result<Vec<Written>, String> {
        let mut all = vec![];
        for o in &self.0 {
            let v = passed(o.place);
            let unknown = || Err("a call that may get an address in the frame".to_string());
            match (v, o.bytes.and_then(|b| i64::try_from(b).ok())) {
                (v, _) if !v.is_of_frame() => {}
                (V::Stack(_), Some(_)) if !o.written => {}
                (V::Stack(at), Some(bytes)) if at >= sp && at.checked_add(bytes).is_some_and(|end| end <= 0) => {
                    all.push(Written { at, bytes, public: o.public });
                }
                _ => return unknown(),
            }
        }
        Ok(all)
    }
}
