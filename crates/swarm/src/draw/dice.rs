//! Draws that several parts need.

use control::{Rng, math};

/// One of these.
pub fn pick<T: Clone>(rng: &mut Rng, all: &[T]) -> T {
    all[rng.below(all.len() as u64) as usize].clone()
}

/// Between two numbers, each order of magnitude as likely as another.
pub fn decades(rng: &mut Rng, least: f64, most: f64) -> f64 {
    least * math::pow(most / least, rng.unit())
}

/// Between two numbers, evenly.
pub fn between(rng: &mut Rng, least: f64, most: f64) -> f64 {
    least + (most - least) * rng.unit()
}
