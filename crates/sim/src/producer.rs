//! The producer of a node: the unchanged `Publish` for objects with a manifest, and packets made on
//! request for objects without one.

use hashbrown::HashTable;
use packet::{Bytes, Interest, LpPacket, Name, NameRef};
use security::Signer;
use std::collections::{BTreeSet, VecDeque};
use transport::publish::{Preparation, Publish, PublishError, Spec};
use xxhash_rust::xxh3::xxh3_64;

use crate::content::Virtual;
use crate::hashing::Hasher;
use crate::plain::{Plain, Wanted};
use crate::spec::{ObjectSpec, Signing};

/// An object in its current state.
enum Object {
    /// Not requested yet, so not hashed.
    Unprepared(Box<ObjectSpec>),
    Published(Box<Publish>),
    Plain(Box<Plain>),
}

/// An entry in the queue of answers.
enum Turn {
    /// The next answer of the object's `Publish`.
    Published(u32),
    Plain {
        object: u32,
        wanted: Wanted,
        token: Bytes,
    },
}

/// The objects of a node that share a face.
pub(crate) struct Producer {
    hasher: Hasher,
    objects: Vec<(Box<[u8]>, Object)>,
    /// Index of the objects by the bytes of their names.
    names: HashTable<u32>,
    /// The lengths of the names, in components.
    lengths: BTreeSet<usize>,
    turns: VecDeque<Turn>,
}

impl Producer {
    /// A producer without objects.
    pub fn new(hasher: Hasher) -> Producer {
        Producer {
            hasher,
            objects: Vec::new(),
            names: HashTable::new(),
            lengths: BTreeSet::new(),
            turns: VecDeque::new(),
        }
    }

    /// Serves an object from now on. If two have the same name, the first is served.
    ///
    /// # Errors
    /// The object cannot be divided into segments of the configured size.
    pub fn add(&mut self, spec: ObjectSpec) -> Result<(), PublishError> {
        // If the first segment fits into a packet, so do the others.
        preparation(&spec)?.digest_run(0..1)?;
        let name: Box<[u8]> = spec.name.as_ref().as_bytes().into();
        let components = spec.name.as_ref().len();
        let object = match spec.signing {
            Signing::Manifest => Object::Unprepared(Box::new(spec)),
            Signing::Digest | Signing::Unsigned => Object::Plain(Box::new(Plain::new(&spec))),
        };
        if self.find(&name).is_none() {
            let number = self.objects.len() as u32;
            self.names
                .insert_unique(xxh3_64(&name), number, |n| xxh3_64(&self.objects[*n as usize].0));
            self.lengths.insert(components);
        }
        self.objects.push((name, object));
        Ok(())
    }

    fn find(&self, name: &[u8]) -> Option<u32> {
        self.names.find(xxh3_64(name), |n| *self.objects[*n as usize].0 == *name).copied()
    }

    /// The object whose name is the longest prefix of `name`.
    fn object_of(&self, name: NameRef<'_>) -> Option<u32> {
        let lengths = self.lengths.range(..=name.len()).rev();
        lengths.map(|n| name.prefix(*n)).find_map(|prefix| self.find(prefix.as_bytes()))
    }

    pub fn receive(&mut self, frame: &[u8]) {
        let Ok(link) = LpPacket::decode(frame) else { return };
        let Some(fragment) = link.fragment().filter(|_| link.nack().is_none()) else { return };
        let Ok(interest) = Interest::decode(fragment) else { return };
        let Some(number) = self.object_of(interest.name()) else { return };
        self.prepare(number as usize);
        match &mut self.objects[number as usize].1 {
            Object::Published(publish) => {
                publish.receive(frame);
                self.turns.push_back(Turn::Published(number));
            }
            Object::Plain(plain) => {
                if let Some(wanted) = plain.wanted(&interest) {
                    let token = Bytes::copy_from_slice(link.pit_token().unwrap_or_default());
                    self.turns.push_back(Turn::Plain { object: number, wanted, token });
                }
            }
            Object::Unprepared(_) => {}
        }
    }

    fn prepare(&mut self, number: usize) {
        let object = &mut self.objects[number].1;
        let Object::Unprepared(spec) = object else { return };
        let prepared = preparation(spec).ok();
        let hashed = prepared.and_then(|object| self.hasher.hash(&spec.name, object));
        let mut publish = Publish::new();
        hashed.into_iter().for_each(|hashed| publish.add(hashed));
        *object = Object::Published(Box::new(publish));
    }

    /// Prepares the objects of these names before the first request, up to `most` bytes in total.
    pub fn make_ready(&mut self, names: &[Name], mut most: u64) {
        for number in 0..self.objects.len() {
            let Object::Unprepared(spec) = &self.objects[number].1 else { continue };
            if !names.contains(&spec.name) {
                continue;
            }
            let Some(left) = most.checked_sub(spec.size.0) else { return };
            most = left;
            self.prepare(number);
        }
    }

    pub fn poll_transmit(&mut self, out: &mut Vec<u8>) -> bool {
        while let Some(turn) = self.turns.pop_front() {
            let (Turn::Published(number) | Turn::Plain { object: number, .. }) = turn;
            let answered = match (&mut self.objects[number as usize].1, turn) {
                (Object::Plain(plain), Turn::Plain { wanted, token, .. }) => {
                    plain.answer(wanted, &token, out);
                    true
                }
                // False if the packet needed no answer.
                (Object::Published(publish), _) => publish.poll_transmit(out),
                _ => false,
            };
            if answered {
                return true;
            }
        }
        false
    }

    /// Drops the queued answers, because the node crashed. The objects are kept, as on a disk.
    pub fn crash(&mut self) {
        let mut nowhere = Vec::new();
        while self.poll_transmit(&mut nowhere) {
            nowhere.clear();
        }
    }
}

pub(crate) fn preparation(spec: &ObjectSpec) -> Result<Preparation<Virtual>, PublishError> {
    let source = Virtual::new(&spec.name, spec.size.0);
    let spec =
        Spec { segment_size: spec.segment_size, ..Spec::new(spec.name.clone(), spec.version) };
    Preparation::new(spec, source, &Signer::Digest)
}
