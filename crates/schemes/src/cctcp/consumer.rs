//! The consumer: which node is expected to serve what, and when it may be asked.

use super::nodes::{Congestion, Nodes};
use control::window::BURST;
use control::{
    Arrival, Ask, Cause, Controller, Cx, Duration, InFlight, Lane, Loss, Memo, Params,
    PathEstimate, Permit, Sent, Ticket, Time,
};
use packet::HopOptions;
use packet::options::{Anticipated, ServedBy};
use std::collections::BTreeMap;

/// Segments whose place is remembered: they are asked for soon, or not at all.
const MOST_EXPECTED: usize = 1024;

/// The number of segments searched for one that may be requested now.
const LOOK_AHEAD: u64 = 16;

/// In the second word of a memo: the window was in use when the Interest left.
const LIMITED: u64 = 1 << 32;

pub(super) struct Cctcp {
    nodes: Nodes,
    /// How many segments an Interest lists; 0 without anticipated Interests.
    listed: u64,
    gaps: bool,
    /// Where segments are that have been listed.
    expected: BTreeMap<u64, Lane>,
    /// Where everything else is: the lane of the latest answer.
    latest: Lane,
    /// The segment behind the highest that was asked for.
    next: u64,
    /// The instant of the latest call.
    seen: Time,
}

/// The report about one node in the header of a Data packet.
#[derive(Clone, Copy, Debug)]
struct Report {
    id: u64,
    hops: u8,
    rtt: Duration,
    /// Bits of what was listed.
    held: u64,
}

impl Report {
    /// The node holds the listed segment at this place.
    fn holds(&self, at: u32) -> bool {
        self.held.checked_shr(at).unwrap_or(0) & 1 == 1
    }
}

impl Cctcp {
    pub(super) fn new(params: &Params) -> Cctcp {
        let listed = params.number("listed").clamp(1.0, 64.0) as u64;
        let (window, timeout) = (params.number("initial_window"), params.time("initial_timeout"));
        Cctcp {
            nodes: Nodes::new(window, timeout, params.time("G"), params.time("timeout_min")),
            listed: if params.switch("anticipated") { listed } else { 0 },
            gaps: params.switch("gaps"),
            expected: BTreeMap::new(),
            latest: 0,
            next: 0,
            seen: Time::ZERO,
        }
    }

    fn expected(&self, segment: u64) -> Lane {
        self.expected.get(&segment).copied().unwrap_or(self.latest)
    }

    /// True if all further segments are expected from `lane`, so that no other segment can be
    /// requested instead.
    fn is_next(&self, first: u64, lane: Lane) -> bool {
        let mut next = (first..first.saturating_add(LOOK_AHEAD)).map(|of| self.expected(of));
        next.all(|of| of == lane)
    }

    /// The answering node, if it is reported and wanted.
    fn server(&self, options: &HopOptions) -> Option<ServedBy> {
        if self.listed == 0 {
            return None;
        }
        options.get::<ServedBy>().filter(|served| served.node != 0)
    }

    /// The reports of nodes on the path, if they can be true: they concern the list of this
    /// Interest, and no node's time exceeds the whole round trip.
    fn reports(
        &self,
        cx: &mut Cx<'_>,
        arrival: &Arrival<'_>,
        rtt: Duration,
    ) -> Option<Vec<Report>> {
        let header = arrival.options.get::<Anticipated>()?;
        let [first, count] = listed(arrival.memo);
        let listed = header.wanted().iter().copied().eq(first..first.saturating_add(count));
        if self.listed == 0 || count == 0 || !listed {
            cx.note("anticipated ignored", header.holders().len() as f64);
            return None;
        }
        let mut reports = Vec::new();
        for holder in header.holders() {
            match (holder.hops, rtt.0.checked_sub(holder.elapsed)) {
                (Some(hops), Some(rtt)) if holder.node != 0 => {
                    // Eq. 1.
                    let rtt = Duration(rtt);
                    reports.push(Report { id: holder.node, hops, rtt, held: holder.held });
                }
                _ => cx.note("anticipated ignored", 1.0),
            }
        }
        Some(reports)
    }

    /// Section II-C: the nearest node whose RTT exceeds the timeout that it had before this.
    fn virtual_loss(&self, reports: &[Report]) -> Option<Lane> {
        let late = reports.iter().filter_map(|report| {
            let lane = self.nodes.lane(report.id)?;
            let known = self.nodes.get(lane).smoothed().is_some();
            (known && report.rtt > self.nodes.timeout(lane)).then_some((report.hops, lane))
        });
        late.min().map(|(_, lane)| lane)
    }

    /// A node has reported. The former owner of its lane is forgotten, with the segments expected
    /// there.
    fn observe(&mut self, cx: &mut Cx<'_>, id: u64, hops: u8) -> Lane {
        let (lane, evicted) = self.nodes.observe(cx.now, id, hops);
        if evicted {
            self.expected.retain(|_, of| *of != lane);
            cx.note("node forgotten", self.nodes.evicted() as f64);
        }
        lane
    }

    /// The places of the listed segments. The nodes before the answering one, `server`, have all
    /// been asked: a segment that they did not list is not there. The answering node does not
    /// report itself. A segment that no node before it holds is expected from it, unless it is
    /// known to be further away.
    fn learn(&mut self, [first, count]: [u64; 2], reports: &[(Lane, Report)], server: Lane) {
        let hops = self.nodes.get(server).hops();
        for (at, segment) in (first..first.saturating_add(count)).enumerate() {
            if segment < self.next {
                continue;
            }
            let holders = reports.iter().filter(|(_, report)| report.holds(at as u32));
            let nearest = holders.min_by_key(|(_, report)| report.hops);
            let before = self.expected.get(&segment).map(|lane| self.nodes.get(*lane).hops());
            match nearest {
                Some((lane, report)) => {
                    let covered = before.is_none_or(|b| b < hops || u16::from(report.hops) < b);
                    if covered {
                        self.expected.insert(segment, *lane);
                    }
                }
                None if before.is_none_or(|before| before < hops) => {
                    self.expected.insert(segment, server);
                }
                None => {}
            }
        }
        while self.expected.len() > MOST_EXPECTED {
            self.expected.pop_first();
        }
    }

    fn congestion(&mut self, cx: &mut Cx<'_>, of: Congestion, in_flight: &dyn InFlight) -> bool {
        let answered = self.nodes.shrink(cx.now, of, in_flight);
        if answered {
            cx.note("cut", self.nodes.get(of.at).window());
        }
        self.nodes.lift();
        answered
    }
}

/// The first segment that an Interest listed, and how many.
fn listed(memo: Memo) -> [u64; 2] {
    [memo[0], memo[1] & (LIMITED - 1)]
}

impl Controller for Cctcp {
    fn permit(&self, now: Time, ask: &Ask<'_>) -> Permit {
        let lane = self.expected(ask.first);
        let node = self.nodes.get(lane);
        let flight = ask.in_flight.lane(lane).segments;
        let full = flight > 0 && f64::from(flight) + f64::from(ask.count) > node.window();
        if full {
            // Where segments are expected from several nodes, another one may do.
            let one = self.is_next(ask.first, lane);
            return if one { Permit::Wait } else { Permit::NotThis };
        }
        match node.release_at() {
            at if at <= now + BURST => Permit::Now(lane),
            at if self.is_next(ask.first, lane) => Permit::At(at - BURST),
            _ => Permit::NotThis,
        }
    }

    fn on_sent(&mut self, cx: &mut Cx<'_>, sent: &Sent) -> Ticket {
        self.seen = cx.now;
        let timeout = self.nodes.timeout(sent.lane);
        let meanwhile = self.nodes.asked_meanwhile(sent.lane).min(MOST_EXPECTED as u64 / 2);
        let limited = self.nodes.get_mut(sent.lane).sent(cx.now, sent.count);
        let mut memo = [0, if limited { LIMITED } else { 0 }];
        self.next = self.next.max(sent.first.saturating_add(u64::from(sent.count)));
        let mut options = HopOptions::default();
        if self.listed > 0 {
            // The segments requested "closely after the current request is satisfied": behind all
            // that are requested until then.
            let first = self.next.saturating_add(meanwhile);
            let last = first.saturating_add(self.listed);
            options.set(&ServedBy::ASK);
            if last > first && options.set(&Anticipated::wanting(first..last)) {
                memo = [first, memo[1] | (last - first)];
            }
        }
        Ticket { timeout, memo, options }
    }

    fn came_in(&self, arrival: &Arrival<'_>) -> Option<Lane> {
        match self.server(arrival.options) {
            _ if !self.gaps => None,
            Some(served) => self.nodes.lane(served.node),
            None => Some(arrival.lane),
        }
    }

    fn on_data(&mut self, cx: &mut Cx<'_>, arrival: &Arrival<'_>) {
        self.seen = cx.now;
        let flight = arrival.in_flight.lane(arrival.lane).segments;
        self.nodes.get_mut(arrival.lane).set_flight(flight);
        self.expected.remove(&arrival.segment);
        let reports = arrival.rtt.and_then(|rtt| self.reports(cx, arrival, rtt));
        let has_reports = reports.is_some();
        let reports = reports.unwrap_or_default();
        let late = self.virtual_loss(&reports);
        let server = self.server(arrival.options);
        let reports = reports.into_iter();
        let reports: Vec<(Lane, Report)> =
            reports.map(|report| (self.observe(cx, report.id, report.hops), report)).collect();
        // Section II-D.2: the node that the Data came from counts, not the expected one. A node
        // without an identity (not every Interest asks for it) is taken for the expected one.
        let lane = match server {
            Some(server) => self.observe(cx, server.node, server.hops),
            None => self.nodes.lane_then(arrival.lane, arrival.sent_at),
        };
        self.nodes.get_mut(lane).answered();
        if let Some(rtt) = arrival.rtt {
            self.nodes.get_mut(lane).sample(rtt);
            for (of, report) in reports.iter().filter(|(of, _)| *of != lane) {
                self.nodes.get_mut(*of).sample(report.rtt);
            }
        }
        self.latest = lane;
        if has_reports {
            self.learn(listed(arrival.memo), &reports, lane);
        }
        if let Some(at) = late {
            cx.note("virtual loss", f64::from(at));
            let of = Congestion { at, sent_at: arrival.sent_at, time_ran_out: true };
            self.congestion(cx, of, arrival.in_flight);
            return;
        }
        // The window that was in use is the expected node's; another one's does not outgrow it.
        let asked = self.nodes.get(arrival.lane).window();
        let used = arrival.memo[1] & LIMITED > 0
            && (lane == arrival.lane || self.nodes.get(lane).window() <= asked);
        if used && !arrival.late {
            self.nodes.grow(lane);
        }
        self.nodes.lift();
    }

    fn on_loss(&mut self, cx: &mut Cx<'_>, loss: &Loss<'_>) {
        self.seen = cx.now;
        let flight = loss.in_flight.lane(loss.lane).segments;
        self.nodes.get_mut(loss.lane).set_flight(flight);
        let at = self.nodes.lane_then(loss.lane, loss.sent_at);
        let time_ran_out = loss.cause == Cause::Timeout;
        let of = Congestion { at, sent_at: loss.sent_at, time_ran_out };
        self.congestion(cx, of, loss.in_flight);
    }

    fn overdue_at(&self, lane: Lane, sent_at: Time) -> Time {
        self.nodes.overdue_at(lane, sent_at)
    }

    /// The pace of a node that was not the next one's is none of the permit's.
    fn next_deadline(&self) -> Option<Time> {
        let next = self.nodes.all().map(|(_, node)| node.release_at() - BURST);
        next.filter(|at| *at > self.seen).min()
    }

    fn on_deadline(&mut self, cx: &mut Cx<'_>) {
        self.seen = cx.now;
    }

    fn seed(&mut self, _cx: &mut Cx<'_>, lane: Lane, estimate: PathEstimate) -> bool {
        self.nodes.get_mut(lane).seed(estimate.window());
        true
    }

    fn gauges(&self, out: &mut dyn FnMut(Lane, &'static str, f64)) {
        for (lane, node) in self.nodes.all().filter(|(lane, node)| *lane > 0 || node.serves()) {
            out(lane, "window", node.window());
            out(lane, "timeout", self.nodes.timeout(lane).as_secs_f64());
            if let Some(srtt) = node.smoothed() {
                out(lane, "srtt", srtt.as_secs_f64());
            }
        }
        if self.nodes.all().all(|(_, node)| !node.serves()) {
            out(0, "window", self.nodes.get(0).window());
        }
    }
}

#[cfg(test)]
mod tests;
