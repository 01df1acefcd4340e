//! Lines over time as shares of their sum.

use crate::outcome::Series;

/// The number of instants with shares.
const INSTANTS: usize = 150;

/// A sum below this part of its mean counts as zero.
const NOTHING: f64 = 0.02;

/// For each line its part of the sum, in means over equal spans of time; without a share where the
/// sum is nearly zero.
pub fn shares(lines: &[Series], shown: f64) -> Vec<Series> {
    let stretch = shown / INSTANTS as f64;
    let mut sums = vec![vec![(0.0, 0u32); INSTANTS]; lines.len()];
    for (line, sums) in lines.iter().zip(&mut sums) {
        for (time, value) in line.points.iter().filter(|(time, _)| *time <= shown) {
            let at = ((time / stretch) as usize).min(INSTANTS - 1);
            sums[at] = (sums[at].0 + value, sums[at].1 + 1);
        }
    }
    let means: Vec<Vec<f64>> = sums
        .into_iter()
        .map(|sums| sums.into_iter().map(|(sum, n)| sum / f64::from(n.max(1))).collect())
        .collect();
    let together: Vec<f64> =
        (0..INSTANTS).map(|at| means.iter().map(|line| line[at]).sum()).collect();
    let usual = together.iter().sum::<f64>() / INSTANTS as f64;
    let mut shares = Vec::new();
    for (line, means) in lines.iter().zip(means) {
        let mut points = Vec::new();
        for (at, (mean, all)) in means.iter().zip(&together).enumerate() {
            if *all > usual * NOTHING {
                points.push(((at as f64 + 0.5) * stretch, mean / all));
            }
        }
        shares.push(Series { points, ..line.clone() });
    }
    shares
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_come_to_one_where_there_is_anything() {
        let at = |n: u32, value: f64| match n {
            0..100 => 0.0,
            200..202 => 0.001,
            _ => value,
        };
        let line = |value: f64| Series {
            points: (0..300).map(|n| (f64::from(n), at(n, value))).collect(),
            ..Series::default()
        };
        let found = shares(&[line(1.0), line(3.0)], 300.0);
        assert_eq!(found[0].points.len(), 99, "two of three parts, but where there is hardly any");
        assert!(found[0].points.iter().all(|(time, share)| *time > 100.0 && *share == 0.25));
        assert!(found[1].points.iter().all(|(_, share)| *share == 0.75));
    }
}
