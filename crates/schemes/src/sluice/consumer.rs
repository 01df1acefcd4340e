//! The consumer: the pace that links offer; the model of the path where they offer none.
//!
//! The model (`bbr.rs`) takes part in every transfer, so that it is ready when it is needed:
//!
//! - before the first offer has come, and when none has come for four round trips;
//! - beside offers, before the spacing of the first Data has shown the rate of the path;
//! - beside offers, if they prove too high (`doubt.rs`).

use super::doubt::{Doubt, Seen};
use super::lanes::Lanes;
use control::{
    Arrival, Ask, Came, Cause, Controller, Cx, Duration, Lane, Loss, MAX_RATE, MAX_WINDOW, Params,
    PathEstimate, Permit, Rate, Round, Rounds, RttEstimate, Sent, Size, Ticket, Time,
};
use packet::options::{ExpectedBytes, Offers, RttHint};

/// Interests may leave this far ahead of their pace, so that a driver need not wake for each.
const BURST: Duration = Duration::from_micros(500);

/// However low the offers are, one Interest leaves in two round trips, and one in this time, so
/// that better ones can come.
const LONGEST_GAP: Duration = Duration::from_secs(1);
const GAP_ROUNDS: f64 = 2.0;

/// Offers count for this number of round trips after the last one: the answer to the next Interest
/// is here by then.
const PATIENCE_ROUNDS: f64 = 4.0;

/// Data that may be in flight beyond the pipe, in time: shapers hold Interests for this time.
const HELD: Duration = Duration::from_millis(100);

/// Segments that may be in flight beyond all products.
const SPARE: f64 = 4.0;

/// The limit of segments in flight, however high the offers: a fixed number, and this number for
/// each Data of this round trip of the longest path and of the one before. A false offer causes no
/// flood, and an honest one is used in full after some round trips.
const FIRST_FLIGHT: f64 = 64.0;
const GROWTH: f64 = 4.0;

/// The number of first Interests that state the round trip. Later, one of this number states it,
/// and at least one in each round trip. Links use the mean. If few of the first Interests stated
/// it, offers to a path of a second were too low for many round trips.
const FIRST_HINTS: u32 = 64;
const HINT_EACH: u32 = 8;

/// The age at which the smallest round trip is forgotten.
const RTT_MIN_AGE: Duration = Duration::from_secs(10);

/// The number of last round trips of which a window uses the smallest. With more, a near store that
/// had the first segments would make the window too small for the others.
const RECENT: usize = 4;

/// Segments that may be in flight at any rate ([`FIRST_FLIGHT`]).
#[derive(Default)]
struct Limit {
    /// Data of this round trip of the longest path and of the one before, and when it began.
    came: [u32; 2],
    since: Time,
}

impl Limit {
    /// Data has come; the longest path has this round trip.
    fn count(&mut self, now: Time, longest: Duration) {
        if now.since(self.since) > longest {
            (self.came, self.since) = ([0, self.came[0]], now);
        }
        self.came[0] = self.came[0].saturating_add(1);
    }

    fn segments(&self) -> f64 {
        FIRST_FLIGHT + GROWTH * f64::from(self.came[0].saturating_add(self.came[1]))
    }
}

/// The Interests that state the round trip.
#[derive(Default)]
struct Hints {
    /// Those that did, up to [`FIRST_HINTS`]; the others since the last one, and its time.
    first: u32,
    others: u32,
    at: Time,
}

impl Hints {
    /// True if the Interest that leaves now is one of them.
    fn is_due(&mut self, now: Time, srtt: Duration) -> bool {
        self.others += 1;
        let is_first = self.first < FIRST_HINTS;
        let is_due = is_first || self.others >= HINT_EACH || now.since(self.at) >= srtt;
        if is_due {
            (self.others, self.at) = (0, now);
            self.first += u32::from(is_first);
        }
        is_due
    }
}

/// See the module.
pub(super) struct Consumer {
    model: Box<dyn Controller>,
    lanes: Lanes,
    rtt: RttEstimate,
    /// The smallest round trip, and when it was seen.
    rtt_min: (Duration, Time),
    /// The smallest of each of the last round trips, the latest first.
    recent: [Duration; RECENT],
    /// See [`control::InFlight::spread`].
    spread: Duration,
    rounds: Rounds,
    limit: Limit,
    doubt: Doubt,
    /// The time and the size of the last request. The next Interest leaves when Data of this size
    /// have passed at the rate.
    last: (Time, Size),
    /// The time of the last Interest that did not state a size, and the largest size expected of
    /// such Interests. Links book a guess, so Data that are smaller come a longer time apart than
    /// the link requires.
    guessed: (Time, Size),
    hints: Hints,
    /// The size of the last Data.
    size: Size,
    /// When Data came last.
    received_at: Time,
}

impl Consumer {
    pub(super) fn new(_params: &Params) -> Consumer {
        let model = crate::bbr::SCHEME;
        let make = model.controller.expect("it has a controller");
        Consumer {
            model: make(&Params::defaults(model.params)),
            lanes: Lanes::default(),
            rtt: RttEstimate::new(),
            rtt_min: (Duration::MAX, Time::ZERO),
            recent: [Duration::MAX; RECENT],
            spread: Duration::ZERO,
            rounds: Rounds::new(),
            limit: Limit::default(),
            doubt: Doubt::new(),
            last: (Time::ZERO, Size(0)),
            guessed: (Time::ZERO, Size(0)),
            hints: Hints::default(),
            size: Size(8000),
            received_at: Time::ZERO,
        }
    }

    /// The offered rate that counts now, in bit/s.
    fn rate(&self, now: Time) -> Option<f64> {
        let round = self.rtt.smoothed().unwrap_or_default();
        self.lanes.rate(now, round.mul_f64(PATIENCE_ROUNDS).max(self.rtt.rto()))
    }

    /// Segments that may be in flight at this rate, from nodes whose distances have this spread.
    /// The smallest round trips of paths count: with the smoothed ones, a silent link's queue would
    /// make room for more of it. Nodes that no link distinguishes have the spread.
    fn window(&self, rate: f64, spread: Duration) -> f64 {
        let nearest = self.recent.iter().min().copied().filter(|rtt| *rtt < Duration::MAX);
        let rtt = nearest.unwrap_or(HELD) + spread;
        let time = self.lanes.mean_rtt().map_or(rtt, |mean| mean.max(rtt)) + HELD;
        rate * time.as_secs_f64() / (self.size.0.max(1) as f64 * 8.0) + SPARE
    }

    /// The round trip of the longest path. Near nodes end many others while its Data are under way.
    fn longest(&self) -> Duration {
        let smoothed = self.rtt.smoothed().unwrap_or_default();
        let shortest = self.lanes.shortest_rtt().unwrap_or_default();
        let known = self.lanes.longest_rtt().unwrap_or_default();
        smoothed.max(known).max(shortest + self.spread)
    }

    fn ready(&self, rate: f64) -> Time {
        let rounds = self.rtt.smoothed().map_or(LONGEST_GAP, |round| round.mul_f64(GAP_ROUNDS));
        let (from, asked) = self.last;
        from + Rate(rate as u64).time_for(asked).min(rounds.min(LONGEST_GAP))
    }

    /// The rate that the model has found, in bit/s.
    fn found(&self) -> f64 {
        let mut found = 0.0;
        self.model.gauges(&mut |_, name, value| {
            if name == "bandwidth" {
                found = value;
            }
        });
        found
    }

    fn on_round(&mut self, cx: &mut Cx<'_>, round: &Round) {
        let rtt = round.rtt_min.unwrap_or(self.rtt_min.0);
        self.recent.rotate_right(1);
        self.recent[0] = rtt;
        let longest = self.lanes.longest_rtt().map_or(rtt, |longest| longest.max(rtt));
        if self.lanes.leave_silent(longest) {
            self.doubt.on_silent_path(cx.now, longest);
            self.rtt_min = (self.lanes.shortest_rtt().unwrap_or(rtt), cx.now);
        }
        let offered = self.rate(cx.now).unwrap_or(0.0);
        let (found, rtt_min) = (self.found(), self.rtt_min.0);
        let seen = Seen { offered, found, rtt, rtt_min, longest };
        self.doubt.on_round(cx.now, &seen);
        cx.note("offers too high", f64::from(u8::from(self.doubt.stands())));
    }
}

impl Controller for Consumer {
    fn permit(&self, now: Time, ask: &Ask<'_>) -> Permit {
        let Some(rate) = self.rate(now) else { return self.model.permit(now, ask) };
        if self.doubt.is_open() || self.doubt.stands() {
            let permit = self.model.permit(now, ask);
            if !matches!(permit, Permit::Now(_)) {
                return permit;
            }
        }
        let rate = self.doubt.pace(rate);
        let flying = ask.in_flight.total().segments;
        let window = self.window(rate, ask.in_flight.spread()).min(self.limit.segments());
        if flying > 0 && f64::from(flying) + f64::from(ask.count) > window {
            return Permit::Wait;
        }
        let at = self.ready(rate);
        if at > now + BURST { Permit::At(at - BURST) } else { Permit::Now(0) }
    }

    fn on_sent(&mut self, cx: &mut Cx<'_>, sent: &Sent) -> Ticket {
        let mut ticket = self.model.on_sent(cx, sent);
        if let Some(Size(bytes)) = sent.stated {
            // Links would charge for the Data of another flow.
            ticket.options.set(&ExpectedBytes(bytes));
        } else {
            let each = Size(sent.expected.0 / u64::from(sent.count.max(1)));
            self.guessed = (cx.now, self.guessed.1.max(each));
        }
        let (now, mut from) = (cx.now, cx.now);
        if let Some(rate) = self.rate(now) {
            if let Some(srtt) = self.rtt.smoothed()
                && self.hints.is_due(now, srtt)
            {
                ticket.options.set(&RttHint(srtt.0));
            }
            let ready = self.ready(self.doubt.pace(rate));
            from = if ready > now + BURST { now } else { ready.max(now - BURST) };
        }
        self.last = (from, sent.stated.unwrap_or(sent.expected));
        ticket
    }

    fn came_in(&self, arrival: &Arrival<'_>) -> Option<Lane> {
        self.model.came_in(arrival)
    }

    fn on_data(&mut self, cx: &mut Cx<'_>, arrival: &Arrival<'_>) {
        self.received_at = cx.now;
        let offers = arrival.options.get::<Offers>();
        let round = self.longest();
        if self.lanes.on_data(cx.now, offers.as_ref(), arrival.rtt, round) {
            self.doubt.on_new_path();
        }
        self.size = arrival.size;
        let longest = self.longest();
        self.limit.count(cx.now, longest);
        if let Some(rtt) = arrival.rtt {
            self.rtt.sample(rtt);
            if rtt <= self.rtt_min.0 || cx.now.since(self.rtt_min.1) > RTT_MIN_AGE {
                self.rtt_min = (rtt, cx.now);
            }
        }
        self.spread = arrival.in_flight.spread();
        let mut full_at = None;
        if let Some(rate) = self.rate(cx.now) {
            let (until, guess) = self.guessed;
            let is_guessed = arrival.sent_at <= until;
            let bytes = if is_guessed { arrival.size.max(guess) } else { arrival.size };
            let is_one_path = self.lanes.is_one_path();
            self.doubt.on_first(cx.now, arrival.sent_at, bytes.0, rate, is_one_path);
            let in_flight = f64::from(arrival.in_flight.total().segments);
            full_at = Some(rate).filter(|rate| in_flight + 2.0 > self.window(*rate, self.spread));
        }
        self.doubt.on_data(cx.now, arrival.size.0, arrival.late, full_at);
        let came = Came { sent_at: arrival.sent_at, rtt: arrival.rtt, ..Came::default() };
        if let Some(round) = self.rounds.on_data(cx.now, &came) {
            self.on_round(cx, &round);
        }
        self.model.on_data(cx, arrival);
    }

    fn on_loss(&mut self, cx: &mut Cx<'_>, loss: &Loss<'_>) {
        if matches!(loss.cause, Cause::Nack(_)) {
            if let Some(offers) = loss.options.get::<Offers>() {
                self.lanes.on_nack(cx.now, &offers);
            }
        } else {
            self.doubt.on_loss(cx.now);
            self.rounds.on_loss();
        }
        self.model.on_loss(cx, loss);
    }

    fn overdue_at(&self, lane: Lane, sent_at: Time) -> Time {
        self.model.overdue_at(lane, sent_at)
    }

    fn range(&self) -> u16 {
        self.model.range()
    }

    fn next_deadline(&self) -> Option<Time> {
        self.model.next_deadline()
    }

    fn on_deadline(&mut self, cx: &mut Cx<'_>) {
        self.model.on_deadline(cx);
    }

    fn seed(&mut self, cx: &mut Cx<'_>, lane: Lane, estimate: PathEstimate) -> bool {
        self.model.seed(cx, lane, estimate)
    }

    fn gauges(&self, out: &mut dyn FnMut(Lane, &'static str, f64)) {
        match self.rate(self.received_at) {
            Some(rate) => {
                let rate = rate.min(MAX_RATE.0 as f64);
                out(0, "rate", rate);
                out(0, "window", self.window(rate, self.spread).min(MAX_WINDOW));
            }
            None => self.model.gauges(out),
        }
    }
}

#[cfg(test)]
mod tests;
