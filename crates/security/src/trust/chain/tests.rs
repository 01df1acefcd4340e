use packet::{Component, DataBuf};

use super::*;
use crate::certificate::Issue;
use crate::key::{KeyType, SecretKey};
use crate::signer::Signer;
use crate::trust::{Rule, Subject};

const NOW: u64 = 1_795_183_387;
const DAY: u64 = 86_400;

fn name(uri: &str) -> Name {
    uri.parse().unwrap()
}

/// A party with a key and a certificate for it.
struct Party {
    secret: SecretKey,
    certificate: Certificate,
}

impl Party {
    fn alone(identity: &str, seed: u8) -> Party {
        let kind = if seed.is_multiple_of(2) { KeyType::Ecdsa } else { KeyType::Ed25519 };
        let secret = SecretKey::generate(kind, &[seed; 32]).unwrap();
        let validity = Validity::days(NOW - DAY, 10);
        let certificate = Certificate::self_signed(name(identity).as_ref(), &secret, validity, 1);
        Party { secret, certificate }
    }

    fn signer(&self) -> Signer {
        let key_locator = self.certificate.name().clone();
        Signer::Key { secret: self.secret.clone(), key_locator }
    }

    /// A certificate for `other`'s key by this one.
    fn vouches_for(&self, mut other: Party, validity: Validity) -> Party {
        let issue = Issue { issuer: Component::generic(b"up"), validity, version: 2 };
        other.certificate = other.certificate.issued(&self.signer(), &issue);
        other
    }

    fn names(&self, identity: &str, seed: u8) -> Party {
        self.vouches_for(Party::alone(identity, seed), Validity::days(NOW - DAY, 5))
    }

    fn publishes(&self, uri: &str) -> Vec<u8> {
        let mut wire = Vec::new();
        self.signer().encode(&DataBuf::new(name(uri), b"hello".to_vec()), &mut wire);
        wire
    }
}

fn validator(anchors: &[&Party], schema: Schema) -> Validator {
    Validator::new(anchors.iter().map(|party| party.certificate.clone()).collect(), schema)
}

/// Verifies, with a network that has these certificates; also returns the number of fetches.
fn ask(
    validator: &Validator,
    wire: &[u8],
    network: &[&Party],
    now: u64,
) -> (Result<Name, Box<ChainError>>, usize) {
    let data = Data::decode(wire).unwrap();
    let mut fetched = 0;
    loop {
        let verdict = validator.verify(&data, now);
        let missing = verdict.as_ref().err().and_then(|error| error.missing()).cloned();
        let answer = missing.and_then(|missing| {
            let of =
                |party: &&&Party| party.certificate.name().as_ref().starts_with(missing.as_ref());
            network.iter().find(of)
        });
        let Some(party) = answer else { return (verdict, fetched) };
        validator.offer(&Data::decode(party.certificate.wire()).unwrap()).unwrap();
        fetched += 1;
        assert!(fetched < 20, "it would never end");
    }
}

fn why(validator: &Validator, wire: &[u8], network: &[&Party]) -> Broken {
    ask(validator, wire, network, NOW).0.unwrap_err().why
}

fn key(party: &Party) -> Name {
    party.certificate.key_name()
}

#[test]
fn a_chain_leads_to_an_anchor_and_is_remembered() {
    let root = Party::alone("/site", 1);
    let group = root.names("/site/group", 2);
    let alice = group.names("/site/group/alice", 3);
    let validator = validator(&[&root], Schema::Hierarchy);
    let wire = alice.publishes("/site/group/alice/file");

    let network = [&alice, &group];
    assert_eq!(ask(&validator, &wire, &network, NOW), (Ok(key(&alice)), 2));
    // Now no fetch is necessary, for her or for others of the group.
    assert_eq!(ask(&validator, &wire, &[], NOW), (Ok(key(&alice)), 0));
    let bob = group.names("/site/group/bob", 4);
    let wire = bob.publishes("/site/group/bob/file");
    assert_eq!(ask(&validator, &wire, &[&bob], NOW), (Ok(key(&bob)), 1));
    // A packet signed by the anchor itself needs only its own certificate.
    assert_eq!(ask(&validator, &root.publishes("/site/x"), &[], NOW), (Ok(key(&root)), 0));
}

#[test]
fn a_missing_certificate_is_named_with_the_chain_so_far() {
    let root = Party::alone("/site", 1);
    let group = root.names("/site/group", 2);
    let alice = group.names("/site/group/alice", 3);
    let validator = validator(&[&root], Schema::Hierarchy);
    let (verdict, _) = ask(&validator, &alice.publishes("/site/group/alice/f"), &[&alice], NOW);
    let rejected = verdict.unwrap_err();
    assert_eq!(rejected.why, Broken::Missing(group.certificate.name().clone()));
    assert_eq!(rejected.chain, [alice.certificate.name().clone()]);
    let text = rejected.to_string();
    assert!(text.contains("could not be fetched"), "{text}");
    assert!(text.contains(&alice.certificate.name().to_string()), "{text}");
}

#[test]
fn a_self_signed_key_is_unknown() {
    let root = Party::alone("/site", 1);
    let eve = Party::alone("/site/eve", 5);
    let validator = validator(&[&root], Schema::Hierarchy);
    let unknown = Broken::Unknown(eve.certificate.name().clone());
    assert_eq!(why(&validator, &eve.publishes("/site/eve/file"), &[&eve]), unknown);
    // Nor does it help to call oneself like the anchor.
    let mallory = Party::alone("/site", 6);
    let unknown = Broken::Unknown(mallory.certificate.name().clone());
    assert_eq!(why(&validator, &mallory.publishes("/site/file"), &[&mallory]), unknown);
}

#[test]
fn names_below_no_anchor_are_rejected_before_any_fetch() {
    let (root, eve) = (Party::alone("/site", 1), Party::alone("/eve", 5));
    let validator = validator(&[&root], Schema::Hierarchy);
    let (verdict, fetched) = ask(&validator, &eve.publishes("/eve/file"), &[&eve], NOW);
    let rejected = Broken::NoAnchor { packet: name("/eve/file"), key: key(&eve) };
    let error = verdict.unwrap_err();
    let text = error.to_string();
    assert_eq!((error.why, fetched), (rejected, 0));
    assert_eq!(text.matches("/eve/file").count(), 1, "the packet is named once: {text}");
}

#[test]
fn keys_cannot_sign_names_outside_their_identity() {
    let root = Party::alone("/site", 1);
    let alice = root.names("/site/alice", 3);
    let validator = validator(&[&root], Schema::Hierarchy);
    let rejected = |packet: &str| Broken::NotAllowed { packet: name(packet), key: key(&alice) };
    assert_eq!(
        why(&validator, &alice.publishes("/site/bob/file"), &[&alice]),
        rejected("/site/bob/file")
    );
    assert_eq!(why(&validator, &root.publishes("/other"), &[]), {
        Broken::NotAllowed { packet: name("/other"), key: key(&root) }
    });
    // Her certificate for a superior identity is invalid.
    let fake = alice.names("/site", 7);
    let packet = fake.certificate.name().to_string();
    assert_eq!(why(&validator, &fake.publishes("/site/file"), &[&fake, &alice]), rejected(&packet));
}

#[test]
fn certificates_are_valid_for_a_time() {
    let root = Party::alone("/site", 1);
    let validator = validator(&[&root], Schema::Hierarchy).with_skew(60);
    let short = Validity::new(NOW, NOW + 100).unwrap();
    let alice = root.vouches_for(Party::alone("/site/alice", 3), short);
    let wire = alice.publishes("/site/alice/file");
    for (at, good) in [
        (NOW - 61, false),
        (NOW - 60, true),
        (NOW + 50, true),
        (NOW + 160, true),
        (NOW + 161, false),
    ] {
        let (verdict, _) = ask(&validator, &wire, &[&alice], at);
        assert_eq!(verdict.is_ok(), good, "{verdict:?}");
    }
    let text = ask(&validator, &wire, &[&alice], NOW + DAY).0.unwrap_err().to_string();
    assert!(text.contains("has expired at 2026-11-20 14:04:47 UTC"), "{text}");
    let text = ask(&validator, &wire, &[&alice], NOW - DAY / 2).0.unwrap_err().to_string();
    assert!(text.contains("is not valid before 2026-11-20 14:03:07 UTC"), "{text}");
    // An anchor expires, too, and with it all keys that it certifies, remembered or not.
    let bob = root.vouches_for(Party::alone("/site/bob", 5), Validity::days(NOW, 1000));
    let wire = bob.publishes("/site/bob/file");
    assert!(ask(&validator, &wire, &[&bob], NOW).0.is_ok());
    let rejected = ask(&validator, &wire, &[&bob], NOW + 20 * DAY).0.unwrap_err();
    let ended = root.certificate.name();
    assert!(matches!(rejected.why, Broken::NotValid { certificate, .. } if certificate == *ended));
}

#[test]
fn a_circle_is_no_chain() {
    let root = Party::alone("/site", 1);
    let all = || {
        vec![
            rule(Subject::Certificate, "/{...}", "/{...}"),
            rule(Subject::Data, "/{...}", "/{...}"),
        ]
    };
    let validator = validator(&[&root], Schema::Rules(all()));
    // Each vouches for the other: a's certificate names b's by the name that it will have.
    let (a, b) = (Party::alone("/a", 3), Party::alone("/b", 4));
    let issue = |by: &str| Issue {
        issuer: Component::generic(by.as_bytes()),
        validity: Validity::days(NOW - 1, 1),
        version: 3,
    };
    let named = |party: &Party, by: &str| {
        key(party).with(&Component::generic(by.as_bytes())).with(&Component::version(3))
    };
    let as_b = Signer::Key { secret: b.secret.clone(), key_locator: named(&b, "a") };
    let as_a = Signer::Key { secret: a.secret.clone(), key_locator: named(&a, "b") };
    let a = Party { certificate: a.certificate.issued(&as_b, &issue("b")), ..a };
    let b = Party { certificate: b.certificate.issued(&as_a, &issue("a")), ..b };
    let circle = Broken::Circular(a.certificate.name().clone());
    assert_eq!(why(&validator, &a.publishes("/a/file"), &[&a, &b]), circle);
}

#[test]
fn a_chain_has_an_end() {
    let root = Party::alone("/s", 1);
    let mut chain = vec![root.names("/s/1", 11)];
    for i in 2..5 {
        let deeper = format!("{}/{i}", chain[i - 2].certificate.identity());
        chain.push(chain[i - 2].names(&deeper, 10 + i as u8));
    }
    let network: Vec<&Party> = chain.iter().collect();
    let wire = chain[3].publishes("/s/1/2/3/4/file");
    let enough = validator(&[&root], Schema::Hierarchy).with_depth(4);
    assert_eq!(ask(&enough, &wire, &network, NOW).0, Ok(key(&chain[3])));
    let short = validator(&[&root], Schema::Hierarchy).with_depth(3);
    let rejected = ask(&short, &wire, &network, NOW).0.unwrap_err();
    assert_eq!((rejected.why, rejected.chain.len()), (Broken::TooDeep(3), 3));
}

#[test]
fn forgeries_are_rejected_and_do_not_stay() {
    let root = Party::alone("/site", 1);
    let alice = root.names("/site/alice", 3);
    let validator = validator(&[&root], Schema::Hierarchy);
    let mut wire = alice.publishes("/site/alice/file");
    let at = wire.windows(5).position(|bytes| bytes == b"hello").unwrap();
    wire[at] ^= 1;
    let forged = Broken::Signature { packet: name("/site/alice/file"), key: key(&alice) };
    assert_eq!(why(&validator, &wire, &[&alice]), forged);
    // Another key under her certificate's name, not certified by the site.
    let eve = Party::alone("/site/alice", 9);
    let issue =
        Issue { issuer: Component::generic(b"up"), validity: Validity::days(NOW, 1), version: 2 };
    let fake = Certificate::issue(&key(&alice), eve.secret.public(), &eve.signer(), &issue);
    assert_eq!(fake.name(), alice.certificate.name());
    validator.offer(&Data::decode(fake.wire()).unwrap()).unwrap();
    let wire = alice.publishes("/site/alice/file");
    let rejected = validator.verify(&Data::decode(&wire).unwrap(), NOW).unwrap_err();
    assert!(rejected.missing().is_none(), "{rejected}");
    assert_eq!(ask(&validator, &wire, &[&alice], NOW).0, Ok(key(&alice)));
}

fn rule(subject: Subject, names: &str, signer: &str) -> Rule {
    Rule { subject, names: names.parse().unwrap(), signer: signer.parse().unwrap() }
}

#[test]
fn rules_say_who_may_sign_what() {
    let root = Party::alone("/blog", 1);
    let admin = root.names("/blog/admin/zoe", 2);
    let ann = admin.names("/blog/author/ann", 3);
    let rules = vec![
        rule(Subject::Data, "/blog/article/{author}/{...}", "/blog/author/{author}"),
        rule(Subject::Certificate, "/blog/author/{}", "/blog/admin/{}"),
        rule(Subject::Certificate, "/blog/admin/{}", "/blog"),
    ];
    let validator = validator(&[&root], Schema::Rules(rules));
    let network = [&admin, &ann];
    let verdict =
        |party: &Party, uri: &str| ask(&validator, &party.publishes(uri), &network, NOW).0;
    assert_eq!(verdict(&ann, "/blog/article/ann/1"), Ok(key(&ann)));
    for (party, uri) in [
        (&ann, "/blog/article/bob/1"),
        (&admin, "/blog/article/ann/1"),
        (&root, "/blog/article/ann/1"),
        (&ann, "/blog/author/ann/1"),
    ] {
        let rejected = verdict(party, uri).unwrap_err();
        assert!(matches!(rejected.why, Broken::NotAllowed { .. }), "{rejected}");
    }
    // An author certifies no other key.
    let ben = ann.names("/blog/author/ben", 4);
    let rejected = ask(&validator, &ben.publishes("/blog/article/ben/1"), &[&ben, &ann], NOW).0;
    assert!(matches!(rejected.unwrap_err().why, Broken::NotAllowed { .. }));
}

#[test]
fn offered_certificates_are_bounded() {
    let root = Party::alone("/site", 1);
    let alice = root.names("/site/alice", 3);
    let validator = validator(&[&root], Schema::Hierarchy);
    let wire = alice.publishes("/site/alice/file");
    assert!(ask(&validator, &wire, &[&alice], NOW).0.is_ok());
    let eve = Party::alone("/eve", 5);
    for version in 0..1000 {
        let issue =
            Issue { issuer: Component::generic(b"x"), validity: Validity::days(NOW, 1), version };
        let more = eve.certificate.issued(&eve.signer(), &issue);
        validator.offer(&Data::decode(more.wire()).unwrap()).unwrap();
    }
    assert!(validator.pool().len() <= 128);
    // The verified certificates are still there.
    assert_eq!(ask(&validator, &wire, &[], NOW), (Ok(key(&alice)), 0));
}

#[test]
fn a_packet_that_names_no_key_is_rejected() {
    let root = Party::alone("/site", 1);
    let validator = validator(&[&root], Schema::Hierarchy);
    let by = Signer::Key { secret: root.secret.clone(), key_locator: name("/site/me") };
    let mut wire = Vec::new();
    by.encode(&DataBuf::new(name("/site/x"), b"hello".to_vec()), &mut wire);
    let rejected = why(&validator, &wire, &[]);
    assert_eq!(rejected, Broken::NoKey { packet: name("/site/x"), locator: name("/site/me") });
}

/// A shared secret of the identity, and its signer.
fn shared(identity: &str) -> (TrustedKey, Signer) {
    let (key, secret) = (name(identity).with(&Component::generic(b"KEY")), [9; 32]);
    let key = key.with(&Component::generic(b"1"));
    let secret = crate::SharedKey::new(&secret);
    let trusted = TrustedKey::shared(key.clone(), secret.clone(), Name::new());
    (trusted, Signer::Shared { secret, key_locator: key })
}

fn signed(signer: &Signer, uri: &str) -> Vec<u8> {
    let mut wire = Vec::new();
    signer.encode(&DataBuf::new(name(uri), b"hello".to_vec()), &mut wire);
    wire
}

#[test]
fn a_shared_secret_is_good_for_what_the_schema_lets_its_name_sign() {
    let (trusted, signer) = shared("/film");
    let verify = |schema: Schema, wire: &[u8]| {
        let validator = Validator::new(Vec::new(), schema).with_shared(vec![trusted.clone()]);
        ask(&validator, wire, &[], NOW).0.map_err(|error| error.why)
    };
    let key = trusted.name().clone();
    let good = signed(&signer, "/film/1");
    assert_eq!(verify(Schema::Hierarchy, &good), Ok(key.clone()));
    let elsewhere = verify(Schema::Hierarchy, &signed(&signer, "/music/1"));
    assert!(matches!(elsewhere, Err(Broken::NotAllowed { .. })), "{elsewhere:?}");
    let (names, of) = ("/music/{...}".parse().unwrap(), "/film".parse().unwrap());
    let rules = Schema::Rules(vec![Rule { subject: Subject::Data, names, signer: of }]);
    assert_eq!(verify(rules, &signed(&signer, "/music/1")), Ok(key));
    let mut damaged = good;
    *damaged.last_mut().unwrap() ^= 1;
    let damaged = verify(Schema::Hierarchy, &damaged);
    assert!(matches!(damaged, Err(Broken::Signature { .. })), "{damaged:?}");
    // A signer without the secret may claim its name, and sign with a key.
    let Signer::Key { secret, .. } = Party::alone("/film", 2).signer() else { unreachable!() };
    let posing = Signer::Key { secret, key_locator: trusted.name().clone() };
    let posed = verify(Schema::Hierarchy, &signed(&posing, "/film/1"));
    assert!(matches!(posed, Err(Broken::WrongType { .. })), "{posed:?}");
}

#[test]
fn a_shared_secret_cannot_certify_other_keys() {
    let (trusted, signer) = shared("/film");
    let mut below = Party::alone("/film/ann", 2);
    let validity = Validity::days(NOW - DAY, 5);
    let issue = Issue { issuer: Component::generic(b"up"), validity, version: 2 };
    below.certificate = below.certificate.issued(&signer, &issue);
    let anchor = Party::alone("/film", 4);
    let validator = validator(&[&anchor], Schema::Hierarchy).with_shared(vec![trusted]);
    let (verdict, fetched) = ask(&validator, &below.publishes("/film/ann/1"), &[&below], NOW);
    let error = verdict.unwrap_err();
    assert_eq!((error.chain.len(), fetched), (1, 1));
    assert!(matches!(error.why, Broken::NotAllowed { .. }), "{error}");
}

/// Signs, naming the key by a digest.
fn by_digest(signer: &Signer, digest: &[u8], uri: &str) -> Vec<u8> {
    let mut locator = Vec::new();
    packet::tlv::put_tlv(&mut locator, packet::tlv::types::KEY_DIGEST, digest);
    let info = packet::SignatureInfoBuf::new(signer.signature_type(), None)
        .with_element(packet::tlv::types::KEY_LOCATOR, &locator);
    let mut wire = Vec::new();
    let data = DataBuf::new(name(uri), b"hello".to_vec());
    data.encode_into(&info, |portion| signer.sign(portion), &mut wire);
    wire
}

#[test]
fn anchors_and_shared_secrets_are_found_by_their_digests() {
    let (first, second) = (Party::alone("/site", 1), Party::alone("/other", 3));
    let (trusted, sharing) = shared("/film");
    let validator = validator(&[&first, &second], Schema::Hierarchy).with_shared(vec![trusted]);
    let ask = |wire: &[u8]| ask(&validator, wire, &[], NOW).0.map_err(|error| error.why);
    for (party, uri) in [(&first, "/site/x"), (&second, "/other/x")] {
        let digest = party.secret.public().digest();
        assert_eq!(ask(&by_digest(&party.signer(), &digest, uri)), Ok(key(party)));
    }
    let digest = crate::SharedKey::new(&[9; 32]).digest();
    let by = by_digest(&sharing, &digest, "/film/1");
    assert_eq!(ask(&by), Ok(name("/film/KEY/1")));
    let unknown = by_digest(&first.signer(), &[1; 32], "/site/x");
    assert_eq!(ask(&unknown), Err(Broken::OnlyDigest(name("/site/x"))));
}

#[test]
fn an_anchor_that_is_not_valid_is_named() {
    let (root, mut old) = (Party::alone("/site", 1), Party::alone("/old", 3));
    let validity = Validity::days(NOW - 10 * DAY, 5);
    old.certificate = Certificate::self_signed(name("/old").as_ref(), &old.secret, validity, 1);
    let both = validator(&[&root, &old], Schema::Hierarchy);
    assert_eq!(both.anchors(), [root.certificate.clone(), old.certificate.clone()]);
    assert_eq!(both.outdated(NOW), Some(&old.certificate));
    assert_eq!(validator(&[&root], Schema::Hierarchy).outdated(NOW), None);
    // Clocks differ by a minute.
    let root_only = validator(&[&root], Schema::Hierarchy);
    assert_eq!(root_only.outdated(NOW - DAY - 60), None);
    assert_eq!(root_only.outdated(NOW - DAY - 61), Some(&root.certificate));
}

#[test]
fn of_two_anchors_of_a_key_the_one_named_counts() {
    let new = Party::alone("/site", 1);
    let validity = Validity::days(NOW - 10 * DAY, 5);
    let old = Certificate::self_signed(name("/site").as_ref(), &new.secret, validity, 0);
    let old = Party { secret: new.secret.clone(), certificate: old };
    for anchors in [[&new, &old], [&old, &new]] {
        let validator = validator(&anchors, Schema::Hierarchy);
        assert_eq!(ask(&validator, &new.publishes("/site/x"), &[], NOW).0, Ok(key(&new)));
        let rejected = why(&validator, &old.publishes("/site/x"), &[]);
        let ended = old.certificate.name();
        assert!(matches!(rejected, Broken::NotValid { certificate, .. } if certificate == *ended));
    }
}

#[test]
fn a_certificate_in_waiting_is_replaced_and_a_verified_one_is_not() {
    let root = Party::alone("/site", 1);
    let alice = root.names("/site/alice", 3);
    let eve = Party::alone("/site/alice", 9);
    let issuer = Component::generic(b"up");
    let issue = Issue { issuer, validity: Validity::days(NOW, 1), version: 2 };
    let fake = Certificate::issue(&key(&alice), eve.secret.public(), &eve.signer(), &issue);
    assert_eq!(fake.name(), alice.certificate.name());
    let validator = validator(&[&root], Schema::Hierarchy);
    let offer = |certificate: &Certificate| {
        validator.offer(&Data::decode(certificate.wire()).unwrap()).unwrap();
    };
    let wire = alice.publishes("/site/alice/file");
    offer(&fake);
    offer(&alice.certificate);
    assert_eq!(ask(&validator, &wire, &[], NOW), (Ok(key(&alice)), 0));
    offer(&fake);
    assert_eq!(ask(&validator, &wire, &[], NOW), (Ok(key(&alice)), 0));
    // Nor is it removed after a forged packet in her name.
    let mut forged = wire.clone();
    *forged.last_mut().unwrap() ^= 1;
    let rejected = Broken::Signature { packet: name("/site/alice/file"), key: key(&alice) };
    assert_eq!(why(&validator, &forged, &[]), rejected);
    assert_eq!(ask(&validator, &wire, &[], NOW), (Ok(key(&alice)), 0));
}

#[test]
fn only_the_certificate_that_is_named_is_used() {
    let root = Party::alone("/site", 1);
    let alice = root.names("/site/alice", 3);
    let issuer = Component::generic(b"other");
    let issue = Issue { issuer, validity: Validity::days(NOW - DAY, 5), version: 9 };
    let other = alice.certificate.issued(&root.signer(), &issue);
    let validator = validator(&[&root], Schema::Hierarchy);
    validator.offer(&Data::decode(other.wire()).unwrap()).unwrap();
    let missing = Broken::Missing(alice.certificate.name().clone());
    assert_eq!(why(&validator, &alice.publishes("/site/alice/file"), &[]), missing);
    // Another key's certificate under the same beginning is not the named key's.
    let by_key = Signer::Key { secret: alice.secret.clone(), key_locator: key(&alice) };
    let wire = signed(&by_key, "/site/alice/file");
    assert_eq!(ask(&validator, &wire, &[], NOW), (Ok(key(&alice)), 0));
}
