//! Checks of a packet by its header, its name and its face alone.

use packet::tlv::types;
use packet::{LpPacket, NameRef};

use super::Pipeline;
use super::context::InterestCx;
use crate::state::faces::face::Face;
use crate::tables::FaceId;

/// True if a header has a field of another packet type than `typ`, the type of the packet behind it
/// (NDNLPv2; NFD's `GenericLinkService::decodeNetPacket`).
#[inline(never)]
pub(super) fn is_misplaced(header: &LpPacket<'_>, typ: u64) -> bool {
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
pub(super) const LOCALHOST: &[u8] = b"\x08\x09localhost";
/// The name component `localhop`, as it is encoded.
pub(super) const LOCALHOP: &[u8] = b"\x08\x08localhop";

/// Names under `/localhost` never cross a face that is not local (NFD, "Scope control").
#[inline]
pub(super) fn violates_scope(face: &Face, name: NameRef<'_>) -> bool {
    !face.is_local() && is_under(name, LOCALHOST)
}

/// False for the Interest of a peer that no local face serves, on a node without transit.
pub(super) fn is_admitted(p: &Pipeline<'_>, a: &InterestCx<'_>) -> bool {
    if p.settings.transit || p.faces.is_local(a.face) {
        return true;
    }
    // By the name alone: with a hint, a peer could get the content store's Data of any name.
    let (_, hops) = p.tables.fib().lookup(a.name).unwrap_or_default();
    hops.iter().any(|hop| p.faces.is_local(FaceId(hop.face)))
}

/// True if a name begins with this component.
#[inline]
pub(super) fn is_under(name: NameRef<'_>, component: &[u8]) -> bool {
    // The length rules out nearly all names.
    let bytes = name.as_bytes();
    bytes.get(1) == component.get(1) && bytes.starts_with(component)
}
