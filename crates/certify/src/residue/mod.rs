//! What exported functions leave behind: after the return, no word of stack below the caller's frame and no register that callers save holds
//! anything that depends on a secret.
//!
//! Nothing is asked of what the function calls but how deep it goes: all that it may have written counts as secret, and has to be overwritten.
//! That holds of code that keeps to its frame, which is proved of functions that are equal to their source, and believed of C by hand.
//!
//! Needs: what was proved of the file.  Keeps: an answer only where every function of the program that runs is proved.  Absent: how a function
//! clears; copies that are not below the caller's frame (what callers pass is theirs).
//! Of code without a source it is also asked whether a branch, an address or the operand of a slow operation may depend on a secret.
//!
//! Trusted: certifier.

mod depth;
mod left;
mod step;
mod takes;
mod value;

use crate::machine::Code;
use crate::reach::enters;
use crate::report::{ByHand, FunctionReport, Residue, ResidueState, Rest, SharedReport, Status, Work};
use crate::source::abi::{signature, Kind, Place, Role};
use crate::subject::Subject;
use depth::Depths;
use left::{left, Left, Shows};
use santoku_elf::{Function, Image};
use santoku_ir::{FuncId, Program};
use santoku_isa::Isa;
use std::collections::{BTreeMap, BTreeSet};
use step::Callee;
use takes::Takes;
use value::Interface;

/// Of every function that other files can call and that handles secrets, in order of addresses. Functions that only hand their arguments to
/// one that is equal to its source become [`Status::HandsOn`].
pub(crate) fn residues(subject: &Subject, functions: &mut [FunctionReport]) -> Vec<Residue> {
    let mut code = Code::new(subject.image, subject.isa, subject.program, subject.symbols.clone());
    (code.secret_mul_leaks, code.ckb_vm) = (subject.options.secret_mul_leaks, subject.options.ckb_vm);
    let mut depths = Depths::new(&code);
    depths.by_hand = functions.iter().filter(|f| f.function.is_none()).map(|f| f.address).collect();
    depths.public_results = subject.image.functions.iter().filter(|f| gives_public(subject, f)).map(|f| f.address).collect();
    depths.takes = functions.iter().filter_map(|f| Some((f.address, Takes::of(subject, f)?))).collect();
    let outer: Vec<&Function> = subject.image.functions.iter().filter(|f| !f.local && f.size > 0).collect();
    let mut found: BTreeMap<u64, Found> = BTreeMap::new();
    // One that calls another which leaves nothing may leave nothing either.
    loop {
        let known = depths.clean.len();
        for f in outer.iter().filter(|f| !depths.clean.contains_key(&f.address)).collect::<Vec<_>>() {
            let Some(new) = (Outer { subject, f }).residue(&mut depths, functions) else { continue };
            if new.residue.state == ResidueState::Nothing {
                depths.clean.insert(f.address, new.interface);
            }
            found.insert(f.address, new);
        }
        if depths.clean.len() == known {
            break;
        }
    }
    for f in outer {
        if let Some((func, address)) = found.get(&f.address).and_then(|r| r.hands_on) {
            hand_on(subject, functions, f, func, address);
        }
    }
    found.into_values().map(|r| r.residue).collect()
}

/// Bytes of stack below the caller's that the function of this name and all that it calls use, at most; what is said of them below holds.
///
/// # Errors
/// Why there is no bound.
pub fn stack_depth(image: &Image, isa: Isa, symbol: &str) -> Result<u64, String> {
    let program = Program::default();
    let code = Code::new(image, isa, &program, BTreeMap::new());
    let f = image.function(symbol).ok_or_else(|| format!("the file holds no function `{symbol}`"))?;
    Depths::new(&code).of(&Callee::Here(f.address))
}

/// The functions to which others hand everything on, which other files can call, by address: they are called in their place.
pub(crate) fn handed_to(subject: &Subject) -> BTreeSet<u64> {
    let code = Code::new(subject.image, subject.isa, subject.program, subject.symbols.clone());
    let mut depths = Depths::new(&code);
    let outer = subject.image.functions.iter().filter(|f| !f.local && f.size > 0 && subject.functions_of(f).is_empty());
    let to = outer.filter_map(|f| {
        let outer = Outer { subject, f };
        outer.hands_on(&mut depths, &enters(subject, f.address))
    });
    to.map(|(_, address)| address).collect()
}

/// Marks a function that hands its arguments to another.
fn hand_on(subject: &Subject, functions: &mut [FunctionReport], f: &Function, func: FuncId, to: u64) {
    let Some(inner) = functions.iter().find(|r| r.address == to && r.status == Status::Equal).cloned() else { return };
    let Some(own) = functions.iter_mut().find(|r| r.address == f.address && r.status == Status::NoSource) else { return };
    let rest = |shared: &[(String, String)]| Rest { function: subject.program.func(func).name.clone(), shared: shared.to_vec() };
    own.status = Status::HandsOn { callee: rest(&[]) };
    own.calls = vec![rest(&[])];
    own.hashed = !subject.image.linked;
    own.shared = inner.shared.into_iter().map(|s| SharedReport { calls: vec![rest(&s.pairs)], work: Work::default(), ..s }).collect();
}

/// It is a function of the program whose results are public.
fn gives_public(subject: &Subject, f: &Function) -> bool {
    let own = subject.functions_of(f);
    let public = |id: &FuncId| {
        let f = subject.program.func(*id);
        f.rets.iter().all(|r| f.gives_public(*r))
    };
    !own.is_empty() && own.iter().all(public)
}

/// What a function without a source, and those that it calls, show of secrets.
fn code_by_hand(left: Result<Left, String>) -> ByHand {
    match left.map(|l| l.shows) {
        Ok(None) => ByHand::ShowsNothing,
        Ok(Some(Shows::Secret(place))) => ByHand::Shows { place },
        Ok(Some(Shows::NotFollowed(reason))) | Err(reason) => ByHand::NotFollowed { reason },
    }
}

/// A function that other files can call.
struct Outer<'a> {
    subject: &'a Subject<'a>,
    f: &'a Function,
}

struct Found {
    residue: Residue,
    interface: Interface,
    /// The function of the program, and its address, to which arguments and results are handed on.
    hands_on: Option<(FuncId, u64)>,
}

impl Outer<'_> {
    /// `None`: it handles no secrets.
    fn residue(&self, depths: &mut Depths, functions: &[FunctionReport]) -> Option<Found> {
        let own = self.subject.functions_of(self.f);
        let by_hand = Interface { results: 1, ..Interface::default() };
        let report = |state, left: Option<&Left>| Residue {
            symbol: self.f.name.clone(),
            state,
            by_hand: None,
            deepest: left.map_or(0, |l| l.deepest),
            overwritten: left.map_or(0, |l| l.overwritten),
        };
        // What it is an interface of: itself, or what it calls first, directly or through functions without a source.
        let of = if own.is_empty() { enters(self.subject, self.f.address) } else { own.clone() };
        let secret: BTreeSet<FuncId> = of.iter().copied().filter(|func| self.has_secrets(*func)).collect();
        if secret.is_empty() {
            return None;
        }
        let interface = match own.first() {
            Some(func) => self.interface(*func),
            None => Ok(by_hand),
        };
        // With the interface of the function that it hands on to, arguments in registers may be secrets.
        let hands_on = if own.is_empty() { self.hands_on(depths, &of) } else { None };
        let interface = match hands_on {
            Some((func, _)) => self.interface(func),
            None => interface,
        };
        let found = interface.and_then(|i| Ok((left(depths, self.f.address, &i)?, i)));
        let (found, interface) = match found {
            Ok(found) => found,
            Err(reason) => {
                return Some(Found { residue: report(ResidueState::NotFollowed { reason }, None), interface: Interface::default(), hands_on: None });
            }
        };
        // Asked again where results of calls are secrets, which the caller may get and code by hand may not look at.
        let by_hand = own.is_empty().then(|| code_by_hand(left(depths, self.f.address, &Interface { secret_result: true, ..interface })));
        let open = self.open(depths, &found.callees, functions);
        let state = match (&found.secret, open) {
            (Some(place), _) => ResidueState::Remains { place: place.clone() },
            (None, Some(symbol)) => ResidueState::NotFollowed { reason: format!("`{symbol}` runs, which is not proved") },
            (None, None) => ResidueState::Nothing,
        };
        Some(Found { residue: Residue { by_hand, ..report(state, Some(&found)) }, interface, hands_on })
    }

    fn has_secrets(&self, func: FuncId) -> bool {
        let f = self.subject.program.func(func);
        f.params.iter().any(|id| !f.local(*id).public)
    }

    fn interface(&self, func: FuncId) -> Result<Interface, String> {
        let (program, xlen) = (self.subject.program, self.subject.isa.xlen.bits());
        let f = program.func(func);
        let signature = signature(program, f, xlen).map_err(|e| e.to_string())?;
        let mut interface = Interface { stack: signature.stack, ..Interface::default() };
        for arg in &signature.args {
            let public = match (&arg.kind, arg.role) {
                (Kind::Scalar(_), Role::Param(p)) => f.local(f.params[p]).public,
                _ => true,
            };
            let (first, count) = match arg.place {
                Place::Regs { first, count } => (first, count),
                Place::Split { .. } | Place::Stack { .. } if !public => return Err("a secret is passed on the stack".into()),
                Place::Split { .. } => (7, 1),
                Place::Stack { .. } => continue,
            };
            for n in first..first + count {
                interface.arguments = interface.arguments.max(n + 1);
                interface.secret_entry |= u32::from(!public) << (10 + n);
                interface.narrow_entry |= u32::from(matches!(&arg.kind, Kind::Scalar(s) if s.bits <= 32)) << (10 + n);
            }
        }
        if let Some(s) = &signature.returned {
            interface.results = s.bits.div_ceil(xlen);
            interface.narrow_result = s.bits <= 32;
            interface.secret_result = f.rets.iter().any(|id| !f.gives_public(*id));
        }
        Ok(interface)
    }

    /// The function of the program to which everything is handed on.
    fn hands_on(&self, depths: &mut Depths, of: &BTreeSet<FuncId>) -> Option<(FuncId, u64)> {
        let to = left(depths, self.f.address, &Interface::default()).ok()?.hands_on?;
        let callee = self.subject.image.function_at(to)?;
        let mut known = self.subject.functions_of(callee).into_iter().filter(|func| of.contains(func));
        let func = known.next().filter(|_| known.next().is_none() && self.subject.convention_at(to).is_source())?;
        // Asked again with as many arguments and results as it has.
        let all = left(depths, self.f.address, &self.interface(func).ok()?).ok()?;
        (all.hands_on == Some(to)).then_some((func, to))
    }

    /// A function of the program that runs and is not proved.
    fn open(&self, depths: &Depths, callees: &BTreeSet<Callee>, functions: &[FunctionReport]) -> Option<String> {
        let status: BTreeMap<u64, &FunctionReport> = functions.iter().filter(|r| r.function.is_some() && !r.status.holds()).map(|r| (r.address, r)).collect();
        let below = depths.below(callees);
        below.iter().chain(std::iter::once(&self.f.address)).find_map(|a| status.get(a)).map(|r| r.symbol.clone())
    }
}
