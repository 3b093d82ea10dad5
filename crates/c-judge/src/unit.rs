//! A unit as it is read: types, tables and functions, each beside what it stands for in the program.

use crate::parse::{Parser, Types};
use crate::tree::{Ex, Function, Init, Num, Type};
use crate::pieces::{Pieces, Refused};
use num_bigint::BigInt;
use santoku_ir::{ConstValue, FuncId, Len, Program, Range, StructId, Ty};
use std::collections::HashMap;

/// What the functions of a unit share.
pub struct Unit<'a> {
    pub program: &'a Program,
    pub pieces: &'a Pieces,
    /// Fields of structs, by their number in the program; none for what C does not have.
    pub fields: HashMap<String, (StructId, Vec<(String, Type)>)>,
    pub tables: HashMap<String, (u32, Type)>,
    pub functions: HashMap<String, (FuncId, Shape)>,
    pub read: Vec<Function>,
}

/// Types as the C declares them.
#[derive(Clone, Debug)]
pub struct Shape {
    pub ret: Type,
    /// Each with whether it is a pointer to that.
    pub params: Vec<(Type, bool)>,
}

pub fn refused(what: &str, line: usize, why: impl Into<String>) -> Refused {
    Refused { place: what.to_string(), line, why: why.into(), text: String::new() }
}

impl<'a> Unit<'a> {
    pub fn read(program: &'a Program, pieces: &'a Pieces) -> Result<Unit<'a>, Refused> {
        let types = Types::of(pieces);
        let mut unit = Unit { program, pieces, fields: HashMap::new(), tables: HashMap::new(), functions: HashMap::new(), read: vec![] };
        unit.read_types(&types)?;
        unit.read_tables(&types)?;
        for piece in &pieces.functions {
            let name = &program.func(piece.func).name;
            let told = |(line, why): (usize, String)| refused(name, line, why).with(&piece.text);
            let mut parser = Parser::new(&piece.text, &types).map_err(told)?;
            let function = parser.function().map_err(told)?;
            if !parser.done() {
                return Err(refused(name, parser.line(), "text behind the function"));
            }
            let shape = Shape { ret: function.ret.clone(), params: function.params.iter().map(|(_, t, p)| (t.clone(), *p)).collect() };
            if unit.functions.insert(function.name.clone(), (piece.func, shape)).is_some() {
                return Err(refused(name, 1, format!("a second function `{}`", function.name)));
            }
            unit.read.push(function);
        }
        Ok(unit)
    }

    fn read_types(&mut self, types: &Types) -> Result<(), Refused> {
        let mut parser = Parser::new(&self.pieces.types, types).map_err(|(l, e)| refused("types", l, e))?;
        while !parser.done() {
            let line = parser.line();
            let (name, fields) = parser.typedef().map_err(|(l, e)| refused("types", l, e))?;
            let id = self.pieces.structs.iter().position(|s| s.as_ref() == Some(&name));
            let Some(id) = id else { return Err(refused("types", line, format!("`{name}` is no struct of the program"))) };
            let declared = &self.program.structs[id].fields;
            let alike = declared.len() == fields.len() && declared.iter().zip(&fields).all(|((_, t), (_, c))| self.holds(c, t, None));
            let distinct = (0..fields.len()).all(|k| fields[..k].iter().all(|f| f.0 != fields[k].0));
            if !alike || !distinct || self.fields.contains_key(&name) {
                return Err(refused("types", line, format!("`{name}` has not the fields of `{}`", self.program.structs[id].name)));
            }
            self.fields.insert(name, (StructId(id as u32), fields));
        }
        Ok(())
    }

    fn read_tables(&mut self, types: &Types) -> Result<(), Refused> {
        let mut parser = Parser::new(&self.pieces.tables, types).map_err(|(l, e)| refused("tables", l, e))?;
        while !parser.done() {
            let line = parser.line();
            let (name, ty, value) = parser.table().map_err(|(l, e)| refused("tables", l, e))?;
            let id = self.pieces.consts.iter().position(|c| *c == name);
            let Some(id) = id else { return Err(refused("tables", line, format!("`{name}` is no constant of the program"))) };
            let constant = &self.program.consts[id];
            let values = self.same(&value, &constant.value, &ty);
            if !values || !self.holds(&ty, &constant.ty, None) || self.tables.contains_key(&name) {
                return Err(refused("tables", line, format!("`{name}` has not the type and the values of `{}`", constant.name)));
            }
            self.tables.insert(name, (id as u32, ty));
        }
        Ok(())
    }

    /// An initialiser gives these values to an object of this type.
    fn same(&self, init: &Init, value: &ConstValue, ty: &Type) -> bool {
        match (init, value, ty) {
            (Init::Value(e), ConstValue::Scalar(v), Type::Num(t)) => constant(e).is_some_and(|c| c == *v && t.range().holds(v.clone())),
            (Init::Value(e), ConstValue::Scalar(v), Type::Lanes) => constant(e).is_some_and(|c| c == *v),
            (Init::List(es), ConstValue::Array(vs), Type::Array(elem, Some(n))) => {
                *n == vs.len() as u64 && es.len() == vs.len() && es.iter().zip(vs).all(|(e, v)| self.same(e, v, elem))
            }
            (Init::List(es), ConstValue::Struct(vs), Type::Struct(name)) => {
                let fields = self.fields.get(name).map_or(&[][..], |f| &f.1);
                es.len() == vs.len() && fields.len() == vs.len() && es.iter().zip(vs).zip(fields).all(|((e, v), f)| self.same(e, v, &f.1))
            }
            _ => false,
        }
    }

    /// Objects of the C type hold every value of the type of the program. `most`: the greatest value of a length.
    pub fn holds(&self, c: &Type, ty: &Ty, most: Option<&dyn Fn(&Len) -> Option<u64>>) -> bool {
        match (c, ty) {
            (Type::Num(t), Ty::Word(bits)) => !t.signed && t.bits >= *bits,
            (Type::Lanes, Ty::Word(_)) => true,
            (Type::Num(t), Ty::Bool) => !t.signed || t.bits > 1,
            (Type::Num(t), Ty::Int(range)) => range.as_ref().is_none_or(|r| t.range().contains(r)),
            (Type::Array(elem, n), Ty::Array { elem: inner, len, ranges }) => {
                let long = match (n, len) {
                    (None, _) => true,
                    (Some(n), Len::Const(0)) => *n == 1,
                    (Some(n), Len::Const(m)) => n == m,
                    (Some(n), len) => most.and_then(|most| most(len)).is_some_and(|m| *n >= m),
                };
                let range = ranges.as_ref().and_then(|rs| rs.iter().cloned().reduce(|a, b| a.join(&b)));
                long && match range {
                    Some(r) => self.holds(elem, &Ty::Int(Some(r)), most),
                    None => self.holds(elem, inner, most),
                }
            }
            (Type::Struct(name), Ty::Struct(id)) => self.pieces.structs[id.0 as usize].as_ref() == Some(name),
            _ => false,
        }
    }

    pub fn struct_of(&self, name: &str) -> Option<&(StructId, Vec<(String, Type)>)> {
        self.fields.get(name)
    }
}

/// The number that an expression of literals has: what tables are made of.
fn constant(e: &Ex) -> Option<BigInt> {
    let wide = |t: &Type| matches!(t, Type::Num(Num { bits: 128, .. }));
    match e {
        Ex::Number(v, _) => Some(v.to_big()),
        Ex::Un("-", a) => Some(-constant(a)?),
        Ex::Cast(t, a) if wide(t) => constant(a),
        Ex::Bin("<<", a, b) if matches!(&**a, Ex::Cast(t, _) if wide(t)) => Some(constant(a)? << u32::try_from(constant(b)?).ok()?),
        Ex::Bin("|", a, b) if matches!(&**a, Ex::Bin("<<", ..)) => Some(constant(a)? | constant(b)?),
        Ex::Bin("-", a, b) => Some(constant(a)? - constant(b)?),
        _ => None,
    }
}

/// The values of a scalar of this type, as far as the type says.
pub fn declared_range(ty: &Ty) -> Option<Range> {
    santoku_ir::typing::scalar_range(ty)
}
