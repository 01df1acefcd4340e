//! Cells that were run one by one, as one outcome.

use crate::model::Arena;
use crate::outcome::{CellOutcome, Outcome};
use crate::wanted::verdicts;
use std::collections::BTreeMap;

impl Outcome {
    /// With the cells of an earlier outcome that were not run now, in the order of the whole arena,
    /// whose figures are judged if all cells are there. An outcome with other schemes, seeds or
    /// another version of the program cannot be compared, and adds nothing.
    #[must_use]
    pub fn joined(mut self, earlier: Outcome, whole: &Arena) -> Outcome {
        let own = (&self.version, self.seeds, &self.schemes, self.is_quick);
        if own != (&earlier.version, earlier.seeds, &earlier.schemes, earlier.is_quick) {
            return self;
        }
        let kept = earlier
            .cells
            .into_iter()
            .filter(|cell| !self.cells.iter().any(|c| c.cell == cell.cell));
        let kept: Vec<CellOutcome> = kept.collect();
        self.cells.extend(kept);
        let places: BTreeMap<&str, usize> =
            whole.cells.iter().enumerate().map(|(place, cell)| (&*cell.name, place)).collect();
        self.cells.retain(|cell| places.contains_key(&*cell.cell));
        self.cells.sort_by_key(|cell| places[&*cell.cell]);
        let (sum, more) = (&mut self.effort, earlier.effort);
        sum.runs += more.runs;
        sum.wall_s += more.wall_s;
        sum.cpu_s += more.cpu_s;
        sum.simulated_s += more.simulated_s;
        sum.packet_hops += more.packet_hops;
        if self.cells.len() == whole.cells.len() {
            self.wanted = verdicts(whole, &self);
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::tests::{cell, outcome};

    #[test]
    fn cells_of_an_earlier_outcome_are_kept() {
        let whole = crate::wanted::tests::arena(&["x", "y"]);
        let first = outcome(vec![cell("y", &[("a", 0.5), ("b", 1.0)])], &["a", "b"]);
        let again = outcome(vec![cell("x", &[("a", 1.0), ("b", 0.9)])], &["a", "b"]);
        let joined = again.clone().joined(first.clone(), &whole);
        let names = |all: &Outcome| all.cells.iter().map(|c| c.cell.clone()).collect::<Vec<_>>();
        assert_eq!(names(&joined), ["x", "y"]);
        assert_eq!(joined.wanted[0].found, Some(0.25));
        // A cell that is run again replaces the earlier one.
        let other = outcome(vec![cell("y", &[("a", 0.9), ("b", 1.0)])], &["a", "b"]);
        let joined = other.joined(joined, &whole);
        assert!((joined.mean_regret("a") - 0.05).abs() < 1e-4);
        // Other schemes cannot be compared.
        let alone = outcome(vec![cell("x", &[("a", 1.0)])], &["a"]).joined(first, &whole);
        assert_eq!((names(&alone), alone.wanted.len()), (vec!["x".to_owned()], 0));
    }
}
