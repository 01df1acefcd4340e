//! Publishing over a connection: the loop behind `weir put`.

use crate::exit::{Failure, Kind};
use crate::file::FileSource;
use crate::outage::{Outage, Outcome};
use crate::output::{Progress, Recent};
use crate::signals::Stop;
use client::parts::Limit;
use control::{Duration, Rate, Time};
use net::client::{CommandError, Connection, Endpoint};
use packet::Name;
use security::Signer;
use transport::publish::{Preparation, Publication, Publish, PublishError};

/// Answers wait for this long at most where the rate is limited: half of the lifetime of most
/// Interests, so that an answer still finds its Interest pending.
const LONGEST_WAIT: Duration = Duration::from_secs(2);
/// The least number of answers that may wait at any rate: a consumer's first Interests come at
/// once.
const FEWEST_WAITING: u64 = 64;

/// Answers whose bytes are on their way are tried again after this time.
const RETRY: Duration = Duration::from_millis(1);

/// The interval at which signals, changed files and the end are looked at.
const TICK: Duration = Duration::from_millis(250);

/// The message of an interruption before the first answer.
pub const NOTHING_PUBLISHED: &str = "nothing was published; run the same command again";

/// Hashes a file on all cores, signing its segments if they are to be, with progress, and signs its
/// manifest.
pub fn prepare(
    mut preparation: Preparation<FileSource>,
    signer: &Signer,
    progress: &Progress,
    stop: &Stop,
) -> Result<Publication, Failure> {
    progress.begin(Some(preparation.size()), 0);
    if !digest(&mut preparation, &|bytes| progress.at(bytes), stop)? {
        return Err(Failure::new(Kind::Interrupted, "interrupted").then(NOTHING_PUBLISHED));
    }
    Ok(preparation.finish(signer)?)
}

/// Hashes a file on all cores, and reports the number of hashed bytes. Returns false if it was
/// interrupted.
pub fn digest(
    preparation: &mut Preparation<FileSource>,
    at: &dyn Fn(u64),
    stop: &Stop,
) -> Result<bool, PublishError> {
    client::parts::digest(preparation, at, &|| stop.requested())
}

/// A producer, and the limit of its rate.
struct Driven<'a> {
    publish: &'a mut Publish,
    limit: &'a mut Limit,
    /// When answers whose bytes are on their way are tried again.
    retry: &'a mut Option<Time>,
}

impl Endpoint for Driven<'_> {
    fn receive(&mut self, _now: Time, frame: &[u8]) {
        self.publish.receive(frame);
    }

    fn poll_transmit(&mut self, now: Time, out: &mut Vec<u8>) -> bool {
        let before = out.len();
        let sent = self.limit.allows(now) && self.publish.poll_transmit(out);
        self.limit.passed(now, out.len() - before);
        sent
    }

    fn next_deadline(&mut self, now: Time) -> Option<Time> {
        let next = self.limit.next(now).filter(|_| self.publish.has_answers());
        if !self.publish.has_parked() {
            *self.retry = None;
            return next;
        }
        let retry = *self.retry.get_or_insert(now + RETRY);
        Some(next.map_or(retry, |next| next.min(retry)))
    }

    fn on_deadline(&mut self, now: Time) {
        if self.retry.is_some_and(|retry| retry <= now) {
            *self.retry = None;
            self.publish.unpark();
        }
    }
}

/// The content of a producer, which may change while it is served.
pub trait Content {
    /// Called several times a second: replaces changed content.
    ///
    /// # Errors
    /// Serving must end.
    fn look(&mut self, publish: &mut Publish, look: &Look<'_>) -> Result<(), Failure>;

    /// The prefixes to register in addition, since the last call.
    fn new_prefixes(&mut self) -> Vec<Name> {
        Vec::new()
    }

    /// The prefixes without content, since the last call.
    fn old_prefixes(&mut self) -> Vec<Name> {
        Vec::new()
    }
}

/// The observer of a producer.
pub struct Look<'a> {
    /// Shows the number of sent bytes.
    pub progress: &'a Progress,
    /// The signal to stop.
    pub stop: &'a Stop,
    /// Every tick in which something was answered gets a line.
    pub verbose: bool,
}

/// One line for `--verbose`: the received Interests and their results.
fn state(now: Time, publish: &Publish) -> String {
    let stats = publish.stats();
    format!(
        "{:.6} state answered={} bytes={} refused={} unknown={} dropped={} malformed={} failed={}",
        now.as_secs_f64(),
        stats.answered,
        stats.content_bytes,
        stats.rejected,
        stats.unknown,
        stats.dropped,
        stats.malformed,
        stats.failed,
    )
}

/// The end and the rate of serving.
#[derive(Clone, Copy, Debug, Default)]
pub struct ServeSettings {
    /// It ends this long after its last answer.
    pub linger: Option<Duration>,
    /// The maximum rate of sent bytes.
    pub rate: Option<Rate>,
}

/// The registration that a forwarder needs before it forwards Interests to this program.
pub type Greet<'a> = dyn FnMut(&mut Connection) -> Result<(), CommandError> + 'a;

/// Serves until interrupted, or for `linger` after the last answer. Waits for a forwarder that goes
/// away, and registers again when it is back.
pub fn serve(
    connection: &mut Connection,
    publish: &mut Publish,
    content: &mut dyn Content,
    settings: &ServeSettings,
    look: &Look<'_>,
    outage: &mut Outage<'_>,
    greet: &mut Greet<'_>,
) -> Result<(), Failure> {
    let linger = settings.linger;
    let mut limit = Limit::new(settings.rate);
    if let Some(rate) = settings.rate {
        let answers = rate.size_in(LONGEST_WAIT).0 / packet::MAX_PACKET as u64;
        publish.bound_waiting(answers.max(FEWEST_WAITING) as usize);
    }
    let mut tick = connection.now();
    let (mut answered, mut answered_at) = (0, connection.now());
    let mut answered_before = 0;
    let (mut recent, mut retry) = (Recent::default(), None);
    look.progress.begin_endless();
    while !look.stop.requested() {
        let mut driven = Driven { publish, limit: &mut limit, retry: &mut retry };
        if let Err(lost) = connection.turn(&mut driven, tick + TICK) {
            if publish.stats().answered != answered_before {
                answered_before = publish.stats().answered;
                outage.was_useful();
            }
            // So long after the last answer no consumer is left.
            let until = linger.filter(|_| answered > 0).map(|span| answered_at + span);
            if outage.end(connection, lost, until, greet)? != Outcome::Back {
                return Ok(());
            }
            publish.forget_waiting();
            answered_at = connection.now();
        }
        let now = connection.now();
        if now < tick + TICK {
            continue;
        }
        tick = now;
        let sent = publish.stats().content_bytes;
        look.progress.sent(sent, recent.look(now, sent));
        content.look(publish, look)?;
        for prefix in content.old_prefixes() {
            // The next turn reports a lost connection.
            if let Err(error) = connection.unregister(&prefix) {
                look.progress.warn(&format!("{error}"));
            }
        }
        for prefix in content.new_prefixes() {
            // If the connection has ended, the next turn notices, and the next one is greeted.
            if let Err(error) = connection.register(&prefix) {
                look.progress.warn(&format!("{error}"));
            }
        }
        if publish.stats().answered != answered {
            (answered, answered_at) = (publish.stats().answered, now);
            if look.verbose {
                look.progress.above(&state(now, publish));
            }
        }
        if linger.is_some_and(|span| answered > 0 && now >= answered_at + span) {
            return Ok(());
        }
    }
    Ok(())
}
