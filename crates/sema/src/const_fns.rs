//! Constant functions: evaluated by the compiler, recursion allowed, results remembered.
//!
//! Keeps: a call ends, because steps, elements and depth of all calls of a run are bounded.
//! Trusted: text.

use crate::consts::{CVal, Env};
use crate::context::Cx;
use crate::limits;
use crate::names::Entity;
use santoku_diag::{Diagnostic, Span};
use santoku_syntax::ast::{Block, Expr, Stmt, StmtKind};

/// A constant function and its arguments.
pub type ConstCall = (Entity, Vec<CVal>);

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
        let mut own = self.env(entity.module);
        let mut values = Vec::new();
        for (param, arg) in f.params.iter().zip(args) {
            let v = self.const_expr(env, arg)?;
            let ty = self.plain_type(&mut own, &param.ty)?;
            let v = self.coerce(v, &ty, arg.span)?;
            own.vars.push((param.name.name.clone(), v.clone()));
            values.push(v);
        }
        let call = (entity, values);
        if let Some(known) = self.const_results.get(&call) {
            return Some(known.clone());
        }
        if self.const_calls >= limits::CONST_CALL_DEPTH {
            return self.fail(
                Diagnostic::error("const-too-large", format!("calls of `{}` nested too deeply", f.name.name))
                    .at(span, format!("more than {} calls inside one another", limits::CONST_CALL_DEPTH))
                    .help("let an argument decrease to a value that ends the recursion, faster if it does already"),
            );
        }
        // Only members of an interface lack a body, and those resolve to the implementation's definition.
        let body = f.body.as_ref()?;
        self.const_calls += 1;
        let result = self.const_block(&mut own, body);
        self.const_calls -= 1;
        let result = result?;
        let ty = self.plain_type(&mut own, &f.ret)?;
        let place = body.result.as_ref().map_or(body.span, |r| r.span);
        let result = self.coerce(result, &ty, place)?;
        if self.const_results.len() < limits::CONST_RESULTS {
            self.const_results.insert(call, result.clone());
        }
        Some(result)
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
