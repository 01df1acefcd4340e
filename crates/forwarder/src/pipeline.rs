//! The journeys of packets: [`interest`], [`data`] and [`nack`], each read from top to bottom,
//! after the NFD Developer's Guide, section 4.
//!
//! A [`Pipeline`] exists for one call and borrows what the forwarder owns. It has the steps that
//! journeys share: here those of faces and tables, in [`upstream`] strategies and the Interests
//! that they send, in [`downstream`] Data and Nacks, and how a PIT entry ends.

mod checks;
mod context;
mod data;
mod downstream;
mod exclude;
mod interest;
mod learned;
mod nack;
mod options;
mod ranges;
pub(crate) mod receive;
mod rewrite;
mod settings;
pub(crate) mod timers;
mod traceroute;
mod upstream;

pub(crate) use settings::{Ranges, Settings};

use control::{Crossing, Direction, Duration, Kind, Rng, Size, Time};
use packet::{HopOptions, Interest, NameRef};

use crate::config::LinkType;
use crate::counters::{DropReason, ForwarderStats};
use crate::events::Step;
use crate::link::{Env, Link};
use crate::node::{Node, Subject, subject_of};
use crate::state::admission::Candidate;
use crate::state::faces::Faces;
use crate::state::grant::{Change, Grant};
use crate::state::learned::LearnedRoutes;
use crate::state::tables::Tables;
use crate::tables::{FaceId, HashedName, Lengths, Pit, PitEntry, PitKey, Rejection};
use context::InterestCx;

/// Buffers that are used again.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    /// An Interest that was changed when it came in.
    interest: Vec<u8>,
    /// An Interest for one segment of those that a range Interest stands for.
    segment: Vec<u8>,
    satisfied: Vec<PitKey>,
}

/// Everything that a packet's journey may touch, borrowed for one call at one instant.
pub(crate) struct Pipeline<'a> {
    now: Time,
    settings: &'a Settings,
    tables: &'a mut Tables,
    faces: &'a mut Faces,
    nonces: &'a mut Rng,
    learned: &'a mut LearnedRoutes,
    scratch: &'a mut Scratch,
}

impl<'a> Pipeline<'a> {
    pub(crate) fn new(
        now: Time,
        settings: &'a Settings,
        tables: &'a mut Tables,
        faces: &'a mut Faces,
        nonces: &'a mut Rng,
        learned: &'a mut LearnedRoutes,
        scratch: &'a mut Scratch,
    ) -> Pipeline<'a> {
        Pipeline { now, settings, tables, faces, nonces, learned, scratch }
    }

    #[inline]
    fn pit(&self) -> &Pit {
        self.tables.pit()
    }

    #[inline]
    fn stats(&mut self) -> &mut ForwarderStats {
        self.faces.stats_mut()
    }

    /// True if any face has parts of a scheme.
    #[inline]
    fn has_parts(&self) -> bool {
        self.faces.has_parts()
    }

    /// Counts a packet that came from this face and goes no further.
    fn count_drop(&mut self, face: FaceId, reason: DropReason) {
        self.faces.count_drop(face, reason);
    }

    /// Reports a step of the packet that is processed to the driver's tap, if there is one. `face`
    /// is the one that it arrived on, or the one that the step is about.
    #[inline]
    fn step(&mut self, face: FaceId, step: Step) {
        self.faces.show(face, step);
    }

    /// Calls `f` with a face's link and what it needs. The caller sees to [`Pipeline::wake`].
    #[inline]
    fn with_link<R>(
        &mut self,
        face: FaceId,
        f: impl FnOnce(&mut Link, &mut Env<'_>, &Node<'_>) -> R,
    ) -> Option<R> {
        self.faces.with_link(self.now, face, self.tables, f)
    }

    /// Calls `f` with a face's link, a packet to queue there and the memory for it, whose amount
    /// `growth` returns. The caller sees to [`Pipeline::wake`].
    #[inline]
    fn with_queue<T>(
        &mut self,
        face: FaceId,
        packet: T,
        growth: fn(&Link, &T) -> usize,
        f: impl FnOnce(&mut Link, &mut Env<'_>, T, Option<Grant>),
    ) {
        self.faces.with_queue(self.now, face, self.tables, packet, growth, f);
    }

    /// Lists a face that can send, and updates its deadline.
    fn wake(&mut self, face: FaceId) {
        self.faces.wake(self.now, face);
    }

    /// Reserves the memory for a change of a table. `None` if there is none, which is counted.
    #[inline]
    fn reserve(&mut self, change: Change<'_>) -> Option<Grant> {
        self.faces.reserve(change, self.tables)
    }

    /// The name of an Interest with the hashes that its journey needs.
    #[inline]
    fn hashed<'n>(&self, name: NameRef<'n>) -> HashedName<'n> {
        self.hashed_for(name, self.tables.fib().lengths())
    }

    /// The same for a packet that needs prefixes of these lengths, besides those that all need.
    /// Data does not need routes.
    fn hashed_for<'n>(&self, name: NameRef<'n>, own: Lengths) -> HashedName<'n> {
        self.tables.hashed(name, own, self.has_parts())
    }

    /// The flow and segment of a packet; zero where no part wants to know.
    #[inline]
    fn subject_of(&self, name: &HashedName<'_>) -> Subject {
        if self.has_parts() { subject_of(name) } else { Subject::default() }
    }

    /// True if the nonce of an Interest has looped: another face has sent or received it already.
    /// On a point-to-point face the same nonce from the same face is a copy.
    fn is_loop(&self, entry: &PitEntry, a: &InterestCx<'_>) -> bool {
        let face = self.faces.get(a.face);
        let copies = face.is_some_and(|face| face.link_type() == LinkType::PointToPoint);
        if copies && entry.in_record(a.face).is_some_and(|r| r.nonce == a.nonce) {
            return false;
        }
        entry.in_records().iter().any(|r| r.nonce == a.nonce)
            || entry.out_records().iter().any(|r| r.nonce == a.nonce)
    }

    /// Makes the PIT entry of an Interest.
    fn insert(&mut self, a: &mut InterestCx<'_>) -> Result<PitKey, Rejection> {
        let mut record = a.in_record(self.now);
        let (hash, len) = (a.name.whole(), a.interest.wire().len());
        let grant = self.admit(a, Change::Insert { hash, len, record: &record })?;
        record.expires = a.expires;
        self.tables.insert(grant, a.interest, a.name, record)
    }

    /// Adds the downstream of an Interest to a PIT entry that there is.
    fn join(&mut self, key: PitKey, a: &mut InterestCx<'_>) -> Result<(), Rejection> {
        let mut record = a.in_record(self.now);
        let grant = self.admit(a, Change::Join { key, record: &record })?;
        record.expires = a.expires;
        self.tables.join(grant, self.now, a.name, key, record)
    }

    /// Reserves the memory for an Interest in the PIT. Where memory is scarce it may have to end
    /// earlier.
    fn admit(&mut self, a: &mut InterestCx<'_>, change: Change<'_>) -> Result<Grant, Rejection> {
        let candidate = Candidate { face: a.face, name: a.name };
        self.faces.admit(self.now, candidate, change, &mut a.expires, self.tables)
    }

    fn lifetime(&self, interest: &Interest<'_>) -> Duration {
        Duration::from_millis(interest.lifetime_ms()).min(self.settings.max_lifetime)
    }

    /// Reports to the parts of a face, if there are any, that a packet came in.
    fn crossed(
        &mut self,
        face: FaceId,
        kind: Kind,
        subject: Subject,
        size: usize,
        options: &HopOptions,
    ) {
        self.with_link(face, |link, env, _| {
            if link.has_parts() {
                let flow = subject.flow;
                let expected = match kind {
                    Kind::Interest => link.parts().expected(flow, options),
                    _ => Size::ZERO,
                };
                let (direction, size) = (Direction::In, Size(size as u64));
                let crossing = Crossing { direction, kind, flow, size, expected, options };
                link.parts().on_crossing(env, &crossing);
            }
        });
    }
}
