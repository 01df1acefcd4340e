//! Numbers and findings as text.

use scenario::Mean;
pub use scenario::result::{digits, given, mean_count};

/// A value with its unit.
pub fn with_unit(value: f64, unit: &str) -> String {
    match unit {
        "" => digits(value),
        unit => format!("{} {unit}", digits(value)),
    }
}

/// A mean with its unit; of packets, which are counted, a whole number if every run had the same.
pub fn mean_with_unit(mean: Mean, unit: &str) -> String {
    match unit {
        "packets" => format!("{} {unit}", mean_count(mean)),
        _ => with_unit(mean.mean, unit),
    }
}

/// A rate as text.
pub fn rate(mbps: f64) -> String {
    match mbps {
        m if m >= 1e3 => format!("{} Gbit/s", trimmed(m / 1e3)),
        m if m >= 1.0 => format!("{} Mbit/s", trimmed(m)),
        m => format!("{} kbit/s", trimmed(m * 1e3)),
    }
}

/// Without meaningless digits.
pub fn trimmed(value: f64) -> String {
    let text = digits(value);
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

/// A direction of a link.
pub fn way(from: &str, to: &str) -> String {
    format!("{from} → {to}")
}

/// `a, b and c`
pub fn listed(items: &[String]) -> String {
    match items {
        [] => String::new(),
        [only] => only.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// A text as the beginning of a sentence.
pub fn capital(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|c| c.to_uppercase().to_string()).unwrap_or_default();
    first + letters.as_str()
}

/// Text as HTML.
pub fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            c => out.push(c),
        }
    }
    out
}

/// With its sign.
pub fn signed(value: f64) -> String {
    with_sign(value, digits(value))
}

/// A value as this text, with its sign.
pub fn with_sign(value: f64, text: String) -> String {
    if value > 0.0 && text != "0" { format!("+{text}") } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_people_say_it() {
        assert_eq!(
            [0.056, 20.0, 1500.0, 2.5].map(rate).join(", "),
            "56 kbit/s, 20 Mbit/s, 1.5 Gbit/s, 2.5 Mbit/s"
        );
        assert_eq!(listed(&["a".into(), "b".into(), "c".into()]), "a, b and c");
        assert_eq!(escaped("<a href=\"x\">&"), "&lt;a href=&quot;x&quot;&gt;&amp;");
    }
}
