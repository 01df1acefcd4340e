//! EC keys with explicit curve parameters instead of a name, as older programs wrote them.
//!
//! Only P-256 is accepted, and only if every number is its own. With a generator of their choice,
//! attackers would know a secret for any public key (CVE-2020-0601).

use p256::SecretKey as Scalar;
use p256::ecdsa::{SigningKey, VerifyingKey};
use pkcs8::der::asn1::{AnyRef, BitStringRef, ContextSpecific, OctetStringRef};
use pkcs8::der::{Decode as _, Encode as _, Reader as _, SliceReader, TagMode, TagNumber};
use pkcs8::spki::SubjectPublicKeyInfoRef;
use pkcs8::{ObjectIdentifier, PrivateKeyInfoRef};

/// id-ecPublicKey of RFC 5480.
const ALGORITHM: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.10045.2.1");

/// Reads PKCS#8 (RFC 5958).
pub(super) fn from_pkcs8(der: &[u8]) -> Option<SigningKey> {
    let info = PrivateKeyInfoRef::try_from(der).ok()?;
    let is_it = info.algorithm.oid == ALGORITHM && is_p256(&info.algorithm.parameters?);
    let key = Scalar::from_sec1_der(info.private_key.as_bytes()).ok().filter(|_| is_it)?;
    Some(SigningKey::from(&key))
}

/// Reads ECPrivateKey (RFC 5915).
pub(super) fn from_sec1(der: &[u8]) -> Option<SigningKey> {
    let mut reader = SliceReader::new(der).ok()?;
    let secret = reader.sequence(|fields| {
        let version = u8::decode(fields)?;
        let secret = <&OctetStringRef>::decode(fields)?;
        let parameters = ContextSpecific::<AnyRef<'_>>::decode_explicit(fields, TagNumber(0))?;
        let public = ContextSpecific::<BitStringRef<'_>>::decode_explicit(fields, TagNumber(1))?;
        let explicit = public.is_none_or(|public| public.tag_mode == TagMode::Explicit);
        let is_it = version == 1 && explicit && parameters.is_some_and(|p| is_p256(&p.value));
        Ok::<_, pkcs8::der::Error>(is_it.then_some(secret))
    });
    let secret = secret.ok().flatten().filter(|_| reader.is_finished())?;
    SigningKey::from_slice(secret.as_bytes()).ok()
}

/// Reads SubjectPublicKeyInfo (RFC 5280).
pub(super) fn from_spki(der: &[u8]) -> Option<VerifyingKey> {
    let info = SubjectPublicKeyInfoRef::try_from(der).ok()?;
    let is_it = info.algorithm.oid == ALGORITHM && is_p256(&info.algorithm.parameters?);
    VerifyingKey::from_sec1_bytes(info.subject_public_key.as_bytes()?).ok().filter(|_| is_it)
}

// The domain parameters of P-256 (SP 800-186, section 3.2.1.3; SEC 2, section 2.4.2).
const P: &str = "ffffffff00000001000000000000000000000000ffffffffffffffffffffffff";
const A: &str = "ffffffff00000001000000000000000000000000fffffffffffffffffffffffc";
const B: &str = "5ac635d8aa3a93e7b3ebbd55769886bc651d06b0cc53b0f63bce3c3e27d2604b";
const SEED: &str = "c49d360886e704936a6678e1139d26b7819f7e90";
const G_X: &str = "6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296";
const G_Y: &str = "4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5";
const N: &str = "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551";

/// True if these ECParameters (RFC 3279, section 2.3.5) are P-256's: with or without the seed of
/// its coefficients, the generator compressed or not, the cofactor present or not.
fn is_p256(parameters: &AnyRef<'_>) -> bool {
    let Ok(der) = parameters.to_der() else { return false };
    let bases = [format!("044104{G_X}{G_Y}"), format!("042103{G_X}")];
    let seeds = [String::new(), format!("031500{SEED}")];
    let field = sequence(&format!("06072a8648ce3d0101022100{P}"));
    let forms = bases.iter().flat_map(|base| seeds.iter().map(move |seed| (base, seed)));
    forms.into_iter().any(|(base, seed)| {
        let curve = sequence(&format!("0420{A}0420{B}{seed}"));
        ["", "020101"].iter().any(|cofactor| {
            let known = sequence(&format!("020101{field}{curve}{base}022100{N}{cofactor}"));
            der.iter().map(|byte| format!("{byte:02x}")).collect::<String>() == known
        })
    })
}

/// A SEQUENCE in DER, in hexadecimal like its content; shorter than 256 bytes.
fn sequence(content: &str) -> String {
    let len = content.len() / 2;
    let long = if len < 128 { "" } else { "81" };
    format!("30{long}{len:02x}{content}")
}

#[cfg(test)]
mod tests;
