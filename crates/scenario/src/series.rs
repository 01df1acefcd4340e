//! Time series: samples of the simulator as rows of one form.

mod quantity;
mod row;
mod sampler;

pub use quantity::{FLOW, LINK, NETWORK, NODE, Quantity, WORKLOAD};
pub use row::{Row, Rows, Subject, class_label};
pub use sampler::{Sampler, interval};
