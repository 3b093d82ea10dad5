//! Why code is not accepted.

/// Why code is not accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stop(pub String);

pub(crate) type Res<T> = Result<T, Stop>;

pub(crate) fn stop<T>(why: impl Into<String>) -> Res<T> {
    Err(Stop(why.into()))
}

pub(crate) fn known<T>(v: Option<T>, why: &str) -> Res<T> {
    v.map_or_else(|| stop(why), Ok)
}
