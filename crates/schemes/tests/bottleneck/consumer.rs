//! A consumer's loop around a controller: RTT, loss by gaps (after RACK, RFC 8985) and by timeouts.

use super::{Flow, Outcome, Path};
use control::{
    Arrival, Ask, Cause, Controller, Cx, Duration, Event, InFlight, Lane, Load, Loss, Memo, Permit,
    Rng, RttEstimate, Sent, Size, Time,
};
use packet::HopOptions;
use schemes::Choice;
use std::collections::{BTreeMap, VecDeque};

/// An Interest that is out.
#[derive(Clone, Copy)]
struct Out {
    order: u64,
    sent_at: Time,
    times_out_at: Time,
    lane: Lane,
    memo: Memo,
    attempt: u16,
}

/// The flight, by lane.
#[derive(Default)]
struct Flight {
    segment: Size,
    lanes: BTreeMap<Lane, u32>,
}

impl Flight {
    fn load(&self, segments: u32) -> Load {
        Load { segments, bytes: Size(self.segment.0 * u64::from(segments)) }
    }
}

impl InFlight for Flight {
    fn total(&self) -> Load {
        self.load(self.lanes.values().sum())
    }
    fn lane(&self, lane: Lane) -> Load {
        self.load(self.lanes.get(&lane).copied().unwrap_or(0))
    }
}

pub(super) struct Consumer {
    flow: Flow,
    control: Box<dyn Controller>,
    rng: Rng,
    pub(super) inbox: Vec<(u64, u64)>,
    pub(super) outcome: Outcome,
    next_new: u64,
    again: VecDeque<u64>,
    attempts: Vec<u16>,
    received: Vec<bool>,
    out: BTreeMap<u64, Out>,
    by_order: BTreeMap<u64, u64>,
    flight: Flight,
    order: u64,
    /// The latest Interest that was answered.
    newest: Option<(u64, Duration)>,
    rtt: RttEstimate,
    wake_at: Option<Time>,
    planned: Option<Time>,
    rtt_sum: (u64, u64),
    options: HopOptions,
}

impl Consumer {
    pub(super) fn new(flow: Flow, path: &Path, seed: u64, index: usize) -> Consumer {
        let choice: Choice = flow.control.parse().expect("a scheme");
        Consumer {
            flow,
            control: choice.controller().expect("a controller"),
            rng: Rng::stream(seed, &["consumer", &index.to_string()]),
            inbox: Vec::new(),
            outcome: Outcome::default(),
            next_new: 0,
            again: VecDeque::new(),
            attempts: vec![0; flow.segments as usize],
            received: vec![false; flow.segments as usize],
            out: BTreeMap::new(),
            by_order: BTreeMap::new(),
            flight: Flight { segment: path.segment, ..Flight::default() },
            order: 0,
            newest: None,
            rtt: RttEstimate::new(),
            wake_at: None,
            planned: None,
            rtt_sum: (0, 0),
            options: HopOptions::default(),
        }
    }

    pub(super) fn into_outcome(mut self) -> Outcome {
        let (sum, count) = self.rtt_sum;
        self.outcome.rtt_mean = Duration(sum / count.max(1));
        self.outcome
    }

    /// Takes what arrived, finds what is lost, and returns the Interests that leave.
    pub(super) fn wake(&mut self, now: Time) -> Vec<u64> {
        if self.planned.is_some_and(|t| t <= now) {
            self.planned = None;
        }
        for (segment, mark) in std::mem::take(&mut self.inbox) {
            self.data(now, segment, mark);
        }
        self.find_losses(now);
        if self.control.next_deadline().is_some_and(|t| t <= now) {
            let mut tap = |_| {};
            self.control.on_deadline(&mut Cx { now, rng: &mut self.rng, tap: &mut tap });
        }
        self.send(now)
    }

    /// When to wake next, if no wake is planned before that.
    pub(super) fn next_wake(&mut self, now: Time) -> Option<Time> {
        if self.outcome.took.is_some() {
            return None;
        }
        let timeout = self.out.values().map(|o| o.times_out_at).min();
        let next = [self.wake_at, timeout, self.gap_at(), self.control.next_deadline()]
            .into_iter()
            .flatten()
            .min()?
            .max(now + Duration(1));
        if self.planned.is_some_and(|t| t <= next) {
            return None;
        }
        self.planned = Some(next);
        Some(next)
    }

    fn data(&mut self, now: Time, segment: u64, mark: u64) {
        if self.received[segment as usize] {
            return;
        }
        self.received[segment as usize] = true;
        self.outcome.delivered += 1;
        self.outcome.marked += u64::from(mark > 0);
        let second = (now.0 / 1_000_000_000) as usize;
        self.outcome.by_second.resize(self.outcome.by_second.len().max(second + 1), 0);
        self.outcome.by_second[second] += self.flight.segment.0;
        let late = !self.out.contains_key(&segment);
        let out = self.take(segment).unwrap_or(Out {
            order: 0,
            sent_at: Time::ZERO,
            times_out_at: now,
            lane: 0,
            memo: [0; 2],
            attempt: 1,
        });
        if late {
            self.outcome.spurious += 1;
            self.again.retain(|&s| s != segment);
        }
        let age = now.since(out.sent_at);
        let rtt = (out.attempt == 0).then_some(age);
        if let Some(rtt) = rtt {
            self.rtt.sample(rtt);
            self.rtt_sum = (self.rtt_sum.0 + rtt.0, self.rtt_sum.1 + 1);
        }
        // RFC 8985, section 6.2: an answer too early for a retransmission belongs to the first
        // Interest.
        let plausible = rtt.is_some() || self.rtt.min().is_some_and(|min| age >= min);
        if !late && plausible && self.newest.is_none_or(|(order, _)| order < out.order) {
            self.newest = Some((out.order, age));
        }
        let arrival = Arrival {
            segment,
            lane: out.lane,
            memo: out.memo,
            sent_at: out.sent_at,
            rtt,
            size: self.flight.segment,
            mark,
            late,
            options: &self.options,
            in_flight: &self.flight,
        };
        let trace = &mut self.outcome.trace;
        if self.outcome.delivered.is_multiple_of(50) {
            self.control.gauges(&mut |_, name, value| trace.push((now, name, value)));
            trace.push((now, "in flight", f64::from(self.flight.total().segments)));
        }
        let mut tap = |event: Event| trace.push((event.at, event.name, event.value));
        self.control.on_data(&mut Cx { now, rng: &mut self.rng, tap: &mut tap }, &arrival);
        if self.outcome.delivered == self.flow.segments {
            self.outcome.took = Some(now.since(self.flow.start));
        }
    }

    fn take(&mut self, segment: u64) -> Option<Out> {
        let out = self.out.remove(&segment)?;
        self.by_order.remove(&out.order);
        *self.flight.lanes.entry(out.lane).or_default() -= 1;
        Some(out)
    }

    /// When the oldest Interest that a later one overtook counts as lost.
    fn gap_at(&self) -> Option<Time> {
        let (newest, rtt) = self.newest?;
        let (order, segment) = self.by_order.first_key_value()?;
        if *order > newest {
            return None;
        }
        let reorder = Duration(self.rtt.smoothed().unwrap_or_default().0 / 4);
        Some(self.out[segment].sent_at + rtt + reorder)
    }

    fn find_losses(&mut self, now: Time) {
        while self.gap_at().is_some_and(|t| t <= now) {
            let Some((_, &segment)) = self.by_order.first_key_value() else { break };
            self.lose(now, segment, Cause::Gap);
        }
        let expired: Vec<u64> =
            self.out.iter().filter(|(_, o)| o.times_out_at <= now).map(|(&s, _)| s).collect();
        for segment in expired {
            self.lose(now, segment, Cause::Timeout);
        }
    }

    fn lose(&mut self, now: Time, segment: u64, cause: Cause) {
        let Some(out) = self.take(segment) else { return };
        self.again.push_back(segment);
        self.outcome.losses += 1;
        self.outcome.timeouts += u64::from(cause == Cause::Timeout);
        let loss = Loss {
            segment,
            lane: out.lane,
            memo: out.memo,
            sent_at: out.sent_at,
            cause,
            options: &self.options,
            in_flight: &self.flight,
        };
        let mut tap = |_| {};
        self.control.on_loss(&mut Cx { now, rng: &mut self.rng, tap: &mut tap }, &loss);
    }

    fn send(&mut self, now: Time) -> Vec<u64> {
        let mut left = Vec::new();
        self.wake_at = None;
        loop {
            let new = (self.next_new < self.flow.segments).then_some(self.next_new);
            let Some(segment) = self.again.front().copied().or(new) else { break };
            let attempt = self.attempts[segment as usize];
            let ask = Ask {
                first: segment,
                count: 1,
                attempt,
                segment: self.flight.segment,
                in_flight: &self.flight,
            };
            match self.control.permit(now, &ask) {
                Permit::Now(lane) => self.ask(now, segment, lane),
                Permit::At(when) => {
                    self.wake_at = Some(when);
                    break;
                }
                Permit::NotThis | Permit::Wait => break,
            }
            left.push(segment);
        }
        left
    }

    fn ask(&mut self, now: Time, segment: u64, lane: Lane) {
        if self.again.front() == Some(&segment) {
            self.again.pop_front();
        } else {
            self.next_new += 1;
        }
        let attempt = self.attempts[segment as usize];
        self.attempts[segment as usize] += 1;
        self.outcome.asked += 1;
        self.order += 1;
        let sent = Sent {
            first: segment,
            count: 1,
            lane,
            attempt,
            expected: self.flight.segment,
            stated: None,
            before: self.flight.total(),
        };
        let mut tap = |_| {};
        let ticket =
            self.control.on_sent(&mut Cx { now, rng: &mut self.rng, tap: &mut tap }, &sent);
        *self.flight.lanes.entry(lane).or_default() += 1;
        let times_out_at = now + ticket.timeout;
        let out =
            Out { order: self.order, sent_at: now, times_out_at, lane, memo: ticket.memo, attempt };
        self.out.insert(segment, out);
        self.by_order.insert(self.order, segment);
    }
}
