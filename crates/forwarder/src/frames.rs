//! Frames as a driver hands them in and takes them out.

use bytes::Bytes;

use crate::tables::memory;

/// One link-layer frame that arrived.
#[derive(Clone, Copy, Debug)]
pub enum Wire<'a> {
    /// In the driver's buffer: what is kept of it is copied, once and in its exact size.
    Borrowed(&'a [u8]),
    /// Shared: what is kept of it is kept by reference, which a simulator uses to hold payloads
    /// once. The whole buffer stays alive with it, so it should hold this frame and nothing else.
    Shared(&'a Bytes),
}

impl<'a> Wire<'a> {
    pub(crate) fn bytes(&self) -> &'a [u8] {
        match *self {
            Wire::Borrowed(bytes) => bytes,
            Wire::Shared(bytes) => bytes,
        }
    }
}

/// The frames of one network packet, as [`crate::Forwarder::poll_transmit`] appends them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transmit {
    /// Bytes appended.
    pub len: usize,
    /// `None` if they are one frame. Otherwise each frame has this many bytes and the last one at
    /// most as many: ready for UDP segmentation offload.
    pub segment: Option<usize>,
}

/// A network packet as it came.
#[derive(Clone, Copy)]
pub(crate) struct Packet<'a> {
    pub(crate) bytes: &'a [u8],
    /// The buffer that `bytes` is a part of, if it may be kept.
    pub(crate) shared: Option<&'a Bytes>,
}

impl Packet<'_> {
    pub(crate) fn to_bytes(self) -> Bytes {
        match self.shared {
            Some(shared) => shared.slice_ref(self.bytes),
            None => {
                let mut kept = Vec::with_capacity(memory::roomy(self.bytes.len()));
                kept.extend_from_slice(self.bytes);
                Bytes::from(kept)
            }
        }
    }
}
