//! The part of a link's capacity that the neighbour leaves: its Interests share the link with our
//! Data.

/// The part that is ours at least, whatever the neighbour asks for.
pub(super) const LEAST_LEFT: f64 = 1.0 / 16.0;

/// The rate that is left of `capacity`.
pub(super) fn left(capacity: f64, neighbour: f64) -> f64 {
    (capacity - neighbour).max(capacity * LEAST_LEFT)
}
