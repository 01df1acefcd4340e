//! The consumer: brings a named object, whole and verified, or says what is missing.
//!
//! Order of calls: [`Fetch::receive`] for every frame; [`Fetch::poll_transmit`] until it returns
//! false, after every other call; [`Fetch::on_deadline`] at [`Fetch::next_deadline`];
//! [`Fetch::status`] says when it is over. Content goes to a [`Sink`], verified, as it comes.
//!
//! What is fetched, in this order where there is a choice: what was lost, the RDR metadata (and,
//! until it has come, the first segments' [heads](crate::head)), manifest nodes ahead of the
//! segments they cover, segments. All of it flies under one controller.

mod arrive;
mod ask;
mod candidates;
mod certificates;
mod end;
mod error;
mod flight;
mod heads;
mod object;
mod order;
mod outage;
mod range;
mod reordering;
mod requests;
mod stats;
mod verify;

pub use error::{FetchError, StallCause};
pub use flight::Item;
pub use object::{ObjectInfo, Resume, Sink};
pub use stats::{RttSamples, Stats};

use crate::head;
use candidates::Candidates;
use certificates::Wanted;
use control::{Controller, Duration, Event, Lane, Rng, RttEstimate, Size, Time};
use heads::Heads;
use object::Object;
use packet::{Bytes, NackReason, Name};
use requests::Requests;
use security::{Proof, TrustPolicy};
use std::collections::BTreeSet;
use verify::Verification;

/// What a fetch is to do.
pub struct FetchConfig {
    /// The object's name, with its version or without.
    pub name: Name,
    /// Whose signatures are accepted.
    pub policy: TrustPolicy,
    /// Segments must be handed on in order, for a sink that cannot seek.
    pub in_order: bool,
    /// The lifetime of Interests.
    pub lifetime: Duration,
    /// Give up when nothing new has come for this long.
    pub patience: Duration,
    /// The most bytes of content that wait for verification or for their turn.
    pub stash: Size,
    /// How many segments one Interest asks for; 1 asks for them one by one. Without it, as many as
    /// the controller says.
    pub range: Option<u16>,
    /// How many segments are asked for before the version is known, at most [`crate::head::MOST`].
    pub heads: u16,
    /// Selects the random streams of nonces and of the controller.
    pub seed: u64,
    /// Receives the controller's events.
    pub tap: Box<dyn FnMut(Event) + Send>,
}

impl FetchConfig {
    /// The defaults: Interests live 4 s as everywhere, 30 s of patience, 16 MB of stash.
    #[must_use]
    pub fn new(name: Name, policy: TrustPolicy) -> FetchConfig {
        FetchConfig {
            name,
            policy,
            in_order: false,
            lifetime: Duration::from_secs(4),
            patience: Duration::from_secs(30),
            stash: Size(16_000_000),
            range: None,
            heads: head::MOST as u16,
            seed: 0,
            tap: Box::new(|_| {}),
        }
    }
}

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
pub struct Fetch {
    config: FetchConfig,
    requests: Requests,
    /// Discovery is over when it is there.
    object: Option<Object>,
    verification: Verification,
    /// The lowest segment that was never asked for.
    next_segment: u64,
    /// Segments above `next_segment` that were asked for out of turn.
    ahead: BTreeSet<u64>,
    heads: Heads,
    candidates: Candidates,
    /// A certificate without which what came cannot be judged.
    wanted: Option<Wanted>,
    /// A certificate did not come once, and what waited for it was asked for again.
    gave_up_certificate: bool,
    /// Metadata that nobody has vouched for yet.
    unproven: Option<Bytes>,
    /// The size of a segment's Data, as last seen.
    segment_data: Size,
    /// What the sink has room for, if that has an end.
    room: Option<Size>,
    /// The controller said that nothing may leave before.
    paced_until: Option<Time>,
    started_at: Option<Time>,
    progress_at: Time,
    /// How often what the object begins with was refused.
    refusals: u32,
    /// How many requests for metadata found no route: that says nothing of whether there are any.
    routeless: u16,
    /// Until then refusals do not count: producers connect again, too.
    forgiving_until: Time,
    /// The sink knows how long the object can be.
    bound_told: bool,
    outcome: Option<Result<(), FetchError>>,
}

/// What was wrong so often will not get better.
const MAX_FORGED: u32 = 8;
/// What was refused so often at the beginning will not come. Routes may be on their way (a producer
/// that is just starting), and objects without metadata are asked for by their bare name meanwhile.
const MAX_REFUSALS: u32 = 4;
/// What a segment's Data is taken to be before the first has come.
const SEGMENT_DATA_GUESS: Size = Size(8200);

impl Fetch {
    /// A fetch under `controller`. It begins with the first call of [`Fetch::poll_transmit`].
    #[must_use]
    pub fn new(mut config: FetchConfig, controller: Box<dyn Controller>) -> Fetch {
        let rng = Rng::stream(config.seed, &["fetch", &config.name.to_string()]);
        let tap = std::mem::replace(&mut config.tap, Box::new(|_| {}));
        let range = config.range;
        Fetch {
            verification: Verification::new(config.policy.clone(), config.stash),
            config,
            requests: Requests::new(controller, rng, tap, range),
            object: None,
            next_segment: 0,
            ahead: BTreeSet::new(),
            heads: Heads::default(),
            candidates: Candidates::default(),
            wanted: None,
            gave_up_certificate: false,
            unproven: None,
            segment_data: SEGMENT_DATA_GUESS,
            room: None,
            paced_until: None,
            started_at: None,
            progress_at: Time::ZERO,
            refusals: 0,
            routeless: 0,
            forgiving_until: Time::ZERO,
            bound_told: false,
            outcome: None,
        }
    }

    /// The sink has room for so many bytes more than were handed to it up to now: where segments
    /// come in order, no more are asked for than it can take, until it says that it has room again.
    /// Waiting for that is no reason to lose patience. Without this it takes whatever comes.
    pub fn set_room(&mut self, now: Time, room: Size) {
        if self.is_held_back() {
            self.progress_at = now;
        }
        self.room = Some(room);
    }

    /// Nothing is on its way, and nothing may be asked for before the sink has room.
    fn is_held_back(&self) -> bool {
        let Some(object) = self.object.as_ref().filter(|_| self.room.is_some()) else {
            return false;
        };
        self.requests.is_idle() && self.next_segment >= self.segments_end(object)
    }

    /// The name asked for.
    #[must_use]
    pub fn name(&self) -> &Name {
        &self.config.name
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

    /// What is known of the object; `None` until it was found.
    #[must_use]
    pub fn object(&self) -> Option<&ObjectInfo> {
        self.object.as_ref().map(|object| &object.info)
    }

    /// Bytes of content that were there before this fetch, and that it has verified.
    #[must_use]
    pub fn bytes(&self) -> (u64, u64) {
        self.object.as_ref().map_or((0, 0), |object| (object.resumed_bytes, object.bytes))
    }

    /// What the object's signature proved; `None` before anything was verified.
    #[must_use]
    pub fn proof(&self) -> Option<&Proof> {
        self.verification.proof()
    }

    /// Counters.
    #[must_use]
    pub fn stats(&self) -> &Stats {
        &self.requests.stats
    }

    /// What the round-trip time is believed to be.
    #[must_use]
    pub fn rtt(&self) -> &RttEstimate {
        self.requests.rtt()
    }

    /// Requests in flight.
    #[must_use]
    pub fn in_flight(&self) -> u32 {
        self.requests.in_flight()
    }

    /// Whether ranges are answered at present; if not, segments are asked for one by one. It says
    /// nothing of whether whoever is asked understands ranges.
    pub fn set_ranges(&mut self, answered: bool) {
        self.requests.ranges.hold(!answered);
    }

    /// Ranges were to be asked for, and whoever is asked does not understand them.
    #[must_use]
    pub fn fell_back(&self) -> bool {
        self.requests.ranges.fell_back()
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

    /// When [`Fetch::on_deadline`] wants to be called.
    #[must_use]
    pub fn next_deadline(&mut self, now: Time) -> Option<Time> {
        if self.outcome.is_some() {
            return None;
        }
        let certificate = self.certificate_deadline();
        let others = [self.paced_until, self.certain_at(), self.patience_ends(), certificate];
        let others = others.into_iter().chain([self.doubted_at()]);
        others.chain([self.requests.next_deadline(now)]).flatten().min()
    }

    /// The instant asked for has come: losses are declared, and patience may be at its end.
    pub fn on_deadline(&mut self, now: Time, sink: &mut dyn Sink) {
        if self.outcome.is_some() || self.started_at.is_none() {
            return;
        }
        if self.paced_until.is_some_and(|at| at <= now) {
            self.paced_until = None;
        }
        self.give_up_certificate(now);
        if self.object.is_none() {
            self.requests.cancel_overdue_segments(now);
        }
        self.requests.on_deadline(now);
        if self.certain_at().is_some_and(|at| at <= now) {
            self.settle(now, sink);
        }
        if self.outcome.is_none() && self.doubted_at().is_some_and(|at| at <= now) {
            self.doubt(now);
        }
        self.note_restart(now);
        if self.outcome.is_none() && self.patience_ends().is_some_and(|at| at <= now) {
            self.give_up(now);
        }
    }

    /// Discovery that begins again has its patience again.
    fn note_restart(&mut self, now: Time) {
        if std::mem::take(&mut self.candidates.restarted) {
            self.progress_at = now;
        }
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
        let waits = self.started_at.filter(|_| !self.is_held_back());
        waits.map(|_| self.progress_at + self.patience())
    }

    fn give_up(&mut self, now: Time) {
        self.is_certain();
        if self.object.is_some() {
            // They were asked for beside it.
            self.requests.cancel(Item::Metadata);
        }
        let waited = now.since(self.progress_at);
        let unanswered = self.requests.oldest_unanswered();
        let error = match &self.object {
            None => match unanswered {
                Some((_, StallCause::Nack(NackReason::NoRoute))) => {
                    FetchError::NoRoute(self.config.name.clone())
                }
                Some((_, StallCause::Nack(NackReason::None))) => {
                    FetchError::NotThere(self.config.name.clone())
                }
                _ => FetchError::NotFound {
                    name: self.config.name.clone(),
                    waited,
                    asked: (self.requests.stats.counters.interests - self.requests.stats.heads)
                        as u32,
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
                    of: object.info.segments.unwrap_or(self.next_segment),
                }
            }
        };
        self.fail(error);
    }

    fn fail(&mut self, error: FetchError) {
        self.wanted = None;
        if self.heads_told() {
            self.candidates.forget();
            return self.distrust_heads();
        }
        if self.outcome.is_some() || self.skip_candidate(&error) {
            return;
        }
        let error = self.reason(error);
        self.outcome.get_or_insert(Err(error));
        self.requests.cancel_if(|_| true);
    }
}
