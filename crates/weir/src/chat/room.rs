//! A member's part in a chat, as a state machine at the end of a connection: vectors, messages,
//! history, presence and files.

use super::asker::Asker;
use super::kept::{self, Kept};
use super::lines::{Lines, Released};
use super::presence::{Presence, Sign};
use super::trust::{Trust, Verdict};
use control::{Duration, Rng, Time};
use net::client::Endpoint;
use packet::{Bytes, Data, DataBuf, Interest, LpPacket, Name, NameRef};
use security::{Certificate, Signer, TrustPolicy};
use std::collections::{BTreeSet, VecDeque};
use sync::wire::{self, Rejected};
use sync::{Config, Limits, Member, Stream, Vector};
use transport::publish::{Publication, Publish};
use weir::message::{Body, Message};

/// How long caches may answer with a message. It never changes.
const FRESHNESS_MS: u64 = 3_600_000;
/// The bytes that the packet around a message in history takes, besides names.
const AROUND: usize = 128;
/// Reasons of rejections that are reported, each once.
const REPORTED: usize = 20;
/// Events that wait to be shown, at most. More are counted only.
const MOST_EVENTS: usize = 4_000;
/// How long a new member waits for the state of the group. Its first messages come after the vector
/// by which others see that it is there: then they are live.
const WELCOME: Duration = Duration::from_secs(1);
/// Seconds by which a start is ahead of a clock, at least, if a member does not send it.
const FUTURE_S: u64 = 86_400;
/// The bytes that a stream takes in a vector, besides its name.
const AROUND_STREAM: usize = 40;

/// The options of a room.
pub struct Options {
    /// The group.
    pub group: Name,
    /// The member, and the second of its start: see [`Stream::boot`].
    pub own: Stream,
    /// Signs vectors and messages.
    pub signer: Signer,
    /// The accepted signers.
    pub policy: TrustPolicy,
    /// Messages of each member that are fetched on joining.
    pub history: u64,
    /// The time between signs of life.
    pub beat: Duration,
    /// Random numbers.
    pub rng: Rng,
    /// The host's clock, in milliseconds since 1970.
    pub clock: Box<dyn Fn() -> u64>,
}

/// Something to show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A member is here.
    Here(Name),
    /// A member has left, or is silent.
    Gone {
        /// The member.
        member: Name,
        /// It has said so.
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
        count: usize,
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
    group: Name,
    signer: Signer,
    member: Member,
    publish: Publish,
    kept: Kept,
    asker: Asker,
    trust: Trust,
    lines: Lines,
    presence: Presence,
    own: OwnSigns,
    events: VecDeque<Event>,
    counts: Counts,
    rng: Rng,
    clock: Box<dyn Fn() -> u64>,
}

/// The signs of life of this member.
struct OwnSigns {
    /// The time between them.
    beat: Duration,
    next_beat: Time,
    /// The time of the last vector, in milliseconds since 1970.
    signed_ms: u64,
    /// The end of the time in which the state of the group is awaited; `None` once it is there.
    welcome: Option<Time>,
    /// Another member has sent this member's start.
    is_acknowledged: bool,
}

impl Room {
    /// Joins at `now`. The certificates in `chain` are served.
    ///
    /// # Errors
    /// The names are too long: the number of bytes that a packet would have.
    pub fn new(options: Options, chain: &[Certificate], now: Time) -> Result<Room, usize> {
        let limits = limits(&options)?;
        let Options { group, own, signer, policy, history, beat, mut rng, clock } = options;
        let kept = Kept::new(&group);
        chain.iter().for_each(|certificate| kept.pin(certificate.wire().clone()));
        let mut publish = Publish::new();
        publish.set_shelf(Box::new(kept.clone()));
        publish.claim(wire::publications(&own.name, &group));
        let joined = own.boot;
        let mut next_rng = || Rng::stream(rng.next_u64(), &["chat"]);
        let room = Room {
            signer,
            asker: Asker::new(kept::history(&group), next_rng()),
            member: Member::new(Config { limits, ..Config::default() }, own, next_rng(), now),
            trust: Trust::new(policy),
            publish,
            kept,
            lines: Lines::new(history, joined),
            presence: Presence::new(beat),
            own: OwnSigns {
                beat,
                next_beat: now + beat,
                signed_ms: 0,
                welcome: Some(now + WELCOME),
                is_acknowledged: false,
            },
            events: VecDeque::new(),
            counts: Counts::default(),
            rng: next_rng(),
            clock,
            group,
        };
        room.signed(&Message { time_ms: u64::MAX, body: Body::Text("text".to_owned()) })?;
        Ok(room)
    }

    /// True if the state of the group is known, or was awaited long enough, and others can know
    /// that this member is there: messages from now on are live for them.
    pub fn is_welcome(&self, now: Time) -> bool {
        let is_announced = self.member.next_deadline() > Time::ZERO;
        self.own.welcome.is_none_or(|end| now >= end) && is_announced
    }

    /// The prefixes to register: the group, and those that are not below it. Longer ones would hide
    /// the routes that lead to other members.
    pub fn prefixes(&self, keys: &[Name]) -> Vec<Name> {
        let own = wire::publications(&self.member.own().name, &self.group);
        let others = [own].into_iter().chain(keys.iter().cloned());
        let outside = others.filter(|name| !name.as_ref().starts_with(self.group.as_ref()));
        [self.group.clone()].into_iter().chain(outside).collect()
    }

    /// The member's sync state.
    pub fn member(&self) -> &Member {
        &self.member
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
        self.kept.unfetched()
    }

    /// The number of answers sent.
    pub fn answered(&self) -> u64 {
        self.publish.stats().answered
    }

    /// Publishes a message, and returns its number.
    ///
    /// # Errors
    /// It does not fit into a packet: the names are too long.
    pub fn send(&mut self, now: Time, body: Body) -> Result<u64, usize> {
        let is_shown = matches!(body, Body::Text(_) | Body::File { .. });
        let message = Message { time_ms: (self.clock)(), body };
        let packet = self.signed(&message)?;
        if is_shown {
            self.kept.offer(packet);
        } else {
            self.kept.keep(packet);
        }
        Ok(self.member.publish(now))
    }

    /// The packet of the next message.
    fn signed(&self, message: &Message) -> Result<Bytes, usize> {
        let content = Bytes::from(message.encode());
        let name = |seq| wire::publication(self.member.own(), &self.group, seq);
        let freshness_ms = Some(FRESHNESS_MS);
        let packet = |name, content| {
            let mut out = Vec::new();
            self.signer.encode(&DataBuf { freshness_ms, ..DataBuf::new(name, content) }, &mut out);
            Bytes::from(out)
        };
        // The longest number: a message that fits now must not fail later.
        let longest = name(u64::MAX);
        let around = kept::in_history(&kept::history(&self.group), longest.as_ref());
        let len = packet(longest, content.clone()).len() + around.encoded_len() + AROUND;
        match len > packet::MAX_PACKET {
            true => Err(len),
            false => Ok(packet(name(self.member.seq() + 1), content)),
        }
    }

    /// Serves a file.
    pub fn serve(&mut self, publication: Publication) {
        self.publish.replace(publication);
    }

    /// The name of a file that this member publishes.
    pub fn file_name(&self, file: &packet::Component) -> Name {
        wire::publications(&self.member.own().name, &self.group).with(file)
    }

    /// The connection is another one.
    pub fn reconnected(&mut self, now: Time) {
        self.publish.forget_waiting();
        self.asker.restart(now);
        self.member.announce();
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

    /// Takes a sync Interest.
    fn vector(&mut self, now: Time, wire: &[u8]) {
        let Ok(interest) = Interest::decode(wire) else { return };
        self.trust.set_clock((self.clock)() / 1_000);
        match wire::open(&interest, &self.group, self.trust.policy()) {
            Ok(verified) => {
                let clock_s = (self.clock)() / 1_000;
                let signer = verified.signer.as_ref();
                self.member.receive(now, clock_s, &verified.vector, Some(signer));
                let current = self.signs(now, &verified);
                self.updates(now);
                if let Some((stream, seq)) = current {
                    self.lines.current(&stream, seq);
                }
                self.forget();
            }
            Err(Rejected::NotVerified(ref error)) if let Some(missing) = error.missing() => {
                let missing = missing.clone();
                let wire = Bytes::copy_from_slice(wire);
                if self.trust.wait_for(&missing, None, wire) {
                    self.asker.ask_unknown(now, missing);
                }
            }
            Err(error) => self.reject(&format!("a state vector: {error}"), true),
        }
    }

    /// Notes that the signer of a vector is here, and returns its stream. Only a vector with this
    /// member's own start shows that: it was signed since, and is no replay of an earlier one.
    fn signs(&mut self, now: Time, verified: &wire::Verified) -> Option<(Stream, u64)> {
        let signer = &verified.signer;
        let of_signer = |name: &Name| name.as_ref().starts_with(signer.as_ref());
        let mut names = verified.vector.iter().filter(|(name, ..)| of_signer(name));
        // A key that several members share does not say which of them signed.
        let (name, mut boot, _) = names.next()?;
        for (other, start, _) in names {
            if other != name {
                return None;
            }
            boot = boot.max(start);
        }
        let own = self.member.own().clone();
        if *name == own.name {
            return None;
        }
        if self.own.welcome.take().is_some() {
            self.member.announce();
        }
        let is_known = verified.vector.get(&own.name, own.boot) > 0;
        self.own.is_acknowledged |= is_known;
        // Members do not send starts that are more than a day ahead of their clocks.
        let last = |time_ms: u64| (time_ms / 1_000).saturating_add(FUTURE_S);
        let is_ahead = verified.time_ms.is_some_and(|time_ms| own.boot > last(time_ms));
        if !is_known && (self.own.is_acknowledged || !is_ahead) {
            return None;
        }
        match self.presence.sign(now, name, boot, verified.time_ms) {
            Sign::Stale => return None,
            Sign::Again => {}
            Sign::First => self.show(Event::Here(name.clone())),
        }
        for (stream, seq) in self.lines.again(|stream| stream.name == *name) {
            self.asker.ask(now, wire::publication(&stream, &self.group, seq), false);
        }
        let seq = verified.vector.get(name, boot);
        Some((Stream { name: name.clone(), boot }, seq))
    }

    /// Drops everything about streams that others have displaced in the state vector.
    fn forget(&mut self) {
        if self.lines.len() <= self.member.others().count() {
            return;
        }
        for stream in self.lines.forget(|stream| self.member.knows(stream)) {
            let first = wire::publication(&stream, &self.group, 1);
            self.asker.forget(&first.as_ref().parent().to_name());
        }
    }

    /// Asks for the messages of new updates.
    fn updates(&mut self, now: Time) {
        while let Some(update) = self.member.poll_update() {
            for seq in self.lines.update(&update) {
                let name = wire::publication(&update.stream, &self.group, seq);
                if !self.asker.ask(now, name, !update.is_confirmed) {
                    let released = self.lines.absent(&update.stream, seq);
                    self.release(now, &update.stream, released);
                }
            }
        }
    }

    /// Takes a packet that was asked for.
    fn packet(&mut self, now: Time, wanted: Name, packet: &Bytes) {
        let Ok(data) = Data::decode(packet) else { return };
        self.trust.set_clock((self.clock)() / 1_000);
        match self.trust.judge(&wanted, &data) {
            Verdict::Certificate => {
                for (name, waiting) in self.trust.released(&wanted) {
                    match name {
                        Some(name) => self.packet(now, name, &waiting),
                        None => self.vector(now, &waiting),
                    }
                }
            }
            Verdict::Verified => self.message(now, &data),
            Verdict::Missing(certificate) => {
                if self.trust.wait_for(&certificate, Some(wanted.clone()), packet.clone()) {
                    self.asker.ask_certificate(now, certificate);
                } else {
                    self.absent(now, &wanted);
                }
            }
            Verdict::Wrong { why, times } => {
                self.reject(&why, false);
                let is_prefix = wire::parse_publication(wanted.as_ref(), &self.group).is_none();
                self.asker.ask_again(now, wanted, is_prefix, times);
            }
        }
    }

    /// Takes a verified message.
    fn message(&mut self, now: Time, data: &Data<'_>) {
        for certificate in self.trust.verified_certificates() {
            self.kept.keep(certificate);
        }
        let Some((stream, seq)) = wire::parse_publication(data.name(), &self.group) else { return };
        self.kept.keep(Bytes::copy_from_slice(data.wire()));
        let message = Message::decode(data.content()).unwrap_or_else(|error| {
            self.reject(&format!("{}: {error}", data.name()), false);
            Message { time_ms: 0, body: Body::Unknown(0) }
        });
        let released = self.lines.arrived(&stream, seq, message);
        self.release(now, &stream, released);
    }

    /// Gives up a packet.
    fn absent(&mut self, now: Time, name: &Name) {
        if let Some((stream, seq)) = wire::parse_publication(name.as_ref(), &self.group) {
            let released = self.lines.absent(&stream, seq);
            return self.release(now, &stream, released);
        }
        // Certificates: nothing that waits for them can be verified.
        for (waiting, _) in self.trust.released(name) {
            // A sender without a key can name any certificate: those are one reason.
            let why = match &waiting {
                Some(waiting) => {
                    format!("{waiting}: the certificate {name} could not be fetched")
                }
                None => "a state vector: its certificate could not be fetched".to_owned(),
            };
            self.reject(&why, waiting.is_none());
            if let Some(waiting) = waiting {
                self.absent(now, &waiting);
            }
        }
    }

    fn release(&mut self, now: Time, stream: &Stream, released: Released) {
        let own = stream.name == self.member.own().name;
        for shown in released.shown {
            let (seq, message, is_live) = (shown.seq, shown.message, shown.is_live);
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
                    let stream = stream.clone();
                    self.show(Event::Message { stream, seq, message, is_live });
                }
            }
        }
        if let Some((low, high, count)) = released.missing {
            self.show(Event::Missing { stream: stream.clone(), low, high, count });
        }
    }

    /// Notes that a start has left. Returns true if its member has gone.
    fn left(&mut self, now: Time, stream: &Stream, time_ms: u64) -> bool {
        self.presence.left(now, &stream.name, stream.boot, time_ms)
    }

    /// Takes an Interest that came back.
    fn refused(&mut self, now: Time, name: NameRef<'_>) {
        self.asker.refused(now, name);
    }
}

/// The bounds of the vector: what a sync Interest has room for besides the names of the group, of
/// this member and of its key. Other members need places, with names as long as this one's.
fn limits(options: &Options) -> Result<Limits, usize> {
    let Options { group, own, signer, .. } = options;
    let mut vector = Vector::new();
    vector.raise(&own.name, own.boot, u64::MAX);
    let len = wire::interest(group, &vector, u64::MAX, signer, 0).len() + AROUND;
    let least = len + own.name.encoded_len() + AROUND_STREAM;
    if least > packet::MAX_PACKET {
        return Err(least);
    }
    let limits = Limits::default();
    Ok(Limits { bytes: limits.bytes.min(packet::MAX_PACKET - len), ..limits })
}

impl Endpoint for Room {
    fn receive(&mut self, now: Time, frame: &[u8]) {
        let Ok(link) = LpPacket::decode(frame) else { return };
        let Some(fragment) = link.fragment() else { return };
        if link.nack().is_some() {
            if let Ok(interest) = Interest::decode(fragment) {
                self.refused(now, interest.name());
            }
            return;
        }
        if let Ok(interest) = Interest::decode(fragment) {
            return match wire::is_sync(&interest, &self.group) {
                true => self.vector(now, fragment),
                false => self.publish.receive(frame),
            };
        }
        if let Ok(data) = Data::decode(fragment)
            && let Some((wanted, packet)) = self.asker.receive(&data)
        {
            self.packet(now, wanted, &packet);
        }
    }

    fn poll_transmit(&mut self, now: Time, out: &mut Vec<u8>) -> bool {
        if let Some(vector) = self.member.poll_transmit(now, (self.clock)() / 1_000) {
            let nonce = self.rng.next_u32();
            // It grows even if the clock does not.
            self.own.signed_ms = (self.own.signed_ms + 1).max((self.clock)());
            let time_ms = self.own.signed_ms;
            let interest = wire::interest(&self.group, &vector, time_ms, &self.signer, nonce);
            out.extend_from_slice(&interest);
            return true;
        }
        let sent = self.asker.poll_transmit(now, out);
        while let Some(name) = self.asker.poll_given_up() {
            self.absent(now, &name);
        }
        sent || self.publish.poll_transmit(out)
    }

    fn next_deadline(&mut self, now: Time) -> Option<Time> {
        let waits = [self.asker.next_deadline(), self.presence.next_deadline()];
        // A vector that is due is sent at the beginning of the next turn.
        let own = [self.own.next_beat, self.member.next_deadline().max(now)];
        waits.into_iter().flatten().chain(own).min()
    }

    fn on_deadline(&mut self, now: Time) {
        if now >= self.own.next_beat {
            self.member.announce();
            self.own.next_beat = now + self.own.beat.mul_f64(0.9 + 0.2 * self.rng.unit());
        }
        for member in self.presence.expire(now) {
            self.show(Event::Gone { member, has_left: false });
        }
    }
}

#[cfg(test)]
mod tests;
