//! What two ways to a place have in common: relations of an integer that each of them sets in its own way. Those that are tried are of the
//! integer to its form on one way, of a quotient to what it divides, and that it is not negative; what is shown on both ways is a fact behind
//! them.

use crate::lin::{Atom, Lin};
use crate::run::{Run, State};
use crate::value::{Sc, Val};
use santoku_num::Int;
use std::rc::Rc;

impl Run<'_> {
    /// `ways`: the end of each way, and what is known there alone.
    pub fn relate(&mut self, ways: [(&State, Vec<Lin>); 2], joined: &mut State) {
        let [(a, of_a), (b, of_b)] = ways;
        if !self.plan.forms || a.dead || b.dead {
            return;
        }
        let mut found = Vec::new();
        for i in 0..joined.locals.len() {
            let (Val::Sc(x), Val::Sc(y), Val::Sc(both)) = (&a.locals[i], &b.locals[i], &joined.locals[i]) else { continue };
            let (Some(itv), true) = (both.itv.clone(), both.def && both.form.is_none() && a.versions[i] != b.versions[i]) else { continue };
            let (Some(x), Some(y)) = (self.form(x), self.form(y)) else { continue };
            if itv.single().is_some() || x.as_const().and(y.as_const()).is_some() {
                continue;
            }
            let negative = itv.lo.is_negative();
            let v = self.atoms.fresh(itv);
            joined.locals[i] = Val::Sc(Sc { form: Some(Rc::new(Lin::atom(v))), ..both.clone() });
            let sign = negative.then(|| Lin::atom(v));
            let tried: Vec<Lin> = sign.into_iter().chain([&x, &y].into_iter().flat_map(|f| self.relations(v, f))).collect();
            for t in tried {
                let weaker = t.shift(1u8);
                found.extend([t, weaker].into_iter().find(|t| self.on(&of_a, t, v, &x) && self.on(&of_b, t, v, &y)));
            }
        }
        self.facts.extend(found);
    }

    /// Whether a relation of `v` holds on a way where it is `form`.
    fn on(&mut self, facts: &[Lin], t: &Lin, v: Atom, form: &Lin) -> bool {
        let before = self.facts.len();
        self.facts.extend(facts.iter().cloned());
        let c = t.terms.get(&v).cloned().unwrap_or(Int::ZERO);
        let held = self.shown(&t.plus(&c, &form.sub(&Lin::atom(v))));
        self.facts.truncate(before);
        held
    }

    fn relations(&self, v: Atom, form: &Lin) -> Vec<Lin> {
        let own = Lin::atom(v);
        let mut out = vec![own.sub(form), form.sub(&own)];
        if let (Some((q, c)), 1) = (form.terms.first_key_value(), form.terms.len()) {
            if let (Some((whole, k)), true) = (self.atoms.defined_as(*q), *c == Int::Small(1)) {
                let rest = whole.plus(&k.neg(), &own.shift(form.konst.neg()));
                out.push(Lin::constant(k.sub(&Int::Small(1))).sub(&rest));
                out.push(rest);
            }
        }
        out
    }
}
