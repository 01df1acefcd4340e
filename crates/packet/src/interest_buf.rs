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
    /// The name, without a parameters digest: encoding adds it where there are parameters.
    pub name: Name,
    /// See [`Interest::can_be_prefix`].
    pub can_be_prefix: bool,
    /// See [`Interest::must_be_fresh`].
    pub must_be_fresh: bool,
    /// See [`Interest::forwarding_hint`].
    pub forwarding_hint: Vec<Name>,
    /// The nonce; forwarders add one where it is missing.
    pub nonce: Option<u32>,
    /// The lifetime in milliseconds; without it, 4 s.
    pub lifetime_ms: Option<u64>,
    /// How many hops it may go.
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

    /// The fields of a decoded Interest. A parameters digest at the end of the name is left out.
    #[must_use]
    pub fn from_view(view: &Interest<'_>) -> InterestBuf {
        let digest = view.name().last().is_some_and(|c| c.typ() == types::PARAMETERS_DIGEST);
        let name = if digest { view.name().parent() } else { view.name() };
        InterestBuf {
            name: name.to_name(),
            can_be_prefix: view.can_be_prefix(),
            must_be_fresh: view.must_be_fresh(),
            forwarding_hint: view.forwarding_hint().map(|n| n.to_name()).collect(),
            nonce: view.nonce(),
            lifetime_ms: Some(view.lifetime_ms()),
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

    /// Signs: `sign` is given the signed portion in two pieces (name, then parameters and info).
    pub fn sign_with(
        &mut self,
        info: SignatureInfoBuf,
        sign: impl FnOnce([&[u8]; 2]) -> Signature,
    ) {
        let parameters = self.parameters.get_or_insert_with(Bytes::new);
        let mut tail = Vec::new();
        tlv::put_tlv(&mut tail, types::APPLICATION_PARAMETERS, parameters);
        tlv::put_tlv(&mut tail, types::INTEREST_SIGNATURE_INFO, info.as_bytes());
        let value = sign([self.name.as_bytes(), &tail]);
        self.signature = Some(InterestSignature { info, value });
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
        let name_len =
            self.name.as_bytes().len() + digest.map_or(0, |component| component.encoded_len());
        let hint_len: usize = self.forwarding_hint.iter().map(Name::encoded_len).sum();
        let mut len = tlv::tlv_len(types::NAME, name_len) + tail.len();
        len += if self.can_be_prefix { 2 } else { 0 } + if self.must_be_fresh { 2 } else { 0 };
        if hint_len > 0 {
            len += tlv::tlv_len(types::FORWARDING_HINT, hint_len);
        }
        len += self.nonce.map_or(0, |_| 6) + self.hop_limit.map_or(0, |_| 3);
        len += self.lifetime_ms.map_or(0, |ms| tlv::nni_tlv_len(types::INTEREST_LIFETIME, ms));

        out.reserve(tlv::tlv_len(types::INTEREST, len));
        tlv::put_header(out, types::INTEREST, len);
        tlv::put_header(out, types::NAME, name_len);
        out.extend_from_slice(self.name.as_bytes());
        if let Some(component) = digest {
            component.encode_into(out);
        }
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
        out.extend_from_slice(&tail);
    }

    /// ApplicationParameters and what follows; empty if there are none.
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
