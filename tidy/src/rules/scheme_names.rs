//! Schemes are named only in their files, in the list of schemes, and in the defaults beside it.

use std::collections::BTreeSet;

use crate::{Finding, Repository, SourceFile, rust};

/// Where the schemes are: their files, the registry and the defaults.
const HOME: &str = "crates/schemes/";

/// Names with another meaning: a setting, an adaptation, a kind of face, an option, a replacement
/// policy.
const WORDS: &[&str] = &["fixed", "multicast", "path-label", "random", "rate", "red"];

/// No text outside that folder is a scheme's name: in Rust outside tests, and in the scripts.
/// Documents, tests and scenarios choose schemes by name, as people do.
pub fn scheme_names(repository: &Repository) -> Vec<Finding> {
    let names: BTreeSet<&str> = repository
        .texts(&["rs"])
        .filter(|(file, _)| file.path.starts_with(HOME) && !file.is_test())
        .flat_map(|(_, text)| text.split("pub const SCHEME: Scheme").skip(1))
        .filter_map(|scheme| scheme.split_once("name: \"")?.1.split('"').next())
        .filter(|name| !WORDS.contains(name))
        .collect();
    let mut found = Vec::new();
    let mut look = |file: &SourceFile, line: usize, quoted: &str| {
        if names.contains(quoted) {
            let advice = "let its file say what is special about it, or use `schemes::defaults`";
            found.push(file.finding(line, format!("knows the scheme `{quoted}`: {advice}")));
        }
    };
    for (file, text) in repository.texts(&["rs"]) {
        if !file.is_test() && file.path.starts_with("crates/") && !file.path.starts_with(HOME) {
            rust::strings(text, |line, quoted| look(file, line, quoted));
        }
    }
    for file in repository.files.iter().filter(|file| file.path.starts_with("scripts/")) {
        for (at, line) in file.text().unwrap_or_default().lines().enumerate() {
            let parts = line.split(['"', '\'']).skip(1).step_by(2);
            parts.for_each(|quoted| look(file, at + 1, quoted));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const CUBIC: (&str, &str) = (
        "crates/schemes/src/cubic.rs",
        "pub const SCHEME: Scheme = Scheme {\n    name: \"cubic\",\n};\n",
    );

    fn lines(path: &str, text: &str) -> Vec<usize> {
        let found = scheme_names(&Repository::of(&[CUBIC, (path, text)]));
        found.into_iter().map(|finding| finding.line).collect()
    }

    #[test]
    fn a_name_in_code_is_found_and_one_in_prose_is_not() {
        let text = "/// As `\"cubic\"`.\nfn f() -> &'static str {\n    \"cubic\"\n}\n";
        assert_eq!(lines("crates/net/src/a.rs", text), [3]);
        assert_eq!(lines("crates/net/src/a.rs", "const A: &[&str] = &[\"x\", \"cubic\"];\n"), [1]);
        assert_eq!(lines("crates/net/src/a.rs", "fn f() {\n    g(vec![\"cubic\"]);\n}\n"), [2]);
        assert_eq!(lines("crates/net/src/a.rs", "const A: &str = \"a cubic metre\";\n"), []);
    }

    #[test]
    fn a_name_in_a_script_is_found() {
        assert_eq!(lines("scripts/a/b.py", "\nPLAIN = \"cubic\"\n"), [2]);
        assert_eq!(lines("scripts/a", "f('x', 'cubic')\n"), [1]);
        assert_eq!(lines("scripts/a", "# what cubic does\n"), []);
    }

    #[test]
    fn tests_and_the_schemes_themselves_choose_by_name() {
        let text = "#[cfg(test)]\nmod tests {\n    const A: &str = \"cubic\";\n}\n";
        assert_eq!(lines("crates/net/src/a.rs", text), []);
        let text = "const A: &str = \"cubic\";\n";
        assert_eq!(lines("crates/net/tests/a.rs", text), []);
        assert_eq!(lines("crates/schemes/src/defaults.rs", text), []);
        assert_eq!(lines("tests/end_to_end/a.py", "A = 'cubic'\n"), []);
    }
}
