//! The store of a gateway's uploads.

use super::copy::{Watched, prepare};
use super::keep::{self, certificates};
use super::run::{Claims, Running, Served, serve};
use super::shelf::{Shown, StoreShelf};
use super::{below, is_tree};
use crate::cli::upload::UploadArgs;
use crate::exit::{Failure, Kind};
use crate::gateway::{Item, Keeper, Kept};
use crate::identity::{self, Signing};
use crate::output::Progress;
use crate::producer::{Look, Terms};
use crate::signals::Stop;
use crate::transfer::MOST_COMPONENTS;
use hyper::StatusCode;
use net::client::{Address, Connection};
use net::clock::unix_millis;
use packet::tlv::types::GENERIC;
use packet::{Component, Name};
use repo::{Insertion, Serving, Store, StoreError, Top};
use std::collections::BTreeMap;
use std::io::{self, ErrorKind, Read};
use std::sync::{Arc, Mutex, PoisonError};
use transport::publish::{Publish, Spec};

/// The store, and the keys that sign.
pub struct StoreKeeper {
    store: Arc<Store>,
    shown: Arc<Shown>,
    /// The keys of each prefix.
    signing: Vec<(Name, Signing)>,
    quota: u64,
    stop: Stop,
    /// One insertion at a time: the store permits no more.
    inserting: Mutex<()>,
    _serving: Serving,
}

impl StoreKeeper {
    /// Opens the store, or makes it. Returns remarks for the user as well.
    ///
    /// # Errors
    /// The store cannot be opened, another process serves it, or a key cannot be used.
    pub fn new(args: &UploadArgs, stop: Stop) -> Result<(Arc<StoreKeeper>, Vec<String>), Failure> {
        let mut signing = Vec::new();
        let mut remarks = Vec::new();
        for prefix in &args.put {
            let mut of = identity::signing(args.sign.as_ref(), prefix)?;
            remarks.extend(of.remark.take());
            signing.push((prefix.clone(), of));
        }
        let store = Arc::new(super::create(&args.store)?);
        let serving = store.serve()?;
        let shown = Arc::new(Shown::new(store.clone())?);
        let (quota, inserting) = (args.quota.0, Mutex::default());
        let keeper =
            StoreKeeper { store, shown, signing, quota, stop, inserting, _serving: serving };
        Ok((Arc::new(keeper), remarks))
    }

    fn signing(&self, name: &Name) -> Result<&Signing, Failure> {
        let above = self.signing.iter().filter(|(under, _)| is_under(name, under));
        let nearest = above.max_by_key(|(under, _)| under.len());
        let missing = || Failure::new(Kind::Failed, format!("no key is for {name}"));
        nearest.map(|(_, signing)| signing).ok_or_else(missing)
    }

    fn newest(&self, name: &Name) -> Result<Option<u64>, StoreError> {
        let view = self.shown.view();
        let Some((number, _)) = view.find(name.as_ref())? else { return Ok(None) };
        Ok(view.entry(number)?.filter(|entry| entry.name == *name).map(|entry| entry.version))
    }

    /// True if the name is that of a tree, or lies in one.
    fn is_in_tree(&self, name: &Name) -> Result<bool, StoreError> {
        let view = self.shown.view();
        for len in 1..=name.len() {
            let root = name.as_ref().prefix(len).to_name();
            let root = root.with(&Component::keyword(::tree::KEYWORD));
            let Some((number, _)) = view.find(root.as_ref())? else { continue };
            if view.entry(number)?.is_some_and(|entry| entry.name == root) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Copies, hashes and signs the bytes, and stores the object.
    fn insert(&self, name: &Name, body: &mut dyn Read) -> Result<Kept, Failed> {
        let signing = self.signing(name)?;
        let mut staging = self.store.stage()?;
        let mut failed = None;
        let copied = staging.copy(&mut Noting { body, failed: &mut failed });
        let staged = match (copied, failed) {
            (Ok(staged), _) => staged,
            (Err(_), Some(failed)) => {
                let failure = Failure::new(Kind::Failed, failed);
                return Err(Failed(StatusCode::BAD_REQUEST, failure));
            }
            (Err(error), None) => {
                return Err(Failed(status(Some(error.kind())), keep::unwritable(&error)));
            }
        };
        // Versions grow also if the clock was set back.
        let version = self.newest(name)?.map_or(0, |version| version.saturating_add(1));
        let version = unix_millis().max(version);
        let progress = Progress::new("", true);
        let watched = Watched { progress: &progress, stop: &self.stop };
        let spec = Spec::new(name.clone(), version);
        let entry = prepare(spec, &staged, &signing.signer, &watched)?;
        let prefixes = certificates(&mut staging, name, &signing.chain)?;
        let bytes = staged.size;
        let top = Top { added: unix_millis(), bytes, files: None, prefixes };
        let _lock = self.inserting.lock().unwrap_or_else(PoisonError::into_inner);
        let mut insertion = Insertion::new(&self.store, &mut staging)?;
        insertion.limit(Some(self.quota));
        if insertion.top(&entry, &top)? {
            insertion.held()?;
        }
        insertion.commit()?;
        // Consumers find it from now on.
        self.shown.renew()?;
        Ok(Kept { version, bytes })
    }
}

/// A failure, and the status that the client gets.
struct Failed(StatusCode, Failure);

impl From<Failure> for Failed {
    fn from(failure: Failure) -> Failed {
        Failed(StatusCode::INTERNAL_SERVER_ERROR, failure)
    }
}

impl From<StoreError> for Failed {
    fn from(error: StoreError) -> Failed {
        let status = match &error {
            StoreError::Quota { .. } => StatusCode::INSUFFICIENT_STORAGE,
            error => status(error.io().map(io::Error::kind)),
        };
        Failed(status, error.into())
    }
}

fn status(kind: Option<ErrorKind>) -> StatusCode {
    match kind {
        Some(ErrorKind::StorageFull | ErrorKind::QuotaExceeded) => StatusCode::INSUFFICIENT_STORAGE,
        _ => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

/// A body whose failures are told from those of the store.
struct Noting<'a> {
    body: &'a mut dyn Read,
    failed: &'a mut Option<String>,
}

impl Read for Noting<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.body.read(buffer).inspect_err(|error| *self.failed = Some(error.to_string()))
    }
}

fn is_under(name: &Name, prefix: &Name) -> bool {
    name.as_ref().starts_with(prefix.as_ref())
}

impl Keeper for StoreKeeper {
    fn version(&self, name: &Name) -> Result<Option<u64>, (StatusCode, Failure)> {
        let bad = |error: StoreError| (StatusCode::INTERNAL_SERVER_ERROR, error.into());
        if name.len() > MOST_COMPONENTS {
            let message = format!("consumers find names of {MOST_COMPONENTS} components or fewer");
            let failure = Failure::new(Kind::Usage, message).then("choose a shorter name");
            return Err((StatusCode::URI_TOO_LONG, failure));
        }
        if self.is_in_tree(name).map_err(bad)? {
            let message = format!("{name} is in a tree of the store");
            return Err((StatusCode::CONFLICT, Failure::new(Kind::Usage, message)));
        }
        self.newest(name).map_err(bad)
    }

    fn room(&self) -> Result<u64, Failure> {
        Ok(self.quota.saturating_sub(self.store.usage()?.bytes))
    }

    fn keep(&self, name: &Name, body: &mut dyn Read) -> Result<Kept, (StatusCode, Failure)> {
        self.insert(name, body).map_err(|Failed(status, failure)| (status, failure))
    }

    fn list(&self, name: &Name, query: Option<&str>) -> Result<Option<Vec<Item>>, Failure> {
        let (found, _) = below(&self.shown.view(), Some(name.as_ref()))?;
        let query = query.map(str::to_lowercase);
        let mut entries = BTreeMap::new();
        let mut is_folder = false;
        for named in found {
            let own = named.entry.name.as_ref();
            let is_tree = is_tree(&named.entry);
            let own = if is_tree { own.parent() } else { own };
            if own.len() <= name.len() {
                match is_tree {
                    true => return Ok(None),
                    false => continue,
                }
            }
            is_folder = true;
            let parts = own.components().skip(name.len()).map(|part| {
                let text = std::str::from_utf8(part.value()).ok().filter(|_| part.typ() == GENERIC);
                text.filter(|text| !text.is_empty() && !text.contains('/')).map(str::to_owned)
            });
            let Some(parts) = parts.collect::<Option<Vec<String>>>() else { continue };
            let called = parts.last().map(|last| last.to_lowercase()).unwrap_or_default();
            let (bytes, added) = (named.top.bytes, named.top.added.saturating_mul(1_000_000));
            match &query {
                Some(query) if !called.contains(query) => {}
                // The newest version comes last.
                Some(_) => drop(entries.insert((parts.join("/"), is_tree), (bytes, added))),
                None if parts.len() == 1 => {
                    entries.insert((parts[0].clone(), is_tree), (bytes, added));
                }
                None => {
                    let all = entries.entry((parts[0].clone(), true)).or_insert((0, 0));
                    *all = (all.0 + bytes, all.1.max(added));
                }
            }
        }
        let items = entries.into_iter().map(|((path, is_folder), (bytes, added))| {
            Item::stored(&path, bytes, is_folder, added)
        });
        Ok(is_folder.then(|| items.collect()))
    }
}

/// The program that answers for the store.
pub struct Publisher {
    /// The forwarder.
    pub address: Address,
    /// The store.
    pub keeper: Arc<StoreKeeper>,
    /// No lines about the forwarder.
    pub quiet: bool,
}

impl Publisher {
    /// Serves the store by name until the end. Calls `begin` when the forwarder knows the prefixes.
    ///
    /// # Errors
    /// The forwarder refuses the prefixes, or the store cannot be read.
    pub fn run(
        &self,
        begin: &dyn Fn(),
        complain: impl Fn(String) + 'static,
    ) -> Result<(), Failure> {
        let mut connection = Connection::open(self.address.clone())?;
        let keeper = &self.keeper;
        let mut publish = Publish::new();
        publish.set_shelf(Box::new(StoreShelf::new(keeper.shown.clone())));
        let prefixes = keeper.signing.iter().map(|(prefix, _)| prefix.clone()).collect();
        let complain = Box::new(complain);
        let mut content =
            Served::new(keeper.shown.clone(), Claims::Besides(prefixes), Some(complain));
        let progress = Progress::new("", true);
        let look = Look { progress: &progress, stop: &keeper.stop, verbose: false };
        let (terms, quiet) = (Terms::default(), self.quiet);
        let running = Running { command: "weir gateway", look, terms, quiet };
        serve(&mut connection, &mut publish, &mut content, &running, &|_| {
            begin();
            Ok(())
        })
    }
}
