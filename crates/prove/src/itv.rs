//! Intervals as the engines use them: either end may be open.

pub type Itv = santoku_num::Itv<santoku_num::Bound>;
