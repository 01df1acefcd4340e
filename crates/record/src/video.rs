//! The playback of a video.

use control::Duration;

/// The playback of a video.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct VideoResult {
    /// The time from the start to the first picture; `None` if playing has not begun.
    pub startup: Option<Duration>,
    /// The number of stalls.
    pub stalls: u64,
    /// The total time of the stalls.
    pub stalled: Duration,
    /// The playing time of the content played.
    pub played: Duration,
    /// The number of segments received.
    pub segments: u64,
    /// The number of segments in another quality than the segment before.
    pub switches: u64,
    /// The mean rate of the received segments' qualities, in bit/s.
    pub bitrate: Option<f64>,
}
