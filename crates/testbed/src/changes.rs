//! Changes of running daemons by management commands: rates of faces, and routes.

use crate::change::Change;
use crate::error::TestbedError;
use crate::instance::Testbed;
use crate::readings::{self, address};
use net::client::Connection;
use scenario::model::{FaultKind, Route};

/// The changes of a fault, with the nodes; empty for other kinds of faults.
pub fn of(kind: &FaultKind, testbed: &Testbed) -> Vec<(usize, Change)> {
    let links = &testbed.plan().links;
    match kind {
        FaultKind::LinkRate { link, direction, rate } => {
            let link = &links[*link];
            let face = link.interface.clone();
            let sending = Change::Rates { face: face.clone(), rate: Some(*rate), rate_in: None };
            let receiving = Change::Rates { face, rate: None, rate_in: Some(*rate) };
            vec![(link.ends[*direction], sending), (link.ends[1 - direction], receiving)]
        }
        FaultKind::RouteAdd(Route { at, prefix, link, cost }) => {
            let (face, prefix) = (links[*link].interface.clone(), prefix.clone());
            vec![(*at, Change::Add { face, prefix, cost: *cost })]
        }
        FaultKind::RouteRemove(Route { at, prefix, link, .. }) => {
            let (face, prefix) = (links[*link].interface.clone(), prefix.clone());
            vec![(*at, Change::Remove { face, prefix })]
        }
        FaultKind::LinkDown(_)
        | FaultKind::LinkUp(_)
        | FaultKind::LinkDelay { .. }
        | FaultKind::LinkLoss { .. }
        | FaultKind::NodeCrash(_)
        | FaultKind::NodeRestart(_) => Vec::new(),
    }
}

impl Testbed {
    /// Changes a node's daemon, and its later instances.
    ///
    /// # Errors
    /// It rejects the command.
    pub fn change(&mut self, at: usize, change: Change) -> Result<(), TestbedError> {
        if self.is_up(at) {
            self.send(at, std::slice::from_ref(&change))?;
        }
        self.record_change(at, change);
        Ok(())
    }

    /// Repeats all changes on a restarted daemon.
    ///
    /// # Errors
    /// It rejects a command.
    pub fn change_again(&self, at: usize) -> Result<(), TestbedError> {
        self.send(at, self.changes(at))
    }

    fn send(&self, at: usize, changes: &[Change]) -> Result<(), TestbedError> {
        if changes.is_empty() {
            return Ok(());
        }
        let node = &self.plan().nodes[at].name;
        let mut daemon = Connection::open(address(&self.socket(at)))
            .map_err(|error| TestbedError::Unreachable { node: node.clone(), error })?;
        let counters = readings::read(&mut daemon, node)?;
        for change in changes {
            let face = counters.face(change.face()).map_or(0, |face| face.id);
            let done = match change {
                Change::Rates { rate, rate_in, .. } => daemon.set_rates(face, *rate, *rate_in),
                Change::Add { prefix, cost, .. } => daemon.add_route(prefix, face, *cost),
                Change::Remove { prefix, .. } => daemon.remove_route(prefix, face),
            };
            done.map_err(|error| TestbedError::CommandFailed { node: node.clone(), error })?;
        }
        Ok(())
    }
}
