//! The forwarder's counters. Every packet that is not forwarded has a reason from one list.
//!
//! Management writes these structs as JSON and the testbed reads them: a field added here is in the
//! JSON object, in its schema and manual. Structs in `counters!` are also added over restarts.

use control::{Kind, Since};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::BTreeMap;
use std::fmt;
use std::ops::AddAssign;

use crate::histogram::DurationHistogram;
use crate::summed::{counters, with_part};
use crate::tables::Rejection;

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

            pub(crate) fn add(&mut self, reason: $reason) {
                self.0[reason as usize] += 1;
            }
        }

        impl AddAssign<&$counts> for $counts {
            fn add_assign(&mut self, other: &$counts) {
                self.0.iter_mut().zip(other.0).for_each(|(sum, more)| *sum += more);
            }
        }

        impl Since for $counts {
            fn since(&self, earlier: &$counts) -> $counts {
                $counts(std::array::from_fn(|i| self.0[i].since(&earlier.0[i])))
            }
        }

        /// Numbers by the names of reasons, without those that never occurred.
        impl Serialize for $counts {
            fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                let named: BTreeMap<_, _> = self.iter().map(|(r, n)| (r.name(), n)).collect();
                named.serialize(to)
            }
        }

        /// Unknown names are left out.
        impl<'de> Deserialize<'de> for $counts {
            fn deserialize<D: Deserializer<'de>>(from: D) -> Result<$counts, D::Error> {
                let mut counts = $counts::default();
                for (name, count) in BTreeMap::<String, u64>::deserialize(from)? {
                    if let Some(reason) = $reason::ALL.iter().find(|r| r.name() == name) {
                        counts.0[*reason as usize] = count;
                    }
                }
                Ok(counts)
            }
        }

        #[cfg(feature = "json-schema")]
        impl schemars::JsonSchema for $counts {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($counts).into()
            }

            fn inline_schema() -> bool {
                true
            }

            fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                BTreeMap::<&str, u64>::json_schema(generator)
            }
        }
    };
}

reasons! {
    /// Why a packet, a fragment or a frame was dropped.
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
    /// A packet whose missing fragments did not arrive in time.
    ReassemblyTimeout = "reassembly-timeout",
    /// A packet in fragments that was evicted for newer ones.
    ReassemblyLimit = "reassembly-limit",
    /// A frame that was sent again though it had arrived.
    FrameTwice = "frame-twice",
    /// A packet with frames that the peer did not acknowledge after all retransmissions.
    Unacknowledged = "unacknowledged",
    /// A name under `/localhost` on a face that is not local.
    Scope = "scope",
    /// An Interest with a HopLimit of zero, or a probe of a traceroute beyond the rate of replies.
    HopLimit = "hop-limit",
    /// An Interest with a duplicate nonce.
    Duplicate = "duplicate",
    /// A name deeper than the tables match.
    NameTooDeep = "name-too-deep",
    /// Segments of a range Interest beyond the longest accepted range.
    RangeTooLong = "range-too-long",
    /// The table of pending Interests is full.
    PitFull = "pit-full",
    /// The face has reached its limit of pending Interests.
    PitFaceLimit = "pit-face-limit",
    /// Pending Interests under the same prefix take more memory than is free in the table.
    PitPrefixShare = "pit-prefix-share",
    /// An Interest that waits for the same face's shaper already.
    HeldDuplicate = "held-duplicate",
    /// The shaper's hold queue is full.
    HeldLimit = "held-limit",
    /// An Interest whose lifetime ended, or whose answer arrived, while a shaper held it.
    HeldExpired = "held-expired",
    /// An Interest that a shaper rejected.
    ShaperRejected = "shaper-refused",
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
    /// The forwarder has reached its memory limit, or the face its share of it.
    Memory = "memory",
    /// The face's queue management dropped it.
    Marker = "marker",
    /// A packet to an unproved address, beyond the limits for such addresses.
    UnprovedLimit = "unproved-limit",
    /// A packet to a peer whose port the network reports as unreachable.
    Unreachable = "unreachable",
    /// It waited for a face that was removed.
    FaceRemoved = "face-removed",
}

reasons! {
    /// Why a hop-by-hop option was removed from a packet, which was processed without it.
    OptionFault,
    /// Removed options, by reason.
    OptionFaults:
    /// A truncated Range.
    Range = "range",
    /// A Range of fewer than 2 or more than 256 segments.
    RangeCount = "range-count",
    /// A Range whose bitmap does not have one bit for each segment, in whole bytes, or requests
    /// none of the segments, or some after the last.
    RangeBitmap = "range-bitmap",
    /// A Range on an Interest that cannot have one: with CanBePrefix, with parameters, with a name
    /// that does not end in a segment component, or with segments beyond 2^64.
    RangeMisplaced = "range-misplaced",
    /// A Range from an unproved address.
    RangeUnproved = "range-unproved",
    /// A TrafficClass that is neither 0 (primary) nor 1 (secondary).
    TrafficClass = "traffic-class",
    /// A RateStamp that is not two numbers.
    RateStamp = "rate-stamp",
    /// A PathId that is not 8 bytes long.
    PathId = "path-id",
    /// A truncated PathLabel, or one whose bitmap is longer than 64 bytes.
    PathLabel = "path-label",
    /// A SteeringHint of an unknown kind, without bytes or with more than 64.
    SteeringHint = "steering-hint",
    /// An Anticipated that is truncated, that names no segment or more than 64, one twice or one
    /// beyond 2^64, or whose holders are more than 16, one twice, or without such a segment.
    Anticipated = "anticipated",
    /// A ServedBy that is neither empty nor 9 bytes long.
    ServedBy = "served-by",
    /// An ExpectedBytes that is not a NonNegativeInteger.
    ExpectedBytes = "expected-bytes",
    /// An RttHint that is not a NonNegativeInteger.
    RttHint = "rtt-hint",
    /// A Capability that is not a NonNegativeInteger.
    Capability = "capability",
    /// An AddressChallenge that is not 8 bytes long.
    AddressChallenge = "address-challenge",
    /// An AddressEcho that is not 8 bytes long.
    AddressEcho = "address-echo",
    /// Offers that are not 1 to 3 offers of different links in order of their rates.
    Offers = "offers",
    /// An RttSpread that is not a NonNegativeInteger.
    RttSpread = "rtt-spread",
    /// A ResidenceTime that is not a NonNegativeInteger.
    ResidenceTime = "residence-time",
    /// A CachesBelow that is not one byte followed by a NonNegativeInteger.
    CachesBelow = "caches-below",
    /// A CachesPassed that is not one byte, optionally followed by a NonNegativeInteger.
    CachesPassed = "caches-passed",
    /// A truncated Exclude, or one of no packets, of more than 8, or of one twice.
    Exclude = "exclude",
    /// A duplicate option: the packet already has one of this type.
    Repeated = "repeated",
    /// An option that does not fit into the 1,024 bytes for all options of a packet.
    TooManyBytes = "too-many-bytes",
}

impl DropReason {
    /// The usual reasons that drop an Interest before it has a PIT entry. In a forwarder with
    /// transit and without shapers, each other Interest is answered from the content store, joins
    /// an entry, or makes one; packets that are too large and segments of ranges are counted apart.
    /// `scope` also counts Data, and `pit-full` out-records that found no room, so that the sum is
    /// an upper bound.
    pub const BEFORE_ENTRY: &[DropReason] = &[
        DropReason::Scope,
        DropReason::HopLimit,
        DropReason::Duplicate,
        DropReason::NameTooDeep,
        DropReason::PitFull,
        DropReason::PitFaceLimit,
        DropReason::PitPrefixShare,
    ];
}

impl Drops {
    /// The sum of [`DropReason::BEFORE_ENTRY`].
    #[must_use]
    pub fn before_entry(&self) -> u64 {
        DropReason::BEFORE_ENTRY.iter().map(|reason| self.of(*reason)).sum()
    }
}

impl From<Rejection> for DropReason {
    fn from(rejection: Rejection) -> DropReason {
        match rejection {
            Rejection::PerFace => DropReason::PitFaceLimit,
            Rejection::PrefixTooDeep => DropReason::NameTooDeep,
            Rejection::Entries | Rejection::Memory | Rejection::Gone => DropReason::PitFull,
            Rejection::Shared => DropReason::Memory,
            Rejection::Prefix => DropReason::PitPrefixShare,
        }
    }
}

counters! {
    /// Packets in one direction.
    #[derive(Copy)]
    pub struct Traffic {
        /// Interests.
        pub interests: u64,
        /// Data packets.
        pub data: u64,
        /// Nacks.
        pub nacks: u64,
        /// Frames: a packet in fragments is several.
        pub frames: u64,
        /// Bytes of the frames.
        pub bytes: u64,
    }
}

impl Traffic {
    /// Counts a frame of this many bytes, headers of the link layer included.
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

counters! {
    /// A number of packets.
    #[derive(Copy)]
    pub struct Amount {
        /// The packets.
        pub packets: u64,
        /// Their bytes.
        pub bytes: u64,
    }
}

impl Amount {
    fn count(&mut self, len: usize) {
        self.packets += 1;
        self.bytes += len as u64;
    }
}

counters! {
    /// The fate of the packets offered to a face's queues. At any time `offered = sent + dropped +
    /// queued`, in packets and in bytes of network packets.
    #[derive(Copy)]
    pub struct QueueTally {
        /// Packets that were offered to the queue so far.
        pub offered: Amount,
        /// Packets that left it so far.
        pub sent: Amount,
        /// Packets that it has dropped so far.
        // On arrival, by queue management, or because they cannot be put into frames.
        pub dropped: Amount,
    }
}

impl QueueTally {
    pub(crate) fn offer(&mut self, len: usize) {
        self.offered.count(len);
    }

    pub(crate) fn send(&mut self, len: usize) {
        self.sent.count(len);
    }

    pub(crate) fn drop(&mut self, len: usize) {
        self.dropped.count(len);
    }
}

/// Packets with reliability.
// NFD's counters of the same meaning: `nAcknowledged`, `nRetransmitted`, `nRetxExhausted`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
pub struct ReliabilityCounters {
    /// Packets that were acknowledged.
    pub acknowledged: u64,
    /// Packets of which a frame was sent again.
    pub retransmitted: u64,
    /// Packets that were given up.
    pub exhausted: u64,
    /// Packets without protection: too many waited already, or the peer never acknowledges.
    pub unprotected: u64,
    /// Frames that were sent again.
    pub resent_frames: u64,
}

/// Declares counters that are not summed.
macro_rules! plain {
    ($($item:tt)+) => {
        #[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
        #[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
        $($item)+
    };
}

with_part! {
    plain!
    /// Counters of one face. In the JSON object the queue is a field of its own, and the times are
    /// only in the metrics.
    pub struct FaceCounters {
        /// Packets received on it.
        // Counted before any check but the packet format's.
        pub received: Traffic,
        /// Packets sent on it.
        pub sent: Traffic,
        /// Frames that only keep the link alive.
        pub idle: u64,
        part LinkCounters = "Counts of the face that sends in one direction of a link." {
            /// Data packets sent with a congestion mark.
            pub marked: u64,
        }
        /// On faces with `reliability`, packets by outcome.
        pub reliability: ReliabilityCounters,
        /// Packets that were dropped, by reason. Reasons that never occurred are left out.
        pub drops: Drops,
        /// Hop-by-hop options that were ignored and removed from packets, by reason.
        pub malformed_options: OptionFaults,
        /// Packets offered to the queues.
        #[serde(skip)]
        pub queue: QueueTally,
        /// Of Data that answers an Interest, the time since the latest such Interest left by the
        /// face, unless that was repeated: it is not known which one the Data is for.
        #[serde(skip)]
        pub round_trips: DurationHistogram,
        /// The time that packets waited in the queues, until they were taken out to be sent.
        #[serde(skip)]
        pub waits: DurationHistogram,
    }
}

with_part! {
    counters!
    /// Counters of a forwarder: all faces that are or were, and what belongs to none. The content
    /// store has [its own](crate::tables::StoreCounters).
    pub struct ForwarderStats {
        /// Packets received on all faces.
        pub received: Traffic,
        /// Packets sent on all faces.
        pub sent: Traffic,
        part InterestCounters = "Counts of Interests: pending ones by their ends, and others." {
            /// Pending Interests that Data satisfied.
            // Also probes of a traceroute that this node has replied to.
            pub satisfied: u64,
            /// Pending Interests that ended with a Nack.
            pub nacked: u64,
            /// Pending Interests that expired.
            pub expired: u64,
            /// Interests aggregated with a pending one.
            pub aggregated: u64,
        }
        /// Packets that were dropped, by reason. Reasons that never occurred are left out.
        pub drops: Drops,
        /// Hop-by-hop options that were ignored and removed from packets, by reason.
        pub malformed_options: OptionFaults,
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

    #[test]
    fn counters_are_read_from_their_json_and_added() {
        let mut stats = ForwarderStats { satisfied: 3, ..ForwarderStats::default() };
        stats.received.count(Kind::Data);
        stats.drops.add(DropReason::Marker);
        let json = serde_json::to_value(&stats).unwrap();
        assert_eq!(json["received"]["data"], 1);
        assert_eq!(json["drops"], serde_json::json!({ "marker": 1 }));
        let mut read: ForwarderStats = serde_json::from_value(json).unwrap();
        assert_eq!(read, stats);
        read += &stats;
        let drops = read.drops.of(DropReason::Marker);
        assert_eq!((read.satisfied, read.received.data, drops), (6, 2, 2));
        let other: Drops =
            serde_json::from_str(r#"{"marker": 4, "of-another-version": 1}"#).unwrap();
        assert_eq!(other.total(), 4);
    }
}
