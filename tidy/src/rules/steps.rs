//! The steps of `docs/architecture.md`, "The journey of a packet", are those of the pipeline.

use crate::{Finding, Repository};
use std::collections::BTreeSet;

const PAGE: &str = "docs/architecture.md";
const HEADING: &str = "## The journey of a packet";
const PIPELINE: &str = "crates/forwarder/src/pipeline/";

/// Steps before and after the pipeline: of the driver, and of a link that sends.
const OUTSIDE: [u32; 4] = [1, 16, 17, 18];

/// Comments of the pipeline that begin with a number name a step of the page, and each step of the
/// page that is one of the pipeline has such a comment.
pub fn steps(repository: &Repository) -> Vec<Finding> {
    let Some(page) = repository.file(PAGE) else { return Vec::new() };
    let described = described(page.text().unwrap_or_default());
    let mut found = BTreeSet::new();
    let mut findings = Vec::new();
    let files = repository.texts(&["rs"]).filter(|(file, _)| file.path.starts_with(PIPELINE));
    for (file, text) in files {
        for (number, line) in text.lines().enumerate() {
            for step in named(line) {
                found.insert(step);
                if !described.contains(&step) {
                    let what = format!("{PAGE} describes no step {step}");
                    findings.push(file.finding(number + 1, what));
                }
            }
        }
    }
    let absent = described.iter().filter(|step| !OUTSIDE.contains(step) && !found.contains(step));
    findings.extend(absent.map(|step| {
        page.finding(0, format!("no comment of {PIPELINE} begins with the number of step {step}"))
    }));
    findings
}

/// The numbers of the list items below the heading.
fn described(page: &str) -> BTreeSet<u32> {
    let lines = page.lines().skip_while(|line| *line != HEADING).skip(1);
    let section = lines.take_while(|line| !line.starts_with("## "));
    section.filter_map(|line| line.split_once(". ")?.0.parse().ok()).collect()
}

/// The numbers that a comment begins with: 5 and 7 in `// 5, 7. PIT`.
fn named(line: &str) -> Vec<u32> {
    let text = line.trim_start();
    let Some(text) = text.strip_prefix("/// ").or_else(|| text.strip_prefix("// ")) else {
        return Vec::new();
    };
    let numbers = text.split_once(". ").map(|(numbers, _)| numbers.split(", "));
    let numbers = numbers.and_then(|numbers| numbers.map(|n| n.parse().ok()).collect());
    numbers.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# A\n\n1. no\n\n## The journey of a packet\n\n1. Read.\n2. Check it.\n3. \
                        Look it up.\n\n## Rules\n\n9. no\n";

    fn judged(code: &str) -> Vec<String> {
        let path = "crates/forwarder/src/pipeline/data.rs";
        let repository = Repository::of(&[(PAGE, TEXT), (path, code)]);
        let texts = steps(&repository).into_iter().map(|finding| finding.message);
        texts.collect()
    }

    #[test]
    fn the_numbers_of_comments_are_those_of_the_page() {
        assert_eq!(judged("/// 2. Checks.\nfn a() {\n    // 2, 3. PIT\n}\n"), [""; 0]);
        let absent = format!("no comment of {PIPELINE} begins with the number of step 3");
        assert_eq!(judged("// 2. Check\n"), [absent]);
        let unknown = format!("{PAGE} describes no step 9");
        assert_eq!(judged("// 2. Check\n// 3. Look\n\n// 9. none\n"), [unknown]);
    }

    #[test]
    fn a_number_within_a_comment_names_no_step() {
        assert_eq!(named("    // After RFC 8793. 5 of them"), [0; 0]);
        assert_eq!(named("let a = 5. ;"), [0; 0]);
        assert_eq!(named("        // 14, 15. Each entry"), [14, 15]);
    }
}
