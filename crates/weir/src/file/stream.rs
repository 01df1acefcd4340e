//! A stream that fetched bytes go to, such as standard output.

use crate::file::SinkError;
use crate::file::pipe::{Reader, Writer, pipe};
use crate::signals::{LOOK, Stop};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::OFlags;
use rustix::io::Errno;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use transport::fetch::{ObjectInfo, Resume, Sink};

/// The bytes that may wait for the reader: as much as a fetch has in flight on a long and fast
/// path.
const WAITING: usize = 16_000_000;

/// A stream; it needs segments in order. A thread of its own writes to it, so that a slow reader,
/// such as a paused player, does not block the fetch.
pub struct StreamSink {
    writer: Writer,
    called: String,
    stop: Stop,
}

impl StreamSink {
    /// A sink that writes to `stream`, which errors call `called`. After a signal it does not wait
    /// for the reader.
    ///
    /// # Errors
    ///
    /// The system has no thread or descriptor left.
    pub fn new(
        stream: impl Write + Send + 'static,
        called: &str,
        stop: &Stop,
    ) -> io::Result<StreamSink> {
        let (writer, reader) = pipe(WAITING)?;
        std::thread::Builder::new().spawn(move || copy(reader, stream))?;
        Ok(StreamSink { writer, called: called.to_owned(), stop: stop.clone() })
    }

    /// The descriptor that becomes readable when the stream has room again.
    ///
    /// # Errors
    ///
    /// The system has no descriptor left.
    pub fn bell(&self) -> io::Result<OwnedFd> {
        self.writer.bell()
    }

    /// Bytes that may come.
    pub fn room(&self) -> usize {
        self.writer.room()
    }

    /// The first error, once. A reader that has gone is an error.
    pub fn take_failure(&mut self) -> Option<SinkError> {
        let error = self.writer.take_failure()?;
        Some(SinkError { path: self.called.clone(), error, resumes: false })
    }

    /// Ends the stream: waits until all bytes are written, an error, or a signal.
    pub fn drain(&mut self) {
        self.writer.end();
        let Ok(bell) = self.writer.bell() else { return };
        while !self.writer.is_left() && !self.stop.requested() {
            // An error of the wait costs one turn.
            let _ = poll(&mut [PollFd::new(&bell, PollFlags::IN)], Some(&LOOK));
            let _ = rustix::io::read(&bell, &mut [0; 8]);
        }
    }

    /// True if all bytes are written.
    pub fn is_drained(&self) -> bool {
        self.writer.is_left()
    }
}

/// Opens a file that is not regular, such as a device, for writing. Waits until a named pipe has a
/// reader.
///
/// # Errors
/// It cannot be opened; `Interrupted` if a signal came first.
pub fn open(path: &Path, stop: &Stop) -> io::Result<File> {
    let flags = OFlags::NONBLOCK.bits() as i32;
    let file = loop {
        match OpenOptions::new().write(true).custom_flags(flags).open(path) {
            Err(error) if error.raw_os_error() == Some(Errno::NXIO.raw_os_error()) => {}
            opened => break opened?,
        }
        if stop.requested() {
            return Err(io::ErrorKind::Interrupted.into());
        }
        // An error of the wait costs one turn.
        let _ = poll(&mut [], Some(&LOOK));
    };
    let flags = rustix::fs::fcntl_getfl(&file)? - OFlags::NONBLOCK;
    rustix::fs::fcntl_setfl(&file, flags)?;
    Ok(file)
}

/// Copies until the end or an error, which it reports to the writer.
fn copy(mut reader: Reader, mut stream: impl Write) {
    while let Some(Ok(chunk)) = reader.wait_next() {
        if let Err(error) = stream.write_all(&chunk) {
            return reader.leave(Err(error));
        }
    }
    let flushed = stream.flush();
    reader.leave(flushed);
}

impl Sink for StreamSink {
    fn begin(&mut self, _info: &ObjectInfo) -> Resume {
        Resume::default()
    }

    fn write(&mut self, _segment: u64, _offset: u64, content: &[u8]) {
        self.writer.write(content);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_stream_is_an_error_with_its_name() {
        let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
        let mut sink = StreamSink::new(full, "the stream", &Stop::never()).unwrap();
        sink.write(0, 0, b"abc");
        sink.drain();
        let error = sink.take_failure().unwrap().to_string();
        assert!(error.starts_with("cannot write the stream: "), "{error}");
    }

    #[test]
    fn a_slow_reader_blocks_the_sink_only_at_the_end() {
        let (mut reader, stream) = io::pipe().unwrap();
        let mut sink = StreamSink::new(stream, "the stream", &Stop::never()).unwrap();
        let before = sink.room();
        let content = vec![7; 1_000_000];
        let (first, second) = content.split_at(500_000);
        sink.write(0, 0, first);
        sink.write(1, 500_000, second);
        // The thread may have taken the first bytes, of which the pipe takes 64 kB.
        assert!(sink.room() <= before - second.len(), "the second waits");
        let thread = std::thread::spawn(move || {
            let mut all = Vec::new();
            io::Read::read_to_end(&mut reader, &mut all).map(|_| all)
        });
        sink.drain();
        assert!(sink.is_drained() && sink.take_failure().is_none());
        assert!(thread.join().unwrap().unwrap() == content);
    }
}
