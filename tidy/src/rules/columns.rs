//! Lines fit two windows side by side.

use crate::{Finding, Repository};

const LIMIT: usize = 100;

/// No line of code is wider than 100 characters. An address cannot be broken and may stand out.
pub fn line_width(repository: &Repository) -> Vec<Finding> {
    let mut found = Vec::new();
    for (file, text) in repository.texts(&["rs", "py", "sh"]) {
        for (at, line) in text.lines().enumerate() {
            let width = line.chars().count();
            if width > LIMIT && !line.contains("://") {
                let message = format!("{width} characters, the limit is {LIMIT}: break the line");
                found.push(file.finding(at + 1, message));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wide_line_is_found_and_an_address_is_not() {
        let wide = "é".repeat(LIMIT + 1);
        let address = format!("// https://{wide}");
        let fits = "é".repeat(LIMIT);
        let text = format!("{fits}\n{wide}\n{address}\n");
        let found = line_width(&Repository::of(&[("a.rs", &text)]));
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].line, 2);
    }
}
