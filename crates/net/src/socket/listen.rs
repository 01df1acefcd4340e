//! Listening sockets for streams.

use super::stream::Socket;
use mio::net::{TcpListener, TcpStream, UnixListener};
use socket2::{Domain, Protocol, Type};
use std::fs::Permissions;
use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::os::unix::fs::FileTypeExt;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Why the daemon does not listen at a Unix socket.
#[derive(Debug, Error)]
pub enum UnixListenError {
    /// Another program answers there.
    #[error("a daemon is already running at {}", .0.display())]
    Running(PathBuf),
    /// The path is not a socket.
    #[error("{} exists and is not a socket; it was left alone", .0.display())]
    NotASocket(PathBuf),
    /// The path of a link is taken.
    #[error("{} exists and is not a symbolic link; it was left alone", .0.display())]
    NotALink(PathBuf),
    /// A system call for a link fails.
    #[error("cannot make the symbolic link {path}: {source}", path = .path.display())]
    Link {
        /// The link's path.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// A system call fails.
    #[error("cannot listen at {path}: {source}", path = .path.display())]
    System {
        /// The socket's path.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
}

impl UnixListenError {
    fn system(path: &Path) -> impl FnOnce(io::Error) -> UnixListenError {
        move |source| UnixListenError::System { path: path.to_owned(), source }
    }

    fn link(path: &Path) -> impl FnOnce(io::Error) -> UnixListenError {
        move |source| UnixListenError::Link { path: path.to_owned(), source }
    }
}

/// The programs of this host that may connect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// The permissions of the socket's file, as in chmod(2).
    pub mode: u32,
    /// The group that it belongs to; `None`: as the system has it.
    pub gid: Option<u32>,
}

/// A Unix listener whose file is removed with it.
#[derive(Debug)]
pub struct LocalListener {
    listener: UnixListener,
    path: PathBuf,
    access: Access,
    links: Vec<PathBuf>,
}

impl LocalListener {
    /// Listens at `path`. A stale socket, left by an earlier daemon, is removed; a missing folder
    /// is made.
    ///
    /// # Errors
    /// See [`UnixListenError`].
    pub fn open(path: &Path, access: Access) -> Result<LocalListener, UnixListenError> {
        match std::fs::symlink_metadata(path) {
            Ok(meta) if !meta.file_type().is_socket() => {
                return Err(UnixListenError::NotASocket(path.to_owned()));
            }
            Ok(_) => match UnixStream::connect(path) {
                Err(e) if e.kind() == ErrorKind::ConnectionRefused => {
                    tracing::info!(path = %path.display(), "removing a stale socket");
                    std::fs::remove_file(path).map_err(UnixListenError::system(path))?;
                }
                Ok(_) => return Err(UnixListenError::Running(path.to_owned())),
                // A listener whose queue is full is alive, too.
                Err(e) if e.kind() == ErrorKind::WouldBlock => {
                    return Err(UnixListenError::Running(path.to_owned()));
                }
                Err(e) => return Err(UnixListenError::System { path: path.to_owned(), source: e }),
            },
            Err(e) if e.kind() == ErrorKind::NotFound => {
                if let Some(folder) = path.parent() {
                    std::fs::create_dir_all(folder).map_err(UnixListenError::system(path))?;
                }
            }
            Err(e) => return Err(UnixListenError::System { path: path.to_owned(), source: e }),
        }
        let listener = UnixListener::bind(path).map_err(UnixListenError::system(path))?;
        // The permissions are set below, so they do not depend on the umask. The group is changed
        // first: the new permissions must not apply to the former group, even for a moment.
        if access.gid.is_some()
            && let Err(error) = std::os::unix::fs::chown(path, None, access.gid)
        {
            // In a namespace that does not have the group, for instance: then fewer may connect.
            tracing::warn!(path = %path.display(), %error, "the socket keeps the daemon's group");
        }
        // Later errors remove the file.
        let opened = LocalListener { listener, path: path.to_owned(), access, links: Vec::new() };
        std::fs::set_permissions(path, Permissions::from_mode(access.mode))
            .map_err(UnixListenError::system(path))?;
        Ok(opened)
    }

    /// Makes a symbolic link to the socket, for clients that look elsewhere. Replaces an existing
    /// link, and leaves other files alone.
    ///
    /// # Errors
    /// See [`UnixListenError`].
    fn link(&mut self, link: &Path) -> Result<(), UnixListenError> {
        match std::fs::symlink_metadata(link) {
            Ok(meta) if meta.file_type().is_symlink() => {
                std::fs::remove_file(link).map_err(UnixListenError::link(link))?;
            }
            Ok(_) => return Err(UnixListenError::NotALink(link.to_owned())),
            Err(e) if e.kind() == ErrorKind::NotFound => {
                if let Some(folder) = link.parent() {
                    std::fs::create_dir_all(folder).map_err(UnixListenError::link(link))?;
                }
            }
            Err(e) => return Err(UnixListenError::Link { path: link.to_owned(), source: e }),
        }
        std::os::unix::fs::symlink(&self.path, link).map_err(UnixListenError::link(link))?;
        self.links.push(link.to_owned());
        Ok(())
    }

    /// Makes these links, and removes others that it made.
    ///
    /// # Errors
    /// See [`UnixListenError`]; the first of several.
    pub fn set_links(&mut self, wanted: &[PathBuf]) -> Result<(), UnixListenError> {
        let (kept, gone): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.links).into_iter().partition(|link| wanted.contains(link));
        gone.iter().for_each(|link| remove(link));
        let missing: Vec<_> = wanted.iter().filter(|link| !kept.contains(link)).collect();
        self.links = kept;
        missing.into_iter().try_for_each(|link| self.link(link))
    }

    /// The socket, for registration with a poll.
    pub fn source(&mut self) -> &mut UnixListener {
        &mut self.listener
    }

    /// The programs that may connect.
    #[must_use]
    pub fn access(&self) -> Access {
        self.access
    }

    /// Where it listens.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The next connection; `None` if none is waiting.
    ///
    /// # Errors
    ///
    /// The system's, such as too many open files.
    pub fn accept(&self) -> io::Result<Option<Socket>> {
        next(|| self.listener.accept().map(|(s, _)| Socket::Unix(s)))
    }
}

impl Drop for LocalListener {
    fn drop(&mut self) {
        self.links.iter().chain([&self.path]).for_each(|path| remove(path));
    }
}

fn remove(path: &Path) {
    if let Err(error) = std::fs::remove_file(path) {
        tracing::debug!(path = %path.display(), %error, "socket file already gone");
    }
}

/// Connections that the kernel keeps for a listener, at most `net.core.somaxconn`.
const BACKLOG: i32 = 1024;

/// A TCP listener.
#[derive(Debug)]
pub struct StreamListener {
    listener: TcpListener,
}

impl StreamListener {
    /// Listens at `local`.
    ///
    /// # Errors
    ///
    /// The system's.
    pub fn open(local: SocketAddr) -> io::Result<StreamListener> {
        let domain = Domain::for_address(local);
        let socket = socket2::Socket::new(domain, Type::STREAM, Some(Protocol::TCP))?;
        socket.set_nonblocking(true)?;
        if local.is_ipv6() {
            socket.set_only_v6(true)?;
        }
        socket.set_reuse_address(true)?;
        socket.bind(&local.into())?;
        // The number of connections that may wait until the daemon accepts them.
        socket.listen(BACKLOG)?;
        Ok(StreamListener { listener: TcpListener::from_std(socket.into()) })
    }

    /// The socket, for registration with a poll.
    pub fn source(&mut self) -> &mut TcpListener {
        &mut self.listener
    }

    /// The address at which it listens.
    ///
    /// # Errors
    ///
    /// The system's.
    pub fn local(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// The next connection and its other end; `None` if none is waiting.
    ///
    /// # Errors
    ///
    /// The system's, such as too many open files.
    pub fn accept(&self) -> io::Result<Option<(TcpStream, SocketAddr)>> {
        next(|| self.listener.accept())
    }
}

/// Accepts, skipping connections that broke before they were taken.
fn next<T>(mut accept: impl FnMut() -> io::Result<T>) -> io::Result<Option<T>> {
    loop {
        match accept() {
            Ok(found) => return Ok(Some(found)),
            Err(e) if e.kind() == ErrorKind::WouldBlock => return Ok(None),
            Err(e) if e.kind() == ErrorKind::Interrupted => {}
            Err(e) if e.kind() == ErrorKind::ConnectionAborted => {}
            Err(e) => return Err(e),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OPEN: Access = Access { mode: 0o666, gid: None };

    #[test]
    fn a_living_daemon_is_respected_and_a_dead_ones_socket_removed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run/nfd.sock");
        let living = LocalListener::open(&path, OPEN).unwrap();
        let error = LocalListener::open(&path, OPEN).unwrap_err();
        assert_eq!(error.to_string(), format!("a daemon is already running at {}", path.display()));
        assert!(path.exists(), "the socket of a living daemon stays");
        let mode = std::fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o666, "applications of all users may connect");
        drop(living);
        assert!(!path.exists(), "a daemon takes its socket with it");
        // A killed daemon leaves its file.
        drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
        assert!(path.exists());
        let second = LocalListener::open(&path, OPEN).unwrap();
        assert!(UnixStream::connect(second.path()).is_ok());
    }

    #[test]
    fn a_file_that_is_no_socket_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("precious");
        std::fs::write(&path, "data").unwrap();
        assert!(matches!(LocalListener::open(&path, OPEN), Err(UnixListenError::NotASocket(_))));
        assert_eq!(std::fs::read(&path).unwrap(), b"data");
    }

    #[test]
    fn the_sockets_file_has_the_mode_and_the_group_that_are_wanted() {
        use std::os::unix::fs::MetadataExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.sock");
        // A group that every process may give to its own files.
        let gid = std::fs::metadata(folder.path()).unwrap().gid();
        let access = Access { mode: 0o660, gid: Some(gid) };
        let listener = LocalListener::open(&path, access).unwrap();
        let meta = std::fs::metadata(&path).unwrap();
        assert_eq!((meta.mode() & 0o777, meta.gid(), listener.access()), (0o660, gid, access));
    }
}
