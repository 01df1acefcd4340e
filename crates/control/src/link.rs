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
    /// Bytes in it; for held Interests, the bytes of Data that they are expected to bring.
    pub bytes: Size,
    /// How long the packet at its head has been in it.
    pub head_sojourn: Duration,
}

/// What a part sees of its link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkView {
    /// The rate out: configured, or measured as the queue drains; zero if unknown.
    pub rate_out: Rate,
    /// The rate in, as far as known (a link is taken as symmetric unless configured).
    pub rate_in: Rate,
    /// Data waiting to leave.
    pub data_out: QueueView,
    /// How many bytes of Data may wait to leave; zero if unknown.
    pub data_limit: Size,
    /// Interests waiting to leave.
    pub interests_out: QueueView,
    /// Interests that the shaper holds.
    pub held: QueueView,
    /// Interests offered to the shaper since the face came up, refused ones included.
    pub offered: u64,
    /// The bytes of Data that all offered Interests were expected to bring.
    pub offered_bytes: Size,
    /// Bytes of Data expected in for Interests that were let out.
    pub expected_in: Size,
    /// Bytes of Data expected out for Interests that came in.
    pub expected_out: Size,
    /// Flows active on the link.
    pub flows: u32,
}

/// What a part may ask of the node.
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
    /// The segment it asks for; 0 if its name has none.
    pub segment: u64,
    /// Its own size.
    pub size: Size,
    /// The bytes of Data that it is expected to bring.
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
    /// The congestion mark that it carries; 0 is none.
    pub mark: u64,
    /// Its hop-by-hop options. Not to be trusted.
    pub options: HopOptions,
}

/// What becomes of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It goes on.
    Pass,
    /// It goes on with at least this congestion mark.
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

/// Where a shaper stands on an Interest's way.
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
    /// It goes on now.
    Pass(InterestMeta),
    /// The shaper keeps it.
    Held,
    /// It is refused; the downstream gets a Nack (Congestion).
    Refused(InterestMeta),
}

/// An Interest that a shaper gives back.
#[derive(Debug)]
pub enum Released {
    /// It goes on now.
    Pass(InterestMeta),
    /// It is refused after all, for instance to make room for another class.
    Refused(InterestMeta),
}

/// What an Interest that was let through brought.
#[derive(Clone, Copy, Debug)]
pub struct Returned {
    /// Its flow.
    pub flow: Flow,
    /// What was expected when it was let through.
    pub expected: Size,
    /// The Data's size; `None` if a Nack came or the Interest expired, so that credit is given
    /// back.
    pub size: Option<Size>,
    /// The time since it was let through.
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
    /// Which way.
    pub direction: Direction,
    /// What.
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

/// What Data did at a face's queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Queued {
    /// It joined the queue.
    Joined,
    /// It left the queue: sent, or dropped there.
    Left,
}

/// Interest shaping. The shaper owns its queues; the host drops what expires while it is held.
pub trait Shaper: Send {
    /// Where it stands.
    fn stage(&self) -> Stage;

    /// An Interest wants to pass. `view` is the shaper's own link, `other` the link at the other
    /// end of its way through the node (the downstream's for [`Stage::Departure`]; the same as
    /// `view` where the way is not known yet).
    fn offer(
        &mut self,
        cx: &mut Cx<'_>,
        view: &LinkView,
        other: &LinkView,
        interest: InterestMeta,
    ) -> Offer;

    /// The next Interest that may go on now; called until `None`.
    fn release(&mut self, cx: &mut Cx<'_>, view: &LinkView) -> Option<Released>;

    /// When [`Shaper::release`] wants to be called.
    fn next_release(&self) -> Option<Time>;

    /// What an Interest that was let through brought.
    fn on_returned(&mut self, _cx: &mut Cx<'_>, _view: &LinkView, _returned: &Returned) {}

    /// Something crossed the face, either way.
    fn on_crossing(&mut self, _cx: &mut Cx<'_>, _view: &LinkView, _crossing: &Crossing<'_>) {}

    /// Data of a flow joined the face's queue or left it; the view shows the queue after that. With
    /// it a shaper knows what waits of each flow, which the view shows of all flows together.
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
/// It stands at both directions of its link. What concerns the Data that the link brings (a rate of
/// the link, a label of the face that Data arrives by) is for the end that asks for it, in
/// [`Stamper::on_interest_out`], [`Stamper::on_data_in`] and [`Stamper::on_nack_in`]. What concerns
/// the neighbour that asks is for the other three.
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

    /// An Interest is to leave over the face. It is offered to the face's shaper after this, if
    /// that stands at [`Stage::Departure`], and may be refused.
    fn on_interest_out(
        &mut self,
        _cx: &mut Cx<'_>,
        _view: &LinkView,
        _node: &dyn NodeView,
        _interest: &mut InterestMeta,
    ) {
    }

    /// Data that was asked for came in over the face, `since_release` after the Interest left by
    /// it. What is written goes to the strategy and to every downstream.
    fn on_data_in(
        &mut self,
        _cx: &mut Cx<'_>,
        _view: &LinkView,
        _node: &dyn NodeView,
        _data: &mut DataMeta,
        _since_release: Duration,
    ) {
    }

    /// A Nack for a pending Interest came in over the face; or the face's own shaper refused the
    /// Interest, which is the same to the downstreams. What is written goes to them if a Nack does.
    fn on_nack_in(
        &mut self,
        _cx: &mut Cx<'_>,
        _view: &LinkView,
        _node: &dyn NodeView,
        _flow: Flow,
        _options: &mut HopOptions,
    ) {
    }

    /// Something crossed the face, either way.
    fn on_crossing(&mut self, _cx: &mut Cx<'_>, _view: &LinkView, _crossing: &Crossing<'_>) {}

    /// When [`Stamper::on_deadline`] wants to be called.
    fn next_deadline(&self) -> Option<Time> {
        None
    }

    /// The instant asked for has come.
    fn on_deadline(&mut self, _cx: &mut Cx<'_>, _view: &LinkView) {}
}
