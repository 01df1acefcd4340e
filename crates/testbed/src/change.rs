//! A change of one daemon while it runs.

use control::Rate;
use packet::Name;

/// A change of one daemon. Faces are called by their interfaces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// The pacing rate of a face, and the incoming rate of its link.
    Rates { face: String, rate: Option<Rate>, rate_in: Option<Rate> },
    /// A route comes, or has another cost.
    Add { face: String, prefix: Name, cost: u64 },
    /// A route is removed.
    Remove { face: String, prefix: Name },
}

impl Change {
    /// The face's interface.
    pub fn face(&self) -> &str {
        match self {
            Change::Rates { face, .. } | Change::Add { face, .. } | Change::Remove { face, .. } => {
                face
            }
        }
    }
}
