//! The folder of a fetched tree.
//!
//! Every access begins at the folder's descriptor and follows no symbolic link, so nothing outside
//! the folder is read or written, whatever the tree or another program puts into it.

use super::locks::lock_part;
use super::scan::{PART, is_part, split};
use crate::exit::{Failure, Kind};
use rustix::fs::{
    AtFlags, Dir, FileType, Mode, OFlags, RenameFlags, Stat, Timespec, Timestamps, mkdirat, openat,
    readlinkat, renameat, renameat_with, statat, symlinkat, unlinkat, utimensat,
};
use rustix::io::Errno;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use xxhash_rust::xxh3::xxh3_64;

/// The number of directories that stay open.
const OPEN: usize = 32;

/// A folder for the files of a tree.
pub struct Target {
    root: Arc<OwnedFd>,
    path: PathBuf,
    open: Mutex<VecDeque<(Vec<u8>, Arc<OwnedFd>)>>,
    /// The former permissions of opened directories, by path.
    before: Mutex<BTreeMap<Vec<u8>, Mode>>,
    /// The folder was made for this transfer.
    pub is_new: bool,
}

/// The attributes that a file or link is given.
#[derive(Clone, Copy, Debug)]
pub struct Dress {
    /// The permissions at the publisher.
    pub mode: u16,
    /// The time of the modification, in nanoseconds since 1970.
    pub modified: u64,
    /// The folder had no entry of this name. If it has one now, it is another entry of the tree,
    /// whose name the file system takes for the same.
    pub is_new: bool,
}

impl Target {
    /// Opens the folder, and makes it if it is not there.
    ///
    /// # Errors
    /// It cannot be made, or is no folder.
    pub fn open(path: &Path) -> Result<Target, Failure> {
        let is_new = !path.exists();
        let root = open_folder(path, is_new).map_err(|error| {
            Failure::new(Kind::File, format!("cannot write into {}: {error}", path.display()))
                .then("choose another folder")
        })?;
        super::locks::lock_folder(&root, path)?;
        let (root, path) = (Arc::new(root), path.to_owned());
        Ok(Target { root, path, open: Mutex::default(), before: Mutex::default(), is_new })
    }

    /// The path of an entry, for messages.
    pub fn shown(&self, path: &[u8]) -> String {
        super::scan::join(&self.path, path).display().to_string()
    }

    /// A directory below the folder.
    ///
    /// # Errors
    /// It is not there, or a component of the path is no directory.
    pub fn directory(&self, path: &[u8]) -> io::Result<Arc<OwnedFd>> {
        if path.is_empty() {
            return Ok(self.root.clone());
        }
        if let Ok(mut open) = self.open.lock()
            && let Some(at) = open.iter().position(|(known, _)| known == path)
            && let Some(found) = open.remove(at)
        {
            let fd = found.1.clone();
            open.push_front(found);
            return Ok(fd);
        }
        let mut fd = self.root.clone();
        let flags = OFlags::DIRECTORY | OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        for part in path.split(|byte| *byte == b'/') {
            fd = Arc::new(openat(&*fd, OsStr::from_bytes(part), flags, Mode::empty())?);
        }
        if let Ok(mut open) = self.open.lock() {
            open.push_front((path.to_vec(), fd.clone()));
            open.truncate(OPEN);
        }
        Ok(fd)
    }

    /// The free bytes on the folder's file system, if known. A compressing one has room for more.
    pub fn free(&self) -> Option<u64> {
        if super::space::compresses(&*self.root) { None } else { crate::file::free(&*self.root) }
    }

    /// True if the folder has no entries but incomplete files.
    pub fn is_empty(&self) -> bool {
        self.names(b"").is_ok_and(|names| names.iter().all(|name| is_part(name)))
    }

    /// Lets the owner of a directory below the folder list and change it, until it gets its
    /// attributes or the transfer ends.
    ///
    /// # Errors
    /// The permissions cannot be changed.
    pub fn open_up(&self, path: &[u8]) -> io::Result<()> {
        let (directory, name) = split(path);
        // The permissions of the folder itself are the user's.
        let stat = if path.is_empty() { None } else { self.stat(directory, name)? };
        let Some(stat) = stat else { return Ok(()) };
        if stat.st_uid != rustix::process::geteuid().as_raw() {
            return Ok(());
        }
        let before = Mode::from_raw_mode(stat.st_mode & 0o7777);
        if FileType::from_raw_mode(stat.st_mode) != FileType::Directory
            || before.contains(Mode::RWXU)
        {
            return Ok(());
        }
        self.set_mode(directory, name, before | Mode::RWXU)?;
        if let Ok(mut all) = self.before.lock() {
            all.entry(path.to_vec()).or_insert(before);
        }
        Ok(())
    }

    /// The permissions of a directory before it was opened up, once.
    fn take_before(&self, path: &[u8]) -> Option<Mode> {
        self.before.lock().ok()?.remove(path)
    }

    /// Sets the permissions of a directory.
    fn set_mode(&self, directory: &[u8], name: &[u8], mode: Mode) -> io::Result<()> {
        let (parent, name) = (self.directory(directory)?, OsStr::from_bytes(name));
        let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        match openat(&*parent, name, flags | OFlags::RDONLY, Mode::empty()) {
            #[cfg(target_os = "linux")]
            Err(Errno::ACCESS) => {
                // Without permission to read it, a directory has only a descriptor of its path.
                let fd = openat(&*parent, name, flags | OFlags::PATH, Mode::empty())?;
                let path = format!("/proc/self/fd/{}", fd.as_raw_fd());
                Ok(rustix::fs::chmod(path, mode)?)
            }
            fd => Ok(rustix::fs::fchmod(fd?, mode)?),
        }
    }

    /// The names in a directory.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn names(&self, path: &[u8]) -> io::Result<BTreeSet<Vec<u8>>> {
        let fd = self.directory(path)?;
        let mut names = BTreeSet::new();
        for entry in Dir::read_from(&*fd)? {
            let name = entry?.file_name().to_bytes().to_vec();
            if name != b"." && name != b".." {
                names.insert(name);
            }
        }
        Ok(names)
    }

    /// The attributes of an entry; `None` if it is not there.
    ///
    /// # Errors
    /// The directory cannot be read.
    pub fn stat(&self, directory: &[u8], name: &[u8]) -> io::Result<Option<Stat>> {
        let fd = self.directory(directory)?;
        match statat(&*fd, OsStr::from_bytes(name), AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(Some(stat)),
            Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Makes a directory.
    ///
    /// # Errors
    /// It cannot be made, or an entry has that name.
    pub fn make(&self, directory: &[u8], name: &[u8]) -> io::Result<()> {
        let fd = self.directory(directory)?;
        Ok(mkdirat(&*fd, OsStr::from_bytes(name), Mode::from_raw_mode(0o700))?)
    }

    /// Opens a regular file for reading; `None` if it is missing.
    pub fn read(&self, directory: &[u8], name: &[u8]) -> Option<File> {
        let fd = self.directory(directory).ok()?;
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = File::from(openat(&*fd, OsStr::from_bytes(name), flags, Mode::empty()).ok()?);
        file.metadata().is_ok_and(|meta| meta.is_file()).then_some(file)
    }

    /// Opens the incomplete file of a name; returns true if it is from an earlier transfer. A file
    /// that other users may have written is replaced.
    ///
    /// # Errors
    /// It cannot be made.
    pub fn part(&self, directory: &[u8], name: &[u8]) -> io::Result<(File, bool)> {
        let (fd, part) = (self.directory(directory)?, part_name(name));
        let flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        if let Ok(found) = openat(&*fd, &*part, flags, Mode::empty()) {
            let stat = rustix::fs::fstat(&found)?;
            let is_own = FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile
                && stat.st_uid == rustix::process::geteuid().as_raw()
                && stat.st_mode & 0o022 == 0
                && stat.st_nlink == 1;
            if is_own {
                lock_part(&found)?;
                // Another transfer may have completed it before it was locked here.
                if is_at(&fd, &part, &found) {
                    return Ok((File::from(found), true));
                }
            }
        }
        Ok((self.fresh_part(directory, name, 0o600)?, false))
    }

    fn fresh_part(&self, directory: &[u8], name: &[u8], mode: u32) -> io::Result<File> {
        let (fd, part) = (self.directory(directory)?, part_name(name));
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let mode = Mode::from_raw_mode(mode);
        let made = match openat(&*fd, &*part, flags, mode) {
            Err(Errno::EXIST) => {
                drop_part(&fd, part.as_bytes())?;
                let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
                openat(&*fd, &*part, flags, mode)?
            }
            other => other?,
        };
        lock_part(&made)?;
        Ok(File::from(made))
    }

    /// Writes a whole file.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn write(
        &self,
        directory: &[u8],
        name: &[u8],
        content: &[u8],
        dress: Dress,
    ) -> io::Result<()> {
        // The kernel applies the umask.
        let mut file = self.fresh_part(directory, name, u32::from(dress.mode) & 0o777)?;
        file.write_all(content)?;
        rustix::fs::futimens(&file, &times(dress.modified))?;
        self.rename(directory, name, dress.is_new)
    }

    /// Gives an incomplete file its attributes and its name.
    ///
    /// # Errors
    /// It cannot be renamed.
    pub fn finish(
        &self,
        directory: &[u8],
        name: &[u8],
        file: &File,
        dress: Dress,
    ) -> io::Result<()> {
        let mode = crate::file::permissions(dress.mode);
        file.set_permissions(std::fs::Permissions::from_mode(mode))?;
        rustix::fs::futimens(file, &times(dress.modified))?;
        // Size and time now vouch for the content, also after a power cut: late pieces may be in
        // memory only, in the middle of a file that has its size already.
        file.sync_data()?;
        self.rename(directory, name, dress.is_new)
    }

    /// Makes a symbolic link, in place of the existing entry.
    ///
    /// # Errors
    /// It cannot be made.
    pub fn link(
        &self,
        directory: &[u8],
        name: &[u8],
        target: &[u8],
        dress: Dress,
    ) -> io::Result<()> {
        let (fd, part) = (self.directory(directory)?, part_name(name));
        drop_part(&fd, part.as_bytes())?;
        symlinkat(OsStr::from_bytes(target), &*fd, &*part)?;
        utimensat(&*fd, &*part, &times(dress.modified), AtFlags::SYMLINK_NOFOLLOW)?;
        self.rename(directory, name, dress.is_new)
    }

    /// Removes the incomplete file of a name, unless another transfer is writing it.
    pub fn remove_part(&self, directory: &[u8], name: &[u8]) {
        // If it cannot be removed, the next transfer uses or replaces it.
        if let Ok(fd) = self.directory(directory) {
            drop_part(&fd, part_name(name).as_bytes()).ok();
        }
    }

    fn rename(&self, directory: &[u8], name: &[u8], is_new: bool) -> io::Result<()> {
        let (fd, part, name) =
            (self.directory(directory)?, part_name(name), OsStr::from_bytes(name));
        if is_new {
            match renameat_with(&*fd, &*part, &*fd, name, RenameFlags::NOREPLACE) {
                // Not every file system has this.
                Err(Errno::INVAL | Errno::NOSYS) => {}
                Err(Errno::EXIST) => {
                    unlinkat(&*fd, &*part, AtFlags::empty())?;
                    return Err(io::Error::new(io::ErrorKind::AlreadyExists, SAME_NAME));
                }
                other => return Ok(other?),
            }
        }
        Ok(renameat(&*fd, &*part, &*fd, name)?)
    }

    /// The target of a link.
    pub fn link_target(&self, directory: &[u8], name: &[u8]) -> Option<Vec<u8>> {
        let fd = self.directory(directory).ok()?;
        let target = readlinkat(&*fd, OsStr::from_bytes(name), Vec::new()).ok()?;
        Some(target.into_bytes())
    }

    /// Sets the attributes of an existing file or directory.
    ///
    /// # Errors
    /// They cannot be set.
    pub fn dress(&self, directory: &[u8], name: &[u8], dress: Dress) -> io::Result<()> {
        let fd = match name {
            [] => self.root.clone(),
            _ => {
                let parent = self.directory(directory)?;
                let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
                Arc::new(openat(&*parent, OsStr::from_bytes(name), flags, Mode::empty())?)
            }
        };
        self.dress_open(&*fd, dress)?;
        self.take_before(&super::scan::below(directory, name));
        Ok(())
    }

    /// Sets the attributes of an open file or directory. A directory keeps the bits for its group
    /// and against removing, which the publisher does not send.
    ///
    /// # Errors
    /// They cannot be set.
    pub fn dress_open(&self, file: impl AsFd, dress: Dress) -> io::Result<()> {
        let stat = rustix::fs::fstat(&file)?;
        let kept = match FileType::from_raw_mode(stat.st_mode) {
            FileType::Directory => stat.st_mode & 0o3000,
            _ => 0,
        };
        let mode = Mode::from_raw_mode(crate::file::permissions(dress.mode) | kept);
        let times = times(dress.modified);
        let modified = times.last_modification;
        if Mode::from_raw_mode(stat.st_mode) == mode
            && stat.st_mtime as i64 == modified.tv_sec
            && stat.st_mtime_nsec as i64 == modified.tv_nsec
        {
            // Only the owner may set them, even if they are right.
            return Ok(());
        }
        rustix::fs::fchmod(&file, mode)?;
        Ok(rustix::fs::futimens(&file, &times)?)
    }

    /// Removes an entry with everything below it, except entries for which `stays` returns true.
    /// Returns the number of removed entries. `stays` gets the path, and true for a directory: then
    /// everything below it stays. An entry that has gone meanwhile is not counted.
    ///
    /// # Errors
    /// An entry cannot be removed.
    pub fn remove(
        &self,
        directory: &[u8],
        name: &[u8],
        stays: &dyn Fn(&[u8], bool) -> bool,
    ) -> io::Result<u64> {
        let Some(stat) = self.stat(directory, name)? else { return Ok(0) };
        let is_directory = FileType::from_raw_mode(stat.st_mode) == FileType::Directory;
        let path = super::scan::below(directory, name);
        if stays(&path, is_directory) {
            return Ok(0);
        }
        let fd = self.directory(directory)?;
        if is_part(name) && !is_directory {
            // A file that another transfer is writing stays.
            return Ok(u64::from(drop_part(&fd, name).is_ok()));
        }
        let mut removed = 1;
        let flags = if is_directory {
            self.open_up(&path)?;
            for below in self.names(&path)? {
                removed += self.remove(&path, &below, stays)?;
            }
            if let Ok(mut open) = self.open.lock() {
                open.retain(|(known, _)| *known != path);
            }
            AtFlags::REMOVEDIR
        } else {
            AtFlags::empty()
        };
        match unlinkat(&*fd, OsStr::from_bytes(name), flags) {
            Ok(()) => {
                self.take_before(&path);
                Ok(removed)
            }
            Err(Errno::NOENT) => Ok(removed - 1),
            // Something in it stays.
            Err(Errno::NOTEMPTY | Errno::EXIST) if is_directory => {
                let mode = self.take_before(&path);
                mode.map_or(Ok(()), |mode| self.set_mode(directory, name, mode))?;
                Ok(removed - 1)
            }
            Err(error) => Err(error.into()),
        }
    }
}

impl Drop for Target {
    /// Directories that did not get their attributes have their permissions again, the innermost
    /// first.
    fn drop(&mut self) {
        let before = self.before.lock().map(|mut all| std::mem::take(&mut *all));
        for (path, mode) in before.unwrap_or_default().into_iter().rev() {
            let (directory, name) = split(&path);
            // A directory that is gone, or belongs to another user now, needs no change.
            self.set_mode(directory, name, mode).ok();
        }
    }
}

/// True if an operation failed because only the owner of the file may do it.
pub fn is_of_another_owner(error: &io::Error) -> bool {
    error.raw_os_error() == Some(Errno::PERM.raw_os_error())
}

/// Opens the folder of a tree, after making it if it is not there.
fn open_folder(path: &Path, is_new: bool) -> io::Result<OwnedFd> {
    if path.is_symlink() && is_new || path.is_file() {
        return Err(io::ErrorKind::NotADirectory.into());
    }
    std::fs::create_dir_all(path)?;
    let flags = OFlags::DIRECTORY | OFlags::RDONLY | OFlags::CLOEXEC;
    Ok(rustix::fs::open(path, flags, Mode::empty())?)
}

/// True if this file has this name in a directory.
fn is_at(directory: &OwnedFd, name: &str, file: &OwnedFd) -> bool {
    let named = statat(directory, name, AtFlags::SYMLINK_NOFOLLOW);
    let both = named.ok().zip(rustix::fs::fstat(file).ok());
    both.is_some_and(|(named, file)| (named.st_dev, named.st_ino) == (file.st_dev, file.st_ino))
}

/// Removes an incomplete file. A missing file is no error.
///
/// # Errors
/// Another transfer is writing it, or it cannot be removed.
fn drop_part(directory: &OwnedFd, name: &[u8]) -> io::Result<()> {
    let name = OsStr::from_bytes(name);
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    // Locked until it is removed. A link, or a file of others, has no lock.
    let file = openat(directory, name, flags, Mode::empty()).ok();
    file.as_ref().map_or(Ok(()), lock_part)?;
    match unlinkat(directory, name, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// The message if two names of a tree are one on this file system.
pub const SAME_NAME: &str = "another entry of the tree has the same name on this file system, \
                             which does not distinguish upper and lower case or forms of letters";

/// The name of the incomplete file of `name`. It does not depend on the version: digests find the
/// content that is still right.
pub fn part_name(name: &[u8]) -> String {
    format!("{PART}{:016x}", xxh3_64(name))
}

fn times(modified: u64) -> Timestamps {
    let time = Timespec {
        tv_sec: (modified / 1_000_000_000) as i64,
        tv_nsec: (modified % 1_000_000_000) as _,
    };
    Timestamps { last_access: time, last_modification: time }
}

#[cfg(test)]
mod tests;
