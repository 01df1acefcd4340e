//! Arguments of `weir plot`.

use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// `weir plot`
#[derive(Args)]
pub struct PlotArgs {
    /// The folders that `weir sim run --out` wrote; for several folders, the field `folder` has the
    /// name.
    #[arg(required = true, value_name = "DIR")]
    pub folders: Vec<PathBuf>,
    /// The swept field on the x axis, such as link.loss; the default is the one with most numbers.
    /// With --scatter a measure; the default is queue-delay.
    #[arg(long, short, value_name = "FIELD")]
    pub x: Option<String>,
    /// The measure on the y axis; the default is settled-goodput, goodput after the warm-up. An
    /// unknown name prints the list.
    #[arg(long, short, value_name = "MEASURE")]
    pub y: Option<String>,
    /// The fields with a line for each value, such as control; the default is the field with
    /// schemes. Fields that are not named make more lines, or panels if these are too many.
    #[arg(long, value_name = "FIELD", value_delimiter = ',')]
    pub by: Vec<String>,
    /// The field with a panel for each value.
    #[arg(long, value_name = "FIELD")]
    pub facet: Option<String>,
    /// The logarithmic axes; the default is x if its values are far apart.
    #[arg(long, value_enum, value_name = "AXES")]
    pub log: Option<LogWord>,
    /// Draw a point for each value of --by, of two measures, with the Pareto front: more of y and
    /// less of x. Other fields are conditions, each with a panel.
    #[arg(long)]
    pub scatter: bool,
    /// The width in pixels of 1/96 inch.
    #[arg(long, value_name = "N", default_value_t = 720,
          value_parser = clap::value_parser!(u16).range(200..=4000))]
    pub width: u16,
    /// Leave out title and caption, for papers with their own.
    #[arg(long)]
    pub bare: bool,
    /// The file; its ending, svg, png or pdf, is the format.
    #[arg(long, short, value_name = "FILE")]
    pub output: PathBuf,
    /// Print only errors.
    #[arg(long, short)]
    pub quiet: bool,
}

/// Logarithmic axes.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LogWord {
    /// The x axis.
    X,
    /// The y axis.
    Y,
    /// Both.
    Xy,
    /// Neither.
    None,
}
