//! The publisher's side: entries of directories in, pages out.

use crate::entry::{Entry, PageRef, SEGMENT_SIZE, Totals};
use crate::error::TreeError;
use crate::name::FileName;
use crate::naming::{KEY_LEN, Key, PAGE_KEYWORD};
use crate::page::{Page, Part};
use packet::{Bytes, Component, ContentType, DataParts, Name, SignatureInfoBuf};
use security::Signer;
use sha2::{Digest as _, Sha256};
use std::collections::BTreeMap;

/// FreshnessPeriod of pages, and of the segments of files, in milliseconds. A digest covers it.
const SEGMENT_FRESHNESS_MS: u64 = 3_600_000;

/// The maximum number of bytes of a page's packet, as of a segment's.
const PACKET_SIZE: usize = 8500;

/// The minimum number of bytes of a page's content. The longest entry has a name of 255 bytes and
/// a target of 4,095.
const LEAST_ROOM: usize = 4500;

/// More bytes than an encoded part has: a name, and the reference of a page.
const LONGEST_PART: usize = 400;

/// The maximum number of bytes of content in a page of the tree `base`.
///
/// # Errors
/// The name is so long that the longest entry would not fit.
fn page_size(base: &Name) -> Result<usize, TreeError> {
    let mut packet = Vec::new();
    // As long as the longest content, so that the lengths before it have their final size.
    encode_page(base, &[0; KEY_LEN], &[0; PACKET_SIZE], &mut packet);
    let room = (2 * PACKET_SIZE).saturating_sub(packet.len());
    if room < LEAST_ROOM {
        return Err(TreeError::TooLarge(base.to_string()));
    }
    Ok(room.min(SEGMENT_SIZE as usize))
}

/// The packet of a page of the tree `base`, from its reference and content: a copy has the same one
/// as the publisher.
#[must_use]
pub fn page_packet(base: &Name, page: &PageRef, content: &[u8]) -> Bytes {
    let mut packet = Vec::new();
    encode_page(base, &page.key, content, &mut packet);
    packet.into()
}

/// Appends the packet of a page. The arguments determine every byte.
fn encode_page(base: &Name, key: &Key, content: &[u8], out: &mut Vec<u8>) {
    let name = base.clone().with(&Component::keyword(PAGE_KEYWORD)).with(&Component::generic(key));
    let segment = Component::segment(0);
    let parts = DataParts {
        name: name.as_ref(),
        last: Some(segment.as_ref()),
        content_type: ContentType::BLOB,
        freshness_ms: Some(SEGMENT_FRESHNESS_MS),
        final_block: Some(segment.as_ref()),
        content,
    };
    Signer::Digest.encode_parts(&parts, &SignatureInfoBuf::digest(), out);
}

/// The pages of a tree. Equal pages are kept once.
#[derive(Clone, Debug)]
pub struct Pages {
    base: Name,
    size: usize,
    packets: BTreeMap<Key, Bytes>,
}

impl Pages {
    /// A tree without pages.
    ///
    /// # Errors
    /// The name is too long.
    pub fn new(base: Name) -> Result<Pages, TreeError> {
        let size = page_size(&base)?;
        Ok(Pages { base, size, packets: BTreeMap::new() })
    }

    /// The tree's own name.
    #[must_use]
    pub fn base(&self) -> &Name {
        &self.base
    }

    /// The number of pages.
    #[must_use]
    pub fn len(&self) -> usize {
        self.packets.len()
    }

    /// True if there is no page.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.packets.is_empty()
    }

    /// The packet of a page, if it is one of this tree.
    #[must_use]
    pub fn packet(&self, key: &Key) -> Option<&Bytes> {
        self.packets.get(key)
    }

    /// The packets of all pages, by key.
    pub fn iter(&self) -> impl Iterator<Item = (&Key, &Bytes)> {
        self.packets.iter()
    }

    /// Makes the pages of a directory from its entries, in any order, after those of the
    /// directories in it.
    ///
    /// A directory is divided at names that a hash selects. So an entry that appears, changes or
    /// disappears changes the pages around it, and no others.
    ///
    /// # Errors
    /// Two entries have one name, an entry is too long, or the sizes exceed 64 bits.
    pub fn directory(&mut self, mut entries: Vec<Entry>) -> Result<PageRef, TreeError> {
        entries.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        if let Some(pair) = entries.windows(2).find(|pair| pair[0].name == pair[1].name) {
            return Err(TreeError::Order(pair[1].name.to_string()));
        }
        let mut items = Vec::with_capacity(entries.len());
        for entry in entries {
            let totals = entry.totals().ok_or_else(too_many)?;
            let mut bytes = Vec::new();
            entry.encode_into(&mut bytes);
            items.push(Item { bytes, totals, name: entry.name });
        }
        let mut parts = self.pack(items, 0)?;
        let mut level = 1;
        while parts.len() > 1 {
            let items = parts.into_iter().map(|part| {
                let mut bytes = Vec::new();
                part.encode_into(&mut bytes);
                Item { name: part.first, bytes, totals: part.page.totals }
            });
            parts = self.pack(items.collect(), level)?;
            level += 1;
        }
        match parts.pop() {
            Some(part) => Ok(part.page),
            None => Ok(self.add(&[], Totals::default())),
        }
    }

    /// Divides encoded entries, or parts, into pages.
    fn pack(&mut self, items: Vec<Item>, level: usize) -> Result<Vec<Part>, TreeError> {
        // A page of parts has two or more: otherwise a level would not be smaller than the one
        // below. So the last part has a place reserved in the page of the part before it.
        let least = if level == 0 { 1 } else { 2 };
        let reserve = if level == 0 { 0 } else { LONGEST_PART };
        let mut left = items.len();
        let mut parts = Vec::new();
        let mut open: Option<Open> = None;
        for item in items {
            if item.bytes.len() > self.size {
                return Err(TreeError::TooLarge(item.name.to_string()));
            }
            let full = open.as_ref().is_some_and(|open| {
                let large = open.content.len() >= self.size / 4;
                let ends = large && selected(&item.name, level);
                let is_full = open.content.len() + item.bytes.len() + reserve > self.size;
                open.count >= least && left >= least && (is_full || ends)
            });
            if full && let Some(open) = open.take() {
                parts.push(self.close(open));
            }
            open = Some(open.unwrap_or_else(|| Open::new(item.name.clone())).with(&item)?);
            left -= 1;
        }
        if let Some(open) = open {
            parts.push(self.close(open));
        }
        Ok(parts)
    }

    fn close(&mut self, open: Open) -> Part {
        let page = self.add(&open.content, open.totals);
        Part { first: open.first, page }
    }

    fn add(&mut self, content: &[u8], totals: Totals) -> PageRef {
        debug_assert!(Page::decode(content).is_ok_and(|page| page.totals() == Some(totals)));
        debug_assert!(content.len() <= self.size);
        let hash: [u8; 32] = Sha256::digest(content).into();
        let mut key = [0; KEY_LEN];
        key.copy_from_slice(&hash[..KEY_LEN]);
        let mut packet = Vec::new();
        encode_page(&self.base, &key, content, &mut packet);
        let digest = Sha256::digest(&packet).into();
        self.packets.insert(key, packet.into());
        PageRef { key, digest, totals }
    }
}

fn too_many() -> TreeError {
    TreeError::Totals { expected: u64::MAX, found: u64::MAX }
}

/// An encoded entry or part.
struct Item {
    name: FileName,
    bytes: Vec<u8>,
    totals: Totals,
}

/// A page that is being filled.
struct Open {
    first: FileName,
    content: Vec<u8>,
    count: usize,
    totals: Totals,
}

impl Open {
    fn new(first: FileName) -> Open {
        Open { first, content: Vec::new(), count: 0, totals: Totals::default() }
    }

    fn with(mut self, item: &Item) -> Result<Open, TreeError> {
        self.content.extend_from_slice(&item.bytes);
        self.count += 1;
        self.totals = self.totals.plus(item.totals).ok_or_else(too_many)?;
        Ok(self)
    }
}

/// True if a page of `level` begins at this name: for one name in 32, another one on each level.
fn selected(name: &FileName, level: usize) -> bool {
    let hash: [u8; 32] = Sha256::digest(name.as_bytes()).into();
    hash[level % 32] < 8
}
