//! Checking and proving, beside the editor.
//!
//! Two threads: one answers quickly (errors, then ranges), one proves. Each takes the newest job of a file and drops older ones.

use crate::world::World;
use crossbeam_channel::{unbounded, Receiver, Sender};
use santoku_diag::Diagnostic;
use santoku_driver::{interface, prove, prover_fault, ranges, Checked, Failure, Report};
use santoku_ir::Program;
use std::collections::BTreeMap;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::Arc;

/// A text to look at.
#[derive(Clone)]
pub struct Job {
    pub path: String,
    pub version: i32,
    /// Texts of open documents by path.
    pub open: Arc<BTreeMap<String, String>>,
}

/// What came of a job.
pub struct Done {
    pub path: String,
    pub version: i32,
    pub what: What,
}

pub enum What {
    Checked(Arc<Checked>),
    Refused(Failure),
    Ranges(Arc<Program>),
    Proved(Arc<Report>),
}

/// The two threads.
pub struct Work {
    check: Sender<Job>,
    prove: Sender<Job>,
    pub done: Receiver<Done>,
}

/// As much as the command's own thread has: trees are at most a few hundred levels high.
const STACK_BYTES: usize = 256 << 20;
/// Threads of one proof; the editor has something to do as well.
const THREADS: usize = 2;

impl Work {
    /// # Errors
    /// No thread can be started.
    pub fn start(world: &Arc<dyn World>) -> std::io::Result<Work> {
        let (tell, done) = unbounded();
        let (check, checks) = unbounded();
        let (prove, proofs) = unbounded();
        run(world.clone(), checks, tell.clone(), check_one)?;
        run(world.clone(), proofs, tell, prove_one)?;
        Ok(Work { check, prove, done })
    }

    pub fn check(&self, job: Job) {
        // A thread that is gone has told why.
        let _ = self.check.send(job);
    }

    pub fn prove(&self, job: Job) {
        let _ = self.prove.send(job);
    }
}

type Task = fn(&dyn World, &Job, &mut dyn FnMut(What));

fn run(world: Arc<dyn World>, jobs: Receiver<Job>, tell: Sender<Done>, task: Task) -> std::io::Result<()> {
    let work = move || {
        let mut waiting: Vec<Job> = vec![];
        while let Some(job) = next(&mut waiting, &jobs) {
            let mut say = |what| {
                let _ = tell.send(Done { path: job.path.clone(), version: job.version, what });
            };
            if catch_unwind(AssertUnwindSafe(|| task(&*world, &job, &mut say))).is_err() {
                say(What::Refused(Failure::internal("lsp", "a panic; the log has its place")));
            }
        }
    };
    std::thread::Builder::new().stack_size(STACK_BYTES).spawn(work).map(|_| ())
}

/// The job that waits for longest, in its newest form. `None`: nobody will send one.
fn next(waiting: &mut Vec<Job>, jobs: &Receiver<Job>) -> Option<Job> {
    if waiting.is_empty() {
        waiting.push(jobs.recv().ok()?);
    }
    for job in jobs.try_iter() {
        match waiting.iter_mut().find(|w| w.path == job.path) {
            Some(older) => *older = job,
            None => waiting.push(job),
        }
    }
    Some(waiting.remove(0))
}

fn checked(world: &dyn World, job: &Job) -> Result<Checked, Failure> {
    let mut texts = |path: &str| -> Result<Option<String>, Diagnostic> {
        match job.open.get(path) {
            Some(text) => Ok(Some(text.clone())),
            None => world.text(path),
        }
    };
    let checked = world.check(&job.path, &mut texts)?;
    interface(&checked)?;
    Ok(checked)
}

fn check_one(world: &dyn World, job: &Job, tell: &mut dyn FnMut(What)) {
    match checked(world, job) {
        Ok(found) => {
            let found = Arc::new(found);
            tell(What::Checked(found.clone()));
            tell(What::Ranges(Arc::new(ranges(&found))));
        }
        Err(failure) => tell(What::Refused(failure)),
    }
}

/// A program with errors is left to [`check_one`], which tells them.
fn prove_one(world: &dyn World, job: &Job, tell: &mut dyn FnMut(What)) {
    let Ok(found) = checked(world, job) else { return };
    let report = prove(&found, world.store(), THREADS);
    match prover_fault(&found, &report) {
        Some(failure) => tell(What::Refused(failure)),
        None => tell(What::Proved(Arc::new(report))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_text_of_a_file_is_looked_at() {
        let (send, jobs) = unbounded();
        let job = |path: &str, version| Job { path: path.into(), version, open: Arc::default() };
        for (path, version) in [("a", 1), ("b", 1), ("a", 2), ("b", 2), ("a", 3)] {
            send.send(job(path, version)).unwrap();
        }
        drop(send);
        let mut waiting = vec![];
        let order: Vec<(String, i32)> = std::iter::from_fn(|| next(&mut waiting, &jobs)).map(|j| (j.path, j.version)).collect();
        assert_eq!(order, [("a".to_string(), 3), ("b".to_string(), 2)]);
    }
}
