//! What a testbed does not have.

use control::Duration;
use scenario::model::{Impairment, Loss, Scenario};
use std::fmt;

/// Something in a scenario that only the simulator does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// Where it stands.
    pub place: String,
    /// What it is, and what would do instead.
    pub what: String,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.what)
    }
}

/// Everything of that kind.
pub fn refused(scenario: &Scenario) -> Vec<Refused> {
    let mut all = Vec::new();
    let mut add = |place: String, what: &str| all.push(Refused { place, what: what.to_owned() });
    let name = |at: usize| scenario.nodes[at].name.as_str();
    for link in &scenario.links {
        let [a, b] = link.ends.map(name);
        for direction in &link.directions {
            if let Some(what) = harm(&direction.impairment) {
                add(format!("link {a}-{b}"), what);
            }
        }
    }
    all
}

fn harm(harm: &Impairment) -> Option<&'static str> {
    let (loss, jitter) = (Loss::None, Duration::ZERO);
    let others = Impairment { loss, jitter, ..*harm };
    (others != Impairment::default())
        .then_some("faces have delay, jitter and loss, but neither reordering, copies nor damage")
}
