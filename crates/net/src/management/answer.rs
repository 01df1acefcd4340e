//! Answers to Interests for management.

use super::orders::Order;

/// The result of an Interest for management.
#[derive(Debug)]
pub enum Answer {
    /// A frame for the forwarder, from the internal face.
    Frame(Vec<u8>),
    /// Something for the driver to do, and to reply to.
    Order(Box<Order>),
}
