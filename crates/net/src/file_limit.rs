//! The limit on the length of files, RLIMIT_FSIZE of setrlimit(2), as `ulimit -f` sets it.

use signal_hook::consts::SIGXFSZ;
use std::sync::Arc;

/// Makes a write beyond the limit an error (EFBIG) for this process. Without a handler, the signal
/// that comes with it ends the process before it can report anything or remove its files.
pub fn make_it_an_error() {
    // Only unknown signals fail.
    let _ = signal_hook::flag::register(SIGXFSZ, Arc::default());
}
