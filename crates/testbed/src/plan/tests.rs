//! What is planned.

use super::*;
use crate::estimate::{Estimate, Machine};
use control::Rate;
use scenario::model::Scenario;
use std::sync::Arc;

const LINE: &str = r#"
[scenario]
duration = "10 s"

[[node]]
name = ["consumer", "the middle", "producer"]
strategy = "multicast"

[[link]]
between = ["consumer", "the middle"]
rate = "80 Mbit/s"
delay = "2 ms"
queue = "100 kB"

[[link]]
between = ["the middle", "producer"]
rate = "8 Mbit/s"
delay = "5 ms"
queue = "20 packets"
loss = "1 %"
jitter = "300 us"
marker = "codel"

[[content]]
name = "/a/\"b\""
at = "producer"
size = "1 GB"
segment = "900 B"

[[consumer]]
at = "consumer"
name = "/a/\"b\""
control = "cubic"
"#;

fn scenario(text: &str) -> Arc<Scenario> {
    let batch = scenario::parse(text, "x", &[]).unwrap_or_else(|e| panic!("{e}"));
    Arc::clone(&batch.runs[0].scenario)
}

fn plan(text: &str) -> Plan {
    Plan::new(&scenario(text), 7).unwrap_or_else(|refused| panic!("{refused:?}"))
}

/// What the daemon makes of a node's configuration.
fn read(plan: &Plan, node: usize) -> net::config::Config {
    net::config::parse(&plan.nodes[node].config, "x").unwrap_or_else(|e| panic!("{e:?}"))
}

#[test]
fn the_daemons_read_what_is_written_for_them() {
    let plan = plan(LINE);
    let middle = read(&plan, 1);
    assert_eq!(middle.faces.len(), 2);
    let down = &middle.faces[1].link;
    assert_eq!((down.rate, down.rate_in), (Some(Rate::from_mbps(8)), Some(Rate::from_mbps(8))));
    assert_eq!(down.emulation.delay, Duration::from_millis(5));
    assert_eq!(down.emulation.jitter, Duration::from_micros(300));
    assert_eq!(down.emulation.loss, control::Ratio::new(0.01).unwrap());
    assert_eq!(down.queue.map(document::Queue::bounds).map(|(_, packets)| packets), Some(20));
    assert_eq!(down.parts.marker.as_ref().map(ToString::to_string).as_deref(), Some("codel"));
    // Frames cost what they cost in the simulator, and packets are not cut.
    assert_eq!((down.overhead, down.mtu), (Some(Size(0)), Some(9188)));
    let prefixes: Vec<_> = middle.routes.iter().map(|route| route.prefix.to_string()).collect();
    assert_eq!(prefixes, ["/a/%22b%22"]);
    assert_eq!(middle.routes[0].face, 1);
}

#[test]
fn ends_of_links_see_each_other() {
    let plan = plan(LINE);
    let (near, far) = (read(&plan, 1), read(&plan, 2));
    let [here, there] = plan.links[1].addresses.map(|address| format!("udp4://{address}:6363"));
    assert_eq!((near.faces[1].uri.to_string(), far.faces[0].uri.to_string()), (there, here));
    // Each pair has four addresses of its own.
    assert_eq!(plan.links[0].addresses.map(u32::from)[1] & 3, 2);
    assert_eq!(u32::from(plan.links[1].addresses[0]) - u32::from(plan.links[0].addresses[0]), 4);
}

#[test]
fn names_of_namespaces_are_plain() {
    let plan = plan(LINE);
    let shorts: Vec<&str> = plan.nodes.iter().map(|node| node.short.as_str()).collect();
    assert_eq!(shorts, ["consumer", "node1", "producer"]);
}

#[test]
fn no_more_is_published_than_the_run_can_fetch() {
    // 8 Mbit/s for 10 s.
    assert_eq!(plan(LINE).contents[0].size, Size(10_000_000));
    let small = LINE.replace("1 GB", "3 kB");
    assert_eq!(plan(&small).contents[0].size, Size(3_000));
}

#[test]
fn all_that_cannot_be_built_is_said_at_once() {
    let text = LINE.replace("loss = \"1 %\"", "duplicate = \"1 %\"")
        + "[[consumer]]\nat = \"consumer\"\nname = \"/a/\\\"b\\\"\"\n\
           rate = \"10 /s\"\n";
    let refused = Plan::new(&scenario(&text), 1).unwrap_err();
    let places: Vec<&str> = refused.iter().map(|one| one.place.as_str()).collect();
    // Both directions of the link make copies.
    let copies = "link the middle-producer";
    assert_eq!(places, [copies, copies, "consumer at consumer"]);
}

#[test]
fn the_slowest_link_of_the_way_decides_the_estimate() {
    let scenario = scenario(LINE);
    let plan = plan(LINE);
    let estimate = Estimate::of(&scenario, &plan);
    // 8 Mbit/s in packets of 1000 octets are 1000 a second and as many Interests, over two links
    // and at both ends: 8000 times 20 us.
    assert!((estimate.cores - 0.16).abs() < 1e-9, "{}", estimate.cores);
    assert_eq!(estimate.disk, Size(20_000_000));
    let machine = Machine { cores: 1, memory: Size(u64::MAX), disk: Size(20_000_000) };
    assert_eq!(estimate.beyond(&machine), None);
    let full = Machine { disk: Size(19_999_999), ..machine };
    assert!(estimate.beyond(&full).unwrap().contains("set TMPDIR"));
    let fast = Estimate { cores: 9.0, ..estimate };
    assert!(fast.beyond(&machine).unwrap().contains("to 10 %"), "{:?}", fast.beyond(&machine));
}
