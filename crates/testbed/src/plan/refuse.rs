//! Features that a testbed lacks.

use super::{Medium, Shape};
use control::Duration;
use scenario::model::{Content, FaultKind, Impairment, Loss, Production, Scenario};
use std::fmt;

/// Something in a scenario that only the simulator does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// Its place.
    pub place: String,
    /// The feature, and an alternative.
    pub what: String,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.what)
    }
}

/// Everything of that kind in nodes and links.
pub fn of_network(scenario: &Scenario, medium: Medium) -> Vec<Refused> {
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
        let mut parts = link.directions.iter().map(|direction| &direction.parts);
        if medium.shape == Shape::Kernel
            && parts.any(|p| p.marker.is_some() || p.shaper.is_some() || p.stamper.is_some())
        {
            let what = "marker, shaper and stamper work on the queues of faces, but what waits \
                        here waits in the kernel: leave --shape kernel away";
            add(format!("link {a}-{b}"), what);
        }
    }
    let in_order = |content: &&Content| content.production != Production::OnDemand;
    for content in scenario.contents.iter().filter(in_order) {
        let what = "daemons drop Data that no Interest asked for: leave `production` away";
        add(format!("content {}", content.name), what);
    }
    all
}

/// All unsupported faults.
pub fn of_faults(scenario: &Scenario, medium: Medium) -> Vec<Refused> {
    let why = |kind: &FaultKind| match kind {
        FaultKind::LinkRate { .. } if medium.shape == Shape::Kernel => {
            Some("the kernel's token buckets keep their rates: leave --shape kernel away")
        }
        FaultKind::LinkDelay { .. } | FaultKind::LinkLoss { .. } => {
            Some("faces keep their delay and loss: only the simulator changes them")
        }
        _ => None,
    };
    let faults = scenario.faults.iter().zip(1..);
    let refused = faults.filter_map(|(fault, number)| {
        let what = why(&fault.kind)?.to_owned();
        Some(Refused { place: format!("fault {number}"), what })
    });
    refused.collect()
}

fn harm(harm: &Impairment) -> Option<&'static str> {
    let (loss, jitter) = (Loss::None, Duration::ZERO);
    let others = Impairment { loss, jitter, ..*harm };
    (others != Impairment::default())
        .then_some("faces have delay, jitter and loss, but neither reordering, copies nor damage")
}
