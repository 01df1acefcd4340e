//! A run with everything that could differ between machines: floating-point functions, random
//! numbers, queues and losses.

use control::{Params, Size, Time};
use sim::{
    Arrivals, FetchSpec, Loss, Network, NodeSpec, ObjectSpec, RateSpec, Reorder, Signing, WireSpec,
};
use std::sync::Arc;

use super::{controller, ms, name, strategy, wire};

/// The seeds of the compared runs.
pub const SEEDS: std::ops::Range<u32> = 1..9;

/// The trace hash of the run, and a hash of all its results to the last bit of every number.
pub fn fingerprint(seed: u32) -> (u64, u64) {
    let mut net = Network::new(u64::from(seed));
    let nodes: Vec<_> = (0..4)
        .map(|n| {
            let mut spec = NodeSpec::new(&format!("n{n}"), strategy());
            // The bound is in packets, because their size in memory depends on the size of a
            // pointer.
            spec.content_store.capacity = usize::MAX >> 1;
            spec.content_store.packets = 50;
            net.add_node(spec)
        })
        .collect();
    let codel = schemes::find("codel").unwrap();
    for (pair, mbps) in nodes.windows(2).zip([50, 7, 30]) {
        let mut spec = WireSpec { queue_packets: 60, ..wire(mbps, 3) };
        spec.impairment.loss =
            Loss::GilbertElliott { to_bad: 0.003, to_good: 0.3, loss_good: 0.0, loss_bad: 0.3 };
        spec.impairment.reorder = Reorder { probability: 0.01, by: ms(1) };
        spec.impairment.jitter = ms(1);
        spec.marker =
            Some(Arc::new(move || codel.marker.unwrap()(&Params::defaults(codel.params))));
        let link = net.add_link(pair[0], pair[1], spec.clone(), spec);
        net.add_route(pair[0], &name("/p"), link, 1).unwrap();
    }
    for (n, scheme) in ["aimd", "bbr", "cubic"].into_iter().enumerate() {
        let signing = [Signing::Manifest, Signing::Digest, Signing::Unsigned][n];
        let object = ObjectSpec {
            segment_size: 1000,
            signing,
            ..ObjectSpec::new(name(&format!("/p/{n}")), Size(600_000))
        };
        let mut fetch = FetchSpec::new(object.name.clone(), controller(scheme), scheme);
        fetch.signing = signing;
        net.fetch(nodes[n % 2], fetch);
        let mut poisson = RateSpec::new(object.versioned(), 70.0, 200);
        poisson.arrivals = Arrivals::Poisson;
        net.constant_rate(nodes[0], poisson);
        net.publish(nodes[3], object).unwrap();
    }
    let outcome = net.run(Time(10_000_000_000));
    // 64-bit FNV-1a over the results as text, which shows floating-point numbers to the last bit.
    let results = format!("{outcome:?}");
    let hash = results.bytes().fold(0xcbf2_9ce4_8422_2325u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
    });
    (outcome.trace_hash, hash)
}
