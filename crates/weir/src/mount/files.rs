//! The answers to the kernel.

use super::cache::Cache;
use super::engine::{Ask, Asker};
use super::listing::{Listing, Listings};
use super::nodes::{Nodes, Owner, Source, SourceName, blocks, type_of};
use super::receiver::{Open, SharedCache};
use super::rejection::Rejection;
use control::Size;
use fuser::{
    Errno, FileHandle, FileType, Filesystem, FopenFlags, Generation, INodeNo, InitFlags,
    KernelConfig, LockOwner, OpenAccMode, OpenFlags, ReplyAttr, ReplyData, ReplyDirectory,
    ReplyEmpty, ReplyEntry, ReplyOpen, ReplyStatfs, Request,
};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tree::{Kind, MAX_NAME, PageRef, Totals};

/// The validity of names and attributes in the kernel's cache: a version never changes.
const FOREVER: Duration = Duration::from_secs(24 * 3600);
/// The maximum number of bytes of a path, as in Linux.
const MAX_PATH: usize = 4095;

/// The state that all operations share.
pub struct Shared {
    nodes: Mutex<Nodes>,
    listings: Arc<Mutex<Listings>>,
    handles: Mutex<Handles>,
    cache: SharedCache,
    name: SourceName,
    asker: Asker,
    totals: Totals,
    /// The maximum number of components of a path.
    depth: usize,
}

/// The open files.
#[derive(Default)]
struct Handles {
    open: BTreeMap<u64, Arc<Open>>,
    next: u64,
}

/// The file system.
pub struct Files(Arc<Shared>);

/// The parts made before the file system.
pub struct Prepared {
    cache: SharedCache,
    listings: Arc<Mutex<Listings>>,
}

impl Prepared {
    /// Prepares a file system with this cache.
    pub fn new(cache: Cache, source: &Source) -> Prepared {
        let mut listings = Listings::default();
        if let Some(file) = &source.file {
            // It is the only one, and stays.
            let listing = Arc::new(Listing::new(vec![file.clone()]));
            listings.keep(INodeNo::ROOT.0, listing);
        }
        let listings = Arc::new(Mutex::new(listings));
        Prepared { cache: SharedCache::new(cache), listings }
    }

    /// The cache.
    pub fn cache(&self) -> &SharedCache {
        &self.cache
    }

    /// The listings.
    pub fn listings(&self) -> &Arc<Mutex<Listings>> {
        &self.listings
    }

    /// The file system, which belongs to `owner`.
    pub fn files(self, source: Source, asker: Asker, owner: Owner) -> Files {
        let components = match &source.name {
            SourceName::Tree { name, .. } | SourceName::Object(name) => name.len(),
        };
        Files(Arc::new(Shared {
            nodes: Mutex::new(Nodes::new(&source, owner)),
            listings: self.listings,
            handles: Mutex::new(Handles::default()),
            cache: self.cache,
            asker,
            totals: source.totals(),
            name: source.name,
            depth: tree::max_depth(components),
        }))
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shared {
    /// The path and the page of a directory.
    fn directory(&self, number: u64) -> Result<(Box<[u8]>, Option<PageRef>), Errno> {
        let nodes = lock(&self.nodes);
        let node = nodes.get(number).ok_or(Errno::ENOENT)?;
        match node.kind {
            Some(Kind::Directory(page)) => Ok((node.path.clone(), Some(page))),
            None => Ok((node.path.clone(), None)),
            Some(_) => Err(Errno::ENOTDIR),
        }
    }

    fn join(&self, directory: &[u8], name: &[u8]) -> Result<Vec<u8>, Errno> {
        let mut path = directory.to_vec();
        if !path.is_empty() {
            path.push(b'/');
        }
        path.extend_from_slice(name);
        let depth = path.split(|byte| *byte == b'/').count();
        let fits = path.len() <= MAX_PATH && depth <= self.depth;
        if fits { Ok(path) } else { Err(Errno::ENAMETOOLONG) }
    }
}

impl Files {
    /// Calls `then` with the entries of a directory, at once or when they have arrived.
    fn listing(
        &self,
        number: u64,
        then: impl FnOnce(&Shared, &[u8], Result<Arc<Listing>, Errno>) + Send + 'static,
    ) {
        let (path, page) = match self.0.directory(number) {
            Ok(found) => found,
            Err(errno) => return then(&self.0, &[], Err(errno)),
        };
        let listing = lock(&self.0.listings).get(number);
        match (listing, page) {
            (Some(listing), _) => then(&self.0, &path, Ok(listing)),
            (None, None) => then(&self.0, &path, Ok(Arc::default())),
            (None, Some(page)) => {
                let (shared, directory) = (Arc::clone(&self.0), path.clone());
                let then = Box::new(move |found: Result<_, Rejection>| {
                    then(&shared, &path, found.map_err(Rejection::errno));
                });
                self.0.asker.ask(Ask::List { directory: number, path: directory, page, then });
            }
        }
    }

    fn opened(&self, number: u64) -> Result<u64, Errno> {
        let nodes = lock(&self.0.nodes);
        let node = nodes.get(number).ok_or(Errno::ENOENT)?;
        let Some(Kind::File(file)) = &node.kind else { return Err(Errno::EISDIR) };
        let listed = self.0.name.listed(&node.path, file).ok_or(Errno::EIO)?;
        let (path, size) = (node.path.clone(), file.size);
        let mut handles = lock(&self.0.handles);
        handles.next += 1;
        let handle = handles.next;
        let enough = AtomicU64::new(0);
        let open = Open { node: number, path, size, listed, enough };
        handles.open.insert(handle, Arc::new(open));
        Ok(handle)
    }
}

/// Adds the entries of a directory to a reply, from the one at `offset` on.
fn add_entries(
    shared: &Shared,
    number: u64,
    path: &[u8],
    listing: &Listing,
    offset: u64,
    reply: &mut ReplyDirectory,
) {
    let parent = lock(&shared.nodes).get(number).map_or(number, |node| node.parent);
    let directory = FileType::Directory;
    for at in offset..listing.entries().len() as u64 + 2 {
        let is_full = match (at, listing.entries().get((at as usize).wrapping_sub(2))) {
            (0, _) => reply.add(INodeNo(number), 1, directory, "."),
            (1, _) => reply.add(INodeNo(parent), 2, directory, ".."),
            (_, Some(entry)) => {
                let name = entry.name.as_bytes();
                let number = match shared.join(path, name) {
                    Ok(path) => lock(&shared.nodes).number(&path),
                    // It is shown, and cannot be opened.
                    Err(_) => u64::MAX,
                };
                let name = OsStr::from_bytes(name);
                reply.add(INodeNo(number), at + 1, type_of(&entry.kind), name)
            }
            (_, None) => return,
        };
        if is_full {
            return;
        }
    }
}

impl Filesystem for Files {
    fn init(&mut self, _req: &Request, config: &mut KernelConfig) -> io::Result<()> {
        // A kernel may lack one of them.
        for wanted in [InitFlags::FUSE_PARALLEL_DIROPS, InitFlags::FUSE_CACHE_SYMLINKS] {
            let _ = config.add_capabilities(wanted);
        }
        // Read-ahead of the kernel, by many readers.
        let _ = config.set_max_background(64);
        Ok(())
    }

    fn lookup(&self, _req: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        let name = name.as_bytes().to_vec();
        if name.len() > MAX_NAME {
            return reply.error(Errno::ENAMETOOLONG);
        }
        self.listing(parent.0, move |shared, path, listing| {
            let found = listing.and_then(|listing| {
                let entry = listing.find(&name).ok_or(Errno::ENOENT)?;
                let path = shared.join(path, &name)?;
                lock(&shared.nodes).look_up(parent.0, &path, entry).ok_or(Errno::EIO)
            });
            match found {
                Ok(attributes) => reply.entry(&FOREVER, &attributes, Generation(0)),
                Err(errno) => reply.error(errno),
            }
        });
    }

    fn forget(&self, _req: &Request, ino: INodeNo, nlookup: u64) {
        lock(&self.0.nodes).forget(ino.0, nlookup);
    }

    fn getattr(&self, _req: &Request, ino: INodeNo, _fh: Option<FileHandle>, reply: ReplyAttr) {
        match lock(&self.0.nodes).attributes(ino.0) {
            Some(attributes) => reply.attr(&FOREVER, &attributes),
            None => reply.error(Errno::ENOENT),
        }
    }

    fn readlink(&self, _req: &Request, ino: INodeNo, reply: ReplyData) {
        match lock(&self.0.nodes).get(ino.0).map(|node| &node.kind) {
            Some(Some(Kind::Link(target))) => reply.data(target),
            Some(_) => reply.error(Errno::EINVAL),
            None => reply.error(Errno::ENOENT),
        }
    }

    fn open(&self, _req: &Request, ino: INodeNo, flags: OpenFlags, reply: ReplyOpen) {
        if flags.acc_mode() != OpenAccMode::O_RDONLY {
            return reply.error(Errno::EROFS);
        }
        match self.opened(ino.0) {
            Ok(handle) => {
                // Closing writes nothing, so the kernel need not ask.
                let flags = FopenFlags::FOPEN_KEEP_CACHE | FopenFlags::FOPEN_NOFLUSH;
                reply.opened(FileHandle(handle), flags);
            }
            Err(errno) => reply.error(errno),
        }
    }

    fn read(
        &self,
        _req: &Request,
        _ino: INodeNo,
        fh: FileHandle,
        offset: u64,
        size: u32,
        _flags: OpenFlags,
        _lock_owner: Option<LockOwner>,
        reply: ReplyData,
    ) {
        let Some(open) = lock(&self.0.handles).open.get(&fh.0).cloned() else {
            return reply.error(Errno::EBADF);
        };
        let len = u64::from(size).min(open.size.saturating_sub(offset)) as usize;
        let (handle, mut buffer) = (fh.0, vec![0; len]);
        if self.0.cache.fill(&open, offset, &mut buffer).is_empty() {
            let is_early = offset.saturating_add(len as u64) < open.enough.load(Ordering::Relaxed);
            let read = Ask::Read { open, handle, offset, len, then: None };
            // Before the reply: the program may close the file at once, and the engine forgets
            // readers when they close.
            match is_early {
                true => self.0.asker.note(read),
                false => self.0.asker.ask(read),
            }
            return reply.data(&buffer);
        }
        let then = Box::new(move |found: Result<Vec<u8>, Rejection>| match found {
            Ok(bytes) => reply.data(&bytes),
            Err(why) => reply.error(why.errno()),
        });
        self.0.asker.ask(Ask::Read { open, handle, offset, len, then: Some(then) });
    }

    fn release(
        &self,
        _req: &Request,
        ino: INodeNo,
        fh: FileHandle,
        _flags: OpenFlags,
        _lock_owner: Option<LockOwner>,
        _flush: bool,
        reply: ReplyEmpty,
    ) {
        lock(&self.0.handles).open.remove(&fh.0);
        self.0.asker.ask(Ask::Close { node: ino.0, handle: fh.0 });
        reply.ok();
    }

    fn flush(
        &self,
        _req: &Request,
        _ino: INodeNo,
        _fh: FileHandle,
        _lock_owner: LockOwner,
        reply: ReplyEmpty,
    ) {
        reply.ok();
    }

    fn opendir(&self, _req: &Request, ino: INodeNo, _flags: OpenFlags, reply: ReplyOpen) {
        let flags = FopenFlags::FOPEN_CACHE_DIR | FopenFlags::FOPEN_KEEP_CACHE;
        match self.0.directory(ino.0) {
            Ok(_) => reply.opened(FileHandle(0), flags),
            Err(errno) => reply.error(errno),
        }
    }

    fn readdir(
        &self,
        _req: &Request,
        ino: INodeNo,
        _fh: FileHandle,
        offset: u64,
        mut reply: ReplyDirectory,
    ) {
        self.listing(ino.0, move |shared, path, listing| match listing {
            Ok(listing) => {
                add_entries(shared, ino.0, path, &listing, offset, &mut reply);
                reply.ok();
            }
            Err(errno) => reply.error(errno),
        });
    }

    fn statfs(&self, _req: &Request, _ino: INodeNo, reply: ReplyStatfs) {
        let (entries, blocks) = (self.0.totals.entries, blocks(Size(self.0.totals.bytes)));
        reply.statfs(blocks, 0, 0, entries, 0, 4096, MAX_NAME as u32, 4096);
    }
}
