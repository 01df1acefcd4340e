//! Requests for single segments, as in the caching literature: one Interest without retransmission.

use control::{Duration, Rng, Size, Time};
use packet::interest_buf::encode_plain_interest;
use packet::{Component, Data, Interest, LpPacket, NameRef};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use super::catalogue::Catalogue;
use record::{ClassResult, FlowId, FlowResult, FlowSample};
use transport::{Histogram, Transfer};

/// A segment of an object, by the index of its catalogue and the object's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Key {
    pub catalogue: usize,
    pub object: u64,
    pub segment: u64,
}

/// A pending request.
struct Pending {
    at: Time,
    class: u16,
    /// Later requests for the same segment while it is pending. They are answered together.
    joined: u64,
}

/// Counters. Invariant: `requests = data + nacks + expired + in flight`. Requests that joined a
/// pending one count too, although they send no Interest.
#[derive(Clone, Copy, Debug, Default)]
struct Counters {
    requests: u64,
    data: u64,
    nacks: u64,
    expired: u64,
    marks: u64,
    bytes: u64,
}

/// Requests the segments of a workload at one node.
pub(crate) struct Chunks {
    catalogues: Vec<Arc<Catalogue>>,
    lifetime: Duration,
    nonces: Rng,
    /// Segments whose Interests have not been sent yet.
    wanted: VecDeque<Key>,
    pending: BTreeMap<Key, Pending>,
    /// Segments in the order of their expiry, which is that of their requests: all have the same
    /// lifetime.
    expiry: VecDeque<(Time, Key)>,
    counters: Counters,
    first: Option<Time>,
    last: Option<Time>,
    rtt: Histogram,
    classes: Vec<ClassResult>,
    over: bool,
}

impl Chunks {
    /// Creates the state without requests. `classes` are those of the workload, with counts of 0.
    pub fn new(
        catalogues: Vec<Arc<Catalogue>>,
        lifetime: Duration,
        nonces: Rng,
        classes: Vec<ClassResult>,
    ) -> Chunks {
        Chunks {
            catalogues,
            lifetime,
            nonces,
            wanted: VecDeque::new(),
            pending: BTreeMap::new(),
            expiry: VecDeque::new(),
            counters: Counters::default(),
            first: None,
            last: None,
            rtt: Histogram::default(),
            classes,
            over: false,
        }
    }

    /// Adds a request.
    pub fn ask(&mut self, now: Time, key: Key, class: u16) {
        self.counters.requests += 1;
        if let Some(class) = self.classes.get_mut(usize::from(class)) {
            class.began(now);
        }
        self.first.get_or_insert(now);
        match self.pending.get_mut(&key) {
            Some(pending) => pending.joined += 1,
            None => {
                self.pending.insert(key, Pending { at: now, class, joined: 0 });
                self.expiry.push_back((now + self.lifetime, key));
                self.wanted.push_back(key);
            }
        }
    }

    /// Ends the flow after the pending requests: no more will be added.
    pub fn close(&mut self) {
        self.over = true;
    }

    pub fn poll_transmit(&mut self, out: &mut Vec<u8>) -> bool {
        let Some(key) = self.wanted.pop_front() else { return false };
        let catalogue = &self.catalogues[key.catalogue];
        let name = catalogue.name_of(key.object).with(&Component::version(catalogue.version));
        let component = Component::segment(key.segment);
        let nonce = self.nonces.next_u32();
        let lifetime = self.lifetime.as_millis().max(1);
        encode_plain_interest(name.as_ref(), component.as_ref(), nonce, lifetime, out);
        true
    }

    pub fn next_deadline(&self) -> Option<Time> {
        self.expiry.front().map(|(at, _)| *at)
    }

    pub fn on_deadline(&mut self, now: Time) {
        while let Some((at, key)) = self.expiry.front().copied().filter(|(at, _)| *at <= now) {
            self.expiry.pop_front();
            // The segment may have been requested again since.
            if self.pending.get(&key).is_some_and(|pending| pending.at + self.lifetime == at)
                && let Some(pending) = self.pending.remove(&key)
            {
                self.counters.expired += 1 + pending.joined;
                self.ended(now, &pending, None);
            }
        }
    }

    pub fn receive(&mut self, now: Time, frame: &[u8]) {
        let Ok(link) = LpPacket::decode(frame) else { return };
        let Some(fragment) = link.fragment() else { return };
        if link.nack().is_some() {
            let interest = Interest::decode(fragment).ok();
            if let Some(pending) = interest.and_then(|interest| self.take(interest.name())) {
                self.counters.nacks += 1 + pending.joined;
                self.ended(now, &pending, None);
            }
            return;
        }
        let Ok(data) = Data::decode(fragment) else { return };
        if let Some(pending) = self.take(data.name()) {
            self.rtt.record(now.since(pending.at));
            self.counters.data += 1 + pending.joined;
            self.counters.bytes += data.content().len() as u64;
            self.counters.marks += u64::from(link.congestion_mark() > 0);
            self.ended(now, &pending, Some(data.content().len() as u64));
        }
    }

    /// Records the end of a request and of those that joined it. All count as if they had been made
    /// with the first.
    fn ended(&mut self, now: Time, pending: &Pending, bytes: Option<u64>) {
        self.last = Some(now);
        let Some(class) = self.classes.get_mut(usize::from(pending.class)) else { return };
        for _ in 0..=pending.joined {
            class.ended(pending.at, now, bytes.unwrap_or(0), bytes.is_some());
        }
    }

    /// The sums of the classes.
    pub fn classes(&self) -> &[ClassResult] {
        &self.classes
    }

    fn take(&mut self, name: NameRef<'_>) -> Option<Pending> {
        let found = self.catalogues.iter().enumerate();
        let (catalogue, object) =
            found.filter_map(|(place, c)| Some((place, c.number_of(name)?))).next()?;
        let segment = name.last()?.as_segment()?;
        let pending = self.pending.remove(&Key { catalogue, object, segment })?;
        while self.expiry.front().is_some_and(|(_, key)| !self.pending.contains_key(key)) {
            self.expiry.pop_front();
        }
        Some(pending)
    }

    /// Drops all pending requests, because the node crashed.
    pub fn crash(&mut self, now: Time) {
        for (_, pending) in std::mem::take(&mut self.pending) {
            self.counters.expired += 1 + pending.joined;
            self.ended(now, &pending, None);
        }
        self.expiry.clear();
        self.wanted.clear();
        self.last = Some(now);
    }

    pub fn is_over(&self) -> bool {
        self.over && self.pending.is_empty()
    }

    pub fn sample(&self, at: Time, flow: FlowId) -> Option<FlowSample> {
        if self.counters.requests == 0 || self.is_over() {
            return None;
        }
        Some(FlowSample {
            at,
            flow,
            window: None,
            in_flight: u32::try_from(self.pending.len()).unwrap_or(u32::MAX),
            bytes: Size(self.counters.bytes),
            rtt: self.rtt.mean().map(|rtt| rtt.0),
            retransmissions: 0,
            video: None,
        })
    }

    pub fn result(&self, result: &mut FlowResult) {
        let counters = &self.counters;
        let in_flight: u64 = self.pending.values().map(|pending| 1 + pending.joined).sum();
        result.start = self.first.unwrap_or_default();
        result.end = self.last.filter(|_| self.is_over());
        result.transfer = Transfer {
            bytes: counters.bytes,
            counters: transport::Counters {
                interests: counters.requests,
                data: counters.data,
                timeouts: counters.expired,
                nacks: counters.nacks,
                marks: counters.marks,
                ..transport::Counters::default()
            },
            in_flight,
            rtt_mean: self.rtt.mean(),
            rtt_p99: self.rtt.quantile(0.99),
            complete: self.is_over() && counters.data == counters.requests,
            ..Transfer::default()
        };
    }
}
