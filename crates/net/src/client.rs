//! The side of applications: a connection to a forwarder, driven for a state machine.
//!
//! [`Connection`] owns the socket and the loop. It drives an [`Endpoint`]: a fetch, a producer, a
//! management request. One thread, no runtime: a program drives one connection.

mod address;
mod command;
mod conf;
mod connection;
mod dataset;
mod endpoint;
mod key_places;
pub mod lists;
mod trace;

pub use address::{Address, AddressError};
pub use command::CommandError;
pub use connection::{ConnectError, Connection, Turn};
pub use dataset::{DatasetError, Found};
pub use endpoint::Endpoint;
pub use key_places::KeyPlaces;
pub use lists::{FaceEntry, General, Passed, RouteEntry, StoreInfo, StrategyEntry};
pub use trace::TraceReader;
