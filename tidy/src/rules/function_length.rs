//! A function fits a screen.

use crate::{Finding, Repository, rust};

const LIMIT: usize = 70;

/// No function has more than 70 lines, from its first word to its closing brace.
pub fn function_length(repository: &Repository) -> Vec<Finding> {
    let mut found = Vec::new();
    let mut judge = |file: &crate::SourceFile, name: &str, first: usize, last: usize| {
        let lines = last + 1 - first;
        if lines > LIMIT {
            let advice = "give its steps names of their own";
            let message = format!("`{name}` has {lines} lines, the limit is {LIMIT}: {advice}");
            found.push(file.finding(first, message));
        }
    };
    for (file, text) in repository.texts(&["rs"]) {
        for function in rust::functions(text) {
            judge(file, &function.name, function.first_line, function.last_line);
        }
    }
    for (file, text) in repository.texts(&["py"]) {
        for (name, first, last) in python_functions(text) {
            judge(file, name, first, last);
        }
    }
    found
}

/// Name, first and last line of each function, by indentation.
fn python_functions(text: &str) -> Vec<(&str, usize, usize)> {
    let lines: Vec<&str> = text.lines().collect();
    let indent = |line: &str| line.len() - line.trim_start().len();
    let mut found = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let Some(rest) = line.trim_start().strip_prefix("def ") else { continue };
        let name = rest.split('(').next().unwrap_or_default();
        let outer = indent(line);
        // A line that only closes the parameter list, or is empty, does not end the function.
        let ends = |text: &&str| {
            !text.trim().is_empty() && indent(text) <= outer && !text.trim_start().starts_with(')')
        };
        let body = lines.get(at + 1..).unwrap_or_default();
        let length = body.iter().position(ends).unwrap_or(body.len());
        let used = body.get(..length).unwrap_or_default();
        let last = used.iter().rposition(|text| !text.trim().is_empty()).map_or(0, |at| at + 1);
        found.push((name, at + 1, at + 1 + last));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_too_many_is_found() {
        let fits = format!("fn fits() {{\n{}}}\n", "    x();\n".repeat(LIMIT - 2));
        let long = format!("\nfn long() {{\n{}}}\n", "    x();\n".repeat(LIMIT - 1));
        let found = function_length(&Repository::of(&[("a.rs", &fits), ("b.rs", &long)]));
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].path.as_str(), found[0].line), ("b.rs", 2));
    }

    #[test]
    fn python_is_measured_by_indentation() {
        let text =
            "def a(\n    x,\n):\n    return x\n\n\nclass B:\n    def c(self):\n        pass\n";
        assert_eq!(python_functions(text), [("a", 1, 4), ("c", 8, 9)]);
        let long = format!("def long():\n{}", "    x()\n".repeat(LIMIT));
        assert_eq!(function_length(&Repository::of(&[("a.py", &long)])).len(), 1);
    }
}
