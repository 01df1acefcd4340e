//! Settings of a forwarder that the journeys read.

use crate::config::Traceroute;
use control::Duration;
use packet::Name;
use packet::options::Capability;

/// Settings of a forwarder that its journeys read.
#[derive(Debug)]
pub(crate) struct Settings {
    pub(crate) max_lifetime: Duration,
    pub(crate) regions: Vec<Name>,
    pub(crate) ranges: Ranges,
    pub(crate) ended_at_once: usize,
    pub(crate) transit: bool,
    /// `None`: probes are Interests like others.
    pub(crate) traceroute: Option<Traceroute>,
}

/// The range Interests that a forwarder takes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ranges {
    /// The longest range, in segments.
    longest: u16,
}

impl Ranges {
    /// Ranges of up to `longest` segments; below 2 there are none.
    pub(crate) fn up_to(longest: u16) -> Ranges {
        Ranges { longest }
    }

    /// The capabilities that this node announces.
    pub(crate) fn capability(self) -> Capability {
        if self.longest > 1 { Capability::ALL } else { Capability(Capability::OPTIONS) }
    }

    /// The longest range that is taken.
    pub(crate) fn longest(self) -> u16 {
        self.longest
    }
}
