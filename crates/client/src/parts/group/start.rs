//! The second of a start of a member. No two starts on a host have the same one.

use crate::parts::keys::key_dir;
use crate::parts::own::{existing, make, private_folder};
use packet::Name;
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::path::Path;

/// A recorded second further ahead comes from a clock that was set back: no start is near it.
const AHEAD_S: u64 = 60;

/// A second after `now_s`, in seconds since 1970, that no other start of this member has. And a
/// line for the user if it cannot be recorded in the user's folder.
#[must_use]
pub fn second(member: &Name, group: &Name, now_s: u64) -> (u64, Option<String>) {
    let keys = key_dir().map_err(|error| io::Error::other(error.to_string()));
    let boot =
        keys.and_then(|keys| second_in(&keys.with_file_name("groups"), member, group, now_s));
    match boot {
        Ok(boot) => (boot, None),
        Err(error) => {
            let text = format!(
                "the second of this start cannot be recorded: {error}; another start of {member} \
                 in the same second would overwrite its publications"
            );
            (now_s + 1, Some(text))
        }
    }
}

fn second_in(folder: &Path, member: &Name, group: &Name, now_s: u64) -> io::Result<u64> {
    private_folder(folder)?;
    let digest = Sha256::new().chain_update(member.as_bytes()).chain_update([0]);
    let digest = digest.chain_update(group.as_bytes()).finalize();
    let digits: Vec<String> = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    let path = folder.join(digits.concat());
    let mut file = open(&path)?;
    file.lock()?;
    let mut text = String::new();
    (&mut file).take(32).read_to_string(&mut text)?;
    let last = text.trim().parse().unwrap_or(0);
    let is_near = last <= now_s + AHEAD_S;
    let second = if is_near { (now_s + 1).max(last + 1) } else { now_s + 1 };
    file.set_len(0)?;
    file.rewind()?;
    writeln!(file, "{second}")?;
    Ok(second)
}

fn open(path: &Path) -> io::Result<File> {
    // Another start can make it at the same time.
    for _ in 0..3 {
        if let Some(file) = existing(path)? {
            return Ok(file);
        }
        match make(path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            made => return made,
        }
    }
    Err(io::Error::other(format!("{} cannot be opened", path.display())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn starts_at_the_same_time_have_seconds_of_their_own() {
        let folder = tempfile::tempdir().unwrap();
        let folder = &folder.path().join("chat");
        let (alice, bob, chat) = ("/a".parse().unwrap(), "/b".parse().unwrap(), "/chat");
        let chat: Name = chat.parse().unwrap();
        let seconds: BTreeSet<u64> = std::thread::scope(|scope| {
            let all = (0..8).map(|_| scope.spawn(|| second_in(folder, &alice, &chat, 1_000)));
            let all: Vec<_> = all.collect();
            all.into_iter().map(|start| start.join().unwrap().unwrap()).collect()
        });
        assert_eq!(seconds, (1_001..1_009).collect());
        let other = second_in(folder, &bob, &chat, 1_000).unwrap();
        assert_eq!(other, 1_001, "another member");
        let back = second_in(folder, &alice, &chat, 10).unwrap();
        assert_eq!(back, 11, "the clock was set back");
        let later = second_in(folder, &alice, &chat, 5_000).unwrap();
        assert_eq!(later, 5_001);
    }
}
