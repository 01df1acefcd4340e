//! Options that are numbers.

use super::option::HopOption;
use crate::tlv;

/// The rates that a path offers its flows, in bits of Data per second; each router downstream
/// lowers them to its own (RCP, MIRCC).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateStamp {
    /// Of the primary class.
    pub primary: u64,
    /// Of the secondary class.
    pub secondary: u64,
}

impl RateStamp {
    /// No router has lowered it: the meaning of a missing stamp.
    pub const MAX: RateStamp = RateStamp { primary: u64::MAX, secondary: u64::MAX };

    /// The lower rate of both, in each class.
    #[must_use]
    pub fn min(self, other: RateStamp) -> RateStamp {
        RateStamp {
            primary: self.primary.min(other.primary),
            secondary: self.secondary.min(other.secondary),
        }
    }
}

impl HopOption for RateStamp {
    const TYPE: u32 = 872;

    fn encode(&self, out: &mut Vec<u8>) {
        tlv::put_var(out, self.primary);
        tlv::put_var(out, self.secondary);
    }

    fn decode(value: &[u8]) -> Option<RateStamp> {
        let (primary, len) = tlv::read_var(value).ok()?;
        let (secondary, rest) = tlv::read_var(&value[len..]).ok()?;
        (len + rest == value.len()).then_some(RateStamp { primary, secondary })
    }
}

/// The class of an Interest and of its answer (MIRCC).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TrafficClass {
    /// A flow's rate on its best path only.
    #[default]
    Primary,
    /// The remaining rate on all of its paths.
    Secondary,
}

impl HopOption for TrafficClass {
    const TYPE: u32 = 868;
    const ECHO: bool = true;
    const ECHO_IN_NACKS: bool = true;

    fn encode(&self, out: &mut Vec<u8>) {
        tlv::put_nni(out, u64::from(*self == TrafficClass::Secondary));
    }

    fn decode(value: &[u8]) -> Option<TrafficClass> {
        match tlv::read_nni(value)? {
            0 => Some(TrafficClass::Primary),
            1 => Some(TrafficClass::Secondary),
            _ => None,
        }
    }
}

/// An option that is one NonNegativeInteger.
macro_rules! number {
    ($name:ident, $typ:literal) => {
        impl HopOption for $name {
            const TYPE: u32 = $typ;

            fn encode(&self, out: &mut Vec<u8>) {
                tlv::put_nni(out, self.0);
            }

            fn decode(value: &[u8]) -> Option<$name> {
                tlv::read_nni(value).map($name)
            }
        }
    };
}

/// An option that is a token of eight bytes with any value.
macro_rules! token {
    ($name:ident, $typ:literal) => {
        impl HopOption for $name {
            const TYPE: u32 = $typ;

            fn encode(&self, out: &mut Vec<u8>) {
                out.extend(self.0.to_be_bytes());
            }

            fn decode(value: &[u8]) -> Option<$name> {
                value.try_into().ok().map(u64::from_be_bytes).map($name)
            }
        }
    };
}

/// The expected Data bytes of an Interest, as known by its consumer (FISP, HbH).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExpectedBytes(pub u64);
number!(ExpectedBytes, 896);

/// The smoothed round-trip time of an Interest's consumer, in nanoseconds (MIRCC's d).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RttHint(pub u64);
number!(RttHint, 900);

/// The time by which the answers to other Interests for this object may come later than this one,
/// in nanoseconds: a forwarder divides them over paths of different length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RttSpread(pub u64);
number!(RttSpread, 928);

/// The time for which a node had an Interest before it sent the answer, in microseconds: residence
/// time as in IEEE 1588. In an Interest, [`ResidenceTime::ASKED`]. Each is of one link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResidenceTime(u64);
number!(ResidenceTime, 932);

impl ResidenceTime {
    /// The neighbour that receives the Interest is asked for it.
    pub const ASKED: ResidenceTime = ResidenceTime(0);

    /// This many nanoseconds.
    #[must_use]
    pub const fn of(nanos: u64) -> ResidenceTime {
        ResidenceTime(nanos / 1000)
    }

    /// In nanoseconds, at most the largest number.
    #[must_use]
    pub const fn nanos(self) -> u64 {
        self.0.saturating_mul(1000)
    }
}

/// The capabilities of the other end of a face; sent in an IDLE frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Capability(pub u64);
number!(Capability, 904);

/// Requests a proof that an address receives packets: the listener's token. It is sent in an IDLE
/// frame, and returns as an [`AddressEcho`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AddressChallenge(pub u64);
token!(AddressChallenge, 916);

/// The proof: the token of the latest [`AddressChallenge`], in an IDLE frame. Zero, before the
/// first one, requests it: the challenge is never larger than the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AddressEcho(pub u64);
token!(AddressEcho, 920);

impl Capability {
    /// It answers [`super::Range`] Interests segment by segment.
    pub const RANGE: u64 = 1;
    /// It forwards hop-by-hop options.
    pub const OPTIONS: u64 = 2;
    /// All capabilities.
    pub const ALL: Capability = Capability(Capability::RANGE | Capability::OPTIONS);

    /// It has all of these bits.
    #[must_use]
    pub const fn has(self, bits: u64) -> bool {
        self.0 & bits == bits
    }
}
