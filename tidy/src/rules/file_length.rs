//! A file is a room: one noun, and short enough to be read in one sitting.

use crate::{Finding, Repository};

const LIMIT: usize = 600;

/// No source file has more than 600 lines, its tests included.
pub fn file_length(repository: &Repository) -> Vec<Finding> {
    let too_long = |(file, text): (&crate::SourceFile, &str)| {
        let lines = text.lines().count();
        (lines > LIMIT).then(|| {
            let advice = "split it by noun, or move its tests to a file beside it";
            file.finding(0, format!("{lines} lines, the limit is {LIMIT}: {advice}"))
        })
    };
    repository.texts(&["rs", "py", "sh", "ts", "js", "svelte"]).filter_map(too_long).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_too_many_is_found() {
        let fits = "\n".repeat(LIMIT);
        let long = "\n".repeat(LIMIT + 1);
        let repository = Repository::of(&[("a.rs", &fits), ("b.py", &long), ("c.md", &long)]);
        let found = file_length(&repository);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].path, "b.py");
    }
}
