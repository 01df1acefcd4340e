//! The size of packets.

/// The largest network-layer packet that is accepted or made, in bytes (ndn-cxx and NFD alike).
pub const MAX_PACKET: usize = 8800;
