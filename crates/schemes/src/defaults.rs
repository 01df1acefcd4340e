//! The default schemes: the only place beside the registry with names of schemes.

/// The controller of a consumer that names none: `weir get`, and a scenario's consumers.
pub const CONTROLLER: &str = "sluice";

/// The scheme whose parts a daemon's face has if its `rate_in` is configured, and no scheme is.
pub const LINK: &str = "sluice";

/// The strategy of a daemon's root and of a scenario's nodes.
pub const STRATEGY: &str = "best-route";

/// The plain controller beside which parts that are no controllers are measured.
pub const BASELINE: &str = "aimd";

/// The marker of a face that a command wants to mark congestion.
pub const MARKER: &str = "nfd-mark";

/// The strategy of a forwarder in the process of a tool, if it has several peers: one that does not
/// answer is left for another.
pub const PEERS: &str = "asf";

/// The uses of a scheme as a default.
#[must_use]
pub fn of(name: &str) -> Vec<&'static str> {
    let all = [
        (CONTROLLER, "controller"),
        (LINK, "parts of links"),
        (STRATEGY, "strategy"),
        (BASELINE, "baseline"),
    ];
    all.into_iter().filter(|(scheme, _)| *scheme == name).map(|(_, what)| what).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Choice;

    #[test]
    fn defaults_have_the_parts_that_they_stand_in_for() {
        let named = |name| Choice::named(name).unwrap();
        assert!(named(CONTROLLER).controller().is_ok());
        assert!(named(LINK).shaper().is_ok() && named(LINK).stamper().is_ok());
        assert!(named(STRATEGY).strategy().is_ok() && named(PEERS).strategy().is_ok());
        assert!(named(BASELINE).controller().is_ok());
        assert!(named(MARKER).marker().is_ok());
    }
}
