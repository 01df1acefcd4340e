//! Measurements of next hops, by FIB entry.

use control::{Duration, NextHop, RttEstimate, Time};
use std::collections::BTreeMap;

/// FIB entries with measurements; the one unused for longest makes room.
const MOST_SPACES: usize = 1024;
/// Next hops of one that are remembered; likewise.
const MOST_WAYS: usize = 64;
/// NFD, `AsfMeasurements::MEASUREMENTS_LIFETIME`.
const LIFETIME: Duration = Duration::from_secs(300);

/// FIB entries by the bytes of their prefixes.
#[derive(Default)]
pub(super) struct Measured(BTreeMap<Box<[u8]>, Space>);

impl Measured {
    pub(super) fn find(&mut self, prefix: &[u8]) -> Option<&mut Space> {
        self.0.get_mut(prefix)
    }

    /// The one of this prefix, new if need be.
    pub(super) fn enter(&mut self, now: Time, prefix: &[u8]) -> &mut Space {
        if !self.0.contains_key(prefix) {
            if self.0.len() >= MOST_SPACES {
                let oldest = self.0.iter().min_by_key(|(_, space)| space.used);
                if let Some(oldest) = oldest.map(|(prefix, _)| prefix.clone()) {
                    self.0.remove(&oldest);
                }
            }
            self.0.insert(prefix.into(), Space::default());
        }
        let space = self.0.entry(prefix.into()).or_default();
        space.used = now;
        space
    }
}

/// A FIB entry.
#[derive(Default)]
pub(super) struct Space {
    ways: Vec<Way>,
    /// When another next hop is to be probed; `None` before the first Interest.
    probe_at: Option<Time>,
    number: u64,
    used: Time,
}

/// A next hop.
struct Way {
    face: u64,
    rtt: RttEstimate,
    /// Since the last Data.
    timeouts: u32,
    timed_out: bool,
    /// The Interest that is timed, and until when.
    awaited: Option<(u64, Time)>,
    used: Time,
}

impl Space {
    /// A number for an Interest; never zero.
    pub(super) fn next_number(&mut self) -> u64 {
        // 48 bits last for a while.
        self.number = (self.number + 1) & 0xffff_ffff_ffff;
        self.number = self.number.max(1);
        self.number
    }

    /// True if another next hop is to be probed. The first probe is due `wait` after the first
    /// call.
    pub(super) fn wants_probe(&mut self, now: Time, wait: impl FnOnce() -> Duration) -> bool {
        let first = self.probe_at.is_none();
        let due = *self.probe_at.get_or_insert_with(|| now + wait());
        !first && due <= now
    }

    /// The next probe is due at this time.
    pub(super) fn set_next_probe(&mut self, at: Time) {
        self.probe_at = Some(at);
    }

    fn way(&mut self, face: u64) -> Option<&mut Way> {
        self.ways.iter_mut().find(|way| way.face == face)
    }

    /// Counts the timeouts that there were until now, and forgets what was not used for long.
    pub(super) fn lapse(&mut self, now: Time, max_timeouts: u32) {
        self.ways.retain_mut(|way| {
            if way.awaited.is_some_and(|(_, until)| until <= now) {
                way.awaited = None;
                way.timeouts = way.timeouts.saturating_add(1);
                way.timed_out |= way.timeouts >= max_timeouts;
            }
            now.since(way.used) < LIFETIME
        });
    }

    /// The Interest of this number was sent to a next hop.
    pub(super) fn asked(&mut self, now: Time, face: u64, number: u64) {
        if self.way(face).is_none() {
            if self.ways.len() >= MOST_WAYS {
                let oldest = self.ways.iter().enumerate().min_by_key(|(_, way)| way.used);
                if let Some((oldest, _)) = oldest {
                    self.ways.swap_remove(oldest);
                }
            }
            let rtt = RttEstimate::new();
            let (timeouts, timed_out, awaited) = (0, false, None);
            self.ways.push(Way { face, rtt, timeouts, timed_out, awaited, used: now });
        }
        let Some(way) = self.way(face) else { return };
        way.used = now;
        way.awaited = way.awaited.or(Some((number, now + way.rtt.rto())));
    }

    /// Its Data came, `after` the Interest was sent.
    pub(super) fn answered(&mut self, now: Time, face: u64, after: Duration, number: u64) {
        let Some(way) = self.way(face) else { return };
        way.used = now;
        way.rtt.sample(after);
        (way.timeouts, way.timed_out) = (0, false);
        way.stop_waiting(number);
    }

    /// A Nack came instead, or the Interest was given up on its way.
    pub(super) fn failed(&mut self, face: u64, number: u64) {
        let Some(way) = self.way(face) else { return };
        way.timed_out = true;
        way.stop_waiting(number);
    }

    /// The first of these in the order of the strategy.
    pub(super) fn best<'h>(&self, hops: impl Iterator<Item = &'h NextHop>) -> Option<u64> {
        hops.min_by_key(|hop| (self.rank(hop.face), hop.cost)).map(|hop| hop.face)
    }

    /// Measured ones by round-trip time, those without a measurement, those that have timed out.
    fn rank(&self, face: u64) -> (u8, Duration) {
        match self.ways.iter().find(|way| way.face == face) {
            Some(way) if way.timed_out => (2, Duration::ZERO),
            Some(Way { rtt, .. }) if rtt.smoothed().is_some() => (0, smoothed(rtt)),
            _ => (1, Duration::ZERO),
        }
    }

    /// The one of these that is to be probed; `point` is in [0, 1).
    pub(super) fn to_probe<'h>(
        &self,
        hops: impl Iterator<Item = &'h NextHop>,
        point: f64,
    ) -> Option<u64> {
        let mut ranked = Vec::new();
        for hop in hops {
            let known = self.ways.iter().find(|way| way.face == hop.face);
            match known.filter(|way| way.rtt.smoothed().is_some()) {
                Some(way) => ranked.push((way.timed_out, smoothed(&way.rtt), hop.face)),
                None => return Some(hop.face),
            }
        }
        ranked.sort_unstable();
        let n = ranked.len();
        let mut left = point * (n * (n + 1) / 2) as f64;
        let mut chances = ranked.iter().zip((1..=n).rev());
        let chosen = chances.find(|(_, chance)| {
            left -= *chance as f64;
            left < 0.0
        });
        chosen.map(|((.., face), _)| *face).or(ranked.last().map(|(.., face)| *face))
    }
}

fn smoothed(rtt: &RttEstimate) -> Duration {
    rtt.smoothed().unwrap_or_default()
}

impl Way {
    fn stop_waiting(&mut self, number: u64) {
        self.awaited = self.awaited.filter(|(awaited, _)| *awaited != number);
    }
}
