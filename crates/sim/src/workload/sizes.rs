//! Sizes of objects: constant, or drawn from a distribution.

use control::math;

/// A distribution of sizes in bytes. A drawn size is at least 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Distribution {
    /// One size for all.
    Constant(u64),
    /// Uniform, from the first to the second size, both included.
    Uniform(u64, u64),
    /// Exponential.
    Exponential {
        /// The mean.
        mean: f64,
    },
    /// Bounded Pareto.
    Pareto {
        /// The minimum.
        least: f64,
        /// The maximum.
        most: f64,
        /// The shape; a smaller value has a heavier tail.
        shape: f64,
    },
    /// Log-normal.
    LogNormal {
        /// The median.
        median: f64,
        /// The standard deviation of the logarithm.
        sigma: f64,
    },
}

impl Distribution {
    /// The quantile `u` of the distribution, `u` in [0, 1). The log-normal distribution needs a
    /// second uniform number, `other`, in [0, 1).
    #[must_use]
    pub fn at(&self, u: f64, other: f64) -> u64 {
        let size = match *self {
            Distribution::Constant(size) => return size.max(1),
            Distribution::Uniform(least, most) => {
                let span = most.saturating_sub(least).saturating_add(1);
                return least.saturating_add((u * span as f64) as u64).min(most).max(1);
            }
            Distribution::Exponential { mean } => -mean * math::ln(1.0 - u),
            Distribution::Pareto { least, most, shape } => {
                let tail = math::pow(least / most, shape);
                least * math::pow(1.0 - u * (1.0 - tail), -1.0 / shape)
            }
            Distribution::LogNormal { median, sigma } => {
                median * math::exp(sigma * normal(u, other))
            }
        };
        // The cast saturates.
        (size as u64).max(1)
    }

    /// The mean, without rounding to whole bytes.
    #[must_use]
    pub fn mean(&self) -> f64 {
        match *self {
            Distribution::Constant(size) => size as f64,
            Distribution::Uniform(least, most) => (least as f64 + most as f64) / 2.0,
            Distribution::Exponential { mean } => mean,
            Distribution::Pareto { least, most, shape } => {
                let tail = math::pow(least / most, shape);
                let scale = math::pow(least, shape) / (1.0 - tail);
                if shape == 1.0 {
                    return scale * math::ln(most / least);
                }
                let ends = math::pow(least, 1.0 - shape) - math::pow(most, 1.0 - shape);
                scale * shape / (shape - 1.0) * ends
            }
            Distribution::LogNormal { median, sigma } => median * math::exp(sigma * sigma / 2.0),
        }
    }
}

/// A standard normal number from two uniform ones (G. Box and M. Muller, 1958).
fn normal(u: f64, other: f64) -> f64 {
    (-2.0 * math::ln(1.0 - u)).sqrt() * math::cos(std::f64::consts::TAU * other)
}

#[cfg(test)]
mod tests {
    use super::*;
    use control::Rng;

    fn mean_of(law: Distribution) -> f64 {
        let mut rng = Rng::stream(5, &["sizes"]);
        let n = 200_000;
        (0..n).map(|_| law.at(rng.unit(), rng.unit()) as f64).sum::<f64>() / f64::from(n)
    }

    #[test]
    fn drawn_sizes_have_the_mean_of_their_distribution() {
        for law in [
            Distribution::Constant(1000),
            Distribution::Uniform(500, 1500),
            Distribution::Exponential { mean: 1e6 },
            Distribution::Pareto { least: 1e4, most: 1e7, shape: 1.2 },
            Distribution::Pareto { least: 1e4, most: 1e6, shape: 1.0 },
            Distribution::LogNormal { median: 1e5, sigma: 0.8 },
        ] {
            let off = mean_of(law) / law.mean() - 1.0;
            assert!(off.abs() < 0.02, "{law:?}: {off}");
        }
        // 1000 (ln 10): the mean of the bounded law of shape 1 from 1000 to 10,000, over 0.9.
        let law = Distribution::Pareto { least: 1e3, most: 1e4, shape: 1.0 };
        assert!((law.mean() - 1e3 * math::ln(10.0) / 0.9).abs() < 1e-6);
    }

    #[test]
    fn quantiles_by_hand() {
        let law = Distribution::Pareto { least: 100.0, most: 1e12, shape: 1.0 };
        assert_eq!((law.at(0.0, 0.0), law.at(0.5, 0.0)), (100, 199));
        let law = Distribution::Uniform(3, 5);
        assert_eq!([0.0, 0.34, 0.67, 0.999].map(|u| law.at(u, 0.0)), [3, 4, 5, 5]);
        assert_eq!(Distribution::Exponential { mean: 5.0 }.at(0.0, 0.0), 1, "not empty");
    }
}
