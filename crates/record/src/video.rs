//! The playback of a video.

use control::Duration;

/// The playback of a video.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct VideoResult {
    /// From the beginning to the first picture.
    pub startup: Option<Duration>,
    /// Stalls.
    pub stalls: u64,
    /// For how long altogether.
    pub stalled: Duration,
    /// Played content.
    pub played: Duration,
    /// Segments that came.
    pub segments: u64,
    /// Segments that came in another quality than the one before.
    pub switches: u64,
    /// The mean of their qualities' rates, in bit/s.
    pub bitrate: Option<f64>,
}
