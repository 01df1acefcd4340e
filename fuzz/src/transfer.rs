//! Two producers of the same name, of which the consumer trusts one, and the sink that knows what
//! that one published.
//!
//! Signatures are by shared secrets: fuzzing needs many executions, and a public key costs as much
//! as a hundred of the decisions that are tested here.

use control::{Controller, Params, Scheme};
use packet::Name;
use rangemap::RangeSet;
use security::{MIN_SHARED_KEY, SharedKey, Signer, TrustPolicy, TrustedKey};
use std::rc::Rc;
use transport::fetch::{FetchConfig, ObjectInfo, Resume, Sink};
use transport::publish::{Preparation, Publish, Spec};

/// The name under which both publish.
pub const NAME: &str = "/example/file";

/// The owner of the object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// The producer that the consumer trusts.
    Trusted,
    /// A producer that signs with another secret, under the same key name.
    Forger,
}

/// How an object is cut.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Bytes of content in a segment.
    pub segment: usize,
    /// Bytes of content.
    pub size: usize,
    /// Segments below a leaf of the manifest.
    pub fanout: u32,
}

impl Shape {
    /// Segments of the object.
    #[must_use]
    pub fn segments(self) -> u64 {
        self.size.div_ceil(self.segment) as u64
    }

    /// The content that `owner` publishes.
    #[must_use]
    pub fn content(self, owner: Owner) -> Vec<u8> {
        let seed = owner as u8;
        (0..self.size).map(|at| (at / self.segment) as u8 ^ at as u8 ^ seed).collect()
    }

    /// A producer of the object.
    ///
    /// # Panics
    /// The shape is impossible.
    #[must_use]
    pub fn producer(self, owner: Owner) -> Publish {
        let signer = Signer::Shared { secret: secret(owner), key_locator: key() };
        let spec = Spec { segment_size: self.segment, ..Spec::new(name(), 7) };
        let preparation = Preparation::with_fanout(spec, self.content(owner), self.fanout);
        let object = preparation.and_then(|preparation| preparation.run(&signer));
        let mut publish = Publish::new();
        publish.add(object.expect("memory can be read and the object is small"));
        publish
    }
}

/// [`NAME`] as a name.
#[must_use]
pub fn name() -> Name {
    NAME.parse().expect("a name")
}

fn key() -> Name {
    "/example/KEY/1".parse().expect("a name")
}

fn secret(owner: Owner) -> SharedKey {
    SharedKey::new(&[owner as u8; MIN_SHARED_KEY])
}

/// Trusts [`Owner::Trusted`] alone.
fn policy() -> TrustPolicy {
    let identity = "/example".parse().expect("a name");
    TrustPolicy::Keys(vec![TrustedKey::shared(key(), secret(Owner::Trusted), identity)])
}

/// The parts of a transfer that do not depend on the input, made once.
pub struct Parts {
    /// The trusted producer, which counts on over all inputs.
    pub honest: Publish,
    /// The forger.
    pub forger: Publish,
    shape: Shape,
    content: Rc<[u8]>,
    name: Name,
    policy: TrustPolicy,
    schemes: Vec<(&'static Scheme, Params)>,
}

impl Parts {
    /// Parts for an object of that shape; the consumer may have one of these schemes.
    ///
    /// # Panics
    /// There is no such scheme, or the shape is impossible.
    #[must_use]
    pub fn new(shape: Shape, schemes: &[&str]) -> Parts {
        let schemes = schemes.iter().map(|name| {
            let scheme = schemes::find(name).expect("a scheme");
            (scheme, Params::defaults(scheme.params))
        });
        Parts {
            honest: shape.producer(Owner::Trusted),
            forger: shape.producer(Owner::Forger),
            shape,
            content: shape.content(Owner::Trusted).into(),
            name: name(),
            policy: policy(),
            schemes: schemes.collect(),
        }
    }

    /// The configuration of a consumer that trusts [`Owner::Trusted`] alone.
    #[must_use]
    pub fn config(&self) -> FetchConfig {
        FetchConfig::new(self.name.clone(), self.policy.clone())
    }

    /// A controller of that scheme, with its defaults.
    ///
    /// # Panics
    /// The scheme is none of a consumer's.
    #[must_use]
    pub fn controller(&self, scheme: usize) -> Box<dyn Controller> {
        let (scheme, params) = &self.schemes[scheme];
        scheme.controller.expect("a consumer's")(params)
    }

    /// A sink that has the segments of `resume` already.
    #[must_use]
    pub fn judge(&self, in_order: bool, resume: RangeSet<u64>) -> Judge {
        let has = vec![false; self.shape.segments() as usize];
        Judge {
            name: self.name.clone(),
            shape: self.shape,
            content: self.content.clone(),
            written: has.clone(),
            has,
            resume,
            wants_order: in_order,
            in_order,
        }
    }
}

/// Accepts only what the trusted producer published, each segment once.
pub struct Judge {
    name: Name,
    shape: Shape,
    content: Rc<[u8]>,
    /// Segments of `resume`, once the transfer has begun, and those that were written.
    has: Vec<bool>,
    written: Vec<bool>,
    resume: RangeSet<u64>,
    /// The consumer asked for order.
    wants_order: bool,
    in_order: bool,
}

impl Judge {
    /// Every segment is there.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.has.iter().all(|has| *has)
    }
}

impl Sink for Judge {
    fn begin(&mut self, info: &ObjectInfo) -> Resume {
        assert!(info.name.as_ref().starts_with(self.name.as_ref()));
        // A candidate may be skipped for another one, as long as nothing of it was handed on.
        assert!(!self.written.contains(&true), "one transfer is of one object");
        self.has.fill(false);
        // As for any sink: without that size the position of a segment is unknown.
        self.in_order = self.wants_order || info.segment_size.is_none();
        let mut bytes = 0;
        for run in self.resume.iter() {
            // Where segments come in order, only what the object begins with is counted.
            let is_counted = !self.in_order || run.start == 0;
            for segment in run.clone() {
                let at = segment as usize * self.shape.segment;
                let len = self.shape.segment.min(self.shape.size - at);
                bytes += if is_counted { len as u64 } else { 0 };
                self.has[segment as usize] = true;
            }
        }
        Resume { segments: self.resume.clone(), bytes }
    }

    fn write(&mut self, segment: u64, offset: u64, content: &[u8]) {
        assert_eq!(offset, segment * self.shape.segment as u64);
        let from = offset as usize;
        assert_eq!(content, &self.content[from..from + content.len()], "not what was published");
        assert!(!std::mem::replace(&mut self.written[segment as usize], true), "written twice");
        self.has[segment as usize] = true;
        let before = &self.has[..segment as usize];
        assert!(!self.in_order || before.iter().all(|has| *has), "out of order");
    }
}
