//! Names: a long term in the place of which one atom stands from then on.
//!
//! Needs: polynomials.  Keeps: a name is equal to what it names on every input.  Absent: when words are named; the source's
//! executor says so, and the code's words follow.

use super::atom::Atom;
use super::{Terms, M, T};
use num_bigint::BigInt;
use num_traits::{One, Signed};

/// Summands of what is bits moved about, and nothing else.
const SLICES_MAX: usize = 6;
/// Summands, or factors in all products, from which on a word of the code gets a name of its own.
const LONG: usize = 32;

impl Terms {
    /// A word of so many bits by names, one for each machine word of it; the machine's words that are equal to these take the
    /// same names ([`Terms::renamed`]), also extended by their sign or with anything above their bits.
    pub fn name_word(&mut self, t: T, bits: u32) -> T {
        let t = self.as_word(t, bits);
        let word = self.word;
        let mut sum = Terms::ZERO;
        let mut at = 0;
        while at < bits {
            let piece = self.div2k(t, at);
            let piece = if at + word < bits { self.mod2k(piece, word) } else { piece };
            let named = self.name_piece(piece);
            if named != piece {
                self.rename(piece, named);
                if !self.widths.contains(&bits) {
                    self.widths.push(bits);
                }
            }
            let up = self.shl(named, at);
            sum = self.add(sum, up);
            at += word;
        }
        sum
    }

    /// The name of a word, or the word where that is short already: an input, a name, a quotient, and what differs from these by
    /// sign and constant.
    fn name_piece(&mut self, piece: T) -> T {
        let (key, sign, c) = self.normalized(piece);
        match self.as_atom(key) {
            _ if key == Terms::ZERO => piece,
            Some(a) if !self.is_bitwise(a) => piece,
            Some(_) => {
                let named = self.name(key);
                self.affine(named, &sign, &c)
            }
            None if self.is_slices(key) => piece,
            None => self.name(piece),
        }
    }

    /// Bits of a few inputs or names or of their complements, moved: rotations, and fields put side by side. Compilers take these
    /// apart again.
    fn is_slices(&self, t: T) -> bool {
        let simple = |t: T| self.as_atom(t).is_some_and(|a| !self.is_bitwise(a) && !matches!(self.atoms[a as usize].atom, Atom::Div(..)));
        let slice = |m: &M| match self.monos[*m as usize][..] {
            [a] => match self.atoms[a as usize].atom {
                Atom::Div(of, _) => simple(of),
                Atom::Var(_) | Atom::Name(_) | Atom::Read(..) | Atom::Out(..) => true,
                _ => false,
            },
            _ => false,
        };
        self.poly(t).len() <= SLICES_MAX && self.poly(t).iter().all(|(m, _)| slice(m))
    }

    /// `t = sign key + c` where the key has no constant and a positive leading coefficient.
    fn normalized(&mut self, t: T) -> (T, BigInt, BigInt) {
        let (base, c) = self.without_constant(t);
        if self.poly(base).last().is_some_and(|(_, c)| c.is_negative()) {
            return (self.neg(base), -BigInt::one(), c);
        }
        (base, BigInt::one(), c)
    }

    fn affine(&mut self, t: T, sign: &BigInt, c: &BigInt) -> T {
        let c = self.int(c.clone());
        self.combine(c, sign, t)
    }

    /// Whether words of the source have names.
    pub(crate) fn has_names(&self) -> bool {
        !self.widths.is_empty()
    }

    /// The code has `to` in the place of `from` from now on, and of what differs from that by sign and constant.
    pub(crate) fn rename(&mut self, from: T, to: T) {
        let (key, sign, c) = self.normalized(from);
        // key = sign (from - c)
        let back = -(&sign * &c);
        let to = self.affine(to, &sign, &back);
        if key != to {
            self.renames.insert(key, to);
        }
    }

    /// The name a word was given, or the word. Where only the low bits of it have a name, the bits above get one, too: of
    /// what compilers leave above a short value nothing else is known.
    pub fn renamed(&mut self, t: T) -> T {
        if let Some(to) = self.name_of(t) {
            return to;
        }
        for k in self.widths.clone() {
            if self.range(t).1.bits() <= u64::from(k) {
                continue;
            }
            let low = self.mod2k(t, k);
            let to = match self.name_of(low) {
                Some(to) => to,
                None if self.is_bits_alone(t) && self.widths.iter().all(|w| *w < self.word) => low,
                None => continue,
            };
            if self.extended(low, k) == t {
                return self.extended(to, k);
            }
            let above = self.div2k(t, k);
            let above = if self.as_const(above).is_none() { self.name(above) } else { above };
            let above = self.shl(above, k);
            let r = self.add(above, to);
            return self.check("name", r, |s, n| s.sample(t, n).clone());
        }
        if self.has_names() && self.is_long(t) {
            return self.name(t);
        }
        t
    }

    /// Where words have names, a long one is none of the source's: wrong code ends soon.
    fn is_long(&mut self, t: T) -> bool {
        let (key, ..) = self.normalized(t);
        let products = match self.as_atom(key).map(|a| &self.atoms[a as usize].atom) {
            Some(Atom::Bits(products)) => products.iter().map(Vec::len).sum(),
            _ => 0,
        };
        self.poly(t).len().max(products) > LONG && !self.public(t)
    }

    /// A bitwise value, or all ones minus one.
    pub(crate) fn is_bits_alone(&mut self, t: T) -> bool {
        let (key, ..) = self.normalized(t);
        self.as_atom(key).is_some_and(|a| self.is_bitwise(a))
    }

    fn name_of(&mut self, t: T) -> Option<T> {
        if self.renames.is_empty() || self.as_const(t).is_some() {
            return None;
        }
        let (key, sign, c) = self.normalized(t);
        let to = self.renames.get(&key).copied()?;
        let r = self.affine(to, &sign, &c);
        Some(self.check("name", r, |s, n| s.sample(t, n).clone()))
    }

    /// The sign extension of the low `bits` to a machine word.
    pub(crate) fn extended(&mut self, t: T, bits: u32) -> T {
        let (signed, word) = (self.signed(t, bits), self.word);
        self.mod2k(signed, word)
    }
}
