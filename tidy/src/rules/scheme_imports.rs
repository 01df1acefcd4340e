//! Schemes share parts in a module with a name, not by using each other's files.

use std::collections::BTreeMap;

use crate::figures::imports;
use crate::{Finding, Repository, SourceFile};

/// The files of the schemes; the folder `shared` there has the parts of several schemes.
const HOME: &str = "crates/schemes/src/";

/// No file of a scheme, and no shared part, uses another scheme's file. A scheme whose paper builds
/// on another scheme may: its header then names that file.
pub fn scheme_imports(repository: &Repository) -> Vec<Finding> {
    let files: Vec<(&SourceFile, &str)> =
        repository.texts(&["rs"]).filter(|(file, _)| file.path.starts_with(HOME)).collect();
    let texts: BTreeMap<&str, &str> =
        files.iter().map(|(file, text)| (place(file), *text)).collect();
    let mut found = Vec::new();
    for (from, to) in imports("schemes", &files) {
        let used = scheme(&to);
        let is_scheme = texts.get(used).is_some_and(|text| text.contains("pub const SCHEME"));
        if !is_scheme || from.is_empty() || scheme(&from) == used {
            continue;
        }
        let path = from.replace("::", "/");
        let name = format!("`{used}.rs`");
        if texts.get(path.as_str()).is_none_or(|text| !header(text).contains(&name)) {
            let advice = "move the common part to the folder `shared`; if the paper builds on that \
                          scheme, let the header name the file";
            let message = format!("uses the scheme in {name}: {advice}");
            found.push(Finding { path: format!("{HOME}{path}.rs"), line: 0, message });
        }
    }
    found
}

/// The file's path in the folder, without its ending.
fn place(file: &SourceFile) -> &str {
    let path = file.path.strip_prefix(HOME).unwrap_or(&file.path);
    path.strip_suffix(".rs").unwrap_or(path)
}

/// The scheme that a module belongs to: `bbr` for `bbr::flight`.
fn scheme(module: &str) -> &str {
    module.split_once("::").map_or(module, |(first, _)| first)
}

fn header(text: &str) -> String {
    text.lines().take_while(|line| line.starts_with("//!")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const CUBIC: (&str, &str) =
        ("crates/schemes/src/cubic.rs", "pub const SCHEME: Scheme = S;\npub fn law() {}\n");

    fn paths(path: &str, text: &str) -> Vec<String> {
        let found = scheme_imports(&Repository::of(&[CUBIC, (path, text)]));
        found.into_iter().map(|finding| finding.path).collect()
    }

    #[test]
    fn a_scheme_or_a_shared_part_that_uses_another_scheme_is_found() {
        for (path, text) in [
            ("crates/schemes/src/pcon.rs", "//! PCON.\nuse crate::cubic::law;\n"),
            ("crates/schemes/src/pcon/consumer.rs", "fn f() { crate::cubic::law(); }\n"),
            ("crates/schemes/src/pcon.rs", "use super::{cubic, rate};\n"),
            ("crates/schemes/src/shared/window.rs", "use crate::cubic;\n"),
        ] {
            assert_eq!(paths(path, text), [path], "{text}");
        }
    }

    #[test]
    fn its_own_files_tests_and_a_scheme_of_which_the_header_speaks_are_not() {
        for (path, text) in [
            ("crates/schemes/src/cubic/search.rs", "use crate::cubic::law;\n"),
            ("crates/schemes/src/pcon.rs", "use crate::shared::window;\n"),
            ("crates/schemes/src/pcon.rs", "#[cfg(test)]\nmod tests { use crate::cubic; }\n"),
            ("crates/schemes/src/pcon.rs", "//! The law of `cubic.rs`.\nuse crate::cubic;\n"),
        ] {
            assert_eq!(paths(path, text), [] as [&str; 0], "{text}");
        }
    }
}
