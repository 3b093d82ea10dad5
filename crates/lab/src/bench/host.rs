//! This machine: all implementations in one process, timed in turn.

use crate::calls::length;
use crate::cross::Cross;
use crate::error::LabError;
use crate::harness::driver::number;
use crate::harness::{materialise, Arg, Call, CallOutput, Ret};
use crate::host::{compare, HostImpl, HostRow, HostRun, Workload};
use super::parts::{check, compiler, no_operation, own, Built, Fact, Machine, Measures, Operation, Outcome, Subject};
use santoku_target::Target;
use std::fmt::Write;
use std::path::{Path, PathBuf};

pub struct Host {
    pub target: Target,
}

struct Timed {
    facts: Vec<Fact>,
    run: HostRun,
    /// Implementations in order.
    names: Vec<String>,
    operations: Vec<Operation>,
    calls: Vec<Vec<Call>>,
}

/// Where what a call leaves begins: the result first, then each argument.
const ALIGN: usize = 64;

/// Offsets of the arguments, and bytes of all.
fn layout(call: &Call) -> (Vec<usize>, usize) {
    let mut at = ALIGN;
    let offsets = call.args.iter().map(|arg| {
        let own = at;
        at += length(arg).unwrap_or(0).div_ceil(ALIGN) * ALIGN;
        own
    });
    let offsets = offsets.collect();
    (offsets, at)
}

/// The C adapter of an implementation's calls for the bench.
fn adapter(subject: &Subject, operations: &[Operation]) -> String {
    let mut text = String::from("#include \"bench.h\"\n");
    let mut setup = String::new();
    let mut ops = String::new();
    if let Some(function) = &subject.setup {
        let _ = writeln!(text, "int {function}(void);");
        let _ = writeln!(setup, "    if ({function}()) return 1;");
    }
    for (n, (call, operation)) in subject.calls.iter().zip(operations).enumerate() {
        let (offsets, size) = layout(call);
        let _ = writeln!(text, "{};", call.declaration.trim_end_matches(';'));
        let _ = writeln!(text, "static unsigned char left{n}[{size}] __attribute__((aligned({ALIGN})));");
        let mut args = vec![];
        for (a, (arg, at)) in call.args.iter().zip(&offsets).enumerate() {
            if let Arg::In(bytes) = arg {
                let list: Vec<String> = bytes.iter().chain([&0]).map(u8::to_string).collect();
                let _ = writeln!(text, "static const unsigned char in{n}_{a}[{}] = {{{}}};", bytes.len() + 1, list.join(","));
                let _ = writeln!(setup, "    memcpy(left{n} + {at}, in{n}_{a}, {});", bytes.len());
            }
            args.push(match arg {
                Arg::In(_) | Arg::Out(_) => format!("(void *)(left{n} + {at})"),
                Arg::Null => "(void *)0".into(),
                Arg::Word32(value) => format!("{value}u"),
                Arg::Word64(value) => format!("{value}ull"),
            });
        }
        let made = format!("{}({})", call.function, args.join(", "));
        let body = match call.ret {
            Ret::Void => format!("{made};"),
            Ret::Word32 => format!("uint64_t r = (unsigned){made}; memcpy(left{n}, &r, 8);"),
            Ret::Word64 => format!("uint64_t r = {made}; memcpy(left{n}, &r, 8);"),
        };
        let _ = writeln!(text, "static void run{n}(void) {{ {body} }}");
        let _ = write!(ops, "{{\"{}\", run{n}, {}, left{n}, sizeof left{n}}}, ", operation.name, operation.bytes);
    }
    let count = operations.len();
    let _ = write!(
        text,
        "static int setup(void)\n{{\n{setup}    return 0;\n}}\nstatic const struct bench_op ops[] = {{{ops}}};\n\
         const struct bench_impl BENCH_IMPL = {{setup, ops, {count}}};\n"
    );
    text
}

impl Machine for Host {
    fn build(&self, subjects: &[Subject], operations: &[Operation]) -> Result<Box<dyn Built>, LabError> {
        check(subjects, operations)?;
        let scratch = tempfile::tempdir().map_err(LabError::io(std::env::temp_dir()))?;
        let (mut impls, mut facts) = (vec![], vec![]);
        for (n, subject) in subjects.iter().enumerate() {
            let dir = scratch.path().join(format!("subject{n}"));
            std::fs::create_dir_all(&dir).map_err(LabError::io(&dir))?;
            let (one, fact) = self.one(subject, operations, &dir)?;
            impls.push(one);
            facts.push(fact);
        }
        let bytes = operations.iter().map(|o| o.bytes).max().unwrap_or(0).max(1);
        // What implementations leave beyond the results may differ: who reads the outcomes compares.
        let workload = Workload { compared: false, count: true, ..Workload::new("calls", bytes) };
        let run = compare(&scratch.path().join("bench"), &impls, &workload).map_err(|e| LabError::BadJob(e.to_string()))?;
        let names = impls.into_iter().map(|i| i.name).collect();
        Ok(Box::new(Timed { facts, run, names, operations: operations.to_vec(), calls: subjects.iter().map(|s| s.calls.clone()).collect() }))
    }
}

impl Host {
    fn one(&self, subject: &Subject, operations: &[Operation], dir: &Path) -> Result<(HostImpl, Fact), LabError> {
        let cross = compiler(&self.target, subject)?;
        let mut sources = vec![];
        for (n, source) in subject.sources.iter().chain(&subject.support).enumerate() {
            sources.push(materialise(dir, n, source)?.1);
        }
        let flags = [cross.flags(subject.level)?, subject.flags.clone()].concat();
        // What draws from a library of others has no size of its own.
        let own = match subject.libs.is_empty() {
            true => Some(own(&cross, &objects(&cross, subject, &sources[..subject.sources.len()], &flags, dir)?)?),
            false => None,
        };
        let command = cross.compiler.command();
        let fact = Fact {
            compiler: cross.version().to_string(),
            command: command.clone(),
            flags: flags.clone(),
            size_bytes: own.map(|o| o.0),
            stack_accesses: own.map(|o| o.1),
        };
        let made = HostImpl {
            name: format!("{} {command} -{}", subject.name, subject.level.name()),
            compiler: command,
            cflags: flags,
            sources,
            include_dirs: subject.include_dirs.clone(),
            libs: subject.libs.clone(),
            adapter: adapter(subject, operations),
        };
        Ok((made, fact))
    }
}

/// Objects of an implementation's own sources.
fn objects(cross: &Cross, subject: &Subject, sources: &[PathBuf], flags: &[String], dir: &Path) -> Result<Vec<PathBuf>, LabError> {
    let mut objects = vec![];
    for (n, source) in sources.iter().enumerate() {
        let object = dir.join(format!("own{n}.o"));
        cross.object(source, flags, &subject.include_dirs, &object)?;
        objects.push(object);
    }
    Ok(objects)
}

impl Timed {
    fn outcome(&self, name: &str, calls: &[Call], operation: usize) -> Result<Outcome, LabError> {
        let op = self.operations.get(operation).ok_or_else(|| no_operation(operation))?;
        let row = self.run.rows.iter().find(|r| r.implementation == name && r.op == op.name);
        let row = row.ok_or_else(|| LabError::BadJob(format!("{name}: no samples of {}", op.name)))?;
        Ok(Outcome { left: left(&calls[operation], &row.result), measures: measures(row) })
    }
}

fn measures(row: &HostRow) -> Measures {
    let round = |x: f64| x.round() as u64;
    Measures {
        cycles: round(row.cycles_core.median),
        spread: Some([round(row.cycles_core.p10), round(row.cycles_core.p90)]),
        instret: row.instructions,
        per_second: Some(row.ops_per_second),
        ..Measures::default()
    }
}

fn left(call: &Call, result: &[u8]) -> CallOutput {
    let ret = result.get(..8).map_or(0, number);
    let (offsets, _) = layout(call);
    let buffer = |(arg, at): (&Arg, &usize)| result.get(*at..*at + length(arg)?).map(<[u8]>::to_vec);
    CallOutput { ret, buffers: call.args.iter().zip(&offsets).map(buffer).collect() }
}

impl Built for Timed {
    fn facts(&self) -> &[Fact] {
        &self.facts
    }

    fn run(&mut self, operation: usize) -> Result<Vec<Outcome>, LabError> {
        self.names.iter().zip(&self.calls).map(|(name, calls)| self.outcome(name, calls, operation)).collect()
    }

    fn note(&self) -> String {
        let pinned = self.run.machine.pinned_cpu.map_or_else(|| "-".to_string(), |n| n.to_string());
        format!("{}, pinned to processor {pinned}; {}.", self.run.machine.cpu, self.run.samples())
    }

    fn raw(&self) -> Option<String> {
        serde_json::to_string_pretty(&self.run).ok().map(|t| t + "\n")
    }
}
