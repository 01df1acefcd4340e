//! The wanted figures, judged as they are written.

use crate::model::{Arena, Figure, Verdict, Wanted};
use crate::outcome::{CellOutcome, Entry, Outcome};

/// A value, and the cell that it is from.
type Found = (f64, Option<String>);

/// Judges all.
#[must_use]
pub fn verdicts(arena: &Arena, outcome: &Outcome) -> Vec<Verdict> {
    arena.wanted.iter().map(|wanted| verdict(wanted, arena, outcome)).collect()
}

fn verdict(wanted: &Wanted, arena: &Arena, outcome: &Outcome) -> Verdict {
    let found = find(wanted, arena, outcome);
    let value = found.as_ref().map(|(value, _)| *value);
    let figure = wanted.figure;
    let bound = match (wanted.at_most, wanted.at_least) {
        (Some(most), _) => format!("at most {}", shown(figure, most)),
        (None, Some(least)) => format!("at least {}", shown(figure, least)),
        (None, None) => String::new(),
    };
    let is_hit = value.is_some_and(|value| {
        wanted.at_most.is_none_or(|most| value <= most)
            && wanted.at_least.is_none_or(|least| value >= least)
    });
    Verdict {
        name: wanted.name.clone(),
        what: wanted.what.clone(),
        bound,
        found: value,
        shown: value.map_or_else(|| "no measurement".to_owned(), |value| shown(figure, value)),
        cell: found.and_then(|(_, cell)| cell),
        cells: counting(wanted, arena).count(),
        is_hit,
    }
}

fn shown(figure: Figure, value: f64) -> String {
    match figure {
        Figure::NextBest => format!("{value:.1} times"),
        Figure::SlowestShort | Figure::MostDelay => format!("{value:.2} times"),
        _ => format!("{:.1} %", value * 100.0),
    }
}

/// The cells that count for a figure: all of them for a figure over regrets.
fn counting<'a>(wanted: &'a Wanted, arena: &'a Arena) -> impl Iterator<Item = &'a str> {
    let is_over_all =
        matches!(wanted.figure, Figure::MeanRegret | Figure::WorstRegret | Figure::NextBest);
    arena
        .cells
        .iter()
        .filter(move |cell| is_over_all || cell.counts_for.contains(&wanted.name))
        .map(|cell| &*cell.name)
}

fn find(wanted: &Wanted, arena: &Arena, outcome: &Outcome) -> Option<Found> {
    let judged = &*outcome.judged;
    let names: Vec<&str> = counting(wanted, arena).collect();
    match wanted.figure {
        Figure::MeanRegret => Some((outcome.mean_regret(judged), None)),
        Figure::WorstRegret => {
            outcome.worst(judged).map(|(cell, regret)| (regret, Some(cell.cell.clone())))
        }
        Figure::NextBest => {
            let others = outcome.schemes.iter().filter(|scheme| *scheme != judged);
            let least = others.map(|scheme| outcome.mean_regret(scheme)).reduce(f64::min)?;
            let own = outcome.mean_regret(judged);
            Some((if own > 0.0 { least / own } else { f64::INFINITY }, None))
        }
        Figure::LeastShare => {
            let (value, cell) =
                most(outcome, &names, |_, entry| entry.mean.share.map(|share| -share))?;
            Some((-value, cell))
        }
        Figure::MostDelay => most(outcome, &names, |cell, entry| {
            let free = cell.limits.free_delay_ms;
            entry.mean.delay_p99_ms.filter(|_| free > 0.0).map(|delay| delay / free)
        }),
        Figure::MostUnfair => most(outcome, &names, |_, entry| entry.unfair_most),
        Figure::SlowestShort => most(outcome, &names, |_, entry| entry.mean.slowdown),
    }
}

/// Of the cells with these names, the one where the judged scheme has the largest value. One
/// without a value leaves the figure unknown.
fn most(
    outcome: &Outcome,
    names: &[&str],
    value: impl Fn(&CellOutcome, &Entry) -> Option<f64>,
) -> Option<Found> {
    let mut all: Vec<(f64, &str)> = Vec::new();
    for cell in outcome.cells.iter().filter(|cell| names.contains(&&*cell.cell)) {
        all.push((value(cell, cell.of(&outcome.judged)?)?, &cell.cell));
    }
    let (largest, cell) = all.into_iter().max_by(|a, b| a.0.total_cmp(&b.0))?;
    Some((largest, Some(cell.to_owned())))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::model::Cell;
    use crate::outcome::tests::{cell, outcome};

    fn wanted(figure: Figure, at_most: Option<f64>, at_least: Option<f64>) -> Wanted {
        Wanted { name: "w".to_owned(), what: String::new(), figure, at_most, at_least }
    }

    /// An arena that wants a mean regret of at most 30 %.
    pub fn arena(cells: &[&str]) -> Arena {
        wanting(cells, wanted(Figure::MeanRegret, Some(0.3), None))
    }

    fn wanting(cells: &[&str], wanted: Wanted) -> Arena {
        let text =
            "name = \"x\"\ntitle = \"\"\ngroup = \"\"\nfile = \"\"\nmeasures = [\"share\"]\n";
        let one = |name: &&str| {
            let cell: Cell = toml::from_str(text).unwrap();
            Cell { name: (*name).to_owned(), counts_for: vec!["w".to_owned()], ..cell }
        };
        Arena {
            name: String::new(),
            folder: ".".into(),
            readme: String::new(),
            title: String::new(),
            judged: "a".to_owned(),
            seeds: 1,
            cells: cells.iter().map(one).collect(),
            schemes: Vec::new(),
            wanted: vec![wanted],
            is_quick: false,
        }
    }

    #[test]
    fn the_next_best_is_counted_in_regrets_of_the_judged() {
        let cells = vec![cell("x", &[("a", 0.98), ("b", 0.8), ("c", 1.0)])];
        let found = outcome(cells, &["a", "b", "c"]);
        let five = wanted(Figure::NextBest, None, Some(5.0));
        let verdict = &verdicts(&wanting(&["x"], five), &found)[0];
        // c has no regret at all.
        assert_eq!((verdict.found, verdict.is_hit), (Some(0.0), false));
        let cells =
            vec![cell("x", &[("a", 0.98), ("b", 0.8)]), cell("y", &[("a", 0.9), ("b", 1.0)])];
        let found = outcome(cells, &["a", "b"]);
        let most = wanted(Figure::WorstRegret, Some(0.1), None);
        let verdict = &verdicts(&wanting(&["x"], most), &found)[0];
        assert_eq!((verdict.cell.as_deref(), verdict.is_hit), (Some("y"), true));
        assert_eq!((&*verdict.bound, verdict.cells), ("at most 10.0 %", 1));
    }

    #[test]
    fn the_worst_of_the_cells_that_count_is_judged() {
        let mut cells =
            vec![cell("x", &[("a", 1.0)]), cell("y", &[("a", 1.0)]), cell("z", &[("a", 1.0)])];
        for (cell, share) in cells.iter_mut().zip([0.98, 0.96, 0.5]) {
            cell.entries[0].mean.share = Some(share);
        }
        let least = || wanted(Figure::LeastShare, None, Some(0.97));
        let mut found = outcome(cells, &["a"]);
        let verdict = &verdicts(&wanting(&["x", "y"], least()), &found)[0];
        assert_eq!((verdict.found, verdict.cell.as_deref()), (Some(0.96), Some("y")));
        assert!(!verdict.is_hit);
        assert!(verdicts(&wanting(&["x"], least()), &found)[0].is_hit);
        found.cells[0].entries[0].mean.share = None;
        let verdict = &verdicts(&wanting(&["x", "y"], least()), &found)[0];
        assert_eq!((verdict.found, verdict.is_hit), (None, false));
    }
}
