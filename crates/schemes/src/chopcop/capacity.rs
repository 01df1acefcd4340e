//! C, the capacity of a face's queue of Data.

use control::{Duration, LinkView, ParamSpec, Params, Size, Value};

/// The rows that marker and shaper share.
pub(super) const CAPACITY: &[ParamSpec] = &[
    ParamSpec {
        name: "C",
        default: Value::Size(Size(0)),
        range: (0.0, 1e12),
        help: "capacity of the face's queue of Data; 0 is what the link sends in T, at most the \
               bound of the queue",
        source: "section IV, memory management",
    },
    ParamSpec {
        name: "T",
        default: Value::Time(Duration::from_millis(300)),
        range: (0.001, 100.0),
        help: "the round-trip time whose worth of Data the queue is to hold",
        source: "section IV, memory management",
    },
];

/// C in bytes.
#[derive(Clone, Copy)]
pub(super) struct Capacity {
    given: Size,
    rtt: Duration,
}

impl Capacity {
    pub fn new(params: &Params) -> Capacity {
        Capacity { given: Size(params.number("C") as u64), rtt: params.time("T") }
    }

    /// C of this link; at least 1, and without bound where nothing is known of it.
    pub fn of(self, view: &LinkView) -> f64 {
        if self.given != Size::ZERO {
            return self.given.0 as f64;
        }
        let of_link = view.rate_out.size_in(self.rtt);
        let known = [of_link, view.data_limit].into_iter().filter(|size| *size != Size::ZERO);
        known.min().unwrap_or(Size(u64::MAX)).0 as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use control::Rate;

    #[test]
    fn the_capacity_is_what_the_link_sends_in_300_ms_or_what_the_queue_holds() {
        let capacity = Capacity::new(&Params::defaults(CAPACITY));
        let view = |mbps, limit| LinkView {
            rate_out: Rate::from_mbps(mbps),
            data_limit: Size(limit),
            ..LinkView::default()
        };
        // 40 Mbit/s * 0.3 s / 8 = 1,500,000 bytes (section V-B).
        assert_eq!(capacity.of(&view(40, 4 << 20)), 1_500_000.0);
        assert_eq!(capacity.of(&view(40, 0)), 1_500_000.0);
        assert_eq!(capacity.of(&view(40, 100_000)), 100_000.0);
        assert_eq!(capacity.of(&view(0, 100_000)), 100_000.0);
        assert!(capacity.of(&view(0, 0)) > 1e18);
        let mut params = Params::defaults(CAPACITY);
        params.set("chopcop", "C", "2 MB").unwrap();
        assert_eq!(Capacity::new(&params).of(&view(40, 100_000)), 2_000_000.0);
    }
}
