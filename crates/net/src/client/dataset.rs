//! Reading a dataset of the forwarder: versioned, in segments, made when it is asked for.

use crate::client::{ConnectError, Connection, Endpoint, Turn};
use control::{Duration, Time};
use packet::{Bytes, Component, Data, Interest, InterestBuf, LpPacket, Name};
use thiserror::Error;

/// How long one Interest waits for its answer, and how often it is tried.
const ATTEMPT: Duration = Duration::from_secs(2);
const ATTEMPTS: u32 = 3;

/// Segments that are read at most: 64 MB.
const MAX_SEGMENTS: u64 = 8192;

/// Why there is no dataset.
#[derive(Debug, Error)]
pub enum DatasetError {
    /// The connection is lost.
    #[error(transparent)]
    Connection(#[from] ConnectError),
    /// Nobody answers that name there.
    #[error("the forwarder at {address} does not answer {name}")]
    NoAnswer {
        /// What was asked.
        name: Name,
        /// The forwarder.
        address: String,
    },
    /// The answer is no dataset.
    #[error("the forwarder's answer to {name} is not a dataset: {why}")]
    Malformed {
        /// What was asked.
        name: Name,
        /// What is wrong with it.
        why: &'static str,
    },
    /// A signal came in.
    #[error("interrupted")]
    Interrupted,
}

impl Connection {
    /// Reads a dataset, such as `/localhost/weir/counters`. Nothing else should be going on over
    /// the connection: frames that are not its answer are left aside.
    ///
    /// # Errors
    /// The forwarder does not answer, or not with a dataset; or the connection is lost.
    pub fn dataset(&mut self, name: &Name) -> Result<Vec<u8>, DatasetError> {
        let malformed = |why| DatasetError::Malformed { name: name.clone(), why };
        let mut first = InterestBuf::new(name.clone());
        first.can_be_prefix = true;
        first.must_be_fresh = true;
        let packet = self.ask(first)?;
        let data = Data::decode(&packet).map_err(|_| malformed("it cannot be decoded"))?;
        let versioned = data.name().parent().to_name();
        let last = data.final_block().and_then(|c| c.as_segment_any());
        let last = last.ok_or_else(|| malformed("it has no final segment"))?;
        if last >= MAX_SEGMENTS {
            return Err(malformed("it is too large"));
        }
        let mut content = data.content().to_vec();
        for segment in 1..=last {
            let segment = Component::segment(segment);
            let packet = self.ask(InterestBuf::new(versioned.clone().with(&segment)))?;
            let data = Data::decode(&packet).map_err(|_| malformed("it cannot be decoded"))?;
            content.extend_from_slice(data.content());
        }
        Ok(content)
    }

    fn ask(&mut self, mut interest: InterestBuf) -> Result<Bytes, DatasetError> {
        interest.lifetime_ms = Some(ATTEMPT.as_millis());
        for _ in 0..ATTEMPTS {
            // The forwarder takes a second Interest with the same nonce for a loop, whoever sent
            // the first, and remembers it: the time since the program began is no nonce.
            interest.nonce = Some(getrandom::u32().unwrap_or(self.now().0 as u32));
            self.asked += 1;
            let mut question = Question::new(interest.encode());
            let end = self.now() + ATTEMPT;
            while question.answer.is_none() && !question.refused && self.now() < end {
                if self.turn(&mut question, end)? == Turn::Interrupted {
                    return Err(DatasetError::Interrupted);
                }
            }
            if let Some(answer) = question.answer {
                return Ok(answer);
            }
        }
        Err(DatasetError::NoAnswer { name: interest.name, address: self.address().to_string() })
    }
}

/// One Interest and its Data.
struct Question {
    wire: Bytes,
    sent: bool,
    answer: Option<Bytes>,
    /// A Nack came.
    refused: bool,
}

impl Question {
    fn new(wire: Bytes) -> Question {
        Question { wire, sent: false, answer: None, refused: false }
    }
}

impl Endpoint for Question {
    fn receive(&mut self, _now: Time, frame: &[u8]) {
        let Ok(link) = LpPacket::decode(frame) else { return };
        let Some(fragment) = link.fragment() else { return };
        if link.nack().is_some() {
            self.refused = true;
            return;
        }
        let (Ok(data), Ok(asked)) = (Data::decode(fragment), Interest::decode(&self.wire)) else {
            return;
        };
        if data.satisfies(&asked) {
            self.answer = Some(Bytes::copy_from_slice(fragment));
        }
    }

    fn poll_transmit(&mut self, _now: Time, out: &mut Vec<u8>) -> bool {
        let first = !std::mem::replace(&mut self.sent, true);
        if first {
            out.extend_from_slice(&self.wire);
        }
        first
    }

    fn next_deadline(&mut self, _now: Time) -> Option<Time> {
        None
    }

    fn on_deadline(&mut self, _now: Time) {}
}
