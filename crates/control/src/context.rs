//! Arguments of every call that may change state: the time, random numbers, and a tap for events.

use crate::rng::Rng;
use crate::time::Time;

/// An event for the record; the driver decides about keeping it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Event {
    /// When it happened.
    pub at: Time,
    /// The event, named as in the paper or the field (`"window"`, `"cut"`, `"marked"`).
    pub name: &'static str,
    /// Its value, in the unit that the name implies.
    pub value: f64,
}

/// The context of a call: first argument of everything that may change state.
pub struct Cx<'a> {
    /// The instant of the call.
    pub now: Time,
    /// The callee's own random stream.
    pub rng: &'a mut Rng,
    /// Receives events.
    pub tap: &'a mut dyn FnMut(Event),
}

impl Cx<'_> {
    /// Reports an event at the instant of the call.
    pub fn note(&mut self, name: &'static str, value: f64) {
        (self.tap)(Event { at: self.now, name, value });
    }
}

impl std::fmt::Debug for Cx<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Cx").field("now", &self.now).finish_non_exhaustive()
    }
}
