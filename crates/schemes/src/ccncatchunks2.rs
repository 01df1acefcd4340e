//! The pipeline of ccncatchunks2, the fetching tool of CCNx 0.x.
//!
//! Project CCNx, csrc/cmd/ccncatchunks2.c, the only written source; A. Rodrigues' report on a
//! testbed (FEUP, 2014) shows it at work.
//!
//! - Data: W <- min(W + 1, p). Up to two further segments are requested.
//! - The window is one of numbers, not of flight: W segments from the first missing one on. A
//!   missing segment holds up all that are W behind it.
//! - The first timeout of a segment is a hole: W <- max(W - hole, 1), and the segment is requested
//!   again, for the 4 s that are the lifetime of an Interest without one.
//! - Further timeouts: W <- W / 2, and again.
//! - The lifetime of first Interests is the round-trip estimate E, 125 to 500 ms; 4 s before there
//!   is one. One round trip at a time is measured: R > E: E <- E + E / 8, else E <- E - E / 128; E
//!   <- R below 127 us.
//!
//! Only its timeouts repeat an Interest: no gap shows a loss, and there are no probes.
//!
//! Deviations. Lifetime and timeout are one in CCNx. Here the consumer sets the Interest's
//! lifetime, and the timeout alone follows the tool. A Nack, which CCNx 0.x does not have, counts
//! as a timeout. The first answer, that of the metadata, counts as segment 0.

use control::{
    Arrival, Ask, Controller, Cx, Duration, Equation, Lane, Loss, ParamSpec, Params, Permit,
    Scheme, Sent, Ticket, Time, Value,
};
use packet::HopOptions;

/// The scheme.
pub const SCHEME: Scheme = Scheme {
    name: "ccncatchunks2",
    summary: "the pipeline of CCNx 0.x: one more per Data packet up to 31, one less per gap",
    paper: "Project CCNx, csrc/cmd/ccncatchunks2.c, release 0.8.1",
    equations: EQUATIONS,
    params: PARAMS,
    controller: Some(|params| Box::new(Pipeline::new(params))),
    ..Scheme::EMPTY
};

const EQUATIONS: &[Equation] = &[
    ("incoming_content", "Data: W <- min(W + 1, p); ask for up to 2, below the first missing + W"),
    ("incoming_content", "first time-out of a segment: W <- max(W - hole, 1)"),
    ("incoming_content", "further ones: W <- W / 2, not below 1"),
    ("make_template", "lifetime: E, at least 125 and at most 500 ms; 4 s when asked for again"),
    ("update_rtt", "R > E: E <- E + E / 8; else E <- E - E / 128; E < 127 us: E <- R"),
];

const PARAMS: &[ParamSpec] = &[
    ParamSpec {
        name: "p",
        default: Value::Number(31.0),
        range: (1.0, 127.0),
        help: "the largest window",
        source: "ccncatchunks2.c, option -p",
    },
    ParamSpec {
        name: "hole",
        default: Value::Number(1.0),
        range: (0.0, 127.0),
        help: "by how much the window shrinks at the first time-out of a segment",
        source: "ccncatchunks2.c; 0 in later versions",
    },
];

/// The lifetimes of Interests that were never repeated.
const SHORTEST: Duration = Duration::from_millis(125);
const LONGEST: Duration = Duration::from_millis(500);
/// The lifetime of an Interest that names none.
const DEFAULT: Duration = Duration::from_secs(4);
/// Round trips that are longer are not believed.
const BELIEVED: Duration = Duration::from_secs(30);
/// The estimate is never shorter than this, but for a round trip that is.
const LEAST: Duration = Duration::from_micros(127);
/// Slots of the pipeline: no window reaches as far.
const SLOTS: u64 = 128;

/// The consumer.
struct Pipeline {
    most: u32,
    hole: u32,
    window: u32,
    /// The first segment that has not come.
    missing: u64,
    /// Those of the next 128 that have: bit n is segment `missing + n`.
    there: u128,
    /// How many may be asked for before the next Data.
    credit: u32,
    estimate: Option<Duration>,
    /// The segment whose round trip is being measured, and since when (`sendtime_slot`).
    probe: Option<(u64, Time)>,
}

/// The memo of an Interest with a lifetime: its time-out is the segment's first.
const FIRST: u64 = 1;

impl Pipeline {
    fn new(params: &Params) -> Pipeline {
        Pipeline {
            most: params.number("p") as u32,
            hole: params.number("hole") as u32,
            window: 1,
            missing: 0,
            there: 0,
            credit: 1,
            estimate: None,
            probe: None,
        }
    }

    fn lifetime(&self, attempt: u16) -> Duration {
        match self.estimate {
            Some(estimate) if attempt == 0 => estimate.clamp(SHORTEST, LONGEST),
            _ => DEFAULT,
        }
    }

    /// A segment is there: the window begins at the first that is not.
    fn take(&mut self, segment: u64) {
        let Some(ahead) = segment.checked_sub(self.missing).filter(|n| *n < SLOTS) else { return };
        self.there |= 1 << ahead;
        let run = self.there.trailing_ones();
        self.missing += u64::from(run);
        self.there = self.there.checked_shr(run).unwrap_or(0);
    }

    /// E, after a round trip.
    fn measure(&mut self, rtt: Duration) {
        if rtt > BELIEVED {
            return;
        }
        let Duration(before) = self.estimate.unwrap_or(Duration::ZERO);
        let after = if rtt.0 > before { before + before / 8 } else { before - before / 128 };
        let after = Duration(after);
        self.estimate = Some(if after < LEAST { rtt } else { after });
    }
}

impl Controller for Pipeline {
    fn permit(&self, _now: Time, ask: &Ask<'_>) -> Permit {
        let end = ask.first.saturating_add(u64::from(ask.count));
        let in_window = end <= self.missing.saturating_add(u64::from(self.window));
        let idle = ask.in_flight.total().segments == 0;
        match ask.attempt > 0 || idle || (in_window && self.credit > 0) {
            true => Permit::Now(0),
            false => Permit::Wait,
        }
    }

    fn on_sent(&mut self, cx: &mut Cx<'_>, sent: &Sent) -> Ticket {
        if sent.attempt == 0 {
            self.credit = self.credit.saturating_sub(u32::from(sent.count));
            // Only what is asked for again is measured, and measured from its first Interest: else
            // no lifetime that is too short would ever become longer.
            self.probe.get_or_insert((sent.first, cx.now));
        }
        let timeout = self.lifetime(sent.attempt);
        let named = sent.attempt == 0 && self.estimate.is_some();
        let memo = [u64::from(named) * FIRST, 0];
        Ticket { timeout, memo, options: HopOptions::default() }
    }

    /// Only a timeout shows a loss.
    fn came_in(&self, _arrival: &Arrival<'_>) -> Option<Lane> {
        None
    }

    fn may_be_probed(&self) -> bool {
        false
    }

    fn on_data(&mut self, cx: &mut Cx<'_>, arrival: &Arrival<'_>) {
        if let Some((_, since)) = self.probe.filter(|(segment, _)| *segment == arrival.segment) {
            self.measure(cx.now.since(since));
            self.probe = None;
        }
        self.take(arrival.segment);
        self.window = (self.window + 1).min(self.most);
        self.credit = 2;
    }

    fn on_loss(&mut self, cx: &mut Cx<'_>, loss: &Loss<'_>) {
        self.window = match loss.memo[0] {
            FIRST => self.window.saturating_sub(self.hole),
            _ => self.window / 2,
        };
        self.window = self.window.max(1);
        cx.note("cut", f64::from(self.window));
    }

    fn gauges(&self, out: &mut dyn FnMut(Lane, &'static str, f64)) {
        out(0, "window", f64::from(self.window));
        out(0, "rtte", self.estimate.unwrap_or(Duration::ZERO).as_secs_f64());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Play;
    use control::Cause;

    fn play(text: &str) -> Play {
        Play::new(text.parse::<crate::Choice>().unwrap().controller().unwrap())
    }

    #[test]
    fn the_window_grows_by_one_for_each_data_up_to_its_bound() {
        let mut play = play("ccncatchunks2:p=5");
        let mut out = std::collections::VecDeque::from([play.ask(1).unwrap()]);
        assert!(play.ask(1).is_none(), "the first alone");
        let mut asked = Vec::new();
        for ms in 1..8 {
            play.at_ms(ms);
            let first = out.pop_front().unwrap();
            play.data(&first, 0);
            let before = out.len();
            while let Some(next) = play.ask(1) {
                out.push_back(next);
            }
            asked.push((out.len() - before, out.len(), play.gauge("window")));
        }
        // Two for each Data until the window is 5, then one for each that leaves it.
        let grown = [(2, 2, 2.0), (2, 3, 3.0), (2, 4, 4.0), (2, 5, 5.0)];
        assert_eq!(asked[..4], grown);
        assert!(asked[4..].iter().all(|at| *at == (1, 5, 5.0)), "{asked:?}");
    }

    #[test]
    fn missing_segments_hold_up_the_window() {
        let mut play = play("ccncatchunks2:p=3");
        let first = play.ask(1).unwrap();
        play.at_ms(1);
        play.data(&first, 0);
        let [one, two] = [play.ask(1).unwrap(), play.ask(1).unwrap()];
        play.data(&two, 0);
        // 1 is missing: 1, 2, 3 are in the window.
        let three = play.ask(1).unwrap();
        assert!(play.ask(1).is_none());
        play.data(&three, 0);
        assert!(play.ask(1).is_none(), "4 is beyond 1 + 3, though one alone is in flight");
        play.data(&one, 0);
        assert!(play.ask(1).is_some() && play.ask(1).is_some());
        assert!(play.ask(1).is_none(), "two for one Data, though the window has room for three");
    }

    #[test]
    fn a_hole_takes_one_and_further_time_outs_half() {
        let mut play = play("ccncatchunks2");
        let mut out = std::collections::VecDeque::from([play.ask(1).unwrap()]);
        for ms in 1..=19 {
            play.at_ms(ms);
            let first = out.pop_front().unwrap();
            play.data(&first, 0);
            out.extend([play.ask(1), play.ask(1)].into_iter().flatten());
        }
        assert_eq!(play.gauge("window"), 20.0);
        let lost = out.pop_front().unwrap();
        assert_eq!(lost.ticket.timeout, Duration::from_millis(125));
        play.at_ms(200);
        play.lose(&lost, Cause::Timeout);
        assert_eq!(play.gauge("window"), 19.0);
        let again = play.again(&lost).unwrap();
        assert_eq!(again.ticket.timeout, Duration::from_secs(4));
        play.at_ms(4200);
        play.lose(&again, Cause::Timeout);
        assert_eq!(play.gauge("window"), 9.0);
    }

    #[test]
    fn round_trips_of_retransmissions_start_at_the_first_interest() {
        let mut play = play("ccncatchunks2");
        let first = play.ask(1).unwrap();
        play.at_ms(120);
        play.data(&first, 0);
        let late = play.ask(1).unwrap();
        play.at_ms(120 + 125);
        play.lose(&late, Cause::Timeout);
        let again = play.again(&late).unwrap();
        play.at_ms(120 + 150);
        play.data(&again, 0);
        // 150 ms are more than 120: an eighth more.
        assert!((play.gauge("rtte") - 0.135).abs() < 1e-9, "{}", play.gauge("rtte"));
    }

    #[test]
    fn the_estimate_rises_by_an_eighth_and_falls_by_a_128th() {
        let mut pipeline = Pipeline::new(&Params::defaults(PARAMS));
        let us = Duration::from_micros;
        pipeline.measure(us(80_000));
        // From nothing it is the round trip.
        assert_eq!(pipeline.estimate, Some(us(80_000)));
        pipeline.measure(us(400_000));
        assert_eq!(pipeline.estimate, Some(us(90_000)));
        pipeline.measure(us(12_800));
        assert_eq!(pipeline.estimate, Some(Duration(90_000_000 - 703_125)));
        pipeline.measure(Duration::from_secs(31));
        assert_eq!(pipeline.estimate, Some(Duration(90_000_000 - 703_125)));
        assert_eq!(pipeline.lifetime(0), SHORTEST);
        assert_eq!(pipeline.lifetime(1), DEFAULT);
    }
}
