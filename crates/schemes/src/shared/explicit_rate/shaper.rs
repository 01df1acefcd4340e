//! The Interest shaper of a link: Interests that wait for Data's bandwidth, the primary class
//! first.
//!
//! The paper assumes a shaper "e.g. as described in" Wang and others, 2013 (`his.rs`), and adds two
//! requirements (sections 3.1 and 4.2): Interests without room get Nacks, and queued secondary
//! Interests make room for new primary ones. This one books for each Interest the time that its
//! Data will take of the link's other direction, less the time that the neighbour's Interests take
//! of it. On symmetric links that is the closed form of Wang and others: r c / (r + 1) of Data with
//! both directions busy, all of c with one. It holds no Interest longer than `wait`: a Nack informs
//! its consumer of the rate at once, and a longer wait behind the primary class would end in a
//! timeout.

use crate::shared::link::neighbour::Neighbour;
use crate::shared::link::wakeup::MAX_LATENESS;
use control::{
    Crossing, Cx, Duration, InterestMeta, LinkView, Offer, ParamSpec, Params, Rate, Released,
    Shaper, Size, Stage, Time, Value,
};
use packet::options::TrafficClass;
use std::collections::VecDeque;

/// The rate of the link, where it does not know its own.
pub(crate) const CAPACITY: ParamSpec = ParamSpec {
    name: "capacity",
    default: Value::Rate(Rate(0)),
    range: (0.0, 1e15),
    help: "the rate at which the link brings Data (C), unless the link reports it; 0: unknown",
    source: "own: a tunnel or radio link does not report it",
};

/// h.
pub(crate) const HEADROOM: ParamSpec = ParamSpec {
    name: "h",
    default: Value::Number(1.0),
    range: (0.1, 1.0),
    help: "share of the link that the shaper lets Interests ask for; more than the rates fill",
    source: "both classes of MIRCC fill 0.9975; Wang and others, 2013, have 0.98",
};

/// The bound of the queue.
pub(crate) const MOST_HELD: ParamSpec = ParamSpec {
    name: "held",
    default: Value::Number(100.0),
    range: (1.0, 10_000.0),
    help: "Interests that the shaper holds",
    source: "Wang and others, 2013: `MaxInterest`",
};

/// The bound of the wait.
pub(crate) const LONGEST_WAIT: ParamSpec = ParamSpec {
    name: "wait",
    default: Value::Time(Duration::from_millis(100)),
    range: (1e-3, 60.0),
    help: "the longest that Interests are held, and the Data that those held are to bring may take",
    source: "own: a rejection tells the rate at once, what waits tells it when its Data comes",
};

/// A link is never booked for longer than this.
const LONGEST: Duration = Duration::from_secs(600);

/// See the module.
pub(crate) struct PrimaryFirst {
    headroom: f64,
    fallback: f64,
    most: usize,
    longest: Duration,
    /// With the instants at which they came.
    queues: [VecDeque<(Time, InterestMeta)>; 2],
    /// Secondary Interests that made room.
    evicted: VecDeque<InterestMeta>,
    /// When the link has brought what was booked.
    free_at: Time,
    neighbour: Neighbour,
    /// The rate was unknown when the last Interest was offered.
    unknown: bool,
}

impl PrimaryFirst {
    pub(crate) fn new(params: &Params) -> PrimaryFirst {
        PrimaryFirst {
            headroom: params.number("h"),
            fallback: params.rate("capacity").0 as f64,
            most: params.number("held") as usize,
            longest: params.time("wait"),
            queues: Default::default(),
            evicted: VecDeque::new(),
            free_at: Time::ZERO,
            neighbour: Neighbour::default(),
            unknown: false,
        }
    }

    /// The rate of Data that may be asked for; `None` if the link's is unknown.
    fn budget(&mut self, now: Time, view: &LinkView) -> Option<Rate> {
        let neighbour = self.neighbour.rate(now);
        let known = view.rate_in.0 as f64;
        let capacity = if known > 0.0 { known } else { self.fallback };
        if capacity <= 0.0 {
            return None;
        }
        // The neighbour does not starve us, whatever it asks for.
        let left = (capacity - neighbour).max(capacity / 16.0);
        Some(Rate((self.headroom * left).max(1.0) as u64))
    }

    fn held(&self) -> usize {
        self.queues[0].len() + self.queues[1].len()
    }

    /// An Interest that was held for too long: one of the secondary class, while the primary goes
    /// first.
    fn take_overdue(&mut self, now: Time) -> Option<InterestMeta> {
        for queue in &mut self.queues {
            if let Some((came, interest)) = queue.front()
                && now.since(*came) >= self.longest
                && interest.expires > now
            {
                return queue.pop_front().map(|(_, interest)| interest);
            }
        }
        None
    }

    /// Books the time for what an Interest will bring, from `earliest` on.
    fn book(&mut self, earliest: Time, rate: Rate, expected: Size) {
        self.free_at = self.free_at.max(earliest) + rate.time_for(expected);
    }

    /// True if the link is free. A clock that went back frees it: no requested Data takes longer
    /// than [`LONGEST`].
    fn is_free(&mut self, now: Time) -> bool {
        if self.free_at > now + LONGEST {
            self.free_at = now;
        }
        self.free_at <= now
    }
}

impl Shaper for PrimaryFirst {
    fn stage(&self) -> Stage {
        Stage::Departure
    }

    fn offer(
        &mut self,
        cx: &mut Cx<'_>,
        view: &LinkView,
        _other: &LinkView,
        interest: InterestMeta,
    ) -> Offer {
        let Some(rate) = self.budget(cx.now, view) else {
            self.unknown = true;
            return Offer::Pass(interest);
        };
        self.unknown = false;
        let is_free = self.is_free(cx.now);
        if self.held() == 0 && is_free {
            self.book(cx.now, rate, interest.expected);
            return Offer::Pass(interest);
        }
        let class = interest.options.get::<TrafficClass>().unwrap_or_default();
        let class = usize::from(class == TrafficClass::Secondary);
        let wait = rate.time_for(view.held.bytes);
        if self.held() >= self.most || self.held() > 0 && wait >= self.longest {
            // The latest of the secondary class makes room for a primary one.
            let evicted = if class == 0 { self.queues[1].pop_back() } else { None };
            let Some((_, evicted)) = evicted else { return Offer::Rejected(interest) };
            self.evicted.push_back(evicted);
        }
        self.queues[class].push_back((cx.now, interest));
        Offer::Held
    }

    fn release(&mut self, cx: &mut Cx<'_>, view: &LinkView) -> Option<Released> {
        if let Some(evicted) = self.evicted.pop_front() {
            return Some(Released::Rejected(evicted));
        }
        if let Some(late) = self.take_overdue(cx.now) {
            return Some(Released::Rejected(late));
        }
        let rate = self.budget(cx.now, view);
        let is_free = self.is_free(cx.now) || self.unknown || rate.is_none();
        let (_, interest) = self.queues.iter().find_map(VecDeque::front)?;
        // The host drops expired Interests, which book nothing.
        let is_over = interest.expires <= cx.now;
        if !is_free && !is_over {
            return None;
        }
        let (_, interest) = self.queues.iter_mut().find_map(VecDeque::pop_front)?;
        if let Some(rate) = rate.filter(|_| !is_over) {
            self.book(cx.now - MAX_LATENESS, rate, interest.expected);
        }
        Some(Released::Pass(interest))
    }

    fn next_release(&self) -> Option<Time> {
        if !self.evicted.is_empty() {
            return Some(Time::ZERO);
        }
        let first = self.queues.iter().filter_map(|queue| queue.front());
        let late = first.map(|(came, _)| *came + self.longest).min()?;
        Some(self.free_at.min(late))
    }

    fn on_crossing(&mut self, _cx: &mut Cx<'_>, _view: &LinkView, crossing: &Crossing<'_>) {
        self.neighbour.on_crossing(crossing);
    }
}

#[cfg(test)]
mod tests;
