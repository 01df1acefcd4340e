//! Lying offers: a router that writes false offers on the Data of one consumer.
#![expect(clippy::unwrap_used, reason = "a test that cannot be set up must fail")]

use crate::support::{assert_conserved, at_ms, controller, name, node, wire_of};
use control::{Cx, DataMeta, Duration, LinkView, NodeView, Rng, Size, Stamper};
use packet::options::{Offer, Offers, RttSpread};
use packet::{HopOption, HopOptions};
use sim::{FetchSpec, FlowId, Network, ObjectSpec, Signing, WireSpec};
use std::sync::Arc;

const SECONDS: u64 = 20;
const SEGMENT: usize = 1000;

/// The goodput of a flow that shares 20 Mbit/s with another one: of 99 %, and of frames of 1050
/// bytes.
const SHARE: f64 = 20e6 * 0.99 / 2.0 * SEGMENT as f64 / 1050.0;

#[derive(Clone, Copy, Debug)]
enum Lie {
    Nothing,
    Everything,
    Chance,
    Garbage,
    /// Offers are unchanged, and other answers are reported to come much later.
    Spread,
}

struct Liar {
    lie: Lie,
    rng: Rng,
}

impl Stamper for Liar {
    fn on_data_in(
        &mut self,
        _cx: &mut Cx<'_>,
        _view: &LinkView,
        _node: &dyn NodeView,
        data: &mut DataMeta,
        _since_release: Duration,
    ) {
        let rate = match self.lie {
            Lie::Nothing => 0,
            Lie::Everything => u16::MAX,
            Lie::Chance => self.rng.next_u64() as u16,
            Lie::Garbage => {
                data.options.set_raw(Offers::TYPE, &[1; 5]);
                return;
            }
            Lie::Spread => {
                data.options.set(&RttSpread(self.rng.next_u64()));
                return;
            }
        };
        let mut offers = Offers::new();
        offers.add(Offer { rate, link: 1 });
        // Those of the links behind it are gone.
        data.options = HopOptions::new();
        data.options.set(&offers);
    }
}

fn honest(mbits: u64, delay_ms: u64) -> WireSpec {
    WireSpec { queue: Size(50_000), ..wire_of("sluice", mbits, delay_ms) }
}

/// Two consumers at a bottleneck, the first of which gets lies. The bits per second of each.
fn shared_with(lie: Lie) -> [f64; 2] {
    let mut net = Network::new(1);
    let (near, far) = (node(&mut net, "near"), node(&mut net, "far"));
    let link = net.add_link(near, far, honest(20, 20), honest(20, 20));
    let mut flows: Vec<FlowId> = Vec::new();
    for flow in 0..2 {
        let uri = name(&format!("/p/{flow}"));
        let signing = Signing::Unsigned;
        let size = Size(1_000_000_000);
        let object =
            ObjectSpec { segment_size: SEGMENT, signing, ..ObjectSpec::new(uri.clone(), size) };
        net.add_route(near, &uri, link, 1).unwrap();
        net.publish(far, object.clone()).unwrap();
        let consumer = node(&mut net, &format!("c{flow}"));
        let mut access = honest(1000, 1);
        if flow == 0 {
            access.stamper =
                Some(Arc::new(move || Box::new(Liar { lie, rng: Rng::stream(1, &["liar"]) })));
        }
        let access = net.add_link(consumer, near, access, honest(1000, 1));
        net.add_route(consumer, &uri, access, 1).unwrap();
        let mut fetch = FetchSpec::new(object.versioned(), controller("sluice"), "sluice");
        fetch.signing = signing;
        flows.push(net.fetch(consumer, fetch));
    }
    let after = net.run(at_ms(1000 * SECONDS));
    assert_conserved(&after);
    [0, 1].map(|flow| after.flows[flow].transfer.bytes as f64 * 8.0 / SECONDS as f64)
}

#[test]
fn lies_take_nothing_from_others_and_stop_no_transfer() {
    for lie in [Lie::Nothing, Lie::Everything, Lie::Chance, Lie::Garbage, Lie::Spread] {
        let [deceived, other] = shared_with(lie);
        // Others lose a tenth at most, in which the beginning of both is included.
        assert!(other > 0.9 * SHARE, "{lie:?}: {other} of {SHARE}");
        let least = match lie {
            // A flow that is offered nothing sends one Interest a second, to receive later offers.
            Lie::Nothing | Lie::Chance => 0.9 * 8.0 * SEGMENT as f64,
            // The model rules then, and the link gives each flow its share.
            Lie::Everything | Lie::Garbage | Lie::Spread => 0.9 * SHARE,
        };
        assert!(deceived > least, "{lie:?}: {deceived}");
    }
}
