//! Links with random loss of frames, for the simulator's wires and the daemon's emulated links.

use crate::{Ratio, Rng};
use std::fmt;

/// A loss model.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum LossModel {
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

impl fmt::Display for LossModel {
    /// As scenarios take it: `2.00 %`, or the fields of both states.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            LossModel::None => write!(f, "{}", ratio(0.0)),
            LossModel::Random(p) => write!(f, "{}", ratio(p)),
            LossModel::GilbertElliott { to_bad, to_good, loss_good, loss_bad } => {
                let [to_bad, to_good, good, bad] =
                    [to_bad, to_good, loss_good, loss_bad].map(ratio);
                write!(f, "to_bad {to_bad}, to_good {to_good}, good {good}, bad {bad}")
            }
        }
    }
}

/// A probability as users see it.
fn ratio(probability: f64) -> Ratio {
    Ratio::new(probability).unwrap_or_default()
}

/// A link that loses frames, with its state.
#[derive(Clone, Debug)]
pub struct Lossy {
    model: LossModel,
    bad: bool,
    rng: Rng,
}

impl Lossy {
    /// A link before its first frame.
    #[must_use]
    pub fn new(model: LossModel, rng: Rng) -> Lossy {
        Lossy { model, bad: false, rng }
    }

    /// Changes the model for later frames. The random stream continues.
    pub fn change(&mut self, model: LossModel) {
        (self.model, self.bad) = (model, false);
    }

    /// Returns `true` if the next frame is lost.
    pub fn loses(&mut self) -> bool {
        match self.model {
            LossModel::None => false,
            LossModel::Random(p) => self.rng.chance(p),
            LossModel::GilbertElliott { to_bad, to_good, loss_good, loss_bad } => {
                let lost = self.rng.chance(if self.bad { loss_bad } else { loss_good });
                self.bad ^= self.rng.chance(if self.bad { to_good } else { to_bad });
                lost
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lossy(model: LossModel) -> Lossy {
        Lossy::new(model, Rng::stream(1, &["wire", "loss"]))
    }

    #[test]
    fn a_model_is_written_as_scenarios_take_it() {
        let bursts = LossModel::GilbertElliott {
            to_bad: 0.01,
            to_good: 0.25,
            loss_good: 0.0,
            loss_bad: 1.0,
        };
        let texts = [LossModel::None, LossModel::Random(0.02), bursts].map(|one| one.to_string());
        let both = "to_bad 1.00 %, to_good 25.0 %, good 0.00 %, bad 100 %";
        assert_eq!(texts, ["0.00 %", "2.00 %", both]);
    }

    #[test]
    fn bernoulli_loses_its_share() {
        let mut link = lossy(LossModel::Random(0.1));
        let lost = (0..100_000).filter(|_| link.loses()).count();
        // Five standard deviations of the binomial distribution: 5 * sqrt(9000) = 474.
        assert!(lost.abs_diff(10_000) < 475, "{lost}");
    }

    #[test]
    fn gilbert_elliott_loses_its_share_in_bursts() {
        let (to_bad, to_good, loss_good, loss_bad) = (0.01, 0.25, 0.0, 1.0);
        let model = LossModel::GilbertElliott { to_bad, to_good, loss_good, loss_bad };
        let mut link = lossy(model);
        let lost: Vec<bool> = (0..400_000).map(|_| link.loses()).collect();
        // Bad in 0.01 / (0.01 + 0.25) = 3.846 % of the time, bursts of 1 / 0.25 = 4 frames.
        let share = lost.iter().filter(|l| **l).count() as f64 / lost.len() as f64;
        assert!((share - 0.03846).abs() < 0.003, "{share}");
        let bursts = lost.windows(2).filter(|w| !w[0] && w[1]).count();
        let length = share * lost.len() as f64 / bursts as f64;
        assert!((length - 4.0).abs() < 0.2, "{length}");
    }
}
