//! The properties of links.

/// The default for the largest IP packet of the links: that of an Ethernet with jumbo frames, so
/// that packets are not fragmented, as in the simulator.
pub const MTU: u16 = 9_216;

/// Bytes of the IP and UDP headers in it.
const HEADERS: usize = 28;

/// The owner of the links' rates and queues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// The daemons' faces, which schemes can observe, and whose frames have the size of the
    /// simulator's.
    Faces,
    /// Token buckets of the kernel, for the packets of any program with all of their headers.
    Kernel,
}

/// The properties of links.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Medium {
    /// The owner of their rates.
    pub shape: Shape,
    /// The largest IP packet.
    pub mtu: u16,
}

impl Default for Medium {
    fn default() -> Medium {
        Medium { shape: Shape::Faces, mtu: MTU }
    }
}

/// The maximum payload of a face's frames.
pub(super) fn payload(medium: Medium) -> usize {
    usize::from(medium.mtu) - HEADERS
}
