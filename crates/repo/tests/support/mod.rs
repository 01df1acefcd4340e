//! Objects for tests, and their insertion.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]
#![allow(dead_code, reason = "each test uses some of it")]

use packet::{DataBuf, Name};
use repo::{Body, Entry, Inserted, Insertion, Object, Place, Store, StoreError, Top};
use security::Signer;
use sha2::{Digest, Sha256};
use std::path::Path;
use transport::publish::{Preparation, Publication, Spec};

/// An entry, and from where it comes.
pub struct Made {
    pub entry: Entry,
    pub publication: Option<Publication>,
    pub content: Option<Vec<u8>>,
}

impl Clone for Made {
    fn clone(&self) -> Made {
        let (entry, content) = (self.entry.clone(), self.content.clone());
        Made { entry, publication: None, content }
    }
}

/// An object, signed by a digest.
pub fn object(name: &str, version: u64, content: &[u8]) -> Made {
    let name: Name = name.parse().unwrap();
    let spec = Spec::new(name.clone(), version);
    let made = Preparation::new(spec, content.to_vec(), &Signer::Digest).unwrap();
    let mut made = made.run(&Signer::Digest).unwrap();
    let place = Place::Blob(Sha256::digest(content).into());
    let object = Object::of(&mut made, place).unwrap();
    let entry = Entry { name, version, body: Body::Object(Box::new(object)) };
    Made { entry, publication: Some(made), content: Some(content.to_vec()) }
}

/// A packet.
pub fn packet(name: &str, content: &[u8]) -> Made {
    let name: Name = name.parse().unwrap();
    let mut wire = Vec::new();
    Signer::Digest.encode(&DataBuf::new(name.clone(), content.to_vec()), &mut wire);
    let entry = Entry { name, version: 0, body: Body::Packet(wire.into()) };
    Made { entry, publication: None, content: None }
}

/// Inserts an object with its members.
pub fn insert(store: &Store, top: &Made, members: &[Made]) -> Result<Inserted, StoreError> {
    insert_all(store, top, members, |_| {})
}

/// Inserts an object with its members, whose signatures were not verified.
pub fn insert_unverified(
    store: &Store,
    top: &Made,
    members: &[Made],
) -> Result<Inserted, StoreError> {
    insert_all(store, top, members, |insertion| insertion.unverified().unwrap())
}

/// Inserts an object under a quota.
pub fn insert_limited(
    store: &Store,
    top: &Made,
    quota: Option<u64>,
) -> Result<Inserted, StoreError> {
    insert_all(store, top, &[], |insertion| insertion.limit(quota))
}

fn insert_all(
    store: &Store,
    top: &Made,
    members: &[Made],
    prepare: impl FnOnce(&mut Insertion<'_>),
) -> Result<Inserted, StoreError> {
    let mut staging = store.stage()?;
    for content in members.iter().chain([top]).filter_map(|made| made.content.as_ref()) {
        staging.copy(&mut &content[..]).unwrap();
    }
    let mut insertion = Insertion::new(store, &mut staging)?;
    prepare(&mut insertion);
    let about = Top { added: 1, bytes: 1, ..Top::default() };
    insertion.top(&top.entry, &about)?;
    for member in members {
        insertion.member(&member.entry)?;
    }
    insertion.commit()
}

/// The files of blobs.
pub fn blobs(store: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let folders = std::fs::read_dir(store.join("blobs")).into_iter().flatten();
    for folder in folders.flatten() {
        let files = std::fs::read_dir(folder.path()).into_iter().flatten();
        found.extend(files.flatten().map(|file| file.file_name().into_string().unwrap()));
    }
    found.sort();
    found
}

/// The number of entries of the store's folder.
pub fn files(store: &Path) -> usize {
    std::fs::read_dir(store).unwrap().count()
}
