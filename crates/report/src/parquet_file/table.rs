//! Columns and rows of a file.

use scenario::result::{Kind, SweptField, Value};
use std::borrow::Cow;

/// A column of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// Its name.
    pub name: Cow<'static, str>,
    /// Its type.
    pub kind: Kind,
    /// It may be null.
    pub optional: bool,
    /// Its meaning.
    pub help: &'static str,
}

const fn column(name: &'static str, kind: Kind, help: &'static str) -> Column {
    Column { name: Cow::Borrowed(name), kind, optional: false, help }
}

/// The columns of `series.parquet`.
pub const SERIES: &[Column] = &[
    column("run", Kind::Count, "the run: its place in `runs` of the summary, 0 if there is one"),
    column("time_s", Kind::Number, "simulated seconds since the beginning"),
    column("kind", Kind::Text, "`flow`, `link`, `node`, `workload` or `network`"),
    column(
        "entity",
        Kind::Text,
        "which one: a flow's label (`flow` in the summary), `from > to` of a link, a node's name, \
         a workload and its class, or `all`",
    ),
    column("quantity", Kind::Text, "what was measured, with the unit at its end"),
    column("value", Kind::Number, "its value"),
];

impl Column {
    /// The column of a swept field.
    pub fn swept(field: &SweptField) -> Column {
        Column {
            name: Cow::Owned(field.name.clone()),
            kind: field.kind(),
            optional: true,
            help: "the value of a swept field",
        }
    }
}

/// A column with the same value in all rows of a run.
#[derive(Clone, Debug)]
#[cfg_attr(
    not(feature = "parquet"),
    expect(dead_code, reason = "without the format, no file is written")
)]
pub struct Constant {
    pub column: Column,
    pub value: Value,
}

/// A row of a file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReadRow<'a> {
    pub run: usize,
    pub time_s: f64,
    pub subject: &'a str,
    pub entity: &'a str,
    pub quantity: &'a str,
    pub value: f64,
}
