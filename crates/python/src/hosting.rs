//! The state that a run shares with the schemes in Python that it calls: the fault that ends the
//! run, and the time that a call takes.

use control::Time;
use pyo3::prelude::*;
use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Why a scheme ended its run.
pub enum Cause {
    /// It raised an exception.
    Raised(PyErr),
    /// It gave a value that it may not give.
    Wrong(String),
    /// It did not return. The text is its stack.
    Blocked(String),
}

/// The fault of a scheme.
pub struct Fault {
    /// The scheme's name.
    pub scheme: String,
    /// When, in simulated time.
    pub at: Time,
    /// Why.
    pub cause: Cause,
}

/// A run, as its schemes in Python know it.
pub struct Hosted {
    origin: Instant,
    fault: Mutex<Option<Fault>>,
    has_fault: AtomicBool,
    /// Microseconds from the origin to the beginning of the call that is under way, and 1; 0
    /// between calls.
    began: AtomicU64,
    /// The simulated time of that call.
    at: AtomicU64,
    /// The scheme that is called.
    scheme: Mutex<String>,
    /// The interpreter's name of the thread; 0 before the first call.
    thread: AtomicU64,
}

thread_local! {
    static CURRENT: RefCell<Option<Arc<Hosted>>> = const { RefCell::new(None) };
}

#[expect(clippy::disallowed_methods, reason = "a driver: calls of schemes have a limit of time")]
fn now() -> Instant {
    Instant::now()
}

impl Hosted {
    pub fn new() -> Arc<Hosted> {
        Arc::new(Hosted {
            origin: now(),
            fault: Mutex::new(None),
            has_fault: AtomicBool::new(false),
            began: AtomicU64::new(0),
            at: AtomicU64::new(0),
            scheme: Mutex::new(String::new()),
            thread: AtomicU64::new(0),
        })
    }

    /// The run of this thread. A part that is built outside of a run has one of its own, which ends
    /// nothing.
    pub fn current() -> Arc<Hosted> {
        CURRENT.with_borrow(Option::clone).unwrap_or_else(Hosted::new)
    }

    /// Calls `work` with this as the run of the thread.
    pub fn enter<T>(self: &Arc<Hosted>, work: impl FnOnce() -> T) -> T {
        let before = CURRENT.replace(Some(Arc::clone(self)));
        let result = work();
        CURRENT.set(before);
        result
    }

    /// Calls Python for a scheme. `None` after the first fault: a scheme that is broken is not
    /// called again, and its part stays as it is until the run has ended.
    pub fn call<T>(
        &self,
        scheme: &str,
        at: Time,
        work: impl FnOnce(Python<'_>) -> Result<T, Cause>,
    ) -> Option<T> {
        if self.is_broken() {
            return None;
        }
        let outcome = Python::attach(|py| {
            self.begin(py, scheme, at);
            let outcome = work(py);
            self.began.store(0, Ordering::Relaxed);
            outcome
        });
        match outcome {
            Ok(value) => Some(value),
            Err(cause) => {
                self.fail(Fault { scheme: scheme.to_owned(), at, cause });
                None
            }
        }
    }

    fn begin(&self, py: Python<'_>, scheme: &str, at: Time) {
        if self.thread.load(Ordering::Relaxed) == 0 {
            let ident = py.import("threading").and_then(|m| m.call_method0("get_ident"));
            let ident = ident.and_then(|ident| ident.extract::<u64>()).unwrap_or(0);
            self.thread.store(ident, Ordering::Relaxed);
        }
        let mut name = self.scheme.lock().unwrap_or_else(PoisonError::into_inner);
        if *name != scheme {
            scheme.clone_into(&mut name);
        }
        drop(name);
        self.at.store(at.0, Ordering::Relaxed);
        let micros = u64::try_from(self.origin.elapsed().as_micros()).unwrap_or(u64::MAX - 1);
        self.began.store(micros + 1, Ordering::Relaxed);
    }

    /// Keeps the first fault.
    pub fn fail(&self, fault: Fault) {
        self.fault.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(fault);
        self.has_fault.store(true, Ordering::Release);
    }

    pub fn is_broken(&self) -> bool {
        self.has_fault.load(Ordering::Acquire)
    }

    pub fn take_fault(&self) -> Option<Fault> {
        self.fault.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// The thread whose call has taken longer than `patience`, once: its fault is noted.
    pub fn overdue(&self, py: Python<'_>, patience: Duration) -> Option<u64> {
        let began = self.began.load(Ordering::Relaxed).checked_sub(1)?;
        let taken = self.origin.elapsed().saturating_sub(Duration::from_micros(began));
        if taken < patience || self.is_broken() {
            return None;
        }
        let thread = self.thread.load(Ordering::Relaxed);
        let stack = py
            .import("weir._errors")
            .and_then(|module| module.call_method1("stack_of", (thread,)))
            .and_then(|text| text.extract::<String>())
            .unwrap_or_default();
        let scheme = self.scheme.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let at = Time(self.at.load(Ordering::Relaxed));
        self.fail(Fault { scheme, at, cause: Cause::Blocked(stack) });
        Some(thread)
    }
}
