//! Frames on their way from the forwarder to a face's socket.

use crate::batch::Batch;
use crate::emulate::DelayLine;
use crate::socket::{Progress, SendError, SendFrames};
use control::Time;
use forwarder::{FaceId, Forwarder};

/// The frames of a face that may leave now: from the emulated link if it has one, otherwise from
/// the forwarder.
pub(super) struct Frames<'a> {
    forwarder: &'a mut Forwarder,
    delay: Option<&'a mut DelayLine>,
    id: FaceId,
    now: Time,
}

impl<'a> Frames<'a> {
    pub(super) fn new(
        forwarder: &'a mut Forwarder,
        delay: Option<&'a mut DelayLine>,
        id: FaceId,
        now: Time,
    ) -> Frames<'a> {
        Frames { forwarder, delay, id, now }
    }

    /// Appends the next frame, or several of equal length, which is the inner value then.
    pub(super) fn next(&mut self, out: &mut Vec<u8>) -> Option<Option<usize>> {
        let Some(line) = &mut self.delay else {
            return Some(self.forwarder.poll_transmit(self.now, self.id, out)?.segment);
        };
        let burst = line.pop(self.now)?;
        out.extend_from_slice(&burst.bytes);
        Some(burst.segment)
    }
}

/// Sends batches of frames over a socket.
pub(super) struct Sending<'a, S> {
    socket: &'a mut S,
    batch: &'a mut Batch,
    lost: &'a mut u64,
    payload: Option<usize>,
}

impl<'a, S: SendFrames> Sending<'a, S> {
    /// Adds frames that do not leave to `lost`.
    pub(super) fn new(
        socket: &'a mut S,
        batch: &'a mut Batch,
        lost: &'a mut u64,
    ) -> Sending<'a, S> {
        Sending { socket, batch, lost, payload: None }
    }

    /// The longest datagram that the path takes, if it turned out to take only shorter ones.
    pub(super) fn payload(&self) -> Option<usize> {
        self.payload
    }

    /// Sends frames until there are none, the socket takes no more, or `budget` bytes have left.
    pub(super) fn run(&mut self, budget: usize, frames: &mut Frames<'_>) -> Progress {
        let mut sent = 0;
        loop {
            let mut more = true;
            while more && !self.batch.is_full() {
                match frames.next(self.batch.buffer()) {
                    Some(segment) => self.batch.appended(segment),
                    None => more = false,
                }
            }
            if self.batch.is_empty() || self.socket.has_given_up() {
                self.batch.discard();
                return Progress::Done;
            }
            let (whole, segment) = self.batch.frames();
            let (bytes, count) = (whole.len(), whole.len().div_ceil(segment) as u64);
            match self.socket.send(self.batch) {
                Ok(Progress::Blocked) => return Progress::Blocked,
                Ok(_) => {}
                Err(SendError::TooLong { payload }) => {
                    *self.lost += count;
                    self.payload = Some(payload);
                }
                Err(SendError::Lost(kind)) => {
                    *self.lost += count;
                    tracing::trace!(?kind, count, "frames dropped by the kernel");
                }
            }
            self.batch.set_max_segments(self.socket.max_segments());
            sent += bytes;
            if sent >= budget {
                return Progress::More;
            }
        }
    }
}
