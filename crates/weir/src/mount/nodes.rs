//! The files and directories that the kernel has looked up.

use control::Size;
use fuser::{FileAttr, FileType, INodeNo};
use packet::{Component, Name};
use std::collections::BTreeMap;
use std::hash::{BuildHasher, RandomState};
use std::time::{Duration, UNIX_EPOCH};
use transport::fetch::batch::{Known, Listed};
use tree::{Contents, Entry, File, Kind, PageRef, Totals};

/// Files of several segments have larger ones: a read of 128 kB would otherwise be 131,072
/// Interests.
const LEAST_SEGMENT: u32 = 512;

/// How the objects of files are named.
#[derive(Clone, Debug)]
pub enum SourceName {
    /// Below the name of a tree.
    Tree {
        /// The tree's name, or that of a directory within a tree.
        name: Name,
        /// Pages are named below this one.
        base: Name,
    },
    /// Only one file, which is this object.
    Object(Name),
}

/// The mounted content, verified.
pub struct Source {
    /// Its name.
    pub name: SourceName,
    /// The permissions of the root directory.
    pub mode: u16,
    /// The time of its last modification, in nanoseconds since 1970.
    pub modified: u64,
    /// Its page; `None` if it has only `file`.
    pub page: Option<PageRef>,
    /// The only file, if the content is not a tree.
    pub file: Option<Entry>,
}

impl Source {
    /// The totals of everything in it.
    pub fn totals(&self) -> Totals {
        let file = self.file.as_ref().and_then(Entry::totals);
        self.page.map(|page| page.totals).or(file).unwrap_or_default()
    }
}

impl SourceName {
    /// The object of a file. Its path is that from the root of the mount.
    pub fn listed(&self, path: &[u8], file: &File) -> Option<Listed> {
        if file.segment_size < LEAST_SEGMENT && file.size > file.segment_size.into() {
            return None;
        }
        let name = match self {
            SourceName::Tree { name, .. } => {
                tree::name_of(name, path).with(&Component::version(file.version))
            }
            SourceName::Object(name) => name.clone(),
        };
        let known = match &file.contents {
            Contents::Segments(digests) => Known::Segments(digests.clone()),
            Contents::Manifest { digest, .. } => Known::Manifest(file.layout()?, *digest),
        };
        let (size, segment_size) = (Some(file.size), file.segment_size.into());
        Some(Listed { name, size, segment_size, known })
    }
}

/// A file, directory or link.
#[derive(Clone, Debug)]
pub struct Node {
    /// The path from the root of the mount, without a slash at either end.
    pub path: Box<[u8]>,
    /// The number of the directory that it is in.
    pub parent: u64,
    /// Its permissions.
    pub mode: u16,
    /// The time of its last modification, in nanoseconds since 1970.
    pub modified: u64,
    /// Its content; `None` for the root of a single file.
    pub kind: Option<Kind>,
    /// The number of times that the kernel has looked it up.
    lookups: u64,
}

impl Node {
    /// Its attributes.
    fn attributes(&self, number: u64, owner: Owner) -> FileAttr {
        let size = match &self.kind {
            Some(Kind::File(file)) => file.size,
            Some(Kind::Link(target)) => target.len() as u64,
            Some(Kind::Directory(_)) | None => 0,
        };
        let kind = self.file_type();
        let modified = UNIX_EPOCH + Duration::from_nanos(self.modified);
        FileAttr {
            ino: INodeNo(number),
            size,
            blocks: size.div_ceil(512),
            atime: modified,
            mtime: modified,
            ctime: modified,
            crtime: modified,
            kind,
            // The bits that change a user are of no effect on such a mount, and are not shown.
            perm: self.mode & 0o1777,
            nlink: if kind == FileType::Directory { 2 } else { 1 },
            uid: owner.uid,
            gid: owner.gid,
            rdev: 0,
            blksize: BLOCK,
            flags: 0,
        }
    }

    /// Its type.
    pub fn file_type(&self) -> FileType {
        self.kind.as_ref().map_or(FileType::Directory, type_of)
    }
}

/// The type of an entry.
pub fn type_of(kind: &Kind) -> FileType {
    match kind {
        Kind::File(_) => FileType::RegularFile,
        Kind::Directory(_) => FileType::Directory,
        Kind::Link(_) => FileType::Symlink,
    }
}

/// The nodes that the kernel has looked up and not forgotten.
///
/// The number of a node is a keyed hash of its path, so that it is the same whenever the kernel
/// looks it up again, and a publisher cannot choose paths that share one.
pub struct Nodes {
    keys: RandomState,
    nodes: BTreeMap<u64, Node>,
    owner: Owner,
}

/// The user and group that everything belongs to.
#[derive(Clone, Copy, Debug)]
pub struct Owner {
    /// The user.
    pub uid: u32,
    /// The group.
    pub gid: u32,
}

impl Nodes {
    /// Only the root. All nodes belong to `owner`.
    pub fn new(source: &Source, owner: Owner) -> Nodes {
        let root = Node {
            path: Box::default(),
            parent: INodeNo::ROOT.0,
            mode: source.mode,
            modified: source.modified,
            kind: source.page.map(Kind::Directory),
            lookups: 1,
        };
        let nodes = BTreeMap::from([(INodeNo::ROOT.0, root)]);
        Nodes { keys: RandomState::new(), nodes, owner }
    }

    /// The node of a number.
    pub fn get(&self, number: u64) -> Option<&Node> {
        self.nodes.get(&number)
    }

    /// The number of a path.
    pub fn number(&self, path: &[u8]) -> u64 {
        if path.is_empty() {
            return INodeNo::ROOT.0;
        }
        // 0 is no number, and 1 is the root.
        self.keys.hash_one(path).max(INodeNo::ROOT.0 + 1)
    }

    /// The kernel looks up an entry of a directory. `None` if two paths have the same number.
    pub fn look_up(&mut self, parent: u64, path: &[u8], entry: &Entry) -> Option<FileAttr> {
        let number = self.number(path);
        let node = self.nodes.entry(number).or_insert_with(|| Node {
            path: path.into(),
            parent,
            mode: entry.mode,
            modified: entry.modified,
            kind: Some(entry.kind.clone()),
            lookups: 0,
        });
        if *node.path != *path {
            return None;
        }
        node.lookups += 1;
        Some(node.attributes(number, self.owner))
    }

    /// The kernel has forgotten this number of look-ups.
    pub fn forget(&mut self, number: u64, lookups: u64) {
        let Some(node) = self.nodes.get_mut(&number) else { return };
        node.lookups = node.lookups.saturating_sub(lookups);
        if node.lookups == 0 && number != INodeNo::ROOT.0 {
            self.nodes.remove(&number);
        }
    }

    /// The attributes of a node.
    pub fn attributes(&self, number: u64) -> Option<FileAttr> {
        self.get(number).map(|node| node.attributes(number, self.owner))
    }
}

/// The block size that programs are advised to read by.
const BLOCK: u32 = 128 * 1024;

/// The number of blocks of 4096 bytes.
pub fn blocks(bytes: Size) -> u64 {
    bytes.0.div_ceil(4096)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tree::FileName;

    fn entry(name: &str) -> Entry {
        let contents = Contents::Segments(Box::new([[0; 32]]));
        let file = File { size: 1000, version: 7, segment_size: 8000, contents };
        let name = FileName::new(name.as_bytes()).unwrap();
        Entry { name, mode: 0o4751, modified: 5_000_000_007, kind: Kind::File(file) }
    }

    fn nodes() -> Nodes {
        let name = SourceName::Object(Name::new());
        let source = Source { name, mode: 0o755, modified: 0, page: None, file: None };
        Nodes::new(&source, Owner { uid: 12, gid: 34 })
    }

    #[test]
    fn a_node_stays_as_long_as_the_kernel_knows_it() {
        let mut nodes = nodes();
        let first = nodes.look_up(1, b"a/b", &entry("b")).unwrap();
        let again = nodes.look_up(1, b"a/b", &entry("b")).unwrap();
        assert_eq!(first.ino, again.ino);
        assert_ne!(first.ino, nodes.look_up(1, b"a/c", &entry("c")).unwrap().ino);
        nodes.forget(first.ino.0, 1);
        assert!(nodes.get(first.ino.0).is_some());
        nodes.forget(first.ino.0, 1);
        assert!(nodes.get(first.ino.0).is_none());
        nodes.forget(1, 1000);
        assert!(nodes.get(1).is_some(), "the root stays");
    }

    #[test]
    fn attributes_are_those_of_the_entry_without_the_bits_that_change_a_user() {
        let attributes = nodes().look_up(1, b"b", &entry("b")).unwrap();
        assert_eq!((attributes.perm, attributes.size, attributes.blocks), (0o751, 1000, 2));
        assert_eq!((attributes.uid, attributes.gid), (12, 34));
        assert_eq!(attributes.mtime, UNIX_EPOCH + Duration::new(5, 7));
    }

    #[test]
    fn files_of_a_tree_are_named_below_it_and_a_single_one_as_itself() {
        let Kind::File(file) = entry("b").kind else { panic!("a file") };
        let (name, object): (Name, Name) = ("/t".parse().unwrap(), "/o/v=9".parse().unwrap());
        let of = |source: SourceName| source.listed(b"a/b", &file).unwrap().name.to_string();
        assert_eq!(of(SourceName::Tree { base: name.clone(), name }), "/t/a/b/v=7");
        assert_eq!(of(SourceName::Object(object)), "/o/v=9");
    }
}
