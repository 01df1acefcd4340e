//! A consumer without congestion control, which sends Interests at a constant rate.

use control::{Duration, Rng, Size, Time};
use packet::interest_buf::encode_plain_interest;
use packet::options::{MAX_RANGE, Range, SegmentBits};
use packet::{Component, Data, HopOption, Interest, LpHeader, LpPacket, NameRef};
use std::collections::VecDeque;

use crate::spec::{Arrivals, RateSpec};
use record::{FlowId, FlowResult, FlowSample, RateCounters};
use transport::{Histogram, Transfer};

/// Counters of a constant-rate consumer. Invariant, in segments:
/// `asked = data + nacks + expired + in flight`.
#[derive(Clone, Copy, Debug, Default)]
struct Counters {
    interests: u64,
    asked: u64,
    whole: u64,
    data: u64,
    nacks: u64,
    expired: u64,
    marks: u64,
    bytes: u64,
}

/// A constant-rate consumer.
pub(crate) struct ConstantRate {
    spec: RateSpec,
    nonces: Rng,
    gaps: Rng,
    /// The instant of the next Interest; `None` if all have been sent.
    next: Option<Time>,
    /// The time of the request for each segment from `base` on; `None` once it is resolved.
    sent: VecDeque<Option<Time>>,
    base: u64,
    /// The number of segments received of each run from `first_run` on.
    runs: VecDeque<u16>,
    /// The first run with an unresolved segment.
    first_run: u64,
    in_flight: u64,
    counters: Counters,
    rtt: Histogram,
    end: Option<Time>,
}

impl ConstantRate {
    pub fn new(spec: RateSpec, seed: u64, names: &[&str]) -> ConstantRate {
        let possible = spec.count > 0 && spec.per_second > 0.0;
        ConstantRate {
            next: possible.then_some(spec.start),
            nonces: Rng::stream(seed, &[names, &["nonces"]].concat()),
            gaps: Rng::stream(seed, &[names, &["gaps"]].concat()),
            sent: VecDeque::new(),
            base: 0,
            runs: VecDeque::new(),
            first_run: 0,
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
        let (n, asked) = (self.counters.interests, self.counters.asked);
        let component = Component::segment(self.spec.first + asked);
        let (prefix, nonce) = (self.spec.name.as_ref(), self.nonces.next_u32());
        let lifetime = self.spec.lifetime.as_millis().max(1);
        let run = self.spec.count.saturating_sub(asked).min(self.run_length()).max(1);
        match Range::whole(run as u16) {
            None => encode_plain_interest(prefix, component.as_ref(), nonce, lifetime, out),
            Some(range) => {
                let mut interest = Vec::new();
                encode_plain_interest(prefix, component.as_ref(), nonce, lifetime, &mut interest);
                let mut header = LpHeader::default();
                header.options.set(&range);
                header.encode_into(&interest, out);
            }
        }
        (0..run).for_each(|_| self.sent.push_back(Some(now)));
        self.runs.push_back(0);
        self.in_flight += run;
        self.counters.asked += run;
        self.counters.interests += 1;
        self.next = (asked + run < self.spec.count).then(|| self.due(now, n + 1));
        true
    }

    /// The number of segments per Interest; the last one may request fewer.
    fn run_length(&self) -> u64 {
        u64::from(self.spec.range.clamp(1, MAX_RANGE))
    }

    /// Counts a segment of a run, and the run if it is complete now.
    fn came(&mut self, segment: u64) {
        let (length, count) = (self.run_length(), self.spec.count);
        let run = segment / length;
        let full = count.saturating_sub(run * length).min(length) as u16;
        let at = run.checked_sub(self.first_run).and_then(|at| usize::try_from(at).ok());
        let Some(came) = at.and_then(|at| self.runs.get_mut(at)) else { return };
        *came += 1;
        self.counters.whole += u64::from(*came == full);
    }

    /// The instant of Interest `n`. Constant intervals are counted from the start, so that rounding
    /// errors do not accumulate.
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
            let Some(first) = Interest::decode(fragment).ok().and_then(|i| self.number(i.name()))
            else {
                return;
            };
            let mut options = link.options().filter(|(number, _)| *number == Range::TYPE);
            let range = options.next().and_then(|(_, value)| Range::decode(value));
            let rejected = range.map_or(SegmentBits::first(1), |range| range.wanted());
            for at in rejected.iter() {
                if self.take(first.saturating_add(u64::from(at))).is_some() {
                    self.counters.nacks += 1;
                    self.ended(now);
                }
            }
            return;
        }
        let Ok(data) = Data::decode(fragment) else { return };
        let Some(number) = self.number(data.name()) else { return };
        if let Some(at) = self.take(number) {
            self.came(number);
            self.rtt.record(now.since(at));
            self.counters.data += 1;
            self.counters.bytes += data.content().len() as u64;
            self.counters.marks += u64::from(link.congestion_mark() > 0);
            self.ended(now);
        }
    }

    /// The index of the segment with this name among the requested ones.
    fn number(&self, name: NameRef<'_>) -> Option<u64> {
        let prefix = self.spec.name.as_ref();
        if name.len() != prefix.len() + 1 || !name.starts_with(prefix) {
            return None;
        }
        name.last()?.as_segment()?.checked_sub(self.spec.first)
    }

    /// Resolves a segment, and returns the time of its request if it was unresolved.
    fn take(&mut self, n: u64) -> Option<Time> {
        let place = usize::try_from(n.checked_sub(self.base)?).ok()?;
        self.sent.get_mut(place)?.take()
    }

    /// Updates the state after a segment was resolved.
    fn ended(&mut self, now: Time) {
        self.in_flight -= 1;
        while self.sent.front() == Some(&None) {
            self.sent.pop_front();
            self.base += 1;
        }
        while (self.first_run + 1) * self.run_length() <= self.base {
            self.runs.pop_front();
            self.first_run += 1;
        }
        if self.in_flight == 0 && self.next.is_none() {
            self.end = Some(now);
        }
    }

    /// Ends the flow, because its node crashed.
    pub fn crash(&mut self, now: Time) {
        self.next = None;
        self.counters.expired += self.in_flight;
        self.in_flight = 0;
        self.sent.clear();
        self.runs.clear();
        self.end.get_or_insert(now);
    }

    pub fn sample(&self, at: Time, flow: FlowId) -> Option<FlowSample> {
        if self.counters.interests == 0 || self.is_over() {
            return None;
        }
        Some(FlowSample {
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
        result.rate = Some(RateCounters { asked: counters.asked, whole: counters.whole });
        result.transfer = Transfer {
            bytes: counters.bytes,
            counters: transport::Counters {
                interests: counters.interests,
                data: counters.data,
                timeouts: counters.expired,
                nacks: counters.nacks,
                marks: counters.marks,
                ..transport::Counters::default()
            },
            in_flight: self.in_flight,
            rtt_mean: self.rtt.mean(),
            rtt_p99: self.rtt.quantile(0.99),
            complete: counters.data == self.spec.count,
            ..Transfer::default()
        };
    }
}
