//! The packets of objects that only their publisher can sign, from the network.

use super::ask::{Question, ask};
use super::keep;
use crate::exit::{Failure, Kind};
use crate::file::FileSource;
use crate::signals::Stop;
use crate::transfer::Transfers;
use net::client::Connection;
use packet::{Bytes, Data, KeyLocator, Name};
use repo::{Body, Entry, Object, Place, Staged, Staging};
use security::manifest::{Node, node_name};
use security::{Certificate, verify_signature};
use std::collections::BTreeMap;
use transport::publish::{Preparation, SignedPackets, Source, Spec};
use transport::rdr::{self, Metadata};

/// The maximum length of a chain of certificates.
const CHAIN: usize = 8;

/// An object whose bytes are present.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// Its name, without the version.
    pub name: Name,
    /// Its version.
    pub version: u64,
    /// Bytes of content in every segment but the last.
    pub segment_size: u32,
    /// The digest of the root of its manifest, if known.
    pub root_digest: Option<[u8; 32]>,
}

impl Wanted {
    /// The same object with segments of the usual size.
    pub fn with_usual_segments(mut self) -> Wanted {
        self.segment_size = Spec::new(self.name.clone(), self.version).segment_size as u32;
        self
    }

    fn spec(&self) -> Spec {
        let mut spec = Spec::new(self.name.clone(), self.version);
        spec.segment_size = self.segment_size as usize;
        spec
    }

    fn rejected(&self, why: &dyn std::fmt::Display) -> Failure {
        let message = format!("{} cannot be kept: {why}", self.spec().object());
        Failure::new(Kind::NotVerified, message)
            .then("a store keeps what `weir put` and `weir share` publish without --sign-segments")
    }
}

/// Asks for signed packets, and checks them.
pub struct Collector<'a> {
    /// The connection to the forwarder.
    pub connection: &'a mut Connection,
    /// The trust of the user.
    pub transfers: &'a Transfers,
    /// The signal to stop.
    pub stop: &'a Stop,
}

impl Collector<'_> {
    /// The packets of these names; all must come.
    ///
    /// # Errors
    /// One does not come, or is not verified.
    pub fn packets(&mut self, names: &[Name]) -> Result<Vec<Bytes>, Failure> {
        let answers = ask(self.connection, names.iter().map(Question::exact), self.stop)?;
        names.iter().map(|name| self.take(&answers, &Question::exact(name))).collect()
    }

    fn take(
        &self,
        answers: &BTreeMap<Question, Bytes>,
        question: &Question,
    ) -> Result<Bytes, Failure> {
        let packet = answers.get(question).cloned().ok_or_else(|| missing(&question.name))?;
        let data = Data::decode(&packet).map_err(|error| Failure::new(Kind::Failed, error))?;
        self.transfers.verify(&data).map_err(|error| {
            Failure::new(Kind::NotVerified, error)
                .then("name the key of its publisher with --trust")
        })?;
        Ok(packet)
    }

    /// The signed packets of objects.
    ///
    /// # Errors
    /// One does not come, is not verified, or is of another manifest.
    pub fn signed(&mut self, wanted: &[Wanted]) -> Result<Vec<SignedPackets>, Failure> {
        let mut names = Vec::new();
        for object in wanted {
            names.push(rdr::metadata_name(object.name.as_ref(), object.version));
            names.push(rdr::root_name(object.spec().object().as_ref()));
        }
        let packets = self.packets(&names)?;
        let (pairs, _) = packets.as_chunks::<2>();
        // Roots that do not fit into the metadata are packets of their own.
        let mut nodes = Vec::new();
        for (object, [_, root]) in wanted.iter().zip(pairs) {
            let (_, node) = announced(object, root)?;
            nodes.extend(node.err());
        }
        let mut nodes = self.packets(&nodes)?.into_iter();
        let each = wanted.iter().zip(pairs).map(|(object, [metadata, root])| {
            let (digest, node) = announced(object, root)?;
            let manifest = node.ok().or_else(|| nodes.next());
            let manifest = manifest.ok_or_else(|| object.rejected(&"its manifest is missing"))?;
            let data = Data::decode(&manifest).map_err(|error| object.rejected(&error))?;
            let is_it = data.implicit_digest() == digest;
            if !is_it || object.root_digest.is_some_and(|known| known != digest) {
                return Err(object.rejected(&"it has another manifest"));
            }
            self.transfers.verify(&data).map_err(|error| object.rejected(&error))?;
            let (metadata, root) = (metadata.clone(), root.clone());
            Ok(SignedPackets { metadata, root, manifest })
        });
        each.collect()
    }

    /// The certificates of the key that signed a packet: each has the key of the signature before
    /// it. Only certificates that the user's trust verifies are returned: another one would replace
    /// a good one of the same name in the store. Missing certificates are left out.
    ///
    /// # Errors
    /// The connection has ended, or it was interrupted.
    pub fn certificates(&mut self, signed: &Bytes) -> Result<Vec<Certificate>, Failure> {
        let mut found: Vec<Certificate> = Vec::new();
        let mut packet = signed.clone();
        while found.len() < CHAIN {
            let locator = Data::decode(&packet).ok();
            let locator = locator.as_ref().and_then(|data| data.signature_info().key_locator());
            let Some(KeyLocator::Name(key)) = locator else { break };
            let name = key.to_name();
            // A key that certifies itself is the end of a chain.
            if found.iter().any(|known| known.name().as_ref().starts_with(name.as_ref())) {
                break;
            }
            let question = Question { name, can_be_prefix: true };
            let answers = ask(self.connection, std::iter::once(question.clone()), self.stop)?;
            let Some(answer) = answers.get(&question) else { break };
            let Ok(certificate) = Certificate::decode(answer.clone()) else { break };
            let signs = |data: Data<'_>| {
                verify_signature(&data, certificate.public_key(), &certificate.key_name()).is_ok()
            };
            if !Data::decode(&packet).is_ok_and(signs) {
                break;
            }
            found.push(certificate);
            packet = answer.clone();
        }
        Ok(self.transfers.certified(found))
    }

    /// Keeps the certificates of the key that signed an object, and returns the prefixes of both.
    ///
    /// # Errors
    /// As for [`Collector::certificates`], or they cannot be written.
    pub fn hold_certificates(
        &mut self,
        staging: &mut Staging,
        name: &Name,
        signed: &Bytes,
    ) -> Result<Vec<Name>, Failure> {
        let chain = self.certificates(signed)?;
        keep::certificates(staging, name, &chain)
    }

    /// The entry of an object, from its bytes and its signed packets.
    ///
    /// # Errors
    /// The bytes have other digests, or cannot be read.
    pub fn entry(
        &self,
        wanted: &Wanted,
        bytes: Bytes,
        signed: SignedPackets,
    ) -> Result<Entry, Failure> {
        let source = bytes.to_vec();
        self.make(wanted, Place::Inline(bytes), &|| Ok(source.clone()), signed)
    }

    /// The same for a file.
    ///
    /// # Errors
    /// As for [`Collector::entry`].
    pub fn file_entry(
        &self,
        wanted: &Wanted,
        staged: &Staged,
        signed: SignedPackets,
    ) -> Result<Entry, Failure> {
        let place = Place::Blob(staged.digest);
        let content =
            &|| FileSource::open_here(&staged.path).map_err(|error| keep::unwritable(&error));
        self.make(wanted, place, content, signed)
    }

    fn make<S: Source + 'static>(
        &self,
        wanted: &Wanted,
        place: Place,
        open: &dyn Fn() -> Result<S, Failure>,
        signed: SignedPackets,
    ) -> Result<Entry, Failure> {
        let node = Data::decode(&signed.manifest).ok();
        let shape = node.as_ref().and_then(|data| Node::decode_data(data).ok()?.shape);
        let fanout = shape.map(|shape| shape.fanout);
        let fanout = fanout.ok_or_else(|| wanted.rejected(&"its manifest has no shape"))?;
        let mut preparation = Preparation::with_fanout(wanted.spec(), open()?, fanout)?;
        for run in preparation.runs().collect::<Vec<_>>() {
            if self.stop.requested() {
                return Err(Failure::new(Kind::Interrupted, "interrupted"));
            }
            let digests = preparation.digest_run(run)?;
            preparation.push(digests)?;
        }
        let size = preparation.size();
        let below = preparation.close()?.below().to_vec();
        let segment_size = wanted.segment_size;
        let object = Object { place, size, segment_size, fanout, below, signed };
        let (name, version) = (wanted.name.clone(), wanted.version);
        let made = object.publication(&name, version, Box::new(open()?));
        made.map_err(|error| wanted.rejected(&error))?;
        Ok(Entry { name, version, body: Body::Object(Box::new(object)) })
    }
}

/// The digest of the manifest's root in a root packet, with that root or its name.
fn announced(object: &Wanted, root: &Bytes) -> Result<([u8; 32], Result<Bytes, Name>), Failure> {
    let data = Data::decode(root).map_err(|error| object.rejected(&error))?;
    let facts = Metadata::decode(object.name.as_ref(), data.content());
    let announced = facts.and_then(|facts| facts.manifest);
    let announced = announced.ok_or_else(|| object.rejected(&"it has no manifest"))?;
    let versioned = object.spec().object();
    let node = match rdr::root(data.content()) {
        Some(node) => Ok(Bytes::copy_from_slice(node.wire())),
        None => Err(node_name(versioned.as_ref(), announced.layout.root())),
    };
    Ok((announced.root_digest, node))
}

fn missing(name: &Name) -> Failure {
    let message = format!("the packet {name} did not arrive, and a copy needs it");
    Failure::new(Kind::NotFound, message)
        .then("run the same command again; its publisher may have a newer version by now")
}
