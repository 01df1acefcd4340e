//! Scenarios on real daemons: one `weir daemon` for each node in a network namespace of its own,
//! veth pairs between them, the real tools as producers and consumers. What comes of it has the
//! form of the simulator's results.
//!
//! A [`Plan`] says what is to be built, and what of a scenario cannot be; a [`Testbed`] is what
//! stands, and takes itself down; [`run()`] does what the scenario says at its times.
#![forbid(unsafe_code)]

mod buckets;
mod change;
mod changes;
mod children;
mod clean;
mod counters;
mod described;
mod error;
mod estimate;
mod groups;
mod home;
mod hosts;
mod in_process;
mod instance;
mod ip_routes;
mod lives;
mod namespaces;
mod outcome;
mod pace;
mod plan;
mod readings;
mod rights;
mod run;
mod stores;

pub use clean::{Cleaned, clean};
pub use described::{Described, DescribedLink, DescribedNode};
pub use error::TestbedError;
pub use estimate::{Estimate, Machine};
pub use instance::Testbed;
pub use plan::{MTU, Medium, Plan, Refused, Shape};
pub use rights::{Rights, rights};
pub use run::run;
