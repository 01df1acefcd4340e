//! What memory a link takes, and what queueing would add.

use super::queue::{QueuedControl, QueuedData};
use super::shaping::Shaping;
use super::{Env, Link};

impl Link {
    /// Bytes of memory that it takes outside of itself.
    pub(crate) fn memory(&self) -> usize {
        self.buffers()
            + self.reassembler.memory()
            + self.flows.memory()
            + self.expected_in.memory()
            + self.expected_out.memory()
            + self.shaping.as_ref().map_or(0, Shaping::memory)
            + self.hop.as_ref().map_or(0, |hop| hop.memory())
    }

    /// Those of the queues.
    fn buffers(&self) -> usize {
        self.control.memory() + self.ring.memory() + self.data.memory()
    }

    /// Gives back what empty queues keep for the next packets, if that is more than `most` bytes.
    pub(crate) fn relax(&mut self, most: usize) {
        if self.is_idle() && self.buffers() > most {
            self.control.relax();
            self.ring.relax();
            self.data.relax();
        }
    }

    /// Bytes that queueing Data would add.
    pub(crate) fn data_growth(&self, item: &QueuedData) -> usize {
        self.data.growth(item)
    }

    /// The same for an Interest or Nack.
    pub(crate) fn control_growth(&self, item: &QueuedControl) -> usize {
        self.control.growth(item) + self.ring.growth(item.len)
    }

    /// Whether there is memory for what `growth` says.
    pub(super) fn has_room(&self, env: &Env<'_>, growth: impl FnOnce() -> usize) -> bool {
        env.room == usize::MAX || growth() <= env.room
    }
}
