//! Seeds draw scenarios; every rule holds in every run.
//!
//! `WEIR_SWARM_SEED=17 cargo test -p swarm --test swarm` runs one seed, makes it smaller if it
//! fails, and prints the smallest scenario that breaks the same rule. `WEIR_SWARM_SEEDS=500` runs
//! more seeds than usual.
#![allow(clippy::unwrap_used, reason = "a test")]

use control::Rng;
use swarm::domain::Domains;
use swarm::known::Known;
use swarm::rules::Rule;
use swarm::{draw, run, shrunk};

/// About a minute of one core in the profile of tests.
const SEEDS: u64 = 250;

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().and_then(|text| text.parse().ok())
}

#[test]
fn every_rule_holds_in_every_run() {
    let (domains, known) = (Domains::read().unwrap(), Known::read().unwrap());
    let seeds = match number("WEIR_SWARM_SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..number("WEIR_SWARM_SEEDS").unwrap_or(SEEDS),
    };
    let (mut runs, mut packets, mut in_domain, mut failed) = (0, 0, 0, Vec::new());
    for seed in seeds {
        let report = run(seed, &domains).unwrap();
        (runs, packets) = (runs + 1, packets + report.packets);
        in_domain += u64::from(report.in_domain);
        for breach in &report.breaches {
            let why = known.why(seed, breach);
            let note = why.map(|why| format!(" [known: {why}]")).unwrap_or_default();
            println!("seed {seed} ({}): {breach}{note}", report.schemes);
        }
        for entry in known.fixed(seed, &report.breaches) {
            println!("seed {seed} keeps {} now: take it off known.toml", entry.rule);
        }
        let new = report.breaches.iter().find(|breach| known.why(seed, breach).is_none());
        failed.extend(new.map(|breach| (report.plan.clone(), breach.clone())));
    }
    println!("scenarios: {runs}, in the domain of a scheme: {in_domain}, packets: {packets}");
    if let Some((plan, breach)) = failed.first() {
        let failure = shrunk(plan, breach, swarm::ATTEMPTS, &domains).unwrap();
        let seeds: Vec<u64> = failed.iter().map(|(plan, _)| plan.seed).collect();
        panic!("seeds {seeds:?} fail; the first one, made smaller:\n\n{}", failure.toml);
    }
}

/// Seeds by which campaigns found defects that are fixed, and the rules that they broke.
const FOUND: &[(u64, Rule)] = &[
    (6846, Rule::Interests),
    (27247, Rule::Interests),
    (93, Rule::DomainRepetition),
    (6347, Rule::DomainRepetition),
    (9614, Rule::DomainRepetition),
    (7274, Rule::DomainFalseLosses),
    (15244, Rule::DomainFalseLosses),
    (1884, Rule::FalseLosses),
    (32371, Rule::FalseLosses),
    (1443, Rule::Starves),
    (1708, Rule::Repetition),
    (6208, Rule::Repetition),
    (15773, Rule::Recovers),
];

#[test]
fn breaches_found_by_campaigns_are_fixed() {
    let domains = Domains::read().unwrap();
    for (seed, rule) in FOUND {
        let breaches = run(*seed, &domains).unwrap().breaches;
        let broken = breaches.iter().find(|breach| breach.rule == *rule);
        assert!(broken.is_none(), "seed {seed}: {}", broken.unwrap());
    }
}

/// From a broken rule to the file that is handed on, with runs in between.
#[test]
fn a_broken_promise_is_shrunk_to_a_file() {
    let mut domains = Domains::read().unwrap();
    for bounds in domains.scheme.values_mut().filter_map(|domain| domain.bounds.as_mut()) {
        // Nothing is a hundred times as fast as a fluid.
        (bounds.utilisation, bounds.startup_round_trips, bounds.startup_ms) = (100.0, 0.0, 0.0);
    }
    let reports = (0..).map(|seed| run(seed, &domains).unwrap());
    let mut several = reports.filter(|report| report.in_domain && report.plan.flows.len() > 1);
    let report = several.next().unwrap();
    let breach = &report.breaches[0];
    assert_eq!(breach.rule, Rule::DomainUtilisation);
    let failure = shrunk(&report.plan, breach, 40, &domains).unwrap();
    assert_eq!(failure.breach.rule, breach.rule);
    assert_eq!(failure.shrunk.plan.flows.len(), 1, "one flow is enough");
    let head = format!("# Broken rule: {}\n# Reason: {}\n", breach.rule, failure.breach.why);
    assert!(failure.toml.starts_with(&head), "{}", failure.toml);
    let batch = scenario::parse(&failure.toml, "swarm.toml", &[]);
    assert_eq!(batch.unwrap().runs[0].scenario.consumers.len(), 1);
}

#[test]
fn a_seed_is_a_plan_and_another_seed_another_one() {
    let domains = Domains::read().unwrap();
    let text = |seed| swarm::toml(&draw(seed, &domains), 1_000, &[]);
    for seed in 0..50 {
        assert_eq!(text(seed), text(seed));
        assert_ne!(text(seed), text(seed + 1).replace(&format!("{}", seed + 1), &seed.to_string()));
    }
}

/// Seeds of all sizes, not only the small ones of campaigns.
#[test]
fn weir_reads_whatever_is_drawn() {
    let domains = Domains::read().unwrap();
    let mut rng = Rng::stream(1, &["swarm", "seeds"]);
    for seed in (0..200).chain((0..200).map(|_| rng.next_u64() >> 1)) {
        let text = swarm::toml(&draw(seed, &domains), 60_000, &[]);
        let batch = scenario::parse(&text, "swarm.toml", &[]);
        let batch = batch.unwrap_or_else(|error| panic!("seed {seed}: {error}\n{text}"));
        assert_eq!(batch.runs[0].seed, seed);
    }
}
