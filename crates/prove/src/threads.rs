//! Work shared out among threads.
//!
//! Needs: nothing.  Keeps: results in the order of what they are of, so that they do not depend on the number of threads.  Absent on
//! purpose: queues, and work that makes work.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Mutex;

/// Stack of a thread: specification functions recurse.
const STACK_BYTES: usize = 256 << 20;

/// What `one` makes of each item, in the order of the items, on up to `threads` threads. `start` makes what a thread keeps between items.
pub fn each<I: Sync, S, T: Send>(threads: usize, items: &[I], start: impl Fn() -> S + Sync, one: impl Fn(&mut S, &I) -> T + Sync) -> Vec<T> {
    let next = AtomicUsize::new(0);
    let made: Mutex<Vec<Option<T>>> = Mutex::new(items.iter().map(|_| None).collect());
    let work = || {
        let mut own = start();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(at) else { return };
            let of = one(&mut own, item);
            // Only a whole result is ever stored, so a panic elsewhere leaves nothing half made.
            made.lock().unwrap_or_else(|e| e.into_inner())[at] = Some(of);
        }
    };
    std::thread::scope(|s| {
        let started = |_: &usize| std::thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(s, work).is_ok();
        // A thread that cannot be had leaves its share to the others, and the last share to this one.
        let wanted = threads.clamp(1, items.len().max(1));
        if (0..wanted).take_while(started).count() == 0 {
            work();
        }
    });
    made.into_inner().unwrap_or_else(|e| e.into_inner()).into_iter().flatten().collect()
}

/// Runs on a thread with the stack of the others, or here where none can be had.
pub fn on_large_stack(mut work: impl FnMut() + Send) {
    let started = std::thread::scope(|s| std::thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(s, &mut work).is_ok());
    if !started {
        work();
    }
}
