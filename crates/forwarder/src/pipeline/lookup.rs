//! The steps of an Interest's journey in content store and PIT, and from there to the upstreams.
//! Segments of a range Interest take the same steps.

use control::{Size, Stage};
use packet::NackReason;
use packet::options::{Exclude, answer};

use super::Pipeline;
use super::context::InterestCx;
use super::exclusion::excludes;
use crate::counters::DropReason;
use crate::events::Step;
use crate::link::queue::QueuedData;
use crate::link::shaping::{Offered, Waiting};
use crate::tables::{PitEntry, PitKey, Refusal};

/// PIT and content store, for an Interest that asks for one thing.
pub(super) fn enter_one(p: &mut Pipeline<'_>, a: &mut InterestCx<'_>) {
    // PIT: a nonce that is pending here has come round a loop.
    let excludes = excludes(&a.options);
    let key = p.pit().find_entry(a.interest, a.name, excludes);
    let entry = key.and_then(|key| p.pit().get(key));
    let pending = entry.is_some_and(|entry| !entry.in_records().is_empty());
    if entry.is_some_and(|entry| p.is_loop(entry, a)) {
        p.return_credit(a);
        return p.reject(a, DropReason::Duplicate, NackReason::Duplicate);
    }
    // Content store, unless the same Interest is pending. An Interest that excludes packets looks
    // there in any case: the store may have a packet that another consumer excludes.
    if (!pending || excludes) && answer_from_store(p, a) {
        return;
    }
    // PIT: a new entry, or a further downstream of the one that there is.
    let key = key.filter(|key| !end_lingering(p, *key));
    let stored = match key {
        Some(key) => p.join(key, a).map(|()| key),
        None => p.insert(a),
    };
    let key = match stored {
        Ok(key) => key,
        Err(refusal) => {
            p.return_credit(a);
            return match refusal {
                // No route can be so deep, and the consumer need not wait for a timeout.
                Refusal::PrefixTooDeep => p.reject(a, refusal.into(), NackReason::NoRoute),
                _ => p.count_drop(a.face, refusal.into()),
            };
        }
    };
    if pending {
        p.stats().aggregated += 1;
        p.faces.show(a.face, Step::Aggregated);
    }
    go_on(p, key, a);
}

/// Discards an entry that lingers after its Data. Returns true if it did.
fn end_lingering(p: &mut Pipeline<'_>, key: PitKey) -> bool {
    let lingers = p.pit().get(key).is_some_and(PitEntry::lingers);
    if lingers {
        p.tables.discard(key);
    }
    lingers
}

/// Content store; a hit goes the Data's way. Nothing hop-by-hop comes out of it: the token is the
/// Interest's, the options are those of an answer to it, and there is no mark.
pub(super) fn answer_from_store(p: &mut Pipeline<'_>, a: &InterestCx<'_>) -> bool {
    p.faces.bound_store(p.tables);
    let excluded = if excludes(&a.options) { a.options.get::<Exclude>() } else { None };
    let found = p.tables.cache_mut().find(p.now, a.interest, a.name, excluded.as_ref());
    let Some(packet) = found else { return false };
    p.faces.show(a.face, Step::Hit);
    let mut options = answer(&a.options, Some(p.faces.node_id()));
    p.tables.note_answer(p.now, &a.options, &packet, &mut options);
    if let Some(expected) = a.expected {
        let size = Size(packet.len() as u64);
        p.with_link(a.face, |link, env, _| link.returned(env, &expected, Some(size)));
    }
    let item = QueuedData {
        at: p.now,
        packet,
        token: a.token.clone(),
        mark: 0,
        options,
        from: 0,
        subject: a.subject,
    };
    p.send_data(a.face, item);
    true
}

/// The Interest is in the PIT and leaves for the upstreams.
pub(super) fn go_on(p: &mut Pipeline<'_>, key: PitKey, a: &mut InterestCx<'_>) {
    // Shaper of the downstream, if it works on a miss.
    if !p.has_parts() || pass_miss_shaper(p, key, a) {
        // FIB and strategy, then the shaper and the queue of each upstream.
        p.forward(key, a);
    }
}

/// Shaper of the downstream at stage *miss*; says whether the Interest goes on now.
fn pass_miss_shaper(p: &mut Pipeline<'_>, key: PitKey, a: &mut InterestCx<'_>) -> bool {
    let Some(mut expected) = a.expected else { return true };
    let now = p.now;
    let offered = p.with_link(a.face, |link, env, _| {
        let options = std::mem::take(&mut a.options);
        let meta = a.meta(options, expected.size, a.expires);
        let offered =
            link.offer(env, Stage::Miss, None, meta, Some(key.to_bits()), || Waiting::Pending(key));
        let passed = matches!(offered, Some(Offered::Pass(_)));
        if passed && link.shaper_stage() == Some(Stage::Miss) {
            expected.released_at = Some(now);
        }
        link.expect(env, control::Direction::Out, key, expected);
        offered
    });
    p.wake(a.face);
    passes(p, a, offered.flatten()).unwrap_or_else(|reason| {
        p.reject_pending(key, a.face, reason);
        false
    })
}

/// Acts on the decision of the downstream's shaper: true if the Interest goes on now. Its options
/// are those that the shaper leaves.
pub(super) fn passes(
    p: &mut Pipeline<'_>,
    a: &mut InterestCx<'_>,
    offered: Option<Offered>,
) -> Result<bool, DropReason> {
    match offered {
        Some(Offered::Pass(meta)) => {
            a.options = meta.options;
            Ok(true)
        }
        Some(Offered::Held) => Ok(false),
        Some(Offered::Refused(options)) => {
            a.options = options;
            Err(DropReason::ShaperRefused)
        }
        Some(Offered::Full) => Err(DropReason::HeldLimit),
        None => {
            p.count_drop(a.face, DropReason::HeldDuplicate);
            Ok(false)
        }
    }
}
