//! Interests that are sent, and answered by functions in Python, and groups: the core of
//! `weir.Application`.
//!
//! Work that waits for the network is done in threads of its own, without the interpreter's lock.

mod cancel;
mod group;
mod owned;
mod packets;
mod registration;
mod waiting;

use cancel::Cancel;
use client::Trust;
use group::Group;
use packets::{Answer, Interest};
use pyo3::prelude::*;
use registration::{Registration, Responder};
use waiting::done;

/// A Data packet: name, content, type of the content, seconds of freshness, `key`, `digest` or
/// `unchecked`, and the key.
type Packet = (String, Vec<u8>, u64, Option<f64>, &'static str, Option<String>);

/// A forwarder, rules of trust, and a key.
#[pyclass(frozen, module = "weir._weir")]
struct Client(client::Client);

/// The rules of these anchors; without any, the user's own keys are checked.
fn trust(anchors: Vec<String>) -> Trust {
    if anchors.is_empty() { Trust::OwnKeys } else { Trust::Anchors(anchors) }
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
