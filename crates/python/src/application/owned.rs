//! Things with a thread in the core, which end with their objects in Python.

use super::waiting::attended;
use pyo3::prelude::*;
use std::mem;
use std::ops::Deref;
use std::process;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

/// Has a thread, until it is closed.
pub trait Closes: Send + Sync + 'static {
    /// Ends it, and waits for its thread.
    fn close(&self);
}

impl Closes for client::Registration {
    fn close(&self) {
        client::Registration::close(self);
    }
}

impl Closes for client::Group {
    fn close(&self) {
        client::Group::close(self);
    }
}

/// Something that an object in Python owns. It is closed when this goes.
pub struct Owned<T: Closes> {
    inner: Arc<T>,
    /// The process that has its thread. A fork has no such thread.
    process: u32,
}

impl<T: Closes> Owned<T> {
    pub fn new(inner: T) -> Owned<T> {
        Owned { inner: Arc::new(inner), process: process::id() }
    }

    /// Ends it, and waits until its thread has ended, but `patience` seconds at most. Returns true
    /// if the thread has ended.
    pub fn close(&self, py: Python<'_>, patience: f64) -> PyResult<bool> {
        if self.process != process::id() {
            return Ok(true);
        }
        let inner = Arc::clone(&self.inner);
        let most = Duration::try_from_secs_f64(patience).unwrap_or(Duration::MAX);
        let closed = attended(py, Some(most), move || {
            inner.close();
            Ok(())
        })?;
        Ok(closed.is_some())
    }
}

impl<T: Closes> Deref for Owned<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.inner
    }
}

impl<T: Closes> Drop for Owned<T> {
    fn drop(&mut self) {
        let inner = Arc::clone(&self.inner);
        // In a fork the thread does not exist, and the connection is that of the parent.
        if self.process != process::id() {
            mem::forget(inner);
            return;
        }
        // Its thread may wait for the interpreter's lock, which this one has.
        let of_thread = Arc::clone(&inner);
        let thread = thread::Builder::new().name("weir-close".to_owned());
        if thread.spawn(move || of_thread.close()).is_err() {
            mem::forget(inner);
        }
    }
}
