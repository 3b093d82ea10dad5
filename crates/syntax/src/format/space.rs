//! Which two neighbours on a line have a space between them.

use crate::parser::Mark;
use crate::token::{Kw, Tok, Token, P};

/// A binary operator that is always spaced: a line may be broken behind it.
pub fn is_spaced_operator(t: &Token, mark: Mark, next_spaced: bool) -> bool {
    if mark.unary || mark.angle || mark.power {
        return false;
    }
    match t.tok {
        Tok::Kw(Kw::Mod) => true,
        Tok::P(p) => is_operator(p) && !is_tight(t, mark, next_spaced),
        _ => false,
    }
}

fn is_operator(p: P) -> bool {
    use P::*;
    matches!(
        p,
        Rotl | Rotr
            | Congruent
            | CongruentSign
            | Implies
            | Shl
            | Shr
            | EqEq
            | Ne
            | Le
            | Ge
            | AndAnd
            | OrOr
            | Plus
            | Minus
            | Star
            | Slash
            | Percent
            | Amp
            | Caret
            | Pipe
            | Lt
            | Gt
    )
}

/// Arithmetic written without spaces on both sides stays so: `r[i+1]`, `0..2^16-1`.
pub fn is_tight(t: &Token, mark: Mark, next_spaced: bool) -> bool {
    let arithmetic = matches!(t.tok, Tok::P(P::Plus | P::Minus | P::Star | P::Slash | P::Percent));
    arithmetic && !mark.unary && !t.spaced && !next_spaced
}

/// Whether a space stands between `a` and `b` on one line. `tight` tells of [`is_tight`] of either.
pub fn between(a: &Token, a_mark: Mark, b: &Token, b_mark: Mark, tight: (bool, bool)) -> bool {
    use P::*;
    if tight.0 || tight.1 || a_mark.power || b_mark.power || a_mark.unary {
        return false;
    }
    match (a.tok, b.tok) {
        (Tok::P(LBrace), _) | (_, Tok::P(LBrace | RBrace)) => true,
        // `test "name" from "file" <n: len>(..)`
        (Tok::Str(_), Tok::P(Lt | LParen)) => true,
        (_, Tok::P(RParen | RBracket | Comma | Semi | Colon | Dot | ColonColon | DotDot | DotDotLt)) => false,
        (Tok::P(LParen | LBracket | Dot | ColonColon | DotDot | DotDotLt | At), _) => false,
        (Tok::P(Lt), _) if a_mark.angle => false,
        (_, Tok::P(Lt | Gt)) if b_mark.angle => false,
        (before, Tok::P(LParen)) => !is_callee(before, a_mark),
        (before, Tok::P(LBracket)) => !is_indexed(before),
        _ => true,
    }
}

fn is_callee(t: Tok, mark: Mark) -> bool {
    match t {
        Tok::Ident | Tok::Word(_) | Tok::Kw(Kw::Int | Kw::Len | Kw::Sum | Kw::Forall) => true,
        Tok::P(P::Gt) => mark.angle,
        _ => false,
    }
}

fn is_indexed(t: Tok) -> bool {
    matches!(t, Tok::Ident | Tok::Int(_) | Tok::Bytes { .. } | Tok::P(P::RParen | P::RBracket | P::RBrace))
}
