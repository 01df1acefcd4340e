//! Evaluates claims.

use crate::claim::{Assertion, Claim, Relation};
use crate::formula::Formula;
use crate::model::Experiment;
use crate::outcome::{ClaimResult, Measured, Published, Verdict};
use scenario::Mean;

/// The values of an experiment's measures: by case, seed and measure.
pub struct Values {
    /// For each case and each seed of a run, the measures in their order.
    pub cases: Vec<Vec<Option<Vec<Option<f64>>>>>,
}

impl Values {
    /// The values of a formula by seed.
    fn of(&self, formula: &Formula) -> Vec<Option<f64>> {
        let seeds = self.cases.iter().map(Vec::len).max().unwrap_or(0);
        (0..seeds)
            .map(|seed| {
                formula.value(|measure, case| {
                    let run = self.cases.get(case)?.get(seed)?.as_ref()?;
                    *run.get(measure)?
                })
            })
            .collect()
    }

    /// The mean of a measure in a case.
    pub fn mean(&self, measure: usize, case: usize) -> Option<Mean> {
        let runs = self.cases.get(case)?.iter().flatten();
        Mean::of(&runs.filter_map(|run| *run.get(measure)?).collect::<Vec<_>>())
    }
}

/// The result of a claim.
pub fn judge(experiment: &Experiment, claim: &Claim, values: &Values) -> ClaimResult {
    let is_number = matches!(claim.assertion, Assertion::Number { .. });
    let result = ClaimResult {
        id: claim.id.clone(),
        experiment: experiment.name.clone(),
        kind: claim.kind,
        what: claim.what.clone(),
        place: claim.place.clone(),
        published: Published::Order(String::new()),
        unit: None,
        measured: Measured::One(None),
        ci95: Measured::One(None),
        tolerance: None,
        reason: claim.reason.clone(),
        verdict: Verdict {
            judged: !(is_number && experiment.is_shortened),
            explanation: claim.deviation.as_ref().map(|known| known.heading.clone()),
            ..Verdict::default()
        },
        failure: None,
    };
    let mut result = held_against(&claim.assertion, values, result);
    let known = claim.deviation.as_ref().filter(|_| result.verdict.judged && !result.verdict.holds);
    if let Some(known) = known {
        let found = known.found.as_ref();
        let again = found.map(|found| held_against(found, values, result.clone()));
        match again.filter(|again| !again.verdict.holds) {
            Some(changed) => {
                let was = changed.cells().published;
                result.failure.get_or_insert(format!("before, {was} was found"));
            }
            None => {
                (result.verdict.explained, result.verdict.off) =
                    (known.is_explained, !known.is_explained)
            }
        }
    }
    result
}

/// The claim's result with that of an assertion.
fn held_against(assertion: &Assertion, values: &Values, mut result: ClaimResult) -> ClaimResult {
    match assertion {
        Assertion::Number { measured, published, tolerance } => {
            let found = values.of(measured);
            let mean = whole(&found);
            let allowed = tolerance.allowed(published.value);
            result.published = Published::Number(published.value);
            result.unit = Some(published.unit.clone());
            result.measured = Measured::One(mean.map(|mean| mean.mean));
            result.ci95 = Measured::One(mean.and_then(|mean| mean.ci95));
            result.tolerance = Some(allowed);
            // A difference exactly at the limit must not depend on rounding.
            let slack = 1e-9 * published.value.abs().max(1.0);
            result.verdict.holds =
                mean.is_some_and(|mean| (mean.mean - published.value).abs() <= allowed + slack);
            result.failure = missing(&[found]);
        }
        Assertion::Order { text, terms, relations, tolerance } => {
            let found: Vec<Vec<Option<f64>>> = terms.iter().map(|term| values.of(term)).collect();
            let means: Vec<Option<Mean>> = found.iter().map(|values| whole(values)).collect();
            let halves = means.iter().map(|mean| mean.and_then(|mean| mean.ci95)).collect();
            let means = means.iter().map(|mean| mean.map(|mean| mean.mean)).collect();
            result.published = Published::Order(text.clone());
            result.measured = Measured::Terms(means);
            result.ci95 = Measured::Terms(halves);
            let is_loose = relations.contains(&Relation::About);
            result.tolerance = is_loose.then_some(*tolerance);
            let pairs = found.windows(2).zip(relations);
            result.verdict.holds =
                pairs.into_iter().all(|(pair, relation)| holds(pair, *relation, *tolerance));
            result.failure = missing(&found);
        }
    }
    result
}

/// The mean; `None` if a seed has no value: the remaining ones might be the easy ones.
fn whole(values: &[Option<f64>]) -> Option<Mean> {
    let all: Option<Vec<f64>> = values.iter().copied().collect();
    Mean::of(&all?)
}

fn missing(terms: &[Vec<Option<f64>>]) -> Option<String> {
    let seeds = terms.iter().map(Vec::len).max().unwrap_or(0);
    let without = (0..seeds)
        .filter(|seed| !terms.iter().all(|term| term.get(*seed).is_some_and(Option::is_some)))
        .count();
    match (seeds, without) {
        (0, _) => Some("nothing was run".to_owned()),
        (_, 0) => None,
        (all, n) if all == n => Some("no run has a value".to_owned()),
        (all, n) => Some(format!("{n} of {all} seeds have no value")),
    }
}

/// Returns `true` if two terms have this relation: over the pairs of one seed, with 95 % confidence
/// if there are several.
fn holds(pair: &[Vec<Option<f64>>], relation: Relation, tolerance: f64) -> bool {
    let [first, second] = pair else { return false };
    let both: Option<Vec<(f64, f64)>> =
        first.iter().zip(second).map(|(a, b)| Some(((*a)?, (*b)?))).collect();
    let Some(both) = both else { return false };
    let differences: Vec<f64> = both.iter().map(|(a, b)| a - b).collect();
    let Some(difference) = Mean::of(&differences) else { return false };
    let half = difference.ci95.unwrap_or(0.0);
    match relation {
        Relation::Greater => difference.mean - half > 0.0,
        Relation::Less => difference.mean + half < 0.0,
        Relation::About => {
            let first = both.iter().map(|pair| pair.0).sum::<f64>().abs();
            let second = both.iter().map(|pair| pair.1).sum::<f64>().abs();
            let larger = first.max(second) / both.len() as f64;
            difference.mean.abs() <= tolerance * larger
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(first: &[f64], second: &[f64]) -> [Vec<Option<f64>>; 2] {
        [first, second].map(|values| values.iter().copied().map(Some).collect())
    }

    #[test]
    fn an_order_needs_more_than_a_difference_of_means() {
        let is = |a: &[f64], b: &[f64], relation| holds(&pair(a, b), relation, 0.1);
        // Differences 1, 1.1, 0.9: 1 ± 0.25.
        assert!(is(&[2.0, 3.1, 3.9], &[1.0, 2.0, 3.0], Relation::Greater));
        // 3, -1, 1: 1 ± 4.97, which has zero in it.
        assert!(!is(&[4.0, 1.0, 4.0], &[1.0, 2.0, 3.0], Relation::Greater));
        assert!(is(&[1.0], &[2.0], Relation::Less), "one seed");
        assert!(!is(&[2.0, 2.0], &[2.0, 2.0], Relation::Less));
        assert!(is(&[9.1], &[10.0], Relation::About) && !is(&[8.9], &[10.0], Relation::About));
        assert!(!is(&[], &[], Relation::About), "nothing was run");
    }

    #[test]
    fn claims_with_missing_values_do_not_hold() {
        let [first, mut second] = pair(&[2.0, 2.0], &[1.0, 1.0]);
        assert!(holds(&[first.clone(), second.clone()], Relation::Greater, 0.0));
        second[1] = None;
        assert!(!holds(&[first.clone(), second.clone()], Relation::Greater, 0.0));
        assert_eq!(
            missing(&[first.clone(), second]).as_deref(),
            Some("1 of 2 seeds have no value")
        );
        assert_eq!(missing(&[first]), None);
        assert_eq!(missing(&[]).as_deref(), Some("nothing was run"));
        assert_eq!(whole(&[Some(1.0), None]), None);
    }
}
