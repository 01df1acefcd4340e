//! Faults and changes at an instant.

use control::Rate;
use packet::Name;
use record::{LinkId, NodeId};

/// A change at an instant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Both directions lose all frames in flight and all later ones. No component is informed.
    LinkDown(LinkId),
    /// The link carries again.
    LinkUp(LinkId),
    /// The node stops. Its tables, its queues and the fetches on it are lost.
    NodeCrash(NodeId),
    /// The node is there again, with its routes and its objects and an empty memory.
    NodeRestart(NodeId),
    /// A route is added, or its cost changed.
    AddRoute {
        /// The node.
        at: NodeId,
        /// The prefix.
        prefix: Name,
        /// The link to send by.
        link: LinkId,
        /// Smaller is better.
        cost: u64,
    },
    /// A route is removed.
    RemoveRoute {
        /// The node.
        at: NodeId,
        /// The prefix.
        prefix: Name,
        /// The link that it led to.
        link: LinkId,
    },
    /// The rate of a link changes, for the packets that have not begun to leave.
    Rate {
        /// The link.
        link: LinkId,
        /// The direction from the link's `b` to its `a`, not the other one.
        backward: bool,
        /// The new rate. At 0 nothing leaves.
        rate: Option<Rate>,
    },
}
