//! One bottleneck in virtual time: consumers with a controller each, a producer behind a link with
//! a rate, a delay, a drop-tail queue and random loss. Deterministic: equal arguments, equal
//! outcome.
//!
//! Interests cross the delay and may be lost; the Data of those that arrive may be lost too, before
//! it joins the queue (as `netem` has it); what leaves the queue crosses the delay back.
#![allow(dead_code, reason = "each test target and example uses its own part")]

mod consumer;

use consumer::Consumer;
use control::{
    Cx, DataMeta, Duration, LinkView, Marker, QueueView, Rate, Ratio, Rng, Size, Time, Verdict,
};
use schemes::Choice;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// The bottleneck.
#[derive(Clone, Copy, Debug)]
pub struct Path {
    pub rate: Rate,
    /// From that instant on, another rate.
    pub later: Option<(Time, Rate)>,
    /// The bound of the queue, in bytes, without the packet in transmission.
    pub queue: Size,
    pub one_way: Duration,
    /// Of Interests, and of Data, each.
    pub loss: Ratio,
    /// The size of a Data packet.
    pub segment: Size,
    /// Queue management, as a choice of a scheme.
    pub marker: &'static str,
    /// The bytes that a token bucket in front of the rate passes at once after a pause.
    pub bucket: Size,
    /// The consumers' hosts act at multiples of this only; zero: at once.
    pub wakeup: Duration,
}

impl Path {
    pub fn new(rate_mbps: u64, queue_kb: u64, one_way_us: u64, loss_percent: f64) -> Path {
        Path {
            rate: Rate::from_mbps(rate_mbps),
            later: None,
            queue: Size(queue_kb * 1000),
            one_way: Duration::from_micros(one_way_us),
            loss: Ratio::new(loss_percent / 100.0).expect("a percentage"),
            segment: Size(8000),
            marker: "drop-tail",
            bucket: Size::ZERO,
            wakeup: Duration::ZERO,
        }
    }
}

/// A consumer that fetches `segments` segments from `start` on.
#[derive(Clone, Copy, Debug)]
pub struct Flow {
    pub control: &'static str,
    pub segments: u64,
    pub start: Time,
}

/// The result of a flow.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// From the start to the last segment; `None` if it did not end in time.
    pub took: Option<Duration>,
    pub delivered: u64,
    pub asked: u64,
    pub losses: u64,
    pub timeouts: u64,
    /// Losses that were none: Data came after all.
    pub spurious: u64,
    pub marked: u64,
    pub rtt_mean: Duration,
    /// Bytes delivered in each full second since the run began.
    pub by_second: Vec<u64>,
    /// The controller's events, and its gauges with every fiftieth segment.
    pub trace: Vec<(Time, &'static str, f64)>,
}

impl Outcome {
    /// Bits of Data that were new, per second of the transfer.
    pub fn goodput(&self, path: &Path) -> f64 {
        let took = self.took.map_or(f64::INFINITY, Duration::as_secs_f64);
        (self.delivered * path.segment.0 * 8) as f64 / took
    }

    /// For a person to read.
    pub fn line(&self, path: &Path) -> String {
        let took = match self.took {
            Some(took) => format!("done in {took}, {:.1} Mbit/s", self.goodput(path) / 1e6),
            None => "not done".to_owned(),
        };
        format!(
            "{took}; {} segments, {} Interests, {} lost ({} by timeout, {} not really), {} marked, \
             RTT {}",
            self.delivered,
            self.asked,
            self.losses,
            self.timeouts,
            self.spurious,
            self.marked,
            self.rtt_mean,
        )
    }

    /// Interests beyond one for each segment, as a share of the segments.
    pub fn again(&self) -> f64 {
        (self.asked - self.delivered.min(self.asked)) as f64 / self.delivered.max(1) as f64
    }
}

/// The outcome of a run.
#[derive(Clone, Debug, Default)]
pub struct Report {
    pub flows: Vec<Outcome>,
    /// Data that did not fit into the queue.
    pub overflows: u64,
    pub queue_max: Size,
    /// Bytes in the queue times nanoseconds, since the run began.
    pub queue_byte_ns: u128,
}

impl Report {
    /// The mean queue in bytes, over a run with this duration.
    pub fn queue_mean(&self, took: Duration) -> f64 {
        self.queue_byte_ns as f64 / took.0.max(1) as f64
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Wake { flow: usize },
    AtProducer { flow: usize, segment: u64 },
    LinkFree,
    AtConsumer { flow: usize, segment: u64, mark: u64 },
}

struct Queued {
    flow: usize,
    segment: u64,
    since: Time,
    mark: u64,
}

struct World {
    path: Path,
    now: Time,
    agenda: BinaryHeap<Reverse<(Time, u64, Event)>>,
    order: u64,
    rng: Rng,
    marker: Box<dyn Marker>,
    queue: VecDeque<Queued>,
    queued: Size,
    busy: bool,
    /// When what has left so far would have left at the rate.
    rate_clock: Time,
    report: Report,
}

impl World {
    fn at(&mut self, when: Time, event: Event) {
        self.order += 1;
        self.agenda.push(Reverse((when.max(self.now), self.order, event)));
    }

    fn enqueue(&mut self, flow: usize, segment: u64) {
        if self.busy && self.queued.0 + self.path.segment.0 > self.path.queue.0 {
            self.report.overflows += 1;
            return;
        }
        let mark = match self.ask_marker(flow, segment, 0, |m, cx, v, d| m.on_enqueue(cx, v, d)) {
            Verdict::Drop => return,
            Verdict::Mark(mark) => mark,
            Verdict::Pass => 0,
        };
        self.queue.push_back(Queued { flow, segment, since: self.now, mark });
        self.queued += self.path.segment;
        if self.busy {
            self.report.queue_max = self.report.queue_max.max(self.queued);
        } else {
            self.transmit();
        }
    }

    fn rate(&self) -> Rate {
        match self.path.later {
            Some((from, rate)) if self.now >= from => rate,
            _ => self.path.rate,
        }
    }

    /// Asks the marker about Data that joins the queue or has left it.
    fn ask_marker(
        &mut self,
        flow: usize,
        segment: u64,
        mark: u64,
        ask: impl FnOnce(&mut dyn Marker, &mut Cx<'_>, &LinkView, &DataMeta) -> Verdict,
    ) -> Verdict {
        let packets = self.queue.len() as u32;
        let view = LinkView {
            rate_out: self.rate(),
            data_out: QueueView { packets, bytes: self.queued, head_sojourn: Duration::ZERO },
            data_limit: self.path.queue,
            ..LinkView::default()
        };
        let (flow, size, options) = (flow as u64, self.path.segment, Default::default());
        let data = DataMeta { flow, segment, size, mark, options };
        let mut tap = |_| {};
        let mut cx = Cx { now: self.now, rng: &mut self.rng, tap: &mut tap };
        ask(&mut *self.marker, &mut cx, &view, &data)
    }

    fn transmit(&mut self) {
        self.busy = false;
        while let Some(head) = self.queue.pop_front() {
            self.queued = self.queued - self.path.segment;
            let rate = self.rate();
            let sojourn = self.now.since(head.since);
            let ask = |m: &mut dyn Marker, cx: &mut Cx<'_>, v: &LinkView, d: &DataMeta| {
                m.on_dequeue(cx, v, d, sojourn)
            };
            let mark = match self.ask_marker(head.flow, head.segment, head.mark, ask) {
                Verdict::Drop => continue,
                Verdict::Mark(mark) => mark.max(head.mark),
                Verdict::Pass => head.mark,
            };
            let credit = rate.time_for(self.path.bucket);
            self.rate_clock =
                self.rate_clock.max(self.now - credit) + rate.time_for(self.path.segment);
            let free = self.rate_clock.max(self.now);
            let arrival = free + self.path.one_way;
            self.busy = true;
            self.at(free, Event::LinkFree);
            let event = Event::AtConsumer { flow: head.flow, segment: head.segment, mark };
            self.at(arrival, event);
            return;
        }
    }
}

/// The next multiple of `grid` at or after `when`.
fn on_grid(when: Time, grid: Duration) -> Time {
    if grid == Duration::ZERO { when } else { Time(when.0.div_ceil(grid.0) * grid.0) }
}

/// Runs the flows over the path until all are done or `until` has come.
pub fn run(path: Path, flows: &[Flow], seed: u64, until: Time) -> Report {
    let marker: Choice = path.marker.parse().expect("a scheme");
    let mut world = World {
        path,
        now: Time::ZERO,
        agenda: BinaryHeap::new(),
        order: 0,
        rng: Rng::stream(seed, &["link"]),
        marker: marker.marker().expect("a marker"),
        queue: VecDeque::new(),
        queued: Size::ZERO,
        busy: false,
        rate_clock: Time::ZERO,
        report: Report::default(),
    };
    let mut consumers: Vec<_> =
        flows.iter().enumerate().map(|(i, flow)| Consumer::new(*flow, &path, seed, i)).collect();
    for (flow, consumer) in flows.iter().zip(0..) {
        world.at(flow.start, Event::Wake { flow: consumer });
    }
    while let Some(Reverse((now, _, event))) = world.agenda.pop() {
        if now > until || consumers.iter().all(|c| c.outcome.took.is_some()) {
            break;
        }
        let waited = u128::from(world.queued.0) * u128::from(now.since(world.now).0);
        world.report.queue_byte_ns += waited;
        world.now = now;
        match event {
            Event::AtProducer { flow, segment } => {
                if !world.rng.chance(path.loss.get()) {
                    world.enqueue(flow, segment);
                }
            }
            Event::LinkFree => world.transmit(),
            Event::AtConsumer { flow, segment, mark } => {
                consumers[flow].inbox.push((segment, mark));
                world.at(on_grid(now, path.wakeup), Event::Wake { flow });
            }
            Event::Wake { flow } => {
                let consumer = &mut consumers[flow];
                for segment in consumer.wake(now) {
                    if !world.rng.chance(path.loss.get()) {
                        world.at(now + path.one_way, Event::AtProducer { flow, segment });
                    }
                }
                if let Some(when) = consumer.next_wake(now) {
                    let when = on_grid(when, path.wakeup);
                    world.at(when, Event::Wake { flow });
                }
            }
        }
    }
    world.report.flows = consumers.into_iter().map(Consumer::into_outcome).collect();
    world.report
}
