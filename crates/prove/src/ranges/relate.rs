//! What two ways to a place have in common: linear relations of an integer that each of them sets in its own way.
//!
//! `if n == 0 { 0 } else { (n - 1) / 64 }` is no linear form, but 64 of it are at most `n` on either way. The relations that are
//! tried are those of the integer to its form on one way, of a quotient to what it divides, and that it is not negative, each also one weaker.

use super::lin::{Atom, Lin};
use super::run::{Run, State};
use super::value::Abs;

/// How much weaker than on one way a relation may be.
const WEAKER: [i128; 2] = [0, 1];

impl Run<'_> {
    /// Makes facts of what holds on both ways of the integers whose forms differ. `facts`: what is known on each way alone.
    pub fn relate(&mut self, ways: [(&State, Vec<Lin>); 2], joined: &mut State) {
        if !self.relational() || joined.dead || ways.iter().any(|w| w.0.dead) {
            return;
        }
        let [(a, of_a), (b, of_b)] = ways;
        let mut found = Vec::new();
        for i in 0..joined.locals.len() {
            if a.versions[i] == b.versions[i] {
                continue;
            }
            let (Abs::Sc(x), Abs::Sc(y), Abs::Sc(both)) = (&a.locals[i], &b.locals[i], &joined.locals[i]) else { continue };
            let (Some(x), Some(y)) = (self.form(x), self.form(y)) else { continue };
            if x == y || !both.def() || both.itv().single().is_some() || x.as_const().and(y.as_const()).is_some() {
                continue;
            }
            let named = self.named(both);
            let Some([(v, 1)]) = named.lin().map(|l| &l.terms[..]) else { continue };
            let v = *v;
            let sign = (both.itv().lo.is_negative()).then(|| Lin::atom(v));
            let tried: Vec<Lin> = sign.into_iter().chain([&x, &y].into_iter().flat_map(|f| self.relations(v, f))).collect();
            for t in tried {
                let weakest = WEAKER.iter().filter_map(|c| t.plus(*c)).find(|t| self.on(&of_a, t, v, &x) && self.on(&of_b, t, v, &y));
                found.extend(weakest);
            }
            joined.locals[i] = Abs::Sc(named);
        }
        self.facts.extend(found);
    }

    /// Whether a relation of `v` holds on a way where it is `form`.
    fn on(&mut self, facts: &[Lin], t: &Lin, v: Atom, form: &Lin) -> bool {
        let before = self.facts.len();
        self.facts.extend(facts.iter().cloned());
        let held = self.implied(t.replace(v, form));
        self.facts.truncate(before);
        held
    }

    /// Relations of `v` that hold where it is `form`, each a form that is not negative.
    fn relations(&self, v: Atom, form: &Lin) -> Vec<Lin> {
        let own = Lin::atom(v);
        let mut out = vec![own.sub(form), form.sub(&own)];
        if let ([(q, 1)], true) = (&form.terms[..], form.as_const().is_none()) {
            if let Some((whole, k)) = self.atoms.divided(*q) {
                let rest = own.plus(-form.konst).and_then(|w| w.scale(k)).and_then(|w| whole.sub(&w));
                out.push(rest.clone());
                out.push(rest.and_then(|r| r.scale(-1)).and_then(|r| r.plus(k - 1)));
            }
        }
        out.into_iter().flatten().collect()
    }
}
