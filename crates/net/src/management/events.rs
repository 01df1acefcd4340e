//! `faces/events`: a stream of notifications, each the Data of the next sequence number.

use super::face_info::FaceInfo;
use super::parameters::numbers as n;
use super::response::FRESHNESS_MS;
use super::status::{FACE_SCOPE, LINK_TYPE};
use control::{Duration, Time};
use packet::{Bytes, Component, DataBuf, Interest, Name, tlv};
use std::collections::VecDeque;

const FACE_EVENT: u64 = 192;
const KIND: u64 = 193;

/// The maximum numbers of kept events, and of Interests for later ones.
const KEPT: usize = 64;
const WAITING: usize = 256;

/// Components of `/localhost/nfd/faces/events`.
const STREAM: usize = 4;

/// An event of a face.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaceEvent {
    /// It is there.
    Created = 1,
    /// It is gone.
    Destroyed = 2,
    /// Its socket is connected again.
    Up = 3,
    /// Its socket broke and will be connected again.
    Down = 4,
}

/// An Interest for a future event.
#[derive(Debug)]
struct Waiting {
    /// The event; `None` is any.
    number: Option<u64>,
    until: Time,
}

/// The stream.
#[derive(Debug, Default)]
pub(super) struct Events {
    /// The number of the next one.
    next: u64,
    /// The times and the contents of the last events.
    kept: VecDeque<(Time, Vec<u8>)>,
    waiting: Vec<Waiting>,
    ready: VecDeque<Bytes>,
}

impl Events {
    /// Answers an Interest below the stream's name, now or once an event happens.
    pub fn ask(&mut self, now: Time, interest: &Interest<'_>) -> Option<Bytes> {
        let name = interest.name();
        let number = match name.len() - STREAM {
            0 if interest.can_be_prefix() => None,
            1 => Some(name.last()?.as_sequence()?),
            _ => return None,
        };
        if let Some(data) = self.known(now, number, interest.must_be_fresh()) {
            return Some(data);
        }
        let wanted = number.is_none_or(|number| number >= self.next);
        self.waiting.retain(|waiting| waiting.until > now);
        if wanted && self.waiting.len() < WAITING {
            let until = now + Duration::from_millis(interest.lifetime_ms());
            self.waiting.push(Waiting { number, until });
        }
        None
    }

    /// The event of this number, or the latest.
    fn known(&self, now: Time, number: Option<u64>, fresh: bool) -> Option<Bytes> {
        let number = number.or(self.next.checked_sub(1))?;
        let from_end = self.next.checked_sub(number)? as usize;
        let (at, content) = self.kept.get(self.kept.len().checked_sub(from_end)?)?;
        let is_stale = now.since(*at) >= Duration::from_millis(FRESHNESS_MS);
        if fresh && is_stale { None } else { Some(notification(number, content)) }
    }

    /// Something happened.
    pub fn post(&mut self, now: Time, event: FaceEvent, face: &FaceInfo) {
        let (number, content) = (self.next, describe(event, face));
        self.next += 1;
        self.waiting.retain(|waiting| waiting.until > now);
        let before = self.waiting.len();
        self.waiting.retain(|waiting| waiting.number.is_some_and(|wanted| wanted != number));
        if self.waiting.len() < before {
            self.ready.push_back(notification(number, &content));
        }
        if self.kept.len() == KEPT {
            self.kept.pop_front();
        }
        self.kept.push_back((now, content));
    }

    /// Data that a client waits for.
    pub fn poll(&mut self) -> Option<Bytes> {
        self.ready.pop_front()
    }
}

fn describe(event: FaceEvent, face: &FaceInfo) -> Vec<u8> {
    let mut value = Vec::new();
    tlv::put_nni_tlv(&mut value, KIND, event as u64);
    tlv::put_nni_tlv(&mut value, n::FACE_ID, face.id.0);
    tlv::put_tlv(&mut value, n::URI, face.uri.as_bytes());
    tlv::put_tlv(&mut value, n::LOCAL_URI, face.local_uri.as_bytes());
    tlv::put_nni_tlv(&mut value, FACE_SCOPE, u64::from(face.local));
    tlv::put_nni_tlv(&mut value, n::FACE_PERSISTENCY, face.persistency as u64);
    tlv::put_nni_tlv(&mut value, LINK_TYPE, u64::from(face.is_group));
    tlv::put_nni_tlv(&mut value, n::FLAGS, face.flags);
    let mut out = Vec::new();
    tlv::put_tlv(&mut out, FACE_EVENT, &value);
    out
}

fn notification(number: u64, content: &[u8]) -> Bytes {
    let stream: Name = [&b"localhost"[..], b"nfd", b"faces", b"events"]
        .into_iter()
        .map(Component::generic)
        .collect();
    let name = stream.with(&Component::sequence(number));
    let mut data = DataBuf::new(name, content.to_vec());
    data.freshness_ms = Some(FRESHNESS_MS);
    data.encode_digest()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::management::Persistency;
    use forwarder::FaceId;
    use packet::{Data, InterestBuf};

    fn face(id: u64) -> FaceInfo {
        FaceInfo {
            local_uri: "udp4://192.0.2.2:6363".to_owned(),
            persistency: Persistency::Permanent,
            flags: 4,
            ..FaceInfo::new(FaceId(id), "udp4://192.0.2.1:6363")
        }
    }

    fn ask(events: &mut Events, now: Time, number: Option<u64>) -> Option<String> {
        let stream: Name = "/localhost/nfd/faces/events".parse().unwrap();
        let mut interest = match number {
            Some(number) => InterestBuf::new(stream.with(&Component::sequence(number))),
            None => InterestBuf::new(stream),
        };
        interest.can_be_prefix = number.is_none();
        interest.must_be_fresh = number.is_none();
        interest.lifetime_ms = Some(60_000);
        let wire = interest.encode();
        events.ask(now, &Interest::decode(&wire).unwrap()).map(|data| name(&data))
    }

    fn name(data: &[u8]) -> String {
        Data::decode(data).unwrap().name().to_string()
    }

    const ZERO: &str = "/localhost/nfd/faces/events/seq=0";
    const ONE: &str = "/localhost/nfd/faces/events/seq=1";

    // Other projects' programs, "Datasets": [peer-32].
    #[test]
    fn an_event_goes_to_those_who_wait_for_it_and_to_no_others() {
        let mut events = Events::default();
        events.post(Time(0), FaceEvent::Created, &face(7));
        assert_eq!(events.poll(), None, "nobody waited");
        // The latest is fresh for a second; then the next one is waited for.
        assert_eq!(ask(&mut events, Time(999_999_999), None).as_deref(), Some(ZERO));
        assert_eq!(ask(&mut events, Time(1_000_000_000), None), None);
        assert_eq!(ask(&mut events, Time(1_000_000_000), Some(1)), None);
        assert_eq!(ask(&mut events, Time(1_000_000_000), Some(2)), None);
        events.post(Time(2_000_000_000), FaceEvent::Destroyed, &face(7));
        let data = events.poll().unwrap();
        assert_eq!((name(&data).as_str(), events.poll()), (ONE, None), "one answer for both");
        // Earlier events can be requested by number.
        assert_eq!(ask(&mut events, Time(3_000_000_000), Some(0)).as_deref(), Some(ZERO));
        assert_eq!(events.waiting.len(), 1, "number 2 is still to come");
    }

    #[test]
    fn a_notification_has_nfds_fields() {
        let mut events = Events::default();
        events.post(Time(0), FaceEvent::Down, &face(7));
        let data = events.known(Time(0), None, true).unwrap();
        let data = Data::decode(&data).unwrap();
        let value = tlv::only(data.content(), FACE_EVENT).unwrap();
        let mut reader = tlv::Reader::new(value);
        assert_eq!(reader.expect(KIND).unwrap().nni().unwrap(), 4);
        assert_eq!(reader.expect(n::FACE_ID).unwrap().nni().unwrap(), 7);
        assert_eq!(reader.expect(n::URI).unwrap().value, b"udp4://192.0.2.1:6363");
        reader.expect(n::LOCAL_URI).unwrap();
        assert_eq!(reader.expect(FACE_SCOPE).unwrap().nni().unwrap(), 0);
        assert_eq!(reader.expect(n::FACE_PERSISTENCY).unwrap().nni().unwrap(), 2);
        reader.expect(LINK_TYPE).unwrap();
        assert_eq!(reader.expect(n::FLAGS).unwrap().nni().unwrap(), 4);
        assert_eq!(data.freshness_ms(), Some(1000));
    }

    #[test]
    fn waiting_requests_and_kept_events_are_bounded() {
        let mut events = Events::default();
        for number in 0..1000 {
            ask(&mut events, Time(0), Some(number + 1));
        }
        assert_eq!(events.waiting.len(), WAITING);
        for _ in 0..1000 {
            events.post(Time(60_000_000_000), FaceEvent::Created, &face(1));
        }
        assert_eq!((events.kept.len(), events.waiting.len()), (KEPT, 0), "all have expired");
        assert_eq!(ask(&mut events, Time(60_000_000_000), Some(0)), None, "long forgotten");
    }
}
