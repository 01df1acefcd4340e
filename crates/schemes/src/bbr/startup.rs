//! What only Startup remembers.

use super::train::Train;
use crate::hystart::HyStart;

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
