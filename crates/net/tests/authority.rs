//! Rights by chains of certificates that the daemon fetches.
#![allow(clippy::unwrap_used, reason = "a test ends at the first surprise")]

mod support;

use net::client::lists;
use net::clock::unix_millis;
use net::management::parameters::ControlParameters;
use net::management::response::ControlResponse;
use packet::{
    Component, Data, Interest, InterestBuf, LpHeader, LpPacket, Name, PrefixAnnouncement,
    SignatureInfoBuf,
};
use security::certificate::Issue;
use security::{Certificate, SecretKey, Signer, Validity};
use std::net::UdpSocket;
use support::{Running, udp_peer};

/// A party with a key and a certificate.
struct Party {
    secret: SecretKey,
    certificate: Certificate,
}

/// As long as the test runs, and somewhat longer.
fn now_valid() -> Validity {
    Validity::days(unix_millis() / 1000 - 3600, 1)
}

impl Party {
    fn alone(identity: &str, seed: u8) -> Party {
        let secret = SecretKey::ed25519(&[seed; 32]);
        let identity: Name = identity.parse().unwrap();
        let certificate = Certificate::self_signed(identity.as_ref(), &secret, now_valid(), 1);
        Party { secret, certificate }
    }

    fn signer(&self) -> Signer {
        let key_locator = self.certificate.name().clone();
        Signer::Key { secret: self.secret.clone(), key_locator }
    }

    /// The same key with a certificate by `above`.
    fn under(self, above: &Party, validity: Validity) -> Party {
        let issue = Issue { issuer: Component::generic(b"up"), validity, version: 2 };
        let certificate = self.certificate.issued(&above.signer(), &issue);
        Party { certificate, ..self }
    }
}

/// A peer over UDP, which answers for certificates.
struct Peer<'a> {
    socket: UdpSocket,
    daemon: &'a Running,
    nonce: u32,
    /// The time of its latest signature; the next one is later.
    time_ms: u64,
    /// The requested names before the answer.
    asked: Vec<Name>,
}

impl Peer<'_> {
    fn new(daemon: &Running) -> Peer<'_> {
        let socket = udp_peer();
        Peer { socket, daemon, nonce: 0, time_ms: 0, asked: Vec::new() }
    }

    fn send(&mut self, mut interest: InterestBuf, who: &Party) -> Name {
        self.nonce += 1;
        interest.nonce = Some(self.nonce);
        interest.lifetime_ms = Some(60_000);
        self.time_ms = unix_millis().max(self.time_ms + 1);
        let locator = Some(who.certificate.name().clone());
        let info = SignatureInfoBuf::new(who.secret.signature_type(), locator)
            .with_nonce(&self.nonce.to_be_bytes())
            .with_time_ms(unix_millis() + u64::from(self.nonce));
        interest.sign_with(info, |parts| who.secret.sign(&parts.concat()));
        let wire = interest.encode();
        self.socket.send_to(&wire, self.daemon.udp[0]).unwrap();
        Interest::decode(&wire).unwrap().name().to_name()
    }

    /// Sends a registration signed by `who`; returns the command's name.
    fn begin(&mut self, prefix: &str, who: &Party) -> Name {
        let name = Some(prefix.parse().unwrap());
        let mut bytes = Vec::new();
        ControlParameters { name, ..Default::default() }.encode_into(&mut bytes);
        let name: Name = "/localhop/nfd/rib/register".parse().unwrap();
        self.send(InterestBuf::new(name.with(&Component::generic(&bytes))), who)
    }

    /// Waits for the answer to a command, and gives meanwhile the certificates that it has.
    fn answer(&mut self, command: &Name, has: &[&Party]) -> ControlResponse {
        let mut buffer = [0; 9000];
        loop {
            let len = self.socket.recv(&mut buffer).unwrap();
            let link = LpPacket::decode(&buffer[..len]).unwrap();
            let Some(packet) = link.fragment() else { continue };
            if let Ok(data) = Data::decode(packet) {
                if data.name() == command.as_ref() {
                    return ControlResponse::decode(data.content()).unwrap();
                }
                continue;
            }
            let interest = Interest::decode(packet).unwrap();
            self.asked.push(interest.name().to_name());
            let fits = |party: &&&Party| {
                Data::decode(party.certificate.wire()).unwrap().satisfies(&interest)
            };
            let Some(party) = has.iter().find(fits) else { continue };
            let pit_token = link.pit_token().unwrap_or_default().into();
            let mut frame = Vec::new();
            let header = LpHeader { pit_token, ..LpHeader::default() };
            header.encode_into(party.certificate.wire(), &mut frame);
            self.socket.send_to(&frame, self.daemon.udp[0]).unwrap();
        }
    }

    fn register(&mut self, prefix: &str, who: &Party, has: &[&Party]) -> ControlResponse {
        let command = self.begin(prefix, who);
        self.answer(&command, has)
    }
}

/// A daemon that executes commands of keys that `/site` certifies, for names under theirs.
fn site(more: &str) -> (tempfile::TempDir, Party, Running) {
    let folder = tempfile::tempdir().unwrap();
    let root = Party::alone("/site", 1);
    std::fs::write(folder.path().join("site.cert"), root.certificate.to_base64()).unwrap();
    let rules = "[trust]\ndepth = 2\n[[anchor]]\ncertificate = \"site.cert\"\n";
    std::fs::write(folder.path().join("trust.toml"), rules).unwrap();
    let trust = folder.path().join("trust.toml");
    let daemon = Running::start(&format!(
        "[[authorize]]\nfrom = \"remote\"\ntrust = \"{}\"\n{more}",
        trust.display()
    ));
    (folder, root, daemon)
}

#[test]
fn a_peer_commands_by_a_chain_that_it_answers_for_itself() {
    let (_folder, root, daemon) = site("");
    let group = Party::alone("/site/g", 2).under(&root, now_valid());
    let alice = Party::alone("/site/g/alice", 3).under(&group, now_valid());
    let mut peer = Peer::new(&daemon);
    let reply = peer.register("/site/g/alice/video", &alice, &[&alice, &group]);
    assert_eq!(reply.code, 200, "{}", reply.text);
    let names = [&alice, &group].map(|party| party.certificate.name().clone());
    assert_eq!(peer.asked, names, "each once");
    // Verified certificates are known, and another member of the group lacks only one.
    let reply = peer.register("/site/g/alice/photos", &alice, &[]);
    assert_eq!(reply.code, 200, "{}", reply.text);
    let bob = Party::alone("/site/g/bob", 4).under(&group, now_valid());
    let reply = peer.register("/site/g/bob", &bob, &[&bob]);
    assert_eq!((reply.code, peer.asked.len()), (200, 3), "{}", reply.text);
    // A key cannot register another party's prefix.
    let rejected = peer.register("/site/g/bob/x", &alice, &[]);
    assert!(rejected.code == 403 && rejected.text.contains("no rule lets"), "{}", rejected.text);
    let routes = lists::routes(&mut daemon.connect()).unwrap();
    let mut prefixes: Vec<_> = routes.iter().map(|route| route.prefix.to_string()).collect();
    prefixes.sort();
    assert_eq!(prefixes, ["/site/g/alice/photos", "/site/g/alice/video", "/site/g/bob"]);
}

#[test]
fn certificates_are_fetched_from_the_network() {
    let (_folder, root, daemon) = site("[[authorize]]\n");
    let alice = Party::alone("/site/alice", 3).under(&root, now_valid());
    // Another program on this host has the certificate.
    let holder = Holder::start(&daemon, &alice);
    let mut peer = Peer::new(&daemon);
    let reply = peer.register("/site/alice", &alice, &[]);
    assert_eq!(reply.code, 200, "{}", reply.text);
    assert_eq!(peer.asked, [], "the routes had it");
    holder.end();
}

/// An application that registered a prefix and answers for a certificate.
struct Holder {
    stream: std::os::unix::net::UnixStream,
    thread: std::thread::JoinHandle<()>,
}

impl Holder {
    fn start(daemon: &Running, party: &Party) -> Holder {
        use std::io::{Read, Write};
        let mut stream = daemon.stream();
        let prefix = party.certificate.identity().to_string();
        stream.write_all(&support::register(&prefix)).unwrap();
        let mut buffer = vec![0; 9000];
        let len = stream.read(&mut buffer).unwrap();
        let link = LpPacket::decode(&buffer[..len]).unwrap();
        let reply = Data::decode(link.fragment().unwrap()).unwrap();
        assert_eq!(ControlResponse::decode(reply.content()).unwrap().code, 200);
        let (ours, wire) = (stream.try_clone().unwrap(), party.certificate.wire().clone());
        let thread = std::thread::spawn(move || {
            while let Ok(len) = stream.read(&mut buffer)
                && len > 0
            {
                let link = LpPacket::decode(&buffer[..len]).unwrap();
                let pit_token = link.pit_token().unwrap_or_default().into();
                let mut frame = Vec::new();
                LpHeader { pit_token, ..LpHeader::default() }.encode_into(&wire, &mut frame);
                stream.write_all(&frame).unwrap();
            }
        });
        Holder { stream: ours, thread }
    }

    fn end(self) {
        self.stream.shutdown(std::net::Shutdown::Both).unwrap();
        self.thread.join().unwrap();
    }
}

#[test]
fn other_commands_go_on_while_one_waits() {
    let (_folder, root, daemon) = site("[[authorize]]\n");
    let alice = Party::alone("/site/alice", 3).under(&root, now_valid());
    let (mut slow, mut quick) = (Peer::new(&daemon), Peer::new(&daemon));
    let waits = slow.begin("/site/alice", &alice);
    // Peers whose certificates are known, and applications of the host, do not wait.
    let reply = quick.register("/site/root", &root, &[]);
    assert_eq!(reply.code, 200, "{}", reply.text);
    daemon.connect().register(&"/app".parse().unwrap()).unwrap();
    let reply = slow.answer(&waits, &[&alice]);
    assert_eq!(reply.code, 200, "{}", reply.text);
}

#[test]
fn chains_that_do_not_hold_are_rejected_with_the_reason_and_how_far_they_went() {
    let (_folder, root, daemon) = site("");
    let seconds = unix_millis() / 1000;
    let mut peer = Peer::new(&daemon);
    let mut rejected = |who: &Party, prefix: &str, has: &[&Party], why: &[&str]| {
        let reply = peer.register(prefix, who, has);
        assert_eq!(reply.code, 403);
        for part in why {
            assert!(reply.text.contains(part), "{part}: {}", reply.text);
        }
    };
    let day = 86_400;
    let expired = Validity::days(seconds - 10 * day, 5);
    let old = Party::alone("/site/old", 2).under(&root, expired);
    let name = old.certificate.name().to_string();
    rejected(&old, "/site/old", &[&old], &["has expired at", "the valid part of its chain", &name]);
    let early = Party::alone("/site/new", 3).under(&root, Validity::days(seconds + day, 5));
    rejected(&early, "/site/new", &[&early], &["is not valid before"]);
    let unknown = Party::alone("/site/x", 4);
    rejected(&unknown, "/site/x", &[&unknown], &["self-signed"]);
    let other = Party::alone("/other", 5);
    rejected(&other, "/other/x", &[&other], &["no anchor is above that key"]);
    // Each vouches for the other.
    let (a, b) = (Party::alone("/site/c", 6), Party::alone("/site/c", 7));
    let b = b.under(&a, now_valid());
    let a = a.under(&b, now_valid());
    let b = b.under(&a, now_valid());
    rejected(&b, "/site/c", &[&a, &b], &["the chain is circular"]);
    // Two certificates are permitted between a command and an anchor.
    let one = Party::alone("/site/1", 8).under(&root, now_valid());
    let two = Party::alone("/site/1/2", 9).under(&one, now_valid());
    let three = Party::alone("/site/1/2/3", 10).under(&two, now_valid());
    rejected(&three, "/site/1/2/3", &[&one, &two, &three], &["the first 2 certificates"]);
    // Another key under a certified name.
    let alice = Party::alone("/site/alice", 11).under(&root, now_valid());
    let thief = Party { secret: SecretKey::ed25519(&[12; 32]), certificate: alice.certificate };
    rejected(&thief, "/site/alice", &[&thief], &["was forged or damaged"]);
}

#[test]
fn a_command_with_a_missing_certificate_is_rejected_in_time() {
    let (_folder, root, daemon) = site("");
    let alice = Party::alone("/site/alice", 3).under(&root, now_valid());
    let mut peer = Peer::new(&daemon);
    let rejected = peer.register("/site/alice", &alice, &[]);
    assert_eq!(rejected.code, 403);
    assert!(rejected.text.contains("could not be fetched"), "{}", rejected.text);
    assert!(!peer.asked.is_empty(), "the peer itself was asked");
}

#[test]
fn a_flood_of_unknown_keys_is_bounded_for_its_face() {
    let (_folder, root, daemon) = site("");
    let mut flood = Peer::new(&daemon);
    let unknown: Vec<_> = (0..40)
        .map(|n| Party::alone(&format!("/site/n{n}"), 3).under(&root, now_valid()))
        .collect();
    let names: Vec<_> = unknown
        .iter()
        .enumerate()
        .map(|(n, who)| flood.begin(&format!("/site/n{n}"), who))
        .collect();
    // The last ones are rejected before the first ones are answered.
    let rejected = flood.answer(names.last().unwrap(), &[]);
    assert!(rejected.text.contains("too many certificates are already"), "{}", rejected.text);
    let alice = Party::alone("/site/alice", 3).under(&root, now_valid());
    let reply = Peer::new(&daemon).register("/site/alice", &alice, &[&alice]);
    assert_eq!(reply.code, 200, "other faces are not concerned: {}", reply.text);
}

#[test]
fn announcements_are_signed_by_whom_the_rules_let() {
    let folder = tempfile::tempdir().unwrap();
    let root = Party::alone("/site", 1);
    let path = folder.path().join("site.cert");
    std::fs::write(&path, root.certificate.to_base64()).unwrap();
    let trust = format!("trust = \"{}\"\n", path.display());
    let daemon = Running::start(&format!(
        "[announcements]\n{trust}[[authorize]]\nfrom = \"remote\"\n{trust}"
    ));
    let alice = Party::alone("/site/alice", 2).under(&root, now_valid());
    let mut peer = Peer::new(&daemon);
    let mut announce = |prefix: &str, by: Option<&Party>| {
        let prefix: Name = prefix.parse().unwrap();
        let data = PrefixAnnouncement::build(prefix.as_ref(), unix_millis(), 60_000);
        let signer = by.map_or(Signer::Digest, Party::signer);
        let mut wire = Vec::new();
        signer.encode(&data, &mut wire);
        let mut interest = InterestBuf::new("/localhop/nfd/rib/announce".parse().unwrap());
        interest.parameters = Some(wire.into());
        let command = peer.send(interest, &root);
        peer.answer(&command, &[&alice])
    };
    let reply = announce("/site/alice/a", Some(&alice));
    assert_eq!(reply.code, 200, "{}", reply.text);
    let rejected = announce("/site/bob", Some(&alice));
    assert!(rejected.code == 403 && rejected.text.contains("no rule lets"), "{}", rejected.text);
    let rejected = announce("/site/bob", None);
    assert!(
        rejected.code == 403 && rejected.text.contains("does not name its key"),
        "{}",
        rejected.text
    );
    let rejected = announce("/site/bob", Some(&Party::alone("/site/bob", 3)));
    assert!(
        rejected.code == 403 && rejected.text.contains("could not be fetched"),
        "{}",
        rejected.text
    );
    let routes = lists::routes(&mut daemon.connect()).unwrap();
    assert_eq!(routes.len(), 1);
    assert_eq!(routes[0].prefix.to_string(), "/site/alice/a");
}
