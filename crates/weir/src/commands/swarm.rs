//! `weir swarm`

use crate::cli::swarm::SwarmArgs;
use crate::exit::{Failure, Kind};
use crate::file;
use crate::output;
use crate::signals::Stop;
use scenario::LARGEST_SEED;
use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::path::Path;
use swarm::domain::Domains;
use swarm::known::Known;
use swarm::rules::{Breach, Rule};
use swarm::{Report, SwarmError};

/// The sums of a campaign.
#[derive(Default)]
struct Sums {
    scenarios: u64,
    in_domain: u64,
    packets: u64,
    failed: u64,
    /// Scenarios with known defects only.
    known: u64,
    rules: BTreeMap<Rule, u64>,
}

/// Runs the command.
pub fn run(args: &SwarmArgs) -> Result<(), Failure> {
    let seeds = seeds(args)?;
    let domains = Domains::read().map_err(|error| Failure::new(Kind::Failed, error))?;
    let known = Known::read().map_err(|error| Failure::new(Kind::Failed, error))?;
    let stop = Stop::listen().map_err(|error| {
        Failure::new(Kind::Failed, format!("cannot listen to signals: {error}"))
    })?;
    if let Some(folder) = &args.out {
        std::fs::create_dir_all(folder).map_err(|error| unwritable(folder, &error))?;
    }
    let mut sums = Sums::default();
    for seed in seeds {
        if stop.requested() {
            say(args, &sums)?;
            let what = "interrupted; the sums cover the seeds that were run";
            return Err(Failure::new(Kind::Interrupted, what));
        }
        let report = swarm::run(seed, &domains).map_err(|error| broken(seed, &error))?;
        sums.add(&report, &known);
        for breach in first_of_each_rule(&report) {
            match known.why(seed, breach) {
                Some(why) if args.seed.is_none() => passed_over(args, &report, breach, why)?,
                _ => failed(args, &domains, &report, breach)?,
            }
        }
    }
    say(args, &sums)?;
    match sums.failed {
        0 => Ok(()),
        failed => {
            let what = format!("scenarios that break a rule: {failed} of {}", sums.scenarios);
            Err(Failure::new(Kind::Failed, what).then("repeat one with --seed K --shrink"))
        }
    }
}

/// The seeds to run. Scenario files have none beyond [`LARGEST_SEED`].
fn seeds(args: &SwarmArgs) -> Result<RangeInclusive<u64>, Failure> {
    if let Some(seed) = args.seed {
        return Ok(seed..=seed);
    }
    let last = args.from.checked_add(args.seeds.saturating_sub(1));
    let last = last.filter(|last| *last <= LARGEST_SEED).ok_or_else(|| {
        let (count, from) = (args.seeds, args.from);
        let message = format!("{count} seeds from {from} go beyond the largest, {LARGEST_SEED}");
        Failure::new(Kind::Usage, message).then("choose fewer with --seeds, or others with --from")
    })?;
    Ok(args.from..=last)
}

impl Sums {
    fn add(&mut self, report: &Report, known: &Known) {
        self.scenarios += 1;
        self.in_domain += u64::from(report.in_domain);
        self.packets += report.packets;
        let is_failed =
            report.breaches.iter().any(|breach| known.why(report.plan.seed, breach).is_none());
        self.failed += u64::from(is_failed);
        self.known += u64::from(!is_failed && !report.breaches.is_empty());
        for breach in first_of_each_rule(report) {
            *self.rules.entry(breach.rule).or_default() += 1;
        }
    }
}

fn first_of_each_rule(report: &Report) -> Vec<&Breach> {
    let mut firsts: BTreeMap<Rule, &Breach> = BTreeMap::new();
    for breach in &report.breaches {
        firsts.entry(breach.rule).or_insert(breach);
    }
    firsts.into_values().collect()
}

/// Shows a rule that a scenario breaks because of a known defect.
fn passed_over(
    args: &SwarmArgs,
    report: &Report,
    breach: &Breach,
    why: &str,
) -> Result<(), Failure> {
    if args.quiet {
        return Ok(());
    }
    let (seed, schemes) = (report.plan.seed, &report.schemes);
    output::result(&format!("seed {seed} ({schemes}): {breach} [known: {why}]"))
}

/// Shows and writes a scenario that breaks a rule.
fn failed(
    args: &SwarmArgs,
    domains: &Domains,
    report: &Report,
    breach: &Breach,
) -> Result<(), Failure> {
    let seed = report.plan.seed;
    if !args.quiet {
        output::result(&format!("seed {seed} ({}): {breach}", report.schemes))?;
    }
    if !args.shrink && args.out.is_none() {
        return Ok(());
    }
    let attempts = if args.shrink { swarm::ATTEMPTS } else { 0 };
    let failure = swarm::shrunk(&report.plan, breach, attempts, domains);
    let failure = failure.map_err(|error| broken(seed, &error))?;
    match &args.out {
        Some(folder) => {
            let path = folder.join(format!("swarm-{seed}-{}.toml", breach.rule));
            file::replace(&path, &failure.toml).map_err(|error| unwritable(&path, &error))?;
            if !args.quiet {
                output::result(&format!("  {}: {}", path.display(), failure.breach))?;
            }
            Ok(())
        }
        None => output::result(&failure.toml),
    }
}

fn say(args: &SwarmArgs, sums: &Sums) -> Result<(), Failure> {
    if args.quiet {
        return Ok(());
    }
    for (rule, count) in &sums.rules {
        output::result(&format!("{rule}: {count}"))?;
    }
    let Sums { scenarios, in_domain, packets, failed, known, .. } = sums;
    output::result(&format!(
        "scenarios: {scenarios}, in the domain of a scheme: {in_domain}, packets: {packets}, \
         failed: {failed}, known defects: {known}"
    ))
}

fn broken(seed: u64, error: &SwarmError) -> Failure {
    Failure::new(Kind::Failed, format!("seed {seed}: {error}"))
        .then("this is a mistake of the swarm, not of a scheme: report it with the seed")
}

fn unwritable(path: &Path, error: &std::io::Error) -> Failure {
    let what = format!("cannot write {}: {error}", path.display());
    Failure::new(Kind::File, what).then("choose another folder with --out")
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Swarm {
        #[command(flatten)]
        args: SwarmArgs,
    }

    fn seeds_of(line: &str) -> Option<RangeInclusive<u64>> {
        let parsed = Swarm::try_parse_from(["swarm"].into_iter().chain(line.split_whitespace()));
        seeds(&parsed.ok()?.args).ok()
    }

    #[test]
    fn seeds_that_no_scenario_has_are_rejected() {
        assert_eq!(seeds_of(""), Some(0..=99));
        assert_eq!(seeds_of("--seeds 3 --from 7"), Some(7..=9));
        assert_eq!(seeds_of("--seed 9223372036854775807"), Some(LARGEST_SEED..=LARGEST_SEED));
        let last = "--seeds 1 --from 9223372036854775807";
        assert_eq!(seeds_of(last), Some(LARGEST_SEED..=LARGEST_SEED));
        for rejected in [
            "--seed 9223372036854775808",
            "--seed 18446744073709551615",
            "--seeds 0",
            "--seeds 1 --from 18446744073709551615",
            "--seeds 3 --from 18446744073709551614",
            "--seeds 2 --from 9223372036854775807",
            "--seeds 18446744073709551615 --from 1",
        ] {
            assert_eq!(seeds_of(rejected), None, "{rejected}");
        }
    }
}
