//! Studies: folders of scenarios with the values that a paper reports, and the results here.
//!
//! [`load`] reads and checks a folder, [`perform`] does its runs, and [`Outcome`] has published
//! beside measured values.
#![forbid(unsafe_code)]

mod claim;
mod colours;
mod curve;
mod error;
mod formula;
mod judge;
mod markdown;
mod measure;
mod model;
mod outcome;
mod page;
mod perform;
mod pictures;
mod read;
pub mod records;
pub mod reference;
mod samples;
mod selector;
mod share;
mod testbed;
mod text;

pub use claim::{Assertion, Claim, ClaimKind, Deviation, Quantity, Relation, Tolerance};
pub use error::StudyError;
pub use formula::Formula;
pub use markdown::to_html;
pub use measure::{Bound, Measure, Take, What};
pub use model::{Case, Drawn, Experiment, ExperimentKind, Form, Mark, OnTestbed, Points, Study};
pub use outcome::{
    CaseValue, ClaimResult, Drawable, Effort, ExperimentResult, Measured, Outcome, Published,
    Series,
};
pub use page::{Page, index, index_html};
pub use perform::{complete, identity, perform, perform_with};
pub use read::{EXPECTED, Quickness, find, load};
pub use records::Records;
pub use selector::Selector;
pub use testbed::{ExperimentOnDaemons, OnDaemons, Row};
pub use text::{Cells, Count};
