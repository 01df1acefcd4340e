//! Files that members publish and fetch: each one in a thread of its own, so that messages go on.

use crate::cli::{Cli, Command, GetArgs};
use crate::commands::get;
use crate::consumer::{self, Absence, Summary, Target, Watch};
use crate::exit::{Failure, Kind};
use crate::file::FileSource;
use crate::output::Progress;
use crate::producer;
use crate::signals::Stop;
use crate::transfer::Transfers;
use clap::Parser;
use net::client::{Address, Connection};
use packet::{Component, Name};
use security::Signer;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;
use transport::publish::{Preparation, Publication, Spec};

/// Files at a time.
const MOST: usize = 8;

/// The files in work.
pub struct Files {
    signer: Signer,
    trust: Vec<String>,
    forwarder: String,
    folder: PathBuf,
    stop: Stop,
    bell: Option<Arc<OwnedFd>>,
    jobs: Vec<JoinHandle<Result<Done, Failure>>>,
}

/// A finished file.
pub enum Done {
    /// It is ready to be served.
    Sent {
        /// Its object.
        publication: Box<Publication>,
        /// Its size.
        bytes: u64,
    },
    /// It has been fetched.
    Got {
        /// The file.
        path: PathBuf,
        /// A line about it.
        line: String,
    },
}

impl Files {
    /// Files are signed by `signer`, and fetched from members that `trust` accepts into `folder`.
    pub fn new(
        signer: Signer,
        trust: Vec<String>,
        forwarder: String,
        folder: PathBuf,
        stop: &Stop,
    ) -> Files {
        Files { signer, trust, forwarder, folder, stop: stop.clone(), bell: None, jobs: Vec::new() }
    }

    /// Rings this bell when a file is done.
    ///
    /// # Errors
    /// The system has no descriptor left.
    pub fn wake(&mut self, bell: &OwnedFd) -> Result<(), Failure> {
        let bell = bell.try_clone().map_err(|error| Failure::new(Kind::Failed, error))?;
        self.bell = Some(Arc::new(bell));
        Ok(())
    }

    fn start(
        &mut self,
        job: impl FnOnce() -> Result<Done, Failure> + Send + 'static,
    ) -> Result<(), Failure> {
        if self.jobs.len() == MOST {
            return Err(Failure::new(Kind::Usage, format!("{MOST} files are already in progress"))
                .then("wait until one is done"));
        }
        let bell = self.bell.clone();
        let thread = std::thread::Builder::new().name("file".to_owned());
        let job = thread.spawn(move || {
            let done = job();
            if let Some(bell) = bell {
                // It is full only if it rings already.
                let _ = rustix::io::write(&*bell, &1_u64.to_ne_bytes());
            }
            done
        });
        self.jobs.push(job.map_err(|error| Failure::new(Kind::Failed, error))?);
        Ok(())
    }

    /// Prepares a file to be served under the name that `name` returns for its file name.
    ///
    /// # Errors
    /// It has no name, or cannot be read.
    pub fn send(
        &mut self,
        file: &str,
        name: impl FnOnce(&Component) -> Name,
    ) -> Result<(), Failure> {
        let path = PathBuf::from(file);
        let Some(base) = path.file_name().and_then(|base| base.to_str()) else {
            return Err(Failure::new(Kind::Usage, format!("{file} has no file name")));
        };
        let name = name(&Component::generic(base.as_bytes()));
        let source = FileSource::open(&path).map_err(|error| {
            Failure::new(Kind::File, format!("cannot read {}: {error}", path.display()))
        })?;
        let (signer, stop) = (self.signer.clone(), self.stop.clone());
        self.start(move || {
            let preparation = Preparation::new(Spec::new(name, source.version()), source, &signer)?;
            let bytes = preparation.size();
            let progress = Progress::new("", true);
            let publication = producer::prepare(preparation, &signer, &progress, &stop)?;
            Ok(Done::Sent { publication: Box::new(publication), bytes })
        })
    }

    /// Fetches the object `NAME`, or `NAME FILE` into that file.
    ///
    /// # Errors
    /// The name or the file cannot be used.
    pub fn get(&mut self, what: &str) -> Result<(), Failure> {
        let (name, file) = what.split_once(' ').unwrap_or((what, ""));
        let object: Name = name.parse().map_err(|error| Failure::new(Kind::Usage, error))?;
        let path = match file.trim() {
            "" => self.folder.join(get::file_name(object.as_ref())?),
            file => self.folder.join(file),
        };
        // A symbolic link is not followed, also if it leads nowhere yet.
        if path.symlink_metadata().is_ok() {
            let message = format!("{} is there already", path.display());
            return Err(Failure::new(Kind::File, message).then("name another file: /get NAME FILE"));
        }
        let mut argv = vec!["weir".to_owned(), "get".to_owned(), "--quiet".to_owned()];
        argv.extend(["--socket".to_owned(), self.forwarder.clone()]);
        argv.extend(self.trust.iter().flat_map(|key| ["--trust".to_owned(), key.clone()]));
        argv.extend(["--".to_owned(), object.to_string()]);
        let parsed = Cli::try_parse_from(argv).map_err(|error| Failure::new(Kind::Usage, error))?;
        let Command::Get(args) = parsed.command else { return Ok(()) };
        let stop = self.stop.clone();
        self.start(move || fetch(&args, &path, &stop))
    }

    /// True if no file is in work.
    pub fn is_idle(&self) -> bool {
        self.jobs.is_empty()
    }

    /// The files that were finished since the last call.
    pub fn poll(&mut self) -> Vec<Result<Done, Failure>> {
        let done = self.jobs.extract_if(.., |job| job.is_finished());
        let results = done.map(|job| match job.join() {
            Ok(result) => result,
            Err(_) => Err(Failure::new(Kind::Failed, "a file's thread has failed")),
        });
        results.collect()
    }
}

fn fetch(args: &GetArgs, path: &Path, stop: &Stop) -> Result<Done, Failure> {
    let transfers = Transfers::new(&args.transfer)?;
    let target = Target::new(path, stop)?;
    let mut fetch = transfers.fetch(transfers.config(args.name.name.clone())?)?;
    let mut connection = Connection::open(Address::find(args.reach.forwarder.socket.as_deref())?)?;
    let absence = Some(Absence { patience: args.transfer.patience, quiet: true });
    let progress = Progress::new("", true);
    let (progress, verbose, resumes, rate) = (&progress, false, true, None);
    let watch = Watch { progress, stop, verbose, resumes, absence, rate };
    let took = consumer::run(&mut connection, &mut fetch, target, &watch, None)?;
    let summary = Summary::of(&fetch, &transfers.control(), took);
    let line = format!("{}: {}", path.display(), summary.line());
    Ok(Done::Got { path: path.to_owned(), line })
}
