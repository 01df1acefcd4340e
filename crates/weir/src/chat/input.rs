//! The lines of standard input, read by a thread of their own.

use rustix::event::{EventfdFlags, eventfd};
use std::io::{self, BufRead, Read};
use std::os::fd::OwnedFd;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

/// Bytes of a line that are read. More of it is counted only.
const MOST_BYTES: usize = 64 * 1024;
/// Lines that wait.
const MOST_LINES: usize = 64;

/// Something from standard input.
#[derive(Debug, PartialEq, Eq)]
pub enum Line {
    /// A line, without its end. Bytes that are no UTF-8 are U+FFFD.
    Text(String),
    /// A line that is too long: the number of its bytes.
    TooLong(usize),
    /// There are no more lines.
    End,
}

/// The lines of standard input.
pub struct Input(Receiver<Line>);

impl Input {
    /// Reads from now on. The bell rings for each line.
    ///
    /// # Errors
    /// The system has no thread or bell left.
    pub fn start() -> io::Result<(Input, OwnedFd)> {
        let bell = eventfd(0, EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC)?;
        let ringer = bell.try_clone()?;
        let (sender, receiver) = sync_channel(MOST_LINES);
        thread::Builder::new()
            .name("input".to_owned())
            .spawn(move || read(&mut io::stdin().lock(), &sender, &ringer))?;
        Ok((Input(receiver), bell))
    }

    /// The next line, if it is there.
    pub fn poll(&self) -> Option<Line> {
        self.0.try_recv().ok()
    }
}

fn read(input: &mut impl BufRead, sender: &SyncSender<Line>, bell: &OwnedFd) {
    loop {
        // An error ends it as well: there is nothing more to read.
        let line = next(input).ok().flatten().unwrap_or(Line::End);
        let is_end = line == Line::End;
        if sender.send(line).is_err() {
            return;
        }
        // It is full only if it rings already.
        let _ = rustix::io::write(bell, &1_u64.to_ne_bytes());
        if is_end {
            return;
        }
    }
}

/// The next line, in bounded memory; `None` at the end.
fn next(input: &mut impl BufRead) -> io::Result<Option<Line>> {
    let mut line = Vec::new();
    input.by_ref().take(MOST_BYTES as u64 + 1).read_until(b'\n', &mut line)?;
    if line.is_empty() {
        return Ok(None);
    }
    if line.last() == Some(&b'\n') || line.len() <= MOST_BYTES {
        let end = line.strip_suffix(b"\n").unwrap_or(&line);
        let end = end.strip_suffix(b"\r").unwrap_or(end);
        return Ok(Some(Line::Text(String::from_utf8_lossy(end).into_owned())));
    }
    let mut len = line.len();
    loop {
        let buffer = input.fill_buf()?;
        let end = buffer.iter().position(|byte| *byte == b'\n');
        let used = end.map_or(buffer.len(), |at| at + 1);
        input.consume(used);
        len += used - usize::from(end.is_some());
        if end.is_some() || used == 0 {
            return Ok(Some(Line::TooLong(len)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_with_a_bound() {
        let long = "x".repeat(1_000_000);
        let text = format!("one\r\ntwo\n{long}\n\u{1b}[31m\nlast");
        let mut bytes = text.into_bytes();
        bytes.push(0xff);
        let mut input = io::Cursor::new(bytes);
        let mut lines = Vec::new();
        while let Some(line) = next(&mut input).unwrap() {
            lines.push(line);
        }
        let text = |text: &str| Line::Text(text.to_owned());
        let expected = [
            text("one"),
            text("two"),
            Line::TooLong(1_000_000),
            text("\u{1b}[31m"),
            text("last\u{fffd}"),
        ];
        assert_eq!(lines, expected);
    }
}
