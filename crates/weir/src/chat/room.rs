//! A member's part in a chat, as a state machine at the end of a connection: vectors, messages,
//! history, presence and files.

use super::presence::{Presence, Sign};
use client::parts::group::{self, Participant};
use control::{Duration, Rng, Time};
use net::client::Endpoint;
use packet::Name;
use security::Certificate;
use std::collections::{BTreeSet, VecDeque};
use sync::wire::{self, Verified};
use sync::{Member, Stream};
use transport::publish::Publication;
use weir::message::{Body, Message};

/// Reasons of rejections that are reported, each once.
const REPORTED: usize = 20;
/// Events that wait to be shown, at most. More are counted only.
const MOST_EVENTS: usize = 4_000;
/// The time for which a new member waits for the state of the group. Its first messages come after
/// the vector that announces it to others: then they are live.
const WELCOME: Duration = Duration::from_secs(1);
/// Seconds by which a start is ahead of a clock, at least, if a member does not send it.
const FUTURE_S: u64 = 86_400;

/// Something to show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A member is here.
    Here(Name),
    /// A member has left, or is silent.
    Gone {
        /// The member.
        member: Name,
        /// True if the member has announced it.
        has_left: bool,
    },
    /// A message.
    Message {
        /// Its stream.
        stream: Stream,
        /// Its number.
        seq: u64,
        /// The message.
        message: Message,
        /// It was published since this member joined.
        is_live: bool,
    },
    /// Messages that could not be fetched: the first, the last, and their count.
    Missing {
        /// Their stream.
        stream: Stream,
        /// The first of them.
        low: u64,
        /// The last of them.
        high: u64,
        /// Their number.
        count: u64,
    },
    /// A packet was dropped: its name, and the reason.
    Rejected(String),
}

/// The counters of a room.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Packets that are not by a trusted signer, or not in order otherwise.
    pub rejected: u64,
    /// Sync Interests among them.
    pub rejected_vectors: u64,
    /// Events that were not shown, because too many waited.
    pub unshown: u64,
    /// The reasons that were reported.
    reported: BTreeSet<String>,
}

/// A member's part in a chat.
pub struct Room {
    participant: Participant,
    presence: Presence,
    own: OwnSigns,
    events: VecDeque<Event>,
    counts: Counts,
    rng: Rng,
}

/// The heartbeats of this member.
struct OwnSigns {
    /// The time between them.
    beat: Duration,
    next_beat: Time,
    /// The end of the time in which the state of the group is awaited; `None` once it is there.
    welcome: Option<Time>,
    /// Another member has sent this member's start.
    is_acknowledged: bool,
}

impl Room {
    /// Joins at `now`, and sends heartbeats with `beat` between them. The certificates in
    /// `chain` are served.
    ///
    /// # Errors
    /// The names are too long: the number of bytes that a packet would have.
    pub fn new(
        mut options: group::Options,
        beat: Duration,
        chain: &[Certificate],
        now: Time,
    ) -> Result<Room, usize> {
        let next_rng = Rng::stream(options.rng.next_u64(), &["chat"]);
        let participant = Participant::new(options, chain, now)?;
        let longest = Message { time_ms: u64::MAX, body: Body::Text("text".to_owned()) };
        participant.check(longest.encode().into())?;
        Ok(Room {
            participant,
            presence: Presence::new(beat),
            own: OwnSigns {
                beat,
                next_beat: now + beat,
                welcome: Some(now + WELCOME),
                is_acknowledged: false,
            },
            events: VecDeque::new(),
            counts: Counts::default(),
            rng: next_rng,
        })
    }

    /// True if the state of the group is known, or was awaited long enough, and others can know
    /// that this member is there: messages from now on are live for them.
    pub fn is_welcome(&self, now: Time) -> bool {
        let is_announced = self.member().next_deadline() > Time::ZERO;
        self.own.welcome.is_none_or(|end| now >= end) && is_announced
    }

    /// The prefixes to register: see [`Participant::prefixes`].
    pub fn prefixes(&self, keys: &[Name]) -> Vec<Name> {
        self.participant.prefixes(keys)
    }

    /// The member's sync state.
    pub fn member(&self) -> &Member {
        self.participant.member()
    }

    /// The members that are here.
    pub fn presence(&self) -> &Presence {
        &self.presence
    }

    /// The counters.
    pub fn counts(&self) -> &Counts {
        &self.counts
    }

    /// The number of own texts and files that no other member has fetched.
    pub fn unfetched(&self) -> usize {
        self.participant.unfetched()
    }

    /// The number of answers sent.
    pub fn answered(&self) -> u64 {
        self.participant.answered()
    }

    /// Publishes a message, and returns its number.
    ///
    /// # Errors
    /// It does not fit into a packet: the names are too long.
    pub fn send(&mut self, now: Time, body: Body) -> Result<u64, usize> {
        let is_shown = matches!(body, Body::Text(_) | Body::File { .. });
        let message = Message { time_ms: self.participant.clock_ms(), body };
        self.participant.publish(now, message.encode().into(), is_shown)
    }

    /// Serves a file.
    pub fn serve(&mut self, publication: Publication) {
        self.participant.serve(publication);
    }

    /// The name of a file that this member publishes.
    pub fn file_name(&self, file: &packet::Component) -> Name {
        let member = &self.member().own().name;
        wire::publications(member, self.participant.group()).with(file)
    }

    /// The connection is another one.
    pub fn reconnected(&mut self, now: Time) {
        self.participant.reconnected(now);
    }

    /// The next event.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// True if there is an event.
    pub fn has_events(&self) -> bool {
        !self.events.is_empty()
    }

    fn show(&mut self, event: Event) {
        match self.events.len() < MOST_EVENTS {
            true => self.events.push_back(event),
            false => self.counts.unshown += 1,
        }
    }

    fn reject(&mut self, what: &str, is_vector: bool) {
        self.counts.rejected += 1;
        self.counts.rejected_vectors += u64::from(is_vector);
        let is_reported = self.counts.reported.contains(what);
        if !is_reported && self.counts.reported.len() < REPORTED {
            self.counts.reported.insert(what.to_owned());
            self.show(Event::Rejected(what.to_owned()));
        }
    }

    /// Handles the events of the group.
    fn drain(&mut self, now: Time) {
        while let Some(event) = self.participant.poll_event() {
            match event {
                group::Event::Vector(verified) => {
                    if let Some((stream, seq)) = self.signs(now, &verified) {
                        self.participant.current(&stream, seq);
                    }
                }
                group::Event::Publication { stream, seq, arrival, is_live, .. } => {
                    self.message(now, &stream, seq, &arrival.content, is_live);
                }
                group::Event::Missing { stream, low, high, count } => {
                    self.show(Event::Missing { stream, low, high, count });
                }
                group::Event::Rejected { what, is_vector } => self.reject(&what, is_vector),
            }
        }
    }

    /// Notes that the signer of a vector is here, and returns its stream. Only a vector with this
    /// member's own start shows that: it was signed since, and is no replay of an earlier one.
    fn signs(&mut self, now: Time, verified: &Verified) -> Option<(Stream, u64)> {
        let signer = &verified.signer;
        let mut names =
            verified.vector.iter().filter(|(name, ..)| name.as_ref().starts_with(signer.as_ref()));
        // A key that several members share does not identify the signer.
        let (name, mut boot, _) = names.next()?;
        for (other, start, _) in names {
            if other != name {
                return None;
            }
            boot = boot.max(start);
        }
        let own = self.member().own().clone();
        if *name == own.name {
            return None;
        }
        if self.own.welcome.take().is_some() {
            self.participant.announce();
        }
        let is_known = verified.vector.get(&own.name, own.boot) > 0;
        self.own.is_acknowledged |= is_known;
        // Members do not send starts that are more than a day ahead of their clocks.
        let is_ahead = verified
            .time_ms
            .is_some_and(|time_ms| own.boot > (time_ms / 1_000).saturating_add(FUTURE_S));
        if !is_known && (self.own.is_acknowledged || !is_ahead) {
            return None;
        }
        match self.presence.sign(now, name, boot, verified.time_ms) {
            Sign::Stale => return None,
            Sign::Again => {}
            Sign::First => self.show(Event::Here(name.clone())),
        }
        self.participant.again(now, |other| other == name);
        let seq = verified.vector.get(name, boot);
        Some((Stream { name: name.clone(), boot }, seq))
    }

    /// Takes a message.
    fn message(&mut self, now: Time, stream: &Stream, seq: u64, content: &[u8], is_live: bool) {
        let message = Message::decode(content).unwrap_or_else(|error| {
            let name = wire::publication(stream, self.participant.group(), seq);
            self.reject(&format!("{name}: {error}"), false);
            Message { time_ms: 0, body: Body::Unknown(0) }
        });
        let own = stream.name == self.member().own().name;
        match message.body {
            Body::Left if !own && self.left(now, stream, message.time_ms) => {
                self.show(Event::Gone { member: stream.name.clone(), has_left: true });
            }
            Body::Joined | Body::Left => {}
            _ => {
                if is_live
                    && !own
                    && self.presence.sign(now, &stream.name, stream.boot, None) == Sign::First
                {
                    self.show(Event::Here(stream.name.clone()));
                }
                self.show(Event::Message { stream: stream.clone(), seq, message, is_live });
            }
        }
    }

    /// Notes that a start has left. Returns true if its member has gone.
    fn left(&mut self, now: Time, stream: &Stream, time_ms: u64) -> bool {
        self.presence.left(now, &stream.name, stream.boot, time_ms)
    }
}

impl Endpoint for Room {
    fn receive(&mut self, now: Time, frame: &[u8]) {
        self.participant.receive(now, frame);
        self.drain(now);
    }

    fn poll_transmit(&mut self, now: Time, out: &mut Vec<u8>) -> bool {
        let sent = self.participant.poll_transmit(now, out);
        self.drain(now);
        sent
    }

    fn next_deadline(&mut self, now: Time) -> Option<Time> {
        let waits = [self.participant.next_deadline(now), self.presence.next_deadline()];
        waits.into_iter().flatten().chain([self.own.next_beat]).min()
    }

    fn on_deadline(&mut self, now: Time) {
        if now >= self.own.next_beat {
            self.participant.announce();
            self.own.next_beat = now + self.own.beat.mul_f64(0.9 + 0.2 * self.rng.unit());
        }
        for member in self.presence.expire(now) {
            self.show(Event::Gone { member, has_left: false });
        }
    }
}

#[cfg(test)]
mod tests;
