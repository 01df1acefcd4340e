//! The consumer: fetches and verifies a named object, or reports what is missing.
//!
//! Order of calls: [`Fetch::receive`] for every frame; [`Fetch::poll_transmit`] until it returns
//! false, after every other call; [`Fetch::on_deadline`] at [`Fetch::next_deadline`];
//! [`Fetch::status`] returns the result. Verified content goes to a [`Sink`] as it arrives.
//!
//! Requests have this priority:
//!
//! 1. lost requests;
//! 2. the RDR metadata and, until it has arrived, the [heads](crate::head) of the first segments;
//! 3. manifest nodes, before the segments that they cover;
//! 4. segments.
//!
//! One controller governs all of them.

mod allowance;
pub mod batch;
mod candidates;
mod certificates;
mod choice;
mod config;
mod cursor;
mod delivery;
mod discovery;
mod error;
mod flight;
mod heads;
mod item;
mod known;
mod object;
mod order;
mod range;
mod receive;
mod reordering;
mod requests;
mod sizes;
mod stats;
mod timer;
mod transmit;
mod verify;

pub use config::FetchConfig;
pub use error::{FetchError, StallCause};
pub use item::Item;
pub use object::{ObjectInfo, Resume, Sink};
pub use stats::{RttSamples, Stats};

use candidates::Candidates;
use certificates::Certificates;
use choice::Choice;
use control::{Controller, Lane, Rng, RttEstimate, Size, Time};
use cursor::Cursor;
use delivery::Delivery;
use discovery::Discovery;
use heads::Heads;
use known::Known;
use object::Object;
use packet::{Data, Name};
use requests::Requests;
use requests::round_trips;
use security::{Digest, Proof, VerifyError};
use sizes::Sizes;
use timer::Timer;
use verify::{MAX_FORGED, Verification};

/// The state of a fetch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Status<'a> {
    /// The fetch is in progress, or has not begun.
    Running,
    /// The object is complete and verified.
    Done,
    /// The fetch has failed.
    Failed(&'a FetchError),
}

/// A fetch of one object.
///
/// The public methods, timers and failures are in this file. `transmit.rs` sends Interests and
/// handles Nacks; `receive.rs` handles Data packets.
pub struct Fetch {
    config: FetchConfig,
    /// Requests in flight, and the controller.
    requests: Requests,
    /// The requested name, and the Interests that find its object.
    discovery: Discovery,
    candidates: Candidates,
    heads: Heads,
    /// `None` during discovery.
    object: Option<Object>,
    cursor: Cursor,
    verification: Verification,
    certificates: Certificates,
    delivery: Delivery,
    sizes: Sizes,
    pace: Pace,
    outcome: Option<Result<(), FetchError>>,
}

/// Instants of a fetch.
#[derive(Default)]
struct Pace {
    started_at: Option<Time>,
    /// The last progress. The patience of the fetch counts from here.
    progress_at: Time,
    /// The controller permits no Interest before this instant.
    paced_until: Option<Time>,
}

impl Fetch {
    /// Creates a fetch governed by `controller`. It begins at the first call of
    /// [`Fetch::poll_transmit`].
    #[must_use]
    pub fn new(mut config: FetchConfig, controller: Box<dyn Controller>) -> Fetch {
        let rng = Rng::stream(config.seed, &["fetch", &config.name.to_string()]);
        let tap = std::mem::replace(&mut config.tap, Box::new(|_| {}));
        Fetch {
            requests: Requests::new(controller, rng, tap, config.range),
            discovery: Discovery::new(config.name.clone()),
            candidates: Candidates::default(),
            heads: Heads::new(config.heads),
            object: None,
            cursor: Cursor::default(),
            verification: Verification::new(config.policy.clone(), config.stash),
            certificates: Certificates::default(),
            delivery: Delivery::new(config.in_order),
            sizes: Sizes::default(),
            pace: Pace::default(),
            outcome: None,
            config,
        }
    }

    /// Sets the number of bytes that the sink can take beyond those delivered so far.
    ///
    /// If segments are delivered in order, the fetch requests only segments that fit, until it is
    /// called again. Time without room does not count against the patience. Without this call
    /// there is no limit.
    pub fn set_room(&mut self, now: Time, room: Size) {
        if self.is_held_back() {
            self.pace.progress_at = now;
        }
        self.delivery.set_room(room);
    }

    /// Sets the number of bytes that may be requested from `now` on, for a driver that limits the
    /// rate and calls this before each [`Fetch::poll_transmit`]. The time without an allowance does
    /// not count against the patience. Without this call there is no limit.
    pub fn set_allowance(&mut self, now: Time, bytes: Size) {
        let since = self.pace.progress_at;
        self.pace.progress_at = self.requests.allowance().set(now, bytes, since);
    }

    /// Bytes of Data that were requested so far, repetitions included, as far as sizes can be
    /// expected. A driver that limits the rate counts these.
    #[must_use]
    pub fn requested(&self) -> u64 {
        self.sizes.requested()
    }

    /// True if nothing is in flight and nothing may be requested until the sink has room.
    fn is_held_back(&self) -> bool {
        let Some(object) = self.object.as_ref().filter(|_| self.delivery.is_limited()) else {
            return false;
        };
        self.requests.is_idle() && self.cursor.next() >= self.choice().segments_end(object)
    }

    /// The choice of the next item to request.
    fn choice(&self) -> Choice<'_> {
        Choice {
            requests: &self.requests,
            discovery: &self.discovery,
            heads: &self.heads,
            object: self.object.as_ref(),
            is_uncertain: self.is_uncertain(),
            cursor: &self.cursor,
            verification: &self.verification,
            delivery: &self.delivery,
            segment_data: self.sizes.segment(),
        }
    }

    /// The requested name.
    #[must_use]
    pub fn name(&self) -> &Name {
        self.discovery.name()
    }

    /// The state of the fetch.
    #[must_use]
    pub fn status(&self) -> Status<'_> {
        match &self.outcome {
            None => Status::Running,
            Some(Ok(())) => Status::Done,
            Some(Err(error)) => Status::Failed(error),
        }
    }

    /// The known facts about the object; `None` until it is found.
    #[must_use]
    pub fn object(&self) -> Option<&ObjectInfo> {
        self.object.as_ref().map(|object| object.info())
    }

    /// Bytes of content: from an earlier transfer, and verified by this fetch.
    #[must_use]
    pub fn bytes(&self) -> (u64, u64) {
        self.object.as_ref().map_or((0, 0), |object| (object.resumed_bytes(), object.bytes()))
    }

    /// The proof by the object's signature; `None` until something is verified.
    #[must_use]
    pub fn proof(&self) -> Option<&Proof> {
        self.verification.proof()
    }

    /// The digests of the object, for a [`batch::Batch`] that fetches more of it; `None` until its
    /// manifest is verified, or if it has none.
    #[must_use]
    pub fn known(&self) -> Option<Known> {
        self.verification.known().map(|(layout, root)| Known::Manifest(layout, root))
    }

    /// The counters of this fetch.
    #[must_use]
    pub fn stats(&self) -> &Stats {
        self.requests.stats()
    }

    /// The round-trip time estimate.
    #[must_use]
    pub fn rtt(&self) -> &RttEstimate {
        self.requests.rtt()
    }

    /// The number of requests in flight; each segment of a range counts as one.
    #[must_use]
    pub fn in_flight(&self) -> u32 {
        self.requests.in_flight()
    }

    /// Sets whether the forwarder answers range Interests at present. If not, segments are
    /// requested one by one. This is separate from [`Fetch::fell_back`].
    pub fn set_ranges(&mut self, answered: bool) {
        self.requests.hold_ranges(!answered);
    }

    /// True if ranges were requested, and only their first segments were answered. From then on
    /// segments are requested one by one.
    #[must_use]
    pub fn fell_back(&self) -> bool {
        self.requests.ranges().fell_back()
    }

    /// The controller's gauges.
    pub fn gauges(&self, out: &mut dyn FnMut(Lane, &'static str, f64)) {
        self.requests.gauges(out);
    }

    /// The sum of the windows of all lanes; `None` if the controller has no window.
    #[must_use]
    pub fn window(&self) -> Option<f64> {
        self.requests.window()
    }

    /// Continues the fetch over a new connection, made at `now` after the old one broke.
    ///
    /// Requests in flight are sent again as the controller permits, because the new forwarder has
    /// no record of them. The patience starts again. The break is not congestion, so the
    /// controller is not informed: window and round-trip time stay. Verified segments are kept.
    pub fn reconnected(&mut self, now: Time) {
        if self.outcome.is_some() || self.pace.started_at.is_none() {
            return;
        }
        self.pace.paced_until = None;
        self.pace.progress_at = now;
        let found = self.object.is_some();
        self.discovery.reconnected(now, found);
        self.certificates.restart(now);
        self.requests.restart(now, found);
        if !found {
            // Discovery starts again with its first Interest.
            self.heads.restart();
            self.cursor.restart();
        }
    }

    /// The instant at which to call [`Fetch::on_deadline`]; `None` if the fetch is over.
    #[must_use]
    pub fn next_deadline(&mut self, now: Time) -> Option<Time> {
        Timer::ALL.into_iter().filter_map(|timer| self.due(timer, now)).min()
    }

    /// Handles the timers that have expired: declares losses, or ends the fetch if its patience is
    /// over.
    pub fn on_deadline(&mut self, now: Time, sink: &mut dyn Sink) {
        if self.pace.started_at.is_none() {
            return;
        }
        for timer in Timer::ALL {
            // The timer served before may have started discovery again.
            self.note_restart(now);
            if self.due(timer, now).is_some_and(|at| at <= now) {
                self.on_timer(timer, now, sink);
            }
        }
    }

    /// The instant at which `timer` expires; `None` if it is not set, or the fetch is over.
    fn due(&mut self, timer: Timer, now: Time) -> Option<Time> {
        if self.outcome.is_some() {
            return None;
        }
        match timer {
            Timer::Pacing => self.pace.paced_until,
            Timer::Certificate => self.certificates.deadline(),
            Timer::Head if self.object.is_none() => self.requests.head_overdue_at(),
            Timer::Head => None,
            Timer::Requests => self.requests.next_deadline(now),
            Timer::Certainty => self.certain_at(),
            Timer::Doubt => self.doubted_at(),
            Timer::Patience => self.patience_ends(),
        }
    }

    fn on_timer(&mut self, timer: Timer, now: Time, sink: &mut dyn Sink) {
        match timer {
            Timer::Pacing => self.pace.paced_until = None,
            Timer::Certificate => self.give_up_certificate(now),
            Timer::Head => self.requests.cancel_overdue_heads(now),
            Timer::Requests => self.requests.on_deadline(now),
            Timer::Certainty => self.confirm_object(now, sink),
            Timer::Doubt => self.doubt_candidate(now),
            Timer::Patience => self.give_up(now),
        }
    }

    /// Requests metadata again, because the candidate yields nothing.
    fn doubt_candidate(&mut self, now: Time) {
        if self.candidates.doubt() {
            self.requests.ask_again(now, Item::Metadata, 3);
        }
    }

    /// Restarts the patience if discovery has started again.
    fn note_restart(&mut self, now: Time) {
        if self.candidates.take_restart() {
            self.pace.progress_at = now;
        }
    }

    /// The instant at which a head's facts are accepted without metadata: the end of the lifetime
    /// of the first Interest for metadata.
    fn certain_at(&self) -> Option<Time> {
        let started_at = self.pace.started_at.filter(|_| self.heads.is_announced());
        started_at.map(|at| at + round_trips::FIRST_LIFETIME)
    }

    /// The instant at which to ask for metadata again, because the candidate yields nothing.
    fn doubted_at(&self) -> Option<Time> {
        let may = self.object.is_some()
            && !self.certificates.is_wanted()
            && !self.heads.is_announced()
            && self.nothing_verified();
        self.candidates.doubted_at(self.pace.progress_at).filter(|_| may)
    }

    /// True if this transfer has verified nothing of the candidate.
    fn nothing_verified(&self) -> bool {
        self.verification.layout().is_none()
            && self.verification.proof().is_none()
            && self.object.as_ref().is_none_or(|object| object.bytes() == 0)
    }

    fn patience_ends(&self) -> Option<Time> {
        let patience = match self.object {
            Some(_) => self.config.patience,
            None => self.discovery.patience(self.config.patience),
        };
        let is_held = self.is_held_back() || self.requests.is_limited();
        let waits = self.pace.started_at.filter(|_| !is_held);
        waits.map(|_| self.pace.progress_at + patience)
    }

    fn give_up(&mut self, now: Time) {
        self.heads.forget_announced();
        if self.object.is_some() {
            // Metadata was requested in addition. The error names what the object lacks.
            self.requests.cancel(Item::Metadata);
        }
        let waited = now.since(self.pace.progress_at);
        let unanswered = self.requests.oldest_unanswered();
        let error = match &self.object {
            None => {
                let asked = self.requests.stats().interests_without_heads() as u32;
                self.discovery.stalled(waited, asked, unanswered.map(|(_, cause)| cause))
            }
            Some(object) => {
                let (missing, cause) = unanswered
                    .unwrap_or((Item::Segment(object.first_missing()), StallCause::Unanswered));
                let forged = self.verification.was_forged(missing);
                let cause = if forged { StallCause::Forged } else { cause };
                FetchError::Stalled {
                    name: object.name().clone(),
                    missing,
                    waited,
                    cause,
                    have: object.done_count(),
                    of: object.segments().unwrap_or(self.cursor.next()),
                }
            }
        };
        self.fail(error);
    }

    /// Gives up a certificate after its last attempt. The packets that wait for it may be forged,
    /// so the first time they are requested again.
    fn give_up_certificate(&mut self, now: Time) {
        let Some(why) = self.certificates.give_up(now) else { return };
        let why = FetchError::Untrusted(why);
        let waited = self.verification.take_all_waiting();
        if waited.is_empty() || !self.certificates.may_ask_again() {
            return self.fail(why);
        }
        self.candidates.note_reason(why);
        for (item, wire) in waited {
            let Ok(data) = Data::decode(&wire) else { continue };
            let came = data.implicit_digest();
            self.requests.stats_mut().forged += 1;
            let times = self.verification.count_forged(item, None, Some(&came));
            self.requests.ask_again(now, item, times as u16);
        }
    }

    /// Ends the fetch with `error` unless an alternative is left: metadata if a head announced the
    /// object, or another candidate.
    fn fail(&mut self, error: FetchError) {
        self.certificates.forget();
        if self.heads.is_announced() {
            self.candidates.forget();
            return self.distrust_heads();
        }
        if self.outcome.is_some() || self.skip_candidate(&error) {
            return;
        }
        let error = self.candidates.reason(error, self.discovery.name());
        self.outcome.get_or_insert(Err(error));
        self.requests.cancel_if(|_| true);
    }

    /// Skips the candidate that has failed, and starts discovery again. Returns false if there is
    /// no candidate to skip, if the transfer has stalled, or if content has been delivered.
    fn skip_candidate(&mut self, why: &FetchError) -> bool {
        let stalled = matches!(why, FetchError::Stalled { .. });
        let untouched = self.object.as_ref().is_some_and(|object| object.bytes() == 0);
        if stalled || !untouched || !self.candidates.skip(why) {
            return false;
        }
        self.distrust_heads();
        true
    }

    /// Rejects a packet that answered discovery, and asks for another one.
    fn reject_metadata(&mut self, now: Time, digest: &Digest, why: Option<VerifyError>) {
        self.count_forged(now);
        let rejected = self.candidates.reject(digest, why.map(FetchError::Untrusted));
        if rejected < MAX_FORGED {
            // Attempt 2 asks for the bare name (with a version: for metadata), attempt 3 for
            // metadata (with a version: for its root); see `Discovery::interest`. Some producers
            // sign their segments, but not their metadata.
            let attempt = if rejected.is_multiple_of(2) { 2 } else { 3 };
            self.requests.ask_again_after_pause(now, Item::Metadata, attempt, rejected);
        } else if self.object.is_none() || self.heads.is_announced() {
            self.fail(self.discovery.not_there());
        }
    }

    /// Stops using heads after a wrong one; only metadata counts from now on.
    fn distrust_heads(&mut self) {
        self.heads.distrust();
        self.forget_object();
    }

    /// Forgets the object and cancels its requests. Heads in flight are kept: they may belong to
    /// the object that metadata will name.
    fn forget_object(&mut self) {
        self.heads.forget_announced();
        self.object = None;
        self.verification = Verification::new(self.config.policy.clone(), self.config.stash);
        let asked = self.heads.asked();
        self.requests.cancel_if(|item| match item {
            Item::Metadata => false,
            Item::Segment(n) => !asked.contains(&n),
            Item::Node(_) => true,
        });
        self.cursor.restart();
    }
}
