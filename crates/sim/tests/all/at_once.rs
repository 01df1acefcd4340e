//! Many fetches that begin at once, with `sluice` in all links.
#![expect(clippy::unwrap_used, reason = "a test that cannot be set up must fail")]

use crate::support::{assert_conserved, at_ms, controller, name, node, wire_of};
use control::{Duration, Size};
use sim::{FetchSpec, FlowId, Impairment, LinkId, Network, NodeId, ObjectSpec, Signing, WireSpec};

const SEGMENT: usize = 1024;
/// A segment's frame, in bytes: the name and the Data's fields take 30 or less.
const FRAME: f64 = 1054.0;

/// A line: consumers, `near`, a bottleneck, `far` with all content.
struct Line {
    net: Network,
    near: NodeId,
    far: NodeId,
    bottleneck: LinkId,
    mbits: u64,
}

impl Line {
    fn new(mbits: u64, rtt_ms: u64) -> Line {
        let mut net = Network::new(1);
        let (near, far) = (node(&mut net, "near"), node(&mut net, "far"));
        let queue = Size(mbits * 125 * rtt_ms);
        let wire = WireSpec { queue, ..wire_of("sluice", mbits, rtt_ms / 2 - 1) };
        let bottleneck = net.add_link(near, far, wire.clone(), wire);
        Line { net, near, far, bottleneck, mbits }
    }

    /// A consumer on a link of its own fetches an object of `bytes`.
    fn fetch(&mut self, object: &str, bytes: u64, start_ms: u64) -> FlowId {
        let uri = name(object);
        let (signing, size) = (Signing::Unsigned, Size(bytes));
        let spec =
            ObjectSpec { segment_size: SEGMENT, signing, ..ObjectSpec::new(uri.clone(), size) };
        self.net.add_route(self.near, &uri, self.bottleneck, 1).unwrap();
        self.net.publish(self.far, spec).unwrap();
        let consumer = node(&mut self.net, &format!("c{object}"));
        let jitter = Duration::from_micros(400);
        let impairment = Impairment { jitter, ..Impairment::default() };
        let access = WireSpec { impairment, ..wire_of("sluice", 10 * self.mbits, 1) };
        let access = self.net.add_link(consumer, self.near, access.clone(), access);
        self.net.add_route(consumer, &uri, access, 1).unwrap();
        let mut fetch = FetchSpec::new(uri, controller("sluice"), "sluice");
        (fetch.signing, fetch.start) = (signing, at_ms(start_ms));
        self.net.fetch(consumer, fetch)
    }
}

#[test]
fn a_crowd_of_small_objects_leaves_a_long_flow_the_rest_of_the_link() {
    let mut line = Line::new(20, 40);
    line.fetch("/long", 1_000_000_000, 0);
    for i in 0..100 {
        line.fetch(&format!("/small/{i}"), 10_000, 1000 + i / 10);
    }
    let after = line.net.run(at_ms(2400));
    assert_conserved(&after);
    assert!(after.flows[1..].iter().all(|flow| flow.transfer.complete));
    let bytes: u64 = after.flows.iter().map(|flow| flow.transfer.bytes).sum();
    let most = 20e6 / 8.0 * 2.4 * SEGMENT as f64 / FRAME;
    // Ten round trips may pass before the long flow has the link again, and one at its beginning.
    let least = most * (1.0 - 11.0 * 0.040 / 2.4);
    assert!(bytes as f64 >= least, "{bytes} of {most}");
}

#[test]
fn fetches_whose_metadata_are_asked_for_twice_fill_no_queue() {
    // Metadata are asked for again after 125 ms, when the answer is under way: both are answered.
    let mut line = Line::new(10, 300);
    for i in 0..30 {
        line.fetch(&format!("/object/{i}"), 1_000_000_000, (i * 7) % 20);
    }
    let after = line.net.run(at_ms(4000));
    assert_conserved(&after);
    let drops: u64 = after.links.iter().map(sim::LinkResult::drops).sum();
    assert_eq!(drops, 0);
    let rates: Vec<f64> = after.flows.iter().map(|flow| flow.transfer.bytes as f64).collect();
    let equal = sim::jain_index(&rates).unwrap();
    assert!(equal > 0.98, "{equal}");
}
