//! Tests of plans.

use super::*;
use crate::estimate::{Estimate, Machine};
use control::{Duration, Rate, Ratio, Size};
use forwarder::RateIn;
use scenario::model::{Queue, Scenario};
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
    Plan::new(&scenario(text), 7, Medium::default())
        .unwrap_or_else(|rejected| panic!("{rejected:?}"))
}

/// The daemon's view of a node's configuration.
fn read(plan: &Plan, node: usize) -> net::config::Config {
    net::config::parse(&plan.nodes[node].config, "x").unwrap_or_else(|e| panic!("{e:?}"))
}

#[test]
fn the_daemons_read_what_is_written_for_them() {
    let plan = plan(LINE);
    let middle = read(&plan, 1);
    assert_eq!(middle.faces.len(), 2);
    let (down, rate) = (&middle.faces[1].link, Rate::from_mbps(8));
    assert_eq!((down.rate, down.rate_in), (Some(rate), Some(RateIn::Known(rate))));
    assert_eq!(down.emulation.delay, Duration::from_millis(5));
    assert_eq!(down.emulation.jitter, Duration::from_micros(300));
    assert_eq!(down.emulation.loss, control::LossModel::Random(0.01));
    assert_eq!(down.queue.map(Queue::bounds).map(|(_, packets)| packets), Some(20));
    assert_eq!(down.parts.marker.as_ref().map(ToString::to_string).as_deref(), Some("codel"));
    // Frames have the size of the simulator's, and packets are not fragmented.
    assert_eq!((down.overhead, down.mtu), (Some(Size(0)), Some(9188)));
    // Packets on the link are not in a socket's buffer.
    assert_eq!(down.window, Size(0));
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
fn everything_that_cannot_be_built_is_reported_at_once() {
    let text = LINE.replace("loss = \"1 %\"", "duplicate = \"1 %\"")
        + "[[link]]\nbetween = [\"consumer\", \"producer\"]\nrate = \"1 Mbit/s\"\n\
           corrupt = \"1 %\"\n\
           [[content]]\nname = \"/pushed\"\nat = \"producer\"\nsize = \"1 MB\"\n\
           signing = \"none\"\nproduction = \"in-order\"\n";
    let rejected = Plan::new(&scenario(&text), 1, Medium::default()).unwrap_err();
    let places: Vec<&str> = rejected.iter().map(|one| one.place.as_str()).collect();
    // Both directions of the link make copies.
    let copies = "link the middle-producer";
    let damage = "link consumer-producer";
    assert_eq!(places, [copies, copies, damage, damage, "content /pushed"]);
}

#[test]
fn flows_without_a_tool_run_as_applications() {
    assert!(!plan(LINE).has_applications);
    let text = LINE.to_owned()
        + "[[content]]\nname = \"/rate\"\nat = \"producer\"\nsize = \"1 MB\"\n\
           [[consumer]]\nat = \"consumer\"\nname = \"/rate\"\nrate = \"10 /s\"\n\
           [[consumer]]\nat = \"consumer\"\nname = \"/rate\"\ncontrol = \"cubic\"\n\
           [[content]]\nname = \"/slow\"\nat = \"producer\"\nsize = \"1 MB\"\n\
           signing = \"none\"\nservice_time = \"1 ms\"\n\
           [[consumer]]\nat = \"consumer\"\nname = \"/slow\"\ncontrol = \"cubic\"\n\
           [[content]]\nname = \"/many\"\nat = \"producer\"\nsize = \"1 MB\"\nobjects = 9\n\
           [[workload]]\nat = \"consumer\"\nname = \"/many\"\nrate = \"1 /s\"\n\
           control = \"cubic\"\n";
    let plan = plan(&text);
    assert!(plan.has_applications);
    let published: Vec<_> = plan.contents.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(published, ["/a/%22b%22"]);
    let left: Vec<_> = plan.unpublished.iter().map(ToString::to_string).collect();
    assert_eq!(left, ["/rate", "/slow", "/many"]);
    // It verifies its fetches.
    let fetches: Vec<_> = plan.fetches.iter().map(|fetch| fetch.consumer).collect();
    assert_eq!(fetches, [0, 2]);
}

#[test]
fn each_segment_that_lies_elsewhere_has_its_routes() {
    let text = LINE.replace(
        "at = \"producer\"\nsize = \"1 GB\"",
        "at = [\"producer\", \"consumer\"]\n\
        placement = \"segments\"\nsize = \"9000 B\"",
    );
    let plan = plan(&text);
    let routes = |node| read(&plan, node).routes.len();
    // Ten segments are at one of the two each, and the others lead there.
    let (at_consumer, at_producer) = (routes(0), routes(2));
    assert_eq!(at_consumer + at_producer, 10);
    assert!(at_consumer > 0 && at_producer > 0, "{at_consumer} {at_producer}");
}

#[test]
fn bursts_of_loss_are_those_of_the_scenario() {
    let bursts = "loss = { to_bad = \"1 %\", to_good = 0.25, bad = \"90 %\" }";
    let plan = plan(&LINE.replace("loss = \"1 %\"", bursts));
    let (to_bad, to_good, loss_good, loss_bad) = (0.01, 0.25, 0.0, 0.9);
    let model = control::LossModel::GilbertElliott { to_bad, to_good, loss_good, loss_bad };
    assert_eq!(read(&plan, 1).faces[1].link.emulation.loss, model);
}

#[test]
fn stores_in_packets_hold_packets() {
    let text = LINE.replace(
        "strategy = \"multicast\"",
        "strategy = \"multicast\"\ncontent_store = \"300 packets\"",
    );
    let plan = plan(&text);
    assert_eq!(read(&plan, 1).content_store.packets, 300);
    // Of 900 bytes and their overhead.
    assert_eq!(plan.nodes[1].store, 300 * 1900);
}

#[test]
fn the_slowest_link_of_the_way_decides_the_estimate() {
    let scenario = scenario(LINE);
    let plan = plan(LINE);
    let estimate = Estimate::of(&scenario, &plan);
    // 8 Mbit/s in packets of 1000 bytes are 1000 a second and as many Interests, over two links
    // and at both ends: 8000 times 20 us.
    assert!((estimate.cores - 0.16).abs() < 1e-9, "{}", estimate.cores);
    assert_eq!(estimate.applications, 0.0);
    assert_eq!(estimate.disk, Size(20_000_000));
    let machine = Machine { cores: 1, memory: Size(u64::MAX), disk: Size(20_000_000) };
    assert_eq!(estimate.beyond(&machine), None);
    let full = Machine { disk: Size(19_999_999), ..machine };
    assert!(estimate.beyond(&full).unwrap().contains("set TMPDIR"));
    let asks = Estimate { applications: 1.8, ..estimate };
    assert!(asks.beyond(&machine).unwrap().contains("ask for 50 %"));
    let fast = Estimate { cores: 9.0, ..estimate };
    assert!(fast.beyond(&machine).unwrap().contains("to 10 %"), "{:?}", fast.beyond(&machine));
}

#[test]
fn workloads_are_estimated_by_what_they_ask_for() {
    let text =
        LINE.replace("[[consumer]]", "[[workload]]").replace("control", "rate = \"5 /s\"\ncontrol");
    let text = text.replace("1 GB", "18 kB");
    let estimate = Estimate::of(&scenario(&text), &plan(&text));
    // 5 objects of 20 segments per second: 100 segments and as many Interests, over two links and
    // at both ends.
    assert!((estimate.cores - 800.0 * 20e-6).abs() < 1e-9, "{}", estimate.cores);
    assert!((estimate.applications - 400.0 * 20e-6).abs() < 1e-9);
}

#[test]
fn faces_leave_shaping_to_the_kernel() {
    let medium = Medium { shape: Shape::Kernel, mtu: 1500 };
    let text = LINE.replace("marker = \"codel\"\n", "");
    let plan = Plan::new(&scenario(&text), 7, medium).unwrap_or_else(|why| panic!("{why:?}"));
    let down = &read(&plan, 1).faces[1].link;
    assert_eq!((down.rate, down.overhead, down.queue), (None, None, None));
    assert_eq!((down.emulation.delay, down.mtu), (Duration::from_millis(5), Some(1472)));
    assert_eq!(plan.links[1].directions[0], (Rate::from_mbps(8), Queue::Packets(20)));
    // A marker observes only the queue of its face.
    let rejected = Plan::new(&scenario(LINE), 7, medium).unwrap_err();
    assert_eq!(rejected[0].place, "link the middle-producer");
    assert!(rejected[0].what.contains("--shape kernel"), "{rejected:?}");
}

#[test]
fn any_program_finds_any_node() {
    let plan = Plan::network(&scenario(LINE), 7, Medium::default()).unwrap();
    let ways: Vec<_> = plan.ip.iter().map(|way| (way.at, way.to, way.via)).collect();
    let [[a, b], [c, d]] = [0, 1].map(|link: usize| plan.links[link].addresses);
    assert_eq!(ways, [(1, 0, a), (2, 0, c), (0, 1, b), (2, 1, c), (0, 2, b), (1, 2, d)]);
    assert_eq!(plan.nodes[2].address, Ipv4Addr::new(10, 96, 0, 3));
    assert!(plan.contents.is_empty() && plan.fetches.is_empty());
}

#[test]
fn small_machines_are_daemons_with_little_memory() {
    let of = |more: &str| LINE.replace("strategy = \"multicast\"", more);
    let plan = plan(&of("memory = \"32 MB\"\ncpu = \"10 %\"\ncontent_store = \"16 MB\""));
    assert_eq!(read(&plan, 0).daemon.memory, Some(Size(32_000_000)));
    assert_eq!(plan.nodes[0].cpu, Ratio::new(0.1));
    // A configuration that a daemon would reject is reported before anything is built.
    let reject = |more| Plan::new(&scenario(&of(more)), 1, Medium::default()).unwrap_err();
    let rejected = reject("memory = \"32 MB\"\ncontent_store = \"64 MB\"");
    assert_eq!(rejected[0].place, "node consumer");
    assert!(rejected[0].what.contains("capacity"), "{rejected:?}");
    assert!(reject("memory = \"8 MB\"")[0].what.contains("too little"));
}
