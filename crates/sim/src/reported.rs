//! Events on their way from the parts of schemes to the recorder.

use control::Event;
use record::Origin;
use std::sync::{Arc, Mutex};

/// Events of parts that the recorder has not received yet.
pub(crate) type EventQueue = Arc<Mutex<Vec<(Origin, Event)>>>;
