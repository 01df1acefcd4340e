//! Members of groups: State Vector Sync.

use super::cancel::Cancel;
use super::owned::Owned;
use super::packets::proof;
use super::waiting::TICK;
use crate::errors::of_client;
use client::{Client, Error, JoinOptions, MemberPublication};
use pyo3::prelude::*;
use std::time::Duration;

/// A publication: member, start, number, content, `key`, the key, and whether it is late.
type Publication = (String, u64, u64, Vec<u8>, &'static str, Option<String>, bool);

/// A member of a group. It leaves when this object goes.
#[pyclass(frozen, module = "weir._weir")]
pub struct Group(Owned<client::Group>);

impl Group {
    /// Joins. Blocks.
    pub fn join(
        client: &Client,
        group: &str,
        member: &str,
        key: Option<String>,
        [history, keep, waiting]: [Option<usize>; 3],
    ) -> Result<Group, Error> {
        let mut options = JoinOptions::default();
        if let Some(key) = key {
            options = options.key(key);
        }
        if let Some(history) = history {
            options = options.history(history);
        }
        if let Some(keep) = keep {
            options = options.keep(keep);
        }
        if let Some(waiting) = waiting {
            options = options.waiting(waiting);
        }
        Ok(Group(Owned::new(client.join(group, member, &options)?)))
    }

    /// Looks for something again and again, while signals are answered, until it is there, or
    /// `timeout` is over: in seconds, or None for no limit. After `cancel` it raises.
    fn wait<T: Send>(
        &self,
        py: Python<'_>,
        timeout: Option<f64>,
        cancel: &Bound<'_, Cancel>,
        look: impl Fn(&client::Group, Duration) -> Result<Option<T>, Error> + Sync,
    ) -> PyResult<Option<T>> {
        let timeout = timeout.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        let mut left = timeout.unwrap_or(Duration::MAX);
        loop {
            let tick = left.min(TICK);
            let found = py.detach(|| look(&self.0, tick));
            if let Some(found) = found.map_err(|error| of_client(py, &error))? {
                return Ok(Some(found));
            }
            py.check_signals()?;
            if cancel.get().0.is_cancelled() {
                return Err(of_client(py, &Error::Cancelled));
            }
            left -= tick;
            if left.is_zero() {
                return Ok(None);
            }
        }
    }

    /// The same for something that only is so, or not.
    fn wait_until(
        &self,
        py: Python<'_>,
        timeout: Option<f64>,
        cancel: &Bound<'_, Cancel>,
        is_so: fn(&client::Group, Duration) -> Result<bool, Error>,
    ) -> PyResult<bool> {
        let so =
            self.wait(py, timeout, cancel, |group, tick| Ok(is_so(group, tick)?.then_some(())))?;
        Ok(so.is_some())
    }
}

#[pymethods]
impl Group {
    /// The group, the member, and the start of the member in seconds since 1970.
    #[getter]
    fn about(&self) -> (String, String, u64) {
        (self.0.name().to_string(), self.0.member().to_string(), self.0.boot())
    }

    /// Publishes, and returns the number.
    fn publish(&self, py: Python<'_>, content: Vec<u8>) -> PyResult<u64> {
        let published = py.detach(|| self.0.publish(content));
        published.map_err(|error| of_client(py, &error))
    }

    /// The next publication of another member, or None.
    fn next(
        &self,
        py: Python<'_>,
        timeout: Option<f64>,
        cancel: &Bound<'_, Cancel>,
    ) -> PyResult<Option<Publication>> {
        let next = self.wait(py, timeout, cancel, client::Group::next)?;
        Ok(next.map(|one: MemberPublication| {
            let (verified, key) = proof(&one.verified);
            let member = one.member.to_string();
            (member, one.boot, one.seq, one.content, verified, key, one.is_late)
        }))
    }

    /// Waits until `next` returns at once. False if `timeout` is over first.
    fn wait_until_ready(
        &self,
        py: Python<'_>,
        timeout: Option<f64>,
        cancel: &Bound<'_, Cancel>,
    ) -> PyResult<bool> {
        self.wait_until(py, timeout, cancel, |group, tick| Ok(group.wait_until_ready(tick)))
    }

    /// Waits until each own publication was fetched by another member. False if `timeout` is over
    /// first.
    fn wait_until_fetched(
        &self,
        py: Python<'_>,
        timeout: Option<f64>,
        cancel: &Bound<'_, Cancel>,
    ) -> PyResult<bool> {
        self.wait_until(py, timeout, cancel, client::Group::wait_until_fetched)
    }

    /// The other members that have published.
    #[getter]
    fn members(&self, py: Python<'_>) -> Vec<String> {
        py.detach(|| self.0.members().iter().map(ToString::to_string).collect())
    }

    /// Each stream: member, start, number of the last publication, and whether the member itself
    /// has claimed it.
    #[getter]
    fn state(&self, py: Python<'_>) -> Vec<(String, u64, u64, bool)> {
        let streams = py.detach(|| self.0.state());
        let streams = streams.into_iter();
        streams.map(|one| (one.member.to_string(), one.boot, one.seq, one.is_confirmed)).collect()
    }

    /// The numbers of own publications that no member has fetched, of others that could not
    /// be fetched, and of packets that were rejected.
    #[getter]
    fn counts(&self, py: Python<'_>) -> (usize, u64, u64) {
        py.detach(|| (self.0.unfetched(), self.0.missing(), self.0.rejected()))
    }

    /// Notes for the user of the program.
    #[getter]
    fn warnings(&self, py: Python<'_>) -> Vec<String> {
        py.detach(|| self.0.warnings())
    }

    /// The exception that has ended it, or None.
    #[getter]
    fn error(&self, py: Python<'_>) -> Option<PyErr> {
        self.0.error().map(|error| of_client(py, &error))
    }

    /// Leaves, and waits until its thread has ended, but `patience` seconds at most. Returns true
    /// if the thread has ended.
    fn close(&self, py: Python<'_>, patience: f64) -> PyResult<bool> {
        self.0.close(py, patience)
    }
}
