//! Several forwarders wired together in memory, with applications at their edges.

use crate::support::{Sent, data, name, unframe};
use control::{Duration, Rng, Strategy, Time};
use forwarder::{FaceConfig, FaceId, Forwarder, ForwarderConfig, Scope, Wire};
use packet::{InterestBuf, tlv::types};
use std::collections::BTreeMap;

/// A forwarder and one of its faces.
pub type Port = (usize, FaceId);

/// The other end of a face.
#[derive(Clone, Copy)]
enum End {
    Peer {
        port: Port,
        delay: Duration,
        loss: f64,
    },
    Consumer,
    /// Answers everything with Data of this many bytes of content, or with nothing.
    Producer(Option<usize>),
}

pub struct Net {
    pub nodes: Vec<Forwarder>,
    pub now: Time,
    ends: BTreeMap<Port, End>,
    /// Frames under way, in the order of their arrival.
    wires: BTreeMap<(Time, u64), (Port, Vec<u8>)>,
    count: u64,
    rng: Rng,
    pub lost: u64,
    /// The packets that consumers received.
    pub got: BTreeMap<Port, Vec<Sent>>,
    /// Every frame that was sent: instant, port, bytes.
    pub trace: Vec<(Time, Port, Vec<u8>)>,
}

impl Net {
    pub fn new(seed: u64) -> Net {
        Net {
            nodes: Vec::new(),
            now: Time(0),
            ends: BTreeMap::new(),
            wires: BTreeMap::new(),
            count: 0,
            rng: Rng::stream(seed, &["wires"]),
            lost: 0,
            got: BTreeMap::new(),
            trace: Vec::new(),
        }
    }

    pub fn node(&mut self, seed: u64, strategy: Box<dyn Strategy>) -> usize {
        let name = format!("node {}", self.nodes.len());
        let config = ForwarderConfig { seed, name, ..ForwarderConfig::new(strategy) };
        self.nodes.push(Forwarder::new(config));
        self.nodes.len() - 1
    }

    /// Wires two nodes; `config` makes the face of either.
    pub fn wire(
        &mut self,
        (a, b): (usize, usize),
        delay: Duration,
        loss: f64,
        config: impl Fn() -> FaceConfig,
    ) -> (Port, Port) {
        let count = self.ends.len();
        let mut add = |node: usize| {
            let config = FaceConfig { name: format!("{count} at {node}"), ..config() };
            (node, self.nodes[node].add_face(self.now, config))
        };
        let (pa, pb) = (add(a), add(b));
        self.ends.insert(pa, End::Peer { port: pb, delay, loss });
        self.ends.insert(pb, End::Peer { port: pa, delay, loss });
        (pa, pb)
    }

    pub fn consumer(&mut self, node: usize) -> Port {
        self.app(node, End::Consumer)
    }

    pub fn producer(&mut self, node: usize, prefix: &str, content: Option<usize>) -> Port {
        let port = self.app(node, End::Producer(content));
        self.route(port, prefix);
        port
    }

    fn app(&mut self, node: usize, end: End) -> Port {
        let config = FaceConfig { scope: Scope::Local, ..FaceConfig::default() };
        let port = (node, self.nodes[node].add_face(self.now, config));
        self.ends.insert(port, end);
        port
    }

    pub fn route(&mut self, port: Port, prefix: &str) {
        self.nodes[port.0].add_route(port.1, name(prefix).as_ref(), 0).unwrap();
    }

    pub fn ask(&mut self, port: Port, interest: &InterestBuf) {
        self.deliver(port, &interest.encode());
        self.flush();
    }

    /// Runs until nothing is in flight and no deadline is left, or until `end`.
    pub fn run(&mut self, end: Time) {
        self.flush();
        loop {
            let wire = self.wires.first_key_value().map(|((at, _), _)| *at);
            let deadlines = self.nodes.iter().filter_map(Forwarder::next_deadline);
            let Some(next) = deadlines.chain(wire).min().filter(|at| *at <= end) else { break };
            self.now = self.now.max(next);
            for node in &mut self.nodes {
                if node.next_deadline().is_some_and(|at| at <= self.now) {
                    node.on_deadline(self.now);
                }
            }
            while let Some(entry) = self.wires.first_entry().filter(|e| e.key().0 <= self.now) {
                let (port, frame) = entry.remove();
                self.deliver(port, &frame);
            }
            self.flush();
        }
    }

    fn deliver(&mut self, (node, face): Port, frame: &[u8]) {
        self.nodes[node].receive(self.now, face, Wire::Borrowed(frame));
    }

    /// Takes from all nodes what they want to send, until they want no more.
    fn flush(&mut self) {
        let mut again = true;
        while std::mem::take(&mut again) {
            for node in 0..self.nodes.len() {
                while let Some(face) = self.nodes[node].poll_ready() {
                    again = true;
                    let mut out = Vec::new();
                    while let Some(sent) = self.nodes[node].poll_transmit(self.now, face, &mut out)
                    {
                        for frame in out.chunks(sent.segment.unwrap_or(sent.len)) {
                            self.carry((node, face), frame);
                        }
                        out.clear();
                    }
                }
            }
        }
    }

    fn carry(&mut self, from: Port, frame: &[u8]) {
        self.trace.push((self.now, from, frame.to_vec()));
        match self.ends[&from] {
            End::Peer { loss, .. } if self.rng.chance(loss) => self.lost += 1,
            End::Peer { port, delay, .. } => {
                self.count += 1;
                self.wires.insert((self.now + delay, self.count), (port, frame.to_vec()));
            }
            End::Consumer => self.got.entry(from).or_default().push(unframe(frame)),
            End::Producer(content) => self.answer(from, &unframe(frame), content),
        }
    }

    fn answer(&mut self, port: Port, asked: &Sent, content: Option<usize>) {
        let is_interest = asked.packet.first().copied().map(u64::from) == Some(types::INTEREST);
        if asked.header.nack.is_some() || !is_interest {
            return;
        }
        if let Some(len) = content {
            let uri = asked.interest().name().to_string();
            let answer = data(&uri, &vec![7; len]);
            self.deliver(port, &answer);
        }
    }

    pub fn got(&mut self, port: Port) -> Vec<Sent> {
        self.got.remove(&port).unwrap_or_default()
    }
}
