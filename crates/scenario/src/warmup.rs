//! The end of a warm-up: MSER-5 over a series, which is the hit ratio of content stores or the
//! goodput of all flows.
//!
//! The rule (K. P. White, M. J. Cobb and S. C. Spratt, "A comparison of five steady-state
//! truncation heuristics for simulation", WSC 2000): the series is cut into batches of five, whose
//! means are z(1) to z(n). The first d batches are left out for which the marginal standard error
//! of the rest is smallest,
//!
//! ```text
//! MSER(d) = 1 / (n - d)^2 * sum over i = d + 1 .. n of (z(i) - mean of z(d + 1) .. z(n))^2
//! ```
//!
//! searched in the first half; a minimum at the very end of that half means that the series is too
//! short.

/// The number of values in a batch.
pub const BATCH: usize = 5;
/// Fewer batches say nothing.
const LEAST: usize = 10;

/// The number of values of the series that belong to the warm-up; `None` if it cannot be
/// determined.
#[must_use]
pub fn mser5(series: &[f64]) -> Option<usize> {
    let batches: Vec<f64> =
        series.chunks_exact(BATCH).map(|batch| batch.iter().sum::<f64>() / BATCH as f64).collect();
    let n = batches.len();
    if n < LEAST {
        return None;
    }
    // From the end on, so that sums grow by one batch at a time.
    let (mut sum, mut squares) = (0.0, 0.0);
    let mut best: Option<(usize, f64)> = None;
    for d in (0..n).rev() {
        sum += batches[d];
        squares += batches[d] * batches[d];
        let rest = (n - d) as f64;
        let error = (squares - sum * sum / rest).max(0.0) / (rest * rest);
        // Of equal ones that which leaves the least away.
        if d <= n / 2 && best.is_none_or(|(_, least)| error <= least) {
            best = Some((d, error));
        }
    }
    best.filter(|(d, _)| *d < n / 2).map(|(d, _)| d * BATCH)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_is_found_where_it_is() {
        // Cold for 30 values, then warm: six batches go. A little noise of a fixed pattern.
        let noise = |i: usize| [0.01, -0.01, 0.02, -0.02, 0.0, 0.01, -0.01][i % 7];
        let series: Vec<f64> =
            (0..200).map(|i| if i < 30 { 0.1 } else { 0.6 } + noise(i)).collect();
        assert_eq!(mser5(&series), Some(30));
    }

    #[test]
    fn a_steady_series_has_no_warm_up() {
        assert_eq!(mser5(&[0.5; 100]), Some(0));
    }

    #[test]
    fn rising_and_short_series_have_no_warm_up_end() {
        let rising: Vec<f64> = (0..100).map(f64::from).collect();
        assert_eq!(mser5(&rising), None);
        assert_eq!(mser5(&[0.5; 49]), None, "nor one that is too short");
    }

    #[test]
    fn the_error_is_that_of_the_formula() {
        // Ten batches of equal values: 4, 0, 0, … Leaving the first away leaves no error at all.
        let series: Vec<f64> = (0..50).map(|i| if i < 5 { 4.0 } else { 0.0 }).collect();
        assert_eq!(mser5(&series), Some(5));
        // 1, 0, 1, 0, …: MSER(0) = 2.5 / 100 = 0.025; MSER(1) = 20/9 / 81 = 0.0274, and so on up.
        let series: Vec<f64> = (0..50).map(|i| if i / 5 % 2 == 0 { 1.0 } else { 0.0 }).collect();
        assert_eq!(mser5(&series), Some(0));
    }
}
