//! What a wire does to frames besides delaying them: loss, jitter, reordering, duplication,
//! corruption, each from a random stream of its own, so that switching one on does not change what
//! another does.

use control::{Duration, Rng};

/// A loss model.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Loss {
    /// Nothing is lost.
    #[default]
    None,
    /// Every frame with this probability (Bernoulli).
    Random(f64),
    /// Two states with a loss probability each, between which the wire moves after every frame
    /// (E. N. Gilbert 1960, E. O. Elliott 1963). It begins in the good one.
    GilbertElliott {
        /// The probability of going from good to bad.
        to_bad: f64,
        /// The probability of going from bad to good.
        to_good: f64,
        /// The loss probability while good.
        loss_good: f64,
        /// The loss probability while bad.
        loss_bad: f64,
    },
}

/// Frames that later ones overtake.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Reorder {
    /// The probability that a frame is held back.
    pub probability: f64,
    /// For how long.
    pub by: Duration,
}

/// All impairments of one direction.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Impairment {
    /// Loss.
    pub loss: Loss,
    /// Every frame is delayed by up to this much more, evenly distributed; frames keep their order.
    pub jitter: Duration,
    /// Frames that are overtaken.
    pub reorder: Reorder,
    /// The probability that a frame arrives twice.
    pub duplicate: f64,
    /// The probability that one octet of a frame arrives as another one.
    pub corrupt: f64,
}

/// What becomes of a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fate {
    /// It is lost; the rest does not matter.
    pub lost: bool,
    /// Delay that keeps the order.
    pub jitter: Duration,
    /// Delay that does not.
    pub held_back: Duration,
    /// It arrives twice.
    pub twice: bool,
    /// The octet at this position (modulo the length) is combined with this value by exclusive or.
    pub corrupt: Option<(u64, u8)>,
}

/// The impairments of one direction with their state.
#[derive(Clone, Debug)]
pub(crate) struct Dice {
    impairment: Impairment,
    bad: bool,
    loss: Rng,
    jitter: Rng,
    reorder: Rng,
    duplicate: Rng,
    corrupt: Rng,
}

impl Dice {
    /// The dice of the wire that `names` say, if it needs any.
    pub fn new(seed: u64, names: [&str; 3], impairment: &Impairment) -> Option<Box<Dice>> {
        if *impairment == Impairment::default() {
            return None;
        }
        let [from, to, which] = names;
        let stream = |role| Rng::stream(seed, &["wire", from, to, which, role]);
        Some(Box::new(Dice {
            impairment: *impairment,
            bad: false,
            loss: stream("loss"),
            jitter: stream("jitter"),
            reorder: stream("reorder"),
            duplicate: stream("duplicate"),
            corrupt: stream("corrupt"),
        }))
    }

    /// Decides about the next frame.
    pub fn roll(&mut self) -> Fate {
        let i = &self.impairment;
        let jitter = self.jitter.below(i.jitter.0.saturating_add(1));
        let held_back = self.reorder.chance(i.reorder.probability);
        let corrupt = self.corrupt.chance(i.corrupt);
        Fate {
            jitter: Duration(jitter),
            held_back: if held_back { i.reorder.by } else { Duration::ZERO },
            twice: self.duplicate.chance(i.duplicate),
            corrupt: corrupt.then(|| (self.corrupt.next_u64(), 1 + self.corrupt.below(255) as u8)),
            lost: self.is_lost(),
        }
    }

    fn is_lost(&mut self) -> bool {
        match self.impairment.loss {
            Loss::None => false,
            Loss::Random(p) => self.loss.chance(p),
            Loss::GilbertElliott { to_bad, to_good, loss_good, loss_bad } => {
                let lost = self.loss.chance(if self.bad { loss_bad } else { loss_good });
                self.bad ^= self.loss.chance(if self.bad { to_good } else { to_bad });
                lost
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dice(impairment: Impairment) -> Dice {
        *Dice::new(1, ["a", "b", "0"], &impairment).unwrap()
    }

    #[test]
    fn no_impairment_needs_no_dice() {
        assert!(Dice::new(1, ["a", "b", "0"], &Impairment::default()).is_none());
    }

    #[test]
    fn bernoulli_loses_its_share() {
        let mut dice = dice(Impairment { loss: Loss::Random(0.1), ..Impairment::default() });
        let lost = (0..100_000).filter(|_| dice.roll().lost).count();
        // Five standard deviations of the binomial distribution: 5 * sqrt(9000) = 474.
        assert!(lost.abs_diff(10_000) < 475, "{lost}");
    }

    #[test]
    fn gilbert_elliott_loses_its_share_in_bursts() {
        let loss =
            Loss::GilbertElliott { to_bad: 0.01, to_good: 0.25, loss_good: 0.0, loss_bad: 1.0 };
        let mut dice = dice(Impairment { loss, ..Impairment::default() });
        let lost: Vec<bool> = (0..400_000).map(|_| dice.roll().lost).collect();
        // Bad in 0.01 / (0.01 + 0.25) = 3.846 % of the time, bursts of 1 / 0.25 = 4 frames.
        let share = lost.iter().filter(|l| **l).count() as f64 / lost.len() as f64;
        assert!((share - 0.03846).abs() < 0.003, "{share}");
        let bursts = lost.windows(2).filter(|w| !w[0] && w[1]).count();
        let length = share * lost.len() as f64 / bursts as f64;
        assert!((length - 4.0).abs() < 0.2, "{length}");
    }

    #[test]
    fn every_direction_of_every_link_has_draws_of_its_own() {
        let impairment = Impairment { loss: Loss::Random(0.5), ..Impairment::default() };
        let draws = |seed, names| {
            let mut dice = Dice::new(seed, names, &impairment).unwrap();
            (0..64).fold(0u64, |bits, _| bits << 1 | u64::from(dice.roll().lost))
        };
        let first = draws(1, ["a", "b", "0"]);
        assert_eq!(first, draws(1, ["a", "b", "0"]));
        for names in [["b", "a", "0"], ["a", "b", "1"], ["a", "c", "0"]] {
            assert_ne!(first, draws(1, names), "{names:?}");
        }
        assert_ne!(first, draws(2, ["a", "b", "0"]));
    }

    #[test]
    fn one_impairment_does_not_change_the_draws_of_another() {
        let loss = Loss::Random(0.5);
        let mut alone = dice(Impairment { loss, ..Impairment::default() });
        let reorder = Reorder { probability: 0.3, by: Duration(5) };
        let jitter = Duration(100);
        let (duplicate, corrupt) = (0.2, 0.2);
        let mut all = dice(Impairment { loss, jitter, reorder, duplicate, corrupt });
        assert!((0..1000).all(|_| alone.roll().lost == all.roll().lost));
    }
}
