//! The link's side of a scheme: queue management, Interest shaping, stamping.
//!
//! A part belongs to one face and one node. *Out* is away from this node over the face, *in* is
//! towards it. Every call gets a read-only [`LinkView`] of the face that the part belongs to.

use crate::context::Cx;
use crate::quantity::{Rate, Size};
use crate::time::{Duration, Time};
use packet::HopOptions;

/// A flow: the hash of the content's name without version and segment.
pub type Flow = u64;

/// A queue's state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueView {
    /// Packets in it.
    pub packets: u32,
    /// Its bytes; for held Interests, the expected bytes of their Data.
    pub bytes: Size,
    /// How long the packet at its head has been in it.
    pub head_sojourn: Duration,
}

/// A part's view of its link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkView {
    /// The rate out: configured, or measured as the queue drains; zero if unknown.
    pub rate_out: Rate,
    /// The incoming rate: configured, or measured from the Data that come; zero while it is
    /// unknown. A link counts as symmetric without either.
    pub rate_in: Rate,
    /// Data waiting to leave.
    pub data_out: QueueView,
    /// The queue limit for Data in bytes; zero if unknown.
    pub data_limit: Size,
    /// Interests waiting to leave.
    pub interests_out: QueueView,
    /// Interests that the shaper holds.
    pub held: QueueView,
    /// Interests offered to the shaper since the face came up, including rejected ones.
    pub offered: u64,
    /// The expected Data bytes of all offered Interests.
    pub offered_bytes: Size,
    /// Expected incoming Data bytes for Interests that were let out.
    pub expected_in: Size,
    /// Expected outgoing Data bytes for Interests received.
    pub expected_out: Size,
    /// Flows active on the link.
    pub flows: u32,
}

/// A part's queries to its node.
pub trait NodeView {
    /// The node's identity: 64 bits that differ between nodes.
    fn id(&self) -> u64;
    /// The content store holds this segment of the flow's current object.
    fn holds(&self, flow: Flow, segment: u64) -> bool;
}

/// An Interest as link parts see it.
#[derive(Clone, Debug)]
pub struct InterestMeta {
    /// Its flow.
    pub flow: Flow,
    /// The requested segment; 0 if its name has none.
    pub segment: u64,
    /// Its own size.
    pub size: Size,
    /// The expected bytes of its Data.
    pub expected: Size,
    /// When its lifetime ends.
    pub expires: Time,
    /// Its hop-by-hop options. Not to be trusted.
    pub options: HopOptions,
    /// The host's key to the packet; a part hands it back untouched.
    pub handle: u64,
}

/// A Data packet as link parts see it.
#[derive(Clone, Debug)]
pub struct DataMeta {
    /// Its flow.
    pub flow: Flow,
    /// Its segment number; 0 if its name has none.
    pub segment: u64,
    /// Its size on the link.
    pub size: Size,
    /// Its congestion mark; 0 is none.
    pub mark: u64,
    /// Its hop-by-hop options. Not to be trusted.
    pub options: HopOptions,
}

/// The decision about a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Forward it.
    Pass,
    /// Forward it with at least this congestion mark.
    Mark(u64),
    /// It is dropped; counted as the marker's drop.
    Drop,
}

/// Queue management on a face's outgoing packets.
pub trait Marker: Send {
    /// A Data packet is about to join the queue described by the view.
    fn on_enqueue(&mut self, _cx: &mut Cx<'_>, _view: &LinkView, _data: &DataMeta) -> Verdict {
        Verdict::Pass
    }

    /// A Data packet leaves the queue after `sojourn`; the view is without it.
    fn on_dequeue(
        &mut self,
        _cx: &mut Cx<'_>,
        _view: &LinkView,
        _data: &DataMeta,
        _sojourn: Duration,
    ) -> Verdict {
        Verdict::Pass
    }

    /// An Interest leaves the queue after `sojourn`. A mark given here is remembered in the PIT's
    /// out-record and comes back on the Data (PCON, section 3.2).
    fn on_interest_dequeue(
        &mut self,
        _cx: &mut Cx<'_>,
        _view: &LinkView,
        _interest: &InterestMeta,
        _sojourn: Duration,
    ) -> Verdict {
        Verdict::Pass
    }
}

/// The stage of an Interest's path at which a shaper works.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stage {
    /// On the face that Interests come from, before the lookup.
    Arrival,
    /// On the face that Interests come from, after the content store missed.
    Miss,
    /// On the face that Interests leave by.
    Departure,
}

/// The answer of a shaper to an Interest.
#[derive(Debug)]
pub enum Offer {
    /// Forward it now.
    Pass(InterestMeta),
    /// The shaper keeps it.
    Held,
    /// Reject it; the downstream gets a Nack (Congestion).
    Rejected(InterestMeta),
}

/// An Interest that a shaper releases.
#[derive(Debug)]
pub enum Released {
    /// Forward it now.
    Pass(InterestMeta),
    /// Reject it, for example to make room for another class.
    Rejected(InterestMeta),
}

/// The result of a released Interest.
#[derive(Clone, Copy, Debug)]
pub struct Returned {
    /// Its flow.
    pub flow: Flow,
    /// The expected size at its release.
    pub expected: Size,
    /// The Data's size; `None` if a Nack arrived, the Interest expired or was repeated, so that the
    /// credit is returned.
    pub size: Option<Size>,
    /// True if the Interest was repeated: one answer may serve both, or each may have one.
    pub is_repeated: bool,
    /// The time since its release.
    pub since_release: Duration,
}

/// Direction over a face, seen from the node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Towards this node.
    In,
    /// Away from this node.
    Out,
}

/// The kind of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An Interest.
    Interest,
    /// Data.
    Data,
    /// A Nack.
    Nack,
}

/// A packet that crossed the face.
#[derive(Clone, Copy, Debug)]
pub struct Crossing<'a> {
    /// The direction.
    pub direction: Direction,
    /// The kind of packet.
    pub kind: Kind,
    /// Its flow.
    pub flow: Flow,
    /// Its size on the link.
    pub size: Size,
    /// Interests: the bytes of Data expected back; otherwise 0.
    pub expected: Size,
    /// Its hop-by-hop options. Not to be trusted.
    pub options: &'a HopOptions,
}

/// The event of Data at a face's queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Queued {
    /// It joined the queue.
    Joined,
    /// It left the queue: sent, or dropped there.
    Left,
}

/// Interest shaping. The shaper owns its queues; the host drops Interests that expire in them.
pub trait Shaper: Send {
    /// Its stage.
    fn stage(&self) -> Stage;

    /// Offers an Interest. `view` is the shaper's own link, `other` the link at the other end of
    /// the path through the node: the downstream's for [`Stage::Departure`], or `view` if the path
    /// is not known yet.
    fn offer(
        &mut self,
        cx: &mut Cx<'_>,
        view: &LinkView,
        other: &LinkView,
        interest: InterestMeta,
    ) -> Offer;

    /// Returns the next Interest to forward now; called until `None`.
    fn release(&mut self, cx: &mut Cx<'_>, view: &LinkView) -> Option<Released>;

    /// The time of the next call of [`Shaper::release`].
    fn next_release(&self) -> Option<Time>;

    /// Reports the result of a released Interest.
    fn on_returned(&mut self, _cx: &mut Cx<'_>, _view: &LinkView, _returned: &Returned) {}

    /// Reports a packet that crossed the face, in either direction.
    fn on_crossing(&mut self, _cx: &mut Cx<'_>, _view: &LinkView, _crossing: &Crossing<'_>) {}

    /// Data of a flow joined or left the face's queue; the view shows the queue afterwards. The
    /// view has only the total of all flows; with this call a shaper can count per flow.
    fn on_queued(
        &mut self,
        _cx: &mut Cx<'_>,
        _view: &LinkView,
        _flow: Flow,
        _size: Size,
        _what: Queued,
    ) {
    }
}

/// Reads and writes hop-by-hop options on a face.
///
/// It works in both directions of its link. The end that requests Data handles options about
/// incoming Data (a rate of the link, a label of the incoming face) in
/// [`Stamper::on_interest_out`], [`Stamper::on_data_in`] and [`Stamper::on_nack_in`]. The other
/// three handle options about the requesting neighbour.
pub trait Stamper: Send {
    /// An Interest came in over the face, before the lookup.
    fn on_interest(
        &mut self,
        _cx: &mut Cx<'_>,
        _view: &LinkView,
        _node: &dyn NodeView,
        _interest: &mut InterestMeta,
    ) {
    }

    /// Data is about to leave over the face.
    fn on_data(
        &mut self,
        _cx: &mut Cx<'_>,
        _view: &LinkView,
        _node: &dyn NodeView,
        _data: &mut DataMeta,
    ) {
    }

    /// A Nack is about to leave over the face; `options` travel with it.
    fn on_nack(
        &mut self,
        _cx: &mut Cx<'_>,
        _view: &LinkView,
        _node: &dyn NodeView,
        _flow: Flow,
        _options: &mut HopOptions,
    ) {
    }

    /// An Interest is about to leave by the face. The face's shaper decides afterwards, if its
    /// stage is [`Stage::Departure`], and may reject it.
    fn on_interest_out(
        &mut self,
        _cx: &mut Cx<'_>,
        _view: &LinkView,
        _node: &dyn NodeView,
        _interest: &mut InterestMeta,
    ) {
    }

    /// Requested Data came in over the face, `since_release` after the Interest left by it. Written
    /// options go to the strategy and to every downstream.
    fn on_data_in(
        &mut self,
        _cx: &mut Cx<'_>,
        _view: &LinkView,
        _node: &dyn NodeView,
        _data: &mut DataMeta,
        _since_release: Duration,
    ) {
    }

    /// A Nack for a pending Interest came in over the face, or the face's own shaper rejected the
    /// Interest, which is equivalent for the downstreams. Written options go to them with a Nack.
    fn on_nack_in(
        &mut self,
        _cx: &mut Cx<'_>,
        _view: &LinkView,
        _node: &dyn NodeView,
        _flow: Flow,
        _options: &mut HopOptions,
    ) {
    }

    /// Reports a packet that crossed the face, in either direction.
    fn on_crossing(&mut self, _cx: &mut Cx<'_>, _view: &LinkView, _crossing: &Crossing<'_>) {}

    /// The time of the next call of [`Stamper::on_deadline`].
    fn next_deadline(&self) -> Option<Time> {
        None
    }

    /// The deadline has come.
    fn on_deadline(&mut self, _cx: &mut Cx<'_>, _view: &LinkView) {}
}
