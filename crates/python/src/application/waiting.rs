//! Waiting for the network in threads, while signals are answered.

use crate::errors::{of_client, raise};
use pyo3::prelude::*;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// How often signals are looked at.
pub const TICK: Duration = Duration::from_millis(50);

/// Does `work` in a thread, while this one answers signals, for at most this time; `None` if it
/// takes longer. Then, and after a signal that raises an exception, the thread is left alone, and
/// its result is dropped.
pub fn attended<T: Send + 'static>(
    py: Python<'_>,
    most: Option<Duration>,
    work: impl FnOnce() -> Result<T, client::Error> + Send + 'static,
) -> PyResult<Option<T>> {
    let (sender, receiver) = mpsc::channel();
    thread::Builder::new().name("weir-client".to_owned()).spawn(move || {
        let _ = sender.send(work());
    })?;
    let receiver = Mutex::new(receiver);
    let mut left = most.unwrap_or(Duration::MAX);
    loop {
        let tick = left.min(TICK);
        let next = py
            .detach(|| receiver.lock().unwrap_or_else(PoisonError::into_inner).recv_timeout(tick));
        match next {
            Ok(result) => return result.map(Some).map_err(|error| of_client(py, &error)),
            Err(RecvTimeoutError::Timeout) => py.check_signals()?,
            Err(RecvTimeoutError::Disconnected) => return Err(defect(py)),
        }
        left -= tick;
        if left.is_zero() {
            return Ok(None);
        }
    }
}

/// As `attended`, for as long as it takes.
pub fn done<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce() -> Result<T, client::Error> + Send + 'static,
) -> PyResult<T> {
    attended(py, None, work)?.ok_or_else(|| defect(py))
}

fn defect(py: Python<'_>) -> PyErr {
    raise(py, "TransferError", ("a defect of Weir ended the operation; report it",))
}
