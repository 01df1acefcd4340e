//! Answers Interests for files of origins, as soon as the origins have answered.

use super::news::Outbox;
use super::origin::Origin;
use super::packets::Maker;
use super::slab::Slab;
use super::table::{Look, Place, Table};
use super::waiting::{Budget, Pending, Waiting};
use super::wanted::{Part, Wanted};
use client::parts::Limit;
use control::{Duration, Time};
use net::client::Endpoint;
use packet::interest::DEFAULT_LIFETIME_MS;
use packet::options::{Exclude, Range, answer};
use packet::tlv::types;
use packet::{
    Bytes, Data, HopOptions, Interest, LpHeader, LpPacket, MAX_PACKET, NackReason, Name, NameRef,
};
use schemars::JsonSchema;
use serde::Serialize;
use sha2::{Digest as _, Sha256};
use std::collections::VecDeque;
use std::sync::Arc;
use weir::http::mirror::{Resource, head_name};

/// The maximum number of ready-made answers that wait to be sent.
const MOST_READY: usize = 1024;

/// The counters of a proxy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, JsonSchema, Serialize)]
pub struct Counts {
    /// Data packets sent.
    pub answered: u64,
    /// Bytes of content in them.
    pub content_bytes: u64,
    /// Requests for what does not exist, that an origin does not answer, or for which there is no
    /// room: answered with a Nack.
    pub refused: u64,
    /// Interests for names below no origin's prefix.
    pub unknown: u64,
    /// Requests dropped because their lifetime was over, or too many Nacks and certificates were
    /// waiting.
    pub dropped: u64,
    /// Frames that could not be decoded as an Interest.
    pub malformed: u64,
}

/// An origin, and the Interests for it. Origins do not share resources.
struct Share {
    origin: Origin,
    table: Table,
    waiting: Waiting,
    budget: Budget,
}

/// The producer of all origins.
pub struct Server {
    shares: Vec<Share>,
    slab: Arc<Slab>,
    outbox: Arc<Outbox>,
    maker: Maker,
    certificates: Vec<(Name, Bytes)>,
    /// Ready-made answers.
    packets: VecDeque<(LpHeader, Bytes)>,
    /// Interests to look at now.
    ready: VecDeque<Pending>,
    packet: Vec<u8>,
    limit: Limit,
    counts: Counts,
}

/// The answer to the name of an Interest.
enum Found {
    /// No origin has the prefix.
    Unknown,
    /// No file of an origin can have this name.
    Nothing,
    /// There is no room for the file now.
    Full,
    /// A file of the origin of this number, and the packet of it.
    File(usize, Name, Wanted),
}

impl Server {
    /// For these origins.
    pub fn new(
        origins: Vec<(Origin, Table)>,
        slab: Arc<Slab>,
        outbox: Arc<Outbox>,
        maker: Maker,
        limit: Limit,
    ) -> Server {
        let shares = origins.into_iter().map(|(origin, table)| Share {
            origin,
            table,
            waiting: Waiting::default(),
            budget: Budget::default(),
        });
        Server {
            shares: shares.collect(),
            slab,
            outbox,
            maker,
            certificates: Vec::new(),
            packets: VecDeque::new(),
            ready: VecDeque::new(),
            packet: Vec::new(),
            limit,
            counts: Counts::default(),
        }
    }

    /// Serves a certificate.
    pub fn add_certificate(&mut self, packet: Bytes) {
        let name = Data::decode(&packet).map(|data| data.name().to_name());
        self.certificates.extend(name.map(|name| (name, packet)));
    }

    fn certificate(&self, name: NameRef<'_>, interest: &Interest<'_>) -> Option<Bytes> {
        let meant = self.certificates.iter().find(|(packet, _)| match interest.can_be_prefix() {
            // Above its key, names are for files.
            true => packet.as_ref().starts_with(name) && name.len() + 2 >= packet.len(),
            false => packet.as_ref() == name,
        });
        meant.map(|(_, packet)| packet.clone())
    }

    /// The counters.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// The latest failure of an origin, once.
    pub fn take_failure(&mut self) -> Option<String> {
        self.shares.iter_mut().find_map(|share| share.table.take_failure())
    }

    /// Drops the Interests that wait: the connection broke.
    pub fn forget_waiting(&mut self) {
        let waits: usize = self.shares.iter().map(|share| share.waiting.len()).sum();
        self.counts.dropped += (waits + self.ready.len()) as u64;
        self.shares.iter_mut().for_each(|share| share.waiting.clear());
        self.ready.clear();
        self.packets.clear();
    }

    /// Drops Interests whose lifetime is over. Called in periods of `every`.
    ///
    /// Interests that wait for an origin's answer get a Nack in the last periods of their lifetime.
    /// Then a consumer that finds no version meanwhile knows that its Interests arrive.
    pub fn expire(&mut self, now: Time, every: Duration) {
        let last = now + every + every;
        for share in &mut self.shares {
            self.counts.dropped += share.waiting.expire(now) as u64;
            for pending in share.waiting.take_unanswered(last) {
                if self.packets.len() >= MOST_READY {
                    self.counts.dropped += 1;
                    continue;
                }
                let reason = NackReason::Congestion;
                let header = nack(&pending.header, &pending.asked, pending.at, reason);
                self.packets.push_back((header, pending.interest));
            }
        }
    }

    /// Takes the news of the threads.
    fn receive_news(&mut self, now: Time) {
        let Some((events, progress)) = self.outbox.take() else { return };
        let ready = &mut self.ready;
        for event in events {
            let Some(share) = self.shares.get_mut(event.origin) else { continue };
            for places in share.table.happened(now, event) {
                share.waiting.release(places, ready);
            }
        }
        for (block, (origin, filled)) in progress {
            let Some(share) = self.shares.get_mut(origin) else { continue };
            let there = Place::Bytes(block, 0)..Place::Bytes(block, filled + 1);
            share.waiting.release(there, ready);
        }
    }

    /// The file of a name, and the packet of it.
    fn find(&mut self, name: NameRef<'_>, interest: &Interest<'_>) -> Found {
        let under = self.shares.iter_mut().enumerate();
        let under = under.filter(|(_, share)| name.starts_with(share.origin.prefix.as_ref()));
        let Some((at, share)) = under.max_by_key(|(_, share)| share.origin.prefix.len()) else {
            return Found::Unknown;
        };
        let prefix = &share.origin.prefix;
        let Ok((resource, end)) = Resource::from_name(name, prefix.len()) else {
            return Found::Nothing;
        };
        let file = resource.name(prefix);
        let Some(wanted) = Wanted::read(name, end, interest) else { return Found::Nothing };
        let maker = &self.maker;
        match share.table.note(&file, resource, |name| maker.segment_size(name)) {
            true => Found::File(at, file, wanted),
            false => Found::Full,
        }
    }

    /// Answers an Interest with a Nack.
    fn reject(&mut self, request: &Request<'_>, at: Option<u16>, reason: NackReason) {
        if self.packets.len() >= MOST_READY {
            self.counts.dropped += 1;
            return;
        }
        let header = nack(&request.header, &request.asked, at, reason);
        self.packets.push_back((header, request.interest.clone()));
    }

    fn push(&mut self, request: &Request<'_>, origin: usize, wanted: Wanted, at: Option<u16>) {
        let budget = &self.shares[origin].budget;
        let Some(charge) = budget.charge(request.file, &request.interest) else {
            return self.reject(request, at, NackReason::Congestion);
        };
        self.ready.push_back(Pending {
            header: request.header.clone(),
            asked: request.asked.clone(),
            interest: request.interest.clone(),
            origin,
            file: request.file.clone(),
            wanted,
            at,
            expires: request.expires,
            _charge: charge,
            pin: None,
        });
    }

    /// Appends the answer to the next Interest that has one.
    fn encode_next(&mut self, now: Time, out: &mut Vec<u8>) -> bool {
        if let Some((header, packet)) = self.packets.pop_front() {
            header.encode_into(&packet, out);
            let is_refused = header.nack.is_some();
            self.counts.refused += u64::from(is_refused);
            self.counts.answered += u64::from(!is_refused);
            return true;
        }
        while let Some(mut pending) = self.ready.pop_front() {
            if pending.expires <= now {
                self.counts.dropped += 1;
                continue;
            }
            let share = &mut self.shares[pending.origin];
            let look = share.table.look(now, &pending.file, pending.wanted);
            if let Look::Wait(place) = look {
                pending.pin = match place {
                    Place::Bytes(block, _) => Some(self.slab.pin(block)),
                    Place::Answer(_) => None,
                };
                share.waiting.insert(place, pending);
                continue;
            }
            self.packet.clear();
            let content = match self.make(&pending, look) {
                Ok(content) if may_send(&pending, &self.packet) => content,
                other => {
                    let reason = other.err().unwrap_or(NackReason::None);
                    let header = nack(&pending.header, &pending.asked, pending.at, reason);
                    header.encode_into(&pending.interest, out);
                    self.counts.refused += 1;
                    return true;
                }
            };
            let options = answer(&pending.asked, Some(0));
            LpHeader { options, ..pending.header }.encode_into(&self.packet, out);
            self.counts.answered += 1;
            self.counts.content_bytes += content as u64;
            return true;
        }
        false
    }

    /// Makes a packet; returns the number of bytes of content.
    fn make(&mut self, pending: &Pending, look: Look) -> Result<usize, NackReason> {
        let head = pending.wanted.of_head.then(|| head_name(&pending.file));
        let name = head.as_ref().unwrap_or(&pending.file);
        let (maker, out) = (&mut self.maker, &mut self.packet);
        match look {
            Look::Metadata(facts, fresh) => maker.metadata(&facts.shape(name), fresh, out),
            Look::Root(facts) => maker.root(&facts.shape(name), out),
            Look::Segment(facts, segment, content) => {
                maker.segment(&facts.shape(name), segment, &content, out);
                return Ok(content.len());
            }
            Look::Nack(reason) => return Err(reason),
            Look::Wait(_) => {}
        }
        Ok(0)
    }
}

/// False if the name leaves no room in the packet, or the Interest excludes it or is for one with
/// another digest.
fn may_send(pending: &Pending, packet: &[u8]) -> bool {
    if packet.len() > MAX_PACKET {
        // The forwarder would end the connection.
        return false;
    }
    let excluded = pending.asked.get::<Exclude>().filter(|excluded| !excluded.is_empty());
    if excluded.is_some_and(|excluded| excluded.excludes(&Sha256::digest(packet).into())) {
        return false;
    }
    let interest = Interest::decode(&pending.interest).ok();
    let last = interest.and_then(|interest| interest.name().last());
    let wanted = last.filter(|last| last.typ() == types::IMPLICIT_DIGEST);
    wanted.is_none_or(|wanted| wanted.value() == Sha256::digest(packet).as_slice())
}

/// The header of a Nack.
fn nack(header: &LpHeader, asked: &HopOptions, at: Option<u16>, reason: NackReason) -> LpHeader {
    let mut header = header.clone();
    header.nack = Some(reason);
    header.options = answer(asked, None);
    let missing = at.and_then(|at| Range::of([at].into_iter().collect()));
    missing.map(|missing| header.options.set(&missing));
    header
}

/// A received Interest.
struct Request<'a> {
    header: LpHeader,
    asked: HopOptions,
    interest: Bytes,
    file: &'a Name,
    expires: Time,
}

impl Endpoint for Server {
    fn receive(&mut self, now: Time, frame: &[u8]) {
        let Ok(link) = LpPacket::decode(frame) else {
            self.counts.malformed += 1;
            return;
        };
        let Some(fragment) = link.fragment().filter(|_| link.nack().is_none()) else { return };
        let Ok(interest) = Interest::decode(fragment) else {
            self.counts.malformed += 1;
            return;
        };
        let whole = interest.name();
        let has_digest = whole.last().is_some_and(|last| last.typ() == types::IMPLICIT_DIGEST);
        let name = if has_digest { whole.parent() } else { whole };
        let asked = if link.has_options() { link.to_options() } else { HopOptions::new() };
        let pit_token = link.pit_token().unwrap_or_default().into();
        let header = LpHeader { pit_token, ..LpHeader::default() };
        let lifetime = interest.lifetime_ms().min(10 * DEFAULT_LIFETIME_MS);
        let expires = now + Duration::from_millis(lifetime);
        if let Some(packet) = self.certificate(name, &interest) {
            if self.packets.len() < MOST_READY {
                self.packets.push_back((header, packet));
            } else {
                self.counts.dropped += 1;
            }
            return;
        }
        let interest_bytes = Bytes::copy_from_slice(fragment);
        let found = self.find(name, &interest);
        let nothing = Name::default();
        let file = if let Found::File(_, file, _) = &found { file } else { &nothing };
        let request = Request { header, asked, interest: interest_bytes, file, expires };
        let (origin, wanted) = match found {
            Found::Unknown => {
                self.counts.unknown += 1;
                return;
            }
            Found::Nothing => return self.reject(&request, None, NackReason::None),
            Found::Full => return self.reject(&request, None, NackReason::Congestion),
            Found::File(origin, _, wanted) => (origin, wanted),
        };
        match (wanted.part, request.asked.get::<Range>()) {
            (Part::Segment(version, first), Some(range)) if !interest.can_be_prefix() => {
                for at in range.wanted().iter() {
                    let segment = first.saturating_add(u64::from(at));
                    let part = Part::Segment(version, segment);
                    self.push(&request, origin, Wanted { part, ..wanted }, Some(at));
                }
            }
            _ => self.push(&request, origin, wanted, None),
        }
    }

    fn poll_transmit(&mut self, now: Time, out: &mut Vec<u8>) -> bool {
        self.receive_news(now);
        let before = out.len();
        let sent = self.limit.allows(now) && self.encode_next(now, out);
        self.limit.passed(now, out.len() - before);
        sent
    }

    fn next_deadline(&mut self, now: Time) -> Option<Time> {
        let is_idle = self.ready.is_empty() && self.packets.is_empty();
        self.limit.next(now).filter(|_| !is_idle)
    }

    fn on_deadline(&mut self, _now: Time) {}
}

#[cfg(test)]
mod tests;
