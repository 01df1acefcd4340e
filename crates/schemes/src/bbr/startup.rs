//! What only Startup remembers, and how it ends.

use super::train::Train;
use super::{Bbr, Mode};
use crate::hystart::HyStart;
use control::Cx;

/// What Startup needs beyond the rest.
pub struct Startup {
    pub window: f64,
    /// Interests of the initial window that may still leave at once.
    pub burst: f64,
    /// A small request went ahead.
    pub scout: bool,
    pub hystart: HyStart,
    pub train: Train,
    /// The bottleneck's rate in segments per second as the train or a seed shows it.
    pub hint: Option<f64>,
    /// The round in which the bandwidth came up to the hint.
    pub confirmed: Option<u64>,
    pub full_bandwidth: f64,
    pub full_count: u32,
}

impl Startup {
    /// As it is before the first Interest.
    pub fn new(window: f64) -> Startup {
        Startup {
            window,
            burst: window,
            scout: false,
            hystart: HyStart::new(),
            train: Train::default(),
            hint: None,
            confirmed: None,
            full_bandwidth: 0.0,
            full_count: 0,
        }
    }

    /// How much of what the train showed is tried: more only after it is confirmed.
    pub fn gain(&self) -> f64 {
        if self.confirmed.is_some() { 1.25 } else { 1.0 }
    }
}

impl Bbr {
    /// Startup is over when the bandwidth has come up to what the train showed and more did not
    /// come of trying for a round, or when three rounds brought less than a quarter more each.
    pub(super) fn judge_plateau(&mut self, cx: &mut Cx<'_>) {
        let bandwidth = self.bandwidth();
        let startup = &mut self.startup;
        if let Some(hint) = startup.hint {
            if bandwidth >= 1.1 * hint {
                startup.hint = None;
            } else if startup.confirmed.is_some_and(|round| round < self.round.number) {
                self.leave_startup(cx);
                return;
            } else if bandwidth >= 0.9 * hint {
                startup.confirmed = Some(self.round.number);
            }
        }
        if bandwidth >= 1.25 * startup.full_bandwidth {
            startup.full_bandwidth = bandwidth;
            startup.full_count = 0;
        } else if !self.round.app_limited {
            startup.full_count += 1;
            if startup.full_count >= 3 {
                self.leave_startup(cx);
            }
        }
    }

    pub(super) fn leave_startup(&mut self, cx: &mut Cx<'_>) {
        self.mode = Mode::Drain;
        cx.note("startup_end", self.bandwidth());
    }
}
