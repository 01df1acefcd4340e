//! The rules, and breaches of them.

use std::fmt;

/// A rule that a run broke.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Breach {
    /// The rule.
    pub rule: Rule,
    /// The observation and the expected value.
    pub why: String,
}

/// The rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rule {
    /// Packets offered to queues left them, were dropped, were lost with a node, or are queued.
    Queues,
    /// Frames on wires arrived, were lost, or are in transit.
    Wires,
    /// Interests at a node became entries or have another counted end.
    Interests,
    /// A complete transfer has exactly the bytes of its object.
    Bytes,
    /// No queue exceeds its bound, no link its rate.
    Capacity,
    /// Nothing is faster than a fluid.
    Ideal,
    /// Round trips lie between propagation and full queues.
    RoundTrip,
    /// No transfer fails without a reason in the scenario.
    Fails,
    /// Everything completes that can.
    Completes,
    /// No transfer stops while its path works.
    Starves,
    /// Transfers go on after a fault heals.
    Recovers,
    /// Few losses are false.
    FalseLosses,
    /// Interests are bounded by Data and losses.
    Repetition,
    /// Equal runs are equal.
    Repeatable,
    /// In its domain a scheme uses the available rate.
    DomainUtilisation,
    /// In its domain a scheme shares as promised.
    DomainFairness,
    /// In its domain a scheme mistakes hardly anything for a loss.
    DomainFalseLosses,
    /// In its domain a scheme repeats hardly any Interest.
    DomainRepetition,
}

impl Rule {
    /// All rules.
    pub const ALL: [Rule; 18] = [
        Rule::Queues,
        Rule::Wires,
        Rule::Interests,
        Rule::Bytes,
        Rule::Capacity,
        Rule::Ideal,
        Rule::RoundTrip,
        Rule::Fails,
        Rule::Completes,
        Rule::Starves,
        Rule::Recovers,
        Rule::FalseLosses,
        Rule::Repetition,
        Rule::Repeatable,
        Rule::DomainUtilisation,
        Rule::DomainFairness,
        Rule::DomainFalseLosses,
        Rule::DomainRepetition,
    ];

    /// Its name in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Rule::Queues => "queues",
            Rule::Wires => "wires",
            Rule::Interests => "interests",
            Rule::Bytes => "bytes",
            Rule::Capacity => "capacity",
            Rule::Ideal => "faster-than-ideal",
            Rule::RoundTrip => "round-trip",
            Rule::Fails => "fails",
            Rule::Completes => "completes",
            Rule::Starves => "starves",
            Rule::Recovers => "recovers",
            Rule::FalseLosses => "false-losses",
            Rule::Repetition => "repetition",
            Rule::Repeatable => "repeatable",
            Rule::DomainUtilisation => "domain-utilisation",
            Rule::DomainFairness => "domain-fairness",
            Rule::DomainFalseLosses => "domain-false-losses",
            Rule::DomainRepetition => "domain-repetition",
        }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Display for Breach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.rule, self.why)
    }
}
