//! Frames of applications without a forwarder in this network.

use control::Time;

use crate::app::App;

/// Frames that applications have sent, and that the driver has not taken yet.
#[derive(Default)]
pub(crate) struct Outbox {
    /// Concatenated frames, by application.
    frames: Vec<Vec<u8>>,
    /// The applications with frames.
    ready: Vec<usize>,
}

impl Outbox {
    /// Collects all frames that an application sends now.
    pub fn take(&mut self, now: Time, number: usize, app: &mut App) {
        if self.frames.len() <= number {
            self.frames.resize(number + 1, Vec::new());
        }
        let frames = &mut self.frames[number];
        let was_empty = frames.is_empty();
        while app.poll_transmit(now, frames) {}
        if was_empty && !frames.is_empty() {
            self.ready.push(number);
        }
    }

    /// The next application with frames.
    pub fn next_ready(&mut self) -> Option<usize> {
        self.ready.pop()
    }

    /// Appends the frames of an application to `out`. Returns false if it has none.
    pub fn append(&mut self, number: usize, out: &mut Vec<u8>) -> bool {
        match self.frames.get_mut(number) {
            Some(frames) if !frames.is_empty() => {
                out.append(frames);
                true
            }
            _ => false,
        }
    }
}
