//! The consumer's part: CoDel's state for each link, and a window that congestion halves.

use super::mark::{Mark, Report};
use control::{
    Ack, Arrival, Ask, Controller, Cx, Duration, Lane, Loss, Params, PathEstimate, Permit, Rate,
    RttEstimate, Sent, Signal, Ticket, Time, Timer, WindowLaw, Windowed,
};

/// The most links that a consumer remembers.
const MOST_LINKS: usize = 64;
/// Slow start ends at this estimate of a queue, in segments ("security fallback").
const LONGEST_START_QUEUE: f64 = 100.0;

/// The consumer: it judges each mark and passes on the result as a mark of 1 or 0.
pub(super) struct Consumer {
    windowed: Windowed,
    rtt: RttEstimate,
    links: Vec<Link>,
    target: Duration,
    interval: Duration,
    /// Nothing has shrunk the window yet.
    is_starting: bool,
    /// Ordinary marks of Data whose Interests left until then are answered.
    answered: Option<Time>,
}

/// A link's reports, and CoDel's state: `RouterStatus`.
#[derive(Clone, Copy, Debug)]
struct Link {
    id: u32,
    received_at: Time,
    rate: Rate,
    delay: Duration,
    next_mark: Option<Time>,
    count: u8,
}

impl Link {
    fn new(id: u32, now: Time) -> Link {
        let (rate, delay) = (Rate(0), Duration::ZERO);
        Link { id, received_at: now, rate, delay, next_mark: None, count: 0 }
    }

    /// CoDel's judgement of a report at `now`.
    fn is_marked(&mut self, now: Time, target: Duration, interval: Duration) -> bool {
        if self.delay <= target {
            (self.next_mark, self.count) = (None, 0);
            return false;
        }
        let next = *self.next_mark.get_or_insert(now + interval);
        if now <= next {
            return false;
        }
        self.count = self.count.saturating_add(1);
        self.next_mark = Some(next + interval.mul_f64(1.0 / (f64::from(self.count) + 1.0).sqrt()));
        true
    }
}

impl Consumer {
    pub(super) fn new(params: &Params) -> Consumer {
        let windowed = Windowed::new(Box::new(Law::new(params)));
        let timer = Timer::of(params);
        Consumer {
            windowed: windowed.with_timer(timer).with_gaps(params.switch("gaps")),
            rtt: RttEstimate::with_timer(timer),
            links: Vec::new(),
            target: params.time("target"),
            interval: params.time("interval"),
            is_starting: true,
            answered: None,
        }
    }

    fn window(&self) -> f64 {
        let mut window = 1.0;
        self.windowed.gauges(&mut |_, _, value| window = value);
        window
    }

    /// The place of a link; the one that was seen longest ago makes room.
    fn place(&mut self, id: u32, now: Time) -> usize {
        if let Some(at) = self.links.iter().position(|link| link.id == id) {
            return at;
        }
        if self.links.len() < MOST_LINKS {
            self.links.push(Link::new(id, now));
            return self.links.len() - 1;
        }
        let all = 0..self.links.len();
        let oldest = all.min_by_key(|at| self.links[*at].received_at).unwrap_or(0);
        self.links[oldest] = Link::new(id, now);
        oldest
    }

    /// `CongestionDetected`.
    fn is_congestion(&mut self, cx: &mut Cx<'_>, mark: Mark, segment: f64) -> bool {
        let at = self.place(mark.link, cx.now);
        let window = self.window();
        let link = &mut self.links[at];
        link.received_at = cx.now;
        match mark.report {
            Report::Rate(rate) => link.rate = rate,
            Report::Delay(delay) => link.delay = delay,
        }
        if link.rate.0 == 0 {
            return false;
        }
        let queue = link.delay.as_secs_f64() * link.rate.0 as f64;
        if self.is_starting && queue > LONGEST_START_QUEUE * segment {
            return true;
        }
        if !link.is_marked(cx.now, self.target, self.interval) {
            return false;
        }
        let rtt = self.rtt.smoothed().unwrap_or(self.interval).as_secs_f64();
        let guilt = window * segment / rtt.max(1e-9) / link.rate.0 as f64;
        cx.note("guilt", guilt);
        cx.rng.chance(guilt)
    }

    /// A mark of an ordinary router is congestion once a round trip.
    fn is_new(&mut self, now: Time, sent_at: Time) -> bool {
        let is_new = self.answered.is_none_or(|until| sent_at > until);
        if is_new {
            self.answered = Some(now);
        }
        is_new
    }
}

impl Controller for Consumer {
    fn permit(&self, now: Time, ask: &Ask<'_>) -> Permit {
        self.windowed.permit(now, ask)
    }

    fn on_sent(&mut self, cx: &mut Cx<'_>, sent: &Sent) -> Ticket {
        self.windowed.on_sent(cx, sent)
    }

    fn came_in(&self, arrival: &Arrival<'_>) -> Option<Lane> {
        self.windowed.came_in(arrival)
    }

    fn on_data(&mut self, cx: &mut Cx<'_>, arrival: &Arrival<'_>) {
        if let Some(rtt) = arrival.rtt {
            self.rtt.sample_of(rtt, arrival.in_flight.total().segments + 1);
        }
        let is_congestion = match Mark::decode(arrival.mark) {
            Some(mark) => self.is_congestion(cx, mark, arrival.size.0 as f64 * 8.0),
            None => arrival.mark > 0 && self.is_new(cx.now, arrival.sent_at),
        };
        self.is_starting &= !is_congestion;
        self.windowed.on_data(cx, &Arrival { mark: u64::from(is_congestion), ..*arrival });
    }

    fn on_loss(&mut self, cx: &mut Cx<'_>, loss: &Loss<'_>) {
        self.is_starting = false;
        self.windowed.on_loss(cx, loss);
    }

    fn overdue_at(&self, lane: Lane, sent_at: Time) -> Time {
        self.windowed.overdue_at(lane, sent_at)
    }

    fn may_be_probed(&self) -> bool {
        self.windowed.may_be_probed()
    }

    fn seed(&mut self, cx: &mut Cx<'_>, lane: Lane, estimate: PathEstimate) -> bool {
        self.is_starting = false;
        self.windowed.seed(cx, lane, estimate)
    }

    fn gauges(&self, out: &mut dyn FnMut(Lane, &'static str, f64)) {
        self.windowed.gauges(out);
    }
}

/// `WindowIncrease` and `WindowDecrease`.
#[derive(Clone)]
struct Law {
    window: f64,
    ssthresh: f64,
    beta: f64,
    initial: f64,
}

impl Law {
    fn new(params: &Params) -> Law {
        let initial = params.number("initial_window");
        let beta = params.number("beta");
        Law { window: initial, ssthresh: f64::INFINITY, beta, initial }
    }
}

impl WindowLaw for Law {
    fn window(&self) -> f64 {
        self.window
    }

    fn on_ack(&mut self, _cx: &mut Cx<'_>, ack: &Ack) {
        if ack.window_limited {
            self.window += if self.window < self.ssthresh { 1.0 } else { 1.0 / self.window };
        }
    }

    fn on_congestion(&mut self, _cx: &mut Cx<'_>, _signal: Signal, _rtt: &RttEstimate) {
        self.ssthresh = self.window * self.beta;
        self.window = self.ssthresh.max(self.initial);
    }

    fn seed(&mut self, segments: f64) {
        self.window = segments.max(1.0);
        self.ssthresh = self.window;
    }

    fn answers_every_mark(&self) -> bool {
        true
    }

    fn pacing_gain(&self) -> f64 {
        if self.window < self.ssthresh { 2.0 } else { 1.25 }
    }
}
