//! Pictures of a scenario's network: for the terminal, and as SVG.

mod canvas;
mod svg;
mod text;

pub use svg::svg;
pub use text::text;

use crate::model::{Link, Scenario};

/// The role of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// It asks.
    Consumer,
    /// It serves.
    Producer,
    /// It does both.
    Both,
    /// It does neither.
    Forwarder,
}

impl Role {
    /// The role in words.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Role::Consumer => "consumer",
            Role::Producer => "producer",
            Role::Both => "consumer, producer",
            Role::Forwarder => "forwarder",
        }
    }

    /// The sign before its name in the terminal.
    fn sign(self) -> char {
        match self {
            Role::Consumer => '▸',
            Role::Producer => '◂',
            Role::Both => '◆',
            Role::Forwarder => '○',
        }
    }
}

impl Scenario {
    /// The role of every node.
    #[must_use]
    pub fn roles(&self) -> Vec<Role> {
        let mut roles = vec![(false, false); self.nodes.len()];
        self.consumers.iter().for_each(|consumer| roles[consumer.at].0 = true);
        self.workloads.iter().flat_map(|workload| &workload.at).for_each(|at| roles[*at].0 = true);
        self.contents.iter().flat_map(|content| &content.at).for_each(|at| roles[*at].1 = true);
        roles
            .into_iter()
            .map(|(asks, serves)| match (asks, serves) {
                (true, true) => Role::Both,
                (true, false) => Role::Consumer,
                (false, true) => Role::Producer,
                (false, false) => Role::Forwarder,
            })
            .collect()
    }
}

/// The label of a link: its rate and delay, both ways if they differ.
fn link_label(link: &Link) -> String {
    let [there, back] = &link.directions;
    let (rate, other) = (there.rate.to_string(), back.rate.to_string());
    let rates = if rate == other { rate } else { format!("→{rate} ←{other}") };
    let delays = match (there.delay.to_string(), back.delay.to_string()) {
        (there, back) if there == back => there,
        (there, back) => format!("→{there} ←{back}"),
    };
    format!("{rates}, {delays}")
}

#[cfg(test)]
mod tests;
