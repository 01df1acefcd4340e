//! The Interest packet, borrowed.

use crate::name::NameRef;
use crate::signature::SignatureInfo;
use crate::tlv::{self, DecodeError, Element, Fault, Reader, offset, types};
use sha2::{Digest as _, Sha256};

/// The InterestLifetime of a packet without one, in milliseconds.
pub const DEFAULT_LIFETIME_MS: u64 = 4000;

/// An Interest, checked.
#[derive(Clone, Copy, Debug)]
pub struct Interest<'a> {
    wire: &'a [u8],
    name: NameRef<'a>,
    can_be_prefix: bool,
    must_be_fresh: bool,
    forwarding_hint: &'a [u8],
    nonce: Option<u32>,
    nonce_at: u16,
    lifetime_ms: Option<u64>,
    hop_limit: Option<u8>,
    hop_limit_at: u16,
    /// From ApplicationParameters to the end; empty without parameters.
    tail: &'a [u8],
    parameters: Option<&'a [u8]>,
    signature_info: Option<SignatureInfo<'a>>,
    signature_value: Option<&'a [u8]>,
}

impl<'a> Interest<'a> {
    /// Checks an Interest.
    ///
    /// # Errors
    /// Everything that the packet format forbids: a malformed, critical unknown, repeated or
    /// misplaced element, an empty name or one with two parameters digests, a forwarding hint
    /// without a name, half a signature, more than [`crate::MAX_PACKET`] bytes.
    /// [`Interest::check_parameters_digest`] checks the value of the parameters digest.
    pub fn decode(wire: &'a [u8]) -> Result<Interest<'a>, DecodeError> {
        let mut at = 0;
        decode(wire, &mut at).map_err(|fault| DecodeError::new("Interest", fault).at(at))
    }

    /// The name.
    #[must_use]
    #[inline]
    pub const fn name(&self) -> NameRef<'a> {
        self.name
    }

    /// Data whose name begins with the Interest's may answer (CanBePrefix).
    #[must_use]
    #[inline]
    pub const fn can_be_prefix(&self) -> bool {
        self.can_be_prefix
    }

    /// Stale Data may not answer from a content store (MustBeFresh).
    #[must_use]
    #[inline]
    pub const fn must_be_fresh(&self) -> bool {
        self.must_be_fresh
    }

    /// The names under which the network finds the producer, best first.
    #[inline]
    pub fn forwarding_hint(&self) -> impl Iterator<Item = NameRef<'a>> + use<'a> {
        let mut reader = Reader::new(self.forwarding_hint);
        std::iter::from_fn(move || {
            if reader.is_empty() { None } else { next_hint(&mut reader).ok().flatten() }
        })
    }

    /// The nonce.
    #[must_use]
    #[inline]
    pub const fn nonce(&self) -> Option<u32> {
        self.nonce
    }

    /// Where the 4 bytes of the nonce are in [`Interest::wire`].
    #[must_use]
    pub fn nonce_at(&self) -> Option<usize> {
        self.nonce.map(|_| usize::from(self.nonce_at))
    }

    /// The lifetime in milliseconds; [`DEFAULT_LIFETIME_MS`] if the packet has none.
    #[must_use]
    #[inline]
    pub const fn lifetime_ms(&self) -> u64 {
        match self.lifetime_ms {
            Some(ms) => ms,
            None => DEFAULT_LIFETIME_MS,
        }
    }

    /// The InterestLifetime element, in milliseconds, if there is one.
    #[must_use]
    pub const fn stated_lifetime_ms(&self) -> Option<u64> {
        self.lifetime_ms
    }

    /// The number of remaining hops.
    #[must_use]
    #[inline]
    pub const fn hop_limit(&self) -> Option<u8> {
        self.hop_limit
    }

    /// Where the byte of the hop limit is in [`Interest::wire`], to decrement it in place.
    #[must_use]
    pub fn hop_limit_at(&self) -> Option<usize> {
        self.hop_limit.map(|_| usize::from(self.hop_limit_at))
    }

    /// ApplicationParameters.
    #[must_use]
    pub const fn parameters(&self) -> Option<&'a [u8]> {
        self.parameters
    }

    /// InterestSignatureInfo.
    #[must_use]
    pub const fn signature_info(&self) -> Option<SignatureInfo<'a>> {
        self.signature_info
    }

    /// InterestSignatureValue.
    #[must_use]
    pub const fn signature_value(&self) -> Option<&'a [u8]> {
        self.signature_value
    }

    /// The signed portion, in pieces to be hashed one after the other: the name's components before
    /// and after the parameters digest, then everything from ApplicationParameters up to, but not
    /// including, InterestSignatureValue.
    #[must_use]
    pub fn signed_portion(&self) -> [&'a [u8]; 3] {
        let name = self.name.as_bytes();
        let (mut before, mut after) = (name, &name[name.len()..]);
        let mut start = 0;
        for (component, end) in self.name.components().zip(self.name.prefix_ends()) {
            if component.typ() == types::PARAMETERS_DIGEST {
                (before, after) = (&name[..start], &name[end..]);
                break;
            }
            start = end;
        }
        [before, after, &self.tail[..self.unsigned_at()]]
    }

    /// The offset of InterestSignatureValue in the tail; the tail's end if there is none.
    fn unsigned_at(&self) -> usize {
        self.signature_value.map_or(self.tail.len(), |value| {
            // Its type and length have their shortest forms, or it would not have been accepted.
            let whole = tlv::tlv_len(types::INTEREST_SIGNATURE_VALUE, value.len());
            offset(self.tail, value) + value.len() - whole
        })
    }

    /// Returns `true` if the name's ParametersSha256DigestComponent is right: present exactly if
    /// there are parameters, and the digest of these and all following elements.
    #[must_use]
    pub fn check_parameters_digest(&self) -> bool {
        let mut digests = self.name.components().filter(|c| c.typ() == types::PARAMETERS_DIGEST);
        match (digests.next(), self.parameters) {
            (None, None) => true,
            (Some(digest), Some(_)) if digests.next().is_none() => {
                digest.value() == Sha256::digest(self.tail).as_slice()
            }
            _ => false,
        }
    }

    /// The whole packet.
    #[must_use]
    #[inline]
    pub const fn wire(&self) -> &'a [u8] {
        self.wire
    }
}

/// The known elements after the name, in their order. A known element after one of a higher place
/// is out of order, and treated like an unknown one.
const fn place(typ: u64) -> Option<u8> {
    Some(match typ {
        types::CAN_BE_PREFIX => 1,
        types::MUST_BE_FRESH => 2,
        types::FORWARDING_HINT => 3,
        types::NONCE => 4,
        types::INTEREST_LIFETIME => 5,
        types::HOP_LIMIT => 6,
        types::APPLICATION_PARAMETERS => 7,
        types::INTEREST_SIGNATURE_INFO => 8,
        types::INTEREST_SIGNATURE_VALUE => 9,
        _ => return None,
    })
}

/// Leaves `at` at the first byte of the faulty element.
#[inline(always)]
fn decode<'a>(wire: &'a [u8], at: &mut usize) -> Result<Interest<'a>, Fault> {
    if wire.len() > crate::MAX_PACKET {
        return Err(Fault::TooLarge(wire.len() as u64));
    }
    let value = tlv::only(wire, types::INTEREST)?;
    let mut reader = Reader::new(value);
    *at = wire.len() - value.len();
    let mut interest = Interest::named(wire, name(reader.expect(types::NAME)?.value)?);
    let mut reached = 0;
    loop {
        *at = wire.len() - reader.rest().len();
        let Some(element) = reader.next_element()? else { break };
        match place(element.typ) {
            // A signature without ApplicationParameters before it is out of place.
            Some(8 | 9) if interest.parameters.is_none() => {}
            Some(place) if place > reached => {
                reached = place;
                interest.take(&element)?;
            }
            _ if element.is_critical() => return Err(Fault::Critical(element.typ)),
            _ => {}
        }
    }
    match (interest.signature_info, interest.signature_value) {
        (Some(_), None) => Err(Fault::Expected(types::INTEREST_SIGNATURE_VALUE)),
        (None, Some(_)) => Err(Fault::Expected(types::INTEREST_SIGNATURE_INFO)),
        _ => Ok(interest),
    }
}

/// The name of an Interest has a component, and at most one parameters digest.
fn name(value: &[u8]) -> Result<NameRef<'_>, Fault> {
    let (name, digests) = NameRef::check_counting(value)?;
    match (name.is_empty(), digests) {
        (true, _) => Err(Fault::BadLength(types::NAME)),
        (false, 0 | 1) => Ok(name),
        _ => Err(Fault::BadValue(types::NAME)),
    }
}

/// `ForwardingHint = FORWARDING-HINT-TYPE TLV-LENGTH 1*Name`
fn check_forwarding_hint(value: &[u8]) -> Result<(), Fault> {
    let mut reader = Reader::new(value);
    next_hint(&mut reader)?.ok_or(Fault::Expected(types::NAME))?;
    while next_hint(&mut reader)?.is_some() {}
    Ok(())
}

/// The next name of a forwarding hint. Like ndn-cxx, and so NFD, it also accepts the format's older
/// form, `1*Delegation` with `Delegation = DELEGATION-TYPE TLV-LENGTH Preference Name`, and uses
/// only the order of the names.
fn next_hint<'a>(reader: &mut Reader<'a>) -> Result<Option<NameRef<'a>>, Fault> {
    while let Some(element) = reader.next_element()? {
        let name = match element.typ {
            types::NAME => element.value,
            types::DELEGATION => delegated(element.value)?,
            typ if element.is_critical() => return Err(Fault::Critical(typ)),
            _ => continue,
        };
        return NameRef::decode(name).map(Some).map_err(|e| e.fault);
    }
    Ok(None)
}

fn delegated(delegation: &[u8]) -> Result<&[u8], Fault> {
    let mut reader = Reader::new(delegation);
    reader.optional(types::PREFERENCE)?;
    let name = reader.optional(types::NAME)?.ok_or(Fault::Expected(types::NAME))?;
    reader.finish().map(|()| name.value)
}

impl<'a> Interest<'a> {
    /// An Interest with only its name decoded.
    const fn named(wire: &'a [u8], name: NameRef<'a>) -> Interest<'a> {
        Interest {
            wire,
            name,
            can_be_prefix: false,
            must_be_fresh: false,
            forwarding_hint: &[],
            nonce: None,
            nonce_at: 0,
            lifetime_ms: None,
            hop_limit: None,
            hop_limit_at: 0,
            tail: &[],
            parameters: None,
            signature_info: None,
            signature_value: None,
        }
    }

    fn take(&mut self, element: &Element<'a>) -> Result<(), Fault> {
        let bad_length = Fault::BadLength(element.typ);
        match element.typ {
            types::CAN_BE_PREFIX if element.value.is_empty() => self.can_be_prefix = true,
            types::MUST_BE_FRESH if element.value.is_empty() => self.must_be_fresh = true,
            types::CAN_BE_PREFIX | types::MUST_BE_FRESH => return Err(bad_length),
            types::FORWARDING_HINT => {
                check_forwarding_hint(element.value)?;
                self.forwarding_hint = element.value;
            }
            types::NONCE => {
                let bytes = element.value.try_into().map_err(|_| bad_length)?;
                self.nonce = Some(u32::from_be_bytes(bytes));
                self.nonce_at = offset(self.wire, element.value) as u16;
            }
            types::INTEREST_LIFETIME => self.lifetime_ms = Some(element.nni()?),
            types::HOP_LIMIT => {
                let [limit] = *element.value else { return Err(bad_length) };
                self.hop_limit = Some(limit);
                self.hop_limit_at = offset(self.wire, element.value) as u16;
            }
            types::APPLICATION_PARAMETERS => {
                self.parameters = Some(element.value);
                self.tail = &self.wire[offset(self.wire, element.whole)..];
            }
            types::INTEREST_SIGNATURE_INFO => {
                self.signature_info = Some(SignatureInfo::decode(element.value)?);
            }
            _ => self.signature_value = Some(element.value),
        }
        Ok(())
    }
}
