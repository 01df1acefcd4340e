//! Controllers over one bottleneck, in virtual time.
//!
//! `cargo run -p schemes --example bottleneck` prints a table for `bbr` and `cubic`; with
//! names of controllers, for those. With settings, it runs one situation in which all of them share
//! the link: `... --example bottleneck bbr cubic rate="50 Mbit/s" queue="200 kB" delay="25 ms"
//! loss="1 %" later="5 Mbit/s" marker=codel bucket="32 kB" wakeup="1 ms" segments=100000 gap="2 s"
//! until="40 s" seed=1 trace=1` (`later`: the rate after 5 s; `gap`: between the flows' starts;
//! `trace`: the flow whose events and gauges are printed).
#![allow(clippy::print_stdout, reason = "a table for a person is all that it does")]

#[path = "../tests/bottleneck/mod.rs"]
mod bottleneck;

use bottleneck::{Flow, Path, Report, run};
use control::{Duration, Time};
use std::str::FromStr;

const SEGMENTS: u64 = 2500;
const SEEDS: u64 = 5;
const MINUTE: Time = Time(60_000_000_000);

fn main() {
    let (mut controls, mut settings) = (Vec::new(), Vec::new());
    for argument in std::env::args().skip(1) {
        // A controller's parameters have an equals sign too, but behind a colon.
        match argument.split_once('=') {
            Some((key, value)) if !key.contains(':') => {
                settings.push((key.to_owned(), value.to_owned()));
            }
            _ => controls.push(&*argument.leak()),
        }
    }
    if controls.is_empty() {
        controls = vec!["bbr", "cubic"];
    }
    if settings.is_empty() { table(&controls) } else { one(&controls, &settings) }
}

fn table(controls: &[&'static str]) {
    println!("20 MB in segments of 8 kB, {SEEDS} seeds: the mean, and the worst in brackets");
    println!(
        "{:<12} {:>14} {:>8} {:>9} {:>6}  {:>21} {:>13} {:>9} {:>9}",
        "control",
        "rate Mbit/s",
        "queue kB",
        "delay ms",
        "loss %",
        "goodput Mbit/s",
        "again %",
        "overflows",
        "RTT ms"
    );
    for control in controls {
        for path in paths() {
            row(control, path);
        }
    }
}

fn paths() -> Vec<Path> {
    let mut paths = vec![Path::new(40, 150, 100, 0.0), Path::new(40, 1500, 100, 0.0)];
    for (rate, queue) in [(50, 200), (2000, 100_000)] {
        for one_way in [5_000, 25_000, 50_000] {
            for loss in [0.0, 1.0, 5.0] {
                paths.push(Path::new(rate, queue, one_way, loss));
            }
        }
    }
    paths
}

fn row(control: &'static str, path: Path) {
    let flow = Flow { control, segments: SEGMENTS, start: Time::ZERO };
    let reports: Vec<Report> = (0..SEEDS).map(|seed| run(path, &[flow], seed, MINUTE)).collect();
    let of = |f: &dyn Fn(&Report) -> f64| {
        let values: Vec<f64> = reports.iter().map(f).collect();
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let low = values.iter().copied().fold(f64::INFINITY, f64::min);
        let high = values.iter().copied().fold(0.0, f64::max);
        (mean, low, high)
    };
    let (mean, low, _) = of(&|r| r.flows[0].goodput(&path) / 1e6);
    let (again, _, most) = of(&|r| r.flows[0].again() * 100.0);
    let (overflows, ..) = of(&|r| r.overflows as f64);
    let (rtt, ..) = of(&|r| r.flows[0].rtt_mean.as_secs_f64() * 1e3);
    println!(
        "{:<12} {:>14} {:>8} {:>9} {:>6}  {:>12.1} ({:>6.1}) {:>5.1} ({:>5.1}) {:>9.1} {:>9.1}",
        control,
        path.rate.0 / 1_000_000,
        path.queue.0 / 1000,
        path.one_way.as_secs_f64() * 1e3,
        path.loss.get() * 100.0,
        mean,
        low,
        again,
        most,
        overflows,
        rtt,
    );
}

fn parse<T: FromStr>(key: &str, value: &str) -> T {
    value.parse().unwrap_or_else(|_| panic!("`{value}` is no value for `{key}`"))
}

fn one(controls: &[&'static str], settings: &[(String, String)]) {
    let mut path = Path::new(50, 200, 25_000, 0.0);
    let (mut segments, mut seed, mut trace) = (SEGMENTS, 1, 0usize);
    let (mut gap, mut until) = (Duration::from_secs(1), Duration::from_secs(60));
    for (key, value) in settings {
        match key.as_str() {
            "rate" => path.rate = parse(key, value),
            "queue" => path.queue = parse(key, value),
            "delay" => path.one_way = parse(key, value),
            "loss" => path.loss = parse(key, value),
            "bucket" => path.bucket = parse(key, value),
            "wakeup" => path.wakeup = parse(key, value),
            "marker" => path.marker = value.clone().leak(),
            "segments" => segments = parse(key, value),
            "later" => path.later = Some((Time::ZERO + Duration::from_secs(5), parse(key, value))),
            "gap" => gap = parse(key, value),
            "until" => until = parse(key, value),
            "seed" => seed = parse(key, value),
            "trace" => trace = parse(key, value),
            _ => panic!("there is no setting `{key}`; the head of this file lists them"),
        }
    }
    let start = |i: usize| Time(gap.0 * i as u64);
    let flows: Vec<Flow> = controls
        .iter()
        .enumerate()
        .map(|(i, control)| Flow { control, segments, start: start(i) })
        .collect();
    let report = run(path, &flows, seed, Time::ZERO + until);
    println!("overflows {}, longest queue {}", report.overflows, report.queue_max);
    for (flow, outcome) in flows.iter().zip(&report.flows) {
        println!("{}: {}", flow.control, outcome.line(&path));
        let rates = outcome.by_second.iter().map(|bytes| *bytes as f64 * 8e-6);
        let rates: Vec<_> = rates.map(|rate| format!("{rate:.1}")).collect();
        println!("  Mbit/s by second: {}", rates.join(" "));
    }
    if let Some(outcome) = trace.checked_sub(1).and_then(|i| report.flows.get(i)) {
        for (at, name, value) in &outcome.trace {
            println!("{:>12.6} {name:<16} {value:.1}", at.as_secs_f64());
        }
    }
}
