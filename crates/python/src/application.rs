//! Interests that are sent, and answered by functions in Python, and groups: the core of
//! `weir.Application`.
//!
//! Work that waits for the network is done in threads of its own, without the interpreter's lock.

mod group;
mod owned;
mod packets;
mod registration;

use crate::errors::{of_client, raise};
use client::Trust;
use group::Group;
use packets::{Answer, Interest};
use pyo3::prelude::*;
use registration::{Registration, Responder};
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

/// How often signals are looked at.
const TICK: Duration = Duration::from_millis(50);

/// A Data packet: name, content, type of the content, seconds of freshness, `key`, `digest` or
/// `unchecked`, and the key.
type Packet = (String, Vec<u8>, u64, Option<f64>, &'static str, Option<String>);

/// Cancels an Interest from another thread.
#[pyclass(frozen, module = "weir._weir")]
struct Cancel(client::Cancel);

#[pymethods]
impl Cancel {
    #[new]
    fn new() -> Cancel {
        Cancel(client::Cancel::new())
    }

    fn cancel(&self) {
        self.0.cancel();
    }
}

/// A forwarder, rules of trust, and a key.
#[pyclass(frozen, module = "weir._weir")]
struct Client(client::Client);

/// The rules of these anchors; without any, the user's own keys are checked.
fn trust(anchors: Vec<String>) -> Trust {
    if anchors.is_empty() { Trust::OwnKeys } else { Trust::Anchors(anchors) }
}

/// Does `work` in a thread, while this one answers signals, for at most this time; `None` if it
/// takes longer. Then, and after a signal that raises an exception, the thread is left alone, and
/// its result is dropped.
fn attended<T: Send + 'static>(
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
fn done<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce() -> Result<T, client::Error> + Send + 'static,
) -> PyResult<T> {
    attended(py, None, work)?.ok_or_else(|| defect(py))
}

fn defect(py: Python<'_>) -> PyErr {
    raise(py, "TransferError", ("a defect of Weir ended the operation; report it",))
}

#[pymethods]
impl Client {
    #[new]
    fn new(
        py: Python<'_>,
        forwarder: String,
        anchors: Vec<String>,
        key: Option<String>,
    ) -> PyResult<Client> {
        let builder = client::Client::builder().forwarder(forwarder).trust(trust(anchors));
        let builder = match key {
            Some(key) => builder.key(key),
            None => builder,
        };
        Ok(Client(done(py, || builder.connect())?))
    }

    /// Sends an Interest, and returns the verified packet. `anchors` replace those of the client.
    #[pyo3(signature = (interest, cancel, anchors = None))]
    fn express(
        &self,
        py: Python<'_>,
        interest: &Bound<'_, Interest>,
        cancel: &Bound<'_, Cancel>,
        anchors: Option<Vec<String>>,
    ) -> PyResult<Packet> {
        let (client, interest) = (self.0.clone(), interest.get().0.clone());
        let (trust, cancel) = (anchors.map(trust), cancel.get().0.clone());
        let of_thread = cancel.clone();
        let data = done(py, move || client.express_until(&interest, trust.as_ref(), &of_thread))
            .inspect_err(|_| cancel.cancel())?;
        let (verified, key) = packets::proof(&data.verified);
        let freshness = data.freshness.map(|freshness| freshness.as_secs_f64());
        Ok((data.name.to_string(), data.content, data.content_type, freshness, verified, key))
    }

    /// Answers Interests under `prefix`. `handler` is called with each in the thread of the
    /// registration, and returns an `Answer`, or None to reject it. If it `is_deferred`, it also
    /// gets a `Responder`, and its result is ignored.
    fn register(
        &self,
        py: Python<'_>,
        prefix: String,
        key: Option<String>,
        handler: Py<PyAny>,
        is_deferred: bool,
    ) -> PyResult<Registration> {
        let client = self.0.clone();
        let started =
            done(py, move || registration::start(&client, &prefix, key, handler, is_deferred))?;
        Ok(Registration::new(started))
    }

    /// Joins a group. `bounds` are the publications that are fetched on joining, the own ones that
    /// are kept, and those that wait for `next`; None is the default.
    fn join(
        &self,
        py: Python<'_>,
        group: String,
        member: String,
        key: Option<String>,
        bounds: [Option<usize>; 3],
    ) -> PyResult<Group> {
        let client = self.0.clone();
        done(py, move || Group::join(&client, &group, &member, key, bounds))
    }
}

/// Adds the classes of this file.
pub fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Answer>()?;
    module.add_class::<Cancel>()?;
    module.add_class::<Client>()?;
    module.add_class::<Group>()?;
    module.add_class::<Interest>()?;
    module.add_class::<Registration>()?;
    module.add_class::<Responder>()
}
