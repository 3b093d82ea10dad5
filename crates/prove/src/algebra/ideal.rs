//! Is a polynomial a combination of hypotheses that are zero? Division with a chosen leading monomial per hypothesis,
//! every choice tried within a bound; no completion (Buchberger), so "no" means only "not found".

use super::mono::Mono;
use super::poly::Poly;
use num_bigint::BigInt;
use num_traits::{One, Signed};

/// Choices of leading monomials tried at most, and division steps per choice.
const CHOICES_MAX: usize = 256;
const STEPS_MAX: usize = 4000;

/// A hypothesis solved for one of its monomials: `lead == rest`.
struct Rule {
    lead: Mono,
    rest: Poly,
}

fn rules_of(h: &Poly, modulus: Option<&BigInt>) -> Vec<Rule> {
    let mut out: Vec<Rule> = Vec::new();
    for (m, c) in h.terms() {
        if m.is_one() {
            continue;
        }
        let inv = match modulus {
            Some(p) => match c.modinv(p) {
                Some(v) => v,
                None => continue,
            },
            None if c.abs().is_one() => c.clone(),
            None => continue,
        };
        let mut rest = h.scale(&-inv);
        rest.add_term(m.clone(), BigInt::one());
        if let Some(p) = modulus {
            rest = rest.reduce_coeffs(p);
        }
        if rest.coeff(m).is_one() || rest.terms().any(|(n, _)| n.div(m).is_some()) {
            continue;
        }
        out.push(Rule { lead: m.clone(), rest });
    }
    // Long monomials first: they rewrite towards shorter ones.
    out.sort_by(|a, b| b.lead.degree().cmp(&a.lead.degree()).then(a.lead.cmp(&b.lead)));
    out
}

fn divide(goal: &Poly, rules: &[&Rule], modulus: Option<&BigInt>) -> Poly {
    let mut p = goal.clone();
    for _ in 0..STEPS_MAX {
        let hit = p.terms().rev().find_map(|(m, c)| {
            rules.iter().find_map(|r| m.div(&r.lead).map(|q| (m.clone(), c.clone(), q, *r)))
        });
        let Some((m, c, q, r)) = hit else { return p };
        p.add_term(m, -c.clone());
        p.add_shifted(&r.rest, &q, &c);
        if let Some(n) = modulus {
            p = p.reduce_coeffs(n);
        }
        if p.len() > 20_000 {
            return p;
        }
    }
    p
}

/// The shortest remainder found of `goal` by the hypotheses (each is zero modulo `modulus`).
pub fn reduce(goal: &Poly, hyps: &[Poly], modulus: Option<&BigInt>) -> Poly {
    let vars = goal.atoms();
    let useful: Vec<Vec<Rule>> = hyps
        .iter()
        .filter(|h| h.atoms().iter().any(|a| vars.contains(a)))
        .map(|h| rules_of(h, modulus))
        .filter(|r| !r.is_empty())
        .collect();
    if useful.is_empty() {
        return goal.clone();
    }
    let mut best = goal.clone();
    let mut choice = vec![0usize; useful.len()];
    for _ in 0..CHOICES_MAX {
        let rules: Vec<&Rule> = choice.iter().zip(&useful).map(|(c, r)| &r[*c]).collect();
        let p = divide(goal, &rules, modulus);
        if p.is_zero() {
            return p;
        }
        if p.len() < best.len() {
            best = p;
        }
        let Some(i) = (0..choice.len()).find(|i| choice[*i] + 1 < useful[*i].len()) else { break };
        choice[i] += 1;
        choice[..i].fill(0);
    }
    best
}
