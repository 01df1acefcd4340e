//! The forwarder's counters. Every packet that is not forwarded has a reason from one list.

use control::Kind;
use std::fmt;

use crate::histogram::DurationHistogram;
use crate::tables::Refusal;

/// A list of reasons, each with its name and meaning, and the counts of each.
macro_rules! reasons {
    (
        $(#[doc = $about:literal])+ $reason:ident,
        $(#[doc = $counted:literal])+ $counts:ident:
        $($(#[doc = $doc:literal])+ $variant:ident = $name:literal,)+
    ) => {
        $(#[doc = $about])+
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $reason {
            $($(#[doc = $doc])+ $variant,)+
        }

        impl $reason {
            /// All reasons, in the order in which they are listed.
            pub const ALL: &[$reason] = &[$($reason::$variant),+];

            /// The name under which it is counted and logged.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $($reason::$variant => $name,)+ }
            }

            /// Its meaning, in Markdown.
            #[must_use]
            pub const fn help(self) -> &'static str {
                match self { $($reason::$variant => concat!($($doc),+),)+ }
            }
        }

        impl fmt::Display for $reason {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.name())
            }
        }

        $(#[doc = $counted])+
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub struct $counts([u64; $reason::ALL.len()]);

        impl Default for $counts {
            fn default() -> Self {
                $counts([0; $reason::ALL.len()])
            }
        }

        impl $counts {
            /// How often it happened for this reason.
            #[must_use]
            pub fn of(&self, reason: $reason) -> u64 {
                self.0[reason as usize]
            }

            /// Every reason for which it happened, and how often.
            pub fn iter(&self) -> impl Iterator<Item = ($reason, u64)> {
                $reason::ALL.iter().map(|r| (*r, self.of(*r))).filter(|(_, n)| *n > 0)
            }

            /// How often it happened altogether.
            #[must_use]
            pub fn total(&self) -> u64 {
                self.0.iter().sum()
            }

            /// Counts by the names of reasons, as management reports them. Unknown names are left
            /// out.
            #[must_use]
            pub fn named<'a>(counts: impl IntoIterator<Item = (&'a str, u64)>) -> $counts {
                let mut named = $counts::default();
                for (name, count) in counts {
                    if let Some(reason) = $reason::ALL.iter().find(|r| r.name() == name) {
                        named.0[*reason as usize] += count;
                    }
                }
                named
            }

            /// Takes the counts of another one in.
            pub fn merge(&mut self, other: &$counts) {
                self.0.iter_mut().zip(other.0).for_each(|(sum, more)| *sum += more);
            }

            pub(crate) fn add(&mut self, reason: $reason) {
                self.0[reason as usize] += 1;
            }
        }
    };
}

reasons! {
    /// Why a packet, a fragment or a frame was dropped. Tests add up the reasons that drop an
    /// Interest before it has a PIT entry: CONTRIBUTING.md, "Add a drop reason", lists them.
    DropReason,
    /// Drops by reason.
    Drops:
    /// The frame or the packet in it does not follow the packet format.
    Malformed = "malformed",
    /// The packet is larger than 8,800 bytes, or does not fit the face's MTU even in
    /// fragments.
    TooBig = "too-big",
    /// A fragment whose numbers contradict each other, or those of fragments before it.
    FragmentInvalid = "fragment-invalid",
    /// A packet whose missing fragments did not come in time.
    ReassemblyTimeout = "reassembly-timeout",
    /// A packet in parts that had to make room for newer ones.
    ReassemblyLimit = "reassembly-limit",
    /// A frame that was sent again though it had arrived.
    FrameTwice = "frame-twice",
    /// A packet some of whose frames the peer did not acknowledge, however often they were sent.
    Unacknowledged = "unacknowledged",
    /// A name under `/localhost` on a face that is not local.
    Scope = "scope",
    /// An Interest with a HopLimit of zero, or a probe of a traceroute beyond the rate of replies.
    HopLimit = "hop-limit",
    /// An Interest that has been here before, by its nonce.
    Duplicate = "duplicate",
    /// A name deeper than the tables match.
    NameTooDeep = "name-too-deep",
    /// Segments of a range Interest beyond the longest range that is taken.
    RangeTooLong = "range-too-long",
    /// The table of pending Interests is full.
    PitFull = "pit-full",
    /// The face has as many pending Interests as it may.
    PitFaceLimit = "pit-face-limit",
    /// Pending Interests under the same prefix take more memory than is free in the table.
    PitPrefixShare = "pit-prefix-share",
    /// An Interest that waits for the same face's shaper already.
    HeldDuplicate = "held-duplicate",
    /// The shaper's waiting room is full.
    HeldLimit = "held-limit",
    /// An Interest whose lifetime ended, or whose answer came, while a shaper held it.
    HeldExpired = "held-expired",
    /// An Interest that a shaper refused.
    ShaperRefused = "shaper-refused",
    /// An Interest without a next hop to send it to.
    NoNextHop = "no-next-hop",
    /// Data that no Interest from this face requested.
    Unsolicited = "unsolicited",
    /// Data that failed verification before: all consumers that wait exclude it.
    Excluded = "excluded",
    /// A Nack for an Interest that was not sent, or on a face that is not point-to-point.
    NackUnsolicited = "nack-unsolicited",
    /// A Nack that was not sent, because the face has them off or is not point-to-point.
    NackDisabled = "nack-disabled",
    /// The face's queue of Interests and Nacks is full.
    InterestQueueFull = "interest-queue-full",
    /// The face's queue of Data is full.
    DataQueueFull = "data-queue-full",
    /// The forwarder takes as much memory as it may, or the face as much of it as it may.
    Memory = "memory",
    /// The face's queue management dropped it.
    Marker = "marker",
    /// It was for an address that has not proved that it receives what is sent to it, beyond the
    /// limits for such addresses.
    UnprovedLimit = "unproved-limit",
    /// It was for a peer of whose port the network says that nothing receives there.
    Unreachable = "unreachable",
    /// It waited for a face that was removed.
    FaceRemoved = "face-removed",
}

reasons! {
    /// Why a hop-by-hop option was taken off a packet, which went on without it.
    OptionFault,
    /// Options that were taken off, by reason.
    OptionFaults:
    /// A Range that is cut off.
    Range = "range",
    /// A Range of fewer than 2 or more than 256 segments.
    RangeCount = "range-count",
    /// A Range whose bitmap has not one bit for each segment, in whole bytes, or that wants none
    /// of the segments, or some behind the last.
    RangeBitmap = "range-bitmap",
    /// A Range on an Interest that cannot have one: with CanBePrefix, with parameters, with a name
    /// that ends in no segment component, or with segments beyond 2^64.
    RangeMisplaced = "range-misplaced",
    /// A Range from an address that has not proved that it receives what is sent to it.
    RangeUnproved = "range-unproved",
    /// A TrafficClass that is neither.
    TrafficClass = "traffic-class",
    /// A RateStamp that is not two numbers.
    RateStamp = "rate-stamp",
    /// A PathId that has not 8 bytes.
    PathId = "path-id",
    /// A PathLabel that is cut off, or whose bitmap is longer than 64 bytes.
    PathLabel = "path-label",
    /// A SteeringHint of an unknown kind, without bytes or with more than 64.
    SteeringHint = "steering-hint",
    /// An Anticipated that is cut off, that names no segment or more than 64, one twice or one
    /// beyond 2^64, or whose holders are more than 16, one twice, or without such a segment.
    Anticipated = "anticipated",
    /// A ServedBy that is neither empty nor 9 bytes long.
    ServedBy = "served-by",
    /// An ExpectedBytes that is no NonNegativeInteger.
    ExpectedBytes = "expected-bytes",
    /// An RttHint that is no NonNegativeInteger.
    RttHint = "rtt-hint",
    /// A Capability that is no NonNegativeInteger.
    Capability = "capability",
    /// An AddressChallenge that has not 8 bytes.
    AddressChallenge = "address-challenge",
    /// An AddressEcho that has not 8 bytes.
    AddressEcho = "address-echo",
    /// Offers that are not 1 to 3 offers of different links in order of their rates.
    Offers = "offers",
    /// An RttSpread that is no NonNegativeInteger.
    RttSpread = "rtt-spread",
    /// A ResidenceTime that is no NonNegativeInteger.
    ResidenceTime = "residence-time",
    /// A CachesBelow that is not a byte and a NonNegativeInteger.
    CachesBelow = "caches-below",
    /// A CachesPassed that is not a byte and perhaps a NonNegativeInteger.
    CachesPassed = "caches-passed",
    /// An Exclude of no packets, of more than 8, of one twice, or cut off.
    Exclude = "exclude",
    /// An option of a type that the packet has already.
    Repeated = "repeated",
    /// An option that does not fit into the 1,024 bytes that all of a packet may have.
    TooManyBytes = "too-many-bytes",
}

impl From<Refusal> for DropReason {
    fn from(refusal: Refusal) -> DropReason {
        match refusal {
            Refusal::PerFace => DropReason::PitFaceLimit,
            Refusal::PrefixTooDeep => DropReason::NameTooDeep,
            Refusal::Entries | Refusal::Memory | Refusal::Gone => DropReason::PitFull,
            Refusal::Shared => DropReason::Memory,
            Refusal::Prefix => DropReason::PitPrefixShare,
        }
    }
}

/// Packets by kind, and the bytes of all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Interests.
    pub interests: u64,
    /// Data packets.
    pub data: u64,
    /// Nacks.
    pub nacks: u64,
    /// Bytes on the link: whole frames, headers of the link layer included.
    pub bytes: u64,
    /// Frames; a packet in fragments is several.
    pub frames: u64,
}

impl Traffic {
    /// Adds the counts of another face, or of an earlier life.
    pub fn add(&mut self, other: &Traffic) {
        self.interests += other.interests;
        self.data += other.data;
        self.nacks += other.nacks;
        self.bytes += other.bytes;
        self.frames += other.frames;
    }

    /// Counts a frame of this many bytes.
    #[inline]
    pub(crate) fn count_frame(&mut self, bytes: usize) {
        self.frames += 1;
        self.bytes += bytes as u64;
    }

    pub(crate) fn count(&mut self, kind: Kind) {
        match kind {
            Kind::Interest => self.interests += 1,
            Kind::Data => self.data += 1,
            Kind::Nack => self.nacks += 1,
        }
    }
}

/// The fate of the packets offered to a face's queues. At any time `offered = sent + dropped +
/// queued`, in packets and in bytes of network packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueTally {
    /// Offered, in packets and bytes.
    pub offered: (u64, u64),
    /// Put on the wire.
    pub sent: (u64, u64),
    /// Dropped: on arrival, by queue management, or because they cannot be put into frames.
    pub dropped: (u64, u64),
}

impl QueueTally {
    /// Adds the counts of an earlier life.
    pub fn add(&mut self, other: &QueueTally) {
        for (sum, more) in [
            (&mut self.offered, other.offered),
            (&mut self.sent, other.sent),
            (&mut self.dropped, other.dropped),
        ] {
            *sum = (sum.0 + more.0, sum.1 + more.1);
        }
    }

    pub(crate) fn offer(&mut self, len: usize) {
        self.offered.0 += 1;
        self.offered.1 += len as u64;
    }

    pub(crate) fn send(&mut self, len: usize) {
        self.sent.0 += 1;
        self.sent.1 += len as u64;
    }

    pub(crate) fn drop(&mut self, len: usize) {
        self.dropped.0 += 1;
        self.dropped.1 += len as u64;
    }
}

/// Packets sent with reliability, by result; NFD's counters of the same meaning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReliabilityCounters {
    /// Packets all of whose frames arrived the first time (`nAcknowledged`).
    pub acknowledged: u64,
    /// Packets that arrived after some frame was sent again (`nRetransmitted`).
    pub retransmitted: u64,
    /// Packets that were given up (`nRetxExhausted`).
    pub exhausted: u64,
    /// Packets that were sent without protection, because too much waited or the peer is silent.
    pub unprotected: u64,
    /// Frames that were sent again.
    pub resent_frames: u64,
}

/// Counters of one face.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FaceCounters {
    /// Received, before any check but the packet format's.
    pub received: Traffic,
    /// Put on the wire.
    pub sent: Traffic,
    /// Frames that only keep the link alive.
    pub idle: u64,
    /// Packets offered to the queues.
    pub queue: QueueTally,
    /// Data that left with a congestion mark.
    pub marked: u64,
    /// Of Data that answers an Interest, the time since the latest such Interest left by the face,
    /// unless that was repeated: it is not known which one the Data is for.
    pub round_trips: DurationHistogram,
    /// The time that packets waited in the queues, until they were taken out to be sent.
    pub waits: DurationHistogram,
    /// Packets that the peer had to acknowledge.
    pub reliability: ReliabilityCounters,
    /// Drops by reason.
    pub drops: Drops,
    /// Options that were taken off what was received, by reason.
    pub option_faults: OptionFaults,
}

/// Counters of a forwarder: all faces that are or were, and what belongs to none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ForwarderStats {
    /// Received on all faces.
    pub received: Traffic,
    /// Put on the wire of all faces.
    pub sent: Traffic,
    /// PIT entries that Data satisfied, and probes of a traceroute that this node has replied to.
    pub satisfied: u64,
    /// PIT entries that ended with a Nack to those who waited.
    pub nacked: u64,
    /// PIT entries that expired.
    pub expired: u64,
    /// Interests that the content store answered.
    pub hits: u64,
    /// Interests that were looked up in the content store in vain.
    pub misses: u64,
    /// Interests that joined a pending one.
    pub aggregated: u64,
    /// Drops by reason.
    pub drops: Drops,
    /// Options that were taken off what was received, by reason.
    pub option_faults: OptionFaults,
}

impl ForwarderStats {
    /// Adds the counts of an earlier life.
    pub fn add(&mut self, other: &ForwarderStats) {
        self.received.add(&other.received);
        self.sent.add(&other.sent);
        self.satisfied += other.satisfied;
        self.nacked += other.nacked;
        self.expired += other.expired;
        self.hits += other.hits;
        self.misses += other.misses;
        self.aggregated += other.aggregated;
        self.drops.merge(&other.drops);
        self.option_faults.merge(&other.option_faults);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn reasons_have_names_of_their_own() {
        let names: BTreeSet<_> = DropReason::ALL.iter().map(|r| r.name()).collect();
        assert_eq!(names.len(), DropReason::ALL.len());
        let names: BTreeSet<_> = OptionFault::ALL.iter().map(|r| r.name()).collect();
        assert_eq!(names.len(), OptionFault::ALL.len());
        assert_eq!(DropReason::Scope.to_string(), "scope");
    }

    #[test]
    fn drops_list_what_happened() {
        let mut drops = Drops::default();
        drops.add(DropReason::Marker);
        drops.add(DropReason::Marker);
        drops.add(DropReason::Malformed);
        let listed: Vec<_> = drops.iter().collect();
        assert_eq!(listed, [(DropReason::Malformed, 1), (DropReason::Marker, 2)]);
        assert_eq!(drops.total(), 3);
    }
}
