//! What a machine's time depends on here, and how long functions may get.
//! Trusted: nothing: nothing that ships is made of it.

/// What a machine's time depends on here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Costs {
    /// What both words of a product take, where a shift or a sum takes 1.
    pub wide_product: usize,
    /// A sum of two words and a carry costs no more than one of two words: two carries become one even where that takes a difference, which later
    /// sums may take back.
    pub carry_groups: bool,
    /// A function of no more instructions is put where it is called.
    pub inline_max: usize,
    /// In loops, whose rounds are compared with the source one by one, one of no more than that, too.
    pub inline_in_loops_max: usize,
    /// As long as the caller does not get longer than that.
    pub inline_caller_max: usize,
}

impl Default for Costs {
    fn default() -> Costs {
        Costs { wide_product: 5, carry_groups: true, inline_max: 12, inline_in_loops_max: 12, inline_caller_max: 20_000 }
    }
}
