//! Workloads and caching from the file to the result.
#![allow(clippy::unwrap_used, reason = "a test")]

use scenario::result::RunResult;
use scenario::{Watch, execute, load};
use std::path::Path;

struct Still;

impl Watch for Still {
    fn seconds(&self) -> f64 {
        0.0
    }
}

fn run(file: &str, settings: &[&str]) -> RunResult {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios").join(file);
    let settings: Vec<String> = settings.iter().map(|s| (*s).to_owned()).collect();
    let batch = load(&path, &settings).unwrap_or_else(|e| panic!("{e}"));
    execute(&batch, 0, &Still).unwrap()
}

#[test]
fn repeated_requests_of_a_trace_are_served_by_the_store() {
    let result = run("workloads/trace.toml", &[]);
    assert_eq!(result.flows.len(), 9);
    assert!(result.flows.iter().all(|flow| flow.complete && flow.workload.is_some()));
    let sizes: Vec<u64> = result.flows.iter().map(|flow| flow.bytes).collect();
    // In the order of time; what the trace gives no size has 30 kB.
    let film = 1_500_000;
    assert_eq!(sizes, [20_000, 4_000, 60_000, 20_000, 60_000, film, film, 30_000, 30_000]);
    let [workload] = &result.workloads[..] else { panic!("one workload of one class") };
    assert_eq!((workload.started, workload.completed, workload.unlisted), (9, 9, 0));
    assert_eq!(workload.bytes, sizes.iter().sum::<u64>());
    // Everything but the style sheet is fetched twice, and the second time from the store.
    let caching = result.caching.unwrap();
    let edge = result.nodes.iter().find(|node| node.node == "edge").unwrap();
    assert_eq!((caching.whole.hits, caching.nodes.len()), (edge.cs_hits, 1));
    let origin = result.nodes.iter().find(|node| node.node == "origin").unwrap();
    assert_eq!(caching.whole.served, origin.served);
    // For the style sheet, of one segment, the origin answers a window of four: metadata, a head,
    // and twice that there is no such head.
    assert!(caching.whole.hits + 4 >= origin.served && caching.whole.hits < origin.served);
}

#[test]
fn results_after_the_warm_up_stand_apart() {
    let settings = ["caching.admission=lcd", "caching.warmup=20 s", "scenario.duration=60 s"];
    let result = run("caching/copies.toml", &settings);
    let caching = result.caching.unwrap();
    let (before, after) = (&caching.before, &caching.after);
    assert_eq!((caching.warmup_rule.as_str(), caching.warmup_end_s), ("given", 20.0));
    assert_eq!(before.hits + after.hits, caching.whole.hits);
    assert_eq!(before.served + after.served, caching.whole.served);
    assert!(after.hit_ratio > before.hit_ratio, "{caching:?}");
    let [workload] = &result.workloads[..] else { panic!("one") };
    // 200 a second; two thirds of the time is after the warm-up. Five standard deviations.
    assert!(workload.started.abs_diff(12_000) < 550, "{}", workload.started);
    assert!(workload.warm_started.abs_diff(8_000) < 450, "{}", workload.warm_started);
    assert_eq!(caching.nodes.len(), 5);
}

/// Where the run is too short to tell the end of the warm-up, what nodes have is of all of it.
#[test]
fn nodes_have_their_hits_where_no_warm_up_ends() {
    // Forty requests, less than the fifty values that the rule needs.
    let settings = ["caching.admission=lce", "scenario.duration=200 ms"];
    let caching = run("caching/copies.toml", &settings).caching.unwrap();
    assert!(!caching.warmup_detected && caching.whole.hits > 0, "{caching:?}");
    assert_eq!(caching.nodes.iter().map(|node| node.hits).sum::<u64>(), caching.whole.hits);
}

#[test]
fn equal_seeds_give_equal_results_and_others_do_not() {
    let result = |seed: &str| {
        let settings = ["scenario.duration=10 s", seed];
        run("workloads/poisson-zipf.toml", &settings)
    };
    assert_eq!(result("seed=3"), result("seed=3"));
    assert_ne!(result("seed=3").trace_hash, result("seed=4").trace_hash);
}
