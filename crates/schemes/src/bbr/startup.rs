//! The state of Startup, and the rules that end it.

use super::flight::Round;
use crate::shared::consumer::hystart::{HyStart, Phase};
use crate::shared::consumer::train::Train;
use control::{Came, Duration, Rounds, Time};

/// The share of random loss in some dozen segments is known only up to this factor.
const MARGIN: f64 = 2.5;
/// A round has this many segments at least, or the first two losses would be a pattern.
const FEWEST: f64 = 16.0;
/// The tolerated loss beyond that: BBRv2's `BBRLossThresh`.
const TOLERATED: f64 = 0.02;

/// The rest of the pipe after Startup has overrun the buffer: BBRv2's `BBRBeta`.
pub(super) const LEFT_AFTER_LOSS: f64 = 0.7;

/// The state of Startup.
pub struct Startup {
    pub window: f64,
    /// Interests of the initial window that may still leave at once.
    pub burst: f64,
    /// A small request went ahead.
    pub scout: bool,
    pub hystart: SlowStart,
    pub train: Train,
    /// The bottleneck's rate in segments per second as the train or a seed shows it.
    pub hint: Option<f64>,
    /// The round in which the bandwidth came up to the hint.
    pub confirmed: Option<u64>,
    pub full_bandwidth: f64,
    pub full_count: u32,
    pub losses: Losses,
}

/// Slow start by HyStart++, with its round trips.
pub struct SlowStart {
    hystart: HyStart,
    rounds: Rounds,
}

/// Losses of Startup. A share that is lost from the beginning is chance; if it begins to be lost,
/// the buffer overflows, whether the queue was ever seen to be short or not.
#[derive(Default)]
pub struct Losses {
    /// Segments that came or were lost in this round, and those that were lost.
    round: (f64, f64),
    /// The same of the rounds before.
    before: (f64, f64),
}

impl Losses {
    pub fn arrived(&mut self) {
        self.round.0 += 1.0;
    }

    pub fn next_round(&mut self) {
        self.before.0 += self.round.0;
        self.before.1 += self.round.1;
        self.round = (0.0, 0.0);
    }

    /// One more was lost. Is that more than chance takes, by three standard deviations of what it
    /// has taken so far?
    pub fn lost(&mut self) -> bool {
        self.round.0 += 1.0;
        self.round.1 += 1.0;
        let (all, lost) = (self.round.0.max(FEWEST), self.round.1);
        let usual = (self.before.1 + 0.5) / (self.before.0 + 30.0);
        let likely = (TOLERATED + MARGIN * usual) * all;
        lost > likely + 3.0 * likely.sqrt()
    }
}

impl Startup {
    /// As it is before the first Interest.
    pub fn new(window: f64) -> Startup {
        Startup {
            window,
            burst: window,
            scout: false,
            hystart: SlowStart { hystart: HyStart::new(), rounds: Rounds::new() },
            train: Train::default(),
            hint: None,
            confirmed: None,
            full_bandwidth: 0.0,
            full_count: 0,
            losses: Losses::default(),
        }
    }

    /// How much of what the train showed is tried: more only after it is confirmed.
    pub fn gain(&self) -> f64 {
        if self.confirmed.is_some() { 1.25 } else { 1.0 }
    }

    /// Startup is over when the bandwidth has come up to what the train showed and more did not
    /// come of trying for a round, or when three rounds brought less than a quarter more each.
    pub fn is_over(&mut self, bandwidth: f64, round: &Round) -> bool {
        if let Some(hint) = self.hint {
            if bandwidth >= 1.1 * hint {
                self.hint = None;
            } else if self.confirmed.is_some_and(|confirmed| confirmed < round.number()) {
                return true;
            } else if bandwidth >= 0.9 * hint {
                self.confirmed = Some(round.number());
            }
        }
        if bandwidth >= 1.25 * self.full_bandwidth {
            self.full_bandwidth = bandwidth;
            self.full_count = 0;
            return false;
        }
        if round.is_app_limited() {
            return false;
        }
        self.full_count += 1;
        self.full_count >= 3
    }
}

impl SlowStart {
    /// The state of slow start after Data of an Interest that left at `sent_at`; `rtt` if
    /// unambiguous, `rtt_min` the smallest ever.
    pub fn phase(
        &mut self,
        now: Time,
        sent_at: Time,
        rtt: Option<Duration>,
        rtt_min: Duration,
    ) -> Phase {
        if let Some(ended) = self.rounds.on_data(now, &Came { sent_at, rtt, ..Came::default() }) {
            self.hystart.on_round(&ended);
        }
        self.hystart.on_data(&self.rounds.current(), rtt_min)
    }
}
