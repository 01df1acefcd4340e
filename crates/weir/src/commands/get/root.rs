//! The root of a tree: its name, version and signature.

use crate::consumer::{self, Absence, Keep, Summary, Watch};
use crate::exit::{Failure, Kind};
use crate::output::Progress;
use crate::signals::Stop;
use crate::transfer::Transfers;
use control::{Duration, Rate};
use net::client::Connection;
use packet::{Component, Name};
use transport::fetch::{FetchError, ObjectInfo, Resume, Sink, Status};
use tree::Root;

/// The maximum number of bytes of a root.
const MOST: usize = 8800;

/// A verified root.
pub struct Found {
    /// The tree, or directory of one, without a version.
    pub name: Name,
    /// The name of the root's object.
    pub object: Name,
    /// The root.
    pub root: Root,
    /// Its transfer, with the signer.
    pub summary: Summary,
}

/// How trees are looked for.
pub struct Search<'a> {
    /// The options of transfers.
    pub transfers: &'a Transfers,
    /// The signal to stop.
    pub stop: &'a Stop,
    /// The patience of the user.
    pub patience: Duration,
    /// The maximum rate.
    pub rate: Option<Rate>,
    /// Print only errors.
    pub quiet: bool,
    /// Checks the room for the files of the tree, each time that a root is found.
    pub room: Option<&'a dyn Room>,
}

/// Decides whether there is room for a tree.
pub trait Room {
    /// # Errors
    /// There is no room for these bytes.
    fn check(&self, bytes: u64) -> Result<(), Failure>;
}

impl Search<'_> {
    /// Fetches the root of the tree `wanted`, which may end in a version.
    ///
    /// # Errors
    /// The tree does not exist, is not verified, or has no room.
    pub fn find(&self, connection: &mut Connection, wanted: &Name) -> Result<Found, Failure> {
        let keyword = Component::keyword(tree::KEYWORD);
        let (name, object) = match wanted.as_ref().last().filter(|l| l.as_version_any().is_some()) {
            Some(version) => {
                let name = wanted.as_ref().parent().to_name();
                let object = name.clone().with(&keyword).with(&version.to_component());
                (name, object)
            }
            None => (wanted.clone(), wanted.clone().with(&keyword)),
        };
        let mut fetch = self.transfers.fetch(self.transfers.config(object)?)?;
        let mut content = Memory::default();
        let progress = Progress::new(&wanted.to_string(), self.quiet);
        let absence = Some(Absence { patience: self.patience, quiet: self.quiet });
        let (stop, verbose, resumes) = (self.stop, false, true);
        let (progress_of, rate) = (&progress, self.rate);
        let watch = Watch { progress: progress_of, stop, verbose, resumes, absence, rate };
        let took = consumer::drive(connection, &mut fetch, &mut content, &watch, &mut None);
        progress.end();
        // Where no producer was reached, no other name helps.
        let is_reached = matches!(fetch.status(), Status::Failed(FetchError::NotThere(_)));
        let took =
            took.map_err(|failure| if is_reached { no_tree(&name, failure) } else { failure })?;
        let root = Root::decode(&content.bytes, name.len()).map_err(|error| {
            let message = format!("the tree {name}/ is rejected: {error}");
            Failure::new(Kind::NotVerified, message).then("inform its publisher")
        })?;
        if let Some(room) = self.room {
            room.check(root.page.totals.bytes)?;
        }
        let object = fetch.object().map(|info| info.name.clone()).unwrap_or_default();
        let summary = Summary::of(&fetch, &self.transfers.control(), took);
        Ok(Found { name, object, root, summary })
    }
}

/// The failure if the tree does not exist.
fn no_tree(name: &Name, failure: Failure) -> Failure {
    match failure.kind() {
        Kind::NotFound => {
            let message = format!("no tree was found at {name}/: {failure}");
            Failure::new(Kind::NotFound, message)
                .then(&format!("a single file is fetched without the slash: weir get {name}"))
        }
        _ => failure,
    }
}

/// Takes a small object.
#[derive(Default)]
struct Memory {
    bytes: Vec<u8>,
    is_large: bool,
}

impl Sink for Memory {
    fn begin(&mut self, _info: &ObjectInfo) -> Resume {
        Resume::default()
    }

    fn write(&mut self, _segment: u64, offset: u64, content: &[u8]) {
        let end = usize::try_from(offset).ok().and_then(|start| start.checked_add(content.len()));
        let Some(end) = end.filter(|end| *end <= MOST) else {
            self.is_large = true;
            return;
        };
        if self.bytes.len() < end {
            self.bytes.resize(end, 0);
        }
        self.bytes[end - content.len()..end].copy_from_slice(content);
    }
}

impl Keep for Memory {
    fn take_failure(&mut self) -> Option<Failure> {
        if !std::mem::take(&mut self.is_large) {
            return None;
        }
        let message = "the root of the tree is larger than a packet";
        Some(Failure::new(Kind::NotVerified, message).then("inform its publisher"))
    }

    fn flush(&mut self) {}
}
