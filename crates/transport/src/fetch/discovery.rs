//! The requested name, the Interests that find its object, and the Nacks for them.

use crate::fetch::error::{FetchError, StallCause};
use crate::head;
use crate::rdr::{self, Metadata};
use control::{Duration, Time};
use packet::options::Exclude;
use packet::{Data, InterestBuf, NackReason, Name, NameRef};
use security::manifest;

/// The number of Nacks during discovery that ends a fetch. Fewer do not: the route of a producer
/// that is starting may not have arrived yet, and objects without metadata are requested by their
/// bare name meanwhile.
const MAX_NACKS: u32 = 4;
/// After this many attempts, the bare name is requested too, for objects without metadata.
const BARE_AFTER: u16 = 2;
/// The time that producers need to connect and register again. A missing route is no evidence until
/// then. Weir's own producers try again at least every 5 s.
const PRODUCERS_RETURN: Duration = Duration::from_secs(8);

/// The patience of discovery, if that of the fetch is not shorter.
const PATIENCE: Duration = Duration::from_secs(8);

/// The time that a producer needs to notice that content has changed, and to publish the next
/// version. Weir's own look four times a second; reading and hashing takes the rest.
const NEXT_VERSION: Duration = Duration::from_secs(4);

/// The state of discovery.
#[derive(Debug)]
pub(super) struct Discovery {
    /// The requested name, with or without a version.
    name: Name,
    /// Nacks for the first request of the object.
    nacks: u32,
    /// Requests for metadata without a route. They are no evidence that metadata does not exist.
    routeless: u16,
    /// A Nack has reported congestion, so the name is reachable, and an answer may take its time.
    is_busy: bool,
    /// Nacks do not count before this instant, because producers may be reconnecting too.
    forgiving_until: Time,
    /// Nacks do not end the fetch before this instant, because the producer may be about to publish
    /// the next version.
    waiting_until: Time,
}

impl Discovery {
    pub fn new(name: Name) -> Discovery {
        let (is_busy, forgiving_until, waiting_until) = (false, Time::ZERO, Time::ZERO);
        Discovery { name, nacks: 0, routeless: 0, is_busy, forgiving_until, waiting_until }
    }

    /// The requested name.
    pub fn name(&self) -> &Name {
        &self.name
    }

    /// True if the requested name has a version.
    pub fn is_versioned(&self) -> bool {
        self.name.len() > self.unversioned().len()
    }

    /// The requested name without its version.
    pub fn unversioned(&self) -> NameRef<'_> {
        let name = self.name.as_ref();
        match name.last() {
            Some(last) if last.as_version_any().is_some() => name.parent(),
            _ => name,
        }
    }

    /// True if discovery sends Interests for this name.
    pub fn asks_for(&self, name: NameRef<'_>) -> bool {
        name == self.name.as_ref()
            || name == rdr::metadata_prefix(self.unversioned()).as_ref()
            || self.is_root(name)
    }

    /// True if this is the name of the root packet of the requested version.
    fn is_root(&self, name: NameRef<'_>) -> bool {
        self.is_versioned() && name == rdr::root_name(self.name.as_ref()).as_ref()
    }

    /// True if this is the name of the object's metadata.
    pub fn is_of_metadata(&self, name: NameRef<'_>) -> bool {
        let object = self.unversioned();
        name.starts_with(object)
            && name.get(object.len()).is_some_and(|next| next.is_keyword(rdr::METADATA))
    }

    /// True if this is the name of metadata or of the root packet of the requested version, which
    /// contains the same facts.
    pub fn is_metadata(&self, name: NameRef<'_>) -> bool {
        self.is_root(name) || self.is_of_metadata(name)
    }

    /// Reads the facts about an object from metadata, from the root packet of the requested version
    /// or from a segment. `None` if the packet is none of these.
    pub fn read(&self, data: &Data<'_>) -> Option<Metadata> {
        if self.is_metadata(data.name()) {
            let metadata = Metadata::decode(self.unversioned(), data.content())?;
            let is_other = self.is_root(data.name()) && metadata.object != self.name;
            return (!is_other).then_some(metadata);
        }
        let (object, _) = rdr::split_segment(data)?;
        self.is_content(object).then(|| Metadata::of_segment(object, data, &[]))
    }

    /// False for names of metadata, manifests and heads. They are not objects, even though the same
    /// key signs them and a manifest's packets have segment numbers too.
    fn is_content(&self, object: NameRef<'_>) -> bool {
        const BESIDE: [&[u8]; 3] = [rdr::METADATA, manifest::KEYWORD, head::KEYWORD];
        let mut behind = (self.unversioned().len()..object.len()).filter_map(|n| object.get(n));
        behind.all(|component| !BESIDE.iter().any(|keyword| component.is_keyword(keyword)))
    }

    /// The attempt number, without the attempts that found no route. An object found by its bare
    /// name has no manifest, so the segments of an earlier transfer could not be reused. A missing
    /// route is not a reason to accept that.
    pub fn attempt(&self, attempt: u16) -> u16 {
        attempt.saturating_sub(self.routeless)
    }

    /// The Interest that finds the object: for its metadata, or for any packet under its bare name.
    /// For a known version, the first Interest is for its root packet, which only its publisher can
    /// have made. Metadata describes the latest version and says little about an older one.
    /// `found`: there is a candidate.
    pub fn interest(&self, attempt: u16, found: bool, excluded: Option<&Exclude>) -> InterestBuf {
        // A version has three names to request. Each is requested twice, the second time while the
        // first Interest is pending: forwarders send a retransmission to another next hop.
        let bare = match (self.is_versioned(), attempt % 6) {
            (true, 0 | 3) => {
                // A version does not change: a cached copy is valid, unless it was forged.
                let must_be_fresh = excluded.is_some();
                let name = rdr::root_name(self.name.as_ref());
                return InterestBuf { must_be_fresh, ..InterestBuf::new(name) };
            }
            (true, turn) => turn > 3,
            // The bare name is requested only while there is no candidate.
            (false, _) => !found && attempt >= BARE_AFTER && attempt.is_multiple_of(2),
        };
        let name = if bare { self.name.clone() } else { rdr::metadata_prefix(self.unversioned()) };
        InterestBuf { can_be_prefix: true, must_be_fresh: true, ..InterestBuf::new(name) }
    }

    /// The time without progress after which discovery fails; `patience` is that of the fetch.
    /// Most names without an early answer are never answered. A Nack that reports congestion is an
    /// early answer.
    pub fn patience(&self, patience: Duration) -> Duration {
        if self.is_busy { patience } else { patience.min(PATIENCE) }
    }

    /// The error if the patience is over after `asked` Interests. `cause` is the outcome of the
    /// first one without an answer.
    pub fn stalled(&self, waited: Duration, asked: u32, cause: Option<StallCause>) -> FetchError {
        match cause {
            Some(StallCause::Nack(NackReason::NoRoute)) => self.no_route(),
            Some(StallCause::Nack(NackReason::None)) => self.not_there(),
            _ => FetchError::NotFound { name: self.name.clone(), waited, asked },
        }
    }

    /// The error if there is no route for the name.
    pub fn no_route(&self) -> FetchError {
        FetchError::NoRoute(self.name.clone())
    }

    /// The error if there is no object of the name.
    pub fn not_there(&self) -> FetchError {
        FetchError::NotThere(self.name.clone())
    }

    /// Records a Nack for metadata.
    pub fn on_metadata_nack(&mut self, reason: NackReason) {
        self.is_busy |= reason == NackReason::Congestion;
        if reason == NackReason::NoRoute {
            self.routeless = self.routeless.saturating_add(1);
        }
    }

    /// Records a Nack for the first request of the object. Returns true if there have been enough
    /// of them to end the fetch. If a packet was `rejected` before, half as many are enough: then
    /// a Nack means that there is no other packet.
    pub fn on_nack(&mut self, now: Time, rejected: bool) -> bool {
        if now < self.forgiving_until {
            return false;
        }
        self.nacks += 1;
        let enough = if rejected { MAX_NACKS / 2 } else { MAX_NACKS };
        self.nacks >= enough && now >= self.waiting_until
    }

    /// The content of the version that was found is gone. Waits for the next one, unless the name
    /// asks for that version.
    pub fn await_next_version(&mut self, now: Time) {
        if !self.is_versioned() {
            self.waiting_until = now + NEXT_VERSION;
        }
    }

    /// Forgets the Nacks, because there is another candidate.
    pub fn forget_nacks(&mut self) {
        self.nacks = 0;
    }

    /// Prepares for a new connection. If no object was `found`, discovery starts again with its
    /// first Interest.
    pub fn reconnected(&mut self, now: Time, found: bool) {
        self.forgiving_until = now + PRODUCERS_RETURN;
        self.nacks = 0;
        if !found {
            self.routeless = 0;
        }
    }
}
