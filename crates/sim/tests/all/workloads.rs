//! Workloads, placement and video in whole runs.
#![allow(clippy::unwrap_used, reason = "a test")]

use crate::support::{Line, assert_conserved, at_ms, controller, line, ms, name, wire};
use control::{Duration, Rate, Time};
use packet::Name;
use sim::workload::catalogue::{Catalogue, Class, Objects, Spread};
use sim::workload::sizes::Distribution;
use sim::workload::video::{Adaptation, VideoSpec};
use sim::workload::{Listed, Manner, Requests, WorkloadSpec};
use sim::{Arrivals, NodeId, Outcome, Signing};
use std::sync::Arc;

const SECOND: u64 = 1_000_000_000;

fn class(name: &str, share: f64, size: u64) -> Class {
    Class { name: name.to_owned(), share, size: Distribution::Constant(size) }
}

fn catalogue(count: Option<u64>, classes: Vec<Class>) -> Arc<Catalogue> {
    let objects = Objects::Numbered { count, classes };
    Arc::new(Catalogue::new(1, name("/p"), 1000, objects))
}

fn fetch() -> Manner {
    Manner::Fetch {
        range: None,
        controller: Arc::new(|| controller("cubic")),
        label: "cubic".to_owned(),
        lifetime: ms(4000),
        patience: ms(5000),
    }
}

fn drawn(per_second: f64, arrivals: Arrivals) -> Requests {
    let (alpha, q, start) = (0.8, 0.0, Time::ZERO);
    Requests::Drawn { per_second, arrivals, alpha, q, start, stop: None, count: None }
}

/// A workload from the first node to objects at the last.
fn run(
    line: &mut Line,
    catalogue: &Arc<Catalogue>,
    requests: Requests,
    manner: Manner,
    seconds: u64,
) -> Outcome {
    let last = *line.nodes.last().unwrap();
    line.net.publish_catalogue(last, catalogue, 0).unwrap();
    line.net.workload(WorkloadSpec {
        name: "w".to_owned(),
        at: vec![line.nodes[0]],
        catalogues: vec![Arc::clone(catalogue)],
        requests,
        manner,
        duration: Duration::from_secs(seconds),
    });
    line.net.run(Time(seconds * SECOND))
}

#[test]
fn fetches_come_and_go_and_leave_nothing_but_their_records() {
    let mut line = line(1, 3, &wire(20, 2));
    line.net.list_flows(30);
    let catalogue = catalogue(Some(100), vec![class("", 1.0, 20_000)]);
    let outcome = run(&mut line, &catalogue, drawn(5.0, Arrivals::Poisson), fetch(), 100);
    let workload = &outcome.workloads[0];
    // Expected are 500, with a standard deviation of 22.
    assert!(workload.started.abs_diff(500) < 110, "{}", workload.started);
    let all = workload.classes[0].since(Time::ZERO);
    assert_eq!(all.completed + workload.running, workload.started);
    assert_eq!((all.failed, all.bytes), (0, all.completed * 20_000));
    assert_eq!((outcome.flows.len(), workload.unlisted), (30, workload.started - 30));
    assert!(
        outcome.flows.iter().all(|flow| flow.transfer.complete && flow.transfer.bytes == 20_000)
    );
    assert!(outcome.flows.iter().all(|flow| flow.workload == Some(0)));
    // A flow takes some 30 ms, so more than eight of the 500 at a time are very unlikely.
    assert!(line.net.applications() < 10, "{}", line.net.applications());
    // Metadata, manifest and segments take at least two round trips of 8 ms.
    let mean = all.times.mean().unwrap();
    assert!(mean > ms(16) && mean < ms(100), "{mean:?}");
    assert_conserved(&outcome);
}

#[test]
fn constant_arrivals_are_counted_out() {
    let catalogue = catalogue(None, vec![class("", 1.0, 1000)]);
    let mut line = line(1, 2, &wire(20, 2));
    let start = Time(SECOND);
    let requests = Requests::Drawn {
        per_second: 4.0,
        arrivals: Arrivals::Constant,
        alpha: 0.0,
        q: 0.0,
        start,
        stop: Some(Time(3 * SECOND)),
        count: None,
    };
    let outcome = run(&mut line, &catalogue, requests, fetch(), 5);
    let starts: Vec<u64> = outcome.flows.iter().map(|flow| flow.start.0 / 1_000_000).collect();
    assert_eq!(starts, [1000, 1250, 1500, 1750, 2000, 2250, 2500, 2750]);
    let names: Vec<&str> = outcome.flows.iter().map(|flow| flow.name.as_str()).collect();
    assert_eq!(names[..3], ["/p/0", "/p/1", "/p/2"], "a new object each time");
    assert!(line.net.is_over());
}

#[test]
fn mice_and_elephants_are_counted_separately() {
    let classes = vec![class("mice", 0.9, 5_000), class("elephants", 0.1, 200_000)];
    let catalogue = catalogue(None, classes);
    let mut line = line(3, 2, &wire(50, 2));
    let outcome = run(&mut line, &catalogue, drawn(10.0, Arrivals::Poisson), fetch(), 60);
    let [mice, elephants] = &outcome.workloads[0].classes[..] else { panic!("two classes") };
    assert_eq!([mice.name.as_str(), elephants.name.as_str()], ["mice", "elephants"]);
    let (mice, elephants) = (mice.since(Time::ZERO), elephants.since(Time::ZERO));
    assert!(mice.started > 5 * elephants.started && elephants.started > 20);
    assert_eq!(mice.bytes, mice.completed * 5_000);
    // 200 kB take at least 32 ms at 50 Mbit/s. Mice complete sooner.
    assert!(elephants.times.quantile(0.0).unwrap() >= ms(31));
    assert!(mice.times.quantile(0.5) < elephants.times.quantile(0.0));
}

#[test]
fn chunks_are_asked_for_by_popularity_and_once() {
    let objects = Objects::Numbered { count: Some(20), classes: vec![class("", 1.0, 3000)] };
    let catalogue = Catalogue::new(1, name("/p"), 1000, objects).signed(Signing::Unsigned);
    let catalogue = Arc::new(catalogue);
    let mut line = line(1, 2, &wire(20, 2));
    let manner = Manner::Chunk { lifetime: ms(1000) };
    let outcome = run(&mut line, &catalogue, drawn(200.0, Arrivals::Poisson), manner, 20);
    let flow = &outcome.flows[0];
    assert_eq!((flow.control.as_str(), flow.transfer.counters.retransmissions), ("chunks", 0));
    assert!(
        flow.transfer.counters.interests.abs_diff(4000) < 320,
        "{}",
        flow.transfer.counters.interests
    );
    assert_eq!(
        flow.transfer.counters.interests,
        flow.transfer.counters.data + flow.transfer.in_flight
    );
    assert_eq!(outcome.nodes[1].served, outcome.nodes[1].stats.sent.data);
    let all = outcome.workloads[0].classes[0].since(Time::ZERO);
    assert_eq!(
        (all.started, all.completed),
        (flow.transfer.counters.interests, flow.transfer.counters.data)
    );
    // A round trip of 4 ms, and two packets of some 1,050 bytes at 20 Mbit/s.
    let rtt = flow.transfer.rtt_mean.unwrap();
    assert!(rtt > ms(4) && rtt < ms(6), "{rtt:?}");
    assert_conserved(&outcome);
}

#[test]
fn fetches_of_objects_without_a_manifest_come_through() {
    for signing in [Signing::Digest, Signing::Unsigned] {
        let objects = Objects::Listed(vec![(name("/a"), 5500)]);
        let catalogue = Catalogue::new(1, name("/p"), 1000, objects).signed(signing);
        let mut line = line(1, 3, &wire(20, 2));
        let list = [Listed { at: Time::ZERO, node: line.nodes[0], catalogue: 0, object: 0 }];
        let requests = Requests::Listed(list.into());
        let outcome = run(&mut line, &Arc::new(catalogue), requests, fetch(), 2);
        let flow = &outcome.flows[0];
        // Metadata and six segments.
        assert!(
            flow.transfer.complete
                && (flow.transfer.bytes, flow.transfer.counters.data) == (5500, 7),
            "{flow:?}"
        );
    }
}

#[test]
fn listed_requests_come_when_they_are_listed() {
    let own = |uri: &str| uri.parse::<Name>().unwrap();
    let objects = Objects::Listed(vec![(own("/a"), 1500), (own("/b/c"), 700)]);
    let catalogue = Arc::new(Catalogue::new(1, name("/p"), 1000, objects));
    let mut line = line(1, 3, &wire(20, 2));
    let at = |time, node: NodeId, object| Listed { at: at_ms(time), node, catalogue: 0, object };
    let (a, b) = (line.nodes[0], line.nodes[1]);
    let list = [at(10, a, 1), at(500, b, 0), at(500, a, 0)];
    let outcome = run(&mut line, &catalogue, Requests::Listed(list.into()), fetch(), 2);
    let flows: Vec<_> = outcome
        .flows
        .iter()
        .map(|f| (f.node.as_str(), f.name.as_str(), f.start, f.transfer.bytes))
        .collect();
    let wanted = [
        ("n0", "/p/b/c", at_ms(10), 700),
        ("n1", "/p/a", at_ms(500), 1500),
        ("n0", "/p/a", at_ms(500), 1500),
    ];
    assert_eq!(flows, wanted);
}

/// Two producers at the ends of a line of three nodes. Returns the packets sent by each.
fn two_producers(spread: Spread) -> (Vec<u64>, Outcome) {
    let objects = Objects::Listed(vec![(name("/x"), 200_000)]);
    let catalogue = Catalogue::new(4, name("/p"), 1000, objects).spread(spread, 2);
    let catalogue = Arc::new(catalogue);
    let mut line = line(1, 3, &wire(20, 2));
    let (left, middle, right) = (line.nodes[0], line.nodes[1], line.nodes[2]);
    for (place, at) in [left, right].into_iter().enumerate() {
        line.net.publish_catalogue(at, &catalogue, place).unwrap();
    }
    if spread == Spread::Segments {
        for segment in 0..200 {
            let component = packet::Component::segment(segment);
            let versioned = name("/p/x").with(&packet::Component::version(1)).with(&component);
            if catalogue.producer_of(0, segment) == Some(0) {
                line.net.add_route(middle, &versioned, line.links[0], 0).unwrap();
            }
        }
    }
    let list = [Listed { at: Time::ZERO, node: middle, catalogue: 0, object: 0 }];
    line.net.workload(WorkloadSpec {
        name: "w".to_owned(),
        at: vec![middle],
        catalogues: vec![catalogue],
        requests: Requests::Listed(list.into()),
        manner: fetch(),
        duration: Duration::from_secs(5),
    });
    let outcome = line.net.run(Time(5 * SECOND));
    (outcome.nodes.iter().map(|node| node.served).collect(), outcome)
}

#[test]
fn segments_come_from_the_one_producer_that_has_them() {
    let (served, outcome) = two_producers(Spread::Segments);
    assert!(outcome.flows[0].transfer.complete, "{:?}", outcome.flows[0]);
    // 200 segments, a metadata packet and manifest nodes. Half of the segments are 100, with a
    // standard deviation of 7.
    assert_eq!(
        (served[1], served[0] + served[2]),
        (0, outcome.flows[0].transfer.counters.data),
        "{:?}",
        outcome.flows[0]
    );
    assert!(served[0].abs_diff(100) < 36, "{served:?}");
    assert_eq!(outcome.flows[0].transfer.counters.retransmissions, 0, "nobody was asked in vain");
    let (served, outcome) = two_producers(Spread::Replicated);
    assert!(outcome.flows[0].transfer.complete);
    assert_eq!(served[0], 0, "the route to the right is the only one");
}

fn video(ladder: &[u64], adaptation: Adaptation) -> VideoSpec {
    let (segment, segments) = (Duration::from_secs(2), 6);
    let sizes = ladder.iter().enumerate().flat_map(|(quality, kbps)| {
        (0..segments).map(move |n| (name(&format!("/{quality}/{n}")), kbps * 1000 / 8 * 2))
    });
    let objects = Objects::Listed(sizes.collect());
    VideoSpec {
        range: None,
        catalogue: Arc::new(Catalogue::new(1, name("/p"), 1000, objects)),
        ladder: ladder.iter().map(|kbps| Rate(kbps * 1000)).collect(),
        segment,
        segments,
        start: Time::ZERO,
        adaptation,
        buffer: Duration::from_secs(6),
        startup: Duration::from_secs(2),
        controller: Arc::new(|| controller("cubic")),
        label: "cubic".to_owned(),
        lifetime: ms(4000),
        patience: ms(30_000),
    }
}

fn watch(spec: VideoSpec, mbps_times_ten: u64) -> Outcome {
    let mut wire = wire(1, 1);
    wire.rate = Some(Rate(mbps_times_ten * 100_000));
    let mut line = line(1, 2, &wire);
    let last = line.nodes[1];
    line.net.publish_catalogue(last, &spec.catalogue, 0).unwrap();
    line.net.video(line.nodes[0], spec);
    line.net.run(Time(60 * SECOND))
}

#[test]
fn a_video_on_a_link_that_is_too_slow_stalls_as_long_as_it_must() {
    // Video of 1.5 Mbit/s over 1 Mbit/s: two seconds of video are 375 packets with 1000 bytes of
    // content, some 80 bytes of header, and 32 bytes of manifest each. They take 3.34 s, and the
    // first round trips a little more.
    let outcome = watch(video(&[1500], Adaptation::Fixed(0)), 10);
    let flow = &outcome.flows[0];
    let video = flow.video.unwrap();
    assert!(flow.transfer.complete && flow.transfer.bytes == 6 * 375_000, "{flow:?}");
    assert_eq!((video.stalls, video.segments, video.switches), (5, 6, 0));
    assert_eq!((video.played, video.bitrate), (Duration::from_secs(12), Some(1.5e6)));
    let startup = video.startup.unwrap().as_secs_f64();
    assert!((3.3..3.5).contains(&startup), "{startup}");
    // Time without playing is a stall. From the first picture on, the other segments take 5 times
    // as long as the startup.
    let end = flow.end.unwrap().as_secs_f64();
    let stalled = video.stalled.as_secs_f64();
    assert!((startup + 12.0 + stalled - end).abs() < 1e-6);
    assert!((stalled - 5.0 * (startup - 2.0)).abs() < 0.1, "{stalled}");
}

#[test]
fn rules_take_what_the_link_carries_and_no_more() {
    let buffer = Adaptation::Buffer { reservoir: ms(1000), cushion: ms(2000) };
    let outcome = watch(video(&[300, 900], buffer), 100);
    let watched = outcome.flows[0].video.unwrap();
    assert_eq!((watched.stalls, watched.switches, watched.segments), (0, 1, 6));
    assert!(watched.startup.unwrap() < ms(200));
    let rate = Adaptation::Rate { safety: 0.85, memory: 5 };
    let outcome = watch(video(&[300, 900, 5000], rate), 20);
    let watched = outcome.flows[0].video.unwrap();
    // The first segment has the lowest quality, the other five the middle one.
    assert_eq!((watched.stalls, watched.switches), (0, 1));
    assert_eq!(watched.bitrate, Some((300e3 + 5.0 * 900e3) / 6.0));
}

#[test]
fn equal_seeds_give_equal_runs() {
    let run_with = |seed| {
        let catalogue = catalogue(Some(50), vec![class("", 1.0, 8_000)]);
        let mut line = line(seed, 3, &wire(20, 2));
        run(&mut line, &catalogue, drawn(10.0, Arrivals::Poisson), fetch(), 10)
    };
    assert_eq!(run_with(1), run_with(1));
    assert_ne!(run_with(1).trace_hash, run_with(2).trace_hash);
}
