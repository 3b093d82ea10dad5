//! What may be an end of an interval: an integer, or an integer or nothing to stop at.
//! Trusted: safe, field, c, bytes, leaks, certifier, text.

use crate::Int;

/// What arithmetic of intervals asks of an end. Lower ends meet lower ends and upper ends upper ones, so that infinities of both signs are
/// never added.
pub trait End: Clone + Ord + From<Int> {
    fn add(&self, o: &Self) -> Self;
    fn neg(&self) -> Self;
    /// `0 * inf` is 0: values are finite, only their ends are not.
    fn mul(&self, o: &Self) -> Self;
    fn shl(&self, k: u32) -> Self;
    /// Floor of `self / 2^k`.
    fn shr(&self, k: u32) -> Self;
    /// Floor quotient; `None` for zero.
    fn div_floor(&self, d: &Int) -> Option<Self>;
    /// The integer, where there is one.
    fn at(&self) -> Option<&Int>;
    fn is_negative(&self) -> bool;
}

/// By methods of the same names.
macro_rules! end {
    ($t:ty) => {
        impl End for $t {
            fn add(&self, o: &$t) -> $t {
                <$t>::add(self, o)
            }
            fn neg(&self) -> $t {
                <$t>::neg(self)
            }
            fn mul(&self, o: &$t) -> $t {
                <$t>::mul(self, o)
            }
            fn shl(&self, k: u32) -> $t {
                <$t>::shl(self, k)
            }
            fn shr(&self, k: u32) -> $t {
                <$t>::shr(self, k)
            }
            fn div_floor(&self, d: &Int) -> Option<$t> {
                <$t>::div_floor(self, d)
            }
            fn at(&self) -> Option<&Int> {
                <$t>::at(self)
            }
            fn is_negative(&self) -> bool {
                <$t>::is_negative(self)
            }
        }
    };
}
pub(crate) use end;
end!(Int);
