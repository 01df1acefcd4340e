//! The nodes of a flow: window and timeout of each, and the order that eqs. 2 and 3 demand.

use crate::shared::consumer::sources::Sources;
use control::{Duration, InFlight, Lane, MAX_WINDOW, RttEstimate, Time};

/// A round trip is taken to be at least this long, in seconds, where it divides.
const SHORTEST: f64 = 1e-6;

/// The position of an unreported node: behind all others.
const NOWHERE: u16 = u16::MAX;

/// A node that serves segments, or holds some.
#[derive(Clone, Debug)]
pub(super) struct Node {
    /// CWND, in segments.
    window: f64,
    slow_start: bool,
    rtt: RttEstimate,
    /// Nodes that Data passes behind it.
    hops: u16,
    /// It has answered, and not only reported its holdings.
    serves: bool,
    /// The flight to it, as of the latest call.
    out: u32,
    /// Requests until then belong to a congestion that has been answered by a cut.
    cut_at: Option<Time>,
    /// The next Interest may leave at this instant.
    release_at: Time,
}

impl Node {
    fn new(window: f64, hops: u16) -> Node {
        Node {
            window,
            slow_start: true,
            rtt: RttEstimate::new(),
            hops,
            serves: false,
            out: 0,
            cut_at: None,
            release_at: Time::ZERO,
        }
    }

    /// CWND, in segments.
    pub(super) fn window(&self) -> f64 {
        self.window
    }

    /// Nodes that Data passes behind it.
    pub(super) fn hops(&self) -> u16 {
        self.hops
    }

    /// True if it has answered, and not only reported its holdings.
    pub(super) fn serves(&self) -> bool {
        self.serves
    }

    /// The next Interest may leave at this instant.
    pub(super) fn release_at(&self) -> Time {
        self.release_at
    }

    /// SRTT, once there is a sample.
    pub(super) fn smoothed(&self) -> Option<Duration> {
        self.rtt.smoothed()
    }

    /// Sets the flight to it.
    pub(super) fn set_flight(&mut self, segments: u32) {
        self.out = segments;
    }

    /// An Interest for `count` segments leaves, paced by eq. 4. True if the window is in use: half
    /// of it counts as all (RFC 7661).
    pub(super) fn sent(&mut self, now: Time, count: u16) -> bool {
        self.release_at = self.release_at.max(now) + self.pause(count);
        self.out += u32::from(count);
        f64::from(self.out) * 2.0 >= self.window
    }

    /// It has answered.
    pub(super) fn answered(&mut self) {
        self.serves = true;
    }

    /// A round trip took `rtt`.
    pub(super) fn sample(&mut self, rtt: Duration) {
        self.rtt.sample(rtt);
    }

    /// Begins with this window instead of slow start.
    pub(super) fn seed(&mut self, window: f64) {
        (self.window, self.slow_start) = (window, false);
    }

    /// SRTT in seconds, once there is a sample.
    fn srtt(&self) -> Option<f64> {
        Some(self.rtt.smoothed()?.as_secs_f64().max(SHORTEST))
    }

    /// CWND / SRTT, in segments a second.
    pub(super) fn rate(&self) -> Option<f64> {
        Some(self.window / self.srtt()?)
    }

    /// Eq. 4: T_send, for `count` segments; at most a round trip, after which an excess over the
    /// window has been answered.
    pub(super) fn pause(&self, count: u16) -> Duration {
        let srtt = self.rtt.smoothed().unwrap_or(Duration::ZERO);
        srtt.mul_f64((f64::from(count.max(1)) / self.window.max(1.0)).min(1.0))
    }

    /// True if a cut has answered the congestion of a request that left at `sent_at`.
    fn is_cut_for(&self, sent_at: Time) -> bool {
        self.cut_at.is_some_and(|at| sent_at <= at)
    }

    fn grow(&mut self) {
        let step = if self.slow_start { 1.0 } else { 1.0 / self.window };
        self.window = (self.window + step).min(MAX_WINDOW);
    }

    /// Section II-B, of the node that was expected and of those beyond: half of the window, or of
    /// what the flow has in flight if that is less.
    fn shrink(&mut self, now: Time, flight: f64, time_ran_out: bool) {
        self.window = (self.window.min(flight) / 2.0).max(1.0);
        self.slow_start = false;
        self.cut_at = Some(now);
        if time_ran_out {
            self.rtt.back_off();
        }
    }
}

/// A decrease: of which node, for what that left when, and whether for its timeout.
#[derive(Clone, Copy, Debug)]
pub(super) struct Congestion {
    pub(super) at: Lane,
    pub(super) sent_at: Time,
    /// The timeout doubles too.
    pub(super) time_ran_out: bool,
}

/// All nodes of a flow. Lane 0 is the one that has no name.
#[derive(Clone, Debug)]
pub(super) struct Nodes {
    named: Sources<Node>,
    nameless: Node,
    initial_window: f64,
    initial_timeout: Duration,
    granularity: Duration,
    timeout_min: Duration,
}

impl Nodes {
    pub(super) fn new(
        initial_window: f64,
        initial_timeout: Duration,
        granularity: Duration,
        timeout_min: Duration,
    ) -> Nodes {
        let nameless = Node::new(initial_window, NOWHERE);
        let named = Sources::new();
        Nodes { named, nameless, initial_window, initial_timeout, granularity, timeout_min }
    }

    /// The lane of `id`, if it is known.
    pub(super) fn lane(&self, id: u64) -> Option<Lane> {
        self.named.lane(id)
    }

    /// Nodes whose place others have taken.
    pub(super) fn evicted(&self) -> u64 {
        self.named.evicted()
    }

    pub(super) fn get(&self, lane: Lane) -> &Node {
        self.named.get(lane).map_or(&self.nameless, |known| &known.state)
    }

    pub(super) fn get_mut(&mut self, lane: Lane) -> &mut Node {
        match self.named.get_mut(lane) {
            Some(known) => &mut known.state,
            None => &mut self.nameless,
        }
    }

    /// All of which something is known, with their lanes.
    pub(super) fn all(&self) -> impl Iterator<Item = (Lane, &Node)> {
        let named = self.named.iter().map(|(lane, known)| (lane, &known.state));
        std::iter::once((0, &self.nameless)).chain(named)
    }

    fn all_mut(&mut self) -> impl Iterator<Item = (Lane, &mut Node)> {
        let named = self.named.iter_mut().map(|(lane, known)| (lane, &mut known.state));
        std::iter::once((0, &mut self.nameless)).chain(named)
    }

    /// `id` was seen, `hops` away. Gives its lane, and whether it took another's place there.
    pub(super) fn observe(&mut self, now: Time, id: u64, hops: u8) -> (Lane, bool) {
        let (before, window) = (self.evicted(), self.initial_window);
        let (lane, _) = self.named.observe(now, id, || Node::new(window, u16::from(hops)));
        self.get_mut(lane).hops = u16::from(hops);
        (lane, self.evicted() > before)
    }

    /// The lane, unless it was another's when an Interest left in it at `sent_at`.
    pub(super) fn lane_then(&self, lane: Lane, sent_at: Time) -> Lane {
        let same = self.named.get(lane).is_some_and(|known| known.since <= sent_at);
        if same { lane } else { 0 }
    }

    /// SRTT + max(G, 4 RTTVAR), doubled for timeouts (RFC 6298, 2.3 and 5.5).
    fn own_timeout(&self, node: &Node) -> Duration {
        node.rtt.rto_from(self.granularity, self.timeout_min)
    }

    /// RTO, with eq. 3: never less than that of a node before it.
    pub(super) fn timeout(&self, lane: Lane) -> Duration {
        let node = self.get(lane);
        if node.rtt.smoothed().is_none() {
            return node.rtt.rto().max(self.initial_timeout);
        }
        let nearer = self.all().filter(|(_, other)| other.hops < node.hops);
        let nearer = nearer.filter(|(_, other)| other.rtt.smoothed().is_some());
        nearer.map(|(_, other)| self.own_timeout(other)).fold(self.own_timeout(node), Duration::max)
    }

    /// When what left at `sent_at` is overdue by what is known now, with eq. 3 as in
    /// [`Nodes::timeout`].
    pub(super) fn overdue_at(&self, lane: Lane, sent_at: Time) -> Time {
        let node = self.get(lane);
        let nearer = self.all().filter(|(_, other)| other.hops < node.hops);
        let nodes = nearer.map(|(_, other)| other).chain([node]);
        let each = nodes.map(|node| node.rtt.overdue_from(self.granularity, sent_at));
        each.fold(sent_at, Time::max)
    }

    /// How many segments are asked for, at all nodes together, in a round trip to the node: what is
    /// in flight, if all of it is on its way to that node. In the time of an answer from far away,
    /// a near node gives several.
    pub(super) fn asked_meanwhile(&self, lane: Lane) -> u64 {
        let of = self.get(lane).srtt();
        let mut asked = 0.0;
        for (_, node) in self.all() {
            let trips = of.zip(node.srtt()).map_or(1.0, |(of, srtt)| of / srtt);
            asked += f64::from(node.out) * trips;
        }
        asked.round() as u64
    }

    /// Data came from `lane`: CWND grows, and those before it follow.
    pub(super) fn grow(&mut self, lane: Lane) {
        self.get_mut(lane).grow();
    }

    /// Section II-B: the node and all beyond, each of them once for all requests that left before
    /// its cut, to whichever node: segments of several nodes are lost in one queue together.
    /// Returns false if the node has been cut for it.
    pub(super) fn shrink(&mut self, now: Time, of: Congestion, in_flight: &dyn InFlight) -> bool {
        if self.get(of.at).is_cut_for(of.sent_at) {
            return false;
        }
        let hops = self.get(of.at).hops;
        // The segment that has just arrived or been lost was in flight until now.
        let flight = f64::from(in_flight.total().segments) + 1.0;
        for (lane, node) in self.all_mut() {
            if (lane == of.at || node.hops > hops) && !node.is_cut_for(of.sent_at) {
                node.shrink(now, flight, of.time_ran_out);
            }
        }
        true
    }

    /// Lanes of nodes with samples, nearest first.
    fn in_order(&self) -> Vec<(u16, Lane)> {
        let sampled = self.all().filter(|(_, node)| node.srtt().is_some());
        let mut order: Vec<_> = sampled.map(|(lane, node)| (node.hops, lane)).collect();
        order.sort_unstable();
        order
    }

    /// Eq. 2 after an increase or new samples (section II-B): the windows of those before a node
    /// are "increased as much as needed to make their data rate equal".
    pub(super) fn lift(&mut self) {
        let order = self.in_order();
        let mut fastest: f64 = 0.0;
        for group in order.chunk_by(|a, b| a.0 == b.0).rev() {
            let beyond = fastest;
            for (_, lane) in group {
                let node = self.get_mut(*lane);
                let Some(srtt) = node.srtt() else { continue };
                node.window = node.window.max((beyond * srtt).min(MAX_WINDOW));
                fastest = fastest.max(node.window / srtt);
            }
        }
        debug_assert!(self.is_ordered(), "eqs. 2 and 3: {self:?}");
    }

    /// Eqs. 2 and 3 hold for every pair of nodes of which one is behind the other.
    pub(super) fn is_ordered(&self) -> bool {
        let order = self.in_order();
        order.iter().all(|(near_hops, near)| {
            order.iter().filter(|(hops, _)| hops > near_hops).all(|(_, far)| {
                let (k, x) = (self.get(*near), self.get(*far));
                let rates = k.rate().zip(x.rate());
                let faster = rates.is_none_or(|(k, x)| k >= x * (1.0 - 1e-9));
                let lifted = k.window >= MAX_WINDOW * (1.0 - 1e-9);
                (faster || lifted) && self.timeout(*near) <= self.timeout(*far)
            })
        })
    }
}
