//! ProbCache (I. Psaras, W. K. Chai and G. Pavlou, "Probabilistic in-network caching for
//! information-centric networks", ICN workshop of SIGCOMM 2012, pages 55 to 60).
//!
//! At the x-th of the c caches between the node that answered and the consumer (x is the Data's
//! TSB, time since birth, c the Interest's TSI, time since inception), a copy is left with
//! probability
//!
//! ```text
//! TimesIn(x) * CacheWeight(x) = (sum over i = 1 .. c - (x - 1) of N_i) / (T_tw * N_x) * x / c
//! ```
//!
//! where the sum is of the capacities from here to the consumer and T_tw is the target time window,
//! 10 in the paper. A later version of the authors ("In-network cache management and resource
//! allocation for information-centric networks", IEEE TPDS, 2014) raises x / c to the power of c:
//! that is the parameter `weight`.
//!
//! The formula, T_tw and the power were compared with two public implementations that follow the
//! papers (the simulator Icarus, and a reproduction of the paper of 2012), not with the papers.

use super::rule::CopyRule;
use super::way::Way;
use control::{Rng, math};

/// ProbCache with its parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ProbCache {
    /// The target time window; greater than zero.
    pub window: f64,
    /// The cache weight is raised to the power of c.
    pub power: bool,
}

impl Default for ProbCache {
    /// As in the paper of 2012.
    fn default() -> ProbCache {
        ProbCache { window: 10.0, power: false }
    }
}

impl ProbCache {
    fn probability(&self, way: &Way) -> f64 {
        let x = (way.passed.caches + 1) as f64;
        let c = (way.passed.caches + 1 + way.below.caches) as f64;
        let capacity = way.capacity.max(1) as f64;
        let times_in = (capacity + way.below.capacity as f64) / (self.window * capacity);
        let weight = if self.power { math::pow(x / c, c) } else { x / c };
        times_in * weight
    }
}

impl CopyRule for ProbCache {
    fn leaves_copy(&mut self, way: &Way, rng: &mut Rng) -> bool {
        rng.chance(self.probability(way))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::caching::{CachesBelow, CachesPassed};

    #[test]
    fn probabilities_along_a_way_by_hand() {
        // Three caches of 100 each, T_tw = 10: 3/10 * 1/3, 2/10 * 2/3, 1/10 * 3/3.
        let at = |x: u64, capacity, below| {
            let passed = CachesPassed { caches: x - 1, age: None };
            Way { passed, below: CachesBelow { caches: 3 - x, capacity: below }, capacity }
        };
        let ways = [at(1, 100, 200), at(2, 100, 100), at(3, 100, 0)];
        let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-12, "{a} {b}");
        let probabilities = ways.map(|way| ProbCache::default().probability(&way));
        probabilities.into_iter().zip([0.1, 0.4 / 3.0, 0.1]).for_each(|(a, b)| close(a, b));
        // A small cache above two large ones: (10 + 200) / (10 * 10) / 3.
        close(ProbCache::default().probability(&at(1, 10, 200)), 0.7);
        let later = ProbCache { power: true, ..ProbCache::default() };
        close(later.probability(&ways[1]), 0.2 * 8.0 / 27.0);
    }
}
