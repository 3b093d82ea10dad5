//! CKB-VM, and the guest of a zkVM: exact cycles of one call, the difference of a run with it and a run without.

use crate::ckb::{self, CkbError, CkbJob};
use crate::error::LabError;
use crate::harness::{driver, materialise, Arg, Call, Source};
use crate::profile::Leaf;
use crate::{calls, program};
use super::parts::{check, compiler, no_operation, no_subject, own, Built, Fact, Machine, Measures, Operation, Outcome, Profile, Subject};
use santoku_target::Target;

pub struct Vm {
    pub target: Target,
}

struct Made {
    elf: Vec<u8>,
    calls: Vec<Call>,
    /// Cycles and operations of a run that makes no call.
    without: (u64, u64),
    machine: ckb::Machine,
}

struct Programs {
    made: Vec<Made>,
    facts: Vec<Fact>,
}

fn lab(e: CkbError) -> LabError {
    LabError::BadJob(e.to_string())
}

impl Machine for Vm {
    fn build(&self, subjects: &[Subject], operations: &[Operation]) -> Result<Box<dyn Built>, LabError> {
        check(subjects, operations)?;
        let (mut made, mut facts) = (vec![], vec![]);
        for subject in subjects {
            let (one, fact) = self.one(subject)?;
            made.push(one);
            facts.push(fact);
        }
        Ok(Box::new(Programs { made, facts }))
    }
}

impl Vm {
    fn one(&self, subject: &Subject) -> Result<(Made, Fact), LabError> {
        let cross = compiler(&self.target, subject)?;
        let scratch = tempfile::tempdir().map_err(LabError::io(std::env::temp_dir()))?;
        let dir = scratch.path();
        let main = Source::Text { name: "main.c".into(), text: driver::selecting(&subject.calls)? };
        let mut paths = vec![];
        for (n, source) in subject.sources.iter().chain(&subject.support).chain([&main]).enumerate() {
            paths.push(materialise(dir, n, source)?.1);
        }
        let level = subject.level.flag();
        let flags: Vec<&str> = std::iter::once(level.as_str()).chain(subject.flags.iter().map(String::as_str)).collect();
        let linked = program::build(dir, &cross, &paths, &subject.include_dirs, &flags)?;
        let (size, stack) = own(&cross, &linked.objects[..subject.sources.len()])?;
        let fact = Fact {
            compiler: cross.version().to_string(),
            command: cross.compiler.command(),
            flags: [cross.flags(subject.level)?, subject.flags.clone()].concat(),
            size_bytes: Some(size),
            stack_accesses: Some(stack),
        };
        let machine = calls::virtual_machine(&cross, cross.run()?.on)?;
        let elf = std::fs::read(&linked.program).map_err(LabError::io(&linked.program))?;
        let mut one = Made { elf, calls: subject.calls.clone(), without: (0, 0), machine };
        let none = one.profile(one.calls.len())?;
        one.without = (none.run.cycles, none.operations);
        Ok((one, fact))
    }
}

impl Made {
    /// A run that makes this call, on these bytes in the place of arguments.
    fn job(&self, operation: usize, inputs: &[(usize, Vec<u8>)]) -> CkbJob {
        let mut all = vec![(driver::SELECTED.to_string(), (operation as u32).to_le_bytes().to_vec())];
        all.extend(inputs.iter().map(|(arg, bytes)| (driver::buffer(operation, *arg), bytes.clone())));
        let call = self.calls.get(operation);
        CkbJob {
            inputs: all,
            outputs: call.map(|c| calls::variables(operation, c)).unwrap_or_default(),
            max_cycles: calls::MAX_CYCLES,
            machine: self.machine,
            stack_of: call.map(|c| c.function.clone()),
            ..CkbJob::default()
        }
    }

    /// A run that makes this call, step by step; the number of calls stands for none.
    fn profile(&self, operation: usize) -> Result<ckb::Profile, LabError> {
        if operation > self.calls.len() {
            return Err(no_operation(operation));
        }
        let profile = ckb::profile(&self.elf, &self.job(operation, &[])).map_err(lab)?;
        match profile.run.exit_code {
            0 => Ok(profile),
            code => Err(LabError::ExitStatus(code as u32)),
        }
    }

    fn outcome(&self, operation: usize) -> Result<Outcome, LabError> {
        let call = self.calls.get(operation).ok_or_else(|| no_operation(operation))?;
        let profile = self.profile(operation)?;
        Ok(Outcome {
            left: calls::left(operation, call, &profile.run.outputs),
            measures: Measures {
                cycles: profile.run.cycles.saturating_sub(self.without.0),
                instret: Some(profile.operations.saturating_sub(self.without.1)),
                stack_bytes: Some(profile.stack_bytes),
                ..Measures::default()
            },
        })
    }
}

impl Built for Programs {
    fn facts(&self) -> &[Fact] {
        &self.facts
    }

    fn run(&mut self, operation: usize) -> Result<Vec<Outcome>, LabError> {
        self.made.iter().map(|m| m.outcome(operation)).collect()
    }

    fn run_on(&mut self, subject: usize, operation: usize, inputs: &[(usize, Vec<u8>)]) -> Result<Outcome, LabError> {
        let made = self.made.get(subject).ok_or_else(|| no_subject(subject))?;
        let call = made.calls.get(operation).ok_or_else(|| no_operation(operation))?;
        for (arg, bytes) in inputs {
            if !matches!(call.args.get(*arg), Some(Arg::In(old)) if old.len() == bytes.len()) {
                return Err(LabError::BadJob(format!("argument {arg} of call {operation} is no input of {} bytes", bytes.len())));
            }
        }
        let run = ckb::run(&made.elf, &made.job(operation, inputs)).and_then(|r| r.expect_exit(0)).map_err(lab)?;
        let measures = Measures { cycles: run.cycles.saturating_sub(made.without.0), ..Measures::default() };
        Ok(Outcome { left: calls::left(operation, call, &run.outputs), measures })
    }

    fn profile(&mut self, subject: usize, operation: usize, title: &str) -> Result<Profile, LabError> {
        let made = self.made.get(subject).ok_or_else(|| no_subject(subject))?;
        if operation >= made.calls.len() {
            return Err(no_operation(operation));
        }
        let profile = made.profile(operation)?;
        let leaf = |f: &ckb::FunctionCost| Leaf { function: f.name.clone(), self_cycles: f.self_cycles, inclusive_cycles: f.inclusive_cycles, calls: f.calls };
        Ok(Profile {
            leaves: profile.functions.iter().map(leaf).collect(),
            svg: profile.flame_graph(title).map_err(lab)?,
            cycles: profile.run.cycles,
        })
    }
}
