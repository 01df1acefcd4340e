//! Segments from several sources: caches along a path, and separate producers.
#![expect(clippy::unwrap_used, reason = "a test that cannot be set up must fail")]

use crate::support::{at_ms, controller, ms, name, strategy, wire};
use control::{
    Arrival, Ask, Controller, Cx, Duration, Lane, Loss, Params, Permit, Rate, Ratio, Rng, Sent,
    Size, Stamper, Ticket, Time,
};
use forwarder::tables::{Admission, ContentStoreConfig};
use packet::options::{Anticipated, ServedBy};
use sim::{FetchSpec, FlowId, FlowResult, Make, Network, NodeId, NodeSpec, ObjectSpec, WireSpec};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// The number of routers with a cache between consumer and producer.
const CACHES: usize = 8;
/// The one-way delay of each link.
const DELAY: u64 = 5;

/// The stamper of the scheme that announces the locations of segments.
fn stamper() -> Make<dyn Stamper> {
    let scheme = schemes::find("cctcp").unwrap();
    Arc::new(move || scheme.stamper.unwrap()(&Params::defaults(scheme.params)))
}

struct Path {
    net: Network,
    consumer: NodeId,
}

/// A path of the consumer, eight caches and the producer. Each cache admits an eighth of the
/// packets that pass, so on average one has a segment (Saino, Cocora, Pavlou 2013, section III).
fn path(wire: &WireSpec, seed: u64) -> Path {
    let wire = WireSpec { stamper: Some(stamper()), ..wire.clone() };
    let mut net = Network::new(seed);
    let nodes: Vec<NodeId> = (0..CACHES + 2)
        .map(|i| {
            let mut spec = NodeSpec::new(&format!("n{i}"), strategy());
            let caches = (1..=CACHES).contains(&i);
            spec.content_store = match caches {
                true => ContentStoreConfig {
                    admission: Admission::Probability(Ratio::new(0.125).unwrap()),
                    ..ContentStoreConfig::default()
                },
                false => ContentStoreConfig::OFF,
            };
            net.add_node(spec)
        })
        .collect();
    for pair in nodes.windows(2) {
        let link = net.add_link(pair[0], pair[1], wire.clone(), wire.clone());
        net.add_route(pair[0], &name("/p"), link, 1).unwrap();
    }
    let object = ObjectSpec::new(name("/p/o"), Size(8000 * 500));
    net.publish(nodes[CACHES + 1], object).unwrap();
    Path { net, consumer: nodes[0] }
}

impl Path {
    fn fetch(&mut self, start: u64, controller: Box<dyn Controller>) -> FlowId {
        let mut fetch = FetchSpec::new(name("/p/o"), controller, "test");
        fetch.start = at_ms(start);
        self.net.fetch(self.consumer, fetch)
    }
}

/// The properties of a received Data packet.
#[derive(Clone)]
struct Report {
    segment: u64,
    rtt: Duration,
    served: ServedBy,
    list: Anticipated,
}

/// A controller with one Interest at a time that records the Data received.
struct Spy {
    inner: Box<dyn Controller>,
    reports: Arc<Mutex<Vec<Report>>>,
}

impl Controller for Spy {
    fn permit(&self, now: Time, ask: &Ask<'_>) -> Permit {
        match ask.in_flight.total().segments {
            0 => self.inner.permit(now, ask),
            _ => Permit::Wait,
        }
    }

    fn on_sent(&mut self, cx: &mut Cx<'_>, sent: &Sent) -> Ticket {
        self.inner.on_sent(cx, sent)
    }

    fn came_in(&self, arrival: &Arrival<'_>) -> Option<Lane> {
        self.inner.came_in(arrival)
    }

    fn on_data(&mut self, cx: &mut Cx<'_>, arrival: &Arrival<'_>) {
        let options = arrival.options;
        // Metadata and manifests are not segments, and have no list.
        if let Some(list) = options.get() {
            let (segment, rtt) = (arrival.segment, arrival.rtt.unwrap());
            let served = options.get().unwrap();
            self.reports.lock().unwrap().push(Report { segment, rtt, served, list });
        }
        self.inner.on_data(cx, arrival);
    }

    fn on_loss(&mut self, _: &mut Cx<'_>, loss: &Loss<'_>) {
        panic!("nothing is lost, and yet {} is", loss.segment);
    }

    fn next_deadline(&self) -> Option<Time> {
        self.inner.next_deadline()
    }

    fn on_deadline(&mut self, cx: &mut Cx<'_>) {
        self.inner.on_deadline(cx);
    }
}

/// Links without transmission time, so that a round-trip time is determined by the distance.
#[test]
fn router_reports_survive_eight_caches_and_give_exact_round_trips() {
    let wire = WireSpec { rate: None, ..WireSpec::new(Rate(1), ms(DELAY)) };
    let mut path = path(&wire, 1);
    path.fetch(0, controller("fixed"));
    let reports = Arc::new(Mutex::new(Vec::new()));
    path.fetch(60_000, Box::new(Spy { inner: controller("cctcp"), reports: reports.clone() }));
    let outcome = path.net.run(at_ms(200_000));
    assert!(
        outcome.flows.iter().all(|flow| flow.transfer.counters.data > 500),
        "{:?}",
        outcome.flows
    );
    let reports = reports.lock().unwrap();
    let distance = |hops: u8| ms(2 * DELAY * u64::from(hops));
    let (mut most, mut seen, mut listed) = (0, BTreeMap::new(), BTreeMap::new());
    for report in reports.iter() {
        assert_eq!(report.rtt, distance(report.served.hops), "{:?}", report.served);
        let before = listed.get(&report.segment);
        assert!(before.is_none_or(|node| *node == report.served.node), "{} moved", report.segment);
        most = most.max(report.list.holders().len());
        for holder in report.list.holders() {
            // Equation 1.
            let rtt = Duration(report.rtt.0 - holder.elapsed);
            assert_eq!(rtt, distance(holder.hops.unwrap()), "{holder:?}");
            assert!(holder.hops.unwrap() < report.served.hops);
            assert_eq!(*seen.entry(holder.hops.unwrap()).or_insert(holder.node), holder.node);
        }
        // The nearest of the requested ones.
        for holder in report.list.holders() {
            report.list.held(holder).for_each(|n| _ = listed.entry(n).or_insert(holder.node));
        }
    }
    assert_eq!(seen.into_keys().collect::<Vec<_>>(), (1..=8).collect::<Vec<_>>());
    assert!(most >= 7, "{most} at once");
    // A given cache lacks seven in eight segments; (7/8)^8, a third, are in no cache at all.
    let known = (0..500).filter(|n| listed.contains_key(n)).count();
    assert!((280..=400).contains(&known), "{known} of 500");
}

/// Two producers behind a bottleneck of 80 Mbit/s, with one-way delays of 15 and 55 ms. One of
/// them, at random, has each segment (experiment C1 of CHoPCoP, ICCCN 2014).
fn two_producers(scheme: &str, segments: u64) -> FlowResult {
    let mut net = Network::new(1);
    let mut add = |name: &str| crate::support::node(&mut net, name);
    let [far, near, router, receiver] = ["far", "near", "router", "receiver"].map(&mut add);
    let to_far = net.add_link(router, far, wire(200, 50), wire(200, 50));
    let to_near = net.add_link(router, near, wire(100, 10), wire(100, 10));
    let shared = WireSpec { queue: Size(1_500_000), ..wire(80, 5) };
    let link = net.add_link(receiver, router, shared.clone(), shared);
    net.add_route(receiver, &name("/p"), link, 1).unwrap();
    net.add_route(router, &name("/p"), to_near, 1).unwrap();
    let object = ObjectSpec::new(name("/p/o"), Size(8000 * segments));
    let versioned = object.versioned();
    let mut rng = Rng::stream(1, &["placement"]);
    for segment in (0..segments).filter(|_| rng.chance(0.5)) {
        let at = versioned.clone().with(&packet::Component::segment(segment));
        net.add_route(router, &at, to_far, 1).unwrap();
    }
    [far, near].into_iter().for_each(|at| net.publish(at, object.clone()).unwrap());
    net.fetch(receiver, FetchSpec::new(name("/p/o"), controller(scheme), scheme));
    net.run(at_ms(60_000)).flows[0].clone()
}

#[test]
fn segments_from_near_and_far_are_not_taken_for_losses() {
    for scheme in ["cctcp", "contug"] {
        let flow = two_producers(scheme, 5000);
        assert!(flow.transfer.complete, "{flow:?}");
        // A probe counts as a gap.
        assert!(flow.transfer.counters.gaps <= 1, "{flow:?}");
        // Slow start fills a queue of 150 ms within one round trip, and this Data arrives after its
        // timeout of 200 ms. This happens once, whatever the source.
        assert!(flow.transfer.counters.false_losses * 20 < flow.transfer.counters.data, "{flow:?}");
        // 40 MB take 4 s at the full rate. A window of 1 that doubles every 110 ms reaches the 137
        // segments that fill the path to the far producer after 0.8 s. The rest is for the near
        // producer's window.
        let took = flow.end.unwrap().since(flow.start);
        assert!(took < ms(8000), "{scheme}: {took}, {flow:?}");
    }
}
