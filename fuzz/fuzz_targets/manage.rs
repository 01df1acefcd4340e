//! The management service among applications and a peer that command whatever they like: it answers
//! with codes of the protocol, routes lead to existing faces, no user has more of them than he
//! may, and what a face leaves goes with it.
//!
//! The input is a list of records: who commands (and whether under `/localhop`), hundredths of a
//! second that pass before, what is asked, the length of its parameters in two bytes, and these.
#![no_main]

use control::{Duration, Time};
use forwarder::{FaceConfig, FaceId, Forwarder, ForwarderConfig, Medium, Scope, Wire};
use fuzz as _; // Its callbacks are linked.
use libfuzzer_sys::fuzz_target;
use net::management::authority::{AcceptedSignature, Account, MODULES, Origin, Rule, Users};
use net::management::orders::{Order, Task};
use net::management::parameters::{ControlParameters, numbers};
use net::management::response::ControlResponse;
use net::management::{Answer, FaceEvent, FaceInfo, Host, Management, prefixes, remote_prefix};
use packet::{Component, Data, InterestBuf, LpPacket, Name, Signature, SignatureInfoBuf, tlv};
use sha2::{Digest as _, Sha256};

const ROUTES: usize = 6;
const FACES: usize = 10;
/// The faces that command, the first ones; they stay.
const COMMANDING: usize = 3;
/// The user whose programs may command everything.
const OWNER: u32 = 1;
/// The users of the programs at the first faces. The third face leads to a peer.
const USERS: [u32; 2] = [OWNER, 1000];
/// A frame is sent as it is.
const RAW: u8 = 0xff;
/// The command goes under `/localhop`.
const REMOTE: u8 = 0x80;
/// Milliseconds since 1970 when it begins.
const WALL: u64 = 1_700_000_000_000;
/// Commands first, datasets behind them.
const ASKED: [&str; 24] = [
    "nfd/rib/register",
    "nfd/rib/unregister",
    "nfd/rib/announce",
    "nfd/fib/add-nexthop",
    "nfd/fib/remove-nexthop",
    "nfd/cs/config",
    "nfd/cs/erase",
    "nfd/strategy-choice/set",
    "nfd/strategy-choice/unset",
    "nfd/faces/create",
    "nfd/faces/update",
    "nfd/faces/destroy",
    "weir/faces/update",
    "nfd/rib/turn",
    "nfd/rib/list",
    "nfd/fib/list",
    "nfd/faces/list",
    "nfd/faces/query",
    "nfd/faces/channels",
    "nfd/faces/events",
    "nfd/cs/info",
    "nfd/strategy-choice/list",
    "nfd/status/general",
    "weir/counters",
];
const COMMANDS: usize = 14;
const CODES: [u64; 12] = [200, 400, 403, 404, 406, 409, 410, 414, 500, 501, 503, 504];

fn info(forwarder: &Forwarder, id: FaceId) -> FaceInfo {
    let local = forwarder.face_scope(id) == Some(Scope::Local);
    FaceInfo { local, ..FaceInfo::new(id, format!("fd://{id}")) }
}

struct Bench {
    forwarder: Forwarder,
    management: Management,
    faces: Vec<FaceId>,
    now: Time,
    nonce: u32,
}

impl Bench {
    fn new() -> Bench {
        let strategy = schemes::Choice::named("best-route").and_then(|choice| choice.strategy());
        let mut forwarder = Forwarder::new(ForwarderConfig::new(strategy.expect("a strategy")));
        let mut face = |scope, local_fields| {
            forwarder.add_face(Time(0), FaceConfig { scope, local_fields, ..Default::default() })
        };
        let own = face(Scope::Local, true);
        let faces =
            vec![face(Scope::Local, false), face(Scope::Local, true), face(Scope::NonLocal, false)];
        for prefix in prefixes().iter().chain([&remote_prefix()]) {
            forwarder.add_route(own, prefix.as_ref(), 0).expect("room for a route");
        }
        let mut management = Management::new(own, ROUTES, WALL);
        let owners = Users { uids: vec![OWNER], gids: Vec::new() };
        let own_routes = vec!["rib".to_owned()];
        management.set_rules(vec![
            Rule { users: owners, ..Rule::everything_here() },
            Rule { modules: own_routes, is_bounded: true, ..Rule::everything_here() },
            Rule {
                from: Origin::Remote,
                modules: MODULES.map(str::to_owned).to_vec(),
                prefix: Name::default(),
                who: AcceptedSignature::Any,
                users: Users::default(),
                is_bounded: false,
                skew: Duration::from_secs(60),
            },
        ]);
        Bench { forwarder, management, faces, now: Time(0), nonce: 0 }
    }

    fn pass(&mut self, span: Duration) {
        let end = self.now + span;
        while self.step(end) {}
        self.now = end;
    }

    /// Moves on to the next deadline, if that is not after `end`.
    fn step(&mut self, end: Time) -> bool {
        let due = [self.forwarder.next_deadline(), self.management.next_deadline()];
        let Some(at) = due.into_iter().flatten().min().filter(|at| *at <= end) else {
            return false;
        };
        self.now = self.now.max(at);
        self.forwarder.on_deadline(self.now);
        self.management.on_deadline(&mut self.forwarder, self.now);
        let next = self.management.next_deadline();
        assert!(next.is_none_or(|next| next > self.now), "deadlines move forward");
        self.transmit();
        true
    }

    /// Passes the time until nothing is pending, neither here nor in the service.
    fn drain(&mut self) {
        let end = self.now + Duration::from_secs(200);
        while !self.forwarder.pit().is_empty() || self.management.next_deadline().is_some() {
            if !self.step(end) {
                break;
            }
        }
    }

    fn transmit(&mut self) {
        while let Some(face) = self.forwarder.poll_ready() {
            let mut frame = Vec::new();
            while self.forwarder.poll_transmit(self.now, face, &mut frame).is_some() {
                if face == self.management.face() {
                    self.manage(&frame);
                } else {
                    check_answer(&frame);
                }
                frame.clear();
            }
            while let Some(frame) = self.management.poll_transmit(self.now) {
                let own = self.management.face();
                self.forwarder.receive(self.now, own, Wire::Borrowed(&frame));
            }
        }
    }

    fn manage(&mut self, frame: &[u8]) {
        let wall_ms = WALL + self.now.since(Time(0)).as_millis();
        let mut host = Host {
            forwarder: &mut self.forwarder,
            faces: &|forwarder| self.faces.iter().map(|id| info(forwarder, *id)).collect(),
            channels: &["udp4://0.0.0.0:6363".to_owned()],
            account: &|face| {
                let at = self.faces.iter().position(|known| *known == face)?;
                let uid = *USERS.get(at)?;
                Some(Account { uid, gid: None })
            },
        };
        let reply = match self.management.receive(&mut host, self.now, wall_ms, frame) {
            None => return,
            Some(Answer::Frame(reply)) => reply,
            Some(Answer::Order(order)) => {
                let response = self.execute(&order);
                self.management.executed(self.now, &order, &response);
                order.reply(&response)
            }
        };
        let own = self.management.face();
        self.forwarder.receive(self.now, own, Wire::Borrowed(&reply));
    }

    /// The daemon's part, without the sockets.
    fn execute(&mut self, order: &Order) -> ControlResponse {
        let body = ControlParameters::default();
        match &order.task {
            Task::Create(create) if self.faces.len() < FACES => {
                let mtu = create.change.mtu;
                let face = FaceConfig {
                    medium: Medium { mtu, ..Medium::default() },
                    ..FaceConfig::default()
                };
                let id = self.forwarder.add_face(self.now, face);
                self.faces.push(id);
                let info = info(&self.forwarder, id);
                self.management.face_event(self.now, FaceEvent::Created, &info);
                ControlResponse::new(200, "OK", ControlParameters { face_id: Some(id.0), ..body })
            }
            Task::Create(_) => order.rejection(500, "too many"),
            Task::Update(id, change) => {
                if let Some(mtu) = change.mtu {
                    self.forwarder.set_mtu(*id, Some(mtu));
                }
                ControlResponse::new(200, "OK", body)
            }
            Task::Destroy(id) => {
                if self.faces[COMMANDING..].contains(id) {
                    self.close(*id);
                }
                ControlResponse::new(200, "OK", body)
            }
        }
    }

    fn close(&mut self, id: FaceId) {
        let info = info(&self.forwarder, id);
        self.faces.retain(|face| *face != id);
        self.forwarder.remove_face(self.now, id);
        self.management.face_gone(&mut self.forwarder, id);
        self.management.face_event(self.now, FaceEvent::Destroyed, &info);
    }

    fn ask(&mut self, who: u8, what: u8, bytes: &[u8]) {
        let from = self.faces[usize::from(who & !REMOTE) % COMMANDING];
        let scope = if who & REMOTE == 0 { "localhost" } else { "localhop" };
        let wire = match what {
            RAW => bytes.into(),
            _ => self.interest(scope, usize::from(what) % ASKED.len(), bytes),
        };
        if wire.len() <= packet::MAX_PACKET {
            self.forwarder.receive(self.now, from, Wire::Borrowed(&wire));
            self.transmit();
        }
    }

    fn interest(&mut self, scope: &str, what: usize, bytes: &[u8]) -> Vec<u8> {
        let name: Name = format!("/{scope}/{}", ASKED[what]).parse().expect("a name");
        self.nonce += 1;
        let mut interest = InterestBuf::new(match ASKED[what] {
            "nfd/faces/query" => name.with(&Component::generic(bytes)),
            "nfd/rib/announce" => name,
            _ if what < COMMANDS => {
                let mut parameters = Vec::new();
                tlv::put_tlv(&mut parameters, numbers::CONTROL_PARAMETERS, bytes);
                name.with(&Component::generic(&parameters))
            }
            _ => name,
        });
        (interest.nonce, interest.can_be_prefix) = (Some(self.nonce), true);
        if what < COMMANDS {
            if ASKED[what] == "nfd/rib/announce" {
                interest.parameters = Some(bytes.to_vec().into());
            }
            let info = SignatureInfoBuf::digest().with_nonce(&self.nonce.to_be_bytes());
            let info = info.with_time_ms(WALL + self.now.since(Time(0)).as_millis());
            interest.sign_with(info, |parts| {
                let mut digest = Sha256::new();
                parts.iter().for_each(|part| digest.update(part));
                Signature::from(<[u8; 32]>::from(digest.finalize()))
            });
        }
        interest.encode().to_vec()
    }

    fn check(&mut self) {
        let here: Vec<u64> = self.forwarder.faces().iter().map(|face| face.0).collect();
        for face in &here {
            assert!(self.management.rib().routes_of(FaceId(*face)) <= ROUTES);
        }
        for (prefix, routes) in self.management.rib().iter() {
            assert!(!routes.is_empty(), "{prefix}");
            assert!(routes.keys().all(|key| here.contains(&key.face.0)), "{prefix}");
        }
        for (prefix, hops) in self.forwarder.fib().iter() {
            assert!(hops.iter().all(|hop| here.contains(&hop.face)), "{prefix}");
        }
    }
}

/// An answer of the service can be read, and a response has a code of the protocol.
fn check_answer(frame: &[u8]) {
    let link = LpPacket::decode(frame).expect("what is sent can be read");
    if let Some(Ok(data)) = link.fragment().map(Data::decode)
        && let Ok(response) = ControlResponse::decode(data.content())
    {
        assert!(CODES.contains(&response.code), "{}", response.code);
    }
}

fuzz_target!(|input: &[u8]| {
    let mut bench = Bench::new();
    let mut rest = input;
    while let [who, pause, what, high, low, tail @ ..] = rest {
        let len = usize::from(u16::from_be_bytes([*high, *low])).min(tail.len());
        let (bytes, later) = tail.split_at(len);
        rest = later;
        bench.pass(Duration::from_millis(u64::from(*pause) * 10));
        bench.ask(*who, *what, bytes);
        bench.check();
    }
    for face in bench.faces.clone() {
        bench.close(face);
    }
    bench.check();
    // The remaining routes lead to the service, which is a face like others.
    let own = bench.management.face();
    let routes = bench.management.rib().iter().flat_map(|(_, routes)| routes.keys());
    assert_eq!(routes.filter(|key| key.face != own).count(), 0);
    assert!(bench.forwarder.fib().iter().all(|(_, hops)| hops.len() == 1));
    bench.drain();
    assert!(bench.forwarder.pit().is_empty(), "every Interest ends");
});
