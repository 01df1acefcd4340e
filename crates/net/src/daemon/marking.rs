//! How the queues of faces are managed, as the management protocol sees and changes it.
//!
//! The protocol knows NFD's rule: an interval and a threshold. A face may have another scheme, with
//! both of these parameters, one or none; what it has can be read and changed.

use crate::management::Marking;
use crate::management::orders::Rejected;
use control::Value;
use schemes::defaults::MARKER;
use schemes::{Choice, ChoiceError};

/// The marker of a face that has none, when it gets one.
pub(super) fn default() -> Choice {
    Choice::named(MARKER).expect("the default is among the schemes")
}

/// A marker's parameters in terms of the management protocol.
pub(super) fn read_parameters(marker: &Choice) -> Marking {
    let mut marking = Marking::default();
    for (row, value) in marker.params().rows() {
        match (row.name, value) {
            (INTERVAL, Value::Time(time)) => marking.interval_ns = Some(time.0),
            (THRESHOLD, Value::Size(size)) => marking.threshold = Some(size.0),
            _ => {}
        }
    }
    marking
}

const INTERVAL: &str = "interval";
const THRESHOLD: &str = "threshold";

/// The marker with what a command says of it.
///
/// # Errors
/// The scheme has no such parameter (409), or the value is absurd (400).
pub(super) fn changed(marker: &Choice, wanted: Marking) -> Result<Choice, Rejected> {
    let (mut marker, has) = (marker.clone(), read_parameters(marker));
    let name = marker.scheme().name;
    for (field, parameter, has, text) in [
        (
            "BaseCongestionMarkingInterval",
            INTERVAL,
            has.interval_ns.is_some(),
            wanted.interval_ns.map(|ns| format!("{ns} ns")),
        ),
        (
            "DefaultCongestionThreshold",
            THRESHOLD,
            has.threshold.is_some(),
            wanted.threshold.map(|bytes| format!("{bytes} B")),
        ),
    ] {
        let Some(text) = text else { continue };
        if !has {
            let why = format!("the face's queue is managed by {name}, which has no {field}");
            return Err(Rejected { code: 409, why });
        }
        let set = marker.set(parameter, &text);
        set.map_err(|e: ChoiceError| Rejected { code: 400, why: format!("{field}: {e}") })?;
    }
    Ok(marker)
}
