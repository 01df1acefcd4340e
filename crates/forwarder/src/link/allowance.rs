//! How much a link may send, where its driver bounds that.

use control::Kind;

use super::{Env, Link};
use crate::counters::DropReason;

/// What a face may send.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Allowance {
    /// Whatever its queues and its rate let out.
    #[default]
    Unlimited,
    /// So many bytes, with the headers below the link layer. A packet may leave as long as one is
    /// left, so that this may become negative. What may not leave is dropped.
    Bytes(i64),
    /// Nothing: the network reported that nothing receives at the other end.
    Unreachable,
}

impl Allowance {
    /// Counts bytes that leave.
    #[inline]
    pub(crate) fn spend(&mut self, bytes: usize) {
        if let Allowance::Bytes(left) = self {
            *left = left.saturating_sub(i64::try_from(bytes).unwrap_or(i64::MAX));
        }
    }

    /// Why nothing may leave, if so.
    #[inline]
    pub(crate) fn withholds(self) -> Option<DropReason> {
        match self {
            Allowance::Unlimited => None,
            Allowance::Bytes(left) => (left <= 0).then_some(DropReason::UnprovedLimit),
            Allowance::Unreachable => Some(DropReason::Unreachable),
        }
    }
}

impl Link {
    /// Drops everything that would leave now: queued packets, repeated frames, acknowledgements.
    /// Nothing is left that waits for the driver, which has no further reason to ask the link.
    /// `scratch` is as before afterwards.
    #[cold]
    pub(crate) fn withhold(
        &mut self,
        env: &mut Env<'_>,
        reason: DropReason,
        scratch: &mut Vec<u8>,
    ) {
        let (start, mtu) = (scratch.len(), self.mtu);
        self.capabilities.say(env.now, scratch);
        self.with_hop(env, |hop, now| {
            hop.expire(now);
            while hop.resend(now, scratch).is_some() || hop.put_idle(mtu, scratch).is_some() {
                scratch.truncate(start);
            }
        });
        scratch.truncate(start);
        while let Some(item) = self.control.pop(env.now) {
            env.tell(item.kind(), self.ring.front(item.len), Some(reason));
            self.ring.consume(item.len);
            self.counters.queue.drop(item.len);
            self.count_drop(env.stats, reason);
        }
        while let Some(item) = self.data.pop(env.now) {
            env.tell(Kind::Data, &item.packet, Some(reason));
            self.counters.queue.drop(item.packet.len());
            self.count_drop(env.stats, reason);
        }
    }
}
