//! Rates on the wire: 1024ths of octaves above 1 bit/s, so that two bytes hold every rate within
//! 0.07 % (R. Ben Basat and others, PINT, SIGCOMM 2020, compress telemetry in this way).

use control::{MAX_RATE, math};

const STEPS: f64 = 1024.0;

/// The code of a rate in bit/s, rounded down.
pub(super) fn code(rate: f64) -> u16 {
    let octaves = math::ln(rate.clamp(1.0, MAX_RATE.0 as f64)) / math::ln(2.0);
    (octaves * STEPS) as u16
}

/// The rate of a code, in bit/s; never more than [`MAX_RATE`].
pub(super) fn rate(code: u16) -> f64 {
    math::pow(2.0, f64::from(code) / STEPS).min(MAX_RATE.0 as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_come_back_within_a_step() {
        for rate_ in [1.0, 9600.0, 1e6, 123_456_789.0, 1e12] {
            let back = rate(code(rate_));
            assert!(back <= rate_ * (1.0 + 1e-9) && back > rate_ * 0.9993, "{rate_}: {back}");
        }
        assert_eq!((code(0.0), code(f64::MAX)), (0, 40_819), "1024 log2(1e12) = 40819.6");
        assert_eq!(rate(u16::MAX), 1e12);
    }
}
