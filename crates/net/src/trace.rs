//! Records of packets, as a daemon sends them to `weir trace`.
//!
//! A trace is a stream of elements, cut into Data packets at any byte. `docs/reference/wire.md`
//! describes it.

use control::Kind;
use packet::tlv::{self, Fault, Reader, types};
use packet::{Name, NameRef};

const RECORD: u64 = 224;
const LOST: u64 = 226;
const ENDED: u64 = 228;
const TIME: u64 = 230;
const FACE: u64 = 232;
const DIRECTION: u64 = 234;
const KIND: u64 = 236;
const SIZE: u64 = 238;
const ACTION: u64 = 240;
const REASON: u64 = 242;
const TO: u64 = 244;
const PACKET: u64 = 246;

/// More bytes than any element of a trace has: a packet of the largest size, and its record.
const MOST: usize = 1 << 16;

/// The direction in which a packet crosses a face.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// It arrived.
    In,
    /// It is to be sent.
    Out,
}

impl Direction {
    /// `in` or `out`.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Direction::In => "in",
            Direction::Out => "out",
        }
    }
}

/// The forwarder's decision about a packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// The content store answered the Interest.
    Hit,
    /// The same Interest was pending already; a retransmission may have been forwarded.
    Aggregated,
    /// It was forwarded over other faces.
    Forwarded,
    /// A Nack answered the Interest.
    Nacked,
    /// It was not forwarded: an Interest waits for a shaper, Data or a Nack has no downstream.
    Kept,
    /// It entered the queue of its face.
    Queued,
    /// It was a range: each of its segments follows as a packet that arrived.
    Expanded,
    /// This forwarder answered the Interest as the end of a traceroute probe.
    Answered,
    /// It goes no further, for the reason of this name.
    Dropped(String),
}

impl Action {
    /// The action in one word.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            Action::Hit => "hit",
            Action::Aggregated => "aggregated",
            Action::Forwarded => "forwarded",
            Action::Nacked => "nacked",
            Action::Kept => "kept",
            Action::Queued => "queued",
            Action::Expanded => "expanded",
            Action::Answered => "answered",
            Action::Dropped(_) => "dropped",
        }
    }

    fn number(&self) -> u64 {
        match self {
            Action::Hit => 1,
            Action::Aggregated => 2,
            Action::Forwarded => 3,
            Action::Nacked => 4,
            Action::Kept => 5,
            Action::Queued => 6,
            Action::Dropped(_) => 7,
            Action::Expanded => 8,
            Action::Answered => 9,
        }
    }

    fn of(number: u64, reason: String) -> Result<Action, Fault> {
        Ok(match number {
            1 => Action::Hit,
            2 => Action::Aggregated,
            3 => Action::Forwarded,
            4 => Action::Nacked,
            5 => Action::Kept,
            6 => Action::Queued,
            7 => Action::Dropped(reason),
            8 => Action::Expanded,
            9 => Action::Answered,
            _ => return Err(Fault::BadValue(ACTION)),
        })
    }
}

/// A packet at a face.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// Nanoseconds since 1970 (UTC).
    pub time_ns: u64,
    /// The face.
    pub face: u64,
    /// The direction.
    pub direction: Direction,
    /// The packet's type; `None` if it could not be decoded.
    pub kind: Option<Kind>,
    /// The network packet's size in bytes.
    pub size: u64,
    /// Its name; empty if it could not be decoded.
    pub name: Name,
    /// The forwarder's decision.
    pub action: Action,
    /// The faces that it was forwarded to.
    pub faces: Vec<u64>,
    /// The network packet; empty unless packets were asked for.
    pub packet: Vec<u8>,
}

/// An element of a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Item {
    /// A packet.
    Record(Box<Record>),
    /// The number of packets that were not recorded here: the reader was too slow, or the packets
    /// too many.
    Lost(u64),
    /// Nothing follows, for this reason.
    Ended(String),
}

impl Item {
    /// Appends the element.
    pub fn encode_into(&self, out: &mut Vec<u8>) {
        match self {
            Item::Record(record) => record.encode_into(!record.packet.is_empty(), out),
            Item::Lost(packets) => tlv::put_nni_tlv(out, LOST, *packets),
            Item::Ended(why) => tlv::put_tlv(out, ENDED, why.as_bytes()),
        }
    }

    /// Reads the first element of `stream`, and its length; `None` if it is not whole yet.
    ///
    /// # Errors
    /// The stream is no trace.
    pub fn decode(stream: &[u8]) -> Result<Option<(Item, usize)>, Fault> {
        let mut reader = Reader::new(stream);
        let element = match reader.next_element() {
            Ok(Some(element)) => element,
            Err(Fault::Truncated) if stream.len() > MOST => return Err(Fault::Truncated),
            Ok(None) | Err(Fault::Truncated) => return Ok(None),
            Err(fault) => return Err(fault),
        };
        let item = match element.typ {
            RECORD => Item::Record(Box::new(Record::decode(element.value)?)),
            LOST => Item::Lost(element.nni()?),
            ENDED => Item::Ended(String::from_utf8_lossy(element.value).into_owned()),
            other => return Err(Fault::BadType(other)),
        };
        Ok(Some((item, element.whole.len())))
    }
}

impl Record {
    /// Appends the element, with the packet or without.
    pub fn encode_into(&self, with_packet: bool, out: &mut Vec<u8>) {
        let packet = if with_packet { &self.packet[..] } else { &[] };
        let mut value = Vec::with_capacity(packet.len() + self.name.encoded_len() + 64);
        tlv::put_nni_tlv(&mut value, TIME, self.time_ns);
        tlv::put_nni_tlv(&mut value, FACE, self.face);
        tlv::put_nni_tlv(&mut value, DIRECTION, u64::from(self.direction == Direction::Out));
        if let Some(kind) = self.kind {
            tlv::put_nni_tlv(&mut value, KIND, kind as u64);
        }
        tlv::put_nni_tlv(&mut value, SIZE, self.size);
        self.name.encode_into(&mut value);
        tlv::put_nni_tlv(&mut value, ACTION, self.action.number());
        if let Action::Dropped(reason) = &self.action {
            tlv::put_tlv(&mut value, REASON, reason.as_bytes());
        }
        for face in &self.faces {
            tlv::put_nni_tlv(&mut value, TO, *face);
        }
        if with_packet {
            tlv::put_tlv(&mut value, PACKET, packet);
        }
        tlv::put_tlv(out, RECORD, &value);
    }

    fn decode(value: &[u8]) -> Result<Record, Fault> {
        let mut reader = Reader::new(value);
        let time_ns = reader.expect(TIME)?.nni()?;
        let face = reader.expect(FACE)?.nni()?;
        let direction = match reader.expect(DIRECTION)?.nni()? {
            0 => Direction::In,
            1 => Direction::Out,
            _ => return Err(Fault::BadValue(DIRECTION)),
        };
        let kind = match reader.optional(KIND)? {
            Some(kind) => Some(kind_of(kind.nni()?)?),
            None => None,
        };
        let size = reader.expect(SIZE)?.nni()?;
        let name = NameRef::decode(reader.expect(types::NAME)?.value).map_err(|e| e.fault)?;
        let action = reader.expect(ACTION)?.nni()?;
        let (mut reason, mut faces, mut packet) = (String::new(), Vec::new(), Vec::new());
        while let Some(element) = reader.next_element()? {
            match element.typ {
                REASON => reason = String::from_utf8_lossy(element.value).into_owned(),
                TO => faces.push(element.nni()?),
                PACKET => packet = element.value.to_vec(),
                _ => {}
            }
        }
        let (name, action) = (name.to_name(), Action::of(action, reason)?);
        Ok(Record { time_ns, face, direction, kind, size, name, action, faces, packet })
    }
}

fn kind_of(number: u64) -> Result<Kind, Fault> {
    let all = [Kind::Interest, Kind::Data, Kind::Nack];
    all.into_iter().find(|kind| *kind as u64 == number).ok_or(Fault::BadValue(KIND))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn record() -> Record {
        Record {
            time_ns: 1_790_000_000_123_456_789,
            face: 300,
            direction: Direction::In,
            kind: Some(Kind::Interest),
            size: 53,
            name: "/a/b".parse().unwrap(),
            action: Action::Forwarded,
            faces: vec![4, 5],
            packet: vec![5, 3, 7, 1, 8],
        }
    }

    #[test]
    fn items_are_read_as_they_were_written_wherever_the_stream_is_cut() {
        let dropped = Action::Dropped("unsolicited".to_owned());
        let items = [
            Item::Record(Box::new(record())),
            Item::Lost(70_000),
            Item::Record(Box::new(Record {
                direction: Direction::Out,
                kind: None,
                name: Name::new(),
                action: dropped,
                faces: Vec::new(),
                packet: Vec::new(),
                ..record()
            })),
            Item::Ended("face 3 is gone".to_owned()),
        ];
        let mut stream = Vec::new();
        items.iter().for_each(|item| item.encode_into(&mut stream));
        let mut rest = &stream[..];
        for item in &items {
            let (read, length) = Item::decode(rest).unwrap().unwrap();
            assert_eq!(read, *item);
            for cut in 0..length {
                assert_eq!(Item::decode(&rest[..cut]), Ok(None), "{item:?} cut at {cut}");
            }
            rest = &rest[length..];
        }
        assert!(rest.is_empty());
    }

    proptest! {
        #[test]
        fn bytes_that_are_no_trace_are_an_error_and_never_a_panic(
            bytes in proptest::collection::vec(any::<u8>(), 0..200)
        ) {
            let _ = Item::decode(&bytes);
        }
    }
}
