//! The window, in chunks.

use control::Params;

/// The window never counts more chunks.
pub(super) const MOST: f64 = 4096.0;

pub(super) struct Window {
    threshold: f64,
    alpha: f64,
    /// Slow start begins again below the threshold.
    is_again: bool,
    /// A cut has ended the first slow start.
    was_cut: bool,
    /// W.
    size: f64,
    /// Complete chunks since the window grew.
    since_growth: f64,
}

impl Window {
    pub fn new(params: &Params, is_again: bool) -> Window {
        Window {
            threshold: params.number("threshold"),
            alpha: params.number("alpha"),
            is_again,
            was_cut: false,
            size: params.number("initial_window"),
            since_growth: 0.0,
        }
    }

    /// W.
    pub fn size(&self) -> f64 {
        self.size
    }

    pub fn set(&mut self, size: f64) {
        self.size = size;
    }

    /// Section III-C: slow start, then congestion avoidance.
    pub fn grow(&mut self) {
        if self.size < self.threshold && (self.is_again || !self.was_cut) {
            self.size += 1.0;
        } else {
            self.since_growth += 1.0;
            if self.since_growth >= self.size {
                self.size += self.alpha;
                self.since_growth = 0.0;
            }
        }
        self.size = self.size.min(MOST);
    }

    pub fn cut(&mut self, beta: f64) {
        self.size = (beta * self.size).max(1.0);
        self.since_growth = 0.0;
        self.was_cut = true;
    }
}
