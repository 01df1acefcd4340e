//! The link packet (NDNLPv2), borrowed.

use crate::nack::NackReason;
use crate::options::HopOptions;
use crate::tlv::{self, DecodeError, Element, Fault, Reader, read_nni, tlv_len, types};
use std::cmp::Ordering;

/// The longest PIT token, in bytes.
pub const MAX_PIT_TOKEN: usize = 32;
/// The CachePolicyType that forbids caching of the Data.
pub(crate) const NO_CACHE: u64 = 1;

/// A checked link packet. A bare Interest or Data is one with only a fragment; one without a
/// fragment is IDLE.
#[derive(Clone, Copy, Debug, Default)]
pub struct LpPacket<'a> {
    /// All headers, for the repeatable ones; empty in a bare packet.
    headers: &'a [u8],
    fragment: Option<&'a [u8]>,
    place: Place,
    pit_token: Option<&'a [u8]>,
    nack: Option<NackReason>,
    incoming_face_id: Option<u64>,
    next_hop_face_id: Option<u64>,
    no_cache: bool,
    congestion_mark: u64,
    has_acks: bool,
    tx_sequence: Option<u64>,
    non_discovery: bool,
    prefix_announcement: Option<&'a [u8]>,
    has_options: bool,
}

/// The place of a fragment in its packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Place {
    sequence: Option<u64>,
    index: u64,
    count: Option<u64>,
}

impl<'a> LpPacket<'a> {
    /// Checks a frame: a link packet, or a bare Interest or Data, without decoding its content.
    ///
    /// # Errors
    /// A malformed header; an unknown header that must not be ignored; headers out of order, or
    /// repeated although not repeatable; an element after the fragment; a fragment index at or
    /// above the count, or fragments without a sequence number; a Nack without its Interest.
    #[inline]
    pub fn decode(frame: &'a [u8]) -> Result<LpPacket<'a>, DecodeError> {
        // Most frames are bare packets.
        match frame.first().copied().map(u64::from) {
            Some(typ @ (types::INTEREST | types::DATA)) if tlv::only(frame, typ).is_ok() => {
                Ok(LpPacket { fragment: Some(frame), ..LpPacket::default() })
            }
            _ => LpPacket::decode_headers(frame),
        }
    }

    #[inline(never)]
    fn decode_headers(frame: &'a [u8]) -> Result<LpPacket<'a>, DecodeError> {
        let mut at = 0;
        decode(frame, &mut at).map_err(|fault| DecodeError::new("link packet", fault).at(at))
    }

    /// The packet, or a fragment of it if [`LpPacket::frag_count`] is above 1.
    #[must_use]
    #[inline]
    pub const fn fragment(&self) -> Option<&'a [u8]> {
        self.fragment
    }

    /// The link's sequence number.
    #[must_use]
    pub const fn sequence(&self) -> Option<u64> {
        self.place.sequence
    }

    /// The index of the fragment, from 0.
    #[must_use]
    pub const fn frag_index(&self) -> u64 {
        self.place.index
    }

    /// Of how many fragments the packet consists.
    #[must_use]
    pub const fn frag_count(&self) -> u64 {
        match self.place.count {
            Some(n) => n,
            None => 1,
        }
    }

    /// 1 to 32 bytes that must come back with the answer.
    #[must_use]
    pub const fn pit_token(&self) -> Option<&'a [u8]> {
        self.pit_token
    }

    /// It is a Nack; the fragment is the Interest.
    #[must_use]
    pub const fn nack(&self) -> Option<NackReason> {
        self.nack
    }

    /// The face that a packet came from, for local applications.
    #[must_use]
    pub const fn incoming_face_id(&self) -> Option<u64> {
        self.incoming_face_id
    }

    /// The face over which a local application sends an Interest.
    #[must_use]
    pub const fn next_hop_face_id(&self) -> Option<u64> {
        self.next_hop_face_id
    }

    /// The Data is not to be cached.
    #[must_use]
    pub const fn no_cache(&self) -> bool {
        self.no_cache
    }

    /// The congestion mark; 0 is none.
    #[must_use]
    pub const fn congestion_mark(&self) -> u64 {
        self.congestion_mark
    }

    /// Returns `true` if it has acknowledgements.
    #[must_use]
    #[inline]
    pub const fn has_acks(&self) -> bool {
        self.has_acks
    }

    /// TxSequences that the other end has received.
    pub fn acks(&self) -> impl Iterator<Item = u64> + use<'a> {
        let headers = if self.has_acks { self.headers } else { &[] };
        elements(headers).filter(|e| e.typ == types::LP_ACK).filter_map(|e| read_nni(e.value))
    }

    /// The number under which receipt is to be acknowledged.
    #[must_use]
    pub const fn tx_sequence(&self) -> Option<u64> {
        self.tx_sequence
    }

    /// Self-learning must not flood the Interest.
    #[must_use]
    pub const fn non_discovery(&self) -> bool {
        self.non_discovery
    }

    /// A Data packet that announces a prefix.
    #[must_use]
    pub const fn prefix_announcement(&self) -> Option<&'a [u8]> {
        self.prefix_announcement
    }

    /// Returns `true` for a field of self-learning: [`LpPacket::non_discovery`], or an
    /// announcement.
    #[must_use]
    #[inline]
    pub const fn has_learning(&self) -> bool {
        self.non_discovery || self.prefix_announcement.is_some()
    }

    /// Returns `true` if it has hop-by-hop options.
    #[must_use]
    #[inline]
    pub const fn has_options(&self) -> bool {
        self.has_options
    }

    /// Type and bytes of each hop-by-hop option, in the order of the types. Of one that is
    /// repeated, the first counts.
    pub fn options(&self) -> impl Iterator<Item = (u32, &'a [u8])> + use<'a> {
        let mut last = 0;
        self.all_options().filter(move |(typ, _)| {
            let first = *typ != last;
            last = *typ;
            first
        })
    }

    /// As [`LpPacket::options`], with those that are repeated: they follow each other.
    pub fn all_options(&self) -> impl Iterator<Item = (u32, &'a [u8])> + use<'a> {
        let headers = if self.has_options { self.headers } else { &[] };
        elements(headers)
            .filter(|e| HopOptions::is_option_type(e.typ))
            .map(|e| (e.typ as u32, e.value))
    }

    /// The hop-by-hop options, owned.
    #[must_use]
    pub fn to_options(&self) -> HopOptions {
        let mut options = HopOptions::new();
        for (typ, value) in self.options() {
            options.set_raw(typ, value);
        }
        options
    }

    /// The bytes of the frame outside the packet or the fragment; 0 without any header.
    #[must_use]
    pub fn overhead(&self) -> usize {
        if self.is_bare() {
            return 0;
        }
        let payload = self.fragment.map_or(0, <[u8]>::len);
        let fragment = self.fragment.map_or(0, |_| tlv_len(types::LP_FRAGMENT, payload));
        let value = self.headers.len() + fragment;
        tlv_len(types::LP_PACKET, value) - payload
    }

    /// Returns `true` for a packet without any header.
    #[must_use]
    #[inline]
    pub const fn is_bare(&self) -> bool {
        self.headers.is_empty() && self.fragment.is_some()
    }
}

fn elements(value: &[u8]) -> impl Iterator<Item = Element<'_>> {
    let mut reader = Reader::new(value);
    std::iter::from_fn(move || reader.next_element().ok().flatten())
}

/// Leaves `at` at the first byte of the faulty header.
fn decode<'a>(frame: &'a [u8], at: &mut usize) -> Result<LpPacket<'a>, Fault> {
    let mut reader = Reader::new(frame);
    let element = reader.next_element()?.ok_or(Fault::Truncated)?;
    if !reader.is_empty() {
        return Err(Fault::Trailing);
    }
    let mut packet = LpPacket::default();
    if element.typ != types::LP_PACKET {
        return Err(Fault::BadType(element.typ));
    }
    let value = element.value;
    packet.headers = value;
    let mut reader = Reader::new(value);
    let mut reached = 0;
    loop {
        let left = reader.rest().len();
        *at = frame.len() - left;
        let Some(header) = reader.next_element()? else { break };
        if header.typ == types::LP_FRAGMENT {
            packet.headers = &value[..value.len() - left];
            packet.fragment = Some(header.value).filter(|fragment| !fragment.is_empty());
            *at = frame.len() - reader.rest().len();
            // No element may follow the fragment.
            if !reader.is_empty() {
                return Err(Fault::Trailing);
            }
            break;
        }
        match header.typ.cmp(&reached) {
            Ordering::Greater => packet.take(&header)?,
            Ordering::Equal => packet.take_again(&header)?,
            Ordering::Less => return Err(Fault::Header(header.typ)),
        }
        reached = header.typ;
    }
    packet.checked()
}

/// NDNLPv2: an unknown header is ignored if its type is from 800 to 959 and divisible by 4;
/// otherwise the packet is dropped.
fn ignorable(typ: u64) -> Result<(), Fault> {
    if (800..=959).contains(&typ) && typ & 3 == 0 { Ok(()) } else { Err(Fault::Header(typ)) }
}

/// Among known headers, only acknowledgements may be repeated.
const fn is_known(typ: u64) -> bool {
    matches!(
        typ,
        types::LP_SEQUENCE
            | types::LP_FRAG_INDEX
            | types::LP_FRAG_COUNT
            | types::LP_PIT_TOKEN
            | types::LP_NACK
            | types::LP_INCOMING_FACE_ID
            | types::LP_NEXT_HOP_FACE_ID
            | types::LP_CACHE_POLICY
            | types::LP_CONGESTION_MARK
            | types::LP_TX_SEQUENCE
            | types::LP_NON_DISCOVERY
            | types::LP_PREFIX_ANNOUNCEMENT
    )
}

impl<'a> LpPacket<'a> {
    fn take(&mut self, header: &Element<'a>) -> Result<(), Fault> {
        match header.typ {
            types::LP_SEQUENCE => self.place.sequence = Some(fixed(header)?),
            types::LP_FRAG_INDEX => self.place.index = header.nni()?,
            types::LP_FRAG_COUNT => self.place.count = Some(header.nni()?),
            types::LP_PIT_TOKEN => {
                if header.value.is_empty() || header.value.len() > MAX_PIT_TOKEN {
                    return Err(Fault::BadLength(header.typ));
                }
                self.pit_token = Some(header.value);
            }
            types::LP_NACK => {
                let reason = number_inside(header.value, types::LP_NACK_REASON)?;
                self.nack = Some(NackReason::from(reason.unwrap_or(0)));
            }
            types::LP_INCOMING_FACE_ID => self.incoming_face_id = Some(header.nni()?),
            types::LP_NEXT_HOP_FACE_ID => self.next_hop_face_id = Some(header.nni()?),
            types::LP_CACHE_POLICY => {
                let policy = number_inside(header.value, types::LP_CACHE_POLICY_TYPE)?;
                let missing = Fault::Expected(types::LP_CACHE_POLICY_TYPE);
                self.no_cache = policy.ok_or(missing)? == NO_CACHE;
            }
            types::LP_CONGESTION_MARK => self.congestion_mark = header.nni()?,
            types::LP_ACK => {
                fixed(header)?;
                self.has_acks = true;
            }
            types::LP_TX_SEQUENCE => self.tx_sequence = Some(fixed(header)?),
            types::LP_NON_DISCOVERY if header.value.is_empty() => self.non_discovery = true,
            types::LP_NON_DISCOVERY => return Err(Fault::BadLength(header.typ)),
            types::LP_PREFIX_ANNOUNCEMENT => self.prefix_announcement = Some(header.value),
            typ if HopOptions::is_option_type(typ) => self.has_options = true,
            typ => ignorable(typ)?,
        }
        Ok(())
    }

    /// A header of the same type as the one before it.
    fn take_again(&mut self, header: &Element<'a>) -> Result<(), Fault> {
        match header.typ {
            types::LP_ACK => fixed(header).map(|_| ()),
            typ if is_known(typ) => Err(Fault::Header(typ)),
            typ => ignorable(typ),
        }
    }

    fn checked(self) -> Result<LpPacket<'a>, Fault> {
        if self.place.count == Some(0) || self.place.index >= self.frag_count() {
            return Err(Fault::BadValue(types::LP_FRAG_INDEX));
        }
        if self.frag_count() > 1 && self.place.sequence.is_none() {
            return Err(Fault::Expected(types::LP_SEQUENCE));
        }
        if self.fragment.is_none() && (self.nack.is_some() || self.frag_count() > 1) {
            return Err(Fault::Expected(types::LP_FRAGMENT));
        }
        Ok(self)
    }
}

/// The number in the only known element of a header's value.
fn number_inside(value: &[u8], typ: u64) -> Result<Option<u64>, Fault> {
    let mut inside = Reader::new(value);
    let number = inside.optional(typ)?.map(|element| element.nni()).transpose()?;
    inside.finish()?;
    Ok(number)
}

/// A number of exactly 8 bytes.
fn fixed(header: &Element<'_>) -> Result<u64, Fault> {
    let bytes = header.value.try_into().map_err(|_| Fault::BadLength(header.typ))?;
    Ok(u64::from_be_bytes(bytes))
}
