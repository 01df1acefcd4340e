//! A store in a bucket of an S3 server. The comment of the crate describes its objects.

mod answer;
mod blocks;
mod client;
mod objects;
mod settings;

use crate::address::BucketAddress;
use crate::digest::{Digest, hex, parse};
use crate::error::StoreError;
use crate::fault::{BucketError, Cause};
use crate::follow::catch_up;
use crate::index::{APPLIED, NONCE, SHARED};
use crate::record::Steps;
use crate::staging::{self, Staged, Staging};
use crate::store::Store;
use crate::volume::{Blob, Found, Log, Volume};
use blocks::{Blocks, Object};
use client::Client;
use jiff::SignedDuration;
use objects::{Done, Part};
use settings::Settings;
use std::collections::BTreeMap;
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use transport::publish::Source;

/// The format of the stores in buckets that this program writes.
const KNOWN: u64 = 1;
/// Bytes of the beginning of a change that have its nonce.
const HEAD: usize = 64;
/// The maximum number of bytes of the object `store`.
const MOST_LABEL: usize = 1000;
/// Uploads at a time.
const UPLOADS: usize = 4;
/// The age of uploads without a name after which they count as those of killed processes of other
/// hosts.
const OLD: SignedDuration = SignedDuration::from_hours(24);
/// The file in a staging's folder that lists uploads in parts.
const BEGUN: &str = "uploads";

/// Opens a store in a bucket. With `is_new`, a missing store is made.
pub fn open(at: &BucketAddress, cache: &Path, is_new: bool) -> Result<Store, StoreError> {
    let settings = Settings::of_user()
        .map_err(|why| Box::new(BucketError::new("use", at.to_string(), Cause::Settings, why)))?;
    let folder = cache.join(cache_name(&settings, at));
    let client = Arc::new(Client::new(at, settings)?);
    let number = match label(&client)? {
        Some(number) => number,
        None if is_new => make(&client)?,
        None => return Err(StoreError::None(PathBuf::from(at.to_string()))),
    };
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(&folder)
        .map_err(StoreError::file(&folder))?;
    let volume = Arc::new(BucketVolume { blocks: Blocks::new(client.clone()), client });
    let store = open_index(&folder, &volume, number)?;
    catch_up(&store)?;
    if staging::has_stale(store.folder())? {
        match store.gc() {
            // Credentials that may only read stop no command but `gc`.
            Err(StoreError::Bucket(error)) if error.cause() == Cause::Rejected => {}
            cleaned => _ = cleaned?,
        }
    }
    Ok(store)
}

/// The name of the folder for the index of a store: not even one of another server is the same.
fn cache_name(settings: &Settings, at: &BucketAddress) -> String {
    let whole = format!("{} {at}", settings.endpoint);
    format!("{}-{:016x}", at.bucket(), xxhash_rust::xxh3::xxh3_64(whole.as_bytes()))
}

/// Opens the index. A damaged index, or one of another store, is removed and made again.
fn open_index(folder: &Path, volume: &Arc<BucketVolume>, number: u64) -> Result<Store, StoreError> {
    let shared: Arc<dyn Volume> = volume.clone();
    match Store::begin(folder, &shared, true) {
        Ok(store) if volume.is_copy(&store, number)? => return Ok(store),
        Ok(_) | Err(StoreError::Damaged { .. } | StoreError::Newer { .. }) => {}
        Err(error) => return Err(error),
    }
    let index = folder.join("index");
    match std::fs::remove_file(&index) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            return Err(StoreError::file(&index)(error));
        }
        _ => {}
    }
    let store = Store::begin(folder, &shared, true)?;
    store.set_number(SHARED, number)?;
    Ok(store)
}

/// The random number of the store in the bucket; `None` without a store.
fn label(client: &Client) -> Result<Option<u64>, StoreError> {
    let key = client.address().key("store");
    let Some(text) = objects::beginning(client, &key, MOST_LABEL)? else { return Ok(None) };
    let text = String::from_utf8_lossy(&text);
    let words: Vec<&str> = text.split_whitespace().collect();
    let format = match words[..] {
        ["weir-store", format, ..] => format.parse::<u64>().ok(),
        _ => None,
    };
    match (format, &words[..]) {
        (Some(KNOWN), [_, _, number]) if is_number(number) => {
            Ok(u64::from_str_radix(number, 16).ok())
        }
        (Some(found), _) if found > KNOWN => {
            let path = PathBuf::from(client.address().to_string());
            Err(StoreError::Newer { path, found, known: KNOWN })
        }
        _ => {
            let (object, why) = (client.title_of(&key), "it is no label of a store".to_owned());
            Err(StoreError::Change { object, why })
        }
    }
}

/// True for the digits of a random number.
fn is_number(text: &str) -> bool {
    text.len() == 16 && text.bytes().all(|digit| digit.is_ascii_hexdigit())
}

/// Makes a store in the bucket, and checks that its server supports conditions.
fn make(client: &Client) -> Result<u64, StoreError> {
    let key = client.address().key("store");
    let number = getrandom::u64().map_err(io::Error::other);
    let number = number.map_err(StoreError::file(Path::new("getrandom")))?;
    let made = write_label(client, &key, number);
    match made {
        Err(error) if error.cause() == Cause::Condition => {
            // Another process was faster, or the answer to an attempt was lost.
            return Ok(label(client)?.unwrap_or(number));
        }
        made => made?,
    }
    match write_label(client, &key, number) {
        Err(error) if error.cause() == Cause::Condition => Ok(number),
        Err(error) => Err(error.into()),
        Ok(()) => {
            objects::remove(client, &key)?;
            let why = "the server ignores If-None-Match, without which two hosts would overwrite \
                       each other's changes";
            let (object, why) = (client.title_of(&key), why.to_owned());
            Err(Box::new(BucketError::new("use", object, Cause::Unsupported, why)).into())
        }
    }
}

fn write_label(client: &Client, key: &str, number: u64) -> Done<()> {
    let text = format!("weir-store {KNOWN} {number:016x}\n");
    objects::put_bytes(client, key, text.as_bytes())
}

/// A bucket as the place of a store's bytes and changes.
struct BucketVolume {
    client: Arc<Client>,
    blocks: Arc<Blocks>,
}

/// Files that several threads upload.
struct Uploading {
    waiting: Vec<Staged>,
    /// The index of the next one.
    next: AtomicUsize,
    /// The uploaded files.
    done: Mutex<Vec<Digest>>,
}

impl BucketVolume {
    fn key_of(&self, blob: &Blob) -> String {
        let digest = hex(&blob.digest);
        let name = format!("blobs/{}/{digest}-{:016x}", &digest[..2], blob.upload);
        self.client.address().key(&name)
    }

    fn change_key(&self, number: u64) -> String {
        self.client.address().key(&format!("log/{number:016}"))
    }

    /// The nonce of a change; `None` if the change does not exist.
    fn nonce(&self, number: u64) -> Result<Option<u64>, StoreError> {
        let key = self.change_key(number);
        let Some(head) = objects::beginning(&self.client, &key, HEAD)? else { return Ok(None) };
        // A damaged one has no nonce, and is found when it is applied.
        Ok(Some(Steps::new(&head[..]).map_or(0, |(_, nonce)| nonce)))
    }

    /// True if the index is a copy of the store with this number.
    fn is_copy(&self, store: &Store, number: u64) -> Result<bool, StoreError> {
        match store.number(SHARED)? {
            Some(known) if known == number => {}
            _ => return Ok(false),
        }
        let Some(applied) = store.number(APPLIED)?.filter(|applied| *applied > 0) else {
            return Ok(true);
        };
        // The bucket may have been restored from an older state.
        Ok(self.nonce(applied)? == store.number(NONCE)?)
    }

    /// Uploads a staged file.
    fn upload(&self, staging: &Staging, staged: &Staged) -> Result<(), StoreError> {
        let blob = Blob { digest: staged.digest, size: staged.size, upload: staging.number() };
        let key = self.key_of(&blob);
        let file = File::open(&staged.path).map_err(StoreError::file(&staged.path))?;
        let part = Part::whole(&file).map_err(StoreError::file(&staged.path))?;
        let list = staging.folder().join(BEGUN);
        objects::upload(
            &self.client,
            &key,
            part,
            |id| {
                let mut list = OpenOptions::new().create(true).append(true).open(&list)?;
                list.write_all(format!("{id} {key}\n").as_bytes())
            },
            &|| staging.is_interrupted(),
        )?;
        Ok(())
    }

    /// Uploads files until none is left, beside other threads.
    fn upload_all(&self, staging: &Staging, work: &Uploading) -> Result<(), StoreError> {
        let Uploading { waiting, next, done } = work;
        while let Some(staged) = waiting.get(next.fetch_add(1, Ordering::Relaxed)) {
            self.upload(staging, staged).inspect_err(|_| {
                next.store(waiting.len(), Ordering::Relaxed);
            })?;
            done.lock().unwrap_or_else(PoisonError::into_inner).push(staged.digest);
        }
        Ok(())
    }
}

impl Volume for BucketVolume {
    fn title(&self) -> String {
        self.client.address().to_string()
    }

    fn title_of(&self, blob: &Blob) -> String {
        self.client.title_of(&self.key_of(blob))
    }

    fn receive(&self, staging: &mut Staging) -> Result<(), StoreError> {
        staging.flush()?;
        let waiting = staging.waiting();
        if waiting.is_empty() {
            return Ok(());
        }
        // An upload that fails may have reached the server.
        staging.stay(true);
        let (next, done) = (AtomicUsize::new(0), Mutex::default());
        let work = Uploading { waiting, next, done };
        let (staged, threads) = (&*staging, 1..UPLOADS.min(work.waiting.len()));
        let uploaded = std::thread::scope(|scope| {
            let threads = threads.map(|_| scope.spawn(|| self.upload_all(staged, &work)));
            let threads: Vec<_> = threads.collect();
            let own = self.upload_all(staged, &work);
            let joined = threads.into_iter().map(|thread| match thread.join() {
                Ok(uploaded) => uploaded,
                Err(panic) => std::panic::resume_unwind(panic),
            });
            joined.fold(own, Result::and)
        });
        for digest in work.done.into_inner().unwrap_or_else(PoisonError::into_inner) {
            staging.receive(digest);
        }
        uploaded
    }

    fn has(&self, _blob: &Blob) -> bool {
        true
    }

    fn place(&self, staging: &Staging, _moves: &BTreeMap<Digest, bool>) -> Result<(), StoreError> {
        match staging.is_overdue() {
            true => Err(StoreError::Overdue(self.title())),
            false => Ok(()),
        }
    }

    fn find(&self, blob: &Blob) -> Found {
        let (digest, upload) = (Some(blob.digest), blob.upload);
        Found { at: self.key_of(blob).into(), digest, upload, size: Some(blob.size), is_old: false }
    }

    fn all(&self) -> Result<Vec<Found>, StoreError> {
        let listed = objects::list(&self.client, &self.client.address().key("blobs/"))?;
        let found = listed.into_iter().map(|listed| {
            let name = listed.key.rsplit('/').next().unwrap_or_default();
            let (digest, upload) = name.split_once('-').unwrap_or((name, ""));
            let upload = u64::from_str_radix(upload, 16).ok();
            Found {
                digest: parse(digest).filter(|_| upload.is_some()),
                upload: upload.unwrap_or(0),
                size: Some(listed.size),
                is_old: listed.age > OLD,
                at: listed.key.into(),
            }
        });
        Ok(found.collect())
    }

    fn remove(&self, found: &Found) -> Result<Option<u64>, StoreError> {
        let key = found.at.to_string_lossy();
        objects::remove(&self.client, &key)?;
        Ok(Some(found.size.unwrap_or(0)))
    }

    fn abandon(&self, stale: &Path) {
        let list = std::fs::read_to_string(stale.join(BEGUN)).unwrap_or_default();
        for (id, key) in list.lines().filter_map(|line| line.split_once(' ')) {
            // A completed upload cannot be aborted.
            let _ = objects::abort(&self.client, key, id);
        }
    }

    fn source(&self, blob: &Blob) -> Box<dyn Source> {
        self.blocks.source(Object { key: self.key_of(blob), size: blob.size }, true)
    }

    fn served(&self, blob: &Blob) -> Box<dyn Source> {
        self.blocks.source(Object { key: self.key_of(blob), size: blob.size }, false)
    }

    fn log(&self) -> Option<&dyn Log> {
        Some(self)
    }
}

impl Log for BucketVolume {
    fn name_of(&self, number: u64) -> String {
        self.client.title_of(&self.change_key(number))
    }

    fn append(&self, number: u64, nonce: u64, change: &Path) -> Result<bool, StoreError> {
        let file = File::open(change).map_err(StoreError::file(change))?;
        let part = Part::whole(&file).map_err(StoreError::file(change))?;
        match objects::put(&self.client, &self.change_key(number), part, true) {
            Ok(()) => Ok(true),
            // It may be this one, if the answer to an earlier attempt was lost.
            Err(error) if error.cause() == Cause::Condition => {
                Ok(self.nonce(number)? == Some(nonce))
            }
            Err(error) => Err(error.into()),
        }
    }

    fn has(&self, number: u64) -> Result<bool, StoreError> {
        Ok(self.nonce(number)?.is_some())
    }

    fn fetch(&self, number: u64, to: &mut File) -> Result<(), StoreError> {
        Ok(objects::fetch(&self.client, &self.change_key(number), to)?)
    }
}
