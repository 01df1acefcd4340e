//! Next hops that have fallen silent: strategies that choose one next hop set them aside.
//!
//! A strategy that sends new Interests to one next hop, and retransmissions to another, loses one
//! Interest for each Data while the first is dead. [`watch`] wraps such a strategy and judges each
//! next hop of each FIB entry, but only against another next hop that answered the same Interest:
//! where no next hop answers, the name has no Data, and no next hop is to blame.
//!
//! - A next hop is watched from the first retransmission that goes elsewhere, or from the first
//!   Interest that expires unanswered. Its next Data below the prefix ends that.
//! - It is set aside when it left `silent_after` Interests unanswered, another next hop answered
//!   one of them, and it was silent for as long as the downstream had waited before it asked again,
//!   or 250 ms. A burst of losses on a working path ends with Data before that.
//! - The wrapped strategy chooses among the others. A retransmission that all others have had
//!   already goes to one that is set aside as well: it may be the only one with this Data.
//! - After 1 s, 2 s, … 30 s, a copy of a new Interest goes to one that is set aside. Data from it
//!   bring it back; for 1 s that holds for an answer that another one has overtaken, too. If it
//!   fails again within 30 s, the time between copies goes on doubling.
//! - A downstream that asks again only when its Interest is over shows no retransmission. After
//!   `silent_after` Interests that expired, a copy of a new Interest goes to another next hop, at
//!   the same distances, so that there is an answer to compare with.
//!
//! NFD does nothing of this: its best-route goes on sending each new Interest to the cheapest next
//! hop. An Interest that says itself which path to take (RFC 9531, MIRCC's hints) is not touched.
//! Interests with a forwarding hint share what is known of the empty prefix.

use super::attempts::is_untried;
use control::{
    Action, Duration, NextHop, ParamSpec, Params, Strategy, StrategyCx, Time, Upstream, Value,
};
use packet::NackReason;
use packet::options::{LabelMode, PathLabel, SteeringHint};
use std::collections::BTreeMap;

/// The parameter, for the tables of the strategies that are wrapped.
pub(crate) const PARAM: ParamSpec = ParamSpec {
    name: "silent_after",
    default: Value::Number(3.0),
    range: (0.0, 1e6),
    help: "Interests unanswered, of which another next hop answered one, after which a next hop \
           is set aside; 0: never",
    source: "own; NFD's ASF gives up a next hop after three timeouts",
};

/// A next hop is silent for at least this long before it is set aside.
const LEAST_GRACE: Duration = Duration::from_millis(250);
/// A downstream that waited longer does not make it longer.
const MOST_GRACE: Duration = Duration::from_secs(2);
/// The time between copies at first, and the longest.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
/// How long the answer to a copy is awaited after that of the other next hop.
const LINGER: Duration = Duration::from_secs(1);
/// FIB entries that are watched; the one unused for longest makes room.
const MOST_PREFIXES: usize = 1024;
/// Next hops that are watched for each.
const MOST_WAYS: usize = 16;

/// The bits of the first word of a note that are the wrapper's: one more than the components of the
/// FIB entry, or 0. Strategies keep times of less than 2^48 ns there, or small numbers.
const TAG_SHIFT: u32 = 48;
const OWN: u64 = (1 << TAG_SHIFT) - 1;

/// The strategy, with silent next hops set aside.
pub(crate) fn watch(params: &Params, inner: impl Strategy + 'static) -> Box<dyn Strategy> {
    let limit = params.number(PARAM.name).ceil() as u32;
    Box::new(Watched { inner, limit, prefixes: BTreeMap::new() })
}

struct Watched<S> {
    inner: S,
    /// `silent_after`.
    limit: u32,
    /// The watched prefixes, by the bytes of the FIB entry's prefix. Empty while all next hops
    /// answer.
    prefixes: BTreeMap<Vec<u8>, Watch>,
}

/// The next hops of a FIB entry that are watched.
struct Watch {
    ways: Vec<Way>,
    used_at: Time,
}

/// A next hop that is watched.
#[derive(Clone, Copy, Debug)]
struct Way {
    face: u64,
    /// The time since which it has been silent.
    since: Time,
    /// How long it has to be silent.
    grace: Duration,
    /// Interests that expired, and those that another next hop answered, since its last Data.
    expired: u32,
    overtaken: u32,
    is_aside: bool,
    /// When the next copy is due, and how long after that the one after it.
    copy_at: Time,
    pause: Duration,
    /// It was set aside, and Data came from it then.
    back_at: Option<Time>,
}

impl Way {
    fn new(face: u64, now: Time, grace: Duration) -> Way {
        Way {
            face,
            since: now,
            grace,
            expired: 0,
            overtaken: 0,
            is_aside: false,
            copy_at: now,
            pause: FIRST_PAUSE,
            back_at: None,
        }
    }

    fn unanswered(&self) -> u32 {
        self.expired.saturating_add(self.overtaken)
    }

    /// True if it has left at least `limit` Interests unanswered, and is not set aside.
    fn is_doubted(&self, limit: u32) -> bool {
        !self.is_aside && self.unanswered() >= limit
    }

    /// Sets it aside if there is reason to.
    fn judge(&mut self, now: Time, limit: u32) {
        let is_silent = self.overtaken > 0 && self.unanswered() >= limit;
        if self.is_aside || !is_silent || now < self.since + self.grace {
            return;
        }
        self.is_aside = true;
        if self.back_at.is_none() {
            self.pause = FIRST_PAUSE;
        }
        self.copy_at = now + self.pause;
        self.back_at = None;
    }

    /// A copy leaves because of it.
    fn note_copy(&mut self, now: Time) {
        self.pause = Duration(self.pause.0.saturating_mul(2)).min(LONGEST_PAUSE);
        self.copy_at = now + self.pause;
    }

    /// Data came from it. Says whether it is to be remembered still.
    fn answered(&mut self, now: Time) -> bool {
        (self.expired, self.overtaken) = (0, 0);
        if std::mem::take(&mut self.is_aside) {
            self.back_at = Some(now);
        }
        self.back_at.is_some_and(|at| now.since(at) < LONGEST_PAUSE)
    }
}

impl Watch {
    fn way(&mut self, face: u64) -> Option<&mut Way> {
        self.ways.iter_mut().find(|way| way.face == face)
    }

    /// The state of a next hop whose Interest has waited for this time without an answer.
    fn enter(&mut self, now: Time, face: u64, waited: Duration) -> Option<&mut Way> {
        let grace = waited.clamp(LEAST_GRACE, MOST_GRACE);
        match self.ways.iter().position(|way| way.face == face) {
            Some(at) => {
                let way = self.ways.get_mut(at)?;
                if way.unanswered() == 0 && !way.is_aside {
                    (way.since, way.grace) = (now, grace);
                }
                Some(way)
            }
            None if self.ways.len() < MOST_WAYS => {
                self.ways.push(Way::new(face, now, grace));
                self.ways.last_mut()
            }
            None => None,
        }
    }

    fn is_aside(&self, face: u64) -> bool {
        self.ways.iter().any(|way| way.face == face && way.is_aside)
    }

    /// The next hops that are not set aside; all of them, if all are.
    fn usable(&self, hops: &[NextHop]) -> Vec<NextHop> {
        let usable: Vec<_> = hops.iter().filter(|hop| !self.is_aside(hop.face)).copied().collect();
        if usable.is_empty() { hops.to_vec() } else { usable }
    }

    /// Where a copy of a new Interest is to go that was sent to `chosen`, if one is due.
    fn copy(&mut self, now: Time, hops: &[NextHop], chosen: u64, limit: u32) -> Option<u64> {
        let mut due = self.ways.iter_mut().filter(|way| way.is_aside && way.copy_at <= now);
        let aside =
            due.find(|way| way.face != chosen && hops.iter().any(|hop| hop.face == way.face));
        if let Some(way) = aside {
            way.note_copy(now);
            return Some(way.face);
        }
        let place = self.ways.iter().position(|way| {
            let is_due = way.overtaken == 0 && way.copy_at <= now;
            way.face == chosen && is_due && way.is_doubted(limit)
        })?;
        let others = hops.iter().filter(|hop| hop.face != chosen && !self.is_aside(hop.face));
        let other = others.min_by_key(|hop| {
            self.ways.iter().any(|way| way.face == hop.face && way.is_doubted(limit))
        });
        let other = other.map(|hop| hop.face);
        self.ways.get_mut(place)?.note_copy(now);
        other
    }
}

/// The components of the FIB entry whose next hops an Interest had, if there were several.
fn tagged(s: &StrategyCx<'_, '_>) -> Option<usize> {
    usize::try_from(s.note[0] >> TAG_SHIFT).ok()?.checked_sub(1)
}

/// True if an Interest names its path itself.
fn is_steered(s: &StrategyCx<'_, '_>) -> bool {
    let label = s.options.get::<PathLabel>().map(|label| label.mode());
    label.is_some_and(|mode| mode != Some(LabelMode::Discovery))
        || s.options.get::<SteeringHint>().is_some()
}

/// Calls the wrapped strategy with these next hops, and with a note that is its own.
fn ask(s: &mut StrategyCx<'_, '_>, hops: &[NextHop], call: impl FnOnce(&mut StrategyCx<'_, '_>)) {
    let mut note = [s.note[0] & OWN, s.note[1]];
    call(&mut StrategyCx {
        cx: &mut *s.cx,
        name: s.name,
        ingress: s.ingress,
        next_hops: hops,
        prefix: s.prefix,
        links: s.links,
        downstreams: s.downstreams,
        upstreams: s.upstreams,
        options: &mut *s.options,
        mark: s.mark,
        note: &mut note,
        out: &mut *s.out,
    });
    *s.note = [s.note[0] & !OWN | note[0] & OWN, note[1]];
}

/// The face that the wrapped strategy has sent the Interest to.
fn forwarded(s: &StrategyCx<'_, '_>) -> Option<u64> {
    s.out.iter().find_map(|action| match action {
        Action::Forward(face) => Some(*face),
        _ => None,
    })
}

fn is_copied_to(s: &StrategyCx<'_, '_>, face: u64) -> bool {
    s.out.contains(&Action::Probe(face)) || s.out.contains(&Action::Forward(face))
}

fn unanswered<'u>(s: &StrategyCx<'u, '_>) -> impl Iterator<Item = &'u Upstream> {
    s.upstreams.iter().filter(|upstream| upstream.nacked.is_none())
}

impl<S> Watched<S> {
    /// The watch of the prefix of an Interest's FIB entry, created if it does not exist.
    fn enter(&mut self, s: &StrategyCx<'_, '_>, prefix: usize) -> &mut Watch {
        let (now, key) = (s.cx.now, s.name.prefix(prefix).as_bytes());
        if self.prefixes.len() >= MOST_PREFIXES && !self.prefixes.contains_key(key) {
            let oldest = self.prefixes.iter().min_by_key(|(_, watch)| watch.used_at);
            if let Some(oldest) = oldest.map(|(key, _)| key.clone()) {
                self.prefixes.remove(&oldest);
            }
        }
        let watch = self
            .prefixes
            .entry(key.to_vec())
            .or_insert_with(|| Watch { ways: Vec::new(), used_at: now });
        watch.used_at = now;
        watch
    }

    /// The same if it is there.
    fn find(&mut self, s: &StrategyCx<'_, '_>, prefix: usize) -> Option<&mut Watch> {
        if self.prefixes.is_empty() {
            return None;
        }
        self.prefixes.get_mut(s.name.prefix(prefix).as_bytes())
    }

    /// The next hops among which the strategy is to choose.
    fn usable(&mut self, s: &StrategyCx<'_, '_>) -> Option<Vec<NextHop>> {
        let (now, limit) = (s.cx.now, self.limit);
        if s.next_hops.len() < 2 || self.prefixes.is_empty() || is_steered(s) {
            return None;
        }
        let watch = self.find(s, s.prefix)?;
        watch.used_at = now;
        watch.ways.iter_mut().for_each(|way| way.judge(now, limit));
        Some(watch.usable(s.next_hops))
    }

    /// A retransmission has left: those who had the Interest before are watched from now on, and
    /// one that is set aside gets a copy where all the others have had it.
    fn follow_up(&mut self, s: &mut StrategyCx<'_, '_>, chosen: u64, usable: Option<&[NextHop]>) {
        let now = s.cx.now;
        if unanswered(s).any(|upstream| upstream.face != chosen) {
            let watch = self.enter(s, s.prefix);
            for upstream in unanswered(s).filter(|upstream| upstream.face != chosen) {
                watch.enter(now, upstream.face, now.since(upstream.released_at));
            }
        }
        let Some(usable) = usable.filter(|usable| usable.len() < s.next_hops.len()) else { return };
        if usable.iter().all(|hop| hop.face == chosen || s.upstream(hop.face).is_some()) {
            let mut aside = s.next_hops.iter().filter(|hop| !usable.contains(hop));
            let untried = aside.find(|hop| s.upstream(hop.face).is_none());
            let face = untried.map(|hop| hop.face);
            s.out.extend(face.map(Action::Probe));
        }
    }

    /// The Interest was left unanswered by this face, without another to compare with.
    fn note_expired(&mut self, s: &StrategyCx<'_, '_>, prefix: usize, upstream: &Upstream) {
        let now = s.cx.now;
        let watch = self.enter(s, prefix);
        if let Some(way) = watch.enter(now, upstream.face, now.since(upstream.released_at)) {
            way.expired = way.expired.saturating_add(1);
        }
    }

    /// Data: the one that it came from is alive, and those that were asked no later have left the
    /// Interest unanswered. Says whether one of them may still answer a copy.
    fn note_data(&mut self, s: &StrategyCx<'_, '_>) -> bool {
        let (now, from, limit) = (s.cx.now, s.ingress, self.limit);
        let Some(prefix) = tagged(s).filter(|_| !self.prefixes.is_empty()) else { return false };
        let Some(watch) = self.find(s, prefix) else { return false };
        watch.ways.retain_mut(|way| way.face != from || way.answered(now));
        let mut awaits = false;
        if let Some(asked_at) = s.upstream(from).map(|upstream| upstream.released_at) {
            for upstream in unanswered(s).filter(|u| u.face != from && u.released_at <= asked_at) {
                let Some(way) = watch.way(upstream.face) else { continue };
                way.overtaken = way.overtaken.saturating_add(1);
                // The first of its answers that come too late clear it, too.
                awaits |= upstream.released_at == asked_at || way.unanswered() <= limit;
                way.judge(now, limit);
            }
        }
        if watch.ways.is_empty() {
            self.prefixes.remove(s.name.prefix(prefix).as_bytes());
        }
        awaits
    }
}

impl<S: Strategy> Strategy for Watched<S> {
    fn on_interest(&mut self, s: &mut StrategyCx<'_, '_>) {
        let (now, limit, hops) = (s.cx.now, self.limit, s.next_hops);
        if limit == 0 {
            return self.inner.on_interest(s);
        }
        if hops.len() > 1 {
            s.note[0] = s.note[0] & OWN | (s.prefix as u64 + 1).min(0xffff) << TAG_SHIFT;
        }
        let is_new = unanswered(s).next().is_none();
        let usable = self.usable(s);
        ask(s, usable.as_deref().unwrap_or(hops), |s| self.inner.on_interest(s));
        let Some(chosen) = forwarded(s).filter(|_| hops.len() > 1 && !is_steered(s)) else {
            return;
        };
        if !is_new {
            self.follow_up(s, chosen, usable.as_deref());
        } else if let Some(watch) = self.find(s, s.prefix)
            && let Some(face) = watch.copy(now, hops, chosen, limit)
            && !is_copied_to(s, face)
        {
            s.act(Action::Probe(face));
        }
    }

    fn on_data(&mut self, s: &mut StrategyCx<'_, '_>) {
        let awaits = self.note_data(s);
        // The wrapped strategy knows nothing of entries that wait for the answers to copies.
        if !s.downstreams.is_empty() {
            ask(s, s.next_hops, |s| self.inner.on_data(s));
        }
        if awaits {
            s.act(Action::Linger(LINGER));
        }
    }

    /// Those that are set aside come after all others.
    fn on_nack(&mut self, s: &mut StrategyCx<'_, '_>, reason: NackReason) {
        let usable = self.usable(s).filter(|hops| hops.iter().any(|hop| is_untried(s, hop)));
        ask(s, usable.as_deref().unwrap_or(s.next_hops), |s| self.inner.on_nack(s, reason));
    }

    fn on_dropped_interest(&mut self, s: &mut StrategyCx<'_, '_>) {
        if let (Some(prefix), Some(upstream)) = (tagged(s), s.upstream(s.ingress)) {
            self.note_expired(s, prefix, upstream);
        }
        ask(s, s.next_hops, |s| self.inner.on_dropped_interest(s));
    }

    fn on_timer(&mut self, s: &mut StrategyCx<'_, '_>) {
        let usable = self.usable(s);
        ask(s, usable.as_deref().unwrap_or(s.next_hops), |s| self.inner.on_timer(s));
    }

    fn on_expiry(&mut self, s: &mut StrategyCx<'_, '_>) {
        if let Some(prefix) = tagged(s) {
            for upstream in unanswered(s) {
                self.note_expired(s, prefix, upstream);
            }
        }
        ask(s, s.next_hops, |s| self.inner.on_expiry(s));
    }
}

#[cfg(test)]
mod tests;
