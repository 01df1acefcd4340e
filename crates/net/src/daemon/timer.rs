//! The timers of the daemon and its parts, by name.

/// A reason to wake the daemon at an instant, in the order in which they are served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DaemonTimer {
    /// The forwarder has something to do.
    Forwarder,
    /// The control plane has something to do.
    ControlPlane,
    /// The faces have something to do.
    Faces,
    /// The log gets the number of lines that were left out.
    LogReport,
    /// There is memory to release.
    Memory,
}

impl DaemonTimer {
    pub(super) const ALL: [DaemonTimer; 5] = [
        DaemonTimer::Forwarder,
        DaemonTimer::ControlPlane,
        DaemonTimer::Faces,
        DaemonTimer::LogReport,
        DaemonTimer::Memory,
    ];
}

/// A reason to call the control plane at an instant, in the order in which they are served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ControlTimer {
    /// Management has something to do.
    Management,
    /// The connection that a command requested has taken too long.
    Connection,
}

impl ControlTimer {
    pub(super) const ALL: [ControlTimer; 2] = [ControlTimer::Management, ControlTimer::Connection];
}

/// A reason to call the owner of all faces at an instant, in the order in which they are served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FaceTimer {
    /// An emulated link lets a frame out.
    Emulation,
    /// A broken face is to be connected.
    Retry,
    /// An interface that is gone or down is looked for.
    Devices,
    /// Faces are looked at for silence.
    Idle,
    /// A pause of the listeners is over.
    Listeners,
}

impl FaceTimer {
    pub(super) const ALL: [FaceTimer; 5] = [
        FaceTimer::Emulation,
        FaceTimer::Retry,
        FaceTimer::Devices,
        FaceTimer::Idle,
        FaceTimer::Listeners,
    ];
}
