//! The access log: a file in the combined format that web servers have.

use super::printed::Answered;
use super::sender::Sender;
use control::Time;
use net::clock::{monotonic, unix_millis};
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Bytes after which the file is rotated to `FILE.1`, which replaces the earlier one.
const MOST: u64 = 100_000_000;
/// The interval at which the file is looked for under its name.
const LOOK: control::Duration = control::Duration::from_secs(1);

/// The line of an answer.
pub fn line(answered: &Answered) -> String {
    let Sender { address, version, referer, agent } = &answered.sender;
    let address =
        address.map_or_else(|| "-".to_owned(), |address| address.to_canonical().to_string());
    let request = quoted(&format!("{} {} {version}", answered.method, answered.path));
    let (referer, agent) = (quoted(referer), quoted(agent));
    let (time, status) =
        (time(SystemTime::UNIX_EPOCH + Duration::from_millis(unix_millis())), answered.status);
    format!("{address} - - [{time}] {request} {status} {} {referer} {agent}", answered.bytes)
}

/// Text in quotes, such that it ends where the quotes do.
fn quoted(text: &str) -> String {
    let text = if text.is_empty() { "-" } else { text };
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// As in `10/Oct/2000:13:55:36 +0000`.
fn time(at: SystemTime) -> String {
    let date = httpdate::fmt_http_date(at);
    // Such as `Sun, 06 Nov 1994 08:49:37 GMT`.
    let parts: Vec<_> = date.split(' ').collect();
    match parts[..] {
        [_, day, month, year, time, _] => format!("{day}/{month}/{year}:{time} +0000"),
        _ => date,
    }
}

/// The file. If another program moves or deletes it, it is opened again.
pub struct AccessFile {
    path: PathBuf,
    file: File,
    bytes: u64,
    looked: Time,
}

impl AccessFile {
    /// Opens the file, or begins it.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn open(path: &Path) -> io::Result<AccessFile> {
        // The open of a pipe that no program reads would wait.
        let flags = rustix::fs::OFlags::NONBLOCK.bits() as i32;
        let file = OpenOptions::new().append(true).create(true).custom_flags(flags).open(path)?;
        // Its writes may wait: the queue counts the lines that it has no room for.
        let flags = rustix::fs::fcntl_getfl(&file)? - rustix::fs::OFlags::NONBLOCK;
        rustix::fs::fcntl_setfl(&file, flags)?;
        let bytes = file.metadata()?.len();
        Ok(AccessFile { path: path.to_owned(), file, bytes, looked: monotonic() })
    }

    /// Writes a line.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn write(&mut self, line: &str) -> io::Result<()> {
        let now = monotonic();
        if now.since(self.looked) >= LOOK {
            self.looked = now;
            if !self.is_there() {
                *self = AccessFile::open(&self.path)?;
            }
        }
        if self.bytes >= MOST && self.file.metadata()?.is_file() {
            let mut aside = self.path.clone().into_os_string();
            aside.push(".1");
            std::fs::rename(&self.path, aside)?;
            *self = AccessFile::open(&self.path)?;
        }
        self.bytes += line.len() as u64 + 1;
        self.file.write_all(format!("{line}\n").as_bytes())
    }

    fn is_there(&self) -> bool {
        match (std::fs::metadata(&self.path), self.file.metadata()) {
            (Ok(there), Ok(open)) => (there.dev(), there.ino()) == (open.dev(), open.ino()),
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_one_line_and_its_parts_end_where_they_should() {
        let mut answered = Answered::new("GET", "/a\" 200 1 \"\\");
        answered.status = 206;
        answered.bytes = 17;
        answered.sender = Sender {
            address: "::ffff:192.0.2.1".parse().ok(),
            version: "HTTP/2.0".to_owned(),
            referer: String::new(),
            agent: "x\" \"y".to_owned(),
        };
        let line = line(&answered);
        assert!(line.starts_with("192.0.2.1 - - ["), "{line}");
        let end = r#"] "GET /a\" 200 1 \"\\ HTTP/2.0" 206 17 "-" "x\" \"y""#;
        assert!(line.ends_with(end), "{line}");
        let then = httpdate::parse_http_date("Sun, 06 Nov 1994 08:49:37 GMT").unwrap();
        assert_eq!(time(then), "06/Nov/1994:08:49:37 +0000");
    }

    #[test]
    fn a_file_that_is_full_is_put_aside() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let mut log = AccessFile::open(&path).unwrap();
        log.write("one").unwrap();
        log.bytes = MOST;
        log.write("two").unwrap();
        assert_eq!(std::fs::read_to_string(folder.path().join("log.1")).unwrap(), "one\n");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "two\n");
        std::fs::remove_file(&path).unwrap();
        assert!(!log.is_there());
    }
}
