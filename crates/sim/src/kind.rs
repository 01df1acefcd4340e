//! The kind of packet in a frame.

use control::Kind;
use packet::LpPacket;
use packet::tlv::types;

/// The kind of the packet: Interest, Data or Nack. Frames that cannot be decoded, and fragments
/// other than the first, count as Data.
pub(crate) fn kind_of(frame: &[u8]) -> Kind {
    if frame.first().copied().map(u64::from) != Some(types::LP_PACKET) {
        return bare(frame);
    }
    match LpPacket::decode(frame) {
        Ok(link) if link.nack().is_some() => Kind::Nack,
        Ok(link) => bare(link.fragment().unwrap_or_default()),
        Err(_) => Kind::Data,
    }
}

fn bare(packet: &[u8]) -> Kind {
    match packet.first().copied().map(u64::from) {
        Some(types::INTEREST) => Kind::Interest,
        _ => Kind::Data,
    }
}
