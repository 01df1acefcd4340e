//! The popularity of the objects of a catalogue.

use control::{Rng, math};
use std::sync::Arc;

/// The Zipf-Mandelbrot law over the ranks 1 to N (B. Mandelbrot, "An informational theory of the
/// statistical structure of language", 1953). Rank k is requested with probability
///
/// ```text
/// p(k) = (k + q)^-alpha / sum over i = 1..N of (i + q)^-alpha
/// ```
///
/// With q = 0 it is Zipf's law. With alpha = 0 all objects are equally popular.
#[derive(Clone, Debug)]
pub struct Popularity {
    /// The cumulative probability, by rank.
    cumulative: Arc<[f64]>,
}

impl Popularity {
    /// The law over `objects` ranks, at least one; `alpha` and `q` must not be negative.
    #[must_use]
    pub fn new(objects: u64, alpha: f64, q: f64) -> Popularity {
        let mut sum = 0.0;
        let mut cumulative: Vec<f64> = (1..=objects)
            .map(|rank| {
                sum += math::pow(rank as f64 + q, -alpha);
                sum
            })
            .collect();
        cumulative.iter_mut().for_each(|share| *share /= sum);
        Popularity { cumulative: cumulative.into() }
    }

    /// The number of objects.
    #[must_use]
    pub fn objects(&self) -> u64 {
        self.cumulative.len() as u64
    }

    /// The probability of an object. Objects are numbered from 0, the most popular first.
    #[must_use]
    pub fn probability(&self, object: u64) -> f64 {
        self.upto(object) - object.checked_sub(1).map_or(0.0, |before| self.upto(before))
    }

    /// The sum of the probabilities up to an object.
    fn upto(&self, object: u64) -> f64 {
        self.cumulative.get(object as usize).copied().unwrap_or(0.0)
    }

    /// Draws an object.
    pub fn draw(&self, rng: &mut Rng) -> u64 {
        let unit = rng.unit();
        let object = self.cumulative.partition_point(|upto| *upto <= unit);
        // Because of rounding the last sum may be less than one.
        object.min(self.cumulative.len().saturating_sub(1)) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probabilities_of_a_small_catalogue_by_hand() {
        // 1 + 1/2 + 1/3 + 1/4 = 25/12.
        let zipf = Popularity::new(4, 1.0, 0.0);
        for (object, share) in [(0, 12.0), (1, 6.0), (2, 4.0), (3, 3.0)] {
            assert!((zipf.probability(object) - share / 25.0).abs() < 1e-12);
        }
        // 1/3^2, 1/4^2: 16 to 9.
        let shifted = Popularity::new(2, 2.0, 2.0);
        assert!((shifted.probability(0) - 0.64).abs() < 1e-12);
        let flat = Popularity::new(5, 0.0, 7.0);
        assert!((0..5).all(|object| (flat.probability(object) - 0.2).abs() < 1e-12));
    }

    #[test]
    fn frequencies_follow_the_law() {
        const DRAWS: u32 = 200_000;
        let law = Popularity::new(50, 0.8, 1.5);
        let mut rng = Rng::stream(3, &["popularity"]);
        let mut counts = [0u32; 50];
        (0..DRAWS).for_each(|_| counts[law.draw(&mut rng) as usize] += 1);
        // Pearson's statistic with 49 degrees of freedom: mean 49, standard deviation 9.9; the
        // 0.9999 quantile is 95.
        let chi2: f64 = (0..50)
            .map(|object| {
                let expected = law.probability(object) * f64::from(DRAWS);
                let off = f64::from(counts[object as usize]) - expected;
                off * off / expected
            })
            .sum();
        assert!(chi2 < 95.0, "{chi2}");
    }
}
