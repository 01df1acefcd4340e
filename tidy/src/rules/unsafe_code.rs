//! Memory safety is the compiler's business, but for a few named places.

use super::CORE;
use crate::{Finding, Repository, rust};

/// Where the list is.
const THIS: &str = "tidy/src/rules/unsafe_code.rs";

/// Files that may contain `unsafe`, each with the reason; the file's header explains its soundness.
const ALLOWED: &[(&str, &str)] = &[
    (
        "crates/capi/src/connect.rs",
        "functions that C calls, and whose pointers only C knows to be valid",
    ),
    (
        "crates/capi/src/fetch.rs",
        "functions that C calls, and whose pointers only C knows to be valid",
    ),
    (
        "crates/capi/src/group.rs",
        "functions that C calls, and whose pointers only C knows to be valid",
    ),
    ("crates/capi/src/pointers.rs", "pointers of C become references, texts and slices"),
    (
        "crates/capi/src/publish.rs",
        "functions that C calls, and whose pointers only C knows to be valid",
    ),
    (
        "crates/capi/src/register.rs",
        "functions that C calls, and whose pointers only C knows to be valid",
    ),
    ("crates/capi/src/status.rs", "an exported name, and a test that reads a text of C"),
    (
        "crates/forwarder/tests/allocator/mod.rs",
        "an allocator that counts, so that limits on memory are held against real memory",
    ),
    (
        "crates/router/src/allocator.rs",
        "the C library's malloc_trim, so that a limit on the process's memory can be kept",
    ),
    ("fuzz/src/callbacks.rs", "exported names: callbacks of the compiler's, which do nothing"),
    (
        "tests/portable/src/lib.rs",
        "functions that JavaScript calls, so that runs in WebAssembly can be compared",
    ),
];

/// The core crates forbid unsafe code at their root; elsewhere it is in known files only.
pub fn unsafe_code(repository: &Repository) -> Vec<Finding> {
    let mut found = Vec::new();
    for (file, text) in repository.texts(&["rs"]) {
        let is_core_root = file.path.ends_with("/src/lib.rs")
            && file.path.matches('/').count() == 3
            && file.crate_name().is_some_and(|name| CORE.contains(&name));
        if is_core_root && !text.contains("#![forbid(unsafe_code)]") {
            let message = "a core crate: begin with `#![forbid(unsafe_code)]`";
            found.push(file.finding(0, message));
        }
        if ALLOWED.iter().any(|(path, _)| *path == file.path) {
            continue;
        }
        rust::identifiers(text, |line, word, _| {
            if word == "unsafe" {
                let advice = "use a well-kept library, or add the file and the reason to the list \
                              in tidy/src/rules/unsafe_code.rs";
                found.push(file.finding(line, format!("`unsafe`: {advice}")));
            }
        });
    }
    // A test's repository contains neither the list nor its files.
    let listed = ALLOWED.iter().filter(|_| repository.contains(THIS));
    for (path, _) in listed.filter(|(path, _)| !repository.contains(path)) {
        let message = format!("lists `{path}`, which is gone: take it off the list");
        found.push(Finding { path: THIS.to_owned(), line: 0, message });
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_core_crate_without_the_ban_is_found() {
        let bare = [("crates/packet/src/lib.rs", "//! Packets.\n")];
        assert_eq!(unsafe_code(&Repository::of(&bare)).len(), 1);
        let banned = [("crates/packet/src/lib.rs", "//! Packets.\n#![forbid(unsafe_code)]\n")];
        assert_eq!(unsafe_code(&Repository::of(&banned)), []);
        let driver = [("crates/net/src/lib.rs", "//! Drivers.\n")];
        assert_eq!(unsafe_code(&Repository::of(&driver)), []);
    }

    #[test]
    fn unsafe_outside_the_list_is_found_and_the_word_in_a_comment_is_not() {
        let text = "// unsafe is not needed\nfn f() {\n    unsafe { g() }\n}\n";
        let found = unsafe_code(&Repository::of(&[("crates/net/src/a.rs", text)]));
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].line, 3);
    }
}
