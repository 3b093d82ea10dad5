//! Which results of a function may share storage with which of its arguments.
//!
//! A result may share the storage of a parameter when no element of the parameter is read after the element of
//! the result in the same place was written. The analysis is conservative: statement order, plus the
//! element-wise loop `r[i] = f(a[i])` or `r[8 * i + k] = f(a[8 * i], .., a[8 * i + 7])`, and `r = a`.

use num_bigint::BigInt;
use num_traits::{One, Signed, Zero};
use santoku_ir::visit::{place_exprs, walk_expr, walk_places};
use santoku_ir::{Base, BinOp, Expr, ExprKind, Func, FuncId, LocalId, Place, Proj, Stmt, Ty};

/// For each pair (result index, parameter index): may both be the same object.
#[derive(Clone, Debug, Default)]
pub struct InPlace {
    ok: Vec<Vec<bool>>,
}

impl InPlace {
    /// All answers, by result and parameter.
    pub fn all(&self) -> &Vec<Vec<bool>> {
        &self.ok
    }

    pub fn allowed(&self, ret: usize, param: usize) -> bool {
        self.ok[ret][param]
    }
    /// True if `ret` may share storage with every aggregate parameter of its shape, or there is none.
    pub fn any(&self, ret: usize) -> bool {
        self.ok[ret].iter().any(|b| *b)
    }

    /// What both allow.
    pub fn and(mut self, other: &InPlace) -> InPlace {
        for (row, others) in self.ok.iter_mut().zip(&other.ok) {
            row.iter_mut().zip(others).for_each(|(a, b)| *a &= b);
        }
        self
    }

    /// None may.
    pub fn none(f: &Func) -> InPlace {
        InPlace { ok: f.rets.iter().map(|_| vec![false; f.params.len()]).collect() }
    }

    /// All of the same shape may, whatever is read when.
    #[cfg(test)]
    pub fn careless(f: &Func) -> InPlace {
        let alike = |r: &LocalId, p: &LocalId| f.local(*r).ty.same_shape(&f.local(*p).ty) && !f.local(*r).ty.is_scalar();
        InPlace { ok: f.rets.iter().map(|r| f.params.iter().map(|p| alike(r, p)).collect()).collect() }
    }

    /// `done`: the answers for all callees, by function index. A parameter that is copied to the result as a whole is copied onto itself.
    pub fn of(f: &Func, done: &[InPlace]) -> InPlace {
        let ok = f
            .rets
            .iter()
            .map(|r| {
                f.params
                    .iter()
                    .map(|p| {
                        let same = f.local(*r).ty.same_shape(&f.local(*p).ty) && !f.local(*r).ty.is_scalar();
                        same && Walk { ret: *r, param: *p, done, index: None }.block(&f.body, &mut false)
                    })
                    .collect()
            })
            .collect();
        InPlace { ok }
    }
}

struct Walk<'a> {
    ret: LocalId,
    param: LocalId,
    done: &'a [InPlace],
    /// Inside an element-wise loop: its counter.
    index: Option<LocalId>,
}

impl Walk<'_> {
    /// False as soon as a read of the parameter may follow a write of the result.
    fn block(&self, stmts: &[Stmt], written: &mut bool) -> bool {
        stmts.iter().all(|s| self.stmt(s, written))
    }

    fn stmt(&self, s: &Stmt, written: &mut bool) -> bool {
        match s {
            Stmt::Assign { dst, src, .. } => {
                let reads = self.expr_reads(src) || self.place_index_reads(dst);
                if reads && *written {
                    return false;
                }
                let writes = self.is(dst.base, self.ret);
                // An aggregate is stored piece by piece while the parameter is read; a scalar is read before it is stored.
                if reads && writes && !src.ty.is_scalar() && !self.same_element(dst, src) && !self.whole_copy(dst, src) {
                    return false;
                }
                *written |= writes;
                true
            }
            Stmt::Call { dsts, func, args, .. } => self.call(dsts, *func, args, written),
            Stmt::For { var, lo, hi, body, .. } => {
                // Bounds may be looked at again after any round.
                if (self.expr_reads(lo) || self.expr_reads(hi)) && (*written || touches(body, self.ret)) {
                    return false;
                }
                if !touches(body, self.ret) {
                    return !(*written && touches(body, self.param));
                }
                if !touches(body, self.param) {
                    *written = true;
                    return true;
                }
                if *written || self.index.is_some() || !self.elementwise(body, *var) {
                    return false;
                }
                let inner = Walk { index: Some(*var), ..*self };
                let ok = inner.block(body, &mut false);
                *written = true;
                ok
            }
            Stmt::If { cond, then, els, .. } => {
                if self.expr_reads(cond) && *written {
                    return false;
                }
                let (mut a, mut b) = (*written, *written);
                let ok = self.block(then, &mut a) && self.block(els, &mut b);
                *written = a || b;
                ok
            }
            Stmt::Assert { .. } | Stmt::Ghost { .. } => true,
        }
    }

    fn call(&self, dsts: &[Place], func: FuncId, args: &[Expr], written: &mut bool) -> bool {
        let reads: Vec<usize> = (0..args.len()).filter(|k| self.expr_reads(&args[*k])).collect();
        let reads_any = !reads.is_empty() || dsts.iter().any(|d| self.place_index_reads(d));
        if reads_any && *written {
            return false;
        }
        for (r, d) in dsts.iter().enumerate().filter(|(_, d)| self.is(d.base, self.ret)) {
            let whole = d.projs.is_empty();
            for k in &reads {
                let arg_whole = matches!(&args[*k].kind, ExprKind::Read(p) if p.projs.is_empty());
                let in_place = whole && arg_whole && self.done[func.0 as usize].allowed(r, *k);
                if !in_place && !args[*k].ty.is_scalar() {
                    return false;
                }
            }
            *written = true;
        }
        true
    }

    /// Is this `result = parameter`?
    fn whole_copy(&self, dst: &Place, src: &Expr) -> bool {
        dst.projs.is_empty() && matches!(&src.kind, ExprKind::Read(p) if self.is(p.base, self.param) && p.projs.is_empty())
    }

    /// Is this `result[i].. = parameter[i]..` in a loop over `i`? A copy onto itself then.
    fn same_element(&self, dst: &Place, src: &Expr) -> bool {
        self.index.is_some() && matches!(&src.kind, ExprKind::Read(p) if self.is(p.base, self.param) && p.projs == dst.projs)
    }

    /// Every access to both objects in `body` is first at an index of the group that belongs to this round: `[c * var + k]` for one `c` and
    /// every `k` below it.
    fn elementwise(&self, body: &[Stmt], var: LocalId) -> bool {
        let mut ok = true;
        let mut size: Option<BigInt> = None;
        walk_places(body, &mut |p, _| {
            if self.is(p.base, self.ret) || self.is(p.base, self.param) {
                let at = match p.projs.first() {
                    Some(Proj::Index(e)) => in_group(e, var),
                    _ => None,
                };
                ok &= at.is_some_and(|(c, k)| !k.is_negative() && k < c && *size.get_or_insert_with(|| c.clone()) == c);
            }
        });
        ok
    }

    fn is(&self, base: Base, id: LocalId) -> bool {
        base == Base::Local(id)
    }

    fn expr_reads(&self, e: &Expr) -> bool {
        expr_reads(e, self.param)
    }

    fn place_index_reads(&self, p: &Place) -> bool {
        let mut found = false;
        place_exprs(p, &mut |e| found |= self.expr_reads(e));
        found
    }
}

/// `c` and `k`, where `e` is `c * var + k`. An index that can only be one number is that number, whatever it is called: behind `if i == 7`, say.
fn in_group(e: &Expr, var: LocalId) -> Option<(BigInt, BigInt)> {
    if matches!(&e.ty, Ty::Int(Some(r)) if r.lo == r.hi) {
        return None;
    }
    match &e.kind {
        ExprKind::Read(p) => (p.base == Base::Local(var) && p.projs.is_empty()).then(|| (BigInt::one(), BigInt::zero())),
        ExprKind::Bin(BinOp::Add, a, k) => in_group(a, var).zip(k.as_const().cloned()).map(|((c, first), k)| (c, first + k)),
        ExprKind::Bin(BinOp::Mul, c, a) => c.as_const().cloned().zip(in_group(a, var)).map(|(by, (c, k))| (&by * c, by * k)),
        _ => None,
    }
}

/// Does evaluating `e` read local `id`?
pub fn expr_reads(e: &Expr, id: LocalId) -> bool {
    let mut found = false;
    expr_places(e, &mut |p| found |= p.base == Base::Local(id));
    found
}

/// Is there a place of local `id` in these statements, read or written?
pub fn touches(stmts: &[Stmt], id: LocalId) -> bool {
    let mut found = false;
    walk_places(stmts, &mut |p, _| found |= p.base == Base::Local(id));
    found
}

/// Visits every place read by `e`, those in indices included.
pub fn expr_places<'a>(e: &'a Expr, f: &mut dyn FnMut(&'a Place)) {
    walk_expr(e, &mut |e| {
        if let ExprKind::Read(p) = &e.kind {
            f(p);
        }
    });
}

/// May the two places share an element? (Constant fields and indices that differ keep them apart.)
pub fn overlap(a: &Place, b: &Place) -> bool {
    if a.base != b.base {
        return false;
    }
    for (x, y) in a.projs.iter().zip(&b.projs) {
        match (x, y) {
            (Proj::Field(i), Proj::Field(j)) if i != j => return false,
            (Proj::Index(i), Proj::Index(j)) => {
                if let (ExprKind::Const(m), ExprKind::Const(n)) = (&i.kind, &j.kind) {
                    if m != n {
                        return false;
                    }
                } else if i != j {
                    return true;
                }
            }
            (Proj::Field(_), Proj::Field(_)) => {}
            _ => return true,
        }
    }
    true
}
