//! The entries of a page.

use crate::error::TreeError;
use crate::name::FileName;
use crate::naming::{KEY_LEN, Key, PAGE_KEYWORD};
use packet::tlv::{self, Element, Reader};
use packet::{Component, Fault, Name};
use security::Digest;
use security::manifest::{DEFAULT_FANOUT, Layout};

/// TLV types of trees, odd and so critical: a reader that skips one misreads the entry.
pub(crate) mod types {
    pub const FANOUT: u64 = 0xf605;
    pub const DIGESTS: u64 = 0xf60b;
    pub const FORMAT: u64 = 0xf651;
    pub const BASE: u64 = 0xf653;
    pub const DIRECTORY: u64 = 0xf655;
    pub const FILE: u64 = 0xf657;
    pub const LINK: u64 = 0xf659;
    pub const PART: u64 = 0xf65b;
    pub const NAME: u64 = 0xf65d;
    pub const MODE: u64 = 0xf65f;
    pub const MODIFIED: u64 = 0xf661;
    pub const SIZE: u64 = 0xf663;
    pub const VERSION: u64 = 0xf665;
    pub const SEGMENT_SIZE: u64 = 0xf667;
    pub const MANIFEST_DIGEST: u64 = 0xf669;
    pub const PAGE: u64 = 0xf66b;
    pub const ENTRIES: u64 = 0xf66d;
    pub const BYTES: u64 = 0xf66f;
    pub const TARGET: u64 = 0xf671;
}

/// The segment size of a file whose entry has none, in bytes.
pub(crate) const SEGMENT_SIZE: u32 = 8000;

/// The maximum number of digests of segments in an entry. Larger files have the digest of their
/// manifest's root there.
pub const MOST_DIGESTS: usize = 8;

/// The permission bits of a file: those of chmod(2).
const MODE_BITS: u64 = 0o7777;

/// An entry of a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its name.
    pub name: FileName,
    /// Its permissions: the lower 12 bits of `st_mode`.
    pub mode: u16,
    /// The time of its last modification, in nanoseconds since 1970.
    pub modified: u64,
    /// Its type, with its content.
    pub kind: Kind,
}

/// The type of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A regular file.
    File(File),
    /// A directory.
    Directory(PageRef),
    /// A symbolic link, with its target.
    Link(Box<[u8]>),
}

/// The content of a file: an object named `<tree>/<path>/v=<version>`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// The number of bytes.
    pub size: u64,
    /// The version of the object. By default the time of the modification in milliseconds.
    pub version: u64,
    /// Bytes of content in every segment but the last.
    pub segment_size: u32,
    /// The digests that verify the content.
    pub contents: Contents,
}

/// The digests of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Contents {
    /// The implicit digests of all segments: at most [`MOST_DIGESTS`].
    Segments(Box<[Digest]>),
    /// The file has a manifest (see `docs/reference/wire.md`).
    Manifest {
        /// The manifest's fan-out.
        fanout: u32,
        /// The SHA-256 of the Content of the manifest's root. The root's signature is not part of
        /// it, so an unchanged file has the same entry whichever key signs.
        digest: Digest,
    },
}

/// The page of a directory or of a part of it, and the totals of everything below.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageRef {
    /// The key in the page's name.
    pub key: Key,
    /// The implicit digest of the page's packet.
    pub digest: Digest,
    /// The totals of the page and of all directories below.
    pub totals: Totals,
}

/// A number of entries and the sum of the sizes of their files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// The number of files, directories and links.
    pub entries: u64,
    /// The bytes of all files.
    pub bytes: u64,
}

impl Totals {
    /// The sum; `None` if it exceeds 64 bits.
    #[must_use]
    pub fn plus(self, other: Totals) -> Option<Totals> {
        let entries = self.entries.checked_add(other.entries)?;
        Some(Totals { entries, bytes: self.bytes.checked_add(other.bytes)? })
    }
}

impl File {
    /// The number of segments; an empty file has one.
    #[must_use]
    pub fn segments(&self) -> u64 {
        self.size.div_ceil(u64::from(self.segment_size.max(1))).max(1)
    }

    /// The layout of the manifest; `None` if the entry lists the segments, or has impossible
    /// numbers.
    #[must_use]
    pub fn layout(&self) -> Option<Layout> {
        match self.contents {
            Contents::Segments(_) => None,
            Contents::Manifest { fanout, .. } => Layout::new(self.segments(), fanout).ok(),
        }
    }

    /// The default version of a file that was modified at `nanoseconds` since 1970.
    #[must_use]
    pub const fn version_of(nanoseconds: u64) -> u64 {
        nanoseconds / 1_000_000
    }
}

impl PageRef {
    /// The name of the page's object, whose only segment it is: `<base>/32=page/<key>`.
    #[must_use]
    pub fn object(&self, base: &Name) -> Name {
        base.clone().with(&Component::keyword(PAGE_KEYWORD)).with(&Component::generic(&self.key))
    }

    pub(crate) fn encode_into(&self, out: &mut Vec<u8>) {
        let mut value = [0; KEY_LEN + 32];
        value[..KEY_LEN].copy_from_slice(&self.key);
        value[KEY_LEN..].copy_from_slice(&self.digest);
        tlv::put_tlv(out, types::PAGE, &value);
        tlv::put_nni_tlv(out, types::ENTRIES, self.totals.entries);
        tlv::put_nni_tlv(out, types::BYTES, self.totals.bytes);
    }

    pub(crate) fn decode(reader: &mut Reader<'_>) -> Result<PageRef, Fault> {
        let value = required(reader, types::PAGE)?.value;
        let bad = Fault::BadLength(types::PAGE);
        let (key, digest) = value.split_first_chunk().ok_or(bad)?;
        let digest = digest.try_into().map_err(|_| bad)?;
        let entries = required(reader, types::ENTRIES)?.nni()?;
        let bytes = required(reader, types::BYTES)?.nni()?;
        Ok(PageRef { key: *key, digest, totals: Totals { entries, bytes } })
    }
}

impl Entry {
    /// The totals that this entry adds to its page; `None` if they exceed 64 bits.
    #[must_use]
    pub fn totals(&self) -> Option<Totals> {
        let one = Totals { entries: 1, bytes: 0 };
        match &self.kind {
            Kind::File(file) => Some(Totals { bytes: file.size, ..one }),
            Kind::Directory(page) => page.totals.plus(one),
            Kind::Link(_) => Some(one),
        }
    }

    /// Appends the entry to the content of a page.
    pub fn encode_into(&self, out: &mut Vec<u8>) {
        let mut value = Vec::with_capacity(128);
        tlv::put_tlv(&mut value, types::NAME, self.name.as_bytes());
        self.encode_attributes(&mut value);
        let typ = match &self.kind {
            Kind::File(file) => {
                file.encode_into(self.modified, &mut value);
                types::FILE
            }
            Kind::Directory(page) => {
                page.encode_into(&mut value);
                types::DIRECTORY
            }
            Kind::Link(target) => {
                tlv::put_tlv(&mut value, types::TARGET, target);
                types::LINK
            }
        };
        tlv::put_tlv(out, typ, &value);
    }

    fn encode_attributes(&self, out: &mut Vec<u8>) {
        tlv::put_nni_tlv(out, types::MODE, u64::from(self.mode));
        tlv::put_nni_tlv(out, types::MODIFIED, self.modified);
    }

    /// Decodes an entry from its element; `None` for other elements.
    pub(crate) fn decode(element: Element<'_>) -> Result<Option<Entry>, TreeError> {
        if !matches!(element.typ, types::FILE | types::DIRECTORY | types::LINK) {
            return Ok(None);
        }
        let mut reader = Reader::new(element.value);
        let name = FileName::new(required(&mut reader, types::NAME)?.value)?;
        let mode = required(&mut reader, types::MODE)?.nni()?;
        if mode > MODE_BITS {
            return Err(Fault::BadValue(types::MODE).into());
        }
        let modified = required(&mut reader, types::MODIFIED)?.nni()?;
        let kind = match element.typ {
            types::FILE => Kind::File(File::decode(&mut reader, modified, &name)?),
            types::DIRECTORY => Kind::Directory(PageRef::decode(&mut reader)?),
            _ => Kind::Link(required(&mut reader, types::TARGET)?.value.into()),
        };
        reader.finish()?;
        Ok(Some(Entry { name, mode: mode as u16, modified, kind }))
    }
}

impl File {
    fn encode_into(&self, modified: u64, out: &mut Vec<u8>) {
        tlv::put_nni_tlv(out, types::SIZE, self.size);
        if self.version != File::version_of(modified) {
            tlv::put_nni_tlv(out, types::VERSION, self.version);
        }
        if self.segment_size != SEGMENT_SIZE {
            tlv::put_nni_tlv(out, types::SEGMENT_SIZE, u64::from(self.segment_size));
        }
        match &self.contents {
            Contents::Segments(digests) => {
                tlv::put_tlv(out, types::DIGESTS, digests.as_flattened());
            }
            Contents::Manifest { fanout, digest } => {
                if *fanout != DEFAULT_FANOUT {
                    tlv::put_nni_tlv(out, types::FANOUT, u64::from(*fanout));
                }
                tlv::put_tlv(out, types::MANIFEST_DIGEST, digest);
            }
        }
    }

    fn decode(reader: &mut Reader<'_>, modified: u64, name: &FileName) -> Result<File, TreeError> {
        let size = number(reader, types::SIZE)?.ok_or(Fault::Expected(types::SIZE))?;
        let version = number(reader, types::VERSION)?.unwrap_or(File::version_of(modified));
        let segment_size = number(reader, types::SEGMENT_SIZE)?.unwrap_or(SEGMENT_SIZE.into());
        let most = packet::MAX_PACKET as u64;
        if !(1..=most).contains(&segment_size) {
            return Err(Fault::BadValue(types::SEGMENT_SIZE).into());
        }
        let contents = match reader.optional(types::DIGESTS)? {
            Some(element) => {
                let (digests, rest) = element.value.as_chunks();
                if !rest.is_empty() || digests.len() > MOST_DIGESTS {
                    return Err(TreeError::Digests(name.to_string()));
                }
                Contents::Segments(digests.into())
            }
            None => {
                let fanout = number(reader, types::FANOUT)?.unwrap_or(DEFAULT_FANOUT.into());
                let fanout = u32::try_from(fanout).map_err(|_| Fault::BadValue(types::FANOUT))?;
                let digest = required(reader, types::MANIFEST_DIGEST)?.value;
                let bad = Fault::BadLength(types::MANIFEST_DIGEST);
                Contents::Manifest { fanout, digest: digest.try_into().map_err(|_| bad)? }
            }
        };
        let file = File { size, version, segment_size: segment_size as u32, contents };
        let fits = match &file.contents {
            Contents::Segments(digests) => digests.len() as u64 == file.segments(),
            Contents::Manifest { .. } => file.layout().is_some(),
        };
        if fits { Ok(file) } else { Err(TreeError::Digests(name.to_string())) }
    }
}

/// The number in the next element, if that is of type `typ`.
fn number(reader: &mut Reader<'_>, typ: u64) -> Result<Option<u64>, Fault> {
    match reader.optional(typ)? {
        Some(element) => Ok(Some(element.nni()?)),
        None => Ok(None),
    }
}

/// The next known or critical element, if it is of type `typ`.
pub(crate) fn required<'a>(reader: &mut Reader<'a>, typ: u64) -> Result<Element<'a>, Fault> {
    reader.optional(typ)?.ok_or(Fault::Expected(typ))
}
