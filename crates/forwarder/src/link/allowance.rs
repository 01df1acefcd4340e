//! How much a link may send, where its driver bounds that.

use crate::counters::DropReason;

/// A face's right to send.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Allowance {
    /// Whatever its queues and its rate let out.
    #[default]
    Unlimited,
    /// The remaining bytes, including the headers below the link layer. A packet may leave while
    /// one byte is left, so the number can become negative. Excess packets are dropped.
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
