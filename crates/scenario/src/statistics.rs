//! Means with confidence intervals.

use serde::{Deserialize, Serialize};

/// A mean over repetitions.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
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
        let squares: f64 = values.iter().map(|v| (v - mean) * (v - mean)).sum();
        let ci95 = (n > 1).then(|| {
            let freedom = (n - 1) as f64;
            quantile(n - 1) * (squares / freedom / n as f64).sqrt()
        });
        Some(Mean { mean, ci95, n })
    }
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
    fn the_quantile_goes_on_smoothly() {
        // From tables: 40 degrees of freedom 2.021, 120: 1.980.
        assert!((quantile(40) - 2.021).abs() < 0.001);
        assert!((quantile(120) - 1.980).abs() < 0.001);
    }
}
