//! Corrections for a driver that wakes late, so that waiting packets lose no time.
//!
//! The equations of the shapers have the next Interest leave a gap behind the last one. A host
//! wakes some tens of microseconds after it was asked to; counted from there, every gap would be
//! longer by that, and a link of 10 Mbit/s idle for a tenth of the time. A simulator wakes in time:
//! there this changes nothing.

use control::{Duration, Time};

/// A host later than this counts as stopped: the missed packets are not made up for, since they
/// would leave in one burst.
pub const MAX_LATENESS: Duration = Duration::from_millis(5);

/// From when on the next gap counts, where something was due at `due` and leaves at `now`.
pub fn gap_start(due: Time, now: Time) -> Time {
    due.max(now - MAX_LATENESS)
}
