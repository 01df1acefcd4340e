//! A policy's view of a flow, and its effect on the window. The environments of Python
//! (`weir.env`) and the scheme `learned` share this code.

use crate::consumer::MAX_WINDOW;
use crate::policy::Observation;
use crate::quantity::Size;
use crate::round::Round;
use crate::time::{Duration, Time};
use crate::window::Ack;

/// The window at the beginning, in segments.
pub const FIRST_WINDOW: f64 = 10.0;

/// The window after an action from -1 to 1: it is multiplied by two to the power of it, and stays
/// between 1 and [`MAX_WINDOW`] segments. `None` for any other action.
#[must_use]
pub fn scaled(window: f64, action: f64) -> Option<f64> {
    let is_action = (-1.0..=1.0).contains(&action);
    is_action.then(|| (window * crate::math::pow(2.0, action)).clamp(1.0, MAX_WINDOW))
}

/// Sums up a flow, step by step.
#[derive(Clone, Copy, Debug)]
pub struct Observer {
    window: f64,
    /// Since the last step.
    delivered: u64,
    bytes: u64,
    marks: u64,
    losses: u64,
    rtt_sum_s: f64,
    samples: u64,
    /// As it was last.
    size: Size,
    rtt_s: f64,
    rtt_min_s: f64,
    in_flight: u32,
}

impl Default for Observer {
    fn default() -> Observer {
        Observer {
            window: FIRST_WINDOW,
            delivered: 0,
            bytes: 0,
            marks: 0,
            losses: 0,
            rtt_sum_s: 0.0,
            samples: 0,
            size: Size(0),
            rtt_s: 0.0,
            rtt_min_s: 0.0,
            in_flight: 0,
        }
    }
}

impl Observer {
    /// The window in segments, from 1 to [`MAX_WINDOW`].
    #[must_use]
    pub fn window(&self) -> f64 {
        self.window
    }

    /// The segments that came in this step.
    #[must_use]
    pub fn delivered(&self) -> u64 {
        self.delivered
    }

    /// Begins a step with this window, in segments; one that is not finite counts as 1.
    pub fn begin(&mut self, window: f64) {
        let window = if window.is_finite() { window.clamp(1.0, MAX_WINDOW) } else { 1.0 };
        let Observer { size, rtt_s, rtt_min_s, in_flight, .. } = *self;
        *self = Observer { window, size, rtt_s, rtt_min_s, in_flight, ..Observer::default() };
    }

    /// Counts Data without a mark.
    pub fn on_ack(&mut self, ack: &Ack) {
        self.size = ack.size;
        self.count();
        self.in_flight = ack.in_flight;
        self.rtt_min_s = ack.rtt_min.as_secs_f64();
        if let Some(rtt) = ack.rtt {
            self.rtt_s = rtt.as_secs_f64();
            self.rtt_sum_s += self.rtt_s;
            self.samples += 1;
        }
    }

    /// Counts Data with a mark. A law does not see its size, which is that of the Data before.
    pub fn on_mark(&mut self) {
        self.marks += 1;
        self.count();
    }

    fn count(&mut self) {
        self.delivered += 1;
        self.bytes = self.bytes.saturating_add(self.size.0);
    }

    /// Counts the losses of a round trip that has ended.
    pub fn on_round(&mut self, round: &Round) {
        self.losses += u64::from(round.lost);
    }

    /// The observation of a step that took `taken` and has ended `since_start` after the flow's
    /// beginning.
    #[must_use]
    pub fn observation(&self, since_start: Duration, taken: Duration) -> Observation {
        let rtt_s = match self.samples {
            0 => self.rtt_s,
            n => self.rtt_sum_s / n as f64,
        };
        // A step that took no time has no rate.
        let seconds = taken.max(Duration(1)).as_secs_f64();
        [
            self.window,
            self.bytes as f64 * 8e-6 / seconds,
            rtt_s * 1e3,
            self.rtt_min_s * 1e3,
            f64::from(self.in_flight),
            self.marks as f64,
            self.losses as f64,
            since_start.as_secs_f64(),
        ]
    }
}

/// The steps of a flow that has no environment to end them.
#[derive(Clone, Copy, Debug, Default)]
pub struct Steps {
    /// The beginning of the flow and that of the step; `None` before the first Interest.
    began: Option<(Time, Time)>,
}

impl Steps {
    /// Begins the first step at `at`, unless it has begun.
    pub fn begin(&mut self, at: Time) {
        self.began = self.began.or(Some((at, at)));
    }

    /// Ends a step that has taken `least` or longer at `now`, and begins another one. Returns the
    /// time since the flow's beginning, and that of the step.
    pub fn end(&mut self, now: Time, least: Duration) -> Option<(Duration, Duration)> {
        let (flow, step) = self.began?;
        let taken = now.since(step);
        if taken < least {
            return None;
        }
        self.began = Some((flow, now));
        Some((now.since(flow), taken))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ack(rtt_ms: u64) -> Ack {
        let rtt = Duration::from_millis(rtt_ms);
        Ack {
            rtt: Some(rtt),
            srtt: rtt,
            rtt_min: Duration::from_millis(20),
            sent_at: Time::ZERO,
            in_flight: 7,
            window_limited: true,
            round: Round::default(),
            size: Size(1_000),
        }
    }

    #[test]
    fn an_action_is_a_power_of_two_within_bounds() {
        assert_eq!(scaled(8.0, 1.0), Some(16.0));
        assert_eq!(scaled(8.0, -1.0), Some(4.0));
        assert_eq!(scaled(1.0, -1.0), Some(1.0));
        assert_eq!(scaled(MAX_WINDOW, 1.0), Some(MAX_WINDOW));
        for action in [1.5, -1.01, f64::NAN, f64::INFINITY] {
            assert_eq!(scaled(8.0, action), None, "{action}");
        }
    }

    #[test]
    fn a_step_is_summed_up_and_the_next_one_begins_again() {
        let mut flow = Observer::default();
        flow.on_ack(&ack(20));
        flow.on_ack(&ack(40));
        flow.on_mark();
        flow.on_round(&Round { lost: 2, ..Round::default() });
        let seen = flow.observation(Duration::from_secs(3), Duration::from_millis(100));
        // Three packets of 1000 bytes in 0.1 s; the mean of 20 and 40 ms.
        let expected = [10.0, 0.24, 30.0, 20.0, 7.0, 1.0, 2.0, 3.0];
        for (seen, expected) in seen.iter().zip(expected) {
            assert!((seen - expected).abs() < 1e-9, "{seen} is not {expected}");
        }
        flow.begin(0.5);
        let seen = flow.observation(Duration::from_secs(4), Duration::from_millis(100));
        // The last round-trip time and the smallest one are known still.
        for (seen, expected) in seen.iter().zip([1.0, 0.0, 40.0, 20.0, 7.0, 0.0, 0.0, 4.0]) {
            assert!((seen - expected).abs() < 1e-9, "{seen} is not {expected}");
        }
        flow.begin(f64::NAN);
        assert_eq!(flow.window(), 1.0);
    }

    #[test]
    fn a_step_ends_when_its_time_is_over() {
        let (mut steps, ms) = (Steps::default(), Duration::from_millis);
        assert_eq!(steps.end(Time::ZERO + ms(9), ms(0)), None, "nothing was sent");
        steps.begin(Time::ZERO + ms(10));
        steps.begin(Time::ZERO + ms(15));
        assert_eq!(steps.end(Time::ZERO + ms(19), ms(10)), None);
        assert_eq!(steps.end(Time::ZERO + ms(25), ms(10)), Some((ms(15), ms(15))));
        assert_eq!(steps.end(Time::ZERO + ms(34), ms(10)), None);
        assert_eq!(steps.end(Time::ZERO + ms(35), ms(10)), Some((ms(25), ms(10))));
    }
}
