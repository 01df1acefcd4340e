//! The nodes that a file names, and its numbers.

use super::sketch::Spot;
use control::Rate;
use std::collections::BTreeMap;

/// The most links that are read.
pub const MAX_LINKS: usize = 200_000;

/// The nodes of a file, by name.
#[derive(Default)]
pub struct Found {
    pub spots: Vec<Spot>,
    places: BTreeMap<String, usize>,
}

impl Found {
    /// The number of a node, which is new if it did not occur before. Line breaks and the like
    /// become spaces: names are shown in lines.
    pub fn of(&mut self, name: &str) -> usize {
        let name = &*name.replace(char::is_control, " ");
        if let Some(known) = self.places.get(name) {
            return *known;
        }
        self.spots.push(Spot { name: name.to_owned(), position: None });
        self.places.insert(name.to_owned(), self.spots.len() - 1);
        self.spots.len() - 1
    }

    /// The number of a node that occurred before.
    pub fn known(&self, name: &str) -> Option<usize> {
        self.places.get(name).copied()
    }

    /// Names of nodes, for messages.
    pub fn names(&self) -> impl Iterator<Item = &str> + Clone {
        self.spots.iter().take(20).map(|spot| spot.name.as_str())
    }
}

/// A finite number.
pub fn number(text: &str) -> Option<f64> {
    text.trim().parse::<f64>().ok().filter(|number| number.is_finite())
}

/// A rate in units of `unit` bits a second: more than none and less than 2^53.
pub fn rate(number: f64, unit: f64) -> Option<Rate> {
    let bits = number * unit;
    (1.0..9e15).contains(&bits).then_some(Rate(bits as u64))
}

/// A metric in thousandths.
pub fn metric(number: f64) -> Option<u64> {
    (0.0..=1e12).contains(&number).then(|| (number * 1000.0).round() as u64)
}
