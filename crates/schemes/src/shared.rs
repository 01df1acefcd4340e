//! Parts of consumers, links and strategies that several schemes use. Each scheme's other parts are
//! in its own file and folder.
//!
//! No scheme's file uses another scheme's, unless its paper builds on that scheme and its header
//! names the file.

pub(crate) mod consumer;
pub(crate) mod explicit_rate;
pub(crate) mod link;
pub(crate) mod strategy;
