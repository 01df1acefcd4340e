//! The producer: answers Interests for published objects from the source of their bytes.
//!
//! An object is hashed once ([`Preparation`]) and then served from its [`Source`]. Only a limited
//! number of digests stays in memory, independent of the object's size.
//!
//! Other tools depend on the following (see `docs/reference/wire.md`):
//!
//! - An Interest for the bare name is answered with segment 0, one for `32=metadata` with RDR
//!   metadata.
//! - Every segment has a FinalBlockId.
//! - Versions are typed name components.
//! - Answers return the PIT token of the Interest.
//! - Interests without a nonce are answered.

mod cut;
mod digests;
mod preparation;
mod publication;
mod shelf;
mod signed;

pub use cut::{DATA_SIZE, PublishError, SEGMENT_SIZE, Source, Spec, segment_digest};
pub use preparation::{DigestRun, Preparation};
pub use publication::Publication;
pub(crate) use publication::Wanted;
pub use shelf::Shelf;
pub use signed::SignedPackets;

use packet::options::{Exclude, Range, SegmentBits, answer as answer_options};
use packet::tlv::types;
use packet::{Bytes, Data, HopOptions, Interest, LpHeader, LpPacket, NackReason, Name, NameRef};
use sha2::{Digest as _, Sha256};
use shelf::{Opened, Place};
use std::collections::VecDeque;
use std::io::ErrorKind;

/// The maximum number of waiting answers. If a forwarder sends more Interests without taking an
/// answer, the excess is dropped; consumers send them again.
const MAX_WAITING: usize = 16_384;

/// A producer's counters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PublishStats {
    /// Data packets sent in answer to Interests.
    pub answered: u64,
    /// Bytes of content sent.
    pub content_bytes: u64,
    /// Requests under a published name for a packet that does not exist, or that the Interest
    /// excludes. They are answered with a Nack; those for another implicit digest are not.
    pub rejected: u64,
    /// Interests for names that are not published. They are answered with a Nack if claimed.
    pub unknown: u64,
    /// Requests dropped because too many answers were waiting, or the connection broke.
    pub dropped: u64,
    /// Frames that could not be decoded as an Interest.
    pub malformed: u64,
    /// Answers that failed because the source could not be read, or has changed. Nothing is sent.
    pub failed: u64,
}

/// An answer that waits to be sent.
struct Waiting {
    header: LpHeader,
    answer: Answer,
}

enum Answer {
    Data { place: Place, wanted: Wanted, digest: Option<[u8; 32]>, excluding: Excluding },
    Packet(Bytes),
    Nack(Bytes),
}

/// The Interest, and the packets that it excludes. Boxed because most exclude none. An Interest for
/// an object of the shelf is always kept: the object may be gone.
type Excluding = Option<Box<Asked>>;

#[derive(Clone)]
struct Asked {
    excluded: Exclude,
    interest: Bytes,
    /// The segment's place in the range that the Interest requests, if it requests one.
    at: Option<u16>,
}

impl Asked {
    /// Appends a Nack: there is no such packet.
    fn nack(&self, mut header: LpHeader, out: &mut Vec<u8>) {
        header.nack = Some(NackReason::None);
        let missing = self.at.and_then(|at| Range::of([at].into_iter().collect()));
        missing.map(|missing| header.options.set(&missing));
        header.encode_into(&self.interest, out);
    }
}

/// Serves any number of objects over one connection to a forwarder.
#[derive(Default)]
pub struct Publish {
    claims: Vec<Name>,
    objects: Vec<Publication>,
    shelf: Option<Box<dyn Shelf>>,
    opened: Opened,
    packets: Vec<(Name, Bytes)>,
    waiting: VecDeque<Waiting>,
    /// Answers whose bytes are on their way to the source.
    parked: VecDeque<Waiting>,
    /// The objects of those answers.
    blocked: Vec<Place>,
    /// The maximum number of waiting answers, if below [`MAX_WAITING`].
    bound: Option<usize>,
    packet: Vec<u8>,
    stats: PublishStats,
    last_failure: Option<PublishError>,
}

impl Publish {
    /// A producer without objects.
    #[must_use]
    pub fn new() -> Publish {
        Publish::default()
    }

    /// Lets at most so many answers wait, for a producer whose rate is limited: behind more, all
    /// would be sent after their Interests have expired.
    pub fn bound_waiting(&mut self, answers: usize) {
        self.bound = Some(answers);
    }

    fn has_room(&self) -> bool {
        self.waiting.len() + self.parked.len()
            < self.bound.map_or(MAX_WAITING, |bound| bound.min(MAX_WAITING))
    }

    /// Serves `object` from now on.
    pub fn add(&mut self, object: Publication) {
        self.objects.push(object);
    }

    /// Serves `object` in place of the one with the same unversioned name.
    pub fn replace(&mut self, object: Publication) {
        match self.objects.iter().position(|other| other.name() == object.name()) {
            Some(at) => {
                // Answers that wait are those of the version before.
                self.waiting.retain(|waiting| !waiting.answer.is_of(at));
                self.parked.retain(|waiting| !waiting.answer.is_of(at));
                self.objects[at] = object;
            }
            None => self.objects.push(object),
        }
    }

    /// Serves the objects of `shelf`, in place of those of the shelf before.
    pub fn set_shelf(&mut self, shelf: Box<dyn Shelf>) {
        self.shelf = Some(shelf);
        self.opened.clear();
    }

    /// Objects of the shelf are opened again when they are asked for: their content or their
    /// signatures have changed, or they are not there any more.
    pub fn forget_opened(&mut self) {
        self.opened.clear();
    }

    /// Serves a ready-made Data packet, such as a certificate, from now on. Returns false if it
    /// cannot be decoded.
    pub fn add_packet(&mut self, packet: Bytes) -> bool {
        let name = Data::decode(&packet).map(|data| data.name().to_name());
        let is_data = name.is_ok();
        self.packets.extend(name.map(|name| (name, packet)));
        is_data
    }

    /// Claims all names under `prefix`: from now on Interests for unpublished names there are
    /// answered with a Nack, so that consumers do not wait for a timeout.
    pub fn claim(&mut self, prefix: Name) {
        self.claims.push(prefix);
    }

    /// No longer claims a prefix.
    pub fn disclaim(&mut self, prefix: &Name) {
        self.claims.retain(|claimed| claimed != prefix);
    }

    /// The published objects.
    #[must_use]
    pub fn objects(&self) -> &[Publication] {
        &self.objects
    }

    /// The counters of this producer.
    #[must_use]
    pub fn stats(&self) -> &PublishStats {
        &self.stats
    }

    /// Takes the error of the latest answer that failed, if there is a new one since the last call.
    pub fn take_failure(&mut self) -> Option<PublishError> {
        self.last_failure.take()
    }

    /// Handles a link-layer frame from the forwarder.
    pub fn receive(&mut self, frame: &[u8]) {
        let Ok(link) = LpPacket::decode(frame) else {
            self.stats.malformed += 1;
            return;
        };
        let Some(fragment) = link.fragment().filter(|_| link.nack().is_none()) else { return };
        let Ok(interest) = Interest::decode(fragment) else {
            self.stats.malformed += 1;
            return;
        };
        let on_shelf = self.shelf.as_mut().and_then(|shelf| shelf.packet(&interest));
        let packet = on_shelf.or_else(|| self.packet_for(&interest));
        let object = match packet {
            Some(_) => None,
            None => self.place_of(interest.name()),
        };
        if object.is_none() && packet.is_none() {
            self.stats.unknown += 1;
            if !self.claims.iter().any(|prefix| interest.name().starts_with(prefix.as_ref())) {
                return;
            }
        }
        if !self.has_room() {
            self.stats.dropped += 1;
            return;
        }
        let (name, digest) = split_digest(interest.name());
        let mut header = LpHeader {
            pit_token: link.pit_token().unwrap_or_default().into(),
            ..LpHeader::default()
        };
        let asked = if link.has_options() { link.to_options() } else { HopOptions::new() };
        if let Some(packet) = packet {
            header.options = answer_options(&asked, Some(0));
            self.waiting.push_back(Waiting { header, answer: Answer::Packet(packet) });
            return;
        }
        if let Some(place) = object
            && let Some(range) = asked.get::<Range>()
            && let Some(first) =
                self.object(place).and_then(|o| o.run_from(interest.name(), &interest))
        {
            return self.receive_range(place, first, &range, &asked, &header, fragment);
        }
        let wanted =
            object.and_then(|place| Some((place, self.object(place)?.wanted(name, &interest)?)));
        // The forwarder fills in the node's identifier.
        header.options = answer_options(&asked, wanted.map(|_| 0));
        let answer = match wanted {
            Some((place, wanted)) => {
                let excluded = asked.get::<Exclude>();
                let excluded = excluded.or_else(|| place.is_shelved().then(Exclude::new));
                let excluding = excluded.map(|excluded| {
                    let interest = Bytes::copy_from_slice(fragment);
                    Box::new(Asked { excluded, interest, at: None })
                });
                Answer::Data { place, wanted, digest, excluding }
            }
            None => {
                self.stats.rejected += u64::from(object.is_some());
                header.nack = Some(NackReason::None);
                Answer::Nack(Bytes::copy_from_slice(fragment))
            }
        };
        self.waiting.push_back(Waiting { header, answer });
    }

    /// The ready-made packet that an Interest requests: by its name, or by a prefix of it that is
    /// not a prefix of a published object.
    fn packet_for(&self, interest: &Interest<'_>) -> Option<Bytes> {
        let (name, digest) = split_digest(interest.name());
        let (_, packet) =
            self.packets.iter().find(|(packet, _)| match interest.can_be_prefix() {
                true => {
                    packet.as_ref().starts_with(name)
                        && !self.objects.iter().any(|o| o.object().as_ref().starts_with(name))
                }
                false => packet.as_ref() == name,
            })?;
        let right = digest.is_none_or(|digest| {
            Data::decode(packet).is_ok_and(|data| data.implicit_digest() == digest)
        });
        right.then(|| packet.clone())
    }

    /// Handles a range Interest: queues an answer for each existing segment, and one Nack for the
    /// others.
    fn receive_range(
        &mut self,
        place: Place,
        first: u64,
        range: &Range,
        asked: &HopOptions,
        header: &LpHeader,
        interest: &[u8],
    ) {
        let segments = self.object(place).map_or(0, |object| object.segments());
        let mut missing = SegmentBits::NONE;
        let kept = place.is_shelved().then(|| Bytes::copy_from_slice(interest));
        for at in range.wanted().iter() {
            let segment = first.saturating_add(u64::from(at));
            if segment >= segments {
                missing.insert(at);
            } else if self.has_room() {
                let (wanted, digest) = (Wanted::Segment(segment), None);
                let excluding = kept.clone().map(|interest| {
                    Box::new(Asked { excluded: Exclude::new(), interest, at: Some(at) })
                });
                let answer = Answer::Data { place, wanted, digest, excluding };
                let options = answer_options(asked, Some(0));
                let header = LpHeader { options, ..header.clone() };
                self.waiting.push_back(Waiting { header, answer });
            } else {
                self.stats.dropped += 1;
            }
        }
        if let Some(range) = Range::of(missing) {
            self.stats.rejected += u64::from(missing.count());
            let options = answer_options(asked, None);
            let mut header = LpHeader { options, ..header.clone() };
            header.nack = Some(NackReason::None);
            header.options.set(&range);
            let answer = Answer::Nack(Bytes::copy_from_slice(interest));
            self.waiting.push_back(Waiting { header, answer });
        }
    }

    /// Drops the waiting answers. Call it when the connection broke: the PIT tokens are void.
    pub fn forget_waiting(&mut self) {
        self.stats.dropped += (self.waiting.len() + self.parked.len()) as u64;
        self.waiting.clear();
        self.parked.clear();
        self.blocked.clear();
    }

    /// True if answers wait for bytes that are on their way to their sources. They are tried again
    /// after [`Publish::unpark`].
    #[must_use]
    pub fn has_parked(&self) -> bool {
        !self.parked.is_empty()
    }

    /// Tries again the answers whose bytes were on their way. Call it after a short time.
    pub fn unpark(&mut self) {
        self.blocked.clear();
        self.parked.append(&mut self.waiting);
        std::mem::swap(&mut self.parked, &mut self.waiting);
    }

    /// True if answers wait to be sent.
    #[must_use]
    pub fn has_answers(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Appends the next answer, as a link-layer frame, and returns true. Returns false if there is
    /// none.
    pub fn poll_transmit(&mut self, out: &mut Vec<u8>) -> bool {
        while let Some(Waiting { header, answer }) = self.waiting.pop_front() {
            let (place, wanted, digest, excluding) = match answer {
                Answer::Nack(interest) => {
                    header.encode_into(&interest, out);
                    return true;
                }
                Answer::Packet(packet) => {
                    header.encode_into(&packet, out);
                    self.stats.answered += 1;
                    return true;
                }
                Answer::Data { place, wanted, digest, excluding } => {
                    (place, wanted, digest, excluding)
                }
            };
            // The bytes of an object come in order, so later ones are not there either.
            if self.blocked.contains(&place) {
                let answer = Answer::Data { place, wanted, digest, excluding };
                self.parked.push_back(Waiting { header, answer });
                continue;
            }
            let mut packet = std::mem::take(&mut self.packet);
            packet.clear();
            let encoded =
                self.object(place).map(|object| object.encode(wanted, digest, &mut packet));
            self.packet = packet;
            let Some(encoded) = encoded else {
                // It was there when it was requested, and has gone from the shelf since.
                self.stats.rejected += 1;
                let Some(asked) = excluding else { continue };
                asked.nack(header, out);
                return true;
            };
            match encoded {
                Ok(None) => self.stats.rejected += 1,
                Ok(Some(_)) if let Some(asked) = excluded(&excluding, &self.packet) => {
                    self.stats.rejected += 1;
                    asked.nack(header, out);
                    return true;
                }
                Ok(Some(content)) => {
                    header.encode_into(&self.packet, out);
                    self.stats.answered += 1;
                    self.stats.content_bytes += content as u64;
                    return true;
                }
                Err(PublishError::Read { error, .. }) if error.kind() == ErrorKind::WouldBlock => {
                    self.blocked.push(place);
                    let answer = Answer::Data { place, wanted, digest, excluding };
                    self.parked.push_back(Waiting { header, answer });
                }
                Err(error) => {
                    self.stats.failed += 1;
                    self.last_failure = Some(error);
                    if let Some(asked) = excluding {
                        asked.nack(header, out);
                        return true;
                    }
                }
            }
        }
        false
    }

    /// The place of the object to which a packet of this name belongs.
    fn place_of(&mut self, name: NameRef<'_>) -> Option<Place> {
        if let Some(at) = self.objects.iter().position(|object| object.covers(name)) {
            return Some(Place::Listed(at));
        }
        self.shelf.as_mut()?.find(name).map(Place::Shelved)
    }

    /// The object at a place; `None` if it is gone.
    fn object(&mut self, place: Place) -> Option<&mut Publication> {
        match place {
            Place::Listed(at) => self.objects.get_mut(at),
            Place::Shelved(number) => self.opened.get(self.shelf.as_deref_mut()?, number),
        }
    }
}

impl Answer {
    /// True if the answer is made from the object at this place of the list.
    fn is_of(&self, at: usize) -> bool {
        matches!(self, Answer::Data { place: Place::Listed(place), .. } if *place == at)
    }
}

/// Returns the Interest if it excludes this packet. Then its consumer has rejected the packet
/// before, and there is no other one.
fn excluded<'a>(excluding: &'a Excluding, packet: &[u8]) -> Option<&'a Asked> {
    let asked = excluding.as_deref().filter(|asked| !asked.excluded.is_empty())?;
    let digest = Sha256::digest(packet).into();
    asked.excluded.excludes(&digest).then_some(asked)
}

/// Splits the implicit digest from a name.
fn split_digest(name: NameRef<'_>) -> (NameRef<'_>, Option<[u8; 32]>) {
    match name.last() {
        Some(last) if last.typ() == types::IMPLICIT_DIGEST => {
            (name.parent(), last.value().try_into().ok())
        }
        _ => (name, None),
    }
}
