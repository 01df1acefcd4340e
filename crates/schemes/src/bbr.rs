//! Bottleneck bandwidth and round-trip time, for a consumer that requests instead of a sender that
//! sends.
//!
//! N. Cardwell, Y. Cheng, C. S. Gunn, S. Hassas Yeganeh, V. Jacobson, "BBR: Congestion-Based
//! Congestion Control", ACM Queue 14(5), 2016; draft-cardwell-iccrg-bbr-congestion-control-00, 2017
//! (BBRv1), and -02, 2022 (BBRv2), whose names are used here.
//!
//! **This is Weir's own adaptation.** BBR for NDN has been published as BBR-CD (MILCOM 2021,
//! 10.1109/MILCOM52596.2021.9652898), which this file does not follow. As in the draft: delivery
//! rate samples and their windowed maximum over ten rounds (`bbr/delivery.rs`); min_rtt over ten
//! seconds; the states Startup, Drain, ProbeBW (up 1.25, down 0.75, cruise 1) and ProbeRTT; pacing
//! at gain x bandwidth; a window of 2 BDP; the plateau rule of Startup (three rounds with less than
//! 25 % growth); a limit `inflight_hi` after rounds with too much loss. The differences:
//!
//! - The unit is the segment; Interests are paced, and Data follows. A consumer requests more than
//!   it expects to get: the rate is divided by the share that arrives if losses come without delay,
//!   that is at random. Otherwise a path that loses one in twenty would be used to nineteen
//!   twentieths.
//! - Startup is a slow start, its window doubled by each round, and ends by HyStart++
//!   (`hystart.rs`) when the round-trip time rises. Data stretched by the path (`train.rs`)
//!   shows the bottleneck early, in most cases the first window's after one round trip: from then
//!   on this is the limit, and 1.25 times as much for a round when it is confirmed. Doubling would
//!   overrun a buffer of a third of the pipe by most of a round. Startup also ends when losses
//!   exceed the random loss so far.
//! - Loss counts as congestion only if the smoothed round-trip time is in the upper half of its
//!   range of the last ten to twenty seconds, or has no range; or if most lost segments are
//!   neighbours, as when a buffer overflows, while random losses are scattered; or if it exceeds a
//!   third.
//! - A round with a congestion mark multiplies `inflight_hi` by 0.85 (RFC 8511), by 0.7 if half of
//!   its Data is marked. BBRv2 reacts to the share of marks, as DCTCP; CoDel, the usual marker of
//!   NDN forwarders, marks a few packets a second, however large the share of the responsible flow
//!   is.
//! - ProbeBW goes up while this raises the delivery rate, which corrects an early end of Startup;
//!   it goes down to a BDP in flight, for two round trips at most; ProbeRTT keeps half of one.
//! - The window's `slack`, for hosts that wake up late, replaces the draft's offload budget.
//! - Beside other flows of BBR, BBR keeps a queue of a pipe or more, and loses half of its requests
//!   if the buffer is smaller. So window and pace are limited to the flow's share, which a standing
//!   queue and overflow reduce (`bbr/share.rs`). FAST's law replaces BBRv2's short-term limits
//!   `bw_lo` and `inflight_lo`. A flow alone hardly has such a queue.
//! - Timeouts follow RFC 9002 (`bbr/timer.rs`). A longer path is noticed (`bbr/path_change.rs`).

mod delivery;
mod flight;
mod mode;
mod path_change;
mod share;
mod startup;
mod table;
mod timer;

use crate::shared::consumer::hystart::Phase;
use control::{
    Arrival, Ask, Cause, Controller, Cx, Duration, Lane, Loss, MAX_RATE, MAX_WINDOW, Params,
    PathEstimate, Permit, RttEstimate, Scheme, Sent, Size, Ticket, Time,
};
use delivery::{Delivery, MaxFilter};
use flight::{Bounds, Longest, Round};
use mode::Mode;
use packet::{HopOptions, NackReason};
use path_change::PathChange;
use share::{Path, Share};
use startup::{LEFT_AFTER_LOSS, Startup};
use table::{EQUATIONS, PARAMS, Settings};

/// The scheme.
pub const SCHEME: Scheme = Scheme {
    name: "bbr",
    summary: "paces at the bottleneck's rate and keeps little more in flight than the path holds",
    paper: "After N. Cardwell and others, BBR: Congestion-Based Congestion Control, ACM Queue \
            14(5), 2016; carried over to NDN by Weir",
    equations: EQUATIONS,
    params: PARAMS,
    controller: Some(|params| Box::new(Bbr::new(params))),
    ..Scheme::EMPTY
};

/// Bytes that a segment is taken to have before the first has come.
const INITIAL_SEGMENT: f64 = 8000.0;
/// Segments that may follow the initial window at most: some 100 ms at the initial rate, and what
/// delays a path of 2 Mbit/s by two seconds.
const MOST_INITIAL: f64 = 64.0;
/// The immediate growth of Startup's window when a train shows a larger pipe: as much as slow start
/// in two round trips. The train shows the rate of the bottleneck, of which other flows may leave
/// little.
const HINTED_GROWTH: f64 = 4.0;
/// Room in the window beyond all products: a segment sent, one received, one spare.
const SPARE: f64 = 3.0;
/// No bound goes below this many pipes, and [`SPARE`].
const LEAST_BOUND: f64 = 1.1;
/// Interests may leave this far off their pace, so that a driver need not wake for each.
const BURST: Duration = Duration::from_micros(500);
/// Where losses bound what is in flight, going up is tried no more often than after this.
const BOUNDED_CRUISE: Duration = Duration::from_secs(2);
/// Upper bound of that pause in round trips; also at most one per segment of the pipe.
const RENO_ROUNDS: f64 = 63.0;
/// Round trips that ProbeBW goes down for at most. BBRv1 has one, which takes away what going up
/// brought. Beside random loss the largest sample of ten rounds is more than the path's rate, so
/// cruising adds to the queue as well: BBRv2 goes down until it is gone. Where Data come from far
/// and near, what is in flight never falls to the near one's pipe; so it ends long before the
/// bandwidth is forgotten.
const LONGEST_DOWN: u64 = 2;
/// `ProbeRTTDuration`.
const PROBE_RTT: Duration = Duration::from_millis(200);
/// Timeouts in a row, each twice as long as the one before, that mean an outage, not a full queue.
const OUTAGE: u32 = 3;
/// A consumer that leaves a permit unused for longer than this has nothing to ask.
const UNUSED: Duration = Duration::from_millis(4);

/// It asks for so little that its answer shows the round-trip time whatever the bottleneck's rate.
/// Until it has come, what follows it is as if the round-trip time were the time that has passed.
fn is_scout(sent: &Sent) -> bool {
    4.0 * sent.expected.0 as f64 <= INITIAL_SEGMENT
}

struct Bbr {
    settings: Settings,
    mode: Mode,
    path: PathModel,
    delivery: Delivery,
    bandwidth: MaxFilter,
    round: Round,
    bounds: Bounds,
    share: Share,
    /// When `bounds` were last cut.
    cut_at: Option<Time>,
    startup: Startup,
    release_at: Time,
    /// When something other than the consumer last kept Interests back.
    held_at: Time,
    silence: Silence,
    /// The size of a segment, for rates in bit/s.
    segment: Size,
}

/// Round-trip times of the path.
struct PathModel {
    rtt: RttEstimate,
    rtt_min: Duration,
    rtt_min_at: Time,
    /// See [`control::InFlight::spread`].
    spread: Duration,
    path_change: PathChange,
    longest: Longest,
}

/// Timeouts during which nothing came.
#[derive(Default)]
struct Silence {
    received_at: Time,
    /// Nothing has come for a whole timeout: the window is small until Data comes.
    silent: bool,
    /// When the timeout was last doubled.
    backed_off_at: Option<Time>,
    /// How often that happened since the last unambiguous round-trip time (Karn's rule).
    timeouts: u32,
}

impl Bbr {
    /// The smallest window, `BBRMinPipeCwnd`.
    const MIN_WINDOW: f64 = 4.0;

    fn new(params: &Params) -> Bbr {
        let settings = Settings::new(params);
        let startup = Startup::new(settings.initial_window);
        Bbr {
            settings,
            mode: Mode::Startup,
            path: PathModel {
                rtt: RttEstimate::new(),
                rtt_min: Duration::MAX,
                rtt_min_at: Time::ZERO,
                spread: Duration::ZERO,
                path_change: PathChange::default(),
                longest: Longest::default(),
            },
            delivery: Delivery::default(),
            bandwidth: MaxFilter::default(),
            round: Round::default(),
            bounds: Bounds::new(params.number("loss")),
            share: Share::default(),
            cut_at: None,
            startup,
            release_at: Time::ZERO,
            held_at: Time::ZERO,
            silence: Silence::default(),
            segment: Size(8000),
        }
    }

    /// Segments that a pipe of this rate holds, those included that will be lost on the way.
    fn pipe(&self, rate: f64) -> f64 {
        if self.path.rtt_min == Duration::MAX {
            return self.settings.initial_window;
        }
        // rtt_min is that of the nearest origin; the mean of all is half of the spread longer.
        let mean = self.path.rtt_min.as_secs_f64() + self.path.spread.as_secs_f64() / 2.0;
        rate * mean / self.bounds.arriving()
    }

    fn slack(&self, rate: f64) -> f64 {
        rate * self.settings.slack.as_secs_f64() + SPARE
    }

    /// Nothing has come of the initial window yet. The first answer of all may be that of a single
    /// request that went before, such as the one that found the object.
    fn first_flight(&self) -> bool {
        self.mode == Mode::Startup && self.delivery.delivered() < 2 && self.startup.hint.is_none()
    }

    /// The initial rate in segments per second.
    fn initial_pace(&self) -> f64 {
        self.settings.initial_rate.0 as f64 / (8.0 * INITIAL_SEGMENT)
    }

    /// The window in segments.
    fn window(&self) -> f64 {
        let bandwidth = self.bandwidth();
        let window = match self.mode {
            _ if self.silence.silent => Bbr::MIN_WINDOW,
            Mode::Startup if self.first_flight() => {
                // As long as nothing of what went ahead has come, the pace alone bounds it.
                let unknown = if self.startup.scout { f64::MAX } else { 0.0 };
                let srtt = self.path.rtt.smoothed().map_or(unknown, Duration::as_secs_f64);
                let more = self.initial_pace() * srtt;
                self.settings.initial_window + more.min(MOST_INITIAL)
            }
            Mode::Startup => match self.startup.hint {
                Some(hint) => {
                    let gain = self.startup.gain();
                    self.startup.window.min(gain * self.pipe(hint) + self.slack(hint))
                }
                None => self.startup.window,
            },
            Mode::ProbeRtt { .. } => self.pipe(bandwidth) / 2.0,
            _ => self.settings.window_gain * self.pipe(bandwidth) + self.slack(bandwidth),
        };
        let going_up = matches!(self.mode, Mode::Up { .. });
        let bound = self.bounds.inflight(going_up, self.uncongested()).min(MAX_WINDOW);
        let window = window.min(bound).max(Bbr::MIN_WINDOW);
        if self.mode == Mode::Startup { window } else { window.min(self.share.window()) }
    }

    /// [`MAX_RATE`] in segments per second: samples are unbounded while the clock does not advance.
    fn fastest(&self) -> f64 {
        MAX_RATE.0 as f64 / (8.0 * self.segment.0.max(1) as f64)
    }

    /// The bottleneck's rate in segments per second; 0 before it is known.
    fn bandwidth(&self) -> f64 {
        self.bandwidth.max().min(self.fastest())
    }

    /// The pipe with hardly a queue: a flight of this size overruns nothing, whatever was lost
    /// before.
    fn uncongested(&self) -> f64 {
        let rate = self.bandwidth().max(self.startup.hint.unwrap_or(0.0));
        LEAST_BOUND * self.pipe(rate) + SPARE
    }

    /// Segments per second; `None` while there is nothing to go by.
    fn pace(&self) -> Option<f64> {
        self.intended_pace().map(|pace| pace.min(self.fastest()))
    }

    fn intended_pace(&self) -> Option<f64> {
        let gain = match self.mode {
            Mode::Startup if self.first_flight() => {
                let known = self.path.rtt.smoothed().is_some() || self.startup.scout;
                let is_paced = known && self.startup.burst < 1.0;
                return if is_paced { Some(self.initial_pace()) } else { None };
            }
            Mode::Startup => {
                let srtt = self.path.rtt.smoothed()?.as_secs_f64().max(1e-6);
                let pace = 2.0 * self.startup.window / srtt;
                let cap = self.startup.hint.map_or(f64::INFINITY, |h| self.startup.gain() * h);
                return Some(pace.min(cap / self.bounds.arriving()));
            }
            Mode::Drain => 0.5,
            Mode::Down { .. } => 0.75,
            Mode::Cruise { .. } | Mode::ProbeRtt { .. } | Mode::Up { hold: true, .. } => 1.0,
            Mode::Up { .. } => self.settings.probe_gain,
        };
        let rate = (gain * self.bandwidth() / self.bounds.arriving()).min(self.share.pace());
        (rate > 0.0).then_some(rate)
    }

    /// How far Interests may be off their pace: [`BURST`], and never less than one segment.
    fn burst(&self) -> Duration {
        self.pace().map_or(BURST, |pace| Duration::from_secs_f64(1.0 / pace).max(BURST))
    }

    /// Is the queue of the bottleneck nearer to its longest than to its shortest? Where no
    /// difference was ever seen, it may be full all the time: only Startup, which is on its way up,
    /// says no.
    fn queued(&self) -> bool {
        let Some(srtt) = self.path.rtt.smoothed() else { return false };
        match self.path.longest.beyond(self.path.rtt_min) {
            Some(range) => srtt >= self.path.rtt_min + Duration(range.0 / 2),
            None => self.mode != Mode::Startup,
        }
    }

    fn sample_rtt(&mut self, now: Time, rtt: Duration) {
        self.path.rtt.sample(rtt);
        self.share.sample(rtt);
        self.silence.timeouts = 0;
        self.round.sample_rtt(rtt);
        if rtt <= self.path.rtt_min {
            self.path.rtt_min = rtt;
            self.path.rtt_min_at = now;
        }
        self.path.longest.sample(now, self.path.rtt.smoothed().unwrap_or(rtt));
    }

    fn end_round(&mut self, cx: &mut Cx<'_>, in_flight: u32) {
        let queued = self.queued();
        let going_up = matches!(self.mode, Mode::Up { .. });
        let congested = self.bounds.judge(&self.round, queued, going_up);
        if congested {
            cx.note("cut", self.bounds.inflight(true, 0.0));
            self.cut_at = Some(cx.now);
            match self.mode {
                Mode::Startup => self.leave_startup(cx, LEFT_AFTER_LOSS),
                Mode::Up { .. } => self.mode = Mode::Down { since: cx.now },
                _ => {}
            }
        }
        let (bandwidth, gain) = (self.bandwidth(), self.settings.window_gain);
        let most = gain * self.pipe(bandwidth) + self.slack(bandwidth);
        self.bounds.forget_if_loose(most);
        if self.mode == Mode::Startup {
            self.startup.losses.next_round();
            if self.startup.is_over(bandwidth, &self.round) {
                self.leave_startup(cx, 1.25);
            }
        }
        if !matches!(self.mode, Mode::Startup | Mode::Drain | Mode::ProbeRtt { .. }) {
            let path = Path { rtt_min: self.path.rtt_min, spread: self.path.spread };
            self.share.judge(cx.now, &self.round, path, most);
        }
        let rtt_min = self.path.rtt_min;
        let is_changed = self.path.path_change.judge(&self.round, bandwidth, gain, rtt_min);
        if is_changed || self.share.is_starved() {
            self.measure_again(cx.now);
        }
        self.round.next(self.delivery.delivered(), in_flight);
        self.bandwidth.next_round();
    }

    fn leave_startup(&mut self, cx: &mut Cx<'_>, left: f64) {
        self.mode = Mode::Drain;
        self.share.begin(left * self.pipe(self.bandwidth()) + SPARE);
        cx.note("startup_end", self.bandwidth());
    }

    /// Startup's window grows by what arrives, and to the pipe that a train shows.
    fn grow(&mut self, cx: &mut Cx<'_>, arrival: &Arrival<'_>) {
        self.startup.train.arrived(arrival.sent_at, cx.now);
        if let Some(rate) = self.startup.train.rate() {
            let first = self.startup.hint.is_none();
            self.startup.hint = Some(rate);
            if first {
                cx.note("hint", rate);
                let most = HINTED_GROWTH * self.startup.window;
                self.startup.window = self.startup.window.max(self.pipe(rate).min(most));
                // Segments delivered before the train was even came out of a token bucket, not
                // through the bottleneck.
                self.bandwidth = MaxFilter::default();
            }
        }
        let startup = &mut self.startup;
        startup.losses.arrived();
        if !self.round.is_app_limited() {
            startup.window += 1.0;
        }
        let phase = startup.hystart.phase(cx.now, arrival.sent_at, arrival.rtt, self.path.rtt_min);
        // Where HyStart++ would go on more carefully, ProbeBW does.
        if phase != Phase::SlowStart {
            self.leave_startup(cx, 1.25);
        }
    }

    /// The transitions of the draft's section 4.3, after each arrival.
    fn advance(&mut self, cx: &mut Cx<'_>, in_flight: f64) {
        let now = cx.now;
        let bandwidth = self.bandwidth();
        let full = self.pipe(bandwidth);
        let drained = in_flight <= full.max(SPARE);
        let longest = Duration(self.path.rtt_min.0.saturating_mul(LONGEST_DOWN));
        match self.mode {
            Mode::Startup => {}
            Mode::Drain if drained => self.cruise(cx),
            Mode::Down { since } if drained || now.since(since) > longest => self.cruise(cx),
            Mode::Cruise { until } if now >= until => self.go_up(now),
            Mode::Up { round, since, bandwidth: before, hold } => {
                let full_round = now.since(since) > self.path.rtt_min;
                let tried = self.round.number() >= round + 2;
                let more = bandwidth >= 1.1 * before || self.bounds.reached(&self.round);
                if full_round && in_flight >= self.settings.probe_gain * full.max(SPARE) {
                    self.mode = Mode::Down { since: now };
                } else if tried && more {
                    self.go_up(now);
                } else if tried {
                    self.mode = Mode::Down { since: now };
                } else if full_round && !hold {
                    // The gain of going up shows a round trip later. Going up meanwhile could fill
                    // a buffer of half a pipe.
                    self.mode = Mode::Up { round, since, bandwidth: before, hold: true };
                }
            }
            Mode::ProbeRtt { until: None } if in_flight <= (full / 2.0).max(Bbr::MIN_WINDOW) => {
                self.mode = Mode::ProbeRtt { until: Some(now + PROBE_RTT.max(self.path.rtt_min)) };
            }
            Mode::ProbeRtt { until: Some(until) } if now >= until => {
                self.path.rtt_min_at = now;
                self.cruise(cx);
            }
            _ => {}
        }
        let stale = now.since(self.path.rtt_min_at) > self.settings.probe_rtt_interval;
        if stale {
            self.measure_again(now);
        }
    }

    /// The known round-trip time is too old, or of a nearer node.
    fn measure_again(&mut self, now: Time) {
        if !matches!(self.mode, Mode::ProbeRtt { .. } | Mode::Startup) {
            let latest = self.path.rtt.latest().unwrap_or(self.path.rtt_min);
            self.path.rtt_min = self.round.rtt_min().min(latest);
            self.path.rtt_min_at = now;
            self.mode = Mode::ProbeRtt { until: None };
        }
    }

    fn go_up(&mut self, now: Time) {
        let (round, bandwidth) = (self.round.number(), self.bandwidth());
        self.mode = Mode::Up { round, since: now, bandwidth, hold: false };
    }

    /// Cruises for four to seven round trips, at random so that flows do not go up together.
    fn cruise(&mut self, cx: &mut Cx<'_>) {
        let rounds = 4 + cx.rng.below(4);
        let mut span = Duration(self.path.rtt_min.0.saturating_mul(rounds));
        if self.bounds.is_bounded() {
            // BBRv2, section 4.3.3.6: trying for more costs losses. It is tried every two to three
            // seconds, or when Reno would have grown by the pipe (`BBRIsRenoCoexistenceProbeTime`).
            let reno = self.pipe(self.bandwidth()).min(RENO_ROUNDS) as u64;
            let wait = BOUNDED_CRUISE + Duration(cx.rng.below(BOUNDED_CRUISE.0 / 2));
            span = span.max(wait.min(Duration(self.path.rtt_min.0.saturating_mul(reno))));
        }
        self.mode = Mode::Cruise { until: cx.now + span };
    }
}

impl Controller for Bbr {
    fn permit(&self, now: Time, ask: &Ask<'_>) -> Permit {
        let in_flight = ask.in_flight.total().segments;
        if in_flight > 0 && f64::from(in_flight) + f64::from(ask.count) > self.window() {
            return Permit::Wait;
        }
        let burst = self.burst();
        // The pace of what went ahead is not that of what follows when it is over.
        let begins = in_flight == 0 && self.first_flight();
        if self.release_at > now + burst && !begins {
            Permit::At(self.release_at - burst)
        } else {
            Permit::Now(0)
        }
    }

    fn on_sent(&mut self, cx: &mut Cx<'_>, sent: &Sent) -> Ticket {
        let now = cx.now;
        let room = f64::from(sent.before.segments) + f64::from(sent.count) < self.window();
        let unused = now.since(self.release_at.max(self.held_at));
        if room && unused > UNUSED.max(self.burst()) && self.delivery.delivered() > 0 {
            self.delivery.app_limited(sent.before.segments);
        }
        if let Some(pace) = self.pace() {
            // A range, too, is answered within a round trip: it needs no longer pause.
            let srtt = self.path.rtt.smoothed().unwrap_or_default().as_secs_f64();
            let seconds = (f64::from(sent.count) / pace).min(srtt.max(1.0 / pace));
            let span = Duration::from_secs_f64(seconds);
            self.release_at = self.release_at.clamp(now - self.burst(), now + self.burst()) + span;
        }
        let in_flight = sent.before.segments + u32::from(sent.count);
        self.round.sent(in_flight);
        if self.first_flight() && sent.before.segments == 0 {
            // Segments sent ahead have been answered, or are no longer waited for.
            self.release_at = now;
            self.startup.burst = self.settings.initial_window;
            self.startup.scout = is_scout(sent);
        }
        if self.first_flight() && (self.path.rtt.smoothed().is_some() || self.startup.scout) {
            self.startup.burst -= f64::from(sent.count);
            self.startup.window = self.startup.window.max(f64::from(in_flight));
        }
        Ticket {
            timeout: self.timeout(sent.before.segments),
            memo: self.delivery.stamp(now, sent.before.segments == 0),
            options: HopOptions::default(),
        }
    }

    fn on_data(&mut self, cx: &mut Cx<'_>, arrival: &Arrival<'_>) {
        let in_flight = arrival.in_flight.total().segments;
        self.path.spread = arrival.in_flight.spread();
        if f64::from(in_flight) + 2.0 > self.window() {
            self.held_at = cx.now;
        }
        if self.silence.silent {
            self.silence.silent = false;
            if self.silence.timeouts >= OUTAGE {
                // Losses of that time are no evidence of a queue.
                self.share.begin(self.pipe(self.bandwidth()) + SPARE);
            }
        }
        self.silence.received_at = cx.now;
        self.segment = arrival.size;
        self.round.arrived(arrival.mark > 0);
        if self.mode != Mode::Startup {
            self.share.arrived(self.queued());
        }
        if arrival.late {
            self.delivery.count(cx.now);
            self.round.found();
            return;
        }
        if let Some(rtt) = arrival.rtt {
            self.sample_rtt(cx.now, rtt);
        }
        let (sent_at, memo) = (arrival.sent_at, arrival.memo);
        if let Some(sample) = self.delivery.arrived(cx.now, sent_at, memo, self.path.rtt_min) {
            self.round.sample_rate(sample.app_limited);
            if !sample.app_limited || sample.rate > self.bandwidth() {
                self.bandwidth.sample(sample.rate);
            }
        }
        if self.mode == Mode::Startup {
            self.grow(cx, arrival);
        }
        if self.round.is_over(Delivery::prior(memo)) {
            self.end_round(cx, in_flight);
        }
        self.advance(cx, f64::from(in_flight));
    }

    fn on_loss(&mut self, cx: &mut Cx<'_>, loss: &Loss<'_>) {
        if loss.cause == Cause::Nack(NackReason::Congestion.number()) {
            self.round.nacked();
        } else if !matches!(loss.cause, Cause::Nack(_)) {
            // RFC 9002, 7.3.2: what left before the last cut belongs to the congestion it answered.
            let news = self.cut_at.is_none_or(|cut| loss.sent_at > cut);
            let more = f64::from(self.round.in_flight()) > self.uncongested();
            let queued = self.queued();
            if self.mode != Mode::Startup {
                self.share.lost(loss.sent_at, queued);
            } else if self.path.rtt.smoothed().is_some() && self.startup.losses.lost() {
                // Before the first round trip is known, a loss may be an answer that is on its way.
                self.leave_startup(cx, LEFT_AFTER_LOSS);
            }
            self.round.lost(news && more && queued, loss.segment);
        }
        self.held_at = cx.now;
        // Nothing has come since it left: neither its Data nor another's.
        if loss.cause == Cause::Timeout && loss.sent_at >= self.silence.received_at {
            self.silence.silent = true;
            if self.silence.backed_off_at.is_none_or(|at| loss.sent_at >= at) {
                self.silence.backed_off_at = Some(cx.now);
                self.path.rtt.back_off();
                self.silence.timeouts = (self.silence.timeouts + 1).min(16);
            }
        }
    }

    fn seed(&mut self, _cx: &mut Cx<'_>, lane: Lane, estimate: PathEstimate) -> bool {
        let bits = 8.0 * estimate.segment.0.max(1) as f64;
        // Less than a segment a second is a pause, and no rate.
        let rate = (estimate.rate.min(MAX_RATE).0 as f64 / bits).max(1.0);
        if lane != 0 || self.mode != Mode::Startup || estimate.rate.0 == 0 {
            return false;
        }
        self.path.rtt_min = self.path.rtt_min.min(estimate.rtt_min);
        self.startup.hint = Some(rate);
        self.startup.window = self.pipe(rate).max(Bbr::MIN_WINDOW);
        true
    }

    fn gauges(&self, out: &mut dyn FnMut(Lane, &'static str, f64)) {
        let bits = 8.0 * self.segment.0 as f64;
        out(0, "window", self.window());
        out(0, "bandwidth", self.bandwidth() * bits);
        if let Some(pace) = self.pace() {
            out(0, "rate", pace * bits);
        }
    }
}

#[cfg(test)]
mod tests;
