//! Tests cite the requirements of protocol documents that they show.

use std::collections::BTreeMap;

use crate::{Finding, Repository, SourceFile, rust};

/// The page that lists the demands.
const PAGE: &str = "docs/reference/conformance.md";

/// Beginnings of rows without a test, which give a reason.
const REASONS: &[&str] = &["does not apply: ", "not met: "];

/// Tests of this rule have citations in their texts.
const HERE: &str = "tidy/";

/// A row of the page: a demand and the tests that show it.
struct Demand<'a> {
    line: usize,
    /// Files and functions in them.
    tests: Vec<(&'a str, &'a str)>,
    has_reason: bool,
}

/// A demand's id in brackets, in a comment.
struct Citation<'a> {
    line: usize,
    id: &'a str,
}

/// Every test named on the page exists and cites the requirement, in the comment above it or inside
/// it. Every citation is on the page.
pub fn conformance(repository: &Repository) -> Vec<Finding> {
    let Some((page, text)) = repository.texts(&["md"]).find(|(file, _)| file.path == PAGE) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    let mut demands: BTreeMap<&str, Demand<'_>> = BTreeMap::new();
    for (id, demand) in text.lines().enumerate().filter_map(|(at, row)| read_row(at + 1, row)) {
        if demand.tests.is_empty() && !demand.has_reason {
            let advice = format!("name a test, or begin with one of {REASONS:?}");
            found.push(page.finding(demand.line, format!("`{id}` has no test: {advice}")));
        }
        for (path, name) in &demand.tests {
            if let Some(message) = missing(repository, id, path, name) {
                found.push(page.finding(demand.line, message));
            }
        }
        let line = demand.line;
        if demands.insert(id, demand).is_some() {
            found.push(page.finding(line, format!("`{id}` is the id of another row, too")));
        }
    }
    for (file, text) in repository.texts(&["rs"]).filter(|(file, _)| !file.path.starts_with(HERE)) {
        found.extend(strays(file, text, &demands));
    }
    found
}

/// The row's id and its text; `None` for a line without a requirement.
fn read_row(line: usize, row: &str) -> Option<(&str, Demand<'_>)> {
    let cells: Vec<&str> = row.strip_prefix("| ")?.strip_suffix(" |")?.split(" | ").collect();
    let (id, last) = (cells.first().filter(|id| is_id(id))?, cells.last()?);
    let mut tests = Vec::new();
    let mut path = "";
    for quoted in last.split('`').skip(1).step_by(2) {
        match quoted.contains('/') {
            true => path = quoted,
            false => tests.push((path, quoted)),
        }
    }
    let has_reason = REASONS.iter().any(|reason| last.starts_with(reason));
    if has_reason {
        tests.clear();
    }
    Some((id, Demand { line, tests, has_reason }))
}

/// Returns `true` for one or several words and a number: `signed-interest-3`.
fn is_id(text: &str) -> bool {
    text.rsplit_once('-').is_some_and(|(document, number)| {
        let is_word = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_lowercase());
        document.split('-').all(is_word)
            && !number.is_empty()
            && number.bytes().all(|b| b.is_ascii_digit())
    })
}

/// The reason why the function is not a test that shows the requirement.
fn missing(repository: &Repository, id: &str, path: &str, name: &str) -> Option<String> {
    let Some(text) = repository.file(path).and_then(SourceFile::text) else {
        return Some(format!("`{id}`: nothing at `{path}` for `{name}`"));
    };
    let functions = rust::functions(text);
    let Some(function) = functions.iter().find(|function| function.name == name) else {
        return Some(format!("`{id}`: no function `{name}` in `{path}`"));
    };
    let ends = functions.iter().map(|other| other.last_line);
    let before = ends.filter(|end| *end < function.first_line).max().unwrap_or(0);
    let mut above = text.lines().take(function.first_line).skip(before);
    if !above.any(|line| line.trim() == "#[test]") {
        return Some(format!("`{id}`: `{name}` in `{path}` is no test"));
    }
    let is_cited = citations(text).any(|citation| {
        citation.id == id && citation.line > before && citation.line <= function.last_line
    });
    let advice = "cite the demand there: document, section, and its id in brackets";
    (!is_cited).then(|| format!("`{id}`: `{name}` in `{path}` does not cite it: {advice}"))
}

/// The citations in a file that the page does not list.
fn strays(file: &SourceFile, text: &str, demands: &BTreeMap<&str, Demand<'_>>) -> Vec<Finding> {
    let stray = citations(text).filter(|citation| {
        let tests = demands.get(citation.id).map(|demand| &demand.tests[..]).unwrap_or_default();
        !tests.iter().any(|(path, _)| *path == file.path)
    });
    stray
        .map(|Citation { line, id }| {
            file.finding(line, format!("`{PAGE}` names no test in this file for `{id}`"))
        })
        .collect()
}

/// The citations in comments, in their order.
fn citations(text: &str) -> impl Iterator<Item = Citation<'_>> {
    text.lines().enumerate().flat_map(|(at, line)| {
        let comment = line.split_once("//").map_or("", |(_, comment)| comment);
        let brackets = comment.split('[').skip(1).filter_map(|rest| Some(rest.split_once(']')?.0));
        brackets.filter(|text| is_id(text)).map(move |id| Citation { line: at + 1, id })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEST: &str = "crates/packet/tests/tlv.rs";

    /// The findings for a page with this last cell for `tlv-3`, and for a test file.
    fn check(cell: &str, test: &str) -> Vec<String> {
        let page = format!("# A page\n\n| id | tests |\n|---|---|\n| tlv-3 | it must | {cell} |\n");
        let files = [(PAGE, &page[..]), (TEST, test)];
        let found = conformance(&Repository::of(&files));
        found.into_iter().map(|finding| finding.to_string()).collect()
    }

    fn named(functions: &str) -> String {
        format!("`{TEST}`: {functions}")
    }

    #[test]
    fn a_test_that_cites_its_demand_is_enough() {
        let above = "// tlv.rst, \"TLV\": [tlv-3].\n#[test]\nfn a() {\n}\n";
        let inside = "fn before() {\n}\n#[test]\nfn a() {\n    f(); // [tlv-3]\n}\n";
        for test in [above, inside] {
            assert_eq!(check(&named("`a`"), test), [""; 0]);
        }
    }

    #[test]
    fn a_test_that_is_not_there_or_does_not_cite_is_found() {
        let found = check(&named("`gone`"), "// [tlv-3]\nfn a() {\n}\n");
        assert!(found[0].contains("no function `gone`"), "{found:?}");
        let found = check("`crates/gone.rs`: `a`", "fn a() {\n}\n");
        assert!(found[0].contains("nothing at `crates/gone.rs`"), "{found:?}");
        let found = check(&named("`a`"), "#[test]\nfn b() {\n}\n// [tlv-3]\nfn a() {\n}\n");
        assert!(found[0].contains("is no test"), "{found:?}");
        // The citation of its neighbours is not its own.
        let before = "// [tlv-3]\nfn b() {\n}\n#[test]\nfn a() {\n}\n";
        let behind = "#[test]\nfn a() {\n}\n// [tlv-3]\nfn b() {\n}\n";
        for test in [before, behind] {
            let found = check(&named("`a`"), test);
            assert!(found[0].contains("does not cite it"), "{found:?}");
        }
        let both = "// [tlv-3]\n#[test]\nfn a() {\n}\n#[test]\nfn b() {\n}\n";
        let found = check(&named("`a`, `b`"), both);
        assert!(found.len() == 1 && found[0].contains("`b`"), "{found:?}");
    }

    #[test]
    fn a_demand_without_a_test_has_a_reason() {
        assert!(check("none yet", "")[0].contains("has no test"));
        assert!(check("", "")[0].contains("has no test"));
        for reason in ["does not apply: Weir has no `ether` faces", "not met: it is rejected"] {
            assert_eq!(check(reason, ""), [""; 0]);
        }
    }

    #[test]
    fn a_citation_that_the_page_does_not_have_is_found() {
        let found = check("not met: so", "fn a() {\n    // [tlv-3], [tlv-4]\n}\n");
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[1].starts_with("crates/packet/tests/tlv.rs:2: "), "{found:?}");
        // A text outside a comment, or without an id, is not a citation.
        assert_eq!(
            check("not met: so", "fn a() { b[c-4]; } // [0-9], [of-tlv], [a b-2]\n"),
            [""; 0]
        );
    }

    #[test]
    fn an_id_is_given_once() {
        let page = "| tlv-3 | a | not met: so |\n| tlv-3 | b | not met: so |\n";
        let found = conformance(&Repository::of(&[(PAGE, page)]));
        assert!(found.len() == 1 && found[0].message.contains("another row"), "{found:?}");
    }
}
