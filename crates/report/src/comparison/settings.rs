//! Settings that distinguish runs.

/// Settings, field and value.
pub type Settings = Vec<(String, String)>;

/// Settings in words.
#[must_use]
pub fn label(settings: &Settings) -> String {
    let parts = settings.iter().map(|(key, value)| format!("{key} {value}"));
    match settings.is_empty() {
        true => "no setting".to_owned(),
        false => parts.collect::<Vec<_>>().join(", "),
    }
}
