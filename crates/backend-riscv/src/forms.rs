//! Groups of instructions that a machine executes as one, if they stand next to each other and in this order.
//!
//! Needs: nothing.  Keeps: registers as the machine's rules ask, see [`Form`].  Absent: what the groups compute, which `santoku-isa` says for the
//! judge; nothing is shared with it.
//! Source: CKB RFC 0033 and 0049, "macro-operation fusion".
//! Trusted: nothing: the certifier looks at the bytes.

/// What a group computes of its operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Both words of `a b`, the high one first.
    WideMul,
    /// `x + y`, and its carry.
    AddCarryOut,
    /// `x + y`, and `w` plus its carry.
    AddCarryTo,
    /// `x + y + c`, and the carry.
    AddCarry,
    /// `x - y`, and its borrow.
    SubBorrowOut,
    /// `x - y - c`, and the borrow.
    SubBorrow,
}

/// Which registers may be one and the same.
pub struct Form {
    /// The first two operands may change places.
    pub commutes: bool,
    /// For each result: operands whose registers it may not have.
    pub apart: [&'static [usize]; 2],
    /// The results have the registers of the first two operands, and all operands lose what they hold.
    pub in_place: bool,
    /// Registers for what is on its way.
    pub temporaries: usize,
}

impl Kind {
    pub fn form(self) -> Form {
        let (commutes, apart, in_place, temporaries): (bool, [&'static [usize]; 2], bool, usize) = match self {
            Kind::WideMul => (true, [&[0, 1], &[]], false, 0),
            Kind::AddCarryOut => (true, [&[0], &[]], false, 0),
            Kind::AddCarryTo => (true, [&[0, 2], &[2]], false, 0),
            Kind::AddCarry => (true, [&[], &[]], true, 0),
            Kind::SubBorrowOut => (false, [&[0, 1], &[]], false, 0),
            Kind::SubBorrow => (false, [&[], &[]], true, 1),
        };
        Form { commutes, apart, in_place, temporaries }
    }

    /// The instructions, for the names of operands, results and temporaries.
    pub fn text(self, i: &[&str], o: &[&str], t: &[&str]) -> Vec<String> {
        match self {
            Kind::WideMul => vec![format!("mulhu {}, {}, {}", o[0], i[0], i[1]), format!("mul {}, {}, {}", o[1], i[0], i[1])],
            Kind::AddCarryOut => vec![format!("add {}, {}, {}", o[0], i[0], i[1]), format!("sltu {}, {}, {}", o[1], o[0], i[0])],
            Kind::AddCarryTo => vec![
                format!("add {}, {}, {}", o[0], i[0], i[1]),
                format!("sltu {}, {}, {}", o[1], o[0], i[0]),
                format!("add {}, {}, {}", o[1], o[1], i[2]),
            ],
            Kind::AddCarry => vec![
                format!("add {}, {}, {}", i[0], i[0], i[1]),
                format!("sltu {}, {}, {}", i[1], i[0], i[1]),
                format!("add {}, {}, {}", i[0], i[0], i[2]),
                format!("sltu {}, {}, {}", i[2], i[0], i[2]),
                format!("or {}, {}, {}", i[1], i[1], i[2]),
            ],
            Kind::SubBorrowOut => vec![format!("sub {}, {}, {}", o[0], i[0], i[1]), format!("sltu {}, {}, {}", o[1], i[0], i[1])],
            Kind::SubBorrow => vec![
                format!("sub {}, {}, {}", i[1], i[0], i[1]),
                format!("sltu {}, {}, {}", t[0], i[0], i[1]),
                format!("sub {}, {}, {}", i[0], i[1], i[2]),
                format!("sltu {}, {}, {}", i[2], i[1], i[0]),
                format!("or {}, {}, {}", i[1], i[2], t[0]),
            ],
        }
    }
}
