//! Sockets as faces see them: connected UDP with segmentation offload, Ethernet frames, byte
//! streams, WebSockets, listeners.

#[cfg_attr(not(target_os = "linux"), path = "socket/no_ether.rs")]
pub mod ether;
pub mod listen;
pub mod owner;
mod peer;
pub mod stream;
pub mod udp;
#[cfg_attr(not(feature = "websocket"), path = "socket/no_websocket.rs")]
pub mod websocket;

use crate::batch::Batch;
use std::io::ErrorKind;

/// The result of a call to the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Everything that there was to do is done.
    Done,
    /// The kernel takes (or has) no more at present; readiness will be reported.
    Blocked,
    /// More work waits, but other sockets come first.
    More,
    /// The other end has closed.
    Closed,
}

/// A socket that sends a batch of frames to one place.
pub trait SendFrames {
    /// Sends a batch. It is gone afterwards, sent or not, unless the kernel is blocked.
    ///
    /// # Errors
    /// `TooLong` if the path takes only shorter frames; anything else was lost as frames are.
    fn send(&mut self, batch: &mut Batch) -> Result<Progress, SendError>;

    /// The most frames that one send may be made of.
    fn max_segments(&self) -> usize;

    /// True if sending is suspended.
    fn has_given_up(&self) -> bool;
}

/// Why a frame was not sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SendError {
    /// The path takes `payload` bytes at most.
    TooLong {
        /// The largest payload that the path takes now.
        payload: usize,
    },
    /// It is lost, as frames may be: no route at the moment, a full device queue, a closed port.
    Lost(ErrorKind),
}
