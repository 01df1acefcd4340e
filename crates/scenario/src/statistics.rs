//! Means with confidence intervals.

use serde::{Deserialize, Serialize};

/// A mean over repetitions.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
pub struct Mean {
    /// The mean.
    pub mean: f64,
    /// Half the width of its 95 % confidence interval by Student's t; `None` for a single value.
    pub ci95: Option<f64>,
    /// How many values there were.
    pub n: usize,
}

/// The 0.975 quantile of Student's t with 1, 2, … degrees of freedom.
const T: [f64; 30] = [
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160,
    2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056,
    2.052, 2.048, 2.045, 2.042,
];

/// From 31 degrees of freedom on: the three leading terms of the quantile's expansion around the
/// normal distribution's, which are right to 0.001 there.
fn quantile(freedom: usize) -> f64 {
    const Z: f64 = 1.959_964;
    match T.get(freedom.wrapping_sub(1)) {
        Some(t) => *t,
        None => {
            let (z, n) = (Z, freedom as f64);
            let second = 5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z;
            z + (z.powi(3) + z) / (4.0 * n) + second / (96.0 * n * n)
        }
    }
}

impl Mean {
    /// In another unit, of which there are `factor` in the present one.
    #[must_use]
    pub fn times(self, factor: f64) -> Mean {
        let ci95 = self.ci95.map(|half| half * factor);
        Mean { mean: self.mean * factor, ci95, n: self.n }
    }

    /// Of these values; `None` if there are none.
    #[must_use]
    pub fn of(values: &[f64]) -> Option<Mean> {
        let n = values.len();
        if n == 0 {
            return None;
        }
        let mean = values.iter().sum::<f64>() / n as f64;
        let ci95 = square_error(values, mean).map(|square| quantile(n - 1) * square.sqrt());
        Some(Mean { mean, ci95, n })
    }

    /// True if the two may be the same: their intervals have a value in common. If neither has an
    /// interval, chance is unknown, and the means are compared directly.
    #[must_use]
    pub fn overlaps(self, other: Mean) -> bool {
        let is_known = self.ci95.or(other.ci95).is_some();
        let halves = self.ci95.unwrap_or(0.0) + other.ci95.unwrap_or(0.0);
        is_known && (self.mean - other.mean).abs() <= halves
    }

    /// The mean difference of pairs, second minus first.
    #[must_use]
    pub fn of_pairs(pairs: &[(f64, f64)]) -> Option<Mean> {
        Mean::of(&pairs.iter().map(|(first, second)| second - first).collect::<Vec<_>>())
    }

    /// The difference of the means of two unpaired samples, second minus first, by Welch's test,
    /// which allows unequal variances, with the degrees of freedom of Welch and Satterthwaite
    /// rounded down, which makes the interval wider. There is no interval if one sample is a single
    /// value.
    #[must_use]
    pub fn apart(first: &[f64], second: &[f64]) -> Option<Mean> {
        let means = [Mean::of(first)?, Mean::of(second)?];
        let errors = square_error(first, means[0].mean).zip(square_error(second, means[1].mean));
        let ci95 = errors.map(|(a, b)| {
            let of_first = a * a / (first.len() - 1) as f64;
            let of_second = b * b / (second.len() - 1) as f64;
            let freedom = (a + b) * (a + b) / (of_first + of_second);
            // Where nothing varies, it is no number.
            let freedom = if freedom.is_finite() { freedom as usize } else { 1 };
            quantile(freedom) * (a + b).sqrt()
        });
        let n = first.len() + second.len();
        Some(Mean { mean: means[1].mean - means[0].mean, ci95, n })
    }
}

/// The square of the standard error of the mean of these values; `None` for a single one.
fn square_error(values: &[f64], mean: f64) -> Option<f64> {
    let squares: f64 = values.iter().map(|v| (v - mean) * (v - mean)).sum();
    let n = values.len();
    (n > 1).then(|| squares / (n - 1) as f64 / n as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_known_interval() {
        // 4, 6, 8: standard deviation 2, standard error 2 / sqrt(3) = 1.1547; t(2) = 4.303.
        let mean = Mean::of(&[4.0, 6.0, 8.0]).unwrap();
        assert_eq!((mean.mean, mean.n), (6.0, 3));
        assert!((mean.ci95.unwrap() - 4.9687).abs() < 0.0001);
        assert_eq!(Mean::of(&[5.0]).unwrap().ci95, None);
        assert_eq!(Mean::of(&[]), None);
    }

    #[test]
    fn differences_of_pairs() {
        // 1, 1.1, 0.9: standard deviation 0.1, standard error 0.057735; t(2) = 4.303.
        let mean = Mean::of_pairs(&[(1.0, 2.0), (2.0, 3.1), (3.0, 3.9)]).unwrap();
        assert!((mean.mean - 1.0).abs() < 1e-12);
        assert!((mean.ci95.unwrap() - 0.24843).abs() < 1e-5);
        assert_eq!(Mean::of_pairs(&[(5.0, 3.0)]), Some(Mean { mean: -2.0, ci95: None, n: 1 }));
    }

    #[test]
    fn differences_of_samples_without_pairs() {
        // 4, 6, 8: variance 4, of the mean 4/3. 10, 12, 14, 16, 18: mean 14, variance 10, of the
        // mean 2. Standard error sqrt(10/3) = 1.825742; (10/3)^2 / ((4/3)^2 / 2 + 2^2 / 4) = 5.88
        // degrees of freedom, rounded down 5; t(5) = 2.571.
        let second = [10.0, 12.0, 14.0, 16.0, 18.0];
        let mean = Mean::apart(&[4.0, 6.0, 8.0], &second).unwrap();
        assert_eq!((mean.mean, mean.n), (8.0, 8));
        assert!((mean.ci95.unwrap() - 4.69398).abs() < 1e-5);
        assert_eq!(Mean::apart(&[4.0], &second).unwrap().ci95, None);
        assert_eq!(Mean::apart(&[2.0, 2.0], &[2.0, 2.0, 2.0]).unwrap().ci95, Some(0.0));
        assert_eq!(Mean::apart(&[], &second), None);
    }

    #[test]
    fn the_quantile_goes_on_smoothly() {
        // From tables: 40 degrees of freedom 2.021, 120: 1.980.
        assert!((quantile(40) - 2.021).abs() < 0.001);
        assert!((quantile(120) - 1.980).abs() < 0.001);
    }
}
