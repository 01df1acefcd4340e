//! The playout buffer of a video player.

use control::{Duration, Time};

/// The state of the player.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Waiting for the buffer to fill: at the start, or in a stall that began at `stalled_at`.
    Filling {
        stalled_at: Option<Time>,
    },
    Playing,
    Ended {
        at: Time,
    },
}

/// A playout buffer, measured in playing time. Calls must be in the order of time.
#[derive(Clone, Debug)]
pub(crate) struct Playout {
    phase: Phase,
    /// The content needed to start playing, and to continue after a stall.
    threshold: Duration,
    /// The content at `since`.
    level: Duration,
    since: Time,
    /// No more video will be added.
    is_all: bool,
    began: Option<Time>,
    stalls: u64,
    /// The total time of the stalls that have ended.
    stalled: Duration,
    played: Duration,
}

impl Playout {
    pub fn new(threshold: Duration) -> Playout {
        Playout {
            phase: Phase::Filling { stalled_at: None },
            threshold,
            level: Duration::ZERO,
            since: Time::ZERO,
            is_all: false,
            began: None,
            stalls: 0,
            stalled: Duration::ZERO,
            played: Duration::ZERO,
        }
    }

    /// The first instant of playing.
    pub fn began(&self) -> Option<Time> {
        self.began
    }

    /// The number of stalls.
    pub fn stalls(&self) -> u64 {
        self.stalls
    }

    /// The total time of playing.
    pub fn played(&self) -> Duration {
        self.played
    }

    /// The content of the buffer at `now`.
    pub fn level(&self, now: Time) -> Duration {
        match self.phase {
            Phase::Playing => self.level.saturating_sub(now.since(self.since)),
            _ => self.level,
        }
    }

    /// The instant at which the buffer runs empty if nothing is added.
    pub fn dry_at(&self) -> Option<Time> {
        (self.phase == Phase::Playing).then(|| self.since + self.level)
    }

    pub fn ended_at(&self) -> Option<Time> {
        match self.phase {
            Phase::Ended { at } => Some(at),
            _ => None,
        }
    }

    /// Plays until `now`, or until the buffer runs empty.
    pub fn pass(&mut self, now: Time) {
        let Some(dry) = self.dry_at() else { return };
        let at = now.min(dry);
        self.played += at.since(self.since);
        self.level = self.level.saturating_sub(at.since(self.since));
        self.since = at;
        if dry > now {
            return;
        }
        if self.is_all {
            self.phase = Phase::Ended { at: dry };
        } else {
            self.stalls += 1;
            self.phase = Phase::Filling { stalled_at: Some(dry) };
        }
    }

    /// Adds video; `last`: no more will be added.
    pub fn add(&mut self, now: Time, video: Duration, last: bool) {
        self.pass(now);
        self.level += video;
        self.is_all |= last;
        self.resume(now);
    }

    /// Ends the video early: the buffer is played, but no more will be added.
    pub fn cut_off(&mut self, now: Time) {
        self.pass(now);
        self.is_all = true;
        if self.level == Duration::ZERO {
            self.end_stall(now);
            self.phase = Phase::Ended { at: now };
        } else {
            self.resume(now);
        }
    }

    fn resume(&mut self, now: Time) {
        let Phase::Filling { .. } = self.phase else { return };
        if self.level < self.threshold && !self.is_all {
            return;
        }
        self.end_stall(now);
        self.began.get_or_insert(now);
        self.since = now;
        self.phase = Phase::Playing;
    }

    fn end_stall(&mut self, now: Time) {
        if let Phase::Filling { stalled_at: Some(since) } = self.phase {
            self.stalled += now.since(since);
        }
    }

    /// True in a stall, but not before playing has begun.
    pub fn is_stalled(&self, now: Time) -> bool {
        match self.phase {
            Phase::Filling { stalled_at } => stalled_at.is_some(),
            // The buffer has run empty since the last call.
            Phase::Playing => !self.is_all && self.dry_at().is_some_and(|dry| dry < now),
            Phase::Ended { .. } => false,
        }
    }

    /// The total time of stalls, including the current one.
    pub fn stalled(&self, now: Time) -> Duration {
        match self.phase {
            Phase::Filling { stalled_at: Some(since) } => self.stalled + now.since(since),
            _ => self.stalled,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn s(n: u64) -> Duration {
        Duration::from_secs(n)
    }

    fn at(n: u64) -> Time {
        Time::ZERO + s(n)
    }

    #[test]
    fn segments_that_come_too_slowly_stall_once_each() {
        // Four seconds of video arrive every five seconds. Playing begins at 5 s, stalls at 9 s,
        // continues at 10 s, and so on. The fourth segment arrives at 20 s and plays until 24 s.
        let mut playout = Playout::new(s(4));
        for n in 1..=4 {
            playout.add(at(5 * n), s(4), n == 4);
        }
        assert_eq!((playout.began, playout.stalls, playout.stalled), (Some(at(5)), 3, s(3)));
        assert_eq!(playout.dry_at(), Some(at(24)));
        playout.pass(at(30));
        assert_eq!((playout.ended_at(), playout.played), (Some(at(24)), s(16)));
    }

    #[test]
    fn it_begins_and_goes_on_when_the_buffer_is_full_enough() {
        let mut playout = Playout::new(s(6));
        playout.add(at(1), s(4), false);
        assert_eq!((playout.began, playout.dry_at()), (None, None));
        playout.add(at(2), s(4), false);
        assert_eq!((playout.began, playout.level(at(5))), (Some(at(2)), s(5)));
        // The buffer is empty at 10 s. Four seconds at 11 s are not enough, eight at 13 s are.
        playout.add(at(11), s(4), false);
        assert_eq!((playout.stalls, playout.stalled(at(12))), (1, s(2)));
        playout.add(at(13), s(4), false);
        assert_eq!((playout.stalled, playout.dry_at()), (s(3), Some(at(21))));
    }

    #[test]
    fn buffered_video_is_played_if_the_rest_is_cut_off() {
        let mut playout = Playout::new(s(6));
        playout.add(at(1), s(4), false);
        playout.cut_off(at(3));
        assert_eq!((playout.began, playout.dry_at()), (Some(at(3)), Some(at(7))));
        let mut empty = Playout::new(s(6));
        empty.cut_off(at(3));
        assert_eq!((empty.began, empty.ended_at()), (None, Some(at(3))));
    }
}
