//! The queue of events from the parts of schemes to the recorder.

use control::Event;
use record::Origin;
use std::sync::{Arc, Mutex};

/// Events that have been reported but not recorded yet.
pub(crate) type EventQueue = Arc<Mutex<Vec<(Origin, Event)>>>;
