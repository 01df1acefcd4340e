//! The requested content of a picture.

use super::error::PlotError;
use scenario::result::{MEASURES, Measure};

/// The logarithmic axes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Log {
    /// The x axis, if its values are far apart.
    #[default]
    Auto,
    /// Neither.
    None,
    /// The x axis.
    X,
    /// The y axis.
    Y,
    /// Both.
    Both,
}

impl Log {
    pub(super) fn is_x(self, values: &[f64]) -> bool {
        match self {
            Log::Auto => are_far_apart(values),
            log => matches!(log, Log::X | Log::Both),
        }
    }

    pub(super) fn is_y(self) -> bool {
        matches!(self, Log::Y | Log::Both)
    }
}

/// True if the smaller values would be indistinguishable on a linear axis.
fn are_far_apart(values: &[f64]) -> bool {
    let mut positive: Vec<f64> = values.iter().copied().filter(|value| *value > 0.0).collect();
    positive.sort_by(f64::total_cmp);
    positive.dedup();
    match &*positive {
        [least, _, .., most] => most / least >= 50.0,
        _ => false,
    }
}

/// The content of a picture.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// The swept field on the x axis, or the measure of points; `None`: a suitable one.
    pub x: Option<String>,
    /// The measure on the y axis; `None`: goodput after the warm-up.
    pub y: Option<String>,
    /// The fields with a line for each value; empty: suitable ones.
    pub by: Vec<String>,
    /// The field with a panel for each value.
    pub facet: Option<String>,
    /// Logarithmic axes.
    pub log: Log,
    /// Points of two measures instead of lines over a field.
    pub is_scatter: bool,
    /// It is one of many pictures on a page, which shows no more panels than can be compared.
    pub is_on_page: bool,
}

/// The measure on the y axis if the request names none.
pub(super) const UP: &str = "settled-goodput";

/// The measure with a name.
pub(super) fn measure(name: Option<&str>, default: &str) -> Result<&'static Measure, PlotError> {
    let name = name.unwrap_or(default);
    Measure::find(name).ok_or_else(|| PlotError::Measure {
        name: name.to_owned(),
        known: MEASURES.iter().map(|one| one.name).collect::<Vec<_>>().join(", "),
    })
}
