//! Every function of an interface against another implementation of it: the same calls with random and edge inputs, every result compared.
//!
//! Needs: the rows of the interface, and the other implementation on this machine.  Keeps: nothing.  Absent: how fast they are.

mod cases;
mod driver;
mod group;
mod plan;

pub use cases::Generator;
pub use driver::driver;
pub use group::{build, describe, encode, Group, Step, Value};
pub use plan::Plan;

use crate::dist::folder;
use crate::interface::{functions, Function};
use crate::primitives::Tree;
use crate::row::{Primitive, Rival};
use crate::BenchError;
use santoku_lab::host::HostProgram;
use santoku_lab::peers;
use std::collections::BTreeMap;
use std::path::Path;

/// Plans that are tried at a time.
const BATCH: usize = 2_000;

/// An implementation that is called.
pub struct Side {
    pub name: String,
    pub program: HostProgram,
}

/// What was compared.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Compared {
    /// Calls, by function.
    pub calls: BTreeMap<String, usize>,
    /// Calls that both accepted, by function.
    pub accepted: BTreeMap<String, usize>,
    /// Plans with values that the other one refuses.
    pub left_out: usize,
}

/// The first difference, made as small as could be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    pub plan: Plan,
    pub what: String,
    /// Those that both sides have.
    pub functions: Vec<Function>,
}

/// Our C for one width of words against one rival.
#[derive(Debug)]
pub struct Run {
    pub rival: String,
    /// Flags that our C is compiled with.
    pub flags: Vec<&'static str>,
    pub found: Result<Compared, Difference>,
}

impl Compared {
    pub fn calls(&self) -> usize {
        self.calls.values().sum()
    }

    pub fn accepted(&self) -> usize {
        self.accepted.values().sum()
    }
}

/// Tries `count` plans of a primitive with each of its rivals that has its interface on this machine, with both widths of words.
///
/// # Errors
/// `Unknown`: it has no interface of its own, or no such rival; those of [`compare`].
pub fn run(tree: &Tree, name: &str, count: usize, seed: u64, watch: &dyn Fn(&str)) -> Result<Vec<Run>, BenchError> {
    let primitive = tree.primitive(name)?;
    let rivals: Vec<&Rival> = primitive.rivals_on("host").filter(|r| r.interface).collect();
    if rivals.is_empty() {
        let known = tree.primitives()?.into_iter().filter(|p| p.rivals_on("host").any(|r| r.interface)).map(|p| p.name).collect();
        return Err(BenchError::Unknown { what: "primitive whose rivals have its interface:", name: name.into(), known });
    }
    let all = functions(&primitive, &[])?;
    let text = |ending: &str| tree.read(&folder(&primitive.unit).join(format!("{}.{ending}", primitive.unit)).to_string_lossy());
    let [c, h] = [text("c")?, text("h")?];
    let mut runs = vec![];
    for other in rivals {
        let functions = shared(&primitive, &all, other);
        let theirs = rival(&tree.root, &primitive, other, &functions)?;
        for flags in [&["-O2"][..], &["-O2", "-DSANTOKU_32BIT"]] {
            let own = ours(&primitive, &functions, [&c, &h], "gcc", flags)?;
            let mut generator = Generator::new(&primitive, other, &functions, seed).map_err(|reason| BenchError::Declaration { path: "lib/primitives.toml".into(), reason })?;
            let found = compare(&mut generator, [&own, &theirs], count, &mut |done| watch(&format!("{} {}: {done} of {count}", other.name, flags.join(" "))))?;
            runs.push(Run { rival: other.name.clone(), flags: flags.to_vec(), found });
        }
    }
    Ok(runs)
}

/// Our shipped C as a program.
///
/// # Errors
/// `Lab`: it does not compile.
pub fn ours(primitive: &Primitive, functions: &[Function], files: [&str; 2], compiler: &str, flags: &[&str]) -> Result<Side, BenchError> {
    let text = driver(functions, &|name| name.to_string(), true);
    let (c, h) = (format!("{}.c", primitive.unit), format!("{}.h", primitive.unit));
    let program = HostProgram::build(compiler, flags, &[("driver.c", &text), (&c, files[0]), (&h, files[1])]);
    Ok(Side { name: "Santoku".into(), program: program.map_err(|e| BenchError::lab(&primitive.name, e))? })
}

/// A rival as a program.
///
/// # Errors
/// `Lab`: it is not to be had, or does not compile.
pub fn rival(root: &Path, primitive: &Primitive, rival: &Rival, functions: &[Function]) -> Result<Side, BenchError> {
    let lab = |e: String| BenchError::lab(&rival.name, e);
    let peer = peers::fetch(root, rival.peer()).map_err(|e| lab(e.to_string()))?;
    let called = |name: &str| crate::subject::called(primitive, rival, name);
    // A library that brings its own randomness is not asked for keys.
    let text = driver(functions, &called, peer.libs.is_empty());
    let mut flags = vec![format!("-{}", rival.level), "-w".to_string()];
    flags.extend(peer.include_dirs.iter().map(|d| format!("-I{}", d.display())));
    flags.extend(peer.sources.iter().map(|p| p.display().to_string()));
    let mut flags: Vec<&str> = flags.iter().map(String::as_str).collect();
    // Libraries follow what asks for them.
    let libs: Vec<String> = peer.libs.iter().map(|p| p.display().to_string()).collect();
    let linked = libs.iter().map(|p| format!("-Wl,--whole-archive,{p},--no-whole-archive")).collect::<Vec<_>>();
    flags.extend(linked.iter().map(String::as_str));
    let program = HostProgram::build("gcc", &flags, &[("driver.c", &text)]).map_err(|e| lab(e.to_string()))?;
    Ok(Side { name: peer.title, program })
}

/// The functions that a rival has.
pub fn shared(primitive: &Primitive, functions: &[Function], rival: &Rival) -> Vec<Function> {
    let lacks = |f: &Function| rival.lacks.contains(&f.name);
    let needs = |f: &Function| primitive.functions.iter().filter(|r| r.name == f.name).flat_map(|r| r.arguments.iter().filter_map(|a| a.made_by())).any(|(g, _)| rival.lacks.contains(&g.to_string()));
    functions.iter().filter(|f| !lacks(f) && !needs(f)).cloned().collect()
}

/// Tries `count` plans, and says where the two differ first.
///
/// # Errors
/// `Lab`: one of the programs ends otherwise than it should; `Internal`: it answers too little.
pub fn compare(generator: &mut Generator<'_>, sides: [&Side; 2], count: usize, watch: &mut dyn FnMut(usize)) -> Result<Result<Compared, Difference>, BenchError> {
    let mut compared = Compared::default();
    let mut done = 0;
    while done < count {
        let wanted = BATCH.min(count - done);
        let plans: Vec<Plan> = (0..wanted).map(|_| generator.plan()).collect();
        let (kept, left): (Vec<Plan>, Vec<Plan>) = plans.into_iter().partition(|p| !generator.refused(p));
        compared.left_out += left.len();
        let groups = kept.iter().map(|p| build(generator.functions(), generator.rows(), p)).collect::<Result<Vec<_>, _>>().map_err(|reason| BenchError::Internal { stage: "differential".into(), reason })?;
        if let Some((at, _)) = different(generator.functions(), sides, &groups, Some(&mut compared))? {
            return smallest(generator, sides, kept[at].clone()).map(Err);
        }
        done += wanted;
        watch(done);
    }
    Ok(Ok(compared))
}

/// A plan that still differs, with everything left out or set to zero that can be.
fn smallest(generator: &Generator<'_>, sides: [&Side; 2], mut plan: Plan) -> Result<Difference, BenchError> {
    let differs = |plan: &Plan| -> Result<Option<String>, BenchError> {
        if generator.refused(plan) {
            return Ok(None);
        }
        let Ok(group) = build(generator.functions(), generator.rows(), plan) else { return Ok(None) };
        Ok(different(generator.functions(), sides, &[group], None)?.map(|(_, what)| what))
    };
    let mut what = differs(&plan)?.unwrap_or_else(|| "it is not found again when it is tried alone".into());
    loop {
        let mut next = None;
        for smaller in plan.smaller() {
            if let Some(text) = differs(&smaller)? {
                next = Some((smaller, text));
                break;
            }
        }
        match next {
            Some((smaller, text)) => (plan, what) = (smaller, text),
            None => return Ok(Difference { plan, what, functions: generator.functions().to_vec() }),
        }
    }
}

/// The first group in which the answers differ, and how.
fn different(functions: &[Function], sides: [&Side; 2], groups: &[Group], mut count: Option<&mut Compared>) -> Result<Option<(usize, String)>, BenchError> {
    let input = encode(groups);
    let mut answers = vec![];
    for side in sides {
        answers.push(side.program.run(&[], &input).map_err(|e| BenchError::lab(&side.name, e))?);
    }
    let mut at = [0, 0];
    for (k, group) in groups.iter().enumerate() {
        for (nth, step) in group.steps.iter().enumerate() {
            let f = &functions[step.function];
            let [a, b] = [0, 1].map(|s| step.answer(&answers[s], &mut at[s]));
            let (Some(a), Some(b)) = (a, b) else {
                return Err(BenchError::Internal { stage: "differential".into(), reason: format!("{} answers too little", f.name) });
            };
            if let Some(what) = step.differs(f, group, nth, [&a, &b]) {
                return Ok(Some((k, format!("{}: {what}", f.name))));
            }
            if let Some(all) = count.as_deref_mut() {
                *all.calls.entry(f.name.clone()).or_default() += 1;
                *all.accepted.entry(f.name.clone()).or_default() += usize::from(f.has_results(a.returned));
            }
        }
    }
    let whole = at[0] == answers[0].len() && at[1] == answers[1].len();
    whole.then_some(None).ok_or_else(|| BenchError::Internal { stage: "differential".into(), reason: "a side answers too much".into() })
}
