//! The memory limit of this process: that of the host, or less by control groups.

use std::fs;
use std::path::{Component, Path, PathBuf};

/// Bytes of memory that the host has, or that the process's control groups leave it, if that is
/// less; `None` if the system does not report it.
#[must_use]
pub fn host_memory() -> Option<u64> {
    below(Path::new("/"))
}

/// The same by the files below `root`, in place of `/`.
fn below(root: &Path) -> Option<u64> {
    let total = fs::read_to_string(root.join("proc/meminfo")).ok().and_then(|all| total(&all));
    let groups = fs::read_to_string(root.join("proc/self/cgroup")).unwrap_or_default();
    let mounts = fs::read_to_string(root.join("proc/self/mountinfo")).unwrap_or_default();
    let limits = mounts.lines().filter_map(Mount::read).filter_map(|mount| {
        let path = groups.lines().find_map(|line| mount.path_in(line))?;
        mount.limit(root, &path)
    });
    limits.chain(total).min()
}

/// MemTotal of /proc/meminfo (proc_meminfo(5)), which is in KiB.
fn total(meminfo: &str) -> Option<u64> {
    let value = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    value.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

/// A mounted hierarchy of control groups that limits memory.
struct Mount<'a> {
    /// The group that is seen at `at`.
    root: &'a str,
    at: &'a str,
    version: Version,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Version {
    One,
    Two,
}

impl<'a> Mount<'a> {
    /// A line of /proc/self/mountinfo (proc_pid_mountinfo(5)): `id parent device root mount-point
    /// options... - type source super-options`.
    fn read(line: &'a str) -> Option<Mount<'a>> {
        let (before, after) = line.split_once(" - ")?;
        let mut fields = before.split(' ').skip(3);
        let (root, at) = (fields.next()?, fields.next()?);
        let mut fields = after.split(' ');
        let version = match fields.next()? {
            "cgroup2" => Version::Two,
            "cgroup" if fields.nth(1)?.split(',').any(|option| option == "memory") => Version::One,
            _ => return None,
        };
        Some(Mount { root, at, version })
    }

    /// The process's group in this hierarchy, below where it is mounted, by a line of
    /// /proc/self/cgroup (cgroups(7)): `0::/path` in version 2, else `number:controllers:/path`.
    fn path_in(&self, line: &str) -> Option<PathBuf> {
        let mut fields = line.splitn(3, ':');
        let (number, controllers, path) = (fields.next()?, fields.next()?, fields.next()?);
        let is_this = match self.version {
            Version::Two => number == "0" && controllers.is_empty(),
            Version::One => controllers.split(',').any(|name| name == "memory"),
        };
        if !is_this {
            return None;
        }
        // A container may see its own group as the root, and its path as from outside.
        let path = Path::new(path);
        let path = path.strip_prefix(self.root).unwrap_or(path);
        Some(path.components().filter(|part| matches!(part, Component::Normal(_))).collect())
    }

    /// The smallest limit of the group and of those that it is in.
    fn limit(&self, root: &Path, path: &Path) -> Option<u64> {
        let files: &[&str] = match self.version {
            Version::One => &["memory.limit_in_bytes"],
            Version::Two => &["memory.max", "memory.high"],
        };
        let mount = root.join(self.at.trim_start_matches('/'));
        let groups = path.ancestors().map(|group| mount.join(group));
        let files = groups.flat_map(|group| files.iter().map(move |file| group.join(file)));
        // No limit is `max` in version 2 and a huge number in version 1.
        files.filter_map(|file| fs::read_to_string(file).ok()?.trim().parse().ok()).min()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    const MEMINFO: &str = "MemTotal:        1000000 kB\nMemFree:          500000 kB\n";
    const TWO: &str = "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw\n";
    const ONE: &str = "\
        31 23 0:27 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n\
        32 23 0:28 /docker/abc /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n";

    /// A folder with these files, in place of the root.
    fn host(files: &[(&str, &str)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        root
    }

    fn found(files: &[(&str, &str)]) -> Option<u64> {
        below(host(files).path())
    }

    #[test]
    fn without_control_groups_it_is_the_hosts() {
        assert_eq!(found(&[("proc/meminfo", MEMINFO)]), Some(1_024_000_000));
        assert_eq!(found(&[]), None);
        assert_eq!(found(&[("proc/meminfo", "MemTotal: many\n")]), None);
    }

    #[test]
    fn the_smallest_limit_on_the_way_up_holds() {
        let group = "sys/fs/cgroup/system.slice/weir.service";
        let with = |own: &str, high: &str, slice: &str| {
            found(&[
                ("proc/meminfo", MEMINFO),
                ("proc/self/cgroup", "0::/system.slice/weir.service\n"),
                ("proc/self/mountinfo", TWO),
                (&format!("{group}/memory.max"), own),
                (&format!("{group}/memory.high"), high),
                ("sys/fs/cgroup/system.slice/memory.max", slice),
                // Of another group.
                ("sys/fs/cgroup/user.slice/memory.max", "1000\n"),
            ])
        };
        assert_eq!(with("100000000\n", "max\n", "max\n"), Some(100_000_000));
        assert_eq!(with("100000000\n", "80000000\n", "max\n"), Some(80_000_000));
        assert_eq!(with("max\n", "max\n", "64000000\n"), Some(64_000_000));
        assert_eq!(with("max\n", "max\n", "9000000000000\n"), Some(1_024_000_000));
    }

    #[test]
    fn groups_of_version_one_and_of_containers_are_found() {
        let with = |cgroup: &str, limit: &str| {
            found(&[
                ("proc/meminfo", MEMINFO),
                ("proc/self/cgroup", cgroup),
                ("proc/self/mountinfo", ONE),
                ("sys/fs/cgroup/memory/inner/memory.limit_in_bytes", limit),
                ("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n"),
            ])
        };
        let cgroup = "5:cpu:/elsewhere\n4:memory:/docker/abc/inner\n0::/\n";
        assert_eq!(with(cgroup, "50000000\n"), Some(50_000_000));
        assert_eq!(with(cgroup, "9223372036854771712\n"), Some(1_024_000_000));
        let hostile = "4:memory:/../../../inner\n";
        assert_eq!(with(hostile, "50000000\n"), Some(50_000_000), "stays below the mount");
    }
}
