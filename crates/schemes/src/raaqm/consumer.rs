//! The receiver: a window, and the histories of the routes.

use crate::shared::consumer::sources::Sources;
use control::{
    Arrival, Ask, Controller, Cx, Duration, Lane, Loss, Params, PathEstimate, Permit, RttEstimate,
    Sent, Ticket, Time,
};
use packet::HopOptions;
use packet::options::PathId;
use std::collections::VecDeque;

/// A route that was silent for this long says nothing of how long to wait (hICN).
const STALE: Duration = Duration::from_secs(2);

/// In the memo: the window was in use when the Interest left.
const LIMITED: u64 = 1;

/// The latest round-trip times of a route.
#[derive(Clone, Debug, Default)]
pub(super) struct Route {
    history: VecDeque<Duration>,
    timer: Option<Duration>,
    last_seen: Time,
}

impl Route {
    fn push(&mut self, now: Time, rtt: Duration, most: usize) {
        while self.history.len() >= most {
            self.history.pop_front();
        }
        self.history.push_back(rtt);
        // libndn-icp, hICN: timer = 0.9 timer + 0.1 (10 RTT).
        let ten = Duration(rtt.0.saturating_mul(10));
        self.timer = Some(self.timer.map_or(ten, |t| t.mul_f64(0.9) + ten.mul_f64(0.1)));
        self.last_seen = now;
    }

    /// (2): how far the queues of the route are filled, 0 to 1; `None` before the history is full.
    fn fullness(&self, rtt: Duration, most: usize) -> Option<f64> {
        if self.history.len() < most {
            return None;
        }
        let (min, max) = (*self.history.iter().min()?, *self.history.iter().max()?);
        let (range, above) = (max.0 - min.0, rtt.0.saturating_sub(min.0));
        Some(if range > 0 { (above as f64 / range as f64).min(1.0) } else { 0.0 })
    }
}

pub(super) struct Raaqm {
    window: f64,
    routes: Sources<Route>,
    /// Of Data that says nothing of its route.
    nameless: Route,
    eta: f64,
    beta: f64,
    p_min: f64,
    slope: f64,
    /// Round-trip times count in whole multiples of this.
    grain: Duration,
    samples: usize,
    max_window: f64,
    timeouts: bool,
    /// Timeouts of what left until then were answered.
    cut_at: Option<Time>,
}

impl Raaqm {
    pub(super) fn new(params: &Params) -> Raaqm {
        let max_window = params.number("max_window");
        Raaqm {
            window: params.number("initial_window").min(max_window),
            routes: Sources::new(),
            nameless: Route::default(),
            eta: params.number("eta"),
            beta: params.number("beta"),
            p_min: params.number("p_min"),
            slope: params.number("Dp"),
            grain: params.time("grain"),
            samples: params.number("samples") as usize,
            max_window,
            timeouts: params.switch("timeouts"),
            cut_at: None,
        }
    }

    fn all(&self) -> impl Iterator<Item = &Route> {
        self.routes.iter().map(|(_, known)| &known.state).chain(std::iter::once(&self.nameless))
    }

    /// The longest timer of the routes that answer.
    fn timeout(&self, now: Time) -> Duration {
        let fresh = self.all().filter(|route| now.since(route.last_seen) <= STALE);
        let longest = fresh.filter_map(|route| route.timer).max();
        let longest = longest.or_else(|| self.all().filter_map(|route| route.timer).max());
        longest
            .unwrap_or(RttEstimate::INITIAL_RTO)
            .clamp(RttEstimate::MIN_RTO, RttEstimate::MAX_RTO)
    }

    /// The route of Data; a new one may take the place of another.
    fn route(&mut self, cx: &mut Cx<'_>, options: &HopOptions) -> &mut Route {
        let Some(PathId(id)) = options.get::<PathId>() else { return &mut self.nameless };
        let before = self.routes.evicted();
        let (lane, _) = self.routes.observe(cx.now, id, Route::default);
        if self.routes.evicted() > before {
            cx.note("route forgotten", self.routes.evicted() as f64);
        }
        match self.routes.get_mut(lane) {
            Some(known) => &mut known.state,
            None => &mut self.nameless,
        }
    }

    fn shrink(&mut self, cx: &mut Cx<'_>) {
        if self.window * self.beta >= 1.0 {
            self.window *= self.beta;
            cx.note("cut", self.window);
        }
    }
}

impl Controller for Raaqm {
    fn permit(&self, _now: Time, ask: &Ask<'_>) -> Permit {
        let flight = ask.in_flight.total().segments;
        let fits = f64::from(flight) + f64::from(ask.count) <= self.window;
        if flight == 0 || fits { Permit::Now(0) } else { Permit::Wait }
    }

    fn on_sent(&mut self, cx: &mut Cx<'_>, sent: &Sent) -> Ticket {
        // RFC 7661: half of the window counts as using it.
        let after = f64::from(sent.before.segments) + f64::from(sent.count);
        let memo = [0, if after * 2.0 >= self.window { LIMITED } else { 0 }];
        Ticket { timeout: self.timeout(cx.now), memo, options: HopOptions::default() }
    }

    /// Answers of several routes overtake one another, and the route of an Interest is unknown.
    fn came_in(&self, arrival: &Arrival<'_>) -> Option<Lane> {
        (self.routes.iter().nth(1).is_none()).then_some(arrival.lane)
    }

    fn on_data(&mut self, cx: &mut Cx<'_>, arrival: &Arrival<'_>) {
        // (1)
        if arrival.memo[1] == LIMITED && !arrival.late {
            self.window = (self.window + self.eta / self.window).min(self.max_window);
        }
        let (now, most, grain) = (cx.now, self.samples, self.grain.0.max(1));
        let route = self.route(cx, arrival.options);
        let Some(rtt) = arrival.rtt.map(|rtt| Duration(rtt.0 / grain * grain)) else { return };
        route.push(now, rtt, most);
        // (2)
        if let Some(fullness) = route.fullness(rtt, most) {
            let p = self.p_min + self.slope * fullness;
            if cx.rng.chance(p) {
                self.shrink(cx);
            }
        }
    }

    fn on_loss(&mut self, cx: &mut Cx<'_>, loss: &Loss<'_>) {
        // (3)
        if self.timeouts && self.cut_at.is_none_or(|at| loss.sent_at > at) {
            self.cut_at = Some(cx.now);
            self.shrink(cx);
        }
    }

    fn seed(&mut self, _cx: &mut Cx<'_>, _lane: Lane, estimate: PathEstimate) -> bool {
        self.window = estimate.window().min(self.max_window);
        true
    }

    fn gauges(&self, out: &mut dyn FnMut(Lane, &'static str, f64)) {
        out(0, "window", self.window);
        out(0, "routes", self.routes.iter().count() as f64);
    }
}

#[cfg(test)]
mod tests;
