//! NFD's own marking rule, for comparison.
//!
//! NFD (A. Afanasyev and others, NFD Developer's Guide, NDN-0021, section 2.4), code
//! daemon/face/generic-link-service.cpp, `checkCongestionLevel`; after CoDel (RFC 8289), with the
//! length of the send queue in the place of the time in it, and its interval law:
//!
//! - The queue holds more than `threshold` bytes: marking begins an `interval` later, if that
//!   lasts; the k-th mark is followed by the next one after `interval` / sqrt(k + 1).
//! - The queue holds `threshold` or less: the incident is over, k = 0.
//!
//! NFD asks when a packet is handed to the socket, whose queue is then without it: here, when Data
//! joins the face's queue. Deviations: Interests and Data wait in queues of their own here, and the
//! length is that of both; NFD marks Interests too, but nothing brings that mark back, so only Data
//! are marked. Where NFD marks a fragment, here it is the packet.

use control::{
    Cx, DataMeta, Duration, Equation, LinkView, Marker, ParamSpec, Params, Scheme, Size, Time,
    Value, Verdict,
};

/// The scheme.
pub const SCHEME: Scheme = Scheme {
    name: "nfd-mark",
    summary: "marks Data while more than 64 KiB are queued, as NFD does",
    paper: "A. Afanasyev and others, NFD Developer's Guide, NDN-0021; NFD's code, \
            GenericLinkService",
    equations: EQUATIONS,
    params: PARAMS,
    marker: Some(|params| Box::new(NfdMark::new(params))),
    ..Scheme::EMPTY
};

const EQUATIONS: &[Equation] = &[
    ("checkCongestionLevel", "queue > threshold, first: t_mark = t + interval"),
    ("checkCongestionLevel", "queue > threshold, t >= t_mark: mark; n += 1"),
    ("checkCongestionLevel", "after a mark: t_mark += interval / sqrt(n + 1)"),
    ("checkCongestionLevel", "queue <= threshold: n = 0; no t_mark"),
];

const PARAMS: &[ParamSpec] = &[
    ParamSpec {
        name: "threshold",
        default: Value::Size(Size(65_536)),
        range: (0.0, 1e12),
        help: "bytes that may wait without a mark",
        source: "NFD, `defaultCongestionThreshold`",
    },
    ParamSpec {
        name: "interval",
        default: Value::Time(Duration::from_millis(100)),
        range: (1e-5, 100.0),
        help: "how long more may wait before the first mark",
        source: "NFD, `baseCongestionMarkingInterval`",
    },
];

struct NfdMark {
    threshold: Size,
    interval: Duration,
    next_mark: Option<Time>,
    marked: u32,
}

impl NfdMark {
    fn new(params: &Params) -> NfdMark {
        NfdMark {
            threshold: Size(params.number("threshold") as u64),
            interval: params.time("interval"),
            next_mark: None,
            marked: 0,
        }
    }
}

impl Marker for NfdMark {
    fn on_enqueue(&mut self, cx: &mut Cx<'_>, view: &LinkView, _data: &DataMeta) -> Verdict {
        if view.data_out.bytes + view.interests_out.bytes <= self.threshold {
            (self.next_mark, self.marked) = (None, 0);
            return Verdict::Pass;
        }
        let next = *self.next_mark.get_or_insert(cx.now + self.interval);
        if cx.now < next {
            return Verdict::Pass;
        }
        self.marked = self.marked.saturating_add(1);
        let pause = self.interval.mul_f64(1.0 / (f64::from(self.marked) + 1.0).sqrt());
        self.next_mark = Some(next + pause);
        Verdict::Mark(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use control::{QueueView, Rng};
    use packet::HopOptions;

    /// The milliseconds at which Data that joins a queue of this many bytes, one packet each
    /// millisecond, is marked.
    fn marks(
        marker: &mut NfdMark,
        ms: std::ops::Range<u64>,
        data: u64,
        interests: u64,
    ) -> Vec<u64> {
        let mut rng = Rng::stream(0, &[]);
        let mut tap = |_| {};
        let queue = |bytes| QueueView { bytes: Size(bytes), ..QueueView::default() };
        let view = LinkView {
            data_out: queue(data),
            interests_out: queue(interests),
            ..LinkView::default()
        };
        let packet = DataMeta {
            flow: 0,
            segment: 0,
            size: Size(8000),
            mark: 0,
            options: HopOptions::default(),
        };
        let mut marked = |at: &u64| {
            let now = Time::ZERO + Duration::from_millis(*at);
            let mut cx = Cx { now, rng: &mut rng, tap: &mut tap };
            marker.on_enqueue(&mut cx, &view, &packet) == Verdict::Mark(1)
        };
        ms.filter(|at| marked(at)).collect()
    }

    #[test]
    fn marks_come_closer_by_the_square_root() {
        let mut marker = NfdMark::new(&Params::defaults(PARAMS));
        // Over the threshold from 1000 on: 1100; then 100/sqrt(2) = 70.71: 1170.71; then
        // 100/sqrt(3) = 57.74: 1228.45; then 100/sqrt(4) = 50: 1278.45; each at the next packet.
        assert_eq!(marks(&mut marker, 1000..1300, 65_537, 0), [1100, 1171, 1229, 1279]);
    }

    #[test]
    fn a_queue_at_the_threshold_ends_the_incident() {
        let mut marker = NfdMark::new(&Params::defaults(PARAMS));
        assert_eq!(marks(&mut marker, 1000..1050, 70_000, 0), []);
        assert_eq!(marks(&mut marker, 1050..1051, 65_536, 0), []);
        assert_eq!(marks(&mut marker, 1051..1152, 70_000, 0), [1151], "it begins again");
        assert_eq!(marks(&mut marker, 1152..1153, 0, 0), []);
        assert_eq!(marks(&mut marker, 2000..2180, 70_000, 0), [2100, 2171], "and so does n");
    }

    #[test]
    fn interests_that_wait_count() {
        let mut marker = NfdMark::new(&Params::defaults(PARAMS));
        assert_eq!(marks(&mut marker, 0..101, 65_000, 600), [100]);
    }
}
