//! Texts that live as long as the process.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

/// Texts that live as long as the process. Schemes and events have few, which return with every
/// definition of a class.
static TEXTS: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());

/// The most texts.
const MOST_TEXTS: usize = 100_000;

/// The text, for as long as the process lives.
pub fn lasting(text: &str) -> &'static str {
    let mut texts = TEXTS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = texts.get(text) {
        return known;
    }
    if texts.len() >= MOST_TEXTS {
        return "other";
    }
    let text: &'static str = Box::leak(text.to_owned().into_boxed_str());
    texts.insert(text);
    text
}
