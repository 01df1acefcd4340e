//! The table of pending Interests.

mod bounds;
mod entry;
mod group;
mod key;
mod shares;
mod side;
mod token;

pub use bounds::{PitConfig, Rejection};
pub use entry::{InRecord, OutRecord, PitEntry, Reach};
pub use group::Group;
pub use key::PitKey;
pub use side::Side;
pub use token::{MAX_TOKEN, PitToken};

use super::counts::Counts;
use super::face_id::FaceId;
use super::index::Index;
use super::memory;
use super::name_hash::{DIGEST_HEADER, HashedName, Lengths, MAX_PREFIX};
use super::slab::Slab;
use super::wheel::Wheel;
use control::Time;
use entry::digest_key;
use packet::{Data, HopOption, Interest};
use shares::Shares;
use smallvec::SmallVec;

/// Pending Interests by name and selectors (CanBePrefix, MustBeFresh), those that exclude packets
/// apart from others. As in NFD, a forwarding hint
/// does not tell Interests apart.
///
/// In-records of a face that was removed may stay until they expire: nothing answers to its number
/// any more.
#[derive(Clone, Debug)]
pub struct Pit {
    config: PitConfig,
    entries: Slab<PitEntry>,
    index: Index,
    expiries: Wheel,
    retries: Wheel,
    /// In-records by face.
    pending: Counts,
    /// Entries with CanBePrefix by length of their name; bit `n` of `prefix_lengths` says whether
    /// there are any of `n` components.
    prefixes: [u32; MAX_PREFIX + 1],
    prefix_lengths: Lengths,
    /// Entries that ask for one digest, by what Data must have for its digest to matter: without
    /// any, no digest is computed.
    digests: Counts,
    /// Bytes that entries own outside of their slots.
    heap: usize,
    /// Entries that were answered; see [`Pit::linger`].
    lingering: usize,
    /// The most entries that there ever were.
    most: usize,
    /// Where memory is shared: who has how much of it.
    shares: Shares,
}

impl Pit {
    /// An empty PIT with these bounds.
    #[must_use]
    pub fn new(config: PitConfig) -> Self {
        Pit {
            config,
            entries: Slab::new(),
            index: Index::single(),
            expiries: Wheel::default(),
            retries: Wheel::default(),
            pending: Counts::default(),
            prefixes: [0; MAX_PREFIX + 1],
            prefix_lengths: 0,
            digests: Counts::default(),
            heap: 0,
            lingering: 0,
            most: 0,
            shares: Shares::default(),
        }
    }

    /// Its bounds.
    #[must_use]
    pub fn config(&self) -> &PitConfig {
        &self.config
    }

    /// Entries.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Entries that wait for an answer: all but those that linger.
    #[must_use]
    pub fn unanswered(&self) -> usize {
        self.entries.len() - self.lingering
    }

    /// Places for entries, those that are free included.
    pub(crate) fn places(&self) -> usize {
        self.entries.end()
    }

    /// The most entries that there ever were.
    #[must_use]
    pub fn most(&self) -> usize {
        self.most
    }

    /// True if nothing is pending.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Pending Interests (in-records) of a face.
    #[must_use]
    pub fn pending_of(&self, face: FaceId) -> usize {
        self.pending.get(face.0)
    }

    /// Counts from now on what each face and each prefix has. To be called while it is empty.
    pub(crate) fn count_shares(&mut self) {
        self.shares.begin();
    }

    /// Bytes that entries in which a face waits own outside of their slots; 0 where shares are not
    /// counted.
    #[must_use]
    pub fn heap_of(&self, face: FaceId) -> usize {
        self.shares.heap_of(face)
    }

    /// Bytes that Interests whose prefix is in a group take outside of their slots; 0 where shares
    /// are not counted.
    #[must_use]
    pub fn heap_in(&self, group: Group) -> usize {
        self.shares.heap_in(group)
    }

    /// Entries whose prefix is in a group; 0 where shares are not counted.
    #[must_use]
    pub fn entries_in(&self, group: Group) -> usize {
        self.shares.entries_in(group)
    }

    /// Counts an entry in the group of its prefix, if that is not done yet.
    pub(crate) fn set_group(&mut self, key: PitKey, group: impl FnOnce() -> Group) {
        if !self.shares.is_counting() {
            return;
        }
        if let Some(entry) = self.get_mut(key).filter(|entry| entry.group() == Group::NONE) {
            let group = group();
            entry.set_group(group);
            let weight = entry.weight();
            self.shares.count_group(group, weight);
        }
    }

    /// The lengths of the names of entries with CanBePrefix.
    #[must_use]
    pub fn lengths(&self) -> Lengths {
        self.prefix_lengths
    }

    /// Bytes of memory held.
    #[must_use]
    pub fn memory(&self) -> usize {
        self.entries.memory()
            + self.index.memory()
            + self.expiries.memory()
            + self.retries.memory()
            + self.pending.memory()
            + self.digests.memory()
            + self.shares.memory()
            + self.heap
    }

    /// Bytes that entries own outside of their slots.
    #[must_use]
    pub fn heap(&self) -> usize {
        self.heap
    }

    /// The entry of Interests with this name and these selectors that exclude nothing.
    #[must_use]
    pub fn find(&self, interest: &Interest<'_>, name: &HashedName<'_>) -> Option<PitKey> {
        self.find_entry(interest, name, false)
    }

    /// The entry of Interests with this name and these selectors: of those that exclude packets, or
    /// of the others.
    #[must_use]
    pub fn find_entry(
        &self,
        interest: &Interest<'_>,
        name: &HashedName<'_>,
        excludes: bool,
    ) -> Option<PitKey> {
        let (can_be_prefix, must_be_fresh) = (interest.can_be_prefix(), interest.must_be_fresh());
        let bytes = name.name().as_bytes();
        let slot = self.index.find(name.whole(), |slot| {
            let entry = &self.entries[slot];
            entry.can_be_prefix() == can_be_prefix
                && entry.must_be_fresh() == must_be_fresh
                && entry.excludes() == excludes
                && entry.name_bytes() == bytes
        })?;
        Some(self.key(slot))
    }

    /// Makes the entry of an Interest for which [`Pit::find_entry`] found none, with its first
    /// in-record.
    ///
    /// # Errors
    /// A bound is reached; nothing has changed.
    pub fn insert(
        &mut self,
        interest: &Interest<'_>,
        name: &HashedName<'_>,
        record: InRecord,
    ) -> Result<PitKey, Rejection> {
        let excludes = !record.options.is_empty()
            && record.options.get_raw(packet::options::Exclude::TYPE).is_some();
        debug_assert!(self.find_entry(interest, name, excludes).is_none(), "it is there already");
        if self.len() >= self.config.entries {
            return Err(Rejection::Entries);
        }
        if interest.can_be_prefix() && name.components() > MAX_PREFIX {
            return Err(Rejection::PrefixTooDeep);
        }
        self.admit(record.face, memory::block(interest.wire().len()))?;
        let most = self.most.max(self.entries.len() + 1);
        let (slot, entry) = self.entries.insert_default().ok_or(Rejection::Entries)?;
        self.most = most;
        entry.describe(interest, name, excludes);
        if entry.can_be_prefix() {
            self.prefixes[name.components()] += 1;
            self.prefix_lengths |= 1 << name.components();
        }
        if let Some(digest) = entry.digest() {
            self.digests.add(digest);
        }
        self.heap += entry.heap();
        self.index.insert(name.whole(), slot);
        let key = self.key(slot);
        self.store_in_record(key, record);
        Ok(key)
    }

    /// Adds the in-record of a further downstream, or replaces that of the same face, which is
    /// returned. The entry lives at least as long as the record.
    ///
    /// # Errors
    /// A bound is reached, or the entry is gone; nothing has changed.
    pub fn put_in_record(
        &mut self,
        key: PitKey,
        record: InRecord,
    ) -> Result<Option<InRecord>, Rejection> {
        if self.get(key).ok_or(Rejection::Gone)?.in_record(record.face).is_none() {
            self.admit(record.face, 0)?;
        }
        Ok(self.store_in_record(key, record))
    }

    /// [`Pit::put_in_record`] for a record that is within the bounds.
    fn store_in_record(&mut self, key: PitKey, record: InRecord) -> Option<InRecord> {
        let entry = self.get_mut(key)?;
        let (face, expires) = (record.face, record.expires.max(entry.expires()));
        let before = entry.heap();
        let weight = entry.weight_of(&record);
        let old = entry.take_record(record);
        let weighed = old.as_ref().map(|old| entry.weight_of(old));
        let after = entry.heap();
        self.heap = self.heap - before + after;
        match weighed {
            Some(weighed) => self.shares.recount_record(face, weighed, weight),
            None => {
                self.pending.add(face.0);
                self.shares.count_record(face, weight);
            }
        }
        self.set_expiry(key, expires);
        old
    }

    /// Takes the in-record of a face out. An entry without in-records stays until it expires or is
    /// removed.
    pub fn remove_in_record(&mut self, key: PitKey, face: FaceId) -> Option<InRecord> {
        let entry = self.get_mut(key)?;
        let before = entry.heap();
        let record = entry.remove_record(face)?;
        let (after, weight) = (entry.heap(), entry.weight_of(&record));
        self.heap = self.heap - before + after;
        self.pending.subtract(face.0);
        self.shares.uncount_record(face, weight);
        Some(record)
    }

    /// Adds the out-record of a further upstream, or replaces that of the same face.
    ///
    /// # Errors
    /// The entry is gone, or memory is.
    pub fn put_out_record(&mut self, key: PitKey, record: OutRecord) -> Result<(), Rejection> {
        // A record that fits into the entry takes no more memory.
        let entry = self.get(key).ok_or(Rejection::Gone)?;
        if entry.grows_with_upstream() && self.memory() >= self.config.memory {
            return Err(Rejection::Memory);
        }
        let entry = self.get_mut(key).ok_or(Rejection::Gone)?;
        let before = entry.heap();
        entry.put_out_record(record);
        let after = entry.heap();
        self.heap = self.heap - before + after;
        Ok(())
    }

    /// An entry.
    #[must_use]
    pub fn get(&self, key: PitKey) -> Option<&PitEntry> {
        self.entries.get_checked(key.slot, key.generation)
    }

    /// An entry, to change its out-records and the strategy's note.
    pub fn get_mut(&mut self, key: PitKey) -> Option<&mut PitEntry> {
        self.entries.get_checked_mut(key.slot, key.generation)
    }

    /// Every entry that this Data satisfies, appended to `found`: those of its own name first, then
    /// those of its prefixes, the longest first, then those of its digest. The digest is computed
    /// only if an Interest for a digest of Data with this name is pending.
    pub fn find_satisfied(&self, data: &Data<'_>, name: &HashedName<'_>, found: &mut Vec<PitKey>) {
        let bytes = name.name().as_bytes();
        self.collect(name.whole(), bytes, |_| true, found);
        let mut lengths = self.prefix_lengths;
        if name.components() <= MAX_PREFIX {
            // The whole name was looked up already.
            lengths &= (1 << name.components()) - 1;
        }
        while lengths != 0 {
            let n = 127 - lengths.leading_zeros();
            if let Some((hash, bytes)) = name.prefix(n as usize) {
                self.collect(hash, bytes, PitEntry::can_be_prefix, found);
            }
            lengths &= !(1 << n);
        }
        if !self.digests.is_empty() && self.digests.get(digest_key(name, name.components())) > 0 {
            self.collect_digest(data, name, found);
        }
    }

    /// The entries that this Data satisfies and that were sent to `face`, appended to `found`; see
    /// [`Pit::find_satisfied`].
    pub fn find_asked(
        &self,
        face: FaceId,
        data: &Data<'_>,
        name: &HashedName<'_>,
        found: &mut Vec<PitKey>,
    ) {
        self.find_satisfied(data, name, found);
        found.retain(|key| self.get(*key).is_some_and(|e| e.out_record(face).is_some()));
    }

    fn collect_digest(&self, data: &Data<'_>, name: &HashedName<'_>, found: &mut Vec<PitKey>) {
        let mut component = [0; 34];
        component[..2].copy_from_slice(&DIGEST_HEADER);
        component[2..].copy_from_slice(&data.implicit_digest());
        let mut bytes = name.name().as_bytes().to_vec();
        bytes.extend_from_slice(&component);
        self.collect(name.with_component(&component), &bytes, |_| true, found);
    }

    /// Appends the entries of exactly this name, at most one for each choice of selectors, in the
    /// order of the selectors.
    fn collect(
        &self,
        hash: u64,
        bytes: &[u8],
        wanted: impl Fn(&PitEntry) -> bool,
        found: &mut Vec<PitKey>,
    ) {
        let start = found.len();
        for slot in self.index.candidates(hash) {
            let entry = &self.entries[slot];
            if entry.name_bytes() == bytes && wanted(entry) {
                found.push(self.key(slot));
            }
        }
        if found.len() > start + 1 {
            found[start..].sort_unstable_by_key(|key| {
                let entry = &self.entries[key.slot];
                (entry.excludes(), entry.can_be_prefix(), entry.must_be_fresh())
            });
        }
    }

    /// All entries; their order depends on what came and went before alone.
    pub fn iter(&self) -> impl Iterator<Item = &PitEntry> {
        self.entries.iter().map(|(_, entry)| entry)
    }

    /// Changes when an entry expires; in the past for at once.
    pub fn set_expiry(&mut self, key: PitKey, expires: Time) {
        if let Some(entry) = self.get_mut(key) {
            entry.set_expires(expires);
            self.expiries.set(key.slot, expires);
        }
    }

    /// No downstream waits for the Data of an entry any more, since `answered` has sent it. The
    /// entry stays until then, so that Data of other upstreams finds it. An Interest does not join
    /// it.
    pub fn linger(&mut self, key: PitKey, answered: FaceId, until: Time) {
        let Some(entry) = self.get_mut(key) else { return };
        let (before, again) = (entry.heap(), entry.lingers());
        let waited = entry.linger(answered);
        let waited: SmallVec<[(FaceId, u32); 1]> =
            waited.iter().map(|record| (record.face, entry.weight_of(record))).collect();
        let after = entry.heap();
        self.heap = self.heap - before + after;
        self.lingering += usize::from(!again);
        for (face, weight) in waited {
            self.pending.subtract(face.0);
            self.shares.uncount_record(face, weight);
        }
        self.retries.cancel(key.slot);
        self.set_expiry(key, until);
    }

    /// Asks for [`Pit::pop_retry`] to return this entry at an instant, in place of the one asked
    /// for before.
    pub fn set_retry(&mut self, key: PitKey, at: Time) {
        if self.get(key).is_some() {
            self.retries.set(key.slot, at);
        }
    }

    /// Takes an entry out.
    pub fn remove(&mut self, key: PitKey) -> Option<PitEntry> {
        self.get(key)?;
        self.remove_slot(key.slot)
    }

    /// As [`Pit::remove`], for an entry that is not needed any more: it is not moved.
    pub fn discard(&mut self, key: PitKey) {
        if self.get(key).is_some() {
            self.unlink(key.slot);
            self.entries.discard(key.slot);
        }
    }

    /// When [`Pit::pop_expired`] and [`Pit::pop_retry`] have to be called.
    #[must_use]
    pub fn next_deadline(&self) -> Option<Time> {
        [&self.expiries, &self.retries].into_iter().filter_map(Wheel::next_deadline).min()
    }

    /// Takes out an entry that has expired; to be called until it returns `None`. Entries expire up
    /// to [`super::wheel::GRAIN`] late, never early.
    pub fn pop_expired(&mut self, now: Time) -> Option<(PitKey, PitEntry)> {
        let slot = self.expiries.pop_due(now)?;
        let key = self.key(slot);
        self.remove_slot(slot).map(|entry| (key, entry))
    }

    /// An entry whose instant for a retry has come; to be called until it returns `None`.
    pub fn pop_retry(&mut self, now: Time) -> Option<PitKey> {
        self.retries.pop_due(now).map(|slot| self.key(slot))
    }

    /// Releases the memory of slots that are free, at most `steps` of them; says whether there is
    /// more to do. Entries stay where they are, so slots below one in use go later.
    pub fn trim(&mut self, steps: usize) -> bool {
        let more = self.entries.trim(steps);
        let end = self.entries.end();
        self.expiries.trim(end);
        self.retries.trim(end);
        more
    }

    fn key(&self, slot: u32) -> PitKey {
        PitKey { slot, generation: self.entries.generation(slot) }
    }

    /// Admits one more in-record of a face with `bytes` of memory if both are within the limits.
    fn admit(&self, face: FaceId, bytes: usize) -> Result<(), Rejection> {
        if self.pending_of(face) >= self.config.per_face {
            return Err(Rejection::PerFace);
        }
        if self.memory() + bytes > self.config.memory {
            return Err(Rejection::Memory);
        }
        Ok(())
    }

    fn remove_slot(&mut self, slot: u32) -> Option<PitEntry> {
        self.unlink(slot);
        self.entries.remove(slot)
    }

    /// Takes an entry out of everything that leads to it.
    fn unlink(&mut self, slot: u32) {
        let Some(entry) = self.entries.get(slot) else { return };
        self.shares.uncount(entry);
        self.index.remove(entry.hash(), slot);
        self.expiries.cancel(slot);
        self.retries.cancel(slot);
        self.heap -= entry.heap();
        for record in entry.in_records() {
            self.pending.subtract(record.face.0);
        }
        self.lingering -= usize::from(entry.lingers());
        if entry.can_be_prefix() {
            let n = entry.components();
            self.prefixes[n] -= 1;
            if self.prefixes[n] == 0 {
                self.prefix_lengths &= !(1 << n);
            }
        }
        if let Some(digest) = entry.digest() {
            self.digests.subtract(digest);
        }
    }

    /// Bytes that one more entry with this hash would add. Its Interest has `interest` bytes, and
    /// `record` is its first one.
    #[must_use]
    pub fn growth(&self, hash: u64, interest: usize, record: &InRecord) -> usize {
        let end = self.entries.end_after(1);
        self.entries.growth(1)
            + self.index.growth(hash)
            + self.expiries.growth(end)
            + self.retries.growth(end)
            + self.pending.growth(record.face.0)
            + self.shares.growth(record.face)
            + self.digests.growth(hash)
            + memory::block(interest)
            + record.heap()
    }

    /// Bytes that one more downstream, with this record, and one more upstream would add to an
    /// entry.
    #[must_use]
    pub fn growth_of(&self, key: PitKey, record: &InRecord) -> usize {
        let lists = self.get(key).map_or(0, PitEntry::growth);
        let counts = self.pending.growth(record.face.0) + self.shares.growth(record.face);
        lists + counts + record.heap()
    }

    /// Bytes that one more upstream would add to an entry.
    #[must_use]
    pub fn growth_upstream(&self, key: PitKey) -> usize {
        self.get(key).map_or(0, PitEntry::growth)
    }
}
