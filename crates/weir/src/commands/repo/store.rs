//! The store that a command works on.

use crate::cli::repo::StoreArgs;
use crate::exit::{Failure, Word};
use crate::identity;
use ::repo::{Address, BucketError, Cause, Store, StoreError};
use std::path::PathBuf;

/// The address of the store.
fn address(args: &StoreArgs) -> Result<Address, Failure> {
    let Some(named) = &args.store else {
        let keys = identity::key_dir()?;
        return Ok(Address::Folder(keys.parent().unwrap_or(&keys).join("repo")));
    };
    Address::of(named).ok_or_else(|| {
        Failure::new(Word::Usage, format!("{} names no bucket", named.display()))
            .then("write --store like s3://bucket/prefix, without empty parts")
    })
}

/// The folder for the indices of stores in buckets: they can be made again.
fn cache() -> Result<PathBuf, Failure> {
    let set = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let home = std::env::home_dir().map(|home| home.join(".cache"));
    let cache = set.filter(|cache| cache.is_absolute()).or(home);
    let cache = cache.ok_or_else(|| {
        Failure::new(Word::Usage, "this user has no folder for caches")
            .then("set HOME, or XDG_CACHE_HOME to an absolute path")
    });
    Ok(cache?.join("weir").join("stores"))
}

/// The store, which is made if it is not there.
pub fn create(args: &StoreArgs) -> Result<Store, Failure> {
    Ok(::repo::create(&address(args)?, &cache()?)?)
}

/// The store, and true if it was missing and has been made.
pub fn open_or_create(args: &StoreArgs) -> Result<(Store, bool), Failure> {
    match ::repo::open(&address(args)?, &cache()?) {
        Err(StoreError::None(_)) => Ok((create(args)?, true)),
        opened => Ok((opened?, false)),
    }
}

/// The store, which must be there.
pub fn open(args: &StoreArgs) -> Result<Store, Failure> {
    Ok(::repo::open(&address(args)?, &cache()?)?)
}

/// The next step after a request to a bucket has failed.
fn after(error: &BucketError) -> (Word, &'static str) {
    match error.cause() {
        Cause::Absent => (Word::File, "`weir repo verify` finds what is missing"),
        Cause::NoBucket => (Word::File, "make the bucket, or name another one by --store"),
        Cause::Rejected => {
            (Word::File, "check AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and their permissions")
        }
        Cause::Full => (Word::NoSpace, "make room on the server and run the same command again"),
        Cause::Busy | Cause::Slow => (Word::File, "run the same command again later"),
        Cause::Unreachable => (Word::File, "check AWS_ENDPOINT_URL, the server and the network"),
        Cause::Unsupported | Cause::Condition => {
            (Word::File, "use a server that supports S3 with conditional writes")
        }
        Cause::Interrupted => (Word::Interrupted, "nothing was stored; run the same command again"),
        Cause::Settings => (Word::Usage, "check AWS_ENDPOINT_URL and AWS_REGION"),
        Cause::Damaged => (Word::File, "remove its object with `weir repo rm`, and store it again"),
    }
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
            StoreError::Bucket(error) => after(error),
            StoreError::Outpaced(_) | StoreError::Overdue(_) => {
                (Word::Failed, "run the same command again")
            }
            StoreError::Change { .. } => {
                (Word::File, "restore that object from an older version of it or from a backup")
            }
            StoreError::NoBuckets(_) => (Word::Usage, "use a weir with all features"),
        };
        Failure::new(kind, error).then(next)
    }
}
