//! Fetching a tree: from pages to the entries of the folder.

use super::disk::cannot_write;
use super::filter::Filter;
use super::job::FileJob;
use super::receiver::{Receiver, Tally};
use super::scan::is_part;
use super::space::{Space, beyond};
use super::target::{Dress, SAME_NAME, Target, is_of_another_owner, part_name};
use crate::exit::{Failure, Kind};
use packet::{Component, Name};
use rustix::fs::{FileType, Stat};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::Arc;
use transport::fetch::batch::{Batch, Known, Listed};
use tree::{
    Contents, Directory, Entry, File, Kind as EntryKind, Limits, PageRef, Root, Totals, TreeError,
    Walk,
};

/// The maximum number of pages in flight.
const PAGES: usize = 32;
/// Pages are requested while fewer segments than this are known and not requested.
const SEGMENTS: u64 = 8192;
/// The same for objects in the batch.
const OBJECTS: usize = 4096;

/// The choices of the user.
#[derive(Clone, Debug, Default)]
pub struct Choices {
    /// Removes entries that are not in the tree.
    pub delete: bool,
    /// Compares the content of files with the right size and time.
    pub checksum: bool,
    /// The files to fetch.
    pub filter: Filter,
}

impl Choices {
    /// True if an entry was not chosen: it is not removed, nor is anything below it.
    fn leaves(&self, path: &[u8], is_directory: bool) -> bool {
        match is_directory {
            true => !self.filter.takes_directory(path),
            false => !self.filter.takes_file(path),
        }
    }
}

/// Numbers of a fetched tree.
#[derive(Clone, Copy, Debug, Default)]
pub struct Count {
    /// Files, without the excluded ones.
    pub files: u64,
    /// Bytes of these files.
    pub bytes: u64,
    /// Directories.
    pub directories: u64,
    /// Symbolic links.
    pub links: u64,
    /// Files that were in the folder already.
    pub unchanged_files: u64,
    /// Bytes of these files.
    pub unchanged_bytes: u64,
}

/// A directory whose pages are being read.
struct Listing {
    /// The names in the folder, before anything was fetched.
    there: BTreeSet<Vec<u8>>,
    /// Those of them that are not in the pages read yet.
    extra: BTreeSet<Vec<u8>>,
    /// The number of its pages that were not read.
    pages: usize,
}

/// A tree on its way into a folder.
pub struct TreeFetch {
    base: Name,
    walk: Walk,
    target: Arc<Target>,
    choices: Choices,
    /// Where content arrives.
    pub receiver: Receiver,
    listings: BTreeMap<Vec<u8>, Listing>,
    /// Directories and their attributes, which are set last.
    directories: Vec<(Vec<u8>, Vec<u8>, Dress)>,
    /// Entries to remove in the end.
    extra: Vec<(Vec<u8>, Vec<u8>)>,
    /// Links that would lead outside the folder.
    pub outward: Vec<Vec<u8>>,
    /// Numbers so far.
    pub count: Count,
    /// The totals of the tree, without excluded entries.
    pub totals: Totals,
    space: Space,
}

impl TreeFetch {
    /// Begins with the root of the tree `name`.
    ///
    /// # Errors
    /// The tree is too large, or the folder cannot be read.
    pub fn new(
        name: &Name,
        root: &Root,
        target: Arc<Target>,
        choices: Choices,
    ) -> Result<TreeFetch, Failure> {
        let base = name.as_ref().prefix(root.base.into()).to_name();
        let walk = walk_of(name, root)?;
        let mut fetch = TreeFetch {
            // Files of a directory within a tree are named below that directory.
            base,
            walk,
            receiver: Receiver::new(target.clone()),
            space: Space::new(target.free()),
            target,
            choices,
            listings: BTreeMap::new(),
            directories: Vec::new(),
            extra: Vec::new(),
            outward: Vec::new(),
            count: Count::default(),
            totals: root.page.totals,
        };
        // The publisher does not decide which users may enter a folder of the user.
        if fetch.target.is_new {
            let dress = Dress { mode: root.mode, modified: root.modified, is_new: false };
            fetch.directories.push((Vec::new(), Vec::new(), dress));
        }
        let listed = fetch.list(Vec::new());
        listed.map_err(|error| cannot_write(&fetch.target, &[], &error))?;
        let is_empty = fetch.listings.values().all(|listing| listing.there.is_empty());
        if is_empty && fetch.choices.filter.takes_all() {
            // Everything will be fetched.
            let mut space = Space::new(fetch.target.free());
            let (bytes, free) = (root.page.totals.bytes, || fetch.target.free());
            let fits = space.take(bytes, "the tree", 0, free);
            fits.map_err(|error| cannot_write(&fetch.target, &[], &error))?;
        }
        Ok(fetch)
    }

    /// Requests objects within the limits, and reads the pages that have arrived.
    ///
    /// # Errors
    /// A page is malformed, or an entry cannot be written.
    pub fn advance(&mut self, name: &Name, batch: &mut Batch) -> Result<(), Failure> {
        for job in std::mem::take(&mut self.receiver.changed) {
            self.request(job, batch);
        }
        loop {
            for (request, content) in std::mem::take(&mut self.receiver.pages) {
                let filter = self.choices.filter.clone();
                let mut skipped = Vec::new();
                let found = self.walk.accept(request, &content, &mut |directory, entry| {
                    let takes = filter.takes_directory(&directory.join(&entry.name));
                    if let (false, EntryKind::Directory(page)) = (takes, &entry.kind) {
                        skipped.push(page.totals);
                    }
                    takes
                });
                let found = found.map_err(|error| malformed(name, &error))?;
                skipped.iter().for_each(|totals| self.skip(*totals));
                if let Some(listing) = self.listings.get_mut(&found.directory.path) {
                    listing.pages += found.parts;
                }
                for entry in found.entries {
                    self.take(name, &found.directory, &entry, batch)?;
                }
                self.read_page(&found.directory.path);
            }
            let wants = self.receiver.awaited < PAGES
                && batch.waiting() < SEGMENTS
                && batch.objects() < OBJECTS;
            if wants && let Some(request) = self.walk.next_page() {
                if request.page.totals.entries == 0 {
                    self.receiver.pages.push((request, Vec::new()));
                    continue;
                }
                let page = page_object(&self.base, &request.page);
                let number = batch.add(page, true, &mut self.receiver);
                self.receiver.expect_page(number, request);
                continue;
            }
            if self.receiver.pages.is_empty() {
                break;
            }
        }
        batch.set_last(self.walk.is_done());
        Ok(())
    }

    /// True if all pages were read. Files may still be missing.
    pub fn is_listed(&self) -> bool {
        self.walk.is_done() && self.receiver.pages.is_empty() && self.receiver.changed.is_empty()
    }

    /// Reads the names in a directory of the folder.
    fn list(&mut self, path: Vec<u8>) -> io::Result<()> {
        self.target.open_up(&path)?;
        let there = self.target.names(&path)?;
        let extra = there.clone();
        self.listings.insert(path, Listing { there, extra, pages: 1 });
        Ok(())
    }

    /// A page of a directory was read. After the last page, the names that are not in the tree are
    /// known.
    fn read_page(&mut self, path: &[u8]) {
        let Some(listing) = self.listings.get_mut(path) else { return };
        listing.pages = listing.pages.saturating_sub(1);
        if listing.pages > 0 {
            return;
        }
        let Some(listing) = self.listings.remove(path) else { return };
        if self.choices.delete {
            self.extra.extend(listing.extra.into_iter().map(|name| (path.to_vec(), name)));
        }
    }

    fn skip(&mut self, totals: Totals) {
        self.totals.entries = self.totals.entries.saturating_sub(totals.entries);
        self.totals.bytes = self.totals.bytes.saturating_sub(totals.bytes);
    }

    /// The entry of this name in the folder; `None` if there is none.
    ///
    /// # Errors
    /// It is another entry of the tree, which the file system takes for the same.
    fn there(&mut self, directory: &[u8], name: &[u8]) -> io::Result<Option<Stat>> {
        let listing = self.listings.get_mut(directory);
        let was_there = listing.is_some_and(|listing| {
            listing.extra.remove(name);
            listing.there.contains(name)
        });
        if was_there { self.target.stat(directory, name) } else { Ok(None) }
    }

    fn take(
        &mut self,
        name: &Name,
        directory: &Directory,
        entry: &Entry,
        batch: &mut Batch,
    ) -> Result<(), Failure> {
        let path = directory.join(&entry.name);
        let result = match &entry.kind {
            EntryKind::Directory(_) => {
                if !self.choices.filter.takes_directory(&path) {
                    self.keep(directory, entry);
                    return Ok(());
                }
                self.take_directory(directory, entry)
            }
            _ if !self.choices.filter.takes_file(&path) => {
                self.keep(directory, entry);
                self.skip(entry.totals().unwrap_or_default());
                return Ok(());
            }
            EntryKind::Link(link) => self.take_link(directory, entry, link),
            EntryKind::File(file) => self.take_file(name, directory, entry, file, batch),
        };
        result.map_err(|error| cannot_write(&self.target, &path, &error))
    }

    /// Excluded entries are not removed either.
    fn keep(&mut self, directory: &Directory, entry: &Entry) {
        if let Some(listing) = self.listings.get_mut(&directory.path) {
            listing.extra.remove(entry.name.as_bytes());
        }
    }

    fn take_directory(&mut self, directory: &Directory, entry: &Entry) -> io::Result<()> {
        let name = entry.name.as_bytes();
        let there = self.there(&directory.path, name)?;
        match there.map(|stat| FileType::from_raw_mode(stat.st_mode)) {
            Some(FileType::Directory) => {}
            Some(_) => {
                self.replace(&directory.path, name)?;
                self.target.make(&directory.path, name)?;
            }
            None => self.target.make(&directory.path, name).map_err(same_name)?,
        }
        self.count.directories += 1;
        let dress = Dress { mode: entry.mode, modified: entry.modified, is_new: false };
        self.directories.push((directory.path.clone(), name.to_vec(), dress));
        self.list(directory.join(&entry.name))
    }

    /// Removes an entry of another kind than the tree's.
    fn replace(&self, directory: &[u8], name: &[u8]) -> io::Result<()> {
        if !self.choices.delete {
            let why = "the tree has a directory where a file is, or a file where a directory is; \
                       --delete replaces it";
            return Err(io::Error::other(why));
        }
        self.target.remove(directory, name, &|path, is_directory| {
            self.choices.leaves(path, is_directory)
        })?;
        if self.target.stat(directory, name)?.is_none() {
            return Ok(());
        }
        let why = "the tree has another kind of entry there, and what was not chosen is in it or \
                   below it; remove it yourself";
        Err(io::Error::other(why))
    }

    fn take_link(&mut self, directory: &Directory, entry: &Entry, link: &[u8]) -> io::Result<()> {
        let name = entry.name.as_bytes();
        let there = self.there(&directory.path, name)?;
        if !tree::stays_within(link, directory.depth) {
            self.outward.push(directory.join(&entry.name));
            return Ok(());
        }
        self.count.links += 1;
        let kind = there.map(|stat| FileType::from_raw_mode(stat.st_mode));
        let is_new = kind.is_none();
        match kind {
            Some(FileType::Symlink)
                if self.target.link_target(&directory.path, name).as_deref() == Some(link) =>
            {
                return Ok(());
            }
            Some(FileType::Directory) => self.replace(&directory.path, name)?,
            _ => {}
        }
        let dress = Dress { mode: entry.mode, modified: entry.modified, is_new };
        self.target.link(&directory.path, name, link, dress)
    }

    fn take_file(
        &mut self,
        tree: &Name,
        directory: &Directory,
        entry: &Entry,
        file: &File,
        batch: &mut Batch,
    ) -> io::Result<()> {
        let name = entry.name.as_bytes();
        if is_part(name) {
            return Err(io::Error::other("this name is for files that are not complete"));
        }
        self.count.files += 1;
        self.count.bytes = self.count.bytes.saturating_add(file.size);
        let there = self.there(&directory.path, name)?;
        let kind = there.map(|stat| FileType::from_raw_mode(stat.st_mode));
        let dress = Dress { mode: entry.mode, modified: entry.modified, is_new: kind.is_none() };
        if let Some(stat) = there.filter(|_| kind == Some(FileType::RegularFile))
            && !self.choices.checksum
            && is_same(&stat, file.size, entry.modified)
        {
            self.count.unchanged_files += 1;
            self.count.unchanged_bytes += file.size;
            self.set_mode(directory, entry, &stat, dress)?;
            return Ok(());
        }
        if kind == Some(FileType::Directory) {
            self.replace(&directory.path, name)?;
        }
        let former = there.filter(|_| kind == Some(FileType::RegularFile));
        let part = self.part(&directory.path, name);
        let needed = beyond(file.size, former.as_ref(), part.as_ref());
        let (what, target) = ("the tree, as far as it is known,", &self.target);
        self.space.take(needed, what, self.receiver.tally.fetched_bytes, || target.free())?;
        let path = directory.join(&entry.name);
        let object = tree::name_of(tree, &path).with(&Component::version(file.version));
        let job = FileJob {
            directory: directory.path.clone(),
            name: name.to_vec(),
            dress,
            object,
            size: file.size,
            segment_size: file.segment_size.into(),
            last: file.segments() - 1,
            is_small: matches!(file.contents, Contents::Segments(_)),
            former_size: former.map(|stat| stat.st_size as u64),
            is_changing: false,
            known: None,
        };
        let known = match &file.contents {
            Contents::Segments(digests) => Known::Segments(digests.clone()),
            Contents::Manifest { digest, .. } => {
                let layout = file.layout().ok_or(io::ErrorKind::InvalidData)?;
                Known::Manifest(layout, *digest)
            }
        };
        self.request(FileJob { known: Some(known), ..job }, batch);
        Ok(())
    }

    /// Requests a file.
    fn request(&mut self, mut job: FileJob, batch: &mut Batch) {
        let known = match &job.known {
            Some(known @ Known::Manifest(..)) => Some(known.clone()),
            // The digests of small files are requested once.
            _ => job.known.take(),
        };
        let Some(known) = known else { return };
        let (name, size, segment_size) = (job.object.clone(), Some(job.size), job.segment_size);
        self.receiver.expect_file(batch.next_number(), job);
        batch.add(Listed { name, size, segment_size, known }, false, &mut self.receiver);
    }

    /// Sets the permissions of an unchanged file.
    fn set_mode(
        &mut self,
        directory: &Directory,
        entry: &Entry,
        stat: &Stat,
        dress: Dress,
    ) -> io::Result<()> {
        if u32::from(stat.st_mode as u16) & 0o777 == crate::file::permissions(entry.mode) {
            return Ok(());
        }
        match self.target.dress(&directory.path, entry.name.as_bytes(), dress) {
            Err(why) if is_of_another_owner(&why) => {
                self.receiver.foreign.push(directory.join(&entry.name));
                Ok(())
            }
            done => done,
        }
    }

    /// The incomplete file of a name.
    fn part(&self, directory: &[u8], name: &[u8]) -> Option<Stat> {
        let part = part_name(name).into_bytes();
        let listing = self.listings.get(directory);
        let part = part.as_slice();
        let stat = listing.filter(|listing| listing.there.contains(part)).map(|_| part);
        stat.and_then(|part| self.target.stat(directory, part).ok().flatten())
    }

    /// Ends the transfer: waits for the disk, removes entries that are not in the tree, and sets
    /// the attributes of directories, the innermost first. Returns the number of removed entries,
    /// and the paths of other users' entries that keep their attributes.
    ///
    /// # Errors
    /// An entry could not be written or removed.
    pub fn finish(self) -> Result<(u64, Vec<Vec<u8>>), Failure> {
        let TreeFetch { target, mut receiver, extra, directories, choices, .. } = self;
        let mut foreign = std::mem::take(&mut receiver.foreign);
        receiver.finish()?;
        let mut removed = 0;
        for (directory, name) in extra {
            let count = target.remove(&directory, &name, &|path, is_directory| {
                choices.leaves(path, is_directory)
            });
            removed += count.map_err(|error| {
                let path = super::scan::below(&directory, &name);
                let message = format!("cannot remove {}: {error}", target.shown(&path));
                Failure::new(Kind::File, message).then("remove it yourself")
            })?;
        }
        let mut first = None;
        for (directory, name, dress) in directories.iter().rev() {
            let path = super::scan::below(directory, name);
            match target.dress(directory, name, *dress) {
                Ok(()) => {}
                Err(why) if is_of_another_owner(&why) => foreign.push(path),
                Err(error) => first = first.or(Some(cannot_write(&target, &path, &error))),
            }
        }
        first.map_or(Ok((removed, foreign)), Err)
    }

    /// The bytes in the folder: unchanged, found, or fetched.
    pub fn done(&self) -> u64 {
        let Tally { fetched_bytes, present_bytes, .. } = self.receiver.tally;
        self.count.unchanged_bytes + fetched_bytes + present_bytes
    }
}

/// A walk through the tree `name`, within the limits of names and of memory.
///
/// # Errors
/// The tree is too large.
pub fn walk_of(name: &Name, root: &Root) -> Result<Walk, Failure> {
    let depth = tree::max_depth(name.len());
    let walk = Walk::new(root, Limits { depth, ..Limits::default() });
    walk.map_err(|error| malformed(name, &error))
}

fn same_name(error: io::Error) -> io::Error {
    match error.kind() {
        io::ErrorKind::AlreadyExists => io::Error::new(error.kind(), SAME_NAME),
        _ => error,
    }
}

/// True if a file has this size and time. Some file systems keep whole seconds.
fn is_same(stat: &Stat, size: u64, modified: u64) -> bool {
    let (seconds, nanoseconds) = (modified / 1_000_000_000, modified % 1_000_000_000);
    stat.st_size as u64 == size
        && stat.st_mtime as u64 == seconds
        && (stat.st_mtime_nsec == nanoseconds || stat.st_mtime_nsec == 0)
}

/// The object of a page of the tree `base`.
pub fn page_object(base: &Name, page: &PageRef) -> Listed {
    let name = page.object(base);
    let known = Known::Segments(Box::new([page.digest]));
    Listed { name, size: None, segment_size: 8000, known }
}

/// The failure of a tree that breaks a rule.
pub fn malformed(name: &Name, error: &TreeError) -> Failure {
    let next = match error {
        TreeError::TooMany { .. } | TreeError::Paths { .. } => "fetch a folder in it",
        _ => "inform its publisher",
    };
    Failure::new(Kind::NotVerified, format!("the tree {name}/ is rejected: {error}")).then(next)
}
