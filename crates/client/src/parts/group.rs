//! A member's part in a group of State Vector Sync, as a state machine at the end of a connection:
//! vectors, publications, the certificates that they need, and history. `weir chat` and
//! [`Client::join`](crate::Client::join) run it.

mod asker;
mod gone;
mod kept;
mod register;
mod start;
mod statement;
mod streams;
mod trust;
mod turns;

pub use kept::{MOST_BYTES, MOST_PACKETS};
pub use register::register;
pub use start::second;
pub use streams::Arrival;

use asker::Asker;
use control::{Duration, Rng, Time};
use kept::Kept;
use net::client::Endpoint;
use packet::{Bytes, ContentType, Data, DataBuf, Interest, LpPacket, Name};
use security::{Certificate, Signer, TrustPolicy};
use std::collections::{BTreeSet, VecDeque};
use streams::{Outcome, Streams};
use sync::wire::{self, Rejected, Verified};
use sync::{Config, Limits, Member, Stream, Vector};
use transport::publish::{Publication, Publish};
use trust::{Trust, Verdict};

/// The time for which caches may answer with a publication. It never changes.
const FRESHNESS_MS: u64 = 3_600_000;
/// The bytes that the packet around a publication in history takes, besides names.
const AROUND: usize = 128;
/// The bytes that a stream takes in a vector, besides its name.
const AROUND_STREAM: usize = 40;
/// The time after a new connection at which the vector is sent once more: the first one is lost to
/// members that do not have their own connection yet, after a restart of the forwarder.
const SECOND_VECTOR: Duration = Duration::from_secs(1);

/// The options of a participant.
pub struct Options {
    /// The group.
    pub group: Name,
    /// The member, and the second of its start: see [`Stream::boot`].
    pub own: Stream,
    /// Signs vectors and publications.
    pub signer: Signer,
    /// The accepted signers.
    pub policy: TrustPolicy,
    /// The number of publications of each member to fetch on joining, from 1 to [`MOST_PACKETS`].
    pub history: u64,
    /// The number of own publications kept for others, up to [`MOST_PACKETS`].
    pub keep: usize,
    /// Random numbers.
    pub rng: Rng,
    /// The host's clock, in milliseconds since 1970.
    pub clock: Box<dyn Fn() -> u64 + Send>,
}

/// An event in the group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A verified state vector was received.
    Vector(Verified),
    /// A publication of another member, or of an earlier start of this one.
    Publication {
        /// Its stream.
        stream: Stream,
        /// Its number.
        seq: u64,
        /// Its content and its signer.
        arrival: Arrival,
        /// It was published since this member joined: see [`Participant::current`].
        is_live: bool,
        /// Later ones of its stream have come before it.
        is_late: bool,
    },
    /// Publications that could not be fetched.
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
    /// A packet was dropped.
    Rejected {
        /// Its name, and the reason.
        what: String,
        /// It was a sync Interest.
        is_vector: bool,
    },
}

/// A member's part in a group.
pub struct Participant {
    group: Name,
    signer: Signer,
    member: Member,
    publish: Publish,
    kept: Kept,
    asker: Asker,
    trust: Trust,
    streams: Streams,
    /// Streams that may have publications to ask for.
    wanting: BTreeSet<Stream>,
    is_paused: bool,
    events: VecDeque<Event>,
    rng: Rng,
    clock: Box<dyn Fn() -> u64 + Send>,
    /// The time of the last vector, in milliseconds since 1970.
    signed_ms: u64,
    /// When a vector is due after a new connection.
    second_vector: Option<Time>,
}

impl Participant {
    /// Joins at `now`. The certificates in `chain` are served.
    ///
    /// # Errors
    /// The names are too long: the number of bytes that a packet would have.
    pub fn new(options: Options, chain: &[Certificate], now: Time) -> Result<Participant, usize> {
        let limits = limits(&options)?;
        let Options { group, own, signer, policy, history, keep, mut rng, clock } = options;
        let kept = Kept::new(&group, keep);
        chain.iter().for_each(|certificate| kept.pin(certificate.wire().clone()));
        let mut publish = Publish::new();
        publish.set_shelf(Box::new(kept.clone()));
        publish.claim(wire::publications(&own.name, &group));
        // When no member has a packet of history, all of them reject an Interest for it, and the
        // strategy multicast returns that at once. Otherwise the answer of one counts.
        publish.claim(kept::history(&group));
        let joined = own.boot;
        let participant = Participant {
            signer,
            asker: Asker::new(kept::history(&group), next_rng(&mut rng)),
            member: Member::new(
                Config { limits, ..Config::default() },
                own,
                next_rng(&mut rng),
                now,
            ),
            trust: Trust::new(policy),
            publish,
            kept,
            streams: Streams::new(history, joined),
            wanting: BTreeSet::new(),
            is_paused: false,
            events: VecDeque::new(),
            rng: next_rng(&mut rng),
            clock,
            signed_ms: 0,
            second_vector: None,
            group,
        };
        participant.check(Bytes::new())?;
        Ok(participant)
    }

    /// The prefixes to register besides the group: those that are not below it. Longer ones would
    /// hide the routes to other members. The certificates of `keys` are served.
    #[must_use]
    pub fn prefixes(&self, keys: &[Name]) -> Vec<Name> {
        let own = wire::publications(&self.member.own().name, &self.group);
        let others = [own].into_iter().chain(keys.iter().cloned());
        others.filter(|name| !name.as_ref().starts_with(self.group.as_ref())).collect()
    }

    /// The group.
    #[must_use]
    pub fn group(&self) -> &Name {
        &self.group
    }

    /// The member's sync state.
    #[must_use]
    pub fn member(&self) -> &Member {
        &self.member
    }

    /// The time of the host's clock, in milliseconds since 1970.
    #[must_use]
    pub fn clock_ms(&self) -> u64 {
        (self.clock)()
    }

    /// The number of own publications that others are to fetch and that none has fetched.
    #[must_use]
    pub fn unfetched(&self) -> usize {
        self.kept.unfetched()
    }

    /// The number of those that are still kept.
    #[must_use]
    pub fn awaited(&self) -> usize {
        self.kept.awaited()
    }

    /// The number of answers sent.
    #[must_use]
    pub fn answered(&self) -> u64 {
        self.publish.stats().answered
    }

    /// The number of streams from which publications are taken.
    #[must_use]
    pub fn streams(&self) -> usize {
        self.streams.len()
    }

    /// Publishes, and returns the number of the publication. `is_awaited`: it counts as unfetched
    /// until another member has it.
    ///
    /// # Errors
    /// It does not fit into a packet: the bytes that the packet would have.
    pub fn publish(&mut self, now: Time, content: Bytes, is_awaited: bool) -> Result<u64, usize> {
        let seq = self.member.seq() + 1;
        let packet = self.fitting(seq, content)?;
        self.kept.publish(packet, is_awaited);
        Ok(self.member.publish(now))
    }

    /// Checks that a publication with this content fits into a packet, whatever its number: one
    /// that fits now must not fail later.
    ///
    /// # Errors
    /// It does not fit. The error has the size of the packet, with the one around it in history.
    pub fn check(&self, content: Bytes) -> Result<(), usize> {
        self.fitting(u64::MAX, content).map(drop)
    }

    /// The signed publication, if it fits.
    fn fitting(&self, seq: u64, content: Bytes) -> Result<Bytes, usize> {
        let name = wire::publication(self.member.own(), &self.group, seq);
        let longest = wire::publication(self.member.own(), &self.group, u64::MAX);
        let around = kept::in_history(&kept::history(&self.group), longest.as_ref());
        let more = longest.encoded_len() - name.encoded_len() + around.encoded_len() + AROUND;
        let mut out = Vec::new();
        let packet = DataBuf { freshness_ms: Some(FRESHNESS_MS), ..DataBuf::new(name, content) };
        self.signer.encode(&packet, &mut out);
        let len = out.len() + more;
        if len > packet::MAX_PACKET { Err(len) } else { Ok(Bytes::from(out)) }
    }

    /// Serves an object under the prefix of this member's publications.
    pub fn serve(&mut self, publication: Publication) {
        self.publish.replace(publication);
    }

    /// Sends the vector at once, as a sign of life.
    pub fn announce(&mut self) {
        self.member.announce();
    }

    /// The connection is another one, or was lost.
    pub fn reconnected(&mut self, now: Time) {
        self.publish.forget_waiting();
        self.asker.restart(now);
        self.member.announce();
        self.second_vector = Some(now + SECOND_VECTOR);
    }

    /// While it is paused, no further publications are requested. Vectors are taken, and their
    /// claims are remembered as ranges of numbers.
    pub fn pause(&mut self, is_paused: bool) {
        self.is_paused = is_paused;
        self.asker.pause(is_paused);
    }

    /// A claim of the stream's member has shown that it knows this member: publications after `seq`
    /// are live.
    pub fn current(&mut self, stream: &Stream, seq: u64) {
        self.streams.current(stream, seq);
    }

    /// Asks again for publications of a member that could not be fetched: it is here.
    pub fn again(&mut self, now: Time, is_of: impl Fn(&Name) -> bool) {
        for (stream, seq) in self.streams.again(now, |stream| is_of(&stream.name)) {
            let name = wire::publication(&stream, &self.group, seq);
            if !self.asker.ask(now, name.clone(), false) {
                self.absent(&name);
            }
        }
    }

    /// The next event.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    fn reject(&mut self, what: String, is_vector: bool) {
        self.events.push_back(Event::Rejected { what, is_vector });
    }

    /// Takes a sync Interest.
    fn vector(&mut self, now: Time, wire: &[u8]) {
        let Ok(interest) = Interest::decode(wire) else { return };
        let clock_s = (self.clock)() / 1_000;
        self.trust.set_clock(clock_s);
        match wire::open(&interest, &self.group, self.trust.policy()) {
            Ok(verified) => {
                let signer = verified.signer.as_ref();
                self.member.receive(now, clock_s, &verified.vector, Some(signer));
                self.events.push_back(Event::Vector(verified));
                self.updates(now);
                self.forget();
            }
            Err(Rejected::NotVerified(ref error)) if let Some(missing) = error.missing() => {
                let missing = missing.clone();
                let wire = Bytes::copy_from_slice(wire);
                if self.trust.wait_for(&missing, None, wire) {
                    self.asker.ask_unknown(now, missing);
                }
            }
            Err(error) => self.reject(format!("a state vector: {error}"), true),
        }
    }

    /// Takes the new updates.
    fn updates(&mut self, now: Time) {
        while let Some(update) = self.member.poll_update() {
            for seq in self.streams.update(&update) {
                let name = wire::publication(&update.stream, &self.group, seq);
                self.asker.ask(now, name, false);
            }
            self.wanting.insert(update.stream);
        }
    }

    /// Requests wanted publications, unless it is paused.
    fn ask(&mut self, now: Time) {
        while !self.is_paused
            && let Some(stream) = self.wanting.pop_first()
        {
            while let Some(seq) = self.streams.next_gone(&stream) {
                self.ask_gone(now, &wire::publication(&stream, &self.group, seq));
            }
            while let Some((seq, is_old)) = self.streams.next_wanted(&stream) {
                let name = wire::publication(&stream, &self.group, seq);
                if !self.asker.ask(now, name, is_old) {
                    // The stream has its share of the Interests: the end of one makes room.
                    self.streams.put_back(&stream, seq);
                    break;
                }
            }
            // Some of the wanted ones may have come meanwhile.
            let outcome = self.streams.release(&stream);
            self.report(&stream, outcome);
        }
    }

    /// Drops everything about streams that others have displaced in the state vector.
    fn forget(&mut self) {
        if self.streams.len() <= self.member.others().count() {
            return;
        }
        for stream in self.streams.forget(|stream| self.member.knows(stream)) {
            let first = wire::publication(&stream, &self.group, 1);
            self.asker.forget(&first.as_ref().parent().to_name());
            self.wanting.remove(&stream);
        }
    }

    /// Takes a requested packet.
    fn packet(&mut self, now: Time, wanted: Name, packet: &Bytes) {
        let Ok(data) = Data::decode(packet) else { return };
        let data = statement::unpacked(&data).unwrap_or(data);
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
            Verdict::Verified(key) if data.content_type() == ContentType::NACK => {
                self.gone(now, wanted, &data, &key);
            }
            Verdict::Verified(key) => self.publication(&data, key),
            Verdict::Missing(certificate) => {
                if self.trust.wait_for(&certificate, Some(wanted.clone()), packet.clone()) {
                    self.asker.ask_certificate(now, certificate);
                } else {
                    self.absent(&wanted);
                }
            }
            Verdict::Wrong { why, times } => self.wrong(now, wanted, why, times),
        }
    }

    /// Takes a wrong packet in place of the requested one.
    fn wrong(&mut self, now: Time, wanted: Name, why: String, times: u32) {
        self.reject(why, false);
        let is_prefix = wire::parse_publication(wanted.as_ref(), &self.group).is_none();
        self.asker.ask_again(now, wanted, is_prefix, times);
    }

    /// Takes a verified publication.
    fn publication(&mut self, data: &Data<'_>, key: Name) {
        for certificate in self.trust.verified_certificates() {
            self.kept.keep(certificate);
        }
        let Some((stream, seq)) = wire::parse_publication(data.name(), &self.group) else { return };
        self.kept.keep(Bytes::copy_from_slice(data.wire()));
        let arrival = Arrival { content: Bytes::copy_from_slice(data.content()), key };
        let outcome = self.streams.arrived(&stream, seq, arrival);
        self.release(&stream, outcome);
    }

    /// Gives up a packet.
    fn absent(&mut self, name: &Name) {
        if let Some((stream, seq)) = wire::parse_publication(name.as_ref(), &self.group) {
            let outcome = self.streams.absent(&stream, seq);
            return self.release(&stream, outcome);
        }
        // Certificates: packets that wait for them cannot be verified.
        for (waiting, _) in self.trust.released(name) {
            // A sender without a key can name any certificate: those are one reason.
            let why = match &waiting {
                Some(waiting) => {
                    format!("{waiting}: the certificate {name} could not be fetched")
                }
                None => "a state vector: its certificate could not be fetched".to_owned(),
            };
            self.reject(why, waiting.is_none());
            if let Some(waiting) = waiting {
                self.absent(&waiting);
            }
        }
    }

    fn release(&mut self, stream: &Stream, outcome: Outcome) {
        // Others may be requested now.
        self.wanting.insert(stream.clone());
        self.report(stream, outcome);
    }

    fn report(&mut self, stream: &Stream, outcome: Outcome) {
        for released in outcome.released {
            self.events.push_back(Event::Publication {
                stream: stream.clone(),
                seq: released.seq,
                arrival: released.arrival,
                is_live: released.is_live,
                is_late: released.is_late,
            });
        }
        if let Some((low, high, count)) = outcome.missing {
            self.events.push_back(Event::Missing { stream: stream.clone(), low, high, count });
        }
    }
}

fn next_rng(rng: &mut Rng) -> Rng {
    Rng::stream(rng.next_u64(), &["group"])
}

/// The bounds of the vector: the room of a sync Interest besides the names of the group, of this
/// member and of its key. Other members need places, with names as long as this one's.
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

impl Endpoint for Participant {
    fn receive(&mut self, now: Time, frame: &[u8]) {
        let Ok(link) = LpPacket::decode(frame) else { return };
        let Some(fragment) = link.fragment() else { return };
        if link.nack().is_some() {
            if let Ok(interest) = Interest::decode(fragment) {
                self.asker.on_nack(now, interest.name());
            }
            return;
        }
        if let Ok(interest) = Interest::decode(fragment) {
            return match wire::is_sync(&interest, &self.group) {
                true => self.vector(now, fragment),
                false => {
                    self.state_gone(interest.name());
                    self.publish.receive(frame);
                }
            };
        }
        if let Ok(data) = Data::decode(fragment)
            && let Some((wanted, packet)) = self.asker.receive(&data)
        {
            self.packet(now, wanted, &packet);
        }
    }

    fn poll_transmit(&mut self, now: Time, out: &mut Vec<u8>) -> bool {
        if self.second_vector.take_if(|at| *at <= now).is_some() {
            self.member.announce();
        }
        if let Some(vector) = self.member.poll_transmit(now, (self.clock)() / 1_000) {
            let nonce = self.rng.next_u32();
            // It grows even if the clock does not.
            self.signed_ms = (self.signed_ms + 1).max((self.clock)());
            let time_ms = self.signed_ms;
            let interest = wire::interest(&self.group, &vector, time_ms, &self.signer, nonce);
            out.extend_from_slice(&interest);
            return true;
        }
        self.ask(now);
        let sent = self.asker.poll_transmit(now, out);
        while let Some(name) = self.asker.poll_given_up() {
            self.absent(&name);
        }
        if sent {
            return true;
        }
        let begins = out.len();
        let sent = self.publish.poll_transmit(out);
        if sent {
            self.kept.sent(&out[begins..]);
        }
        sent
    }

    fn next_deadline(&mut self, now: Time) -> Option<Time> {
        // Streams may have got room since the last Interest was sent.
        let asks = (!self.is_paused && !self.wanting.is_empty()).then_some(now);
        // A due vector is sent at the beginning of the next turn.
        let vector = Some(self.member.next_deadline().max(now));
        let deadlines = [self.asker.next_deadline(), asks, vector, self.second_vector];
        deadlines.into_iter().flatten().min()
    }

    fn on_deadline(&mut self, _now: Time) {}
}

#[cfg(test)]
mod tests;
