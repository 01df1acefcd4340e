//! The lines of the log.

use super::sender::Sender;
use crate::consumer::Verified;
use control::{Duration, Rate, Size};
use net::text::shortened;
use schemars::JsonSchema;
use serde::Serialize;

/// Characters of a method, a path and an error that are written.
const METHOD: usize = 20;
const PATH: usize = 200;
const ERROR: usize = 500;

/// A line of `weir gateway`.
#[derive(JsonSchema, Serialize)]
#[serde(untagged)]
pub enum Printed<'a> {
    /// The gateway listens.
    Listening(Listening),
    /// An answer is over.
    Answered(&'a Answered),
    /// Lines are missing here.
    LeftOut(LeftOut),
}

/// The line when the gateway listens.
#[derive(JsonSchema, Serialize)]
pub struct Listening {
    /// Its address and port.
    #[schemars(with = "String")]
    pub(super) listening: std::net::SocketAddr,
}

/// The line in place of others.
#[derive(JsonSchema, Serialize)]
pub struct LeftOut {
    /// Lines that were left out.
    pub left_out: u64,
    /// Their subject.
    pub of: String,
    /// The reason.
    pub why: &'static str,
}

/// One answer.
#[derive(Debug, Default, JsonSchema, Serialize)]
pub struct Answered {
    /// The request's method, shortened.
    pub method: String,
    /// The request's path as sent, shortened.
    pub path: String,
    /// The HTTP status of the answer.
    pub status: u16,
    /// The object's name, with its version, or null if it was not found.
    pub name: Option<String>,
    /// The Content-Range of the answer, or null.
    pub range: Option<String>,
    /// Bytes of content fetched for the client, or stored of an upload.
    pub bytes: u64,
    /// Verified segments.
    pub segments: u64,
    /// Interests sent.
    pub interests: u64,
    /// Seconds from the request to the last byte fetched.
    pub duration_s: f64,
    /// The proof by the signature, or null.
    pub verified: Option<Verified>,
    /// The name of the key that signed, or null.
    pub key: Option<String>,
    /// The error, shortened, or null.
    pub error: Option<String>,
    /// The sender of the request.
    #[serde(skip)]
    pub sender: Sender,
}

impl Answered {
    /// Of a request of this method for this path.
    pub fn new(method: &str, path: &str) -> Answered {
        let (method, path) = (shortened(method, METHOD), shortened(path, PATH));
        Answered { method, path, ..Answered::default() }
    }

    /// It went wrong.
    pub fn fail(&mut self, error: &str) {
        self.error = Some(shortened(error, ERROR));
    }

    pub fn line(&self) -> String {
        let mut line = format!("{} {}: {}", self.method, self.path, self.status);
        if let Some(range) = &self.range {
            line += &format!(" {range}");
        }
        if self.name.is_some() {
            let took = Duration::from_secs_f64(self.duration_s);
            let (size, rate) = (Size(self.bytes), Rate::of(Size(self.bytes), took));
            line += &format!(", {size} in {took}, {rate}");
        }
        if let Some(key) = &self.key {
            line += &format!("; signed by {key}");
        }
        match &self.error {
            Some(error) => line + "; " + error,
            None => line,
        }
    }
}
