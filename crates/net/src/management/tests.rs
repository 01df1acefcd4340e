use super::authority::Account;
use super::*;
use crate::management::orders::Change;
use control::{Duration, Rate};
use forwarder::{FaceConfig, ForwarderConfig, Scope, Wire};
use packet::tlv::{Reader, types};
use packet::{Bytes, Component, Data, InterestBuf, Signature, SignatureInfoBuf};
use parameters::{ControlParameters, numbers as n};
use serde_json::json;
use sha2::{Digest as _, Sha256};

mod bounds;
mod log;
mod replies;
mod store;
mod trace;

/// Milliseconds since 1970.
const WALL: u64 = 5_000;

/// A forwarder with its management and two applications, in virtual time.
struct Node {
    forwarder: Forwarder,
    management: Management,
    apps: [FaceId; 2],
    /// The users behind faces.
    accounts: BTreeMap<FaceId, Account>,
    /// The driver's orders.
    ordered: Vec<Task>,
    now: Time,
    nonce: u32,
}

impl Node {
    fn new(routes_per_face: usize) -> Node {
        Node::with_memory(routes_per_face, None)
    }

    fn with_memory(routes_per_face: usize, memory: Option<usize>) -> Node {
        let strategy = schemes::Choice::named("best-route").unwrap().strategy().unwrap();
        let dead_nonces = 100;
        let config = ForwarderConfig { memory, dead_nonces, ..ForwarderConfig::new(strategy) };
        let mut forwarder = Forwarder::new(config);
        let mut local = |local_fields| {
            let scope = Scope::Local;
            forwarder.add_face(Time(0), FaceConfig { scope, local_fields, ..Default::default() })
        };
        let (face, apps) = (local(true), [local(false), local(false)]);
        for prefix in prefixes() {
            forwarder.add_route(face, prefix.as_ref(), 0).unwrap();
        }
        let mut management = Management::new(face, routes_per_face, 1_000);
        management.strategies().insert(Name::default(), "/s/v=1".parse().unwrap());
        let ordered = Vec::new();
        let accounts = BTreeMap::new();
        Node { forwarder, management, apps, accounts, ordered, now: Time(0), nonce: 0 }
    }

    /// Sends an Interest from an application; returns the Data that it gets.
    fn ask(&mut self, app: usize, wire: &[u8]) -> Option<Bytes> {
        let app = self.apps[app];
        self.forwarder.receive(self.now, app, Wire::Borrowed(wire));
        let mut answer = None;
        while let Some(face) = self.forwarder.poll_ready() {
            let mut frame = Vec::new();
            while self.forwarder.poll_transmit(self.now, face, &mut frame).is_some() {
                if face == self.management.face() {
                    let accounts = &self.accounts;
                    let mut host = Host {
                        forwarder: &mut self.forwarder,
                        faces: &|_| vec![info(app)],
                        channels: &["udp4://0.0.0.0:6363".to_owned()],
                        account: &|face| accounts.get(&face).copied(),
                    };
                    match self.management.receive(&mut host, self.now, WALL, &frame) {
                        Some(Answer::Frame(reply)) => {
                            self.forwarder.receive(self.now, face, Wire::Borrowed(&reply));
                        }
                        Some(Answer::Order(order)) => self.ordered.push(order.task),
                        None => {}
                    }
                } else {
                    let link = LpPacket::decode(&frame).unwrap();
                    answer = link.fragment().map(Bytes::copy_from_slice);
                }
                frame.clear();
            }
        }
        answer
    }

    /// Sends a signed command; returns the response.
    fn command(&mut self, verb: &str, asked: &ControlParameters) -> ControlResponse {
        let mut parameters = Vec::new();
        asked.encode_into(&mut parameters);
        self.raw_command(verb, &parameters)
    }

    fn raw_command(&mut self, verb: &str, parameters: &[u8]) -> ControlResponse {
        self.command_of("nfd", verb, parameters)
    }

    fn command_of(&mut self, protocol: &str, verb: &str, parameters: &[u8]) -> ControlResponse {
        let name: Name = format!("/localhost/{protocol}/{verb}").parse().unwrap();
        let wire = self.signed(InterestBuf::new(name.with(&Component::generic(parameters))));
        let packet = self.ask(0, &wire).expect("an answer");
        let data = Data::decode(&packet).unwrap();
        let asked = Interest::decode(&wire).unwrap();
        assert_eq!((data.name(), data.freshness_ms()), (asked.name(), Some(1000)));
        ControlResponse::decode(data.content()).unwrap()
    }

    fn signed(&mut self, mut interest: InterestBuf) -> Bytes {
        self.nonce += 1;
        interest.nonce = Some(self.nonce);
        let nonce = self.nonce.to_be_bytes();
        let info = SignatureInfoBuf::digest().with_nonce(&nonce).with_time_ms(WALL);
        interest.sign_with(info, |parts| {
            let mut digest = Sha256::new();
            parts.iter().for_each(|part| digest.update(part));
            Signature::from(<[u8; 32]>::from(digest.finalize()))
        });
        interest.encode()
    }

    fn next_hops(&self, prefix: &str) -> Vec<(u64, u64)> {
        let prefix: Name = prefix.parse().unwrap();
        let found = self.forwarder.fib().iter().find(|(p, _)| *p == prefix.as_ref());
        found.map_or(Vec::new(), |(_, hops)| hops.iter().map(|h| (h.face, h.cost)).collect())
    }
}

fn info(id: FaceId) -> FaceInfo {
    FaceInfo {
        local_uri: "unix:///x".to_owned(),
        local: true,
        persistency: Persistency::OnDemand,
        ..FaceInfo::new(id, "fd://1")
    }
}

fn of(prefix: &str) -> ControlParameters {
    ControlParameters { name: Some(prefix.parse().unwrap()), ..ControlParameters::default() }
}

// RibMgmt, "Register a route": [mgmt-15].
// Other projects' programs, "Commands": [peer-19], [peer-21].
#[test]
fn a_registration_is_for_the_face_it_came_from_and_echoes_what_was_set() {
    let mut node = Node::new(10);
    let app = node.apps[0].0;
    let reply = node.command("rib/register", &of("/a"));
    let body = ControlParameters {
        face_id: Some(app),
        origin: Some(0),
        cost: Some(0),
        flags: Some(1),
        ..of("/a")
    };
    assert_eq!(reply, ControlResponse::new(200, "Success", body));
    assert_eq!(node.next_hops("/a"), [(app, 0)]);
    // As NDNts does it.
    let asked = ControlParameters {
        face_id: Some(0),
        origin: Some(65),
        cost: Some(7),
        flags: Some(2),
        expiration_ms: Some(1_200_000),
        ..of("/b")
    };
    let reply = node.command("rib/register", &asked);
    assert_eq!(reply.body, ControlParameters { face_id: Some(app), ..asked });
    assert_eq!(node.next_hops("/b"), [(app, 7)]);
    let reply = node.command("rib/unregister", &of("/a"));
    assert_eq!((reply.code, node.next_hops("/a")), (200, vec![]));
    assert_eq!(node.command("rib/unregister", &of("/a")).code, 200, "also if there is none");
}

// Other projects' programs, "Commands": [peer-20].
#[test]
fn a_route_expires_after_its_expiration_period_and_can_be_refreshed() {
    let mut node = Node::new(10);
    let asked = ControlParameters { expiration_ms: Some(1000), ..of("/a") };
    node.command("rib/register", &asked);
    assert_eq!(node.management.next_deadline(), Some(Time(1_000_000_000)));
    node.now = Time(600_000_000);
    node.command("rib/register", &asked);
    assert_eq!(node.management.next_deadline(), Some(Time(1_600_000_000)));
    node.management.on_deadline(&mut node.forwarder, Time(1_599_999_999));
    assert_eq!(node.next_hops("/a").len(), 1);
    node.management.on_deadline(&mut node.forwarder, Time(1_600_000_000));
    assert_eq!((node.next_hops("/a"), node.management.next_deadline()), (vec![], None));
}

#[test]
fn the_fib_has_the_cheapest_of_a_faces_routes() {
    let mut node = Node::new(10);
    let app = node.apps[0].0;
    let route =
        |origin, cost| ControlParameters { origin: Some(origin), cost: Some(cost), ..of("/a") };
    node.command("rib/register", &route(0, 5));
    node.command("rib/register", &route(128, 2));
    assert_eq!(node.next_hops("/a"), [(app, 2)]);
    node.command("rib/register", &route(0, 9));
    assert_eq!(node.next_hops("/a"), [(app, 2)]);
    let cheaper = ControlParameters { origin: Some(128), ..of("/a") };
    node.command("rib/unregister", &cheaper);
    assert_eq!(node.next_hops("/a"), [(app, 9)]);
}

#[test]
fn routes_may_be_for_another_face_and_go_with_it() {
    let mut node = Node::new(10);
    let other = node.apps[1];
    let asked = ControlParameters { face_id: Some(other.0), expiration_ms: Some(5000), ..of("/a") };
    assert_eq!(node.command("rib/register", &asked).code, 200);
    assert_eq!(node.next_hops("/a"), [(other.0, 0)]);
    node.forwarder.remove_face(node.now, other);
    node.management.face_gone(&mut node.forwarder, other);
    assert_eq!((node.next_hops("/a"), node.management.next_deadline()), (vec![], None));
    let asked = ControlParameters { face_id: Some(other.0), ..of("/a") };
    assert_eq!(node.command("rib/register", &asked).code, 410);
}

#[test]
fn an_application_has_only_so_many_routes() {
    let mut node = Node::new(2);
    for prefix in ["/a", "/b"] {
        assert_eq!(node.command("rib/register", &of(prefix)).code, 200);
    }
    let rejected = node.command("rib/register", &of("/c"));
    assert_eq!(rejected.code, 403);
    assert!(rejected.text.contains("2 routes"), "{}", rejected.text);
    assert_eq!(node.command("rib/register", &of("/b")).code, 200, "one that it has may change");
    node.command("rib/unregister", &of("/a"));
    assert_eq!(node.command("rib/register", &of("/c")).code, 200);
}

// ControlCommand, "Request format": [mgmt-1], [mgmt-2]; RibMgmt, "Register a route": [mgmt-15].
// Other projects' programs, "Commands": [peer-16], [peer-24], [peer-46].
#[test]
fn invalid_commands_get_an_error_response() {
    let mut node = Node::new(2);
    assert_eq!(node.command("rib/register", &ControlParameters::default()).code, 400);
    assert_eq!(node.raw_command("rib/register", b"\x68\x03\x6a\x05\x00").code, 400);
    assert_eq!(node.raw_command("rib/register", b"junk").code, 400);
    assert_eq!(node.command("rib/announce", &of("/a")).code, 400);
    assert_eq!(node.command("rib/reverse", &of("/a")).code, 501);
    assert_eq!(node.command("faces/create", &of("/a")).code, 400);
    let dear = ControlParameters { cost: Some(1), ..of("/a") };
    let rejected = node.command("rib/unregister", &dear);
    assert_eq!((rejected.code, &rejected.text[..]), (400, "this command has no Cost"));
    assert_eq!(node.command("rib/register", &of("/localhost/nfd/rib")).code, 403);
    let deep: String = (0..200).map(|i| format!("/{i}")).collect();
    assert_eq!(node.command("rib/register", &of(&deep)).code, 414);
    let unsigned = InterestBuf::new("/localhost/nfd/rib/register/x".parse().unwrap()).encode();
    let packet = node.ask(0, &unsigned).unwrap();
    let response = ControlResponse::decode(Data::decode(&packet).unwrap().content()).unwrap();
    assert_eq!(response.code, 403);
}

#[test]
fn a_face_is_given_other_rates() {
    let mut node = Node::new(2);
    let face = node.apps[1];
    let update = |node: &mut Node, asked: &ControlParameters| {
        let mut parameters = Vec::new();
        asked.encode_into(&mut parameters);
        node.command_of("weir", "faces/update", &parameters[..]).code
    };
    let (id, rate, rate_in) = (Some(face.0), Some(2_000_000), Some(3_000_000));
    let asked = ControlParameters { face_id: id, rate, rate_in, ..Default::default() };
    let measured = ControlParameters { rate_in: Some(0), rate: None, ..asked.clone() };
    assert_eq!(update(&mut node, &asked), 200);
    assert_eq!(update(&mut node, &ControlParameters { rate: Some(0), ..asked.clone() }), 400);
    assert_eq!(update(&mut node, &ControlParameters { face_id: Some(99), ..asked.clone() }), 410);
    assert_eq!(update(&mut node, &ControlParameters { face_id: None, ..asked }), 400);
    let view = node.forwarder.link_view(node.now, face).unwrap();
    assert_eq!((view.rate_out, view.rate_in), (Rate::from_mbps(2), Rate::from_mbps(3)));
    // A measured rate is unknown at first; the rate out is no substitute.
    assert_eq!(update(&mut node, &measured), 200);
    let view = node.forwarder.link_view(node.now, face).unwrap();
    assert_eq!((view.rate_out, view.rate_in), (Rate::from_mbps(2), Rate(0)));
}

fn dataset(node: &mut Node, name: &str, signed: bool) -> (Name, Vec<u8>) {
    let mut interest = InterestBuf::new(name.parse().unwrap());
    interest.can_be_prefix = true;
    interest.must_be_fresh = true;
    let wire = if signed { node.signed(interest) } else { interest.encode() };
    let packet = node.ask(1, &wire).expect("a dataset");
    let data = Data::decode(&packet).unwrap();
    assert!(data.satisfies(&Interest::decode(&wire).unwrap()));
    (data.name().to_name(), data.content().to_vec())
}

/// The types of a value's elements, with those of the elements within.
fn elements(value: &[u8]) -> Vec<u64> {
    let mut reader = Reader::new(value);
    let mut found = Vec::new();
    while let Some(element) = reader.next_element().unwrap() {
        found.push(element.typ);
    }
    found
}

// Other projects' programs, "Datasets": [peer-29], [peer-31].
#[test]
fn general_status_has_nfds_fields() {
    let mut node = Node::new(2);
    let (name, content) = dataset(&mut node, "/localhost/nfd/status/general", false);
    assert_eq!(name.to_string(), "/localhost/nfd/status/general/v=5000/seg=0");
    let expected: Vec<u64> = (128..=135).chain([144, 145, 151, 146, 147, 152, 153, 154]).collect();
    assert_eq!(elements(&content), expected);
}

// Other projects' programs, "Datasets": [peer-29].
#[test]
fn a_signed_dataset_interest_is_answered_below_its_whole_name() {
    let mut node = Node::new(2);
    let (name, _) = dataset(&mut node, "/localhost/nfd/rib/list", true);
    // localhost, nfd, rib, list, parameters digest, version, segment.
    assert_eq!(name.len(), 7);
    assert_eq!(name.as_ref().get(4).unwrap().typ(), types::PARAMETERS_DIGEST);
}

// Other projects' programs, "Datasets": [peer-31].
#[test]
fn lists_have_an_entry_for_each() {
    let mut node = Node::new(2);
    node.command("rib/register", &ControlParameters { expiration_ms: Some(9000), ..of("/a") });
    let first =
        |content: &[u8]| Reader::new(content).next_element().unwrap().unwrap().value.to_vec();
    let (_, content) = dataset(&mut node, "/localhost/nfd/rib/list", false);
    assert_eq!(elements(&content), [128]);
    let entry = first(&content);
    assert_eq!(elements(&entry), [types::NAME, 129]);
    let route = Reader::new(&entry[first_len(&entry)..]).next_element().unwrap().unwrap();
    let fields = [n::FACE_ID, n::ORIGIN, n::COST, n::FLAGS, n::EXPIRATION_PERIOD];
    assert_eq!(elements(route.value), fields);
    let (_, content) = dataset(&mut node, "/localhost/nfd/fib/list", false);
    // In canonical order: /a, /localhost/nfd, /localhost/weir.
    assert_eq!(elements(&content), [128, 128, 128]);
    assert!(first(&content).starts_with(b"\x07\x03\x08\x01a"));
    let (_, content) = dataset(&mut node, "/localhost/nfd/faces/list", false);
    let fields = [105, 114, 129, 132, 133, 134, 144, 145, 151, 146, 147, 152, 148, 149, 108];
    assert_eq!(elements(&first(&content)), fields);
    let (_, content) = dataset(&mut node, "/localhost/nfd/cs/info", false);
    assert_eq!(elements(&first(&content)), [131, 108, 135, 129, 130]);
    let (_, content) = dataset(&mut node, "/localhost/nfd/faces/channels", false);
    assert_eq!(elements(&content), [130]);
    let (_, content) = dataset(&mut node, "/localhost/nfd/strategy-choice/list", false);
    assert_eq!(elements(&first(&content)), [types::NAME, n::STRATEGY]);
}

/// The length of the first element, header included.
fn first_len(value: &[u8]) -> usize {
    Reader::new(value).next_element().unwrap().unwrap().whole.len()
}

#[test]
fn counters_are_json_and_current() {
    let mut node = Node::new(2);
    for expected in [1, 2] {
        let (_, content) = dataset(&mut node, "/localhost/weir/counters", false);
        let json: serde_json::Value = serde_json::from_slice(&content).unwrap();
        assert_eq!(json["received"]["interests"], expected);
        assert_eq!(json["uptime_ms"], 4_000);
        assert_eq!(json["faces"][0]["uri"], "fd://1");
        assert_eq!(json["pit"], json!({ "entries": 1, "most": 1, "bytes": json["pit"]["bytes"] }));
        // The answer to the first question has waited, though not for long.
        let peak = json["faces"][0]["queue"]["data_peak_bytes"].as_u64().unwrap();
        assert_eq!(peak > 0, expected == 2, "{peak}");
        node.now += Duration::from_millis(1);
    }
}

/// The Data of an announcement of `prefix`, valid for `lives_ms`.
fn announcement(prefix: &str, lives_ms: u64) -> Bytes {
    let name = format!("{prefix}/32=PA/v=1/seg=0").parse().unwrap();
    let mut content = Vec::new();
    packet::tlv::put_nni_tlv(&mut content, n::EXPIRATION_PERIOD, lives_ms);
    let mut data = packet::DataBuf::new(name, content);
    data.content_type = packet::ContentType::PREFIX_ANNOUNCEMENT;
    data.encode_digest()
}

// Other projects' programs, "Commands": [peer-22].
#[test]
fn an_announced_prefix_has_a_route_to_who_announced_it() {
    let mut node = Node::new(10);
    let app = node.apps[0].0;
    let mut announce = |data: Bytes| {
        let mut interest = InterestBuf::new("/localhost/nfd/rib/announce".parse().unwrap());
        interest.parameters = Some(data);
        let wire = node.signed(interest);
        let packet = node.ask(0, &wire).expect("an answer");
        ControlResponse::decode(Data::decode(&packet).unwrap().content()).unwrap()
    };
    let body = ControlParameters {
        face_id: Some(app),
        origin: Some(129),
        cost: Some(2048),
        flags: Some(1),
        expiration_ms: Some(9000),
        ..of("/a")
    };
    let reply = announce(announcement("/a", 9000));
    assert_eq!(reply, ControlResponse::new(200, "Success", body));
    assert_eq!(announce(announcement("/localhost/nfd", 9000)).code, 403);
    assert_eq!(announce(Bytes::from_static(b"junk")).code, 400);
    assert_eq!(node.next_hops("/a"), [(app, 2048)]);
    let end = Time(9_000_000_000);
    assert_eq!(node.management.rib.next_deadline(), Some(end));
    // Neighbours learn of it while it is valid.
    let known = |node: &Node| node.management.announced.clone();
    assert_eq!(known(&node).into_iter().collect::<Vec<_>>(), ["/a".parse().unwrap()]);
    node.management.on_deadline(&mut node.forwarder, end);
    assert!(known(&node).is_empty());
}

#[test]
fn absurd_periods_do_no_harm() {
    let mut node = Node::new(10);
    let route = |ms| ControlParameters { expiration_ms: Some(ms), ..of("/a") };
    assert_eq!(node.command("rib/register", &route(u64::MAX)).code, 200);
    assert_eq!(node.management.next_deadline(), None, "as long as the face");
    assert_eq!(node.command("rib/register", &route(u64::MAX - 1)).code, 200);
    assert_eq!(node.next_hops("/a").len(), 1);
    assert_eq!(node.command("rib/register", &route(0)).code, 200);
    assert_eq!(node.next_hops("/a"), [], "it has expired already");
}

// FibMgmt, "Add a nexthop": [mgmt-11], [mgmt-12]; "Remove a nexthop": [mgmt-13].
// Other projects' programs, "Commands": [peer-21], [peer-24].
#[test]
fn next_hops_are_set_without_routes() {
    let mut node = Node::new(10);
    let app = node.apps[0].0;
    let asked = ControlParameters { cost: Some(3), ..of("/a") };
    let reply = node.command("fib/add-nexthop", &asked);
    assert_eq!((reply.code, reply.body.face_id, reply.body.cost), (200, Some(app), Some(3)));
    assert_eq!(node.next_hops("/a"), [(app, 3)]);
    let elsewhere = ControlParameters { face_id: Some(99), ..of("/a") };
    assert_eq!(node.command("fib/add-nexthop", &elsewhere).code, 410);
    assert_eq!(node.command("fib/remove-nexthop", &elsewhere).code, 200, "nothing to remove");
    assert_eq!(node.command("fib/remove-nexthop", &of("/localhost/nfd")).code, 403);
    assert_eq!(node.command("fib/remove-nexthop", &of("/a")).code, 200);
    assert_eq!(node.next_hops("/a"), []);
    let deep: String = (0..200).map(|i| format!("/{i}")).collect();
    assert_eq!(node.command("fib/add-nexthop", &of(&deep)).code, 414);
    assert_eq!(node.command("fib/turn", &of("/a")).code, 501);
    for verb in ["fib/add-nexthop", "fib/remove-nexthop"] {
        assert_eq!(node.command(verb, &ControlParameters::default()).code, 400, "{verb}");
    }
}

// StrategyChoice, "Set the strategy": [mgmt-16], [mgmt-17]; "Unset the strategy": [mgmt-18].
// Other projects' programs, "Commands": [peer-26].
#[test]
fn a_strategy_is_chosen_with_its_version_or_without_and_taken_back() {
    let mut node = Node::new(10);
    let choose = |strategy: &str| ControlParameters {
        strategy: Some(strategy.parse().unwrap()),
        ..of("/a")
    };
    let version = schemes::find("multicast").unwrap().version;
    let named: Name = format!("/localhost/nfd/strategy/multicast/v={version}").parse().unwrap();
    for given in ["multicast".to_owned(), format!("multicast/v={version}")] {
        let asked = choose(&format!("/localhost/nfd/strategy/{given}"));
        let reply = node.command("strategy-choice/set", &asked);
        assert_eq!((reply.code, reply.body.strategy.as_ref()), (200, Some(&named)), "{given}");
    }
    let prefixes =
        |node: &Node| node.forwarder.strategy_prefixes().map(|p| p.to_string()).collect::<Vec<_>>();
    assert_eq!(prefixes(&node), ["/", "/a"]);
    let (_, content) = dataset(&mut node, "/localhost/nfd/strategy-choice/list", false);
    assert_eq!(elements(&content), [128, 128], "the root has one, too");
    for unknown in ["multicast/v=99", "cubic", "nosuch", ""] {
        let name = format!("/localhost/nfd/strategy/{unknown}");
        let reply = node.command("strategy-choice/set", &choose(name.trim_end_matches('/')));
        assert_eq!(reply.code, 404, "{unknown}: {}", reply.text);
    }
    let wrong = choose(&format!("{named}/x~1"));
    assert_eq!(node.command("strategy-choice/set", &wrong).code, 409, "no such parameter");
    assert_eq!(node.command("strategy-choice/set", &of("/a")).code, 400);
    assert_eq!(node.command("strategy-choice/unset", &of("/")).code, 400);
    for prefix in ["/a", "/a", "/never"] {
        assert_eq!(node.command("strategy-choice/unset", &of(prefix)).code, 200);
    }
    assert_eq!(prefixes(&node), ["/"]);
}

// FaceMgmt, "Destroy a face": [mgmt-9].
#[test]
fn face_commands_are_passed_to_the_driver() {
    let mut node = Node::new(10);
    let app = node.apps[0];
    let own = ControlParameters { flags: Some(1), mask: Some(1), ..ControlParameters::default() };
    let mut order = |verb: &str, asked: &ControlParameters| {
        let mut parameters = Vec::new();
        asked.encode_into(&mut parameters);
        let name: Name = format!("/localhost/nfd/{verb}").parse().unwrap();
        let wire = node.signed(InterestBuf::new(name.with(&Component::generic(&parameters))));
        assert_eq!(node.ask(0, &wire), None, "not yet");
        node.ordered.pop().expect("an order")
    };
    let change = Change { flags: 1, mask: 1, ..Change::default() };
    assert_eq!(order("faces/update", &own), Task::Update(app, change));
    let other = ControlParameters { face_id: Some(9), ..ControlParameters::default() };
    assert_eq!(order("faces/destroy", &other), Task::Destroy(FaceId(9)));
    assert_eq!(node.command("faces/update", &other).code, 404);
    assert_eq!(node.command("faces/destroy", &ControlParameters::default()).code, 400);
}

// Other projects' programs, "Datasets": [peer-31].
#[test]
fn faces_are_found_by_what_is_known_of_them() {
    let mut node = Node::new(2);
    let filter = |fields: &[(u64, &[u8])]| {
        let mut value = Vec::new();
        fields.iter().for_each(|(typ, field)| packet::tlv::put_tlv(&mut value, *typ, field));
        let mut out = Vec::new();
        packet::tlv::put_tlv(&mut out, 150, &value);
        let name: Name = "/localhost/nfd/faces/query".parse().unwrap();
        name.with(&Component::generic(&out)).to_string()
    };
    // The node has one face, the application's that asks.
    for (fields, found) in [
        (&[][..], 1),
        (&[(n::URI, &b"fd://1"[..])], 1),
        (&[(131, b"unix")], 1),
        (&[(131, b"fd"), (132, b"\x01"), (133, b"\x01"), (134, b"\x00")], 1),
        (&[(n::LOCAL_URI, b"unix:///y")], 0),
        (&[(131, b"udp4")], 0),
        (&[(132, b"\x00")], 0),
        (&[(n::FACE_ID, b"\x63")], 0),
    ] {
        let (_, content) = dataset(&mut node, &filter(fields), false);
        assert_eq!(elements(&content).len(), found, "{fields:?}");
    }
    let mut interest = InterestBuf::new("/localhost/nfd/faces/query/x".parse().unwrap());
    (interest.can_be_prefix, interest.must_be_fresh) = (true, true);
    let packet = node.ask(1, &interest.encode()).expect("a rejection");
    let data = Data::decode(&packet).unwrap();
    assert_eq!(data.content_type(), packet::ContentType::NACK);
    assert_eq!(ControlResponse::decode(data.content()).unwrap().code, 400);
}
