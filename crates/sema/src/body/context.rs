//! State of one function being lowered, and the values it works with.

use crate::context::Cx;
use crate::draft::{find_read, root, Draft};
use crate::keys::Backing;
use crate::limits;
use crate::secrecy::{Need, Requirement};
use crate::sty::STy;
use crate::values::{CVal, Env};
use num_bigint::BigInt;
use santoku_diag::{Diagnostic, Span};
use santoku_ir::typing::{without_ranges, Scope};
use santoku_ir::{Expr, ExprKind, Len, Local, LocalId, LocalKind, Place, Ty};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// Consecutive elements of an array.
#[derive(Clone, Debug)]
pub struct View {
    /// The array, of this length.
    pub base: Place,
    pub total: Len,
    pub elem: Ty,
    /// Index of the first element.
    pub at: Expr,
    /// Number of elements. `param` is a length parameter of the function, or a public variable that nothing assigns
    /// any more; types of such a length stay here.
    pub len: Len,
    /// A parameter: whatever array it lies in has to do, so that an index inside that array is one inside the view.
    pub param: bool,
}

impl View {
    pub fn ty(&self) -> Ty {
        Ty::Array { elem: Box::new(self.elem.clone()), len: self.len.clone(), ranges: None }
    }
    pub fn base_ty(&self) -> Ty {
        Ty::Array { elem: Box::new(self.elem.clone()), len: self.total.clone(), ranges: None }
    }
    pub fn backing(&self) -> Backing {
        match &self.total {
            Len::Const(n) => Backing::Const(*n),
            Len::Param { add, .. } => Backing::Length(*add),
        }
    }
}

/// One core value.
#[derive(Clone, Debug)]
pub struct One {
    pub expr: Expr,
    /// Declared type where it comes from a declaration, with its ranges; the expression carries none.
    pub ty: Ty,
    /// An integer constant that takes the type of its context.
    pub flex: bool,
}

/// A value of the language.
#[derive(Clone, Debug)]
pub enum Val {
    One(One),
    Tuple(Vec<Val>),
}

/// Where a value is to be written.
#[derive(Clone, Debug)]
pub enum Dst {
    One(Place),
    Tuple(Vec<Dst>),
}

/// What a name in scope stands for.
#[derive(Clone, Debug)]
pub enum Binding {
    Local(LocalId),
    Tuple(Vec<Binding>),
    /// A slice of run-time length.
    View(Rc<View>),
    /// Its definition failed; uses stay silent.
    Poison,
}

#[derive(Clone, Debug)]
pub(crate) struct Variable {
    pub(crate) binding: Binding,
    pub(crate) mutable: bool,
    pub(crate) span: Span,
}

/// What is known of a local beside its core declaration.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Facts {
    pub(crate) span: Span,
    /// Holds an intermediate value that nobody named yet.
    pub(crate) temp: bool,
    /// Declared without a value.
    pub(crate) unset: bool,
    /// Certainly secret (a secret value was assigned).
    pub(crate) secret: bool,
    /// Of ghost text alone.
    pub(crate) ghost: bool,
}

/// State of one function being lowered.
pub struct FnCx<'a, 'w> {
    pub(crate) cx: &'a mut Cx<'w>,
    pub(crate) env: Env,
    pub(crate) locals: Vec<Local>,
    pub(crate) facts: Vec<Facts>,
    /// Innermost open block.
    pub(crate) out: Vec<Draft>,
    pub(crate) scopes: Vec<BTreeMap<String, Variable>>,
    pub(crate) requirements: Vec<Requirement>,
    /// Loop counters whose bounds are constants: first value and one past the last.
    pub(crate) counters: BTreeMap<LocalId, (BigInt, BigInt)>,
    /// What names of constants and counters alone may hold.
    pub(crate) possible: BTreeMap<LocalId, BTreeSet<BigInt>>,
    /// Of those that go in steps: the step, and the counter of rounds.
    pub(crate) steps: BTreeMap<LocalId, (BigInt, LocalId)>,
    /// Inside an `if` expression: locals below this one may not be assigned.
    pub(crate) frozen: u32,
    pub(crate) expr_depth: u32,
    pub(crate) stmt_depth: u32,
    /// Full name, for the names of literal constants.
    pub(crate) name: String,
}

impl Val {
    pub(crate) fn sty(&self) -> STy {
        match self {
            Val::One(one) => STy::one(one.ty.clone()),
            Val::Tuple(parts) => STy::Tuple(parts.iter().map(Val::sty).collect()),
        }
    }
}

impl One {
    pub(crate) fn new(expr: Expr, ty: Ty) -> One {
        One { expr, ty, flex: false }
    }
    /// A fresh value: the expression's own type.
    pub(crate) fn fresh(expr: Expr) -> One {
        let ty = expr.ty.clone();
        One { expr, ty, flex: false }
    }
    pub(crate) fn flex(v: impl Into<BigInt>) -> One {
        One { expr: Expr::int(v), ty: Ty::Int(None), flex: true }
    }
    /// The value of an integer constant that may take any numeric type.
    pub(crate) fn flex_value(&self) -> Option<&BigInt> {
        self.expr.as_const().filter(|_| self.flex)
    }
}

impl<'a, 'w> FnCx<'a, 'w> {
    pub(crate) fn new(cx: &'a mut Cx<'w>, env: Env, name: String) -> FnCx<'a, 'w> {
        FnCx {
            cx,
            env,
            locals: Vec::new(),
            facts: Vec::new(),
            out: Vec::new(),
            scopes: vec![BTreeMap::new()],
            requirements: Vec::new(),
            counters: BTreeMap::new(),
            possible: BTreeMap::new(),
            steps: BTreeMap::new(),
            frozen: 0,
            expr_depth: 0,
            stmt_depth: 0,
            name,
        }
    }

    pub(crate) fn fail<T>(&mut self, d: Diagnostic) -> Option<T> {
        self.cx.fail(d)
    }

    pub(crate) fn local(&mut self, name: &str, ty: Ty, kind: LocalKind, span: Span) -> LocalId {
        let loc = self.cx.loc(span);
        let public = matches!(kind, LocalKind::Counter | LocalKind::Len);
        self.locals.push(Local { name: name.to_string(), ty, kind, public, loc });
        self.facts.push(Facts { span, temp: false, unset: false, secret: false, ghost: false });
        LocalId(self.locals.len() as u32 - 1)
    }

    /// A temporary without a value yet. Ranges are dropped: what it holds is inferred.
    pub(crate) fn temp(&mut self, ty: &Ty, span: Span) -> LocalId {
        let id = self.local("t", without_ranges(ty), LocalKind::Var, span);
        let facts = &mut self.facts[id.0 as usize];
        facts.temp = true;
        facts.unset = true;
        id
    }

    pub(crate) fn read_local(&self, id: LocalId) -> One {
        let ty = self.locals[id.0 as usize].ty.clone();
        One::new(Expr::read(Place::local(id), &ty), ty)
    }

    pub(crate) fn binding_value(&self, b: &Binding) -> Option<Val> {
        match b {
            Binding::Local(id) => Some(Val::One(self.read_local(*id))),
            Binding::Tuple(parts) => {
                Some(Val::Tuple(parts.iter().map(|p| self.binding_value(p)).collect::<Option<_>>()?))
            }
            Binding::View(_) | Binding::Poison => None,
        }
    }

    pub(crate) fn variable(&self, name: &str) -> Option<&Variable> {
        self.scopes.iter().rev().find_map(|s| s.get(name))
    }

    pub(crate) fn bind(&mut self, name: &str, binding: Binding, mutable: bool, span: Span) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(name.to_string(), Variable { binding, mutable, span });
        }
        self.hide(name);
    }

    /// Tells constant evaluation whether `name` is a run-time variable now. Lengths are generic parameters.
    pub(crate) fn hide(&mut self, name: &str) {
        let length = |b: &Binding| matches!(b, Binding::Local(id) if self.locals[id.0 as usize].kind == LocalKind::Len);
        let hidden = self.variable(name).is_some_and(|v| !length(&v.binding));
        let names = Rc::make_mut(&mut self.env.hidden);
        if hidden {
            names.insert(name.to_string());
        } else {
            names.remove(name);
        }
    }

    pub(crate) fn close_scope(&mut self) {
        for name in self.scopes.pop().unwrap_or_default().into_keys() {
            self.hide(&name);
        }
    }

    pub(crate) fn scope(&self) -> Scope<'_> {
        Scope { structs: &self.cx.program.structs, consts: &self.cx.program.consts, locals: &self.locals }
    }

    pub(crate) fn known_secret(&self, e: &Expr) -> bool {
        find_read(e, &mut |id| self.facts[id.0 as usize].secret).is_some()
    }

    /// Refuses a value that is certainly secret where a public one is needed.
    pub(crate) fn secret<T>(&mut self, need: Need, e: &Expr, span: Span) -> Option<T> {
        let mut d = crate::secrecy::violation(need, span);
        if let Some(id) = find_read(e, &mut |id| self.facts[id.0 as usize].secret) {
            let local = &self.locals[id.0 as usize];
            let why = if local.kind == LocalKind::Param { "is secret: a parameter without `public`" } else { "holds a secret" };
            d = d.also(self.facts[id.0 as usize].span, format!("`{}` {why}", local.name));
        }
        self.fail(d)
    }

    pub(crate) fn note_secret(&mut self, dst: &Place, secret: bool) {
        if let (true, Some(id)) = (secret, root(dst)) {
            self.facts[id.0 as usize].secret = true;
        }
    }

    pub(crate) fn assign(&mut self, dst: Place, src: Expr, span: Span) {
        let secret = self.known_secret(&src);
        self.note_secret(&dst, secret);
        self.out.push(Draft::Assign { dst, src, span });
    }

    pub(crate) fn need(&mut self, need: Need, expr: &Expr, span: Span) {
        if !matches!(expr.kind, ExprKind::Const(_)) {
            self.requirements.push(Requirement { need, expr: expr.clone(), span });
        }
    }

    /// Runs `f` with an empty block and gives what it appended.
    pub(crate) fn block<T>(&mut self, f: impl FnOnce(&mut Self) -> T) -> (Vec<Draft>, T) {
        let outer = std::mem::take(&mut self.out);
        self.scopes.push(BTreeMap::new());
        let result = f(self);
        self.close_scope();
        (std::mem::replace(&mut self.out, outer), result)
    }

    /// The value as one of type `want`: constants take the type, shapes must agree.
    pub(crate) fn coerce(&mut self, one: One, want: &Ty, span: Span) -> Option<Expr> {
        if let Some(v) = one.flex_value() {
            match want {
                Ty::Word(bits) => {
                    let v = v.clone();
                    self.cx.fits(&v, &crate::sty::word_range(*bits), want, span)?;
                    return Some(Expr::word(*bits, v));
                }
                Ty::Int(Some(range)) => {
                    let v = v.clone();
                    self.cx.fits(&v, range, want, span)?;
                    return Some(one.expr);
                }
                _ => {}
            }
        }
        if one.ty.same_shape(want) {
            return Some(one.expr);
        }
        self.mismatch(&one.ty, want, span)
    }

    pub(crate) fn mismatch<T>(&mut self, found: &Ty, want: &Ty, span: Span) -> Option<T> {
        if self.of_unlike_lengths(found, want) {
            return self.fail(
                Diagnostic::error("type-mismatch", "the lengths of two arrays are not seen to be equal")
                    .at(span, "as long as a value that is known at run time only")
                    .help("equal lengths are the same name: `let k = ..`, then `x[a; k]` and `y[b; k]`"),
            );
        }
        let (f, w) = (self.cx.show(found), self.cx.show(want));
        let help = match (found, want) {
            (Ty::Int(_) | Ty::Word(_) | Ty::Bool, Ty::Word(b)) => format!("convert with `u{b}(..)`"),
            (Ty::Word(_) | Ty::Bool, Ty::Int(_)) => "convert with `int(..)`".to_string(),
            (Ty::Word(_) | Ty::Int(_), Ty::Bool) => "compare it: `x != 0`".to_string(),
            (Ty::Array { len: a, .. }, Ty::Array { len: b, .. }) if a != b => {
                "the lengths differ; take a slice `x[off; k]` of the right length".to_string()
            }
            _ => "change the value or the declared type".to_string(),
        };
        self.fail(
            Diagnostic::error("type-mismatch", format!("expected {w}, found {f}"))
                .at(span, format!("this is {f}"))
                .help(help),
        )
    }

    pub(crate) fn deeper_expr(&mut self, span: Span) -> Option<()> {
        self.expr_depth += 1;
        if self.expr_depth <= limits::EXPR_NESTING {
            return Some(());
        }
        self.too_deep(span, "expression", limits::EXPR_NESTING, "name parts of it with `let`")
    }

    pub(crate) fn too_deep<T>(&mut self, span: Span, what: &str, limit: u32, help: &str) -> Option<T> {
        self.fail(
            Diagnostic::error("nesting-too-deep", format!("{what} nested too deeply"))
                .at(span, format!("more than {limit} levels"))
                .help(help),
        )
    }

    /// A constant expression in the scope of the function: a run-time variable is named as the reason.
    pub(crate) fn const_int(&mut self, e: &santoku_syntax::ast::Expr) -> Option<BigInt> {
        let mut env = self.env.clone();
        self.cx.const_int(&mut env, e)
    }

    /// A core expression for a constant value; long arrays become program constants.
    pub(crate) fn const_one(&mut self, v: &CVal, span: Span) -> One {
        match v {
            CVal::Int(v) => One::flex(v.clone()),
            CVal::Word(bits, v) => One::fresh(Expr::word(*bits, v.clone())),
            CVal::Bool(b) => One::fresh(Expr::bool(*b)),
            CVal::Array(_) | CVal::Struct(..) => {
                let ty = crate::values::const_ty(v);
                let name = format!("{}$lit{}", self.name, self.cx.literals.len());
                let key = (ty.clone(), flat(v));
                let id = match self.cx.literals.get(&key) {
                    Some(id) => *id,
                    None => {
                        let id = self.cx.add_const(name, ty.clone(), v, span);
                        self.cx.literals.insert(key, id);
                        id
                    }
                };
                One::new(Expr::read(Place::constant(id), &ty), ty)
            }
        }
    }
}

fn flat(v: &CVal) -> Vec<BigInt> {
    match v {
        CVal::Int(v) | CVal::Word(_, v) => vec![v.clone()],
        CVal::Bool(b) => vec![u8::from(*b).into()],
        CVal::Array(vs) | CVal::Struct(_, vs) => vs.iter().flat_map(flat).collect(),
    }
}

/// The expression without parentheses.
pub(crate) fn bare(e: &santoku_syntax::ast::Expr) -> &santoku_syntax::ast::Expr {
    match &e.kind {
        santoku_syntax::ast::ExprKind::Paren(inner) => bare(inner),
        _ => e,
    }
}
