//! Network Nacks: a returned Interest with a reason in its link header.

/// The reason of a Nack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NackReason {
    /// No reason given.
    None,
    /// A link or node is congested.
    Congestion,
    /// The nonce was seen before.
    Duplicate,
    /// No route leads to the name.
    NoRoute,
    /// Another reason.
    Other(u64),
}

impl NackReason {
    /// The assigned number.
    #[must_use]
    pub const fn number(self) -> u64 {
        match self {
            NackReason::None => 0,
            NackReason::Congestion => 50,
            NackReason::Duplicate => 100,
            NackReason::NoRoute => 150,
            NackReason::Other(n) => n,
        }
    }
}

impl From<u64> for NackReason {
    fn from(n: u64) -> NackReason {
        match n {
            0 => NackReason::None,
            50 => NackReason::Congestion,
            100 => NackReason::Duplicate,
            150 => NackReason::NoRoute,
            n => NackReason::Other(n),
        }
    }
}

impl std::fmt::Display for NackReason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            NackReason::None => f.write_str("no reason given"),
            NackReason::Congestion => f.write_str("congestion"),
            NackReason::Duplicate => f.write_str("duplicate"),
            NackReason::NoRoute => f.write_str("no route"),
            NackReason::Other(n) => write!(f, "reason {n}"),
        }
    }
}
