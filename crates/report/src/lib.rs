//! Results of runs on disk, and the page that shows them.
//!
//! [`Folder`] writes the folder of `--out`, and [`page()`] makes the report of one such folder or
//! several. [`compare()`] shows two of them side by side.
#![forbid(unsafe_code)]

mod answer;
mod article;
mod captions;
mod colours;
mod compare;
pub mod comparison;
mod dashes;
pub mod drawing;
mod error;
mod files;
mod folder;
mod page;
mod parquet_file;
pub mod picture;
mod pictures;
pub mod plot;
mod ratios;
pub mod reference;
mod results;
mod runs_file;
mod text;
mod track;

pub use article::{article, figures};
pub use colours::{TONES, colour, scheme as colour_of_scheme, thing as colour_of_thing, toned};
pub use compare::compare;
pub use comparison::Comparison;
pub use dashes::{DASHES, dashes};
pub use error::ReportError;
pub use files::{REPORT, Summary};
pub use folder::{Folder, flow_columns, is_result, overwrites};
pub use page::page;
pub use parquet_file::{Column, SERIES};
pub use pictures::{axis_name, axis_of, distribution, over_time, unit_of};
pub use results::{SPAN, until_the_end};
