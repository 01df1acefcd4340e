//! Parts of consumers.

pub(crate) mod hystart;
pub(crate) mod sources;
pub(crate) mod train;
pub(crate) mod window_law;
