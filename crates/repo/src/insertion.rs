//! The insertion of objects and packets, as one transaction.

use crate::change::{Change, Sum};
use crate::entry::{Entry, Top};
use crate::error::StoreError;
use crate::follow::{Draft, catch_up, publish};
use crate::index::{BYTES, RECORDS};
use crate::record::Step;
use crate::staging::Staging;
use crate::store::{Store, add};
use crate::volume::Blob;

/// An insertion. It is invisible before [`Insertion::commit`].
pub struct Insertion<'a> {
    store: &'a Store,
    staging: &'a mut Staging,
    change: Change<'a>,
    /// The same change for other hosts.
    draft: Option<Draft>,
    quota: Option<u64>,
}

/// The result of an insertion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Inserted {
    /// True if the store had the named thing already, with this version.
    pub was_there: bool,
    /// Bytes that the store did not have.
    pub new_bytes: u64,
}

impl<'a> Insertion<'a> {
    /// Begins an insertion. Insertions of other processes wait until it ends.
    ///
    /// # Errors
    /// The bytes cannot be made durable, or the index cannot be written.
    pub fn new(store: &'a Store, staging: &'a mut Staging) -> Result<Self, StoreError> {
        // Before the transaction, for which other processes wait.
        store.volume().receive(staging)?;
        catch_up(store)?;
        let mut draft = Draft::new(store, staging)?;
        let mut change = Change::new(store)?;
        let upload = staging.number();
        for digest in staging.arrivals() {
            change.arrived(digest, upload);
            if let Some(draft) = &mut draft {
                draft.write(&Step::Arrived { digest, upload })?;
            }
        }
        Ok(Insertion { store, staging, change, draft, quota: None })
    }

    /// Sets the maximum number of bytes in all blobs and entries of the store.
    pub fn limit(&mut self, quota: Option<u64>) {
        self.quota = quota;
    }

    /// The signatures of later additions were not verified: the signatures that the store has stay.
    ///
    /// # Errors
    /// The change cannot be written.
    pub fn unverified(&mut self) -> Result<(), StoreError> {
        self.change.unverified();
        self.write(|| Step::Unverified)
    }

    fn write(&mut self, step: impl FnOnce() -> Step) -> Result<(), StoreError> {
        match &mut self.draft {
            Some(draft) => draft.write(&step()),
            None => Ok(()),
        }
    }

    /// Adds the named thing itself, the only one of this insertion. Returns false if the store has
    /// it already; then only verified signatures and certificates are left to be added.
    ///
    /// # Errors
    /// The store has other content under the name, or cannot be written, or the insertion has a
    /// named thing already.
    pub fn top(&mut self, entry: &Entry, top: &Top) -> Result<bool, StoreError> {
        if self.change.has_top() {
            return Err(StoreError::Second { name: entry.versioned() });
        }
        let is_new = self.change.top(entry, top)?;
        self.write(|| Step::Top { entry: Box::new(entry.clone()), top: top.clone() })?;
        Ok(is_new)
    }

    /// Adds a part of the named thing.
    ///
    /// # Errors
    /// The store has other content under the name, or cannot be written.
    pub fn member(&mut self, entry: &Entry) -> Result<(), StoreError> {
        self.change.member(entry)?;
        self.write(|| Step::Member(Box::new(entry.clone())))
    }

    /// Adds all entries that the staging holds as parts.
    ///
    /// # Errors
    /// As for [`Insertion::member`], or they cannot be read.
    pub fn held(&mut self) -> Result<(), StoreError> {
        for entry in self.staging.held()? {
            self.member(&entry?)?;
        }
        Ok(())
    }

    /// Makes the insertion durable, and lets others see it.
    ///
    /// # Errors
    /// The quota does not permit it, or the store cannot be written. Then nothing is inserted.
    /// [`StoreError::Outpaced`]: another host was faster; the same insertion can be made again with
    /// the same staging.
    pub fn commit(self) -> Result<Inserted, StoreError> {
        let Insertion { store, staging, change, draft, quota } = self;
        let (write, sum) = change.finish();
        let all = store
            .guarded(|| Ok(add(&write, BYTES, 0)?.saturating_add(add(&write, RECORDS, 0)?)))?;
        let needed = sum.bytes + sum.records;
        if let Some(quota) = quota.filter(|quota| all > *quota && needed > 0) {
            return Err(StoreError::Quota { quota, used: all.saturating_sub(needed), needed });
        }
        store.volume().place(staging, &sum.moves)?;
        // Until the commit has succeeded, the blobs have no name.
        staging.stay(true);
        let committed = publish(store, write, draft);
        let is_clean = match (&committed, store.volume().log()) {
            (Ok(()), None) => true,
            (Ok(()), Some(_)) => tidy(store, staging, &sum),
            // The index is opened again after an error. It shows whether they have one.
            (Err(_), None) => {
                let volume = store.volume();
                let blobs = sum.moves.keys();
                let files =
                    blobs.map(|digest| volume.find(&Blob { digest: *digest, size: 0, upload: 0 }));
                store.sweep(files.collect()).is_ok()
            }
            // The change may be on its way, so the blobs stay.
            (Err(_), Some(_)) => false,
        };
        staging.stay(!is_clean);
        committed?;
        Ok(Inserted { was_there: sum.was_there, new_bytes: sum.bytes })
    }
}

/// Removes bytes from a shared volume that no entry names after an insertion. Returns true if none
/// is left.
fn tidy(store: &Store, staging: &Staging, sum: &Sum) -> bool {
    let upload = staging.number();
    let unused = staging.arrivals().into_iter().filter(|digest| !sum.moves.contains_key(digest));
    let unused = unused.map(|digest| Blob { digest, size: 0, upload });
    let mut all = sum.dead.iter().copied().chain(unused);
    all.all(|blob| store.volume().remove(&store.volume().find(&blob)).is_ok())
}
