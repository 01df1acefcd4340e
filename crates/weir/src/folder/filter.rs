//! The choice of files by `--include` and `--exclude`.

use crate::cli::content::FilterArgs;
use crate::exit::{Failure, Kind};
use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Patterns of files to publish or fetch.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    include: Option<GlobSet>,
    exclude: Option<GlobSet>,
}

impl Filter {
    /// # Errors
    /// One of the patterns is malformed.
    pub fn new(args: &FilterArgs) -> Result<Filter, Failure> {
        let (include, exclude) = (set(&args.include)?, set(&args.exclude)?);
        Ok(Filter { include, exclude })
    }

    /// True if the file, or link, with this path is chosen. `--include` takes precedence; alone, it
    /// leaves out all other files.
    #[must_use]
    pub fn takes_file(&self, path: &[u8]) -> bool {
        match (&self.include, &self.exclude) {
            (Some(include), _) if matches(include, path) => true,
            (Some(_), None) => false,
            (_, exclude) => !exclude.as_ref().is_some_and(|exclude| matches(exclude, path)),
        }
    }

    /// True if the directory with this path is entered.
    #[must_use]
    pub fn takes_directory(&self, path: &[u8]) -> bool {
        !self.exclude.as_ref().is_some_and(|exclude| matches(exclude, path))
    }

    /// True if everything is chosen.
    #[must_use]
    pub fn takes_all(&self) -> bool {
        self.include.is_none() && self.exclude.is_none()
    }

    /// True if directories without chosen files are left out.
    #[must_use]
    pub fn is_selective(&self) -> bool {
        self.include.is_some() && self.exclude.is_none()
    }
}

fn matches(set: &GlobSet, path: &[u8]) -> bool {
    set.is_match(Path::new(OsStr::from_bytes(path)))
}

/// A pattern with a slash is compared with the path from the tree's folder, another one with the
/// name alone, at any depth.
fn set(patterns: &[String]) -> Result<Option<GlobSet>, Failure> {
    if patterns.is_empty() {
        return Ok(None);
    }
    let mut all = GlobSetBuilder::new();
    for pattern in patterns {
        let bare = pattern.trim_end_matches('/');
        let bare = bare.strip_prefix("./").unwrap_or(bare);
        if bare.is_empty() || bare == "." {
            let message = format!("the pattern `{pattern}` is empty and matches no entry");
            return Err(Failure::new(Kind::Usage, message).then("leave it out"));
        }
        let whole = match bare.strip_prefix('/') {
            Some(path) => path.to_owned(),
            None if bare.contains('/') => bare.to_owned(),
            None => format!("**/{bare}"),
        };
        let glob = GlobBuilder::new(&whole).literal_separator(true).build();
        all.add(glob.map_err(|why| no_pattern(pattern, &why))?);
    }
    Ok(Some(all.build().map_err(|why| no_pattern(&patterns.join(" "), &why))?))
}

fn no_pattern(pattern: &str, why: &globset::Error) -> Failure {
    let message = format!("`{pattern}` is not a pattern: {}", why.kind());
    Failure::new(Kind::Usage, message).then("write it like '*.jpg' or 'photos/**/*.raw'")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filter(include: &[&str], exclude: &[&str]) -> Filter {
        let list = |patterns: &[&str]| patterns.iter().map(|p| (*p).to_owned()).collect();
        Filter::new(&FilterArgs { include: list(include), exclude: list(exclude) }).unwrap()
    }

    #[test]
    fn names_match_at_any_depth_and_paths_from_the_top() {
        let no_objects = filter(&[], &["*.o", "/build", "a/*.c"]);
        for path in ["x.o", "a/b/x.o", "build", "a/x.c"] {
            assert!(!no_objects.takes_file(path.as_bytes()), "{path}");
        }
        for path in ["x.c", "a/build", "a/b/x.c", "x.oo"] {
            assert!(no_objects.takes_file(path.as_bytes()), "{path}");
        }
        assert!(!no_objects.takes_directory(b"build") && no_objects.takes_directory(b"src"));
    }

    #[test]
    fn an_include_alone_leaves_out_the_rest_and_otherwise_makes_exceptions() {
        let only = filter(&["*.jpg"], &[]);
        assert!(only.takes_file(b"a/b.jpg") && !only.takes_file(b"a/b.png"));
        assert!(only.takes_directory(b"a") && only.is_selective());
        let but = filter(&["keep.o"], &["*.o"]);
        assert!(but.takes_file(b"a/keep.o") && but.takes_file(b"a/x.c"));
        assert!(!but.takes_file(b"a/x.o") && !but.is_selective());
        assert!(filter(&[], &[]).takes_file(b"anything"));
    }

    #[test]
    fn a_malformed_pattern_is_named() {
        let args = FilterArgs { include: vec!["a[".to_owned()], exclude: Vec::new() };
        let error = Filter::new(&args).unwrap_err().to_string();
        assert!(error.contains("`a[` is not a pattern"), "{error}");
        for empty in ["", "/", "./"] {
            let args = FilterArgs { include: Vec::new(), exclude: vec![empty.to_owned()] };
            let error = Filter::new(&args).unwrap_err().to_string();
            assert!(error.contains(&format!("`{empty}` is empty")), "{error}");
        }
        assert!(!filter(&[], &["./a.jpg"]).takes_file(b"a.jpg"));
    }
}
