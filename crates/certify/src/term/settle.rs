//! What the normal form leaves open: equalities that the samples suggest, settled by a solver on small residual questions.
//!
//! Needs: [`super::query`], [`super::smt`], a solver; where there is none everything stays open.  Keeps: the same questions in
//! the same order on every run, with limits that count steps (a clock is the net below them).  Absent: any trust in the samples; they only say what to ask.

use super::atom::Atom;
use super::smt::{text, Claim};
use super::{Terms, T};
use num_traits::Zero;
use santoku_prove::smt::Session;
use std::collections::HashMap;

/// Levels of definitions a question may open.
const LEVELS: u32 = 5;
/// Questions of one proof.
const QUESTIONS_MAX: u64 = 2_500;
/// Questions of one proof the solver may give up on, and one more for so many that it settles.
const OPEN_MAX: u64 = 8;
const SETTLED_EACH: u64 = 6;
/// Steps of the solver for one question.
const STEPS: u64 = 5_000_000;
/// Terms with the same sample values that are tried for one.
const CANDIDATES: usize = 3;
/// Words in a row not found equal to those they are like, after which no more are tried.
const MISSED_MAX: u32 = 40;
/// Samples on which a word differs from its most frequent value, at least: others are like many.
const TELLING: usize = 3;
/// Terms tried for those, and the levels of definitions opened.
const LIKE_MANY: (usize, u32) = (12, 2);

impl Terms {
    /// Lets later questions go to the solver.
    pub fn settle_on(&mut self) {
        self.settling.on = true;
        self.settling.source = self.polys.len();
    }

    /// Questions asked, and how many of them were answered with yes.
    pub fn questions(&self) -> (u64, u64) {
        (self.settling.asked, self.settling.settled)
    }

    /// Whether the terms are equal on every input.
    pub fn settled(&mut self, a: T, b: T) -> bool {
        self.settled_within(a, b, LEVELS)
    }

    pub(super) fn settled_within(&mut self, a: T, b: T, levels: u32) -> bool {
        if self.same_bits(a, b) {
            return true;
        }
        if self.values[a.0 as usize] != self.values[b.0 as usize] {
            return false;
        }
        if self.same_columns(a, b) {
            return true;
        }
        if !self.settling.on {
            return false;
        }
        if let Some(known) = self.settling.answers.get(&(a, b)) {
            return *known;
        }
        if self.same_opened(a, b) {
            self.settling.answers.insert((a, b), true);
            return true;
        }
        let d = self.sub(a, b);
        let g = self.content(d);
        let whole = !g.is_zero() && self.poly(d).iter().all(|(_, c)| (c % &g).is_zero());
        let d = if whole { self.exactly(d, &g) } else { d };
        let answer = self.refuted(&[Claim::NotZero(d)], levels);
        if answer || levels == LEVELS {
            self.settling.answers.insert((a, b), answer);
        }
        answer
    }

    /// Whether the terms have one form once names in them stand for what they name.
    fn same_opened(&mut self, a: T, b: T) -> bool {
        let mut known = HashMap::new();
        let (a, b) = (self.opened(a, &mut known), self.opened(b, &mut known));
        a == b
    }

    /// The term with the names in it, and in what its quotients and comparisons are of, replaced by what they name.
    fn opened(&mut self, t: T, known: &mut HashMap<T, T>) -> T {
        if let Some(r) = known.get(&t) {
            return *r;
        }
        let mut sum = Terms::ZERO;
        for (m, c) in self.poly(t).clone().iter() {
            let mut product = self.int(c.clone());
            for a in self.monos[*m as usize].clone() {
                let factor = match self.atoms[a as usize].atom {
                    Atom::Name(x) => x,
                    Atom::Div(x, k) => {
                        let x = self.opened(x, known);
                        self.div2k(x, k)
                    }
                    Atom::Neg(x) => {
                        let x = self.opened(x, known);
                        self.lt0(x)
                    }
                    Atom::Zero(x) => {
                        let x = self.opened(x, known);
                        self.eq0(x)
                    }
                    _ => self.atom_term(a),
                };
                product = self.mul(product, factor);
            }
            sum = self.add(sum, product);
        }
        known.insert(t, sum);
        sum
    }

    /// Whether these bits are never all 1.
    pub fn never_all(&mut self, bits: &[T]) -> bool {
        let claims: Vec<Claim> = bits.iter().copied().filter(|b| *b != Terms::ONE).map(Claim::One).collect();
        if bits.contains(&Terms::ZERO) {
            return true;
        }
        let on_a_sample = (0..self.samples).any(|n| bits.iter().all(|b| !self.sample(*b, n).is_zero()));
        self.settling.on && !on_a_sample && self.refuted(&claims, LEVELS)
    }

    /// Whether the solver shows, at some depth, that the claims do not hold together.
    fn refuted(&mut self, claims: &[Claim], levels: u32) -> bool {
        let roots: Vec<T> = claims.iter().map(|c| c.term()).collect();
        let mut before = None;
        for levels in 2..=levels {
            let Some(q) = self.question(&roots, levels) else { return false };
            if before == Some(q.open.len()) || self.settling.asked >= QUESTIONS_MAX || u64::from(self.settling.given_up) >= OPEN_MAX + self.settling.settled / SETTLED_EACH {
                return false;
            }
            before = Some(q.open.len());
            let text = text(self, &q, claims);
            self.settling.asked += 1;
            let session = self.settling.session.get_or_insert_with(|| Session::new(STEPS));
            match session.ask(&text).as_deref() {
                Some("unsat") => {
                    self.settling.settled += 1;
                    return true;
                }
                Some("sat") => {}
                Some(_) => self.settling.given_up += 1,
                None => return false,
            }
        }
        false
    }

    /// The arguments of a call made before that are equal to these; else these.
    pub fn call_like(&mut self, name: &str, args: Vec<T>) -> Vec<T> {
        if !self.settling.on || self.called(name, &args) {
            return args;
        }
        let alike = |s: &Terms, other: &[T]| {
            other.len() == args.len() && other.iter().zip(&args).all(|(a, b)| s.values[a.0 as usize] == s.values[b.0 as usize])
        };
        let mut list: Vec<Vec<T>> = self.calls.keys().filter(|(n, a)| n == name && alike(self, a)).map(|(_, a)| a.clone()).collect();
        list.sort_unstable();
        list.truncate(CANDIDATES);
        let found = list.into_iter().find(|other| args.iter().zip(other).all(|(a, b)| self.settled(*a, *b)));
        found.unwrap_or(args)
    }

    /// Words of the source that those of the machine may turn out to be.
    pub fn expect(&mut self, t: T) {
        if self.as_const(t).is_some() || !self.settling.members.insert(t) {
            return;
        }
        let values = self.values[t.0 as usize].clone();
        self.settling.known.entry(values).or_default().push(t);
    }

    /// The word of the source that this one is, if one is found; else the word itself.
    pub fn swept(&mut self, t: T) -> T {
        // What the source had, too, in this form, is recognised already.
        let new = t.0 as usize >= self.settling.source && self.as_const(t).is_none() && !self.is_bit(t);
        if !self.settling.on || self.settling.missed >= MISSED_MAX || !new {
            return t;
        }
        let values = self.values[t.0 as usize].clone();
        let usual = values.iter().map(|v| values.iter().filter(|w| *w == v).count()).max().unwrap_or(0);
        let (candidates, levels) = if usual + TELLING > values.len() { LIKE_MANY } else { (CANDIDATES, LEVELS) };
        let Some(list) = self.settling.known.get(&values) else { return t };
        let mut list = list.clone();
        if list.len() > 1 {
            let mine = self.unknowns(t);
            list.sort_by_cached_key(|s| self.unknowns(*s).symmetric_difference(&mine).count());
            list.truncate(candidates);
        }
        for s in list {
            if self.settled_within(t, s, levels) {
                let s = self.renamed(s);
                self.rename(t, s);
                self.settling.missed = 0;
                return s;
            }
        }
        self.settling.missed += 1;
        t
    }
}
