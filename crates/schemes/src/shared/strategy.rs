//! Parts of strategies.

pub(crate) mod attempts;
pub(crate) mod one_of;
pub(crate) mod path_labels;
pub(crate) mod silence;
pub(crate) mod spread;
pub(crate) mod suppression;
