//! Publishing an object from a thread.

use crate::error::{Error, has_version};
use crate::name::AsName;
use crate::parts::{FileSource, MOST_COMPONENTS, digest};
use crate::service::{Prefixes, Producer, Service};
use crate::settings::{Settings, Unstopped};
use control::Time;
use net::client::Endpoint;
use net::clock::unix_millis;
use packet::Name;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use transport::publish::{Preparation, Publish, Source, Spec};

/// The bytes of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Content {
    /// In memory.
    Bytes(Vec<u8>),
    /// A regular file. It is read on request, and must not change meanwhile: changed segments are
    /// not served.
    File(PathBuf),
}

impl From<Vec<u8>> for Content {
    fn from(bytes: Vec<u8>) -> Content {
        Content::Bytes(bytes)
    }
}

impl From<&[u8]> for Content {
    fn from(bytes: &[u8]) -> Content {
        Content::Bytes(bytes.to_vec())
    }
}

impl From<&str> for Content {
    fn from(text: &str) -> Content {
        Content::Bytes(text.as_bytes().to_vec())
    }
}

impl From<PathBuf> for Content {
    fn from(path: PathBuf) -> Content {
        Content::File(path)
    }
}

impl From<&Path> for Content {
    fn from(path: &Path) -> Content {
        Content::File(path.to_owned())
    }
}

/// The options of a publication.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[must_use]
pub struct PublishOptions {
    key: Option<String>,
    version: Option<u64>,
    segment_size: Option<usize>,
    freshness: Option<Duration>,
    sign_segments: bool,
}

impl PublishOptions {
    /// The key, or identity, that signs, instead of that of the client.
    pub fn key(self, name: impl Into<String>) -> PublishOptions {
        PublishOptions { key: Some(name.into()), ..self }
    }

    /// The version. Without it, that of a file is the time of its modification, and that of bytes
    /// is the present time, in milliseconds since 1970. The newest version of a name has the
    /// largest number.
    pub fn version(self, version: u64) -> PublishOptions {
        PublishOptions { version: Some(version), ..self }
    }

    /// Bytes of content in a segment; 8000 by default, or fewer with a long name.
    pub fn segment_size(self, bytes: usize) -> PublishOptions {
        PublishOptions { segment_size: Some(bytes), ..self }
    }

    /// The time for which segments are fresh in caches; an hour by default.
    pub fn freshness(self, freshness: Duration) -> PublishOptions {
        PublishOptions { freshness: Some(freshness), ..self }
    }

    /// Signs every segment, for consumers without support for manifests.
    pub fn sign_segments(self) -> PublishOptions {
        PublishOptions { sign_segments: true, ..self }
    }
}

/// An object that is served from a thread, until this value is dropped. The thread and the
/// registration have ended then. After a restart of the forwarder, the object is served again.
#[derive(Debug)]
pub struct Publication {
    name: Name,
    size: u64,
    segments: u64,
    is_signed: bool,
    counts: Arc<Counts>,
    service: Service,
}

#[derive(Debug, Default)]
struct Counts {
    answered: AtomicU64,
    bytes: AtomicU64,
}

impl Publication {
    pub(crate) fn start(
        settings: &Settings,
        name: Name,
        content: Content,
        options: &PublishOptions,
    ) -> Result<Publication, Error> {
        check(&name)?;
        let key = options.key.as_deref().map(AsName::as_name).transpose()?;
        let signing = settings.signing(key.as_ref(), &name)?;
        let is_signed = !matches!(signing.signer, security::Signer::Digest);
        if options.sign_segments && !is_signed {
            let text = "there is no key to sign segments with; name one in the options";
            return Err(Error::Usage(text.to_owned()));
        }
        // Before large content is hashed, check that a forwarder exists.
        let connection = settings.open(&Unstopped)?;
        let (source, own_version) = source(content)?;
        let version = options.version.unwrap_or(own_version);
        let mut spec = match options.sign_segments {
            true => Spec::signed_by(signing.signer.clone(), name.clone(), version),
            false => Spec::new(name.clone(), version),
        };
        spec.segment_size = options.segment_size.unwrap_or(spec.segment_size);
        if let Some(freshness) = options.freshness {
            spec.freshness_ms = u64::try_from(freshness.as_millis()).unwrap_or(u64::MAX);
        }
        let mut preparation = Preparation::new(spec, source, &signing.signer)?;
        digest(&mut preparation, &|_| {}, &|| false)?;
        let object = preparation.finish(&signing.signer)?;
        let (full, size, segments) = (object.object().clone(), object.size(), object.segments());
        let mut publish = Publish::new();
        publish.add(object);
        publish.claim(name.clone());
        let mut others = Vec::new();
        for certificate in &signing.chain {
            publish.add_packet(certificate.wire().clone());
            let key = certificate.key_name();
            if !key.as_ref().starts_with(name.as_ref()) {
                others.push(key);
            }
        }
        let counts = Arc::new(Counts::default());
        let producer = Box::new(Served { publish, counts: Arc::clone(&counts) });
        let service =
            Service::start(connection, Prefixes { main: name, others, is_group: false }, producer)?;
        Ok(Publication { name: full, size, segments, is_signed, counts, service })
    }

    /// The name, with the version.
    #[must_use]
    pub fn name(&self) -> &Name {
        &self.name
    }

    /// Bytes of content.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.size
    }

    /// The number of segments.
    #[must_use]
    pub fn segments(&self) -> u64 {
        self.segments
    }

    /// True if a key signed the object; false if it has a digest, because no key is for such names.
    #[must_use]
    pub fn is_signed(&self) -> bool {
        self.is_signed
    }

    /// The number of Data packets sent so far.
    #[must_use]
    pub fn answered(&self) -> u64 {
        self.counts.answered.load(Ordering::Relaxed)
    }

    /// The number of bytes of content sent so far.
    #[must_use]
    pub fn bytes_sent(&self) -> u64 {
        self.counts.bytes.load(Ordering::Relaxed)
    }

    /// The error that has ended the service, such as a forwarder that came back and rejects the
    /// name; `None` while it continues.
    #[must_use]
    pub fn error(&self) -> Option<Error> {
        self.service.error()
    }
}

/// Checks that consumers can find an object by the name.
fn check(name: &Name) -> Result<(), Error> {
    if name.is_empty() {
        return Err(Error::Usage("an object needs a name with a component".to_owned()));
    }
    if name.as_ref().last().is_some_and(|last| last.as_version_any().is_some()) {
        return Err(has_version(name));
    }
    let (length, most) = (name.len(), MOST_COMPONENTS);
    if length > most {
        let text = format!("the name has {length} components, and consumers find {most} or fewer");
        return Err(Error::Usage(text));
    }
    Ok(())
}

/// The source of the bytes, and the version that they have by themselves.
fn source(content: Content) -> Result<(Box<dyn Source>, u64), Error> {
    match content {
        Content::Bytes(bytes) => Ok((Box::new(bytes), unix_millis())),
        Content::File(path) => {
            let file =
                FileSource::open(&path).map_err(|error| Error::file("publish", &path, &error))?;
            let version = file.version();
            Ok((Box::new(file), version))
        }
    }
}

/// The state machine of a publication.
struct Served {
    publish: Publish,
    counts: Arc<Counts>,
}

impl Endpoint for Served {
    fn receive(&mut self, _now: Time, frame: &[u8]) {
        self.publish.receive(frame);
    }

    fn poll_transmit(&mut self, _now: Time, out: &mut Vec<u8>) -> bool {
        self.publish.poll_transmit(out)
    }

    fn next_deadline(&mut self, _now: Time) -> Option<Time> {
        None
    }

    fn on_deadline(&mut self, _now: Time) {}
}

impl Producer for Served {
    fn forget(&mut self) {
        self.publish.forget_waiting();
    }

    fn answered(&self) -> u64 {
        self.publish.stats().answered
    }

    fn look(&mut self) {
        let stats = self.publish.stats();
        self.counts.answered.store(stats.answered, Ordering::Relaxed);
        self.counts.bytes.store(stats.content_bytes, Ordering::Relaxed);
    }
}
