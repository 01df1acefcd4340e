//! Where Data comes from: a bounded table of nodes or paths, each with a lane of its own.
//!
//! The network names the answering node, and may lie: a new name with each Data packet must neither
//! grow the memory nor displace current sources. A table of [`MOST`] sources is full; then the one
//! with the oldest answer is replaced.

use control::{Lane, Time};

/// The most sources or paths that a consumer keeps apart. A path through a network has fewer
/// routers, and the numbers of a source that comes back after that many others are stale.
pub(crate) const MOST: usize = 32;

/// One of them.
#[derive(Clone, Debug)]
pub(crate) struct Known<T> {
    /// Its identity in the network.
    pub(crate) id: u64,
    /// When its place became its own: what was asked in this lane before that, others were asked.
    pub(crate) since: Time,
    /// When it was seen last.
    pub(crate) last_seen: Time,
    /// The scheme's state of it.
    pub(crate) state: T,
}

/// The table. Lane 0 belongs to no source: it is for answers without an identity.
#[derive(Clone, Debug)]
pub(crate) struct Sources<T> {
    known: Vec<Known<T>>,
    /// How many had to make room.
    evicted: u64,
}

impl<T> Sources<T> {
    /// A table without sources.
    pub(crate) const fn new() -> Sources<T> {
        Sources { known: Vec::new(), evicted: 0 }
    }

    /// How many had to make room.
    pub(crate) fn evicted(&self) -> u64 {
        self.evicted
    }

    /// The lane of `id`, if it is known.
    pub(crate) fn lane(&self, id: u64) -> Option<Lane> {
        self.known.iter().position(|known| known.id == id).map(lane_of)
    }

    /// The one in `lane`.
    pub(crate) fn get(&self, lane: Lane) -> Option<&Known<T>> {
        self.known.get(usize::from(lane).checked_sub(1)?)
    }

    /// The one in `lane`, to change it.
    pub(crate) fn get_mut(&mut self, lane: Lane) -> Option<&mut Known<T>> {
        self.known.get_mut(usize::from(lane).checked_sub(1)?)
    }

    /// All with their lanes.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Lane, &Known<T>)> {
        self.known.iter().enumerate().map(|(at, known)| (lane_of(at), known))
    }

    /// All, to change them.
    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = (Lane, &mut Known<T>)> {
        self.known.iter_mut().enumerate().map(|(at, known)| (lane_of(at), known))
    }

    /// `id` has answered: its lane, and true if it is new. A new source may replace another.
    pub(crate) fn observe(&mut self, now: Time, id: u64, new: impl FnOnce() -> T) -> (Lane, bool) {
        if let Some(at) = self.known.iter().position(|known| known.id == id) {
            self.known[at].last_seen = now;
            return (lane_of(at), false);
        }
        let known = Known { id, since: now, last_seen: now, state: new() };
        if self.known.len() < MOST {
            self.known.push(known);
            return (lane_of(self.known.len() - 1), true);
        }
        self.evicted += 1;
        let oldest = (0..self.known.len()).min_by_key(|at| self.known[*at].last_seen).unwrap_or(0);
        self.known[oldest] = known;
        (lane_of(oldest), true)
    }
}

/// Places are fewer than [`MOST`].
fn lane_of(at: usize) -> Lane {
    at as Lane + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_name_with_each_data_grows_nothing() {
        let mut sources: Sources<u64> = Sources::new();
        assert_eq!(sources.observe(Time(0), 7, || 70), (1, true));
        for n in 1..10_000 {
            let (lane, _) = sources.observe(Time(n), 1000 + n, || n);
            assert!((1..=MOST).contains(&usize::from(lane)));
            // A source that answers now stays.
            assert_eq!(sources.observe(Time(n), 7, || 0), (1, false));
        }
        assert_eq!((sources.known.len(), sources.get(1).unwrap().state), (MOST, 70));
        // Of 9,999 others 31 have a place.
        assert_eq!(sources.evicted, 9_999 - (MOST as u64 - 1));
    }

    #[test]
    fn the_least_recently_seen_source_is_replaced() {
        let mut sources: Sources<()> = Sources::new();
        for n in 0..MOST as u64 {
            sources.observe(Time(n), n, || ());
        }
        sources.observe(Time(100), 0, || ());
        let (lane, new) = sources.observe(Time(101), 99, || ());
        assert_eq!((lane, new, sources.lane(1)), (2, true, None), "1 was seen at 1 ns");
        assert_eq!(sources.get(2).unwrap().since, Time(101));
        assert_eq!((sources.lane(0), sources.get(0).is_none()), (Some(1), true));
    }
}
