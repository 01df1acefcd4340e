//! Links and paths in documents have a target.

use crate::{Finding, Repository, SourceFile};

/// Top folders of this repository: a path in backticks that begins with one must exist.
const ROOMS: &[&str] =
    &["crates/", "docs/", "tests/", "bench/", "scripts/", "fuzz/", "tidy/", "scenarios/"];

/// Every relative link, every anchor and every path in backticks leads somewhere.
pub fn dead_links(repository: &Repository) -> Vec<Finding> {
    let mut found = Vec::new();
    for (file, text) in repository.texts(&["md"]) {
        for (line, prose) in outside_code_blocks(text) {
            for target in link_targets(prose).into_iter().filter(|target| !is_outside(target)) {
                if let Some(message) = judge(repository, file, target) {
                    found.push(file.finding(line, message));
                }
            }
            for path in promised_paths(prose).filter(|path| !repository.contains(path)) {
                found.push(file.finding(line, format!("`{path}` is not there: name what is")));
            }
        }
    }
    found
}

/// The lines of prose, with their numbers.
fn outside_code_blocks(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut in_block = false;
    text.lines().enumerate().filter_map(move |(at, line)| {
        let is_fence = line.trim_start().starts_with("```");
        in_block ^= is_fence;
        (!in_block && !is_fence).then_some((at + 1, line))
    })
}

/// The targets of `[text](target)` and of `[label]: target`.
fn link_targets(line: &str) -> Vec<&str> {
    let inline = line.split("](").skip(1).filter_map(|rest| rest.split([')', ' ']).next());
    let definition = line
        .strip_prefix('[')
        .and_then(|rest| rest.split_once("]: "))
        .and_then(|(_, rest)| rest.split_whitespace().next());
    inline.chain(definition).map(|target| target.trim_matches(['<', '>'])).collect()
}

/// Returns `true` for an address on the Web, which is not checked.
fn is_outside(target: &str) -> bool {
    target.contains("://") || target.starts_with("mailto:")
}

fn judge(repository: &Repository, from: &SourceFile, target: &str) -> Option<String> {
    let (path, anchor) = match target.split_once('#') {
        Some((path, anchor)) => (path, Some(anchor)),
        None => (target, None),
    };
    let place = if path.is_empty() { from.path.clone() } else { resolve(&from.path, path) };
    if !repository.contains(&place) {
        return Some(format!("link to `{target}`: nothing at `{place}`"));
    }
    let text = repository.file(&place)?.text()?;
    let missing = anchor.filter(|_| place.ends_with(".md")).filter(|anchor| {
        !outside_code_blocks(text).any(|(_, line)| heading_anchor(line).as_deref() == Some(anchor))
    })?;
    Some(format!("link to `{target}`: no heading gives `#{missing}` in `{place}`"))
}

/// The path from the root that a link in the file leads to.
fn resolve(from: &str, link: &str) -> String {
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    for part in link.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            name => parts.push(name),
        }
    }
    parts.join("/")
}

/// The anchor that a heading gets: lower case, words joined by hyphens, punctuation gone.
fn heading_anchor(line: &str) -> Option<String> {
    let title = line.strip_prefix('#')?.trim_start_matches('#').strip_prefix(' ')?;
    let kept = title.trim().chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
    Some(kept.collect::<String>().to_lowercase().replace(' ', "-"))
}

/// The paths in backticks that begin with a top folder and are exact.
fn promised_paths(line: &str) -> impl Iterator<Item = &str> {
    line.split('`').skip(1).step_by(2).filter(|quoted| {
        let is_exact = !quoted.contains(['*', '<', '{', ' ', '…']) && !quoted.contains("NAME");
        is_exact && ROOMS.iter().any(|room| quoted.starts_with(room))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str) -> Vec<Finding> {
        let other = ("docs/other.md", "# A Title, here\n");
        let room = ("crates/packet/src/lib.rs", "");
        dead_links(&Repository::of(&[("docs/a.md", text), other, room]))
    }

    #[test]
    fn a_dead_link_is_found() {
        let found = check("fine\n[a](other.md), [b](../docs/gone.md)\n[c]: nowhere.md\n");
        let lines: Vec<usize> = found.iter().map(|finding| finding.line).collect();
        assert_eq!(lines, [2, 3]);
        assert!(found[0].message.contains("docs/gone.md"));
    }

    #[test]
    fn a_dead_anchor_is_found() {
        assert_eq!(check("# Here\n[a](other.md#a-title-here) [b](#here)\n"), []);
        assert_eq!(check("[a](other.md#another)\n").len(), 1);
        assert_eq!(check("[a](#nowhere)\n").len(), 1);
    }

    #[test]
    fn addresses_and_code_blocks_are_left_alone() {
        assert_eq!(check("[a](https://named-data.net)\n```\n[b](gone.md)\n```\n"), []);
    }

    #[test]
    fn a_path_in_backticks_must_exist() {
        assert_eq!(check("`crates/packet/src/lib.rs`, `crates/packet/`, `crates/*/src`\n"), []);
        assert_eq!(check("see `crates/packet/src/gone.rs`\n").len(), 1);
    }
}
