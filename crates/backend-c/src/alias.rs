//! Which results of a function may share storage with which of its arguments.
//!
//! A result may share the storage of a parameter when no element of the parameter is read after the element of
//! the result in the same place was written. The analysis is conservative: statement order, plus the
//! element-wise loop `r[i] = f(a[i])`.

use santoku_ir::{Base, Expr, ExprKind, Func, LocalId, Place, Proj, Stmt};

/// For each pair (result index, parameter index): may both be the same object.
#[derive(Clone, Debug, Default)]
pub struct InPlace {
    ok: Vec<Vec<bool>>,
}

impl InPlace {
    pub fn allowed(&self, ret: usize, param: usize) -> bool {
        self.ok[ret][param]
    }
    /// True if `ret` may share storage with every aggregate parameter of its shape, or there is none.
    pub fn any(&self, ret: usize) -> bool {
        self.ok[ret].iter().any(|b| *b)
    }

    /// `done`: the answers for all callees, by function index.
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
                // A literal that reads the parameter while it fills the result element by element.
                if reads && writes && self.index.is_none() && !scalar_store(dst, src) {
                    return false;
                }
                *written |= writes;
                true
            }
            Stmt::Call { dsts, func, args, .. } => {
                let reads: Vec<usize> = (0..args.len()).filter(|k| self.expr_reads(&args[*k])).collect();
                if !reads.is_empty() && *written {
                    return false;
                }
                for (r, d) in dsts.iter().enumerate().filter(|(_, d)| self.is(d.base, self.ret)) {
                    let whole = d.projs.is_empty();
                    for k in &reads {
                        let arg_whole = matches!(&args[*k].kind, ExprKind::Read(p) if p.projs.is_empty());
                        let scalar = args[*k].ty.is_scalar();
                        if !scalar && !(whole && arg_whole && self.done[func.0 as usize].allowed(r, *k)) {
                            return false;
                        }
                    }
                    *written = true;
                }
                true
            }
            Stmt::For { var, body, .. } => {
                if !stmts_touch(body, self.ret) {
                    return !(*written && stmts_read(body, self.param));
                }
                if !stmts_read(body, self.param) {
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
            Stmt::Assert { .. } => true,
        }
    }

    /// Every access to both objects in `body` is at index `[var]` first.
    fn elementwise(&self, body: &[Stmt], var: LocalId) -> bool {
        let mut ok = true;
        each_place(body, &mut |p| {
            if self.is(p.base, self.ret) || self.is(p.base, self.param) {
                let at = matches!(p.projs.first(), Some(Proj::Index(e)) if is_counter(e, var));
                ok &= at;
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
        p.projs.iter().any(|j| match j {
            Proj::Index(e) | Proj::Slice { off: e, .. } => self.expr_reads(e),
            Proj::Field(_) => false,
        })
    }
}

/// A single scalar is stored: all reads happen before the write.
fn scalar_store(_dst: &Place, src: &Expr) -> bool {
    src.ty.is_scalar()
}

fn is_counter(e: &Expr, var: LocalId) -> bool {
    matches!(&e.kind, ExprKind::Read(p) if p.base == Base::Local(var) && p.projs.is_empty())
}

/// Does evaluating `e` read local `id`?
pub fn expr_reads(e: &Expr, id: LocalId) -> bool {
    let mut found = false;
    expr_places(e, &mut |p| found |= p.base == Base::Local(id));
    found
}

fn stmts_read(stmts: &[Stmt], id: LocalId) -> bool {
    let mut found = false;
    each_place(stmts, &mut |p| found |= p.base == Base::Local(id));
    found
}

fn stmts_touch(stmts: &[Stmt], id: LocalId) -> bool {
    stmts_read(stmts, id)
}

/// Visits every place read or written, places in indices included.
pub fn each_place(stmts: &[Stmt], f: &mut dyn FnMut(&Place)) {
    for s in stmts {
        match s {
            Stmt::Assign { dst, src, .. } => {
                place_places(dst, f);
                expr_places(src, f);
            }
            Stmt::Call { dsts, lens, args, .. } => {
                dsts.iter().for_each(|d| place_places(d, f));
                lens.iter().chain(args).for_each(|e| expr_places(e, f));
            }
            Stmt::For { lo, hi, body, .. } => {
                expr_places(lo, f);
                expr_places(hi, f);
                each_place(body, f);
            }
            Stmt::If { cond, then, els, .. } => {
                expr_places(cond, f);
                each_place(then, f);
                each_place(els, f);
            }
            // Proved, not emitted.
            Stmt::Assert { .. } => {}
        }
    }
}

fn place_places(p: &Place, f: &mut dyn FnMut(&Place)) {
    f(p);
    for j in &p.projs {
        match j {
            Proj::Index(e) | Proj::Slice { off: e, .. } => expr_places(e, f),
            Proj::Field(_) => {}
        }
    }
}

/// Visits every place read by `e`.
pub fn expr_places(e: &Expr, f: &mut dyn FnMut(&Place)) {
    match &e.kind {
        ExprKind::Const(_) => {}
        ExprKind::Read(p) => place_places(p, f),
        ExprKind::Un(_, a) | ExprKind::Cast(a) | ExprKind::Repeat(a) => expr_places(a, f),
        ExprKind::Bin(_, a, b) | ExprKind::Cmp(_, a, b) => {
            expr_places(a, f);
            expr_places(b, f);
        }
        ExprKind::Select(c, a, b) => {
            expr_places(c, f);
            expr_places(a, f);
            expr_places(b, f);
        }
        ExprKind::Array(es) | ExprKind::Struct(_, es) => es.iter().for_each(|x| expr_places(x, f)),
    }
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
