//! Checks of a packet that need no table but the FIB: header, scope, transit.

use packet::tlv::types;
use packet::{LpPacket, NameRef};

use super::Pipeline;
use super::context::InterestCx;
use crate::config::LinkType;
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

/// True if a name begins with this component.
#[inline]
pub(super) fn is_under(name: NameRef<'_>, component: &[u8]) -> bool {
    // The length rules out nearly all names.
    let bytes = name.as_bytes();
    bytes.get(1) == component.get(1) && bytes.starts_with(component)
}

impl Pipeline<'_> {
    /// False for the Interest of a peer that no local face serves, on a node without transit.
    pub(super) fn is_admitted(&self, out: &InterestCx<'_>) -> bool {
        if self.settings.transit || self.faces.is_local(out.face) {
            return true;
        }
        // By the name alone: with a hint, a peer could get the content store's Data of any name.
        let (_, hops) = self.tables.fib().lookup(out.name).unwrap_or_default();
        hops.iter().any(|hop| self.faces.is_local(FaceId(hop.face)))
    }

    /// True if the Interest may leave by this face: not the one it came from (unless ad hoc), scope
    /// control, hop limit, transit.
    pub(super) fn may_leave(&self, out: &InterestCx<'_>, face: &Face) -> bool {
        if face.id() == out.face && face.link_type() != LinkType::AdHoc {
            return false;
        }
        if face.is_local() {
            return true;
        }
        let name = out.name.name();
        // A hop limit of 1 is 0 after this hop: only applications here may still answer.
        let spent = out.interest.hop_limit().is_some_and(|limit| limit <= 1);
        if !self.settings.transit && !self.faces.is_local(out.face) {
            return false;
        }
        !spent
            && !is_under(name, LOCALHOST)
            && (!is_under(name, LOCALHOP) || self.faces.is_local(out.face))
    }
}
