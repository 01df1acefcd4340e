//! A fetch as an application of the simulator: the unchanged `Fetch`, and what is measured of it.

use control::{Rng, Size, Time};
use security::TrustPolicy;
use transport::fetch::{Fetch, FetchConfig, ObjectInfo, Resume, Sink, Status};

use crate::histogram::Histogram;
use crate::outcome::FlowResult;
use crate::record::{EventQueue, FlowSample, Origin};
use crate::spec::{FetchSpec, FlowId, Signing};

/// The content is as virtual as it was: it is verified and then let go.
struct Nowhere;

impl Sink for Nowhere {
    fn begin(&mut self, _info: &ObjectInfo) -> Resume {
        Resume::default()
    }

    fn write(&mut self, _segment: u64, _offset: u64, _content: &[u8]) {}
}

/// The mean and the deviation over time of a value that changes at instants.
#[derive(Clone, Copy, Debug, Default)]
struct OverTime {
    since: Time,
    value: f64,
    span: f64,
    area: f64,
    squares: f64,
}

impl OverTime {
    fn set(&mut self, now: Time, value: f64) {
        let span = now.since(self.since).as_secs_f64();
        self.span += span;
        self.area += self.value * span;
        self.squares += self.value * self.value * span;
        self.since = now;
        self.value = value;
    }

    fn mean_and_stdev(&self) -> Option<(f64, f64)> {
        if self.span == 0.0 {
            return None;
        }
        let mean = self.area / self.span;
        Some((mean, (self.squares / self.span - mean * mean).max(0.0).sqrt()))
    }
}

/// A fetch, from before its beginning to after its end.
pub(crate) struct Consumer {
    /// What it is made from, until it begins.
    spec: Option<FetchSpec>,
    seed: u64,
    start: Time,
    fetch: Option<Box<Fetch>>,
    crashed: bool,
    end: Option<Time>,
    window: Option<OverTime>,
    rtt: Histogram,
    rtt_samples: u64,
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
            window: None,
            rtt: Histogram::default(),
            rtt_samples: 0,
        }
    }

    /// Begins, if the time has come.
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
            // Its publisher is one that knows no heads.
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
        if let Some((samples, rtt)) = fetch.stats().rtt_latest()
            && samples != self.rtt_samples
        {
            self.rtt_samples = samples;
            self.rtt.record(rtt);
        }
    }

    pub fn poll_transmit(&mut self, now: Time, out: &mut Vec<u8>) -> bool {
        self.fetch.as_mut().is_some_and(|fetch| fetch.poll_transmit(now, out))
    }

    /// Looks at the window and whether it is over, after all other calls at an instant.
    pub fn look(&mut self, now: Time) {
        let Some(fetch) = &self.fetch else { return };
        if self.end.is_some() {
            return;
        }
        if let Some(window) = window(fetch) {
            let over_time =
                self.window.get_or_insert(OverTime { since: now, ..OverTime::default() });
            over_time.set(now, window);
        }
        if fetch.status() != Status::Running {
            self.end = Some(now);
        }
    }

    /// Its node crashed, and it did not survive.
    pub fn crash(&mut self, now: Time) {
        if self.end.is_none() && self.fetch.is_some() {
            self.look(now);
            self.crashed = self.end.is_none();
            self.end.get_or_insert(now);
        }
    }

    /// The round-trip times.
    pub fn rtt(&self) -> &Histogram {
        &self.rtt
    }

    /// It has ended, or its node crashed under it.
    pub fn is_over(&self) -> bool {
        self.end.is_some()
    }

    pub fn sample(&self, at: Time, flow: FlowId) -> Option<FlowSample> {
        let fetch = self.fetch.as_ref().filter(|_| self.end.is_none())?;
        Some(FlowSample {
            at,
            flow,
            window: window(fetch),
            in_flight: fetch.in_flight(),
            bytes: Size(fetch.octets().1),
            rtt: fetch.rtt().smoothed().map(|rtt| rtt.0),
            retransmissions: fetch.stats().retransmissions,
            video: None,
        })
    }

    pub fn result(&self, result: &mut FlowResult) {
        result.start = self.start;
        result.end = self.end;
        let Some(fetch) = &self.fetch else { return };
        let stats = fetch.stats();
        result.complete = fetch.status() == Status::Done;
        result.error = match fetch.status() {
            Status::Failed(error) => Some(error.to_string()),
            _ if self.crashed => Some("its node crashed".to_owned()),
            _ => None,
        };
        result.bytes = fetch.octets().1;
        result.interests = stats.interests;
        result.data = stats.data;
        result.timeouts = stats.timeouts;
        result.gaps = stats.gaps + stats.probes;
        result.false_timeouts = stats.false_losses;
        result.nacks = stats.nacks;
        result.retransmissions = stats.retransmissions;
        result.marks = stats.marks;
        result.in_flight = u64::from(fetch.in_flight());
        result.window = self.window.as_ref().and_then(OverTime::mean_and_stdev);
        result.rtt_mean = self.rtt.mean();
        result.rtt_p99 = self.rtt.quantile(0.99);
    }
}

/// The sum of the lanes' windows.
fn window(fetch: &Fetch) -> Option<f64> {
    let mut sum = None;
    fetch.gauges(&mut |_, name, value| {
        if name == "window" {
            sum = Some(sum.unwrap_or(0.0) + value);
        }
    });
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_weighed_by_how_long_it_held() {
        let mut value = OverTime { since: Time(0), ..OverTime::default() };
        assert_eq!(value.mean_and_stdev(), None);
        // 1 s at 10, 3 s at 2: mean 4, variance (36 + 3 * 4) / 4 = 12.
        value.set(Time(0), 10.0);
        value.set(Time(1_000_000_000), 2.0);
        value.set(Time(4_000_000_000), 99.0);
        let (mean, stdev) = value.mean_and_stdev().unwrap();
        assert!((mean - 4.0).abs() < 1e-12 && (stdev - 12f64.sqrt()).abs() < 1e-12);
    }
}
