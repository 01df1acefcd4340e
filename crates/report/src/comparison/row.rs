//! Differences as people read them, in a terminal and on a page.

use super::Comparison;
use super::case::Case;
use super::difference::Difference;
use crate::text::{digits, mean_count, signed, with_sign};
use scenario::Mean;
use scenario::result::columns::{Head, head};

/// A difference as people read it.
#[derive(Clone, Debug, PartialEq)]
pub struct DifferenceRow {
    /// The quantity with its unit.
    pub label: &'static str,
    /// First, its ±, second, its ±, difference, its ±, in per cent, its ±; empty without a value.
    pub cells: [String; 8],
    /// `*` for a difference beyond the tolerance, followed by the number of runs with a value if
    /// not all have one.
    pub mark: String,
}

/// The name of an item above its quantities.
#[must_use]
pub fn entity_text(kind: &str, entity: &str) -> String {
    match kind {
        "network" => "everything together".to_owned(),
        "node" => format!("node {entity}"),
        _ => entity.to_owned(),
    }
}

impl Difference {
    /// As people read it; `None` if no table shows such a field.
    #[must_use]
    pub fn row(&self) -> Option<DifferenceRow> {
        let head = head(self.kind, self.quantity)?;
        let means = [self.first, self.second, self.difference];
        let [first, second] = [self.first, self.second]
            .map(|mean| mean.map_or_else(|| "-".to_owned(), |mean| number(mean, head)));
        let [first_half, second_half, apart_half] = means.map(|mean| {
            let half = mean.and_then(|mean| mean.ci95);
            half.map_or_else(String::new, |half| digits(half * head.factor))
        });
        let apart = self.difference.map(|mean| with_sign(mean.mean, number(mean, head)));
        let share = self.share.map(|share| signed(share * 100.0));
        let share_ci95 = self.share_ci95.map(|half| digits(half * 100.0));
        Some(DifferenceRow {
            label: head.long,
            cells: [
                first,
                first_half,
                second,
                second_half,
                apart.unwrap_or_else(|| "-".to_owned()),
                apart_half,
                share.unwrap_or_else(|| "-".to_owned()),
                share_ci95.unwrap_or_default(),
            ],
            mark: match (self.missing, self.beyond) {
                (true, _) => {
                    let [first, second] = [self.first, self.second].map(|m| m.map_or(0, |m| m.n));
                    format!("* in {first} and {second} runs")
                }
                (false, true) => "*".to_owned(),
                (false, false) => String::new(),
            },
        })
    }

    /// The difference in a few words.
    #[must_use]
    pub fn how_far(&self) -> String {
        match self.share {
            _ if self.missing => "not in all runs of both".to_owned(),
            Some(share) => format!("{} %", signed(share * 100.0)),
            None => "from nothing".to_owned(),
        }
    }

    /// The compared quantity: `c /film: completion (s)`.
    #[must_use]
    pub fn name(&self) -> String {
        let label = head(self.kind, self.quantity).map_or(self.quantity, |head| head.long);
        // Without the unit, because the value is a share.
        let label = label.split(" (").next().unwrap_or(label);
        match self.kind {
            "network" => format!("{label} of everything together"),
            _ => format!("{label} of {}", entity_text(self.kind, &self.entity)),
        }
    }

    /// Returns `true` if one of the sides has a visible value.
    fn is_something(&self) -> bool {
        let means = [self.first, self.second];
        self.beyond || means.iter().flatten().any(|mean| mean.mean.abs() > self.resolution)
    }

    /// The short selection: deciding quantities, those of the whole network, and differences beyond
    /// the tolerance (for flows, all that terminals show; for nodes, the answers of their stores;
    /// for others, the terminals' first columns). With several cases, only deciding quantities that
    /// differ.
    fn is_first(&self, is_alone: bool) -> bool {
        let rank = head(self.kind, self.quantity).and_then(|head| head.rank);
        let is_wanted = match self.kind {
            "network" => return rank.is_some(),
            _ if !is_alone => self.main,
            "flow" => rank.is_some(),
            "node" => self.quantity == "cs_hits",
            _ => rank.is_some_and(|rank| rank < 2),
        };
        is_wanted && self.beyond || is_alone && self.main
    }
}

fn number(mean: Mean, head: Head) -> String {
    let mean = mean.times(head.factor);
    if head.is_count { mean_count(mean) } else { digits(mean.mean) }
}

impl Comparison {
    /// The short selection of a case.
    pub fn first_of<'c>(&self, case: &'c Case) -> impl Iterator<Item = &'c Difference> {
        let is_alone = self.cases.len() == 1;
        case.differences.iter().filter(move |one| one.is_something() && one.is_first(is_alone))
    }
}

impl Case {
    /// The quantities in tables, of all items with a visible value.
    pub fn all(&self) -> impl Iterator<Item = &Difference> {
        self.differences.iter().filter(|one| one.is_something() && one.row().is_some())
    }
}
