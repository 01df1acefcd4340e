//! Where the documentation is.

use crate::exit::{Failure, Kind};
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// A file that every built site has.
const MARK: &str = "versions.json";
/// The folder of packages, beside `bin`.
const INSTALLED: &str = "share/doc/weir/site";
/// The folder of a checkout, in `target`.
const BUILT: &str = "site";

/// The folder of the documentation.
///
/// # Errors
/// The documentation is not installed. The message has the place to get it.
pub fn find(given: Option<&Path>) -> Result<PathBuf, Failure> {
    if let Some(folder) = given {
        if has_site(folder) {
            return Ok(folder.to_owned());
        }
        let what = format!("{} has no documentation: there is no {MARK}", folder.display());
        let next = "build it in a checkout of Weir: scripts/docs site DIR";
        return Err(Failure::new(Kind::File, what).then(next));
    }
    let program = std::env::current_exe();
    let places = program.map(|program| places(&program, INSTALLED, BUILT)).unwrap_or_default();
    if let Some(found) = places.iter().find(|place| has_site(place)) {
        return Ok(found.clone());
    }
    let mut what = "the documentation is not installed".to_owned();
    for place in &places {
        // Writing to a string cannot fail.
        let _ = write!(what, ", not in {}", place.display());
    }
    let next = "build it in a checkout of Weir with `scripts/docs site`, and name its folder: weir \
                docs target/site";
    Err(Failure::new(Kind::File, what).then(next))
}

fn has_site(folder: &Path) -> bool {
    folder.join(MARK).is_file()
}

/// The places where files of a program may be: `PREFIX/INSTALLED` of `PREFIX/bin/weir`, and
/// `target/BUILT` of `target/PROFILE/weir` or `target/TRIPLE/PROFILE/weir`.
///
/// A program elsewhere has none: beside a program in a folder such as `/tmp/x`, any user may be
/// able to create `/tmp/share`.
pub fn places(program: &Path, installed: &str, built: &str) -> Vec<PathBuf> {
    let mut above = program.ancestors().skip(1);
    let is_in_bin = above.next().is_some_and(|folder| folder.ends_with("bin"));
    let prefix = above.next();
    let of_checkout = [prefix, above.next()].into_iter().flatten();
    let of_checkout = of_checkout.filter(|folder| folder.ends_with("target"));
    let installed = prefix.filter(|_| is_in_bin).map(|prefix| prefix.join(installed));
    installed.into_iter().chain(of_checkout.map(|target| target.join(built))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(program: &str) -> Vec<String> {
        let all = places(Path::new(program), INSTALLED, BUILT);
        all.iter().map(|place| place.display().to_string()).collect()
    }

    #[test]
    fn a_package_and_a_checkout_have_it_at_a_place_relative_to_the_program() {
        assert_eq!(of("/usr/bin/weir"), ["/usr/share/doc/weir/site"]);
        assert_eq!(of("/src/target/debug/weir"), ["/src/target/site"]);
        let triple = "/src/target/x86_64-unknown-linux-musl/release/weir";
        assert_eq!(of(triple), ["/src/target/site"]);
        // Any user may create /tmp/share.
        for elsewhere in ["/weir", "/bin", "/tmp/weir", "/tmp/x/weir", "/tmp/bins/weir"] {
            assert_eq!(of(elsewhere), Vec::<String>::new(), "{elsewhere}");
        }
    }

    #[test]
    fn a_folder_without_a_site_is_an_error_with_the_command_to_build_it() {
        let folder = tempfile::tempdir().unwrap();
        let error = find(Some(folder.path())).unwrap_err();
        assert_eq!(error.kind(), Kind::File);
        assert!(error.to_string().contains("scripts/docs site"), "{error}");
        std::fs::write(folder.path().join("versions.json"), "[]").unwrap();
        assert_eq!(find(Some(folder.path())).unwrap(), folder.path());
    }
}
