//! Frames that come in, and the packets in them.

use control::Kind;
use packet::LpPacket;
use packet::options::Capability;
use packet::tlv::types;

use super::checks::is_misplaced;
use super::context::Incoming;
use super::options::take_options;
use super::{Pipeline, data, interest, nack};
use crate::config::LinkType;
use crate::counters::DropReason;
use crate::events::Step;
use crate::frames::{Packet, Wire};
use crate::link::Sender;
use crate::link::capabilities::IdleOptions;
use crate::link::reassembly::Reassembler;
use crate::tables::FaceId;

/// A frame came by a face.
pub(crate) fn receive(p: &mut Pipeline<'_>, face: FaceId, sender: Sender, frame: Wire<'_>) {
    let bytes = frame.bytes();
    let Some(state) = p.faces.count_frame(face, bytes.len()) else { return };
    let has_service = state.link().has_service();
    let Ok(header) = LpPacket::decode(bytes) else {
        return p.count_drop(face, DropReason::Malformed);
    };
    if has_service && (header.tx_sequence().is_some() || header.has_acks()) {
        let new = p.with_link(face, |link, env, _| link.receive(env, &header));
        nack::given_up(p, face);
        p.wake(face);
        if new == Some(false) {
            return p.count_drop(face, DropReason::FrameTwice);
        }
    }
    let Some(state) = p.faces.get_mut(face) else { return };
    let Some(fragment) = header.fragment() else {
        state.link_mut().counters_mut().idle += 1;
        if header.has_options() {
            learn(p, face, &header);
        }
        return;
    };
    if header.frag_count() > 1 {
        return receive_fragment(p, face, sender, &header, bytes);
    }
    let shared = match frame {
        Wire::Shared(shared) => Some(shared),
        Wire::Borrowed(_) => None,
    };
    let packet = Packet { bytes: fragment, shared };
    let mark = header.congestion_mark();
    receive_packet(p, &Incoming { face, header: &header, mark, packet });
}

/// An IDLE frame may say what the other end understands.
fn learn(p: &mut Pipeline<'_>, face: FaceId, header: &LpPacket<'_>) {
    let options = take_options(p, face, header);
    let now = p.now;
    if let Some(capability) = options.get::<Capability>()
        && let Some(state) = p.faces.get_mut(face)
        && state.link_type() == LinkType::PointToPoint
    {
        state.link_mut().on_idle(now, &IdleOptions::new(capability, &options));
        p.wake(face);
    }
}

fn receive_fragment(
    p: &mut Pipeline<'_>,
    face: FaceId,
    sender: Sender,
    header: &LpPacket<'_>,
    frame: &[u8],
) {
    let fragments = header.frag_count();
    let most = Reassembler::most_growth(fragments, frame.len());
    p.faces.make_room_for_fragment(face, p.tables, most);
    let whole = p.with_link(face, |link, env, _| link.reassemble(env, sender, header, frame));
    p.wake(face);
    let Some(whole) = whole.flatten() else { return };
    // The frame of fragment 0 was decoded when it came.
    if let Ok(header) = LpPacket::decode(whole.first()) {
        let packet = Packet { bytes: whole.packet(), shared: None };
        receive_packet(p, &Incoming { face, header: &header, mark: whole.mark(), packet });
    }
    p.faces.recycle(face, whole, p.tables);
}

/// 2. A whole packet begins its journey.
fn receive_packet(p: &mut Pipeline<'_>, incoming: &Incoming<'_>) {
    let header = incoming.header;
    let typ = incoming.packet.bytes.first().copied().map(u64::from);
    let kind = match typ {
        _ if header.nack().is_some() => Kind::Nack,
        Some(types::INTEREST) => Kind::Interest,
        _ => Kind::Data,
    };
    p.faces.show_arrival(incoming.face, kind, incoming.packet.bytes);
    match (header.nack(), typ) {
        (_, Some(typ)) if !header.is_bare() && is_misplaced(header, typ) => {
            p.count_drop(incoming.face, DropReason::Malformed);
        }
        (Some(reason), Some(types::INTEREST)) => nack::receive(p, incoming, reason),
        (None, Some(types::INTEREST)) => interest::receive(p, incoming),
        (None, Some(types::DATA)) => data::receive(p, incoming),
        _ => p.count_drop(incoming.face, DropReason::Malformed),
    }
    p.step(incoming.face, Step::Handled);
}
