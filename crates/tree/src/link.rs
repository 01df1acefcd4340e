//! Symbolic links that stay within their tree.

/// True if a symbolic link stays within its tree: `depth` is the number of directories between the
/// tree's folder and the link, and 0 for a link in the folder itself.
///
/// The target must be relative, and `..` may only begin it, at most `depth` times. Then it leads up
/// through real directories and down through entries of the tree. Elsewhere, as in `link/..`, the
/// kernel follows `link` first, and a target that looks as if it stayed within may leave.
#[must_use]
pub fn stays_within(target: &[u8], depth: usize) -> bool {
    if target.is_empty() || target[0] == b'/' || target.contains(&0) {
        return false;
    }
    let (mut up, mut down) = (0, false);
    for part in target.split(|byte| *byte == b'/') {
        match part {
            b"" | b"." => {}
            b".." if down => return false,
            b".." => up += 1,
            _ => down = true,
        }
    }
    up <= depth
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_that_lead_outside_are_found() {
        for (target, depth) in [
            ("/etc/passwd", 3),
            ("", 3),
            ("..", 0),
            ("../x", 0),
            ("../../x", 1),
            ("a/../../x", 0),
            // It may stay within as text, but `a` may be a link to a directory further up.
            ("a/../b", 1),
            ("a/..", 2),
            ("./../x", 0),
            ("a\0b", 1),
        ] {
            assert!(!stays_within(target.as_bytes(), depth), "{target} at {depth}");
        }
    }

    #[test]
    fn links_within_are_accepted() {
        for (target, depth) in [
            ("x", 0),
            ("./x", 0),
            ("a/b/c", 0),
            ("..", 1),
            ("../x", 1),
            ("../../../include/x", 3),
            (".././../x", 2),
            ("..x/...", 0),
            ("a//b/", 0),
        ] {
            assert!(stays_within(target.as_bytes(), depth), "{target} at {depth}");
        }
    }
}
