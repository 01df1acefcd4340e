//! The results of calls to the kernel.

/// The result of a call to the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Everything that there was to do is done.
    Done,
    /// The kernel takes (or has) no more at present; readiness will be reported.
    Blocked,
    /// There is more to do, but others come first.
    More,
    /// The other end has closed.
    Closed,
}
