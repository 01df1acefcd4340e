//! Numbers as results show them.

/// A number with three significant digits.
#[must_use]
pub fn digits(value: f64) -> String {
    match value.abs() {
        v if v < 0.000_5 => "0".to_owned(),
        v if v >= 99.95 => format!("{value:.0}"),
        v if v >= 9.995 => format!("{value:.1}"),
        v if v >= 0.9995 => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    }
}
