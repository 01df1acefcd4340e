//! What is said of each answer, for people and for programs.

use crate::output;
use control::{Duration, Rate, Size};
use serde::Serialize;

/// One answer.
#[derive(Debug, Default, Serialize)]
pub struct Answered {
    /// What was asked: the method and the path.
    pub method: String,
    /// See above.
    pub path: String,
    /// The status that the client got.
    pub status: u16,
    /// The object's versioned name, if it was found.
    pub name: Option<String>,
    /// The range, as the answer says it.
    pub range: Option<String>,
    /// Octets of the body.
    pub bytes: u64,
    /// Segments that were fetched, and Interests sent.
    pub segments: u64,
    /// See above.
    pub interests: u64,
    /// From the request to the last octet fetched.
    pub duration_s: f64,
    /// What the signature proved, as in the summary of `weir get`.
    pub verified: Option<&'static str>,
    /// The key that signed.
    pub key: Option<String>,
    /// What went wrong.
    pub error: Option<String>,
}

/// Says it.
#[derive(Clone, Copy, Debug)]
pub struct Log {
    /// As JSON on standard output.
    pub json: bool,
    /// Not at all, unless as JSON.
    pub quiet: bool,
}

impl Log {
    /// The gateway is up.
    pub fn listening(self, address: std::net::SocketAddr) {
        if self.json {
            self.line(&serde_json::json!({ "listening": address }));
        } else if !self.quiet {
            output::note(&format!("listening for http://{address}/NAME; Ctrl-C ends it"));
        }
    }

    /// An answer is over.
    pub fn answered(self, answered: &Answered) {
        if self.json {
            self.line(answered);
        } else if !self.quiet {
            output::note(&answered.line());
        }
    }

    fn line(self, value: &impl Serialize) {
        // Where nobody reads it, answers are worth more than what is said of them.
        let _ = output::json(value);
    }
}

impl Answered {
    fn line(&self) -> String {
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
