//! The timers of a link, by name.

/// A reason to call a link at an instant, in the order in which they are served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Timer {
    /// An announcement is to be repeated, or the peer's counts no more.
    Capabilities,
    /// A frame was not acknowledged in time.
    Retransmission,
    /// A packet was not put together in time.
    Reassembly,
    /// The stamper asked for a call.
    Stamper,
    /// The shaper lets an Interest go.
    Release,
}

impl Timer {
    pub(super) const ALL: [Timer; 5] = [
        Timer::Capabilities,
        Timer::Retransmission,
        Timer::Reassembly,
        Timer::Stamper,
        Timer::Release,
    ];
}
