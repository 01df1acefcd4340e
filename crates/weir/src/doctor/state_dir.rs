//! The folders that the program keeps for its user: $WEIR_HOME or ~/.weir, and the keys in it.

use super::check::{Check, Verdict};
use control::Size;
use rustix::fs::{Access, access};
use rustix::process::geteuid;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Write permission of the group and of other users.
const OTHERS_WRITE: u32 = 0o022;
/// Hundreds of keys and certificates.
const SPACE: u64 = 10_000_000;
/// A key and its certificate.
const LEAST_SPACE: u64 = 64_000;

/// An existing folder.
#[derive(Clone, Copy, Debug)]
struct Folder {
    mode: u32,
    /// It belongs to another user, and this one is not root.
    foreign: bool,
    /// This user may write to it.
    writable: bool,
}

/// Reads and judges everything. `keys` is the folder of the keys.
pub fn examine(keys: &Path) -> Vec<Check> {
    let home = keys.parent().unwrap_or(keys);
    let mut checks = vec![checked("home-folder", home), checked("keys-folder", keys)];
    // A missing folder will be on the file system of its nearest existing parent.
    let there = home.ancestors().find(|folder| folder.exists()).unwrap_or(Path::new("/"));
    let free = match std::fs::File::open(there) {
        Ok(folder) => crate::file::free(&folder)
            .ok_or_else(|| "the file system does not report it".to_owned()),
        Err(error) => Err(error.to_string()),
    };
    checks.push(judge_space(home, free));
    checks
}

/// The user has no home.
pub fn unknown() -> Check {
    Check::unchecked("home-folder", "no home directory was found", "a folder of this user's own")
        .but(Verdict::Unchecked, "export WEIR_HOME=DIR")
}

fn checked(name: &'static str, path: &Path) -> Check {
    match std::fs::metadata(path) {
        Ok(meta) => {
            let user = geteuid();
            let folder = Folder {
                mode: meta.mode() & 0o7777,
                foreign: !user.is_root() && meta.uid() != user.as_raw(),
                writable: access(path, Access::WRITE_OK).is_ok(),
            };
            judge_folder(name, path, folder)
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            let above = path.ancestors().find(|folder| folder.exists());
            let can = above.is_some_and(|folder| access(folder, Access::WRITE_OK).is_ok());
            judge_missing(name, path, can)
        }
        Err(error) => Check::unchecked(name, error, WANTED).of(path.display()),
    }
}

const WANTED: &str = "writable by this user only";

fn judge_folder(name: &'static str, path: &Path, folder: Folder) -> Check {
    let shown = path.display();
    let found = match (folder.foreign, folder.writable) {
        (true, _) => "it belongs to another user".to_owned(),
        (_, false) => format!("mode {:03o}, not writable by this user", folder.mode),
        _ => format!("mode {:03o}", folder.mode),
    };
    let check = Check::good(name, found, WANTED).of(&shown);
    if folder.foreign {
        return check.but(Verdict::Wrong, "export WEIR_HOME=DIR, a folder of your own");
    }
    if folder.mode & OTHERS_WRITE != 0 {
        return check.but(Verdict::Wrong, format!("chmod go-w {shown}"));
    }
    if !folder.writable {
        return check.but(Verdict::Advice, format!("chmod u+rwx {shown}, or export WEIR_HOME=DIR"));
    }
    check
}

/// A missing folder is made with the first key.
fn judge_missing(name: &'static str, path: &Path, can: bool) -> Check {
    let check = Check::good(name, "not there yet", WANTED).of(path.display());
    if can {
        check
    } else {
        check.but(Verdict::Advice, "export WEIR_HOME=DIR, a folder of your own")
    }
}

fn judge_space(home: &Path, free: Result<u64, String>) -> Check {
    const NAME: &str = "free-space";
    let wanted = format!("at least {}", Size(SPACE));
    let free = match free {
        Ok(free) => free,
        Err(why) => return Check::unchecked(NAME, why, wanted).of(home.display()),
    };
    let check = Check::good(NAME, Size(free), wanted).of(home.display());
    if free >= SPACE {
        return check;
    }
    let verdict = if free < LEAST_SPACE { Verdict::Wrong } else { Verdict::Advice };
    check.but(verdict, "remove files, or export WEIR_HOME=DIR on another disk")
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWN: Folder = Folder { mode: 0o700, foreign: false, writable: true };

    fn judge(folder: Folder) -> Check {
        judge_folder("home-folder", Path::new("/h"), folder)
    }

    #[test]
    fn a_folder_belongs_to_its_user_alone() {
        assert_eq!(judge(OWN).result, Verdict::Good);
        assert_eq!(judge(Folder { mode: 0o755, ..OWN }).result, Verdict::Good);
        for mode in [0o777, 0o775, 0o702] {
            let check = judge(Folder { mode, ..OWN });
            assert_eq!(check.result, Verdict::Wrong, "{mode:o}");
            assert_eq!(check.change.as_deref(), Some("chmod go-w /h"));
        }
        assert_eq!(judge(Folder { foreign: true, ..OWN }).result, Verdict::Wrong);
        assert_eq!(judge(Folder { writable: false, ..OWN }).result, Verdict::Advice);
    }

    #[test]
    fn a_missing_folder_is_good_where_it_can_be_made() {
        let judge = |can| judge_missing("home-folder", Path::new("/h"), can).result;
        assert_eq!((judge(true), judge(false)), (Verdict::Good, Verdict::Advice));
    }

    #[test]
    fn a_disk_has_room_for_keys() {
        let judge = |free| judge_space(Path::new("/h"), free).result;
        assert_eq!(judge(Ok(SPACE)), Verdict::Good);
        assert_eq!(judge(Ok(SPACE - 1)), Verdict::Advice);
        assert_eq!(judge(Ok(0)), Verdict::Wrong);
        assert_eq!(judge(Err("no such call".to_owned())), Verdict::Unchecked);
    }
}
