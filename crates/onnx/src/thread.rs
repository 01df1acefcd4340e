//! The thread that evaluates models. Results do not depend on the number of processors then, and a
//! simulation takes no more of them than it has been given.

use rten::ThreadPool;
use std::sync::{Arc, Mutex, PoisonError};

/// The thread, and the process that it belongs to: a fork has none.
static THREAD: Mutex<Option<(u32, Arc<ThreadPool>)>> = Mutex::new(None);

/// The thread of this process.
pub fn evaluating() -> Arc<ThreadPool> {
    let process = std::process::id();
    let mut thread = THREAD.lock().unwrap_or_else(PoisonError::into_inner);
    match &*thread {
        Some((of, pool)) if *of == process => Arc::clone(pool),
        _ => {
            let pool = Arc::new(ThreadPool::with_num_threads(1));
            *thread = Some((process, Arc::clone(&pool)));
            pool
        }
    }
}
