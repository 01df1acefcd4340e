//! The effects of a wire on frames besides delay: loss, jitter, reordering, duplication and
//! corruption. Each has its own random stream, so that enabling one does not change another.

pub use control::LossModel as Loss;
use control::{Duration, Lossy, Rng};

/// Reordering: some frames are held back and overtaken by later ones.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Reorder {
    /// The probability that a frame is held back.
    pub probability: f64,
    /// The time for which it is held back.
    pub by: Duration,
}

/// All impairments of one direction.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Impairment {
    /// The loss model.
    pub loss: Loss,
    /// The maximum additional delay of a frame, uniformly distributed. Frames keep their order.
    pub jitter: Duration,
    /// Reordering.
    pub reorder: Reorder,
    /// The probability that a frame arrives twice.
    pub duplicate: f64,
    /// The probability that one byte of a frame is changed.
    pub corrupt: f64,
}

/// The fate of a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fate {
    /// The frame is lost; the other fields do not matter.
    pub lost: bool,
    /// Additional delay that keeps the order.
    pub jitter: Duration,
    /// Additional delay that does not keep the order.
    pub held_back: Duration,
    /// The frame arrives twice.
    pub twice: bool,
    /// A byte to change: its position modulo the frame's length, and the value to XOR it with.
    pub corrupt: Option<(u64, u8)>,
}

/// The impairments of one direction, and the states of their random streams.
#[derive(Clone, Debug)]
pub(crate) struct Dice {
    impairment: Impairment,
    loss: Lossy,
    jitter: Rng,
    reorder: Rng,
    duplicate: Rng,
    corrupt: Rng,
}

impl Dice {
    /// Creates the dice of a wire; `None` without impairments. `names` (sending node, receiving
    /// node, number of the parallel link) select the random streams.
    pub fn new(seed: u64, names: [&str; 3], impairment: &Impairment) -> Option<Box<Dice>> {
        if *impairment == Impairment::default() {
            return None;
        }
        let [from, to, which] = names;
        let [loss, jitter, reorder, duplicate, corrupt] =
            ["loss", "jitter", "reorder", "duplicate", "corrupt"]
                .map(|role| Rng::stream(seed, &["wire", from, to, which, role]));
        let loss = Lossy::new(impairment.loss, loss);
        let impairment = *impairment;
        Some(Box::new(Dice { impairment, loss, jitter, reorder, duplicate, corrupt }))
    }

    /// Changes the loss of later frames.
    pub fn set_loss(&mut self, loss: Loss) {
        self.impairment.loss = loss;
        self.loss.change(loss);
    }

    /// Draws the fate of the next frame.
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
            lost: self.loss.loses(),
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
