//! Features that a testbed lacks.

use super::medium::{Medium, Shape};
use control::Duration;
use scenario::model::{FaultKind, Impairment, Loss, Production, Scenario};
use std::fmt;

/// Something in a scenario that only the simulator does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsupported {
    /// Its place.
    pub place: String,
    /// The feature, and an alternative.
    pub what: String,
}

impl fmt::Display for Unsupported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.what)
    }
}

/// Everything of that kind in nodes and links.
pub fn of_network(scenario: &Scenario, medium: Medium) -> Vec<Unsupported> {
    let mut all = Vec::new();
    for link in &scenario.links {
        let [a, b] = link.ends.map(|at| scenario.nodes[at].name.as_str());
        let place = format!("link {a}-{b}");
        for direction in &link.directions {
            if let Some(what) = harm(&direction.impairment) {
                all.push(Unsupported { place: place.clone(), what: what.to_owned() });
            }
        }
        let mut parts = link.directions.iter().map(|direction| &direction.parts);
        if medium.shape == Shape::Kernel
            && parts.any(|p| p.marker.is_some() || p.shaper.is_some() || p.stamper.is_some())
        {
            let what = "marker, shaper and stamper work on the queues of faces, but what waits \
                        here waits in the kernel: leave --shape kernel away";
            all.push(Unsupported { place, what: what.to_owned() });
        }
    }
    for content in &scenario.contents {
        if content.production != Production::OnDemand {
            let place = format!("content {}", content.name);
            let what = "daemons drop Data that no Interest asked for: leave `production` away";
            all.push(Unsupported { place, what: what.to_owned() });
        }
    }
    all
}

/// All unsupported faults.
pub fn of_faults(scenario: &Scenario, medium: Medium) -> Vec<Unsupported> {
    let mut rejected = Vec::new();
    for (fault, number) in scenario.faults.iter().zip(1..) {
        let what = match fault.kind {
            FaultKind::LinkRate { .. } if medium.shape == Shape::Kernel => {
                "the kernel's token buckets keep their rates: leave --shape kernel away"
            }
            FaultKind::LinkDelay { .. } | FaultKind::LinkLoss { .. } => {
                "faces keep their delay and loss: only the simulator changes them"
            }
            _ => continue,
        };
        rejected.push(Unsupported { place: format!("fault {number}"), what: what.to_owned() });
    }
    rejected
}

fn harm(harm: &Impairment) -> Option<&'static str> {
    let (loss, jitter) = (Loss::None, Duration::ZERO);
    let others = Impairment { loss, jitter, ..*harm };
    (others != Impairment::default())
        .then_some("faces have delay, jitter and loss, but neither reordering, copies nor damage")
}
