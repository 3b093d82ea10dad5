//! Rare ways that stand behind the function, brought back to where they are taken.
//!
//! Registers are given as if such a way were out of sight. Where a branch costs the same whether it is taken or not, the jump back is all that this place costs, and
//! the way comes back to its branch. On a pipeline it stays outside: what follows a branch is fetched first.
//!
//! A jump to where the function returns costs more than to return there.
//!
//! Needs: code with registers.  Keeps: what is executed, but for jumps.  Absent: ways that end elsewhere than behind their branch.
//! Trusted: nothing: the certifier looks at the bytes.

use crate::code::Label;
use crate::mach::{Line, Mach};
use std::collections::BTreeMap;

/// The branch that is taken where this one is not.
fn opposite(name: &str) -> Option<&'static str> {
    Some(match name {
        "beq" => "bne",
        "bne" => "beq",
        "blt" => "bge",
        "bge" => "blt",
        "bltu" => "bgeu",
        "bgeu" => "bltu",
        _ => return None,
    })
}

/// How often each label is named.
fn named(code: &[Line]) -> BTreeMap<Label, usize> {
    let mut count = BTreeMap::new();
    for l in code.iter().filter_map(|i| match &i.mach {
        Mach::Branch(.., l) | Mach::Jump(l) => Some(*l),
        _ => None,
    }) {
        *count.entry(l).or_default() += 1;
    }
    count
}

/// The way from `from` to the jump to `back`, both included, if nothing falls into it. Jumps within go to what stands in it.
fn way(code: &[Line], from: Label, back: Label) -> Option<std::ops::RangeInclusive<usize>> {
    let start = code.iter().position(|i| i.mach == Mach::Label(from)).filter(|k| *k > 0)?;
    if !matches!(code[start - 1].mach, Mach::Jump(_) | Mach::Return | Mach::Stop) {
        return None;
    }
    let mut inner = vec![];
    for (k, i) in code.iter().enumerate().skip(start) {
        match &i.mach {
            Mach::Jump(l) if *l == back => {
                let within = inner.iter().all(|l| code[start..k].iter().any(|i| i.mach == Mach::Label(*l)));
                return within.then_some(start..=k);
            }
            Mach::Jump(l) => inner.push(*l),
            Mach::Return | Mach::Stop => return None,
            _ => {}
        }
    }
    None
}

/// The same code with every such way between its branch and the label behind that.
pub fn inward(mut code: Vec<Line>) -> Vec<Line> {
    let count = named(&code);
    let mut k = 0;
    while k + 1 < code.len() {
        if let (Mach::Branch(name, a, b, from), Mach::Label(back)) = (code[k].mach.clone(), code[k + 1].mach.clone()) {
            let range = way(&code, from, back).filter(|r| count.get(&from) == Some(&1) && *r.start() > k);
            if let Some((range, name)) = range.zip(opposite(name)) {
                let moved: Vec<Line> = code.drain(range).collect();
                code[k].mach = Mach::Branch(name, a, b, back);
                let body = moved[1..moved.len() - 1].to_vec();
                code.splice(k + 1..k + 1, body);
            }
        }
        k += 1;
    }
    code
}

/// What a label leads to at once.
fn first_behind(code: &[Line], l: Label) -> Option<&Mach> {
    let at = code.iter().position(|i| i.mach == Mach::Label(l))?;
    code[at..].iter().map(|i| &i.mach).find(|i| !matches!(i, Mach::Label(_)))
}

/// The same code, where a jump to a return is one, and what leads to a jump leads where that one goes.
pub fn returning(mut code: Vec<Line>) -> Vec<Line> {
    for k in 0..code.len() {
        // What goes round for ever stays after as many steps as there are lines.
        for _ in 0..code.len() {
            let Some(better) = further(&code, &code[k].mach) else { break };
            code[k].mach = better;
        }
    }
    code
}

/// The same jump or branch, one step further.
fn further(code: &[Line], i: &Mach) -> Option<Mach> {
    match i {
        Mach::Jump(l) => first_behind(code, *l).filter(|m| matches!(m, Mach::Return | Mach::Jump(_)) && *m != i).cloned(),
        Mach::Branch(name, a, b, l) => match first_behind(code, *l)? {
            Mach::Jump(to) if to != l => Some(Mach::Branch(name, *a, *b, *to)),
            _ => None,
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(code: Vec<Mach>) -> Vec<Line> {
        code.into_iter().map(Line::from).collect()
    }

    fn add(x: u8) -> Mach {
        Mach::Imm("addi", x, x, 1)
    }

    /// A way in a way: both stand where they are taken, and no jump is left.
    #[test]
    fn rare_ways_come_back_to_their_branch() {
        let l = |n| Mach::Label(Label(n));
        let code = vec![Mach::Branch("bne", 10, 0, Label(0)), l(1), add(11), Mach::Return, l(0), add(12), Mach::Branch("bltu", 12, 13, Label(2)), l(3), Mach::Jump(Label(1)), l(2), add(13), Mach::Jump(Label(3))];
        let want = vec![Mach::Branch("beq", 10, 0, Label(1)), add(12), Mach::Branch("bgeu", 12, 13, Label(3)), add(13), l(3), l(1), add(11), Mach::Return];
        assert_eq!(inward(lines(code)), lines(want));
    }

    /// A way with a choice in it comes back as a whole.
    #[test]
    fn a_way_with_a_choice_comes_back() {
        let l = |n| Mach::Label(Label(n));
        let way = [Mach::Branch("beq", 12, 0, Label(2)), add(13), Mach::Jump(Label(3)), l(2), add(14), l(3)];
        let mut code = vec![Mach::Branch("bne", 10, 0, Label(0)), l(1), add(11), Mach::Return, l(0)];
        code.extend(way.clone());
        code.push(Mach::Jump(Label(1)));
        let mut want = vec![Mach::Branch("beq", 10, 0, Label(1))];
        want.extend(way);
        want.extend([l(1), add(11), Mach::Return]);
        assert_eq!(inward(lines(code)), lines(want));
    }

    #[test]
    fn jumps_to_a_return_are_returns() {
        let l = |n| Mach::Label(Label(n));
        let code = vec![Mach::Branch("beq", 10, 0, Label(0)), Mach::Jump(Label(1)), l(0), Mach::Jump(Label(2)), add(11), l(1), Mach::Jump(Label(2)), add(12), l(2), l(3), Mach::Return];
        let want = vec![Mach::Branch("beq", 10, 0, Label(2)), Mach::Return, l(0), Mach::Return, add(11), l(1), Mach::Return, add(12), l(2), l(3), Mach::Return];
        assert_eq!(returning(lines(code)), lines(want));
        let round = vec![l(0), Mach::Jump(Label(1)), l(1), Mach::Jump(Label(0))];
        assert_eq!(returning(lines(round.clone())).len(), round.len());
        let other = vec![Mach::Jump(Label(0)), add(11), l(0), add(12), Mach::Return];
        assert_eq!(returning(lines(other.clone())), lines(other));
    }

    /// Ways that two branches lead to, that something falls into, or that end elsewhere stay where they are.
    #[test]
    fn other_ways_stay() {
        let l = |n| Mach::Label(Label(n));
        let twice = vec![Mach::Branch("bne", 10, 0, Label(0)), l(1), Mach::Branch("bne", 11, 0, Label(0)), Mach::Return, l(0), add(12), Mach::Jump(Label(1))];
        let falls = vec![Mach::Branch("bne", 10, 0, Label(0)), l(1), add(11), l(0), add(12), Mach::Jump(Label(1))];
        let elsewhere = vec![Mach::Branch("bne", 10, 0, Label(0)), l(1), add(11), l(2), Mach::Return, l(0), add(12), Mach::Jump(Label(2))];
        for code in [twice, falls, elsewhere] {
            assert_eq!(inward(lines(code.clone())), lines(code));
        }
    }
}
