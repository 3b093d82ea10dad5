//! Exact linear feasibility: is there a rational point within bounds on which given linear forms stay within theirs?
//! The tableau method of Dutertre and de Moura (2006) with Bland's rule, over big rationals.

use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{Signed, Zero};
use std::collections::BTreeMap;

/// Bounds of one variable; `None` is open.
pub type Bounds = (Option<BigInt>, Option<BigInt>);

struct Tableau {
    bounds: Vec<(Option<BigRational>, Option<BigRational>)>,
    value: Vec<BigRational>,
    /// Basic variable -> its row over the others.
    rows: BTreeMap<usize, BTreeMap<usize, BigRational>>,
}

/// How a search for a point ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// No point satisfies all bounds: the sum of these forms with these factors exceeds what the variables allow, where a form with a positive
    /// factor is at its least and one with a negative factor at its most.
    Infeasible(Vec<(usize, BigRational)>),
    /// Values of the variables at a point that does.
    Point(Vec<BigRational>),
    /// The budget is spent.
    Unknown,
}

/// `vars` bounds the variables; each form is a sparse row with bounds of its own. `work` is what pivots may still
/// cost, see [`cost`]; it is counted down.
pub fn solve(vars: &[Bounds], forms: &[(BTreeMap<usize, BigInt>, Bounds)], work: &mut u64) -> Answer {
    let rational = |b: &Bounds| (b.0.clone().map(BigRational::from), b.1.clone().map(BigRational::from));
    let mut t = Tableau { bounds: vars.iter().map(rational).collect(), value: Vec::new(), rows: BTreeMap::new() };
    for (lo, hi) in &t.bounds {
        if matches!((lo, hi), (Some(a), Some(b)) if a > b) {
            return Answer::Infeasible(Vec::new());
        }
        t.value.push(lo.clone().or_else(|| hi.clone()).unwrap_or_else(BigRational::zero));
    }
    for (row, b) in forms {
        let id = t.bounds.len();
        t.bounds.push(rational(b));
        let row: BTreeMap<usize, BigRational> = row.iter().map(|(v, c)| (*v, BigRational::from(c.clone()))).collect();
        t.value.push(row.iter().fold(BigRational::zero(), |s, (v, c)| s + c * &t.value[*v]));
        t.rows.insert(id, row);
    }
    while *work > 0 {
        match t.step(work) {
            Step::Feasible => {
                t.value.truncate(vars.len());
                return Answer::Point(t.value);
            }
            Step::Infeasible(row) => {
                let form = |(v, c): (usize, BigRational)| v.checked_sub(vars.len()).map(|i| (i, c));
                return Answer::Infeasible(row.into_iter().filter_map(form).collect());
            }
            Step::Moved => {}
        }
    }
    Answer::Unknown
}

enum Step {
    Feasible,
    /// Factors of variables that add up to nothing, though the bounds say otherwise.
    Infeasible(Vec<(usize, BigRational)>),
    Moved,
}

impl Tableau {
    fn below(&self, v: usize) -> bool {
        self.bounds[v].0.as_ref().is_some_and(|lo| self.value[v] < *lo)
    }
    fn above(&self, v: usize) -> bool {
        self.bounds[v].1.as_ref().is_some_and(|hi| self.value[v] > *hi)
    }
    fn can_rise(&self, v: usize) -> bool {
        self.bounds[v].1.as_ref().is_none_or(|hi| self.value[v] < *hi)
    }
    fn can_fall(&self, v: usize) -> bool {
        self.bounds[v].0.as_ref().is_none_or(|lo| self.value[v] > *lo)
    }

    fn step(&mut self, work: &mut u64) -> Step {
        let mut scanned = 0;
        let basic = self.rows.keys().copied().find(|v| {
            // Comparing fractions divides until they differ.
            scanned += cost(&self.value[*v]);
            self.below(*v) || self.above(*v)
        });
        *work = work.saturating_sub(scanned);
        let Some(basic) = basic else { return Step::Feasible };
        let up = self.below(basic);
        let target = if up { self.bounds[basic].0.clone() } else { self.bounds[basic].1.clone() };
        let enter = self.rows[&basic].iter().find(|(v, c)| {
            if c.is_positive() == up {
                self.can_rise(**v)
            } else {
                self.can_fall(**v)
            }
        });
        let (Some((enter, c)), Some(target)) = (enter, target) else {
            let sign = BigRational::from(BigInt::from(if up { 1 } else { -1 }));
            let others = self.rows[&basic].iter().map(|(v, c)| (*v, -(c * &sign)));
            return Step::Infeasible(std::iter::once((basic, sign.clone())).chain(others).collect());
        };
        let (enter, by) = (*enter, (target - &self.value[basic]) / c);
        *work = work.saturating_sub(self.shift(enter, &by));
        *work = work.saturating_sub(self.pivot(basic, enter));
        Step::Moved
    }

    /// Changes a nonbasic variable and all basic ones with it; gives what it cost.
    fn shift(&mut self, v: usize, by: &BigRational) -> u64 {
        self.value[v] += by;
        let mut changed = 0;
        for (b, row) in &self.rows {
            changed += 1;
            if let Some(c) = row.get(&v) {
                add_product(&mut self.value[*b], c, by);
                changed += cost(&self.value[*b]) + cost(c);
            }
        }
        changed
    }

    /// Exchanges the two; gives what it cost.
    fn pivot(&mut self, leave: usize, enter: usize) -> u64 {
        let Some(mut row) = self.rows.remove(&leave) else { return 1 };
        let Some(c) = row.remove(&enter) else { return 1 };
        let mut changed = 1 + row.len() as u64;
        // leave = c enter + row  =>  enter = (leave - row) / c
        let mut solved: BTreeMap<usize, BigRational> = row.into_iter().map(|(v, k)| (v, -k / &c)).collect();
        solved.insert(leave, c.recip());
        for r in self.rows.values_mut() {
            let Some(k) = r.remove(&enter) else { continue };
            for (v, s) in &solved {
                let e = r.entry(*v).or_insert_with(BigRational::zero);
                add_product(e, &k, s);
                changed += cost(e);
                if e.is_zero() {
                    r.remove(v);
                }
            }
        }
        self.rows.insert(enter, solved);
        changed
    }
}

/// `sum += a * b`; among integers without looking for common divisors.
fn add_product(sum: &mut BigRational, a: &BigRational, b: &BigRational) {
    *sum = if [&*sum, a, b].into_iter().all(BigRational::is_integer) {
        BigRational::from(sum.numer() + a.numer() * b.numer())
    } else {
        &*sum + a * b
    };
}

/// Arithmetic on a fraction: allocation and look-up, and greatest common divisors, which grow with the square of the
/// size in machine words.
fn cost(r: &BigRational) -> u64 {
    let words = (r.numer().bits() + r.denom().bits()) / 64 + 1;
    8 + words * words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(cs: &[(usize, i64)], lo: Option<i64>, hi: Option<i64>) -> (BTreeMap<usize, BigInt>, Bounds) {
        (cs.iter().map(|(v, c)| (*v, BigInt::from(*c))).collect(), (lo.map(BigInt::from), hi.map(BigInt::from)))
    }

    #[test]
    fn a_system_and_its_contradiction() {
        let unit = (Some(BigInt::from(0)), Some(BigInt::from(1)));
        let vars = vec![unit.clone(), unit.clone(), unit];
        // x + y + z >= 2 and x - y = 0 can hold; adding 2 x + z <= 1 they cannot.
        let mut forms = vec![form(&[(0, 1), (1, 1), (2, 1)], Some(2), None), form(&[(0, 1), (1, -1)], Some(0), Some(0))];
        assert!(matches!(solve(&vars, &forms, &mut 10_000), Answer::Point(_)));
        forms.push(form(&[(0, 2), (2, 1)], None, Some(1)));
        assert!(matches!(solve(&vars, &forms, &mut 10_000), Answer::Infeasible(_)));
        // A spent budget decides nothing, and is seen to be spent.
        let mut little = 10;
        assert_eq!(solve(&vars, &forms, &mut little), Answer::Unknown);
        assert_eq!(little, 0);
    }
}
