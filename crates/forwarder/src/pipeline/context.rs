//! Packets with what is known of them on their way.

use bytes::Bytes;
use control::{InterestMeta, Size, Time};
use packet::{Data, HopOptions, Interest, LpPacket};

use crate::frames::Packet;
use crate::link::shaping::Expected;
use crate::node::Subject;
use crate::tables::{FaceId, HashedName, InRecord, PitToken};

/// A packet as a link hands it up: whole, and not yet read.
pub(super) struct Incoming<'a> {
    /// The face that it came by.
    pub(super) face: FaceId,
    pub(super) header: &'a LpPacket<'a>,
    /// The congestion mark: the largest of its frames.
    pub(super) mark: u64,
    pub(super) packet: Packet<'a>,
}

impl Incoming<'_> {
    /// Its size on the link.
    pub(super) fn size(&self) -> usize {
        let frames = usize::try_from(self.header.frag_count()).unwrap_or(usize::MAX);
        self.packet.bytes.len().saturating_add(self.header.overhead().saturating_mul(frames))
    }
}

/// An Interest on its way: as it came by a face, or as a PIT entry goes on with it.
pub(super) struct InterestCx<'a> {
    /// The downstream: the face that it came by.
    pub(super) face: FaceId,
    /// The Interest as it came; its hop limit is that of the hop before.
    pub(super) interest: &'a Interest<'a>,
    pub(super) name: &'a HashedName<'a>,
    pub(super) nonce: u32,
    pub(super) expires: Time,
    pub(super) token: PitToken,
    pub(super) mark: u64,
    pub(super) options: HopOptions,
    /// The face that a local application wants it to leave by.
    pub(super) chosen_face: Option<FaceId>,
    pub(super) subject: Subject,
    /// Its size on the link.
    pub(super) size: usize,
    /// The Data that the downstream's parts expect.
    pub(super) expected: Option<Expected>,
    /// The options of the Nack that the strategy is asked about; they go on with it.
    pub(super) nack_options: HopOptions,
}

impl<'a> InterestCx<'a> {
    /// An Interest of a downstream, without anything besides.
    pub(super) fn new(
        face: FaceId,
        interest: &'a Interest<'a>,
        name: &'a HashedName<'a>,
        nonce: u32,
        expires: Time,
    ) -> InterestCx<'a> {
        InterestCx {
            face,
            interest,
            name,
            nonce,
            expires,
            token: PitToken::NONE,
            mark: 0,
            options: HopOptions::new(),
            chosen_face: None,
            subject: Subject::default(),
            size: interest.wire().len(),
            expected: None,
            nack_options: HopOptions::new(),
        }
    }

    /// The record of the downstream in the PIT.
    pub(super) fn in_record(&self, now: Time) -> InRecord {
        InRecord {
            face: self.face,
            nonce: self.nonce,
            arrived_at: now,
            expires: self.expires,
            token: self.token.clone(),
            options: self.options.clone(),
        }
    }

    /// The Interest as parts of links see it, with these options and this end.
    pub(super) fn meta(&self, options: HopOptions, expected: Size, expires: Time) -> InterestMeta {
        InterestMeta {
            flow: self.subject.flow,
            segment: self.subject.segment,
            size: Size(self.interest.wire().len() as u64),
            expected,
            expires,
            options,
            handle: 0,
        }
    }
}

/// Data on its way.
pub(super) struct DataCx<'a> {
    /// The upstream: the face that it came by.
    pub(super) face: FaceId,
    pub(super) data: &'a Data<'a>,
    pub(super) name: &'a HashedName<'a>,
    /// The packet, owned: shared by the content store and the queues of all downstreams.
    pub(super) packet: Bytes,
    pub(super) mark: u64,
    pub(super) options: HopOptions,
    pub(super) subject: Subject,
    /// The content store has it now.
    pub(super) cached: bool,
    /// The sender does not know options: this node adds those that the answer needs.
    pub(super) completes: bool,
}
