//! The Data packet.

use crate::component::{Component, ComponentRef};
use crate::interest::Interest;
use crate::name::{Name, NameRef};
use crate::signature::{Signature, SignatureInfo, SignatureInfoBuf};
use crate::tlv::{self, DecodeError, Fault, Reader, types};
use bytes::Bytes;
use sha2::{Digest as _, Sha256};

/// Assigned content types.
pub struct ContentType;

impl ContentType {
    /// Payload.
    pub const BLOB: u64 = 0;
    /// A list of names to continue at.
    pub const LINK: u64 = 1;
    /// A public key or certificate.
    pub const KEY: u64 = 2;
    /// An application's "no".
    pub const NACK: u64 = 3;
    /// A list of digests of other packets.
    pub const MANIFEST: u64 = 4;
    /// A prefix announcement.
    pub const PREFIX_ANNOUNCEMENT: u64 = 5;
}

/// A Data packet, checked.
#[derive(Clone, Copy, Debug)]
pub struct Data<'a> {
    wire: &'a [u8],
    name: NameRef<'a>,
    content_type: u64,
    freshness_ms: Option<u64>,
    final_block: Option<ComponentRef<'a>>,
    content: &'a [u8],
    signed: &'a [u8],
    signature_info: SignatureInfo<'a>,
    signature_value: &'a [u8],
}

impl<'a> Data<'a> {
    /// Checks a Data packet.
    ///
    /// # Errors
    /// Anything that the packet format forbids: a malformed, critical unknown, repeated or
    /// misplaced element, a missing signature element, more than [`crate::MAX_PACKET`] bytes.
    pub fn decode(wire: &'a [u8]) -> Result<Data<'a>, DecodeError> {
        let mut at = 0;
        decode(wire, &mut at).map_err(|fault| DecodeError::new("Data", fault).at(at))
    }

    /// The name, without the implicit digest.
    #[must_use]
    #[inline]
    pub const fn name(&self) -> NameRef<'a> {
        self.name
    }

    /// See [`ContentType`].
    #[must_use]
    pub const fn content_type(&self) -> u64 {
        self.content_type
    }

    /// The freshness period after arrival, in milliseconds; without it, the packet is never fresh.
    #[must_use]
    pub const fn freshness_ms(&self) -> Option<u64> {
        self.freshness_ms
    }

    /// The last component of the last packet's name.
    #[must_use]
    pub const fn final_block(&self) -> Option<ComponentRef<'a>> {
        self.final_block
    }

    /// The content.
    #[must_use]
    #[inline]
    pub const fn content(&self) -> &'a [u8] {
        self.content
    }

    /// How it is signed.
    #[must_use]
    pub const fn signature_info(&self) -> SignatureInfo<'a> {
        self.signature_info
    }

    /// The signature.
    #[must_use]
    pub const fn signature_value(&self) -> &'a [u8] {
        self.signature_value
    }

    /// The signed portion: from the name up to, but not including, the SignatureValue.
    #[must_use]
    pub const fn signed_portion(&self) -> &'a [u8] {
        self.signed
    }

    /// The whole packet.
    #[must_use]
    #[inline]
    pub const fn wire(&self) -> &'a [u8] {
        self.wire
    }

    /// SHA-256 of the whole packet, the last component of its full name.
    #[must_use]
    pub fn implicit_digest(&self) -> [u8; 32] {
        Sha256::digest(self.wire).into()
    }

    /// Returns `true` if its name answers `interest`. The content store decides about freshness.
    #[must_use]
    pub fn satisfies(&self, interest: &Interest<'_>) -> bool {
        let wanted = interest.name();
        if wanted == self.name || (interest.can_be_prefix() && self.name.starts_with(wanted)) {
            return true;
        }
        wanted.len() == self.name.len() + 1
            && wanted.starts_with(self.name)
            && wanted.last().is_some_and(|last| {
                last.typ() == types::IMPLICIT_DIGEST && last.value() == self.implicit_digest()
            })
    }
}

/// Leaves `at` at the first byte of the faulty element.
#[inline(always)]
fn decode<'a>(wire: &'a [u8], at: &mut usize) -> Result<Data<'a>, Fault> {
    if wire.len() > crate::MAX_PACKET {
        return Err(Fault::TooLarge(wire.len() as u64));
    }
    let value = tlv::only(wire, types::DATA)?;
    let mut reader = Reader::new(value);
    *at = wire.len() - value.len();
    let name = NameRef::check(reader.expect(types::NAME)?.value)?;
    let mut meta = MetaInfo::default();
    let (mut content, mut signed) = (&value[..0], value);
    let (mut info, mut signature) = (None, None);
    let mut reached = 0;
    loop {
        let left = reader.rest().len();
        *at = wire.len() - left;
        let Some(element) = reader.next_element()? else { break };
        match place(element.typ) {
            Some(place) if place > reached => reached = place,
            _ if element.is_critical() => return Err(Fault::Critical(element.typ)),
            _ => continue,
        }
        match element.typ {
            types::META_INFO => meta = MetaInfo::decode(element.value)?,
            types::CONTENT => content = element.value,
            types::SIGNATURE_INFO => info = Some(SignatureInfo::decode(element.value)?),
            _ => {
                signed = &value[..value.len() - left];
                signature = Some(element.value);
            }
        }
    }
    Ok(Data {
        wire,
        name,
        content_type: meta.content_type,
        freshness_ms: meta.freshness_ms,
        final_block: meta.final_block,
        content,
        signed,
        signature_info: info.ok_or(Fault::Expected(types::SIGNATURE_INFO))?,
        signature_value: signature.ok_or(Fault::Expected(types::SIGNATURE_VALUE))?,
    })
}

/// The known elements after the name, in their order.
const fn place(typ: u64) -> Option<u8> {
    Some(match typ {
        types::META_INFO => 1,
        types::CONTENT => 2,
        types::SIGNATURE_INFO => 3,
        types::SIGNATURE_VALUE => 4,
        _ => return None,
    })
}

#[derive(Default)]
struct MetaInfo<'a> {
    content_type: u64,
    freshness_ms: Option<u64>,
    final_block: Option<ComponentRef<'a>>,
}

impl<'a> MetaInfo<'a> {
    fn decode(value: &'a [u8]) -> Result<MetaInfo<'a>, Fault> {
        let mut reader = Reader::new(value);
        let mut meta = MetaInfo::default();
        let mut reached = 0;
        while let Some(element) = reader.next_element()? {
            match element.typ {
                // Their numbers are in their order.
                types::CONTENT_TYPE..=types::FINAL_BLOCK_ID if element.typ > reached => {
                    reached = element.typ;
                }
                typ if element.is_critical() => return Err(Fault::Critical(typ)),
                _ => continue,
            }
            match element.typ {
                types::CONTENT_TYPE => meta.content_type = element.nni()?,
                types::FRESHNESS_PERIOD => meta.freshness_ms = Some(element.nni()?),
                _ => meta.final_block = Some(final_block(element.value)?),
            }
        }
        Ok(meta)
    }
}

/// `FinalBlockId = FINAL-BLOCK-ID-TYPE TLV-LENGTH NameComponent`
fn final_block(value: &[u8]) -> Result<ComponentRef<'_>, Fault> {
    let bad = Fault::BadValue(types::FINAL_BLOCK_ID);
    let mut reader = Reader::new(value);
    let component = ComponentRef::from_element(&reader.next_element()?.ok_or(bad)?)?;
    if reader.is_empty() { Ok(component) } else { Err(bad) }
}

/// A Data packet to be encoded, in borrowed parts.
#[derive(Clone, Copy, Debug)]
pub struct DataParts<'a> {
    /// The name's leading components.
    pub name: NameRef<'a>,
    /// One more component, or none.
    pub last: Option<ComponentRef<'a>>,
    /// See [`ContentType`].
    pub content_type: u64,
    /// See [`Data::freshness_ms`].
    pub freshness_ms: Option<u64>,
    /// See [`Data::final_block`].
    pub final_block: Option<ComponentRef<'a>>,
    /// The content.
    pub content: &'a [u8],
}

impl DataParts<'_> {
    /// Appends the packet. `sign` is given the signed portion. `value_len` is the length of the
    /// signatures that `sign` makes, so that lengths are known beforehand; a value of another
    /// length costs a second pass.
    pub fn encode_into(
        &self,
        info: &SignatureInfoBuf,
        value_len: usize,
        sign: impl FnOnce(&[u8]) -> Signature,
        out: &mut Vec<u8>,
    ) {
        let signed_len = self.signed_len(info);
        let start = out.len();
        let len = signed_len + tlv::tlv_len(types::SIGNATURE_VALUE, value_len);
        out.reserve(tlv::tlv_len(types::DATA, len));
        tlv::put_header(out, types::DATA, len);
        let signed_at = out.len();
        self.encode_signed(info, out);
        let value = sign(&out[signed_at..]);
        let actual_len = signed_len + tlv::tlv_len(types::SIGNATURE_VALUE, value.as_bytes().len());
        if actual_len != len {
            let mut header = Vec::new();
            tlv::put_header(&mut header, types::DATA, actual_len);
            out.splice(start..signed_at, header);
        }
        tlv::put_tlv(out, types::SIGNATURE_VALUE, value.as_bytes());
    }

    fn name_len(&self) -> usize {
        self.name.as_bytes().len() + self.last.map_or(0, |component| component.encoded_len())
    }

    fn meta_len(&self) -> usize {
        let mut len = 0;
        if self.content_type != ContentType::BLOB {
            len += tlv::nni_tlv_len(types::CONTENT_TYPE, self.content_type);
        }
        if let Some(ms) = self.freshness_ms {
            len += tlv::nni_tlv_len(types::FRESHNESS_PERIOD, ms);
        }
        if let Some(component) = self.final_block {
            len += tlv::tlv_len(types::FINAL_BLOCK_ID, component.encoded_len());
        }
        len
    }

    fn signed_len(&self, info: &SignatureInfoBuf) -> usize {
        let meta = match self.meta_len() {
            0 => 0,
            len => tlv::tlv_len(types::META_INFO, len),
        };
        tlv::tlv_len(types::NAME, self.name_len())
            + meta
            + tlv::tlv_len(types::CONTENT, self.content.len())
            + tlv::tlv_len(types::SIGNATURE_INFO, info.as_bytes().len())
    }

    fn encode_signed(&self, info: &SignatureInfoBuf, out: &mut Vec<u8>) {
        tlv::put_header(out, types::NAME, self.name_len());
        out.extend_from_slice(self.name.as_bytes());
        if let Some(component) = self.last {
            component.encode_into(out);
        }
        let meta_len = self.meta_len();
        if meta_len > 0 {
            tlv::put_header(out, types::META_INFO, meta_len);
        }
        if self.content_type != ContentType::BLOB {
            tlv::put_nni_tlv(out, types::CONTENT_TYPE, self.content_type);
        }
        if let Some(ms) = self.freshness_ms {
            tlv::put_nni_tlv(out, types::FRESHNESS_PERIOD, ms);
        }
        if let Some(component) = self.final_block {
            tlv::put_header(out, types::FINAL_BLOCK_ID, component.encoded_len());
            component.encode_into(out);
        }
        tlv::put_tlv(out, types::CONTENT, self.content);
        tlv::put_tlv(out, types::SIGNATURE_INFO, info.as_bytes());
    }
}

/// A Data packet with all its fields but the signature.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DataBuf {
    /// The name.
    pub name: Name,
    /// See [`ContentType`].
    pub content_type: u64,
    /// See [`Data::freshness_ms`].
    pub freshness_ms: Option<u64>,
    /// See [`Data::final_block`].
    pub final_block: Option<Component>,
    /// The content.
    pub content: Bytes,
}

impl DataBuf {
    /// A packet of that name and content, of type BLOB.
    #[must_use]
    pub fn new(name: Name, content: impl Into<Bytes>) -> DataBuf {
        DataBuf { name, content: content.into(), ..DataBuf::default() }
    }

    /// The fields of a decoded packet.
    #[must_use]
    pub fn from_view(view: &Data<'_>) -> DataBuf {
        DataBuf {
            name: view.name().to_name(),
            content_type: view.content_type(),
            freshness_ms: view.freshness_ms(),
            final_block: view.final_block().map(|c| c.to_component()),
            content: Bytes::copy_from_slice(view.content()),
        }
    }

    fn parts(&self) -> DataParts<'_> {
        DataParts {
            name: self.name.as_ref(),
            last: None,
            content_type: self.content_type,
            freshness_ms: self.freshness_ms,
            final_block: self.final_block.as_ref().map(Component::as_ref),
            content: &self.content,
        }
    }

    /// Appends the packet; `sign` is given the signed portion.
    pub fn encode_into(
        &self,
        info: &SignatureInfoBuf,
        sign: impl FnOnce(&[u8]) -> Signature,
        out: &mut Vec<u8>,
    ) {
        self.parts().encode_into(info, 32, sign, out);
    }

    /// The packet with a DigestSha256 signature.
    #[must_use]
    pub fn encode_digest(&self) -> Bytes {
        let mut out = Vec::new();
        self.encode_into(
            &SignatureInfoBuf::digest(),
            |portion| Signature::from(<[u8; 32]>::from(Sha256::digest(portion))),
            &mut out,
        );
        out.into()
    }
}
