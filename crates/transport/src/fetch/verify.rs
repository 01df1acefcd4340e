//! Verification of segments and manifests, and the stash of segments that cannot be delivered yet.

use crate::fetch::error::FetchError;
use crate::fetch::item::Item;
use control::Size;
use packet::options::Exclude;
use packet::{Bytes, Data, NackReason, NameRef};
use rangemap::RangeSet;
use security::manifest::{Announcement, Check, Layout, ManifestError, Verifier};
use security::{Digest, Proof, TrustPolicy, VerifyError};
use sha2::{Digest as _, Sha256};
use std::collections::BTreeMap;
use std::ops::Range;

/// The fetch fails after this many wrong packets for one request.
pub(super) const MAX_FORGED: u32 = 8;

/// The content of a segment in the stash.
#[derive(Debug)]
pub(super) struct Stashed {
    pub content: Bytes,
    /// The digest to verify; `None` once verified, when it waits only for earlier segments.
    digest: Option<Digest>,
}

/// The authenticity of a segment.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Verdict {
    /// The segment is authentic.
    Verified,
    /// Unknown until more of the manifest arrives; with the digest of the packet.
    Later(Digest),
    /// Unknown until the certificate arrives that the error names.
    Waits(VerifyError),
    /// The segment is forged; with the expected digest, if known.
    Forged(Option<Digest>),
    /// The policy rejects the segment.
    Rejected(FetchError),
}

/// Verification of one object, by its manifest or segment by segment.
pub(super) struct Verification {
    policy: TrustPolicy,
    proof: Option<Proof>,
    announced: Option<Announcement>,
    verifier: Option<Verifier>,
    /// The SHA-256 of the Content of the verified root.
    root_content: Option<Digest>,
    /// Manifest packets that arrived before their parents.
    early_nodes: BTreeMap<u64, Bytes>,
    /// The error that names the certificate for which the root waits.
    missing: Option<VerifyError>,
    /// Packets of signed segments that wait for a certificate.
    waiting: BTreeMap<u64, Bytes>,
    stash: BTreeMap<u64, Stashed>,
    /// Bytes in `stash` and `waiting`.
    stash_bytes: usize,
    stash_limit: usize,
    /// Items for which a forged packet arrived. Bounded by the number of requested items.
    forged: BTreeMap<Item, Forged>,
}

/// The record of the forged packets for one item.
#[derive(Default)]
struct Forged {
    /// The digest to request.
    expected: Option<Digest>,
    /// The number of forged packets.
    times: u32,
    /// The forged packets, to exclude if the right digest is unknown.
    excluded: Exclude,
}

/// The maximum number of manifest packets kept before their parents arrive.
const MAX_EARLY_NODES: usize = 64;

impl Verification {
    pub fn new(policy: TrustPolicy, stash: Size) -> Verification {
        Verification {
            policy,
            proof: None,
            announced: None,
            verifier: None,
            root_content: None,
            early_nodes: BTreeMap::new(),
            missing: None,
            waiting: BTreeMap::new(),
            stash: BTreeMap::new(),
            stash_bytes: 0,
            stash_limit: stash.0 as usize,
            forged: BTreeMap::new(),
        }
    }

    pub fn proof(&self) -> Option<&Proof> {
        self.proof.as_ref()
    }

    /// Sets the manifest that metadata has announced.
    pub fn announce(&mut self, announcement: Announcement) {
        self.announced = Some(announcement);
    }

    /// True if the object has a manifest.
    pub fn has_manifest(&self) -> bool {
        self.announced.is_some()
    }

    /// The layout in the verified root.
    pub fn layout(&self) -> Option<Layout> {
        self.verifier.as_ref().map(Verifier::layout)
    }

    /// The layout in the verified root, and the SHA-256 of the Content of the root.
    pub fn known(&self) -> Option<(Layout, Digest)> {
        self.layout().zip(self.root_content)
    }

    /// The number of the root node, as announced.
    pub fn root(&self) -> Option<u64> {
        self.announced.map(|announced| announced.layout.root())
    }

    /// True if the object begins with `item`, and a Nack with this reason shows that it is not
    /// there. `first` is the first missing segment.
    pub fn begins_with(&self, item: Item, first: u64, reason: NackReason) -> bool {
        match (self.layout(), self.root()) {
            // A producer has sent the manifest, and its route may return. But it may lack the
            // content: that has changed since it was hashed.
            (Some(_), _) => item == Item::Segment(first) && reason == NackReason::None,
            (None, Some(root)) => item == Item::Node(root),
            (None, None) => item == Item::Segment(first),
        }
    }

    /// True if the number of segments is proved, or there is no manifest that could prove it.
    pub fn knows_end(&self) -> bool {
        !self.has_manifest() || self.layout().is_some()
    }

    /// True if this node is not among those that came before their turn.
    fn lacks(&self, node: u64) -> bool {
        !self.early_nodes.contains_key(&node)
    }

    /// The missing manifest nodes that cover `segments`, upper ones first. Before the root has
    /// arrived, the nodes on the path from the root to the first of the segments.
    pub fn nodes_for(&self, segments: Range<u64>) -> Vec<u64> {
        const AT_ONCE: usize = 16;
        match (&self.verifier, &self.announced) {
            (Some(verifier), _) => {
                verifier.needed(segments).filter(|n| self.lacks(*n)).take(AT_ONCE).collect()
            }
            (None, Some(announced)) => {
                let layout = announced.layout;
                let leaf = match layout.leaf_of(segments.start) {
                    _ if segments.is_empty() => layout.root(),
                    leaf => leaf.unwrap_or(0),
                };
                let mut way: Vec<_> =
                    std::iter::successors(Some(leaf), |n| layout.parent_of(*n)).collect();
                way.reverse();
                way.into_iter().filter(|n| self.lacks(*n)).collect()
            }
            (None, None) => Vec::new(),
        }
    }

    /// Verifies a manifest packet, or keeps it until its parent or a certificate arrives.
    pub fn node(
        &mut self,
        object: NameRef<'_>,
        number: u64,
        data: &Data<'_>,
    ) -> Result<(), ManifestError> {
        let is_root = self.announced.is_some_and(|a| a.layout.root() == number);
        let expected = self.expected_node(number).filter(|_| self.verifier.is_none());
        match &mut self.verifier {
            None if is_root => {
                if expected != Some(data.implicit_digest()) {
                    return Err(ManifestError::Mismatch(data.name().to_name()));
                }
                let verifier = match Verifier::from_root(object, data, &self.policy) {
                    Err(ManifestError::Untrusted(why)) if why.missing().is_some() => {
                        self.missing = Some(why);
                        self.early_nodes.insert(number, Bytes::copy_from_slice(data.wire()));
                        return Ok(());
                    }
                    other => other?,
                };
                // The number of segments given to the sink is that of the announced layout.
                if self.announced.is_some_and(|a| a.layout != verifier.layout()) {
                    return Err(ManifestError::Mismatch(data.name().to_name()));
                }
                self.root_content = Some(Sha256::digest(data.content()).into());
                self.proof = Some(verifier.proof().clone());
                self.verifier = Some(verifier);
            }
            None => return self.keep_early(number, data),
            Some(verifier) => match verifier.accept(data) {
                Ok(_) => {}
                Err(ManifestError::NeedParent { .. }) => return self.keep_early(number, data),
                Err(error) => return Err(error),
            },
        }
        self.accept_early()
    }

    fn keep_early(&mut self, number: u64, data: &Data<'_>) -> Result<(), ManifestError> {
        if self.early_nodes.len() < MAX_EARLY_NODES {
            self.early_nodes.insert(number, Bytes::copy_from_slice(data.wire()));
        }
        Ok(())
    }

    /// Verifies the kept packets, highest numbers first: parents have higher numbers than their
    /// children.
    fn accept_early(&mut self) -> Result<(), ManifestError> {
        let Some(verifier) = &mut self.verifier else { return Ok(()) };
        let early = std::mem::take(&mut self.early_nodes);
        for (number, wire) in early.into_iter().rev() {
            let Ok(data) = Data::decode(&wire) else { continue };
            // A forged packet is dropped, and requested again.
            if let Err(ManifestError::NeedParent { .. }) = verifier.accept(&data) {
                self.early_nodes.insert(number, wire);
            }
        }
        Ok(())
    }

    /// Verifies a segment by the manifest or, without one, by its signature.
    pub fn judge(&mut self, segment: u64, data: &Data<'_>) -> Verdict {
        if self.announced.is_none() {
            return match self.policy.verify(data) {
                Ok(proof) => {
                    self.note(proof);
                    Verdict::Verified
                }
                Err(VerifyError::DigestMismatch(_)) => Verdict::Forged(None),
                Err(why) if why.missing().is_some() => Verdict::Waits(why),
                Err(error) => Verdict::Rejected(FetchError::Untrusted(error)),
            };
        }
        self.check(segment, &data.implicit_digest())
    }

    /// Keeps the weakest proof of all segments, because segments may be of different publishers.
    fn note(&mut self, proof: Proof) {
        if self.proof.as_ref().is_none_or(|before| strength(&proof) < strength(before)) {
            self.proof = Some(proof);
        }
    }

    fn check(&self, segment: u64, digest: &Digest) -> Verdict {
        let Some(verifier) = &self.verifier else { return Verdict::Later(*digest) };
        match verifier.check_segment(segment, digest) {
            Check::Verified => Verdict::Verified,
            Check::NeedNode(_) => Verdict::Later(*digest),
            Check::Mismatch { expected } => Verdict::Forged(Some(expected)),
            Check::Beyond => Verdict::Forged(None),
        }
    }

    /// Records a forged packet for an item, with its digest `came` if known. Returns the number of
    /// forged packets for the item.
    pub fn count_forged(
        &mut self,
        item: Item,
        expected: Option<Digest>,
        came: Option<&Digest>,
    ) -> u32 {
        let entry = self.forged.entry(item).or_default();
        entry.expected = expected.or(entry.expected);
        entry.times += 1;
        came.map(|came| entry.excluded.add(came));
        entry.times
    }

    /// The digest by which to request `item` after a forged packet, if known.
    pub fn ask_by_digest(&self, item: Item) -> Option<Digest> {
        self.forged.get(&item)?.expected
    }

    /// True if a forged packet arrived for `item`.
    pub fn was_forged(&self, item: Item) -> bool {
        self.forged.contains_key(&item)
    }

    /// True if the segment needs an Interest of its own, with a digest or excluded packets.
    pub fn is_asked_alone(&self, segment: u64) -> bool {
        let item = Item::Segment(segment);
        self.ask_by_digest(item).is_some() || self.excluded(item).is_some()
    }

    /// The packets that an Interest for `item` excludes; none if it names a digest.
    pub fn excluded(&self, item: Item) -> Option<&Exclude> {
        let forged = self.forged.get(&item).filter(|forged| forged.expected.is_none())?;
        Some(&forged.excluded).filter(|excluded| !excluded.is_empty())
    }

    /// The digest of a manifest packet according to its parent or the announcement.
    pub fn expected_node(&self, number: u64) -> Option<Digest> {
        match &self.verifier {
            Some(verifier) => verifier.expected_node(number),
            None => self.announced.filter(|a| a.layout.root() == number).map(|a| a.root_digest),
        }
    }

    /// True if the stash has room for another segment, with `flying` segments in flight.
    pub fn has_room(&self, flying: u32, segment: Size) -> bool {
        let flying = u64::from(flying).saturating_mul(segment.0) as usize;
        self.stash_bytes.saturating_add(flying) < self.stash_limit
    }

    /// True if the segment can be verified at once: its leaf is known or, without a manifest, no
    /// certificate is missing.
    pub fn is_ready(&self, segment: u64) -> bool {
        match (&self.verifier, &self.announced) {
            (Some(verifier), _) => verifier.expected_segment(segment).is_some(),
            (None, announced) => announced.is_none() && self.waiting.is_empty(),
        }
    }

    /// Takes the error that names the certificate for which the root waits.
    pub fn take_missing(&mut self) -> Option<VerifyError> {
        self.missing.take()
    }

    /// Takes the root, with its number, if it waits for a certificate.
    pub fn take_waiting_root(&mut self) -> Option<(u64, Bytes)> {
        let root = self.root().filter(|_| self.verifier.is_none())?;
        Some((root, self.early_nodes.remove(&root)?))
    }

    /// Keeps the packet of a segment until a certificate arrives.
    pub fn wait(&mut self, segment: u64, wire: &[u8]) {
        self.stash_bytes += wire.len();
        if let Some(old) = self.waiting.insert(segment, Bytes::copy_from_slice(wire)) {
            self.stash_bytes -= old.len();
        }
    }

    /// Takes the packets of segments that waited for a certificate.
    pub fn take_waiting(&mut self) -> BTreeMap<u64, Bytes> {
        let waiting = std::mem::take(&mut self.waiting);
        self.stash_bytes -= waiting.values().map(|wire| wire.len()).sum::<usize>();
        waiting
    }

    /// Takes all packets that waited for a certificate: segments, then the root.
    pub fn take_all_waiting(&mut self) -> Vec<(Item, Bytes)> {
        let root = self.take_waiting_root().map(|(n, wire)| (Item::Node(n), wire));
        let segments = self.take_waiting().into_iter();
        segments.map(|(n, wire)| (Item::Segment(n), wire)).chain(root).collect()
    }

    /// The number of segments of this size that fit into the stash, at least 2.
    pub fn capacity(&self, segment: Size) -> u64 {
        (self.stash_limit as u64 / segment.0.max(1)).max(2)
    }

    pub fn stash(&mut self, segment: u64, content: &[u8], digest: Option<Digest>) {
        self.stash_bytes += content.len();
        let stashed = Stashed { content: Bytes::copy_from_slice(content), digest };
        if let Some(old) = self.stash.insert(segment, stashed) {
            self.stash_bytes -= old.content.len();
        }
    }

    pub fn is_stashed(&self, segment: u64) -> bool {
        self.stash.contains_key(&segment) || self.waiting.contains_key(&segment)
    }

    /// Verifies the stashed segments that waited for the manifest. Removes the forged ones and
    /// returns them with their expected digests.
    pub fn judge_stash(&mut self) -> Vec<(u64, Option<Digest>)> {
        let mut forged = Vec::new();
        let judged: Vec<_> = self
            .stash
            .iter()
            .filter_map(|(n, s)| Some((*n, self.check(*n, s.digest.as_ref()?))))
            .collect();
        for (segment, verdict) in judged {
            match verdict {
                Verdict::Verified => {
                    if let Some(stashed) = self.stash.get_mut(&segment) {
                        stashed.digest = None;
                    }
                }
                Verdict::Forged(expected) => {
                    self.take(segment);
                    forged.push((segment, expected));
                }
                Verdict::Later(_) | Verdict::Waits(_) | Verdict::Rejected(_) => {}
            }
        }
        forged
    }

    /// True if the stash holds a verified segment below `end` with `bytes` bytes.
    pub fn has_verified(&self, end: u64, bytes: u64) -> bool {
        let mut below = self.stash.range(..end).map(|(_, stashed)| stashed);
        below.any(|s| s.digest.is_none() && s.content.len() as u64 == bytes)
    }

    /// The first verified segment in the stash from `from` on; with `in_order`, only `from` itself.
    pub fn next_verified(&self, from: u64, in_order: bool) -> Option<u64> {
        let mut verified = self.stash.range(from..).filter(|(_, s)| s.digest.is_none());
        let (segment, _) = verified.next()?;
        (!in_order || *segment == from).then_some(*segment)
    }

    /// Removes a segment from the stash and returns its content.
    pub fn take(&mut self, segment: u64) -> Option<Bytes> {
        let stashed = self.stash.remove(&segment)?;
        self.stash_bytes -= stashed.content.len();
        Some(stashed.content)
    }

    /// Removes segments from the stash that are `done`.
    pub fn forget_stashed(&mut self, done: &RangeSet<u64>) {
        let there: Vec<_> = self.stash.keys().copied().filter(|n| done.contains(n)).collect();
        for segment in there {
            self.take(segment);
        }
    }

    /// Forgets the records of segments below `segment`, which are all done.
    pub fn forget_before(&mut self, segment: u64) {
        if let Some(verifier) = &mut self.verifier {
            verifier.forget_before(segment);
        }
        self.forged.retain(|item, _| !matches!(item, Item::Segment(n) if *n < segment));
    }
}

/// Larger is stronger.
fn strength(proof: &Proof) -> u8 {
    match proof {
        Proof::Key(_) => 2,
        Proof::Digest => 1,
        Proof::Unchecked => 0,
    }
}

#[cfg(test)]
mod tests;
