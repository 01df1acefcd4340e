//! The link packet (NDNLPv2), borrowed.

use crate::nack::NackReason;
use crate::options::{HopOptions, MAX_OPTIONS};
use crate::tlv::{DecodeError, Element, Fault, Reader, read_nni, types};

/// The longest PIT token, in octets.
pub const MAX_PIT_TOKEN: usize = 32;
/// The most acknowledgements that one packet may carry.
pub const MAX_ACKS: usize = 256;

/// A link packet, checked. A bare Interest or Data is one with nothing but a fragment; one without
/// a fragment is IDLE.
#[derive(Clone, Copy, Debug, Default)]
pub struct LpPacket<'a> {
    /// All headers, for the repeatable ones; empty in a bare packet.
    headers: &'a [u8],
    fragment: Option<&'a [u8]>,
    sequence: Option<u64>,
    frag_index: u64,
    frag_count: Option<u64>,
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

impl<'a> LpPacket<'a> {
    /// Checks a frame: a link packet, or a bare Interest or Data, whose inside is not looked at.
    ///
    /// # Errors
    /// A malformed, misplaced or unknown header that may not be ignored; numbers of a wrong
    /// width; a fragment index at or above the count; more acknowledgements or options than are
    /// accepted.
    #[inline]
    pub fn decode(frame: &'a [u8]) -> Result<LpPacket<'a>, DecodeError> {
        decode(frame).map_err(|fault| DecodeError::new("link packet", fault))
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
        self.sequence
    }

    /// Which fragment it is, from 0.
    #[must_use]
    pub const fn frag_index(&self) -> u64 {
        self.frag_index
    }

    /// Of how many fragments the packet consists.
    #[must_use]
    pub const fn frag_count(&self) -> u64 {
        match self.frag_count {
            Some(n) => n,
            None => 1,
        }
    }

    /// 1 to 32 octets that must come back with the answer.
    #[must_use]
    pub const fn pit_token(&self) -> Option<&'a [u8]> {
        self.pit_token
    }

    /// It is a Nack; the fragment is the Interest.
    #[must_use]
    pub const fn nack(&self) -> Option<NackReason> {
        self.nack
    }

    /// The face that a packet came from, told to local applications.
    #[must_use]
    pub const fn incoming_face_id(&self) -> Option<u64> {
        self.incoming_face_id
    }

    /// The face that a local application wants an Interest to leave by.
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

    /// It carries hop-by-hop options.
    #[must_use]
    #[inline]
    pub const fn has_options(&self) -> bool {
        self.has_options
    }

    /// Type and octets of each hop-by-hop option.
    pub fn options(&self) -> impl Iterator<Item = (u32, &'a [u8])> + use<'a> {
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

    /// Nothing but a packet: no header says anything.
    #[must_use]
    pub const fn is_bare(&self) -> bool {
        self.headers.is_empty() && self.fragment.is_some()
    }
}

fn elements(value: &[u8]) -> impl Iterator<Item = Element<'_>> {
    let mut reader = Reader::new(value);
    std::iter::from_fn(move || reader.next_element().ok().flatten())
}

fn decode(frame: &[u8]) -> Result<LpPacket<'_>, Fault> {
    let mut reader = Reader::new(frame);
    let element = reader.next_element()?.ok_or(Fault::Truncated)?;
    if !reader.is_empty() {
        return Err(Fault::Trailing);
    }
    let mut packet = LpPacket::default();
    match element.typ {
        types::INTEREST | types::DATA => {
            packet.fragment = Some(frame);
            return Ok(packet);
        }
        types::LP_PACKET => {}
        other => return Err(Fault::BadType(other)),
    }
    let value = element.value;
    let mut reader = Reader::new(value);
    let (mut reached, mut acks, mut options) = (0, 0, 0);
    while let Some(header) = reader.next_element()? {
        if header.typ == types::LP_FRAGMENT {
            packet.headers = &value[..value.len() - reader.rest().len() - header.whole.len()];
            packet.fragment = Some(header.value).filter(|fragment| !fragment.is_empty());
            // Nothing may stand behind the fragment, whatever its type.
            return if reader.is_empty() { packet.checked() } else { Err(Fault::Trailing) };
        }
        let repeated = header.typ == reached && header.typ == types::LP_ACK;
        if header.typ <= reached && !repeated {
            ignorable(header.typ)?;
            continue;
        }
        reached = header.typ;
        acks += usize::from(header.typ == types::LP_ACK);
        options += usize::from(HopOptions::is_option_type(header.typ));
        if acks > MAX_ACKS || options > MAX_OPTIONS {
            return Err(Fault::TooLarge(value.len() as u64));
        }
        packet.take(&header)?;
    }
    packet.headers = value;
    packet.checked()
}

/// NDNLPv2: an unknown header is ignored if its type is from 800 to 959 and divisible by 4.
fn ignorable(typ: u64) -> Result<(), Fault> {
    if (800..=959).contains(&typ) && typ & 3 == 0 { Ok(()) } else { Err(Fault::Header(typ)) }
}

impl<'a> LpPacket<'a> {
    fn take(&mut self, header: &Element<'a>) -> Result<(), Fault> {
        match header.typ {
            types::LP_SEQUENCE => self.sequence = Some(fixed(header)?),
            types::LP_FRAG_INDEX => self.frag_index = header.nni()?,
            types::LP_FRAG_COUNT => self.frag_count = Some(header.nni()?),
            types::LP_PIT_TOKEN => {
                if header.value.is_empty() || header.value.len() > MAX_PIT_TOKEN {
                    return Err(Fault::BadLength(header.typ));
                }
                self.pit_token = Some(header.value);
            }
            types::LP_NACK => {
                let mut inside = Reader::new(header.value);
                let reason = inside.optional(types::LP_NACK_REASON)?;
                let reason = reason.map(|e| e.nni()).transpose()?.unwrap_or(0);
                self.nack = Some(NackReason::from(reason));
            }
            types::LP_INCOMING_FACE_ID => self.incoming_face_id = Some(header.nni()?),
            types::LP_NEXT_HOP_FACE_ID => self.next_hop_face_id = Some(header.nni()?),
            types::LP_CACHE_POLICY => {
                let mut inside = Reader::new(header.value);
                let policy = inside.optional(types::LP_CACHE_POLICY_TYPE)?;
                self.no_cache = policy.map(|e| e.nni()).transpose()? == Some(1);
            }
            types::LP_CONGESTION_MARK => self.congestion_mark = header.nni()?,
            types::LP_ACK => {
                fixed(header)?;
                self.has_acks = true;
            }
            types::LP_TX_SEQUENCE => self.tx_sequence = Some(fixed(header)?),
            types::LP_NON_DISCOVERY => self.non_discovery = true,
            types::LP_PREFIX_ANNOUNCEMENT => self.prefix_announcement = Some(header.value),
            typ if HopOptions::is_option_type(typ) => self.has_options = true,
            typ => ignorable(typ)?,
        }
        Ok(())
    }

    fn checked(self) -> Result<LpPacket<'a>, Fault> {
        if self.frag_count == Some(0) || self.frag_index >= self.frag_count() {
            return Err(Fault::BadValue(types::LP_FRAG_INDEX));
        }
        if self.frag_count() > 1 && self.sequence.is_none() {
            return Err(Fault::Expected(types::LP_SEQUENCE));
        }
        if self.nack.is_some() && self.fragment.is_none() {
            return Err(Fault::Expected(types::LP_FRAGMENT));
        }
        Ok(self)
    }
}

/// A number of exactly 8 octets.
fn fixed(header: &Element<'_>) -> Result<u64, Fault> {
    let octets = header.value.try_into().map_err(|_| Fault::BadLength(header.typ))?;
    Ok(u64::from_be_bytes(octets))
}
