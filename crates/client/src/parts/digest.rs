//! The digests of an object, computed on all cores.

use std::sync::Mutex;
use std::thread;
use transport::publish::{Preparation, PublishError, Source};

/// Hashes an object on all cores, and reports the number of hashed bytes. Returns false if it was
/// stopped.
///
/// # Errors
/// The source cannot be read, or a packet would be too large.
pub fn digest<S: Source>(
    preparation: &mut Preparation<S>,
    at: &dyn Fn(u64),
    is_stopped: &(dyn Fn() -> bool + Sync),
) -> Result<bool, PublishError> {
    // There may be more runs than memory for all of them.
    let mut runs = preparation.runs();
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let mut done = 0;
    // A batch at a time keeps the digests in order and the memory small.
    loop {
        let batch: Vec<_> = runs.by_ref().take(threads * 16).collect();
        if batch.is_empty() {
            return Ok(true);
        }
        let results = Mutex::new(Vec::with_capacity(batch.len()));
        thread::scope(|scope| {
            for first in 0..threads {
                let (preparation, results, batch) = (&*preparation, &results, &batch);
                scope.spawn(move || {
                    for (i, run) in batch.iter().enumerate().skip(first).step_by(threads) {
                        // A run takes half a second where each of its segments is signed by RSA.
                        if is_stopped() {
                            return;
                        }
                        let digests = preparation.digest_run(run.clone());
                        if let Ok(mut results) = results.lock() {
                            results.push((i, digests));
                        }
                    }
                });
            }
        });
        if is_stopped() {
            return Ok(false);
        }
        let mut results = results.into_inner().unwrap_or_default();
        results.sort_by_key(|(i, _)| *i);
        for (_, digests) in results {
            preparation.push(digests?)?;
        }
        done += batch.iter().map(|run| preparation.bytes(run)).sum::<u64>();
        at(done);
    }
}
