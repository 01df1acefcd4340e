//! Round trips, counted by the Data that comes back.

use crate::time::{Duration, Time};

/// One round trip of a consumer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Round {
    /// The number of rounds before it.
    pub number: u64,
    /// Data packets that came in time, marked ones included.
    pub arrived: u32,
    /// Those that carried a congestion mark.
    pub marked: u32,
    /// Segments that were declared lost.
    pub lost: u32,
    /// Round-trip times that are unambiguous.
    pub samples: u32,
    /// The smallest of them.
    pub rtt_min: Option<Duration>,
    /// The window was in use when one of its Interests left.
    pub window_limited: bool,
}

/// Data that came in time, as [`Rounds`] counts it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Came {
    /// When its Interest left.
    pub sent_at: Time,
    /// The round-trip time, if unambiguous.
    pub rtt: Option<Duration>,
    /// It carried a congestion mark.
    pub marked: bool,
    /// The window was in use when its Interest left.
    pub window_limited: bool,
}

/// Divides a transfer into rounds. A round ends with the first Data whose Interest left after the
/// round began; that Data belongs to the next one (RFC 9406, section 4.2, counts so).
#[derive(Clone, Copy, Debug, Default)]
pub struct Rounds {
    /// `None` before the first Data.
    began: Option<Time>,
    current: Round,
}

impl Rounds {
    /// Before the first Data.
    #[must_use]
    pub fn new() -> Rounds {
        Rounds::default()
    }

    /// Counts Data. Returns the round that it ended; before the first Data that is a round only if
    /// something was lost.
    pub fn on_data(&mut self, now: Time, came: &Came) -> Option<Round> {
        let mut ended = None;
        if self.began.is_none_or(|began| came.sent_at >= began) {
            let before = self.current;
            if before.arrived > 0 || before.lost > 0 {
                ended = Some(before);
            }
            let number = before.number + u64::from(ended.is_some());
            self.current = Round { number, ..Round::default() };
            self.began = Some(now);
        }
        let round = &mut self.current;
        round.arrived = round.arrived.saturating_add(1);
        round.marked += u32::from(came.marked);
        round.window_limited |= came.window_limited;
        if let Some(rtt) = came.rtt {
            round.samples = round.samples.saturating_add(1);
            round.rtt_min = Some(round.rtt_min.map_or(rtt, |least| least.min(rtt)));
        }
        ended
    }

    /// Counts a segment that was declared lost.
    pub fn on_loss(&mut self) {
        self.current.lost = self.current.lost.saturating_add(1);
    }

    /// The round that is under way.
    #[must_use]
    pub fn current(&self) -> Round {
        self.current
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn came(sent_at: u64, rtt: u64) -> Came {
        Came { sent_at: Time(sent_at), rtt: Some(Duration(rtt)), ..Came::default() }
    }

    #[test]
    fn a_round_ends_with_data_of_an_interest_that_left_after_it_began() {
        let mut rounds = Rounds::new();
        assert_eq!(rounds.on_data(Time(100), &came(0, 100)), None, "nothing was before");
        assert_eq!(rounds.on_data(Time(120), &came(20, 90)), None);
        rounds.on_loss();
        assert_eq!(rounds.on_data(Time(130), &Came { rtt: None, ..came(99, 0) }), None);
        let marked = Came { marked: true, window_limited: true, ..came(100, 105) };
        let first = rounds.on_data(Time(205), &marked).unwrap();
        let rtt_min = Some(Duration(90));
        assert_eq!(
            first,
            Round { number: 0, arrived: 3, lost: 1, samples: 2, rtt_min, ..Round::default() }
        );
        let second = rounds.current();
        assert_eq!((second.number, second.arrived, second.marked), (1, 1, 1));
        assert_eq!((second.rtt_min, second.window_limited), (Some(Duration(105)), true));
    }

    #[test]
    fn losses_before_the_first_data_are_a_round() {
        let mut rounds = Rounds::new();
        rounds.on_loss();
        let ended = rounds.on_data(Time(500), &came(400, 100)).unwrap();
        assert_eq!((ended.number, ended.arrived, ended.lost), (0, 0, 1));
        assert_eq!(rounds.current().number, 1);
    }
}
