//! Adaptive video: a player fetches segment after segment into a playout buffer, and chooses the
//! quality of each.
//!
//! Every segment in every quality is a separate object, fetched by the unchanged `Fetch`. This is
//! how MPEG-DASH players work.

mod adaptation;
mod playout;

pub use adaptation::Adaptation;

use adaptation::Past;
use control::{Controller, Duration, Rate, Size, Time};
use playout::Playout;
use std::fmt;
use std::sync::Arc;

use super::catalogue::Catalogue;
use crate::consumer::Consumer;
use crate::reported::EventQueue;
use crate::spec::{FetchSpec, Make};
use record::{FlowId, FlowResult, FlowSample, VideoResult, VideoSample};
use transport::{Histogram, Transfer};

/// A video and its player.
#[derive(Clone)]
pub struct VideoSpec {
    /// The segments: those of the lowest quality from first to last, then those of the next one.
    pub catalogue: Arc<Catalogue>,
    /// The rates of the qualities, ascending.
    pub ladder: Vec<Rate>,
    /// The playing time of a segment.
    pub segment: Duration,
    /// The number of segments.
    pub segments: u64,
    /// The instant at which it starts.
    pub start: Time,
    /// The rule that chooses the quality.
    pub adaptation: Adaptation,
    /// The size of the buffer, as playing time.
    pub buffer: Duration,
    /// The buffer content needed to start playing, and to continue after a stall.
    pub startup: Duration,
    /// Builds the controller of each fetch.
    pub controller: Make<dyn Controller>,
    /// The controller's name, for the results.
    pub label: String,
    /// The lifetime of Interests.
    pub lifetime: Duration,
    /// It fails after this long without progress of a segment.
    pub patience: Duration,
    /// See [`FetchSpec::range`].
    pub range: Option<u16>,
}

/// A player, from before its start until after its end.
pub(crate) struct Player {
    spec: VideoSpec,
    seed: u64,
    names: Vec<String>,
    playout: Playout,
    past: Past,
    /// The current or next segment.
    segment: u64,
    quality: usize,
    fetch: Option<Consumer>,
    /// The instant at which the next segment is requested, when the buffer has room.
    next: Option<Time>,
    /// The sum of all fetches that have ended.
    sum: Transfer,
    rtt: Histogram,
    switches: u64,
    bitrates: f64,
    end: Option<Time>,
}

impl Player {
    pub fn new(spec: VideoSpec, seed: u64, names: &[&str]) -> Player {
        Player {
            seed,
            names: names.iter().map(|name| (*name).to_owned()).collect(),
            playout: Playout::new(spec.startup.min(spec.buffer)),
            past: Past::default(),
            segment: 0,
            quality: 0,
            fetch: None,
            next: Some(spec.start),
            sum: Transfer::default(),
            rtt: Histogram::default(),
            switches: 0,
            bitrates: 0.0,
            end: None,
            spec,
        }
    }

    pub fn next_deadline(&mut self, now: Time) -> Option<Time> {
        let fetch = self.fetch.as_mut().and_then(|fetch| fetch.next_deadline(now));
        [fetch, self.next, self.playout.dry_at()].into_iter().flatten().min()
    }

    pub fn on_deadline(&mut self, now: Time, flow: FlowId, events: Option<&EventQueue>) {
        let due = self.next.take_if(|at| *at <= now);
        // If this call is overdue, the quality is chosen by the buffer at the planned instant.
        // Rules have thresholds, and a full buffer is at one.
        let level = due.map(|at| {
            self.playout.pass(at);
            self.playout.level(at)
        });
        self.playout.pass(now);
        if let Some(level) = level {
            self.ask(now, level);
        }
        if let Some(fetch) = &mut self.fetch {
            fetch.begin(now, flow, events);
            fetch.on_deadline(now);
        }
        self.look(now);
    }

    /// Begins to fetch the next segment; `level` is the content of the buffer.
    fn ask(&mut self, now: Time, level: Duration) {
        let VideoSpec { ladder, adaptation, .. } = &self.spec;
        self.quality = adaptation.choose(ladder, level, &self.past);
        let number = self.quality as u64 * self.spec.segments + self.segment;
        let name = self.spec.catalogue.name_of(number);
        let mut spec = FetchSpec::new(name, (self.spec.controller)(), &self.spec.label);
        (spec.start, spec.lifetime, spec.patience) = (now, self.spec.lifetime, self.spec.patience);
        spec.range = self.spec.range;
        spec.signing = self.spec.catalogue.signing;
        let segment = self.segment.to_string();
        let names: Vec<&str> =
            self.names.iter().map(String::as_str).chain([segment.as_str()]).collect();
        self.fetch = Some(Consumer::new(spec, self.seed, &names));
    }

    pub fn receive(&mut self, now: Time, frame: &[u8]) {
        if let Some(fetch) = &mut self.fetch {
            fetch.receive(now, frame);
        }
    }

    pub fn poll_transmit(&mut self, now: Time, out: &mut Vec<u8>) -> bool {
        self.fetch.as_mut().is_some_and(|fetch| fetch.poll_transmit(now, out))
    }

    /// Handles the end of a fetch or of playing. Call it after all other calls at an instant.
    pub fn look(&mut self, now: Time) {
        if let Some(fetch) = &mut self.fetch {
            fetch.look(now);
            if fetch.is_over()
                && let Some(over) = self.fetch.take()
            {
                self.came(now, &over);
            }
        }
        self.playout.pass(now);
        if self.end.is_none() {
            self.end = self.playout.ended_at();
        }
    }

    /// Handles the end of a fetch.
    fn came(&mut self, now: Time, fetch: &Consumer) {
        let mut result = FlowResult::default();
        fetch.result(&mut result);
        self.rtt.merge(fetch.rtt());
        add(&mut self.sum, &result.transfer);
        if !result.transfer.complete {
            self.sum.error = result.transfer.error;
            return self.playout.cut_off(now);
        }
        let took = now.since(result.start).as_secs_f64();
        self.switches += u64::from(self.past.quality.is_some_and(|q| q != self.quality));
        self.past.quality = Some(self.quality);
        self.past.rates.push_back(result.transfer.bytes as f64 * 8.0 / took.max(1e-9));
        while self.past.rates.len() > self.spec.adaptation.memory() {
            self.past.rates.pop_front();
        }
        self.bitrates += self.spec.ladder[self.quality].0 as f64;
        self.segment += 1;
        let is_last = self.segment == self.spec.segments;
        self.playout.add(now, self.spec.segment, is_last);
        if !is_last {
            let room = self.spec.buffer.saturating_sub(self.spec.segment);
            self.next = Some(now + self.playout.level(now).saturating_sub(room));
        }
    }

    /// Ends playing, because the node crashed.
    pub fn crash(&mut self, now: Time) {
        if let Some(mut fetch) = self.fetch.take() {
            fetch.crash(now);
            let mut result = FlowResult::default();
            fetch.result(&mut result);
            add(&mut self.sum, &result.transfer);
        }
        if self.end.is_none() && now >= self.spec.start {
            self.playout.pass(now);
            self.sum.error.get_or_insert_with(|| "its node crashed".to_owned());
            self.next = None;
            self.end = Some(now);
        }
    }

    pub fn is_over(&self) -> bool {
        self.end.is_some()
    }

    pub fn sample(&self, at: Time, flow: FlowId) -> Option<FlowSample> {
        let fetch = self.fetch.as_ref().and_then(|fetch| fetch.sample(at, flow));
        let begun = at >= self.spec.start && !self.is_over();
        let idle = begun.then_some(FlowSample {
            at,
            flow,
            window: None,
            in_flight: 0,
            bytes: Size(0),
            rtt: self.rtt.mean().map(|rtt| rtt.0),
            retransmissions: 0,
            video: None,
        });
        let mut sample = fetch.or(idle)?;
        sample.video = Some(VideoSample {
            buffer: self.playout.level(at),
            is_stalled: self.playout.is_stalled(at),
            stalls: self.playout.stalls(),
            bitrate: self.spec.ladder[self.quality],
        });
        sample.bytes = Size(sample.bytes.0 + self.sum.bytes);
        sample.retransmissions += self.sum.counters.retransmissions;
        Some(sample)
    }

    pub fn result(&self, now: Time, result: &mut FlowResult) {
        let mut sum = self.sum.clone();
        let mut rtt = self.rtt.clone();
        if let Some(fetch) = &self.fetch {
            let mut present = FlowResult::default();
            fetch.result(&mut present);
            sum.in_flight = present.transfer.in_flight;
            add(&mut sum, &present.transfer);
            rtt.merge(fetch.rtt());
        }
        sum.complete = self.end.is_some() && self.segment == self.spec.segments;
        (sum.rtt_mean, sum.rtt_p99) = (rtt.mean(), rtt.quantile(0.99));
        result.start = self.spec.start;
        result.end = self.end;
        result.transfer = sum;
        result.video = Some(VideoResult {
            startup: self.playout.began().map(|at| at.since(self.spec.start)),
            stalls: self.playout.stalls(),
            stalled: self.playout.stalled(self.end.unwrap_or(now)),
            played: self.playout.played(),
            segments: self.segment,
            switches: self.switches,
            bitrate: (self.segment > 0).then(|| self.bitrates / self.segment as f64),
        });
    }
}

/// Adds the bytes and counters of a fetch.
fn add(sum: &mut Transfer, one: &Transfer) {
    sum.bytes += one.bytes;
    sum.counters += &one.counters;
}

impl fmt::Debug for VideoSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("VideoSpec")
            .field("name", &self.catalogue.name)
            .field("adaptation", &self.adaptation)
            .finish_non_exhaustive()
    }
}
