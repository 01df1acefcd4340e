//! Measuring a link and stamping its rate on what it brings: what RCP and MIRCC have in common.
//!
//! The stamper acts at the end of a link that sends Interests into it. The Interests that are
//! offered there, before a shaper holds or rejects some, say what Data the link will have to bring
//! in (y), those that the shaper holds what it has to bring besides (q); the rate goes on the Data
//! and the Nacks that come (Mahdian and others, ACM ICN 2016, section 3.1).
//!
//! Nothing from the network is believed beyond its bounds: round-trip times are clamped, a stamp is
//! only ever lowered, one that cannot be read is replaced.

use control::{
    Crossing, Cx, DataMeta, Direction, Duration, Flow, InterestMeta, Kind, LinkView, NodeView, Rng,
    Stamper, Time,
};
use packet::options::{RateStamp, RttHint, TrafficClass};
use packet::{HopOption, HopOptions};

/// Round-trip times outside of these, in s, are taken as these: what a consumer writes of itself
/// must not stop a link's clock.
const RTT: (f64, f64) = (1e-4, 2.0);

/// A period lasts at least and at most this long, in s.
const PERIOD: (f64, f64) = (1e-3, 1.0);

/// The measurements of a period.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seen {
    /// How long it was, in s.
    pub(crate) span: f64,
    /// The rate of Data that the Interests offered will bring, by class, in bit/s.
    pub(crate) offered: [f64; 2],
    /// The bits that the Interests held at its end will bring.
    pub(crate) held: f64,
    /// The rate of the neighbour's Interests, which share the link with the Data, in bit/s.
    pub(crate) neighbour: f64,
    /// The mean of its round-trip times, in s.
    pub(crate) rtt: Option<f64>,
}

/// How rates follow from measurements. Rates are in bit/s of Data.
pub(crate) trait RateLaw: Send {
    /// The link's capacity is known for the first time.
    fn begin(&mut self, rng: &mut Rng, capacity: f64);

    /// An Interest of this flow is offered.
    fn on_interest(&mut self, _flow: Flow) {}

    /// One round-trip time, in s.
    fn on_rtt(&mut self, _rtt: f64) {}

    /// The bytes of Data that an Interest is taken to ask for.
    fn expected(&mut self, _now: Time, interest: &InterestMeta) -> u64 {
        interest.expected.0
    }

    /// Data has arrived, this time after its Interest had left by the link. Returns the bytes that
    /// its Interest was taken to ask for beyond it.
    fn on_data(&mut self, _now: Time, _data: &DataMeta, _taken: Duration) -> i64 {
        0
    }

    /// The neighbour has answered an Interest of this flow with a Nack. Returns the bytes that it
    /// was taken to ask for and does not bring.
    fn on_nack(&mut self, _flow: Flow) -> i64 {
        0
    }

    /// A period ends.
    fn update(&mut self, capacity: f64, seen: &Seen);

    /// How long the next period is to last, in s; `first`: after a pause, or at the beginning.
    fn period(&self, rng: &mut Rng, capacity: f64, first: bool) -> f64;

    /// The rates are as high as they may be: silence changes nothing more.
    fn is_at_rest(&self, capacity: f64) -> bool;

    /// The rates that the link offers.
    fn stamp(&self) -> RateStamp;

    /// Lowers what the options offer to what the link offers the flow. Returns `false` if they
    /// could not be read.
    fn lower(&self, _flow: Flow, options: &mut HopOptions) -> bool {
        let before = options.get::<RateStamp>();
        let is_readable = before.is_some() || options.get_raw(RateStamp::TYPE).is_none();
        options.set(&before.unwrap_or(RateStamp::MAX).min(self.stamp()));
        is_readable
    }
}

/// Measures for a law and stamps what it says.
pub(crate) struct RateStamper<L> {
    law: L,
    /// The capacity to take where the link does not know its own, in bit/s; 0: stamp nothing then.
    fallback: f64,
    begun: bool,
    since: Time,
    due: Option<Time>,
    /// Bits of Data asked for in this period, by class.
    offered: [u64; 2],
    /// Bits of the neighbour's Interests in this period.
    neighbour: u64,
    rtts: (f64, u32),
    /// Consumers reported round-trip times: in this period, in the previous one.
    rtt_reported: (bool, bool),
}

impl<L: RateLaw> RateStamper<L> {
    pub(crate) fn new(law: L, fallback: f64) -> RateStamper<L> {
        RateStamper {
            law,
            fallback,
            begun: false,
            since: Time::ZERO,
            due: None,
            offered: [0; 2],
            neighbour: 0,
            rtts: (0.0, 0),
            rtt_reported: (false, false),
        }
    }

    /// The rate at which the link can bring Data, in bit/s.
    fn capacity(&self, view: &LinkView) -> Option<f64> {
        let known = view.rate_in.0 as f64;
        let capacity = if known > 0.0 { known } else { self.fallback };
        (capacity > 0.0).then_some(capacity)
    }

    fn sample(&mut self, rtt: f64) {
        let rtt = rtt.clamp(RTT.0, RTT.1);
        self.rtts = (self.rtts.0 + rtt, self.rtts.1 + 1);
        self.law.on_rtt(rtt);
    }

    /// Begins a period now.
    fn start(&mut self, cx: &mut Cx<'_>, capacity: f64, first: bool) {
        let span = self.law.period(cx.rng, capacity, first).clamp(PERIOD.0, PERIOD.1);
        self.since = cx.now;
        self.due = Some(cx.now + Duration::from_secs_f64(span));
        (self.offered, self.neighbour) = ([0; 2], 0);
        self.rtts = (0.0, 0);
        self.rtt_reported = (false, self.rtt_reported.0);
    }

    /// Data brought `over` fewer bytes than their Interests were booked with.
    fn correct(&mut self, over: i64) {
        let bits = over.saturating_mul(8).saturating_neg();
        self.offered[0] = self.offered[0].saturating_add_signed(bits);
    }

    /// Lowers what the options say to what the link offers the flow.
    fn lower(&self, cx: &mut Cx<'_>, view: &LinkView, flow: Flow, options: &mut HopOptions) {
        if !self.begun || self.capacity(view).is_none() {
            return;
        }
        if !self.law.lower(flow, options) {
            cx.note("malformed stamp", 1.0);
        }
    }
}

impl<L: RateLaw> Stamper for RateStamper<L> {
    fn on_crossing(&mut self, _cx: &mut Cx<'_>, _view: &LinkView, crossing: &Crossing<'_>) {
        match (crossing.direction, crossing.kind) {
            (Direction::In, Kind::Interest) => {
                self.neighbour = self.neighbour.saturating_add(crossing.size.0.saturating_mul(8));
            }
            (Direction::In, Kind::Nack) => {
                let over = self.law.on_nack(crossing.flow);
                self.correct(over);
            }
            _ => {}
        }
    }

    fn on_interest_out(
        &mut self,
        cx: &mut Cx<'_>,
        view: &LinkView,
        _node: &dyn NodeView,
        interest: &mut InterestMeta,
    ) {
        let Some(capacity) = self.capacity(view) else { return };
        if !self.begun {
            self.law.begin(cx.rng, capacity);
            self.begun = true;
        }
        self.law.on_interest(interest.flow);
        // A clock that went back would leave the deadline out of reach.
        let latest = cx.now + Duration::from_secs_f64(PERIOD.1);
        if self.due.is_none_or(|due| due > latest) {
            self.start(cx, capacity, true);
        }
        let class = interest.options.get::<TrafficClass>().unwrap_or_default();
        let expected = self.law.expected(cx.now, interest).saturating_mul(8);
        let bits = &mut self.offered[usize::from(class == TrafficClass::Secondary)];
        *bits = bits.saturating_add(expected);
        if let Some(RttHint(ns)) = interest.options.get::<RttHint>() {
            self.rtt_reported.0 = true;
            self.sample(Duration(ns).as_secs_f64());
        }
    }

    fn on_data_in(
        &mut self,
        cx: &mut Cx<'_>,
        view: &LinkView,
        _node: &dyn NodeView,
        data: &mut DataMeta,
        since_release: Duration,
    ) {
        let over = self.law.on_data(cx.now, data, since_release);
        self.correct(over);
        // Consumers report the round trip of the whole path, which is better than the measured one
        // of a part of it.
        if !self.rtt_reported.0 && !self.rtt_reported.1 {
            self.sample(since_release.as_secs_f64());
        }
        self.lower(cx, view, data.flow, &mut data.options);
    }

    fn on_nack_in(
        &mut self,
        cx: &mut Cx<'_>,
        view: &LinkView,
        _node: &dyn NodeView,
        flow: Flow,
        options: &mut HopOptions,
    ) {
        self.lower(cx, view, flow, options);
    }

    fn next_deadline(&self) -> Option<Time> {
        self.due
    }

    fn on_deadline(&mut self, cx: &mut Cx<'_>, view: &LinkView) {
        let Some(due) = self.due else { return };
        let Some(capacity) = self.capacity(view) else {
            self.due = None;
            return;
        };
        if cx.now < due {
            return;
        }
        let span = cx.now.since(self.since).as_secs_f64();
        let silent = self.offered == [0; 2];
        if span > 0.0 {
            let (sum, count) = self.rtts;
            let seen = Seen {
                span,
                offered: self.offered.map(|bits| bits as f64 / span),
                held: view.held.bytes.0 as f64 * 8.0,
                neighbour: self.neighbour as f64 / span,
                rtt: (count > 0).then(|| sum / f64::from(count)),
            };
            self.law.update(capacity, &seen);
            let stamp = self.law.stamp();
            cx.note("offered", seen.offered[0] + seen.offered[1]);
            cx.note("held", seen.held);
            cx.note("rate", stamp.primary as f64);
            cx.note("secondary rate", stamp.secondary as f64);
        }
        self.start(cx, capacity, false);
        if silent && self.law.is_at_rest(capacity) {
            self.due = None;
        }
    }
}

#[cfg(test)]
mod tests;
