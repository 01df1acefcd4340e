//! Scenarios are run, and what comes out is what has to.

use scenario::result::columns::COMBINATIONS;
use scenario::result::{Combination, Flow, RunResult, SweepResult};
use scenario::series::{Row, Rows};
use scenario::{
    Batch, LARGEST_SEED, OnHashing, Progress, Watch, execute_all, execute_rest, load, parse,
};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

/// A watch without a clock, which says no when a run has come so far.
struct Until(u64);

impl Watch for Until {
    fn seconds(&self) -> f64 {
        0.0
    }

    fn progress(&self, progress: Progress) -> bool {
        progress.now.0 < self.0
    }
}

fn all(batch: &Batch, jobs: usize) -> Vec<RunResult> {
    execute_all(batch, jobs, &Until(u64::MAX)).expect("it can be built")
}

fn tutorial_file() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/tutorial/three-hops.toml")
}

fn tutorial(settings: &[&str]) -> Batch {
    let file = tutorial_file();
    let settings: Vec<String> = settings.iter().map(|s| (*s).to_owned()).collect();
    load(&file, &settings).unwrap_or_else(|e| panic!("{e}"))
}

/// The invariants of every run that was not cut short by crashes.
fn assert_conserved(result: &RunResult) {
    for link in &result.links {
        let accounted = link.bytes + link.dropped_bytes + link.queued_bytes;
        assert_eq!(link.offered_bytes, accounted, "{} to {}", link.from, link.to);
        assert!((0.0..=1.0).contains(&link.utilization), "{link:?}");
    }
    for node in &result.nodes {
        let interests = &node.interests;
        let ended = interests.satisfied + interests.nacked + interests.expired + node.pending;
        // Every Interest was answered by the store, joined a pending one, or began one.
        assert_eq!(node.interests_in, node.cs_hits + interests.aggregated + ended, "{node:?}");
    }
    for flow in &result.flows {
        assert!(flow.bytes <= flow.counters.data * 8800, "{flow:?}");
        assert!(flow.counters.data <= flow.counters.interests, "{flow:?}");
    }
}

/// The names in an object, in their order.
fn names(value: &Value) -> Vec<&str> {
    let names = value.as_object().into_iter().flatten();
    names.map(|(name, _)| name.as_str()).collect()
}

#[test]
fn the_result_has_the_names_that_were_promised() {
    let result = serde_json::to_value(&all(&tutorial(&[]), 1)[0]).unwrap();
    let promised = [
        (
            &result,
            "scenario seed duration_s wall_s events packet_hops flows links nodes jain_index \
             trace_hash",
        ),
        (
            &result["flows"][0],
            "node name control start_s end_s bytes goodput_mbps fct_s timeouts false_losses \
             nacks retransmissions marks window_mean window_stdev rtt_mean_ms rtt_p99_ms \
             delivery_ratio complete",
        ),
        (
            &result["links"][0],
            "from to utilization queue_mean_bytes queue_stdev_bytes queue_max_bytes drops marked \
             interests data nacks bytes",
        ),
        (&result["nodes"][0], "node cs_hits cs_misses pit_max interests_in data_out"),
    ];
    for (object, wanted) in promised {
        let there = names(object);
        for name in wanted.split_whitespace() {
            assert!(there.contains(&name), "{name} is not in {there:?}");
        }
    }
}

#[test]
fn three_hops_bring_what_was_asked_for() {
    let results = all(&tutorial(&[]), 1);
    let result = &results[0];
    assert_conserved(result);
    let value = serde_json::to_value(result).unwrap();
    let pick = |object: &Value, fields: &[&str]| {
        fields.iter().map(|f| ((*f).to_owned(), object[*f].clone())).collect::<Value>()
    };
    let fields = ["scenario", "seed", "duration_s", "interrupted", "jain_index"];
    assert_eq!(
        pick(&value, &fields),
        json!({"scenario": "three-hops", "seed": 1, "duration_s": 10.0, "interrupted": false,
               "jain_index": 1.0})
    );
    // 2000 segments of 1000 bytes; their digests of 32 bytes fill 9 leaves and the root of the
    // manifest's tree; one packet of metadata says the version.
    let fields = ["node", "name", "control", "start_s", "bytes", "data", "complete", "nacks"];
    assert_eq!(
        pick(&value["flows"][0], &fields),
        json!({"node": "consumer", "name": "/example/film", "control": "cubic", "start_s": 0.0,
               "bytes": 2_000_000, "data": 2010, "complete": true, "nacks": 0})
    );
    // The narrowest link takes 0.8 s for the content alone, and 24 ms is the shortest round trip.
    let flow = &result.flows[0];
    assert!(flow.fct_s.unwrap() > 0.824 && flow.goodput_mbps.unwrap() < 20.0, "{flow:?}");
    assert!(flow.rtt_mean_ms.unwrap() > 24.0 && flow.delivery_ratio == Some(1.0), "{flow:?}");
    let ends: Vec<_> = result.links.iter().map(|l| format!("{} {}", l.from, l.to)).collect();
    let wanted =
        ["consumer near", "near consumer", "near far", "far near", "far producer", "producer far"];
    assert_eq!(ends, wanted);
    // Data that is dropped is dropped where the way becomes narrow: in front of the middle link.
    for (i, link) in result.links.iter().enumerate() {
        assert!(i == 3 || link.drops == 0, "{link:?}");
        assert!(link.queue_max_bytes <= if i == 3 { 50 * 8800 } else { 100 * 8800 }, "{link:?}");
    }
    let consumer = &result.nodes[0];
    assert_eq!((consumer.data_out, consumer.cs_hits), (2010, 0));
}

#[test]
fn a_constant_rate_beyond_the_link_loses_what_does_not_fit() {
    // 4600 segments of 1000 bytes a second are 36.8 Mbit/s of content, and the link has 20.
    let text = r#"
        [scenario]
        duration = "2 s"
        [[node]]
        name = ["a", "b"]
        [[link]]
        between = ["a", "b"]
        rate = "20 Mbit/s"
        delay = "1 ms"
        [[content]]
        name = "/x"
        at = "b"
        size = "100 MB"
        segment = "1000 B"
        [[consumer]]
        at = "a"
        name = "/x"
        rate = "4600 /s"
        stop = "2 s"
    "#;
    let results = all(&parse(text, "x.toml", &[]).unwrap(), 1);
    assert_conserved(&results[0]);
    let (flow, down) = (&results[0].flows[0], &results[0].links[1]);
    assert_eq!((flow.counters.interests, flow.control.as_str()), (9200, "constant-rate"));
    assert!(down.utilization > 0.97, "{down:?}");
    // When the run ends, one packet is being sent and 1 ms of 20 Mbit/s, two packets and a half, is
    // on the wire.
    assert!(down.data - flow.counters.data <= 4, "{flow:?} {down:?}");
    assert!(flow.goodput_mbps.unwrap() < 20.0 && down.drops > 3000, "{flow:?} {down:?}");
    let producer = &results[0].nodes[1];
    assert_eq!(producer.dropped, format!("data-queue-full {}", down.drops));
    assert_eq!(producer.malformed_options, "");
}

#[test]
fn equal_seeds_give_equal_results_however_many_run_at_a_time() {
    let settings = ["link.near-far.loss=2 %"];
    let sweep = "[sweep]\ncontrol = [\"cubic\", \"aimd\"]\nrepetitions = 3\n";
    let text = std::fs::read_to_string(tutorial_file()).unwrap() + sweep;
    let batch = parse(&text, "x.toml", &settings.map(str::to_owned)).unwrap();
    let [one, four] = [1, 4].map(|jobs| all(&batch, jobs));
    assert_eq!(one, four);
    let hashes: BTreeSet<_> = one.iter().map(|r| &r.trace_hash).collect();
    assert_eq!(hashes.len(), 6, "other seeds and schemes are other runs");
    let sum = SweepResult::new("x", 3, one);
    assert_eq!(sum.combinations.len(), 2);
    assert!(sum.combinations.iter().all(|c| c.fct_s.is_some_and(|m| m.n == 3 && m.ci95.is_some())));
}

#[test]
fn repetitions_have_seeds_that_can_be_given_again() {
    let text = std::fs::read_to_string(tutorial_file()).unwrap() + "[sweep]\nrepetitions = 2\n";
    let with = |seed: u64| parse(&text, "x.toml", &[format!("scenario.seed={seed}")]);
    let most = LARGEST_SEED;
    let seeds: Vec<u64> = with(most - 1).unwrap().runs.iter().map(|run| run.seed).collect();
    assert_eq!(seeds, [most - 1, most]);
    let rejected = with(most).unwrap_err().to_string();
    assert!(rejected.contains("go beyond the largest, 9223372036854775807"), "{rejected}");
}

/// A run of 10 s with a flow for each pair of a beginning and, if it finished, a completion time.
fn run_of(flows: &[(f64, Option<f64>)]) -> RunResult {
    let flow = |(start_s, fct_s): &(f64, Option<f64>)| Flow {
        start_s: *start_s,
        end_s: fct_s.map(|took| start_s + took),
        fct_s: *fct_s,
        complete: fct_s.is_some(),
        ..Flow::default()
    };
    let flows = flows.iter().map(flow).collect();
    RunResult { duration_s: 10.0, flows, ..RunResult::default() }
}

#[test]
fn a_flow_that_does_not_finish_counts_with_the_time_that_it_had() {
    let counted = |runs: &[&RunResult]| {
        let c = Combination::of(&[], runs);
        (c.finished, c.flows, c.fct_s.map(|mean| mean.mean))
    };
    let all = run_of(&[(0.0, Some(2.0)), (1.0, Some(4.0))]);
    assert_eq!(counted(&[&all]), (2, 2, Some(3.0)));
    // At least 9 s of the second, which began after 1 s.
    let one = run_of(&[(0.0, Some(2.0)), (1.0, None)]);
    assert_eq!(counted(&[&one]), (1, 2, Some(5.5)));
    assert_eq!(counted(&[&run_of(&[(0.0, None)])]), (0, 1, None));
    assert_eq!(counted(&[&all, &one]), (3, 4, Some(4.25)));
    let [whole, bound] = [&all, &one].map(|run| Combination::of(&[], &[run]));
    let cell = |c| {
        let fct = COMBINATIONS.iter().find(|column| column.field == "fct_s");
        fct.map(|column| column.cell(c))
    };
    assert_eq!([&whole, &bound].map(cell), [Some("3.00".to_owned()), Some("≥ 5.50".to_owned())]);
}

#[test]
fn runs_that_were_interrupted_are_not_averaged_with_others() {
    let whole = run_of(&[(0.0, Some(2.0))]);
    let cut = RunResult { duration_s: 1.0, interrupted: true, ..run_of(&[(0.0, None)]) };
    let c = Combination::of(&[], &[&whole, &cut]);
    assert_eq!((c.interrupted, c.finished, c.flows), (1, 1, 1));
    assert_eq!(c.fct_s.map(|mean| (mean.mean, mean.n)), Some((2.0, 1)));
    assert_eq!(Combination::of(&[], &[&cut]).drops, None);
}

/// Ends every run behind the given number of looks.
struct Looks(AtomicU32);

impl Watch for Looks {
    fn seconds(&self) -> f64 {
        0.0
    }

    fn progress(&self, _progress: Progress) -> bool {
        self.0.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(1)).is_ok()
    }
}

#[test]
fn a_sweep_that_was_interrupted_anywhere_is_completed_to_the_same_results() {
    let text = format!(
        "{}[sweep]\ncontrol = [\"cubic\", \"aimd\"]\nrepetitions = 2\n",
        std::fs::read_to_string(tutorial_file()).unwrap()
    );
    let batch = parse(&text, "x.toml", &["duration=1 s".to_owned()]).unwrap();
    let whole = all(&batch, 1);
    // A run is looked at some 210 times.
    for looks in [0, 1, 150, 300, 500, 800] {
        let cut = execute_all(&batch, 2, &Looks(looks.into())).unwrap();
        assert!(cut.iter().any(|run| run.interrupted), "after {looks} looks");
        let done = cut.into_iter().enumerate().filter(|(_, run)| !run.interrupted).collect();
        let rest = execute_rest(&batch, 2, &Until(u64::MAX), done).unwrap();
        assert_eq!(rest, whole, "after {looks} looks");
    }
    // Nothing is done, and what lies behind a gap is not kept.
    let done = [(0, whole[0].clone()), (3, whole[3].clone())].into();
    let none = execute_rest(&batch, 1, &Looks(0.into()), done).unwrap();
    assert_eq!(none.iter().map(|run| run.interrupted).collect::<Vec<_>>(), [false, true]);
}

#[test]
fn a_stopped_run_keeps_its_results() {
    let batch = tutorial(&[]);
    let results = execute_all(&batch, 1, &Until(500_000_000)).unwrap();
    let result = &results[0];
    assert!(result.interrupted && (0.5..0.6).contains(&result.duration_s), "{result:?}");
    assert!(result.flows[0].bytes > 0 && !result.flows[0].complete);
    assert_eq!(result.flows[0].end_s, None);
    assert_conserved(result);
}

/// A clock by which the first looks take a second each, so that the next ones come sooner.
struct Slow(AtomicU32, AtomicU32);

impl Watch for Slow {
    fn seconds(&self) -> f64 {
        f64::from(self.0.fetch_add(1, Relaxed).min(10))
    }

    fn progress(&self, _: Progress) -> bool {
        self.1.fetch_add(1, Relaxed);
        true
    }
}

#[test]
fn how_often_it_is_looked_at_does_not_change_a_run() {
    let batch = tutorial(&["duration=2 s"]);
    let (slow, quick) = (Slow(0.into(), 0.into()), Slow(99.into(), 0.into()));
    let [mut often, seldom] =
        [&slow, &quick].map(|watch| execute_all(&batch, 1, watch).unwrap().remove(0));
    assert!(slow.1.into_inner() > quick.1.into_inner());
    assert_eq!((often.wall_s, seldom.wall_s), (10.0, 0.0));
    often.wall_s = 0.0;
    assert_eq!(often, seldom);
}

#[test]
fn a_network_heals_as_the_faults_say() {
    let broken = "[[fault]]\nat = \"200 ms\"\nkind = \"link-down\"\nlink = [\"near\", \"far\"]\n";
    let fixed = "[[fault]]\nat = \"1 s\"\nkind = \"link-up\"\nlink = [\"far\", \"near\"]\n";
    let file =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/tutorial/three-hops.toml");
    let text = std::fs::read_to_string(file).unwrap();
    let done = |faults: &str| {
        let batch = parse(&(text.clone() + faults), "x.toml", &[]).unwrap();
        all(&batch, 1).remove(0)
    };
    let down = done(broken);
    assert!(!down.flows[0].complete && down.links[3].drops > 0, "{:?}", down.flows[0]);
    let up = done(&(broken.to_owned() + fixed));
    assert!(up.flows[0].complete && up.flows[0].fct_s > Some(1.0), "{:?}", up.flows[0]);
}

/// Rows as text, and how many there were.
#[derive(Clone, Default)]
struct Kept(Arc<Mutex<Vec<(f64, String, f64)>>>);

impl Rows for Kept {
    fn row(&mut self, row: &Row<'_>) {
        let what = format!("{} {} {}", row.subject.as_str(), row.entity, row.quantity);
        self.0.lock().expect("nobody panics with it").push((row.time_s, what, row.value));
    }
}

impl Watch for Kept {
    fn seconds(&self) -> f64 {
        0.0
    }

    fn rows(&self, _run: usize) -> Option<Box<dyn Rows>> {
        Some(Box::new(self.clone()))
    }
}

#[test]
fn samples_are_taken_as_configured_and_change_nothing() {
    let mut batch = tutorial(&["record.interval=100 ms", "record.nodes=none"]);
    let text = batch.runs[0].filled.to_string() + "links = [[\"far\", \"near\"]]\n";
    let text = text.replace("links = \"all\"\n", "");
    batch = parse(&text, "x.toml", &[]).unwrap_or_else(|e| panic!("{e}"));
    let kept = Kept::default();
    let seen = execute_all(&batch, 1, &kept).expect("it can be built").remove(0);
    assert_eq!(seen, all(&batch, 1).remove(0));

    let rows = kept.0.lock().unwrap().clone();
    assert!(rows.is_sorted_by_key(|(time, ..)| *time));
    let of = |what: &str| -> Vec<(f64, f64)> {
        let rows = rows.iter().filter(|(_, w, _)| w == what);
        rows.map(|(time, _, value)| (*time, *value)).collect()
    };
    let subjects: BTreeSet<&str> =
        rows.iter().map(|(_, what, _)| what.rsplit_once(' ').unwrap().0).collect();
    let wanted = ["flow consumer /example/film", "link far > near", "link near > far"];
    assert!(subjects.into_iter().eq(wanted));
    // From 0 to 10 s; what needs a sample before it has one less.
    assert_eq!(of("link far > near queue_bytes").len(), 101);
    let sent = of("link far > near throughput_mbps");
    assert_eq!((sent.len(), sent[0].0), (100, 0.1));
    // The total sent is the sum over all intervals.
    let bytes: f64 = sent.iter().map(|(_, mbps)| mbps * 0.1 / 8e-6).sum();
    let link = seen.links.iter().find(|link| link.from == "far" && link.to == "near").unwrap();
    assert!((bytes - link.bytes as f64).abs() < 1.0, "{bytes} {}", link.bytes);
    let used = of("link far > near utilization");
    let mean = used.iter().map(|(_, share)| share).sum::<f64>() / used.len() as f64;
    assert!((mean - link.utilization).abs() < 1e-9, "{mean} {}", link.utilization);
    assert!(used.iter().any(|(_, share)| *share > 0.99), "the narrowest link was full");
    let window = of("flow consumer /example/film window");
    let flow = &seen.flows[0];
    assert!(window.iter().all(|(time, _)| *time <= flow.end_s.unwrap()), "{window:?}");
    assert!(window.len() >= 8, "{window:?}");
}

/// A watch whose clock goes on by a second at each look, and which ends the run at once.
struct Ended(AtomicU32);

impl Watch for Ended {
    fn seconds(&self) -> f64 {
        f64::from(self.0.fetch_add(1, Relaxed))
    }

    fn progress(&self, _progress: Progress) -> bool {
        false
    }

    fn hashing(&self, _run: usize) -> Option<OnHashing> {
        Some(Box::new(|_| false))
    }
}

#[test]
fn a_run_ends_at_once_however_much_happens_in_a_short_time() {
    // In the first span of simulated time, five seconds, thousands of fetches begin.
    let text = "[scenario]\nduration = \"1000000 s\"\n\
                [[node]]\nname = \"a\"\n[[node]]\nname = \"b\"\n\
                [[link]]\nbetween = [\"a\", \"b\"]\nrate = \"10 Mbit/s\"\ndelay = \"5 ms\"\n\
                [[content]]\nname = \"/x\"\nat = \"b\"\nsize = \"1 MB\"\nobjects = 1000\n\
                [[workload]]\nat = \"a\"\nname = \"/x\"\nrate = \"1000 /s\"\n";
    let batch = parse(text, "t.toml", &[]).unwrap_or_else(|e| panic!("{e}"));
    let results = execute_all(&batch, 1, &Ended(AtomicU32::new(0))).expect("it can be built");
    assert!(results[0].interrupted);
    assert!(results[0].events < 10_000, "{}", results[0].events);
    // The hashing of an object that is larger than any disk.
    let text = text.replace("1 MB", "1000000000000000000 B");
    let batch = parse(&text, "t.toml", &[]).unwrap_or_else(|e| panic!("{e}"));
    let results = execute_all(&batch, 1, &Ended(AtomicU32::new(0))).expect("it can be built");
    assert!(results[0].interrupted);
}
