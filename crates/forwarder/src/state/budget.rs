//! One limit on the memory of everything that a forwarder keeps.
//!
//! Each table counts its memory and can calculate in advance the bytes that a change would add; so
//! do links. The shared memory is given in this order: the table of pending Interests, the faces
//! (their queues, incomplete packets, packets waiting for an acknowledgement or a shaper) and the
//! routes take what they need, each up to a part of the whole, so that none of them can starve the
//! others. The content store takes the rest, and releases it as soon as the others need it. A
//! request beyond its part is rejected and counted.
//!
//! One half of the faces' part is for any face: a face may take as much as is free of it (Choudhury
//! and Hahne's dynamic threshold for shared buffers). The other half is divided equally: a face may
//! always use its share of that, so faces that do not drain their queues cannot stop the others.
//! Pending Interests follow the same rule.
//!
//! Counting each change costs an eighth of the forwarder's time. While there is far more memory
//! than is used, the changes of a whole series ([`Series`]) are therefore not counted: together
//! they cannot add more than is free. All that they touched is counted after the series.
//!
//! Everything here is arithmetic on counts: no clock, no call to the system. Without a limit
//! nothing is counted.

use super::faces::face::Face;
use super::grant::Grant;
use super::tables::Tables;
use crate::config::Scope;
use crate::tables::FaceId;
use crate::tables::memory::Room;
use serde::Serialize;

/// A user of shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// The table of pending Interests.
    Pending,
    /// The faces.
    Faces,
    /// The routes, and what the driver keeps for no face.
    Routes,
}

/// Requests that were rejected for lack of memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
pub struct RejectedRequests {
    /// Interests.
    // Not taken into the table of pending ones, or not sent on.
    pub interests: u64,
    /// Packets.
    pub packets: u64,
    /// Faces.
    pub faces: u64,
    /// Routes.
    pub routes: u64,
}

/// The memory of a forwarder in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemoryUse {
    /// The limit on the sum; `None` without accounting.
    pub limit: Option<usize>,
    /// Cached Data.
    pub content_store: usize,
    /// Pending Interests.
    pub pending: usize,
    /// Faces, with their queues and the driver's bytes for them; 0 without accounting.
    pub faces: usize,
    /// Routes, and what else the driver keeps.
    pub routes: usize,
    /// Remembered nonces; where there is a limit, what they take at most, which is set aside.
    pub dead_nonces: usize,
    /// Rejected requests.
    pub refused: RejectedRequests,
}

impl MemoryUse {
    /// All of it.
    #[must_use]
    pub fn total(&self) -> usize {
        self.content_store + self.pending + self.faces + self.routes + self.dead_nonces
    }
}

/// The shared memory, and the use of those parts that do not count themselves.
#[derive(Debug)]
pub(super) struct Budget {
    /// `None`: nothing is counted.
    limit: Option<usize>,
    /// Set aside for the remembered nonces.
    dead_nonces: usize,
    faces: usize,
    /// How many faces there are, and what each may take for sure beside all others.
    face_count: usize,
    each_face: usize,
    /// The bytes of idle faces.
    bare: usize,
    routes: usize,
    /// The driver's bytes for no face.
    outside: usize,
    /// Bytes that may be given away without a recount, because the content store and all others
    /// need far less than the limit; 0: recount first.
    ample: usize,
    series: Series,
    refused: RejectedRequests,
}

/// Successive changes of tables and links, at whose end everything is counted that they touched.
#[derive(Debug, Default)]
struct Series {
    number: u64,
    /// The number of changes until its end.
    left: u32,
    /// True if its changes are not counted one by one.
    free: bool,
}

/// The number of changes in a series.
const SERIES: u32 = 64;

/// The most that one change adds to a link or a table, besides the doubling of one that is full:
/// the buffers of a packet that is put together, from frames of the longest datagrams. The split of
/// a PIT entry can add more, and is always counted.
const EACH: usize = 320 << 10;

/// Memory is ample while this part of the limit would be free even with a full content store.
const AMPLE: usize = 8;

/// A face whose queues are empty keeps at most this much for the next packets.
const MOST_IDLE: usize = 4 << 20;

/// A link is called only when at least this part of what is shared is free for it, if it can be
/// had: what it may add besides what was asked for beforehand.
const FREE: usize = 64;

impl Budget {
    pub(super) fn new(limit: Option<usize>, dead_nonces: usize) -> Budget {
        let mut budget = Budget {
            limit,
            dead_nonces,
            faces: 0,
            face_count: 0,
            each_face: 0,
            bare: 0,
            routes: 0,
            outside: 0,
            ample: 0,
            series: Series::default(),
            refused: RejectedRequests::default(),
        };
        budget.divide();
        budget
    }

    #[inline]
    pub(super) fn is_limited(&self) -> bool {
        self.limit.is_some()
    }

    /// Bytes that may be given away. The rest is for growth without a request: lists of a few bytes
    /// for each packet, which are counted as soon as they have grown.
    fn usable(&self) -> usize {
        let limit = self.limit.unwrap_or(usize::MAX);
        limit - limit / FREE
    }

    /// The most that a part may take.
    pub(super) fn share(&self, part: Part) -> usize {
        match part {
            Part::Pending | Part::Faces => self.usable() / 2,
            Part::Routes => self.usable() / 8,
        }
    }

    /// The number of faces or the limit has changed.
    fn divide(&mut self) {
        self.each_face = self.share(Part::Faces) / 2 / self.face_count.max(1);
    }

    /// The free bytes of the faces' part for a face that uses `own` bytes already.
    fn free_for(&self, own: usize) -> usize {
        let share = self.share(Part::Faces);
        let common = (share / 2).saturating_sub(self.faces);
        common.max(self.each_face).saturating_sub(own).min(share.saturating_sub(self.faces))
    }

    pub(super) fn reject(&mut self, part: Part) {
        match part {
            Part::Pending => self.refused.interests += 1,
            Part::Faces => self.refused.packets += 1,
            Part::Routes => self.refused.routes += 1,
        }
    }

    /// Counts what a face takes now.
    #[inline]
    pub(super) fn count(&mut self, face: &mut Face) {
        if self.is_limited() {
            let most = self.share(Part::Faces).saturating_sub(self.faces) / 32;
            face.link_mut().relax(most.min(MOST_IDLE));
            let (before, now) = (face.counted(), face.count());
            self.ample = self.ample.saturating_sub(now.saturating_sub(before));
            self.faces = self.faces - before + now;
            if self.ample == 0 && self.series.free {
                // The driver used the memory that the series relies on.
                self.series.left = 0;
            }
        }
    }

    /// The needs have changed: recount before more is given away.
    pub(super) fn look_again(&mut self) {
        (self.ample, self.series.left) = (0, 0);
    }

    /// True if the series has no change left, so that the memory has to be counted.
    #[inline]
    pub(super) fn has_ended_series(&self) -> bool {
        self.series.left == 0
    }

    /// Takes the next change of the series. True if it is not counted.
    #[inline]
    pub(super) fn take_change(&mut self) -> bool {
        self.series.left -= 1;
        self.series.free
    }

    /// Takes the next change of a face if it is not counted: there is no limit, or the face takes
    /// part in a free series. False: nothing was taken.
    #[inline]
    pub(super) fn take_face_change(&mut self, face: &Face) -> bool {
        if !self.is_limited() {
            return true;
        }
        let Series { number, left, free } = &mut self.series;
        let is_taken = *free && *left > 0 && face.is_in_series(*number);
        *left -= u32::from(is_taken);
        is_taken
    }

    /// Adds a face to the free series, and to `touched`, if it is far from its share. Returns true
    /// if it was added.
    pub(super) fn add_to_series(&self, face: &mut Face, touched: &mut Vec<FaceId>) -> bool {
        let own = face.own();
        let is_far = self.free_for(own) > SERIES as usize * EACH + own;
        if is_far {
            face.join_series(self.series.number);
            touched.push(face.id());
        }
        is_far
    }

    /// An upper bound on the bytes that a series adds to the table of pending Interests: one
    /// doubling of everything in it, and [`EACH`] per change.
    pub(super) fn most_pending_of_series(tables: &Tables) -> usize {
        SERIES as usize * EACH + tables.pit().memory()
    }

    /// The next series begins, after everything was counted. `has_plenty`: whether the table of
    /// pending Interests remains small with [`Budget::most_pending_of_series`] more.
    pub(super) fn begin_series(&mut self, has_plenty: bool, tables: &mut Tables) {
        // Each queue may double, too.
        let most = Budget::most_pending_of_series(tables) + self.faces;
        self.look_for_ample(self.others(tables), tables);
        let free = has_plenty && self.ample > most;
        self.series = Series { number: self.series.number + 1, left: SERIES, free };
    }

    /// A face is there.
    pub(super) fn begin(&mut self, face: &mut Face) {
        self.count(face);
        self.bare += face.bare();
        self.face_count += 1;
        self.divide();
    }

    /// A face is gone.
    pub(super) fn forget(&mut self, face: &Face) {
        self.faces -= face.counted();
        self.bare -= face.bare();
        self.face_count -= 1;
        self.divide();
    }

    /// Sets the bytes of the routes.
    pub(super) fn count_routes(&mut self, bytes: usize) {
        self.routes = bytes;
        self.look_again();
    }

    /// The memory in use, part by part.
    pub(super) fn in_use(&self, tables: &Tables) -> MemoryUse {
        let limited = self.is_limited();
        let dead_nonces = tables.dead_nonces();
        MemoryUse {
            limit: self.limit,
            content_store: tables.cache().store().memory(),
            pending: tables.pit().memory(),
            faces: self.faces,
            routes: tables.fib().memory() + self.outside,
            dead_nonces: if limited { self.dead_nonces } else { dead_nonces.memory() },
            refused: self.refused,
        }
    }

    /// Changes the limit, if there is one. The content store shrinks to it at once, everything else
    /// over time.
    pub(super) fn set_limit(&mut self, bytes: usize, tables: &mut Tables) {
        if self.is_limited() {
            self.limit = Some(bytes);
            self.look_again();
            self.divide();
            let left = self.usable().saturating_sub(self.others(tables));
            tables.cache_mut().give_way(left);
        }
    }

    /// Sets the driver's bytes for no face.
    pub(super) fn set_outside(&mut self, bytes: usize) {
        self.outside = bytes;
        self.look_again();
    }

    /// True if there is no limit or far more memory than is used.
    pub(super) fn is_ample(&self) -> bool {
        !self.is_limited() || self.ample > 0
    }

    /// See [`crate::Forwarder::has_room_for_face`].
    pub(super) fn has_room_for_face(
        &mut self,
        scope: Scope,
        outside: usize,
        tables: &mut Tables,
    ) -> bool {
        if !self.is_limited() {
            return true;
        }
        let (refused, bare) = (self.refused, Face::BARE + outside);
        // Idle faces take only a part of the memory: each needs room for the packets that it sends.
        let most = match scope {
            Scope::Local => self.share(Part::Faces) / 2,
            Scope::NonLocal => self.share(Part::Faces) / 4,
        };
        let has = self.bare + bare <= most && self.make_room(Part::Faces, bare, tables);
        if !has {
            self.refused = RejectedRequests { faces: refused.faces + 1, ..refused };
        }
        has
    }

    /// Reserves `bytes` for a change of a table. `None` if there is no room, which is counted.
    pub(super) fn grant(&mut self, part: Part, bytes: usize, tables: &mut Tables) -> Option<Grant> {
        self.make_room(part, bytes, tables).then(|| Grant::new(Room::Bytes(bytes)))
    }

    /// True if memory has room for `bytes` of the driver with a route. A denial is counted.
    pub(super) fn has_room_for_route(&mut self, bytes: usize, tables: &mut Tables) -> bool {
        !self.is_limited() || self.make_room(Part::Routes, bytes, tables)
    }

    /// Grants `bytes` for a packet in the queues of a face whose link takes `own` bytes already.
    /// `None` if there is no room, which is counted.
    pub(super) fn grant_queue(
        &mut self,
        own: usize,
        bytes: usize,
        tables: &mut Tables,
    ) -> Option<Grant> {
        self.make_room_for_face(own, bytes, tables).then(|| Grant::new(Room::Bytes(bytes)))
    }

    /// Makes room for `bytes` more on a face whose link takes `own` bytes already. False if there
    /// is none, which is counted.
    pub(super) fn make_room_for_face(
        &mut self,
        own: usize,
        bytes: usize,
        tables: &mut Tables,
    ) -> bool {
        if bytes > self.free_for(own) {
            self.reject(Part::Faces);
            return false;
        }
        self.make_room(Part::Faces, bytes, tables)
    }

    /// How many bytes the link of a face may add now whose queues and the like take `own`. For a
    /// little the content store gives way.
    pub(super) fn room(&mut self, own: usize, tables: &mut Tables) -> usize {
        let usable = self.usable();
        let most = self.free_for(own);
        let some = most.min(usable / FREE);
        if self.ample >= some {
            return most.min(self.ample);
        }
        let others = self.others(tables);
        self.look_for_ample(others, tables);
        if others + tables.cache().store().memory() + some > usable {
            tables.cache_mut().give_way(usable.saturating_sub(others + some));
        }
        usable.saturating_sub(others + tables.cache().store().memory()).min(most)
    }

    /// Sets how much memory the content store may take.
    #[inline]
    pub(super) fn bound_store(&mut self, tables: &mut Tables) {
        if self.is_limited() && self.ample == 0 {
            // As much as is free for a link is not filled first, to be emptied then.
            let usable = self.usable();
            let left = (usable - usable / FREE).saturating_sub(self.others(tables));
            tables.cache_mut().set_left(left);
        }
    }

    /// The bytes of everything but the content store.
    fn others(&self, tables: &Tables) -> usize {
        tables.pit().memory() + self.dead_nonces + self.faces + self.routes + self.outside
    }

    /// Looks whether there is much more than needed, when all but the content store take `others`.
    fn look_for_ample(&mut self, others: usize, tables: &mut Tables) {
        let usable = self.usable();
        let store = tables.cache().store();
        let store = store.capacity().max(store.memory());
        let spare = usable.saturating_sub(others).saturating_sub(store);
        self.ample = 0;
        if spare > usable / AMPLE {
            // The other half is for what grows without asking.
            self.ample = spare / 2;
            tables.cache_mut().set_left(usize::MAX);
        }
    }

    pub(super) fn make_room(&mut self, part: Part, bytes: usize, tables: &mut Tables) -> bool {
        if part != Part::Routes && self.ample > bytes {
            self.ample -= bytes;
            return true;
        }
        let of_part = match part {
            Part::Pending => tables.pit().memory(),
            Part::Faces => self.faces,
            Part::Routes => self.routes + self.outside,
        };
        let within = of_part + bytes <= self.share(part);
        let left = self.usable().checked_sub(self.others(tables) + bytes).filter(|_| within);
        let made = left.is_some_and(|left| {
            tables.cache().store().memory() <= left || tables.cache_mut().give_way(left)
        });
        if !made {
            self.reject(part);
        }
        made
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{FaceConfig, ForwarderConfig};
    use crate::state::faces::{Faces, Identity};
    use control::{Rng, Strategy, StrategyCx, Time};
    use packet::options::Capability;

    struct Nothing;
    impl Strategy for Nothing {
        fn on_interest(&mut self, _: &mut StrategyCx<'_, '_>) {}
    }

    fn with_limit(limit: usize) -> (Faces, Tables) {
        let mut config = ForwarderConfig::new(Box::new(Nothing));
        config.memory = Some(limit);
        config.content_store.capacity = 8 << 20;
        let faces = Faces::new(Identity::new(1, "n".to_owned()), Some(limit), 0);
        (faces, Tables::new(config, |role| Rng::stream(1, &[role])))
    }

    /// Of 256 MiB a quarter of seven eighths of a half are 28 MiB, more than 64 changes of 320 kB;
    /// of 128 MiB they are 14.
    #[test]
    fn changes_are_uncounted_where_a_series_leaves_the_table_of_interests_small() {
        for (limit, is_free) in [(256 << 20, true), (128 << 20, false)] {
            let (mut faces, mut tables) = with_limit(limit);
            for change in 0..1000 {
                assert_eq!(faces.takes_uncounted(&mut tables), is_free, "{limit}, {change}");
            }
        }
    }

    #[test]
    fn bytes_of_the_driver_that_a_series_counts_on_end_it() {
        let (mut faces, mut tables) = with_limit(256 << 20);
        let face = faces.add(Time::ZERO, Capability::default(), FaceConfig::default());
        assert!(faces.takes_uncounted(&mut tables));
        faces.set_outside(face, 250 << 20);
        assert!(!faces.takes_uncounted(&mut tables));
        assert!(faces.memory(&tables).faces > 250 << 20);
    }
}
