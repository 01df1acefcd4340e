//! The store that a command works on.

use crate::cli::repo::StoreArgs;
use crate::exit::{Failure, Word};
use crate::identity;
use ::repo::{Store, StoreError};
use std::path::PathBuf;

/// The folder of the store.
fn folder(args: &StoreArgs) -> Result<PathBuf, Failure> {
    if let Some(folder) = &args.store {
        return Ok(folder.clone());
    }
    let keys = identity::key_dir()?;
    Ok(keys.parent().unwrap_or(&keys).join("repo"))
}

/// The store, which is made if it is not there.
pub fn create(args: &StoreArgs) -> Result<Store, Failure> {
    Ok(Store::create(&folder(args)?)?)
}

/// The store, and whether it was made because it was not there.
pub fn open_or_create(args: &StoreArgs) -> Result<(Store, bool), Failure> {
    match Store::open(&folder(args)?) {
        Err(StoreError::None(folder)) => Ok((Store::create(&folder)?, true)),
        opened => Ok((opened?, false)),
    }
}

/// The store, which must be there.
pub fn open(args: &StoreArgs) -> Result<Store, Failure> {
    Ok(Store::open(&folder(args)?)?)
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Failure {
        let (kind, next) = match &error {
            error if error.is_full() => (Word::NoSpace, "make room and run the same command again"),
            StoreError::File { .. } | StoreError::Index { .. } => {
                (Word::File, "check the folder, its permissions and its disk")
            }
            StoreError::Damaged { .. } => {
                (Word::File, "move the store away, and put its content into a new one")
            }
            StoreError::None(_) => {
                (Word::File, "name another one with --store, or make one with `weir repo put`")
            }
            StoreError::Newer { .. } => (Word::File, "use a newer weir"),
            StoreError::Served(_) => {
                (Word::Usage, "end that one first; other commands work while it runs")
            }
            StoreError::Conflict { .. } => {
                (Word::Usage, "remove that with `weir repo rm`, or put a newer file")
            }
            StoreError::Quota { .. } => {
                (Word::NoSpace, "remove something with `weir repo rm`, or raise --quota")
            }
            StoreError::Second { .. } => (Word::Failed, ""),
        };
        Failure::new(kind, error).then(next)
    }
}
