//! The forwarder's management protocol, as NFD speaks it.

pub mod parameters;
pub mod response;
