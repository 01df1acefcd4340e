//! Scenarios on real daemons: one `weir daemon` per node in its own network namespace, veth pairs
//! between them, the real tools as producers and consumers. The results have the form of the
//! simulator's.
//!
//! A [`Plan`] describes the network, and the unsupported parts of a scenario; a [`Testbed`] is a
//! running network that removes itself; [`run()`] executes the scenario at its times.
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
mod hosts;
mod in_process;
mod instance;
mod ip_routes;
mod moments;
mod namespaces;
mod outcome;
mod pace;
mod plan;
mod readings;
mod rights;
mod run;
mod state_dir;
mod stores;

pub use clean::{Cleaned, clean};
pub use described::{Described, DescribedLink, DescribedNode};
pub use error::TestbedError;
pub use estimate::{Estimate, Machine};
pub use instance::Testbed;
pub use plan::{MTU, Medium, Plan, Shape, Unsupported};
pub use rights::{Rights, rights};
pub use run::run;
