//! Monomials: products of powers of atoms. Exponents may be as large as a field's order.

use num_bigint::BigUint;
use num_traits::ToPrimitive;
use std::sync::Arc;

/// A named integer. The top bit marks the booleans, whose square is themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Atom(pub u32);

const BOOL: u32 = 1 << 31;

impl Atom {
    pub fn new(index: usize, boolean: bool) -> Atom {
        Atom(index as u32 | if boolean { BOOL } else { 0 })
    }
    pub fn index(self) -> usize {
        (self.0 & !BOOL) as usize
    }
    pub fn is_bool(self) -> bool {
        self.0 & BOOL != 0
    }
}

/// A positive exponent; `Big` only when it does not fit `Small`, so that equality is structural.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Exp {
    Small(u64),
    Big(Arc<BigUint>),
}

impl Exp {
    pub fn from_big(v: BigUint) -> Exp {
        v.to_u64().map_or_else(|| Exp::Big(Arc::new(v)), Exp::Small)
    }
    pub fn to_big(&self) -> BigUint {
        match self {
            Exp::Small(v) => BigUint::from(*v),
            Exp::Big(v) => (**v).clone(),
        }
    }
    pub fn small(&self) -> Option<u64> {
        match self {
            Exp::Small(v) => Some(*v),
            Exp::Big(_) => None,
        }
    }
    pub fn add(&self, o: &Exp) -> Exp {
        if let (Exp::Small(a), Exp::Small(b)) = (self, o) {
            if let Some(s) = a.checked_add(*b) {
                return Exp::Small(s);
            }
        }
        Exp::from_big(self.to_big() + o.to_big())
    }
    pub fn mul(&self, o: &Exp) -> Exp {
        if let (Exp::Small(a), Exp::Small(b)) = (self, o) {
            if let Some(s) = a.checked_mul(*b) {
                return Exp::Small(s);
            }
        }
        Exp::from_big(self.to_big() * o.to_big())
    }
    /// `self - o`; `None` when negative, `Some(None)` when zero.
    pub fn sub(&self, o: &Exp) -> Option<Option<Exp>> {
        match self.cmp(o) {
            std::cmp::Ordering::Less => None,
            std::cmp::Ordering::Equal => Some(None),
            std::cmp::Ordering::Greater => Some(Some(Exp::from_big(self.to_big() - o.to_big()))),
        }
    }
}

/// Sorted by atom, every exponent positive, booleans with exponent one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Mono(Box<[(Atom, Exp)]>);

impl Mono {
    pub fn one() -> Mono {
        Mono::default()
    }
    pub fn atom(a: Atom) -> Mono {
        Mono(Box::new([(a, Exp::Small(1))]))
    }
    pub fn factors(&self) -> &[(Atom, Exp)] {
        &self.0
    }
    pub fn is_one(&self) -> bool {
        self.0.is_empty()
    }
    /// The atom, if this is one atom to the first power.
    pub fn as_atom(&self) -> Option<Atom> {
        match &*self.0 {
            [(a, Exp::Small(1))] => Some(*a),
            _ => None,
        }
    }
    pub fn has(&self, a: Atom) -> bool {
        self.0.binary_search_by_key(&a, |f| f.0).is_ok()
    }
    pub fn exp_of(&self, a: Atom) -> Option<&Exp> {
        self.0.binary_search_by_key(&a, |f| f.0).ok().map(|i| &self.0[i].1)
    }
    /// Splits off the power of `a`.
    pub fn without(&self, a: Atom) -> Mono {
        Mono(self.0.iter().filter(|f| f.0 != a).cloned().collect())
    }
    pub fn mul(&self, o: &Mono) -> Mono {
        if self.0.is_empty() {
            return o.clone();
        }
        if o.0.is_empty() {
            return self.clone();
        }
        let (a, b) = (&self.0, &o.0);
        let mut out = Vec::with_capacity(a.len() + b.len());
        let (mut i, mut j) = (0, 0);
        while i < a.len() && j < b.len() {
            match a[i].0.cmp(&b[j].0) {
                std::cmp::Ordering::Less => {
                    out.push(a[i].clone());
                    i += 1;
                }
                std::cmp::Ordering::Greater => {
                    out.push(b[j].clone());
                    j += 1;
                }
                std::cmp::Ordering::Equal => {
                    let e = if a[i].0.is_bool() { Exp::Small(1) } else { a[i].1.add(&b[j].1) };
                    out.push((a[i].0, e));
                    i += 1;
                    j += 1;
                }
            }
        }
        out.extend_from_slice(&a[i..]);
        out.extend_from_slice(&b[j..]);
        Mono(out.into())
    }
    pub fn pow(&self, e: &Exp) -> Mono {
        Mono(self.0.iter().map(|(a, x)| (*a, if a.is_bool() { x.clone() } else { x.mul(e) })).collect())
    }
    /// `self / o` when `o` divides.
    pub fn div(&self, o: &Mono) -> Option<Mono> {
        let mut out = Vec::with_capacity(self.0.len());
        let mut j = 0;
        for (a, e) in self.0.iter() {
            if j < o.0.len() && o.0[j].0 == *a {
                if let Some(rest) = e.sub(&o.0[j].1)? {
                    out.push((*a, rest));
                }
                j += 1;
            } else {
                out.push((*a, e.clone()));
            }
        }
        (j == o.0.len()).then(|| Mono(out.into()))
    }
    /// Sum of the exponents, if small.
    pub fn degree(&self) -> Option<u64> {
        self.0.iter().try_fold(0u64, |s, (_, e)| s.checked_add(e.small()?))
    }
}
