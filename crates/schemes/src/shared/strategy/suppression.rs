//! Suppression of Interests for pending names: the time after which one is forwarded again.
//!
//! NFD's `RetxSuppressionExponential` forwards an Interest for a pending name when an interval has
//! passed since it was last forwarded; each forwarding doubles the interval up to a limit. NFD
//! ignores the Interest's origin (NDN-0021, 5.2.1). On a path of 40 ms this sends nearly every
//! Interest of a second consumer upstream if it is more than 10 ms behind the first one, though the
//! Data is on its way.
//!
//! So the interval is at least the measured round trip, by FIB entry and next hop:
//!
//! - An Interest of a downstream that has asked before is a retransmission. It is suppressed for
//!   the smallest round trip, before which no answer can have been missed. Losses found by a gap or
//!   a timeout take longer, so that this delays no recovery.
//! - An Interest of another downstream is aggregated until the Data is overdue: SRTT + 4 RTTVAR
//!   (RFC 6298) have passed, and an Interest that left later was answered (RFC 8985), or none was
//!   for twice that time. RFC 8569, section 2.4.2, makes the same distinction. If the Data was
//!   lost, the downstream's own retransmission is forwarded. An Interest may bring nothing: with a
//!   smaller hop limit, or a lifetime below that time, it does not delay others. Otherwise one
//!   downstream could request first, in vain, everything that another one is about to request.
//!
//! One new Interest for each round trip and FIB entry is timed, as RFC 6298's gains require. If a
//! next hop gets it again, its time counts from the first: too long a time suppresses an Interest
//! of another downstream, and none at all would let every timed Interest be forwarded again. If it
//! is not answered within twice SRTT + 4 RTTVAR, another one is timed, and that time doubles until
//! one is answered. Without a measurement only NFD's law applies.
//!
//! The state of a PIT entry lives in the first word of the strategy's note, see [`Noted`].

use control::{Duration, ParamSpec, Params, RttEstimate, StrategyCx, Time, Upstream, Value};
use std::collections::BTreeMap;

/// The parameters, for the tables of the strategies that use it.
pub(crate) const PARAMS: &[ParamSpec] = &[
    ParamSpec {
        name: "suppression_initial",
        default: Value::Time(Duration::from_millis(10)),
        range: (1e-6, 60.0),
        help: "how long retransmissions of an Interest are suppressed at first, at least; no \
               shorter than the round trip, where it is known",
        source: "NFD, `RetxSuppressionExponential::DEFAULT_INITIAL_INTERVAL`",
    },
    ParamSpec {
        name: "suppression_max",
        default: Value::Time(Duration::from_millis(250)),
        range: (1e-6, 60.0),
        help: "the longest suppression, unless the round trip is longer",
        source: "NFD, `RetxSuppressionExponential::DEFAULT_MAX_INTERVAL`",
    },
    ParamSpec {
        name: "suppression_multiplier",
        default: Value::Number(2.0),
        range: (1.0, 100.0),
        help: "factor of the suppression after each retransmission that was forwarded",
        source: "NFD, `RetxSuppressionExponential::DEFAULT_MULTIPLIER`",
    },
];

/// FIB entries whose round trips are known. Beyond them all are measured again.
const MOST_PREFIXES: usize = 1024;
/// Next hops of each; a further one takes the place of the first.
const MOST_WAYS: usize = 16;
/// The time after which a timed Interest without an answer does not keep others from being timed.
const LONGEST_TIMED: Duration = Duration::from_secs(1);

/// See the module.
#[derive(Debug)]
pub(crate) struct Suppression {
    initial: Duration,
    max: Duration,
    multiplier: f64,
    /// By the bytes of the FIB entry's prefix.
    trips: BTreeMap<Vec<u8>, Trips>,
}

/// The round trips below a FIB entry.
#[derive(Debug, Default)]
struct Trips {
    /// When the Interest came that is timed, if one is.
    timed_at: Option<Time>,
    /// Its number, which is in its note.
    number: u8,
    ways: Vec<Trip>,
}

impl Trips {
    /// The number of an Interest that comes now, if it is to be timed; 0 if not.
    fn time(&mut self, now: Time) -> u8 {
        let longest = self.ways.iter().map(|trip| trip.timeout().0.saturating_mul(2)).max();
        let longest = longest.map_or(LONGEST_TIMED, Duration);
        if let Some(at) = self.timed_at {
            if now.since(at) < longest {
                return 0;
            }
            // Its Data may only take longer than any did before (RFC 6298, 5.5): the next one has
            // twice the time, or none would ever be a sample.
            self.ways.iter_mut().for_each(|trip| trip.estimate.back_off());
        }
        self.timed_at = Some(now);
        self.number = self.number % u8::MAX + 1;
        self.number
    }
}

/// The round trip by a next hop.
#[derive(Debug)]
struct Trip {
    face: u64,
    estimate: RttEstimate,
    /// When the Interest left that was timed last, and when its Data came.
    left_at: Time,
    came_at: Time,
}

impl Trip {
    fn timeout(&self) -> Duration {
        self.estimate.rto_from(Duration::ZERO, Duration::ZERO)
    }

    /// The round trip may take longer than the lifetime of what left: nodes further up may have
    /// forgotten it before the Data come.
    fn outlives(&self, left: &Upstream) -> bool {
        left.expires < left.released_at + self.timeout()
    }

    /// Data for what left at `left_at` may still be in a queue that grows: Data come, and none for
    /// what left later.
    fn is_on_its_way(&self, now: Time, left_at: Time) -> bool {
        let silence = Duration(self.timeout().0.saturating_mul(2));
        left_at > self.left_at && now.since(self.came_at) < silence
    }
}

/// The first word of a note, of which this uses 48 bits; the rest belongs to `silence.rs`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Noted {
    /// Retransmissions that were forwarded.
    again: u8,
    /// The number under which the Interest is timed; 0 if it is not.
    timed: u8,
    /// Components of the FIB entry.
    prefix: u16,
    /// Downstreams, when an Interest came last: one that is new makes them more.
    downstreams: u16,
}

const OWN: u64 = (1 << 48) - 1;

impl Noted {
    fn of(note: &[u64; 2]) -> Noted {
        let word = note[0];
        let (again, timed) = (word as u8, (word >> 8) as u8);
        Noted { again, timed, prefix: (word >> 16) as u16, downstreams: (word >> 32) as u16 }
    }

    fn keep(self, note: &mut [u64; 2]) {
        let own = u64::from(self.downstreams) << 32
            | u64::from(self.prefix) << 16
            | u64::from(self.timed) << 8
            | u64::from(self.again);
        note[0] = note[0] & !OWN | own;
    }

    /// Counts the downstreams; says whether the one that an Interest came from had asked before.
    fn count(&mut self, s: &StrategyCx<'_, '_>) -> bool {
        let now = u16::try_from(s.downstreams.len()).unwrap_or(u16::MAX);
        std::mem::replace(&mut self.downstreams, now) >= now
    }
}

impl Suppression {
    pub(crate) fn new(params: &Params) -> Suppression {
        let initial = params.time("suppression_initial");
        Suppression {
            initial,
            max: params.time("suppression_max").max(initial),
            multiplier: params.number("suppression_multiplier"),
            trips: BTreeMap::new(),
        }
    }

    /// The Interest is forwarded as a new one.
    pub(crate) fn begin(&mut self, s: &mut StrategyCx<'_, '_>) {
        let (now, prefix) = (s.cx.now, s.prefix.min(usize::from(u16::MAX)));
        let key = s.name.prefix(prefix).as_bytes();
        let trips = match self.trips.get_mut(key) {
            Some(trips) => trips,
            None => {
                if self.trips.len() >= MOST_PREFIXES {
                    self.trips.clear();
                }
                self.trips.entry(key.to_vec()).or_default()
            }
        };
        let timed = trips.time(now);
        let mut noted = Noted { prefix: prefix as u16, timed, ..Noted::default() };
        noted.count(s);
        noted.keep(s.note);
    }

    /// An Interest has come for one that was last forwarded to `last`: must it wait?
    pub(crate) fn holds(&self, s: &mut StrategyCx<'_, '_>, last: &Upstream) -> bool {
        let is_repeated = Suppression::is_repeated(s);
        self.holds_at(s, last, is_repeated)
    }

    /// The downstream of an Interest that has come had asked before. To be called once for each.
    pub(crate) fn is_repeated(s: &mut StrategyCx<'_, '_>) -> bool {
        let mut noted = Noted::of(s.note);
        let is_repeated = noted.count(s);
        noted.keep(s.note);
        is_repeated
    }

    /// The same as [`Suppression::holds`] for one of several upstreams.
    pub(crate) fn holds_at(
        &self,
        s: &StrategyCx<'_, '_>,
        last: &Upstream,
        is_repeated: bool,
    ) -> bool {
        let (now, noted) = (s.cx.now, Noted::of(s.note));
        let age = now.since(last.released_at);
        if age < self.interval(noted) {
            return true;
        }
        let trips = self.trips.get(s.name.prefix(usize::from(noted.prefix)).as_bytes());
        let trip = trips.and_then(|trips| trips.ways.iter().find(|trip| trip.face == last.face));
        trip.is_some_and(|trip| match is_repeated {
            _ if last.falls_short => false,
            true => age < trip.estimate.min().unwrap_or_default(),
            false if trip.outlives(last) => false,
            false => age < trip.timeout() || trip.is_on_its_way(now, last.released_at),
        })
    }

    /// No retransmission was forwarded yet.
    pub(crate) fn is_first(s: &StrategyCx<'_, '_>) -> bool {
        Noted::of(s.note).again == 0
    }

    /// A retransmission is forwarded: the next one has to wait longer.
    pub(crate) fn lengthen(&self, s: &mut StrategyCx<'_, '_>) {
        let mut noted = Noted::of(s.note);
        noted.again = noted.again.saturating_add(1);
        noted.keep(s.note);
    }

    /// Data have come for the Interest.
    pub(crate) fn answered(&mut self, s: &mut StrategyCx<'_, '_>) {
        let noted = Noted::of(s.note);
        if noted.timed == 0 {
            return;
        }
        Noted { timed: 0, ..noted }.keep(s.note);
        let key = s.name.prefix(usize::from(noted.prefix)).as_bytes();
        let trips = self.trips.get_mut(key).filter(|trips| trips.number == noted.timed);
        let Some((trips, upstream)) = trips.zip(s.upstream(s.ingress)) else { return };
        let Some(first) = trips.timed_at.take() else { return };
        let (now, face) = (s.cx.now, upstream.face);
        // As many as were asked were asked once each.
        let once = s.upstreams.len() > usize::from(noted.again);
        let left_at = if once { upstream.released_at } else { first };
        let place = trips.ways.iter().position(|trip| trip.face == face).unwrap_or_else(|| {
            if trips.ways.len() >= MOST_WAYS {
                trips.ways.remove(0);
            }
            trips.ways.push(Trip { face, estimate: RttEstimate::new(), left_at, came_at: now });
            trips.ways.len() - 1
        });
        let Some(trip) = trips.ways.get_mut(place) else { return };
        trip.estimate.sample(now.since(left_at));
        (trip.left_at, trip.came_at) = (left_at, now);
    }

    /// NFD's law.
    fn interval(&self, noted: Noted) -> Duration {
        let factor = control::math::pow(self.multiplier, f64::from(noted.again));
        self.initial.mul_f64(factor).min(self.max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shared::strategy::attempts::latest;
    use crate::testing::Pending;
    use control::{Action, NextHop, Strategy};
    use std::collections::VecDeque;

    /// Forwards to the cheapest next hop what is not suppressed.
    struct Simple(Suppression);

    impl Strategy for Simple {
        fn on_interest(&mut self, s: &mut StrategyCx<'_, '_>) {
            match latest(s) {
                None => self.0.begin(s),
                Some(last) if self.0.holds(s, &last) => return,
                Some(_) => self.0.lengthen(s),
            }
            s.out.extend(s.next_hops.first().map(|hop| Action::Forward(hop.face)));
        }

        fn on_data(&mut self, s: &mut StrategyCx<'_, '_>) {
            self.0.answered(s);
        }
    }

    fn simple() -> (Simple, Pending) {
        (Simple(Suppression::new(&Params::defaults(PARAMS))), Pending::with(&[(5, 1)]))
    }

    fn ms(n: u64) -> Duration {
        Duration::from_millis(n)
    }

    /// An Interest of this downstream is suppressed a nanosecond before `after` has passed since
    /// the latest forwarding, and one of a similar downstream is forwarded then.
    fn passes_after(strategy: &mut Simple, entry: &mut Pending, face: u64, after: Duration) {
        let forwarded = entry.now;
        entry.now = forwarded + Duration(after.0 - 1);
        let (before, asked) = (entry.downstreams.len(), face);
        assert_eq!(entry.interest(strategy, face), [], "{after} less a nanosecond");
        let is_new = entry.downstreams.len() > before;
        let face = if is_new { asked + 100 } else { asked };
        entry.now = forwarded + after;
        assert_eq!(entry.interest(strategy, face), [Action::Forward(5)], "{after}");
    }

    #[test]
    fn without_a_measurement_the_interval_doubles_up_to_its_bound() {
        let (mut strategy, mut entry) = simple();
        assert_eq!(entry.interest(&mut strategy, 1), [Action::Forward(5)]);
        for wait in [10, 20, 40, 80, 160, 250, 250] {
            passes_after(&mut strategy, &mut entry, 1, ms(wait));
        }
        entry.renew();
        assert_eq!(entry.interest(&mut strategy, 1), [Action::Forward(5)]);
        passes_after(&mut strategy, &mut entry, 2, ms(10));
    }

    /// One exchange with this round trip.
    fn exchange(strategy: &mut Simple, entry: &mut Pending, trip: Duration) {
        entry.renew();
        assert_eq!(entry.interest(strategy, 1), [Action::Forward(5)]);
        entry.now += trip;
        entry.data(strategy, 5);
        entry.renew();
    }

    #[test]
    fn a_retransmission_waits_for_the_smallest_round_trip() {
        let (mut strategy, mut entry) = simple();
        exchange(&mut strategy, &mut entry, ms(400));
        exchange(&mut strategy, &mut entry, ms(800));
        assert_eq!(entry.interest(&mut strategy, 1), [Action::Forward(5)]);
        // The second time NFD's 20 ms are less as well.
        passes_after(&mut strategy, &mut entry, 1, ms(400));
        passes_after(&mut strategy, &mut entry, 1, ms(400));
    }

    #[test]
    fn round_trips_that_have_grown_twentyfold_are_measured() {
        let (mut strategy, mut entry) = simple();
        exchange(&mut strategy, &mut entry, ms(10));
        // From now on an Interest leaves each 5 ms, and its Data takes 200 ms.
        let mut pending = VecDeque::new();
        for n in 0..400 {
            let mut next = Pending::with(&[(5, 1)]);
            next.now = entry.now + ms(5 * n);
            assert_eq!(next.interest(&mut strategy, 1), [Action::Forward(5)]);
            pending.push_back(next);
            if pending.len() > 40
                && let Some(mut first) = pending.pop_front()
            {
                first.now += ms(200);
                first.data(&mut strategy, 5);
            }
        }
        let mut last = pending.pop_back().unwrap();
        last.now += ms(199);
        assert_eq!(last.interest(&mut strategy, 2), [], "its Data is on its way");
    }

    #[test]
    fn another_downstream_waits_until_nothing_has_come_for_two_timeouts() {
        let (mut strategy, mut entry) = simple();
        exchange(&mut strategy, &mut entry, ms(400));
        exchange(&mut strategy, &mut entry, ms(800));
        // RFC 6298, worked out in `rtt.rs`: SRTT 450 ms, RTTVAR 250 ms, the timeout 1450 ms.
        assert_eq!(entry.interest(&mut strategy, 1), [Action::Forward(5)]);
        passes_after(&mut strategy, &mut entry, 2, ms(2900));
    }

    #[test]
    fn another_downstream_waits_for_the_timeout_where_later_interests_are_answered() {
        let (mut strategy, mut first) = simple();
        let mut lost = Pending::with(&[(5, 1)]);
        assert_eq!(first.interest(&mut strategy, 1), [Action::Forward(5)]);
        lost.now += ms(1);
        assert_eq!(lost.interest(&mut strategy, 1), [Action::Forward(5)]);
        first.now += ms(100);
        first.data(&mut strategy, 5);
        first.now += ms(1);
        exchange(&mut strategy, &mut first, ms(100));
        // SRTT 100 ms; RTTVAR 50 ms, and three quarters of that: 100 + 4 * 37.5.
        passes_after(&mut strategy, &mut lost, 2, ms(250));
    }

    #[test]
    fn after_an_insufficient_interest_another_downstream_waits_only_the_first_interval() {
        type Spoil = fn(&mut Upstream);
        let short: Spoil = |left| left.falls_short = true;
        // The timeout after one exchange of 400 ms is 400 + 4 * 200 ms.
        let brief: Spoil = |left| left.expires = left.released_at + ms(1199);
        let enough: Spoil = |left| left.expires = left.released_at + ms(1200);
        for (spoil, wait) in [(short, 10), (brief, 10), (enough, 2400)] {
            let (mut strategy, mut entry) = simple();
            exchange(&mut strategy, &mut entry, ms(400));
            assert_eq!(entry.interest(&mut strategy, 1), [Action::Forward(5)]);
            entry.upstreams.iter_mut().for_each(spoil);
            passes_after(&mut strategy, &mut entry, 2, ms(wait));
        }
    }

    #[test]
    fn after_an_insufficient_interest_a_retransmission_waits_only_the_first_interval() {
        for (short, wait) in [(false, 400), (true, 10)] {
            let (mut strategy, mut entry) = simple();
            exchange(&mut strategy, &mut entry, ms(400));
            assert_eq!(entry.interest(&mut strategy, 1), [Action::Forward(5)]);
            entry.upstreams.iter_mut().for_each(|left| left.falls_short = short);
            passes_after(&mut strategy, &mut entry, 1, ms(wait));
        }
    }

    #[test]
    fn a_short_round_trip_leaves_the_doubling() {
        let (mut strategy, mut entry) = simple();
        exchange(&mut strategy, &mut entry, ms(1));
        assert_eq!(entry.interest(&mut strategy, 1), [Action::Forward(5)]);
        for wait in [10, 20, 40] {
            passes_after(&mut strategy, &mut entry, 1, ms(wait));
        }
    }

    #[test]
    fn round_trips_are_those_of_a_prefix_and_a_next_hop() {
        let (mut strategy, mut entry) = simple();
        exchange(&mut strategy, &mut entry, ms(100));
        entry.name = "/b".parse().unwrap();
        assert_eq!(entry.interest(&mut strategy, 1), [Action::Forward(5)]);
        passes_after(&mut strategy, &mut entry, 1, ms(10));
        entry.renew();
        entry.name = "/a".parse().unwrap();
        entry.hops = vec![NextHop { face: 6, cost: 1 }];
        assert_eq!(entry.interest(&mut strategy, 1), [Action::Forward(6)]);
        entry.now += ms(10);
        assert_eq!(entry.interest(&mut strategy, 1), [Action::Forward(6)]);
    }

    #[test]
    fn retransmitted_interests_are_timed_from_the_first() {
        let (mut strategy, mut entry) = simple();
        assert_eq!(entry.interest(&mut strategy, 1), [Action::Forward(5)]);
        passes_after(&mut strategy, &mut entry, 1, ms(10));
        entry.now += ms(290);
        entry.data(&mut strategy, 5);
        entry.renew();
        assert_eq!(entry.interest(&mut strategy, 1), [Action::Forward(5)]);
        passes_after(&mut strategy, &mut entry, 1, ms(300));
    }

    #[test]
    fn prefixes_are_bounded() {
        let (mut strategy, mut entry) = simple();
        for n in 0..3 * MOST_PREFIXES {
            entry.renew();
            entry.name = format!("/{n}").parse().unwrap();
            entry.interest(&mut strategy, 1);
            assert!(strategy.0.trips.len() <= MOST_PREFIXES);
        }
    }
}
