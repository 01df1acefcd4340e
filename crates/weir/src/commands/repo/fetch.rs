//! `weir repo fetch`

use super::keep::{self, Ready};
use super::signed::{Collector, Wanted};
use super::store::create;
use crate::cli::repo::RepoFetchArgs;
use crate::commands::get::Room;
use crate::consumer::{self, Absence, Keep, Summary, Watch};
use crate::exit::{Failure, Kind};
use crate::file::FileSink;
use crate::output::{self, Progress};
use crate::reach::Reach;
use crate::signals::Stop;
use crate::transfer::Transfers;
use control::Size;
use net::client::Connection;
use repo::{Staging, StoreError};
use transport::fetch::{ObjectInfo, Resume, Sink};

/// A running command.
pub struct Fetching<'a> {
    /// Its arguments.
    pub args: &'a RepoFetchArgs,
    /// The options of transfers.
    pub transfers: &'a Transfers,
    /// The signal to stop.
    pub stop: &'a Stop,
    /// Bytes that the store has. The insertion counts the additional ones: the store may have some
    /// of the content. Before, only content that fits into no store with this quota is rejected.
    pub used: u64,
}

/// Fetches an object or tree, and keeps it.
pub fn run(args: &RepoFetchArgs) -> Result<(), Failure> {
    let transfers = Transfers::new(&args.transfer)?;
    let stop = Stop::listen().map_err(|error| Failure::new(Kind::Failed, error))?;
    let store = create(&args.keep.store)?;
    let mut reach = Reach::consumer(&args.reach)?;
    let used = store.usage()?.bytes;
    let fetching = Fetching { args, transfers: &transfers, stop: &stop, used };
    let mut staging = store.stage()?;
    keep::interruptible(&mut staging, &stop);
    let ready = match args.name.below {
        true => fetching.tree(&mut reach.connection, &mut staging),
        false => fetching.object(&mut reach.connection, &mut staging),
    };
    let ready = ready.map_err(|failure| reach.explain(failure))?;
    keep::insert(&store, &mut staging, ready, &args.keep, &args.output)
}

impl Fetching<'_> {
    /// Fetches an object, its signed packets and its certificates.
    fn object(&self, connection: &mut Connection, staging: &mut Staging) -> Result<Ready, Failure> {
        let config = self.transfers.config(self.args.name.name.clone())?;
        let mut fetch = self.transfers.fetch(config)?;
        let path = staging.path();
        let quota = self.args.keep.quota.unwrap_or(Size(u64::MAX)).0;
        let mut capped = Capped { sink: FileSink::new(&path), quota, used: self.used, over: None };
        let progress = Progress::new(&self.args.name.name.to_string(), self.args.output.quiet);
        let (patience, quiet) = (self.args.transfer.patience, self.args.output.quiet);
        let absence = Some(Absence { patience, quiet });
        let (stop, rate) = (self.stop, self.args.limit_rate);
        let watch =
            Watch { progress: &progress, stop, verbose: false, resumes: false, absence, rate };
        let driven = consumer::drive(connection, &mut fetch, &mut capped, &watch, &mut None);
        progress.end();
        let took = driven?;
        capped.sink.finish()?;
        let summary = Summary::of(&fetch, &self.transfers.control(), took);
        if !self.args.output.quiet && !self.args.output.json {
            output::note(&summary.line());
        }
        let info = fetch.object().cloned();
        let info = info.ok_or_else(|| Failure::new(Kind::Failed, "the object has no name"))?;
        let wanted = self.wanted(&info)?;
        let staged = staging.adopt(path).map_err(|error| keep::unwritable(&error))?;
        let (transfers, stop) = (self.transfers, self.stop);
        let mut collector = Collector { connection, transfers, stop };
        let signed = collector.signed(std::slice::from_ref(&wanted))?.pop();
        let signed = signed.ok_or_else(|| Failure::new(Kind::Failed, "it is not signed"))?;
        let root = signed.manifest.clone();
        let entry = collector.file_entry(&wanted, &staged, signed)?;
        let prefixes = collector.hold_certificates(staging, &entry.name, &root)?;
        let bytes = entry.object().map_or(0, |object| object.size);
        Ok(Ready {
            entry,
            bytes,
            files: None,
            prefixes,
            is_verified: transfers.needs_key(),
            media_type: None,
        })
    }

    /// The object whose bytes have come.
    fn wanted(&self, info: &ObjectInfo) -> Result<Wanted, Failure> {
        let version = info.name.as_ref().last().and_then(|last| last.as_version());
        let (Some(version), Some(_)) = (version, info.root_digest) else {
            let name = &info.name;
            let message = format!("{name} has no manifest, so its segments cannot be rebuilt");
            return Err(Failure::new(Kind::Failed, message)
                .then("a store keeps what `weir put` and `weir share` publish"));
        };
        let name = info.name.as_ref().parent().to_name();
        let root_digest = info.root_digest;
        let wanted = Wanted { name, version, segment_size: 0, root_digest }.with_usual_segments();
        let segment_size = info.segment_size.and_then(|size| u32::try_from(size).ok());
        Ok(Wanted { segment_size: segment_size.unwrap_or(wanted.segment_size), ..wanted })
    }
}

impl Room for Fetching<'_> {
    fn check(&self, bytes: u64) -> Result<(), Failure> {
        match self.args.keep.quota {
            Some(Size(quota)) if bytes > quota => {
                Err(StoreError::Quota { quota, used: self.used, needed: bytes }.into())
            }
            _ => Ok(()),
        }
    }
}

/// A file that takes no more than the quota permits.
struct Capped {
    sink: FileSink,
    quota: u64,
    used: u64,
    /// The bytes that would be needed.
    over: Option<u64>,
}

impl Capped {
    fn check(&mut self, needed: u64) {
        if needed > self.quota {
            self.over.get_or_insert(needed);
        }
    }
}

impl Sink for Capped {
    fn begin(&mut self, info: &ObjectInfo) -> Resume {
        self.check(info.size.unwrap_or(0));
        match self.over {
            None => self.sink.begin(info),
            Some(_) => Resume::default(),
        }
    }

    fn bounded(&mut self, at_most: u64, is_signed: bool) {
        self.sink.bounded(at_most, is_signed);
    }

    fn write(&mut self, segment: u64, offset: u64, content: &[u8]) {
        self.check(offset.saturating_add(content.len() as u64));
        if self.over.is_none() {
            self.sink.write(segment, offset, content);
        }
    }
}

impl Keep for Capped {
    fn take_failure(&mut self) -> Option<Failure> {
        if let Some(needed) = self.over {
            let (quota, used) = (self.quota, self.used);
            return Some(StoreError::Quota { quota, used, needed }.into());
        }
        self.sink.take_failure().map(Failure::from)
    }

    fn flush(&mut self) {
        if self.over.is_none() {
            self.sink.flush();
        }
    }
}
