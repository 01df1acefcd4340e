//! The tables of timers.

/// The timers of a fetch, in the order in which they are served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Timer {
    /// The controller permits the next Interest.
    Pacing,
    /// A missing certificate is requested again, or given up.
    Certificate,
    /// A head is overdue during discovery.
    Head,
    /// The first of the timers of requests.
    Requests,
    /// The wait for metadata is over: the facts from a head are accepted.
    Certainty,
    /// A candidate has yielded nothing: metadata is requested again.
    Doubt,
    /// The fetch fails.
    Patience,
}

impl Timer {
    pub const ALL: [Timer; 7] = [
        Timer::Pacing,
        Timer::Certificate,
        Timer::Head,
        Timer::Requests,
        Timer::Certainty,
        Timer::Doubt,
        Timer::Patience,
    ];
}

/// The timers of a batch, in the order in which they are served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BatchTimer {
    /// The controller permits the next Interest.
    Pacing,
    /// The first of the timers of requests.
    Requests,
    /// The batch stalls.
    Patience,
}

impl BatchTimer {
    pub const ALL: [BatchTimer; 3] =
        [BatchTimer::Pacing, BatchTimer::Requests, BatchTimer::Patience];
}

/// The timers of requests, in the order in which they are served.
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

impl RequestTimer {
    pub const ALL: [RequestTimer; 7] = [
        RequestTimer::Gap,
        RequestTimer::TimeOut,
        RequestTimer::Probe,
        RequestTimer::Controller,
        RequestTimer::Retransmission,
        RequestTimer::Suspension,
        RequestTimer::Echo,
    ];
}
