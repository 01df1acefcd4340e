//! Interests under a controller: when one may leave, which were lost, when to ask again.

mod echo;
mod lost;
mod refusals;
pub(super) mod round_trips;
mod silence;
mod trials;

use crate::fetch::error::StallCause;
use crate::fetch::flight::{Flight, Flying, Item, Launch, Place, Tolerance};
use crate::fetch::order;
use crate::fetch::range::Ranges;
use crate::fetch::reordering::Reordering;
use crate::fetch::stats::Stats;
use crate::fetch::timer::RequestTimer;
use control::{
    Arrival, Ask, Cause, Controller, Cx, Duration, Event, InFlight, Lane, Loss, MAX_WINDOW, Memo,
    Permit, Rng, RttEstimate, Sent, Size, Time,
};
use echo::Echoes;
use lost::{Lost, LostRequests};
use packet::options::{Range, SegmentBits};
use packet::{HopOptions, NackReason};
use refusals::Refusals;
use round_trips::RoundTrips;
use silence::Silence;

/// Forwarders suppress a repeated Interest that comes within 10 ms of the one before (NFD,
/// best-route, which Weir's follows) and double that with each; asking again sooner is in vain.
const REASK_AFTER: Duration = Duration::from_millis(12);
const REASK_AT_MOST: Duration = Duration::from_millis(250);
/// After a Nack the same request waits at least this long, so that a missing route is not hammered.
const AFTER_NACK: Duration = Duration::from_millis(50);
const AFTER_NACK_AT_MOST: Duration = Duration::from_secs(1);
/// The tolerance for reordering never falls below this: drivers have a granularity.
const MIN_TOLERANCE: Duration = Duration::from_millis(1);
/// The meaning of an answer for the requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It was asked for, and not answered before.
    Wanted,
    /// Not requested, or answered before.
    Unwanted,
}

/// A Data packet as the requests see it.
#[derive(Clone, Copy)]
pub struct Answered<'a> {
    /// The request that it answers.
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
    lost: LostRequests,
    round_trips: RoundTrips,
    rng: Rng,
    tap: Box<dyn FnMut(Event) + Send>,
    reordering: Reordering,
    silence: Silence,
    echoes: Echoes,
    refusals: Refusals,
    ranges: Ranges,
    stats: Stats,
}

/// The Interest that an answer is for.
struct Answering {
    attempt: u16,
    sent_at: Time,
    lane: Lane,
    memo: Memo,
    /// The Interest was declared lost before.
    late: bool,
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
            lost: LostRequests::default(),
            round_trips: RoundTrips::new(),
            rng,
            tap,
            reordering: Reordering::default(),
            silence: Silence::new(),
            echoes: Echoes::default(),
            refusals: Refusals::default(),
            ranges: Ranges::new(range),
            stats: Stats::default(),
        }
    }

    /// Counters.
    pub fn stats(&self) -> &Stats {
        &self.stats
    }

    /// Counters, for what is no matter of requests.
    pub fn stats_mut(&mut self) -> &mut Stats {
        &mut self.stats
    }

    /// The state of range requests.
    pub fn ranges(&self) -> &Ranges {
        &self.ranges
    }

    /// Asks one by one while `held`.
    pub fn hold_ranges(&mut self, held: bool) {
        self.ranges.hold(held);
    }

    /// The controller's gauges.
    pub fn gauges(&self, out: &mut dyn FnMut(Lane, &'static str, f64)) {
        self.controller.gauges(out);
    }

    /// How many segments an Interest may ask for.
    pub fn most(&self) -> u16 {
        self.ranges.most(self.controller.range())
    }

    /// The estimate of the round-trip time.
    pub fn rtt(&self) -> &RttEstimate {
        self.round_trips.estimate()
    }

    /// Segments in flight.
    pub fn in_flight(&self) -> u32 {
        self.flight.total().segments
    }

    /// `item` is in flight, or waits to be asked for again.
    pub fn is_pending(&self, item: Item) -> bool {
        self.flight.get(item).is_some() || self.lost.get(item).is_some()
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
        if after.is_none() && self.refusals.suspended_until().is_some() {
            return self.lost.first_in_turn();
        }
        self.lost.first_ready(now, after)
    }

    /// The attempt that asking again for `item` now would be, if it is lost and may be asked for.
    pub fn may_repeat(&self, now: Time, item: Item) -> Option<u16> {
        self.lost.get(item).filter(|lost| lost.not_before <= now).map(|lost| lost.attempt)
    }

    /// An Interest may leave now, as far as earlier answers are concerned.
    pub fn may_leave(&self, now: Time) -> bool {
        self.refusals.allows(now, self.in_flight())
    }

    /// The request to be sent once more because nothing comes, with its attempt.
    pub fn take_probe(&mut self, now: Time) -> Option<(Item, u16)> {
        let item = self.silence.take_probe()?;
        self.send_once_more(now, item)
    }

    fn send_once_more(&mut self, now: Time, item: Item) -> Option<(Item, u16)> {
        let attempt = self.flight.probe(item, now)?;
        self.round_trips.sent(now, item, attempt);
        self.refusals.sent(now);
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
        let attempt = self.lost.get(item).map_or(0, |lost| lost.attempt);
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
        self.silence.sent(now);
        if attempt == 0 {
            self.echoes.new_request();
        }
        self.refusals.sent(now);
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
        let lost = self.lost.remove(item);
        self.round_trips.sent(now, item, launch.attempt);
        self.flight.launch(item, launch);
        if let Some(first) = lost.and_then(|lost| lost.repeats) {
            self.flight.repeats(item, first);
        }
        if launch.attempt > 0 {
            self.echoes.repeated(now, item, &self.flight);
            self.stats.counters.retransmissions += 1;
        }
    }

    /// Data came.
    pub fn answered(&mut self, now: Time, data: &Answered<'_>) -> Answer {
        let mut shows_gaps = None;
        let sent = match (self.flight.remove(data.item), self.lost.remove(data.item)) {
            (Some(flying), _) => {
                self.ranges.answered(flying.place);
                // Of a request that was sent once more either copy may have been answered: the
                // longer time declares nothing lost too soon.
                let rtt = now.since(flying.asked_at);
                let late = self.answers_the_first(now, &flying);
                if flying.attempt == 0 && !flying.is_probe() {
                    self.round_trips.answered_once(rtt);
                }
                if !late && data.item != Item::Metadata {
                    self.note_overtaken(data.item, &flying, rtt);
                    // Metadata may have been asked for once more behind what is on its way. Of a
                    // repetition it may be the first that was answered: what left between them has
                    // the time of a round trip.
                    let least = self.round_trips.shortest().filter(|_| flying.attempt > 0);
                    shows_gaps = Some((flying, rtt.max(least.unwrap_or_default())));
                }
                let sent_at = flying.repeats.filter(|_| late).unwrap_or(flying.asked_at);
                let Flying { attempt, lane, memo, .. } = flying;
                Answering { attempt, sent_at, lane, memo, late }
            }
            (None, Some(Lost { attempt, sent_at, lane, memo, cause, .. })) => {
                if cause == Cause::Gap {
                    self.note_mistake(now, lane, sent_at);
                }
                Answering { attempt: attempt - 1, sent_at, lane, memo, late: true }
            }
            (None, None) => {
                self.stats.duplicates += 1;
                return Answer::Unwanted;
            }
        };
        self.stats.counters.false_timeouts += u64::from(sent.late);
        let rtt = self.round_trips.sample(now, data.item, &sent);
        if let Some(rtt) = rtt.filter(|_| sent.attempt == 0) {
            self.stats.rtt.add(rtt);
        }
        self.silence.answered(now);
        let srtt = self.rtt().smoothed().unwrap_or(Duration::ZERO);
        self.reordering.pass(now, srtt);
        self.stats.counters.data += 1;
        self.stats.data_bytes += data.size.0;
        self.stats.counters.marks += u64::from(data.mark > 0);
        let segment = data.item.segment();
        self.flight.spread = self.reordering.extent();
        let arrival = Arrival {
            segment,
            lane: sent.lane,
            memo: sent.memo,
            sent_at: sent.sent_at,
            rtt,
            size: data.size,
            mark: data.mark,
            late: sent.late,
            options: data.options,
            in_flight: &self.flight,
        };
        let came_in = self.controller.came_in(&arrival);
        let mut cx = Cx { now, rng: &mut self.rng, tap: &mut self.tap };
        self.controller.on_data(&mut cx, &arrival);
        if let (Some(lane), Some((flying, rtt))) = (came_in, shows_gaps) {
            self.flight.answered(now, &flying, lane, order::origin(data.options), rtt);
        }
        Answer::Wanted
    }

    /// A Nack has arrived. Returns false if it matches no request.
    pub fn nacked(
        &mut self,
        now: Time,
        item: Item,
        reason: NackReason,
        options: &HopOptions,
    ) -> bool {
        let Some(flying) = self.flight.get(item).copied() else { return false };
        self.stats.counters.nacks += 1;
        self.refusals.bad(now, Some(reason));
        // The first of two Interests with one nonce is still on its way.
        if reason == NackReason::Duplicate {
            return true;
        }
        let shift = u32::from(flying.attempt).min(5);
        let pause = Duration(AFTER_NACK.0 << shift).min(AFTER_NACK_AT_MOST);
        self.lose(now, item, Cause::Nack(reason.number()), options);
        self.lost.hold(item, now + pause);
        true
    }

    /// Data came and is good.
    pub fn note_good(&mut self, now: Time) {
        if self.refusals.good(self.in_flight()) {
            // The producer answers again.
            self.lost.release_refused(now);
        }
    }

    /// A Nack came for this reason, or, without one, Data that is no good.
    pub fn note_bad(&mut self, now: Time, reason: Option<NackReason>) {
        self.refusals.bad(now, reason);
    }

    /// Asks again for something that came and was not what it should be.
    pub fn ask_again(&mut self, now: Time, item: Item, attempt: u16) {
        self.lost.ask_again(now, item, attempt);
    }

    /// The same, after a pause that grows with the number of packets that were wrong.
    pub fn ask_again_after_pause(&mut self, now: Time, item: Item, attempt: u16, wrong: u32) {
        self.lost.ask_again(now, item, attempt);
        self.lost.hold_wrong(now, item, wrong);
    }

    /// Asks again, after a while, for something that a producer said it does not have.
    pub fn ask_later(&mut self, now: Time, item: Item) {
        self.lost.ask_again(now, item, 2);
        self.lost.hold(item, now + AFTER_NACK_AT_MOST);
    }

    /// `item` is not needed any more.
    pub fn cancel(&mut self, item: Item) {
        self.flight.remove(item);
        self.lost.remove(item);
    }

    /// Items for which `unneeded` is true are not needed any more.
    pub fn cancel_if(&mut self, unneeded: impl Fn(Item) -> bool) {
        let items: Vec<_> = self.flight.items().filter(|item| unneeded(*item)).collect();
        items.into_iter().for_each(|item| self.cancel(item));
        self.lost.remove_if(unneeded);
    }

    /// Gives up overdue requests for segments that have no promise of an answer.
    pub fn cancel_overdue_segments(&mut self, now: Time) {
        let flight = &self.flight;
        let overdue = |item: &Item| {
            let flying = flight.get(*item).filter(|_| matches!(item, Item::Segment(_)));
            flying.is_some_and(|flying| flying.deadline <= now)
        };
        let items: Vec<_> = flight.items().filter(overdue).collect();
        items.into_iter().for_each(|item| self.cancel(item));
    }

    /// The connection that requests left by has broken. Nothing that is in flight will be answered.
    /// If `again`, all of it waits to be asked for again from `now` on; otherwise it is dropped.
    pub fn restart(&mut self, now: Time, again: bool) {
        let items: Vec<Item> = self.flight.items().collect();
        for item in items {
            if let Some(flying) = self.flight.remove(item).filter(|_| again) {
                self.lost.ask_again(now, item, flying.attempt.saturating_add(1));
            }
        }
        match again {
            // Pauses were meant for the old forwarder.
            true => self.lost.release_all(now),
            false => self.lost.clear(),
        }
        self.refusals = Refusals::default();
        self.echoes.restart();
        self.silence.restart(now);
        // Another forwarder may be in the old one's place, and understand less.
        self.ranges = Ranges::new(self.ranges.wish());
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
            self.silence.choose_probe(now, &self.flight);
            if self.rtt().smoothed().is_some() {
                self.reordering.fell_silent();
            }
        }
        if self.controller.next_deadline().is_some_and(|at| at <= now) {
            let mut cx = Cx { now, rng: &mut self.rng, tap: &mut self.tap };
            self.controller.on_deadline(&mut cx);
        }
    }

    /// When a timer is due; a pause that is over is none.
    pub fn due(&mut self, timer: RequestTimer, now: Time) -> Option<Time> {
        match timer {
            RequestTimer::Gap => self.flight.next_gap(self.tolerance()),
            RequestTimer::TimeOut => self.flight.next_timeout(),
            RequestTimer::Probe => self.probe_at(),
            RequestTimer::Controller => self.controller.next_deadline(),
            RequestTimer::Retransmission => self.lost.next_ready().filter(|at| *at > now),
            RequestTimer::Suspension => self.refusals.suspended_until().filter(|at| *at > now),
            RequestTimer::Echo => self.echoes.due().filter(|at| *at > now),
        }
    }

    /// The lowest request that is unanswered, and what happened to it last.
    pub fn oldest_unanswered(&self) -> Option<(Item, StallCause)> {
        let flying = || Some((self.flight.items().next()?, StallCause::Unanswered));
        self.lost.lowest().or_else(flying)
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
            self.round_trips.back_off();
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
        Duration(self.rtt().min().unwrap_or(Duration::ZERO).0 / 4).max(MIN_TOLERANCE)
    }

    fn probe_at(&self) -> Option<Time> {
        if !self.controller.may_be_probed() {
            return None;
        }
        self.silence.probe_at(&self.flight, self.rtt(), self.tolerance().overtaken)
    }
}

/// How long to wait between two Interests for the same thing, of which `attempt` was the first.
fn pause(attempt: u16) -> Duration {
    Duration(REASK_AFTER.0 << u32::from(attempt).min(5)).min(REASK_AT_MOST)
}
