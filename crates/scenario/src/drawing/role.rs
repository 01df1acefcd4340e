//! The roles of nodes.

use crate::model::Scenario;

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
    pub(super) fn sign(self) -> char {
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
