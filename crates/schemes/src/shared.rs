//! Parts that several schemes share. Each module's name says what it is; the rest of a scheme is in
//! the scheme's own file.
//!
//! No scheme's file uses another scheme's, unless its paper builds on that scheme and its header
//! names the file.

pub(crate) mod consumer;
pub(crate) mod explicit_rate;
pub(crate) mod link;
pub(crate) mod strategy;
