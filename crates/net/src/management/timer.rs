//! The timers of management, by name.

/// A reason to call management at an instant, in the order in which they are served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Timer {
    /// A route expires.
    Routes,
    /// A certificate is asked for again, or given up.
    Certificates,
    /// The log gets the number of rejected commands.
    Rejections,
    /// A trace has no reader any more.
    Traces,
}

impl Timer {
    pub(super) const ALL: [Timer; 4] =
        [Timer::Routes, Timer::Certificates, Timer::Rejections, Timer::Traces];
}
