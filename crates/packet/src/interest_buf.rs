//! The Interest packet, owned.

use crate::component::ComponentRef;
use crate::interest::Interest;
use crate::name::{Name, NameRef};
use crate::signature::{Signature, SignatureInfoBuf};
use crate::tlv::{self, types};
use bytes::Bytes;
use sha2::{Digest as _, Sha256};

/// The signature of an Interest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InterestSignature {
    /// InterestSignatureInfo.
    pub info: SignatureInfoBuf,
    /// InterestSignatureValue.
    pub value: Signature,
}

/// An Interest with all its fields.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InterestBuf {
    /// The name. If there are parameters, encoding adds their digest at the end, or replaces an
    /// existing parameters digest.
    pub name: Name,
    /// See [`Interest::can_be_prefix`].
    pub can_be_prefix: bool,
    /// See [`Interest::must_be_fresh`].
    pub must_be_fresh: bool,
    /// See [`Interest::forwarding_hint`].
    pub forwarding_hint: Vec<Name>,
    /// The nonce; forwarders add a missing one.
    pub nonce: Option<u32>,
    /// The lifetime in milliseconds; without it, 4 s.
    pub lifetime_ms: Option<u64>,
    /// The hop limit.
    pub hop_limit: Option<u8>,
    /// ApplicationParameters. A signed Interest without any gets empty ones.
    pub parameters: Option<Bytes>,
    /// The signature.
    pub signature: Option<InterestSignature>,
}

impl InterestBuf {
    /// An Interest for exactly `name`.
    #[must_use]
    pub fn new(name: Name) -> InterestBuf {
        InterestBuf { name, ..InterestBuf::default() }
    }

    /// The fields of a decoded Interest. A digest of its parameters at the end of the name is left
    /// out. Elements that were ignored are lost.
    #[must_use]
    pub fn from_view(view: &Interest<'_>) -> InterestBuf {
        let digest = view.parameters().and_then(|_| view.name().last());
        let digest = digest.is_some_and(|last| last.typ() == types::PARAMETERS_DIGEST);
        let name = if digest { view.name().parent() } else { view.name() };
        InterestBuf {
            name: name.to_name(),
            can_be_prefix: view.can_be_prefix(),
            must_be_fresh: view.must_be_fresh(),
            forwarding_hint: view.forwarding_hint().map(|n| n.to_name()).collect(),
            nonce: view.nonce(),
            lifetime_ms: view.stated_lifetime_ms(),
            hop_limit: view.hop_limit(),
            parameters: view.parameters().map(Bytes::copy_from_slice),
            signature: view.signature_info().zip(view.signature_value()).map(|(info, value)| {
                InterestSignature {
                    info: SignatureInfoBuf::from_view(&info),
                    value: Signature::new(value),
                }
            }),
        }
    }

    /// Signs: `sign` is given the signed portion in two pieces (the name's components without a
    /// parameters digest, then parameters and info). Without parameters, empty ones are added.
    pub fn sign_with(
        &mut self,
        info: SignatureInfoBuf,
        sign: impl FnOnce([&[u8]; 2]) -> Signature,
    ) {
        let parameters = self.parameters.get_or_insert_with(Bytes::new);
        let mut tail = Vec::new();
        tlv::put_tlv(&mut tail, types::APPLICATION_PARAMETERS, parameters);
        tlv::put_tlv(&mut tail, types::INTEREST_SIGNATURE_INFO, info.as_bytes());
        let value = match self.around_digest() {
            (name, []) => sign([name, &tail]),
            (before, after) => sign([&[before, after].concat(), &tail]),
        };
        self.signature = Some(InterestSignature { info, value });
    }

    /// The components before the place of the parameters digest, and those after it.
    fn around_digest(&self) -> (&[u8], &[u8]) {
        let (name, bytes) = (self.name.as_ref(), self.name.as_bytes());
        let mut start = 0;
        for (component, end) in name.components().zip(name.prefix_ends()) {
            if component.typ() == types::PARAMETERS_DIGEST {
                return (&bytes[..start], &bytes[end..]);
            }
            start = end;
        }
        (bytes, &[])
    }

    /// The packet.
    #[must_use]
    pub fn encode(&self) -> Bytes {
        let mut out = Vec::new();
        self.encode_into(&mut out);
        out.into()
    }

    /// Appends the packet.
    pub fn encode_into(&self, out: &mut Vec<u8>) {
        let tail = self.tail();
        let digest: Option<[u8; 32]> = (!tail.is_empty()).then(|| Sha256::digest(&tail).into());
        let digest = digest.as_ref().map(|d| ComponentRef::new(types::PARAMETERS_DIGEST, d));
        let (before, after) = match digest {
            Some(_) => self.around_digest(),
            None => (self.name.as_bytes(), &[][..]),
        };
        let name_len = before.len() + digest.map_or(0, |d| d.encoded_len()) + after.len();
        let hint_len = self.forwarding_hint.iter().map(Name::encoded_len).sum();
        let len = tlv::tlv_len(types::NAME, name_len) + self.guiders_len(hint_len) + tail.len();

        out.reserve(tlv::tlv_len(types::INTEREST, len));
        tlv::put_header(out, types::INTEREST, len);
        tlv::put_header(out, types::NAME, name_len);
        out.extend_from_slice(before);
        if let Some(component) = digest {
            component.encode_into(out);
        }
        out.extend_from_slice(after);
        self.encode_guiders(hint_len, out);
        out.extend_from_slice(&tail);
    }

    /// The number of bytes between the name and the parameters.
    fn guiders_len(&self, hint_len: usize) -> usize {
        let mut len = 0;
        if self.can_be_prefix {
            len += tlv::tlv_len(types::CAN_BE_PREFIX, 0);
        }
        if self.must_be_fresh {
            len += tlv::tlv_len(types::MUST_BE_FRESH, 0);
        }
        if hint_len > 0 {
            len += tlv::tlv_len(types::FORWARDING_HINT, hint_len);
        }
        len += self.nonce.map_or(0, |_| tlv::tlv_len(types::NONCE, 4));
        len += self.lifetime_ms.map_or(0, |ms| tlv::nni_tlv_len(types::INTEREST_LIFETIME, ms));
        len + self.hop_limit.map_or(0, |_| tlv::tlv_len(types::HOP_LIMIT, 1))
    }

    fn encode_guiders(&self, hint_len: usize, out: &mut Vec<u8>) {
        if self.can_be_prefix {
            tlv::put_tlv(out, types::CAN_BE_PREFIX, &[]);
        }
        if self.must_be_fresh {
            tlv::put_tlv(out, types::MUST_BE_FRESH, &[]);
        }
        if hint_len > 0 {
            tlv::put_header(out, types::FORWARDING_HINT, hint_len);
            self.forwarding_hint.iter().for_each(|name| name.encode_into(out));
        }
        if let Some(nonce) = self.nonce {
            tlv::put_tlv(out, types::NONCE, &nonce.to_be_bytes());
        }
        if let Some(ms) = self.lifetime_ms {
            tlv::put_nni_tlv(out, types::INTEREST_LIFETIME, ms);
        }
        if let Some(limit) = self.hop_limit {
            tlv::put_tlv(out, types::HOP_LIMIT, &[limit]);
        }
    }

    /// ApplicationParameters and all following elements; empty if there are none.
    fn tail(&self) -> Vec<u8> {
        let mut tail = Vec::new();
        if self.parameters.is_some() || self.signature.is_some() {
            let parameters = self.parameters.as_deref().unwrap_or_default();
            tlv::put_tlv(&mut tail, types::APPLICATION_PARAMETERS, parameters);
        }
        if let Some(signature) = &self.signature {
            let (info, value) = (signature.info.as_bytes(), signature.value.as_bytes());
            tlv::put_tlv(&mut tail, types::INTEREST_SIGNATURE_INFO, info);
            tlv::put_tlv(&mut tail, types::INTEREST_SIGNATURE_VALUE, value);
        }
        tail
    }
}

/// Appends the plain Interest that consumers send by the thousand: `prefix` with one component
/// more, a nonce and a lifetime; no allocation.
pub fn encode_plain_interest(
    prefix: NameRef<'_>,
    last: ComponentRef<'_>,
    nonce: u32,
    lifetime_ms: u64,
    out: &mut Vec<u8>,
) {
    let name_len = prefix.as_bytes().len() + last.encoded_len();
    let len = tlv::tlv_len(types::NAME, name_len)
        + 6
        + tlv::nni_tlv_len(types::INTEREST_LIFETIME, lifetime_ms);
    tlv::put_header(out, types::INTEREST, len);
    tlv::put_header(out, types::NAME, name_len);
    out.extend_from_slice(prefix.as_bytes());
    last.encode_into(out);
    tlv::put_tlv(out, types::NONCE, &nonce.to_be_bytes());
    tlv::put_nni_tlv(out, types::INTEREST_LIFETIME, lifetime_ms);
}
