//! Reading a dataset of the forwarder: versioned, in segments, made on request.

use crate::client::endpoint::Endpoint;
use crate::client::{ConnectError, Connection, Turn};
use control::{Duration, Time};
use packet::{Bytes, Component, Data, Interest, InterestBuf, LpPacket, Name};
use thiserror::Error;

/// The time for which one Interest waits for its answer, and the number of attempts.
const ATTEMPT: Duration = Duration::from_secs(2);
const ATTEMPTS: u32 = 3;

/// With several questions, the time for which the answer to an earlier one may come after that to a
/// later one. Forwarders answer in the order of the questions; datagrams may overtake each other.
const GRACE: Duration = Duration::from_millis(250);

/// The maximum number of segments: 64 MB.
const MAX_SEGMENTS: u64 = 8192;

/// The reason why a dataset cannot be read.
#[derive(Debug, Error)]
pub enum DatasetError {
    /// The connection is lost.
    #[error(transparent)]
    Connection(#[from] ConnectError),
    /// No answer to that name.
    #[error("the forwarder at {address} does not answer {name}")]
    NoAnswer {
        /// The requested name.
        name: Name,
        /// The forwarder.
        address: String,
    },
    /// The answer is no dataset.
    #[error("the forwarder's answer to {name} is not a dataset: {why}")]
    Malformed {
        /// The requested name.
        name: Name,
        /// Its fault.
        why: &'static str,
    },
    /// A signal came in.
    #[error("interrupted")]
    Interrupted,
}

impl Connection {
    /// Reads a dataset, such as `/localhost/weir/counters`. The connection should have no other use
    /// meanwhile: frames other than the answer are ignored.
    ///
    /// # Errors
    /// The forwarder does not answer, or not with a dataset; or the connection is lost.
    pub fn dataset(&mut self, name: &Name) -> Result<Vec<u8>, DatasetError> {
        let packet = self.ask(beginning(name))?;
        self.rest(name, &packet)
    }

    /// Reads a dataset if the forwarder has it, and `other` if not. Both are requested at once,
    /// because not every forwarder reports that it has no such dataset.
    ///
    /// # Errors
    /// See [`Connection::dataset`].
    pub fn dataset_or(&mut self, name: &Name, other: &Name) -> Result<Found, DatasetError> {
        match self.ask_all(&mut [beginning(name), beginning(other)])? {
            (0, packet) => self.rest(name, &packet).map(Found::First),
            (_, packet) => self.rest(other, &packet).map(Found::Other),
        }
    }

    /// The dataset that begins with `packet`.
    fn rest(&mut self, name: &Name, packet: &[u8]) -> Result<Vec<u8>, DatasetError> {
        let data = decode(name, packet)?;
        let versioned = data.name().parent().to_name();
        let Some(last) = data.final_block().and_then(|c| c.as_segment_any()) else {
            return Err(malformed(name, "it has no final segment"));
        };
        if last >= MAX_SEGMENTS {
            return Err(malformed(name, "it is too large"));
        }
        let mut content = data.content().to_vec();
        for segment in 1..=last {
            let segment = Component::segment(segment);
            let packet = self.ask(InterestBuf::new(versioned.clone().with(&segment)))?;
            content.extend_from_slice(decode(name, &packet)?.content());
        }
        Ok(content)
    }

    fn ask(&mut self, interest: InterestBuf) -> Result<Bytes, DatasetError> {
        self.ask_all(&mut [interest]).map(|(_, packet)| packet)
    }

    /// Asks for several datasets at once, and returns the first existing one, with its place.
    fn ask_all(&mut self, all: &mut [InterestBuf]) -> Result<(usize, Bytes), DatasetError> {
        for _ in 0..ATTEMPTS {
            for interest in &mut *all {
                interest.lifetime_ms = Some(ATTEMPT.as_millis());
                // The forwarder takes a second Interest with the same nonce for a loop, also from
                // another program, and remembers it. So the time since the program's start is no
                // nonce.
                interest.nonce = Some(getrandom::u32().unwrap_or(self.now().0 as u32));
                self.count_dataset_interest();
            }
            let mut questions = Questions::new(all);
            let end = self.now() + ATTEMPT;
            while !questions.are_final(self.now()) && self.now() < end {
                if self.turn(&mut questions, end)? == Turn::Interrupted {
                    return Err(DatasetError::Interrupted);
                }
            }
            if let Some(found) = questions.first_answer() {
                return Ok(found);
            }
        }
        let name = all.last().map(|interest| interest.name.clone()).unwrap_or_default();
        Err(DatasetError::NoAnswer { name, address: self.address().to_string() })
    }
}

/// The one of two datasets that a forwarder has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// The wanted one.
    First(Vec<u8>),
    /// The other one.
    Other(Vec<u8>),
}

/// The Interest for the first segment of a dataset.
fn beginning(name: &Name) -> InterestBuf {
    let (can_be_prefix, must_be_fresh) = (true, true);
    InterestBuf { can_be_prefix, must_be_fresh, ..InterestBuf::new(name.clone()) }
}

/// One Interest and its Data.
struct Question {
    wire: Bytes,
    answer: Option<Bytes>,
    /// A Nack came.
    rejected: bool,
}

/// A packet of the dataset `name`.
fn decode<'a>(name: &Name, packet: &'a [u8]) -> Result<Data<'a>, DatasetError> {
    Data::decode(packet).map_err(|_| malformed(name, "it cannot be decoded"))
}

pub(super) fn malformed(name: &Name, why: &'static str) -> DatasetError {
    DatasetError::Malformed { name: name.clone(), why }
}

/// Interests sent together.
struct Questions {
    all: Vec<Question>,
    /// The number of sent Interests.
    sent: usize,
    /// When the first answer came.
    answered_at: Option<Time>,
}

impl Questions {
    fn new(interests: &[InterestBuf]) -> Questions {
        let wires = interests.iter().map(InterestBuf::encode);
        let all = wires.map(|wire| Question { wire, answer: None, rejected: false }).collect();
        Questions { all, sent: 0, answered_at: None }
    }

    /// True if no better answer can come.
    fn are_final(&self, now: Time) -> bool {
        let open = self.all.iter().find(|question| !question.rejected);
        open.is_none_or(|question| question.answer.is_some())
            || self.answered_at.is_some_and(|at| now >= at + GRACE)
    }

    /// The first answer in the order of the questions.
    fn first_answer(self) -> Option<(usize, Bytes)> {
        let answers = self.all.into_iter().map(|question| question.answer);
        answers.enumerate().find_map(|(at, answer)| Some((at, answer?)))
    }
}

impl Endpoint for Questions {
    fn receive(&mut self, now: Time, frame: &[u8]) {
        let Ok(link) = LpPacket::decode(frame) else { return };
        let Some(fragment) = link.fragment() else { return };
        if link.nack().is_some() {
            let meant = Interest::decode(fragment).ok();
            for question in &mut self.all {
                let asked = Interest::decode(&question.wire).ok();
                let names = asked.zip(meant.as_ref());
                question.rejected |= names.is_some_and(|(a, b)| a.name() == b.name());
            }
            return;
        }
        let Ok(data) = Data::decode(fragment) else { return };
        let answered = self.all.iter_mut().find(|question| {
            Interest::decode(&question.wire).is_ok_and(|asked| data.satisfies(&asked))
        });
        if let Some(question) = answered {
            question.answer = Some(Bytes::copy_from_slice(fragment));
            self.answered_at.get_or_insert(now);
        }
    }

    fn poll_transmit(&mut self, _now: Time, out: &mut Vec<u8>) -> bool {
        let Some(question) = self.all.get(self.sent) else { return false };
        out.extend_from_slice(&question.wire);
        self.sent += 1;
        true
    }

    fn next_deadline(&mut self, _now: Time) -> Option<Time> {
        self.answered_at.map(|at| at + GRACE)
    }

    fn on_deadline(&mut self, _now: Time) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::Address;
    use packet::{DataBuf, LpHeader, NackReason};
    use std::io::{Read, Write};
    use std::os::unix::net::UnixListener;

    fn name(uri: &str) -> Name {
        uri.parse().unwrap()
    }

    /// A forwarder that answers Interests below `/known`, and no others. Returns the names of the
    /// Interests once the connection is closed.
    fn forwarder(listener: &UnixListener) -> Vec<Name> {
        let (mut stream, _) = listener.accept().unwrap();
        let (mut bytes, mut asked) = (Vec::new(), Vec::new());
        let mut buffer = [0; 4096];
        loop {
            // A client with a complete answer disconnects, whether or not another one is in flight.
            let n = stream.read(&mut buffer).unwrap_or(0);
            bytes.extend_from_slice(&buffer[..n]);
            if n == 0 {
                return asked;
            }
            let mut reader = packet::tlv::Reader::new(&bytes);
            let mut rest = bytes.len();
            while let Ok(Some(element)) = reader.next_element() {
                rest -= element.whole.len();
                let Ok(interest) = Interest::decode(element.whole) else { continue };
                asked.push(interest.name().to_name());
                if interest.name().starts_with(name("/known").as_ref()) {
                    let data = DataBuf {
                        final_block: Some(Component::segment(0)),
                        freshness_ms: Some(1000),
                        ..DataBuf::new(
                            asked[asked.len() - 1].clone().with(&Component::segment(0)),
                            b"content".to_vec(),
                        )
                    };
                    let _ = stream.write_all(&data.encode_digest());
                }
            }
            bytes.drain(..bytes.len() - rest);
        }
    }

    fn asked_of_it(ask: impl FnOnce(&mut Connection)) -> Vec<Name> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("socket");
        let listener = UnixListener::bind(&path).unwrap();
        let thread = std::thread::spawn(move || forwarder(&listener));
        let mut connection = Connection::open(Address::Unix(path)).unwrap();
        ask(&mut connection);
        drop(connection);
        thread.join().unwrap()
    }

    #[test]
    fn an_unanswered_dataset_is_requested_once() {
        let (first, other) = (name("/unknown"), name("/known"));
        let asked = asked_of_it(|connection| {
            let found = connection.dataset_or(&first, &other).unwrap();
            assert_eq!(found, Found::Other(b"content".to_vec()));
        });
        assert_eq!(asked, [first, other]);
    }

    /// A frame with an answer, and one with the rejection of the same question.
    type Replies = (Vec<u8>, Vec<u8>);

    /// Two questions, and the possible replies to each.
    fn questions() -> (Questions, [Replies; 2]) {
        let both = [name("/a"), name("/b")].map(|name| beginning(&name));
        let frames = both.clone().map(|asked| {
            let answer =
                DataBuf { freshness_ms: Some(1000), ..DataBuf::new(asked.name.clone(), "x") };
            let header = LpHeader { nack: Some(NackReason::NoRoute), ..LpHeader::default() };
            let mut rejection = Vec::new();
            header.encode_into(&asked.encode(), &mut rejection);
            (answer.encode_digest().to_vec(), rejection)
        });
        (Questions::new(&both), frames)
    }

    #[test]
    fn the_other_ones_answer_waits_for_the_wanted_one_for_a_while() {
        let (mut asked, [_, (other, _)]) = questions();
        asked.receive(Time(7), &other);
        assert!(!asked.are_final(Time(7) + GRACE - Duration(1)));
        assert!(asked.are_final(Time(7) + GRACE));
        assert_eq!(asked.first_answer().map(|(at, _)| at), Some(1));
    }

    #[test]
    fn nothing_is_waited_for_once_nothing_better_can_come() {
        let (mut asked, [(wanted, _), _]) = questions();
        assert!(!asked.are_final(Time(0)));
        asked.receive(Time(0), &wanted);
        assert!(asked.are_final(Time(0)), "the wanted one is there");
        let (mut asked, [(_, rejection), (other, _)]) = questions();
        asked.receive(Time(0), &rejection);
        assert!(!asked.are_final(Time(0)), "the other one may come");
        asked.receive(Time(0), &other);
        assert!(asked.are_final(Time(0)), "the wanted one will not");
        let (mut asked, [(_, one), (_, other)]) = questions();
        [one, other].iter().for_each(|rejection| asked.receive(Time(0), rejection));
        assert!(asked.are_final(Time(0)) && asked.first_answer().is_none());
    }

    #[test]
    fn the_first_dataset_is_taken_if_both_exist() {
        let (first, other) = (name("/known/a"), name("/known/b"));
        asked_of_it(|connection| {
            let found = connection.dataset_or(&first, &other).unwrap();
            assert_eq!(found, Found::First(b"content".to_vec()));
        });
    }
}
