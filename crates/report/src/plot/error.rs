//! Why a picture cannot be drawn.

use crate::error::ReportError;
use thiserror::Error;

/// Why a picture cannot be drawn.
#[derive(Debug, Error)]
pub enum PlotError {
    /// Results cannot be read.
    #[error(transparent)]
    Results(#[from] ReportError),
    /// No run came to its end.
    #[error("no run is complete: there is nothing to draw")]
    Empty,
    /// No swept field has numbers.
    #[error("no swept field has two or more numbers for an x axis; {known}")]
    NoX {
        /// The fields.
        known: String,
    },
    /// The results do not have this field.
    #[error("`{name}` is not a field of these results; {known}")]
    Field {
        /// The field.
        name: String,
        /// The others.
        known: String,
    },
    /// The field of an x axis has texts.
    #[error("`{name}` cannot be an x axis: not all of its values are numbers of one kind; {known}")]
    Texts {
        /// The field.
        name: String,
        /// The others.
        known: String,
    },
    /// The measure does not exist.
    #[error("`{name}` is not a measure; valid are {known}")]
    Measure {
        /// The measure.
        name: String,
        /// The others.
        known: String,
    },
    /// No run has a value of the measure.
    #[error("no run has a value of `{name}`")]
    NoValues {
        /// The measure.
        name: String,
    },
    /// There are too many panels to be seen.
    #[error("{count} panels would be drawn, {most} are possible")]
    Panels {
        /// Their number.
        count: usize,
        /// The maximum number in a drawing.
        most: usize,
    },
}
