//! SignatureInfo, of Data and of Interests, and signature values.

use crate::name::{Name, NameRef};
use crate::tlv::{self, Element, Fault, Reader, types};
use smallvec::SmallVec;

/// How a packet is signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SignatureType {
    /// SHA-256 of the signed portion: integrity, no origin.
    DigestSha256,
    /// RSA with SHA-256, PKCS #1 v1.5.
    Sha256WithRsa,
    /// ECDSA with SHA-256, a DER-encoded value.
    Sha256WithEcdsa,
    /// HMAC with SHA-256.
    HmacWithSha256,
    /// Ed25519 over the signed portion itself.
    Ed25519,
    /// No signature; for tests.
    Null,
    /// Another type.
    Other(u64),
}

impl SignatureType {
    /// The assigned number.
    #[must_use]
    pub const fn number(self) -> u64 {
        match self {
            SignatureType::DigestSha256 => 0,
            SignatureType::Sha256WithRsa => 1,
            SignatureType::Sha256WithEcdsa => 3,
            SignatureType::HmacWithSha256 => 4,
            SignatureType::Ed25519 => 5,
            SignatureType::Null => 200,
            SignatureType::Other(n) => n,
        }
    }
}

impl From<u64> for SignatureType {
    fn from(n: u64) -> SignatureType {
        match n {
            0 => SignatureType::DigestSha256,
            1 => SignatureType::Sha256WithRsa,
            3 => SignatureType::Sha256WithEcdsa,
            4 => SignatureType::HmacWithSha256,
            5 => SignatureType::Ed25519,
            200 => SignatureType::Null,
            n => SignatureType::Other(n),
        }
    }
}

/// Where the key is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyLocator<'a> {
    /// The name of a key or certificate.
    Name(NameRef<'a>),
    /// A digest of the key.
    Digest(&'a [u8]),
}

/// A checked SignatureInfo or InterestSignatureInfo. Every packet is checked but few are queried,
/// so only the type is stored and the rest is decoded on demand.
#[derive(Clone, Copy, Debug)]
pub struct SignatureInfo<'a> {
    value: &'a [u8],
    signature_type: SignatureType,
}

/// The fields of a SignatureInfo.
struct Fields<'a> {
    signature_type: SignatureType,
    key_locator: Option<KeyLocator<'a>>,
    nonce: Option<&'a [u8]>,
    time: Option<u64>,
    sequence: Option<u64>,
}

impl<'a> SignatureInfo<'a> {
    /// Checks the value of a SignatureInfo or InterestSignatureInfo element.
    ///
    /// # Errors
    /// An element is malformed, out of order, or critical and unknown.
    #[inline]
    pub fn decode(value: &'a [u8]) -> Result<SignatureInfo<'a>, Fault> {
        // Many contain only their type.
        let signature_type = match *value {
            [typ, 1, number] if u64::from(typ) == types::SIGNATURE_TYPE => {
                SignatureType::from(u64::from(number))
            }
            _ => Fields::read(value)?.signature_type,
        };
        Ok(SignatureInfo { value, signature_type })
    }

    /// Its fields, which were decoded without a fault before.
    fn fields(&self) -> Fields<'a> {
        Fields::read(self.value).unwrap_or_default()
    }

    /// The type of the signature.
    #[must_use]
    pub const fn signature_type(&self) -> SignatureType {
        self.signature_type
    }

    /// The place of the key, if present in a known form.
    #[must_use]
    pub fn key_locator(&self) -> Option<KeyLocator<'a>> {
        self.fields().key_locator
    }

    /// The signature's nonce (Interests).
    #[must_use]
    pub fn nonce(&self) -> Option<&'a [u8]> {
        self.fields().nonce
    }

    /// Milliseconds since 1970 (Interests).
    #[must_use]
    pub fn time_ms(&self) -> Option<u64> {
        self.fields().time
    }

    /// The signature's sequence number (Interests).
    #[must_use]
    pub fn sequence(&self) -> Option<u64> {
        self.fields().sequence
    }

    /// The bytes of an element of the SignatureInfo that this type does not decode, such as the
    /// ValidityPeriod of a certificate.
    #[must_use]
    pub fn element(&self, typ: u64) -> Option<&'a [u8]> {
        let mut reader = Reader::new(self.value);
        while let Ok(Some(element)) = reader.next_element() {
            if element.typ == typ {
                return Some(element.value);
            }
        }
        None
    }

    /// The whole TLV-VALUE.
    #[must_use]
    pub const fn as_bytes(&self) -> &'a [u8] {
        self.value
    }
}

impl Default for Fields<'_> {
    fn default() -> Self {
        Fields {
            signature_type: SignatureType::Null,
            key_locator: None,
            nonce: None,
            time: None,
            sequence: None,
        }
    }
}

impl<'a> Fields<'a> {
    #[inline(never)]
    fn read(value: &'a [u8]) -> Result<Fields<'a>, Fault> {
        let mut reader = Reader::new(value);
        let mut fields = Fields::default();
        let mut reached = 0;
        while let Some(element) = reader.next_element()? {
            match place(element.typ) {
                // Every other element is out of order before the SignatureType.
                Some(place) if place > reached && (reached > 0 || place == 1) => {
                    reached = place;
                    fields.take(&element)?;
                }
                _ if element.is_critical() => return Err(Fault::Critical(element.typ)),
                _ => {}
            }
        }
        if reached == 0 { Err(Fault::Expected(types::SIGNATURE_TYPE)) } else { Ok(fields) }
    }

    fn take(&mut self, element: &Element<'a>) -> Result<(), Fault> {
        match element.typ {
            types::SIGNATURE_TYPE => self.signature_type = SignatureType::from(element.nni()?),
            types::KEY_LOCATOR => self.key_locator = key_locator(element.value)?,
            types::SIGNATURE_NONCE if element.value.is_empty() => {
                return Err(Fault::BadLength(element.typ));
            }
            types::SIGNATURE_NONCE => self.nonce = Some(element.value),
            types::SIGNATURE_TIME => self.time = Some(element.nni()?),
            types::SIGNATURE_SEQ_NUM => self.sequence = Some(element.nni()?),
            // A certificate's element: known, so that its critical number is accepted; see
            // [`SignatureInfo::element`].
            _ => {}
        }
        Ok(())
    }
}

/// The known elements, in their order (NDN Packet Format, "Signature";
/// NDN Certificate Format, "SignatureInfo").
const fn place(typ: u64) -> Option<u8> {
    Some(match typ {
        types::SIGNATURE_TYPE => 1,
        types::KEY_LOCATOR => 2,
        types::SIGNATURE_NONCE => 3,
        types::SIGNATURE_TIME => 4,
        types::SIGNATURE_SEQ_NUM => 5,
        types::VALIDITY_PERIOD => 6,
        _ => return None,
    })
}

/// `KeyLocator = KEY-LOCATOR-TYPE TLV-LENGTH (Name / KeyDigest)`. A locator with neither is not an
/// error here: the verifier decides about it.
fn key_locator(value: &[u8]) -> Result<Option<KeyLocator<'_>>, Fault> {
    let mut reader = Reader::new(value);
    let locator = if let Some(name) = reader.optional(types::NAME)? {
        Some(KeyLocator::Name(NameRef::decode(name.value).map_err(|e| e.fault)?))
    } else {
        reader.optional(types::KEY_DIGEST)?.map(|digest| KeyLocator::Digest(digest.value))
    };
    reader.finish()?;
    Ok(locator)
}

/// An owned SignatureInfo.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SignatureInfoBuf {
    value: Vec<u8>,
}

impl SignatureInfoBuf {
    /// A signature of type `signature_type` by a key of that name.
    #[must_use]
    pub fn new(signature_type: SignatureType, key_locator: Option<Name>) -> SignatureInfoBuf {
        let mut value = Vec::new();
        tlv::put_nni_tlv(&mut value, types::SIGNATURE_TYPE, signature_type.number());
        if let Some(name) = key_locator {
            tlv::put_header(&mut value, types::KEY_LOCATOR, name.encoded_len());
            name.encode_into(&mut value);
        }
        SignatureInfoBuf { value }
    }

    /// A DigestSha256 signature.
    #[must_use]
    pub fn digest() -> SignatureInfoBuf {
        SignatureInfoBuf::new(SignatureType::DigestSha256, None)
    }

    /// With a nonce (Interests; 8 bytes are advised).
    #[must_use]
    pub fn with_nonce(mut self, nonce: &[u8]) -> SignatureInfoBuf {
        tlv::put_tlv(&mut self.value, types::SIGNATURE_NONCE, nonce);
        self
    }

    /// Adds a time in milliseconds since 1970 (Interests, and Data in sync Interests), after the
    /// nonce.
    #[must_use]
    pub fn with_time_ms(mut self, ms: u64) -> SignatureInfoBuf {
        tlv::put_nni_tlv(&mut self.value, types::SIGNATURE_TIME, ms);
        self
    }

    /// Adds a sequence number (Interests), after the time.
    #[must_use]
    pub fn with_sequence(mut self, n: u64) -> SignatureInfoBuf {
        tlv::put_nni_tlv(&mut self.value, types::SIGNATURE_SEQ_NUM, n);
        self
    }

    /// With another element, such as a ValidityPeriod; elements are written in the order of the
    /// calls.
    #[must_use]
    pub fn with_element(mut self, typ: u64, value: &[u8]) -> SignatureInfoBuf {
        tlv::put_tlv(&mut self.value, typ, value);
        self
    }

    /// A copy of a decoded one, unknown elements included.
    #[must_use]
    pub fn from_view(view: &SignatureInfo<'_>) -> SignatureInfoBuf {
        SignatureInfoBuf { value: view.value.to_vec() }
    }

    /// The TLV-VALUE.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.value
    }
}

/// A signature value; the common ones need no allocation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature(SmallVec<[u8; 72]>);

impl Signature {
    /// A value of any length.
    #[must_use]
    pub fn new(value: &[u8]) -> Signature {
        Signature(SmallVec::from_slice(value))
    }

    /// The bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

impl<const N: usize> From<[u8; N]> for Signature {
    fn from(value: [u8; N]) -> Signature {
        Signature::new(&value)
    }
}
