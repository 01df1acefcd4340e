//! The table of timers.

/// The timers of a fetch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Timer {
    /// The controller permits the next Interest.
    Pacing,
    /// A missing certificate is requested again, or given up.
    Certificate,
    /// One of the timers of requests.
    Request(RequestTimer),
    /// The wait for metadata is over: the facts from a head are accepted.
    Certainty,
    /// A candidate has yielded nothing: metadata is requested again.
    Doubt,
    /// The fetch fails.
    Patience,
}

/// The timers of requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RequestTimer {
    /// A gap becomes a loss, because later requests have been answered.
    Gap,
    /// A request times out.
    TimeOut,
    /// No answer has arrived for so long that a probe is sent.
    Probe,
    /// The controller's own timer.
    Controller,
    /// The pause of a lost request is over.
    Retransmission,
    /// The pause of a suspended transfer is over; see [`crate::fetch::requests`].
    Suspension,
    /// A request is sent a second time at the end of the object.
    Echo,
}

impl Timer {
    /// All timers.
    pub const ALL: [Timer; 12] = [
        Timer::Pacing,
        Timer::Certificate,
        Timer::Request(RequestTimer::Gap),
        Timer::Request(RequestTimer::TimeOut),
        Timer::Request(RequestTimer::Probe),
        Timer::Request(RequestTimer::Controller),
        Timer::Request(RequestTimer::Retransmission),
        Timer::Request(RequestTimer::Suspension),
        Timer::Request(RequestTimer::Echo),
        Timer::Certainty,
        Timer::Doubt,
        Timer::Patience,
    ];
}
