//! The end of an insertion.

use crate::cli::repo::{KeepArgs, RepoOutputArgs};
use crate::exit::{Failure, Word};
use crate::output;
use crate::signals::Stop;
use control::Size;
use net::clock::unix_millis;
use packet::{Bytes, Name};
use repo::{Body, Entry, Inserted, Insertion, Staging, Store, StoreError, Top};
use schemars::JsonSchema;
use security::Certificate;
use serde::Serialize;
use std::io;

/// Attempts of an insertion while other hosts change the store.
const TRIES: usize = 20;

/// The result, for programs.
#[derive(JsonSchema, Serialize)]
pub struct Summary {
    /// The name of the object or tree, with its version.
    name: String,
    /// Bytes of content.
    bytes: u64,
    /// Files of a tree, or null.
    files: Option<u64>,
    /// Bytes that the store did not have.
    new_bytes: u64,
    /// True if the store had it already, with this version.
    was_there: bool,
}

/// A named thing, ready for the store.
pub struct Ready {
    /// Its object.
    pub entry: Entry,
    /// Bytes of content.
    pub bytes: u64,
    /// The number of files of a tree.
    pub files: Option<u64>,
    /// The prefixes to register at a forwarder.
    pub prefixes: Vec<Name>,
    /// All signatures of its packets were verified, or are the user's own.
    pub is_verified: bool,
    /// The media type that an uploader gave.
    pub media_type: Option<String>,
}

/// The entry of a packet.
pub fn packet(wire: Bytes) -> Option<Entry> {
    let name = packet::Data::decode(&wire).ok()?.name().to_name();
    Some(Entry { name, version: 0, body: Body::Packet(wire) })
}

/// Holds the certificates, and returns the prefixes of the named thing with theirs.
pub fn certificates(
    staging: &mut Staging,
    name: &Name,
    chain: &[Certificate],
) -> Result<Vec<Name>, Failure> {
    let mut prefixes = vec![name.clone()];
    for certificate in chain {
        if let Some(entry) = packet(certificate.wire().clone()) {
            staging.hold(&entry).map_err(|error| unwritable(&error))?;
        }
        let key = certificate.key_name();
        if !key.as_ref().starts_with(name.as_ref()) {
            prefixes.push(key);
        }
    }
    Ok(prefixes)
}

/// Lets a signal end uploads from the staging.
pub fn interruptible(staging: &mut Staging, stop: &Stop) {
    let stop = stop.clone();
    staging.interrupt(move || stop.requested());
}

/// Inserts a named thing with all entries of the staging. `quota` is the maximum number of bytes in
/// the store. Calls `permit` when no other process can change the store before the insertion.
///
/// # Errors
/// The quota or `permit` does not permit it, the store has other content under the name, or cannot
/// be written. Then nothing is inserted.
pub fn commit<E: From<StoreError>>(
    store: &Store,
    staging: &mut Staging,
    ready: &Ready,
    quota: Option<u64>,
    permit: impl Fn() -> Result<(), E>,
) -> Result<Inserted, E> {
    for _ in 0..TRIES {
        if let Some(inserted) = attempt(store, staging, ready, quota, &permit)? {
            return Ok(inserted);
        }
    }
    Err(StoreError::Outpaced(store.title()).into())
}

/// Inserts a named thing, unless another host changes the store at the same time: `None`.
fn attempt<E: From<StoreError>>(
    store: &Store,
    staging: &mut Staging,
    ready: &Ready,
    quota: Option<u64>,
    permit: &impl Fn() -> Result<(), E>,
) -> Result<Option<Inserted>, E> {
    let Ready { entry, bytes, files, prefixes, is_verified, media_type } = ready;
    let (bytes, files, prefixes) = (*bytes, *files, prefixes.clone());
    let top = Top { added: unix_millis(), bytes, files, prefixes, media_type: media_type.clone() };
    let mut insertion = Insertion::new(store, staging)?;
    permit()?;
    insertion.limit(quota);
    if !is_verified {
        insertion.unverified()?;
    }
    // An object that was stored without verification may lack certificates, or have wrong ones.
    if insertion.top(entry, &top)? || *is_verified {
        insertion.held()?;
    }
    match insertion.commit() {
        Err(StoreError::Outpaced(_)) => Ok(None),
        inserted => Ok(Some(inserted?)),
    }
}

/// Inserts a named thing with all entries of the staging, and prints the result when it is on the
/// disk.
pub fn insert(
    store: &Store,
    staging: &mut Staging,
    ready: Ready,
    keep: &KeepArgs,
    shown: &RepoOutputArgs,
) -> Result<(), Failure> {
    let quota = keep.quota.map(|quota| quota.0);
    let inserted = commit(store, staging, &ready, quota, || Ok::<(), StoreError>(()))?;
    let Inserted { was_there, new_bytes } = inserted;
    let Ready { entry, bytes, files, .. } = ready;
    let name = entry.versioned().to_string();
    if shown.json {
        return output::json(&Summary { name, bytes, files, new_bytes, was_there });
    }
    if !shown.quiet {
        let what = match files {
            Some(files) => format!("{}, {}", Size(bytes), output::counted(files, "file")),
            None => Size(bytes).to_string(),
        };
        let end = if was_there { "was there" } else { "is stored" };
        output::note(&format!("{name} {end} ({what}; {} new)", Size(new_bytes)));
    }
    Ok(())
}

/// The failure of bytes on their way into the store.
pub fn unwritable(error: &io::Error) -> Failure {
    let next = match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "make room and run the same command again"
        }
        _ => "check the folder of the store",
    };
    let message = format!("cannot write into the store: {error}");
    Failure::new(Word::unwritable(error), message).then(next)
}
