//! The preparation of an object for publication: every segment is encoded, signed and hashed once.

use crate::publish::cut::{Cut, PublishError, Source, Spec};
use crate::publish::digests::LeafDigests;
use crate::publish::publication::Publication;
use security::Signer;
use security::manifest::{Builder, Unsigned, largest_fanout};
use std::ops::Range;

/// An object that is being hashed. [`Preparation::digest_run`] may be called from several threads;
/// [`Preparation::push`] needs the results in order.
pub struct Preparation<S> {
    spec: Spec,
    cut: Cut,
    source: S,
    fanout: u32,
    builder: Builder,
    kept: Vec<LeafDigests>,
    /// The remaining bytes for `kept`; `None` once a run did not fit.
    room: Option<usize>,
}

/// A run of digests, from [`Preparation::digest_run`] to [`Preparation::push`].
pub struct DigestRun(LeafDigests);

impl<S: Source> Preparation<S> {
    /// Begins to prepare the bytes of `source`. `signer` signs the manifest.
    ///
    /// # Errors
    /// The segment size is 0, or a manifest cannot list that many segments.
    pub fn new(spec: Spec, source: S, signer: &Signer) -> Result<Preparation<S>, PublishError> {
        let fanout = largest_fanout(spec.object().as_ref(), signer);
        Preparation::with_fanout(spec, source, fanout)
    }

    /// As [`Preparation::new`], with the fan-out of a manifest that was made before.
    ///
    /// # Errors
    /// As for [`Preparation::new`], or the fan-out is out of range.
    pub fn with_fanout(spec: Spec, source: S, fanout: u32) -> Result<Preparation<S>, PublishError> {
        let cut = Cut::new(&spec, source.size())?;
        let builder = Builder::new(cut.object.clone(), fanout)?;
        let room = Some(spec.digest_memory);
        Ok(Preparation { spec, cut, source, fanout, builder, kept: Vec::new(), room })
    }

    /// The runs to hash, in order: the segments under each leaf of the manifest.
    pub fn runs(&self) -> impl Iterator<Item = Range<u64>> + use<S> {
        let (fanout, segments) = (u64::from(self.fanout), self.cut.segments);
        (0..segments.div_ceil(fanout)).map(move |i| i * fanout..segments.min((i + 1) * fanout))
    }

    /// Bytes of content in all.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.cut.size
    }

    /// Bytes of content in a run.
    #[must_use]
    pub fn bytes(&self, run: &Range<u64>) -> u64 {
        let size = self.cut.segment_size as u64;
        (run.end * size).min(self.cut.size) - (run.start * size).min(self.cut.size)
    }

    /// Signs and hashes a run.
    ///
    /// # Errors
    /// The source cannot be read, or a packet would be too large.
    pub fn digest_run(&self, run: Range<u64>) -> Result<DigestRun, PublishError> {
        self.cut.digests(&self.source, run).map(DigestRun)
    }

    /// Appends the digests of the next run.
    ///
    /// # Errors
    /// A manifest node would not fit into a packet.
    pub fn push(&mut self, run: DigestRun) -> Result<(), PublishError> {
        for digest in run.0.implicit() {
            self.builder.push(*digest)?;
        }
        // The kept runs begin with the first segment and have no gaps.
        self.room = self.room.and_then(|room| room.checked_sub(run.0.bytes()));
        if self.room.is_some() {
            self.kept.push(run.0);
        }
        Ok(())
    }

    /// Signs the manifest, after all runs were pushed.
    ///
    /// # Errors
    /// Not all runs were pushed, or the root does not fit into a packet.
    pub fn finish(self, signer: &Signer) -> Result<Publication, PublishError>
    where
        S: 'static,
    {
        let Preparation { spec, cut, source, builder, kept, .. } = self;
        let unsigned = builder.close()?;
        let source = Box::new(source);
        let mut made = Publication::new(spec, cut, source, unsigned, kept, signer.clone());
        made.seal()?;
        Ok(made)
    }

    /// The manifest, after all runs were pushed. The object itself can be published later by
    /// [`Publication::restore`].
    ///
    /// # Errors
    /// Not all runs were pushed.
    pub fn close(self) -> Result<Unsigned, PublishError> {
        Ok(self.builder.close()?)
    }

    /// Signs and hashes all runs in the current thread.
    ///
    /// # Errors
    /// Those of [`Preparation::digest_run`], [`Preparation::push`] and [`Preparation::finish`].
    pub fn run(mut self, signer: &Signer) -> Result<Publication, PublishError>
    where
        S: 'static,
    {
        for run in self.runs().collect::<Vec<_>>() {
            let digests = self.digest_run(run)?;
            self.push(digests)?;
        }
        self.finish(signer)
    }
}
