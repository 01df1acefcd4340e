//! The content to mount: a tree, or a single object.

use crate::cli::MountArgs;
use crate::commands::get::{Found as Tree, Search, version_of};
use crate::consumer::{self, Absence, Keep, Summary, Verified, Watch};
use crate::exit::{Failure, Kind};
use crate::mount::{Source, SourceName};
use crate::output::Progress;
use crate::signals::Stop;
use crate::transfer::Transfers;
use net::client::Connection;
use packet::Name;
use transport::fetch::batch::Known;
use transport::fetch::{Fetch, ObjectInfo, Resume, Sink};
use tree::{Contents, Entry, File, FileName, Kind as EntryKind};
use weir::http::media::called;

/// The permissions of a single file, and of the folder that it is in.
const FILE_MODE: u16 = 0o444;
const FOLDER_MODE: u16 = 0o555;

/// Verified content, with its description for the user.
pub struct Found {
    /// The content.
    pub source: Source,
    /// Its versioned name.
    pub object: String,
    /// The proof by its signature, for people.
    pub proof: String,
    /// The same for programs.
    pub verified: Verified,
    /// The key that signed.
    pub key: Option<String>,
}

impl Found {
    /// Looks for a tree if the name has a slash at its end, and otherwise for an object, then for a
    /// tree.
    ///
    /// # Errors
    /// Neither exists, or it is not verified.
    pub fn search(
        args: &MountArgs,
        transfers: &Transfers,
        stop: &Stop,
        connection: &mut Connection,
    ) -> Result<Found, Failure> {
        let (patience, quiet) = (args.transfer.patience, args.quiet || args.json);
        let search = Search { transfers, stop, patience, rate: None, quiet, room: None };
        let name = &args.name.name;
        if args.name.below {
            return search.find(connection, name).map(Found::of_tree);
        }
        match object(&search, connection, name) {
            // It is the list of a folder, or only trees have such names.
            Err(failure) if matches!(failure.kind(), Kind::Usage | Kind::NotFound) => {
                let tree = search.find(connection, name).map(Found::of_tree);
                tree.map_err(|other| if other.kind() == Kind::NotFound { failure } else { other })
            }
            found => found,
        }
    }

    fn of_tree(tree: Tree) -> Found {
        let Tree { name, object, root, summary } = tree;
        let base = name.as_ref().prefix(root.base.into()).to_name();
        let source = Source {
            name: SourceName::Tree { name, base },
            mode: root.mode,
            modified: root.modified,
            page: Some(root.page),
            file: None,
        };
        Found::of(source, object.to_string(), &summary)
    }

    fn of(source: Source, object: String, summary: &Summary) -> Found {
        let (proof, verified, key) = (summary.proof(), summary.verified, summary.key.clone());
        Found { source, object, proof, verified, key }
    }
}

/// Finds an object, and learns its size from its first and last segment.
fn object(search: &Search<'_>, connection: &mut Connection, name: &Name) -> Result<Found, Failure> {
    let transfers = search.transfers;
    let mut fetch = transfers.fetch(transfers.config(name.clone())?)?;
    let mut ends = Ends::default();
    let progress = Progress::new(&name.to_string(), true);
    let absence = Some(Absence { patience: search.patience, quiet: search.quiet });
    let (stop, verbose, resumes, rate) = (search.stop, false, true, None);
    let watch = Watch { progress: &progress, stop, verbose, resumes, absence, rate };
    let took = consumer::drive(connection, &mut fetch, &mut ends, &watch, &mut None)?;
    let (source, object) = ends.source(&fetch, name)?;
    Ok(Found::of(source, object, &Summary::of(&fetch, &transfers.control(), took)))
}

/// The lengths of the first and of the last segment.
#[derive(Default)]
struct Ends {
    first: u64,
    last: (u64, u64),
}

impl Ends {
    fn source(&self, fetch: &Fetch, name: &Name) -> Result<(Source, String), Failure> {
        let Some((Known::Manifest(layout, digest), info)) = fetch.known().zip(fetch.object())
        else {
            let message = format!("{name} has no signed manifest, so its parts cannot be read");
            let next = format!("fetch it with `weir get {name}`");
            return Err(Failure::new(Kind::Failed, message).then(&next));
        };
        let (number, len) = self.last;
        let size = number.checked_mul(self.first).and_then(|start| start.checked_add(len));
        let size = size.filter(|_| number + 1 == layout.segments() && len <= self.first);
        let size = size.ok_or_else(|| mismatch(name))?;
        let segment_size = u32::try_from(self.first.max(1)).map_err(|_| mismatch(name))?;
        let called = called(name.as_ref()).unwrap_or_default();
        let called = FileName::new(called.as_bytes()).or_else(|_| FileName::new(b"content"));
        let called = called.map_err(|_| mismatch(name))?;
        let version = version_of(&info.name).unwrap_or(0);
        let modified = version.checked_mul(1_000_000).unwrap_or(0);
        let contents = Contents::Manifest { fanout: layout.fanout(), digest };
        let file = File { size, version, segment_size, contents };
        if file.layout() != Some(layout) {
            return Err(mismatch(name));
        }
        let kind = EntryKind::File(file);
        let file = Some(Entry { name: called, mode: FILE_MODE, modified, kind });
        let (name, object) = (SourceName::Object(info.name.clone()), info.name.to_string());
        let source = Source { name, mode: FOLDER_MODE, modified, page: None, file };
        Ok((source, object))
    }
}

fn mismatch(name: &Name) -> Failure {
    let message = format!("the segments of {name} do not fit its manifest");
    Failure::new(Kind::NotVerified, message).then("inform its publisher")
}

impl Sink for Ends {
    fn begin(&mut self, info: &ObjectInfo) -> Resume {
        *self = Ends::default();
        let mut rest = Resume::default();
        if let (Some(segments @ 3..), Some(each)) = (info.segments, info.segment_size) {
            rest.segments.insert(1..segments - 1);
            rest.bytes = (segments - 2).saturating_mul(each);
        }
        rest
    }

    fn write(&mut self, segment: u64, _offset: u64, content: &[u8]) {
        let len = content.len() as u64;
        if segment == 0 {
            self.first = len;
        }
        if segment >= self.last.0 {
            self.last = (segment, len);
        }
    }
}

impl Keep for Ends {
    fn take_failure(&mut self) -> Option<Failure> {
        None
    }

    fn flush(&mut self) {}
}
