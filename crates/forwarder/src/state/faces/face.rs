//! A face: one place where packets come from and go to.

use control::{Duration, Time};
use packet::options::Capability;

use crate::config::{FaceConfig, LinkType, Scope};
use crate::counters::FaceCounters;
use crate::link::Link;
use crate::tables::{FaceId, memory};

/// The driver's knowledge of frames that wait at a face.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Readiness {
    /// Nothing to send, or not polled yet.
    Idle,
    /// It waits in the list of ready faces.
    Listed,
    /// The driver knows, and has not drained the face since.
    Polled,
}

/// One face.
#[derive(Debug)]
pub(crate) struct Face {
    id: FaceId,
    scope: Scope,
    link_type: LinkType,
    nacks: bool,
    local_fields: bool,
    pushes: bool,
    readiness: Readiness,
    /// The deadline under which the forwarder has it in its list.
    deadline: Option<Time>,
    /// Bytes of memory that the face takes before anything passes.
    bare: usize,
    /// Bytes of memory that the face was last seen to take.
    counted: usize,
    /// Those that the driver keeps for it.
    outside: usize,
    /// The last series of changes in which it was not counted.
    series: u64,
    /// The replies to probes until now are within the rate from this instant.
    probes_paid: Time,
    link: Link,
}

impl Face {
    /// The bytes of an idle face: itself, its name, and its places in lists.
    pub(crate) const BARE: usize = memory::block(size_of::<Face>()) + 512;

    pub(crate) fn new(
        seed: u64,
        node: &str,
        own: Capability,
        id: FaceId,
        mut config: FaceConfig,
    ) -> Face {
        Face {
            id,
            scope: config.scope,
            link_type: config.link_type,
            nacks: config.nacks,
            local_fields: config.local_fields,
            pushes: config.pushes,
            readiness: Readiness::Idle,
            deadline: None,
            bare: Face::BARE + config.outside,
            counted: 0,
            outside: config.outside,
            series: 0,
            probes_paid: Time::ZERO,
            link: Link::new(seed, node, own, &mut config),
        }
    }

    #[inline]
    pub(crate) fn id(&self) -> FaceId {
        self.id
    }

    #[inline]
    pub(crate) fn scope(&self) -> Scope {
        self.scope
    }

    #[inline]
    pub(crate) fn link_type(&self) -> LinkType {
        self.link_type
    }

    /// True if Nacks are sent by it.
    #[inline]
    pub(crate) fn takes_nacks(&self) -> bool {
        self.nacks && self.link_type == LinkType::PointToPoint
    }

    /// True if it may name the outgoing face of its Interests.
    #[inline]
    pub(crate) fn has_local_fields(&self) -> bool {
        self.local_fields
    }

    /// True if unsolicited Data from it enters the content store.
    #[inline]
    pub(crate) fn pushes(&self) -> bool {
        self.pushes
    }

    #[inline]
    pub(crate) fn link(&self) -> &Link {
        &self.link
    }

    #[inline]
    pub(crate) fn link_mut(&mut self) -> &mut Link {
        &mut self.link
    }

    /// Switches the local fields on or off.
    pub(crate) fn set_local_fields(&mut self, on: bool) {
        self.local_fields = on;
        self.link.set_local_fields(on);
    }

    pub(crate) fn is_local(&self) -> bool {
        self.scope == Scope::Local
    }

    /// True if one more probe is answered: at most `rate` in a second, and as many at once.
    pub(crate) fn takes_probe(&mut self, now: Time, rate: u32) -> bool {
        const SECOND: Duration = Duration::from_secs(1);
        let paid = self.probes_paid.max(now);
        let next = paid + Duration(SECOND.0 / u64::from(rate.max(1)));
        if next.since(now) > SECOND {
            return false;
        }
        self.probes_paid = next;
        true
    }

    /// The deadline under which the forwarder has it in its list.
    #[inline]
    pub(in crate::state) fn deadline(&self) -> Option<Time> {
        self.deadline
    }

    #[inline]
    pub(in crate::state) fn set_deadline(&mut self, at: Option<Time>) {
        self.deadline = at;
    }

    /// True if the driver knows of frames that wait here, and has not drained the face since.
    #[inline]
    pub(in crate::state) fn is_polled(&self) -> bool {
        self.readiness == Readiness::Polled
    }

    /// The driver learns of frames that wait here.
    #[inline]
    pub(in crate::state) fn poll(&mut self) {
        self.readiness = Readiness::Polled;
    }

    /// Frames wait here. True if the face was idle, so that it joins the list of ready ones.
    #[inline]
    pub(in crate::state) fn list(&mut self) -> bool {
        let is_idle = self.readiness == Readiness::Idle;
        if is_idle {
            self.readiness = Readiness::Listed;
        }
        is_idle
    }

    /// Nothing may leave now. The driver is woken when that changes.
    pub(crate) fn rest(&mut self) {
        if self.readiness == Readiness::Polled {
            self.readiness = Readiness::Idle;
        }
    }

    /// Bytes of memory that it takes.
    pub(crate) fn memory(&self) -> usize {
        Face::BARE + self.outside + self.link.memory()
    }

    /// Bytes of memory that it takes before anything passes.
    pub(in crate::state) fn bare(&self) -> usize {
        self.bare
    }

    /// Bytes of memory that it was last seen to take.
    #[inline]
    pub(in crate::state) fn counted(&self) -> usize {
        self.counted
    }

    /// Looks at the bytes that it takes now, and returns them.
    #[inline]
    pub(in crate::state) fn count(&mut self) -> usize {
        self.counted = self.memory();
        self.counted
    }

    /// Sets the bytes that the driver keeps for it.
    pub(in crate::state) fn set_outside(&mut self, bytes: usize) {
        self.outside = bytes;
    }

    /// True if it takes part in a series of changes without being counted.
    #[inline]
    pub(in crate::state) fn is_in_series(&self, number: u64) -> bool {
        self.series == number
    }

    /// Takes part in a series of changes from now on.
    pub(in crate::state) fn join_series(&mut self, number: u64) {
        self.series = number;
    }

    /// Its bytes that depend on traffic.
    pub(crate) fn own(&self) -> usize {
        self.counted.saturating_sub(self.bare)
    }

    pub(crate) fn counters(&self) -> &FaceCounters {
        self.link.counters()
    }
}
