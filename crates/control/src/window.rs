//! The simplest kind of scheme, only a window, and the adaptor that makes it a controller.

use crate::consumer::{
    Arrival, Ask, Cause, Controller, Lane, Loss, MAX_WINDOW, PathEstimate, Permit, Sent, Ticket,
};
use crate::context::Cx;
use crate::params::{ParamSpec, Value};
use crate::quantity::Size;
use crate::recovery::Recovery;
use crate::round::{Came, Round, Rounds};
use crate::rtt::RttEstimate;
use crate::time::{Duration, Time};
use crate::timer::Timer;
use packet::HopOptions;

/// A window law's view of an arrival.
#[derive(Clone, Copy, Debug)]
pub struct Ack {
    /// The round-trip time, if unambiguous.
    pub rtt: Option<Duration>,
    /// The estimate, this sample included.
    pub srtt: Duration,
    /// The smallest round-trip time so far.
    pub rtt_min: Duration,
    /// When the segment's Interest left.
    pub sent_at: Time,
    /// Segments in flight when the Data arrived, including this one.
    pub in_flight: u32,
    /// The window was in use when the Interest left; a window that is not used must not grow.
    pub window_limited: bool,
    /// The round that is under way, this Data included.
    pub round: Round,
    /// The Data packet's size.
    pub size: Size,
}

/// A reason to shrink.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// Data had a congestion mark.
    Mark,
    /// A segment is considered lost.
    Lost(Cause),
}

/// A scheme that is only a window, in segments. It is cloned before a cut, which is undone if there
/// was no congestion ([`Recovery`]).
pub trait WindowLaw: CloneLaw + Send {
    /// The window in segments: at least 1, finite.
    fn window(&self) -> f64;

    /// Unmarked Data arrived in time.
    fn on_ack(&mut self, _cx: &mut Cx<'_>, _ack: &Ack) {}

    /// A round trip ended, with what it brought. It is called before the call for the Data that
    /// ended it. Laws that decide once a round trip grow here (Vegas by its round-trip times, DCTCP
    /// by its share of marks) and keep no account of their own.
    fn on_round(&mut self, _cx: &mut Cx<'_>, _round: &Round) {}

    /// Congestion. The adaptor calls it at most once a round trip, but see
    /// [`WindowLaw::answers_every_mark`].
    fn on_congestion(&mut self, cx: &mut Cx<'_>, signal: Signal, rtt: &RttEstimate);

    /// Start from this window.
    fn seed(&mut self, segments: f64);

    /// `true` if every mark counts as congestion, even several per round trip: for networks that
    /// space their marks.
    fn answers_every_mark(&self) -> bool {
        false
    }

    /// Send `gain` times the window per round trip, evenly; 0 sends as the window allows. A law in
    /// slow start returns 2; RFC 9406 explains why bursts mislead.
    fn pacing_gain(&self) -> f64 {
        1.25
    }
}

/// Laws are `Clone`.
pub trait CloneLaw {
    /// The law in another box.
    fn clone_law(&self) -> Box<dyn WindowLaw>;
}

impl<T: WindowLaw + Clone + 'static> CloneLaw for T {
    fn clone_law(&self) -> Box<dyn WindowLaw> {
        Box::new(self.clone())
    }
}

impl Clone for Box<dyn WindowLaw> {
    fn clone(&self) -> Self {
        (**self).clone_law()
    }
}

/// The state before a cut, restored if there was no congestion.
#[derive(Clone)]
struct Before {
    law: Box<dyn WindowLaw>,
    rounds: Rounds,
}

/// A window law with accounting, RFC 6298 timeouts, pacing, and at most one cut a round trip.
pub struct Windowed {
    law: Box<dyn WindowLaw>,
    rtt: RttEstimate,
    rounds: Rounds,
    recovery: Recovery<Before>,
    /// The next Interest may leave at this instant.
    release_at: Time,
    /// The time of the latest Data.
    received_at: Option<Time>,
    /// When the timeout was doubled last.
    backed_off_at: Option<Time>,
    /// See [`GAPS`].
    gaps: bool,
    /// See [`Windowed::without_marks`].
    reads_marks: bool,
}

/// The parameter of window schemes that [`Windowed::with_gaps`] takes.
pub const GAPS: ParamSpec = ParamSpec {
    name: "gaps",
    default: Value::Switch(true),
    range: (0.0, 1.0),
    help: "Data that arrives before Data requested earlier shows a loss; off: only timeouts do",
    source: "own; off is what consumers of ndnSIM and ndnget do",
};

/// Set in the second word of the memo if the window was full when the Interest left.
const LIMITED: u64 = 1;

impl Windowed {
    /// Wraps `law`.
    #[must_use]
    pub fn new(law: Box<dyn WindowLaw>) -> Windowed {
        Windowed {
            law,
            rtt: RttEstimate::new(),
            rounds: Rounds::new(),
            recovery: Recovery::new(),
            release_at: Time::ZERO,
            received_at: None,
            backed_off_at: None,
            gaps: true,
            reads_marks: true,
        }
    }

    /// The same, with losses detected by gaps or by timeouts only; see [`GAPS`].
    #[must_use]
    pub fn with_gaps(self, gaps: bool) -> Windowed {
        Windowed { gaps, ..self }
    }

    /// The same for a law that ignores congestion marks: marked Data are Data.
    #[must_use]
    pub fn without_marks(self) -> Windowed {
        Windowed { reads_marks: false, ..self }
    }

    /// The same with another timer than Weir's own; see [`crate::timer`].
    #[must_use]
    pub fn with_timer(self, timer: Timer) -> Windowed {
        Windowed { rtt: RttEstimate::with_timer(timer), ..self }
    }

    /// The law's window, within the limits.
    fn window(&self) -> f64 {
        self.law.window().clamp(1.0, MAX_WINDOW)
    }

    /// At most one cut for Interests of the same round trip.
    fn congestion(&mut self, cx: &mut Cx<'_>, sent_at: Time, signal: Signal) {
        let cause = match signal {
            Signal::Mark => None,
            Signal::Lost(cause) => Some(cause),
        };
        if self.recovery.covers(sent_at) {
            return self.recovery.again(sent_at, cause);
        }
        let before = Before { law: self.law.clone(), rounds: self.rounds };
        self.recovery.begin(cx.now, cause, before);
        self.law.on_congestion(cx, signal, &self.rtt);
        cx.note("cut", self.window());
    }

    /// The Interest that left at `sent_at` was not lost.
    fn no_congestion(&mut self, cx: &mut Cx<'_>, sent_at: Time) {
        if let Some(before) = self.recovery.disproved(sent_at)
            && before.law.window() > self.law.window()
        {
            Before { law: self.law, rounds: self.rounds } = before;
            cx.note("undo", self.window());
        }
    }

    /// Counts Data that arrived in time, and reports the end of a round to the law.
    fn count(&mut self, cx: &mut Cx<'_>, arrival: &Arrival<'_>, window_limited: bool) {
        let Arrival { sent_at, rtt, .. } = *arrival;
        let came = Came { sent_at, rtt, marked: arrival.mark > 0, window_limited };
        if let Some(ended) = self.rounds.on_data(cx.now, &came) {
            self.law.on_round(cx, &ended);
        }
    }

    /// RFC 6298 (5.5), with a timer for each Interest: the timeout doubles once for all Interests
    /// that left in the same silence, however many there are.
    fn silence(&mut self, now: Time, loss: &Loss<'_>) {
        let nothing_came = self.received_at.is_none_or(|at| at <= loss.sent_at);
        let nothing_will = loss.in_flight.total() == Default::default();
        let not_yet = self.backed_off_at.is_none_or(|at| at <= loss.sent_at);
        if (nothing_came || nothing_will) && not_yet {
            self.rtt.back_off();
            self.backed_off_at = Some(now);
        }
    }

    /// The pause after an Interest for `count` segments, which spreads the window over a round
    /// trip. It is at most a round trip: after that, a range of more than the window has been
    /// answered if nothing else is in flight, and waiting for the rest of its share, many round
    /// trips, would be a stall.
    fn pause(&self, count: u16) -> Duration {
        let gain = self.law.pacing_gain();
        match self.rtt.smoothed() {
            Some(srtt) if gain > 0.0 => {
                srtt.mul_f64((f64::from(count) / (self.window() * gain)).min(1.0))
            }
            _ => Duration::ZERO,
        }
    }
}

/// Interests may leave this far ahead of their pace, so that a driver need not wake for each.
pub const BURST: Duration = Duration::from_micros(500);

impl Controller for Windowed {
    fn permit(&self, now: Time, ask: &Ask<'_>) -> Permit {
        let in_flight = ask.in_flight.total().segments;
        if in_flight > 0 && f64::from(in_flight) + f64::from(ask.count) > self.window() {
            return Permit::Wait;
        }
        if self.release_at > now + BURST {
            Permit::At(self.release_at - BURST)
        } else {
            Permit::Now(0)
        }
    }

    fn on_sent(&mut self, cx: &mut Cx<'_>, sent: &Sent) -> Ticket {
        self.release_at = self.release_at.max(cx.now) + self.pause(sent.count);
        let after = f64::from(sent.before.segments) + f64::from(sent.count);
        // RFC 9002, 7.8, as RFC 7661: within half of the window counts as using it.
        let limited = after * 2.0 >= self.window();
        Ticket {
            timeout: self.rtt.rto(),
            memo: [0, if limited { LIMITED } else { 0 }],
            options: HopOptions::default(),
        }
    }

    fn on_data(&mut self, cx: &mut Cx<'_>, arrival: &Arrival<'_>) {
        let arrival =
            &Arrival { mark: if self.reads_marks { arrival.mark } else { 0 }, ..*arrival };
        self.received_at = Some(cx.now);
        let in_flight = arrival.in_flight.total().segments + 1;
        if let Some(rtt) = arrival.rtt {
            self.rtt.sample_of(rtt, in_flight);
        }
        if arrival.late && arrival.mark == 0 && self.rtt.timer().undoes() {
            self.no_congestion(cx, arrival.sent_at);
        }
        let window_limited = arrival.memo[1] == LIMITED;
        if !arrival.late {
            self.count(cx, arrival, window_limited);
        }
        if arrival.mark > 0 && self.law.answers_every_mark() {
            self.recovery.confirm();
            self.law.on_congestion(cx, Signal::Mark, &self.rtt);
            cx.note("cut", self.window());
        } else if arrival.mark > 0 {
            self.congestion(cx, arrival.sent_at, Signal::Mark);
        } else if !arrival.late {
            let srtt = self.rtt.smoothed().unwrap_or(RttEstimate::INITIAL_RTO);
            let ack = Ack {
                rtt: arrival.rtt,
                srtt,
                rtt_min: self.rtt.min().unwrap_or(srtt),
                sent_at: arrival.sent_at,
                in_flight,
                window_limited,
                round: self.rounds.current(),
                size: arrival.size,
            };
            self.law.on_ack(cx, &ack);
        }
    }

    fn came_in(&self, arrival: &Arrival<'_>) -> Option<Lane> {
        self.gaps.then_some(arrival.lane)
    }

    fn may_be_probed(&self) -> bool {
        self.gaps
    }

    fn overdue_at(&self, _lane: Lane, sent_at: Time) -> Time {
        self.rtt.overdue_at(sent_at)
    }

    fn on_loss(&mut self, cx: &mut Cx<'_>, loss: &Loss<'_>) {
        if loss.cause == Cause::Timeout {
            self.silence(cx.now, loss);
        }
        self.congestion(cx, loss.sent_at, Signal::Lost(loss.cause));
        self.rounds.on_loss();
    }

    fn seed(&mut self, _cx: &mut Cx<'_>, _lane: Lane, estimate: PathEstimate) -> bool {
        self.law.seed(estimate.window());
        true
    }

    fn gauges(&self, out: &mut dyn FnMut(Lane, &'static str, f64)) {
        out(0, "window", self.window());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::consumer::{InFlight, Load};
    use crate::rng::Rng;

    #[derive(Clone)]
    struct Halving(f64);
    impl WindowLaw for Halving {
        fn window(&self) -> f64 {
            self.0
        }
        fn on_ack(&mut self, _: &mut Cx<'_>, _: &Ack) {
            self.0 += 1.0;
        }
        fn on_congestion(&mut self, _: &mut Cx<'_>, _: Signal, _: &RttEstimate) {
            self.0 /= 2.0;
        }
        fn seed(&mut self, segments: f64) {
            self.0 = segments;
        }
    }

    /// Grows by one segment a round trip.
    #[derive(Clone)]
    struct Stepping(f64);
    impl WindowLaw for Stepping {
        fn window(&self) -> f64 {
            self.0
        }
        fn on_round(&mut self, _: &mut Cx<'_>, round: &Round) {
            self.0 += if round.window_limited { 1.0 } else { 0.0 };
        }
        fn on_congestion(&mut self, _: &mut Cx<'_>, _: Signal, _: &RttEstimate) {
            self.0 /= 2.0;
        }
        fn seed(&mut self, segments: f64) {
            self.0 = segments;
        }
    }

    #[test]
    fn a_law_is_called_once_in_each_round_trip() {
        let mut rng = Rng::stream(0, &[]);
        let mut tap = |_| {};
        let options = HopOptions::default();
        let mut c = Windowed::new(Box::new(Stepping(4.0)));
        let mut cx = Cx { now: Time(100), rng: &mut rng, tap: &mut tap };
        let sent = |at| Arrival { memo: [0, LIMITED], ..data(Time(at), None, &options) };
        c.on_data(&mut cx, &sent(0));
        c.on_data(&mut cx, &sent(50));
        assert_eq!(window(&c), 4.0, "the first round is under way");
        cx.now = Time(200);
        c.on_data(&mut cx, &sent(100));
        c.on_data(&mut cx, &sent(150));
        assert_eq!(window(&c), 5.0);
        cx.now = Time(300);
        c.on_data(&mut cx, &Arrival { late: true, ..sent(250) });
        assert_eq!(window(&c), 5.0, "late Data ends no round");
        c.on_data(&mut cx, &Arrival { mark: 1, ..sent(250) });
        assert_eq!(window(&c), 3.0, "marked Data does, and then cuts");
        // The round that it began was not limited by the window.
        cx.now = Time(400);
        c.on_data(&mut cx, &data(Time(320), None, &options));
        cx.now = Time(500);
        c.on_data(&mut cx, &data(Time(450), None, &options));
        assert_eq!(window(&c), 4.0);
    }

    struct Flying(u32);
    impl InFlight for Flying {
        fn total(&self) -> Load {
            Load { segments: self.0, bytes: Size(0) }
        }
        fn lane(&self, _: Lane) -> Load {
            self.total()
        }
    }

    fn window(c: &Windowed) -> f64 {
        let mut w = 0.0;
        c.gauges(&mut |_, _, v| w = v);
        w
    }

    fn ask(in_flight: &dyn InFlight) -> Ask<'_> {
        Ask { first: 0, count: 1, attempt: 0, segment: Size(8000), in_flight }
    }

    fn loss(sent_at: Time, in_flight: &dyn InFlight) -> Loss<'_> {
        static NONE: std::sync::LazyLock<HopOptions> = std::sync::LazyLock::new(Default::default);
        let (segment, lane, memo, cause) = (0, 0, [0; 2], Cause::Gap);
        Loss { segment, lane, memo, sent_at, cause, options: &NONE, in_flight }
    }

    #[test]
    fn one_cut_a_round_trip() {
        let mut rng = Rng::stream(0, &[]);
        let mut c = Windowed::new(Box::new(Halving(16.0)));
        let mut tap = |_| {};
        let mut cx = Cx { now: Time(100), rng: &mut rng, tap: &mut tap };
        c.on_loss(&mut cx, &loss(Time(10), &Flying(3)));
        cx.now = Time(150);
        c.on_loss(&mut cx, &loss(Time(11), &Flying(2)));
        c.on_loss(&mut cx, &loss(Time(99), &Flying(1)));
        assert_eq!(window(&c), 8.0, "Interests from before the cut do not cut again");
        cx.now = Time(200);
        c.on_loss(&mut cx, &loss(Time(120), &Flying(1)));
        assert_eq!(window(&c), 4.0, "one that left after the cut does");
    }

    #[test]
    fn silence_doubles_the_timeout_once_for_all_that_left_in_it() {
        let mut rng = Rng::stream(0, &[]);
        let mut c = Windowed::new(Box::new(Halving(8.0)));
        let mut tap = |_| {};
        let mut cx = Cx { now: Time(200), rng: &mut rng, tap: &mut tap };
        let lost = |at| Loss { cause: Cause::Timeout, ..loss(Time(at), &Flying(1)) };
        let initial = RttEstimate::INITIAL_RTO;
        // Two of the first silence, then two of the second; something is in flight all the time.
        c.on_loss(&mut cx, &lost(10));
        c.on_loss(&mut cx, &lost(20));
        assert_eq!(c.rtt.rto(), Duration(2 * initial.0));
        cx.now = Time(400);
        c.on_loss(&mut cx, &lost(200));
        c.on_loss(&mut cx, &lost(210));
        let twice = Duration(4 * initial.0).min(RttEstimate::MAX_BACKED_OFF);
        assert_eq!(c.rtt.rto(), twice);
        // One loss among answers is no silence.
        c.received_at = Some(Time(450));
        cx.now = Time(500);
        c.on_loss(&mut cx, &lost(420));
        assert_eq!(c.rtt.rto(), twice);
    }

    #[test]
    fn a_loss_that_was_none_gives_the_window_back_by_our_own_timer_alone() {
        for (timer, after) in
            [(Timer::Rfc7323, 16.0), (Timer::Rfc6298 { least: RttEstimate::MIN_RTO }, 8.0)]
        {
            undo(Windowed::new(Box::new(Halving(16.0))).with_timer(timer), after);
        }
    }

    /// Both losses of a cut from 16 to 8 segments turn out to be false.
    fn undo(mut c: Windowed, after: f64) {
        let mut rng = Rng::stream(0, &[]);
        let mut tap = |_| {};
        let mut cx = Cx { now: Time(400), rng: &mut rng, tap: &mut tap };
        let lost = |at| Loss { cause: Cause::Timeout, ..loss(Time(at), &Flying(1)) };
        let options = HopOptions::default();
        let late = |at| Arrival { late: true, ..data(Time(at), None, &options) };
        c.on_loss(&mut cx, &lost(10));
        c.on_loss(&mut cx, &lost(20));
        assert_eq!(window(&c), 8.0);
        cx.now = Time(500);
        c.on_data(&mut cx, &late(10));
        assert_eq!(window(&c), 8.0, "one of them may still be lost");
        c.on_data(&mut cx, &late(20));
        assert_eq!(window(&c), after);
        // A loss of the same round trip counts again; the mark that comes with it confirms it.
        c.on_loss(&mut cx, &lost(30));
        c.on_data(&mut cx, &Arrival { mark: 1, late: true, ..late(30) });
        assert_eq!(window(&c), 8.0);
    }

    #[test]
    fn an_empty_pipe_may_always_send_one() {
        let c = Windowed::new(Box::new(Halving(0.25)));
        assert_eq!(c.permit(Time(0), &ask(&Flying(0))), Permit::Now(0));
        assert_eq!(c.permit(Time(0), &ask(&Flying(1))), Permit::Wait);
    }

    fn data(sent_at: Time, rtt: Option<Duration>, options: &HopOptions) -> Arrival<'_> {
        Arrival {
            segment: 0,
            lane: 0,
            memo: [0; 2],
            sent_at,
            rtt,
            size: Size(8000),
            mark: 0,
            late: false,
            options,
            in_flight: &Flying(0),
        }
    }

    /// Sends this many segments at 0 and 100 ms, the first of which is answered at 100 ms, and
    /// returns the time of the next Interest.
    fn next_after(window: f64, count: u16) -> Permit {
        let mut rng = Rng::stream(0, &[]);
        let mut tap = |_| {};
        let mut c = Windowed::new(Box::new(Halving(window)));
        let options = HopOptions::default();
        let rtt = Duration::from_millis(100);
        let sent = Sent {
            first: 0,
            count,
            lane: 0,
            attempt: 0,
            expected: Size(8000 * u64::from(count)),
            stated: None,
            before: Load::default(),
        };
        let mut cx = Cx { now: Time(0), rng: &mut rng, tap: &mut tap };
        c.on_sent(&mut cx, &sent);
        cx.now = Time::ZERO + rtt;
        c.on_data(&mut cx, &data(Time(0), Some(rtt), &options));
        c.on_sent(&mut cx, &sent);
        c.permit(cx.now, &ask(&Flying(0)))
    }

    #[test]
    fn a_window_is_spread_over_the_round_trip() {
        // Window 10, gain 1.25: an Interest every 8 ms, less the burst allowance of 0.5 ms.
        assert_eq!(next_after(9.0, 1), Permit::At(Time::ZERO + Duration::from_micros(107_500)));
        // Two segments of a window of 2 would be 80 ms of the hundred.
        assert_eq!(next_after(1.0, 2), Permit::At(Time::ZERO + Duration::from_micros(179_500)));
        // 32 segments of it would be 1280 ms: a round trip is the longest pause.
        assert_eq!(next_after(1.0, 32), Permit::At(Time::ZERO + Duration::from_micros(199_500)));
    }
}
