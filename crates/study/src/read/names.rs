//! Names and labels.

use document::Document;
use std::collections::BTreeMap;
use toml::Spanned;

/// A duplicate is a mistake.
pub(crate) fn once<'s>(
    doc: &Document<'_>,
    names: impl Iterator<Item = &'s Spanned<String>>,
    what: &str,
) {
    let mut seen = BTreeMap::new();
    for name in names {
        if seen.insert(name.get_ref(), ()).is_some() {
            doc.mistake(name.span(), format!("there is another {what} `{}`", name.get_ref()));
        }
    }
}

/// Labels of items. Names in runs contain a blank, like `a > b` and `c /x`; they can only be
/// checked after a run.
pub(crate) fn labels(
    doc: &Document<'_>,
    labels: &BTreeMap<Spanned<String>, String>,
    cases: &[&str],
) -> BTreeMap<String, String> {
    for name in labels.keys() {
        let label = name.get_ref();
        // It is a case, or the beginning of some.
        let mut ends = cases.iter().filter_map(|case| case.strip_prefix(label.as_str()));
        let is_known = ends.any(|end| end.is_empty() || end.starts_with('-'));
        if !label.contains(' ') && !is_known {
            let valid = document::valid_words(label, cases.iter().copied());
            doc.mistake(name.span(), format!("nothing is called `{label}`; {valid}"));
        }
    }
    labels.iter().map(|(name, label)| (name.get_ref().clone(), label.clone())).collect()
}
