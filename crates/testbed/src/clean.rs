//! Leftovers of a testbed that could not remove itself.

use crate::error::TestbedError;
use crate::home::{self, Home};
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
    for name in home::names() {
        match Home::take(&name) {
            Ok(home) => {
                cleaned.namespaces += empty(&home)?;
                cleaned.testbeds.push(name);
            }
            Err(TestbedError::InUse(name)) => cleaned.running.push(name),
            Err(error) => return Err(error),
        }
    }
    Ok(cleaned)
}

/// Removes everything of a testbed; how many namespaces it had.
pub(crate) fn empty(home: &Home) -> Result<usize, TestbedError> {
    let found = namespaces::namespaces(&home.name);
    found.iter().try_for_each(|name| namespaces::remove(name))?;
    groups::remove(&home.name);
    if let Some(folder) = home.folder() {
        fs::remove_dir_all(folder).ok();
    }
    home.remove();
    Ok(found.len())
}
