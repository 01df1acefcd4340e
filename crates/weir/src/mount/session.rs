//! Mounting and unmounting.

use super::files::Files;
use crate::exit::{Failure, Kind};
use fuser::{BackgroundSession, Config, MountOption, Session};
use nix::mount::{MntFlags, umount2};
use std::io::{self, ErrorKind};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The kernel's device.
const DEVICE: &str = "/dev/fuse";
/// Threads that answer the kernel from memory and from the cache.
const THREADS: usize = 4;

/// A mounted file system. It is unmounted when it is dropped.
pub struct Mounted {
    session: Option<BackgroundSession>,
    point: PathBuf,
    /// The number of the mounted device: another file system may be mounted on it later.
    device: Option<u64>,
}

/// Checks that something can be mounted on a folder, and returns its path without links.
///
/// # Errors
/// It is no folder, or this host has no FUSE.
pub fn check_point(folder: &Path) -> Result<PathBuf, Failure> {
    let shown = folder.display();
    let found = std::fs::metadata(folder).map_err(|error| no_point(folder, &error))?;
    if !found.is_dir() {
        let message = format!("cannot mount on {shown}: it is not a folder");
        return Err(Failure::new(Kind::File, message).then("name a folder"));
    }
    if !Path::new(DEVICE).exists() {
        let message = format!("cannot mount on {shown}: this system has no {DEVICE}");
        return Err(Failure::new(Kind::File, message)
            .then("load the kernel's module with `modprobe fuse`, or use `weir get`"));
    }
    folder.canonicalize().map_err(|error| no_point(folder, &error))
}

fn no_point(folder: &Path, error: &io::Error) -> Failure {
    let shown = folder.display();
    let next = match error.kind() {
        ErrorKind::NotConnected => was_killed(folder),
        ErrorKind::NotFound => format!("make it with `mkdir {shown}`"),
        _ => "choose a folder of your own".to_owned(),
    };
    Failure::new(Kind::File, format!("cannot mount on {shown}: {error}")).then(&next)
}

/// The advice if an earlier mount on this folder has no process any more.
fn was_killed(folder: &Path) -> String {
    format!("an earlier mount was killed; unmount it with `umount -l {}`", folder.display())
}

/// Mounts a file system on `point`. `source` is shown in the list of mounts.
///
/// # Errors
/// A system call fails.
pub fn mount(files: Files, point: &Path, source: &str) -> Result<Mounted, Failure> {
    let mut config = Config::default();
    // A comma would begin another option, and a list of mounts has no room for blanks.
    let source = source.replace(|c: char| c == ',' || c == '\\' || !c.is_ascii_graphic(), "_");
    config.mount_options = vec![
        MountOption::RO,
        MountOption::NoSuid,
        MountOption::NoDev,
        MountOption::NoAtime,
        MountOption::DefaultPermissions,
        MountOption::Subtype("weir".to_owned()),
        MountOption::FSName(source),
    ];
    config.n_threads = Some(THREADS);
    let session = Session::new(files, point, &config).and_then(Session::spawn);
    let session = session.map_err(|error| {
        let next = match error.kind() {
            ErrorKind::NotFound | ErrorKind::PermissionDenied => {
                "users other than root need the program fusermount3, of the package fuse3"
                    .to_owned()
            }
            ErrorKind::NotConnected => was_killed(point),
            _ => "choose a folder of your own, on which nothing is mounted".to_owned(),
        };
        let message = format!("cannot mount on {}: {error}", point.display());
        Failure::new(Kind::File, message).then(&next)
    })?;
    let device = device_of(point);
    Ok(Mounted { session: Some(session), point: point.to_owned(), device })
}

/// The number of the device at this path.
fn device_of(point: &Path) -> Option<u64> {
    std::fs::metadata(point).map(|about| about.dev()).ok()
}

impl Mounted {
    /// True if another program has unmounted it.
    pub fn is_over(&self) -> bool {
        self.session.as_ref().is_none_or(|session| session.guard.is_finished())
    }

    /// Unmounts it. Programs that use it lose it.
    ///
    /// # Errors
    /// A system call fails.
    pub fn end(mut self) -> Result<(), Failure> {
        self.unmount().map_err(|error| {
            let point = self.point.display();
            Failure::new(Kind::File, format!("cannot unmount {point}: {error}"))
                .then(&format!("unmount it with `umount -l {point}`"))
        })
    }

    fn unmount(&mut self) -> io::Result<()> {
        let Some(session) = self.session.take() else { return Ok(()) };
        if session.guard.is_finished() {
            return Ok(());
        }
        if device_of(&self.point) != self.device {
            // Both ways to unmount are by path. This mount ends with the process.
            std::mem::forget(session);
            return Err(io::Error::other("another file system is mounted on it"));
        }
        match session.umount_and_join() {
            // A program has a file open, or its working folder there.
            Err(error) if error.kind() == ErrorKind::ResourceBusy => {
                Ok(umount2(&self.point, MntFlags::MNT_DETACH)?)
            }
            ended => ended,
        }
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        // The failure that leads here is the one to report.
        let _ = self.unmount();
    }
}
