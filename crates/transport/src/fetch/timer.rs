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

impl RequestTimer {
    /// All of them.
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

impl Timer {
    /// All timers, in the order in which they are served.
    pub fn all() -> impl Iterator<Item = Timer> {
        let requests = RequestTimer::ALL.into_iter().map(Timer::Request);
        let last = [Timer::Certainty, Timer::Doubt, Timer::Patience];
        [Timer::Pacing, Timer::Certificate].into_iter().chain(requests).chain(last)
    }
}
