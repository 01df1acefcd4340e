//! Formats of traces.

/// A format: the words of its first line, and a column of the table for some of them.
pub struct Format {
    pub name: &'static str,
    pub header: &'static [&'static str],
    pub columns: &'static [Column],
}

/// A column of a table.
pub struct Column {
    pub name: &'static str,
    pub help: &'static str,
    /// The word of the line, from 0.
    pub word: usize,
    pub kind: Kind,
}

/// How the text of a word becomes a value.
#[derive(Clone, Copy)]
pub enum Kind {
    /// A text, of which there are few different ones.
    Text,
    /// A finite number, multiplied by this.
    Number(f64),
    /// A whole number from 0 on.
    Count,
    /// A whole number; negative ones mean that there is none.
    OptionalCount,
    /// Units of this number of bytes, rounded to whole bytes.
    Bytes(f64),
}
