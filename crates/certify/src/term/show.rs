//! Terms for the reader.
//! Trusted: nothing: it prints terms.

use super::atom::Atom;
use super::{Terms, A, T};
use num_bigint::BigInt;
use num_traits::{One, Signed};

/// Summands and list elements shown.
const SHOWN: usize = 6;
/// Characters of a term that a reader still follows.
const LENGTH_MAX: usize = 400;

impl Terms {
    /// The term, at most `depth` levels of atoms deep: as deep as it stays short enough to be read.
    pub fn show(&self, t: T, depth: u32) -> String {
        let mut shown = self.show_to(t, 0);
        for d in 1..=depth {
            let deeper = self.show_to(t, d);
            if deeper.len() > LENGTH_MAX {
                break;
            }
            shown = deeper;
        }
        shown
    }

    fn show_to(&self, t: T, depth: u32) -> String {
        let p = self.poly(t);
        if p.is_empty() {
            return "0".to_string();
        }
        let mut out = String::new();
        for (k, (m, c)) in p.iter().rev().enumerate() {
            if k == SHOWN {
                out.push_str(&format!(" + .. {} more", p.len() - k));
                break;
            }
            let sign = if c.is_negative() { "-" } else { "+" };
            if k > 0 || c.is_negative() {
                out.push_str(if k > 0 { " " } else { "" });
                out.push_str(sign);
                out.push_str(if k > 0 { " " } else { "" });
            }
            let atoms: Vec<String> = self.monos[*m as usize].iter().map(|a| self.show_atom(*a, depth)).collect();
            let c = c.abs();
            match (atoms.is_empty(), c.is_one()) {
                (true, _) => out.push_str(&number(&c)),
                (false, true) => out.push_str(&atoms.join("*")),
                (false, false) => out.push_str(&format!("{}*{}", number(&c), atoms.join("*"))),
            }
        }
        out
    }

    fn show_atom(&self, a: A, depth: u32) -> String {
        let atom = &self.atoms[a as usize].atom;
        if depth == 0 && !matches!(atom, Atom::Var(_)) {
            return format!("#{a}");
        }
        let s = |t: T| self.show_to(t, depth.saturating_sub(1));
        match atom {
            Atom::Var(name) => name.clone(),
            Atom::Div(t, k) => format!("(({}) >> {k})", s(*t)),
            Atom::DivBy(t, d) => format!("(({}) / {d})", s(*t)),
            Atom::Neg(t) => format!("[{} < 0]", s(*t)),
            Atom::Zero(t) => format!("[{} == 0]", s(*t)),
            Atom::Bits(products) => {
                let parts: Vec<String> =
                    products.iter().take(SHOWN).map(|p| p.iter().map(|t| format!("({})", s(*t))).collect::<Vec<_>>().join(" & ")).collect();
                format!("({}{})", parts.join(" ^ "), if products.len() > SHOWN { " ^ .." } else { "" })
            }
            Atom::Or(list) => format!("({})", list.iter().take(SHOWN).map(|t| s(*t)).collect::<Vec<_>>().join(" | ")),
            Atom::Pick(list, x) => format!("list of {}[{}]", list.len(), s(*x)),
            Atom::Read(array, x) => format!("array{array}[{}]", s(*x)),
            Atom::Name(t) => format!("({})", s(*t)),
            Atom::Out(call, k) => format!("call{call}.{k}"),
        }
    }

    /// Two terms inside the given ones that differ, as deep as both still have the same shape around them.
    pub fn smallest_difference(&self, a: T, b: T) -> (T, T) {
        let (mut a, mut b) = (a, b);
        while let Some(next) = self.inner_difference(a, b) {
            (a, b) = next;
        }
        (a, b)
    }

    fn inner_difference(&self, a: T, b: T) -> Option<(T, T)> {
        let only = |x: T, y: T| {
            let other = self.poly(y);
            let mut left = self.poly(x).iter().filter(|t| !other.contains(t));
            let first = left.next()?;
            left.next().is_none().then_some(first)
        };
        let ((m, c), (n, d)) = (only(a, b)?, only(b, a)?);
        let ([x], [y]) = (&self.monos[*m as usize][..], &self.monos[*n as usize][..]) else { return None };
        if c != d {
            return None;
        }
        match (&self.atoms[*x as usize].atom, &self.atoms[*y as usize].atom) {
            (Atom::Div(p, j), Atom::Div(q, k)) if j == k => Some((*p, *q)),
            (Atom::Neg(p), Atom::Neg(q)) | (Atom::Zero(p), Atom::Zero(q)) => Some((*p, *q)),
            (Atom::Pick(l, p), Atom::Pick(m, q)) if l == m => Some((*p, *q)),
            _ => None,
        }
    }

    /// The first secret a term mentions: an input, or what a call gave.
    pub fn secret_in(&self, t: T) -> Option<String> {
        let poly = self.poly(t);
        let atom = poly.iter().flat_map(|(m, _)| &self.monos[*m as usize]).find(|a| !self.atoms[**a as usize].public)?;
        let inner = match &self.atoms[*atom as usize].atom {
            Atom::Div(p, _) | Atom::DivBy(p, _) | Atom::Neg(p) | Atom::Zero(p) | Atom::Name(p) => vec![*p],
            Atom::Bits(products) => products.concat(),
            Atom::Or(list) => list.clone(),
            Atom::Pick(list, x) => list.iter().chain([x]).copied().collect(),
            Atom::Var(_) | Atom::Read(..) | Atom::Out(..) => vec![],
        };
        inner.into_iter().find_map(|p| self.secret_in(p)).or_else(|| Some(self.show_atom(*atom, 2)))
    }
}

/// Powers of two and their neighbours in power form.
fn number(v: &BigInt) -> String {
    if v.bits() <= 12 {
        return v.to_string();
    }
    for d in [0i32, -1, 1] {
        let n = v - d;
        if let Some(k) = n.trailing_zeros() {
            if n == BigInt::one() << k {
                return match d {
                    0 => format!("2^{k}"),
                    _ => format!("(2^{k}{d:+})"),
                };
            }
        }
    }
    format!("{v:#x}")
}
