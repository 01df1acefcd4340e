//! The question of a report, and its answer in one sentence.

use crate::results::{Results, busiest, used};
use crate::text::{capital, digits, listed, mean_with_unit, way, with_unit};
use control::counted;
use scenario::Mean;
use scenario::result::{Combination, Flow, RunResult, Workload};
use scenario::series::class_label;
use std::collections::BTreeSet;

/// The scenario's name, or those of several.
pub fn name(results: &Results) -> String {
    let names: BTreeSet<&str> = results.runs().map(|run| run.id.scenario.as_str()).collect();
    listed(&names.into_iter().map(str::to_owned).collect::<Vec<_>>())
}

/// The scenario's question, or one made from its name and flows.
pub fn question(results: &Results) -> String {
    let own: BTreeSet<&str> = results.runs().map(|run| run.id.question.as_str()).collect();
    if let (1, Some(own)) = (own.len(), own.first().filter(|own| !own.is_empty())) {
        return (*own).to_owned();
    }
    let name = name(results);
    let Some(run) = results.runs().next() else { return name };
    match (results.groups.len(), run.flows.len()) {
        (1, 1) => format!("{name}: how does {} get its content?", run.flows[0].node),
        (1, 0) => name,
        (1, _) if !run.workloads.is_empty() => {
            format!("{name}: how do random requests perform?")
        }
        (1, n) => format!("{name}: how do {} share the network?", counted(n, "flow")),
        (n, _) => match &*results.keys {
            [] => format!("{name}: what is different in {n} results?"),
            [key] => format!("{name}: what does {key} change?"),
            keys => format!("{name}: what do {} change?", listed(keys)),
        },
    }
}

/// One sentence, and another one if runs are left out.
pub fn answer(results: &Results) -> String {
    let text = match &*results.groups {
        [] => "No run is complete.".to_owned(),
        [group] => match &*group.runs {
            [run] => of_run(run),
            _ => of_groups(results),
        },
        _ => of_groups(results),
    };
    match results.interrupted {
        0 => text,
        1 => format!("{text} One run was interrupted and is left out."),
        n => format!("{text} {n} runs were interrupted and are left out."),
    }
}

fn of_run(run: &RunResult) -> String {
    let by_hand: Vec<&Flow> = run.flows.iter().filter(|flow| flow.workload.is_none()).collect();
    let mut text = match (&*by_hand, &*run.workloads) {
        ([], []) => "No consumer requested anything".to_owned(),
        ([], classes) => demand(classes),
        ([flow], []) => one(flow),
        (flows, []) => several(flows, run.jain_index),
        ([flow], classes) => format!("{}; {}", one(flow), demand(classes)),
        (flows, classes) => format!("{}; {}", several(flows, None), demand(classes)),
    };
    if let Some(caching) = &run.caching
        && let Some(ratio) = caching.settled().hit_ratio
    {
        // A warm-up of zero length does not count.
        let was_cold = caching.warmup_detected && caching.warmup_end_s > 0.0;
        let after = if was_cold { " after the warm-up" } else { "" };
        let share = with_unit(ratio * 100.0, "%");
        text += &format!("; content stores gave {share} of all answers{after}");
    }
    if let Some(link) = busiest(run) {
        let share = with_unit(used(run, link) * 100.0, "%");
        let way = way(&link.from, &link.to);
        text += &format!("; {way} was used most, {share} of the time");
    }
    let lost: u64 = run.links.iter().map(|link| link.drops).sum();
    text += &match lost {
        0 => "; no packet was lost.".to_owned(),
        1 => "; one packet was lost.".to_owned(),
        n => format!("; {n} packets were lost."),
    };
    if run.interrupted {
        text += &format!(" It was interrupted after {} simulated.", with_unit(run.duration_s, "s"));
    }
    text
}

fn one(flow: &Flow) -> String {
    let size = with_unit(flow.bytes as f64 / 1e6, "MB");
    let rate = flow
        .goodput_mbps
        .map_or(String::new(), |mbps| format!(", {} on average", with_unit(mbps, "Mbit/s")));
    match flow.fct_s {
        Some(seconds) => format!(
            "{} brought {} ({size}) to {} in {}{rate}",
            flow.control,
            flow.name,
            flow.node,
            with_unit(seconds, "s")
        ),
        None => format!(
            "{} brought {size} of {} to {} and was not complete{rate}",
            flow.control, flow.name, flow.node
        ),
    }
}

/// The maximum number of classes by name.
const MOST_CLASSES: usize = 3;

/// The results of a workload's flows.
fn demand(classes: &[Workload]) -> String {
    let mut sentences = Vec::new();
    for class in classes.iter().take(MOST_CLASSES) {
        let Workload { started, completed, .. } = class;
        let name = class_label(&class.workload, &class.class);
        let mut one = format!("of {started} flows of {name} {completed} were complete");
        if let Some(median) = class.fct_p50_s {
            one += &format!(", half of these in {} or less", with_unit(median, "s"));
        }
        sentences.push(one);
    }
    if classes.len() > MOST_CLASSES {
        sentences.push(format!("and there are {} classes more", classes.len() - MOST_CLASSES));
    }
    capital(&sentences.join("; "))
}

fn several(flows: &[&Flow], jain: Option<f64>) -> String {
    let complete = flows.iter().filter(|flow| flow.complete).count();
    let mut text = match flows.len() - complete {
        0 if complete == 2 => "Both flows were complete".to_owned(),
        0 => format!("All {} flows were complete", flows.len()),
        _ => format!("{complete} of {} flows were complete", flows.len()),
    };
    let rates: Vec<f64> = flows.iter().map(|flow| flow.goodput_mbps.unwrap_or(0.0)).collect();
    if flows.len() <= 4 {
        let each: Vec<String> = flows
            .iter()
            .zip(&rates)
            .map(|(flow, rate)| format!("{} at {} {}", flow.control, flow.node, digits(*rate)))
            .collect();
        text += &format!("; goodput in Mbit/s: {}", listed(&each));
    } else {
        let least = rates.iter().copied().fold(f64::INFINITY, f64::min);
        let most = rates.iter().copied().fold(0.0, f64::max);
        text += &format!(", at {} to {} Mbit/s", digits(least), digits(most));
    }
    if let Some(jain) = jain {
        text += &format!(" (Jain index {jain:.2})");
    }
    text
}

fn of_groups(results: &Results) -> String {
    let rows = results.combinations.iter();
    let mut rows: Vec<(&str, Mean, &Combination)> =
        rows.filter_map(|(label, c)| Some((label.as_str(), c.goodput_mbps?, c))).collect();
    rows.sort_by(|a, b| b.1.mean.total_cmp(&a.1.mean));
    match &*rows {
        [] => "Nothing was brought.".to_owned(),
        [(_, mbps, c)] => {
            let runs = results.runs().count();
            let rate = mean_with_unit(*mbps, "Mbit/s");
            format!(
                "Over {} all flows together have {rate} on average; {}.",
                counted(runs, "run"),
                completion(c)
            )
        }
        [(_, best, _), .., (_, worst, _)] if digits(best.mean) == digits(worst.mean) => format!(
            "All {} combinations have the same goodput, {}{}.",
            rows.len(),
            with_unit(best.mean, "Mbit/s"),
            stored(results)
        ),
        [best, .., worst] => {
            let stored = stored(results);
            let apart = match best.1.overlaps(worst.1) {
                true => "; their intervals overlap, so that this may be chance",
                false => "",
            };
            let [best, worst] = [best, worst].map(|(label, mbps, c)| {
                let label = if label.is_empty() { "every seed" } else { label };
                format!("{label} ({}, {})", mean_with_unit(*mbps, "Mbit/s"), completion(c))
            });
            format!(
                "Of {} combinations {best} has the most goodput and {worst} the \
                 least{apart}{stored}.",
                rows.len()
            )
        }
    }
}

/// The number of flows that finished, and their times.
fn completion(c: &Combination) -> String {
    let (finished, least) = match (c.finished, c.flows) {
        (0, _) => return "no flow finished".to_owned(),
        (finished, flows) if finished == flows => ("all flows finished".to_owned(), ""),
        (finished, flows) => (format!("{finished} of {flows} flows finished"), "at least "),
    };
    match c.fct_s {
        Some(mean) => format!("{finished} in {least}{} on average", mean_with_unit(mean, "s")),
        None => finished,
    }
}

/// The combinations with most and fewest answers from content stores.
fn stored(results: &Results) -> String {
    let mut rows: Vec<(f64, &str)> = results
        .combinations
        .iter()
        .filter_map(|(label, c)| Some((c.hit_ratio?.mean * 100.0, label.as_str())))
        .collect();
    rows.sort_by(|a, b| b.0.total_cmp(&a.0));
    match &*rows {
        [(most, best), .., (least, worst)] => format!(
            "; stores gave {} of all answers with {best}, {} with {worst}",
            with_unit(*most, "%"),
            with_unit(*least, "%")
        ),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use scenario::result::RunId;

    /// The answer about two runs that brought this many bytes in a second each.
    fn of_two(bytes: [u64; 2]) -> String {
        let runs = bytes.map(|bytes| RunResult {
            id: RunId { settings: vec![("bytes".into(), bytes.to_string())], ..RunId::default() },
            flows: vec![Flow { bytes, end_s: Some(1.0), complete: true, ..Flow::default() }],
            duration_s: 1.0,
            ..RunResult::default()
        });
        let mut results = Results::of_runs(&[("", runs.to_vec())]);
        let groups = results.groups.iter();
        let summed = groups.map(|group| {
            let runs: Vec<&RunResult> = group.runs.iter().collect();
            (group.label.clone(), Combination::of(&[], &runs))
        });
        results.combinations = summed.collect();
        answer(&results)
    }

    #[test]
    fn equal_numbers_have_no_winner() {
        let equal = "All 2 combinations have the same goodput, 20.0 Mbit/s.";
        assert_eq!(of_two([2_500_000, 2_500_900]), equal);
        let different = of_two([2_500_000, 2_600_000]);
        assert!(different.starts_with("Of 2 combinations 2600000 (20.8 Mbit/s, no"), "{different}");
    }
}
