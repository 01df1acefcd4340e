#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use super::*;
use crate::digest::{Digest, hex};
use crate::entry::{Body, Entry, Object, Place, Top};
use crate::insertion::{Inserted, Insertion};
use crate::view::View;
use crate::volume::{Blob, Found, Volume};
use packet::Name;
use security::Signer;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use transport::publish::{Preparation, Source, Spec};

/// A volume in memory, which hosts share.
#[derive(Default)]
struct Shared {
    blobs: Mutex<BTreeMap<(Digest, u64), Vec<u8>>>,
    changes: Mutex<Vec<Vec<u8>>>,
    /// The answer to a change is lost.
    loses: AtomicBool,
}

impl Shared {
    fn uploads(&self) -> usize {
        self.blobs.lock().unwrap().len()
    }
}

impl Volume for Shared {
    fn title(&self) -> String {
        "shared".to_owned()
    }

    fn title_of(&self, blob: &Blob) -> String {
        format!("shared/{}", hex(&blob.digest))
    }

    fn receive(&self, staging: &mut Staging) -> Result<(), StoreError> {
        staging.flush()?;
        staging.stay(true);
        for digest in staging.arrivals() {
            let bytes = std::fs::read(&staging.get(&digest).unwrap().path).unwrap();
            self.blobs.lock().unwrap().insert((digest, staging.number()), bytes);
        }
        Ok(())
    }

    fn has(&self, _blob: &Blob) -> bool {
        true
    }

    fn place(&self, _: &Staging, _: &BTreeMap<Digest, bool>) -> Result<(), StoreError> {
        Ok(())
    }

    fn find(&self, blob: &Blob) -> Found {
        let at = self.title_of(blob).into();
        let (digest, upload) = (Some(blob.digest), blob.upload);
        Found { at, digest, upload, size: None, is_old: false }
    }

    fn all(&self) -> Result<Vec<Found>, StoreError> {
        let blobs = self.blobs.lock().unwrap();
        let all = blobs
            .keys()
            .map(|(digest, upload)| self.find(&Blob { digest: *digest, size: 0, upload: *upload }));
        Ok(all.collect())
    }

    fn remove(&self, found: &Found) -> Result<Option<u64>, StoreError> {
        let key = (found.digest.unwrap(), found.upload);
        Ok(self.blobs.lock().unwrap().remove(&key).map(|bytes| bytes.len() as u64))
    }

    fn source(&self, blob: &Blob) -> Box<dyn Source> {
        Box::new(self.blobs.lock().unwrap()[&(blob.digest, blob.upload)].clone())
    }

    fn log(&self) -> Option<&dyn Log> {
        Some(self)
    }
}

impl Log for Shared {
    fn name_of(&self, number: u64) -> String {
        format!("shared/{number}")
    }

    fn append(&self, number: u64, _nonce: u64, change: &Path) -> Result<bool, StoreError> {
        let mut changes = self.changes.lock().unwrap();
        if number <= changes.len() as u64 {
            return Ok(false);
        }
        changes.push(std::fs::read(change).unwrap());
        match self.loses.load(Ordering::Relaxed) {
            true => Err(StoreError::file(change)(io::ErrorKind::TimedOut.into())),
            false => Ok(true),
        }
    }

    fn has(&self, number: u64) -> Result<bool, StoreError> {
        Ok(number <= self.changes.lock().unwrap().len() as u64)
    }

    fn fetch(&self, number: u64, to: &mut File) -> Result<(), StoreError> {
        let changes = self.changes.lock().unwrap();
        to.write_all(&changes[number as usize - 1]).map_err(StoreError::file(Path::new("change")))
    }
}

/// Two hosts that share a store.
struct Hosts {
    volume: Arc<Shared>,
    one: Store,
    two: Store,
    _folder: tempfile::TempDir,
}

fn hosts() -> Hosts {
    let (folder, volume) = (tempfile::tempdir().unwrap(), Arc::new(Shared::default()));
    let shared: Arc<dyn Volume> = volume.clone();
    let [one, two] = ["one", "two"].map(|name| {
        let place = folder.path().join(name);
        std::fs::create_dir(&place).unwrap();
        Store::begin(&place, &shared, true).unwrap()
    });
    Hosts { volume, one, two, _folder: folder }
}

fn staged(store: &Store, content: &[u8]) -> Staging {
    let mut staging = store.stage().unwrap();
    staging.copy(&mut &content[..]).unwrap();
    staging
}

fn entry(name: &str, content: &[u8]) -> Entry {
    use sha2::Digest as _;
    let name: Name = name.parse().unwrap();
    let made = Preparation::new(Spec::new(name.clone(), 1), content.to_vec(), &Signer::Digest);
    let mut made = made.unwrap().run(&Signer::Digest).unwrap();
    let place = Place::Blob(sha2::Sha256::digest(content).into());
    let object = Object::of(&mut made, place).unwrap();
    Entry { name, version: 1, body: Body::Object(Box::new(object)) }
}

fn insert(store: &Store, name: &str, content: &[u8]) -> Result<Inserted, StoreError> {
    let mut staging = staged(store, content);
    let mut insertion = Insertion::new(store, &mut staging)?;
    insertion.top(&entry(name, content), &Top::default())?;
    insertion.commit()
}

fn names(store: &Store) -> BTreeSet<String> {
    catch_up(store).unwrap();
    let view = View::new(store).unwrap();
    let tops = view.tops(None, 100).unwrap();
    tops.iter().map(|(number, _)| view.entry(*number).unwrap().unwrap().name.to_string()).collect()
}

fn is_whole(store: &Store, name: &str) -> bool {
    let view = View::new(store).unwrap();
    let name: Name = name.parse().unwrap();
    let number = view.number(name.as_ref(), 1).unwrap().unwrap();
    store.verify(&view, number).unwrap().damage.is_empty()
}

#[test]
fn the_second_of_two_hosts_makes_its_change_again() {
    let Hosts { one, two, .. } = hosts();
    let mut staging = staged(&two, b"two");
    let mut late = Insertion::new(&two, &mut staging).unwrap();
    late.top(&entry("/two", b"two"), &Top::default()).unwrap();
    insert(&one, "/one", b"one").unwrap();
    assert!(matches!(late.commit(), Err(StoreError::Outpaced(_))));
    assert_eq!(names(&two), BTreeSet::from(["/one".to_owned()]));
    let mut again = Insertion::new(&two, &mut staging).unwrap();
    again.top(&entry("/two", b"two"), &Top::default()).unwrap();
    assert!(!again.commit().unwrap().was_there);
    assert_eq!((names(&one).len(), names(&one)), (2, names(&two)));
    assert!(is_whole(&one, "/two") && is_whole(&two, "/one"));
    assert_eq!(one.usage().unwrap(), two.usage().unwrap());
}

#[test]
fn a_change_whose_answer_is_lost_is_there_once() {
    let Hosts { volume, one, two, .. } = hosts();
    volume.loses.store(true, Ordering::Relaxed);
    insert(&one, "/one", b"one").unwrap_err();
    volume.loses.store(false, Ordering::Relaxed);
    assert!(insert(&one, "/one", b"one").unwrap().was_there);
    assert_eq!(names(&two).len(), 1);
    assert!(is_whole(&one, "/one") && is_whole(&two, "/one"));
    // The bytes of the first attempt were replaced by the same ones.
    assert_eq!(volume.uploads(), 1);
}

#[test]
fn a_late_removal_harms_no_later_insertion_of_the_same_bytes() {
    let Hosts { volume, one, two, .. } = hosts();
    insert(&one, "/one", b"same").unwrap();
    let old = volume.all().unwrap();
    catch_up(&two).unwrap();
    let top = View::new(&two).unwrap().last_top().unwrap().unwrap();
    assert_eq!(two.remove(top).unwrap().unwrap().bytes, 4);
    insert(&one, "/again", b"same").unwrap();
    assert_eq!(two.sweep(old).unwrap().bytes, 0);
    assert_eq!(names(&two), BTreeSet::from(["/again".to_owned()]));
    assert!(is_whole(&one, "/again") && is_whole(&two, "/again"));
}

#[test]
fn uploads_of_a_killed_process_are_removed_and_its_change_is_rejected() {
    let Hosts { volume, one, two, .. } = hosts();
    insert(&one, "/one", b"one").unwrap();
    let mut staging = staged(&one, b"killed");
    let insertion = Insertion::new(&one, &mut staging).unwrap();
    drop(insertion);
    // While the process lives, its host keeps the uploads. Other hosts remove only old uploads.
    one.gc().unwrap();
    drop(staging);
    two.gc().unwrap();
    assert_eq!(volume.uploads(), 2);
    let freed = one.gc().unwrap();
    assert_eq!((freed.bytes, volume.uploads()), (6, 1));
    // The change that it would have made has the number of the empty one.
    assert!(!volume.append(2, 0, Path::new("/dev/null")).unwrap());
    assert_eq!((names(&one), names(&two).len()), (names(&two), 1));
}
