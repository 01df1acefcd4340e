//! The nearest valid word to a mistyped one.

/// The word of `valid` nearest to `word`, if it is near enough to be what was meant: at most a
/// third of its letters differ.
#[must_use]
pub fn nearest<'a>(word: &str, valid: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = word.to_lowercase().replace('-', "_");
    valid
        .into_iter()
        .map(|v| (strsim::osa_distance(&word, &v.to_lowercase().replace('-', "_")), v))
        .filter(|(d, v)| *d * 3 <= v.chars().count().max(3))
        .min_by_key(|(d, _)| *d)
        .map(|(_, v)| v)
}

/// `; did you mean …?` for the nearest word, then the list of valid ones.
#[must_use]
pub fn valid_words<'a>(word: &str, valid: impl IntoIterator<Item = &'a str> + Clone) -> String {
    let list: Vec<String> = valid.clone().into_iter().map(|v| format!("`{v}`")).collect();
    let list = if list.is_empty() { "none".to_owned() } else { list.join(", ") };
    match nearest(word, valid) {
        Some(v) => format!("did you mean `{v}`? Valid are {list}"),
        None => format!("valid are {list}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_near_words_are_suggested() {
        let valid = ["rate", "queue", "content_store"];
        assert_eq!(nearest("raet", valid), Some("rate"));
        assert_eq!(nearest("content-stroe", valid), Some("content_store"));
        assert_eq!(nearest("banana", valid), None);
    }
}
