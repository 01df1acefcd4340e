//! Limits of a model. A policy of two layers of 64 neurons has 25 kB and 5,000 products.

/// The most bytes of a file.
pub const FILE: u64 = 1_000_000;
/// The most operators.
pub const OPERATORS: usize = 1_000;
/// The most numbers of a value that is computed.
pub const NUMBERS: usize = 65_536;
/// The most dimensions of a value.
pub const DIMENSIONS: usize = 4;
/// The most products and other elementary operations of an action: about a millisecond.
pub const WORK: usize = 4_000_000;
