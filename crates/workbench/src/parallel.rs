//! Independent jobs on a few threads; results in the order of the jobs.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Mutex;

/// Stack of a working thread: passes descend trees of a few hundred levels, debug builds need much per level.
const STACK_BYTES: usize = 256 << 20;

/// `work` on every item, at most `threads` at a time.
///
/// # Errors
/// That of the first failing item, in item order; items not begun by then are not run.
pub fn map<T: Sync, R: Send, E: Send>(items: &[T], threads: usize, work: impl Fn(&T) -> Result<R, E> + Sync) -> Result<Vec<R>, E> {
    let next = AtomicUsize::new(0);
    let slots: Vec<Mutex<Option<Result<R, E>>>> = items.iter().map(|_| Mutex::new(None)).collect();
    let worker = || loop {
        let at = next.fetch_add(1, Ordering::Relaxed);
        let Some(item) = items.get(at) else { return };
        let done = work(item);
        if done.is_err() {
            next.store(items.len(), Ordering::Relaxed);
        }
        *slots[at].lock().unwrap_or_else(std::sync::PoisonError::into_inner) = Some(done);
    };
    std::thread::scope(|scope| {
        for _ in 1..threads.min(items.len()) {
            // Fewer threads than wished do the same work.
            let _ = std::thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, worker);
        }
        if let Ok(own) = std::thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, worker) {
            let _ = own.join();
        } else {
            worker();
        }
    });
    let done = slots.into_iter().filter_map(|s| s.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner));
    done.collect()
}

/// `work` on every item, at most `threads` at a time; what it makes of each goes to `take` in item order, as soon as those before it did.
///
/// # Errors
/// The first of `take`; items not begun by then are not worked on.
pub fn in_order<T: Sync, R: Send, E>(items: &[T], threads: usize, work: impl Fn(&T) -> R + Sync, mut take: impl FnMut(&T, R) -> Result<(), E>) -> Result<(), E> {
    let next = AtomicUsize::new(0);
    let (sender, receiver) = std::sync::mpsc::channel();
    let worker = |sender: std::sync::mpsc::Sender<(usize, R)>| loop {
        let at = next.fetch_add(1, Ordering::Relaxed);
        let Some(item) = items.get(at) else { return };
        if sender.send((at, work(item))).is_err() {
            return;
        }
    };
    std::thread::scope(|scope| {
        let started = (0..threads.clamp(1, items.len().max(1))).filter(|_| {
            let sender = sender.clone();
            std::thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, || worker(sender)).is_ok()
        });
        if started.count() == 0 {
            worker(sender.clone());
        }
        drop(sender);
        let (mut waiting, mut expected) = (BTreeMap::new(), 0);
        for (at, done) in receiver {
            waiting.insert(at, done);
            while let Some(done) = waiting.remove(&expected) {
                if let Err(e) = take(&items[expected], done) {
                    next.store(items.len(), Ordering::Relaxed);
                    return Err(e);
                }
                expected += 1;
            }
        }
        Ok(())
    })
}

/// Threads for work that only computes; timings run alone.
pub fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

#[cfg(test)]
mod tests {
    #[test]
    fn results_keep_the_order_of_the_jobs() {
        let items: Vec<u32> = (0..100).collect();
        let done: Result<Vec<u32>, ()> = super::map(&items, 4, |n| Ok(n * n));
        assert_eq!(done, Ok(items.iter().map(|n| n * n).collect()));
        let none: Result<Vec<u32>, ()> = super::map(&[], 4, |n: &u32| Ok(*n));
        assert_eq!(none, Ok(vec![]));
    }

    #[test]
    fn what_is_made_is_taken_in_order_up_to_a_failure() {
        let items: Vec<u64> = (0..40).collect();
        let late = |n: &u64| {
            std::thread::sleep(std::time::Duration::from_millis((n * 7) % 5));
            n * n
        };
        let mut taken = vec![];
        assert_eq!(super::in_order(&items, 3, late, |n, square| if *n == 30 { Err(*n) } else { Ok(taken.push(square)) }), Err(30));
        assert_eq!(taken, (0..30).map(|n| n * n).collect::<Vec<u64>>());
        assert_eq!(super::in_order(&[], 3, late, |_, _| Err(())), Ok(()));
    }

    #[test]
    fn a_failure_is_the_result() {
        let items: Vec<u32> = (0..50).collect();
        let done = super::map(&items, 3, |n| if *n == 7 { Err(*n) } else { Ok(*n) });
        assert_eq!(done, Err(7));
    }
}
