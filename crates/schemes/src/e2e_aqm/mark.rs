//! The layout of the congestion mark: count, identity of the link, value.

use control::{Duration, Rate};

/// The bits of a value.
const VALUE_BITS: u32 = 24;
/// The bit of a value that is set if it is a rate.
const IS_RATE: u64 = 0x80_0000;
/// The longest delay, in microseconds.
const MAX_DELAY: u64 = 0x7f_ffff;
/// The bits of a rate's characteristic.
const CHARACTERISTIC: u32 = 15;

/// A link's report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Report {
    /// The delay of its latest packet.
    Delay(Duration),
    /// The rate at which it sent lately.
    Rate(Rate),
}

/// A mark of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mark {
    /// The links that the Data packet has passed.
    pub(super) count: u8,
    /// The identity of the link that wrote the report.
    pub(super) link: u32,
    pub(super) report: Report,
}

impl Mark {
    /// The mark as a number; a larger count gives a larger number.
    pub(super) fn encode(self) -> u64 {
        let value = match self.report {
            Report::Delay(delay) => (delay.0 / 1000).min(MAX_DELAY),
            Report::Rate(rate) => IS_RATE | floating(rate.0 / 8),
        };
        u64::from(self.count) << 56 | u64::from(self.link) << VALUE_BITS | value
    }

    /// The mark of a number; `None` if it is that of an ordinary router.
    pub(super) fn decode(number: u64) -> Option<Mark> {
        let count = (number >> 56) as u8;
        let report = if number & IS_RATE != 0 {
            let characteristic = number >> 8 & ((1 << CHARACTERISTIC) - 1);
            // A mark of the network may have any exponent.
            let bytes = u128::from(characteristic) << (number & 0xff).min(64);
            Report::Rate(Rate(u64::try_from(bytes).unwrap_or(u64::MAX).saturating_mul(8)))
        } else {
            Report::Delay(Duration((number & MAX_DELAY) * 1000))
        };
        (count > 0).then_some(Mark { count, link: (number >> VALUE_BITS) as u32, report })
    }

    /// The same, one link later.
    pub(super) fn counted(number: u64) -> u64 {
        if number >> 56 == 255 { number } else { number + (1 << 56) }
    }
}

/// Bytes per second as 15 bits of characteristic and 8 bits of exponent, rounded down.
fn floating(bytes: u64) -> u64 {
    let exponent = (64 - bytes.leading_zeros()).saturating_sub(CHARACTERISTIC);
    (bytes >> exponent) << 8 | u64::from(exponent)
}
