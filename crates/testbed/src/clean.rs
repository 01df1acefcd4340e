//! Leftovers of a testbed that could not remove itself.

use crate::error::TestbedError;
use crate::state_dir::{self, StateDir};
use crate::{groups, namespaces};
use std::fs;

/// The removed items.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cleaned {
    /// Testbeds.
    pub testbeds: Vec<String>,
    /// Network namespaces.
    pub namespaces: usize,
    /// Running testbeds, which were left unchanged.
    pub running: Vec<String>,
}

/// Removes leftovers without a running owner: namespaces, the processes in them, folders.
///
/// # Errors
/// An item cannot be removed.
pub fn clean() -> Result<Cleaned, TestbedError> {
    let mut cleaned = Cleaned::default();
    for name in state_dir::names() {
        match StateDir::take(&name) {
            Ok(state_dir) => {
                cleaned.namespaces += empty(&state_dir)?;
                cleaned.testbeds.push(name);
            }
            Err(TestbedError::InUse(name)) => cleaned.running.push(name),
            Err(error) => return Err(error),
        }
    }
    Ok(cleaned)
}

/// Removes everything of a testbed; returns the number of its namespaces.
pub(crate) fn empty(state_dir: &StateDir) -> Result<usize, TestbedError> {
    let found = namespaces::namespaces(&state_dir.name);
    found.iter().try_for_each(|name| namespaces::remove(name))?;
    groups::remove(&state_dir.name);
    if let Some(folder) = state_dir.folder() {
        fs::remove_dir_all(folder).ok();
    }
    state_dir.remove();
    Ok(found.len())
}
