//! Parts of links: markers, shapers and stampers.

pub(crate) mod average_queue;
pub(crate) mod neighbour;
pub(crate) mod path_id;
pub(crate) mod per_flow;
pub(crate) mod wakeup;
