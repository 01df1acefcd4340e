//! Fetching many objects whose digests are known, such as the files of a tree, by one controller.
//!
//! Discovery is not needed: names, versions and digests come from a verified manifest. So a file of
//! one segment costs one Interest, and the window covers many files at once.
//!
//! Objects are numbered one after the other, a number for each segment: the items of all objects
//! form one sequence for the controller and the detection of losses. A large object's manifest is
//! fetched ahead of its segments, as far as the window needs.
//!
//! [`Batch::open`] adds an object that is read here and there: only the segments that
//! [`Batch::want`] names are requested, and of its manifest only the nodes above them.
//!
//! Order of calls: as for [`Fetch`](crate::fetch::Fetch). [`Batch::add`] may be called at any time.

mod object;
mod parts;
mod queue;
mod receive;
mod sink;

pub use super::known::Known;
pub use object::{Failure, Listed};
pub use sink::BatchSink;

use crate::fetch::error::StallCause;
use crate::fetch::item::Item;
use crate::fetch::requests::{Each, Requests};
use crate::fetch::stats::Stats;
use crate::fetch::timer::BatchTimer;
use control::{Controller, Duration, Event, Lane, Permit, Rng, RttEstimate, Size, Time};
use object::{Object, Progress};
use packet::interest_buf::encode_plain_interest;
use packet::options::{Exclude, SegmentBits, segments_in};
use packet::{Component, HopOptions, InterestBuf, LpHeader};
use queue::Queue;
use security::manifest::node_name;
use std::collections::BTreeMap;
use std::ops;

/// Bytes of a Data packet beside its content: about the length of a name and a digest.
const OVERHEAD: u64 = 200;
/// The number of items offered to a controller that returns [`Permit::NotThis`].
const LOOK_AHEAD: usize = 16;
/// Manifest nodes are requested while fewer segments than this, or than four windows, are known
/// that have not been requested.
const AHEAD: u64 = 1024;

/// The configuration of a batch.
pub struct BatchConfig {
    /// The lifetime of Interests.
    pub lifetime: Duration,
    /// The batch stalls after this long without progress.
    pub patience: Duration,
    /// See [`crate::fetch::FetchConfig::range`].
    pub range: Option<u16>,
    /// Selects the random streams of nonces and of the controller.
    pub seed: u64,
    /// Receives the controller's events.
    pub tap: Box<dyn FnMut(Event) + Send>,
}

/// The state of a batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BatchStatus {
    /// Objects are being fetched.
    Running,
    /// All objects added so far are complete or have failed, and nothing is wanted of open ones.
    Idle,
    /// No progress for as long as the patience lasts.
    Stalled {
        /// The time without progress.
        waited: Duration,
        /// The outcome of the last request.
        cause: StallCause,
    },
}

/// A fetch of many objects.
pub struct Batch {
    requests: Requests,
    config: BatchConfig,
    objects: BTreeMap<u64, Object>,
    /// The number of each object by the bytes of its name.
    names: BTreeMap<Box<[u8]>, u64>,
    next: u64,
    queue: Queue,
    faults: BTreeMap<Item, Fault>,
    /// Bytes of Data that were requested, as far as they can be expected.
    requested: u64,
    /// No further object will be added.
    is_last: bool,
    held: bool,
    progress_at: Option<Time>,
    paced_until: Option<Time>,
    stalled: Option<BatchStatus>,
}

/// Wrong answers and Nacks for an item.
#[derive(Default)]
struct Fault {
    forged: u32,
    nacks: u32,
    excluded: Exclude,
}

impl Batch {
    /// A batch without objects.
    #[must_use]
    pub fn new(mut config: BatchConfig, controller: Box<dyn Controller>) -> Batch {
        let rng = Rng::stream(config.seed, &["batch"]);
        let tap = std::mem::replace(&mut config.tap, Box::new(|_| {}));
        Batch {
            requests: Requests::new(controller, rng, tap, config.range),
            config,
            objects: BTreeMap::new(),
            names: BTreeMap::new(),
            next: 0,
            queue: Queue::default(),
            faults: BTreeMap::new(),
            requested: 0,
            is_last: false,
            held: false,
            progress_at: None,
            paced_until: None,
            stalled: None,
        }
    }

    /// Adds an object and returns its number. An `urgent` object is requested before the others.
    /// An object that is being fetched already is not added; the number is that of the first one.
    pub fn add(&mut self, listed: Listed, urgent: bool, sink: &mut dyn BatchSink) -> u64 {
        if let Some(number) = self.names.get(listed.name.as_ref().as_bytes()) {
            return *number;
        }
        let object = Object::new(listed);
        let begun = object.begin();
        let number = self.insert(object, sink);
        self.take(number, begun, urgent, sink);
        number
    }

    /// Adds an object of which nothing is wanted yet, and returns its number. It stays until
    /// [`Batch::cancel`], or until it fails.
    pub fn open(&mut self, listed: Listed, sink: &mut dyn BatchSink) -> u64 {
        if let Some(number) = self.names.get(listed.name.as_ref().as_bytes()) {
            return *number;
        }
        self.insert(Object::in_parts(listed), sink)
    }

    /// Requests segments of an open object, each only once until it arrives. `urgent`: a reader
    /// waits for them. Returns false if there is no such object.
    pub fn want(&mut self, number: u64, segments: ops::Range<u64>, urgent: bool) -> bool {
        let Some(object) = self.objects.get_mut(&number) else { return false };
        let again = object.want(segments, urgent);
        for run in again.into_iter().filter(|_| urgent) {
            self.queue.promote(&(number + run.start..number + run.end));
        }
        self.take_parts(number);
        true
    }

    fn insert(&mut self, object: Object, sink: &mut dyn BatchSink) -> u64 {
        let number = self.next;
        // All numbers together must fit, however large a hostile list says that its objects are.
        let Some(next) = self.next.checked_add(object.numbers()) else {
            sink.failed(number, Failure::Inconsistent);
            return number;
        };
        self.next = next;
        self.names.insert(object.name().as_ref().as_bytes().into(), number);
        self.objects.insert(number, object);
        number
    }

    /// Queues the wanted items of an object that may be requested now.
    fn take_parts(&mut self, number: u64) {
        let Some(object) = self.objects.get_mut(&number) else { return };
        let ready = object.ready();
        for (node, urgent) in ready.nodes {
            match urgent {
                true if self.requests.is_pending(Item::Node(number + node)) => {}
                true => self.queue.add_urgent_node(number + node),
                false => self.queue.add_nodes(number + node..number + node + 1),
            }
        }
        for (run, urgent) in ready.segments {
            self.queue.add(number + run.start..number + run.end, urgent);
        }
    }

    /// True if nothing of an open object is wanted at present.
    #[must_use]
    pub fn is_unwanted(&self, number: u64) -> bool {
        self.objects.get(&number).is_none_or(Object::is_idle)
    }

    /// The number of the next object that is added, for a sink that is called during
    /// [`Batch::add`].
    #[must_use]
    pub fn next_number(&self) -> u64 {
        self.next
    }

    /// Forgets an object that is no longer wanted.
    pub fn cancel(&mut self, number: u64) {
        let Some(object) = self.remove(number) else { return };
        let numbers = number..number.saturating_add(object.numbers());
        self.requests.cancel_if(|item| numbers.contains(&item.number()));
        self.faults.retain(|item, _| !numbers.contains(&item.number()));
        self.queue.remove(numbers);
    }

    /// Removes an object. If it is complete, nothing of it is queued or in flight.
    fn remove(&mut self, number: u64) -> Option<Object> {
        let object = self.objects.remove(&number)?;
        self.names.remove(object.name().as_ref().as_bytes());
        Some(object)
    }

    /// Declares that no further object will be added, or that there may be more.
    pub fn set_last(&mut self, is_last: bool) {
        self.is_last = is_last;
    }

    /// Sends no Interests while `held`, because the sink is slower than the network.
    pub fn hold(&mut self, now: Time, held: bool) {
        if self.held && !held {
            self.progress_at = self.progress_at.map(|_| now);
        }
        self.held = held;
    }

    /// Sets the number of bytes that may be requested from `now` on, for a driver that limits the
    /// rate and calls this before each [`Batch::poll_transmit`]. The time without an allowance does
    /// not count against the patience. Without this call there is no limit.
    pub fn set_allowance(&mut self, now: Time, bytes: Size) {
        let since = self.progress_at;
        let later = self.requests.allowance().set(now, bytes, since.unwrap_or(now));
        self.progress_at = since.map(|_| later);
    }

    /// The number of segments that are known and have not been requested.
    #[must_use]
    pub fn waiting(&self) -> u64 {
        self.queue.segments()
    }

    /// The number of objects that are neither complete nor failed.
    #[must_use]
    pub fn objects(&self) -> usize {
        self.objects.len()
    }

    /// The number of requests in flight.
    #[must_use]
    pub fn in_flight(&self) -> u32 {
        self.requests.in_flight()
    }

    /// Bytes of Data that were requested so far, repetitions included, as far as sizes can be
    /// expected. A driver that limits the rate counts these.
    #[must_use]
    pub fn requested(&self) -> u64 {
        self.requested
    }

    /// The counters.
    #[must_use]
    pub fn stats(&self) -> &Stats {
        self.requests.stats()
    }

    /// The round-trip time estimate.
    #[must_use]
    pub fn rtt(&self) -> &RttEstimate {
        self.requests.rtt()
    }

    /// The controller's gauges.
    pub fn gauges(&self, out: &mut dyn FnMut(Lane, &'static str, f64)) {
        self.requests.gauges(out);
    }

    /// See [`crate::fetch::Fetch::set_ranges`].
    pub fn set_ranges(&mut self, answered: bool) {
        self.requests.hold_ranges(!answered);
    }

    /// The state of the batch.
    #[must_use]
    pub fn status(&self) -> BatchStatus {
        match &self.stalled {
            Some(stalled) => stalled.clone(),
            None if self.is_idle() => BatchStatus::Idle,
            None => BatchStatus::Running,
        }
    }

    fn is_idle(&self) -> bool {
        self.objects.values().all(Object::is_idle)
    }

    /// Continues over a new connection; see [`crate::fetch::Fetch::reconnected`].
    pub fn reconnected(&mut self, now: Time) {
        self.paced_until = None;
        self.progress_at = self.progress_at.map(|_| now);
        self.requests.restart(now, true);
    }

    /// Appends the next Interest, as a link-layer frame, and returns true. Returns false if no
    /// Interest may leave now.
    pub fn poll_transmit(&mut self, now: Time, out: &mut Vec<u8>) -> bool {
        if self.stalled.is_some() || self.is_idle() {
            // The patience begins with the first request after an idle time.
            self.progress_at = None;
            return false;
        }
        self.progress_at.get_or_insert(now);
        if self.held || self.requests.is_limited() || !self.requests.may_leave(now) {
            return false;
        }
        if let Some((item, _)) = self.requests.take_probe(now) {
            self.encode(item, &HopOptions::new(), out);
            return true;
        }
        self.paced_until = None;
        let (mut after, mut skipped) = (None, 0);
        for _ in 0..LOOK_AHEAD {
            let repeated = self.requests.retransmission(now, after).filter(|_| skipped == 0);
            let next = repeated.or_else(|| self.fresh(skipped).map(|item| (item, 0)));
            let Some((item, attempt)) = next else {
                return self.echo(now, out);
            };
            let mut run = self.run_from(item, attempt);
            let expected = self.expected(item);
            match self.requests.permit(now, item, attempt, expected, &mut run) {
                Permit::Now(lane) => {
                    let each = Each { expected, stated: None };
                    let options = self.requests.sent(now, item, run, lane, each);
                    run.iter().for_each(|at| self.queue.take(item.behind(at)));
                    self.encode(item, &options, out);
                    return true;
                }
                Permit::NotThis if attempt > 0 => after = Some(item),
                Permit::NotThis => skipped += 1,
                Permit::At(at) => {
                    self.paced_until = Some(at);
                    return false;
                }
                Permit::Wait => return false,
            }
        }
        false
    }

    /// The next item that has never been requested, after `skipped` others.
    fn fresh(&self, skipped: usize) -> Option<Item> {
        let window = u64::from(self.requests.in_flight()).saturating_mul(4);
        self.queue.nth(skipped, AHEAD.max(window))
    }

    /// The segments to request together with `item`, as distances from it; 0 is included.
    fn run_from(&self, item: Item, attempt: u16) -> SegmentBits {
        let (Item::Segment(first), 0) = (item, attempt) else { return SegmentBits::first(1) };
        if self.requests.most() == 1 {
            return SegmentBits::first(1);
        }
        let Some((number, _)) = self.object_of(first) else { return SegmentBits::first(1) };
        let most = self.requests.most_from(first - number);
        let run = self.queue.run_from(first);
        SegmentBits::first(most.min(u16::try_from(run).unwrap_or(most)).max(1))
    }

    /// Appends a request to send twice, if nothing else is left to request.
    fn echo(&mut self, now: Time, out: &mut Vec<u8>) -> bool {
        if !self.is_last || !self.queue.is_empty() {
            return false;
        }
        let Some((item, _)) = self.requests.echo(now) else { return false };
        self.encode(item, &HopOptions::new(), out);
        true
    }

    /// The expected size of the Data of `item`.
    fn expected(&self, item: Item) -> Size {
        let found = self.object_of(item.number());
        let content = found.map_or(0, |(number, object)| match item {
            Item::Segment(n) => object.len_of(n - number),
            Item::Node(_) | Item::Metadata => object.node_len(),
        });
        Size(content.saturating_add(OVERHEAD))
    }

    /// The object to which a number belongs, with its own number.
    fn object_of(&self, number: u64) -> Option<(u64, &Object)> {
        let (first, object) = self.objects.range(..=number).next_back()?;
        (number - first < object.numbers()).then_some((*first, object))
    }

    /// Appends the Interest for `item`.
    fn encode(&mut self, item: Item, options: &HopOptions, out: &mut Vec<u8>) {
        let nonce = self.requests.nonce();
        let lifetime = self.config.lifetime.as_millis().max(1);
        let expected = self.expected(item).0;
        let Some((number, object)) = self.object_of(item.number()) else { return };
        let start = out.len();
        let mut options = options.clone();
        let fault = self.faults.get(&item).filter(|fault| fault.forged > 0);
        // After a forged packet, the digest in the name excludes all others.
        let digest =
            fault.and_then(|_| object.expected(item, number)).map(Component::implicit_digest);
        let name = match item {
            Item::Node(n) => node_name(object.name().as_ref(), n - number),
            Item::Segment(n) => object.name().clone().with(&Component::segment(n - number)),
            Item::Metadata => return,
        };
        match digest {
            Some(digest) => {
                encode_plain_interest(name.as_ref(), digest.as_ref(), nonce, lifetime, out);
            }
            None => {
                let (nonce, lifetime_ms) = (Some(nonce), Some(lifetime));
                InterestBuf { nonce, lifetime_ms, ..InterestBuf::new(name) }.encode_into(out);
                if let Some(fault) = fault {
                    options.set(&fault.excluded);
                }
            }
        }
        let count = segments_in(&options);
        if !options.is_empty() {
            let interest = out.split_off(start);
            LpHeader { options, ..LpHeader::default() }.encode_into(&interest, out);
        }
        self.requested = self.requested.saturating_add(expected.saturating_mul(count.into()));
    }

    /// The instant at which to call [`Batch::on_deadline`].
    #[must_use]
    pub fn next_deadline(&mut self, now: Time) -> Option<Time> {
        if self.stalled.is_some() || self.is_idle() {
            return None;
        }
        BatchTimer::ALL.into_iter().filter_map(|timer| self.due(timer, now)).min()
    }

    /// Handles the timers that have expired.
    pub fn on_deadline(&mut self, now: Time) {
        for timer in BatchTimer::ALL {
            if self.due(timer, now).is_some_and(|at| at <= now) {
                self.on_timer(timer, now);
            }
        }
    }

    /// The instant at which `timer` expires; `None` if it is not set.
    fn due(&mut self, timer: BatchTimer, now: Time) -> Option<Time> {
        match timer {
            BatchTimer::Pacing => self.paced_until,
            BatchTimer::Requests => self.requests.next_deadline(now),
            BatchTimer::Patience => self.patience_ends(),
        }
    }

    fn on_timer(&mut self, timer: BatchTimer, now: Time) {
        match timer {
            BatchTimer::Pacing => self.paced_until = None,
            BatchTimer::Requests => self.requests.on_deadline(now),
            BatchTimer::Patience => {
                let waited = now.since(self.progress_at.unwrap_or(now));
                let unanswered = self.requests.oldest_unanswered();
                let cause = unanswered.map_or(StallCause::Unanswered, |(_, cause)| cause);
                self.stalled = Some(BatchStatus::Stalled { waited, cause });
            }
        }
    }

    fn patience_ends(&self) -> Option<Time> {
        let is_held = self.held || self.requests.is_limited();
        let waits = self.progress_at.filter(|_| !is_held && !self.is_idle());
        waits.map(|at| at + self.config.patience)
    }

    /// Follows up progress of an object: what it needs is queued, what is complete is reported.
    fn take(&mut self, number: u64, progress: Progress, urgent: bool, sink: &mut dyn BatchSink) {
        let Some(object) = self.objects.get_mut(&number) else { return };
        if progress.parts {
            return self.take_parts(number);
        }
        if let Some(run) = progress.segments {
            let digests = object.digests_of(run.clone());
            let present = sink.present(number, run.start, &digests);
            for missing in object.mark_present(run, &present) {
                self.queue.add(number + missing.start..number + missing.end, urgent);
            }
        }
        self.queue
            .add_nodes(progress.nodes.map_or(0..0, |run| number + run.start..number + run.end));
        if object.is_complete() {
            self.remove(number);
            sink.complete(number);
        }
    }
}
