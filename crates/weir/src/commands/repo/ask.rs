//! Single signed packets by name, several at a time.

use crate::exit::{Failure, Kind};
use crate::signals::Stop;
use control::{Duration, Time};
use net::client::{Connection, Endpoint};
use packet::{Bytes, Data, Interest, InterestBuf, LpPacket, NackReason, Name};
use std::collections::{BTreeMap, VecDeque};

/// Interests in flight at a time.
const WINDOW: usize = 16;
/// The lifetime of an Interest; it is sent again then.
const LIFETIME: Duration = Duration::from_secs(2);
/// The number of times that an Interest is sent.
const TRIES: u32 = 4;

/// A question: a name, and whether longer names answer it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Question {
    /// The name.
    pub name: Name,
    /// Packets whose names continue behind it are answers.
    pub can_be_prefix: bool,
}

impl Question {
    /// A question for the packet of this name.
    pub fn exact(name: &Name) -> Question {
        Question { name: name.clone(), can_be_prefix: false }
    }
}

/// Sent Interests, and their answers.
struct Asking {
    waiting: VecDeque<(Question, u32)>,
    flying: BTreeMap<Question, (Time, u32)>,
    answers: BTreeMap<Question, Bytes>,
}

impl Asking {
    fn is_done(&self) -> bool {
        self.waiting.is_empty() && self.flying.is_empty()
    }

    /// The question that a packet answers.
    fn asked(&self, data: &Data<'_>) -> Option<Question> {
        self.flying.keys().find(|asked| data.satisfies_name(asked)).cloned()
    }
}

/// The name of a packet, and a question for it.
trait Satisfies {
    fn satisfies_name(&self, question: &Question) -> bool;
}

impl Satisfies for Data<'_> {
    fn satisfies_name(&self, question: &Question) -> bool {
        let name = question.name.as_ref();
        self.name() == name || (question.can_be_prefix && self.name().starts_with(name))
    }
}

impl Endpoint for Asking {
    fn receive(&mut self, _now: Time, frame: &[u8]) {
        let Ok(link) = LpPacket::decode(frame) else { return };
        let Some(fragment) = link.fragment() else { return };
        if let Some(reason) = link.nack() {
            // This reason means that a producer has no such packet. With other reasons, the
            // Interest is repeated: a queue was full, or a route is on its way.
            if reason != NackReason::None {
                return;
            }
            let interest = Interest::decode(fragment).ok();
            let nacked = interest.and_then(|interest| {
                self.flying.keys().find(|asked| interest.name() == asked.name.as_ref()).cloned()
            });
            nacked.map(|asked| self.flying.remove(&asked));
            return;
        }
        let Ok(data) = Data::decode(fragment) else { return };
        if let Some(asked) = self.asked(&data) {
            self.flying.remove(&asked);
            self.answers.insert(asked, Bytes::copy_from_slice(data.wire()));
        }
    }

    fn poll_transmit(&mut self, now: Time, out: &mut Vec<u8>) -> bool {
        if self.flying.len() >= WINDOW {
            return false;
        }
        let Some((question, tries)) = self.waiting.pop_front() else { return false };
        let interest = InterestBuf {
            can_be_prefix: question.can_be_prefix,
            nonce: getrandom::u32().ok(),
            lifetime_ms: Some(LIFETIME.as_millis()),
            ..InterestBuf::new(question.name.clone())
        };
        out.extend_from_slice(&interest.encode());
        self.flying.insert(question, (now + LIFETIME, tries + 1));
        true
    }

    fn next_deadline(&mut self, _now: Time) -> Option<Time> {
        self.flying.values().map(|(until, _)| *until).min()
    }

    fn on_deadline(&mut self, now: Time) {
        let waiting = &mut self.waiting;
        self.flying.retain(|question, (until, tries)| {
            let is_late = *until <= now;
            if is_late && *tries < TRIES {
                waiting.push_back((question.clone(), *tries));
            }
            !is_late
        });
    }
}

/// Requests packets, and returns the received ones.
///
/// # Errors
/// The connection ends, or it was interrupted.
pub fn ask(
    connection: &mut Connection,
    questions: impl Iterator<Item = Question>,
    stop: &Stop,
) -> Result<BTreeMap<Question, Bytes>, Failure> {
    let waiting = questions.map(|question| (question, 0)).collect();
    let mut asking = Asking { waiting, flying: BTreeMap::new(), answers: BTreeMap::new() };
    while !asking.is_done() {
        let until = connection.now() + Duration::from_millis(100);
        connection.turn(&mut asking, until)?;
        if stop.requested() {
            return Err(Failure::new(Kind::Interrupted, "interrupted"));
        }
    }
    Ok(asking.answers)
}

#[cfg(test)]
mod tests {
    use super::*;
    use packet::DataBuf;
    use security::Signer;

    fn asking(names: &[&str]) -> Asking {
        let question = |name: &&str| Question { name: name.parse().unwrap(), can_be_prefix: false };
        let waiting = names.iter().map(|name| (question(name), 0)).collect();
        Asking { waiting, flying: BTreeMap::new(), answers: BTreeMap::new() }
    }

    fn data(name: &str) -> Vec<u8> {
        let mut wire = Vec::new();
        Signer::Digest.encode(&DataBuf::new(name.parse().unwrap(), vec![]), &mut wire);
        wire
    }

    #[test]
    fn an_interest_is_sent_again_and_at_last_given_up() {
        let mut asking = asking(&["/a"]);
        let mut now = Time::ZERO;
        for _ in 0..TRIES {
            let mut out = Vec::new();
            assert!(asking.poll_transmit(now, &mut out) && !asking.poll_transmit(now, &mut out));
            now = asking.next_deadline(now).unwrap();
            asking.on_deadline(now);
        }
        assert!(asking.is_done() && asking.answers.is_empty());
    }

    #[test]
    fn few_interests_are_in_flight_and_answers_make_room() {
        let names: Vec<String> = (0..WINDOW + 2).map(|n| format!("/a/{n}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let mut asking = asking(&names);
        let mut out = Vec::new();
        while asking.poll_transmit(Time::ZERO, &mut out) {}
        assert_eq!(asking.flying.len(), WINDOW);
        asking.receive(Time::ZERO, &data("/b"));
        assert!(!asking.poll_transmit(Time::ZERO, &mut out));
        asking.receive(Time::ZERO, &data("/a/3"));
        assert!(asking.poll_transmit(Time::ZERO, &mut out));
        assert_eq!(asking.answers.len(), 1);
    }
}
