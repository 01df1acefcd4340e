//! Goodput, fairness and queues after the warm-up.

mod support;

use record::{FlowId, FlowSample, LinkId, LinkSample, Recorder};
use scenario::model::Scenario;
use scenario::result::{Flow, Link, Measures, Settled};
use scenario::{Watch, execute, parse};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use support::Patient;

const LINE: &str = "
    [scenario]
    duration = \"100 s\"
    [topology]
    generator = \"line\"
    rate = \"8 Mbit/s\"
    delay = \"5 ms\"
    queue = \"40 packets\"
    [[content]]
    name = \"/x\"
    at = \"n1\"
    size = \"1 GB\"
    segment = \"1000 B\"
    signing = \"none\"
    [[consumer]]
    at = \"n0\"
    name = \"/x\"
    control = \"cubic\"
";

fn scenario(more: &str) -> Arc<Scenario> {
    let batch = parse(&format!("{LINE}{more}"), "line.toml", &[]).unwrap_or_else(|e| panic!("{e}"));
    Arc::clone(&batch.runs[0].scenario)
}

fn second(number: u64) -> control::Time {
    control::Time(number * 1_000_000_000)
}

fn flow_sample(at: u64, flow: u32, bytes: u64) -> FlowSample {
    FlowSample {
        at: second(at),
        flow: FlowId(flow),
        window: None,
        in_flight: 0,
        bytes: control::Size(bytes),
        rtt: None,
        retransmissions: 0,
        video: None,
    }
}

fn link_sample(at: u64, bytes: u64) -> LinkSample {
    LinkSample {
        at: second(at),
        link: LinkId(0),
        backward: true,
        queue: record::Amount { packets: 1, bytes },
        bytes: 0,
        busy: control::Duration::ZERO,
        rate: Some(control::Rate::from_mbps(8)),
        drops: 0,
        counters: record::LinkCounters::default(),
    }
}

fn settled(scenario: &Scenario, measures: &Measures, flows: &[Flow]) -> (Settled, Vec<Link>) {
    let link = Link { rate_mbps: Some(8.0), ..Link::default() };
    let mut links = vec![link.clone(), link];
    (measures.settled(scenario, flows, 100.0, &mut links), links)
}

/// A second of 1 kB for 20 seconds, then of 1 MB; the queue holds its number of the second in kB.
fn slow_start(measures: &mut Measures) -> Vec<Flow> {
    let had = |at: u64| at.min(20) * 1_000 + at.saturating_sub(20) * 1_000_000;
    for at in 0..=100 {
        measures.flow(&flow_sample(at, 0, had(at)));
        measures.link(&link_sample(at, at * 1_000));
    }
    vec![Flow { bytes: had(100), ..Flow::default() }]
}

#[test]
fn samples_before_the_end_of_the_warm_up_do_not_count() {
    for (more, rule) in [("", "mser-5"), ("[record]\nwarmup = \"20 s\"", "given")] {
        let scenario = scenario(more);
        let mut measures = Measures::new(&scenario);
        let flows = slow_start(&mut measures);
        let (settled, links) = settled(&scenario, &measures, &flows);
        assert_eq!((&*settled.warmup_rule, settled.warmup_detected), (rule, true));
        assert_eq!((settled.from_s, settled.to_s), (20.0, 100.0));
        assert_eq!(settled.goodput_mbps, Some(8.0));
        assert_eq!(settled.jain_index, Some(1.0));
        // 81 samples from 20 to 100 kB: 60 kB on average, and 99 % have 100 kB or less. The link
        // sends a kB in a millisecond.
        assert_eq!(links[1].queue_p99_bytes, Some(100_000));
        assert_eq!(settled.queue_delay_p99_ms, Some(100.0));
        assert!((settled.queue_delay_mean_ms.unwrap() - 60.0).abs() < 1e-4, "{settled:?}");
        assert_eq!(links[0].queue_delay_mean_ms, Some(0.0), "the other direction was empty");
    }
}

#[test]
fn the_99th_percentile_has_one_sample_in_a_hundred_above_it() {
    let scenario = scenario("[record]\nwarmup = \"1 s\"");
    let mut measures = Measures::new(&scenario);
    for at in 0..=100 {
        measures.flow(&flow_sample(at, 0, at));
        measures.link(&link_sample(at, if at == 50 { 9_000 } else { 2_000 }));
    }
    let (_, links) = settled(&scenario, &measures, &[Flow { bytes: 100, ..Flow::default() }]);
    assert_eq!(links[1].queue_p99_bytes, Some(2_000));
}

#[test]
fn a_short_run_counts_as_a_whole() {
    let scenario = scenario("");
    let mut measures = Measures::new(&scenario);
    // Forty values are too few for ten batches of five.
    (0..=40).for_each(|at| measures.flow(&flow_sample(at, 0, at * 1_000)));
    let flows = [Flow { bytes: 40_000, end_s: Some(40.0), ..Flow::default() }];
    let settled = measures.settled(&scenario, &flows, 40.0, &mut []);
    assert!(!settled.warmup_detected);
    assert_eq!((settled.from_s, settled.goodput_mbps), (0.0, Some(0.008)));
    let late = crate::scenario("[record]\nwarmup = \"60 s\"");
    let settled = measures.settled(&late, &flows, 40.0, &mut []);
    assert!(!settled.warmup_detected, "the last flow ended before");
}

#[test]
fn shares_are_those_of_the_time_that_flows_ran() {
    let scenario =
        scenario("[[consumer]]\nat = \"n0\"\nname = \"/x\"\n[record]\nwarmup = \"20 s\"");
    let mut measures = Measures::new(&scenario);
    for at in 0..=100 {
        measures.flow(&flow_sample(at, 0, at * 300));
        if at <= 60 {
            measures.flow(&flow_sample(at, 1, at * 100));
        }
    }
    let first = Flow { bytes: 30_000, ..Flow::default() };
    let second = Flow { bytes: 6_000, end_s: Some(60.0), ..Flow::default() };
    let (result, _) = settled(&scenario, &measures, &[first, second]);
    // 300 and 100 bytes a second: (3 + 1)^2 / (2 (9 + 1)).
    assert_eq!(result.jain_index, Some(0.8));
    // 24,000 and 4,000 bytes in 80 s.
    assert!((result.goodput_mbps.unwrap() - 28_000.0 * 8e-6 / 80.0).abs() < 1e-12);
}

#[test]
fn many_samples_are_thinned() {
    let scenario = scenario("[record]\nwarmup = \"20 s\"");
    let mut measures = Measures::new(&scenario);
    let mut count = 0;
    while measures.due() <= second(100) {
        let at = measures.due();
        let bytes = at.0 / 1_000_000;
        measures.flow(&FlowSample { at, ..flow_sample(0, 0, bytes) });
        measures.link(&LinkSample { at, ..link_sample(0, 5_000) });
        count += 1;
    }
    assert!((2_000..20_000).contains(&count), "{count} samples");
    let (result, links) =
        settled(&scenario, &measures, &[Flow { bytes: 100_000, ..Flow::default() }]);
    // A kB each second.
    assert!((result.goodput_mbps.unwrap() - 0.008).abs() < 1e-6, "{result:?}");
    assert!((19.8..=20.0).contains(&result.from_s), "{result:?}");
    assert_eq!(links[1].queue_p99_bytes, Some(5_000));
}

/// A clock by which every step of a run takes so long that steps stay short.
struct Slow(AtomicU64);

impl Watch for Slow {
    fn seconds(&self) -> f64 {
        self.0.fetch_add(1, Relaxed) as f64 * 0.05
    }
}

#[test]
fn a_run_has_a_full_link_and_a_bounded_queue_however_it_is_watched() {
    let batch = parse(LINE, "line.toml", &["duration=20 s".to_owned()]).unwrap();
    let result = execute(&batch, 0, &Patient).unwrap();
    let settled = &result.settled;
    // MSER-5 takes no more than half of the series away.
    assert!(settled.warmup_detected && settled.from_s < 10.0, "{settled:?}");
    // The queue outlasts a cut of the window: it holds 40 ms, and CUBIC's window of 10 + 40 ms
    // falls to seven tenths, 35 ms, more than the path's 10 ms. So the link never idles, and the
    // headers of a segment, which are less than a tenth of it, are all that is missing.
    let goodput = settled.goodput_mbps.unwrap();
    assert!((8.0 / 1.1..8.0).contains(&goodput), "{settled:?}");
    // Forty packets of a kB and its headers, and no less than what the cut leaves of the longest
    // queue: 35 less 10 ms.
    let p99 = settled.queue_delay_p99_ms.unwrap();
    assert!((25.0..40.0 * 1.1).contains(&p99), "{settled:?}");
    assert!(settled.queue_delay_mean_ms.unwrap() < p99, "{settled:?}");
    let slow = execute(&batch, 0, &Slow(AtomicU64::new(0))).unwrap();
    assert_eq!((&slow.settled, &slow.links), (settled, &result.links));
}
