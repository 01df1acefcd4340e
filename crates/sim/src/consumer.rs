//! A fetch as an application of the simulator: the unchanged `Fetch` with measurements.

use control::{Rng, Size, Time};
use security::TrustPolicy;
use transport::fetch::{Fetch, FetchConfig, ObjectInfo, Resume, Sink, Status};
use transport::{Histogram, Meter};

use crate::reported::EventQueue;
use crate::spec::{FetchSpec, Signing};
use record::{FlowId, FlowResult, FlowSample, Origin};

/// A sink that drops the verified content.
struct Nowhere;

impl Sink for Nowhere {
    fn begin(&mut self, _info: &ObjectInfo) -> Resume {
        Resume::default()
    }

    fn write(&mut self, _segment: u64, _offset: u64, _content: &[u8]) {}
}

/// A fetch, from before its start until after its end.
pub(crate) struct Consumer {
    /// The specification; `None` once the fetch has started.
    spec: Option<FetchSpec>,
    seed: u64,
    start: Time,
    fetch: Option<Box<Fetch>>,
    crashed: bool,
    end: Option<Time>,
    meter: Meter,
}

impl Consumer {
    pub fn new(spec: FetchSpec, seed: u64, names: &[&str]) -> Consumer {
        Consumer {
            seed: Rng::stream(seed, names).next_u64(),
            start: spec.start,
            spec: Some(spec),
            fetch: None,
            crashed: false,
            end: None,
            meter: Meter::default(),
        }
    }

    /// Starts the fetch if it is due.
    pub fn begin(&mut self, now: Time, flow: FlowId, events: Option<&EventQueue>) {
        if now < self.start {
            return;
        }
        let Some(spec) = self.spec.take() else { return };
        let policy = match spec.signing {
            Signing::Manifest | Signing::Digest => TrustPolicy::DigestOnly,
            Signing::Unsigned => TrustPolicy::AnySigned(Vec::new()),
        };
        let mut config = FetchConfig::new(spec.name, policy);
        config.lifetime = spec.lifetime;
        config.patience = spec.patience;
        config.in_order = spec.in_order;
        config.range = spec.range;
        config.seed = self.seed;
        if spec.signing != Signing::Manifest {
            // Producers of objects without a manifest do not serve heads.
            config.heads = 0;
        }
        if let Some(events) = events.cloned() {
            config.tap = Box::new(move |event| {
                if let Ok(mut events) = events.lock() {
                    events.push((Origin::Flow(flow), event));
                }
            });
        }
        self.fetch = Some(Box::new(Fetch::new(config, spec.controller)));
    }

    pub fn next_deadline(&mut self, now: Time) -> Option<Time> {
        match &mut self.fetch {
            Some(fetch) => fetch.next_deadline(now),
            None => self.spec.as_ref().map(|spec| spec.start),
        }
    }

    pub fn on_deadline(&mut self, now: Time) {
        if let Some(fetch) = &mut self.fetch {
            fetch.on_deadline(now, &mut Nowhere);
        }
    }

    pub fn receive(&mut self, now: Time, frame: &[u8]) {
        let Some(fetch) = &mut self.fetch else { return };
        fetch.receive(now, frame, &mut Nowhere);
        self.meter.received(fetch);
    }

    pub fn poll_transmit(&mut self, now: Time, out: &mut Vec<u8>) -> bool {
        self.fetch.as_mut().is_some_and(|fetch| fetch.poll_transmit(now, out))
    }

    /// Records the window and the end of the fetch. Call it after all other calls at an instant.
    pub fn look(&mut self, now: Time) {
        let Some(fetch) = &self.fetch else { return };
        if self.end.is_some() {
            return;
        }
        self.meter.look(now, fetch);
        if fetch.status() != Status::Running {
            self.end = Some(now);
        }
    }

    /// Ends the fetch, because its node crashed.
    pub fn crash(&mut self, now: Time) {
        if self.end.is_none() && self.fetch.is_some() {
            self.look(now);
            self.crashed = self.end.is_none();
            self.end.get_or_insert(now);
        }
    }

    /// The distribution of round-trip times.
    pub fn rtt(&self) -> &Histogram {
        self.meter.rtt()
    }

    /// True if the fetch has ended or crashed.
    pub fn is_over(&self) -> bool {
        self.end.is_some()
    }

    pub fn sample(&self, at: Time, flow: FlowId) -> Option<FlowSample> {
        let fetch = self.fetch.as_ref().filter(|_| self.end.is_none())?;
        Some(FlowSample {
            at,
            flow,
            window: fetch.window(),
            in_flight: fetch.in_flight(),
            bytes: Size(fetch.bytes().1),
            rtt: fetch.rtt().smoothed().map(|rtt| rtt.0),
            retransmissions: fetch.stats().counters.retransmissions,
            video: None,
        })
    }

    pub fn result(&self, result: &mut FlowResult) {
        result.start = self.start;
        result.end = self.end;
        let Some(fetch) = &self.fetch else { return };
        result.transfer = self.meter.transfer(fetch);
        if self.crashed {
            result.transfer.error = Some("its node crashed".to_owned());
        }
    }
}
