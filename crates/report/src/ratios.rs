//! Quantities that are quotients of recorded sums: numbers per second, and shares.

use crate::track::{BUCKETS, Key, Track};
use std::collections::BTreeMap;

/// A quantity computed from others of the same thing.
struct Made {
    subject: &'static str,
    name: &'static str,
    /// The numerator.
    part: &'static str,
    whole: Whole,
}

/// The denominator.
enum Whole {
    /// Seconds.
    Time,
    /// The growth of another sum.
    Of(&'static str),
    /// The growth of both together.
    With(&'static str),
}

const MADE: &[Made] = &[
    made("workload", "began_per_s", "started", Whole::Time),
    made("workload", "completed_per_s", "completed", Whole::Time),
    made("workload", "fct_mean_s", "fct_total_s", Whole::Of("completed")),
    made("network", "hit_ratio", "cs_hits", Whole::With("served")),
    made("node", "hit_ratio", "cs_hits", Whole::With("cs_misses")),
];

const fn made(subject: &'static str, name: &'static str, part: &'static str, whole: Whole) -> Made {
    Made { subject, name, part, whole }
}

/// Spans that pictures show at first.
const SPANS: usize = 50;

/// Adds them to the recorded tracks.
pub fn derive(tracks: &mut BTreeMap<Key, Vec<Track>>) {
    let mut found: BTreeMap<Key, Vec<Track>> = BTreeMap::new();
    for Made { subject, name, part, whole } in MADE {
        let recorded = tracks.iter().filter(|(key, _)| key.0 == *subject && key.1 == *part);
        for (key, parts) in recorded {
            let wholes = match whole {
                Whole::Time => None,
                Whole::Of(name) | Whole::With(name) => {
                    match tracks.get(&(key.0.clone(), (*name).to_owned(), key.2.clone())) {
                        Some(wholes) if wholes.len() == parts.len() => Some(wholes),
                        _ => continue,
                    }
                }
            };
            let made = parts.iter().enumerate().map(|(run, part)| match wholes {
                None => a_second(part),
                Some(wholes) => share(part, &wholes[run], matches!(whole, Whole::With(_))),
            });
            // Runs without a count have no value.
            let made: Vec<Track> = made.filter(|track| track.count > 0).collect();
            if !made.is_empty() {
                found.insert((key.0.clone(), (*name).to_owned(), key.2.clone()), made);
            }
        }
    }
    tracks.extend(found);
}

fn stride() -> usize {
    BUCKETS as usize / SPANS
}

fn a_second(sum: &Track) -> Track {
    let (mut points, mut before) = (Vec::new(), 0.0);
    for (end, growth) in sum.growth(stride()) {
        points.push(((before + end) / 2.0, growth / (end - before)));
        before = end;
    }
    sum.made(&points, stride(), sum.last / sum.shown().max(1e-9))
}

/// Without a count, it has no value.
fn share(part: &Track, whole: &Track, together: bool) -> Track {
    let half = part.bucket() * stride() as f64 / 2.0;
    let mut points: Vec<(f64, f64)> = Vec::new();
    for ((end, part), (_, whole)) in part.growth(stride()).into_iter().zip(whole.growth(stride())) {
        let all = if together { part + whole } else { whole };
        if all > 0.0 {
            points.push((end - half, part / all));
        }
    }
    let all = if together { part.last + whole.last } else { whole.last };
    let mean = if all > 0.0 { part.last / all } else { 0.0 };
    part.made(&points, stride(), mean)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sampled every tenth of a second for 15 s, of which all are shown.
    fn track(value: impl Fn(f64) -> f64) -> Vec<Track> {
        let mut track = Track::new(15.0, 15.0);
        (1..=150).for_each(|i| {
            let time = f64::from(i) / 10.0 - 0.05;
            track.add(time, value(time));
        });
        vec![track]
    }

    #[test]
    fn ratios_are_those_of_what_grew() {
        let key = |name: &str| ("network".to_owned(), name.to_owned(), "all".to_owned());
        let mut tracks = BTreeMap::new();
        // Nothing is hit for 6 s, then three of four; there are ten a second.
        let warm = |time: f64| (time - 6.0).max(0.0);
        tracks.insert(key("cs_hits"), track(|time| 7.5 * warm(time)));
        tracks.insert(key("served"), track(|time| 10.0 * time.min(6.0) + 2.5 * warm(time)));
        derive(&mut tracks);
        let ratio = &tracks[&key("hit_ratio")][0];
        let points = ratio.points();
        assert_eq!(points.len(), SPANS);
        let near = |at: usize, wanted: f64| (points[at].1 - wanted).abs() < 1e-9;
        assert!(near(10, 0.0) && near(30, 0.75) && near(49, 0.75), "{points:?}");
        // 8.95 s times 7.5 of 60 and 8.95 s times 10.
        // A workload without requests has no ratio.
        assert!(!tracks.contains_key(&key("began_per_s")));
        let mut idle = BTreeMap::new();
        idle.insert(key("cs_hits"), track(|_| 0.0));
        idle.insert(key("served"), track(|_| 0.0));
        derive(&mut idle);
        assert_eq!(idle.len(), 2);
        let mean = 8.95 * 7.5 / (60.0 + 89.5);
        assert!((ratio.mean() - mean).abs() < 1e-9, "{}", ratio.mean());
    }

    #[test]
    fn rates_are_a_second() {
        let key = |name: &str| ("workload".to_owned(), name.to_owned(), "mice".to_owned());
        let mut tracks = BTreeMap::new();
        tracks.insert(key("started"), track(|time| 4.0 * time));
        tracks.insert(key("completed"), track(|time| 2.0 * time));
        tracks.insert(key("fct_total_s"), track(|time| 0.5 * time));
        derive(&mut tracks);
        let at = |name: &str| tracks[&key(name)][0].points()[20].1;
        assert!((at("began_per_s") - 4.0).abs() < 1e-9, "{}", at("began_per_s"));
        assert!((at("fct_mean_s") - 0.25).abs() < 1e-9, "{}", at("fct_mean_s"));
    }
}
