//! The labels of links.

use crate::model::Link;

/// The label of a link: its rate and delay, both ways if they differ.
pub fn link_label(link: &Link) -> String {
    let [there, back] = &link.directions;
    let (rate, other) = (there.rate.to_string(), back.rate.to_string());
    let rates = if rate == other { rate } else { format!("→{rate} ←{other}") };
    let delays = match (there.delay.to_string(), back.delay.to_string()) {
        (there, back) if there == back => there,
        (there, back) => format!("→{there} ←{back}"),
    };
    format!("{rates}, {delays}")
}
