//! Faults and other changes during a run.

use control::{Duration, LossModel, Rate};
use packet::Name;
use record::{LinkId, NodeId};

/// A fault or another change.
#[derive(Clone, Debug, PartialEq)]
pub enum Fault {
    /// The link loses all frames in flight and all later ones, in both directions. No component is
    /// informed.
    LinkDown(LinkId),
    /// The link works again.
    LinkUp(LinkId),
    /// The node stops. Its tables, queues and fetches are lost.
    NodeCrash(NodeId),
    /// The node starts again with its routes and objects; its tables and queues are empty.
    NodeRestart(NodeId),
    /// A route is added, or its cost is changed.
    AddRoute {
        /// The node.
        at: NodeId,
        /// The prefix.
        prefix: Name,
        /// The link of the next hop.
        link: LinkId,
        /// The cost; smaller is better.
        cost: u64,
    },
    /// A route is removed.
    RemoveRoute {
        /// The node.
        at: NodeId,
        /// The prefix.
        prefix: Name,
        /// The link of the next hop.
        link: LinkId,
    },
    /// The rate of a link direction changes, for packets whose transmission has not begun.
    Rate {
        /// The link.
        link: LinkId,
        /// True for the direction from the link's `b` to its `a`.
        backward: bool,
        /// The new rate; `None` is unlimited. At 0 no frame is sent.
        rate: Option<Rate>,
    },
    /// The propagation delay of a link direction changes, for frames that are sent from now on.
    /// They do not overtake earlier ones.
    Delay {
        /// The link.
        link: LinkId,
        /// True for the direction from the link's `b` to its `a`.
        backward: bool,
        /// The new delay.
        delay: Duration,
    },
    /// The loss of a link direction changes, for frames that are sent from now on.
    Loss {
        /// The link.
        link: LinkId,
        /// True for the direction from the link's `b` to its `a`.
        backward: bool,
        /// The new model.
        loss: LossModel,
    },
}
