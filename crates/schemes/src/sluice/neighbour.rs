//! The part of a link's capacity that the neighbour leaves: its Interests share the link with our
//! Data.

/// The least part for our Data, whatever the neighbour's rate of Interests.
pub(super) const LEAST_LEFT: f64 = 1.0 / 16.0;

/// The remaining rate of `capacity`.
pub(super) fn left(capacity: f64, neighbour: f64) -> f64 {
    (capacity - neighbour).max(capacity * LEAST_LEFT)
}
