//! Changes as bytes, which hosts that share a store exchange.
//!
//! A change is a list of steps. Each has a length, and a sum that shows damage. The last one has
//! the number of steps, so a change that was cut off is no change.

use crate::codec::{self, open, seal};
use crate::digest::Digest;
use crate::entry::{Entry, Top};
use packet::tlv::{self, Reader};
use packet::{Fault, Name, NameRef};
use std::io::{self, BufRead, Read, Write};

/// The format of the changes that this program writes.
pub const KNOWN: u64 = 1;
/// The maximum number of bytes of a step: an entry with the digests of a terabyte takes 16 MB.
const MOST: u32 = 256 << 20;

/// Elements of a step.
mod types {
    pub const BEGIN: u64 = 0xa1;
    pub const NONCE: u64 = 0xa3;
    pub const ARRIVED: u64 = 0xa5;
    pub const UPLOAD: u64 = 0xa7;
    pub const UNVERIFIED: u64 = 0xa9;
    pub const TOP: u64 = 0xab;
    pub const ABOUT: u64 = 0xad;
    pub const MEMBER: u64 = 0xaf;
    pub const REMOVED: u64 = 0xb1;
    pub const VERSION: u64 = 0xb3;
    pub const END: u64 = 0xb5;
}

/// A step of a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// The first one: the format, and a random number that no other change has.
    Begin { format: u64, nonce: u64 },
    /// A blob was uploaded before.
    Arrived { digest: Digest, upload: u64 },
    /// The signatures of the entries behind were not verified.
    Unverified,
    /// A named thing is inserted.
    Top { entry: Box<Entry>, top: Top },
    /// A part of it is inserted.
    Member(Box<Entry>),
    /// A named thing is removed.
    Removed { name: Name, version: u64 },
    /// The last one, with the number of steps before.
    End { count: u64 },
}

/// The reason why a change cannot be read.
#[derive(Debug)]
pub enum Unreadable {
    /// Reading it has failed.
    Io(io::Error),
    /// It is not as it was written.
    Damaged(String),
    /// A newer program has written it, in this format.
    Newer(u64),
}

/// Writes a change.
pub struct Writer<W> {
    out: W,
    count: u64,
}

impl<W: Write> Writer<W> {
    /// Begins a change.
    pub fn new(out: W, nonce: u64) -> io::Result<Writer<W>> {
        let mut writer = Writer { out, count: 0 };
        writer.write(&Step::Begin { format: KNOWN, nonce })?;
        Ok(writer)
    }

    /// Adds a step.
    pub fn write(&mut self, step: &Step) -> io::Result<()> {
        let step = seal(encode(step));
        let len = u32::try_from(step.len()).ok().filter(|len| *len <= MOST);
        let len = len.ok_or_else(|| io::Error::other("an entry is too large to be shared"))?;
        self.out.write_all(&len.to_be_bytes())?;
        self.out.write_all(&step)?;
        self.count += 1;
        Ok(())
    }

    /// Ends the change.
    pub fn end(mut self) -> io::Result<()> {
        let count = self.count;
        self.write(&Step::End { count })?;
        self.out.flush()
    }
}

/// Reads a change, step by step.
pub struct Steps<R> {
    from: R,
    count: u64,
    has_ended: bool,
}

impl<R: BufRead> Steps<R> {
    /// The change, and its nonce.
    ///
    /// # Errors
    /// It does not begin as a change of this format.
    pub fn new(from: R) -> Result<(Steps<R>, u64), Unreadable> {
        let mut steps = Steps { from, count: 0, has_ended: false };
        match steps.read()? {
            Some(Step::Begin { format: KNOWN, nonce }) => Ok((steps, nonce)),
            Some(Step::Begin { format, .. }) if format > KNOWN => Err(Unreadable::Newer(format)),
            _ => Err(Unreadable::Damaged("it has no beginning".to_owned())),
        }
    }

    /// The next step; `None` behind the last one.
    ///
    /// # Errors
    /// The change cannot be read, or is damaged.
    pub fn step(&mut self) -> Result<Option<Step>, Unreadable> {
        if self.has_ended {
            return Ok(None);
        }
        let before = self.count;
        match self.read()? {
            Some(Step::End { count }) if count == before => {
                self.has_ended = true;
                match self.from.fill_buf().map_err(Unreadable::Io)?.is_empty() {
                    true => Ok(None),
                    false => Err(Unreadable::Damaged("bytes are behind its end".to_owned())),
                }
            }
            Some(Step::Begin { .. } | Step::End { .. }) => Err(self.damaged()),
            Some(step) => Ok(Some(step)),
            None => Err(Unreadable::Damaged("its end is missing".to_owned())),
        }
    }

    fn read(&mut self) -> Result<Option<Step>, Unreadable> {
        if self.from.fill_buf().map_err(Unreadable::Io)?.is_empty() {
            return Ok(None);
        }
        let mut len = [0; 4];
        self.from.read_exact(&mut len).map_err(|_| self.damaged())?;
        let len = u32::from_be_bytes(len);
        if len > MOST {
            return Err(self.damaged());
        }
        let mut sealed = Vec::new();
        (&mut self.from).take(len.into()).read_to_end(&mut sealed).map_err(Unreadable::Io)?;
        if sealed.len() != len as usize {
            return Err(self.damaged());
        }
        let step = open(&sealed).and_then(|step| decode(step).ok());
        let step = step.ok_or_else(|| self.damaged())?;
        self.count += 1;
        Ok(Some(step))
    }

    fn damaged(&self) -> Unreadable {
        Unreadable::Damaged(format!("its step {} is not as it was written", self.count + 1))
    }
}

fn encode(step: &Step) -> Vec<u8> {
    let mut out = Vec::new();
    match step {
        Step::Begin { format, nonce } => {
            tlv::put_nni_tlv(&mut out, types::BEGIN, *format);
            tlv::put_nni_tlv(&mut out, types::NONCE, *nonce);
        }
        Step::Arrived { digest, upload } => {
            tlv::put_tlv(&mut out, types::ARRIVED, digest);
            tlv::put_nni_tlv(&mut out, types::UPLOAD, *upload);
        }
        Step::Unverified => tlv::put_tlv(&mut out, types::UNVERIFIED, &[]),
        Step::Top { entry, top } => {
            tlv::put_tlv(&mut out, types::TOP, &codec::encode(entry));
            tlv::put_tlv(&mut out, types::ABOUT, &codec::encode_top(top));
        }
        Step::Member(entry) => tlv::put_tlv(&mut out, types::MEMBER, &codec::encode(entry)),
        Step::Removed { name, version } => {
            tlv::put_tlv(&mut out, types::REMOVED, name.as_bytes());
            tlv::put_nni_tlv(&mut out, types::VERSION, *version);
        }
        Step::End { count } => tlv::put_nni_tlv(&mut out, types::END, *count),
    }
    out
}

fn decode(step: &[u8]) -> Result<Step, Fault> {
    let mut reader = Reader::new(step);
    let first = reader.next_element()?.ok_or(Fault::BadValue(types::BEGIN))?;
    let damaged = Fault::BadValue(first.typ);
    Ok(match first.typ {
        types::BEGIN => {
            let nonce = reader.expect(types::NONCE)?.nni()?;
            Step::Begin { format: first.nni()?, nonce }
        }
        types::ARRIVED => {
            let digest = first.value.try_into().map_err(|_| damaged)?;
            Step::Arrived { digest, upload: reader.expect(types::UPLOAD)?.nni()? }
        }
        types::UNVERIFIED => Step::Unverified,
        types::TOP => {
            let entry = Box::new(codec::decode(first.value).ok_or(damaged)?);
            let about = reader.expect(types::ABOUT)?;
            let top = codec::decode_top(about.value).ok_or(Fault::BadValue(types::ABOUT))?;
            Step::Top { entry, top }
        }
        types::MEMBER => Step::Member(Box::new(codec::decode(first.value).ok_or(damaged)?)),
        types::REMOVED => {
            let name = NameRef::decode(first.value).map_err(|_| damaged)?.to_name();
            Step::Removed { name, version: reader.expect(types::VERSION)?.nni()? }
        }
        types::END => Step::End { count: first.nni()? },
        _ => return Err(damaged),
    })
}

#[cfg(test)]
mod tests;
