//! The flags of a face and the management of its queue, in the management protocol's terms.

use crate::config::LinkOptions;
use crate::daemon::marking;
use crate::management::orders::{Change, Rejected};
use crate::management::{CONGESTION_MARKING, LOCAL_FIELDS, Marking, RELIABILITY};
use control::link::Marker;
use schemes::Choice;

/// Flags and congestion marking.
#[derive(Debug)]
pub(super) struct Marked {
    flags: u64,
    /// The management of its queue, if a flag requires it.
    marker: Choice,
}

impl Default for Marked {
    fn default() -> Marked {
        Marked { flags: 0, marker: marking::default() }
    }
}

impl Marked {
    /// The flags and the marker that link options require. A stream needs no reliability.
    pub fn of(link: &LinkOptions, is_framed: bool) -> Marked {
        let reliability = if is_framed && link.reliability { RELIABILITY } else { 0 };
        let marking = if link.parts.marker.is_some() { CONGESTION_MARKING } else { 0 };
        let marker = link.parts.marker.clone().unwrap_or_else(marking::default);
        Marked { flags: reliability | marking, marker }
    }

    pub fn flags(&self) -> u64 {
        self.flags
    }

    /// The marker's numbers that the protocol has.
    pub fn parameters(&self) -> Marking {
        marking::read_parameters(&self.marker)
    }

    /// The marker, if marking is on.
    pub fn active(&self) -> Option<Box<dyn Marker>> {
        if self.flags & CONGESTION_MARKING == 0 { None } else { self.marker.marker().ok() }
    }

    /// Keeps a marker until marking is switched on.
    pub fn keep(&mut self, marker: Choice) {
        self.marker = marker;
    }

    pub fn set_local_fields(&mut self, on: bool) {
        self.flags = (self.flags & !LOCAL_FIELDS) | if on { LOCAL_FIELDS } else { 0 };
    }

    /// Changes the marking as a command asks. True if the marker is another one: its observations
    /// of the queue go with the one before.
    ///
    /// # Errors
    /// See [`marking::changed`]; nothing is changed then.
    pub fn change(&mut self, change: &Change) -> Result<bool, Rejected> {
        let marker = marking::changed(&self.marker, change.marking)?;
        let flags = (self.flags & !change.mask) | (change.flags & change.mask);
        let toggled = (flags ^ self.flags) & CONGESTION_MARKING != 0;
        if !toggled && change.marking == Marking::default() {
            return Ok(false);
        }
        self.flags = (self.flags & !CONGESTION_MARKING) | (flags & CONGESTION_MARKING);
        self.marker = marker;
        Ok(true)
    }
}
