//! Interests under a controller: when one may leave, which were lost, when to ask again.

pub(super) mod discovery;
mod echo;
mod outage;
mod refusals;
mod trials;

use crate::fetch::error::StallCause;
use crate::fetch::flight::{Flight, Flying, Item, Launch, Place, Tolerance};
use crate::fetch::order;
use crate::fetch::range::Ranges;
use crate::fetch::reordering::Reordering;
use crate::fetch::stats::Stats;
use control::{
    Arrival, Ask, Cause, Controller, Cx, Duration, Event, InFlight, Lane, Loss, MAX_WINDOW, Memo,
    Permit, Rng, RttEstimate, Sent, Size, Time,
};
use discovery::Discoveries;
use packet::options::{Range, SegmentBits};
use packet::{HopOptions, NackReason};
use refusals::Refusals;
use std::collections::{BTreeMap, VecDeque};
use std::ops::Bound;

/// Forwarders suppress a repeated Interest that comes within 10 ms of the one before (NFD,
/// best-route, which Weir's follows) and double that with each; asking again sooner is in vain.
const REASK_AFTER: Duration = Duration::from_millis(12);
const REASK_AT_MOST: Duration = Duration::from_millis(250);
/// After a Nack the same request waits at least this long, so that a missing route is not hammered.
const AFTER_NACK: Duration = Duration::from_millis(50);
const AFTER_NACK_AT_MOST: Duration = Duration::from_secs(1);
/// The tolerance for reordering never falls below this: drivers have a granularity.
const MIN_TOLERANCE: Duration = Duration::from_millis(1);
/// A probe goes out when nothing came for this long at least.
const MIN_PROBE: Duration = Duration::from_millis(20);

/// The first probes are for what was asked for last (RFC 8985, 7.3): if the path has only paused,
/// the answer to the probe cannot be told from that to the first Interest, and what was asked for
/// before has come by then; after a probe for the oldest, all the rest would seem lost. But what
/// was asked for last may not exist.
const PROBES_AT_THE_END: u32 = 4;

/// Before this many answers nobody knows how slow the path is: then silence is longer.
const FEW: u64 = 8;
const FIRST_PROBE: Duration = Duration::from_millis(200);
/// Nor does anybody know how long the path is before the first answer. What finds the object is one
/// small packet, and goes out again sooner than RFC 6298's second: a little after the 100 ms that
/// RFC 8305, section 5, recommends as the least before another way is tried.
const DISCOVERY_PROBE: Duration = Duration::from_millis(125);

/// A request that is believed lost and waits to be sent again.
#[derive(Clone, Copy, Debug)]
struct Lost {
    attempt: u16,
    sent_at: Time,
    lane: Lane,
    memo: Memo,
    cause: Cause,
    /// When the first Interest left, if gaps alone showed losses since.
    repeats: Option<Time>,
    not_before: Time,
}

/// What an answer was to the requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It was asked for, and not answered before.
    Wanted,
    /// Nobody asked for it, or it was answered before.
    Unwanted,
}

/// A Data packet as the requests see it.
#[derive(Clone, Copy)]
pub struct Answered<'a> {
    /// What it answers.
    pub item: Item,
    /// Its size.
    pub size: Size,
    /// Its congestion mark.
    pub mark: u64,
    /// Its hop-by-hop options.
    pub options: &'a HopOptions,
}

/// All requests of a fetch, with the controller that governs them.
pub struct Requests {
    controller: Box<dyn Controller>,
    flight: Flight,
    lost: BTreeMap<Item, Lost>,
    rtt: RttEstimate,
    rng: Rng,
    tap: Box<dyn FnMut(Event) + Send>,
    reordering: Reordering,
    /// The shortest round trip of what was asked for once: a first answer may be that of a probe.
    shortest: Option<Duration>,
    /// Nothing new is left to ask for.
    at_end: bool,
    last_sign: Time,
    /// When Data came last, and how far apart they come, smoothed.
    answered_at: Time,
    spacing: Duration,
    probes: u32,
    /// The request to be sent once more.
    probe: Option<Item>,
    /// Repetitions, in the order in which they left; some may have been answered since.
    repeated: VecDeque<(Time, Item)>,
    /// When the next request may be sent twice; see [`Requests::echo`].
    echo_at: Option<Time>,
    /// How many that were no repetitions have been, and the last one when.
    echoed: u64,
    last_echo: Time,
    refusals: Refusals,
    discoveries: Discoveries,
    /// What is known of ranges.
    pub ranges: Ranges,
    /// Counters.
    pub stats: Stats,
}

impl Requests {
    /// No requests yet; `tap` receives the controller's events.
    pub fn new(
        controller: Box<dyn Controller>,
        rng: Rng,
        tap: Box<dyn FnMut(Event) + Send>,
        range: Option<u16>,
    ) -> Requests {
        Requests {
            controller,
            flight: Flight::default(),
            lost: BTreeMap::new(),
            rtt: RttEstimate::new(),
            rng,
            tap,
            reordering: Reordering::default(),
            shortest: None,
            at_end: false,
            last_sign: Time::ZERO,
            answered_at: Time::ZERO,
            spacing: Duration::ZERO,
            probes: 0,
            probe: None,
            repeated: VecDeque::new(),
            echo_at: None,
            echoed: 0,
            last_echo: Time::ZERO,
            refusals: Refusals::default(),
            discoveries: Discoveries::default(),
            ranges: Ranges::new(range),
            stats: Stats::default(),
        }
    }

    /// The controller's gauges.
    pub fn gauges(&self, out: &mut dyn FnMut(Lane, &'static str, f64)) {
        self.controller.gauges(out);
    }

    /// How many segments an Interest may ask for.
    pub fn most(&self) -> u16 {
        self.ranges.most(self.controller.range())
    }

    /// What the round-trip time is believed to be.
    pub fn rtt(&self) -> &RttEstimate {
        &self.rtt
    }

    /// Segments in flight.
    pub fn in_flight(&self) -> u32 {
        self.flight.total().segments
    }

    /// `item` is in flight, or waits to be asked for again.
    pub fn is_pending(&self, item: Item) -> bool {
        self.flight.get(item).is_some() || self.lost.contains_key(&item)
    }

    /// Nothing is in flight, and nothing waits to be asked for again.
    pub fn is_idle(&self) -> bool {
        self.lost.is_empty() && self.flight.oldest().is_none()
    }

    /// The first Interest for `item` is on its way.
    pub fn is_first(&self, item: Item) -> bool {
        self.flight.get(item).is_some_and(|flying| flying.attempt == 0)
    }

    /// A random nonce for an Interest.
    pub fn nonce(&mut self) -> u32 {
        self.rng.next_u32()
    }

    /// The first lost request behind `after` that may be sent again now, with its attempt.
    pub fn retransmission(&self, now: Time, after: Option<Item>) -> Option<(Item, u16)> {
        let from = after.map_or(Bound::Unbounded, Bound::Excluded);
        let mut lost = self.lost.range((from, Bound::Unbounded));
        if after.is_none() && self.suspended_until().is_some() {
            return self.first_refused();
        }
        lost.find(|(_, lost)| lost.not_before <= now).map(|(item, lost)| (*item, lost.attempt))
    }

    /// The attempt that asking again for `item` now would be, if it is lost and may be asked for.
    pub fn may_repeat(&self, now: Time, item: Item) -> Option<u16> {
        self.lost.get(&item).filter(|lost| lost.not_before <= now).map(|lost| lost.attempt)
    }

    /// What is to be sent once more because nothing comes, with its attempt.
    pub fn take_probe(&mut self, now: Time) -> Option<(Item, u16)> {
        let item = self.probe.take()?;
        self.send_once_more(now, item)
    }

    fn send_once_more(&mut self, now: Time, item: Item) -> Option<(Item, u16)> {
        let attempt = self.flight.probe(item, now)?;
        self.discoveries.sent(now, item, attempt);
        self.note_sent(now);
        self.stats.probes += 1;
        self.stats.counters.gaps += 1;
        self.stats.counters.interests += 1;
        self.stats.counters.retransmissions += 1;
        Some((item, attempt))
    }

    /// Asks the controller, unless as much is in flight as may be.
    pub fn permit(&self, now: Time, item: Item, count: u16, attempt: u16, segment: Size) -> Permit {
        let ask = Ask { first: item.segment(), count, attempt, segment, in_flight: &self.flight };
        if f64::from(self.flight.total().segments) + f64::from(count) > MAX_WINDOW {
            return Permit::Wait;
        }
        self.controller.permit(now, &ask)
    }

    /// An Interest for `item`, and for those of the run that begins with it that are in `run`,
    /// leaves; `each` is what a segment is expected to bring. Returns the options that travel with
    /// it.
    pub fn sent(
        &mut self,
        now: Time,
        item: Item,
        run: SegmentBits,
        lane: Lane,
        each: Size,
    ) -> HopOptions {
        let attempt = self.lost.get(&item).map_or(0, |lost| lost.attempt);
        let (first, count) = (item.segment(), run.count());
        let (before, expected) = (self.flight.total(), each.times(count));
        let sent = Sent { first, count, lane, attempt, expected, before };
        let mut cx = Cx { now, rng: &mut self.rng, tap: &mut self.tap };
        let ticket = self.controller.on_sent(&mut cx, &sent);
        let (memo, timeout) = (ticket.memo, ticket.timeout);
        for at in run.iter() {
            let place = match (at, count) {
                (_, 1) => Place::Alone,
                (0, _) => Place::First,
                _ => Place::Behind,
            };
            let expected = each;
            let launch = Launch { sent_at: now, lane, memo, attempt, expected, timeout, place };
            self.launch(now, item.behind(at), &launch);
        }
        self.last_sign = now;
        self.at_end &= attempt > 0;
        self.note_sent(now);
        self.stats.counters.interests += 1;
        let mut options = ticket.options;
        if count > 1
            && let Some(range) = Range::of(run)
        {
            options.set(&range);
        }
        options
    }

    fn launch(&mut self, now: Time, item: Item, launch: &Launch) {
        let lost = self.lost.remove(&item);
        self.discoveries.sent(now, item, launch.attempt);
        self.flight.launch(item, launch);
        if let Some(first) = lost.and_then(|lost| lost.repeats) {
            self.flight.repeats(item, first);
        }
        if launch.attempt > 0 {
            self.note_repeated(now, item);
            self.stats.counters.retransmissions += 1;
        }
    }

    /// Data came.
    pub fn answered(&mut self, now: Time, data: &Answered<'_>) -> Answer {
        let mut shows_gaps = None;
        let (flying, late) = match (self.flight.remove(data.item), self.lost.remove(&data.item)) {
            (Some(flying), _) => {
                self.ranges.answered(flying.place);
                // Of a request that was sent once more either copy may have been answered: the
                // longer time declares nothing lost too soon.
                let rtt = now.since(flying.asked_at);
                let late = self.answers_the_first(now, &flying);
                if flying.attempt == 0 && !flying.is_probe() {
                    self.shortest = Some(self.shortest.map_or(rtt, |shortest| shortest.min(rtt)));
                }
                if !late && data.item != Item::Metadata {
                    self.note_overtaken(data.item, &flying, rtt);
                    // Metadata may have been asked for once more behind what is on its way. Of a
                    // repetition it may be the first that was answered: what left between them has
                    // the time of a round trip.
                    let least = self.shortest.filter(|_| flying.attempt > 0);
                    shows_gaps = Some((flying, rtt.max(least.unwrap_or_default())));
                }
                let sent_at = flying.repeats.filter(|_| late).unwrap_or(flying.asked_at);
                ((flying.attempt, sent_at, flying.lane, flying.memo), late)
            }
            (None, Some(lost)) => {
                if lost.cause == Cause::Gap {
                    self.note_mistake(now, lost.lane, lost.sent_at);
                }
                ((lost.attempt - 1, lost.sent_at, lost.lane, lost.memo), true)
            }
            (None, None) => {
                self.stats.duplicates += 1;
                return Answer::Unwanted;
            }
        };
        let (attempt, sent_at, lane, memo) = flying;
        self.stats.counters.false_timeouts += u64::from(late);
        let rtt = self.sample(now, data.item, attempt, sent_at, late);
        self.note_answer(now);
        self.stats.counters.data += 1;
        self.stats.data_bytes += data.size.0;
        self.stats.counters.marks += u64::from(data.mark > 0);
        let segment = data.item.segment();
        self.flight.spread = self.reordering.extent();
        let arrival = Arrival {
            segment,
            lane,
            memo,
            sent_at,
            rtt,
            size: data.size,
            mark: data.mark,
            late,
            options: data.options,
            in_flight: &self.flight,
        };
        let came_in = self.controller.came_in(&arrival);
        let mut cx = Cx { now, rng: &mut self.rng, tap: &mut self.tap };
        self.controller.on_data(&mut cx, &arrival);
        if let (Some(lane), Some((flying, rtt))) = (came_in, shows_gaps) {
            let from = (lane, order::origin(data.options));
            self.flight.answered(now, &flying, from, rtt);
        }
        Answer::Wanted
    }

    /// A Nack came. Returns false if nobody waits for it.
    pub fn nacked(
        &mut self,
        now: Time,
        item: Item,
        reason: NackReason,
        options: &HopOptions,
    ) -> bool {
        let Some(flying) = self.flight.get(item).copied() else { return false };
        self.stats.counters.nacks += 1;
        self.note_bad(now, Some(reason));
        // The first of two Interests with one nonce is still on its way.
        if reason == NackReason::Duplicate {
            return true;
        }
        let shift = u32::from(flying.attempt).min(5);
        let pause = Duration(AFTER_NACK.0 << shift).min(AFTER_NACK_AT_MOST);
        self.lose(now, item, Cause::Nack(reason.number()), options);
        if let Some(lost) = self.lost.get_mut(&item) {
            lost.not_before = now + pause;
        }
        true
    }

    /// Asks again for something that came and was not what it should be.
    pub fn ask_again(&mut self, now: Time, item: Item, attempt: u16) {
        let cause = Cause::Timeout;
        // A second copy of what came already must not count as an answer to a first attempt.
        let attempt = attempt.max(2);
        let (sent_at, not_before, memo, repeats) = (now, now, [0; 2], None);
        let lost = Lost { attempt, sent_at, lane: 0, memo, cause, repeats, not_before };
        self.lost.insert(item, lost);
    }

    /// The same, after a pause that grows with the number of packets that were wrong. The first two
    /// times there is none: the next packet comes from elsewhere.
    pub fn ask_again_after_pause(&mut self, now: Time, item: Item, attempt: u16, wrong: u32) {
        self.ask_again(now, item, attempt);
        let pause = pause(u16::try_from(wrong).unwrap_or(u16::MAX));
        if let Some(lost) = self.lost.get_mut(&item).filter(|_| wrong > 2) {
            lost.not_before = now + pause;
        }
    }

    /// Asks again, after a while, for something that a producer said it does not have.
    pub fn ask_later(&mut self, now: Time, item: Item) {
        self.ask_again(now, item, 2);
        if let Some(lost) = self.lost.get_mut(&item) {
            lost.not_before = now + AFTER_NACK_AT_MOST;
        }
    }

    /// Nobody needs `item` any more.
    pub fn cancel(&mut self, item: Item) {
        self.flight.remove(item);
        self.lost.remove(&item);
    }

    /// Nobody needs anything that `unneeded` says so of.
    pub fn cancel_if(&mut self, unneeded: impl Fn(Item) -> bool) {
        let items: Vec<_> = self.flight.items().filter(|item| unneeded(*item)).collect();
        items.into_iter().for_each(|item| self.cancel(item));
        self.lost.retain(|item, _| !unneeded(*item));
    }

    /// Gives up what segments' requests are overdue: nobody promised to answer them.
    pub fn cancel_overdue_segments(&mut self, now: Time) {
        let flight = &self.flight;
        let overdue = |item: &Item| {
            let flying = flight.get(*item).filter(|_| matches!(item, Item::Segment(_)));
            flying.is_some_and(|flying| flying.deadline <= now)
        };
        let items: Vec<_> = flight.items().filter(overdue).collect();
        items.into_iter().for_each(|item| self.cancel(item));
    }

    /// Declares what is lost at `now` lost, and lets the controller's timer go off.
    pub fn on_deadline(&mut self, now: Time) {
        let none = HopOptions::new();
        while let Some(item) = self.flight.gap(now, self.tolerance()) {
            if self.is_tried(item) {
                continue;
            }
            self.stats.counters.gaps += 1;
            self.lose(now, item, Cause::Gap, &none);
        }
        while let Some(item) = self.flight.timed_out(now) {
            if self.flight.get(item).is_some_and(Flying::is_open) {
                self.reordering.tried(item, true);
                self.stats.counters.gaps += 1;
                self.lose(now, item, Cause::Gap, &none);
                continue;
            }
            if self.is_deferred(now, item) {
                continue;
            }
            self.stats.counters.timeouts += 1;
            self.lose(now, item, Cause::Timeout, &none);
        }
        if self.probe_at().is_some_and(|at| at <= now) {
            self.probes += 1;
            self.last_sign = now;
            if self.rtt.smoothed().is_some() {
                self.reordering.fell_silent();
            }
            self.probe = match self.probes {
                _ if self.flight.get(Item::Metadata).is_some() => Some(Item::Metadata),
                ..=PROBES_AT_THE_END => self.flight.newest(),
                _ => self.flight.oldest().map(|(item, _)| item),
            };
        }
        if self.controller.next_deadline().is_some_and(|at| at <= now) {
            let mut cx = Cx { now, rng: &mut self.rng, tap: &mut self.tap };
            self.controller.on_deadline(&mut cx);
        }
    }

    /// When [`Requests::on_deadline`] wants to be called, or a retransmission becomes possible.
    pub fn next_deadline(&mut self, now: Time) -> Option<Time> {
        let tolerance = self.tolerance();
        let retransmission = self.lost.values().map(|lost| lost.not_before).min();
        [
            self.flight.next_gap(tolerance),
            self.flight.next_timeout(),
            self.probe_at(),
            self.controller.next_deadline(),
            retransmission.filter(|at| *at > now),
            self.suspended_until().filter(|at| *at > now),
            self.echo_at.filter(|at| *at > now),
        ]
        .into_iter()
        .flatten()
        .min()
    }

    /// The lowest request that is unanswered, and what happened to it last.
    pub fn oldest_unanswered(&self) -> Option<(Item, StallCause)> {
        let lost = self.lost.iter().next().map(|(item, lost)| match lost.cause {
            Cause::Nack(n) => (*item, StallCause::Nack(NackReason::from(n))),
            _ => (*item, StallCause::Unanswered),
        });
        lost.or_else(|| Some((self.flight.items().next()?, StallCause::Unanswered)))
    }

    /// The controller has learned that `item` has time left.
    fn is_deferred(&mut self, now: Time, item: Item) -> bool {
        let flying = self.flight.get(item);
        let until = flying.map(|f| self.controller.overdue_at(f.lane, f.sent_at));
        until.is_some_and(|until| until > now && self.flight.defer(item, until))
    }

    fn lose(&mut self, now: Time, item: Item, cause: Cause, options: &HopOptions) {
        let Some(flying) = self.flight.remove(item) else { return };
        let segment = item.segment();
        let (lane, memo, sent_at) = (flying.lane, flying.memo, flying.asked_at);
        let loss = Loss { segment, lane, memo, sent_at, cause, options, in_flight: &self.flight };
        let mut cx = Cx { now, rng: &mut self.rng, tap: &mut self.tap };
        self.controller.on_loss(&mut cx, &loss);
        if cause == Cause::Timeout {
            self.rtt.back_off();
        }
        if matches!(cause, Cause::Gap | Cause::Timeout) {
            self.ranges.lost(flying.place);
        }
        let not_before = (flying.sent_at + pause(flying.attempt)).max(now);
        let attempt = flying.attempt.saturating_add(1);
        let first = flying.repeats.or((flying.attempt == 0).then_some(sent_at));
        let repeats = first.filter(|_| cause == Cause::Gap);
        self.lost.insert(item, Lost { attempt, sent_at, lane, memo, cause, repeats, not_before });
    }

    fn note_repeated(&mut self, now: Time, item: Item) {
        self.repeated.push_back((now, item));
        let stale = |(sent_at, item): (Time, Item)| {
            self.flight.get(item).is_none_or(|flying| flying.sent_at != sent_at)
        };
        while self.repeated.front().is_some_and(|repeated| stale(*repeated)) {
            self.repeated.pop_front();
        }
    }

    /// For how long answers may overtake an Interest. RFC 8985, 6.2, step 4: a quarter of the
    /// smallest round-trip time, or nothing where three later answers have come; more where the
    /// network was seen to reorder ([`Reordering`]).
    fn tolerance(&self) -> Tolerance {
        let window = self.reordering.window();
        let overtaken = self.least_tolerance().max(window);
        let thrice = if window == Duration::ZERO { MIN_TOLERANCE } else { overtaken };
        Tolerance { overtaken, thrice }
    }

    /// The tolerance where the network was not seen to reorder.
    fn least_tolerance(&self) -> Duration {
        Duration(self.rtt.min().unwrap_or(Duration::ZERO).0 / 4).max(MIN_TOLERANCE)
    }

    fn note_answer(&mut self, now: Time) {
        if self.stats.counters.data > 0 {
            let (before, apart) = (self.spacing.0, now.since(self.answered_at).0);
            self.spacing = Duration(before - before / 8 + apart / 8);
        }
        self.answered_at = now;
        self.last_sign = now;
        self.probes = 0;
        self.reordering.pass(now, self.rtt.smoothed().unwrap_or(Duration::ZERO));
    }

    /// RFC 8985, 7.2, with RFC 9002's 6.2.1 for the time: the oldest request is overdue, and
    /// nothing has come for longer than answers are apart.
    fn probe_at(&self) -> Option<Time> {
        if !self.controller.may_be_probed() {
            return None;
        }
        let (_, oldest) = self.flight.oldest()?;
        let Some(srtt) = self.rtt.smoothed() else {
            let silence = Duration(DISCOVERY_PROBE.0 << self.probes.min(6));
            return self.flight.get(Item::Metadata).map(|flying| flying.sent_at + silence);
        };
        let overtaken = self.tolerance().overtaken;
        let margin = Duration(self.rtt.variation().0.saturating_mul(4)).max(overtaken);
        let silence = Duration(self.spacing.0.saturating_mul(4))
            .max(MIN_PROBE)
            .max(if self.stats.counters.data < FEW { FIRST_PROBE } else { Duration::ZERO });
        let longest = RttEstimate::MAX_BACKED_OFF.max(silence);
        let silence = Duration(silence.0.saturating_mul(1 << self.probes.min(6))).min(longest);
        Some((oldest.sent_at + srtt + margin).max(self.last_sign + silence))
    }
}

/// How long to wait between two Interests for the same thing, of which `attempt` was the first.
fn pause(attempt: u16) -> Duration {
    Duration(REASK_AFTER.0 << u32::from(attempt).min(5)).min(REASK_AT_MOST)
}
