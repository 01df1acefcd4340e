//! The driver's knowledge of a face.

use control::Time;
use forwarder::FaceId;

/// The lifetime of a face (NFD's numbers).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Persistency {
    /// Made by configuration or command; goes with its socket.
    Persistent = 0,
    /// Made by a peer; goes when idle.
    OnDemand = 1,
    /// Made by configuration; its socket is opened again when it breaks.
    Permanent = 2,
}

/// Congestion marking as the protocol knows it; `None` if a scheme has no such parameter, or a
/// command does not set it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Marking {
    /// BaseCongestionMarkingInterval, in nanoseconds.
    pub interval_ns: Option<u64>,
    /// DefaultCongestionThreshold, in bytes.
    pub threshold: Option<u64>,
}

/// The driver's knowledge of a face.
#[derive(Clone, Debug)]
pub struct FaceInfo {
    /// Its number.
    pub id: FaceId,
    /// Its name in the configuration.
    pub name: Option<String>,
    /// Where it leads.
    pub uri: String,
    /// Where it begins.
    pub local_uri: String,
    /// True if it leads to this host's applications.
    pub local: bool,
    /// Its lifetime.
    pub persistency: Persistency,
    /// True if it leads to a multicast group: several peers may be at the other end.
    pub is_group: bool,
    /// The largest frame; `None` on streams.
    pub mtu: Option<usize>,
    /// The management protocol's flags: [`super::LOCAL_FIELDS`] and its like.
    pub flags: u64,
    /// The congestion marking of its scheme, in the protocol's terms.
    pub marking: Marking,
    /// The time at which it ends without traffic.
    pub expires: Option<Time>,
    /// True if its socket is connected.
    pub up: bool,
    /// Frames that the kernel rejected or an emulated link lost.
    pub lost: u64,
}

impl FaceInfo {
    /// A face that leads to `uri`, persistent and connected, without further properties.
    #[must_use]
    pub fn new(id: FaceId, uri: impl Into<String>) -> FaceInfo {
        FaceInfo {
            id,
            name: None,
            uri: uri.into(),
            local_uri: String::new(),
            local: false,
            persistency: Persistency::Persistent,
            is_group: false,
            mtu: None,
            flags: 0,
            marking: Marking::default(),
            expires: None,
            up: true,
            lost: 0,
        }
    }
}
