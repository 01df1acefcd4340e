//! Hashing a folder, and making the pages of its tree.

use super::catalogue::{Catalogue, DirectoryRecord, Record};
use super::filter::Filter;
use super::hashes::{self, Hashed, Header};
use super::scan::{self, Attributes, Directory, Scan};
use crate::exit::{Failure, Kind};
use crate::file::FileSource;
use crate::output::Progress;
use crate::producer;
use crate::signals::Stop;
use packet::{Component, Name};
use security::Signer;
use security::manifest::{Layout, Unsigned, largest_fanout};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use transport::publish::{Preparation, PublishError};
use tree::{
    Contents, Entry, File, FileName, Kind as EntryKind, MOST_DIGESTS, Pages, Root, TreeError,
};

/// Files of at least this many bytes are hashed one by one, on all cores.
const LARGE: u64 = 64_000_000;
/// The number of attempts, after which a file that changes each time while it is hashed is left
/// out.
const ATTEMPTS: usize = 3;

/// The numbers of files and directories of this process.
static NUMBERS: AtomicU64 = AtomicU64::new(1);

/// A published folder, version after version.
pub struct Publisher {
    /// The tree's name.
    pub base: Name,
    /// The folder.
    pub folder: PathBuf,
    /// Signs.
    pub signer: Signer,
    /// The files to publish.
    pub filter: Filter,
    /// Where digests are kept between runs, if they are.
    pub hashes: Option<PathBuf>,
}

/// The observers of the preparation.
pub struct Watched<'a> {
    /// Shows the progress of hashing.
    pub progress: &'a Progress,
    /// The signal to stop.
    pub stop: &'a Stop,
}

/// A file to hash.
struct Todo {
    path: Arc<[u8]>,
    attributes: Attributes,
    /// The version of the file before, and its digests.
    before: Option<Hashed>,
}

impl Publisher {
    /// Makes the next version of the tree; the same one if nothing has changed. `distrusted` files
    /// are hashed again even if their sizes and times are the same.
    ///
    /// # Errors
    /// The folder, or a file in it, cannot be read, or was interrupted.
    pub fn publish(
        &self,
        before: Option<&Catalogue>,
        distrusted: &BTreeSet<Vec<u8>>,
        watched: &Watched<'_>,
    ) -> Result<Catalogue, Failure> {
        let scan = Scan::of(&self.folder, &self.filter, tree::max_depth(self.base.len())).map_err(
            |error| match is_gone(&error) {
                true => gone(&self.folder),
                false => cannot_publish(&self.folder, &error),
            },
        )?;
        if let Some((path, error)) = scan.unreadable.first() {
            return Err(cannot_publish_all(path, error, scan.unreadable.len()));
        }
        scan.notes.iter().for_each(|note| watched.progress.warn(note));
        let (header, kept) = self.kept(before);
        let (mut files, todo) = self.compare(&scan, before, &kept, distrusted);
        let hashed = self.hash(&todo, watched)?;
        let mut changing = 0;
        for (path, found) in hashed {
            match found {
                Some(hashed) => {
                    let number = NUMBERS.fetch_add(1, Ordering::Relaxed);
                    files.insert(path, Arc::new(Record { number, hashed }));
                }
                // It was removed since the folder was read.
                None if !scan::join(&self.folder, &path).exists() => {}
                None => {
                    changing += 1;
                    let path = String::from_utf8_lossy(&path).into_owned();
                    watched.progress.warn(&format!("not published: {path}: it keeps changing"));
                }
            }
        }
        let mut made = self.build(&scan, files)?;
        made.left_out = scan.notes.len() + changing;
        made.former = before.map(|before| before.pages.clone());
        let top = top_of(&made);
        let least = before.map_or(header.version, |before| before.version);
        let same = before.map_or(header.top.clone(), top_of) == top;
        let now = net::clock::unix_millis();
        made.version = if same && least > 0 { least } else { now.max(least + 1) };
        let is_new =
            !todo.is_empty() || !same || before.is_none_or(|b| b.files.len() != made.files.len());
        if is_new {
            self.keep(&made, top, watched);
        }
        Ok(made)
    }

    fn kept(&self, before: Option<&Catalogue>) -> (Header, BTreeMap<Vec<u8>, Hashed>) {
        match &self.hashes {
            Some(path) if before.is_none() => {
                hashes::read(path, &self.base.to_string(), &self.folder)
            }
            _ => (Header::default(), BTreeMap::new()),
        }
    }

    fn keep(&self, made: &Catalogue, top: String, watched: &Watched<'_>) {
        let Some(path) = &self.hashes else { return };
        let header = Header {
            name: self.base.to_string(),
            folder: self.folder.clone(),
            version: made.version,
            top,
        };
        let files = made.files.iter().map(|(path, record)| (&**path, &record.hashed));
        if let Err(error) = hashes::write(path, &header, files) {
            let path = path.display();
            watched.progress.warn(&format!("the digests cannot be kept in {path}: {error}"));
        }
    }

    /// The files that need no hashing, and the others.
    fn compare(
        &self,
        scan: &Scan,
        before: Option<&Catalogue>,
        kept: &BTreeMap<Vec<u8>, Hashed>,
        distrusted: &BTreeSet<Vec<u8>>,
    ) -> (Records, Vec<Todo>) {
        let (mut files, mut todo) = (BTreeMap::new(), Vec::new());
        for directory in &scan.directories {
            for (name, attributes) in &directory.files {
                let path: Arc<[u8]> = scan::below(&directory.path, name).into();
                let record = before.and_then(|before| before.files.get(&path));
                let known = record.map(|record| &record.hashed).or_else(|| kept.get(&*path));
                let kept = known.filter(|hashed| {
                    self.is_unchanged(&path, attributes, hashed) && !distrusted.contains(&*path)
                });
                match kept {
                    Some(hashed) => {
                        let record = record.cloned().unwrap_or_else(|| {
                            let number = NUMBERS.fetch_add(1, Ordering::Relaxed);
                            Arc::new(Record { number, hashed: hashed.clone() })
                        });
                        files.insert(path, record);
                    }
                    None => {
                        let (attributes, before) = (*attributes, known.cloned());
                        todo.push(Todo { path, attributes, before });
                    }
                }
            }
        }
        (files, todo)
    }

    /// Returns `true` if these digests of a file need not be made again.
    fn is_unchanged(&self, path: &[u8], attributes: &Attributes, hashed: &Hashed) -> bool {
        if hashed.size != attributes.size || hashed.modified != attributes.modified {
            return false;
        }
        // Another key's signatures leave another room for digests.
        let object = Catalogue::spec(&self.base, path, hashed.version).object();
        hashed.fanout == largest_fanout(object.as_ref(), &self.signer)
    }

    /// Hashes files on all cores; `None` for a file that keeps changing.
    fn hash(&self, todo: &[Todo], watched: &Watched<'_>) -> Result<Vec<Outcome>, Failure> {
        let total = todo.iter().map(|todo| todo.attributes.size).sum();
        watched.progress.begin(Some(total), 0);
        let (done, next) = (AtomicU64::new(0), AtomicUsize::new(0));
        let results = Mutex::new(Vec::with_capacity(todo.len()));
        let failure = Mutex::new(Vec::new());
        let small: Vec<&Todo> = todo.iter().filter(|todo| todo.attributes.size < LARGE).collect();
        let threads = thread::available_parallelism().map_or(1, usize::from);
        thread::scope(|scope| {
            for _ in 0..threads.min(small.len()) {
                scope.spawn(|| {
                    while let Some(todo) = small.get(next.fetch_add(1, Ordering::Relaxed)) {
                        let failed = failure.lock().is_ok_and(|failures| !failures.is_empty());
                        if failed || watched.stop.requested() {
                            return;
                        }
                        match self.hash_small(todo) {
                            Ok(found) => push(&results, (todo.path.clone(), found)),
                            Err(why) => push(&failure, why),
                        }
                        let all = done.fetch_add(todo.attributes.size, Ordering::Relaxed);
                        watched.progress.at(all + todo.attributes.size);
                    }
                });
            }
        });
        if let Some(failure) = failure.into_inner().unwrap_or_default().pop() {
            return Err(failure);
        }
        for todo in todo.iter().filter(|todo| todo.attributes.size >= LARGE) {
            let found = self.hash_large(todo, &done, watched)?;
            push(&results, (todo.path.clone(), found));
        }
        if watched.stop.requested() {
            return Err(
                Failure::new(Kind::Interrupted, "interrupted").then(producer::NOTHING_PUBLISHED)
            );
        }
        Ok(results.into_inner().unwrap_or_default())
    }

    fn hash_small(&self, todo: &Todo) -> Result<Option<Hashed>, Failure> {
        self.hash_file(todo, &mut |mut preparation| {
            for run in preparation.runs().collect::<Vec<_>>() {
                let digests = preparation.digest_run(run)?;
                preparation.push(digests)?;
            }
            Ok(Some(preparation.close()?))
        })
    }

    fn hash_large(
        &self,
        todo: &Todo,
        done: &AtomicU64,
        watched: &Watched<'_>,
    ) -> Result<Option<Hashed>, Failure> {
        let before = done.load(Ordering::Relaxed);
        let found = self.hash_file(todo, &mut |mut preparation| {
            let at = &|bytes| watched.progress.at(before + bytes);
            if !producer::digest(&mut preparation, at, watched.stop)? {
                return Ok(None);
            }
            Ok(Some(preparation.close()?))
        });
        done.fetch_add(todo.attributes.size, Ordering::Relaxed);
        found
    }

    /// Hashes a file until it did not change meanwhile.
    fn hash_file(&self, todo: &Todo, hash: &mut Hash<'_>) -> Result<Option<Hashed>, Failure> {
        let at = scan::join(&self.folder, &todo.path);
        for _ in 0..ATTEMPTS {
            let source = match FileSource::open_here(&at) {
                Ok(source) => source,
                // It was removed, or became something else, since the folder was read.
                Err(error) if is_gone(&error) => return Ok(None),
                Err(error) => return Err(cannot_publish(&at, &error)),
            };
            let watch = source.watch().map_err(|error| cannot_publish(&at, &error))?;
            let (size, modified) = (source_size(&source), source.modified());
            let version = File::version_of(modified);
            let mut found = self.hash_version(todo, version, size, modified, hash);
            // The version of a changed file is new even if its clock has stood still.
            if let (Ok(Some(hashed)), Some(before)) = (&found, &todo.before)
                && before.version >= version
                && before.below != hashed.below
            {
                found = self.hash_version(todo, before.version + 1, size, modified, hash);
            }
            match found {
                _ if watch.changed().is_some() => {}
                Ok(hashed) => return Ok(hashed),
                // It was removed meanwhile.
                Err(PublishError::Read { error, .. }) if is_gone(&error) => return Ok(None),
                Err(PublishError::Read { error, .. }) => return Err(cannot_publish(&at, &error)),
                Err(error) => return Err(error.into()),
            }
        }
        Ok(None)
    }

    /// Hashes a file of this size and time as the object of this version.
    fn hash_version(
        &self,
        todo: &Todo,
        version: u64,
        size: u64,
        modified: u64,
        hash: &mut Hash<'_>,
    ) -> Result<Option<Hashed>, PublishError> {
        let spec = Catalogue::spec(&self.base, &todo.path, version);
        let (segment_size, object) = (spec.segment_size, spec.object());
        let source = FileSource::open_here(&scan::join(&self.folder, &todo.path))
            .map_err(|error| PublishError::Read { offset: 0, error })?;
        let preparation = Preparation::new(spec, source, &self.signer)?;
        let fanout = largest_fanout(object.as_ref(), &self.signer);
        Ok(hash(preparation)?.map(|manifest| Hashed {
            size,
            modified,
            version,
            segment_size: segment_size as u32,
            fanout,
            below: manifest.below().into(),
        }))
    }

    /// Makes the pages, those of inner directories first.
    fn build(
        &self,
        scan: &Scan,
        files: BTreeMap<Arc<[u8]>, Arc<Record>>,
    ) -> Result<Catalogue, Failure> {
        let mut pages = Pages::new(self.base.clone()).map_err(too_long)?;
        let mut directories: BTreeMap<Vec<u8>, DirectoryRecord> = BTreeMap::new();
        let mut open: BTreeMap<&[u8], Vec<Entry>> = BTreeMap::new();
        for directory in scan.directories.iter().rev() {
            let mut entries = open.remove(&*directory.path).unwrap_or_default();
            self.entries_of(directory, &files, &mut entries)?;
            let is_top = directory.path.is_empty();
            if entries.is_empty() && !is_top && self.filter.is_selective() {
                continue;
            }
            let page = pages.directory(entries).map_err(too_long)?;
            let (mode, modified) = (directory.attributes.mode, directory.attributes.modified);
            let root = Root { base: self.base.len() as u16, mode, modified, page };
            let number = NUMBERS.fetch_add(1, Ordering::Relaxed);
            directories.insert(directory.path.clone(), DirectoryRecord { number, root });
            if !is_top {
                let (parent, name) = scan::split(&directory.path);
                let name = FileName::new(name).map_err(too_long)?;
                let kind = EntryKind::Directory(page);
                open.entry(parent).or_default().push(Entry { name, mode, modified, kind });
            }
        }
        Ok(Catalogue {
            base: self.base.clone(),
            folder: self.folder.clone(),
            signer: self.signer.clone(),
            version: 0,
            files,
            directories,
            pages: Arc::new(pages),
            former: None,
            left_out: 0,
            metadata: Mutex::default(),
        })
    }

    fn entries_of(
        &self,
        directory: &Directory,
        files: &BTreeMap<Arc<[u8]>, Arc<Record>>,
        entries: &mut Vec<Entry>,
    ) -> Result<(), Failure> {
        for (name, attributes) in &directory.files {
            let path = scan::below(&directory.path, name);
            let Some(record) = files.get(&*path) else { continue };
            let kind = EntryKind::File(self.file_entry(&path, &record.hashed)?);
            let (mode, modified) = (attributes.mode, record.hashed.modified);
            let name = FileName::new(name).map_err(|error| Failure::new(Kind::File, error))?;
            entries.push(Entry { name, mode, modified, kind });
        }
        for (name, attributes, target) in &directory.links {
            let (mode, modified) = (attributes.mode, attributes.modified);
            let kind = EntryKind::Link(target.clone().into());
            let name = FileName::new(name).map_err(|error| Failure::new(Kind::File, error))?;
            entries.push(Entry { name, mode, modified, kind });
        }
        Ok(())
    }

    fn file_entry(&self, path: &[u8], hashed: &Hashed) -> Result<File, Failure> {
        let Hashed { size, version, segment_size, fanout, below, .. } = hashed;
        let mut file = File {
            size: *size,
            version: *version,
            segment_size: *segment_size,
            contents: Contents::Segments(Box::new([])),
        };
        file.contents = match file.segments() <= MOST_DIGESTS as u64 {
            true => Contents::Segments((**below).into()),
            false => {
                let object = Catalogue::spec(&self.base, path, *version).object();
                let layout = Layout::new(file.segments(), *fanout).map_err(PublishError::from)?;
                let manifest = Unsigned::new(object, layout, below.to_vec());
                let digest = manifest.and_then(|manifest| manifest.content_digest());
                Contents::Manifest { fanout: *fanout, digest: digest.map_err(PublishError::from)? }
            }
        };
        Ok(file)
    }
}

/// The files of a tree by their paths.
type Records = BTreeMap<Arc<[u8]>, Arc<Record>>;

/// The path of a file, and its digests; `None` if it keeps changing.
type Outcome = (Arc<[u8]>, Option<Hashed>);

/// Hashes a file; `None` if it was interrupted.
type Hash<'a> = dyn FnMut(Preparation<FileSource>) -> Result<Option<Unsigned>, PublishError> + 'a;

fn too_long(error: TreeError) -> Failure {
    Failure::new(Kind::Usage, error).then("publish under a shorter name")
}

fn push<T>(results: &Mutex<Vec<T>>, result: T) {
    if let Ok(mut results) = results.lock() {
        results.push(result);
    }
}

fn is_gone(error: &std::io::Error) -> bool {
    error.kind() == std::io::ErrorKind::NotFound
}

fn source_size(source: &FileSource) -> u64 {
    transport::publish::Source::size(source)
}

/// The identity of a tree's content: its top page, and the attributes of the folder.
fn top_of(catalogue: &Catalogue) -> String {
    let mut content = Vec::new();
    if let Some(top) = catalogue.directories.get(&[][..]) {
        top.root.encode_into(&mut content);
    }
    hashes::to_hex(&content)
}

fn gone(folder: &Path) -> Failure {
    Failure::new(Kind::File, format!("{} is gone", folder.display()))
        .then("create it again, and it is published")
}

fn cannot_publish(path: &Path, error: &std::io::Error) -> Failure {
    cannot_publish_all(path, error, 1)
}

/// The failure of `count` entries; it names one of them.
fn cannot_publish_all(path: &Path, error: &std::io::Error, count: usize) -> Failure {
    let all = match count {
        1 => String::new(),
        n => format!("{n} entries, such as "),
    };
    Failure::new(Kind::File, format!("cannot publish {all}{}: {error}", path.display()))
        .then("make it readable, or leave it out with --exclude")
}

/// The component of a path given on the command line, for its own name below another.
pub fn component_of(path: &Path) -> Option<Component> {
    let name = match path.file_name() {
        Some(name) => name.to_owned(),
        // `.` and `..` have names too.
        None => path.canonicalize().ok()?.file_name()?.to_owned(),
    };
    Some(Component::generic(std::os::unix::ffi::OsStrExt::as_bytes(&*name)))
}
