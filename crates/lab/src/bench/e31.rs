//! The simulated SiFive E31.

use crate::calls::RAM_BYTES;
use crate::cross::Cross;
use crate::error::LabError;
use crate::harness::{Constants, Program, Rv32Job, Rv32Run, Toolchain};
use crate::profile::{flamegraph_svg, leaf_table};
use crate::rv32::{Config, Measure};
use super::parts::{check, no_operation, no_subject, Built, Fact, Machine, Measures, Operation, Outcome, Profile, Subject};
use super::spills::StackAccesses;

pub struct E31;

struct Made {
    subject: Subject,
    program: Program,
    ran: Option<Rv32Run>,
    bounds: Vec<Option<u64>>,
}

struct Programs {
    toolchain: Toolchain,
    made: Vec<Made>,
    facts: Vec<Fact>,
}

impl Machine for E31 {
    fn build(&self, subjects: &[Subject], operations: &[Operation]) -> Result<Box<dyn Built>, LabError> {
        check(subjects, operations)?;
        let toolchain = Toolchain::find()?;
        let (mut made, mut facts) = (vec![], vec![]);
        for subject in subjects {
            let program = toolchain.build(&job(subject))?;
            let bounds = subject.calls.iter().map(|c| program.stack_bound(&c.function).ok().map(|b| b.bytes)).collect();
            facts.push(Fact {
                compiler: program.compiler.clone(),
                command: toolchain.cross().compiler.command(),
                flags: program.flags.clone(),
                size_bytes: Some(program.size_bytes()?),
                stack_accesses: Some(stack_accesses(toolchain.cross(), &program)?),
            });
            made.push(Made { subject: subject.clone(), program, ran: None, bounds });
        }
        Ok(Box::new(Programs { toolchain, made, facts }))
    }
}

fn job(subject: &Subject) -> Rv32Job {
    Rv32Job {
        support: subject.support.clone(),
        include_dirs: subject.include_dirs.clone(),
        code: subject.code,
        level: subject.level,
        constants: Constants::Flash,
        flags: subject.flags.clone(),
        ram_bytes: RAM_BYTES,
        ..Rv32Job::new(subject.sources.clone(), subject.calls.clone())
    }
}

fn stack_accesses(cross: &Cross, program: &Program) -> Result<StackAccesses, LabError> {
    let dir = tempfile::tempdir().map_err(LabError::io(std::env::temp_dir()))?;
    let mut objects = vec![];
    for (n, object) in program.objects.iter().enumerate() {
        let path = dir.path().join(format!("{n}.o"));
        std::fs::write(&path, &object.bytes).map_err(LabError::io(&path))?;
        objects.push(path);
    }
    super::spills::count(cross, &objects)
}

fn config() -> Config {
    Config { step_limit: u64::MAX, ..Config::default() }
}

impl Programs {
    fn outcome(&self, subject: usize, operation: usize, ran: &Rv32Run) -> Result<Outcome, LabError> {
        let (Some(left), Some(window)) = (ran.outputs.get(operation), ran.run.windows.get(operation)) else { return Err(no_operation(operation)) };
        Ok(Outcome { left: left.clone(), measures: measures(window, self.made[subject].bounds[operation]) })
    }
}

fn measures(m: &Measure, bound: Option<u64>) -> Measures {
    Measures {
        cycles: m.cycles_core,
        cycles_board: Some(m.cycles_board),
        instret: Some(m.instret),
        icache_misses: Some(m.icache_misses),
        flash_words: Some(m.flash_words),
        stack_bytes: Some(u64::from(m.stack_bytes)),
        stack_bound_bytes: bound,
        trace_hash: Some(m.trace_hash),
        ..Measures::default()
    }
}

impl Built for Programs {
    fn facts(&self) -> &[Fact] {
        &self.facts
    }

    fn run(&mut self, operation: usize) -> Result<Vec<Outcome>, LabError> {
        let mut all = vec![];
        for subject in 0..self.made.len() {
            let ran = match self.made[subject].ran.take() {
                Some(ran) => ran,
                None => self.made[subject].program.run(&config())?,
            };
            all.push(self.outcome(subject, operation, &ran));
            self.made[subject].ran = Some(ran);
        }
        all.into_iter().collect()
    }

    fn run_on(&mut self, subject: usize, operation: usize, inputs: &[(usize, Vec<u8>)]) -> Result<Outcome, LabError> {
        let made = self.made.get(subject).ok_or_else(|| no_subject(subject))?;
        let mut other = made.program.clone();
        for (arg, bytes) in inputs {
            other.set_input(operation, *arg, bytes)?;
        }
        let ran = other.run(&config())?;
        self.outcome(subject, operation, &ran)
    }

    fn profile(&mut self, subject: usize, operation: usize, title: &str) -> Result<Profile, LabError> {
        let made = self.made.get(subject).ok_or_else(|| no_subject(subject))?;
        // The tree is that of the last window.
        let call = made.subject.calls.get(operation).ok_or_else(|| no_operation(operation))?;
        let alone = Subject { calls: vec![call.clone()], ..made.subject.clone() };
        let ran = self.toolchain.build(&job(&alone))?.run(&Config { profile: true, ..config() })?;
        let calls = ran.run.calls.ok_or_else(|| LabError::BadJob("the run kept no call tree".into()))?;
        let cycles = ran.run.windows.last().map_or(0, |w| w.cycles_core);
        Ok(Profile { leaves: leaf_table(&calls), svg: flamegraph_svg(&calls, title)?, cycles })
    }
}
