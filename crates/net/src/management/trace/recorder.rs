//! The recorder: it turns the steps of packets into records, and keeps them until they are read.

use crate::clock::unix_nanos;
use crate::trace::{Action, Direction, Item, Record};
use control::Kind;
use forwarder::{DropReason, FaceId, PacketEvent, Step};
use packet::tlv::{Reader, types};
use packet::{Name, NameRef};
use std::collections::VecDeque;

/// Bytes of records per second that a trace takes, and the number that it takes at once.
const RATE: u64 = 16_000_000;
const BURST: u64 = RATE / 4;

/// The number of recorded packets of one arrival; of a thousand copies these are enough.
const MOST_COPIES: usize = 64;

/// The target of the daemon's log lines about packets.
const PACKETS: &str = "net::packets";

/// The target of the daemon's log lines about each step of a packet.
const STEPS: &str = "net::steps";

/// The packets that a trace is about.
#[derive(Clone, Debug, Default)]
pub(super) struct Selection {
    /// Those at this face.
    pub face: Option<FaceId>,
    /// Those whose names are below this one.
    pub prefix: Name,
    /// The packets are wanted as well.
    pub packets: bool,
}

impl Selection {
    fn wants(&self, face: FaceId, name: NameRef<'_>) -> bool {
        self.face.is_none_or(|wanted| wanted == face) && name.starts_with(self.prefix.as_ref())
    }
}

/// The records of one trace that wait to be read.
#[derive(Debug)]
pub(super) struct Tape {
    number: u64,
    /// The name of the packets that carry it to its reader. No trace contains them: each would
    /// cause the next. The name is secret, so no other packet can use it to stay out of traces.
    name: Name,
    selection: Selection,
    stream: VecDeque<u8>,
    /// The stream has at most this many bytes.
    most: usize,
    /// The number of packets without room since the last recorded one.
    lost: u64,
    /// The number of bytes that may be recorded, at the time `allowed_at`.
    allowance: u64,
    allowed_at: u64,
}

impl Tape {
    pub fn new(number: u64, name: Name, selection: Selection, most: usize) -> Tape {
        let stream = VecDeque::new();
        Tape { number, name, selection, stream, most, lost: 0, allowance: BURST, allowed_at: 0 }
    }

    /// True if a packet of this size has to be kept.
    fn keeps(&self, face: FaceId, name: NameRef<'_>, size: usize) -> bool {
        let has_room = self.stream.len() + size < self.most;
        self.selection.packets && has_room && self.selection.wants(face, name)
    }

    /// Appends a record, or counts it as lost.
    fn push(&mut self, record: &Record) {
        let earned = record.time_ns.saturating_sub(self.allowed_at).min(1_000_000_000);
        self.allowance = (self.allowance + earned * (RATE / 1_000_000) / 1000).min(BURST);
        self.allowed_at = record.time_ns;
        let with_packet = self.selection.packets && !record.packet.is_empty();
        // There was no room for the packet.
        if self.selection.packets && !with_packet && record.size > 0 {
            self.lost += 1;
            return;
        }
        let mut element = Vec::new();
        if self.lost > 0 {
            Item::Lost(self.lost).encode_into(&mut element);
        }
        record.encode_into(with_packet, &mut element);
        let bytes = element.len() as u64;
        if bytes > self.allowance || self.stream.len() + element.len() > self.most {
            self.lost += 1;
            return;
        }
        self.allowance -= bytes;
        self.lost = 0;
        self.stream.extend(element);
    }

    /// Ends the recording for this reason.
    fn end(&mut self, why: &str) {
        let mut element = Vec::new();
        Item::Ended(why.to_owned()).encode_into(&mut element);
        self.stream.extend(element);
    }
}

/// A packet between its first step and its last.
#[derive(Debug)]
struct Journey {
    face: FaceId,
    kind: Kind,
    /// The place of its record among the drafts; `None` if no trace selects it.
    draft: Option<usize>,
    action: Option<Action>,
}

/// All tapes, and the packet at hand.
#[derive(Debug, Default)]
pub(super) struct Recorder {
    tapes: Vec<Tape>,
    /// Lines about packets are written into the log as well.
    logs_packets: bool,
    /// So are lines about their steps.
    logs_steps: bool,
    journey: Option<Journey>,
    /// Records of the packet that arrived and of the packets that it caused.
    drafts: Vec<Record>,
}

impl Recorder {
    /// True if no reader or log needs the tap.
    pub fn is_idle(&self) -> bool {
        self.tapes.is_empty() && !self.logs_packets && !self.logs_steps
    }

    /// Writes the log lines that the configuration asks for from now on. Returns true if it asks
    /// for any.
    pub fn log(&mut self) -> bool {
        self.logs_packets = tracing::enabled!(target: PACKETS, tracing::Level::DEBUG);
        self.logs_steps = tracing::enabled!(target: STEPS, tracing::Level::TRACE);
        self.logs_packets || self.logs_steps
    }

    pub fn add(&mut self, tape: Tape) {
        self.tapes.push(tape);
    }

    pub fn remove(&mut self, number: u64) {
        self.tapes.retain(|tape| tape.number != number);
    }

    /// Ends the tape with a reason that its reader will find.
    pub fn end(&mut self, number: u64, why: &str) {
        if let Some(tape) = self.tape(number) {
            tape.end(why);
        }
    }

    /// Takes at most this many bytes off a tape.
    pub fn take(&mut self, number: u64, most: usize) -> Vec<u8> {
        let Some(tape) = self.tape(number) else { return Vec::new() };
        if tape.stream.is_empty() && tape.lost > 0 {
            let mut element = Vec::new();
            Item::Lost(std::mem::take(&mut tape.lost)).encode_into(&mut element);
            tape.stream.extend(element);
        }
        let taken = tape.stream.len().min(most);
        tape.stream.drain(..taken).collect()
    }

    /// Bytes of memory held.
    pub fn memory(&self) -> usize {
        self.tapes.iter().map(|tape| tape.stream.capacity()).sum()
    }

    fn tape(&mut self, number: u64) -> Option<&mut Tape> {
        self.tapes.iter_mut().find(|tape| tape.number == number)
    }

    /// A step of a packet at a face.
    pub fn step(&mut self, face: FaceId, event: &PacketEvent<'_>) {
        if self.logs_steps {
            log_step(face, event);
        }
        match event.step {
            Step::Arrived => {
                self.finish();
                let draft = self.draft(face, Direction::In, event);
                self.journey = Some(Journey { face, kind: event.kind, draft, action: None });
            }
            Step::Hit => self.decide(Action::Hit),
            Step::Answered => self.decide(Action::Answered),
            Step::Aggregated => self.decide(Action::Aggregated),
            Step::Expanded(_) => self.decide(Action::Expanded),
            Step::Dropped(reason) if event.packet.is_empty() => self.dropped(face, reason),
            Step::Queued => self.leaves(face, event, Action::Queued),
            Step::Dropped(reason) => {
                self.leaves(face, event, Action::Dropped(reason.name().to_owned()));
            }
            Step::Handled => self.finish(),
            // The other steps show the way of a packet, and are for the log.
            _ => {}
        }
    }

    fn decide(&mut self, action: Action) {
        if let Some(journey) = &mut self.journey {
            journey.action = Some(action);
        }
    }

    /// The packet that arrived is dropped, or a frame before there was a packet in it.
    fn dropped(&mut self, face: FaceId, reason: DropReason) {
        let action = Action::Dropped(reason.name().to_owned());
        if self.journey.is_some() {
            return self.decide(action);
        }
        if self.is_wanted(face, Name::new().as_ref()) {
            let record = Record {
                time_ns: unix_nanos(),
                face: face.0,
                direction: Direction::In,
                kind: None,
                size: 0,
                name: Name::new(),
                action,
                faces: Vec::new(),
                packet: Vec::new(),
            };
            self.write(&record);
        }
    }

    /// A packet enters the queue of a face.
    fn leaves(&mut self, face: FaceId, event: &PacketEvent<'_>, action: Action) {
        let draft = if self.drafts.len() < MOST_COPIES {
            self.draft(face, Direction::Out, event)
        } else {
            self.lose(face, event);
            None
        };
        if let Some(record) = draft.and_then(|at| self.drafts.get_mut(at)) {
            record.action = action;
        }
        let Some(journey) = &mut self.journey else { return self.finish() };
        let is_own_nack = journey.kind == Kind::Interest && event.kind == Kind::Nack;
        if is_own_nack {
            if face == journey.face && journey.action.is_none() {
                journey.action = Some(Action::Nacked);
            }
        } else if let Some(record) = journey.draft.and_then(|at| self.drafts.get_mut(at))
            && !matches!(journey.action, Some(Action::Hit | Action::Answered))
        {
            record.faces.push(face.0);
        }
    }

    /// Makes a record if a trace selects it.
    fn draft(
        &mut self,
        face: FaceId,
        direction: Direction,
        event: &PacketEvent<'_>,
    ) -> Option<usize> {
        let name = name_of(event.packet);
        let shown = name.unwrap_or_default();
        let is_stream = self.tapes.iter().any(|tape| shown.starts_with(tape.name.as_ref()));
        if is_stream || !self.is_wanted(face, shown) {
            return None;
        }
        let size = event.packet.len();
        let keeps_packet = self.tapes.iter().any(|tape| tape.keeps(face, shown, size));
        self.drafts.push(Record {
            time_ns: unix_nanos(),
            face: face.0,
            direction,
            kind: name.map(|_| event.kind),
            size: size as u64,
            name: shown.to_name(),
            action: Action::Kept,
            faces: Vec::new(),
            packet: if keeps_packet { event.packet.to_vec() } else { Vec::new() },
        });
        Some(self.drafts.len() - 1)
    }

    /// Counts a copy beyond the limit as lost.
    fn lose(&mut self, face: FaceId, event: &PacketEvent<'_>) {
        let name = name_of(event.packet).unwrap_or_default();
        for tape in self.tapes.iter_mut().filter(|tape| tape.selection.wants(face, name)) {
            tape.lost += 1;
        }
    }

    fn is_wanted(&self, face: FaceId, name: NameRef<'_>) -> bool {
        self.logs_packets || self.tapes.iter().any(|tape| tape.selection.wants(face, name))
    }

    /// The packet that arrived has been handled: writes its record and those of the packets that
    /// it caused.
    fn finish(&mut self) {
        if let Some(Journey { draft: Some(at), action, .. }) = self.journey.take()
            && let Some(record) = self.drafts.get_mut(at)
        {
            let went_on = !record.faces.is_empty();
            let otherwise = if went_on { Action::Forwarded } else { Action::Kept };
            record.action = action.unwrap_or(otherwise);
        }
        let mut drafts = std::mem::take(&mut self.drafts);
        drafts.iter().for_each(|record| self.write(record));
        drafts.clear();
        self.drafts = drafts;
    }

    /// Gives a record to the tapes that select it, and to the log.
    fn write(&mut self, record: &Record) {
        if self.logs_packets {
            log(record);
        }
        let face = FaceId(record.face);
        for tape in &mut self.tapes {
            if tape.selection.wants(face, record.name.as_ref()) {
                tape.push(record);
            }
        }
    }
}

/// The name of an Interest or a Data packet, which begins with it.
fn name_of(packet: &[u8]) -> Option<NameRef<'_>> {
    let element = Reader::new(packet).next_element().ok()??;
    let name = match element.typ {
        types::INTEREST | types::DATA => Reader::new(element.value).expect(types::NAME).ok()?,
        _ => return None,
    };
    NameRef::decode(name.value).ok()
}

/// Writes a line of level `trace` for a step of a packet.
fn log_step(face: FaceId, event: &PacketEvent<'_>) {
    let (face, step, count) = (face.0, event.step.word(), event.step.count());
    match event.step {
        Step::Dropped(reason) => {
            tracing::trace!(target: STEPS, face, step, reason = reason.name(), "step");
        }
        Step::Held(stage) => tracing::trace!(target: STEPS, face, step, ?stage, "step"),
        Step::Arrived | Step::Queued => {
            let (kind, name) = (kind_word(event.kind), name_of(event.packet).unwrap_or_default());
            tracing::trace!(target: STEPS, face, step, kind, %name, "step");
        }
        _ => tracing::trace!(target: STEPS, face, step, count, "step"),
    }
}

/// Writes a line for a packet: of level `debug` if it was dropped, otherwise of level `trace`.
fn log(record: &Record) {
    let Record { face, name, size, faces, .. } = record;
    let kind = record.kind.map_or("unknown", kind_word);
    let (direction, action) = (record.direction.word(), record.action.word());
    if let Action::Dropped(reason) = &record.action {
        tracing::debug!(target: PACKETS, face, direction, kind, %name, size, reason, "dropped");
    } else {
        let to = faces;
        tracing::trace!(target: PACKETS, face, direction, kind, %name, size, ?to, action, "packet");
    }
}

fn kind_word(kind: Kind) -> &'static str {
    match kind {
        Kind::Interest => "interest",
        Kind::Data => "data",
        Kind::Nack => "nack",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use packet::DataBuf;

    /// The action of each record of tape 1, with the faces that the packet went to.
    fn recorded(recorder: &mut Recorder) -> Vec<(String, Vec<u64>)> {
        let bytes = recorder.take(1, usize::MAX);
        let (mut rest, mut actions) = (&bytes[..], Vec::new());
        while let Some((item, length)) = Item::decode(rest).unwrap() {
            if let Item::Record(record) = item {
                actions.push((record.action.word().to_owned(), record.faces.clone()));
            }
            rest = &rest[length..];
        }
        actions
    }

    #[test]
    fn a_probe_that_this_node_answers_is_not_forwarded() {
        let mut recorder = Recorder::default();
        recorder.add(Tape::new(1, "/stream".parse().unwrap(), Selection::default(), 1 << 20));
        let probe = packet::InterestBuf::new("/a/b".parse().unwrap()).encode();
        let reply = DataBuf::new("/a/b".parse().unwrap(), b"x".to_vec()).encode_digest();
        let mut step = |step, kind, packet: &[u8]| {
            recorder.step(FaceId(1), &PacketEvent { step, kind, packet });
        };
        step(Step::Arrived, Kind::Interest, &probe);
        step(Step::Answered, Kind::Interest, &[]);
        step(Step::Queued, Kind::Data, &reply);
        step(Step::Handled, Kind::Interest, &[]);
        let expected = [("answered", vec![]), ("queued", vec![])];
        assert_eq!(recorded(&mut recorder), expected.map(|(word, faces)| (word.to_owned(), faces)));
    }

    /// Its own record shows a range; each segment has a record with its result.
    #[test]
    fn segments_of_a_range_have_records_of_their_own() {
        let mut recorder = Recorder::default();
        let stream: Name = "/stream".parse().unwrap();
        recorder.add(Tape::new(1, stream, Selection::default(), 1 << 20));
        let segment = |n| {
            let name: Name = format!("/a/seg={n}").parse().unwrap();
            packet::InterestBuf::new(name).encode()
        };
        let mut step = |face, step, packet: &[u8]| {
            recorder.step(FaceId(face), &PacketEvent { step, kind: Kind::Interest, packet });
        };
        step(1, Step::Arrived, &segment(0));
        step(1, Step::Expanded(3), &[]);
        step(1, Step::Arrived, &segment(0));
        step(1, Step::Hit, &[]);
        step(1, Step::Arrived, &segment(1));
        step(2, Step::Queued, &segment(1));
        step(1, Step::Arrived, &segment(2));
        step(1, Step::Dropped(DropReason::RangeTooLong), &[]);
        step(1, Step::Handled, &[]);
        let actions = recorded(&mut recorder);
        let expected = [
            ("expanded", vec![]),
            ("hit", vec![]),
            ("forwarded", vec![2]),
            ("queued", vec![]),
            ("dropped", vec![]),
        ];
        assert_eq!(actions, expected.map(|(word, faces)| (word.to_owned(), faces)));
    }

    #[test]
    fn copies_beyond_the_most_are_counted_as_lost() {
        let mut recorder = Recorder::default();
        let stream: Name = "/stream".parse().unwrap();
        recorder.add(Tape::new(1, stream, Selection::default(), 1 << 20));
        let data = DataBuf::new("/a".parse().unwrap(), b"x".to_vec()).encode_digest();
        let event = |step| PacketEvent { step, kind: Kind::Data, packet: &data };
        let copies = 70;
        recorder.step(FaceId(1), &event(Step::Arrived));
        (0..copies).for_each(|to| recorder.step(FaceId(100 + to), &event(Step::Queued)));
        recorder.step(FaceId(1), &event(Step::Handled));
        recorder.step(FaceId(1), &event(Step::Arrived));
        recorder.step(FaceId(1), &event(Step::Handled));
        let bytes = recorder.take(1, usize::MAX);
        let (mut rest, mut records, mut lost) = (&bytes[..], Vec::new(), 0);
        while let Some((item, length)) = Item::decode(rest).unwrap() {
            match item {
                Item::Record(record) => records.push(record),
                Item::Lost(packets) => lost += packets,
                Item::Ended(why) => panic!("{why}"),
            }
            rest = &rest[length..];
        }
        let sent = records.iter().filter(|record| record.direction == Direction::Out).count();
        assert_eq!((sent, lost), (MOST_COPIES - 1, copies - (MOST_COPIES as u64 - 1)));
        assert_eq!(records[0].faces.len() as u64, copies, "the packet that arrived names them all");
    }
}
