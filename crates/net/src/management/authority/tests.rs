use super::*;
use crate::management::parameters::ControlParameters;
use forwarder::FaceId;
use packet::{Bytes, Component, Interest, InterestBuf, Signature, SignatureInfoBuf};
use security::{SecretKey, Validity};

/// 2026-11-21, in milliseconds since 1970.
/// The daemon has run for a day.
const LATER: Time = Time(86_400_000_000_000);
const NOW: u64 = 1_795_219_200_000;

fn key(seed: u8) -> (SecretKey, Certificate) {
    let secret = SecretKey::ed25519(&[seed; 32]);
    let identity: Name = "/op".parse().unwrap();
    let validity = Validity::days(NOW / 1000 - 60, 1);
    let certificate = Certificate::self_signed(identity.as_ref(), &secret, validity, NOW);
    (secret, certificate)
}

/// A `rib/register` of `/a/b`, signed.
fn command(key: Option<&(SecretKey, Certificate)>, time_ms: u64, nonce: &[u8]) -> Bytes {
    numbered(key, time_ms, nonce, None)
}

/// The same, perhaps with a SignatureSeqNum; a time of 0 and a nonce without bytes are left out.
fn numbered(
    key: Option<&(SecretKey, Certificate)>,
    time_ms: u64,
    nonce: &[u8],
    sequence: Option<u64>,
) -> Bytes {
    let asked = ControlParameters { name: Some("/a/b".parse().unwrap()), ..Default::default() };
    let mut bytes = Vec::new();
    asked.encode_into(&mut bytes);
    let name: Name = "/localhop/nfd/rib/register".parse().unwrap();
    let mut interest = InterestBuf::new(name.with(&Component::generic(&bytes)));
    let info = match key {
        Some((secret, certificate)) => {
            SignatureInfoBuf::new(secret.signature_type(), Some(certificate.key_name()))
        }
        None => SignatureInfoBuf::digest(),
    };
    let info = if nonce.is_empty() { info } else { info.with_nonce(nonce) };
    let info = if time_ms == 0 { info } else { info.with_time_ms(time_ms) };
    let info = sequence.into_iter().fold(info, SignatureInfoBuf::with_sequence);
    interest.sign_with(info, |parts| match key {
        Some((secret, _)) => secret.sign(&parts.concat()),
        None => {
            use sha2::Digest as _;
            Signature::new(&sha2::Sha256::digest(parts.concat()))
        }
    });
    interest.encode()
}

fn permit(authority: &mut Authority, wire: &[u8], from: Origin, at: u64) -> Result<(), String> {
    let interest = Interest::decode(wire).unwrap();
    let command = Command::take(&interest).unwrap();
    let grant = authority.permit(&command, from, None, at).map_err(|denial| match denial {
        Denial::Rejected(rejection) => rejection.to_string(),
        Denial::Untrusted(why, _) => why,
        Denial::Missing(missing) => format!("{} lacks", missing.name),
    })?;
    let arrival = Arrival { from: FaceId(1), now: LATER, wall_ms: at };
    authority.admit(grant, &command.claim, arrival).map_err(|rejection| rejection.to_string())
}

fn rule(certificate: &Certificate) -> Rule {
    Rule {
        from: Origin::Remote,
        modules: vec!["rib".to_owned()],
        prefix: "/a".parse().unwrap(),
        who: AcceptedSignature::Key(Box::new(certificate.clone())),
        users: Users::default(),
        is_bounded: false,
        skew: Duration::from_secs(120),
    }
}

// Other projects' programs, "Commands": [peer-28].
#[test]
fn without_rules_applications_may_do_everything_and_peers_nothing() {
    let mut authority = Authority::new(Vec::new());
    let wire = command(None, NOW, b"n");
    assert_eq!(permit(&mut authority, &wire, Origin::Local, NOW), Ok(()));
    let why = permit(&mut authority, &wire, Origin::Remote, NOW).unwrap_err();
    assert!(why.contains("no rule") && !authority.takes_remote_commands(), "{why}");
}

// CommandInterest, "CommandInterest": [mgmt-4].
// signed-interest.rst, "Processing": [signed-interest-10].
#[test]
fn a_command_that_no_key_vouches_for_is_new_and_accepted_once() {
    let anybody = |from| Rule { who: AcceptedSignature::Any, from, ..rule(&key(1).1) };
    for from in [Origin::Local, Origin::Remote] {
        let mut authority = Authority::new(vec![anybody(from)]);
        let mut submit = |wire: &[u8]| permit(&mut authority, wire, from, NOW);
        let fresh = command(None, NOW - 120_000, b"n");
        assert_eq!(submit(&fresh), Ok(()));
        assert!(submit(&fresh).unwrap_err().contains("accepted before"));
        assert_eq!(submit(&command(None, NOW - 120_000, b"m")), Ok(()), "another nonce");
        for old in [NOW - 120_001, NOW + 120_001, 1] {
            let why = submit(&command(None, old, b"o")).unwrap_err();
            assert!(why.contains("from this host's"), "{why}");
        }
        for (time, nonce) in [(0, &b"n"[..]), (NOW, b"")] {
            let why = submit(&numbered(None, time, nonce, Some(1))).unwrap_err();
            assert!(why.contains("no time or no nonce"), "{why}");
        }
        // A signature that no rule asks to verify proves no more than a digest.
        let by_key = command(Some(&key(1)), NOW, b"k");
        assert_eq!(submit(&by_key), Ok(()));
        assert!(submit(&by_key).unwrap_err().contains("accepted before"));
    }
}

#[test]
fn a_command_from_before_the_start_may_have_been_accepted_then() {
    // Its clock has been set forward by a minute since.
    let mut authority = Authority::new(Vec::new()).started(NOW - 70_000);
    let mut submit = |time_ms, (now_s, wall_ms)| {
        let wire = command(None, time_ms, b"n");
        let interest = Interest::decode(&wire).unwrap();
        let command = Command::take(&interest).unwrap();
        let grant = authority.permit(&command, Origin::Local, None, NOW).unwrap();
        let now = Time(0) + Duration::from_secs(now_s);
        let arrival = Arrival { from: FaceId(1), now, wall_ms };
        authority.admit(grant, &command.claim, arrival).map_err(|rejection| rejection.to_string())
    };
    let why = submit(NOW - 70_001, (10, NOW)).unwrap_err();
    assert!(why.contains("before this forwarder started"), "{why}");
    assert_eq!(submit(NOW - 10_001, (10, NOW)), Ok(()));
    // A clock that is set back locks no application out.
    assert_eq!(submit(NOW - 3_600_000, (20, NOW - 3_600_000)), Ok(()));
}

// CommandInterest, "CommandInterest": [mgmt-4].
// signed-interest.rst, "Processing, 6": [signed-interest-7]; "Processing, 7": [signed-interest-8].
#[test]
fn a_trusted_keys_command_is_executed_once() {
    let operator = key(1);
    let mut authority = Authority::new(vec![rule(&operator.1)]);
    assert!(authority.takes_remote_commands());
    let mut from_peer = |wire: &[u8], at| permit(&mut authority, wire, Origin::Remote, at);
    let first = command(Some(&operator), NOW, b"one");
    assert_eq!(from_peer(&first, NOW), Ok(()));
    assert!(from_peer(&first, NOW).unwrap_err().contains("received before"));
    let same_time = command(Some(&operator), NOW, b"two");
    assert!(from_peer(&same_time, NOW).unwrap_err().contains("the same millisecond"));
    let same_nonce = command(Some(&operator), NOW + 5, b"one");
    assert!(from_peer(&same_nonce, NOW).unwrap_err().contains("received before"));
    assert_eq!(from_peer(&command(Some(&operator), NOW + 5, b"two"), NOW), Ok(()));
    let earlier = command(Some(&operator), NOW + 4, b"six");
    assert!(from_peer(&earlier, NOW).unwrap_err().contains("later command"));
    let late = command(Some(&operator), NOW + 6, b"x");
    assert!(from_peer(&late, NOW + 120_007).unwrap_err().contains("too far from now"));
    assert_eq!(from_peer(&late, NOW + 120_006), Ok(()));
}

// signed-interest.rst, "Processing, 8": [signed-interest-9].
#[test]
fn a_keys_numbers_increase_where_it_has_any() {
    let operator = key(1);
    let mut authority = Authority::new(vec![rule(&operator.1)]);
    let mut submit = |time: u64, number| {
        let wire = numbered(Some(&operator), NOW + time, &time.to_be_bytes(), number);
        permit(&mut authority, &wire, Origin::Remote, NOW)
    };
    assert_eq!(submit(1, Some(7)), Ok(()), "any number will do for the first");
    for number in [7, 6, 0] {
        assert!(submit(2, Some(number)).unwrap_err().contains("of this number or a greater one"));
    }
    assert_eq!(submit(2, None), Ok(()), "what is rejected leaves no trace");
    assert!(submit(3, Some(7)).is_err(), "one without a number does not make it forgotten");
    assert_eq!(submit(3, Some(8)), Ok(()));
}

// signed-interest.rst, "Processing": [signed-interest-10].
#[test]
fn a_command_without_time_or_nonce_is_rejected() {
    let operator = key(1);
    let mut authority = Authority::new(vec![rule(&operator.1)]);
    for (time, nonce) in [(0, &b"n"[..]), (NOW, b"")] {
        let wire = numbered(Some(&operator), time, nonce, Some(1));
        let why = permit(&mut authority, &wire, Origin::Remote, NOW).unwrap_err();
        assert!(why.contains("no time or no nonce"), "{why}");
    }
}

// signed-interest.rst, "Processing, 7": [signed-interest-8].
#[test]
fn nonces_are_remembered_for_a_while() {
    let operator = key(1);
    let mut authority = Authority::new(vec![rule(&operator.1)]);
    let mut submit = |time: u64, nonce: u64| {
        let wire = command(Some(&operator), NOW + time, &nonce.to_be_bytes());
        permit(&mut authority, &wire, Origin::Remote, NOW).is_ok()
    };
    assert!((0..100).all(|i| submit(i, i)));
    assert!((85..100).all(|i| !submit(200, i)), "the latest are known");
    assert!(submit(200, 0), "memory has a bound");
}

// signed-interest.rst, "Processing, 4": [signed-interest-5]; "Processing, 5": [signed-interest-6].
#[test]
fn unknown_keys_digests_and_forgeries_are_rejected_with_the_reason() {
    let (operator, unknown) = (key(1), key(2));
    let rejected = |wire: &[u8], at: u64| {
        let mut authority = Authority::new(vec![rule(&operator.1)]);
        permit(&mut authority, wire, Origin::Remote, at).unwrap_err()
    };
    let why = rejected(&command(Some(&unknown), NOW, b"n"), NOW);
    assert!(why.contains("may not send this command"), "{why}");
    assert!(rejected(&command(None, NOW, b"n"), NOW).contains("a digest does not identify"));
    // The unknown key's signature under the operator's name.
    let forged = command(Some(&(unknown.0, operator.1.clone())), NOW, b"n");
    assert!(rejected(&forged, NOW).contains("is wrong"));
    let later = NOW + 2 * 86_400_000;
    let why = rejected(&command(Some(&operator), later, b"n"), later);
    assert!(why.contains("is not valid now"), "{why}");
}

// signed-interest.rst, "Processing, 5": [signed-interest-6].
#[test]
fn a_rule_is_for_its_modules_prefix_and_side_alone() {
    let operator = key(1);
    let wire = command(Some(&operator), NOW, b"n");
    let other_modules = Rule { modules: vec!["faces".to_owned()], ..rule(&operator.1) };
    let other_prefix = Rule { prefix: "/b".parse().unwrap(), ..rule(&operator.1) };
    let other_side = Rule { from: Origin::Local, ..rule(&operator.1) };
    for wrong in [other_modules, other_prefix, other_side] {
        let mut authority = Authority::new(vec![wrong]);
        let why = permit(&mut authority, &wire, Origin::Remote, NOW).unwrap_err();
        assert!(why.contains("no rule"), "{why}");
    }
}

/// A key that the operator certifies.
fn customer(operator: &(SecretKey, Certificate), identity: &str) -> (SecretKey, Certificate) {
    let secret = SecretKey::ed25519(&[9; 32]);
    let identity: Name = identity.parse().unwrap();
    let validity = Validity::days(NOW / 1000 - 60, 1);
    let own = Certificate::self_signed(identity.as_ref(), &secret, validity, NOW);
    let signer =
        security::Signer::Key { secret: operator.0.clone(), key_locator: operator.1.key_name() };
    let issue =
        security::certificate::Issue { issuer: Component::generic(b"op"), validity, version: NOW };
    (secret, own.issued(&signer, &issue))
}

/// The decision of a rule with these trust rules on the customer `/op/{who}`, who registers `/a/b`.
fn trusted(rules: &[(&str, &str)], who: &str, offers: bool) -> Result<(), String> {
    use security::trust::{Rule as Allows, Schema, Subject};
    let operator = key(1);
    let customer = customer(&operator, who);
    let rules = rules.iter().map(|(names, signer)| Allows {
        subject: Subject::Command,
        names: names.parse().unwrap(),
        signer: signer.parse().unwrap(),
    });
    let vouches = Allows {
        subject: Subject::Certificate,
        names: "/op/{}".parse().unwrap(),
        signer: "/op".parse().unwrap(),
    };
    let schema = Schema::Rules(rules.chain([vouches]).collect());
    let validator = Arc::new(Validator::new(vec![operator.1.clone()], schema));
    let wire = command(Some(&customer), NOW, b"n");
    let who = AcceptedSignature::Trusted(Arc::clone(&validator));
    let mut authority = Authority::new(vec![Rule { who, ..rule(&operator.1) }]);
    if offers {
        validator.offer(&packet::Data::decode(customer.1.wire()).unwrap()).unwrap();
    }
    permit(&mut authority, &wire, Origin::Remote, NOW)
}

#[test]
fn trust_rules_tie_what_a_command_is_about_to_who_signs_it() {
    assert_eq!(trusted(&[("/{site}/{...}", "/op/{site}")], "/op/a", true), Ok(()));
    let why = trusted(&[("/{site}/{...}", "/op/{site}")], "/op/c", true).unwrap_err();
    assert!(why.contains("no rule lets /op/c/KEY/"), "{why}");
    // The reason names the command.
    assert!(why.starts_with("/localhop/nfd/rib/register/a/b is not trusted"), "{why}");
    let why = trusted(&[], "/op/a", true).unwrap_err();
    assert!(why.contains("no rule lets"), "{why}");
    let lacks = trusted(&[("/{...}", "/op/{}")], "/op/a", false).unwrap_err();
    assert!(lacks.starts_with("/op/a/KEY/") && lacks.ends_with(" lacks"), "{lacks}");
}

#[test]
fn commands_awaiting_a_certificate_are_not_recorded_as_seen() {
    let operator = key(1);
    let customer = customer(&operator, "/a");
    let anyone = security::trust::Schema::Rules(
        [
            ("/{...}", security::trust::Subject::Command),
            ("/{}", security::trust::Subject::Certificate),
        ]
        .map(|(names, subject)| security::trust::Rule {
            subject,
            names: names.parse().unwrap(),
            signer: "/{...}".parse().unwrap(),
        })
        .to_vec(),
    );
    let validator = Arc::new(Validator::new(vec![operator.1.clone()], anyone));
    let who = AcceptedSignature::Trusted(Arc::clone(&validator));
    // If this rule cannot allow the command, the objection of another one is reported.
    let rules = vec![Rule { who, ..rule(&operator.1) }, rule(&key(2).1)];
    let mut authority = Authority::new(rules);
    let wire = command(Some(&customer), NOW, b"n");
    assert!(permit(&mut authority, &wire, Origin::Remote, NOW).unwrap_err().ends_with("lacks"));
    validator.offer(&packet::Data::decode(customer.1.wire()).unwrap()).unwrap();
    assert_eq!(permit(&mut authority, &wire, Origin::Remote, NOW), Ok(()));
    let why = permit(&mut authority, &wire, Origin::Remote, NOW).unwrap_err();
    assert!(why.contains("received before"), "{why}");
}

#[test]
fn of_a_chain_with_a_wrong_signature_the_certificates_are_named() {
    let operator = key(1);
    let customer = customer(&operator, "/a");
    let rule_of = |names: &str, subject| security::trust::Rule {
        subject,
        names: names.parse().unwrap(),
        signer: "/{...}".parse().unwrap(),
    };
    let rules = vec![
        rule_of("/{...}", security::trust::Subject::Command),
        rule_of("/{}", security::trust::Subject::Certificate),
    ];
    let schema = security::trust::Schema::Rules(rules);
    let validator = Arc::new(Validator::new(vec![operator.1.clone()], schema));
    validator.offer(&packet::Data::decode(customer.1.wire()).unwrap()).unwrap();
    let who = AcceptedSignature::Trusted(validator);
    let mut authority = Authority::new(vec![Rule { who, ..rule(&operator.1) }]);
    // By another key, under the name of the customer's: the certificate may be a forged one.
    let forger = (SecretKey::ed25519(&[77; 32]), customer.1.clone());
    let wire = command(Some(&forger), NOW, b"n");
    let interest = Interest::decode(&wire).unwrap();
    let command = Command::take(&interest).unwrap();
    let denial = authority.permit(&command, Origin::Remote, None, NOW).unwrap_err();
    let Denial::Untrusted(why, chain) = denial else { panic!("{denial:?}") };
    assert!(chain.contains(customer.1.name()), "{chain:?}: {why}");
}

fn of_user(authority: &mut Authority, module: &str, uid: u32) -> Option<bool> {
    let asked = ControlParameters { name: Some("/a/b".parse().unwrap()), ..Default::default() };
    let mut bytes = Vec::new();
    asked.encode_into(&mut bytes);
    let name: Name = format!("/localhost/nfd/{module}").parse().unwrap();
    let mut interest = InterestBuf::new(name.with(&Component::generic(&bytes)));
    interest.sign_with(SignatureInfoBuf::digest(), |parts| {
        use sha2::Digest as _;
        Signature::new(&sha2::Sha256::digest(parts.concat()))
    });
    let wire = interest.encode();
    let command = Interest::decode(&wire).unwrap();
    let command = Command::take(&command).unwrap();
    let account = Some(Account { uid, gid: Some(uid + 1) });
    let grant = authority.permit(&command, Origin::Local, account, NOW).ok()?;
    Some(grant.is_bounded)
}

#[test]
fn without_rules_other_users_may_register_within_bounds_alone() {
    let mut authority = Authority::new(Vec::new());
    authority.set_owner(1000);
    authority.set_rules(Vec::new());
    authority.set_rules(Vec::new());
    for (uid, rib, strategy) in
        [(0, Some(false), Some(false)), (1000, Some(false), Some(false)), (7, Some(true), None)]
    {
        assert_eq!(of_user(&mut authority, "rib/register", uid), rib, "{uid}");
        assert_eq!(of_user(&mut authority, "strategy-choice/unset", uid), strategy, "{uid}");
    }
}

#[test]
fn a_rule_names_users_and_groups() {
    let users = Users { uids: vec![7], gids: vec![9] };
    let mut authority = Authority::new(vec![Rule { users, ..Rule::everything_here() }]);
    let mut may = |uid| of_user(&mut authority, "strategy-choice/unset", uid);
    // The group's number is one more than the user's here.
    assert_eq!((may(7), may(8), may(9), may(0)), (Some(false), Some(false), None, None));
}

#[test]
fn a_key_is_named_by_itself_its_certificates_and_its_digest() {
    let key: Name = "/op/KEY/1".parse().unwrap();
    let is = |given: &str| is_key(given.parse::<Name>().unwrap().as_ref(), key.as_ref());
    assert!(is("/op/KEY/1") && is("/op/KEY/1/self/v"));
    for other in ["/op/KEY/2", "/op/KEY/1/self", "/op/KEY/1/self/v/x", "/op/KEY/2/self/v", "/op"] {
        assert!(!is(other), "{other}");
    }
    let signer = self::key(1);
    let wire = command(Some(&signer), NOW, b"n");
    let interest = Interest::decode(&wire).unwrap();
    let mut claim = Command::take(&interest).unwrap().claim;
    let own = signer.1.public_key().digest();
    claim.key = Some(KeyLocator::Digest(&own));
    // It is looked at, and found to be of the same bytes but for its locator.
    assert_eq!(judge(&signer.1, &claim, NOW), Ok(signer.1.key_name()));
    let other = self::key(2).1.public_key().digest();
    claim.key = Some(KeyLocator::Digest(&other));
    let why = judge(&signer.1, &claim, NOW).unwrap_err();
    assert!(why.contains("the key of that digest may not"), "{why}");
}

#[test]
fn memory_counts_commands_of_applications_and_of_peers() {
    let rules = [Origin::Local, Origin::Remote];
    let rules = rules.map(|from| Rule { who: AcceptedSignature::Any, from, ..rule(&key(1).1) });
    let mut authority = Authority::new(rules.to_vec());
    assert_eq!(authority.memory(), 0);
    let mut submit = |from, nonce: &[u8]| {
        permit(&mut authority, &command(None, NOW, nonce), from, NOW).unwrap();
        authority.memory()
    };
    let one = submit(Origin::Local, b"1");
    assert!(one > 32, "a digest and a time at least");
    assert_eq!(submit(Origin::Remote, b"2"), 2 * one);
    assert_eq!(submit(Origin::Remote, b"3"), 3 * one);
}

#[test]
fn a_user_whom_no_rule_lets_is_named() {
    let mut authority = Authority::new(Vec::new());
    authority.set_owner(1000);
    authority.set_rules(Vec::new());
    let wire = command(None, NOW, b"n");
    let interest = Interest::decode(&wire).unwrap();
    let mut command = Command::take(&interest).unwrap();
    command.module = b"faces";
    let mut permit = |uid| {
        let account = Some(Account { uid, gid: Some(uid) });
        match authority.permit(&command, Origin::Local, account, NOW) {
            Ok(_) => Ok(()),
            Err(Denial::Rejected(rejection)) => Err(rejection.to_string()),
            Err(_) => panic!("it was judged"),
        }
    };
    assert_eq!([permit(1000), permit(0)], [Ok(()), Ok(())]);
    let why = permit(1001).unwrap_err();
    assert!(why.contains("programs of user 1001") && why.contains("[[authorize]]"), "{why}");
}
