//! Deadlines: entries expire, strategies are asked again, links and parts of faces are called,
//! shapers release Interests.

use control::{Direction, InterestMeta, Released, Time};
use packet::options::answer;
use packet::{HopOptions, Interest, NackReason};

use super::Pipeline;
use super::context::InterestCx;
use super::interest::enter;
use super::nack::given_up;
use crate::counters::DropReason;
use crate::link::shaping::{Early, Expected, Missed, Waiting};
use crate::node::subject_of;
use crate::state::faces::Faces;
use crate::state::strategies::{Question, Trigger};
use crate::state::tables::{Ending, Tables};
use crate::tables::{FaceId, PitKey};

/// A reason to call the forwarder at an instant, in the order in which they are served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Timer {
    /// PIT entries expire, or their strategies are asked again.
    Entries,
    /// The timers of faces.
    Faces,
}

impl Timer {
    const ALL: [Timer; 2] = [Timer::Entries, Timer::Faces];

    /// When the timer goes off, if it is set.
    fn due(self, tables: &Tables, faces: &Faces) -> Option<Time> {
        match self {
            Timer::Entries => tables.pit().next_deadline(),
            Timer::Faces => faces.next_deadline(),
        }
    }
}

/// When the first timer goes off.
pub(crate) fn next_deadline(tables: &Tables, faces: &Faces) -> Option<Time> {
    Timer::ALL.into_iter().filter_map(|timer| timer.due(tables, faces)).min()
}

/// The instant has come that the forwarder asked for.
pub(crate) fn on_deadline(p: &mut Pipeline<'_>) {
    // Also if nothing of it is due: the call moves the timing wheels of the PIT on.
    for timer in Timer::ALL {
        match timer {
            Timer::Entries => {
                expire(p);
                ask_again(p);
            }
            Timer::Faces => serve_faces(p),
        }
    }
    // Faces that have come to rest release what their queues kept.
    p.faces.recount(p.tables);
}

/// Serves the timers of faces.
fn serve_faces(p: &mut Pipeline<'_>) {
    let due = p.faces.take_due(p.now);
    for face in due.iter().copied() {
        p.with_link(face, |link, env, _| link.on_deadline(env));
        given_up(p, face);
        release(p, face);
        p.wake(face);
        p.faces.postpone(p.now, face);
    }
    p.faces.finish_due(due);
}

/// Ends entries that have expired.
fn expire(p: &mut Pipeline<'_>) {
    for _ in 0..p.settings.ended_at_once {
        let now = p.now;
        let Some((key, mut entry)) = p.tables.pop_expired(now) else { break };
        if entry.lingers() {
            continue;
        }
        p.stats().expired += 1;
        p.credit_nothing(key, &entry);
        let bytes = entry.name().to_name();
        let name = p.tables.hasher().hash(bytes.as_ref());
        let question = Question {
            now,
            name: &name,
            trigger: Trigger::Expiry,
            ingress: entry.in_records().first().map_or(FaceId(0), |record| record.face),
            mark: 0,
            reach: None,
        };
        let mut options = HopOptions::new();
        let (links, taps) = p.faces.links_and_taps(now);
        p.tables.ask_of_ended(question, &mut entry, &mut options, &links, taps);
        p.tables.record_nonces(now, &name, &entry, Ending::Unsatisfied);
    }
}

/// Asks the strategies of entries that wanted to be asked again.
fn ask_again(p: &mut Pipeline<'_>) {
    for _ in 0..p.settings.ended_at_once {
        let now = p.now;
        let Some(key) = p.tables.pop_retry(now) else { break };
        p.reconsider(key, None, Trigger::Timer, HopOptions::new());
    }
}

/// Takes the Interests from a face's shaper that it lets through, or rejects, now.
fn release(p: &mut Pipeline<'_>, face: FaceId) {
    while let Some((released, waiting)) =
        p.with_link(face, |link, env, _| link.parts().release(env)).flatten()
    {
        let (meta, rejected) = match released {
            Released::Pass(meta) => (meta, false),
            Released::Rejected(meta) => (meta, true),
        };
        match waiting {
            Waiting::Early(early) => release_early(p, face, &early, meta, rejected),
            Waiting::Missed(missed) => release_miss(p, face, missed, &meta, rejected),
            Waiting::Pending(key) => release_departure(p, face, key, meta, rejected),
        }
    }
}

/// The Data that a face's parts expect for an Interest that its shaper releases.
fn expected(p: &Pipeline<'_>, meta: &InterestMeta) -> Expected {
    Expected { flow: meta.flow, size: meta.expected, released_at: Some(p.now) }
}

/// The downstream's shaper lets an Interest go that is not in the PIT yet.
fn release_early(
    p: &mut Pipeline<'_>,
    face: FaceId,
    early: &Early,
    meta: InterestMeta,
    rejected: bool,
) {
    let Ok(interest) = Interest::decode(&early.packet) else { return };
    let nonce = interest.nonce().unwrap_or_default();
    if rejected {
        p.count_drop(face, DropReason::ShaperRejected);
        let (token, options) = (early.token.clone(), answer(&meta.options, None));
        return p.send_nack(face, &interest, nonce, token, options, NackReason::Congestion);
    }
    let expected = expected(p, &meta);
    if meta.expires <= p.now {
        return drop_expired(p, face, &expected);
    }
    let name = p.hashed(interest.name());
    let mut a = InterestCx {
        token: early.token.clone(),
        mark: early.mark,
        options: meta.options,
        chosen_face: early.chosen_face,
        subject: subject_of(&name),
        expected: Some(expected),
        ..InterestCx::new(face, &interest, &name, nonce, meta.expires)
    };
    enter(p, &mut a);
}

/// The downstream's shaper lets an Interest go that the content store could not answer.
fn release_miss(
    p: &mut Pipeline<'_>,
    face: FaceId,
    missed: Missed,
    meta: &InterestMeta,
    rejected: bool,
) {
    let key = missed.key;
    let waits = p.pit().get(key).is_some_and(|entry| entry.in_record(face).is_some());
    let expected = expected(p, meta);
    if rejected {
        // It was not let through, so that there is no credit to return.
        return match waits {
            true => p.reject_pending(key, face, DropReason::ShaperRejected),
            false => p.count_drop(face, DropReason::HeldExpired),
        };
    }
    if !waits || meta.expires <= p.now {
        return drop_expired(p, face, &expected);
    }
    p.with_link(face, |link, env, _| link.parts().expect(env, Direction::Out, key, expected));
    p.forward_missed(face, missed);
}

/// The upstream's shaper lets an Interest go, or rejects it after all.
fn release_departure(
    p: &mut Pipeline<'_>,
    face: FaceId,
    key: PitKey,
    meta: InterestMeta,
    rejected: bool,
) {
    let now = p.now;
    let expected = expected(p, &meta);
    let Some(entry) = p.pit().get(key) else {
        return match rejected {
            true => p.count_drop(face, DropReason::HeldExpired),
            false => drop_expired(p, face, &expected),
        };
    };
    let Some(record) = entry.out_record(face) else { return };
    let nonce = record.nonce;
    if rejected {
        let bytes = entry.name().to_name();
        p.tables.note_rejected(now, key, face);
        p.count_drop(face, DropReason::ShaperRejected);
        let name = p.tables.hasher().hash(bytes.as_ref());
        let mut answer = HopOptions::new();
        p.stamp_nack_in(face, &name, &mut answer);
        let trigger = Trigger::Nack(NackReason::Congestion);
        return p.reconsider(key, Some(face), trigger, answer);
    }
    if meta.expires <= now {
        p.tables.note_released(now, key, face);
        return drop_expired(p, face, &expected);
    }
    let ingress = entry.in_records().last().map_or(FaceId(0), |record| record.face);
    let bytes = entry.interest().to_vec();
    let Ok(interest) = Interest::decode(&bytes) else { return };
    let name = p.hashed(interest.name());
    let out = InterestCx {
        subject: subject_of(&name),
        ..InterestCx::new(ingress, &interest, &name, nonce, meta.expires)
    };
    p.release_interest(key, &out, face, meta);
}

/// An Interest has expired while it was held. The shaper has let it through and gets its credit
/// back.
fn drop_expired(p: &mut Pipeline<'_>, face: FaceId, expected: &Expected) {
    p.count_drop(face, DropReason::HeldExpired);
    p.with_link(face, |link, env, _| link.parts().returned(env, expected, None));
}
