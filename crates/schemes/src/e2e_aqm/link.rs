//! The link's part: `generateCongestionMark`.

use super::mark::{Mark, Report};
use control::{Cx, DataMeta, Duration, LinkView, Marker, Rate, Time, Verdict};

/// The rate is computed again after this many bytes ("8 1250 byte packets").
const MEANINGFUL: u64 = 10_000;

/// The reporter of a link.
#[derive(Default)]
pub(super) struct Reporter {
    /// `m_linkId`; `None` before the first packet.
    link: Option<u32>,
    /// The delay of the latest packet that left.
    delay: Duration,
    /// `m_lastUpdatedRate`.
    rate: Rate,
    /// Bytes since the rate was computed, and the time of that.
    bytes: u64,
    since: Option<Time>,
}

impl Reporter {
    /// The rate, computed again if enough was sent. The first period begins with the first packet.
    fn rate(&mut self, now: Time) -> Rate {
        let span = self.since.map_or(Duration::ZERO, |since| now.since(since));
        if self.bytes > MEANINGFUL && span > Duration::ZERO {
            self.rate = Rate((self.bytes as f64 * 8.0 / span.as_secs_f64()) as u64);
            (self.bytes, self.since) = (0, Some(now));
        }
        self.rate
    }
}

impl Marker for Reporter {
    fn on_enqueue(&mut self, cx: &mut Cx<'_>, _view: &LinkView, data: &DataMeta) -> Verdict {
        self.since.get_or_insert(cx.now);
        let link = *self.link.get_or_insert_with(|| cx.rng.next_u32());
        let before = Mark::decode(data.mark).map_or(0, |mark| mark.count);
        let is_replaced = cx.rng.chance(1.0 / (f64::from(before) + 1.0));
        let mark = if is_replaced {
            let report = if cx.rng.chance(0.5) {
                Report::Delay(self.delay)
            } else {
                Report::Rate(self.rate(cx.now))
            };
            Mark { count: before.saturating_add(1), link, report }.encode()
        } else {
            Mark::counted(data.mark)
        };
        self.bytes = self.bytes.saturating_add(data.size.0);
        Verdict::Mark(mark)
    }

    fn on_dequeue(
        &mut self,
        _cx: &mut Cx<'_>,
        _view: &LinkView,
        _data: &DataMeta,
        sojourn: Duration,
    ) -> Verdict {
        self.delay = sojourn;
        Verdict::Pass
    }
}
