//! The store of a gateway's uploads.

use super::copy::{Watched, prepare};
use super::keep::{self, Ready, certificates};
use super::listing::{self, Bounds};
use super::run::{Claims, Running, Served, serve};
use super::shelf::{Shown, StoreShelf};
use super::store::create;
use crate::cli::upload::UploadArgs;
use crate::exit::{Failure, Kind};
use crate::gateway::{Keeper, Kept, Listing, Permit, Reason, StoreFailure, StoredObject};
use crate::identity::{self, Signing};
use crate::output::Progress;
use crate::producer::{Look, ServeSettings};
use crate::signals::Stop;
use client::parts::MOST_COMPONENTS;
use net::client::{Address, Connection};
use net::clock::unix_millis;
use packet::Name;
use repo::{Serving, Store, StoreError, View};
use std::io::{self, ErrorKind, Read};
use std::sync::{Arc, Mutex, PoisonError};
use transport::publish::{Preparation, Publish, Spec};
use weir::http::ask::nearest;

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
        let store = Arc::new(create(&args.store)?);
        let serving = store.serve()?;
        let shown = Arc::new(Shown::new(store.clone())?);
        let (quota, inserting) = (args.quota.0, Mutex::default());
        let keeper =
            StoreKeeper { store, shown, signing, quota, stop, inserting, _serving: serving };
        Ok((Arc::new(keeper), remarks))
    }

    fn signing(&self, name: &Name) -> Result<&Signing, Failure> {
        let nearest = nearest(name, &self.signing, |(under, _)| under);
        match nearest {
            Some((_, signing)) => Ok(signing),
            None => Err(Failure::new(Kind::Failed, format!("no key is for {name}"))),
        }
    }
}

impl From<StoreError> for StoreFailure {
    fn from(error: StoreError) -> StoreFailure {
        let reason = match &error {
            StoreError::Quota { .. } => Reason::Full,
            StoreError::Conflict { .. } => Reason::Overtaken,
            error => reason(error.io().map(io::Error::kind)),
        };
        StoreFailure::new(reason, error.into())
    }
}

fn reason(kind: Option<ErrorKind>) -> Reason {
    match kind {
        Some(ErrorKind::StorageFull | ErrorKind::QuotaExceeded) => Reason::Full,
        _ => Reason::Failed,
    }
}

/// Checks that no tree has the name, or one above it.
fn check_trees(view: &View, name: &Name) -> Result<(), StoreFailure> {
    if !listing::is_in_tree(view, name)? {
        return Ok(());
    }
    let failure = Failure::new(Kind::Usage, format!("{name} is in a tree of the store"));
    Err(StoreFailure::new(Reason::InTree, failure))
}

/// A body that keeps its failures apart from those of the store.
struct BodyReader<'a> {
    body: &'a mut dyn Read,
    failed: &'a mut Option<String>,
}

impl Read for BodyReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.body.read(buffer).inspect_err(|error| *self.failed = Some(error.to_string()))
    }
}

impl Keeper for StoreKeeper {
    fn version(&self, name: &Name) -> Result<Option<u64>, StoreFailure> {
        if name.len() > MOST_COMPONENTS {
            let message = format!("consumers find names of {MOST_COMPONENTS} components or fewer");
            let failure = Failure::new(Kind::Usage, message);
            return Err(StoreFailure::new(Reason::LongName, failure));
        }
        // Before its bytes have come, an object without any shows that packets have room for its
        // name.
        let spec = Spec::new(name.clone(), unix_millis());
        let signer = &self.signing(name)?.signer;
        let made = Preparation::new(spec, Vec::new(), signer).and_then(|made| made.run(signer));
        if let Err(error) = made {
            let failure = Failure::new(Kind::Usage, error);
            return Err(StoreFailure::new(Reason::LongName, failure));
        }
        self.shown.renew()?;
        let view = self.shown.view();
        check_trees(&view, name)?;
        Ok(view.newest(name.as_ref())?)
    }

    fn room(&self) -> Result<u64, Failure> {
        let usage = self.store.usage()?;
        Ok(self.quota.saturating_sub(usage.bytes).saturating_sub(usage.records))
    }

    fn find(&self, name: &Name, version: Option<u64>) -> Result<Option<Kept>, Failure> {
        let view = self.shown.latest();
        let version = match version {
            Some(version) => Some(version),
            None => view.newest(name.as_ref())?,
        };
        // Packets have no version.
        let Some(version) = version.filter(|version| *version > 0) else { return Ok(None) };
        let Some(number) = view.number(name.as_ref(), version)? else { return Ok(None) };
        let Some(entry) = view.entry(number)? else { return Ok(None) };
        let Some(object) = entry.object() else { return Ok(None) };
        // A member of a tree has none.
        let media_type = view.top(number)?.and_then(|top| top.media_type);
        let (size, segment_size) = (object.size, object.segment_size.into());
        Ok(Some(Kept { name: entry.versioned(), size, segment_size, media_type }))
    }

    fn keep(
        &self,
        name: &Name,
        media_type: Option<String>,
        body: &mut dyn Read,
        permit: &Permit<'_>,
    ) -> Result<StoredObject, StoreFailure> {
        let signing = self.signing(name)?;
        let mut staging = self.store.stage()?;
        keep::interruptible(&mut staging, &self.stop);
        let mut failed = None;
        let copied = staging.copy(&mut BodyReader { body, failed: &mut failed });
        let staged = match (copied, failed) {
            (Ok(staged), _) => staged,
            (Err(_), Some(failed)) => {
                return Err(StoreFailure::new(
                    Reason::BrokenOff,
                    Failure::new(Kind::Failed, failed),
                ));
            }
            (Err(error), None) => {
                return Err(StoreFailure::new(
                    reason(Some(error.kind())),
                    keep::unwritable(&error),
                ));
            }
        };
        // Versions grow also if the clock was set back.
        let newest = self.shown.latest().newest(name.as_ref())?;
        let version = newest.map_or(0, |version| version.saturating_add(1));
        let version = unix_millis().max(version);
        let progress = Progress::new("", true);
        let watched = Watched { progress: &progress, stop: &self.stop };
        let spec = Spec::new(name.clone(), version);
        let entry = prepare(spec, &staged, &signing.signer, &watched);
        let entry = entry.map_err(|failure| match failure.kind() {
            // It was not too long for an empty object.
            Kind::Usage => StoreFailure::new(Reason::LongName, failure),
            _ => failure.into(),
        })?;
        let prefixes = certificates(&mut staging, name, &signing.chain)?;
        let bytes = staged.size;
        let ready = Ready { entry, bytes, files: None, prefixes, is_verified: true, media_type };
        let _lock = self.inserting.lock().unwrap_or_else(PoisonError::into_inner);
        let quota = Some(self.quota);
        keep::commit::<StoreFailure>(&self.store, &mut staging, &ready, quota, || {
            let view = View::new(&self.store)?;
            check_trees(&view, name)?;
            Ok(permit(view.newest(name.as_ref())?)?)
        })?;
        // Consumers can find it now.
        self.shown.renew()?;
        Ok(StoredObject { version, bytes })
    }

    fn list(&self, name: &Name, query: Option<&str>) -> Result<Option<Listing>, Failure> {
        listing::list(&self.shown.latest(), name, query, Bounds::default())
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
    /// Serves the store by name until the end. Calls `begin` when the prefixes are registered.
    ///
    /// # Errors
    /// The forwarder rejects the prefixes, or the store cannot be read.
    pub fn run(
        &self,
        begin: &dyn Fn(),
        complain: impl Fn(String) + 'static,
    ) -> Result<(), Failure> {
        let mut connection = Connection::open(self.address.clone())?;
        let keeper = &self.keeper;
        let _following = keeper.shown.follow();
        let mut publish = Publish::new();
        publish.set_shelf(Box::new(StoreShelf::new(keeper.shown.clone())));
        let prefixes = keeper.signing.iter().map(|(prefix, _)| prefix.clone()).collect();
        let complain = Box::new(complain);
        let mut content =
            Served::new(keeper.shown.clone(), Claims::Besides(prefixes), Some(complain));
        let progress = Progress::new("", true);
        let look = Look { progress: &progress, stop: &keeper.stop, verbose: false };
        let (settings, quiet) = (ServeSettings::default(), self.quiet);
        let running = Running { command: "weir gateway", look, settings, quiet };
        serve(&mut connection, &mut publish, &mut content, &running, &|_| {
            begin();
            Ok(())
        })
    }
}
