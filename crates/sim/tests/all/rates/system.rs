//! A scheme with all its parts on every node and link, and the record of a run.

use crate::support::{name, strategy};
use control::{Duration, Event, Kind, Rate, Size, Time};
use forwarder::Reporter;
use packet::options::RateStamp;
use packet::{Data, LpPacket};
use sim::{
    FetchSpec, FlowId, FlowSample, Network, NodeId, NodeSpec, ObjectSpec, Origin, PacketHop,
    Recorder, Signing, WireSpec,
};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};

/// A scheme with parameters.
pub struct System(schemes::Choice);

impl System {
    pub fn new(text: &str) -> System {
        System(text.parse().expect("a scheme"))
    }

    pub fn node(&self, net: &mut Network, name: &str) -> NodeId {
        let choice = self.0.clone();
        let strategy = match choice.scheme().strategy {
            Some(_) => Arc::new(move || choice.strategy().expect("it has one")),
            None => strategy(),
        };
        net.add_node(NodeSpec::new(name, strategy).without_store())
    }

    pub fn wire(&self, rate: Rate, delay: Duration) -> WireSpec {
        let mut wire = WireSpec::new(rate, delay);
        let (a, b) = (self.0.clone(), self.0.clone());
        wire.shaper = Some(Arc::new(move || a.shaper().expect("it has one")));
        wire.stamper = Some(Arc::new(move || b.stamper().expect("it has one")));
        wire
    }

    pub fn fetch(&self, net: &mut Network, at: NodeId, uri: &str, start: Time) -> FlowId {
        let controller = self.0.controller().expect("it has one");
        let mut fetch = FetchSpec::new(name(uri), controller, self.0.scheme().name);
        (fetch.start, fetch.signing) = (start, Signing::Unsigned);
        net.fetch(at, fetch)
    }
}

/// Publishes an object that is too large to complete in any run.
pub fn publish(net: &mut Network, at: NodeId, uri: &str, segment_size: usize) {
    publish_sized(net, at, uri, segment_size, 4_000_000_000);
}

pub fn publish_sized(net: &mut Network, at: NodeId, uri: &str, segment_size: usize, bytes: u64) {
    let object = ObjectSpec {
        segment_size,
        signing: Signing::Unsigned,
        ..ObjectSpec::new(name(uri), Size(bytes))
    };
    net.publish(at, object).expect("it can be published");
}

pub fn ms(n: u64) -> Time {
    Time(n * 1_000_000)
}

#[derive(Default)]
struct Seen {
    /// Bytes of content by flow and sample.
    content: Vec<(Time, FlowId, u64)>,
    /// The events that the parts of faces reported, with the node.
    events: Vec<(usize, Event)>,
    /// The nodes of each flow's path, from its consumer on; its name is `/f` and its number.
    paths: Vec<Vec<usize>>,
    /// The stamps of Data in flight, by name: the node and the stamp; `None` if two copies are in
    /// flight.
    stamps: BTreeMap<Vec<u8>, Option<(usize, RateStamp)>>,
    compared: u64,
    /// The number and bytes of Data packets sent by producers.
    data: (u64, u64),
}

/// The series of a run.
#[derive(Clone, Default)]
pub struct Series(Arc<Mutex<Seen>>);

impl Recorder for Series {
    fn wants_events(&self) -> bool {
        true
    }

    fn packet(&mut self, hop: &PacketHop<'_>) {
        if hop.kind == Kind::Data && !self.seen().paths.is_empty() {
            self.seen().check_stamp(hop);
        }
    }

    fn flow(&mut self, sample: &FlowSample) {
        self.seen().content.push((sample.at, sample.flow, sample.bytes.0));
    }

    fn event(&mut self, origin: Origin, event: &Event) {
        if let Origin::Node(node, Reporter::Face(_)) = origin {
            self.seen().events.push((node.index(), *event));
        }
    }
}

impl Seen {
    /// Checks that a rate stamp never rises along a path, and that every link stamps.
    fn check_stamp(&mut self, hop: &PacketHop<'_>) {
        let frame = LpPacket::decode(hop.frame).expect("a frame");
        let data = Data::decode(frame.fragment().expect("a packet")).expect("Data");
        let name = data.name();
        let flow = name.first().map(|c| String::from_utf8_lossy(&c.value()[1..]).into_owned());
        let flow: usize = flow.and_then(|f| f.parse().ok()).expect("a flow's number");
        let path = &self.paths[flow];
        let place = path.iter().position(|node| *node == hop.node.index()).expect("on the path");
        let stamp = frame.to_options().get::<RateStamp>();
        let key = name.as_bytes().to_vec();
        if place + 2 == path.len() {
            assert_eq!(stamp, None, "a producer stamps nothing");
            self.data = (self.data.0 + 1, self.data.1 + data.wire().len() as u64);
            let copies = self.stamps.contains_key(&key);
            self.stamps.insert(key.clone(), (!copies).then_some((place, RateStamp::MAX)));
        } else if let Some(Some((before, last))) = self.stamps.get_mut(&key) {
            let stamp = stamp.expect("every link stamps");
            assert_eq!(place + 1, *before, "{name} leaves its path");
            assert_eq!(
                stamp.min(*last),
                stamp,
                "{name}: from {last:?} at node {}",
                hop.node.index()
            );
            (*before, *last) = (place, stamp);
            self.compared += 1;
        }
        if place == 0 {
            self.stamps.remove(&key);
        }
    }
}

impl Series {
    /// A series that also checks that no stamp rises. `paths` are those of the flows, from their
    /// consumers on.
    pub fn checking(paths: Vec<Vec<usize>>) -> Series {
        let series = Series::default();
        series.seen().paths = paths;
        series
    }

    /// The number of stamps compared with those of the link before; the number and bytes of Data
    /// packets from producers.
    pub fn stamps(&self) -> (u64, u64, u64) {
        let seen = self.seen();
        (seen.compared, seen.data.0, seen.data.1)
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.0.lock().expect("one thread")
    }

    /// The rate of a flow's content in bit/s between two instants.
    pub fn rate(&self, flow: FlowId, from: Time, to: Time) -> f64 {
        let seen = self.seen();
        let at = |when: Time| {
            let mut of = seen.content.iter().filter(|(at, f, _)| *f == flow && *at <= when);
            of.next_back().map_or(0, |(_, _, bytes)| *bytes) as f64
        };
        (at(to) - at(from)) * 8.0 / to.since(from).as_secs_f64()
    }

    /// The events of this name that the parts of a node's faces reported.
    pub fn events(&self, name: &str, node: NodeId) -> Vec<Event> {
        let seen = self.seen();
        let of = seen.events.iter().filter(|(at, e)| *at == node.index() && e.name == name);
        of.map(|(_, event)| *event).collect()
    }
}
