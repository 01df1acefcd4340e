//! A consumer that does not control anything: Interests at a rate.

use control::{Duration, Rng, Size, Time};
use packet::interest_buf::encode_plain_interest;
use packet::{Component, Data, Interest, LpPacket, NameRef};
use std::collections::VecDeque;

use crate::histogram::Histogram;
use crate::outcome::FlowResult;
use crate::record::FlowSample;
use crate::spec::{Arrivals, FlowId, RateSpec};

/// Counters of a constant-rate consumer. At any time
/// `interests = data + nacks + expired + in flight`.
#[derive(Clone, Copy, Debug, Default)]
struct Counters {
    interests: u64,
    data: u64,
    nacks: u64,
    expired: u64,
    marks: u64,
    bytes: u64,
}

/// Asks for segments at a rate.
pub(crate) struct ConstantRate {
    spec: RateSpec,
    nonces: Rng,
    gaps: Rng,
    /// When the next Interest is due; `None` when all were sent.
    next: Option<Time>,
    /// For each segment from `base` on when it was asked for; `None` when its end is known.
    sent: VecDeque<Option<Time>>,
    base: u64,
    in_flight: u64,
    counters: Counters,
    rtt: Histogram,
    end: Option<Time>,
}

impl ConstantRate {
    pub fn new(spec: RateSpec, seed: u64, names: &[&str]) -> ConstantRate {
        let stream = |role| {
            let names: Vec<&str> = names.iter().copied().chain([role]).collect();
            Rng::stream(seed, &names)
        };
        let possible = spec.count > 0 && spec.per_second > 0.0;
        ConstantRate {
            next: possible.then_some(spec.start),
            nonces: stream("nonces"),
            gaps: stream("gaps"),
            sent: VecDeque::new(),
            base: 0,
            in_flight: 0,
            counters: Counters::default(),
            rtt: Histogram::default(),
            end: None,
            spec,
        }
    }

    pub fn next_deadline(&self) -> Option<Time> {
        let expiry = self.sent.front().copied().flatten().map(|at| at + self.spec.lifetime);
        [self.next, expiry].into_iter().flatten().min()
    }

    pub fn on_deadline(&mut self, now: Time) {
        while let Some(Some(at)) = self.sent.front().copied() {
            if at + self.spec.lifetime > now {
                break;
            }
            self.counters.expired += 1;
            self.sent[0] = None;
            self.ended(now);
        }
    }

    pub fn poll_transmit(&mut self, now: Time, out: &mut Vec<u8>) -> bool {
        if self.next.is_none_or(|at| at > now) {
            return false;
        }
        let n = self.counters.interests;
        let component = Component::segment(self.spec.first + n);
        let (prefix, nonce) = (self.spec.name.as_ref(), self.nonces.next_u32());
        let lifetime = self.spec.lifetime.as_millis().max(1);
        encode_plain_interest(prefix, component.as_ref(), nonce, lifetime, out);
        self.sent.push_back(Some(now));
        self.in_flight += 1;
        self.counters.interests += 1;
        self.next = (n + 1 < self.spec.count).then(|| self.due(now, n + 1));
        true
    }

    /// When Interest `n` is due. Constant distances are counted from the start, so that rounding
    /// does not add up.
    fn due(&mut self, now: Time, n: u64) -> Time {
        match self.spec.arrivals {
            Arrivals::Constant => {
                self.spec.start + Duration::from_secs_f64(n as f64 / self.spec.per_second)
            }
            Arrivals::Poisson => {
                now + Duration::from_secs_f64(self.gaps.exponential(1.0 / self.spec.per_second))
            }
        }
    }

    pub fn receive(&mut self, now: Time, frame: &[u8]) {
        let Ok(link) = LpPacket::decode(frame) else { return };
        let Some(fragment) = link.fragment() else { return };
        if link.nack().is_some() {
            let interest = Interest::decode(fragment);
            if interest.is_ok_and(|interest| self.take(interest.name()).is_some()) {
                self.counters.nacks += 1;
                self.ended(now);
            }
            return;
        }
        let Ok(data) = Data::decode(fragment) else { return };
        if let Some(at) = self.take(data.name()) {
            self.rtt.record(now.since(at));
            self.counters.data += 1;
            self.counters.bytes += data.content().len() as u64;
            self.counters.marks += u64::from(link.congestion_mark() > 0);
            self.ended(now);
        }
    }

    /// When the segment of this name was asked for, if nothing came for it yet.
    fn take(&mut self, name: NameRef<'_>) -> Option<Time> {
        let prefix = self.spec.name.as_ref();
        if name.len() != prefix.len() + 1 || !name.starts_with(prefix) {
            return None;
        }
        let n = name.last()?.as_segment()?.checked_sub(self.spec.first)?;
        let place = usize::try_from(n.checked_sub(self.base)?).ok()?;
        self.sent.get_mut(place)?.take()
    }

    /// What became of one Interest is known.
    fn ended(&mut self, now: Time) {
        self.in_flight -= 1;
        while self.sent.front() == Some(&None) {
            self.sent.pop_front();
            self.base += 1;
        }
        if self.in_flight == 0 && self.next.is_none() {
            self.end = Some(now);
        }
    }

    /// Its node crashed.
    pub fn crash(&mut self, now: Time) {
        self.next = None;
        self.counters.expired += self.in_flight;
        self.in_flight = 0;
        self.sent.clear();
        self.end.get_or_insert(now);
    }

    pub fn sample(&self, at: Time, flow: FlowId) -> Option<FlowSample> {
        let begun = self.counters.interests > 0 && !self.is_over();
        begun.then(|| FlowSample {
            at,
            flow,
            window: None,
            in_flight: u32::try_from(self.in_flight).unwrap_or(u32::MAX),
            bytes: Size(self.counters.bytes),
            rtt: self.rtt.mean().map(|rtt| rtt.0),
            retransmissions: 0,
            video: None,
        })
    }

    pub fn is_over(&self) -> bool {
        self.next.is_none() && self.in_flight == 0
    }

    pub fn result(&self, result: &mut FlowResult) {
        let counters = &self.counters;
        result.start = self.spec.start;
        result.end = self.end;
        result.complete = counters.data == self.spec.count;
        result.bytes = counters.bytes;
        result.interests = counters.interests;
        result.data = counters.data;
        result.timeouts = counters.expired;
        result.nacks = counters.nacks;
        result.marks = counters.marks;
        result.in_flight = self.in_flight;
        result.rtt_mean = self.rtt.mean();
        result.rtt_p99 = self.rtt.quantile(0.99);
    }
}
