//! An object of a batch: its digests, and the segments that are missing.

use super::parts::Parts;
use crate::fetch::item::Item;
use crate::fetch::known::Known;
use packet::{Data, Name};
use rangemap::RangeSet;
use security::Digest;
use security::manifest::{Children, Layout, Node};
use sha2::{Digest as _, Sha256};
use std::collections::BTreeMap;
use std::ops::Range;
use thiserror::Error;

/// An object whose digests are known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// The versioned name.
    pub name: Name,
    /// The number of bytes; `None` if the digests alone determine it.
    pub size: Option<u64>,
    /// Bytes of content in every segment but the last; at least 1.
    pub segment_size: u64,
    /// The digests.
    pub known: Known,
}

/// The reason why an object of a batch cannot be fetched.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Failure {
    /// Its producer no longer has it.
    #[error("its producer no longer has it, or not in this version")]
    Gone,
    /// All answers contradict the verified digests.
    #[error(
        "the answers for it are not what its publisher signed; a cache or producer on the way \
         sends something else"
    )]
    Forged,
    /// The digests are right, and the content contradicts the list.
    #[error("its content does not fit its size or its manifest, by its publisher's mistake")]
    Inconsistent,
}

/// New knowledge about an object.
#[derive(Debug, Default)]
pub(super) struct Progress {
    /// Segments whose digests are known now.
    pub segments: Option<Range<u64>>,
    /// Nodes whose digests are known now.
    pub nodes: Option<Range<u64>>,
    /// More was learned about an object of which only parts are fetched.
    pub parts: bool,
}

/// A leaf of a manifest.
#[derive(Debug)]
struct Leaf {
    digests: Box<[Digest]>,
    /// The number of its segments that are missing.
    left: u64,
}

/// An object under transfer.
#[derive(Debug)]
pub(super) struct Object {
    listed: Listed,
    segments: u64,
    left: u64,
    /// The leaves of the manifest whose segments are missing, by their first segment. Without a
    /// manifest, one leaf has all segments.
    leaves: BTreeMap<u64, Leaf>,
    /// The digests of nodes that are missing; of an object with `parts`, all that are known.
    nodes: BTreeMap<u64, Digest>,
    /// The parts that are wanted; `None`: all of it is fetched.
    parts: Option<Parts>,
}

/// Items of an object that may be requested now.
#[derive(Debug, Default)]
pub(super) struct Ready {
    /// Segments, and true if a reader waits for them.
    pub segments: Vec<(Range<u64>, bool)>,
    /// Nodes of the manifest, likewise.
    pub nodes: Vec<(u64, bool)>,
}

impl Object {
    pub fn new(listed: Listed) -> Object {
        let segments = match &listed.known {
            Known::Segments(digests) => digests.len() as u64,
            Known::Manifest(layout, _) => layout.segments(),
        };
        let mut leaves = BTreeMap::new();
        if let Known::Segments(digests) = &listed.known {
            leaves.insert(0, Leaf { digests: digests.clone(), left: segments });
        }
        let (left, nodes, parts) = (segments, BTreeMap::new(), None);
        Object { listed, segments, left, leaves, nodes, parts }
    }

    /// An object of which nothing is wanted yet.
    pub fn in_parts(listed: Listed) -> Object {
        Object { parts: Some(Parts::default()), ..Object::new(listed) }
    }

    /// True if nothing of it is wanted at present.
    pub fn is_idle(&self) -> bool {
        self.parts.as_ref().is_some_and(Parts::is_idle)
    }

    /// Wants a run of segments, as far as the object has them; `urgent` if a reader waits for them.
    /// Returns the part of the run that was wanted before.
    pub fn want(&mut self, run: Range<u64>, urgent: bool) -> Vec<Range<u64>> {
        let run = run.start..run.end.min(self.segments);
        self.parts.as_mut().map(|parts| parts.want(run, urgent)).unwrap_or_default()
    }

    /// The wanted items that may be requested now, each only once.
    pub fn ready(&mut self) -> Ready {
        let (mut ready, root) = (Ready::default(), self.root());
        let Some(parts) = &mut self.parts else { return ready };
        for (run, urgent) in parts.take_waiting() {
            let mut at = run.start;
            while at < run.end {
                let leaf = self.leaves.range(..=at).next_back();
                let leaf_end = leaf.map(|(first, leaf)| first + leaf.digests.len() as u64);
                if let Some(end) = leaf_end.filter(|end| at < *end) {
                    ready.segments.push((at..end.min(run.end), urgent));
                    at = end;
                    continue;
                }
                let Some((layout, root)) = root else { return ready };
                let fanout = u64::from(layout.fanout());
                let end = (at - at % fanout + fanout).min(run.end);
                parts.wait(at..end, urgent);
                // The lowest node on the way to the leaf whose digest is known.
                let mut node = layout.leaf_of(at).unwrap_or(root);
                while node != root && !self.nodes.contains_key(&node) {
                    node = layout.parent_of(node).unwrap_or(root);
                }
                if parts.ask(node, urgent) {
                    ready.nodes.push((node, urgent));
                }
                at = end;
            }
        }
        ready
    }

    fn root(&self) -> Option<(Layout, u64)> {
        match &self.listed.known {
            Known::Segments(_) => None,
            Known::Manifest(layout, _) => Some((*layout, layout.root())),
        }
    }

    /// Forgets leaves of which nothing is wanted, if there are many.
    fn trim(&mut self, newest: u64) {
        const MOST: usize = 32;
        let Some(parts) = &self.parts else { return };
        if self.leaves.len() > MOST {
            let spare = self.leaves.iter().find(|(first, leaf)| {
                let run = **first..**first + leaf.digests.len() as u64;
                **first != newest && !parts.wants_any(&run)
            });
            let spare = spare.map(|(first, _)| *first);
            spare.and_then(|first| self.leaves.remove(&first));
        }
    }

    pub fn name(&self) -> &Name {
        &self.listed.name
    }

    /// The length of the object's part of the sequence, which has room for its segments and for the
    /// nodes of its manifest: of these there are a few more with a fan-out of 2.
    pub fn numbers(&self) -> u64 {
        let nodes = match &self.listed.known {
            Known::Manifest(layout, _) => layout.root() + 1,
            Known::Segments(_) => 1,
        };
        self.segments.max(nodes)
    }

    /// The first items to request.
    pub fn begin(&self) -> Progress {
        match &self.listed.known {
            Known::Segments(_) => {
                Progress { segments: Some(0..self.segments), ..Progress::default() }
            }
            Known::Manifest(layout, _) => {
                let root = layout.root();
                Progress { nodes: Some(root..root + 1), ..Progress::default() }
            }
        }
    }

    pub fn is_complete(&self) -> bool {
        self.left == 0 && self.parts.is_none()
    }

    /// Bytes of content of a segment, as far as they are known.
    pub fn len_of(&self, segment: u64) -> u64 {
        let (start, each) = (self.offset(segment), self.listed.segment_size);
        self.listed.size.map_or(each, |size| size.saturating_sub(start).min(each))
    }

    pub fn offset(&self, segment: u64) -> u64 {
        segment.saturating_mul(self.listed.segment_size)
    }

    /// True if a segment of this object may have a content of `len` bytes.
    pub fn may_have(&self, segment: u64, len: u64) -> bool {
        self.listed.size.is_none() || len == self.len_of(segment)
    }

    /// About the length of the content of a node.
    pub fn node_len(&self) -> u64 {
        match &self.listed.known {
            Known::Segments(_) => 0,
            Known::Manifest(layout, _) => 32 * layout.segments().min(layout.fanout().into()),
        }
    }

    fn leaf_of(&self, segment: u64) -> Option<(u64, &Leaf)> {
        let (first, leaf) = self.leaves.range(..=segment).next_back()?;
        (segment - first < leaf.digests.len() as u64).then_some((*first, leaf))
    }

    /// The implicit digest of an item of this object, whose number is `number`; `None` if unknown.
    pub fn expected(&self, item: Item, number: u64) -> Option<Digest> {
        match item {
            Item::Segment(n) => {
                let segment = n - number;
                if self.parts.as_ref().is_some_and(|parts| !parts.wants(segment)) {
                    return None;
                }
                let (first, leaf) = self.leaf_of(segment)?;
                leaf.digests.get((segment - first) as usize).copied()
            }
            Item::Node(n) => self.nodes.get(&(n - number)).copied(),
            Item::Metadata => None,
        }
    }

    /// The digests of a run of segments under one leaf.
    pub fn digests_of(&self, run: Range<u64>) -> Box<[Digest]> {
        let leaf = self.leaf_of(run.start).map(|(_, leaf)| leaf.digests.clone());
        leaf.unwrap_or_default()
    }

    /// Marks the segments of a run that are `present`, and returns the others.
    pub fn mark_present(&mut self, run: Range<u64>, present: &RangeSet<u64>) -> Vec<Range<u64>> {
        let missing: Vec<_> = present.gaps(&run).collect();
        let count: u64 = missing.iter().map(|run| run.end - run.start).sum();
        let done = (run.end - run.start) - count;
        self.done(run.start, done);
        missing
    }

    /// Marks `count` segments of the leaf of `segment` as done.
    pub fn done(&mut self, segment: u64, count: u64) {
        if let Some(parts) = &mut self.parts {
            return parts.done(segment..segment + count);
        }
        self.left = self.left.saturating_sub(count);
        let Some((first, _)) = self.leaf_of(segment) else { return };
        if let Some(leaf) = self.leaves.get_mut(&first) {
            leaf.left = leaf.left.saturating_sub(count);
            if leaf.left == 0 {
                self.leaves.remove(&first);
            }
        }
    }

    /// Accepts a node of the manifest.
    ///
    /// # Errors
    ///
    /// It is another packet than the expected one (`Forged`), or contradicts the list although its
    /// digest is right.
    pub fn node(&mut self, number: u64, data: &Data<'_>) -> Result<Progress, Failure> {
        let Known::Manifest(layout, root_digest) = self.listed.known else {
            return Err(Failure::Forged);
        };
        let is_root = number == layout.root();
        let genuine = match is_root {
            true => <Digest>::from(Sha256::digest(data.content())) == root_digest,
            false => self.nodes.get(&number) == Some(&data.implicit_digest()),
        };
        if !genuine {
            return Err(Failure::Forged);
        }
        let node = Node::decode_data(data).map_err(|_| Failure::Inconsistent)?;
        let fits = match is_root {
            true => node.root_layout(number).is_ok_and(|found| found == layout),
            false => node.check_place(&layout, number).is_ok(),
        };
        let children = layout.children(number).filter(|_| fits).ok_or(Failure::Inconsistent)?;
        match &mut self.parts {
            Some(parts) => parts.arrived(number),
            None => {
                self.nodes.remove(&number);
            }
        }
        let progress = match children {
            Children::Segments(run) => {
                let left = run.end - run.start;
                self.leaves.insert(run.start, Leaf { digests: node.digests.into(), left });
                self.trim(run.start);
                Progress { segments: Some(run), ..Progress::default() }
            }
            Children::Nodes(run) => {
                self.nodes.extend(run.clone().zip(node.digests.iter().copied()));
                Progress { nodes: Some(run), ..Progress::default() }
            }
        };
        let parts = Progress { parts: true, ..Progress::default() };
        Ok(if self.parts.is_some() { parts } else { progress })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use security::manifest::Layout;

    #[test]
    fn all_nodes_of_a_manifest_have_a_number() {
        // Nine segments have five leaves, three nodes above them, two above those, and a root.
        for (segments, fanout, numbers) in [(9, 2, 11), (9, 3, 9), (1, 2, 1)] {
            let layout = Layout::new(segments, fanout).unwrap();
            let known = Known::Manifest(layout, [0; 32]);
            let name = Name::new();
            let listed = Listed { name, size: None, segment_size: 100, known };
            assert_eq!(Object::new(listed).numbers(), numbers, "{segments}, {fanout}");
        }
    }
}
