//! A published folder: the packets and objects of one version of a tree.

use super::hashes::Hashed;
use super::source::TreeSource;
use packet::tlv::types;
use packet::{Bytes, Component, DataBuf, Interest, Name, NameRef};
use security::Signer;
use security::manifest::{Layout, Unsigned};
use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use transport::publish::{Preparation, Publication, Shelf, Spec};
use transport::rdr::{METADATA, METADATA_FRESHNESS_MS, Metadata, metadata_name};
use tree::{KEY_LEN, KEYWORD, Key, PAGE_KEYWORD, PageRef, Pages, Root};

/// A file of a tree.
#[derive(Debug)]
pub struct Record {
    /// Its number among all files of this process.
    pub number: u64,
    /// Its digests, with size and time.
    pub hashed: Hashed,
}

/// A directory of a tree.
#[derive(Clone, Copy, Debug)]
pub struct DirectoryRecord {
    /// Its number among all directories of this process.
    pub number: u64,
    /// The content of its object.
    pub root: Root,
}

/// One version of a published folder.
pub struct Catalogue {
    /// The tree's name.
    pub base: Name,
    /// The folder.
    pub folder: PathBuf,
    /// Signs.
    pub signer: Signer,
    /// The version of the tree.
    pub version: u64,
    /// The files by their paths.
    pub files: BTreeMap<Arc<[u8]>, Arc<Record>>,
    /// The directories by their paths; the folder itself has an empty one.
    pub directories: BTreeMap<Vec<u8>, DirectoryRecord>,
    /// The pages.
    pub pages: Arc<Pages>,
    /// The pages of the former version, for consumers that are fetching it.
    pub former: Option<Arc<Pages>>,
    /// The number of omitted files and links.
    pub left_out: usize,
    /// The most recently signed metadata of directories.
    pub metadata: Mutex<Signed>,
}

/// The most recently signed packets by path, [`MOST_SIGNED`] at most.
#[derive(Debug, Default)]
pub struct Signed {
    packets: BTreeMap<Vec<u8>, Bytes>,
    /// The paths in the order in which their packets were signed.
    order: VecDeque<Vec<u8>>,
}

/// The maximum number of signed packets in memory: a few megabytes.
const MOST_SIGNED: usize = 4096;

impl Signed {
    fn get(&self, path: &[u8]) -> Option<Bytes> {
        self.packets.get(path).cloned()
    }

    fn keep(&mut self, path: &[u8], packet: Bytes) {
        if self.packets.insert(path.to_vec(), packet).is_some() {
            return;
        }
        self.order.push_back(path.to_vec());
        if self.order.len() > MOST_SIGNED
            && let Some(oldest) = self.order.pop_front()
        {
            self.packets.remove(&oldest);
        }
    }
}

impl Catalogue {
    /// The reference of the top page.
    pub fn top(&self) -> Option<PageRef> {
        self.directories.get(&[][..]).map(|directory| directory.root.page)
    }

    /// The name of the tree's object.
    pub fn object(&self) -> Name {
        self.base.clone().with(&Component::keyword(KEYWORD)).with(&Component::version(self.version))
    }

    /// The name of a file or directory, without a version.
    fn name_of(&self, path: &[u8]) -> Name {
        tree::name_of(&self.base, path)
    }

    /// The specification of a file's segments.
    pub fn spec(base: &Name, path: &[u8], version: u64) -> Spec {
        Spec::new(tree::name_of(base, path), version)
    }

    /// The path in a name below the tree's, and the number of components of tree and path.
    fn path_in(&self, name: NameRef<'_>) -> (Vec<u8>, usize) {
        let (mut path, mut end) = (Vec::new(), self.base.len());
        while let Some(part) = name.get(end).filter(|part| part.typ() == types::GENERIC) {
            if !path.is_empty() {
                path.push(b'/');
            }
            path.extend_from_slice(part.value());
            end += 1;
        }
        (path, end)
    }

    fn page(&self, key: &Key) -> Option<&Bytes> {
        self.pages.packet(key).or_else(|| self.former.as_ref()?.packet(key))
    }

    fn find(&self, name: NameRef<'_>) -> Option<u64> {
        let (path, end) = self.path_in(name);
        match name.get(end) {
            Some(next) if next.is_keyword(KEYWORD) => {
                self.directories.get(&path).map(|directory| directory.number)
            }
            _ => self.files.get(&*path).map(|record| record.number),
        }
    }

    /// The packet for an Interest for a page, or for the metadata of a directory by its bare name.
    fn packet(&self, interest: &Interest<'_>) -> Option<Bytes> {
        let name = interest.name();
        let (path, end) = self.path_in(name);
        let next = name.get(end)?;
        if next.is_keyword(PAGE_KEYWORD) && path.is_empty() {
            let key: [u8; KEY_LEN] = name.get(end + 1)?.value().try_into().ok()?;
            let packet = self.page(&key)?;
            let data = packet::Data::decode(packet).ok()?;
            return data.satisfies(interest).then(|| packet.clone());
        }
        if next.is_keyword(METADATA) && self.directories.contains_key(&path) {
            let own = self.metadata_name(&path);
            let asked = match name.last() {
                Some(last) if last.typ() == types::IMPLICIT_DIGEST => name.parent(),
                _ => name,
            };
            // No packet answers such an Interest, so none is signed for it.
            if !own.as_ref().starts_with(asked) {
                return None;
            }
            let packet = self.metadata(&path, own);
            let data = packet::Data::decode(&packet).ok()?;
            return data.satisfies(interest).then(|| packet.clone());
        }
        None
    }

    /// The name of the metadata of a directory.
    fn metadata_name(&self, path: &[u8]) -> Name {
        metadata_name(self.name_of(path).as_ref(), self.version)
    }

    /// The path of a file on disk.
    pub fn file_path(&self, path: &[u8]) -> PathBuf {
        super::scan::join(&self.folder, path)
    }

    /// The packet with the metadata of a directory by its bare name.
    pub fn directory_metadata(&self, path: &[u8]) -> Bytes {
        self.sign_metadata(path, self.metadata_name(path))
    }

    /// Metadata of a directory that names its tree, for consumers that do not know it as a tree.
    /// It is signed again only if [`MOST_SIGNED`] others have been signed since.
    fn metadata(&self, path: &[u8], own: Name) -> Bytes {
        let kept = self.metadata.lock().ok().and_then(|kept| kept.get(path));
        if let Some(packet) = kept {
            return packet;
        }
        let packet = self.sign_metadata(path, own);
        if let Ok(mut kept) = self.metadata.lock() {
            kept.keep(path, packet.clone());
        }
        packet
    }

    fn sign_metadata(&self, path: &[u8], own: Name) -> Bytes {
        let (name, last) = (self.name_of(path), Component::segment(0));
        let object = name.clone().with(&Component::keyword(KEYWORD));
        let object = object.with(&Component::version(self.version));
        let mut content = Vec::new();
        Metadata { final_block: Some(last.clone()), ..Metadata::bare(object) }
            .encode_into(&mut content);
        let data = DataBuf {
            freshness_ms: Some(METADATA_FRESHNESS_MS),
            final_block: Some(last),
            ..DataBuf::new(own, content)
        };
        let mut packet = Vec::new();
        self.signer.encode(&data, &mut packet);
        packet.into()
    }

    /// The objects by number.
    fn index(&self) -> BTreeMap<u64, Thing> {
        let files = self.files.iter();
        let files = files.map(|(path, record)| (record.number, Thing::File(path.clone())));
        let directories = self.directories.iter();
        let directories = directories.map(|(path, d)| (d.number, Thing::Directory(path.clone())));
        files.chain(directories).collect()
    }

    fn open(&self, thing: &Thing) -> Option<Publication> {
        match thing {
            Thing::File(path) => self.open_file(path),
            Thing::Directory(path) => {
                let mut content = Vec::new();
                self.directories.get(path)?.root.encode_into(&mut content);
                let name = self.name_of(path).with(&Component::keyword(KEYWORD));
                let spec = Spec::new(name, self.version);
                Preparation::new(spec, content, &self.signer).ok()?.run(&self.signer).ok()
            }
        }
    }

    fn open_file(&self, path: &[u8]) -> Option<Publication> {
        let hashed = &self.files.get(path)?.hashed;
        let mut spec = Catalogue::spec(&self.base, path, hashed.version);
        spec.segment_size = hashed.segment_size as usize;
        let segments = hashed.size.div_ceil(hashed.segment_size.into()).max(1);
        let layout = Layout::new(segments, hashed.fanout).ok()?;
        let manifest = Unsigned::new(spec.object(), layout, hashed.below.to_vec()).ok()?;
        let source = TreeSource::new(self.file_path(path), hashed.size, hashed.modified);
        Publication::restore(spec, Box::new(source), manifest, &self.signer).ok()
    }
}

/// An object of a tree, by its path.
enum Thing {
    File(Arc<[u8]>),
    Directory(Vec<u8>),
}

/// The trees of a producer.
pub struct Shelves(Vec<(Arc<Catalogue>, BTreeMap<u64, Thing>)>);

impl Shelves {
    /// Serves these trees.
    pub fn new(trees: impl Iterator<Item = Arc<Catalogue>>) -> Shelves {
        let indexed = trees.map(|tree| {
            let index = tree.index();
            (tree, index)
        });
        Shelves(indexed.collect())
    }

    fn tree(&self, name: NameRef<'_>) -> Option<&Catalogue> {
        let mut trees = self.0.iter().map(|(tree, _)| &**tree);
        trees.find(|tree| name.starts_with(tree.base.as_ref()))
    }
}

impl Shelf for Shelves {
    fn find(&mut self, name: NameRef<'_>) -> Option<u64> {
        self.tree(name)?.find(name)
    }

    fn packet(&mut self, interest: &Interest<'_>) -> Option<Bytes> {
        self.tree(interest.name())?.packet(interest)
    }

    fn open(&mut self, number: u64) -> Option<Publication> {
        let mut found = self.0.iter().filter_map(|(tree, index)| Some((tree, index.get(&number)?)));
        let (tree, thing) = found.next()?;
        tree.open(thing)
    }
}

#[cfg(test)]
mod tests {
    use super::super::filter::Filter;
    use super::super::prepare::{Publisher, Watched};
    use super::*;
    use crate::output::Progress;
    use crate::signals::Stop;
    use packet::InterestBuf;
    use std::collections::BTreeSet;
    use transport::rdr::metadata_prefix;

    #[test]
    fn metadata_of_a_directory_is_signed_once_and_for_interests_that_it_answers() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("sub")).unwrap();
        let base: Name = "/tree".parse().unwrap();
        let publisher = Publisher {
            base: base.clone(),
            folder: folder.path().to_owned(),
            signer: Signer::Digest,
            filter: Filter::default(),
            hashes: None,
        };
        let (progress, stop) = (Progress::new("", true), Stop::never());
        let watched = Watched { progress: &progress, stop: &stop };
        let made = publisher.publish(None, &BTreeSet::new(), &watched).unwrap();
        let ask = |name: Name, can_be_prefix| {
            let wire = InterestBuf { can_be_prefix, ..InterestBuf::new(name) }.encode();
            made.packet(&Interest::decode(&wire).unwrap())
        };
        let metadata = metadata_prefix(base.with(&Component::generic(b"sub")).as_ref());
        assert!(ask(metadata.clone().with(&Component::generic(b"1")), true).is_none());
        assert!(ask(metadata.clone().with(&Component::version(1)), true).is_none());
        assert!(made.metadata.lock().unwrap().packets.is_empty());
        let first = ask(metadata.clone(), true).unwrap();
        let again = ask(metadata.clone(), true).unwrap();
        assert_eq!(first.as_ptr(), again.as_ptr());
        let digest = Component::implicit_digest(first_digest(&first));
        let own = packet::Data::decode(&first).unwrap().name().to_name();
        assert_eq!(ask(own.clone().with(&digest), false).unwrap().as_ptr(), first.as_ptr());
        assert!(ask(own.with(&Component::implicit_digest([1; 32])), false).is_none());
    }

    #[test]
    fn few_signed_packets_are_kept() {
        let mut signed = Signed::default();
        let path = |number: usize| number.to_string().into_bytes();
        for number in 0..=MOST_SIGNED {
            signed.keep(&path(number), Bytes::new());
            signed.keep(&path(number), Bytes::new());
        }
        assert_eq!((signed.packets.len(), signed.order.len()), (MOST_SIGNED, MOST_SIGNED));
        assert!(signed.get(&path(0)).is_none() && signed.get(&path(1)).is_some());
    }

    fn first_digest(packet: &Bytes) -> [u8; 32] {
        packet::Data::decode(packet).unwrap().implicit_digest()
    }
}
