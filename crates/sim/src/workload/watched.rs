//! What a consumer saw of a video.

use control::Duration;

/// How a video was watched.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct VideoResult {
    /// From the beginning to the first picture.
    pub startup: Option<Duration>,
    /// How often it stalled.
    pub stalls: u64,
    /// For how long altogether.
    pub stalled: Duration,
    /// How much was played.
    pub played: Duration,
    /// Segments that came.
    pub segments: u64,
    /// Segments that came in another quality than the one before.
    pub switches: u64,
    /// The mean of their qualities' rates, in bit/s.
    pub bitrate: Option<f64>,
}
