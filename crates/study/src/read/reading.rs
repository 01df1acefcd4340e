//! The place of mistakes, and the valid names, while a study is read.

use document::Document;
use std::collections::BTreeSet;
use std::path::Path;

/// The part of a study that is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quickness {
    /// All seeds of everything.
    Whole,
    /// One seed, with the settings of the quick form, and no sensitivities. Numbers that those
    /// settings leave as they are, are judged, by all seeds.
    Quick,
}

/// The place of mistakes, and the valid names.
pub(crate) struct Reading<'d> {
    pub doc: &'d Document<'d>,
    pub folder: &'d Path,
    /// Slugs of the headings of `deviations.md`.
    pub headings: BTreeSet<String>,
    /// Headings with an experiment that shows their content.
    pub shown: BTreeSet<String>,
    pub quickness: Quickness,
}
