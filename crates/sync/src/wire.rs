//! Packets: sync Interests, their verification, and the names of publications (specification,
//! section 2).

use crate::vector::{Stream, Vector};
use packet::{Bytes, Component, Data, DataBuf, Interest, InterestBuf, Name, NameRef};
use security::certificate::key_of;
use security::trust::Signed;
use security::{Proof, Signer, TrustPolicy, VerifyError};
use thiserror::Error;

/// The version of the protocol, the last component of a sync Interest's name.
const VERSION: u64 = 3;
/// The lifetime of a sync Interest.
const LIFETIME_MS: u64 = 1_000;

/// The prefix of a group's sync Interests: `GROUP/v=3`.
#[must_use]
pub fn prefix(group: &Name) -> Name {
    group.clone().with(&Component::version(VERSION))
}

/// The name of a publication: `MEMBER/GROUP/t=BOOT/seq=SEQ`.
#[must_use]
pub fn publication(stream: &Stream, group: &Name, seq: u64) -> Name {
    let mut name = publications(&stream.name, group);
    name.push(Component::timestamp(stream.boot).as_ref());
    name.with(&Component::sequence(seq))
}

/// The prefix of a member's publications: `MEMBER/GROUP`.
#[must_use]
pub fn publications(member: &Name, group: &Name) -> Name {
    let mut name = member.clone();
    group.as_ref().components().for_each(|component| name.push(component));
    name
}

/// The stream and number of a publication; `None` for other names.
#[must_use]
pub fn parse_publication(name: NameRef<'_>, group: &Name) -> Option<(Stream, u64)> {
    let len = name.len().checked_sub(2 + group.len())?;
    let boot = name.get(name.len() - 2)?.as_timestamp()?;
    let seq = name.last()?.as_sequence()?;
    let stream = Stream { name: name.prefix(len).to_name(), boot };
    (publication(&stream, group, seq).as_ref() == name).then_some((stream, seq))
}

/// A sync Interest with the vector, in a Data packet that `signer` signs. The signature states the
/// time, in milliseconds since 1970: with it, a vector that is repeated has an old time.
#[must_use]
pub fn interest(group: &Name, vector: &Vector, time_ms: u64, signer: &Signer, nonce: u32) -> Bytes {
    let mut content = Vec::new();
    vector.encode_into(&mut content);
    let mut data = Vec::new();
    let info = signer.info().with_time_ms(time_ms);
    let packet = DataBuf::new(prefix(group), content);
    packet.encode_into(&info, |portion| signer.sign(portion), &mut data);
    let interest = InterestBuf {
        nonce: Some(nonce),
        lifetime_ms: Some(LIFETIME_MS),
        parameters: Some(data.into()),
        ..InterestBuf::new(prefix(group))
    };
    interest.encode()
}

/// A sync Interest that is dropped, and why.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Rejected {
    /// It is not the group's, or malformed.
    #[error("it is not a sync Interest of this group: {0}")]
    Malformed(&'static str),
    /// Its signer is not trusted, or a certificate is missing ([`VerifyError::missing`]).
    #[error(transparent)]
    NotVerified(#[from] VerifyError),
}

/// A verified vector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verified {
    /// The vector.
    pub vector: Vector,
    /// The time of the signature, in milliseconds since 1970; other programs state none.
    pub time_ms: Option<u64>,
    /// The identity of the key that signed it.
    pub signer: Name,
}

/// True if the Interest has the name of a sync Interest of the group.
#[must_use]
pub fn is_sync(interest: &Interest<'_>, group: &Name) -> bool {
    interest.name().starts_with(prefix(group).as_ref())
}

/// Verifies a sync Interest and decodes its vector.
///
/// The Data packet is named `GROUP/v=3`, as in the specification, or otherwise, as by ndnd. Its
/// signer must be allowed to sign a packet of that name, or a publication in the group under its
/// own identity. So the trust rules for publications suffice.
///
/// # Errors
/// It is malformed, or its signer is not trusted.
pub fn open(
    interest: &Interest<'_>,
    group: &Name,
    policy: &TrustPolicy,
) -> Result<Verified, Rejected> {
    if !is_sync(interest, group) || !interest.check_parameters_digest() {
        return Err(Rejected::Malformed("its name or digest is another"));
    }
    let Some(Ok(data)) = interest.parameters().map(Data::decode) else {
        return Err(Rejected::Malformed("its parameters are not a Data packet"));
    };
    let signer = verify(&data, group, policy)?;
    let Ok(vector) = Vector::decode(data.content()) else {
        return Err(Rejected::Malformed("its Data packet has no state vector"));
    };
    Ok(Verified { vector, time_ms: data.signature_info().time_ms(), signer })
}

/// Verifies the Data packet of a sync Interest, and returns the identity of its signer.
///
/// # Errors
/// No trusted key has signed it.
pub fn verify(data: &Data<'_>, group: &Name, policy: &TrustPolicy) -> Result<Name, VerifyError> {
    let error = match policy.verify(data) {
        Ok(Proof::Key(key)) => return Ok(identity(&key)),
        Ok(_) => return Err(VerifyError::NotSigned(data.name().to_name())),
        Err(error) => error,
    };
    let TrustPolicy::Chains(chains) = policy else { return Err(error) };
    let signed = Signed::from(data);
    let key = match signed.key {
        Some(packet::KeyLocator::Name(name)) if error.missing().is_none() => key_of(name),
        _ => None,
    };
    let Some(key) = key else { return Err(error) };
    let stream = Stream { name: identity(&key), boot: 0 };
    let name = publication(&stream, group, 1);
    let signed = Signed { name: name.as_ref(), ..signed };
    let verified = chains.validator.verify_signed(&signed, chains.now)?;
    Ok(identity(&verified))
}

/// The identity of a key: the name without `KEY` and the key's identifier.
#[must_use]
pub fn identity(key: &Name) -> Name {
    key.as_ref().prefix(key.len().saturating_sub(2)).to_name()
}

#[cfg(test)]
mod tests {
    use super::*;
    use security::trust::{Chains, Schema, Validator};
    use security::{Certificate, KeyType, SecretKey, Validity};
    use std::sync::Arc;

    const NOW: u64 = 1_700_000_000;
    const TIME_MS: u64 = 6_000;

    struct Key {
        secret: SecretKey,
        certificate: Certificate,
    }

    fn key(identity: &str, seed: u8) -> Key {
        let secret = SecretKey::generate(KeyType::Ed25519, &[seed; 32]).unwrap();
        let name: Name = identity.parse().unwrap();
        let validity = Validity::days(NOW - 1_000, 10);
        let certificate = Certificate::self_signed(name.as_ref(), &secret, validity, NOW * 1_000);
        Key { secret, certificate }
    }

    fn signer(key: &Key) -> Signer {
        let key_locator = key.certificate.name().clone();
        Signer::Key { secret: key.secret.clone(), key_locator }
    }

    fn policy(anchors: &[&Key]) -> TrustPolicy {
        let anchors = anchors.iter().map(|key| key.certificate.clone()).collect();
        let validator = Arc::new(Validator::new(anchors, Schema::Hierarchy));
        TrustPolicy::Chains(Chains { validator, now: NOW })
    }

    fn opened(wire: &[u8], policy: &TrustPolicy) -> Result<Verified, Rejected> {
        open(&Interest::decode(wire).unwrap(), &group(), policy)
    }

    fn group() -> Name {
        "/chat".parse().unwrap()
    }

    fn vector() -> Vector {
        let mut vector = Vector::new();
        vector.raise(&"/alice".parse().unwrap(), 5, 7);
        vector
    }

    #[test]
    fn a_trusted_members_vector_is_verified_and_others_are_not() {
        let (alice, mallory) = (key("/alice", 1), key("/mallory", 2));
        let wire = interest(&group(), &vector(), TIME_MS, &signer(&alice), 1);
        let verified = opened(&wire, &policy(&[&alice])).unwrap();
        assert_eq!(verified.time_ms, Some(TIME_MS));
        assert_eq!((verified.vector, verified.signer.to_string()), (vector(), "/alice".to_owned()));
        assert!(matches!(opened(&wire, &policy(&[&mallory])), Err(Rejected::NotVerified(_))));
        // A digest, which anyone can make, and a key that claims to be another.
        let wire = interest(&group(), &vector(), TIME_MS, &Signer::Digest, 1);
        assert!(matches!(opened(&wire, &policy(&[&alice])), Err(Rejected::NotVerified(_))));
        let forged = Signer::Key {
            secret: mallory.secret.clone(),
            key_locator: alice.certificate.name().clone(),
        };
        let wire = interest(&group(), &vector(), TIME_MS, &forged, 1);
        assert!(matches!(opened(&wire, &policy(&[&alice])), Err(Rejected::NotVerified(_))));
    }

    #[test]
    fn a_members_missing_certificate_is_named() {
        let (root, member) = (key("/org", 1), key("/org/member", 2));
        let wire = interest(&group(), &vector(), TIME_MS, &signer(&member), 1);
        let Err(Rejected::NotVerified(error)) = opened(&wire, &policy(&[&root])) else {
            panic!("it cannot be verified")
        };
        assert_eq!(error.missing(), Some(member.certificate.name()));
    }

    #[test]
    fn altered_interests_are_rejected() {
        let alice = key("/alice", 1);
        let wire = interest(&group(), &vector(), TIME_MS, &signer(&alice), 1);
        for at in 0..wire.len() {
            let mut bad = wire.to_vec();
            bad[at] ^= 1;
            let Ok(decoded) = Interest::decode(&bad) else { continue };
            // Nonce and lifetime are not signed.
            if decoded.name() == Interest::decode(&wire).unwrap().name()
                && decoded.parameters() == Interest::decode(&wire).unwrap().parameters()
            {
                continue;
            }
            assert!(open(&decoded, &group(), &policy(&[&alice])).is_err(), "byte {at}");
        }
    }

    #[test]
    fn names_of_publications_are_those_of_the_specification() {
        let stream = Stream { name: "/org/alice".parse().unwrap(), boot: 1_636_266_330 };
        let name = publication(&stream, &group(), 3);
        assert_eq!(name.to_string(), "/org/alice/chat/t=1636266330/seq=3");
        assert_eq!(parse_publication(name.as_ref(), &group()), Some((stream, 3)));
        for other in ["/org/alice/other/t=1/seq=1", "/chat/t=1", "/seq=1", "/a/chat/v=1/seq=1"] {
            let other: Name = other.parse().unwrap();
            assert_eq!(parse_publication(other.as_ref(), &group()), None);
        }
        assert_eq!(prefix(&group()).to_string(), "/chat/v=3");
    }
}
