//! The consumer: brings a named object, whole and verified, or says what is missing.
//!
//! Order of calls: [`Fetch::receive`] for every frame; [`Fetch::poll_transmit`] until it returns
//! false, after every other call; [`Fetch::on_deadline`] at [`Fetch::next_deadline`];
//! [`Fetch::status`] says when it is over. Content goes to a [`Sink`], verified, as it comes.
//!
//! Order of requests, where there is a choice: lost ones, the RDR metadata (and,
//! until it has come, the first segments' [heads](crate::head)), manifest nodes ahead of the
//! segments they cover, segments. All of it flies under one controller.

mod candidates;
mod certificates;
mod config;
mod cursor;
mod discovery;
mod error;
mod flight;
mod heads;
mod object;
mod order;
mod range;
mod receive;
mod reordering;
mod requests;
mod stats;
mod timer;
mod transmit;
mod verify;

pub use config::FetchConfig;
pub use error::{FetchError, StallCause};
pub use flight::Item;
pub use object::{ObjectInfo, Resume, Sink};
pub use stats::{RttSamples, Stats};

use candidates::Candidates;
use certificates::Certificates;
use control::{Controller, Duration, Lane, Rng, RttEstimate, Size, Time};
use cursor::Cursor;
use discovery::Discovery;
use heads::Heads;
use object::Object;
use packet::{Bytes, Data, NackReason, Name};
use requests::Requests;
use requests::round_trips;
use security::{Digest, Proof, VerifyError};
use timer::Timer;
use verify::Verification;

/// Where a fetch stands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Status<'a> {
    /// It goes on.
    Running,
    /// The object is whole and verified.
    Done,
    /// It failed.
    Failed(&'a FetchError),
}

/// A fetch of one object.
///
/// Its methods are here (what drivers see, timers, failure), in `transmit.rs` (the journey of an
/// Interest, up to its Nack) and in `receive.rs` (the journey of a Data packet).
pub struct Fetch {
    config: FetchConfig,
    /// Requests in flight, and the controller.
    requests: Requests,
    /// The name that is asked for.
    discovery: Discovery,
    candidates: Candidates,
    heads: Heads,
    /// Discovery is over when it is there.
    object: Option<Object>,
    cursor: Cursor,
    verification: Verification,
    certificates: Certificates,
    /// Metadata whose signer is not verified yet.
    unproven: Option<Bytes>,
    delivery: Delivery,
    /// The size of a segment's Data, as last seen.
    segment_data: Size,
    pace: Pace,
    outcome: Option<Result<(), FetchError>>,
}

/// The state of the sink.
#[derive(Default)]
struct Delivery {
    /// Bytes that the sink has room for, if that is limited.
    room: Option<Size>,
    /// The sink knows how long the object can be.
    bound_told: bool,
}

/// Instants of a fetch.
#[derive(Default)]
struct Pace {
    started_at: Option<Time>,
    /// When something new came last.
    progress_at: Time,
    /// The controller said that nothing may leave before.
    paced_until: Option<Time>,
}

/// Wrong packets for one request after which the fetch fails.
const MAX_FORGED: u32 = 8;
/// The assumed size of a segment's Data before the first one.
const SEGMENT_DATA_GUESS: Size = Size(8200);

impl Fetch {
    /// A fetch under `controller`. It begins with the first call of [`Fetch::poll_transmit`].
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
            unproven: None,
            delivery: Delivery::default(),
            segment_data: SEGMENT_DATA_GUESS,
            pace: Pace::default(),
            outcome: None,
            config,
        }
    }

    /// The sink has room for `room` more bytes beyond those delivered so far. If segments come in
    /// order, only as many are requested as it can take, until it reports room again. The wait
    /// does not count against patience. Without this call there is no limit.
    pub fn set_room(&mut self, now: Time, room: Size) {
        if self.is_held_back() {
            self.pace.progress_at = now;
        }
        self.delivery.room = Some(room);
    }

    /// Nothing is on its way, and nothing may be asked for before the sink has room.
    fn is_held_back(&self) -> bool {
        let Some(object) = self.object.as_ref().filter(|_| self.delivery.room.is_some()) else {
            return false;
        };
        self.requests.is_idle() && self.cursor.next() >= self.segments_end(object)
    }

    /// The name asked for.
    #[must_use]
    pub fn name(&self) -> &Name {
        self.discovery.name()
    }

    /// Where it stands.
    #[must_use]
    pub fn status(&self) -> Status<'_> {
        match &self.outcome {
            None => Status::Running,
            Some(Ok(())) => Status::Done,
            Some(Err(error)) => Status::Failed(error),
        }
    }

    /// The object, as far as known; `None` until it was found.
    #[must_use]
    pub fn object(&self) -> Option<&ObjectInfo> {
        self.object.as_ref().map(|object| &object.info)
    }

    /// Bytes of content that were there before this fetch, and that it has verified.
    #[must_use]
    pub fn bytes(&self) -> (u64, u64) {
        self.object.as_ref().map_or((0, 0), |object| (object.resumed_bytes, object.bytes))
    }

    /// The proof by the object's signature; `None` before anything was verified.
    #[must_use]
    pub fn proof(&self) -> Option<&Proof> {
        self.verification.proof()
    }

    /// Counters.
    #[must_use]
    pub fn stats(&self) -> &Stats {
        self.requests.stats()
    }

    /// The estimate of the round-trip time.
    #[must_use]
    pub fn rtt(&self) -> &RttEstimate {
        self.requests.rtt()
    }

    /// Requests in flight.
    #[must_use]
    pub fn in_flight(&self) -> u32 {
        self.requests.in_flight()
    }

    /// Sets if ranges are answered at present; if not, segments are requested one by one. It is
    /// independent of the producer's and the forwarders' understanding of ranges.
    pub fn set_ranges(&mut self, answered: bool) {
        self.requests.hold_ranges(!answered);
    }

    /// True if ranges were wanted, but the other side does not understand them.
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
        let mut sum = None;
        self.gauges(&mut |_, name, value| {
            if name == "window" {
                sum = Some(sum.unwrap_or(0.0) + value);
            }
        });
        sum
    }

    /// The connection to the forwarder broke, and a new one is there at `now`. Requests in flight
    /// leave again, as the controller permits, and patience begins anew: the new forwarder has no
    /// record of them. This is no loss by congestion, so the controller is not informed, and the
    /// window and the round-trip time stay. Verified segments stay.
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
            // Nothing is known: discovery begins with its first Interest.
            self.heads.restart();
            self.cursor.restart();
        }
    }

    /// When [`Fetch::on_deadline`] wants to be called.
    #[must_use]
    pub fn next_deadline(&mut self, now: Time) -> Option<Time> {
        if self.outcome.is_some() {
            return None;
        }
        Timer::ALL.into_iter().filter_map(|timer| self.due(timer, now)).min()
    }

    /// When a timer is due.
    fn due(&mut self, timer: Timer, now: Time) -> Option<Time> {
        match timer {
            Timer::Pacing => self.pace.paced_until,
            Timer::Certificate => self.certificates.deadline(),
            Timer::Request(timer) => self.requests.due(timer, now),
            Timer::Certainty => self.certain_at(),
            Timer::Doubt => self.doubted_at(),
            Timer::Patience => self.patience_ends(),
        }
    }

    fn is_due(&mut self, timer: Timer, now: Time) -> bool {
        self.due(timer, now).is_some_and(|at| at <= now)
    }

    /// The instant asked for has come: losses are declared, and patience may be at its end.
    pub fn on_deadline(&mut self, now: Time, sink: &mut dyn Sink) {
        if self.outcome.is_some() || self.pace.started_at.is_none() {
            return;
        }
        if self.is_due(Timer::Pacing, now) {
            self.pace.paced_until = None;
        }
        self.give_up_certificate(now);
        if self.object.is_none() {
            self.requests.cancel_overdue_segments(now);
        }
        self.requests.on_deadline(now);
        if self.is_due(Timer::Certainty, now) {
            self.settle(now, sink);
        }
        if self.outcome.is_none() && self.is_due(Timer::Doubt, now) && self.candidates.doubt() {
            self.requests.ask_again(now, Item::Metadata, 3);
        }
        self.note_restart(now);
        if self.outcome.is_none() && self.is_due(Timer::Patience, now) {
            self.give_up(now);
        }
    }

    /// Discovery that begins again has its patience again.
    fn note_restart(&mut self, now: Time) {
        if self.candidates.take_restart() {
            self.pace.progress_at = now;
        }
    }

    /// When metadata are waited for no longer: at the end of the lifetime of their first Interest.
    fn certain_at(&self) -> Option<Time> {
        let started_at = self.pace.started_at.filter(|_| self.heads.is_told());
        started_at.map(|at| at + round_trips::FIRST_LIFETIME)
    }

    /// When the candidate is to be doubted.
    fn doubted_at(&self) -> Option<Time> {
        let may = self.object.is_some()
            && !self.certificates.is_wanted()
            && !self.heads.is_told()
            && self.nothing_verified();
        self.candidates.doubted_at(self.pace.progress_at).filter(|_| may)
    }

    /// Nothing of the candidate was verified, in this transfer.
    fn nothing_verified(&self) -> bool {
        self.verification.layout().is_none()
            && self.verification.proof().is_none()
            && self.object.as_ref().is_none_or(|object| object.bytes == 0)
    }

    /// Discovery has less patience: most names that do not answer at once never will.
    fn patience(&self) -> Duration {
        const DISCOVERY: Duration = Duration::from_secs(8);
        match self.object {
            Some(_) => self.config.patience,
            None => self.config.patience.min(DISCOVERY),
        }
    }

    fn patience_ends(&self) -> Option<Time> {
        let waits = self.pace.started_at.filter(|_| !self.is_held_back());
        waits.map(|_| self.pace.progress_at + self.patience())
    }

    fn give_up(&mut self, now: Time) {
        self.heads.forget_told();
        if self.object.is_some() {
            // They were asked for beside it.
            self.requests.cancel(Item::Metadata);
        }
        let waited = now.since(self.pace.progress_at);
        let unanswered = self.requests.oldest_unanswered();
        let error = match &self.object {
            None => match unanswered {
                Some((_, StallCause::Nack(NackReason::NoRoute))) => {
                    FetchError::NoRoute(self.discovery.name().clone())
                }
                Some((_, StallCause::Nack(NackReason::None))) => {
                    FetchError::NotThere(self.discovery.name().clone())
                }
                _ => FetchError::NotFound {
                    name: self.discovery.name().clone(),
                    waited,
                    asked: self.requests.stats().interests_without_heads() as u32,
                },
            },
            Some(object) => {
                let (missing, cause) = unanswered
                    .unwrap_or((Item::Segment(object.first_missing()), StallCause::Unanswered));
                let forged = self.verification.was_forged(missing);
                let cause = if forged { StallCause::Forged } else { cause };
                FetchError::Stalled {
                    name: object.info.name.clone(),
                    missing,
                    waited,
                    cause,
                    have: object.done_count,
                    of: object.info.segments.unwrap_or(self.cursor.next()),
                }
            }
        };
        self.fail(error);
    }

    /// The certificate did not come, however often it was asked for. The first time that may be
    /// because what waits for it was forged, and is asked for again.
    fn give_up_certificate(&mut self, now: Time) {
        let Some(why) = self.certificates.give_up(now) else { return };
        let why = FetchError::Untrusted(why);
        let root = self.verification.take_waiting_root().map(|(n, wire)| (Item::Node(n), wire));
        let segments = self.verification.take_waiting().into_iter();
        let waited = segments.map(|(n, wire)| (Item::Segment(n), wire)).chain(root);
        let waited: Vec<_> = waited.collect();
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

    /// The fetch fails, unless an alternative is left: metadata if a head announced the object,
    /// another candidate if this one has failed.
    fn fail(&mut self, error: FetchError) {
        self.certificates.forget();
        if self.heads.is_told() {
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

    /// The fetch would fail because of its candidate: that is skipped, and discovery begins again.
    /// Returns false if there is none to skip, or it is too late to.
    fn skip_candidate(&mut self, why: &FetchError) -> bool {
        let stalled = matches!(why, FetchError::Stalled { .. });
        let untouched = self.object.as_ref().is_some_and(|object| object.bytes == 0);
        if stalled || !untouched || !self.candidates.skip(why) {
            return false;
        }
        self.unproven = None;
        self.distrust_heads();
        true
    }

    /// The packet that answers discovery is no good: another is asked for.
    fn reject_metadata(&mut self, now: Time, digest: &Digest, why: Option<VerifyError>) {
        self.count_forged(now);
        let rejected = self.candidates.reject(digest, why.map(FetchError::Untrusted));
        if rejected < MAX_FORGED {
            // In turn for metadata (or the root of a version), and for what lies under the name:
            // see `Discovery::interest`. Some producers sign their segments, and no metadata.
            let attempt = if rejected.is_multiple_of(2) { 2 } else { 3 };
            self.requests.ask_again_after_pause(now, Item::Metadata, attempt, rejected);
        } else if self.object.is_none() || self.heads.is_told() {
            self.fail(FetchError::NotThere(self.discovery.name().clone()));
        }
    }

    /// Heads were wrong. From now on only metadata are believed.
    fn distrust_heads(&mut self) {
        self.heads.distrust();
        self.forget_object();
    }

    /// The object is forgotten, with all requests because of it. Heads that are on their way may be
    /// of the object that metadata name.
    fn forget_object(&mut self) {
        self.heads.forget_told();
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
