//! Where each local is declared: in the innermost block that holds all its uses and defines it afresh, so that the C
//! compiler can share stack slots between blocks.

use crate::alias::{expr_places, expr_reads};
use santoku_ir::visit::{blocks, destinations, stmt_exprs, walk_places};
use santoku_ir::{Base, Expr, ExprKind, Func, Len, LocalId, LocalKind, Place, Proj, Stmt, Ty};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Path of a block: child indices `(statement, branch)` from the body down.
pub type BlockPath = Vec<(usize, u8)>;

/// Locals to declare at the head of each block.
pub fn place_locals(f: &Func) -> BTreeMap<BlockPath, Vec<LocalId>> {
    let scopes = Scopes { f, uses: Uses::of(&f.body) };
    let mut out: BTreeMap<BlockPath, Vec<LocalId>> = BTreeMap::new();
    for (i, l) in f.locals.iter().enumerate() {
        let id = LocalId(i as u32);
        if matches!(l.kind, LocalKind::Var | LocalKind::Counter) {
            let mut path = vec![];
            if scopes.descend(&f.body, id, &mut path) {
                out.entry(path).or_default().push(id);
            }
        }
    }
    out
}

/// All at the head of the function.
pub fn at_the_head(f: &Func) -> BTreeMap<BlockPath, Vec<LocalId>> {
    let all = place_locals(f).into_values().flatten().collect::<BTreeSet<_>>();
    BTreeMap::from([(vec![], all.into_iter().collect())])
}

/// Which statements of each block mention a local, also as the counter of a loop that never reads it. Made once: kernels have as
/// many locals as statements.
struct Uses {
    /// By where a block's statements lie; empty ones, which may share that, mention nothing.
    blocks: HashMap<*const Stmt, HashMap<LocalId, Vec<usize>>>,
}

impl Uses {
    fn of(body: &[Stmt]) -> Uses {
        let mut uses = Uses { blocks: HashMap::new() };
        uses.note(body);
        uses
    }

    /// Notes a block and those inside of it; gives what it mentions.
    fn note(&mut self, block: &[Stmt]) -> BTreeSet<LocalId> {
        let mut users: HashMap<LocalId, Vec<usize>> = HashMap::new();
        for (k, s) in block.iter().enumerate() {
            let mut own = BTreeSet::new();
            let mut note = |p: &Place| {
                if let Base::Local(id) = p.base {
                    own.insert(id);
                }
            };
            destinations(s).iter().for_each(&mut note);
            stmt_exprs(s, &mut |e| expr_places(e, &mut |p| note(p)));
            if let Stmt::For { var, .. } = s {
                own.insert(*var);
            }
            for inner in blocks(s) {
                own.extend(self.note(inner));
            }
            own.into_iter().for_each(|id| users.entry(id).or_default().push(k));
        }
        let all = users.keys().copied().collect();
        self.blocks.insert(block.as_ptr(), users);
        all
    }

    /// The statements of a block that mention a local, by their places in it.
    fn users(&self, block: &[Stmt], id: LocalId) -> &[usize] {
        self.blocks.get(&block.as_ptr()).and_then(|u| u.get(&id)).map_or(&[], Vec::as_slice)
    }
}

struct Scopes<'f> {
    f: &'f Func,
    uses: Uses,
}

impl Scopes<'_> {
    /// Extends `path` towards the innermost block; false if the local is not used at all.
    fn descend(&self, block: &[Stmt], id: LocalId, path: &mut BlockPath) -> bool {
        match self.uses.users(block, id) {
            [] => false,
            [one] => {
                for (branch, inner) in (0..).zip(blocks(&block[*one])) {
                    if self.fits_inside(&block[*one], branch, inner, id) {
                        path.push((*one, branch));
                        return self.descend(inner, id, path);
                    }
                }
                true
            }
            _ => true,
        }
    }

    /// All uses of `id` in `s` are inside `inner`, and (for a loop) each round defines it before reading it.
    fn fits_inside(&self, s: &Stmt, branch: u8, inner: &[Stmt], id: LocalId) -> bool {
        match s {
            Stmt::For { var, lo, hi, .. } => {
                *var != id && !expr_reads(lo, id) && !expr_reads(hi, id) && self.defined_first(inner, id)
            }
            Stmt::If { cond, then, els, .. } => {
                let other = if branch == 0 { els } else { then };
                let here = !self.uses.users(inner, id).is_empty();
                here && !expr_reads(cond, id) && self.uses.users(other, id).is_empty()
            }
            Stmt::Assign { .. } | Stmt::Call { .. } | Stmt::Assert { .. } | Stmt::Ghost { .. } => false,
        }
    }

    /// The first statements of `block` that mention `id` define all of it without reading it.
    fn defined_first(&self, block: &[Stmt], id: LocalId) -> bool {
        let users = self.uses.users(block, id);
        let Some(first) = users.first() else { return true };
        self.defines(&block[*first], id) || fields_defined(self.f, users.iter().map(|k| &block[*k]), id)
    }

    fn defines(&self, s: &Stmt, id: LocalId) -> bool {
        let whole = |p: &Place| p.base == Base::Local(id) && p.projs.is_empty();
        match s {
            Stmt::Assign { dst, src, .. } => whole(dst) && !expr_reads(src, id),
            Stmt::Call { dsts, lens, args, .. } => dsts.iter().any(whole) && !lens.iter().chain(args).any(|e| expr_reads(e, id)),
            Stmt::For { var, lo, hi, body, .. } => {
                *var == id || (covers(&self.f.local(id).ty, lo, hi) && self.element_defined(body, id, *var))
            }
            Stmt::If { .. } | Stmt::Assert { .. } | Stmt::Ghost { .. } => false,
        }
    }

    /// The first mention of `id` in `body` stores the whole element `[var]`, and nothing else of `id` is read before.
    fn element_defined(&self, body: &[Stmt], id: LocalId, var: LocalId) -> bool {
        let at = |p: &Place| {
            p.base == Base::Local(id)
                && p.projs.len() == 1
                && matches!(&p.projs[0], Proj::Index(e) if matches!(&e.kind, ExprKind::Read(q) if q.base == Base::Local(var) && q.projs.is_empty()))
        };
        let Some(first) = self.uses.users(body, id).first() else { return false };
        let stores = match &body[*first] {
            Stmt::Assign { dst, src, .. } => at(dst) && !expr_reads(src, id),
            Stmt::Call { dsts, args, .. } => dsts.iter().any(at) && !args.iter().any(|e| expr_reads(e, id)),
            Stmt::For { .. } | Stmt::If { .. } | Stmt::Assert { .. } | Stmt::Ghost { .. } => false,
        };
        // Later reads must stay at `[var]`, which this round has written.
        let mut all_at = true;
        walk_places(body, &mut |p, _| {
            if p.base == Base::Local(id) {
                let same = matches!(p.projs.first(), Some(Proj::Index(e)) if matches!(&e.kind, ExprKind::Read(q) if q.base == Base::Local(var)));
                all_at &= same;
            }
        });
        stores && all_at
    }
}

/// The loop `0 ..< length` of an array type.
fn covers(ty: &Ty, lo: &Expr, hi: &Expr) -> bool {
    let constant = |e: &Expr| match &e.kind {
        ExprKind::Const(v) => u64::try_from(v).ok(),
        _ => None,
    };
    match ty {
        Ty::Array { len: Len::Const(n), .. } => constant(lo) == Some(0) && constant(hi) == Some(*n),
        _ => false,
    }
}

/// Consecutive statements that mention it define every constant index of an array before it is read.
fn fields_defined<'s>(f: &Func, users: impl Iterator<Item = &'s Stmt>, id: LocalId) -> bool {
    let Ty::Array { len: Len::Const(n), .. } = &f.local(id).ty else { return false };
    let mut seen = vec![false; (*n).min(4096) as usize];
    for s in users {
        let Stmt::Assign { dst, src, .. } = s else { return false };
        let at = match dst.projs.as_slice() {
            [Proj::Index(e)] if dst.base == Base::Local(id) => match &e.kind {
                ExprKind::Const(v) => usize::try_from(v).ok(),
                _ => None,
            },
            _ => None,
        };
        match at {
            Some(k) if k < seen.len() && !expr_reads(src, id) => seen[k] = true,
            _ => return false,
        }
        if seen.iter().all(|b| *b) && seen.len() as u64 == *n {
            return true;
        }
    }
    false
}
