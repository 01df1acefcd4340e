//! The pictures of a report, in their order.

mod dots;
mod finish;
mod map;
mod quantities;
mod time;

pub use finish::distribution;
pub use quantities::{axis_name, axis_of, unit_of};
pub use time::over_time;

use crate::picture::Picture;
use crate::plot;
use crate::results::Results;

/// All pictures with visible content; rarely needed ones come last.
pub struct Pictures {
    /// The main pictures.
    pub first: Vec<Picture>,
    /// All other recorded quantities.
    pub more: Vec<Picture>,
}

impl Pictures {
    /// Draws the results.
    pub fn new(results: &Results) -> Pictures {
        // A sweep is about its fields first.
        let mut first = plot::pictures(results);
        let is_drawn = !first.is_empty();
        first.extend(map::picture(results));
        if !is_drawn {
            first.extend(dots::combinations(results));
        }
        let (series, more) = time::pictures(results);
        first.extend(series);
        first.extend(finish::picture(results));
        first.extend(dots::hits(results));
        Pictures { first, more }
    }
}
