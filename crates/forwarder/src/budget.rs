//! One limit on the memory of everything that a forwarder keeps.
//!
//! Each table counts what it takes and can say beforehand what a change would add; links do so too.
//! What there is to share is given in this order: the table of pending Interests, the faces (their
//! queues, packets in parts, what waits to be acknowledged or for a shaper) and the routes take
//! what they need, each up to a part of the whole, so that none of them can starve the others. The
//! content store takes what they leave, and gives it back as soon as they need it. Who finds
//! nothing left is refused, and counted.
//!
//! One half of the faces' part is for whoever needs it: a face may take as much as is free of it
//! (Choudhury and Hahne's dynamic threshold for shared buffers). The other half is divided: up to
//! its share of that a face may go in any case, so that however many do not drain their queues, the
//! others go on. So it is with pending Interests, of which the first half goes to whoever comes.
//!
//! Everything here is arithmetic on what is counted: no clock, no call to the system. Where there
//! is no limit nothing is counted either.

use crate::config::Scope;
use crate::face::Face;
use crate::forwarder::Forwarder;
use crate::tables::FaceId;

/// Who needs memory that is shared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// The table of pending Interests.
    Pending,
    /// The faces.
    Faces,
    /// The routes, and what the driver keeps for no face.
    Routes,
}

/// What was refused because of the memory that is shared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Refused {
    /// Interests that were not taken into the table of pending ones, or not sent on.
    pub interests: u64,
    /// Packets that were not queued.
    pub packets: u64,
    /// Faces that were not made.
    pub faces: u64,
    /// Routes that were not added.
    pub routes: u64,
}

/// What a forwarder takes, in bytes of memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemoryUse {
    /// The most that all of it may be together; `None` where nobody counts.
    pub limit: Option<usize>,
    /// Cached Data.
    pub content_store: usize,
    /// Pending Interests.
    pub pending: usize,
    /// Faces, with their queues and what the driver keeps for them; 0 where nobody counts.
    pub faces: usize,
    /// Routes, and what else the driver keeps.
    pub routes: usize,
    /// Remembered nonces; where there is a limit, what they take at most, which is set aside.
    pub dead_nonces: usize,
    /// What was refused.
    pub refused: Refused,
}

impl MemoryUse {
    /// All of it.
    #[must_use]
    pub fn total(&self) -> usize {
        self.content_store + self.pending + self.faces + self.routes + self.dead_nonces
    }
}

/// What is shared, and what of it those take who do not count themselves.
#[derive(Debug)]
pub(crate) struct Budget {
    limit: usize,
    /// Set aside for the remembered nonces.
    dead_nonces: usize,
    faces: usize,
    /// How many faces there are, and what each may take for sure beside all others.
    face_count: usize,
    each_face: usize,
    /// What of it faces take before anything passes.
    bare: usize,
    routes: usize,
    /// What the driver keeps for no face.
    outside: usize,
    /// What may still be given away without looking at what everything takes, because there is
    /// much more than the content store and all others need; 0: look first.
    ample: usize,
    refused: Refused,
}

/// There is much more than needed while this part of what is shared would be left if the content
/// store were full.
const AMPLE: usize = 8;

/// A face whose queues are empty keeps at most this much for the next packets.
const MOST_IDLE: usize = 4 << 20;

/// A link is called only when at least this part of what is shared is free for it, if it can be
/// had: what it may add besides what was asked for beforehand.
const FREE: usize = 64;

impl Budget {
    pub(crate) fn new(limit: usize, dead_nonces: usize) -> Budget {
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
            refused: Refused::default(),
        };
        budget.divide();
        budget
    }

    #[inline]
    pub(crate) fn is_limited(&self) -> bool {
        self.limit != usize::MAX
    }

    /// What may be given away. The rest is for what grows without asking: lists of a few bytes
    /// for each packet, which are counted as soon as they have grown.
    fn usable(&self) -> usize {
        self.limit - self.limit / FREE
    }

    /// The most that a part may take.
    pub(crate) fn share(&self, part: Part) -> usize {
        match part {
            Part::Pending | Part::Faces => self.usable() / 2,
            Part::Routes => self.usable() / 8,
        }
    }

    /// The number of faces or the limit has changed.
    fn divide(&mut self) {
        self.each_face = self.share(Part::Faces) / 2 / self.face_count.max(1);
    }

    /// What is free of the faces' part for one face, whose queues and the like take `own`.
    fn free_for(&self, own: usize) -> usize {
        let share = self.share(Part::Faces);
        let common = (share / 2).saturating_sub(self.faces);
        common.max(self.each_face).saturating_sub(own).min(share.saturating_sub(self.faces))
    }

    pub(crate) fn refuse(&mut self, part: Part) {
        match part {
            Part::Pending => self.refused.interests += 1,
            Part::Faces => self.refused.packets += 1,
            Part::Routes => self.refused.routes += 1,
        }
    }

    /// Counts what a face takes now.
    #[inline]
    pub(crate) fn count(&mut self, face: &mut Face) {
        if self.is_limited() {
            let most = self.share(Part::Faces).saturating_sub(self.faces) / 32;
            face.link.relax(most.min(MOST_IDLE));
            let now = face.memory();
            self.ample = self.ample.saturating_sub(now.saturating_sub(face.counted));
            self.faces = self.faces - face.counted + now;
            face.counted = now;
        }
    }

    /// What is needed has changed.
    pub(crate) fn look_again(&mut self) {
        self.ample = 0;
    }

    /// A face is there.
    pub(crate) fn begin(&mut self, face: &mut Face) {
        self.count(face);
        self.bare += face.bare;
        self.face_count += 1;
        self.divide();
    }

    /// A face is gone.
    pub(crate) fn forget(&mut self, face: &Face) {
        self.faces -= face.counted;
        self.bare -= face.bare;
        self.face_count -= 1;
        self.divide();
    }

    /// The routes take so many bytes now.
    pub(crate) fn count_routes(&mut self, bytes: usize) {
        (self.routes, self.ample) = (bytes, 0);
    }
}

impl Forwarder {
    /// What it takes, part by part.
    #[must_use]
    pub fn memory(&self) -> MemoryUse {
        let budget = &self.budget;
        let limited = budget.is_limited();
        MemoryUse {
            limit: limited.then_some(budget.limit),
            content_store: self.store.memory(),
            pending: self.pit.memory(),
            faces: budget.faces,
            routes: self.fib.memory() + budget.outside,
            dead_nonces: if limited { budget.dead_nonces } else { self.dead_nonces.memory() },
            refused: budget.refused,
        }
    }

    /// Changes what all of it may be together, where that is limited. What is beyond goes by and
    /// by, the content store's at once.
    pub fn set_memory_limit(&mut self, bytes: usize) {
        if self.budget.is_limited() {
            (self.budget.limit, self.budget.ample) = (bytes, 0);
            self.budget.divide();
            let left = self.budget.usable().saturating_sub(self.others());
            self.store.give_way(left, &mut self.store_rng);
        }
    }

    /// The driver keeps so many bytes for a face now, besides what the face was made with: frames
    /// that it took and has not sent, for instance.
    pub fn set_outside(&mut self, id: FaceId, bytes: usize) {
        if let Some(face) = self.faces.get_mut(id) {
            face.outside = bytes;
            self.budget.count(face);
        }
    }

    /// The driver keeps so many bytes now that are for no face.
    pub fn set_driver_memory(&mut self, bytes: usize) {
        (self.budget.outside, self.budget.ample) = (bytes, 0);
    }

    /// Whether what everything takes together is counted, because it is limited.
    #[must_use]
    pub fn counts_memory(&self) -> bool {
        self.budget.is_limited()
    }

    /// Whether there is much more memory than everything needs, or no limit: then nothing has to be
    /// saved.
    #[must_use]
    pub fn has_ample_memory(&self) -> bool {
        !self.budget.is_limited() || self.budget.ample > 0
    }

    /// Whether there is memory for one more route for which the driver keeps `outside` bytes; if
    /// not, that is counted.
    pub fn has_room_for_route(&mut self, outside: usize) -> bool {
        self.reserve(Part::Routes, |_| outside)
    }

    /// Whether there is memory for one more face of this scope for which the driver keeps `outside`
    /// bytes; if not, that is counted. Remote faces leave half of the memory for faces to this
    /// host's applications.
    pub fn has_room_for_face(&mut self, scope: Scope, outside: usize) -> bool {
        if !self.budget.is_limited() {
            return true;
        }
        let (refused, bare) = (self.budget.refused, Face::BARE + outside);
        // Beside every face that there is there has to be room for what it sends.
        let most = match scope {
            Scope::Local => self.budget.share(Part::Faces) / 2,
            Scope::NonLocal => self.budget.share(Part::Faces) / 4,
        };
        let has = self.budget.bare + bare <= most && self.make_room(Part::Faces, bare);
        if !has {
            self.budget.refused = Refused { faces: refused.faces + 1, ..refused };
        }
        has
    }

    /// Makes room for `bytes` that somebody is about to take; says whether there is any. What is
    /// refused is counted.
    #[inline]
    pub(crate) fn reserve(&mut self, part: Part, bytes: impl FnOnce(&Forwarder) -> usize) -> bool {
        if !self.budget.is_limited() {
            return true;
        }
        let bytes = bytes(self);
        self.make_room(part, bytes)
    }

    /// The same for what is about to be queued on a face. The link finds out by [`Forwarder::room`]
    /// whether there was any.
    #[inline]
    pub(crate) fn reserve_queue(&mut self, face: FaceId, bytes: impl FnOnce(&Face) -> usize) {
        if !self.budget.is_limited() {
            return;
        }
        let Some(state) = self.faces.get(face) else { return };
        let (bytes, own) = (bytes(state), state.own());
        if bytes > self.budget.free_for(own) {
            self.budget.refuse(Part::Faces);
        } else {
            self.make_room(Part::Faces, bytes);
        }
    }

    /// How many bytes a face's link may add now. For a little the content store gives way.
    #[inline]
    pub(crate) fn room(&mut self, face: FaceId) -> usize {
        if !self.budget.is_limited() {
            return usize::MAX;
        }
        let own = self.faces.get(face).map_or(0, Face::own);
        let usable = self.budget.usable();
        let most = self.budget.free_for(own);
        let some = most.min(usable / FREE);
        if self.budget.ample >= some {
            return most.min(self.budget.ample);
        }
        let others = self.others();
        self.look_for_ample(others);
        if others + self.store.memory() + some > usable {
            self.store.give_way(usable.saturating_sub(others + some), &mut self.store_rng);
        }
        usable.saturating_sub(others + self.store.memory()).min(most)
    }

    /// Tells the content store what is left to it.
    #[inline]
    pub(crate) fn bound_store(&mut self) {
        if self.budget.is_limited() && self.budget.ample == 0 {
            // As much as is free for a link is not filled first, to be emptied then.
            let usable = self.budget.usable();
            self.store.set_left((usable - usable / FREE).saturating_sub(self.others()));
        }
    }

    /// What all take but the content store.
    fn others(&self) -> usize {
        let Budget { dead_nonces, faces, routes, outside, .. } = self.budget;
        self.pit.memory() + dead_nonces + faces + routes + outside
    }

    /// Looks whether there is much more than needed, when all but the content store take `others`.
    fn look_for_ample(&mut self, others: usize) {
        let usable = self.budget.usable();
        let store = self.store.capacity().max(self.store.memory());
        let spare = usable.saturating_sub(others).saturating_sub(store);
        self.budget.ample = 0;
        if spare > usable / AMPLE {
            // The other half is for what grows without asking.
            self.budget.ample = spare / 2;
            self.store.set_left(usize::MAX);
        }
    }

    pub(crate) fn make_room(&mut self, part: Part, bytes: usize) -> bool {
        if part != Part::Routes && self.budget.ample > bytes {
            self.budget.ample -= bytes;
            return true;
        }
        let of_part = match part {
            Part::Pending => self.pit.memory(),
            Part::Faces => self.budget.faces,
            Part::Routes => self.budget.routes + self.budget.outside,
        };
        let within = of_part + bytes <= self.budget.share(part);
        let left = self.budget.usable().checked_sub(self.others() + bytes).filter(|_| within);
        let made = left.is_some_and(|left| {
            self.store.memory() <= left || self.store.give_way(left, &mut self.store_rng)
        });
        if !made {
            self.budget.refuse(part);
        }
        made
    }
}
