//! Interests and replies as Python has them.

use crate::errors::{of_client, raise};
use client::{Name, Reply, Verified};
use pyo3::prelude::*;
use std::time::Duration;

/// Bytes of a packet.
const MOST: usize = 8800;

/// An Interest: a request for one Data packet.
#[pyclass(frozen, module = "weir", name = "Interest")]
pub struct Interest(pub client::Interest);

/// A number of seconds of an argument.
fn duration(py: Python<'_>, argument: &str, seconds: f64) -> PyResult<Duration> {
    Duration::try_from_secs_f64(seconds).map_err(|_| {
        let what = format!("`{argument}` is a number of seconds from 0, not {seconds}");
        raise(py, "UsageError", (what,))
    })
}

#[pymethods]
impl Interest {
    #[new]
    #[pyo3(signature = (
        name, *, prefix = false, fresh = false, lifetime = 4.0, parameters = None, hop_limit = None
    ))]
    fn new(
        py: Python<'_>,
        name: &str,
        prefix: bool,
        fresh: bool,
        lifetime: f64,
        parameters: Option<Vec<u8>>,
        hop_limit: Option<u8>,
    ) -> PyResult<Interest> {
        let mut interest = client::Interest::new(name).map_err(|error| of_client(py, &error))?;
        interest.can_be_prefix = prefix;
        interest.must_be_fresh = fresh;
        interest.lifetime = duration(py, "lifetime", lifetime)?;
        interest.parameters = parameters;
        interest.hop_limit = hop_limit;
        Ok(Interest(interest))
    }

    /// Its name. With parameters, the last component of a received Interest is their digest.
    #[getter]
    fn name(&self) -> String {
        self.0.name.to_string()
    }

    /// True if Data with a longer name answers it, too.
    #[getter]
    fn prefix(&self) -> bool {
        self.0.can_be_prefix
    }

    /// True if only fresh Data answers it.
    #[getter]
    fn fresh(&self) -> bool {
        self.0.must_be_fresh
    }

    /// Its lifetime in seconds.
    #[getter]
    fn lifetime(&self) -> f64 {
        self.0.lifetime.as_secs_f64()
    }

    /// Parameters for the producer, as bytes, or None.
    #[getter]
    fn parameters(&self) -> Option<&[u8]> {
        self.0.parameters.as_deref()
    }

    /// The number of forwarders that it may still pass, or None without a limit.
    #[getter]
    fn hop_limit(&self) -> Option<u8> {
        self.0.hop_limit
    }

    fn __repr__(&self) -> String {
        format!("<weir.Interest {}>", self.0.name)
    }

    /// The answer with this content, with all checks that need no signature.
    fn _answer(
        &self,
        py: Python<'_>,
        content: Vec<u8>,
        name: Option<&str>,
        freshness: Option<f64>,
        content_type: u64,
    ) -> PyResult<Answer> {
        let mut length = content.len();
        let mut own = self.0.name.encoded_len();
        let mut reply = Reply::new(content).content_type(content_type);
        if let Some(name) = name {
            let name: Name = name.parse().map_err(|why| {
                raise(py, "UsageError", (format!("the name of the reply: {why}"),))
            })?;
            let asked = &self.0.name;
            let fits = match self.0.can_be_prefix {
                true => name.as_ref().starts_with(asked.as_ref()),
                false => name == *asked,
            };
            if !fits {
                let text = format!("a reply with the name {name} does not answer {asked}");
                return Err(raise(py, "UsageError", (text,)));
            }
            own = name.encoded_len();
            reply = reply.named(name);
        }
        if let Some(freshness) = freshness {
            reply = reply.fresh_for(duration(py, "freshness", freshness)?);
        }
        length += own;
        if length > MOST {
            let text = format!(
                "the reply to {} has {length} bytes without its signature, and a packet at most \
                 {MOST}; publish larger content",
                self.0.name
            );
            return Err(raise(py, "UsageError", (text,)));
        }
        Ok(Answer(reply))
    }
}

/// A reply that is ready.
#[pyclass(frozen, module = "weir._weir")]
pub struct Answer(pub Reply);

#[pymethods]
impl Answer {
    /// No answer at all.
    #[staticmethod]
    fn silence() -> Answer {
        Answer(Reply::silence())
    }

    /// The handler has failed.
    #[staticmethod]
    fn failure() -> Answer {
        Answer(Reply::failure())
    }
}

/// The proof by a signature, as a word and a key.
pub fn proof(verified: &Verified) -> (&'static str, Option<String>) {
    match verified {
        Verified::Key(key) => ("key", Some(key.to_string())),
        Verified::Digest => ("digest", None),
        _ => ("unchecked", None),
    }
}
