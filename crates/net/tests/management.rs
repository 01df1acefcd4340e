//! Management commands that end in sockets.
#![allow(clippy::unwrap_used, reason = "a test ends at the first surprise")]

mod support;

use net::client::Connection;
use net::management::parameters::{ControlParameters, numbers};
use net::management::response::ControlResponse;
use net::uri::FaceUri;
use packet::tlv::Reader;
use packet::{Component, Data, Interest, InterestBuf, LpHeader, LpPacket, Name};
use std::io::{Read, Write};
use std::net::{TcpListener, UdpSocket};
use std::os::unix::net::UnixStream;
use support::{Running, udp_peer};

const LOCAL_FIELDS: u64 = 1;

fn control(client: &mut Connection, verb: &str, asked: &ControlParameters) -> ControlResponse {
    let (module, verb) = verb.split_once('/').unwrap();
    client.control(["nfd", module, verb], asked, verb).unwrap()
}

fn to(uri: &str) -> ControlParameters {
    ControlParameters { uri: Some(uri.to_owned()), ..ControlParameters::default() }
}

fn about(face: u64) -> ControlParameters {
    ControlParameters { face_id: Some(face), ..ControlParameters::default() }
}

/// The types of the fields, in their order.
fn fields(body: &ControlParameters) -> Vec<u64> {
    let mut bytes = Vec::new();
    body.encode_into(&mut bytes);
    let value = packet::tlv::only(&bytes, numbers::CONTROL_PARAMETERS).unwrap();
    let mut reader = Reader::new(value);
    std::iter::from_fn(|| Some(reader.next_element().unwrap()?.typ)).collect()
}

/// The types of the elements in the entry of the face list that has this URI.
fn listed(client: &mut Connection, uri: &str) -> Option<Vec<(u64, Vec<u8>)>> {
    let content = client.dataset(&"/localhost/nfd/faces/list".parse().unwrap()).unwrap();
    let elements = |value: &[u8]| {
        let mut reader = Reader::new(value);
        let mut all = Vec::new();
        while let Some(element) = reader.next_element().unwrap() {
            all.push((element.typ, element.value.to_vec()));
        }
        all
    };
    let entries = elements(&content).into_iter().map(|(_, entry)| elements(&entry));
    let is_it = |entry: &Vec<(u64, Vec<u8>)>| entry.contains(&(numbers::URI, uri.into()));
    entries.into_iter().find(is_it)
}

/// The packet in the next datagram that has one; others state the daemon's capabilities.
fn receive(peer: &UdpSocket) -> Vec<u8> {
    let mut buffer = [0; 9000];
    loop {
        let len = peer.recv(&mut buffer).unwrap();
        if let Some(packet) = LpPacket::decode(&buffer[..len]).unwrap().fragment() {
            return packet.to_vec();
        }
    }
}

// Other projects' programs, "Commands": [peer-17], [peer-21], [peer-23].
// Other projects' programs, "Commands": [peer-41].
#[test]
fn a_udp_face_is_made_found_used_changed_and_ended() {
    let daemon = Running::start("");
    let peer = udp_peer();
    let uri = FaceUri::udp(peer.local_addr().unwrap()).to_string();
    let mut client = daemon.connect();
    let made = control(&mut client, "faces/create", &to(&uri));
    assert_eq!((made.code, made.body.uri.as_ref()), (200, Some(&uri)), "{}", made.text);
    assert_eq!((made.body.persistency, made.body.flags), (Some(0), Some(0)));
    // Fields that python-ndn expects elsewhere are present only if the command has them.
    assert_eq!((made.body.mtu, made.body.marking_interval_ns), (None, None));
    // ndn-cxx's clients insist on the others, and take no more.
    use numbers::{FACE_ID, FACE_PERSISTENCY, FLAGS, LOCAL_URI, MTU, URI};
    assert_eq!(fields(&made.body), [FACE_ID, URI, LOCAL_URI, FLAGS, FACE_PERSISTENCY]);
    assert!(made.body.local_uri.unwrap().starts_with("udp4://127.0.0.1:"));
    let face = made.body.face_id.unwrap();
    let again = control(&mut client, "faces/create", &to(&uri));
    assert_eq!((again.code, again.body.face_id), (409, Some(face)), "as nfdc relies on");
    let route = ControlParameters { name: Some("/p".parse().unwrap()), ..about(face) };
    assert_eq!(control(&mut client, "rib/register", &route).code, 200);
    let mut stream = daemon.stream();
    stream.write_all(&InterestBuf::new("/p/x".parse().unwrap()).encode()).unwrap();
    let packet = receive(&peer);
    let asked = Interest::decode(&packet).unwrap();
    assert_eq!(asked.name().to_string(), "/p/x");
    let wider = ControlParameters { mtu: Some(1200), persistency: Some(2), ..about(face) };
    let changed = control(&mut client, "faces/update", &wider);
    assert_eq!(
        (changed.code, changed.body.mtu, changed.body.persistency),
        (200, Some(1200), Some(2))
    );
    assert_eq!(fields(&changed.body), [FACE_ID, FLAGS, FACE_PERSISTENCY, MTU]);
    let entry = listed(&mut client, &uri).unwrap();
    assert!(entry.contains(&(MTU, vec![0x04, 0xb0])), "{entry:?}");
    for code in [200, 200] {
        let ended = control(&mut client, "faces/destroy", &about(face));
        assert_eq!((ended.code, &fields(&ended.body)[..]), (code, &[FACE_ID][..]));
    }
    assert_eq!(listed(&mut client, &uri), None);
    assert_eq!(control(&mut client, "rib/register", &route).code, 410);
}

// Other projects' programs, "Commands": [peer-23].
#[test]
fn a_tcp_face_is_answered_for_when_it_is_connected_or_cannot_be() {
    let daemon = Running::start("");
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let uri = FaceUri::tcp(listener.local_addr().unwrap()).to_string();
    let mut client = daemon.connect();
    let asked = ControlParameters { flags: Some(1), mask: Some(1), ..to(&uri) };
    let made = control(&mut client, "faces/create", &asked);
    assert_eq!((made.code, made.body.flags), (200, Some(LOCAL_FIELDS)), "{}", made.text);
    assert_eq!(control(&mut client, "faces/create", &to(&uri)).code, 409);
    let (mut peer, _) = listener.accept().unwrap();
    let face = made.body.face_id.unwrap();
    assert_eq!(control(&mut client, "faces/destroy", &about(face)).code, 200);
    peer.read_to_end(&mut Vec::new()).expect("it was closed");
    drop(listener);
    let rejected = control(&mut client, "faces/create", &to(&uri));
    assert_eq!(rejected.code, 504, "{}", rejected.text);
    assert_eq!(listed(&mut client, &uri), None);
}

#[test]
fn a_permanent_face_is_connected_once_and_again_when_it_broke() {
    let daemon = Running::start("");
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let uri = FaceUri::tcp(listener.local_addr().unwrap()).to_string();
    let mut client = daemon.connect();
    let asked = ControlParameters { persistency: Some(2), ..to(&uri) };
    assert_eq!(control(&mut client, "faces/create", &asked).code, 200);
    let (peer, _) = listener.accept().unwrap();
    // Some turns later there is still one connection.
    for _ in 0..3 {
        assert!(listed(&mut client, &uri).is_some());
    }
    listener.set_nonblocking(true).unwrap();
    assert!(listener.accept().is_err(), "a second connection");
    listener.set_nonblocking(false).unwrap();
    drop(peer);
    listener.accept().expect("it is connected again");
}

#[test]
fn commands_make_only_so_many_faces() {
    let daemon = Running::start("[on_demand]\nmax = 2");
    let mut client = daemon.connect();
    let peers = [(); 3].map(|()| udp_peer());
    let codes = peers.each_ref().map(|peer| {
        let uri = FaceUri::udp(peer.local_addr().unwrap()).to_string();
        control(&mut client, "faces/create", &to(&uri)).code
    });
    assert_eq!(codes, [200, 200, 500]);
}

// FaceMgmt, "Update a face": [mgmt-8].
// Other projects' programs, "Faces": [peer-1]; "Commands": [peer-25].
#[test]
fn impossible_face_updates_are_rejected() {
    let daemon = Running::start("");
    let mut client = daemon.connect();
    let own = |asked: ControlParameters| asked;
    let permanent = ControlParameters { persistency: Some(2), ..Default::default() };
    assert_eq!(control(&mut client, "faces/update", &own(permanent)).code, 409);
    let reliable = ControlParameters { flags: Some(2), mask: Some(2), ..Default::default() };
    assert_eq!(control(&mut client, "faces/update", &reliable).code, 409);
    let lone = ControlParameters { flags: Some(1), ..Default::default() };
    assert_eq!(control(&mut client, "faces/update", &lone).code, 400);
    assert_eq!(control(&mut client, "faces/update", &about(99)).code, 404);
    let peer = udp_peer();
    let uri = FaceUri::udp(peer.local_addr().unwrap()).to_string();
    let face = control(&mut client, "faces/create", &to(&uri)).body.face_id.unwrap();
    let fields = ControlParameters { flags: Some(1), mask: Some(1), ..about(face) };
    assert_eq!(control(&mut client, "faces/update", &fields).code, 409, "UDP is not local");
}

/// Sends a command over a stream and reads the frame that comes back.
fn command(stream: &mut UnixStream, verb: &str, asked: &ControlParameters) -> ControlResponse {
    let mut bytes = Vec::new();
    asked.encode_into(&mut bytes);
    let name: Name = format!("/localhost/nfd/{verb}").parse().unwrap();
    let mut interest = InterestBuf::new(name.with(&Component::generic(&bytes)));
    interest.nonce = Some(bytes.len() as u32);
    let info = packet::SignatureInfoBuf::digest().with_nonce(&support::unique());
    interest.sign_with(info.with_time_ms(net::clock::unix_millis()), |parts| {
        use sha2::Digest as _;
        packet::Signature::new(&sha2::Sha256::digest(parts.concat()))
    });
    stream.write_all(&interest.encode()).unwrap();
    let frame = read_frame(stream);
    let link = LpPacket::decode(&frame).unwrap();
    let data = Data::decode(link.fragment().unwrap()).unwrap();
    ControlResponse::decode(data.content()).unwrap()
}

fn read_frame(stream: &mut UnixStream) -> Vec<u8> {
    let mut buffer = vec![0; 10_000];
    let len = stream.read(&mut buffer).unwrap();
    buffer.truncate(len);
    buffer
}

// NDNLPv2, "Consumer-controlled forwarding": [lp-16]; "Incoming face indication": [lp-17].
// LocalControlHeader, "Enabling and disabling": [mgmt-10].
#[test]
fn local_fields_come_and_go_with_a_faces_flag() {
    let daemon = Running::start("");
    let mut stream = daemon.stream();
    let prefix = ControlParameters { name: Some("/p".parse().unwrap()), ..Default::default() };
    let own = command(&mut stream, "rib/register", &prefix).body.face_id.unwrap();
    let mut consumer = daemon.stream();
    let mut ask = |stream: &mut UnixStream, n: u32| {
        let mut interest = InterestBuf::new(format!("/p/{n}").parse().unwrap());
        interest.nonce = Some(1000 + n);
        consumer.write_all(&interest.encode()).unwrap();
        LpPacket::decode(&read_frame(stream)).unwrap().incoming_face_id()
    };
    assert_eq!(ask(&mut stream, 1), None, "not unless it is wanted");
    let on = ControlParameters { flags: Some(1), mask: Some(1), ..Default::default() };
    let reply = command(&mut stream, "faces/update", &on);
    assert_eq!((reply.code, reply.body.flags, reply.body.face_id), (200, Some(1), Some(own)));
    let from = ask(&mut stream, 2).expect("an IncomingFaceId");
    assert_ne!(from, own);
    // The application may choose the face by which an Interest leaves: here the consumer's, which
    // has no route.
    let interest = InterestBuf::new("/elsewhere".parse().unwrap()).encode();
    let header = LpHeader { next_hop_face_id: Some(from), ..LpHeader::default() };
    let mut frame = Vec::new();
    header.encode_into(&interest, &mut frame);
    stream.write_all(&frame).unwrap();
    let frame = read_frame(&mut consumer);
    let link = LpPacket::decode(&frame).unwrap();
    let came = Interest::decode(link.fragment().unwrap()).unwrap();
    assert_eq!(came.name().to_string(), "/elsewhere");
    let off = ControlParameters { flags: Some(0), mask: Some(1), ..about(own) };
    assert_eq!(command(&mut stream, "faces/update", &off).body.flags, Some(0));
}

// Other projects' programs, "Datasets": [peer-32].
#[test]
fn waiting_applications_receive_face_events() {
    let daemon = Running::start("");
    let mut stream = daemon.stream();
    let mut wait = |number: Option<u64>| {
        let stream_name: Name = "/localhost/nfd/faces/events".parse().unwrap();
        let mut interest = InterestBuf::new(match number {
            Some(number) => stream_name.with(&Component::sequence(number)),
            None => stream_name,
        });
        interest.can_be_prefix = number.is_none();
        interest.must_be_fresh = number.is_none();
        interest.lifetime_ms = Some(60_000);
        interest.nonce = Some(number.map_or(7, |n| n as u32 + 8));
        stream.write_all(&interest.encode()).unwrap();
        number
    };
    // The latest is the application's own coming, which is fresh.
    wait(None);
    let read = |stream: &mut UnixStream| {
        let frame = read_frame(stream);
        let link = LpPacket::decode(&frame).unwrap();
        let data = Data::decode(link.fragment().unwrap()).unwrap();
        let content = packet::tlv::only(data.content(), 192).unwrap().to_vec();
        let number = data.name().last().unwrap().as_sequence().unwrap();
        let mut reader = Reader::new(&content);
        (number, reader.expect(193).unwrap().nni().unwrap())
    };
    let mut from = stream.try_clone().unwrap();
    let (latest, created) = read(&mut from);
    assert_eq!(created, 1);
    for (number, kind) in [(latest + 1, 1), (latest + 2, 2)] {
        let mut interest = InterestBuf::new(
            "/localhost/nfd/faces/events"
                .parse::<Name>()
                .unwrap()
                .with(&Component::sequence(number)),
        );
        interest.lifetime_ms = Some(60_000);
        interest.nonce = Some(number as u32 + 100);
        stream.write_all(&interest.encode()).unwrap();
        if kind == 1 {
            drop(daemon.stream());
        }
        assert_eq!(read(&mut from), (number, kind));
    }
}

/// An operator with a key, and the file of the certificate.
fn operator(
    folder: &tempfile::TempDir,
) -> (security::SecretKey, security::Certificate, std::path::PathBuf) {
    let secret = security::SecretKey::ed25519(&[3; 32]);
    let validity = security::Validity::days(0, 4_000_000);
    let identity: Name = "/op".parse().unwrap();
    let certificate = security::Certificate::self_signed(identity.as_ref(), &secret, validity, 1);
    let path = folder.path().join("op.cert");
    std::fs::write(&path, certificate.to_base64()).unwrap();
    (secret, certificate, path)
}

#[test]
fn a_rule_takes_commands_away_from_those_who_do_not_fit() {
    let folder = tempfile::tempdir().unwrap();
    let (secret, certificate, path) = operator(&folder);
    let daemon = Running::start(&format!(
        "[[authorize]]\ncommands = \"rib\"\nkey = \"{}\"\n[[authorize]]\ncommands = \"cs\"",
        path.display()
    ));
    let mut client = daemon.connect();
    let prefix = ControlParameters { name: Some("/p".parse().unwrap()), ..Default::default() };
    let rejected = control(&mut client, "rib/register", &prefix);
    assert_eq!(rejected.code, 403);
    assert!(rejected.text.contains("a digest does not identify"), "{}", rejected.text);
    let key_locator = certificate.key_name();
    client.sign_commands(security::Signer::Key { secret, key_locator });
    for _ in 0..50 {
        let reply = control(&mut client, "rib/register", &prefix);
        assert_eq!(reply.code, 200, "each later than the last: {}", reply.text);
    }
    assert_eq!(control(&mut client, "cs/config", &ControlParameters::default()).code, 200);
    let rejected = control(&mut client, "faces/destroy", &about(1));
    assert_eq!(rejected.code, 403, "{}", rejected.text);
}

// Other projects' programs, "Faces": [peer-6].
#[test]
fn older_clients_find_the_socket_by_a_link_that_goes_with_it() {
    let folder = tempfile::tempdir().unwrap();
    let link = folder.path().join("deep/nfd.sock");
    let socket = folder.path().join("new.sock");
    let text = |links: &std::path::Path| {
        format!(
            "[listen]\nunix = \"{}\"\nunix_links = \"{}\"\nudp = \"off\"\ntcp = \"off\"",
            socket.display(),
            links.display()
        )
    };
    let open = |links: &std::path::Path| {
        net::daemon::Daemon::new(&net::config::parse(&text(links), "links.toml").unwrap())
    };
    let daemon = open(&link).unwrap();
    UnixStream::connect(&link).unwrap();
    drop(daemon);
    assert!(std::fs::symlink_metadata(&link).is_err(), "it is gone");
    let file = folder.path().join("file");
    std::fs::write(&file, "x").unwrap();
    let error = open(&file).map(|_| ()).unwrap_err().to_string();
    assert!(error.contains("is not a symbolic link"), "{error}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "x");
}

// Other projects' programs, "Commands": [peer-28].
#[test]
fn a_peer_whose_key_may_registers_for_itself_from_afar() {
    let folder = tempfile::tempdir().unwrap();
    let (secret, certificate, path) = operator(&folder);
    let daemon = Running::start(&format!(
        "[[authorize]]\nfrom = \"remote\"\nkey = \"{}\"\nprefix = \"/c\"",
        path.display()
    ));
    let peer = udp_peer();
    let mut nonce = 0;
    let mut ask = |asked: &ControlParameters| {
        let mut bytes = Vec::new();
        asked.encode_into(&mut bytes);
        let name: Name = "/localhop/nfd/rib/register".parse().unwrap();
        let mut interest = InterestBuf::new(name.with(&Component::generic(&bytes)));
        nonce += 1;
        interest.nonce = Some(nonce);
        let key = Some(certificate.key_name());
        let info = packet::SignatureInfoBuf::new(packet::SignatureType::Ed25519, key)
            .with_nonce(&nonce.to_be_bytes())
            .with_time_ms(net::clock::unix_millis() + u64::from(nonce));
        interest.sign_with(info, |parts| secret.sign(&parts.concat()));
        peer.send_to(&interest.encode(), daemon.udp[0]).unwrap();
        let packet = receive(&peer);
        ControlResponse::decode(Data::decode(&packet).unwrap().content()).unwrap()
    };
    let prefix = |name: &str| ControlParameters {
        name: Some(name.parse().unwrap()),
        ..ControlParameters::default()
    };
    let reply = ask(&prefix("/c/video"));
    assert_eq!(reply.code, 200, "{}", reply.text);
    let other = ControlParameters { face_id: Some(77), ..prefix("/c") };
    let rejected = ask(&other);
    assert!(rejected.code == 403 && rejected.text.contains("for themselves"), "{}", rejected.text);
    let rejected = ask(&prefix("/d"));
    assert!(rejected.code == 403 && rejected.text.contains("no rule"), "{}", rejected.text);
}

// Other projects' programs, "Datasets": [peer-33].
#[test]
fn hub_discovery_returns_the_routable_prefixes() {
    let daemon = Running::start("[hub]\nprefixes = [\"/example/site\", \"/other\"]");
    let expected = ["/example/site", "/other"];
    let read = |content: &[u8]| {
        let mut reader = Reader::new(content);
        std::iter::from_fn(|| reader.next_element().unwrap())
            .map(|name| packet::NameRef::decode(name.value).unwrap().to_string())
            .collect::<Vec<_>>()
    };
    let name: Name = "/localhop/nfd/rib/routable-prefixes".parse().unwrap();
    let peer = udp_peer();
    let mut interest = InterestBuf::new(name.clone());
    (interest.can_be_prefix, interest.must_be_fresh) = (true, true);
    interest.nonce = Some(1);
    peer.send_to(&interest.encode(), daemon.udp[0]).unwrap();
    let packet = receive(&peer);
    let data = Data::decode(&packet).unwrap();
    assert!(data.name().starts_with(name.as_ref()) && data.name().len() == name.len() + 2);
    assert_eq!(read(data.content()), expected);
    assert_eq!(read(&daemon.connect().dataset(&name).unwrap()), expected, "applications, too");
    // Nothing else is to be had under that prefix.
    let mut interest = InterestBuf::new("/localhop/nfd/rib/list".parse().unwrap());
    (interest.can_be_prefix, interest.nonce) = (true, Some(2));
    peer.send_to(&interest.encode(), daemon.udp[0]).unwrap();
    let packet = receive(&peer);
    let rejected = ControlResponse::decode(Data::decode(&packet).unwrap().content()).unwrap();
    assert_eq!(rejected.code, 403);
}

/// The number in an entry's element of this type.
fn number(entry: &[(u64, Vec<u8>)], typ: u64) -> Option<u64> {
    let (_, bytes) = entry.iter().find(|(found, _)| *found == typ)?;
    Some(bytes.iter().fold(0, |n, byte| n << 8 | u64::from(*byte)))
}

#[test]
fn congestion_marking_is_set_and_reported() {
    let daemon = Running::start("");
    let mut client = daemon.connect();
    let peer = udp_peer();
    let uri = FaceUri::udp(peer.local_addr().unwrap()).to_string();
    let asked = ControlParameters {
        flags: Some(4),
        mask: Some(4),
        marking_interval_ns: Some(10_000_000),
        ..to(&uri)
    };
    let made = control(&mut client, "faces/create", &asked);
    assert_eq!((made.code, made.body.flags), (200, Some(4)), "{}", made.text);
    // The reply has the requested fields, and no other one that python-ndn cannot read.
    assert_eq!(made.body.marking_interval_ns, Some(10_000_000));
    assert_eq!(made.body.congestion_threshold, None);
    let face = made.body.face_id.unwrap();
    let marking = |client: &mut Connection| {
        let entry = listed(client, &uri).unwrap();
        let interval = number(&entry, numbers::BASE_CONGESTION_MARKING_INTERVAL);
        (interval, number(&entry, numbers::DEFAULT_CONGESTION_THRESHOLD))
    };
    // The threshold is NFD's default.
    assert_eq!(marking(&mut client), (Some(10_000_000), Some(65_536)));
    let wider = ControlParameters { congestion_threshold: Some(1_000_000), ..about(face) };
    let changed = control(&mut client, "faces/update", &wider);
    assert_eq!((changed.code, changed.body.congestion_threshold), (200, Some(1_000_000)));
    assert_eq!(marking(&mut client), (Some(10_000_000), Some(1_000_000)));
    let absurd = ControlParameters { marking_interval_ns: Some(0), ..about(face) };
    let rejected = control(&mut client, "faces/update", &absurd);
    assert_eq!(rejected.code, 400, "{}", rejected.text);
    let off = ControlParameters { flags: Some(0), mask: Some(4), ..about(face) };
    assert_eq!(control(&mut client, "faces/update", &off).body.flags, Some(0));
    assert_eq!(
        marking(&mut client),
        (Some(10_000_000), Some(1_000_000)),
        "for when it is on again"
    );
}

#[test]
fn parameters_that_a_marker_lacks_are_rejected() {
    let peer = udp_peer();
    let uri = FaceUri::udp(peer.local_addr().unwrap()).to_string();
    let daemon = Running::start(&format!("[[face]]\nuri = \"{uri}\"\nmarker = \"codel\""));
    let mut client = daemon.connect();
    let entry = listed(&mut client, &uri).unwrap();
    assert_eq!(number(&entry, numbers::BASE_CONGESTION_MARKING_INTERVAL), Some(100_000_000));
    assert_eq!(number(&entry, numbers::DEFAULT_CONGESTION_THRESHOLD), None);
    let face = number(&entry, numbers::FACE_ID).unwrap();
    let threshold = ControlParameters { congestion_threshold: Some(1), ..about(face) };
    let rejected = control(&mut client, "faces/update", &threshold);
    assert!(rejected.code == 409 && rejected.text.contains("codel"), "{}", rejected.text);
}

#[test]
fn a_marker_set_by_command_marks() {
    let daemon = Running::start("");
    let mut client = daemon.connect();
    let mut stream = daemon.stream();
    let prefix = ControlParameters { name: Some("/p".parse().unwrap()), ..Default::default() };
    assert_eq!(command(&mut stream, "rib/register", &prefix).code, 200);
    let mut consumer = udp_peer();
    let uri = FaceUri::udp(consumer.local_addr().unwrap()).to_string();
    let made = control(&mut client, "faces/create", &to(&uri));
    let face = made.body.face_id.unwrap();
    // Every packet is more than nothing, and the least time is over when the next one comes; a
    // slow link keeps them in the queue.
    let marks = ControlParameters {
        flags: Some(4),
        mask: Some(4),
        marking_interval_ns: Some(10_000),
        congestion_threshold: Some(0),
        ..about(face)
    };
    assert_eq!(control(&mut client, "faces/update", &marks).code, 200);
    client.set_rates(face, Some("1 Mbit/s".parse().unwrap()), None).unwrap();
    assert!(is_any_marked(&mut stream, &mut consumer, &daemon));
}

/// Sends a hundred packets over a face, and returns true if any came with a mark.
fn is_any_marked(producer: &mut UnixStream, consumer: &mut UdpSocket, daemon: &Running) -> bool {
    const COUNT: u32 = 100;
    for n in 0..COUNT {
        let mut interest = InterestBuf::new(format!("/p/{n}").parse().unwrap());
        interest.nonce = Some(5000 + n);
        interest.lifetime_ms = Some(60_000);
        consumer.send_to(&interest.encode(), daemon.udp[0]).unwrap();
        let frame = read_frame(producer);
        let link = LpPacket::decode(&frame).unwrap();
        let asked = Interest::decode(link.fragment().unwrap()).unwrap();
        let data = packet::DataBuf::new(asked.name().to_name(), vec![0; 1000]).encode_digest();
        let pit_token = link.pit_token().unwrap_or_default().into();
        let mut out = Vec::new();
        LpHeader { pit_token, ..LpHeader::default() }.encode_into(&data, &mut out);
        producer.write_all(&out).unwrap();
    }
    let (mut buffer, mut came, mut marked) = ([0; 9000], 0, 0);
    while came < COUNT {
        let len = consumer.recv(&mut buffer).unwrap();
        let link = LpPacket::decode(&buffer[..len]).unwrap();
        came += u32::from(link.fragment().is_some());
        marked += u32::from(link.congestion_mark() > 0);
    }
    marked > 0
}

#[test]
fn a_face_that_ends_when_idle_reports_when() {
    let daemon = Running::start("[on_demand]\nidle = \"90 s\"");
    let peer = udp_peer();
    let mut interest = InterestBuf::new("/nowhere".parse().unwrap());
    interest.nonce = Some(1);
    peer.send_to(&interest.encode(), daemon.udp[0]).unwrap();
    receive(&peer);
    let mut client = daemon.connect();
    let uri = FaceUri::udp(peer.local_addr().unwrap()).to_string();
    let entry = listed(&mut client, &uri).unwrap();
    let left = number(&entry, numbers::EXPIRATION_PERIOD).expect("an ExpirationPeriod");
    assert!(left > 0 && left <= 90_000, "{left}");
    let face = number(&entry, numbers::FACE_ID).unwrap();
    let stays = ControlParameters { persistency: Some(0), ..about(face) };
    assert_eq!(control(&mut client, "faces/update", &stays).code, 200);
    let entry = listed(&mut client, &uri).unwrap();
    assert_eq!(number(&entry, numbers::EXPIRATION_PERIOD), None, "it does not end any more");
}
