//! The transfer of blocks from an origin.

use super::client::OriginError;
use super::facts::Validators;
use super::news::{Job, Object, Unfilled};
use super::slab::{Claim, Filler, Key};
use super::source::{READ, Source, answers};
use hyper::header::{HeaderName, RANGE};
use std::io::{self, Read, Take};
use std::ops::Range;

/// A transfer of bytes of an object.
pub struct Transfer<'a> {
    source: &'a Source,
    object: &'a Object,
    /// The number of bytes that it has stored.
    stored: u64,
}

impl<'a> Transfer<'a> {
    /// A transfer that has not begun.
    pub fn new(source: &'a Source, object: &'a Object) -> Transfer<'a> {
        Transfer { source, object, stored: 0 }
    }

    fn key(&self, block: u64) -> Key {
        (self.object.id, block)
    }

    fn claim(&self, block: u64) -> Option<Filler> {
        let claim = Claim { origin: self.source.number, is_whole: false };
        self.source.common.slab.claim_for(self.key(block), claim)
    }

    /// Stores the first blocks from an answer that begins with them.
    ///
    /// # Errors
    /// The answer ends before the blocks, or the cache has no room.
    pub fn begin(
        &mut self,
        blocks: Range<u64>,
        writer: Filler,
        mut body: Take<impl Read>,
    ) -> Result<(), Unfilled> {
        let stored = self.store(blocks, writer, 0, &mut body);
        stored.map_err(|stop| self.unfilled(stop))?;
        read_end(body);
        Ok(())
    }

    /// Fetches blocks.
    ///
    /// # Errors
    /// The origin has another version, or fails, or the cache has no room.
    pub fn fill(&mut self, job: &Job, blocks: Range<u64>) -> Result<(), Unfilled> {
        if !self.object.validators.are_strong() {
            return Err(Unfilled::Evicted);
        }
        let Some(writer) = self.claim(blocks.start) else {
            return Ok(());
        };
        self.fetch(job, blocks, writer).map_err(|stop| self.unfilled(stop))
    }

    fn unfilled(&self, stop: Stop) -> Unfilled {
        let had_progress = self.stored >= self.object.segment_size;
        match stop {
            Stop::Changed(text) => Unfilled::Changed(text),
            Stop::Full(text) => Unfilled::Full(text),
            Stop::Failed(OriginError { text, .. }) => Unfilled::Failed { text, had_progress },
        }
    }

    fn fetch(&mut self, job: &Job, blocks: Range<u64>, writer: Filler) -> Result<(), Stop> {
        let (object, client) = (self.object, &self.source.client);
        let at = writer.filled();
        let begin = blocks.start * object.block_size() + at;
        let end = (blocks.end * object.block_size()).min(object.size);
        if begin >= end {
            return Ok(());
        }
        let fields = match object.has_ranges {
            true => vec![(RANGE, format!("bytes={begin}-{}", end - 1))],
            false => Vec::<(HeaderName, String)>::new(),
        };
        let reply = client.get(&job.target, &fields)?;
        let origin = client.origin();
        if !matches!(reply.status, 200 | 206) {
            let text = format!("{} to a request for a part", answers(origin, reply.status));
            return Err(match reply.status {
                404 | 410 | 412 | 416 => Stop::Changed(text),
                _ => OriginError::bad(text).into(),
            });
        }
        let extent = self.source.extent(&reply)?;
        let is_equal = object.validators.prove(&Validators::of(&reply.headers));
        if extent.size != Some(object.size) || !is_equal {
            let why = "the size or ETag of a part is not that of the part before";
            return Err(Stop::Changed(format!("{origin} has changed a file: {why}")));
        }
        if reply.status == 206 && extent.first != begin {
            return Err(
                OriginError::bad(format!("{origin} sends another part than requested")).into()
            );
        }
        let mut body = reply.body.take(extent.len.unwrap_or(u64::MAX));
        self.skip(&mut body, begin - extent.first)?;
        self.store(blocks, writer, at, &mut body)?;
        read_end(body);
        Ok(())
    }

    /// Appends a body to blocks, up to the end of the last. It begins at byte `at` of the first.
    fn store(
        &mut self,
        blocks: Range<u64>,
        writer: Filler,
        at: u64,
        body: &mut impl Read,
    ) -> Result<(), Stop> {
        let (mut buffer, mut first) = (vec![0; READ], Some((writer, at)));
        for block in blocks {
            let claimed = first.take();
            let claimed = claimed.or_else(|| Some((self.claim(block)?, 0)));
            match claimed {
                Some((mut writer, at)) => {
                    self.skip(body, writer.filled().saturating_sub(at))?;
                    self.store_block(block, &mut writer, body, &mut buffer)?;
                }
                // Another thread fetches it.
                None => self.skip(body, self.object.len_of(block))?,
            }
        }
        Ok(())
    }

    fn skip(&self, reader: &mut impl Read, bytes: u64) -> Result<(), Stop> {
        match io::copy(&mut reader.take(bytes), &mut io::sink()) {
            Ok(skipped) if skipped == bytes => Ok(()),
            Ok(_) => Err(self.early().into()),
            Err(error) => Err(self.source.client.stopped(&error).into()),
        }
    }

    fn store_block(
        &mut self,
        block: u64,
        writer: &mut Filler,
        reader: &mut impl Read,
        buffer: &mut [u8],
    ) -> Result<(), Stop> {
        let (len, mut filled) = (self.object.len_of(block), writer.filled());
        while filled < len {
            let some = (len - filled).min(buffer.len() as u64) as usize;
            let read = reader.read(&mut buffer[..some]);
            let read = read.map_err(|error| self.source.client.stopped(&error))?;
            if read == 0 {
                return Err(self.early().into());
            }
            let kept = writer.append(&buffer[..read]);
            kept.map_err(|error| Stop::Full(no_room(&error)))?;
            filled += read as u64;
            self.stored += read as u64;
            let (number, key) = (self.source.number, self.key(block));
            self.source.common.outbox.put_progress(number, key, filled);
        }
        Ok(())
    }

    fn early(&self) -> OriginError {
        OriginError::bad(format!("{} ended its answer early", self.source.client.origin()))
    }
}

/// Reads the end of a body of known length: then the next request uses the same connection. The
/// content is complete whether or not this fails.
fn read_end(body: Take<impl Read>) {
    if body.limit() == 0 {
        let _ = body.into_inner().read(&mut [0]);
    }
}

/// Why a transfer ends before its last byte.
enum Stop {
    Changed(String),
    Full(String),
    Failed(OriginError),
}

impl From<OriginError> for Stop {
    fn from(rejected: OriginError) -> Stop {
        Stop::Failed(rejected)
    }
}

/// The cache takes no more.
pub fn no_room(error: &io::Error) -> String {
    format!("the cache of the proxy takes no more: {error}; see --cache and --cache-size")
}
