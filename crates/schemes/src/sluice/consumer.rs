//! The consumer: the pace that links offer; the model of the path where they offer none.
//!
//! The model (`bbr.rs`) takes part in every transfer, so that it is ready when it is needed:
//!
//! - before the first offer has come, and when none has come for a round trip;
//! - before the spacing of the first Data has shown the rate of the path, as in a packet pair;
//! - beside offers, if they prove too high: a link without our parts is the bottleneck then. First
//!   Data that are too far apart show that; round trips that lose Data while a queue stands, and
//!   those that lose a quarter; and those in which Data come so slowly that the window is full.
//!   Random loss alone does not: a link that offers a rate knows its queue.
//!
//! An offer counts as in `mircc/consumer.rs`: one on the answer to a repetition, and one on a Nack,
//! may be of a part of the path, and counts only if it is lower.

use super::lanes::Lanes;
use crate::train::Train;
use control::{
    Arrival, Ask, Came, Cause, Controller, Cx, Duration, Lane, Loss, MAX_RATE, MAX_WINDOW, Params,
    PathEstimate, Permit, Rate, Round, Rounds, RttEstimate, Sent, Size, Ticket, Time,
};
use packet::options::{Offers, RttHint};

/// Interests may leave this far ahead of their pace, so that a driver need not wake for each.
const BURST: Duration = Duration::from_micros(500);

/// One Interest leaves in this time, however low the offers are, so that better ones can come.
const LONGEST_GAP: Duration = Duration::from_secs(1);

/// Data that may be in flight beyond the pipe, in time: what shapers hold.
const HELD: Duration = Duration::from_millis(100);

/// Segments that may be in flight beyond all products.
const SPARE: f64 = 4.0;

/// The smallest round trip is of the last so many seconds.
const RTT_MIN_AGE: Duration = Duration::from_secs(10);

/// Lost shares of a round trip that show an overflow: with a queue, and whatever the queue.
const LOSSY: f64 = 0.03;
const VERY_LOSSY: f64 = 0.25;

/// The weight of a round trip's losses in the next one: a loss may prove false by then.
const MEMORY: f64 = 0.5;

/// The rate that the first Data show is not that of the offers if it is below this part of them:
/// flows that share a link unequally for a moment show as little as a half.
const FAR_BELOW: f64 = 0.5;

/// First Data that show no rate by then came as they were asked for.
const FIRST_DATA: u32 = 16;

/// The part of the offered rate at which the model is as high as the offers are.
const BINDING: f64 = 0.9;

/// Round trips in a row with an overflow, after which offers are too high; and at the rate that is
/// offered, after which they are not. It takes fewer if only the first Data said so, which may have
/// come over one of several paths.
const PROOF: u32 = 2;
const TRUST: u32 = 16;
const TRUST_AFTER_FIRST: u32 = 2;

/// See the module.
pub(super) struct Consumer {
    model: Box<dyn Controller>,
    lanes: Lanes,
    rtt: RttEstimate,
    /// The smallest round trip, and when it was seen.
    rtt_min: (Duration, Time),
    rounds: Rounds,
    /// Data, and losses that did not prove false, of the last round trips.
    came: f64,
    lost: f64,
    /// The first Data and their number; `None` when they have shown the rate of the path.
    first: Option<(Train, u32)>,
    /// Data came too slowly for the pace in this round trip.
    is_full: bool,
    /// Offers have proved too high: the model rules as well.
    is_overflowing: bool,
    /// Round trips in a row that say otherwise, and how many it takes.
    evidence: u32,
    enough: u32,
    /// The next Interest leaves after what the last one asked for has passed at the rate.
    from: Time,
    asked: Size,
    /// The size of the last Data.
    size: Size,
    /// When Data came last, and when some that had been asked for once.
    heard_at: Time,
    first_at: Time,
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
            rounds: Rounds::new(),
            came: 0.0,
            lost: 0.0,
            first: Some((Train::default(), 0)),
            is_full: false,
            is_overflowing: false,
            evidence: 0,
            enough: PROOF,
            from: Time::ZERO,
            asked: Size(0),
            size: Size(8000),
            heard_at: Time::ZERO,
            first_at: Time::ZERO,
        }
    }

    /// The offered rate that rules now, in bit/s.
    fn rate(&self, now: Time) -> Option<f64> {
        let patience = self.rtt.smoothed().unwrap_or_default().mul_f64(2.0).max(self.rtt.rto());
        self.lanes.rate(now, patience)
    }

    /// Segments that may be in flight at this rate.
    fn window(&self, rate: f64) -> f64 {
        let rtt = self.rtt.smoothed().unwrap_or(HELD);
        rate * (rtt + HELD).as_secs_f64() / (self.size.0.max(1) as f64 * 8.0) + SPARE
    }

    fn ready(&self, rate: f64) -> Time {
        self.from + Rate(rate as u64).time_for(self.asked).min(LONGEST_GAP)
    }

    /// True if the model has found as much as links offer: they are the bottleneck, and not a link
    /// that offers nothing.
    fn offers_bind(&self, now: Time) -> bool {
        let mut bandwidth = 0.0;
        self.model.gauges(&mut |_, name, value| {
            if name == "bandwidth" {
                bandwidth = value;
            }
        });
        self.rate(now).is_none_or(|rate| bandwidth >= BINDING * rate)
    }

    fn on_round(&mut self, cx: &mut Cx<'_>, round: &Round) {
        let share = self.lost / (self.came + self.lost).max(1.0);
        (self.came, self.lost) = (self.came * MEMORY, self.lost * MEMORY);
        let least = round.rtt_min.unwrap_or(self.rtt_min.0);
        let queue = least.saturating_sub(self.rtt_min.0);
        let stands = queue > self.rtt_min.0.mul_f64(0.25) + Duration::from_millis(5);
        let overflows = share > VERY_LOSSY
            || share > LOSSY && stands
            || self.is_full && !self.offers_bind(cx.now);
        self.is_full = false;
        let is_new = if self.is_overflowing { self.offers_bind(cx.now) } else { overflows };
        self.evidence = if is_new { self.evidence + 1 } else { 0 };
        let is_plain = !self.is_overflowing && share > VERY_LOSSY;
        if self.evidence >= if is_plain { 1 } else { self.enough } {
            self.judge(cx, !self.is_overflowing, TRUST);
        }
    }

    /// Offers have proved too high, or not too high any more. `trust`: the round trips that it
    /// takes to believe them again.
    fn judge(&mut self, cx: &mut Cx<'_>, is_overflowing: bool, trust: u32) {
        (self.is_overflowing, self.evidence) = (is_overflowing, 0);
        self.enough = if is_overflowing { trust } else { PROOF };
        cx.note("offers too high", f64::from(u8::from(is_overflowing)));
    }

    /// The first Data show the rate of the path by their spacing.
    fn on_first(&mut self, cx: &mut Cx<'_>, arrival: &Arrival<'_>) {
        let Some(offered) = self.rate(cx.now) else { return };
        let Some((train, data)) = &mut self.first else { return };
        train.arrived(arrival.sent_at, cx.now);
        *data += 1;
        let shown = train.rate().map(|segments| segments * arrival.size.0 as f64 * 8.0);
        if shown.is_none() && *data < FIRST_DATA {
            return;
        }
        self.first = None;
        let is_low = shown.is_some_and(|shown| shown < FAR_BELOW * offered);
        if is_low && self.lanes.is_one_path() {
            self.judge(cx, true, TRUST_AFTER_FIRST);
        }
    }
}

impl Controller for Consumer {
    fn permit(&self, now: Time, ask: &Ask<'_>) -> Permit {
        let ruling = self.rate(now).filter(|_| self.first.is_none());
        let Some(rate) = ruling else { return self.model.permit(now, ask) };
        if self.is_overflowing {
            let permit = self.model.permit(now, ask);
            if !matches!(permit, Permit::Now(_)) {
                return permit;
            }
        }
        let flying = ask.in_flight.total().segments;
        if flying > 0 && f64::from(flying) + f64::from(ask.count) > self.window(rate) {
            return Permit::Wait;
        }
        let at = self.ready(rate);
        if at > now + BURST { Permit::At(at - BURST) } else { Permit::Now(0) }
    }

    fn on_sent(&mut self, cx: &mut Cx<'_>, sent: &Sent) -> Ticket {
        let mut ticket = self.model.on_sent(cx, sent);
        if let Some(rate) = self.rate(cx.now) {
            if let Some(srtt) = self.rtt.smoothed() {
                ticket.options.set(&RttHint(srtt.0));
            }
            let ready = self.ready(rate);
            let now = cx.now;
            self.from = if ready > now + BURST { now } else { ready.max(now - BURST) };
        } else {
            self.from = cx.now;
        }
        self.asked = sent.expected;
        ticket
    }

    fn came_in(&self, arrival: &Arrival<'_>) -> Option<Lane> {
        self.model.came_in(arrival)
    }

    fn on_data(&mut self, cx: &mut Cx<'_>, arrival: &Arrival<'_>) {
        self.heard_at = cx.now;
        let is_alone = cx.now.since(self.first_at) > self.rtt.rto();
        let is_whole = arrival.rtt.is_some() || is_alone;
        if arrival.rtt.is_some() {
            self.first_at = cx.now;
        }
        let offers = arrival.options.get::<Offers>();
        let round = self.rtt.smoothed().unwrap_or_default();
        let is_news = self.lanes.on_data(cx.now, offers.as_ref(), is_whole, round);
        if is_news && self.is_overflowing && self.enough == TRUST_AFTER_FIRST {
            // The first Data came by one of several paths.
            self.judge(cx, false, TRUST);
        }
        self.size = arrival.size;
        if let Some(rtt) = arrival.rtt {
            self.rtt.sample(rtt);
            if rtt <= self.rtt_min.0 || cx.now.since(self.rtt_min.1) > RTT_MIN_AGE {
                self.rtt_min = (rtt, cx.now);
            }
        }
        self.on_first(cx, arrival);
        let in_flight = f64::from(arrival.in_flight.total().segments);
        self.is_full |= self.rate(cx.now).is_some_and(|rate| in_flight + 2.0 > self.window(rate));
        self.came += 1.0;
        if arrival.late {
            self.lost = (self.lost - 1.0).max(0.0);
        }
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
            self.lost += 1.0;
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
        match self.rate(self.heard_at) {
            Some(rate) => {
                let rate = rate.min(MAX_RATE.0 as f64);
                out(0, "rate", rate);
                out(0, "window", self.window(rate).min(MAX_WINDOW));
            }
            None => self.model.gauges(out),
        }
    }
}

#[cfg(test)]
mod tests;
