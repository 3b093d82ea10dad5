//! Constant functions: evaluated by the compiler, recursion allowed, results remembered.
//!
//! Keeps: a call ends, because steps, elements and depth of all calls of a run are bounded.
//! Trusted: text.

use crate::context::Cx;
use crate::entities::Entity;
use crate::limits;
use crate::values::{CVal, Env};
use santoku_diag::{Diagnostic, Span};
use santoku_syntax::ast::{Block, ConstFunction, Expr, ExprKind, Stmt, StmtKind};

/// How the evaluation of a body ends: with a value, or with a call of the function itself in its place.
enum Tail {
    Value(CVal),
    Again(Vec<CVal>, Span),
}

impl Cx<'_> {
    /// A call whose arguments are constants where `env` stands.
    pub fn const_function_call(&mut self, env: &mut Env, entity: Entity, args: &[Expr], span: Span) -> Option<CVal> {
        let f = self.world.const_function(entity)?;
        if f.params.len() != args.len() {
            return self.fail(
                Diagnostic::error(
                    "wrong-arguments",
                    format!("`{}` takes {} arguments, {} given", f.name.name, f.params.len(), args.len()),
                )
                .at(span, "wrong number of arguments")
                .help("give one value per parameter"),
            );
        }
        let values = self.const_arguments(env, entity, f, args)?;
        let call = (entity, values);
        if let Some(known) = self.const_results.get(&call) {
            return Some(known.clone());
        }
        // Only members of an interface lack a body, and those resolve to the implementation's definition.
        let body = f.body.as_ref()?;
        let (mut own, mut span, outer) = (self.called(entity, f, call.1.clone()), span, self.const_calls);
        let result = loop {
            if self.const_calls >= limits::CONST_CALL_DEPTH {
                break self.too_deep(f, span);
            }
            self.const_calls += 1;
            match self.tail_block(&mut own, body, entity) {
                Some(Tail::Again(values, at)) => (own, span) = (self.called(entity, f, values), at),
                Some(Tail::Value(v)) => break Some(v),
                None => break None,
            }
        };
        self.const_calls = outer;
        let result = result?;
        let ty = self.plain_type(&mut own, &f.ret)?;
        let place = body.result.as_ref().map_or(body.span, |r| r.span);
        let result = self.coerce(result, &ty, place)?;
        if self.const_results.len() < limits::CONST_RESULTS {
            self.const_results.insert(call, result.clone());
        }
        Some(result)
    }

    /// Values for the parameters of a constant function.
    fn const_arguments(&mut self, env: &mut Env, entity: Entity, f: &ConstFunction, args: &[Expr]) -> Option<Vec<CVal>> {
        let mut own = self.env(entity.module);
        let mut values = Vec::new();
        for (param, arg) in f.params.iter().zip(args) {
            let v = self.const_expr(env, arg)?;
            let ty = self.plain_type(&mut own, &param.ty)?;
            let v = self.coerce(v, &ty, arg.span)?;
            own.vars.push((param.name.name.clone(), v.clone()));
            values.push(v);
        }
        Some(values)
    }

    /// The names of a constant function that is called with these values.
    fn called(&self, entity: Entity, f: &ConstFunction, values: Vec<CVal>) -> Env {
        let mut own = self.env(entity.module);
        own.vars.extend(f.params.iter().map(|p| p.name.name.clone()).zip(values));
        own
    }

    fn too_deep<T>(&mut self, f: &ConstFunction, span: Span) -> Option<T> {
        self.fail(
            Diagnostic::error("const-too-large", format!("calls of `{}` nested too deeply", f.name.name))
                .at(span, format!("more than {} calls inside one another", limits::CONST_CALL_DEPTH))
                .help("let an argument decrease to a value that ends the recursion, faster if it does already"),
        )
    }

    /// As [`Cx::const_block`], where a call of `entity` as the last thing is left to the caller: its value is that of the call being evaluated,
    /// and is remembered as such alone.
    fn tail_block(&mut self, env: &mut Env, block: &Block, entity: Entity) -> Option<Tail> {
        let Some(result) = &block.result else { return self.const_block(env, block).map(Tail::Value) };
        let outer = env.vars.len();
        let bound = block.stmts.iter().try_for_each(|s| self.const_let(env, s));
        let end = bound.and_then(|()| self.tail(env, result, entity));
        env.vars.truncate(outer);
        end
    }

    fn tail(&mut self, env: &mut Env, e: &Expr, entity: Entity) -> Option<Tail> {
        match &e.kind {
            ExprKind::Paren(inner) => self.tail(env, inner, entity),
            ExprKind::If { cond, then, els } => match self.const_expr(env, cond)? {
                CVal::Bool(c) => self.tail_block(env, if c { then } else { els }, entity),
                _ => self.not_constant(cond.span, "the condition is not a bool"),
            },
            ExprKind::Call { callee, args, .. } if self.resolve(env.module, callee).is_ok_and(|e| e == entity) => {
                let f = self.world.const_function(entity).filter(|f| f.params.len() == args.len());
                match f {
                    Some(f) => self.const_arguments(env, entity, f, args).map(|values| Tail::Again(values, e.span)),
                    None => self.const_expr(env, e).map(Tail::Value),
                }
            }
            _ => self.const_expr(env, e).map(Tail::Value),
        }
    }

    /// A block of a constant: `let`s, then the value.
    pub fn const_block(&mut self, env: &mut Env, block: &Block) -> Option<CVal> {
        let Some(result) = &block.result else {
            return self.not_constant(block.span, "the block has no value");
        };
        let outer = env.vars.len();
        let bound = block.stmts.iter().try_for_each(|s| self.const_let(env, s));
        let value = bound.and_then(|()| self.const_expr(env, result));
        env.vars.truncate(outer);
        value
    }

    fn const_let(&mut self, env: &mut Env, stmt: &Stmt) -> Option<()> {
        let StmtKind::Let { mutable: false, names, tuple: false, ty, value: Some(value) } = &stmt.kind else {
            return self.not_constant(stmt.span, "of statements only `let name = value` can stand in a constant");
        };
        let v = self.const_expr(env, value)?;
        let v = match ty {
            None => v,
            Some(t) => {
                let ty = self.plain_type(env, t)?;
                self.coerce(v, &ty, value.span)?
            }
        };
        env.vars.push((names.first()?.name.clone(), v));
        Some(())
    }
}
