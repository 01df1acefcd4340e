//! What a testbed does not have.

use control::Duration;
use scenario::model::{Content, Impairment, Loss, Manner, Objects, Scenario};
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
    for (at, node) in scenario.nodes.iter().enumerate() {
        if node.content_store.packets != usize::MAX && node.content_store.capacity > 0 {
            let what = "a daemon's content store is bounded in octets: give it a size";
            add(format!("node {}", name(at)), what);
        }
    }
    for link in &scenario.links {
        let [a, b] = link.ends.map(name);
        for direction in &link.directions {
            if let Some(what) = harm(&direction.impairment) {
                add(format!("link {a}-{b}"), what);
            }
        }
    }
    for content in &scenario.contents {
        for what in of_content(content) {
            add(format!("content {}", content.name), what);
        }
    }
    for consumer in &scenario.consumers {
        let what = match consumer.manner {
            Manner::Fetch { .. } => continue,
            Manner::Video { .. } => "videos are played in the simulator alone",
            Manner::Constant { .. } => "Interests at a constant rate are the simulator's alone",
        };
        add(format!("consumer at {}", name(consumer.at)), what);
    }
    for workload in &scenario.workloads {
        let nodes: Vec<&str> = workload.at.iter().map(|at| name(*at)).collect();
        let place = format!("workload at {}", nodes.join(", "));
        add(place, "flows that begin by themselves are the simulator's alone: list consumers");
    }
    if !scenario.ways.is_empty() {
        let what = "content spread over producers by segments is the simulator's alone";
        add("content".to_owned(), what);
    }
    all
}

fn harm(harm: &Impairment) -> Option<&'static str> {
    if matches!(harm.loss, Loss::GilbertElliott { .. }) {
        return Some("faces lose frames one by one: bursts of loss are the simulator's alone");
    }
    let (loss, jitter) = (Loss::None, Duration::ZERO);
    let others = Impairment { loss, jitter, ..*harm };
    (others != Impairment::default())
        .then_some("faces have delay, jitter and loss, but neither reordering, copies nor damage")
}

fn of_content(content: &Content) -> Vec<&'static str> {
    let mut what = Vec::new();
    if content.objects != Objects::One {
        what.push("a testbed publishes single objects");
    }
    if content.service.is_some() {
        what.push("`weir put` takes no time of its own for an answer: leave service_time away");
    }
    what
}
