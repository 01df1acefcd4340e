//! Forwarding strategies receive the events of a PIT entry and return actions as values.

use crate::context::Cx;
use crate::link::LinkView;
use crate::time::{Duration, Time};
use packet::{HopOptions, NackReason, NameRef};

/// A next hop of the FIB entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NextHop {
    /// The face.
    pub face: u64,
    /// Its cost; smaller is better.
    pub cost: u64,
}

/// A downstream's pending Interest (PIT in-record).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Downstream {
    /// The incoming face.
    pub face: u64,
    /// The time of the latest one.
    pub arrived_at: Time,
    /// When its lifetime ends.
    pub expires: Time,
}

/// An Interest sent upstream (PIT out-record).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Upstream {
    /// The face it left by.
    pub face: u64,
    /// When the latest one was released.
    pub released_at: Time,
    /// The Nack that returned for it.
    pub nacked: Option<NackReason>,
    /// The end of its lifetime: upstream nodes may have forgotten it by then.
    pub expires: Time,
    /// It had a smaller hop limit than the current Interest, or another forwarding hint, so the
    /// current one may reach a node with the Data where this one did not.
    pub falls_short: bool,
}

impl Upstream {
    /// An Interest that left by `face` at `released_at`, without such limits.
    #[must_use]
    pub fn new(face: u64, released_at: Time) -> Upstream {
        Upstream { face, released_at, nacked: None, expires: Time::MAX, falls_short: false }
    }
}

/// An action of a strategy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Send the Interest by this face.
    Forward(u64),
    /// Send a copy with a new nonce by this face. Where copies of one Interest meet, equal nonces
    /// would look like a loop.
    Probe(u64),
    /// Answer the downstreams that are still waiting with a Nack, and end the entry.
    Nack(NackReason),
    /// Call [`Strategy::on_timer`] for this entry at this instant, if it still exists.
    RetryAt(Time),
    /// In [`Strategy::on_data`]: keep the entry for this time after the last downstream is
    /// answered, so that later answers of other upstreams are reported with their round-trip times.
    Linger(Duration),
    /// In [`Strategy::on_data`]: create a route to the upstream of the announcement on the Data
    /// ([`packet::options::PREFIX_ANNOUNCEMENT`]), for at most this time. The forwarder's host
    /// decides whether to accept it.
    Learn(Duration),
    /// In [`Strategy::on_data`]: attach the known announcement of the Data's prefix.
    Announce,
    /// Take back the route to this face that an announcement made.
    Forget(u64),
}

/// The node's links.
pub trait Links {
    /// The link of a face, as the parts on that face see it; `None` if there is no such face.
    fn view(&self, face: u64) -> Option<LinkView>;

    /// Calls `each` with every face that leads to other nodes.
    fn others(&self, _each: &mut dyn FnMut(u64)) {}
}

/// A node without knowledge about its links.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoLinks;

impl Links for NoLinks {
    fn view(&self, _face: u64) -> Option<LinkView> {
        None
    }
}

/// The state that a strategy reads and may change.
pub struct StrategyCx<'a, 'b> {
    /// Time, dice and tap.
    pub cx: &'a mut Cx<'b>,
    /// The Interest's name.
    pub name: NameRef<'a>,
    /// The incoming face of the packet.
    pub ingress: u64,
    /// The FIB entry's next hops, cheapest first, without the ingress face and without faces that
    /// scope control forbids. Empty if nothing can be sent any more: in [`Strategy::on_data`] and
    /// [`Strategy::on_expiry`].
    pub next_hops: &'a [NextHop],
    /// How many components of the name the FIB entry covers whose next hops these are; 0 if they
    /// are a forwarding hint's, or empty.
    pub prefix: usize,
    /// The links that the next hops lead to, and every other of the node.
    pub links: &'a dyn Links,
    /// The entry's in-records.
    pub downstreams: &'a [Downstream],
    /// The entry's out-records.
    pub upstreams: &'a [Upstream],
    /// Hop-by-hop options: of the Interest upstream, of the Data downstream.
    pub options: &'a mut HopOptions,
    /// The congestion mark of the Data or Nack; 0 on Interests.
    pub mark: u64,
    /// The strategy's own two words in the PIT entry; zero in a new entry.
    pub note: &'a mut [u64; 2],
    /// Where actions go.
    pub out: &'a mut Vec<Action>,
}

impl StrategyCx<'_, '_> {
    /// Asks for an action.
    pub fn act(&mut self, action: Action) {
        self.out.push(action);
    }

    /// The out-record of `face`, if the Interest was sent there.
    #[must_use]
    pub fn upstream(&self, face: u64) -> Option<&Upstream> {
        self.upstreams.iter().find(|u| u.face == face)
    }

    /// True if the FIB entry has `face` as a next hop.
    #[must_use]
    pub fn is_next_hop(&self, face: u64) -> bool {
        self.next_hops.iter().any(|hop| hop.face == face)
    }
}

/// A forwarding strategy: one instance for each prefix that chose it.
pub trait Strategy: Send {
    /// An Interest that the content store could not answer; also for a retransmission, and for a
    /// further downstream of an entry that is pending.
    fn on_interest(&mut self, s: &mut StrategyCx<'_, '_>);

    /// Data from `ingress` satisfies the entry and ends it: `next_hops` is empty, and only actions
    /// for Data are done. In a lingering entry, the Data come from another upstream, and no
    /// downstream waits for them.
    fn on_data(&mut self, _s: &mut StrategyCx<'_, '_>) {}

    /// A Nack from `ingress`; already recorded in its out-record.
    fn on_nack(&mut self, _s: &mut StrategyCx<'_, '_>, _reason: NackReason) {}

    /// The link to `ingress` gave up the Interest: it was repeated without an acknowledgement
    /// (NDNLPv2, "Reliability"; NFD's `onDroppedInterest`). Its out-record stays, because it may
    /// have arrived.
    fn on_dropped_interest(&mut self, _s: &mut StrategyCx<'_, '_>) {}

    /// The instant of an [`Action::RetryAt`] has come.
    fn on_timer(&mut self, _s: &mut StrategyCx<'_, '_>) {}

    /// The entry expired unanswered; `next_hops` is empty and actions are ignored.
    fn on_expiry(&mut self, _s: &mut StrategyCx<'_, '_>) {}
}
