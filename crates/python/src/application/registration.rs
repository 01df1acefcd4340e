//! Registrations, whose handlers are functions of Python.

use super::owned::Owned;
use super::packets::{Answer, Interest};
use crate::errors::of_client;
use client::{Client, Error, RegisterOptions, Reply};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use std::sync::{Mutex, PoisonError};

/// Begins a registration.
pub fn start(
    client: &Client,
    prefix: &str,
    key: Option<String>,
    handler: Py<PyAny>,
    is_deferred: bool,
) -> Result<client::Registration, Error> {
    let options = match key {
        Some(key) => RegisterOptions::default().key(key),
        None => RegisterOptions::default(),
    };
    if !is_deferred {
        return client.register_with(prefix, &options, move |interest| {
            // The interpreter has ended: the process ends soon.
            let reply = Python::try_attach(|py| call(py, &handler, interest));
            reply.unwrap_or_else(|| Some(Reply::silence()))
        });
    }
    client.register_deferred(prefix, &options, move |interest, responder| {
        Python::try_attach(|py| {
            let responder = Responder(Mutex::new(Some(responder)));
            let interest = Interest(interest.clone());
            if let Err(error) = handler.call1(py, (interest, responder)) {
                error.write_unraisable(py, None);
            }
        });
    })
}

/// Calls the handler, which reports its failures itself.
fn call(py: Python<'_>, handler: &Py<PyAny>, interest: &client::Interest) -> Option<Reply> {
    let answer = handler.call1(py, (Interest(interest.clone()),)).and_then(|answer| {
        if answer.is_none(py) {
            return Ok(None);
        }
        let answer = answer.into_bound(py);
        let answer = answer.cast::<Answer>().map_err(|_| PyTypeError::new_err("no `Answer`"))?;
        Ok(Some(answer.get().0.clone()))
    });
    answer.unwrap_or_else(|error| {
        error.write_unraisable(py, None);
        Some(Reply::failure())
    })
}

/// Replies to one Interest.
#[pyclass(frozen, module = "weir._weir")]
pub struct Responder(Mutex<Option<client::Responder>>);

#[pymethods]
impl Responder {
    /// True if a reply has no effect: there was one, or the connection of the Interest is lost.
    #[getter]
    fn is_void(&self) -> bool {
        let responder = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        responder.as_ref().is_none_or(client::Responder::is_void)
    }

    /// Replies; None rejects the Interest. Only the first reply counts.
    fn reply(&self, answer: Option<&Bound<'_, Answer>>) {
        let responder = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(responder) = responder {
            responder.reply(answer.map(|answer| answer.get().0.clone()));
        }
    }
}

/// A prefix that a handler answers for. It ends when this object goes.
#[pyclass(frozen, module = "weir._weir")]
pub struct Registration(Owned<client::Registration>);

impl Registration {
    pub fn new(registration: client::Registration) -> Registration {
        Registration(Owned::new(registration))
    }
}

#[pymethods]
impl Registration {
    #[getter]
    fn prefix(&self) -> String {
        self.0.prefix().to_string()
    }

    /// The numbers of Interests that were answered, rejected, and that failed.
    #[getter]
    fn counts(&self) -> (u64, u64, u64) {
        (self.0.answered(), self.0.rejected(), self.0.failed())
    }

    /// The exception that has ended it, or None.
    #[getter]
    fn error(&self, py: Python<'_>) -> Option<PyErr> {
        self.0.error().map(|error| of_client(py, &error))
    }

    /// Ends it, and waits until its thread has ended, but `patience` seconds at most. Returns true
    /// if the thread has ended.
    fn close(&self, py: Python<'_>, patience: f64) -> PyResult<bool> {
        self.0.close(py, patience)
    }
}
