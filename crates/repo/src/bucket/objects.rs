//! The objects of a bucket: reading them by range, writing, listing and removing them.

use super::answer::{self, Failure};
use super::client::{Client, Sent};
use crate::fault::{BucketError, Cause};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jiff::{SignedDuration, Timestamp};
use md5::{Digest as _, Md5};
use rusty_s3::actions::{
    AbortMultipartUpload, CompleteMultipartUpload, CompleteMultipartUploadResponse,
    CreateMultipartUpload, DeleteObject, GetObject, ListObjectsV2, PutObject, UploadPart,
};
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::unix::fs::FileExt;
use ureq::Body;
use ureq::http::Response;

/// The number of bytes that are copied at a time.
const BLOCK: usize = 256 << 10;
/// The number of bytes of a part, if the upload does not need larger ones.
const PART: u64 = 16 << 20;
/// The maximum number of parts of an upload. S3 permits 10,000.
const MOST_PARTS: u64 = 9_000;

/// A result of a request.
pub type Done<T> = Result<T, Box<BucketError>>;

/// A part of a file, or all of it.
#[derive(Clone, Copy)]
pub struct Part<'a> {
    file: &'a File,
    from: u64,
    len: u64,
}

impl<'a> Part<'a> {
    /// All of a file.
    pub fn whole(file: &'a File) -> io::Result<Part<'a>> {
        Ok(Part { file, from: 0, len: file.metadata()?.len() })
    }

    /// The parts of an upload.
    fn parts(self) -> impl Iterator<Item = Part<'a>> {
        let Part { file, from, len } = self;
        let size = PART.max(len.div_ceil(MOST_PARTS));
        let starts = (0..len.div_ceil(size)).map(move |at| at * size);
        starts.map(move |at| Part { file, from: from + at, len: size.min(len - at) })
    }

    /// The MD5 of the bytes, which the server compares.
    fn sum(mut self) -> io::Result<String> {
        let (mut sum, mut block) = (Md5::new(), vec![0; BLOCK]);
        loop {
            match self.read(&mut block)? {
                0 => return Ok(STANDARD.encode(sum.finalize())),
                len => sum.update(&block[..len]),
            }
        }
    }
}

impl Read for Part<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let most = usize::try_from(self.len).unwrap_or(usize::MAX).min(buffer.len());
        let read = self.file.read_at(&mut buffer[..most], self.from)?;
        self.from += read as u64;
        self.len -= read as u64;
        Ok(read)
    }
}

/// An object in a list.
#[derive(Clone, Debug)]
pub struct Listed {
    /// Its key.
    pub key: String,
    /// Its size in bytes.
    pub size: u64,
    /// Its age by the server's clock; zero if the server does not state it.
    pub age: SignedDuration,
}

/// Reads bytes of an object from `offset` on. The object must have `size` bytes.
pub fn range(client: &Client, key: &str, size: u64, offset: u64, len: usize) -> Done<Vec<u8>> {
    let action = GetObject::new(client.bucket(), client.credentials(), key);
    let last = offset + (len as u64).saturating_sub(1);
    client.attempt("read", key, || {
        let request = client.sign(&action).with("range", format!("bytes={offset}-{last}"));
        let response = client.send(&request, Sent::Nothing)?;
        check_range(&response, offset, size)?;
        let mut bytes = vec![0; len];
        let mut reader = response.into_body().into_reader();
        reader.read_exact(&mut bytes).map_err(|error| answer::cut_off(&error))?;
        Ok(bytes)
    })
}

/// Compares the range of an answer, `bytes FIRST-LAST/SIZE`, with the requested one.
fn check_range(response: &Response<Body>, offset: u64, size: u64) -> Result<(), Failure> {
    let range = response.headers().get("content-range").and_then(|range| range.to_str().ok());
    let numbers = range.and_then(|range| {
        let (first, rest) = range.strip_prefix("bytes ")?.split_once('-')?;
        Some((first.parse::<u64>().ok()?, rest.split_once('/')?.1.parse::<u64>().ok()?))
    });
    match numbers {
        Some((first, found)) if first == offset && found == size => Ok(()),
        Some((first, found)) if first == offset => {
            let text = format!("it has {found} bytes instead of {size}");
            Err(Failure::new(Cause::Damaged, text))
        }
        _ => {
            let text = "the server answers with another range than was requested".to_owned();
            Err(Failure::new(Cause::Unsupported, text))
        }
    }
}

/// The first bytes of an object, at most `len`; `None` if the object does not exist.
pub fn beginning(client: &Client, key: &str, len: usize) -> Done<Option<Vec<u8>>> {
    let action = GetObject::new(client.bucket(), client.credentials(), key);
    let read = client.attempt("read", key, || {
        let last = len.saturating_sub(1);
        let request = client.sign(&action).with("range", format!("bytes=0-{last}"));
        let response = client.send(&request, Sent::Nothing)?;
        let mut bytes = Vec::new();
        let mut reader = response.into_body().into_reader().take(len as u64);
        reader.read_to_end(&mut bytes).map_err(|error| answer::cut_off(&error))?;
        Ok(bytes)
    });
    match read {
        Err(error) if error.cause() == Cause::Absent => Ok(None),
        read => read.map(Some),
    }
}

/// Copies an object into a file.
pub fn fetch(client: &Client, key: &str, to: &mut File) -> Done<()> {
    let action = GetObject::new(client.bucket(), client.credentials(), key);
    client.attempt("read", key, || {
        let response = client.send(&client.sign(&action), Sent::Nothing)?;
        let announced = response.body().content_length();
        let mut reader = response.into_body().into_reader();
        io::Seek::rewind(to).and_then(|()| to.set_len(0)).map_err(|error| disk(&error))?;
        let (mut block, mut found) = (vec![0; BLOCK], 0);
        loop {
            let len = reader.read(&mut block).map_err(|error| answer::cut_off(&error))?;
            if len == 0 {
                break;
            }
            to.write_all(&block[..len]).map_err(|error| disk(&error))?;
            found += len as u64;
        }
        match announced.filter(|announced| *announced != found) {
            Some(announced) => Err(answer::short(found, announced)),
            None => Ok(()),
        }
    })
}

/// The failure of this host's disk.
fn disk(error: &io::Error) -> Failure {
    Failure::new(Cause::Settings, format!("the cache of this host cannot be used: {error}"))
}

/// Writes an object in one request. With `is_new`, there must be no object with this key: otherwise
/// the cause of the failure is [`Cause::Condition`].
pub fn put(client: &Client, key: &str, content: Part<'_>, is_new: bool) -> Done<()> {
    let action = PutObject::new(client.bucket(), client.credentials(), key);
    client.attempt("write", key, || {
        let sum = content.sum().map_err(|error| disk(&error))?;
        let mut request = client.sign(&action).with("content-md5", sum);
        request = request.with("content-length", content.len.to_string());
        if is_new {
            request = request.with("if-none-match", "*".to_owned());
        }
        client.send(&request, Sent::Reader(&mut content.clone())).map(drop)
    })
}

/// Writes a short object that must be new.
pub fn put_bytes(client: &Client, key: &str, bytes: &[u8]) -> Done<()> {
    let action = PutObject::new(client.bucket(), client.credentials(), key);
    client.attempt("write", key, || {
        let sum = STANDARD.encode(Md5::digest(bytes));
        let request = client.sign(&action).with("content-md5", sum);
        let request = request.with("if-none-match", "*".to_owned());
        client.send(&request, Sent::Bytes(bytes)).map(drop)
    })
}

/// Writes an object. A large one is uploaded in parts: `begun` receives the number of that upload,
/// so that another process can end it if this one is killed.
pub fn upload(
    client: &Client,
    key: &str,
    content: Part<'_>,
    begun: impl FnOnce(&str) -> io::Result<()>,
    is_interrupted: &dyn Fn() -> bool,
) -> Done<()> {
    if is_interrupted() {
        return Err(Box::new(BucketError::interrupted(client.title_of(key))));
    }
    if content.len <= PART {
        return put(client, key, content, false);
    }
    let create = CreateMultipartUpload::new(client.bucket(), client.credentials(), key);
    let id = client.attempt("write", key, || {
        let answer = client.text(client.send(&client.sign(&create), Sent::Bytes(&[]))?)?;
        let text = String::from_utf8_lossy(&answer);
        let parsed = CreateMultipartUpload::parse_response(&text);
        parsed.map(|parsed| parsed.upload_id().to_owned()).map_err(|_| no_s3("an upload"))
    })?;
    let noted = begun(&id).map_err(|error| {
        Box::new(BucketError::new(
            "write",
            client.title_of(key),
            Cause::Settings,
            error.to_string(),
        ))
    });
    noted.and_then(|()| upload_parts(client, key, content, &id, is_interrupted)).inspect_err(|_| {
        // The parts take room until the upload ends. The first error is the one to report.
        let _ = abort(client, key, &id);
    })
}

fn upload_parts(
    client: &Client,
    key: &str,
    content: Part<'_>,
    id: &str,
    is_interrupted: &dyn Fn() -> bool,
) -> Done<()> {
    let mut tags = Vec::new();
    for (number, part) in (1..).zip(content.parts()) {
        let action = UploadPart::new(client.bucket(), client.credentials(), key, number, id);
        if is_interrupted() {
            return Err(Box::new(BucketError::interrupted(client.title_of(key))));
        }
        tags.push(client.attempt("write", key, || {
            let sum = part.sum().map_err(|error| disk(&error))?;
            let request = client.sign(&action).with("content-md5", sum);
            let request = request.with("content-length", part.len.to_string());
            let response = client.send(&request, Sent::Reader(&mut part.clone()))?;
            let tag = response.headers().get("etag").and_then(|tag| tag.to_str().ok());
            tag.map(str::to_owned).ok_or_else(|| no_s3("a part"))
        })?);
    }
    let tags = tags.iter().map(String::as_str);
    let (bucket, credentials) = (client.bucket(), client.credentials());
    let complete = CompleteMultipartUpload::new(bucket, credentials, key, id, tags);
    let request = client.sign(&complete);
    let body = complete.body();
    client.attempt("write", key, || {
        let answer = client.text(client.send(&request, Sent::Bytes(body.as_bytes()))?)?;
        // The server sends the status before it has the result.
        match CompleteMultipartUploadResponse::parse(&String::from_utf8_lossy(&answer)) {
            Ok(_) => Ok(()),
            Err(_) => Err(answer::refused_late(&answer)),
        }
    })
}

/// Ends an upload in parts, and removes them.
pub fn abort(client: &Client, key: &str, id: &str) -> Done<()> {
    let action = AbortMultipartUpload::new(client.bucket(), client.credentials(), key, id);
    client.attempt("end the upload of", key, || {
        client.send(&client.sign(&action), Sent::Nothing).map(drop)
    })
}

/// Removes an object. A missing object is no error.
pub fn remove(client: &Client, key: &str) -> Done<()> {
    let action = DeleteObject::new(client.bucket(), client.credentials(), key);
    let removed = client
        .attempt("remove", key, || client.send(&client.sign(&action), Sent::Nothing).map(drop));
    match removed {
        Err(error) if error.cause() == Cause::Absent => Ok(()),
        removed => removed,
    }
}

/// Lists all objects whose keys begin with `prefix`.
pub fn list(client: &Client, prefix: &str) -> Done<Vec<Listed>> {
    let mut found = Vec::new();
    let mut next: Option<String> = None;
    loop {
        let mut action = ListObjectsV2::new(client.bucket(), client.credentials());
        action.with_prefix(prefix);
        if let Some(token) = &next {
            action.with_continuation_token(token.as_str());
        }
        let request = client.sign(&action);
        let (answer, now) = client.attempt("list", prefix, || {
            let response = client.send(&request, Sent::Nothing)?;
            let date = response.headers().get("date").and_then(|date| date.to_str().ok());
            let now = date.and_then(|date| jiff::fmt::rfc2822::parse(date).ok());
            let text = client.text(response)?;
            let parsed = ListObjectsV2::parse_response(&String::from_utf8_lossy(&text));
            Ok((parsed.map_err(|_| no_s3("a list"))?, now.map(|now| now.timestamp())))
        })?;
        found.extend(answer.contents.into_iter().map(|object| {
            let modified = object.last_modified.and_then(|text| text.parse::<Timestamp>().ok());
            let age = now.zip(modified).map(|(now, modified)| now.duration_since(modified));
            let size = object.size.unwrap_or(0);
            Listed { key: object.key, size, age: age.unwrap_or_default() }
        }));
        next = answer.next_continuation_token;
        if next.is_none() {
            return Ok(found);
        }
    }
}

fn no_s3(what: &str) -> Failure {
    Failure::new(
        Cause::Unsupported,
        format!("the server answers a request for {what} in no form of S3"),
    )
}
