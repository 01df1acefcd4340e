//! Interests under a controller: permission to send, detection of losses, and retransmission.

mod echo;
mod lost;
mod pause;
mod permission;
pub(super) mod round_trips;
mod silence;
mod suspension;
mod trials;

use crate::fetch::allowance::Allowance;
use crate::fetch::error::StallCause;
use crate::fetch::flight::{Flight, Flying, Launch, Place};
use crate::fetch::item::Item;
use crate::fetch::order;
use crate::fetch::range::{self, Ranges};
use crate::fetch::reordering::Reordering;
use crate::fetch::stats::Stats;
use crate::fetch::timer::RequestTimer;
use control::{
    Arrival, Cause, Controller, Cx, Duration, Event, InFlight, Lane, Loss, Rng, RttEstimate, Sent,
    Size, Time,
};
use echo::{EchoInput, Echoes};
use lost::{Lost, LostRequests};
use packet::options::SegmentBits;
use packet::{HopOptions, NackReason};
use pause::{AFTER_NACK_AT_MOST, after_nack, pause};
use round_trips::{Answering, LONGEST_FIRST, RoundTrips};
use silence::Silence;
use suspension::TransferSuspension;

/// The size of one Data packet that an Interest asks for.
#[derive(Clone, Copy, Debug)]
pub struct Each {
    /// As far as can be guessed.
    pub expected: Size,
    /// By the metadata, as long as no segment has come.
    pub stated: Option<Size>,
}

/// The relation of a Data packet to the requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It answers a request that had no answer.
    Wanted,
    /// It was not requested, or the request has been answered.
    Unwanted,
}

/// The properties of a Data packet that concern its request.
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
    suspension: TransferSuspension,
    ranges: Ranges,
    allowance: Allowance,
    stats: Stats,
}

impl Requests {
    /// Creates the state without requests. `tap` receives the controller's events; `range` is
    /// [`crate::fetch::FetchConfig::range`].
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
            suspension: TransferSuspension::default(),
            ranges: Ranges::new(range),
            allowance: Allowance::default(),
            stats: Stats::default(),
        }
    }

    /// The counters of the fetch.
    pub fn stats(&self) -> &Stats {
        &self.stats
    }

    /// The counters of the fetch, for events outside this module.
    pub fn stats_mut(&mut self) -> &mut Stats {
        &mut self.stats
    }

    /// The state of range requests.
    pub fn ranges(&self) -> &Ranges {
        &self.ranges
    }

    /// Requests segments one by one while `held` is true.
    pub fn hold_ranges(&mut self, held: bool) {
        self.ranges.hold(held);
    }

    /// The controller's gauges.
    pub fn gauges(&self, out: &mut dyn FnMut(Lane, &'static str, f64)) {
        self.controller.gauges(out);
    }

    /// The round-trip time estimate.
    pub fn rtt(&self) -> &RttEstimate {
        self.round_trips.estimate()
    }

    /// The number of items in flight.
    pub fn in_flight(&self) -> u32 {
        self.flight.total().segments
    }

    /// True if `item` is in flight or waits for retransmission.
    pub fn is_pending(&self, item: Item) -> bool {
        self.flight.get(item).is_some() || self.lost.get(item).is_some()
    }

    /// True if nothing is in flight and nothing waits for retransmission.
    pub fn is_idle(&self) -> bool {
        self.lost.is_empty() && self.flight.oldest().is_none()
    }

    /// True if the first Interest for `item` is in flight.
    pub fn is_first(&self, item: Item) -> bool {
        self.flight.get(item).is_some_and(|flying| flying.attempt == 0)
    }

    /// A random nonce for an Interest.
    pub fn nonce(&mut self) -> u32 {
        self.rng.next_u32()
    }

    /// The first lost request after `after` that may be sent again now, with its attempt number.
    /// While the transfer is suspended, pauses of single requests do not apply.
    pub fn retransmission(&self, now: Time, after: Option<Item>) -> Option<(Item, u16)> {
        if after.is_none() && self.suspension.suspended_until().is_some() {
            return self.lost.first_in_turn();
        }
        self.lost.first_ready(now, after)
    }

    /// The attempt number of a retransmission of `item`, if it is lost and its pause is over.
    pub fn may_repeat(&self, now: Time, item: Item) -> Option<u16> {
        self.lost.get(item).filter(|lost| lost.not_before <= now).map(|lost| lost.attempt)
    }

    /// True unless earlier Nacks or wrong answers forbid an Interest now: [`TransferSuspension`].
    pub fn may_leave(&self, now: Time) -> bool {
        self.suspension.allows(now, self.in_flight())
    }

    /// The request to send as a probe, with its attempt number.
    pub fn take_probe(&mut self, now: Time) -> Option<(Item, u16)> {
        let item = self.silence.take_probe()?;
        self.send_once_more(now, item)
    }

    fn send_once_more(&mut self, now: Time, item: Item) -> Option<(Item, u16)> {
        let attempt = self.flight.probe(item, now)?;
        self.round_trips.sent(now, item, attempt);
        self.suspension.sent(now);
        self.stats.probes += 1;
        self.stats.counters.gaps += 1;
        self.stats.counters.interests += 1;
        self.stats.counters.retransmissions += 1;
        Some((item, attempt))
    }

    /// The next request to send twice, with its attempt number. Call it when all items have been
    /// requested: from then on a loss costs a round trip in which nothing else is sent.
    ///
    /// These requests are sent twice:
    ///
    /// - the Interest left open for a trial (see [`crate::fetch::reordering`]);
    /// - each retransmission;
    /// - an item sent twice of which one Interest is lost, so that two remain in flight;
    /// - on a lossy path, the last first Interests, no faster than answers arrive ("gentle
    ///   aggression": T. Flach and others, Reducing Web Latency, SIGCOMM 2013).
    pub fn echo(&mut self, now: Time) -> Option<(Item, u16)> {
        self.echoes.reach_end();
        let item = match self.open() {
            Some(item) => item,
            None => {
                let open = EchoInput {
                    flight: &self.flight,
                    rtt: self.round_trips.estimate(),
                    tolerance: self.tolerance(),
                    stats: &self.stats,
                    spacing: self.silence.spacing(),
                };
                self.echoes.next(now, &open)?
            }
        };
        self.send_once_more(now, item)
    }

    /// The bytes that the driver allows.
    pub fn allowance(&mut self) -> &mut Allowance {
        &mut self.allowance
    }

    /// True if the driver allows no Interest.
    pub fn is_limited(&self) -> bool {
        self.allowance.is_spent()
    }

    /// Records the sending of an Interest for the items of `run`, which are distances from `item`.
    /// Returns the hop-by-hop options to send with the Interest.
    pub fn sent(
        &mut self,
        now: Time,
        item: Item,
        run: SegmentBits,
        lane: Lane,
        each: Each,
    ) -> HopOptions {
        let attempt = self.lost.get(item).map_or(0, |lost| lost.attempt);
        let (first, count) = (item.segment(), run.count());
        let (before, expected) = (self.flight.total(), each.expected.times(count));
        let stated = each.stated.map(|size| size.times(count));
        let sent = Sent { first, count, lane, attempt, expected, stated, before };
        let mut cx = Cx { now, rng: &mut self.rng, tap: &mut self.tap };
        let ticket = self.controller.on_sent(&mut cx, &sent);
        let (memo, timeout) = (ticket.memo, ticket.timeout);
        for at in run.iter() {
            let place = match (at, count) {
                (_, 1) => Place::Alone,
                (0, _) => Place::First,
                _ => Place::Behind,
            };
            let expected = each.expected;
            let launch = Launch { sent_at: now, lane, memo, attempt, expected, timeout, place };
            self.launch(now, item.behind(at), &launch);
        }
        self.silence.sent(now);
        if attempt == 0 {
            self.echoes.new_request();
        }
        self.suspension.sent(now);
        self.stats.counters.interests += 1;
        let mut options = ticket.options;
        range::state(run, &mut options);
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

    /// Records the arrival of a Data packet.
    pub fn answered(&mut self, now: Time, data: &Answered<'_>) -> Answer {
        let mut shows_gaps = None;
        let sent = match (self.flight.remove(data.item), self.lost.remove(data.item)) {
            (Some(flying), _) => {
                self.ranges.answered(flying.place);
                // If the request was sent twice, this may answer either Interest. The longer
                // round trip is used, so that nothing is declared lost too early.
                let rtt = now.since(flying.asked_at);
                let late = self.answers_the_first(now, &flying);
                if flying.attempt == 0 && !flying.is_probe() {
                    self.round_trips.answered_once(rtt);
                }
                if !late && data.item != Item::Metadata {
                    self.note_overtaken(data.item, &flying, rtt);
                    // Metadata is excepted: its latest Interest may have left after others that are
                    // in flight. An answer to a retransmission may belong to the first Interest, so
                    // Interests sent between the two get a full round trip.
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
        self.stats.counters.false_losses += u64::from(sent.late);
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
        self.note_spread(now, sent.lane, now.since(sent.sent_at), data.options);
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

    /// Records the arrival of a Nack. Returns false if it matches no request in flight.
    pub fn nacked(
        &mut self,
        now: Time,
        item: Item,
        reason: NackReason,
        options: &HopOptions,
    ) -> bool {
        let Some(flying) = self.flight.get(item).copied() else { return false };
        self.stats.counters.nacks += 1;
        self.suspension.bad(now, Some(reason));
        // The first of two Interests with this nonce is still pending.
        if reason == NackReason::Duplicate {
            return true;
        }
        if reason == NackReason::Congestion {
            self.ranges.shorten(now, flying.asked_at);
        }
        self.lose(now, item, Cause::Nack(reason.number()), options);
        self.lost.hold(item, now + after_nack(flying.attempt));
        true
    }

    /// Records that an answer was verified.
    pub fn note_good(&mut self, now: Time) {
        if self.suspension.good(self.in_flight()) {
            // The transfer was suspended, and the producer answers again.
            self.lost.release_nacked(now);
        }
    }

    /// Records a Nack with this reason; `None` stands for Data that was rejected.
    pub fn note_bad(&mut self, now: Time, reason: Option<NackReason>) {
        self.suspension.bad(now, reason);
    }

    /// Requests an item again whose Data was wrong.
    pub fn ask_again(&mut self, now: Time, item: Item, attempt: u16) {
        self.lost.ask_again(now, item, attempt);
    }

    /// Requests an item again after a pause that grows with the number of `wrong` packets.
    pub fn ask_again_after_pause(&mut self, now: Time, item: Item, attempt: u16, wrong: u32) {
        self.lost.ask_again(now, item, attempt);
        self.lost.hold_wrong(now, item, wrong);
    }

    /// Requests an item again after 1 s, because the producer reported that it does not exist.
    pub fn ask_later(&mut self, now: Time, item: Item) {
        self.lost.ask_again(now, item, 2);
        self.lost.hold(item, now + AFTER_NACK_AT_MOST);
    }

    /// Cancels the request for `item`, which is no longer needed.
    pub fn cancel(&mut self, item: Item) {
        self.flight.remove(item);
        self.lost.remove(item);
    }

    /// Cancels the requests for which `unneeded` returns true.
    pub fn cancel_if(&mut self, unneeded: impl Fn(Item) -> bool) {
        let items: Vec<_> = self.flight.items().filter(|item| unneeded(*item)).collect();
        items.into_iter().for_each(|item| self.cancel(item));
        self.lost.remove_if(unneeded);
    }

    /// The instant at which to call [`Requests::cancel_overdue_heads`] during discovery.
    pub fn head_overdue_at(&self) -> Option<Time> {
        self.flight.next_segment_timeout()
    }

    /// Cancels the requests for segments that have timed out. Used during discovery, when these
    /// are requests for heads, which the producer may not have. Before the first answer the round
    /// trip is unknown, and may be longer than any timeout.
    pub fn cancel_overdue_heads(&mut self, now: Time) {
        let segments = self.flight.items().filter(|item| matches!(item, Item::Segment(_)));
        let flying = segments.filter_map(|item| Some((item, self.flight.get(item)?)));
        let overdue = flying.filter(|(_, flying)| flying.deadline <= now);
        let overdue = overdue.map(|(item, flying)| (item, flying.sent_at + LONGEST_FIRST));
        for (item, until) in overdue.collect::<Vec<_>>() {
            if now >= until || !self.flight.defer(item, until) {
                self.cancel(item);
            }
        }
    }

    /// Handles a new connection: the requests in flight over the old one will not be answered.
    /// If `again`, they wait for retransmission from `now` on; otherwise they are dropped.
    pub fn restart(&mut self, now: Time, again: bool) {
        let items: Vec<Item> = self.flight.items().collect();
        for item in items {
            if let Some(flying) = self.flight.remove(item).filter(|_| again) {
                self.lost.ask_again(now, item, flying.attempt.saturating_add(1));
            }
        }
        match again {
            // The pauses applied to the old forwarder.
            true => self.lost.release_all(now),
            false => self.lost.clear(),
        }
        self.suspension = TransferSuspension::default();
        self.echoes.restart();
        self.silence.restart(now);
        // The new forwarder may not support ranges.
        self.ranges = Ranges::new(self.ranges.configured());
    }

    /// The instant at which to call [`Requests::on_deadline`], or at which an Interest may leave.
    pub fn next_deadline(&mut self, now: Time) -> Option<Time> {
        RequestTimer::ALL.into_iter().filter_map(|timer| self.due(timer, now)).min()
    }

    /// Serves the timers that have expired at `now`.
    pub fn on_deadline(&mut self, now: Time) {
        for timer in RequestTimer::ALL {
            if self.due(timer, now).is_some_and(|at| at <= now) {
                self.on_timer(timer, now);
            }
        }
    }

    /// The instant at which `timer` expires. A pause that is over needs no timer.
    fn due(&mut self, timer: RequestTimer, now: Time) -> Option<Time> {
        match timer {
            RequestTimer::Gap => self.flight.next_gap(self.tolerance()),
            RequestTimer::TimeOut => self.flight.next_timeout(),
            RequestTimer::Probe => self.probe_at(),
            RequestTimer::Controller => self.controller.next_deadline(),
            RequestTimer::Retransmission => self.lost.next_ready().filter(|at| *at > now),
            RequestTimer::Suspension => self.suspension.suspended_until().filter(|at| *at > now),
            RequestTimer::Echo => self.echoes.due().filter(|at| *at > now),
        }
    }

    fn on_timer(&mut self, timer: RequestTimer, now: Time) {
        match timer {
            RequestTimer::Gap => self.lose_by_gaps(now),
            RequestTimer::TimeOut => self.lose_by_timeouts(now),
            RequestTimer::Probe => {
                self.silence.choose_probe(now, &self.flight);
                if self.rtt().smoothed().is_some() {
                    self.reordering.fell_silent();
                }
            }
            RequestTimer::Controller => {
                let mut cx = Cx { now, rng: &mut self.rng, tap: &mut self.tap };
                self.controller.on_deadline(&mut cx);
            }
            // These only permit to send.
            RequestTimer::Retransmission | RequestTimer::Suspension | RequestTimer::Echo => {}
        }
    }

    fn lose_by_gaps(&mut self, now: Time) {
        while let Some(item) = self.flight.gap(now, self.tolerance()) {
            if self.is_tried(item) {
                continue;
            }
            self.stats.counters.gaps += 1;
            self.lose(now, item, Cause::Gap, &HopOptions::new());
        }
    }

    fn lose_by_timeouts(&mut self, now: Time) {
        while let Some(item) = self.flight.timed_out(now) {
            if self.flight.get(item).is_some_and(Flying::is_open) {
                self.reordering.tried(item, true);
                self.stats.counters.gaps += 1;
                self.lose(now, item, Cause::Gap, &HopOptions::new());
                continue;
            }
            if self.is_deferred(now, item) {
                continue;
            }
            self.stats.counters.timeouts += 1;
            self.lose(now, item, Cause::Timeout, &HopOptions::new());
        }
    }

    /// The first unanswered request (in the order of [`Item`]), and the reason; lost requests come
    /// before those in flight.
    pub fn oldest_unanswered(&self) -> Option<(Item, StallCause)> {
        self.lost.lowest().or_else(|| Some((self.flight.items().next()?, StallCause::Unanswered)))
    }

    /// True if the controller has moved the timeout of `item` to a later instant.
    fn is_deferred(&mut self, now: Time, item: Item) -> bool {
        let flying = self.flight.get(item);
        let until = flying.and_then(|f| {
            let spread = self.flight.spread_of(now, f.lane);
            let stated =
                (spread > Duration::ZERO).then(|| self.rtt().overdue_at(f.sent_at) + spread);
            stated.max(Some(self.controller.overdue_at(f.lane, f.sent_at)))
        });
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
        if cause == Cause::Gap && flying.place == Place::Behind {
            self.ranges.shorten(now, sent_at);
        }
        let not_before = (flying.sent_at + pause(flying.attempt)).max(now);
        let attempt = flying.attempt.saturating_add(1);
        let first = flying.repeats.or((flying.attempt == 0).then_some(sent_at));
        let repeats = first.filter(|_| cause == Cause::Gap);
        self.lost.insert(item, Lost { attempt, sent_at, lane, memo, cause, repeats, not_before });
    }

    fn probe_at(&self) -> Option<Time> {
        if !self.controller.may_be_probed() {
            return None;
        }
        self.silence.probe_at(&self.flight, self.rtt(), self.tolerance().overtaken)
    }
}
