//! The table of timers.

/// The timers of a fetch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Timer {
    /// The controller lets the next Interest leave.
    Pacing,
    /// The certificate that is needed is asked for again, or given up.
    Certificate,
    /// One of the timers of requests.
    Request(RequestTimer),
    /// Metadata is waited for no longer: the answer of a head counts.
    Certainty,
    /// A candidate of which nothing comes is doubted.
    Doubt,
    /// The fetch is given up.
    Patience,
}

/// The timers of requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RequestTimer {
    /// A later answer shows a loss.
    Gap,
    /// A request times out.
    TimeOut,
    /// Silence has lasted so long that a probe leaves.
    Probe,
    /// The controller has a deadline of its own.
    Controller,
    /// The pause of a lost request is over.
    Retransmission,
    /// Refusals have suspended the transfer.
    Suspension,
    /// A request is sent twice at the end of the object.
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
