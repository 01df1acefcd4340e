//! The name that is asked for, the Interests that find its object, and their refusals.

use crate::head;
use crate::rdr;
use control::{Duration, Time};
use packet::options::Exclude;
use packet::{InterestBuf, NackReason, Name, NameRef};
use security::manifest;

/// The refusals at the beginning that end a fetch. Routes may be on their way (a producer
/// that is just starting), and objects without metadata are asked for by their bare name meanwhile.
const MAX_REFUSALS: u32 = 4;
/// Objects without metadata are looked for by their bare name after this many attempts.
const BARE_AFTER: u16 = 2;
/// Producers need this long to connect and register again: until then a missing route says
/// nothing. Weir's own try again at least every 5 s.
const PRODUCERS_RETURN: Duration = Duration::from_secs(8);

/// How the object is found.
#[derive(Debug)]
pub(super) struct Discovery {
    /// The name asked for, with its version or without.
    name: Name,
    /// How often what the object begins with was refused.
    refusals: u32,
    /// How many requests for metadata found no route: that says nothing of whether there are any.
    routeless: u16,
    /// Until then refusals do not count: producers connect again, too.
    forgiving_until: Time,
}

impl Discovery {
    pub fn new(name: Name) -> Discovery {
        Discovery { name, refusals: 0, routeless: 0, forgiving_until: Time::ZERO }
    }

    /// The name asked for.
    pub fn name(&self) -> &Name {
        &self.name
    }

    /// The version is a part of the name.
    pub fn is_versioned(&self) -> bool {
        self.name.len() > self.unversioned().len()
    }

    /// The name whose metadata is asked for: without the version, if one was given.
    pub fn unversioned(&self) -> NameRef<'_> {
        let name = self.name.as_ref();
        match name.last() {
            Some(last) if last.as_version_any().is_some() => name.parent(),
            _ => name,
        }
    }

    /// Discovery asks for this name.
    pub fn asks_for(&self, name: NameRef<'_>) -> bool {
        name == self.name.as_ref()
            || name == rdr::metadata_prefix(self.unversioned()).as_ref()
            || self.is_root(name)
    }

    /// The name is that of the root packet of the version that is asked for.
    pub fn is_root(&self, name: NameRef<'_>) -> bool {
        self.is_versioned() && name == rdr::root_name(self.name.as_ref()).as_ref()
    }

    /// The name is of the object's metadata.
    pub fn is_of_metadata(&self, name: NameRef<'_>) -> bool {
        let object = self.unversioned();
        name.starts_with(object)
            && name.get(object.len()).is_some_and(|next| next.is_keyword(rdr::METADATA))
    }

    /// Packets beside content, under keywords of the name that is asked for, are no object of that
    /// name, though the same key has signed them: a manifest's packets have segment numbers, too.
    pub fn is_content(&self, object: NameRef<'_>) -> bool {
        const BESIDE: [&[u8]; 3] = [rdr::METADATA, manifest::KEYWORD, head::KEYWORD];
        let mut behind = (self.unversioned().len()..object.len()).filter_map(|n| object.get(n));
        behind.all(|component| !BESIDE.iter().any(|keyword| component.is_keyword(keyword)))
    }

    /// The number of an attempt, less those that found no route. Found by its bare name an object
    /// has no manifest, so that what an earlier transfer has left would be lost: only an answer can
    /// show that it must be.
    pub fn attempt(&self, attempt: u16) -> u16 {
        attempt.saturating_sub(self.routeless)
    }

    /// The Interest that finds the object: its metadata, or whatever lies under its bare name. Of a
    /// version that is known, its root packet first, which its publisher alone can have made;
    /// metadata are those of the latest version, and say little of an older one. `found`: there is
    /// a candidate.
    pub fn interest(&self, attempt: u16, found: bool, excluded: Option<&Exclude>) -> InterestBuf {
        // A version has three names to ask for. Each is asked for twice, the second time while the
        // first Interest is pending: forwarders send a retransmission to another next hop.
        let bare = match (self.is_versioned(), attempt % 6) {
            (true, 0 | 3) => {
                // A version does not change: a copy from a cache will do, unless it was forged.
                let must_be_fresh = excluded.is_some();
                let name = rdr::root_name(self.name.as_ref());
                return InterestBuf { must_be_fresh, ..InterestBuf::new(name) };
            }
            (true, turn) => turn > 3,
            // Behind a candidate there is something to be had by its metadata.
            (false, _) => !found && attempt >= BARE_AFTER && attempt.is_multiple_of(2),
        };
        let name = if bare { self.name.clone() } else { rdr::metadata_prefix(self.unversioned()) };
        InterestBuf { can_be_prefix: true, must_be_fresh: true, ..InterestBuf::new(name) }
    }

    /// A request for metadata was refused.
    pub fn metadata_refused(&mut self, reason: NackReason) {
        if reason == NackReason::NoRoute {
            self.routeless = self.routeless.saturating_add(1);
        }
    }

    /// The first request of the object was refused at `now`. Returns true if that was often enough
    /// to believe it: less often where a packet was `rejected`, for then a refusal says that there
    /// is nothing else.
    pub fn refused(&mut self, now: Time, rejected: bool) -> bool {
        if now < self.forgiving_until {
            return false;
        }
        self.refusals += 1;
        self.refusals >= if rejected { MAX_REFUSALS / 2 } else { MAX_REFUSALS }
    }

    /// Refusals are forgotten: there is another candidate.
    pub fn forget_refusals(&mut self) {
        self.refusals = 0;
    }

    /// The connection is a new one; if nothing was `found`, discovery begins with its first
    /// Interest.
    pub fn reconnected(&mut self, now: Time, found: bool) {
        self.forgiving_until = now + PRODUCERS_RETURN;
        self.refusals = 0;
        if !found {
            self.routeless = 0;
        }
    }
}
