//! Axes: where values are along a line, and their ticks. As in `assets/scale.js`.

use crate::picture::Axis;

/// An axis along a line of pixels.
#[derive(Clone, Debug)]
pub struct Scale {
    /// The start of a logarithmic axis.
    log: Option<f64>,
    /// Its ends, of a logarithmic axis as powers of ten.
    ends: [f64; 2],
    /// The pixels of these ends.
    pixels: [f64; 2],
    /// A logarithmic axis has zero at its start.
    has_zero: bool,
}

/// A tick.
#[derive(Clone, Debug, PartialEq)]
pub struct Tick {
    /// Its place in pixels.
    pub at: f64,
    pub text: String,
}

impl Scale {
    /// An axis for these values. It begins at zero, at the least value if that is negative, or
    /// where the logarithmic axis begins.
    pub fn new(axis: &Axis, values: &[f64], pixels: [f64; 2]) -> Scale {
        let least = values.iter().copied().fold(0.0, f64::min);
        let most = values.iter().copied().fold(0.0, f64::max);
        let room = (pixels[1] - pixels[0]).abs();
        let has_zero = values.iter().any(|value| *value <= 0.0);
        let ends = match axis.log {
            Some(start) => [start.log10(), (most * 1.15).max(start * 1.5).log10()],
            None => {
                let end = match axis.most {
                    // Where half of the axis would be empty, it ends earlier.
                    Some(limit) if most * 2.0 > limit => limit,
                    _ => round_end(most * 1.02, room / 50.0),
                };
                [if least < 0.0 { -round_end(-least, room / 50.0) } else { 0.0 }, end]
            }
        };
        Scale { log: axis.log, ends, pixels, has_zero }
    }

    /// The same axis elsewhere.
    pub fn moved(&self, pixels: [f64; 2]) -> Scale {
        Scale { pixels, ..self.clone() }
    }

    /// The pixel of a value; of one beyond the ends that of the end.
    pub fn at(&self, value: f64) -> f64 {
        let place = match self.log {
            Some(start) => value.max(start).log10(),
            None => value,
        };
        let share = (place - self.ends[0]) / (self.ends[1] - self.ends[0]);
        self.pixels[0] + share.clamp(0.0, 1.0) * (self.pixels[1] - self.pixels[0])
    }

    /// Its ticks, at least this many pixels apart; `wide` is the width of a text.
    pub fn ticks(&self, apart: f64, wide: impl Fn(&str) -> f64) -> Vec<Tick> {
        let room = (self.pixels[1] - self.pixels[0]).abs();
        let Some(start) = self.log else {
            let all = ticks(self.ends, room / apart);
            let step = if all.len() > 1 { all[1] - all[0] } else { all[0].abs().max(1.0) };
            let places = (-(step.log10() + 1e-9).floor()).clamp(0.0, 9.0) as usize;
            return all
                .iter()
                .map(|value| self.tick(*value, format!("{value:.places$}")))
                .collect();
        };
        let sets: [&[f64]; 5] = [
            &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0],
            &[1.0, 2.0, 3.0, 5.0],
            &[1.0, 2.0, 5.0],
            &[1.0, 3.0],
            &[1.0],
        ];
        for steps in sets {
            let ticks = self.logarithmic_ticks(start, steps);
            let fit = ticks.windows(2).all(|two| {
                let texts = (wide(&two[0].text) + wide(&two[1].text)) / 2.0;
                (two[1].at - two[0].at).abs() > (texts + 8.0).max(apart / 2.5)
            });
            if fit {
                return ticks;
            }
        }
        self.logarithmic_ticks(start, sets[4]).into_iter().step_by(2).collect()
    }

    fn tick(&self, value: f64, text: String) -> Tick {
        Tick { at: self.at(value), text }
    }

    /// Ticks at these multiples of powers of ten; `start` is the place of zero, if it has one.
    fn logarithmic_ticks(&self, start: f64, steps: &[f64]) -> Vec<Tick> {
        let mut ticks = Vec::new();
        let mut least = 0.0;
        if self.has_zero {
            ticks.push(self.tick(start, "0".to_owned()));
            least = start * 5.0;
        }
        for value in powers(self.ends, steps) {
            if value > least {
                ticks.push(self.tick(value, plain(value)));
            }
        }
        ticks
    }
}

/// Steps of 1, 2 or 5 times a power of ten, about `wanted` of them.
fn ticks([low, high]: [f64; 2], wanted: f64) -> Vec<f64> {
    let step = step(high - low, wanted);
    let first = (low / step - 1e-9).ceil() as i64;
    let last = (high / step + 1e-9).floor() as i64;
    (first..=last.min(first + 1000)).map(|number| rounded(number as f64 * step)).collect()
}

fn step(span: f64, wanted: f64) -> f64 {
    let rough = span / wanted.max(1.0);
    if rough <= 0.0 || !rough.is_finite() {
        return 1.0;
    }
    let power = 10f64.powi(rough.log10().floor() as i32);
    let steps = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * power);
    steps.into_iter().find(|step| *step >= rough * 0.999).unwrap_or(10.0 * power)
}

/// The next greater end at which a tick can be.
fn round_end(value: f64, wanted: f64) -> f64 {
    if value <= 0.0 {
        return 1.0;
    }
    let step = step(value, wanted);
    rounded((value / step - 1e-9).ceil() * step)
}

/// Without the error of the last binary digits.
fn rounded(value: f64) -> f64 {
    format!("{value:.11e}").parse().unwrap_or(value)
}

/// These multiples of powers of ten between two powers.
fn powers([low, high]: [f64; 2], steps: &[f64]) -> Vec<f64> {
    let powers = low.floor() as i32..=high.floor() as i32;
    let all = powers.flat_map(|power| steps.iter().map(move |step| step * 10f64.powi(power)));
    let ends = low - 1e-9..=high + 1e-9;
    all.map(rounded).filter(|value| ends.contains(&value.log10())).collect()
}

/// A number as short as possible.
fn plain(value: f64) -> String {
    match value {
        v if (1e-4..1e7).contains(&v) => format!("{v}"),
        v => format!("{v:e}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(axis: &Axis, values: &[f64], room: f64) -> Vec<String> {
        let scale = Scale::new(axis, values, [0.0, room]);
        let ticks = scale.ticks(60.0, |text| 7.0 * text.len() as f64);
        ticks.into_iter().map(|tick| tick.text).collect()
    }

    #[test]
    fn linear_axes_begin_at_zero_and_end_at_a_tick() {
        let axis = Axis::new("x", "");
        assert_eq!(texts(&axis, &[3.0, 9.7], 300.0), ["0", "2", "4", "6", "8", "10"]);
        assert_eq!(texts(&axis, &[-2.0, 4.0], 300.0), ["-2", "0", "2", "4"]);
        let share = Axis { most: Some(1.0), ..axis.clone() };
        assert_eq!(texts(&share, &[0.9, 0.99], 300.0).last().map(String::as_str), Some("1.0"));
        assert_eq!(texts(&share, &[0.04], 300.0).last().map(String::as_str), Some("0.05"));
        let scale = Scale::new(&axis, &[10.0], [100.0, 0.0]);
        assert_eq!((scale.at(0.0), scale.moved([0.0, 50.0]).at(0.0)), (100.0, 0.0));
    }

    #[test]
    fn logarithmic_axes_have_powers_of_ten_and_room_for_zero() {
        let axis = |values: &[f64]| Axis::new("x", "%").logarithmic(values.iter().copied(), true);
        let values = [0.1, 1.0, 10.0];
        let all = texts(&axis(&values), &values, 300.0);
        assert!(["0.1", "1", "10"].iter().all(|text| all.iter().any(|t| t == text)), "{all:?}");
        let values = [0.0, 0.1, 1.0, 5.0];
        let all = texts(&axis(&values), &values, 300.0);
        assert_eq!(all[0], "0");
        assert!(all.contains(&"0.1".to_owned()) && !all.contains(&"0.01".to_owned()), "{all:?}");
        let scale = Scale::new(&axis(&values), &values, [0.0, 300.0]);
        assert_eq!(scale.at(0.0), 0.0);
        assert!((scale.at(1.0) - scale.at(0.1) - (scale.at(0.1) - scale.at(0.01))).abs() < 1e-9);
    }
}
