//! The journeys of packets: [`interest`], [`data`] and [`nack`], each read from top to bottom,
//! after the NFD Developer's Guide, section 4. What two of them share is in the other files.

pub(crate) mod copies;
mod data;
mod exclude;
pub(crate) mod exclusion;
mod finish;
mod held;
mod interest;
mod learned;
mod nack;
mod range;
mod rewrite;
mod upstream;

pub use learned::LearnedRoute;

use control::{Action, Crossing, Direction, Downstream, Kind, NextHop, Size, Time, Upstream};
use packet::options::{Capability, segments_in};
use packet::tlv::types;
use packet::{HopOptions, LpPacket, NameRef};

use crate::config::LinkType;
use crate::counters::DropReason;
use crate::face::Face;
use crate::forwarder::Forwarder;
use crate::frames::{Packet, Wire};
use crate::link::capabilities::Heard;
use crate::link::reassembly::Reassembler;
use crate::link::{InterestMark, Sender};
use crate::node::Subject;
use crate::tables::{FaceId, HashedName, Lengths, MAX_PREFIX, PitKey};

/// Buffers that are used again for every packet.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    pub(crate) marks: Vec<InterestMark>,
    /// The Interest at hand, where it is not in the driver's buffer.
    interest: Vec<u8>,
    /// The Interest for one segment of a run.
    segment: Vec<u8>,
    satisfied: Vec<PitKey>,
    actions: Vec<Action>,
    next_hops: Vec<NextHop>,
    /// Components of the FIB entry that they are from.
    prefix: usize,
    downstreams: Vec<Downstream>,
    upstreams: Vec<Upstream>,
}

/// Whether a header has a field that is for another kind of packet than the one behind it, which is
/// of this type (NDNLPv2; NFD's `GenericLinkService::decodeNetPacket`).
#[inline(never)]
fn is_misplaced(header: &LpPacket<'_>, typ: u64) -> bool {
    let to_a_face = header.next_hop_face_id().is_some();
    let on_data = header.no_cache() || header.prefix_announcement().is_some();
    let on_interests = to_a_face || header.non_discovery();
    match typ {
        _ if header.nack().is_some() => on_data || on_interests,
        types::INTEREST => on_data,
        _ => on_interests,
    }
}

/// The name component `localhost`, as it is encoded.
const LOCALHOST: &[u8] = b"\x08\x09localhost";
/// The name component `localhop`, as it is encoded.
const LOCALHOP: &[u8] = b"\x08\x08localhop";

/// Names under `/localhost` never cross a face that is not local (NFD, "Scope control").
#[inline]
fn violates_scope(face: &Face, name: NameRef<'_>) -> bool {
    !face.is_local() && is_under(name, LOCALHOST)
}

/// Whether a name begins with this component.
#[inline]
fn is_under(name: NameRef<'_>, component: &[u8]) -> bool {
    // The length tells nearly all names apart.
    let bytes = name.as_bytes();
    bytes.get(1) == component.get(1) && bytes.starts_with(component)
}

/// The bytes that a packet took on the link, those of its frames included.
fn on_link(header: &LpPacket<'_>, packet: &[u8]) -> usize {
    let frames = usize::try_from(header.frag_count()).unwrap_or(usize::MAX);
    packet.len().saturating_add(header.overhead().saturating_mul(frames))
}

impl Forwarder {
    /// A frame arrived on a face.
    pub fn receive(&mut self, now: Time, face: FaceId, frame: Wire<'_>) {
        self.receive_from(now, face, Sender::default(), frame);
    }

    /// A frame arrived on a face at whose other end there are several: from this one.
    pub fn receive_from(&mut self, now: Time, face: FaceId, sender: Sender, frame: Wire<'_>) {
        let bytes = frame.bytes();
        let Some(state) = self.faces.get_mut(face) else {
            self.stats.drops.add(DropReason::FaceRemoved);
            return;
        };
        for traffic in [&mut state.link.counters.received, &mut self.stats.received] {
            traffic.frames += 1;
            traffic.bytes += bytes.len() as u64;
        }
        let Ok(header) = LpPacket::decode(bytes) else {
            return self.count_drop(face, DropReason::Malformed);
        };
        if state.link.has_hop() && (header.tx_sequence().is_some() || header.has_acks()) {
            let new = self.with_link(now, face, |link, env, _| link.receive(env, &header));
            self.on_given_up(now, face);
            self.wake(now, face);
            if new == Some(false) {
                return self.count_drop(face, DropReason::FrameTwice);
            }
        }
        let Some(state) = self.faces.get_mut(face) else { return };
        let Some(fragment) = header.fragment() else {
            state.link.counters.idle += 1;
            if header.has_options() {
                self.learn(now, face, &header);
            }
            return;
        };
        if header.frag_count() > 1 {
            return self.receive_fragment(now, face, sender, &header, bytes);
        }
        let shared = match frame {
            Wire::Shared(shared) => Some(shared),
            Wire::Borrowed(_) => None,
        };
        let packet = Packet { bytes: fragment, shared };
        self.receive_packet(now, face, &header, header.congestion_mark(), packet);
    }

    /// The other end of a face says what it understands.
    fn learn(&mut self, now: Time, face: FaceId, header: &LpPacket<'_>) {
        let options = self.take_options(face, header);
        if let Some(capability) = options.get::<Capability>()
            && let Some(state) = self.faces.get_mut(face)
            && state.link_type == LinkType::PointToPoint
        {
            let is_stream = state.link.is_stream();
            state.link.capabilities.heard(now, &Heard::new(capability, &options), is_stream);
            self.wake(now, face);
        }
    }

    fn receive_fragment(
        &mut self,
        now: Time,
        face: FaceId,
        sender: Sender,
        header: &LpPacket<'_>,
        frame: &[u8],
    ) {
        let fragments = header.frag_count();
        self.reserve_queue(face, |_| Reassembler::most_growth(fragments, frame.len()));
        let whole =
            self.with_link(now, face, |link, env, _| link.reassemble(env, sender, header, frame));
        self.wake(now, face);
        let Some(whole) = whole.flatten() else { return };
        // The frame of fragment 0 was decoded when it came.
        if let Ok(header) = LpPacket::decode(&whole.first) {
            let packet = Packet { bytes: &whole.packet, shared: None };
            self.receive_packet(now, face, &header, whole.mark, packet);
        }
        let room = self.room(face);
        let Forwarder { faces, budget, .. } = self;
        if let Some(face) = faces.get_mut(face) {
            face.link.reassembler.set_room(room);
            face.link.reassembler.recycle(whole);
            budget.count(face);
        }
    }

    fn receive_packet(
        &mut self,
        now: Time,
        face: FaceId,
        header: &LpPacket<'_>,
        mark: u64,
        packet: Packet<'_>,
    ) {
        match (header.nack(), packet.bytes.first().copied().map(u64::from)) {
            (_, Some(typ)) if !header.is_bare() && is_misplaced(header, typ) => {
                self.count_drop(face, DropReason::Malformed);
            }
            (Some(reason), Some(types::INTEREST)) => {
                self.on_nack(now, face, header, reason, packet.bytes);
            }
            (None, Some(types::INTEREST)) => {
                self.on_interest(now, face, header, mark, packet.bytes);
            }
            (None, Some(types::DATA)) => self.on_data(now, face, header, mark, packet),
            _ => self.count_drop(face, DropReason::Malformed),
        }
    }

    /// The name of an Interest with the hashes that its way asks for.
    #[inline]
    fn hashed<'n>(&self, name: NameRef<'n>) -> HashedName<'n> {
        self.hashed_for(name, self.fib.lengths())
    }

    /// The same for a packet that asks for prefixes of these lengths, besides those that all ask
    /// for. Data does not ask for routes.
    fn hashed_for<'n>(&self, name: NameRef<'n>, own: Lengths) -> HashedName<'n> {
        let mut lengths = own | self.strategies.lengths() | self.pit.lengths();
        let components = name.len().min(MAX_PREFIX);
        if !self.store.is_off() {
            lengths |= 1 << components.saturating_sub(1);
        }
        if self.parts > 0 {
            // The flow is the name without segment and version.
            lengths |= 0b11 << components.saturating_sub(2);
        }
        if self.pit.has_runs() {
            lengths |= 1 << components.saturating_sub(1);
        }
        self.hasher.hash_prefixes(name, lengths)
    }

    /// Counts a packet that was decoded, and gives the face that it came from.
    #[inline]
    fn count_received(&mut self, face: FaceId, kind: Kind) -> Option<&Face> {
        self.stats.received.count(kind);
        let face = self.faces.get_mut(face)?;
        face.link.counters.received.count(kind);
        Some(face)
    }

    /// Tells the parts of a face of a packet that came in, if there are any.
    fn crossed(
        &mut self,
        now: Time,
        face: FaceId,
        kind: Kind,
        subject: Subject,
        size: usize,
        options: &HopOptions,
    ) {
        self.with_link(now, face, |link, env, _| {
            if link.has_parts() {
                let flow = subject.flow;
                let expected = match kind {
                    Kind::Interest => link.expected(flow, options, segments_in(options)),
                    _ => Size::ZERO,
                };
                let (direction, size) = (Direction::In, Size(size as u64));
                let crossing = Crossing { direction, kind, flow, size, expected, options };
                link.on_crossing(env, &crossing);
            }
        });
    }
}
