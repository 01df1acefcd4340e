//! Limits of a turn of the daemon, so that each socket gets its own.

use control::Duration;

/// Bytes that a UDP face may bring in one turn. A turn must end before the others' receive buffers
/// overflow: 200 kB fill within a millisecond at 1.5 Gbit/s.
pub(super) const DATAGRAM_BUDGET: usize = 512 << 10;

/// Bytes that a stream may bring in one turn.
pub(super) const STREAM_BUDGET: usize = 256 << 10;

/// Bytes that a face may send in one turn.
pub(super) const SEND_BUDGET: usize = 256 << 10;

/// The time limit in one turn for receiving datagrams, and the same for streams. Faces that were
/// not served come first in the next turn.
pub(super) const RECEIVING: Duration = Duration::from_millis(5);
