//! The order of answers, as evidence about Interests that were sent before the answered ones.
//!
//! Answers from one origin over one path keep the order of their Interests. If the Data names its
//! path (RFC 9531) or the answering node, each has its own order. Otherwise all origins count as
//! one, and [`crate::fetch::reordering`] measures how far their answers overtake one another.
//!
//! An unanswered Interest may have gone to any of the origins. So it counts as lost only after the
//! longest round trip of the origins that answer at present.

use control::{Duration, Time};
use packet::HopOptions;
use packet::options::{PathId, PathLabel, RttSpread, ServedBy};

/// An identifier of the answering node and path; `None` if the Data names neither.
pub type Origin = Option<u64>;

/// The origin that the options of a Data packet name. Options may be forged, so the number of
/// [`Origins`] is limited. Beyond the limit, all are merged into one.
#[must_use]
pub fn origin(options: &HopOptions) -> Origin {
    let label = options.get::<PathLabel>().filter(|label| label.hop_count > 0);
    let path = options.get::<PathId>();
    let node = options.get::<ServedBy>().filter(|served| served.node != 0);
    if label.is_none() && path.is_none() && node.is_none() {
        return None;
    }
    let mut id = path.unwrap_or_default();
    if let Some(label) = label {
        let hops = usize::from(label.hop_count);
        for slot in (0..hops).map_while(|at| label.slot(at)) {
            id = id.folded(0, u64::from(slot));
        }
    }
    Some(node.map_or(id, |served| id.folded(served.node, u64::from(served.hops))).0)
}

/// The maximum number of separate origins.
const MOST: usize = 8;
/// An origin counts as silent two of its round trips and this long after its last answer.
const SILENT: Duration = Duration::from_secs(1);

/// The answers of one origin to the Interests sent last.
#[derive(Clone, Copy, Debug)]
struct Answers {
    origin: Origin,
    answered_at: Time,
    /// Order number and round-trip time of the answered Interest that was sent last.
    newest: (u64, Duration),
    /// Order numbers of the three answered Interests that were sent last, ascending.
    three: [Option<u64>; 3],
}

/// Evidence about an Interest: answers to Interests that were sent later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passed {
    /// The longest round trip of an origin that answers at present.
    pub after: Duration,
    /// One origin has answered three or more Interests that were sent later.
    pub thrice: bool,
}

/// The time by which other answers come later, as the path has reported it ([`RttSpread`]).
#[derive(Clone, Copy, Debug)]
struct ReportedSpread {
    at: Time,
    spread: Duration,
    /// The round trip of the Data that reported it, and the spread.
    longest: Duration,
}

/// The longest spread that is accepted. A path over two satellites takes about 1.2 s longer than
/// one without.
const LONGEST_SPREAD: Duration = Duration::from_millis(1500);

/// The origins that answer in one lane.
#[derive(Debug, Default)]
pub struct Origins {
    known: Vec<Answers>,
    reported: Option<ReportedSpread>,
}

impl Origins {
    /// Data that came at `now` after `rtt` tells the spread of the paths.
    pub fn on_spread(&mut self, now: Time, rtt: Duration, spread: RttSpread) {
        let spread = Duration(spread.0).min(LONGEST_SPREAD);
        if spread > Duration::ZERO {
            self.reported = Some(ReportedSpread { at: now, spread, longest: rtt + spread });
        }
    }

    /// The spread of the paths, if Data have reported it of late.
    #[must_use]
    pub fn spread(&self, now: Time) -> Duration {
        let recent = self
            .reported
            .filter(|reported| now.since(reported.at) <= Duration(2 * reported.longest.0) + SILENT);
        recent.map_or(Duration::ZERO, |reported| reported.spread)
    }

    /// Records an answer of `origin` at `now`, after `rtt`, to the Interest with number `order`.
    pub fn answered(&mut self, now: Time, origin: Origin, order: u64, rtt: Duration) {
        if self.known.iter().all(|answers| answers.origin != origin) {
            self.known.retain(|answers| answers.answers_at(now));
            if self.known.len() >= MOST {
                self.merge();
            }
        }
        let Some(answers) = self.known.iter_mut().find(|answers| answers.origin == origin) else {
            let three = [None, None, Some(order)];
            self.known.push(Answers { origin, answered_at: now, newest: (order, rtt), three });
            return;
        };
        answers.answered_at = now;
        if answers.newest.0 < order {
            answers.newest = (order, rtt);
        }
        if answers.three[0] < Some(order) {
            answers.three[0] = Some(order);
            answers.three.sort_unstable();
        }
    }

    /// The evidence about the Interest with number `order`; `None` if no later one was answered.
    #[must_use]
    pub fn passed(&self, order: u64) -> Option<Passed> {
        if self.known.iter().all(|answers| answers.newest.0 <= order) {
            return None;
        }
        let after = self.longest()?;
        let thrice = self.known.iter().any(|answers| answers.three[0] > Some(order));
        Some(Passed { after, thrice })
    }

    /// The longest round trip of an origin that answers at present.
    #[must_use]
    pub fn longest(&self) -> Option<Duration> {
        let now = self.known.iter().map(|answers| answers.answered_at).max()?;
        let present = self.known.iter().filter(|answers| answers.answers_at(now));
        let reported = self.reported.filter(|_| self.spread(now) > Duration::ZERO);
        let known = present.map(|answers| answers.newest.1).max();
        known.max(reported.map(|reported| reported.longest))
    }

    /// Merges all origins into one without an identifier.
    fn merge(&mut self) {
        let Some(newest) = self.known.iter().copied().max_by_key(|answers| answers.newest.0) else {
            return;
        };
        self.known.clear();
        self.known.push(Answers { origin: None, ..newest });
    }
}

impl Answers {
    fn answers_at(&self, now: Time) -> bool {
        now.since(self.answered_at) <= Duration(self.newest.1.0.saturating_mul(2)) + SILENT
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(n: u64) -> Duration {
        Duration::from_millis(n)
    }

    fn at(n: u64) -> Time {
        Time::ZERO + ms(n)
    }

    #[test]
    fn an_interest_is_passed_by_answers_to_later_ones() {
        let mut origins = Origins::default();
        assert_eq!(origins.passed(0), None);
        origins.answered(at(10), None, 3, ms(10));
        assert_eq!(origins.passed(3), None, "itself");
        assert_eq!(origins.passed(2), Some(Passed { after: ms(10), thrice: false }));
        origins.answered(at(11), None, 4, ms(9));
        origins.answered(at(12), None, 5, ms(8));
        assert_eq!(origins.passed(2), Some(Passed { after: ms(8), thrice: true }));
        origins.answered(at(13), None, 1, ms(13));
        assert_eq!(origins.passed(2), Some(Passed { after: ms(8), thrice: true }), "an older one");
    }

    #[test]
    fn each_origin_has_an_order_of_its_own_and_the_longest_round_trip_counts() {
        let mut origins = Origins::default();
        origins.answered(at(100), Some(1), 0, ms(100));
        for order in 5..8 {
            origins.answered(at(100 + order), Some(2), order, ms(10));
        }
        assert_eq!(origins.passed(4), Some(Passed { after: ms(100), thrice: true }));
        // After two of its round trips and a second without an answer, the far origin is ignored.
        origins.answered(at(1300), Some(2), 8, ms(10));
        assert_eq!(origins.passed(4).map(|passed| passed.after), Some(ms(100)));
        origins.answered(at(1301), Some(2), 9, ms(10));
        assert_eq!(origins.passed(4).map(|passed| passed.after), Some(ms(10)));
    }

    #[test]
    fn reported_spreads_expire_and_are_bounded() {
        let mut origins = Origins::default();
        origins.answered(at(10), None, 5, ms(10));
        origins.on_spread(at(10), ms(10), RttSpread(590_000_000));
        assert_eq!(origins.passed(4), Some(Passed { after: ms(600), thrice: false }));
        assert_eq!(origins.spread(at(2210)), ms(590));
        assert_eq!(origins.spread(at(2211)), ms(0), "two round trips and a second later");
        origins.on_spread(at(20), ms(10), RttSpread(u64::MAX));
        assert_eq!(origins.longest(), Some(LONGEST_SPREAD + ms(10)));
        origins.answered(at(5000), None, 6, ms(10));
        assert_eq!(origins.longest(), Some(ms(10)));
    }

    #[test]
    fn a_new_name_with_each_answer_takes_no_more_memory() {
        let mut origins = Origins::default();
        for n in 0..1000 {
            origins.answered(at(n), Some(n), n, ms(10));
            assert!(origins.known.len() <= MOST);
        }
        assert!(origins.passed(0).is_some());
    }

    #[test]
    fn paths_and_nodes_are_distinguished() {
        let of = |node, hops, path| {
            let mut options = HopOptions::new();
            options.set(&ServedBy { node, hops });
            options.set(&PathId(path));
            origin(&options)
        };
        let all = [of(1, 1, 1), of(2, 1, 1), of(1, 2, 1), of(1, 1, 2)];
        assert!((1..4).all(|n| all[..n].iter().all(|other| *other != all[n])), "{all:?}");
        assert_eq!(origin(&HopOptions::new()), None);
    }
}
