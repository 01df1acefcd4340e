//! Banned identifiers, each with its replacement.

use proc_macro2::TokenTree;

use super::CORE;
use crate::{Finding, Repository, SourceFile, rust};

/// Macros for unfinished code.
const MACROS: &[(&str, &str)] = &[
    ("todo", "write the code"),
    ("unimplemented", "write the code, or return a typed error"),
    ("dbg", "return the value, or record an event through `tracing` in a driver"),
];

/// Paths that are wrong everywhere.
const ANYWHERE: &[(&str, &str)] = &[
    (
        "std::collections::HashMap",
        "`BTreeMap`, or `hashbrown` with a keyed hash: its order is random",
    ),
    (
        "std::collections::HashSet",
        "`BTreeSet`, or `hashbrown` with a keyed hash: its order is random",
    ),
    ("std::collections::hash_map", "`BTreeMap`: the order of a hash table is random"),
];

/// Paths that a state machine must not use.
const IN_CORE: &[(&str, &str)] = &[
    ("std::time", "`control::Time` and `control::Duration`, handed in as arguments"),
    ("core::time", "`control::Duration`"),
    ("std::thread", "nothing: the core does not wait; a driver does"),
    ("std::fs", "bytes handed in by a driver"),
    ("std::env", "a parameter handed in by a driver"),
    ("std::process", "a typed error"),
    ("std::os", "a driver in `crates/net`"),
    ("std::net::UdpSocket", "a driver in `crates/net`"),
    ("std::net::TcpStream", "a driver in `crates/net`"),
    ("std::net::TcpListener", "a driver in `crates/net`"),
    ("rand", "`control::Rng`, handed in with each call"),
    ("getrandom", "`control::Rng`, handed in with each call"),
];

/// Exceptions for single crates of the core, with reasons.
const EXCEPTIONS: &[(&str, &str)] = &[
    ("security", "std::fs"), // keeps keys on disk, where there is a disk
    ("security", "std::os"), // and gives their files the mode 0600
];

/// Finds banned macros, paths and attributes in the code.
pub fn banned_identifiers(repository: &Repository) -> Vec<Finding> {
    let mut found = Vec::new();
    for (file, text) in repository.texts(&["rs"]) {
        macros(file, text, &mut found);
        paths(file, text, &mut found);
    }
    found
}

fn macros(file: &SourceFile, text: &str, found: &mut Vec<Finding>) {
    rust::identifiers(text, |line, word, next| {
        let known = MACROS.iter().find(|(name, _)| *name == word);
        if let Some((name, instead)) = known.filter(|_| is_bang(next)) {
            found.push(file.finding(line, format!("`{name}!`: {instead}")));
        }
    });
    for (at, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("#[ignore") {
            let advice = "nobody runs it: make it quick, or make it a benchmark";
            found.push(file.finding(at + 1, format!("`#[ignore]`: {advice}")));
        }
    }
}

fn is_bang(token: Option<&TokenTree>) -> bool {
    let Some(TokenTree::Punct(mark)) = token else { return false };
    mark.as_char() == '!'
}

fn paths(file: &SourceFile, text: &str, found: &mut Vec<Finding>) {
    let home = file.crate_name().filter(|name| CORE.contains(name) && !file.is_test());
    for used in rust::used_paths(text) {
        let under = |banned: &str| {
            used.path
                .strip_prefix(banned)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
        };
        let in_core = home.filter(|_| !used.in_test).into_iter().flat_map(|name| {
            IN_CORE.iter().filter(move |(path, _)| !EXCEPTIONS.contains(&(name, path)))
        });
        for (path, instead) in ANYWHERE.iter().chain(in_core).filter(|(path, _)| under(path)) {
            found.push(file.finding(used.line, format!("`{path}`: use {instead}")));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(path: &str, text: &str) -> Vec<usize> {
        let repository = Repository::of(&[(path, text)]);
        banned_identifiers(&repository).into_iter().map(|finding| finding.line).collect()
    }

    #[test]
    fn an_unfinished_macro_is_found_and_a_word_in_a_string_is_not() {
        assert_eq!(lines("tidy/src/a.rs", "fn f() {\n    todo!()\n}\n"), [2]);
        assert_eq!(lines("tidy/src/a.rs", "const T: &str = \"todo!\";\nfn todo() {}\n"), []);
    }

    #[test]
    fn a_hash_map_is_found_anywhere_and_hashbrown_is_not() {
        assert_eq!(
            lines("crates/net/src/a.rs", "use std::collections::{BTreeMap, HashMap};\n"),
            [1]
        );
        assert_eq!(lines("crates/net/src/a.rs", "use hashbrown::HashMap;\n"), []);
    }

    #[test]
    fn a_clock_is_found_in_the_core_only() {
        let text = "use std::time::Instant;\n";
        assert_eq!(lines("crates/forwarder/src/a.rs", text), [1]);
        assert_eq!(lines("crates/net/src/a.rs", text), []);
    }

    #[test]
    fn tests_of_the_core_may_read_files() {
        let text = "#[cfg(test)]\nmod tests {\n    use std::fs;\n}\n";
        assert_eq!(lines("crates/packet/src/a.rs", text), []);
        assert_eq!(lines("crates/packet/tests/a.rs", "use std::fs;\n"), []);
        assert_eq!(lines("crates/packet/src/a.rs", "use std::fs;\n"), [1]);
        assert_eq!(lines("crates/security/src/a.rs", "use std::fs;\n"), []);
    }

    #[test]
    fn an_ignored_test_is_found() {
        assert_eq!(lines("crates/net/src/a.rs", "#[test]\n#[ignore]\nfn slow() {}\n"), [2]);
    }
}
