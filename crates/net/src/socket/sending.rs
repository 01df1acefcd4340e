//! The interface of sockets that send batches of frames.

use super::progress::Progress;
use crate::batch::Batch;
use std::io::ErrorKind;

/// A socket by which a batch of frames is sent to one place.
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
