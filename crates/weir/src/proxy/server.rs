//! Answers Interests for files of origins, as soon as the origins have answered.

use super::origin::Origin;
use super::packets::Maker;
use super::table::{Look, Table};
use super::wanted::{Part, Wanted};
use super::workers::Outbox;
use crate::limit::Limit;
use control::{Duration, Time};
use net::client::Endpoint;
use packet::interest::DEFAULT_LIFETIME_MS;
use packet::options::{Exclude, Range, answer};
use packet::tlv::types;
use packet::{Bytes, Data, HopOptions, Interest, LpHeader, LpPacket, NackReason, Name, NameRef};
use serde::Serialize;
use sha2::{Digest as _, Sha256};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use weir::http::mirror::{Resource, head_name};

/// The maximum number of Interests that wait, for an origin or to be answered.
const MOST_WAITING: usize = 16_384;

/// The counters of a proxy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Data packets sent.
    pub answered: u64,
    /// Bytes of content in them.
    pub content_bytes: u64,
    /// Requests for what does not exist, or that an origin does not answer: answered with a Nack.
    pub refused: u64,
    /// Interests for names below no origin's prefix.
    pub unknown: u64,
    /// Requests dropped because too many were waiting, or their lifetime was over.
    pub dropped: u64,
    /// Frames that could not be decoded as an Interest.
    pub malformed: u64,
}

/// An Interest that is not answered yet.
struct Pending {
    header: LpHeader,
    asked: HopOptions,
    interest: Bytes,
    /// The name of the file.
    file: Name,
    wanted: Wanted,
    /// The segment's place in the range that the Interest requests, if it requests one.
    at: Option<u16>,
    expires: Time,
}

/// The producer of all origins.
pub struct Server {
    origins: Vec<Origin>,
    table: Table,
    outbox: Arc<Outbox>,
    maker: Maker,
    certificates: Vec<(Name, Bytes)>,
    /// Ready-made answers.
    packets: VecDeque<(LpHeader, Bytes)>,
    /// Interests to look at now.
    ready: VecDeque<Pending>,
    /// Interests that wait for news of a file.
    waiting: BTreeMap<Name, Vec<Pending>>,
    waits: usize,
    packet: Vec<u8>,
    limit: Limit,
    counts: Counts,
}

impl Server {
    /// For these origins.
    pub fn new(
        origins: Vec<Origin>,
        table: Table,
        outbox: Arc<Outbox>,
        maker: Maker,
        limit: Limit,
    ) -> Server {
        Server {
            origins,
            table,
            outbox,
            maker,
            certificates: Vec::new(),
            packets: VecDeque::new(),
            ready: VecDeque::new(),
            waiting: BTreeMap::new(),
            waits: 0,
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
        let is_meant = |(packet, _): &&(Name, Bytes)| match interest.can_be_prefix() {
            // Above its key, names are for files.
            true => packet.as_ref().starts_with(name) && name.len() + 2 >= packet.len(),
            false => packet.as_ref() == name,
        };
        self.certificates.iter().find(is_meant).map(|(_, packet)| packet.clone())
    }

    /// The counters.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// The latest failure of an origin, once.
    pub fn take_failure(&mut self) -> Option<String> {
        self.table.take_failure()
    }

    /// Drops the Interests that wait: the connection broke.
    pub fn forget_waiting(&mut self) {
        self.counts.dropped += (self.waits + self.ready.len()) as u64;
        self.waiting.clear();
        self.ready.clear();
        self.packets.clear();
        self.waits = 0;
    }

    /// Drops Interests whose lifetime is over.
    pub fn expire(&mut self, now: Time) {
        let before = self.waits;
        for waiting in self.waiting.values_mut() {
            let len = waiting.len();
            waiting.retain(|pending| now < pending.expires);
            self.waits -= len - waiting.len();
        }
        self.waiting.retain(|_, waiting| !waiting.is_empty());
        self.counts.dropped += (before - self.waits) as u64;
    }

    /// Takes the news of the threads.
    fn hear(&mut self, now: Time) {
        for event in self.outbox.take() {
            let name = event.key.clone();
            self.table.happened(now, event);
            if let Some(waiting) = self.waiting.remove(&name) {
                self.waits -= waiting.len();
                self.ready.extend(waiting);
            }
        }
    }

    /// The file of a name, and the packet of it; `None` if the name is below no prefix.
    fn find(
        &mut self,
        name: NameRef<'_>,
        interest: &Interest<'_>,
    ) -> Option<Option<(Name, Wanted)>> {
        let under = |(_, origin): &(usize, &Origin)| name.starts_with(origin.prefix.as_ref());
        let found = self.origins.iter().enumerate().filter(under);
        let (at, origin) = found.max_by_key(|(_, origin)| origin.prefix.len())?;
        let Ok((resource, end)) = Resource::from_name(name, origin.prefix.len()) else {
            return Some(None);
        };
        let file = resource.name(&origin.prefix);
        let Some(wanted) = Wanted::read(name, end, interest) else { return Some(None) };
        let maker = &self.maker;
        let is_noted = self.table.note(&file, at, resource, |name| maker.segment_size(name));
        Some(is_noted.then_some((file, wanted)))
    }

    fn push(&mut self, pending: Pending) {
        match self.waits + self.ready.len() < MOST_WAITING {
            true => self.ready.push_back(pending),
            false => self.counts.dropped += 1,
        }
    }

    fn wait(&mut self, pending: Pending) {
        let waiting = self.waiting.entry(pending.file.clone()).or_default();
        // An Interest that is repeated takes the place of the one before.
        let is_same = |other: &Pending| {
            other.wanted == pending.wanted && other.header.pit_token == pending.header.pit_token
        };
        match waiting.iter().position(is_same) {
            Some(at) => waiting[at] = pending,
            None => {
                waiting.push(pending);
                self.waits += 1;
            }
        }
    }

    /// Appends the answer to the next Interest that has one.
    fn encode_next(&mut self, now: Time, out: &mut Vec<u8>) -> bool {
        if let Some((header, packet)) = self.packets.pop_front() {
            header.encode_into(&packet, out);
            self.counts.answered += 1;
            return true;
        }
        while let Some(pending) = self.ready.pop_front() {
            if pending.expires <= now {
                self.counts.dropped += 1;
                continue;
            }
            let look = self.table.look(now, &pending.file, pending.wanted);
            if look == Look::Wait {
                self.wait(pending);
                continue;
            }
            self.packet.clear();
            let content = match self.make(&pending, look) {
                Ok(content) if !is_rejected(&pending, &self.packet) => content,
                other => {
                    nack(&pending, other.err().unwrap_or(NackReason::None), out);
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
            Look::Wait => {}
        }
        Ok(0)
    }
}

/// The Interest excludes this packet, or is for one with another digest.
fn is_rejected(pending: &Pending, packet: &[u8]) -> bool {
    let digest = || <[u8; 32]>::from(Sha256::digest(packet));
    let excluded = pending.asked.get::<Exclude>().filter(|excluded| !excluded.is_empty());
    if excluded.is_some_and(|excluded| excluded.excludes(&digest())) {
        return true;
    }
    let interest = Interest::decode(&pending.interest).ok();
    let last = interest.and_then(|interest| interest.name().last());
    let wanted = last.filter(|last| last.typ() == types::IMPLICIT_DIGEST);
    wanted.is_some_and(|wanted| wanted.value() != digest())
}

fn nack(pending: &Pending, reason: NackReason, out: &mut Vec<u8>) {
    let mut header = pending.header.clone();
    header.nack = Some(reason);
    header.options = answer(&pending.asked, None);
    let missing = pending.at.and_then(|at| Range::of([at].into_iter().collect()));
    missing.map(|missing| header.options.set(&missing));
    header.encode_into(&pending.interest, out);
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
        let is_digest = |last: packet::ComponentRef<'_>| last.typ() == types::IMPLICIT_DIGEST;
        let has_digest = whole.last().is_some_and(is_digest);
        let name = if has_digest { whole.parent() } else { whole };
        let asked = if link.has_options() { link.to_options() } else { HopOptions::new() };
        let pit_token = link.pit_token().unwrap_or_default().into();
        let header = LpHeader { pit_token, ..LpHeader::default() };
        let lifetime = interest.lifetime_ms().min(10 * DEFAULT_LIFETIME_MS);
        let expires = now + Duration::from_millis(lifetime);
        if let Some(packet) = self.certificate(name, &interest) {
            if self.packets.len() < MOST_WAITING {
                self.packets.push_back((header, packet));
            }
            return;
        }
        let interest_bytes = Bytes::copy_from_slice(fragment);
        let (file, wanted) = match self.find(name, &interest) {
            None => {
                self.counts.unknown += 1;
                return;
            }
            Some(Some(found)) => found,
            Some(None) => {
                let wanted = Wanted { of_head: false, part: Part::First };
                // No file has this name, so it is answered by a Nack.
                (Name::default(), wanted)
            }
        };
        let pending = |part, at| Pending {
            header: header.clone(),
            asked: asked.clone(),
            interest: interest_bytes.clone(),
            file: file.clone(),
            wanted: Wanted { part, ..wanted },
            at,
            expires,
        };
        match (wanted.part, asked.get::<Range>()) {
            (Part::Segment(version, first), Some(range)) if !interest.can_be_prefix() => {
                for at in range.wanted().iter() {
                    let segment = first.saturating_add(u64::from(at));
                    self.push(pending(Part::Segment(version, segment), Some(at)));
                }
            }
            (part, _) => self.push(pending(part, None)),
        }
    }

    fn poll_transmit(&mut self, now: Time, out: &mut Vec<u8>) -> bool {
        self.hear(now);
        let before = out.len();
        let sent = self.limit.allows(now) && self.encode_next(now, out);
        self.limit.passed(now, out.len() - before);
        sent
    }

    fn next_deadline(&mut self, now: Time) -> Option<Time> {
        self.limit.next(now).filter(|_| !self.ready.is_empty())
    }

    fn on_deadline(&mut self, _now: Time) {}
}
