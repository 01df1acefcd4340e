//! The PIT's record of a pending Interest.

use super::group::Group;
use super::token::PitToken;
use crate::tables::face_id::FaceId;
use crate::tables::memory;
use crate::tables::name_hash::{HashedName, MAX_PREFIX};
use crate::tables::prefix_map::name_of;
use control::Time;
use packet::{HopOptions, Interest, NackReason, NameRef};
use smallvec::{Array, SmallVec};

/// A downstream's Interest: whom the Data goes to. Replaced as a whole by
/// [`super::Pit::put_in_record`], so that the limits are kept.
#[derive(Clone, Debug)]
pub struct InRecord {
    /// The face that the Interest came from.
    pub face: FaceId,
    /// The nonce of the latest one.
    pub nonce: u32,
    /// When the latest one came.
    pub arrived_at: Time,
    /// When its lifetime ends: arrival plus lifetime.
    pub expires: Time,
    /// Its PIT token, to go back with the Data or Nack.
    pub token: PitToken,
    /// Its hop-by-hop options, some of which are echoed.
    pub options: HopOptions,
}

/// How far an Interest goes, and which way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reach {
    /// Its hop limit when it came; the largest number without one.
    pub hops: u8,
    /// A keyed hash of its forwarding hint; 0 without one.
    pub hint: u16,
}

impl Reach {
    /// Data that an Interest of this reach finds may be missed by one of `other`.
    #[must_use]
    pub fn exceeds(self, other: Reach) -> bool {
        self.hops > other.hops || self.hint != other.hint
    }
}

/// An Interest that was sent upstream: whom the Data may come from.
#[derive(Clone, Debug)]
pub struct OutRecord {
    face: FaceId,
    /// The nonce of the latest one.
    pub nonce: u32,
    /// The fields of [`Reach`], with which the next field takes no more memory.
    hops: u8,
    hint: u16,
    /// It was sent before: it is not known which one an answer is for.
    pub is_repeated: bool,
    /// When the strategy sent it.
    pub sent_at: Time,
    /// [`Time::MAX`] while a shaper holds it.
    released_at: Time,
    /// When it need not be waited for any longer.
    pub expires: Time,
    /// The Nack that came back for it.
    pub nacked: Option<NackReason>,
    /// Note of a marker or shaper of that face for the answer: events on the upstream's queue while
    /// the Interest left can mark the returning Data (PCON).
    pub memo: u64,
}

impl OutRecord {
    /// The record of an Interest that leaves by `face`; not released yet.
    #[must_use]
    pub fn new(face: FaceId, nonce: u32, sent_at: Time, expires: Time) -> Self {
        let released_at = Time::MAX;
        OutRecord {
            face,
            nonce,
            hops: u8::MAX,
            hint: 0,
            is_repeated: false,
            sent_at,
            released_at,
            expires,
            nacked: None,
            memo: 0,
        }
    }

    /// How far the latest one goes.
    #[must_use]
    pub fn reach(&self) -> Reach {
        Reach { hops: self.hops, hint: self.hint }
    }

    /// Notes how far the latest one goes.
    pub fn set_reach(&mut self, reach: Reach) {
        (self.hops, self.hint) = (reach.hops, reach.hint);
    }

    /// The face that the Interest left by.
    #[must_use]
    pub fn face(&self) -> FaceId {
        self.face
    }

    /// When the Interest was let go by the shaper; `None` while it is held. Round-trip times are
    /// measured from here.
    #[must_use]
    pub fn released_at(&self) -> Option<Time> {
        (self.released_at != Time::MAX).then_some(self.released_at)
    }

    /// Notes that the Interest left.
    pub fn release(&mut self, now: Time) {
        self.released_at = now;
    }
}

/// Interests of up to this many bytes lie in the entry itself: most do.
const USUAL_INTEREST: usize = 64;

/// The fields that distinguish Interests of one name, and the kinds of Data that satisfy them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Selectors {
    can_be_prefix: bool,
    must_be_fresh: bool,
    /// See [`PitEntry::excludes`].
    excludes: bool,
    wants_digest: bool,
}

/// An entry of the PIT: all Interests with one name and the same selectors.
#[derive(Clone, Debug, Default)]
pub struct PitEntry {
    /// The first Interest as it came. The name is a part of it and not stored twice.
    interest: SmallVec<[u8; USUAL_INTEREST]>,
    name_at: u32,
    name_len: u32,
    hash: u64,
    /// The hash under which Interests for one digest are counted; see [`digest_key`].
    parent: u64,
    /// An Interest has at most 8,800 bytes.
    components: u16,
    /// The prefix that it is counted under, where prefixes share memory.
    group: Group,
    selectors: Selectors,
    in_records: SmallVec<[InRecord; 1]>,
    out_records: SmallVec<[OutRecord; 1]>,
    expires: Time,
    /// See [`super::Pit::linger`].
    lingers: bool,
    /// Two words of the strategy's own; zero at first.
    pub note: [u64; 2],
}

/// Where Interests for one digest and the Data they may mean meet: the hash of the Data's name, cut
/// to [`MAX_PREFIX`] components.
pub(super) fn digest_key(name: &HashedName<'_>, data_components: usize) -> u64 {
    name.prefix(data_components.min(MAX_PREFIX)).map_or(0, |(hash, _)| hash)
}

impl PitEntry {
    /// Fills an empty entry in place with an Interest; see [`PitEntry::excludes`].
    #[inline]
    pub(super) fn describe(
        &mut self,
        interest: &Interest<'_>,
        name: &HashedName<'_>,
        excludes: bool,
    ) {
        let bytes = name.name().as_bytes();
        // No more than is counted; the list would round up to a power of two.
        self.interest.reserve_exact(interest.wire().len());
        self.interest.extend_from_slice(interest.wire());
        self.name_at = memory::offset_of(interest.wire(), bytes) as u32;
        self.name_len = bytes.len() as u32;
        self.hash = name.whole();
        self.components = u16::try_from(name.components()).unwrap_or(u16::MAX);
        self.group = Group::NONE;
        self.selectors.can_be_prefix = interest.can_be_prefix();
        self.selectors.must_be_fresh = interest.must_be_fresh();
        self.selectors.excludes = excludes;
        self.lingers = false;
        self.selectors.wants_digest = name.implicit_digest().is_some();
        if self.selectors.wants_digest {
            self.parent = digest_key(name, name.components() - 1);
        }
    }

    /// The hash that the entry is found by.
    #[inline]
    pub(super) fn hash(&self) -> u64 {
        self.hash
    }

    /// The hash under which it is counted if it is for one digest; see [`digest_key`].
    #[inline]
    pub(super) fn digest(&self) -> Option<u64> {
        self.selectors.wants_digest.then_some(self.parent)
    }

    /// The prefix that it is counted under, where prefixes share memory.
    #[inline]
    pub(super) fn group(&self) -> Group {
        self.group
    }

    pub(super) fn set_group(&mut self, group: Group) {
        self.group = group;
    }

    /// The first Interest that made the entry, as it came. Nonce, lifetime and hop limit of later
    /// ones may differ.
    #[must_use]
    pub fn interest(&self) -> &[u8] {
        &self.interest
    }

    /// The name.
    #[must_use]
    pub fn name(&self) -> NameRef<'_> {
        name_of(self.name_bytes())
    }

    /// Components of the name.
    #[must_use]
    pub fn components(&self) -> usize {
        usize::from(self.components)
    }

    pub(super) fn name_bytes(&self) -> &[u8] {
        &self.interest[self.name_at as usize..][..self.name_len as usize]
    }

    /// True if Data below the name satisfies it too.
    #[must_use]
    pub fn can_be_prefix(&self) -> bool {
        self.selectors.can_be_prefix
    }

    /// True if stale Data from a content store does not satisfy it.
    #[must_use]
    pub fn must_be_fresh(&self) -> bool {
        self.selectors.must_be_fresh
    }

    /// True if its downstreams exclude packets, each its own ([`packet::options::Exclude`]).
    #[must_use]
    pub fn excludes(&self) -> bool {
        self.selectors.excludes
    }

    /// Downstreams, in the order in which they came.
    #[must_use]
    pub fn in_records(&self) -> &[InRecord] {
        &self.in_records
    }

    /// The downstream of a face.
    #[must_use]
    pub fn in_record(&self, face: FaceId) -> Option<&InRecord> {
        self.in_records.iter().find(|r| r.face == face)
    }

    /// Puts a downstream's record in the place of its earlier one, which is returned.
    pub(super) fn take_record(&mut self, record: InRecord) -> Option<InRecord> {
        match self.in_records.iter_mut().find(|r| r.face == record.face) {
            Some(old) => Some(std::mem::replace(old, record)),
            None => {
                self.in_records.push(record);
                None
            }
        }
    }

    /// Takes the record of a downstream out.
    pub(super) fn remove_record(&mut self, face: FaceId) -> Option<InRecord> {
        let at = self.in_records.iter().position(|r| r.face == face)?;
        Some(self.in_records.remove(at))
    }

    /// Puts an upstream's record in the place of its earlier one.
    pub(super) fn put_out_record(&mut self, record: OutRecord) {
        match self.out_record_mut(record.face()) {
            Some(old) => *old = record,
            None => self.out_records.push(record),
        }
    }

    /// True if one more upstream takes more memory.
    pub(super) fn grows_with_upstream(&self) -> bool {
        self.out_records.len() == self.out_records.capacity()
    }

    /// Begins to linger, without downstreams and without the upstream that has answered; returns
    /// the downstreams. See [`super::Pit::linger`].
    pub(super) fn linger(&mut self, answered: FaceId) -> SmallVec<[InRecord; 1]> {
        self.out_records.retain(|record| record.face() != answered);
        self.lingers = true;
        std::mem::take(&mut self.in_records)
    }

    /// Upstreams, in the order in which they were asked first.
    #[must_use]
    pub fn out_records(&self) -> &[OutRecord] {
        &self.out_records
    }

    /// The upstream of a face.
    #[must_use]
    pub fn out_record(&self, face: FaceId) -> Option<&OutRecord> {
        self.out_records.iter().find(|r| r.face == face)
    }

    /// The upstream of a face, to change it.
    pub fn out_record_mut(&mut self, face: FaceId) -> Option<&mut OutRecord> {
        self.out_records.iter_mut().find(|r| r.face == face)
    }

    /// True if its Data has come, and it only waits for those of other upstreams.
    #[must_use]
    pub fn lingers(&self) -> bool {
        self.lingers
    }

    /// When the entry expires: with its last in-record, unless it was set otherwise.
    #[must_use]
    pub fn expires(&self) -> Time {
        self.expires
    }

    #[inline]
    pub(super) fn set_expires(&mut self, expires: Time) {
        self.expires = expires;
    }

    /// Bytes that one more of everything of which it has a list would add.
    pub(super) fn growth(&self) -> usize {
        list_growth(&self.in_records) + list_growth(&self.out_records)
    }

    /// Bytes that the entry owns outside of its slot.
    #[inline]
    pub(super) fn heap(&self) -> usize {
        if !self.interest.spilled()
            && !self.in_records.spilled()
            && !self.out_records.spilled()
            && !self.in_records.iter().any(InRecord::has_heap)
        {
            return 0;
        }
        self.count_heap()
    }

    /// Bytes of the Interest, where it does not lie in the entry. They stay the same.
    pub(super) fn interest_heap(&self) -> usize {
        if self.interest.spilled() { memory::block(self.interest.len()) } else { 0 }
    }

    #[cold]
    fn count_heap(&self) -> usize {
        let ins = if self.in_records.spilled() { self.in_records.capacity() } else { 0 };
        let outs = if self.out_records.spilled() { self.out_records.capacity() } else { 0 };
        self.interest_heap()
            + memory::block(ins * size_of::<InRecord>())
            + memory::block(outs * size_of::<OutRecord>())
            + self.in_records.iter().map(InRecord::heap).sum::<usize>()
    }
}

/// Bytes that one more item would add to a list, the old block included while it is replaced.
fn list_growth<A: Array>(list: &SmallVec<A>) -> usize {
    if list.len() < list.capacity() {
        return 0;
    }
    memory::block((list.len() + 1).next_power_of_two() * size_of::<A::Item>())
}

impl InRecord {
    fn has_heap(&self) -> bool {
        !self.options.is_empty() || self.token.heap() > 0
    }

    pub(crate) fn heap(&self) -> usize {
        self.token.heap() + memory::options(&self.options)
    }
}
